/**
 * crawlee-queue: operations on the queue of a crawler of Crawlee's, one consumer, no crawler.
 *
 *   requests ─▶ addRequestsBatched, 1,000 at a time ─▶ fetchNextRequest, markRequestHandled, one by one until none is left
 *
 * With `handled`, so many requests were added and handled before the clock starts: does a queue look through what is done?
 *
 * At 20,000 the code is cold: add 0.84, fetch 0.75 of the array. With 100,000 handled before, add 1.21 and fetch 1.39 (3 rounds, a busy machine).
 * Estimate, quiet: unique key 5 µs, id 1 µs, push 1.5 µs: add 8 µs. An instance of Crawlee's Request 20 µs, poll and done 2 µs: 22 µs. The array makes its
 * instances when they are added: add 25 µs, fetch under 1 µs. Memory storage locks 25 at a time after walking over its whole map: at 20,000 some 10 ms a request.
 */
import { type BenchCase, type Job, nowNs, numberOf, type Params } from "../../harness/case.ts";
import { packageMissing } from "../../peers/installed.ts";
import { addAll, drainAll, openManager } from "./managers.ts";

/** Beyond it memory storage takes minutes. */
const MEMORY_MAX = 20_000;
/** The same where it writes its files. */
const FILES_MAX = 2_000;

/** What both cases of a request queue measure. */
export const REAL_SIZES = {
  real: [
    { requests: 2_000, handled: 0 },
    { requests: 20_000, handled: 0 },
    { requests: 20_000, handled: 100_000 },
    { requests: 100_000, handled: 0 },
    { requests: 1_000_000, handled: 0 },
  ],
  suite: [{ requests: 20_000, handled: 0 }],
};

export const crawleeQueue: BenchCase = {
  name: "crawlee-queue",
  suite: "crawlee",
  about:
    "operations on the queue of a crawler of Crawlee's, with and without requests that are handled",
  question: "How fast is it below Crawlee?",
  unit: "request",
  process: "fresh",
  pairs: [
    ["outrider", "memory"],
    ["outrider", "array"],
    ["outrider", "on disk"],
    ["on disk", "memory on disk"],
  ],
  target: "flat to 10⁶, and with 10⁵ handled",
  sizes: {
    smoke: [{ requests: 60, handled: 20 }],
    ...REAL_SIZES,
  },
  rounds: 1,
  missing,
  isGuest: (side) => side === "memory" || side === "memory on disk" || side === "array",
  setup,
};

export function missing(side: string, params: Params): string | undefined {
  const absent = packageMissing("@crawlee/core") ?? packageMissing("@crawlee/memory-storage");
  if (absent !== undefined) return absent;
  const requests = numberOf(params, "requests") + numberOf(params, "handled");
  const most = { memory: MEMORY_MAX, "memory on disk": FILES_MAX }[side];
  return most !== undefined && requests > most ? `measured up to ${most} requests` : undefined;
}

async function setup(side: string, params: Params): Promise<Job> {
  const requests = numberOf(params, "requests");
  const handled = numberOf(params, "handled");
  const opened = await openManager(side);
  const { manager } = opened;
  await addAll(manager, 0, handled);
  await drainAll(manager);
  let count = 0;
  return {
    async run() {
      const begin = nowNs();
      await addAll(manager, handled, requests);
      const added = nowNs();
      const facts = opened.facts();
      const drained = nowNs();
      count = await drainAll(manager);
      const end = nowNs();
      return {
        times: { add: (added - begin) / requests, "fetch + handled": (end - drained) / requests },
        facts,
      };
    },
    checksum: () => String(count),
    close: () => opened.close(),
  };
}

/**
 * frontier: push and poll of a frontier that fills up to so many pending URLs and is emptied again.
 *
 *   pushMany(1,000) × n ─▶ n pending ─▶ memory ─▶ push(1) × 2 % ─▶ poll(1) + done × 2 % ─▶ pollMany(1,000) + done
 *        latency = the hold of the event loop      the first half of each warms, the rest is timed      up to 10⁶
 *
 * Sides: outrider · plain (bench/peers/plain/queue.ts) · crawlee (its memory RequestQueue, where installed, up to 10⁵).
 * Checksum: how many were accepted, and every URL that came out, in order.
 * The hold is the whole call, garbage collections in it included; the longest of those stands beside it.
 *
 * Estimate at 10⁶: plain 3.8 µs a push (URL and sort 2, Set and record 0.5, collections) and 100 ns a poll. Outrider: the 225 ns
 * of `dedup`, a record of 60 bytes and a lane item 100 ns, calls 50: 400 ns, 9 times; a poll reads the record, makes a
 * lease object and its URL's string: 500 ns, a fifth of plain's speed, which is a bare array.
 */
import { type BenchCase, type Job, numberOf, type Params } from "../../harness/case.ts";
import { createCallLog } from "../../harness/call-log.ts";
import { memoryNow } from "../../harness/machine.ts";
import { createTextSum, urlChunk } from "../../harness/urls.ts";
import { crawleeMissing } from "../../peers/crawlee/queue.ts";
import type { Queue } from "../../peers/queue.ts";
import { drainAll, drainSingly, openWarmQueue, pushAll, pushSingly } from "./rig.ts";

const CRAWLEE_MAX = 100_000;
const POLLED_MAX = 1_000_000;
const CRAWLEE_WARM = 1_000;

export const frontierCase: BenchCase = {
  name: "frontier",
  suite: "core",
  about:
    "push and poll + done without politeness, bytes per pending URL, longest hold of pushMany(1000)",
  unit: "URL",
  process: "fresh",
  pairs: [
    ["outrider", "plain"],
    ["outrider", "crawlee"],
  ],
  target: "push ≥ 8 × plain; JS heap < 2 bytes/URL; resident ≤ URL bytes + 64; hold ≤ 5 ms at 10⁷",
  sizes: {
    smoke: [{ pending: 2_000 }],
    real: [{ pending: 100_000 }, { pending: 1_000_000 }, { pending: 10_000_000 }],
    suite: [{ pending: 1_000_000 }],
  },
  rounds: 3,
  worth: 3,
  setup,
  missing(side, params) {
    if (side !== "crawlee") return undefined;
    if (numberOf(params, "pending") > CRAWLEE_MAX) return "minutes a round";
    return crawleeMissing();
  },
};

async function setup(side: string, params: Params): Promise<Job> {
  const pending = numberOf(params, "pending");
  const shape = { hosts: Math.max(100, Math.floor(pending / 50)) };
  const singles = Math.min(20_000, Math.floor(pending / 100));
  const size = side === "crawlee" ? Math.min(CRAWLEE_WARM, pending / 2) : pending;
  const queue = await openWarmQueue(side, 0, size);
  const sum = createTextSum();
  let accepted = 0;
  return {
    async run() {
      const before = memoryNow();
      const calls = createCallLog();
      const pushed = await pushAll(queue, { start: 0, count: pending, shape, calls });
      const { percentiles, facts: longest } = await calls.stop();
      accepted = pushed.accepted;
      const facts = {
        ...memoryFacts(before, pending, queue),
        ...longest,
        "URL bytes": bytesOf(urlChunk(0, 10_000, shape)),
      };
      const ones = { count: singles, shape };
      // The first half warms: batches take other ways.
      await pushSingly(queue, { start: pending, ...ones });
      const pushOne = await pushSingly(queue, { start: pending + singles, ...ones });
      await drainSingly(queue, { count: singles, isPolite: false, sum });
      const drainOne = await drainSingly(queue, { count: singles, isPolite: false, sum });
      const count = Math.min(POLLED_MAX, pending);
      const drained = await drainAll(queue, { count, isPolite: false, sum });
      return {
        times: {
          push: pushed.spent / pending,
          poll: drained.spent / drained.taken,
          "push one": pushOne / singles,
          "poll one": drainOne / singles,
        },
        facts,
        latencies: { "pushMany(1000)": percentiles },
      };
    },
    checksum: () => `${accepted} accepted, ${sum.value()}`,
    close: () => queue.close(),
  };
}

function memoryFacts(
  before: ReturnType<typeof memoryNow>,
  pending: number,
  queue: Queue,
): Record<string, number> {
  const after = memoryNow();
  return {
    "resident bytes/URL": (after.residentBytes - before.residentBytes) / pending,
    "JS heap bytes/URL": (after.heapBytes - before.heapBytes) / pending,
    ...queue.facts(),
  };
}

function bytesOf(urls: readonly string[]): number {
  return urls.reduce((sum, { length }) => sum + length, 0) / urls.length;
}

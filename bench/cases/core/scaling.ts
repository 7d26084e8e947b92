/**
 * scaling: what an operation costs and a URL weighs when there are 10⁵, 10⁶, 10⁷ of them; 10⁸ on demand.
 *
 *   pushMany(1,000) × n ─▶ n pending ─▶ memory ─▶ pollMany(1,000) + done × min(n, 10⁶)
 *
 * The times are those of the last tenth of the pushes, when the frontier is as large as the size says, and of the first polls.
 * The chart draws them against the machine's limits: one dependent load in as much memory, and the bytes of a URL copied twice.
 * 10⁸ does not fit into one region: there the frontier has a directory, keeps 256 MB of pending URLs in memory and
 * spills the others. Checksum: how many were accepted and came out.
 *
 * Estimate: push 450 ns at 10⁵, 600 at 10⁶ and 10⁷ (a table line, a record, a host and a lane tail that are no longer cached, four
 * misses of 100 ns, half of them overlapped by the batch). Poll and done 700 to 1,000. Plain at 10⁷: 5 µs, a Set of 10⁷ strings.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type BenchCase, type Job, numberOf, type Params } from "../../harness/case.ts";
import { memoryNow } from "../../harness/machine.ts";
import { openWarm } from "../../harness/open-warm.ts";
import { urlChunk } from "../../harness/urls.ts";
import { openOutrider } from "../../peers/outrider/queue.ts";
import type { Queue } from "../../peers/queue.ts";
import { drainAll, openQueue, pushAll, warmUp } from "./rig.ts";

/** More than this does not fit into one region. */
const REGION_MAX = 20_000_000;
const PLAIN_MAX = 1_000_000;
const POLLED_MAX = 1_000_000;
const MEMORY_BYTES = 256 * 2 ** 20;

export const scaling: BenchCase = {
  name: "scaling",
  suite: "core",
  about: "push, and poll + done, when there are so many pending URLs; memory for each",
  question: "What does size cost?",
  unit: "URL",
  process: "fresh",
  pairs: [["outrider", "plain"]],
  target: "cost at 10⁷ pending ≤ 1.5 × that at 10⁵; resident ≤ URL bytes + 64",
  sizes: {
    smoke: [{ pending: 4_000 }],
    real: [{ pending: 100_000 }, { pending: 1_000_000 }, { pending: 10_000_000 }],
    suite: [{ pending: 100_000 }, { pending: 1_000_000 }, { pending: 10_000_000 }],
    large: [{ pending: 100_000_000 }],
  },
  // The largest takes most of a minute: it shows where the line goes, and has no verdict.
  rounds: (params) => (numberOf(params, "pending") > PLAIN_MAX ? 1 : 3),
  isPicture: true,
  setup,
  missing: (side, params) =>
    side === "plain" && numberOf(params, "pending") > PLAIN_MAX ? "minutes a round" : undefined,
};

async function setup(side: string, params: Params): Promise<Job> {
  const pending = numberOf(params, "pending");
  const shape = { hosts: Math.max(100, Math.floor(Math.min(pending, 500_000) / 50)) };
  const warm = async (): Promise<Queue> => warmUp(await openQueue(side, 0), 0, pending);
  const { queue, remove } = await openWarm(warm, () => open(side, pending));
  const timed = Math.ceil(pending / 10);
  let counts = "";
  return {
    async run() {
      const before = memoryNow();
      const first = await pushAll(queue, { start: 0, count: pending - timed, shape });
      const last = await pushAll(queue, { start: pending - timed, count: timed, shape });
      const after = memoryNow();
      const drained = await drainAll(queue, {
        count: Math.min(pending, POLLED_MAX),
        isPolite: false,
      });
      counts = `${first.accepted + last.accepted} accepted, ${drained.taken} taken`;
      const urls = urlChunk(0, 10_000, shape);
      return {
        times: { push: last.spent / timed, "poll + done": drained.spent / drained.taken },
        facts: {
          "resident bytes/URL": (after.residentBytes - before.residentBytes) / pending,
          "JS heap bytes/URL": (after.heapBytes - before.heapBytes) / pending,
          "URL bytes": urls.reduce((sum, { length }) => sum + length, 0) / urls.length,
        },
      };
    },
    checksum: () => counts,
    async close() {
      await queue.close();
      remove();
    },
  };
}

async function open(side: string, pending: number): Promise<{ queue: Queue; remove(): void }> {
  if (side === "plain" || pending <= REGION_MAX)
    return { queue: await openQueue(side, 0), remove: () => {} };
  const directory = mkdtempSync(join(tmpdir(), "bench-scaling-"));
  const options = { directory, memoryBytes: MEMORY_BYTES, durability: "none" } as const;
  const queue = await openOutrider({ delayMs: 0 }, options);
  return { queue, remove: () => rmSync(directory, { recursive: true, force: true }) };
}

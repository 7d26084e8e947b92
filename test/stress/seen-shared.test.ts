/**
 * Real threads ask a tiered seen-set in shared memory while its owner admits, moves to the cold tier, and forgets all.
 *
 *   owner ── finished entries 0, 1, 2 … ─▶ hot table ─▶ bloom, cold tier        readers ── hot table, then bloom ──▶ answers
 *         └─ published = count ─▶ control ◀── loaded before they ask
 *         └─ generation + 1, forget, generation + 1: other hashes from then on
 */
import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { expect, it } from "vitest";
import { loadKernelModule } from "../../src/engine/kernel-file.ts";
import { createKernel } from "../../src/kernel/kernel.ts";
import { regionTake } from "../../src/memory/region.ts";
import { createColdTier } from "../../src/persistence/cold-tier.ts";
import {
  createSeenSet,
  seenForget,
  type SeenSet,
  seenSet,
  seenStep,
} from "../../src/structures/seen-set.ts";
import { seenPlace } from "../../src/structures/seen-shared.ts";
import { createMemoryFiles } from "../support/memory-files.ts";
import { FINISHED, SEEN_IDENTITY } from "../support/seen-bench.ts";

const SECONDS = Number(process.env.STRESS_SECONDS ?? 1);
/** What readers get to ask in a while is the machine's to say: a run goes on until it was enough. */
const ASKED_LEAST = 10_000;
const READERS = 2;
const PUBLISHED_EACH = 500;
const GENERATION = 60_000;
const LIMIT_MS = 120_000 + SECONDS * 8_000;

interface Counters {
  asked: number;
  hot: number;
  maybe: number;
  missed: number;
  wrongValue: number;
  strangers: number;
  maybeNew: number;
}

function mixed(word: number): number {
  let z = Math.imul(word ^ (word >>> 16), 0x21f0aaad);
  z = Math.imul(z ^ (z >>> 15), 0x735a2d97);
  return (z ^ (z >>> 15)) >>> 0;
}

/** One generation: admits, publishes, moves, forgets. */
function live(seen: SeenSet, words: Int32Array): void {
  const generation = words[2] as number;
  for (let at = 0; at < GENERATION; at++) {
    const number = (at ^ Math.imul(generation, 0x01234567)) >>> 0;
    seenSet(seen, mixed(number), mixed(number ^ 0x5bd1e995), FINISHED + 1 + at);
    if ((at + 1) % PUBLISHED_EACH !== 0) continue;
    Atomics.store(words, 0, at + 1); // publish: pairs with the readers' load
    seenStep(seen, 1_000);
  }
  while (seenStep(seen, 5_000) > 0);
  Atomics.store(words, 2, generation + 1);
  Atomics.store(words, 0, 0);
  seenForget(seen);
  Atomics.store(words, 2, generation + 2);
}

it(
  "threads that ask a tiered seen-set miss nothing and are told no value of what is new",
  async () => {
    const module = loadKernelModule("shared");
    const kernel = createKernel(module, { shared: true });
    const scratch = regionTake(kernel.region, READERS);
    const cold = createColdTier({
      ...{ kernel, directory: "/seen", files: createMemoryFiles(), identity: SEEN_IDENTITY },
    });
    const seen = createSeenSet({ kernel, mode: "tiered", memoryBytes: 2 ** 20, cold });
    const place = seenPlace(seen);
    const total: Counters = {
      ...{ asked: 0, hot: 0, maybe: 0, missed: 0, wrongValue: 0, strangers: 0, maybeNew: 0 },
    };
    const deadline = performance.now() + SECONDS * 1_000;
    do {
      const control = new SharedArrayBuffer(12);
      const words = new Int32Array(control);
      const workers = Array.from({ length: READERS }, (_, reader) => {
        const own = { scratch: scratch + reader * 65_536, seed: 77 + reader };
        return new Worker(new URL("./seen-shared-reader.mjs", import.meta.url), {
          workerData: { module, memory: kernel.memory, place, control, ...own },
        });
      });
      await Promise.all(workers.map((worker) => once(worker, "message"))); // they read
      const results = workers.map((worker) => once(worker, "message") as Promise<[Counters]>);
      for (let round = 0; round < 4; round++) live(seen, words);
      Atomics.store(words, 1, 1);
      for (const [counters] of await Promise.all(results)) {
        for (const key of Object.keys(total) as (keyof Counters)[]) total[key] += counters[key];
      }
    } while (performance.now() < deadline || total.asked < ASKED_LEAST);
    console.log(JSON.stringify(total));
    expect(total).toMatchObject({ missed: 0, wrongValue: 0 });
  },
  LIMIT_MS,
);

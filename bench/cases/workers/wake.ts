/**
 * wake: how long a parked thread takes to be at work again, from the call of `unpark`.
 *
 *   this thread: waits until the other parks ─▶ a pause ─▶ unpark ── ns ──▶ the other: first line after its wait
 *
 * sleep: Atomics.wait, as a worker without a handler at work; async: Atomics.waitAsync, as every thread whose event loop lives.
 * What the woken thread then stood in the run queue (Linux) is in "wake-up" and off in "without waits": it is the machine's.
 * Estimate: p50 5–22 and 9–35 µs, p99 18–55 and 30–99.
 */
import { Worker } from "node:worker_threads";
import { once } from "node:events";
import { unpark } from "../../../src/memory/parking.ts";
import { type BenchCase, type Job, numberOf, type Params } from "../../harness/case.ts";
import { createHistogram, percentilesOf, recordNs } from "../../harness/histogram.ts";

export const wake: BenchCase = {
  name: "wake",
  suite: "workers",
  about: "from unpark to the first line of the thread that was parked",
  unit: "wake-up",
  process: "fresh",
  pairs: [["sleep", "async"]],
  isSameWork: false,
  target: "p50 ≤ 30 µs, p99 ≤ 80 µs",
  sizes: { smoke: [{ wakes: 50 }], real: [{ wakes: 5_000 }] },
  rounds: 3,
  setup,
};

async function setup(side: string, params: Params): Promise<Job> {
  const rounds = numberOf(params, "wakes");
  let woken = 0;
  return {
    async run() {
      const words = new Int32Array(new SharedArrayBuffer(12));
      const times = new Float64Array(new SharedArrayBuffer(rounds * 8));
      const waits = new Float64Array(new SharedArrayBuffer(rounds * 8));
      const shared = { words: words.buffer, times: times.buffer, waits: waits.buffer };
      const workerData = { ...shared, rounds, kind: side };
      const worker = new Worker(new URL("./wake-waiter.js", import.meta.url), { workerData });
      const ended = once(worker, "exit");
      const histogram = createHistogram();
      const without = createHistogram();
      let sum = 0;
      woken = 0;
      for (let round = 0; round < rounds; round++) {
        while (Atomics.load(words, 1) <= round) await new Promise(setImmediate);
        const pauseMs = 0.2;
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, pauseMs);
        const before = performance.timeOrigin + performance.now();
        unpark(words, 0);
        while (Atomics.load(words, 2) <= round) await new Promise(setImmediate);
        const ns = ((times[round] as number) - before) * 1e6;
        recordNs(histogram, ns);
        recordNs(without, ns - (waits[round] as number));
        sum += ns;
        woken++;
      }
      await ended;
      const latencies = {
        "wake-up": percentilesOf(histogram),
        "wake-up without waits": percentilesOf(without),
      };
      return { times: { wake: sum / rounds }, latencies };
    },
    checksum: () => `${woken}`,
  };
}

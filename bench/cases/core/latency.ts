/**
 * latency: how long a caller waits who comes on time, open loop.
 *
 *   intended start  t₀        t₀ + 1 ms  t₀ + 2 ms …        every millisecond, whether the last batch is over or not
 *   batch           push 100 ─ poll 50 + done ─▶ end        latency = end − intended start
 *
 * A stall is paid for by every batch that was due while it lasted, which a loop that waits for its own answers never sees. Before
 * the clock starts so many URLs are pending. The times are percentiles of the same histogram, so that they have ratios.
 * Checksum: how many were accepted and taken.
 *
 * Estimate: a batch is 45 + 40 µs of work, p50 100 µs. The tail is the machine's (preemption, 1 to 4 ms at p99.9). Plain: p50 400
 * µs, and each growth of its Set and each major collection stops it for 50 to 300 ms: p99 100 ms, p99.9 300.
 */
import { type BenchCase, type Job, nowNs, numberOf, type Params } from "../../harness/case.ts";
import { createHistogram, percentilesOf, recordNs } from "../../harness/histogram.ts";
import { watchPauses } from "../../harness/machine.ts";
import { urlChunk } from "../../harness/urls.ts";
import { openWarmQueue, pushAll } from "./rig.ts";

const EVERY_NS = 1e6;
const PUSHED = 100;
const POLLED = 50;

export const latency: BenchCase = {
  name: "latency",
  suite: "core",
  about: "100 pushes, 50 polls and dones every millisecond, timed from when they were due",
  question: "How long does a caller wait who comes on time?",
  unit: "batch",
  process: "fresh",
  pairs: [["outrider", "plain"]],
  sizes: {
    smoke: [{ pending: 2_000, batches: 50 }],
    real: [{ pending: 1_000_000, batches: 4_000 }],
    suite: [{ pending: 300_000, batches: 2_000 }],
  },
  rounds: 5,
  setup,
};

async function setup(side: string, params: Params): Promise<Job> {
  const pending = numberOf(params, "pending");
  const batches = numberOf(params, "batches");
  const shape = { hosts: Math.max(100, Math.floor(pending / 50)) };
  const queue = await openWarmQueue(side, 0, pending);
  await pushAll(queue, { start: 0, count: pending, shape });
  // All URLs are made before the clock starts, so that making them is not part of the latency.
  const urls = urlChunk(pending, batches * PUSHED, shape);
  let [accepted, taken] = [0, 0];
  return {
    async run() {
      const histogram = createHistogram();
      const pauses = watchPauses();
      const start = nowNs() + EVERY_NS;
      for (let batch = 0; batch < batches; batch++) {
        const dueNs = start + batch * EVERY_NS;
        while (nowNs() < dueNs);
        const answer = queue.push(urls.slice(batch * PUSHED, (batch + 1) * PUSHED));
        accepted += typeof answer === "number" ? answer : await answer;
        const out = queue.drain(POLLED);
        taken += (Array.isArray(out) ? out : await out).length;
        recordNs(histogram, nowNs() - dueNs);
      }
      const { maxMs } = await pauses.stop();
      const percentiles = percentilesOf(histogram);
      const { p50, p99, p999, max } = percentiles;
      return {
        times: { p50, p99, "p99.9": p999, max },
        facts: { "longest GC ms": maxMs },
        latencies: { batch: percentiles },
      };
    },
    checksum: () => `${accepted} accepted, ${taken} taken`,
    close: () => queue.close(),
  };
}

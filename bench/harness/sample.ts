/**
 * Micro cases: a run as samples of its steps, taken by tinybench, which times each step by itself.
 *
 *   prepare(0) ▏work(0)▕  prepare(1) ▏work(1)▕  …        one sample each; only `work` is timed
 *              └ sample ┘            └ sample ┘ ─▶ median, mean
 *
 * The time of a run is the median of its steps: on a machine that is shared, a neighbour and a collection lengthen some steps, and a sum
 * bears all of them. Not for what grows as it is filled (a table): few steps bear that price, and a median leaves it out.
 *
 *   I1  Every step is done once, in order: a checksum over all of them holds.
 */
import { Bench } from "tinybench";

export interface Steps {
  readonly name: string;
  readonly count: number;
  /** Operations of a step; the last may have fewer. */
  readonly size: number;
  /** Of all steps. */
  readonly total: number;
  /** Outside of the clock. */
  prepare?(step: number): void;
  work(step: number): void;
}

/** Nanoseconds of one operation. */
export interface Sampled {
  readonly median: number;
  readonly mean: number;
}

const NS_PER_MS = 1e6;

/** Does every step once and returns how long an operation took. */
export function sampleSteps({ name, count, size, total, prepare, work }: Steps): Sampled {
  const bench = new Bench({
    ...{ iterations: count, time: 0, warmup: false, throws: true },
    timestampProvider: "hrtimeNow",
  });
  let step = -1;
  const beforeEach = (): void => {
    step++;
    prepare?.(step);
  };
  bench.add(name, () => work(step), { async: false, beforeEach });
  const [task] = bench.runSync();
  const result = task?.result;
  if (result?.state !== "completed" || result.latency.samplesCount !== count) {
    throw new Error(`${name}: ${result?.state} (expected: ${count} samples)`);
  }
  const { p50, mean } = result.latency;
  return { median: (p50 * NS_PER_MS) / size, mean: (mean * NS_PER_MS * count) / total };
}

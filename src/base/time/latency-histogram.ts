/**
 * Room `src/base/time`: how time is counted: calendar units, lengths of time as texts, histograms of times. Decides nothing; what
 * the time is stands in clock.ts.
 */

/**
 * LatencyHistogram: milliseconds in an HDR histogram, which counts in microseconds and keeps two significant digits.
 *
 *   record(ms) ─ the same value as before? ─▶ run + 1           two comparisons: most visits of a batch take equally long
 *                another value              ─▶ the run goes into the histogram, and a new one begins
 *
 *   I1  A percentile is at most 1 % above the value that it stands for, and never above `max`. Count, mean and `max` are exact.
 *   I2  Some 2 KiB with its first value; it doubles its range, up to some 30 KiB, when a longer time than ever is recorded.
 */
import hdr from "hdr-histogram-js/dist/Float64Histogram.js";

/** To Node the default export of a CommonJS module is all of its exports; to some loaders, which users may have, its export `default`. */
const Counts = (typeof hdr === "function" ? hdr : hdr.default) as typeof hdr.default;
type Counts = InstanceType<typeof Counts>;

/** How long things took, in milliseconds. */
export interface Latency {
  /** How many were counted. */
  readonly count: number;
  /** Their mean. */
  readonly mean: number;
  /** Half of them took no longer. */
  readonly p50: number;
  /** 90 % of them took no longer. */
  readonly p90: number;
  /** 99 % of them took no longer. */
  readonly p99: number;
  /** The longest. */
  readonly max: number;
}

const US_PER_MS = 1_000;
const FIRST_RANGE_US = 64 * US_PER_MS;
/** A month. What takes longer counts as that long among the percentiles. */
const RANGE_US_MAX = 2_592_000_000 * US_PER_MS;
const DIGITS = 2;

export interface LatencyHistogram {
  /** The value that was recorded last, and how many times in a row; not in the histogram yet. */
  value: number;
  run: number;
  sum: number;
  max: number;
  /** Made with the first value: many frontiers of a process never finish a page. */
  counts: Counts | undefined;
}

export function createLatencyHistogram(): LatencyHistogram {
  return { value: 0, run: 0, sum: 0, max: 0, counts: undefined };
}

/** Records `ms`; a time before its own beginning counts as 0, and what is no number not at all. @hot */
export function recordLatency(histogram: LatencyHistogram, ms: number): void {
  if (ms === histogram.value) histogram.run++;
  else begin(histogram, ms);
}

function begin(histogram: LatencyHistogram, ms: number): void {
  if (Number.isNaN(ms)) return;
  endRun(histogram);
  histogram.value = Math.max(ms, 0);
  histogram.run = 1;
}

/** The run so far goes into the histogram. */
function endRun(histogram: LatencyHistogram): void {
  const { run, value } = histogram;
  if (run === 0) return;
  histogram.counts ??= createCounts();
  histogram.counts.recordValueWithCount(Math.min(Math.round(value * US_PER_MS), RANGE_US_MAX), run);
  histogram.sum += value * run;
  histogram.max = Math.max(histogram.max, value);
  histogram.run = 0;
}

function createCounts(): Counts {
  const counts = new Counts(1, FIRST_RANGE_US, DIGITS);
  counts.autoResize = true;
  return counts;
}

/** The value that this share of all values does not exceed (I1); 0 when nothing was recorded. */
export function latencyAt(histogram: LatencyHistogram, share: number): number {
  endRun(histogram);
  const { counts, max } = histogram;
  if (counts === undefined) return 0;
  return Math.min(counts.getValueAtPercentile(share * 100) / US_PER_MS, max);
}

/** What a report shows of it. */
export function latencyOf(histogram: LatencyHistogram): Latency {
  const [p50, p90, p99] = [0.5, 0.9, 0.99].map((share) => rounded(latencyAt(histogram, share)));
  const { counts, max, sum } = histogram;
  const count = counts?.totalCount ?? 0;
  const mean = count === 0 ? 0 : rounded(sum / count);
  return { count, mean, p50, p90, p99, max: rounded(max) } as Latency;
}

/** Counts by powers of two: at i those above 2^(i − 1) ms and up to 2^i, at 0 those up to 1. Ends with the last count above 0. */
export function latencyOctaves(histogram: LatencyHistogram): number[] {
  endRun(histogram);
  const { counts } = histogram;
  const octaves: number[] = [];
  for (let at = 0; counts !== undefined && at < counts.countsArrayLength; at++) {
    const count = counts.getCountAtIndex(at);
    if (count === 0) continue;
    const octave = Math.max(Math.ceil(Math.log2(counts.valueFromIndex(at) / US_PER_MS)), 0);
    while (octaves.length <= octave) octaves.push(0);
    octaves[octave] = (octaves[octave] as number) + count;
  }
  return octaves;
}

function rounded(ms: number): number {
  return Math.round(ms * US_PER_MS) / US_PER_MS;
}

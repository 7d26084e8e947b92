/** Latencies in an HDR histogram: three digits, nanoseconds, percentiles out. */
import { build, encodeIntoCompressedBase64, type Histogram } from "hdr-histogram-js";

export interface Percentiles {
  readonly p50: number;
  readonly p90: number;
  readonly p99: number;
  readonly p999: number;
  readonly max: number;
  readonly count: number;
  /** The whole histogram in the HDR exchange format, for the curve. */
  readonly encoded: string;
}

/** Longest latency that fits: ten minutes. */
const LATENCY_NS_MAX = 600e9;

export function createHistogram(): Histogram {
  return build({ highestTrackableValue: LATENCY_NS_MAX, numberOfSignificantValueDigits: 3 });
}

export function recordNs(histogram: Histogram, ns: number): void {
  histogram.recordValue(Math.min(LATENCY_NS_MAX, Math.max(1, Math.round(ns))));
}

export function percentilesOf(histogram: Histogram): Percentiles {
  return {
    p50: histogram.getValueAtPercentile(50),
    p90: histogram.getValueAtPercentile(90),
    p99: histogram.getValueAtPercentile(99),
    p999: histogram.getValueAtPercentile(99.9),
    max: histogram.maxValue,
    count: histogram.totalCount,
    encoded: encodeIntoCompressedBase64(histogram),
  };
}

import { build } from "hdr-histogram-js";
import { describe, expect, it } from "vitest";
import {
  createLatencyHistogram,
  latencyAt,
  type LatencyHistogram,
  latencyOctaves,
  latencyOf,
  recordLatency,
} from "../../../../src/base/time/latency-histogram.ts";
import { testRandom } from "../../../support/seed.ts";

function histogramOf(values: Iterable<number>): LatencyHistogram {
  const histogram = createLatencyHistogram();
  for (const value of values) recordLatency(histogram, value);
  return histogram;
}

describe("a latency histogram", () => {
  it("reports zeros when nothing was recorded", () => {
    const empty = { count: 0, mean: 0, p50: 0, p90: 0, p99: 0, max: 0 };
    expect(latencyOf(createLatencyHistogram())).toEqual(empty);
    expect(latencyOctaves(createLatencyHistogram())).toEqual([]);
  });

  it("has exact count, mean and max, and percentiles at most 1 % above the true value (I1)", () => {
    const random = testRandom("latency histogram");
    const draw = (): number => Math.round(random.unit() ** 6 * 1e8) / 1_000;
    const values = Array.from({ length: 5_000 }, draw);
    const histogram = histogramOf(values);
    values.sort((a, b) => a - b);
    const { count, mean, max } = latencyOf(histogram);
    const sum = values.reduce((all, value) => all + value, 0);
    expect([count, max]).toEqual([values.length, values.at(-1)]);
    expect(mean).toBeCloseTo(sum / values.length, 2);
    for (const share of [0.001, 0.5, 0.9, 0.99, 0.999, 1]) {
      const truth = values[Math.ceil(share * values.length) - 1] as number;
      expect(latencyAt(histogram, share)).toBeGreaterThanOrEqual(truth);
      expect(latencyAt(histogram, share)).toBeLessThanOrEqual(truth * 1.01 + 0.001);
    }
  });

  it("is the library's own histogram: equal values in a row are counted as one by one", () => {
    const theirs = build({ lowestDiscernibleValue: 1, highestTrackableValue: 2 ** 40 });
    const values = [3, 3, 3, 0, 0, 70_000, 3, 3, 0.25, 86_400_000];
    for (const value of values) theirs.recordValue(value * 1_000);
    const { count, p50, p90, max } = latencyOf(histogramOf(values));
    expect([count, max]).toEqual([theirs.totalCount, theirs.maxValue / 1_000]);
    for (const [ours, share] of [[p50, 50] as const, [p90, 90] as const]) {
      expect(ours / (theirs.getValueAtPercentile(share) / 1_000)).toBeCloseTo(1, 2);
    }
  });

  it("can be read between two values, and goes on", () => {
    const histogram = histogramOf([5, 5]);
    expect(latencyOf(histogram)).toMatchObject({ count: 2, p50: 5, max: 5 });
    recordLatency(histogram, 5);
    recordLatency(histogram, 9);
    expect(latencyOf(histogram)).toMatchObject({ count: 4, mean: 6, max: 9 });
    expect(latencyAt(histogram, 0.5)).toBeCloseTo(5, 1);
  });

  it("counts a time before its beginning as 0, one beyond a month, and nothing that is no number", () => {
    const year = 366 * 86_400_000;
    const histogram = histogramOf([-5, Number.NaN, year, Number.NaN]);
    expect(latencyOf(histogram)).toMatchObject({ count: 2, mean: year / 2, max: year });
    expect(latencyAt(histogram, 0.5)).toBe(0);
    expect(latencyAt(histogram, 1)).toBeGreaterThanOrEqual(2_592_000_000);
  });

  it("counts by powers of two", () => {
    expect(latencyOctaves(histogramOf([0, 1, 0.2, 1.5, 2, 2.1, 4, 64, 64]))).toEqual([
      ...[3, 2, 2, 0, 0, 0, 2],
    ]);
  });
});

/**
 * A histogram of milliseconds with a bounded error: each power of two is cut in eight, so that a percentile is at most an
 * eighth above its true value. Fixed size, one addition to record.
 */

const STEPS = 8;
const OCTAVES = 26; // up to 2^26 ms, eighteen hours

export interface Histogram {
  record(ms: number): void;
  /** The value that this share of all values does not exceed; 0 when nothing was recorded. */
  percentile(share: number): number;
  /** Counts by powers of two: at i those above 2^(i − 1) and up to 2^i; at 0 those up to 1. Ends with the last count above 0. */
  octaves(): number[];
  readonly count: number;
  readonly max: number;
}

export function createHistogram(): Histogram {
  const counts = new Uint32Array(STEPS * OCTAVES + 1);
  let count = 0;
  let max = 0;
  return {
    get count() {
      return count;
    },
    get max() {
      return max;
    },
    record(ms) {
      const value = Math.max(ms, 0);
      const at = value <= 1 ? 0 : Math.min(Math.ceil(Math.log2(value) * STEPS), counts.length - 1);
      counts[at] = (counts[at] as number) + 1;
      count++;
      if (value > max) max = value;
    },
    percentile(share) {
      if (count === 0) return 0;
      let left = Math.ceil(share * count);
      for (let at = 0; at < counts.length; at++) {
        left -= counts[at] as number;
        if (left <= 0) return Math.min(2 ** (at / STEPS), max);
      }
      return max;
    },
    octaves() {
      const sums: number[] = [];
      counts.forEach((each, at) => {
        if (each === 0) return;
        const octave = Math.ceil(at / STEPS);
        while (sums.length <= octave) sums.push(0);
        sums[octave] = (sums[octave] as number) + each;
      });
      return sums;
    },
  };
}

/**
 * Paired ratios: median of log-ratios, bootstrap interval, verdict.
 *
 *   round 1   a₁ b₁ ─▶ ln(b₁ / a₁) ┐
 *   round 2   b₂ a₂ ─▶ ln(b₂ / a₂) ├─▶ median ─▶ e^median, and e^ of the 2.5 % and 97.5 % quantiles
 *   …                              ┘               of the medians of 2,000 resamples
 *
 *   I1  The same ratios have the same interval: the resampling has a fixed seed.
 */

export interface Ratio {
  readonly median: number;
  readonly low: number;
  readonly high: number;
  readonly rounds: number;
}

export type Verdict = "faster" | "slower" | "inconclusive";

const RESAMPLES = 2000;
const SEED = 0x9e3779b9;
/** An A/A interval that leaves 1 by no more than this is what a shared machine does at its best. */
const NOISE = 0.03;
/** An A/A interval wider than this holds 1 by accident. */
const SPREAD_MAX = 1.5;
/** Fewer rounds than this cannot make an interval worth its name. */
export const ROUNDS_MIN = 3;

/** The ratio of `others` to `ours`, which are the times of the same rounds. */
export function ratioOf(ours: readonly number[], others: readonly number[]): Ratio {
  const rounds = Math.min(ours.length, others.length);
  if (rounds === 0) throw new Error("rounds: 0 (expected: at least 1)");
  const logs: number[] = [];
  for (let i = 0; i < rounds; i++) {
    logs.push(Math.log((others[i] as number) / (ours[i] as number)));
  }
  const next = xorshift(SEED);
  const medians: number[] = [];
  for (let i = 0; i < RESAMPLES; i++) {
    medians.push(medianOf(logs.map(() => logs[next() % rounds] as number)));
  }
  medians.sort((a, b) => a - b);
  return {
    median: Math.exp(medianOf(logs)),
    low: Math.exp(medians[Math.floor(RESAMPLES * 0.025)] as number),
    high: Math.exp(medians[Math.ceil(RESAMPLES * 0.975) - 1] as number),
    rounds,
  };
}

export function verdictOf(ratio: Ratio): Verdict {
  if (ratio.rounds < ROUNDS_MIN) return "inconclusive";
  if (ratio.low > 1) return "faster";
  return ratio.high < 1 ? "slower" : "inconclusive";
}

/** Whether a side raced against itself came out even, and not only because anything could have been. */
export function isQuiet(same: Ratio): boolean {
  const isWide = same.high / same.low > SPREAD_MAX;
  return same.low <= 1 + NOISE && same.high >= 1 - NOISE && !isWide;
}

/** Probability of any false difference among all comparisons, if nothing has changed. */
const FAMILY = 0.01;

/**
 * Whether two series of log-ratios lie further apart than chance would put any of `rows` such pairs: Welch's t-test, its level divided by
 * their number. Intervals of three rounds each, by contrast, miss one another one time in ten where nothing has changed.
 */
export function isBeyondChance(
  before: readonly number[],
  after: readonly number[],
  rows: number,
): boolean {
  if (Math.min(before.length, after.length) < 2) return false;
  const [a, b] = [momentsOf(before), momentsOf(after)];
  const gap = Math.abs(a.mean - b.mean);
  const error = a.square + b.square;
  if (error === 0) return gap > 0;
  const degrees = error ** 2 / (a.square ** 2 / a.free + b.square ** 2 / b.free);
  return chanceOf(gap / Math.sqrt(error), Math.floor(degrees)) < FAMILY / rows;
}

/** The mean, the square of its error, and one less than there are values. */
function momentsOf(values: readonly number[]): { mean: number; square: number; free: number } {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  const free = values.length - 1;
  return { mean, square: squares / free / values.length, free };
}

/** Chance that |t| of so many degrees of freedom, a whole number, is so large: Abramowitz and Stegun, 26.7.3 and 26.7.4. */
export function chanceOf(t: number, degrees: number): number {
  const angle = Math.atan(t / Math.sqrt(degrees));
  const isOdd = degrees % 2 === 1;
  let term = isOdd ? Math.cos(angle) : 1;
  let sum = degrees === 1 ? 0 : term;
  for (let at = isOdd ? 3 : 2; at < degrees; at += 2) {
    term *= (Math.cos(angle) ** 2 * (at - 1)) / at;
    sum += term;
  }
  const inside = Math.sin(angle) * sum;
  return Math.max(0, 1 - (isOdd ? (2 / Math.PI) * (angle + inside) : inside));
}

export function medianOf(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  if (sorted.length % 2 === 1) return sorted[middle] as number;
  return ((sorted[middle - 1] as number) + (sorted[middle] as number)) / 2;
}

/** Numbers 0 … 2³² − 1 of a fixed stream. */
function xorshift(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state = (state ^ (state << 5)) >>> 0;
    return state;
  };
}

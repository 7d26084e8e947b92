/**
 * Adaptive period: how long to wait before a page is visited again, from what its visits showed.
 *
 *   period ← period × e^(STEP × TARGET)         unchanged: ×1.37
 *   period ← period × e^(−STEP × (1 − TARGET))  changed:   ×0.83
 *
 * Stochastic approximation (Robbins and Monro, 1951) of the period at which a visit finds a change with probability TARGET = 1 − 1/e.
 * A page that changes as a Poisson process of rate λ, the usual model of pages (Cho and Garcia-Molina, "Estimating frequency of
 * change", 2003), has changed within T with probability 1 − e^(−λT), so that the period settles around T = 1/λ: one visit for
 * each mean time between changes. The step is constant, so that a page whose habits change is followed; its price is noise: the
 * logarithm of a settled period varies with a standard deviation of about √(STEP × TARGET / 2) ≈ 0.4. The factors are close to
 * those of Apache Nutch's adaptive schedule (×1.4, ×0.8), whose target of 0.6 they had by experience.
 *
 *   I1  min ≤ period ≤ max.
 *   I2  The result depends on the period before and the outcome alone: a record keeps one number.
 */

/** Share of visits that shall find a change. */
const CHANGE_TARGET = 1 - 1 / Math.E;
/** Size of one step in the logarithm of the period. */
const CHANGE_STEP = 0.5;

const GROW = Math.exp(CHANGE_STEP * CHANGE_TARGET);
const SHRINK = Math.exp(-CHANGE_STEP * (1 - CHANGE_TARGET));

/** The period after a visit; `beforeMs` 0: the first one; `changed` undefined: it was not compared. */
export function nextPeriod(
  beforeMs: number,
  changed: boolean | undefined,
  { minMs, maxMs }: { minMs: number; maxMs: number },
): number {
  // Nothing is known of a new page: the middle of the scale is as far from both ends.
  const lastMs = beforeMs === 0 ? Math.sqrt(minMs) * Math.sqrt(maxMs) : beforeMs;
  const factor = changed === undefined ? 1 : changed ? SHRINK : GROW;
  return Math.min(Math.max(lastMs * factor, minMs), maxMs);
}

/** Steps of the kept period for each doubling: an error of 0.05 %. */
const CODES_PER_DOUBLING = 1_400;
const CODE_MAX = 65_534;
/** The code of a record that its request put into an epoch of its own: it does not come again by itself. */
export const PERIOD_NEVER = 65_535;

/** A period as the 16 bits that a record keeps, from 1; 0 means none. Up to 2⁴⁶ ms, two thousand years. */
export function periodCode(periodMs: number): number {
  const code = Math.round(Math.log2(Math.max(periodMs, 1)) * CODES_PER_DOUBLING) + 1;
  return Math.min(code, CODE_MAX);
}

/** The period of a code; 0 for none. */
export function periodOf(code: number): number {
  return code === 0 ? 0 : 2 ** ((code - 1) / CODES_PER_DOUBLING);
}

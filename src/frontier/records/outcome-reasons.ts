/**
 * Outcome reasons: why records were tried again, and why they failed, counted by reason. In memory alone: a process begins at 0,
 * and so does a clear.
 *
 *   retry({ reason })              retried
 *   fail(reason), attempts, …      failed
 *
 * Callers name reasons, so that there is a bound: what comes when so many are known is counted as OTHER.
 */
const REASONS_MAX = 100;
const OTHER = "other";
/** A retry without a reason. */
const NO_REASON = "unsaid";

export interface Reasons {
  readonly retried: Map<string, number>;
  readonly failed: Map<string, number>;
}

export function createReasons(): Reasons {
  return { retried: new Map(), failed: new Map() };
}

export function countReason(counts: Map<string, number>, reason = NO_REASON): void {
  const known = counts.get(reason);
  if (known !== undefined) counts.set(reason, known + 1);
  else if (counts.size < REASONS_MAX) counts.set(reason, 1);
  else counts.set(OTHER, (counts.get(OTHER) ?? 0) + 1);
}

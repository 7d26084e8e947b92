/** RuleState: one rule as the core works with it: its policy, its share, its counts. Owner: the frontier's thread. */
import type { NormalPolicy } from "../url/policy.ts";
import type { FrontierPolicy } from "./policy.ts";

export interface RuleState {
  readonly id: string;
  /** No longer of the set: what is left of it is adopted by other rules. */
  isGone: boolean;
  readonly index: number;
  /** Handle of its rule queue. */
  readonly handle: number;
  policy: FrontierPolicy;
  key: NormalPolicy;
  /** Where it stands among the rules of its set. */
  order: number;
  /** Its share: (100 + weight) / priority. */
  rate: number;
  /** What it has had so far, in units of its share, and its place among the rules that may go (shares.ts). */
  pass: number;
  place: number;
  /** The host queue that a sweep looks at next. */
  cursor: number;
  served: number;
  pending: number;
  waiting: number;
  /** Done, and coming again by themselves. */
  resting: number;
  leased: number;
  done: number;
  failed: number;
}

export function createRule(
  from: Pick<RuleState, "id" | "index" | "handle" | "policy" | "key" | "order" | "rate">,
): RuleState {
  const counts = { served: 0, pending: 0, waiting: 0, resting: 0, leased: 0, done: 0, failed: 0 };
  return { ...from, ...counts, pass: 0, place: -1, cursor: 0, isGone: false };
}

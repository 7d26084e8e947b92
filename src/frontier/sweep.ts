/** Sweep: how far the records of rules that have gone, or changed, have been brought under the new set (rule-set.ts). */
import type { RuleState } from "./rule-state.ts";

export interface Sweep {
  readonly version: number | string;
  /** Rules whose hosts are to be settled anew, and the queue that is next. */
  readonly changed: RuleState[];
  queue: number;
  /** Where the pass over the waiting heap stands; −1: at its end. */
  waitingAt: number;
  moved: number;
  readonly unmatched: string[];
  unmatchedCount: number;
  isDone: boolean;
}

/** Sweep state: how far the records of rules that have gone, or changed, have been brought under the new set (install-rules.ts). */
import type { RuleState } from "./rule-state.ts";
import type { Successors } from "./successor-queues.ts";

/**
 * index     the rules of the set by host and domain, for the next match (url/matching/rule-matcher.ts)
 * pending   a pass over all rules: records of gone ones move, those that nothing names go
 * waiting   a pass over the heap of waiting records, where the one before found any under gone rules
 * changed   the hosts of rules that let other hosts go than before
 * gone      the first pass again: what became due meanwhile, rules that are empty by now, and records that the heap has moved
 *           past the pass over it: back to `waiting`
 * sole      whether one rule is all there is
 */
export type SweepPhase = "index" | "pending" | "waiting" | "changed" | "gone" | "sole" | "done";

export interface Sweep {
  readonly version: number | string;
  phase: SweepPhase;
  /** The rule that is looked at next, by index, and how many are to be looked at before this pass is over. */
  ruleAt: number;
  rulesLeft: number;
  /** Where the next search for rules that nothing names begins, when sets follow each other too soon. */
  tidyAt: number;
  /** Rules whose hosts are to be settled anew, and the queue that is next. */
  readonly changed: RuleState[];
  queue: number;
  /** How many records were found waiting under gone rules in this pass, and where the pass over their heap stands; −1: at its end. */
  waitingFound: number;
  waitingAt: number;
  moved: number;
  /** What the slice under way has found out. */
  readonly successors: Successors;
  readonly unmatched: string[];
  unmatchedCount: number;
  isDone: boolean;
}

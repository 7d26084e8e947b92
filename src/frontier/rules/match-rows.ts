/**
 * The rules of a batch: the rule queue of each parsed row goes to the scratch's `rules`, one that no rule takes, or that is
 * deeper than its rule reaches, is told so in its status.
 *
 *   kernel: host known ─▶ its rule queue, or plan        here: hosts met for the first time, plans with patterns and schemes
 *
 *   I1  What is noted holds until the next batch, and no change of rules comes in between.
 */
import { RULE_QUEUE_MAX_DEPTH_WORD } from "../../structures/hosts/host-table.ts";
import { setWordAt, word, wordAt } from "../../structures/store.ts";
import {
  keepHostMemo,
  MATCH_PLAN,
  MATCH_UNKNOWN,
  matchHosts,
} from "../../url/matching/host-memo.ts";
import {
  BATCH_NO_RULE,
  BATCH_OK,
  BATCH_TOO_DEEP,
  type Rows,
  rowHostText,
  rowStatus,
  setRowStatus,
} from "../../url/batch/row-fields.ts";
import type { Core, RuleState } from "../core.ts";
import { matchPlan, NO_RULE, planOf, soleOfPlan } from "../../url/matching/rule-matcher.ts";

/** Finds every row its rule; offset of the handles of their rule queues. @hot */
export function matchRows(core: Core, rows: Rows, count: number, depth: number): number {
  const { matcher, scratch, store } = core;
  const { rules } = scratch;
  if (matchHosts(matcher.memo, rows, rules, depth) === 0) return rules;
  const at = rules >> 2;
  for (let row = 0; row < count; row++) {
    if (rowStatus(rows, row) !== BATCH_OK) continue;
    let number = wordAt(store, at + row);
    if (number < MATCH_PLAN) continue; // found in the memo
    if (number === MATCH_UNKNOWN) number = rememberHost(core, rows, row);
    const ruleQueue = number < MATCH_PLAN ? number : tryPlan(core, number - MATCH_PLAN, rows, row);
    if (ruleQueue === 0) setRowStatus(rows, row, BATCH_NO_RULE);
    else if (depth > word(store, ruleQueue, RULE_QUEUE_MAX_DEPTH_WORD)) {
      setRowStatus(rows, row, BATCH_TOO_DEEP);
    }
    setWordAt(store, at + row, ruleQueue);
  }
  return rules;
}

/** The number of a host that is met for the first time, kept from now on. */
function rememberHost({ matcher, active }: Core, rows: Rows, row: number): number {
  const plan = planOf(matcher, rowHostText(rows, row));
  const order = soleOfPlan(matcher, plan);
  let number = MATCH_PLAN + plan;
  if (order !== undefined) number = order === NO_RULE ? 0 : (active[order] as RuleState).handle;
  keepHostMemo(matcher.memo, rows, row, number);
  return number;
}

/** The rule queue of the rule of a plan that takes a row, or 0. */
function tryPlan({ matcher, active }: Core, plan: number, rows: Rows, row: number): number {
  const order = matchPlan(matcher, plan, rows, row);
  return order === NO_RULE ? 0 : (active[order] as RuleState).handle;
}

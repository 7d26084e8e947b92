/**
 * Finds each parsed row its rule: the kernel where the row's host is known and decides, else here, by the matcher's plans. The owner and a
 * worker's link filter decide by it alike. A row that no rule takes, or that is deeper than its rule reaches, gets that status.
 *
 *   kernel: host known ─▶ number of its rule, or plan        here: hosts met for the first time, plans with patterns and schemes
 */
import {
  BATCH_NO_RULE,
  BATCH_OK,
  BATCH_TOO_DEEP,
  type Rows,
  rowHostText,
  rowStatus,
  setRowStatus,
} from "../batch/row-fields.ts";
import { keepHostMemo, MATCH_PLAN, MATCH_UNKNOWN, matchHosts } from "./host-memo.ts";
import {
  type Matcher,
  matchPlan,
  NO_RULE,
  planOf,
  soleOfHost,
  soleOfPlan,
} from "./rule-matcher.ts";

/** The rules of a matcher as the caller has them. */
export interface MatchedRules {
  readonly matcher: Matcher;
  /** Offset of a word per row: where the number of its rule goes. */
  readonly numbers: number;
  /** What stands for the rule in this place of the matcher: the handle of its queue, where the kernel finds the rule's depth; 0: nothing. */
  numberOf(order: number): number;
  maxDepthOf(order: number): number;
}

/** Matches `count` rows that lie at `depth`. @hot */
export function matchRows(rules: MatchedRules, rows: Rows, count: number, depth: number): void {
  const { matcher, numbers } = rules;
  if (matchHosts(matcher.memo, rows, numbers, depth) === 0) return;
  const { region } = rows.kernel;
  const at = numbers >> 2;
  for (let row = 0; row < count; row++) {
    if (rowStatus(rows, row) !== BATCH_OK) continue;
    const number = region.views.u32[at + row] as number;
    if (number < MATCH_PLAN) continue; // found in the memo
    const order = orderOf(rules, rows, row, number);
    if (order === NO_RULE) setRowStatus(rows, row, BATCH_NO_RULE);
    else if (depth > 0 && depth > rules.maxDepthOf(order)) setRowStatus(rows, row, BATCH_TOO_DEEP);
    region.views.u32[at + row] = order === NO_RULE ? 0 : rules.numberOf(order);
  }
}

/** The order of the rule that takes a row whose number in the memo asks for more than that; a host met for the first time is kept there. */
function orderOf(rules: MatchedRules, rows: Rows, row: number, number: number): number {
  const { matcher } = rules;
  const { memo } = matcher;
  if (number !== MATCH_UNKNOWN) return matchPlan(matcher, number - MATCH_PLAN, rows, row);
  const host = rowHostText(rows, row);
  const own = soleOfHost(matcher, host) ?? NO_RULE;
  let found = own === NO_RULE ? 0 : rules.numberOf(own);
  if (found !== 0) {
    keepHostMemo(memo, rows, row, found);
    return own;
  }
  const plan = planOf(matcher, host);
  const sole = soleOfPlan(matcher, plan);
  if (sole !== undefined && sole !== NO_RULE) found = rules.numberOf(sole);
  keepHostMemo(memo, rows, row, sole === NO_RULE || found !== 0 ? found : MATCH_PLAN + plan);
  return sole ?? matchPlan(matcher, plan, rows, row);
}

/**
 * Room `src/frontier/rules`: rules: what they may contain, their policies, how one set replaces another, and where records of
 * removed rules go. A client that decides without the frontier needs no more than this room.
 */

/**
 * RuleSet: one set of rules taken in place of another while the frontier runs, and the sweep that follows.
 *
 *   setRules ─▶ admissions follow the new set ─▶ slices of the sweep (rule-sweep.ts): 1 rules of the set             ─▶ indexed by host
 *                                                                                   2 pending of rules that went   ─▶ adopted
 *                                                                                   3 waiting of rules that went   ─▶ adopted
 *                                                                                   4 hosts of rules that changed  ─▶ settled
 *                                                                                   5 empty gone rules             ─▶ freed
 *
 *   same id, same politeness unit    takes the new policy where it stands
 *   same id, politeness comes, goes  a new rule of that id; what is pending moves over, in the sweep or when its turn comes
 *   id gone                          matched again, in the sweep or when its turn comes; leases keep what they have
 *
 *   I1  There is one sweep at most, however often rules are swapped: a new set restarts it with what is left.
 *   I2  A gone rule keeps its index until nothing names it; then the index is used again.
 *
 * Cost: one call, since admissions follow the whole set at once (docs/guides/rules.md). Each rule is looked at once to be made
 * and once to be taken, policies that many share once; the index of hosts is made by the sweep, or when a URL asks for it.
 */
import { memoryFull } from "../../base/errors.ts";
import { groupsOpen } from "../../structures/hosts/group-table.ts";
import { ruleQueueClear, ruleQueueCreate } from "../../structures/hosts/host-table.ts";
import { createHostMemo } from "../../url/matching/host-memo.ts";
import { createDomainMemo } from "../../url/matching/row-domain.ts";
import { normalizePolicy } from "../../url/keys/key-policy.ts";
import { rematchRecord } from "./rematch-records.ts";
import { type Core, createRule, ruleOfId, type RuleState } from "../core.ts";
import { modeOfRule } from "../admission/admission-mode.ts";
import { noteKinds } from "../politeness/host-groups.ts";
import { createMatcher, NO_RULE } from "../../url/matching/rule-matcher.ts";
import { type FrontierPolicy, type GroupTerm, normalizeRulePolicy } from "./rule-policy.ts";
import type { RuleList, RuleSpec } from "./rule-specs.ts";
import { flagsOf, goneOrder, takePolicy } from "./rule-state.ts";
import { createShares, sharesAdd, sharesReorder, sharesTake } from "../scheduling/rule-shares.ts";
import { settleSole, retireRule, startSweep } from "./rule-sweep.ts";
import { moveRuleTotals } from "../records/ledger.ts";

/** The state of rules that a new core begins with: none, and a place for records that no rule takes. */
export function createRules(store: Core["store"]) {
  const handle = ruleQueueCreate(store, 0);
  if (handle === 0) throw memoryFull();
  const policy = normalizeRulePolicy({}, "none");
  const key = normalizePolicy();
  const none = createRule(store, { id: "", index: 0, handle, policy, key, order: -1, rate: 1 });
  none.isGone = true;
  const shares = createShares();
  sharesAdd(shares, none);
  return {
    rules: [none],
    none,
    active: [],
    orders: new Map(),
    matcher: createMatcher([], createHostMemo(store.kernel)),
    domains: createDomainMemo(),
    plain: undefined,
    sole: undefined,
    spare: [],
    specs: [],
    seeders: [],
    version: 0,
    installs: 0,
    mode: 0,
    soleKey: undefined,
    flagsSeen: 0,
    sweep: undefined,
    orphans: [],
    adopt: rematchRecord,
    shares,
  };
}

/** Takes a checked set; the sweep is begun. All that can fail comes before anything changes. */
export function installRules(
  core: Core,
  list: RuleList,
  version: number | string,
  nowMs: number,
): void {
  const { specs, orders } = list;
  const before = core.active;
  if (specs.some(isGrouped)) groupsOpen(core.groups);
  core.installs++;
  const { active, changed, renewed } = makeRules(core, specs);
  for (let at = 0; at < before.length; at++) {
    const rule = before[at] as RuleState;
    if (rule.keptIn !== core.installs) retire(core, rule);
  }
  for (let order = 0; order < specs.length; order++) {
    const rule = active[order] as RuleState;
    if (rule.keptIn !== core.installs) continue;
    takePolicy(core.store, rule, specs[order] as RuleSpec, order);
    sharesTake(core.shares, rule);
  }
  for (const [rule, old] of renewed) inherit(core, rule, old);
  const matcher = createMatcher(specs, core.matcher.memo);
  Object.assign(core, { active, orders, specs, version, matcher }, traitsOf(core, specs));
  if (active.some(isGrouped)) noteKinds(core, nowMs);
  core.plain = matcher.all === NO_RULE ? undefined : active[matcher.all];
  startSweep(core, changed);
  settleSole(core);
  sharesReorder(core.shares); // orders have changed
}

/** What admissions ask of a set as a whole. */
function traitsOf({ flagsSeen }: Core, specs: readonly RuleSpec[]) {
  const seeders: RuleSpec[] = [];
  const soleKey = specs[0]?.key;
  const traits = { mode: 0, soleKey, flagsSeen };
  let before: FrontierPolicy | undefined;
  for (let order = 0; order < specs.length; order++) {
    const spec = specs[order] as RuleSpec;
    const { key, policy } = spec;
    if (spec.seeds.length > 0 || spec.everyMs !== undefined) seeders.push(spec);
    if (policy === before) continue; // and so is its key
    before = policy;
    traits.flagsSeen |= flagsOf(policy);
    traits.mode |= modeOfRule(policy, key);
    if (key !== soleKey) traits.soleKey = undefined;
  }
  return { ...traits, seeders };
}

function isGrouped({ policy }: { policy: FrontierPolicy }): boolean {
  return policy.groups.length > 0;
}

/** Among rules of the same pass it stands behind those of the set. */
function retire({ shares }: Core, rule: RuleState): void {
  rule.isGone = true;
  rule.order = goneOrder(rule.index);
  sharesTake(shares, rule);
}

/** The rules of a set, and what has become of those before. */
interface Made {
  /** Those that stand already under their ids, and new ones for the rest. */
  readonly active: RuleState[];
  /** Rules that stand already, and let other hosts go than before. */
  readonly changed: RuleState[];
  /** New rules of ids that stood before, and those. */
  readonly renewed: Array<readonly [RuleState, RuleState]>;
}

function makeRules(core: Core, specs: readonly RuleSpec[]): Made {
  const made: Made = { active: [], changed: [], renewed: [] };
  const { active, changed, renewed } = made;
  try {
    for (let order = 0; order < specs.length; order++) {
      const spec = specs[order] as RuleSpec;
      const old = olderOf(core, spec.id, order);
      if (old !== undefined && standsAlike(old.policy, spec.policy)) {
        old.keptIn = core.installs;
        if (
          !(old.policy.perHost === spec.policy.perHost && old.policy.isLifo === spec.policy.isLifo)
        )
          changed.push(old);
        active.push(old);
        continue;
      }
      const rule = makeRule(core, spec, order);
      if (old !== undefined) renewed.push([rule, old]);
      active.push(rule);
    }
  } catch (error) {
    for (const rule of active) if (rule.keptIn !== core.installs) retireRule(core, rule);
    throw error;
  }
  return made;
}

/** The rule of an id under the set before; most stand where they stood. */
function olderOf(core: Core, id: string, order: number): RuleState | undefined {
  const there = core.active[order];
  return there?.id === id ? there : ruleOfId(core, id);
}

/** Same unit, politeness there or not there as before, start requests in the same order: records stand where they would. */
function standsAlike(a: FrontierPolicy, b: FrontierPolicy): boolean {
  if (a === b) return true;
  if (a.by !== b.by || a.isPolite !== b.isPolite || a.startLast !== b.startLast) return false;
  if (!areGroupedAlike(a.groups, b.groups)) return false;
  return !a.startLast || a.isLifo === b.isLifo;
}

/** Same clocks above the host: fronts and gates stand where they would stand. */
function areGroupedAlike(a: readonly GroupTerm[], b: readonly GroupTerm[]): boolean {
  if (a.length !== b.length) return false;
  return a.every((term, index) => {
    const other = b[index] as GroupTerm;
    const isSame = term.by === other.by && term.limit === other.limit;
    return isSame && term.delayMs === other.delayMs;
  });
}

function makeRule(core: Core, spec: RuleSpec, order: number): RuleState {
  const { rules, spare, store } = core;
  const index = spare.length > 0 ? (spare.pop() as number) : rules.length;
  const handle = index < rules.length ? reuse(core, index) : ruleQueueCreate(store, index);
  if (handle === 0) throw memoryFull();
  const { id, policy, key, rate } = spec;
  const rule = createRule(store, { id, index, handle, policy, key, order, rate });
  sharesAdd(core.shares, rule);
  rules[index] = rule;
  return rule;
}

/** The rule queue of a rule that nothing names any more. */
function reuse({ rules, store }: Core, index: number): number {
  const { handle } = rules[index] as RuleState;
  ruleQueueClear(store, handle, index);
  return handle;
}

/** A rule of the same id goes on with the same share, and with the counts of what is over. */
function inherit({ shares, store }: Core, rule: RuleState, old: RuleState): void {
  shares.passes[rule.index] = shares.passes[old.index] as number;
  moveRuleTotals(store, old, rule);
}

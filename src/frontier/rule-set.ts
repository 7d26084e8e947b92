/**
 * RuleSet: one set of rules taken in place of another while the frontier runs, and the sweep that follows.
 *
 *   setRules ─▶ admissions follow the new set ─▶ slices of the sweep (sweeping.ts): 1 pending of rules that went   ─▶ adopted
 *                                                                                   2 waiting of rules that went   ─▶ adopted
 *                                                                                   3 hosts of rules that changed  ─▶ settled
 *                                                                                   4 empty gone rules             ─▶ freed
 *
 *   same id, same politeness unit    takes the new policy where it stands
 *   same id, politeness comes, goes  a new rule of that id; what is pending moves over, in the sweep or when its turn comes
 *   id gone                          matched again, in the sweep or when its turn comes; leases keep what they have
 *
 *   I1  There is one sweep at most, however often rules are swapped: a new set restarts it with what is left.
 *   I2  A gone rule keeps its index until nothing names it; then the index is used again.
 *
 * Cost: one call, since admissions follow the whole set at once: some 1.5 µs a rule (docs/guides/rules.md).
 */
import { memoryFull } from "../base/errors.ts";
import { ruleQueueCreate } from "../structures/host-table.ts";
import { createHostMemo } from "../url/host-memo.ts";
import { createDomainMemo } from "../url/row-domain.ts";
import { isExempt } from "../url/identity.ts";
import { type NormalPolicy, normalizePolicy } from "../url/policy.ts";
import { adoptRecord } from "./adopt.ts";
import { type Core, createRule, ruleFlags, ruleOfId, type RuleState } from "./core.ts";
import { isEpochPlain, noteEpochs } from "./epochs.ts";
import { noteKinds } from "./groups.ts";
import { createMatcher, NO_RULE } from "../url/matcher.ts";
import { type FrontierPolicy, type GroupTerm, normalizeRulePolicy } from "./policy.ts";
import { isBudgeted } from "./politeness.ts";
import type { RuleList, RuleSpec } from "./rules.ts";
import { goneOrder, takePolicy } from "./rule-state.ts";
import { createShares, sharesAdd, sharesReorder, sharesTake } from "./shares.ts";
import { settleSole, spareRule, startSweep } from "./sweeping.ts";

/** What a core knows of its rules. */
type RuleFields = Pick<
  Core,
  | "rules"
  | "active"
  | "orders"
  | "matcher"
  | "domains"
  | "plain"
  | "sole"
  | "none"
  | "spare"
  | "specs"
  | "version"
  | "isEach"
  | "isSpecial"
  | "soleKey"
  | "flagsSeen"
  | "sweep"
  | "orphans"
  | "adopt"
  | "shares"
>;

/** The state of rules that a new core begins with: none, and a place for records that no rule takes. */
export function createRules(store: Core["store"]): RuleFields {
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
    version: 0,
    isEach: false,
    isSpecial: false,
    soleKey: undefined,
    flagsSeen: 0,
    sweep: undefined,
    orphans: [],
    adopt: adoptRecord,
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
  const changed: RuleState[] = [];
  const olds = specs.map(({ id }, order) => olderOf(core, id, order));
  const active = makeRules(core, specs, olds);
  for (let order = 0; order < before.length; order++) (before[order] as RuleState).isGone = true;
  for (let order = 0; order < specs.length; order++) {
    const spec = specs[order] as RuleSpec;
    const rule = active[order] as RuleState;
    const old = olds[order];
    if (rule === old && !goesAlike(old.policy, spec.policy)) changed.push(old);
    if (rule !== old && old !== undefined) inherit(core, rule, old);
    rule.isGone = false;
    takePolicy(core.store, rule, spec, order);
    core.flagsSeen |= ruleFlags(core, rule.handle);
    sharesTake(core.shares, rule);
  }
  for (const old of before) if (old.isGone) retire(core, old);
  const matches = specs.map(({ match }) => match);
  const matcher = createMatcher(matches, core.matcher.memo);
  Object.assign(core, { active, orders, specs, version, matcher });
  noteKinds(core, nowMs);
  core.isEach = active.some(({ policy }) => !isPlainPolicy(policy));
  noteEpochs(core);
  core.isSpecial = active.some(({ key }) => needsMore(key));
  core.soleKey = active.every(({ key }) => key === active[0]?.key) ? active[0]?.key : undefined;
  core.plain = matcher.all === NO_RULE ? undefined : active[matcher.all];
  startSweep(core, changed);
  settleSole(core);
  sharesReorder(core.shares); // orders have changed
}

/** Among rules of the same pass it stands behind those of the set. */
function retire({ shares }: Core, rule: RuleState): void {
  rule.order = goneOrder(rule.index);
  sharesTake(shares, rule);
}

/** The rules of a set: those that stand already under their ids, and new ones for the rest. */
function makeRules(
  core: Core,
  specs: readonly RuleSpec[],
  olds: ReadonlyArray<RuleState | undefined>,
): RuleState[] {
  const active: RuleState[] = [];
  try {
    for (let order = 0; order < specs.length; order++) {
      const spec = specs[order] as RuleSpec;
      const old = olds[order];
      const isKept = old !== undefined && standsAlike(old.policy, spec.policy);
      active.push(isKept ? old : makeRule(core, spec, order));
    }
  } catch (error) {
    const standing = new Set(core.active);
    for (const rule of active) if (!standing.has(rule)) spareRule(core, rule);
    throw error;
  }
  return active;
}

/** The rule of an id under the set before; most stand where they stood. */
function olderOf(core: Core, id: string, order: number): RuleState | undefined {
  const there = core.active[order];
  return there?.id === id ? there : ruleOfId(core, id);
}

/** Whether plain rows of a rule may be admitted as a batch. */
function isPlainPolicy(policy: FrontierPolicy): boolean {
  return policy.by === "host" && !isBudgeted(policy) && isEpochPlain(policy);
}

/** Plain strings need looking at: keyOf, an exempt GET, or a profile whose key no URL gives back. */
function needsMore(key: NormalPolicy): boolean {
  return key.keyOf !== undefined || isExempt(undefined, key) || key.profile !== "canonical";
}

/** Same unit, politeness there or not there as before, start requests in the same order: records stand where they would. */
function standsAlike(a: FrontierPolicy, b: FrontierPolicy): boolean {
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

/** Whether hosts that may go now are those that might before, in the same order. */
function goesAlike(a: FrontierPolicy, b: FrontierPolicy): boolean {
  return a.perHost === b.perHost && a.isLifo === b.isLifo;
}

function makeRule(core: Core, spec: RuleSpec, order: number): RuleState {
  const index = core.spare.pop() ?? core.rules.length;
  const handle = core.rules[index]?.handle ?? ruleQueueCreate(core.store, index);
  if (handle === 0) throw memoryFull();
  const { id, policy, key, rate } = spec;
  const rule = createRule(core.store, { id, index, handle, policy, key, order, rate });
  sharesAdd(core.shares, rule);
  core.rules[index] = rule;
  return rule;
}

/** A rule of the same id goes on with the same share and the same counts of what is over. */
function inherit({ shares }: Core, rule: RuleState, old: RuleState): void {
  shares.passes[rule.index] = shares.passes[old.index] as number;
  rule.served = old.served;
  rule.done = old.done;
}

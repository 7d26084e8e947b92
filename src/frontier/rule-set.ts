/**
 * RuleSet: one set of rules taken in place of another while the frontier runs, and the sweep that follows.
 *
 *   setRules ─▶ admissions follow the new set ─▶ slices of the sweep: 1 pending of rules that went   ─▶ adopted
 *                                                                     2 waiting of rules that went   ─▶ adopted
 *                                                                     3 hosts of rules that changed  ─▶ settled
 *                                                                     4 queues of empty gone rules   ─▶ freed
 *
 *   same id, same politeness unit    takes the new policy where it stands
 *   same id, politeness comes, goes  a new rule of that id; what is pending moves over, in the sweep or when its turn comes
 *   id gone                          matched again, in the sweep or when its turn comes; leases keep what they have
 *
 *   I1  There is one sweep at most, however often rules are swapped: a new set restarts it with what is left.
 *   I2  A slice does a bounded amount of work, whatever is pending.
 *   I3  A gone rule keeps its index until nothing names it; then the index is used again.
 */
import { memoryFull } from "../base/errors.ts";
import { heapAt, heapCount } from "../structures/heap.ts";
import {
  QUEUE_HOST_WORD,
  QUEUE_RANKS_WORD,
  RULE_QUEUE_RANKS_WORD,
  ruleQueueCreate,
} from "../structures/host-table.ts";
import { queueFree, queueNextOfRule } from "../structures/host-queue.ts";
import { laneFirst } from "../structures/lane.ts";
import { ranksBest } from "../structures/ranks.ts";
import { laneIsSpilled } from "../structures/spill-chain.ts";
import { word } from "../structures/store.ts";
import { createHostMemo } from "../url/host-memo.ts";
import { isExempt } from "../url/identity.ts";
import { type NormalPolicy, normalizePolicy } from "../url/policy.ts";
import { adoptRecord } from "./adopt.ts";
import { type Core, createRule, ruleFlags, ruleOf, type RuleState } from "./core.ts";
import { isEpochPlain, noteEpochs } from "./epochs.ts";
import { noteKinds } from "./groups.ts";
import { createMatcher, NO_RULE } from "../url/matcher.ts";
import { type FrontierPolicy, type GroupTerm, normalizeRulePolicy } from "./policy.ts";
import { isBudgeted } from "./politeness.ts";
import type { RuleSpec } from "./rules.ts";
import { settleHost, standingOf } from "./schedule.ts";
import { readyLane, relieve } from "./spilling.ts";
import type { Sweep } from "./sweep.ts";
import { takePolicy } from "./rule-state.ts";
import {
  createShares,
  sharesAdd,
  sharesJoin,
  sharesLeave,
  sharesReorder,
  sharesTake,
} from "./shares.ts";

/** What one slice may do: some 2 µs a record, and several times that where every one misses the caches: below 5 ms. */
const SLICE_COST = 400;
/** Looking at a thing and passing on, against moving a record. */
const LOOK_COST = 0.05;

/** What a core knows of its rules. */
type RuleFields = Pick<
  Core,
  | "rules"
  | "active"
  | "ruleById"
  | "matcher"
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
    ruleById: new Map(),
    matcher: createMatcher([], createHostMemo(store.kernel)),
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

/** Takes a checked set; the sweep is begun, and its first slice done. */
export function installRules(
  core: Core,
  specs: readonly RuleSpec[],
  version: number | string,
  nowMs: number,
): void {
  const before = core.ruleById;
  const changed: RuleState[] = [];
  const active: RuleState[] = [];
  const ruleById = new Map<string, RuleState>();
  for (const [order, spec] of specs.entries()) {
    const old = before.get(spec.id);
    const isKept = old !== undefined && standsAlike(old.policy, spec.policy);
    const rule = isKept ? old : makeRule(core, spec, order);
    if (isKept && !goesAlike(old.policy, spec.policy)) changed.push(old);
    if (!isKept && old !== undefined) inherit(core, rule, old);
    takePolicy(core.store, rule, { policy: spec.policy, key: spec.key, rate: spec.rate, order });
    core.flagsSeen |= ruleFlags(core, rule.handle);
    sharesTake(core.shares, rule);
    active.push(rule);
    ruleById.set(spec.id, rule);
  }
  for (const old of before.values()) if (ruleById.get(old.id) !== old) old.isGone = true;
  const state = { active, ruleById, specs, version };
  const memo = core.matcher.memo;
  Object.assign(core, state, {
    matcher: createMatcher(
      specs.map(({ match }) => match),
      memo,
    ),
  });
  noteKinds(core);
  core.isEach = active.some(({ policy }) => !isPlainPolicy(policy));
  noteEpochs(core);
  core.isSpecial = active.some(({ key }) => needsMore(key));
  core.soleKey = active.every(({ key }) => key === active[0]?.key) ? active[0]?.key : undefined;
  core.plain = core.matcher.all === NO_RULE ? undefined : active[core.matcher.all];
  startSweep(core, changed);
  settleSole(core);
  sharesReorder(core.shares); // orders have changed
  sweepSlice(core, nowMs);
}

/** One slice of the sweep; true: nothing is left to do. */
export function sweepSlice(core: Core, nowMs: number): boolean {
  const { sweep } = core;
  if (sweep === undefined || sweep.isDone) return true;
  let left = SLICE_COST;
  for (const phase of [sweepPending, sweepWaiting, sweepChanged, sweepGone]) {
    left = phase(core, left, nowMs);
    if (left <= 0) break;
  }
  relieve(core, nowMs);
  if (left <= 0) return false;
  settleSole(core);
  sweep.isDone = true;
  return true;
}

/** Whether a sweep has work left for another slice. */
export function isSweeping(core: Core): boolean {
  return core.sweep !== undefined && !core.sweep.isDone;
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

function startSweep(core: Core, changed: RuleState[]): void {
  const left = isSweeping(core) ? core.sweep : undefined;
  for (const rule of core.rules) rule.cursor = 0;
  core.sweep = {
    version: core.version,
    changed: [...new Set([...(left?.changed ?? []), ...changed])].filter((rule) => !rule.isGone),
    queue: 0,
    waitingAt: -1,
    moved: left?.moved ?? 0,
    unmatched: left?.unmatched ?? [],
    unmatchedCount: left?.unmatchedCount ?? 0,
    isDone: false,
  };
}

/** Finds out whether one rule is all there is; shares are kept only where it is not. */
function settleSole(core: Core): void {
  const { rules, shares, spare, none } = core;
  const isOne = core.active.length === 1 && rules.length - spare.length === 2 && none.failed === 0;
  core.sole = isOne ? core.active[0] : undefined;
  if (core.sole !== undefined) {
    const { index } = core.sole;
    shares.passes[index] = Math.max(shares.passes[index] as number, shares.current);
  }
  for (const { index, handle } of rules) {
    const stands = word(core.store, handle, RULE_QUEUE_RANKS_WORD) !== 0;
    if (isOne || !stands) sharesLeave(shares, index);
    else sharesJoin(shares, index);
  }
}

function sweepPending(core: Core, cost: number, nowMs: number): number {
  let left = cost;
  for (const rule of core.rules) {
    if (!rule.isGone) continue;
    while (rule.pending > 0) {
      if (left <= 0) return left;
      const record = standingOf(core, rule) || nextQueued(core, rule);
      if (record === 0) left -= 1;
      else adoptRecord(core, record, nowMs);
      left -= 1;
    }
  }
  return left;
}

/** The first record of the next host queue that holds one; 0: some were looked at in vain. */
function nextQueued(core: Core, rule: RuleState): number {
  const { store } = core;
  let queue = rule.cursor || queueNextOfRule(store, rule.handle, 0);
  for (let looks = 0; queue !== 0 && looks < 1 / LOOK_COST; looks++) {
    rule.cursor = queue;
    if (word(store, queue, QUEUE_RANKS_WORD) !== 0) return firstOf(core, rule, queue);
    queue = queueNextOfRule(store, rule.handle, queue);
  }
  rule.cursor = queue;
  return 0;
}

function firstOf(core: Core, rule: RuleState, queue: number): number {
  const { arena, region } = core.store;
  const lane = ranksBest(arena, word(core.store, queue, QUEUE_RANKS_WORD));
  if (laneIsSpilled(core.store, lane)) readyLane(core, lane, rule.policy.isLifo);
  return laneFirst(region, lane);
}

/** Passes over the waiting heap from its end until no gone rule has a record there: adopting may change its order. */
function sweepWaiting(core: Core, cost: number, nowMs: number): number {
  let left = cost;
  const sweep = core.sweep as Sweep;
  while (core.rules.some(({ isGone, waiting }) => isGone && waiting > 0)) {
    if (sweep.waitingAt < 0) sweep.waitingAt = heapCount(core.waiting) - 1;
    sweep.waitingAt = Math.min(sweep.waitingAt, heapCount(core.waiting) - 1);
    for (; sweep.waitingAt >= 0; sweep.waitingAt--) {
      if (left <= 0) return left;
      left -= LOOK_COST;
      const record = heapAt(core.waiting, sweep.waitingAt);
      if (!ruleOf(core, record).isGone) continue;
      adoptRecord(core, record, nowMs);
      left -= 1;
      sweep.waitingAt = Math.min(sweep.waitingAt, heapCount(core.waiting));
    }
  }
  return left;
}

function sweepChanged(core: Core, cost: number, nowMs: number): number {
  let left = cost;
  const sweep = core.sweep as Sweep;
  for (let rule = sweep.changed[0]; rule !== undefined; rule = sweep.changed[0]) {
    sweep.queue ||= queueNextOfRule(core.store, rule.handle, 0);
    while (sweep.queue !== 0) {
      if (left <= 0) return left;
      settleHost(core, word(core.store, sweep.queue, QUEUE_HOST_WORD), nowMs);
      sweep.queue = queueNextOfRule(core.store, rule.handle, sweep.queue);
      left -= LOOK_COST * 4;
    }
    sweep.changed.shift();
  }
  return left;
}

/** Gone rules that no record names give their queues and their index back. */
function sweepGone(core: Core, cost: number): number {
  let left = cost;
  const { rules, spare, store } = core;
  const isSpare = new Set(spare);
  for (const rule of rules) {
    if (!rule.isGone || rule === core.none || isSpare.has(rule.index) || isNamed(rule)) continue;
    for (;;) {
      if (left <= 0) return left;
      const queue = queueNextOfRule(store, rule.handle, 0);
      if (queue === 0) break;
      queueFree(store, queue);
      left -= LOOK_COST * 4;
    }
    sharesLeave(core.shares, rule.index);
    spare.push(rule.index);
  }
  return left;
}

function isNamed({ pending, waiting, leased, resting, failed }: RuleState): boolean {
  return pending + waiting + leased + resting + failed > 0;
}

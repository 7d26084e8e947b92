/**
 * Rule sweep: bringing what stands under rules that have gone, or changed, under the set that stands, slice by slice (sweep-state.ts
 * names the phases).
 *
 *   I1  A slice does SLICE_COST of counted work, whatever is pending and however many rules there are, and ends with the
 *       piece that it was at; or sooner, where code that is not warm yet takes its time for less.
 *   I2  A pass over the rules goes on where it stood when a new set begins another sweep: sets that follow each other sooner
 *       than a sweep takes starve nothing, and rules that nothing names do not pile up.
 */
import { heapAt, heapCount } from "../../structures/ordering/heap.ts";
import {
  HOST_PENDING_WORD,
  HOST_QUEUES_WORD,
  QUEUE_HOST_WORD,
  QUEUE_NEXT_WORD,
  QUEUE_RANKS_WORD,
  RULE_QUEUE_RANKS_WORD,
  openLone,
} from "../../structures/hosts/host-table.ts";
import { queueFree, queueNextOfRule } from "../../structures/hosts/host-queue.ts";
import { ranksBest } from "../../structures/ordering/ranks.ts";
import { recordQueue, isLone } from "../../structures/records/record.ts";
import { word } from "../../structures/store.ts";
import { indexRules } from "../../url/matching/rule-matcher.ts";
import { rematchRecord } from "./rematch-records.ts";
import { type Core, ruleOf, ruleOfId, type RuleState } from "../core.ts";
import { needRoom } from "../records/memory-reserve.ts";
import { settleHost, standingOf } from "../scheduling/schedule.ts";
import { sharesJoin, sharesLeave } from "../scheduling/rule-shares.ts";
import { bringOfRule, bringWaiting } from "../scheduling/spill-hosts.ts";
import { laneBest, spillOverBudget } from "../scheduling/spill-control.ts";
import { createSuccessors, forgetSuccessors } from "./successor-queues.ts";
import type { Sweep, SweepPhase } from "./sweep-state.ts";
import { moveRuleTotals } from "../records/ledger.ts";

/** What one slice may do, in records whose URLs are read and matched: some 3 µs each, twice that where all miss the caches. */
const SLICE_COST = 400;
/**
 * So much of it is done before the slice is asked whether its time is over: some 30 µs, and in code that was not run yet, where a
 * move takes 20 µs, less than a millisecond.
 */
const PART_COST = 10;
/** Moving a record whose queue's successor is known. */
const KNOWN_COST = 0.25;
/** Looking at a thing and passing on, against moving a record. */
const VISIT_COST = 0.05;
/** Putting a rule into the index of hosts: 0.2 µs where code is warm, 2 where it is not. */
const INDEX_COST = 0.25;
/** Settling or freeing a host queue. */
const QUEUE_COST = 0.2;
/** Bringing a block of hosts back from disk. */
const BLOCK_COST = 100;
/** Rules looked at by a small set whose forerunners have left very many. */
const TIDY_VISITS_MIN = 100;

/** What an unfinished sweep has left goes on where it stood, however soon sets follow each other. */
export function startSweep(core: Core, changed: RuleState[]): void {
  const left = isSweeping(core) ? core.sweep : undefined;
  core.sweep = {
    version: core.version,
    phase: "index",
    ruleAt: left?.ruleAt ?? 0,
    rulesLeft: core.rules.length,
    tidyAt: core.sweep?.tidyAt ?? 0,
    changed: [...new Set([...(left?.changed ?? []), ...changed])].filter((rule) => !rule.isGone),
    queue: 0,
    waitingFound: 0,
    waitingAt: -1,
    moved: left?.moved ?? 0,
    successors: core.sweep?.successors ?? createSuccessors(),
    unmatched: left?.unmatched ?? [],
    unmatchedCount: left?.unmatchedCount ?? 0,
    isDone: false,
  };
  tidyRules(core, core.sweep);
}

/**
 * Where more rules have gone and not been given back than the set has, as many again are looked at before the sweep goes on: so
 * they are never more than some twice those that records name (I2).
 */
function tidyRules(core: Core, sweep: Sweep): void {
  const { active, none, rules, spare } = core;
  if (rules.length - spare.length <= 2 * active.length + 1) return;
  let left = SLICE_COST;
  for (let looks = 2 * active.length + TIDY_VISITS_MIN; looks > 0 && left > 0; looks--) {
    if (++sweep.tidyAt >= rules.length) sweep.tidyAt = 0;
    const rule = rules[sweep.tidyAt] as RuleState;
    if (!rule.isGone || rule.isSpare || rule === none || isNamed(rule)) continue;
    left = freeRule(core, rule, left);
  }
}

/** One slice of the sweep, cut short where `isOver` returns true; true: nothing is left to do. */
export function sweepSlice(core: Core, nowMs: number, isOver: () => boolean): boolean {
  const { sweep } = core;
  if (sweep === undefined || sweep.isDone) return true;
  forgetSuccessors(sweep.successors);
  for (let cost = SLICE_COST; cost > 0 && !sweep.isDone; cost -= PART_COST) {
    let left = PART_COST;
    while (left > 0 && sweep.phase !== "done") {
      left = PHASES[sweep.phase](core, sweep, left, nowMs);
    }
    if (isOver()) break;
  }
  spillOverBudget(core, nowMs);
  return sweep.isDone;
}

/** Whether a sweep has work left for another slice. */
export function isSweeping(core: Core): boolean {
  return core.sweep !== undefined && !core.sweep.isDone;
}

/** Finds out whether one rule is all there is; shares are kept only where it is not. */
export function settleSole(core: Core): void {
  const { rules, shares, spare, none } = core;
  const wasOne = core.sole !== undefined;
  const isOne = core.active.length === 1 && rules.length - spare.length === 2 && none.failed === 0;
  core.sole = isOne ? core.active[0] : undefined;
  if (!isOne && !wasOne) return; // those that stand are listed
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

/** Frees the index of a rule that nothing names, and adds its counters to the rule of the same id in the set. */
export function retireRule(core: Core, rule: RuleState): void {
  const { shares, spare } = core;
  moveRuleTotals(core.store, rule, ruleOfId(core, rule.id));
  sharesLeave(shares, rule.index);
  rule.isGone = true;
  rule.isSpare = true;
  spare.push(rule.index);
}

type Phase = (core: Core, sweep: Sweep, cost: number, nowMs: number) => number;

/** Each does so much work and returns how much of it was not needed; what is left of 0 or less ends the slice. */
const PHASES: Readonly<Record<Exclude<SweepPhase, "done">, Phase>> = {
  index: sweepIndex,
  pending: (core, sweep, cost, nowMs) => sweepRules(core, sweep, cost, nowMs),
  waiting: sweepWaiting,
  changed: sweepChanged,
  // What became due meanwhile stands under the rule that it was under.
  gone: (core, sweep, cost, nowMs) => sweepRules(core, sweep, cost, nowMs),
  sole: sweepSole,
};

/** Puts the rules into the index of hosts, where no URL has asked for it yet. */
function sweepIndex({ matcher }: Core, sweep: Sweep, cost: number): number {
  const before = matcher.indexed;
  if (indexRules(matcher, Math.ceil(cost / INDEX_COST))) sweep.phase = "pending";
  return cost - (matcher.indexed - before) * INDEX_COST;
}

/** Passes over all rules: what is pending under gone ones moves; those that nothing names go. */
function sweepRules(core: Core, sweep: Sweep, cost: number, nowMs: number): number {
  let left = cost;
  const { rules } = core;
  for (; sweep.rulesLeft > 0; sweep.rulesLeft--) {
    if (left <= 0) return left;
    left -= VISIT_COST;
    if (sweep.ruleAt >= rules.length) sweep.ruleAt = 0;
    const rule = rules[sweep.ruleAt] as RuleState;
    if (rule.isGone && !rule.isSpare) {
      left = emptyRule(core, rule, left, nowMs);
      if (left <= 0) return left;
      sweep.waitingFound += rule.waiting;
    }
    sweep.ruleAt++;
  }
  sweep.rulesLeft = rules.length;
  if (sweep.waitingFound > 0) sweep.phase = "waiting";
  else sweep.phase = sweep.phase === "pending" ? "changed" : "sole";
  return left;
}

/** Moves what is pending under a gone rule; frees its queues and its index when nothing names it any more. */
function emptyRule(core: Core, rule: RuleState, cost: number, nowMs: number): number {
  let left = cost;
  while (rule.pending > 0) {
    if (left <= 0) return left;
    const record = standingOf(core, rule) || nextQueued(core, rule);
    if (record === 0 && rule.cursor === 0 && bringWaiting(core)) left -= BLOCK_COST;
    left -= record === 0 ? 1 : rematchNext(core, record, nowMs);
  }
  rule.cursor = 0; // its queues may go from now on
  return rule === core.none || isNamed(rule) ? left : freeRule(core, rule, left);
}

/** Finds a record its new rule; what that cost, wherever it is kept: a tier never changes order. */
function rematchNext(core: Core, record: number, nowMs: number): number {
  const { store, sweep } = core;
  const wasLone = isLone(store, record);
  if (wasLone) openLone(core.hosts, record);
  const host = word(store, recordQueue(store, record), QUEUE_HOST_WORD);
  // A queue that was made now may stand where one was freed whose successor is known.
  const successors = wasLone ? undefined : sweep?.successors;
  const cost = rematchRecord(core, record, nowMs, successors) ? 1 : KNOWN_COST;
  // A host that keeps its records was settled.
  return word(store, host, HOST_PENDING_WORD) === 0
    ? cost
    : cost + QUEUE_COST * queuesOf(core, host);
}

/** Frees the queues and the index of a gone rule that nothing names; above 0: all of them. */
function freeRule(core: Core, rule: RuleState, cost: number): number {
  let left = cost;
  for (;;) {
    if (left <= 0) return left;
    const queue = queueNextOfRule(core.store, rule.handle, 0);
    if (queue === 0) break;
    queueFree(core.store, queue);
    left -= QUEUE_COST;
  }
  retireRule(core, rule);
  return left;
}

/** The first record of the next host queue that holds one; 0: some were looked at in vain. */
function nextQueued(core: Core, rule: RuleState): number {
  const { store } = core;
  let queue = rule.cursor || queueNextOfRule(store, rule.handle, 0);
  for (let looks = 0; queue !== 0 && looks < 1 / VISIT_COST; looks++) {
    rule.cursor = queue;
    if (word(store, queue, QUEUE_RANKS_WORD) !== 0) return firstOf(core, queue);
    queue = queueNextOfRule(store, rule.handle, queue);
  }
  rule.cursor = queue;
  return 0;
}

/** The oldest record of a queue, whatever its order: the same one with a tier and without. */
function firstOf(core: Core, queue: number): number {
  const lane = ranksBest(core.store.arena, word(core.store, queue, QUEUE_RANKS_WORD));
  return laneBest(core, lane, false);
}

/** Passes over the waiting heap from its end. Adopting changes its order: the next pass over the rules finds what was missed. */
function sweepWaiting(core: Core, sweep: Sweep, cost: number, nowMs: number): number {
  let left = cost;
  if (sweep.waitingAt < 0) sweep.waitingAt = Number.POSITIVE_INFINITY;
  sweep.waitingAt = Math.min(sweep.waitingAt, heapCount(core.waiting) - 1);
  for (; sweep.waitingAt >= 0; sweep.waitingAt--) {
    if (left <= 0) return left;
    left -= VISIT_COST;
    const record = heapAt(core.waiting, sweep.waitingAt);
    if (!ruleOf(core, record).isGone) continue;
    left -= rematchNext(core, record, nowMs);
    sweep.waitingAt = Math.min(sweep.waitingAt, heapCount(core.waiting));
  }
  sweep.waitingFound = 0;
  sweep.phase = "changed";
  return left;
}

/** Settles the hosts of rules that let other hosts go than before. */
function sweepChanged(core: Core, sweep: Sweep, cost: number, nowMs: number): number {
  let left = cost;
  for (let rule = sweep.changed[0]; rule !== undefined; rule = sweep.changed[0]) {
    while (sweep.queue === 0 && bringOfRule(core, rule.handle)) {
      left -= BLOCK_COST;
      if (left <= 0) return left;
    }
    sweep.queue ||= queueNextOfRule(core.store, rule.handle, 0);
    while (sweep.queue !== 0) {
      if (left <= 0) return left;
      const host = word(core.store, sweep.queue, QUEUE_HOST_WORD);
      needRoom(core);
      settleHost(core, host, nowMs);
      sweep.queue = queueNextOfRule(core.store, rule.handle, sweep.queue);
      left -= QUEUE_COST * queuesOf(core, host);
    }
    sweep.changed.shift();
  }
  sweep.phase = "gone";
  return left;
}

/** How many queues a host has: settling it reads each. */
function queuesOf({ store }: Core, host: number): number {
  let count = 0;
  let queue = word(store, host, HOST_QUEUES_WORD);
  for (; queue !== 0; queue = word(store, queue, QUEUE_NEXT_WORD)) count++;
  return count;
}

/** Searches all rules once more for one that is alone, in a slice of its own where they are many. */
function sweepSole(core: Core, sweep: Sweep, cost: number): number {
  const own = core.rules.length * VISIT_COST;
  if (cost < Math.min(own, PART_COST)) return 0;
  settleSole(core);
  sweep.phase = "done";
  sweep.isDone = true;
  return cost - own;
}

function isNamed({ pending, waiting, leased, resting, failed }: RuleState): boolean {
  return pending + waiting + leased + resting + failed > 0;
}

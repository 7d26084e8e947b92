/**
 * Forecast: when the next lease can go, where nothing can go now. The clocks are walked in their order, as a poll at that time would find
 * them, and what they bring about is noted beside the core, which is not touched:
 *
 *   deadline   its host and groups have a lease less and their delays start; the record comes back, or its attempts are over
 *   record     waited, or rested, and stands in line
 *   host, group   may go again
 *        │
 *        ▼
 *   candidates: a host and a rule with work ─▶ when clocks alone let it go; held, or full: not before a lease ends
 *
 *   I1  The answer is never late: no poll before it returns a lease.
 *   I2  It is exact, unless it depends on more than EVENTS_MAX clocks, on more than CANDIDATES_MAX queues behind one clock or before a
 *       full `maxLeases`, or on groups with work before a full `maxLeases`: then it is the first moment that may matter.
 */
import {
  GATE_NEXT_WORD,
  GATE_RANKS_WORD,
  GATE_RULE_WORD,
  GROUP_GATES_WORD,
  GROUP_LEASED_WORD,
  GROUP_READY_AT_WORD,
  memberGroup,
  memberKinds,
} from "../../structures/hosts/group-table.ts";
import {
  type OrderedWalk,
  walkHeap,
  walkKey,
  walkTake,
  walkTimeline,
} from "../../structures/ordering/ordered-walk.ts";
import {
  HOST_BLOCK_UNTIL_WORD,
  HOST_HELD,
  HOST_LEASED_WORD,
  HOST_QUEUES_WORD,
  HOST_READY_AT_WORD,
  HOST_TURN_WORD,
  hostFlag,
  QUEUE_HOST_WORD,
  QUEUE_NEXT_WORD,
  QUEUE_PENDING_WORD,
  QUEUE_RULE_WORD,
} from "../../structures/hosts/host-table.ts";
import { createLaneCursor, laneOpen, laneStep } from "../../structures/ordering/lane.ts";
import { ranksBest, ranksNext } from "../../structures/ordering/ranks.ts";
import { recordAttempt, recordDeliveries, recordQueue } from "../../structures/records/record.ts";
import { float, word } from "../../structures/store.ts";
import { timelineTieOf } from "../../structures/ordering/timeline.ts";
import { type Core, type RuleState, ruleAt, ruleFlags, ruleOf } from "../core.ts";
import { groupHold } from "../politeness/group-clocks.ts";
import { isAsked } from "../politeness/group-kinds.ts";
import { joinGroups } from "../politeness/host-groups.ts";
import type { HandOut } from "./hand-out.ts";
import { hostDelay, hostHold, hostLimit, isClockKept } from "../politeness/host-clock.ts";
import { maxAttempts } from "../leases/leases.ts";
import { hasRoom } from "../records/memory-reserve.ts";

/** Clocks that one forecast reads. */
const EVENTS_MAX = 64;
/** Host queues that one of them is asked about. */
export const CANDIDATES_MAX = 16;

/** Something with work: it goes when its host and its groups let it. */
interface Candidate {
  readonly host: number;
  readonly rule: RuleState;
}

/** A host, or a group, as it will be. */
interface Unit {
  leased: number;
  readyAt: number;
  /** The time before which it lets nothing go. */
  hold: number;
}

interface Forecast {
  readonly core: Core;
  readonly nowMs: number;
  readonly hosts: Map<number, Unit>;
  readonly groups: Map<number, Unit>;
  readonly candidates: Candidate[];
  readonly unbegun: ReadonlyMap<number, HandOut> | undefined;
  leased: number;
  /** From here on something may go that was not looked at. */
  unsureAt: number;
}

/**
 * The earliest time at which a poll returns a lease; Infinity: no clock brings it about. `standing` is what could go now, were there room
 * for a lease; `isAll`: there is no more of that.
 */
export function forecast(
  core: Core,
  nowMs: number,
  standing: readonly Candidate[],
  isAll: boolean,
): number {
  const cast: Forecast = {
    ...{ core, nowMs, hosts: new Map(), groups: new Map(), candidates: [...standing] },
    ...{ unbegun: core.unbegun?.(), leased: core.counters.leased },
    unsureAt: isAll ? Number.POSITIVE_INFINITY : nowMs,
  };
  const sources = sourcesOf(core);
  let atMs = nowMs;
  for (let events = 0; ; events++) {
    const dueMs = dueAt(cast, atMs);
    const next = sources.reduce((a, b) => (walkKey(b.walk) < walkKey(a.walk) ? b : a));
    const nextMs = walkKey(next.walk);
    if (dueMs < nextMs || nextMs === Number.POSITIVE_INFINITY) return dueMs;
    atMs = Math.max(nextMs, nowMs);
    if (events === EVENTS_MAX) return atMs;
    const item = walkTake(next.walk);
    if (item === 0) return atMs;
    next.apply(cast, item, nextMs);
  }
}

interface Source {
  readonly walk: OrderedWalk;
  readonly apply: (cast: Forecast, item: number, atMs: number) => void;
}

/** In the order in which a step takes what is due at once. */
function sourcesOf(core: Core): Source[] {
  return [
    { walk: walkTimeline(core.deadlines), apply: expire },
    { walk: walkHeap(core.waiting), apply: offerRecord },
    { walk: walkHeap(core.resting), apply: offerResting },
    { walk: walkTimeline(core.clocks), apply: offerHost },
    { walk: walkHeap(core.groupClocks), apply: offerGroup },
  ];
}

/** When the first of the candidates goes, as things stand. */
function dueAt(cast: Forecast, atMs: number): number {
  if (cast.leased >= cast.core.limits.maxLeases) return Number.POSITIVE_INFINITY;
  let dueMs = Math.max(cast.unsureAt, atMs);
  for (const candidate of cast.candidates) {
    dueMs = Math.min(dueMs, Math.max(goesAt(cast, candidate), atMs));
  }
  return dueMs;
}

/** When clocks let a candidate go; Infinity: none of them does, with the leases that are out. */
function goesAt(cast: Forecast, { host, rule }: Candidate): number {
  const { core } = cast;
  if (hostFlag(core.store, host, HOST_HELD)) return Number.POSITIVE_INFINITY;
  const unit = hostOf(cast, host);
  if (unit.leased >= hostLimit(core, host, rule)) return Number.POSITIVE_INFINITY;
  let atMs = Number.NEGATIVE_INFINITY;
  if (isClockKept(core, host, ruleFlags(core, rule.handle))) atMs = unit.hold;
  for (const { kind, limit } of rule.policy.groups) {
    const handle = memberGroup(core.store, host, kind);
    if (handle === 0) continue;
    const group = groupOf(cast, handle);
    if (group.leased >= limit) return Number.POSITIVE_INFINITY;
    atMs = Math.max(atMs, group.hold);
  }
  return atMs;
}

/** A lease runs out (leases.ts, expireAll). */
function expire(cast: Forecast, record: number, atMs: number): void {
  const { core } = cast;
  const { store } = core;
  const queue = recordQueue(store, record);
  const host = word(store, queue, QUEUE_HOST_WORD);
  const rule = ruleOf(core, record);
  const lease = cast.unbegun?.get(timelineTieOf(core.deadlines, record));
  cast.leased--;
  hostOf(cast, host).leased--;
  for (const group of groupsOf(cast, host)) group.leased--;
  if (lease === undefined) endVisit(cast, host, rule, atMs);
  else undoVisit(cast, host, lease, atMs);
  const isOver = recordDeliveries(store, record) >= core.limits.maxDeliveries;
  const isLast = lease === undefined && recordAttempt(store, record) >= maxAttempts(core, record);
  if (!isOver && !isLast) offer(cast, { host, rule }, atMs);
  offerHost(cast, host, atMs);
  const kinds = memberKinds(store, host);
  for (let kind = 0; kind < kinds; kind++) {
    const group = memberGroup(store, host, kind);
    if (group !== 0) offerGroup(cast, group, atMs);
  }
}

/** The delays that follow a visit (schedule.ts and host-groups.ts). */
function endVisit(cast: Forecast, host: number, rule: RuleState, endMs: number): void {
  const { core } = cast;
  for (const { kind, delayMs } of rule.policy.groups) {
    const handle = memberGroup(core.store, host, kind);
    if (handle === 0) continue;
    const group = groupOf(cast, handle);
    group.readyAt = group.hold = Math.max(group.hold, endMs + delayMs);
  }
  if (!isClockKept(core, host, ruleFlags(core, rule.handle))) return;
  const unit = hostOf(cast, host);
  unit.readyAt = endMs + hostDelay(core, host, rule.policy);
  unit.hold = Math.max(unit.readyAt, float(core.store, host, HOST_BLOCK_UNTIL_WORD));
}

/** A lease that was never begun goes back as if it had never been. */
function undoVisit(cast: Forecast, host: number, lease: HandOut, atMs: number): void {
  const { store } = cast.core;
  const unit = hostOf(cast, host);
  const isLatest = float(store, host, HOST_TURN_WORD) === lease.sequence;
  if (isLatest && unit.readyAt === lease.readyAtSet) {
    const blockMs = float(store, host, HOST_BLOCK_UNTIL_WORD);
    unit.readyAt = lease.readyAtBefore;
    unit.hold = blockMs > atMs ? Math.max(blockMs, unit.readyAt) : Number.NEGATIVE_INFINITY;
  }
  for (const { group: handle, readyBefore, readySet } of lease.holds ?? []) {
    const group = groupOf(cast, handle);
    if (group.readyAt !== readySet) continue;
    group.readyAt = readyBefore;
    group.hold = Number.NEGATIVE_INFINITY;
  }
}

/** A record whose time has come. */
function offerRecord(cast: Forecast, record: number, atMs: number): void {
  const { core } = cast;
  const host = word(core.store, recordQueue(core.store, record), QUEUE_HOST_WORD);
  offer(cast, { host, rule: ruleOf(core, record) }, atMs);
}

function offerResting(cast: Forecast, record: number, atMs: number): void {
  const rule = ruleOf(cast.core, record);
  if (rule.isGone || rule.policy.epoch.kind === "again") offerRecord(cast, record, atMs);
}

/** All that a host has pending in its queues. */
function offerHost(cast: Forecast, host: number, atMs: number): void {
  const { store } = cast.core;
  let queue = word(store, host, HOST_QUEUES_WORD);
  for (let left = CANDIDATES_MAX; queue !== 0; queue = word(store, queue, QUEUE_NEXT_WORD)) {
    if (word(store, queue, QUEUE_PENDING_WORD) === 0) continue;
    if (left-- === 0) {
      cast.unsureAt = Math.min(cast.unsureAt, atMs);
      return;
    }
    offer(cast, { host, rule: ruleAt(cast.core, word(store, queue, QUEUE_RULE_WORD)) }, atMs);
  }
}

/** What is parked at the gates of a group. */
function offerGroup(cast: Forecast, group: number, atMs: number): void {
  const { store } = cast.core;
  let left = CANDIDATES_MAX;
  let gate = word(store, group, GROUP_GATES_WORD);
  for (; gate !== 0; gate = word(store, gate, GATE_NEXT_WORD)) {
    const rule = ruleAt(cast.core, word(store, gate, GATE_RULE_WORD));
    const root = word(store, gate, GATE_RANKS_WORD);
    const cursor = createLaneCursor();
    let lane = ranksBest(store.arena, root);
    for (; lane !== 0; lane = ranksNext(store.arena, root, lane)) {
      laneOpen(store.region, lane, cursor, true);
      for (let queue = laneStep(store.region, cursor); queue !== 0; ) {
        if (left-- === 0) {
          cast.unsureAt = Math.min(cast.unsureAt, atMs);
          return;
        }
        offer(cast, { host: word(store, queue, QUEUE_HOST_WORD), rule }, atMs);
        queue = laneStep(store.region, cursor);
      }
    }
  }
}

function offer(cast: Forecast, candidate: Candidate, atMs: number): void {
  const { core, candidates } = cast;
  const { host, rule } = candidate;
  if (rule.isGone) {
    cast.unsureAt = Math.min(cast.unsureAt, atMs); // which rule takes it shows then
    return;
  }
  if (candidates.some((one) => one.host === host && one.rule === rule)) return;
  if (rule.policy.groups.length > 0 && !isAsked(core, host)) {
    // Asked under other rules, or there is no room to ask it.
    if (memberKinds(core.store, host) > 0 || !hasRoom(core))
      cast.unsureAt = Math.min(cast.unsureAt, atMs);
    else joinGroups(core, host, cast.nowMs);
  }
  candidates.push(candidate);
}

function hostOf({ core, hosts }: Forecast, host: number): Unit {
  const known = hosts.get(host);
  if (known !== undefined) return known;
  const { store } = core;
  const unit = {
    leased: word(store, host, HOST_LEASED_WORD),
    readyAt: float(store, host, HOST_READY_AT_WORD),
    hold: hostHold(core, host),
  };
  hosts.set(host, unit);
  return unit;
}

function groupOf({ core, groups }: Forecast, handle: number): Unit {
  const known = groups.get(handle);
  if (known !== undefined) return known;
  const { store } = core;
  const unit = {
    leased: word(store, handle, GROUP_LEASED_WORD),
    readyAt: float(store, handle, GROUP_READY_AT_WORD),
    hold: groupHold(core, handle),
  };
  groups.set(handle, unit);
  return unit;
}

function groupsOf(cast: Forecast, host: number): Unit[] {
  const { store } = cast.core;
  const units: Unit[] = [];
  for (let kind = 0; kind < memberKinds(store, host); kind++) {
    const group = memberGroup(store, host, kind);
    if (group !== 0) units.push(groupOf(cast, group));
  }
  return units;
}

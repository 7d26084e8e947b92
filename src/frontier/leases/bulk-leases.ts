/**
 * Bulk: hand-outs and ends of plain leases by the kernel, many in one crossing (structures/records/lease-batch.ts). What they do is
 * what `leaseNext` and `finish` do one by one, and those take over where anything is not plain.
 *
 *   plain hand-outs   rules without politeness, no groups; no listener; what stands before a lane's blocks on disk
 *   plain ends        no groups, no listener; no rule that re-crawls or backs off; a record without blob and volatile data; under a rule
 *                     without politeness, on a host that was not steered; the exact table keeps the last word. Clocks are set here
 *   log               has each hand-out after it and each end before it, as the records stand
 *
 *   lone          records that stand for hosts which were never visited, under the one rule there is (structures/records/lone-batch.ts)
 *
 *   one rule      its best lane ─▶ kernel, as many as there are
 *   several       shares: charge the next turns ─▶ their rule queues ─▶ kernel, one each ─▶ take back what it could not
 */
import { memoryFull } from "../../base/errors.ts";
import {
  endAt,
  endBatch,
  lanesClosed,
  leaseBatch,
  leaseRoom,
  leasedAt,
  leaseTurns,
  noteEnd,
} from "../../structures/records/lease-batch.ts";
import {
  HOST_PENDING_WORD,
  HOST_STEERED,
  hostFlag,
  QUEUE_HOST_WORD,
  QUEUE_RULE_WORD,
  RULE_AGAIN,
  RULE_BACKOFF,
  RULE_GONE,
  RULE_LONE,
  RULE_POLITE,
  RULE_QUEUE_INDEX_WORD,
  RULE_QUEUE_RANKS_WORD,
} from "../../structures/hosts/host-table.ts";
import { laneCount, laneIsList } from "../../structures/ordering/lane.ts";
import { ranksBest } from "../../structures/ordering/ranks.ts";
import {
  RECORD_FLAG_BLOB,
  RECORD_FLAG_VOLATILE,
  RECORD_LEASED,
  RECORD_PENDING,
  recordFlags,
  recordQueue,
} from "../../structures/records/record.ts";
import { scratchTouch } from "../../structures/records/kernel-scratch.ts";
import { type Store, word } from "../../structures/store.ts";
import { timelineHolds, timelineRemove } from "../../structures/ordering/timeline.ts";
import { type Core, ruleFlags, ruleOfQueue, type RuleState, type SteppedMs } from "../core.ts";
import { countLate, finish, isLive, leaseNext } from "./leases.ts";
import type { Outcome } from "../rules/rule-policy.ts";
import type { HandOut } from "../scheduling/hand-out.ts";
import { countLeaseTime } from "./lease-times.ts";
import { holdRoom, leasesThatFit, needRoom, releaseHeldRoom } from "../records/memory-reserve.ts";
import {
  sharesCharge,
  sharesLeave,
  sharesReturn,
  sharesTurns,
  TURNS_MAX,
} from "../scheduling/rule-shares.ts";
import { logClock, settleHost } from "../scheduling/schedule.ts";
import { firstDelay, hostDelay, setReadyAt } from "../politeness/host-clock.ts";
import { leaseLones, listLones, LONES_MAX } from "../../structures/records/lone-batch.ts";
import { openNextLones } from "../../structures/records/record-batch.ts";
import { laneBound } from "../scheduling/spill-control.ts";
import { LOG_HOST_CLOCK } from "../records/transition-log.ts";
import { finishedWord } from "../records/transitions.ts";
import { announce, bookRule, bookTotal, LEDGER } from "../records/ledger.ts";

/** Leases whose memory is touched at once before they end: more would push one another out of the nearest cache. */
const TOUCHED = 128;
const TOUCHED_MIN = 8;
/** RULE_* of rules whose records are looked at one by one. */
const NOT_PLAIN = RULE_POLITE | RULE_GONE;

/** Whether nothing above a host is looked at, and the one rule, if there is one, is plain. @hot */
function isPlainCore(core: Core): boolean {
  const { groupKinds, sole } = core;
  if (groupKinds.length > 0) return false;
  return sole === undefined || (ruleFlags(core, sole.handle) & NOT_PLAIN) === 0;
}

/** Leases the next records as far as the kernel can hand them out, at most `max`, and adds them to `leases`; how many. @hot */
export function leaseMany<T extends HandOut>(
  core: Core,
  nowMs: SteppedMs,
  max: number,
  { leases, make }: { leases: T[]; make: () => T },
): number {
  if (core.sink.wants.leased) return 0;
  const before = core.leaseSequence;
  const most = Math.min(max, core.limits.maxLeases - core.counters.leased);
  if (isPlainCore(core)) {
    const made = leasePlain(core, nowMs, most);
    for (let index = 0; index < made; index++) leases.push(handOutAt(core, make(), index, before));
    return made;
  }
  if (!isLoneCore(core)) return 0;
  const readyAt = nowMs + firstDelay(core.sole.policy);
  const made = leaseLoneHosts(core, core.sole, nowMs, most);
  for (let index = 0; index < made; index++) {
    const lease = handOutAt(core, make(), index, before);
    lease.turnBefore = turnsBefore[index] as number;
    lease.readyAtSet = readyAt;
    leases.push(lease);
  }
  return made;
}

/** Leases the next record for `leaseMs`, by the kernel where it is plain. Throws as `leaseNext`. @hot */
export function leaseOne(core: Core, nowMs: SteppedMs, out: HandOut, leaseMs: number): boolean {
  const isPlain = !core.sink.wants.leased && isPlainCore(core);
  if (
    !isPlain ||
    core.counters.leased >= core.limits.maxLeases ||
    !leasePlain(core, nowMs, 1, leaseMs)
  )
    return leaseNext(core, nowMs, out, leaseMs);
  out.record = leasedAt(core.scratch, 0);
  out.sequence = core.leaseSequence;
  out.givenMs = leaseMs;
  return true;
}

/** The turns that the hosts of lone records had. */
const turnsBefore = new Float64Array(LONES_MAX);

/** Fills in the hand-out of the record that the kernel leased at `index`. @hot */
function handOutAt<T extends HandOut>(core: Core, lease: T, index: number, before: number): T {
  lease.record = leasedAt(core.scratch, index);
  lease.sequence = before + index + 1;
  lease.givenMs = core.limits.leaseMs;
  return lease;
}

/** Leases the next plain records; how many. Their handles are at `leasedAt`; the last sequence is the core's. @hot */
function leasePlain(
  core: Core,
  nowMs: SteppedMs,
  most: number,
  leaseMs = core.limits.leaseMs,
): number {
  const { deadlines, leaseSequence, scratch, shares, sole, store } = core;
  const room = leasesThatFit(core, most);
  if (room === 0) return 0;
  const deadlineMs = nowMs + leaseMs;
  if (sole === undefined) return leaseByTurns(core, deadlineMs, room);
  const lane = ranksBest(store.arena, word(store, sole.handle, RULE_QUEUE_RANKS_WORD));
  if (lane === 0) return 0;
  const bound = laneBound(core, lane, sole.policy.isLifo);
  if (!isPlainLane(store, lane)) return 0;
  const places = leaseRoom(scratch, deadlines, deadlineMs, leaseSequence, room);
  if (places === 0) return 0;
  const made = leaseBatch(scratch, deadlines, places, sole.handle, bound);
  countLeased(core, made);
  bookRule(core, LEDGER.lease, RECORD_PENDING, sole.handle, made);
  for (let index = 0; index < made; index++) sharesCharge(shares, sole.index);
  return made;
}

/** Whether the one rule there is has lone records, and nothing above a host is looked at. @hot */
function isLoneCore(core: Core): core is Core & { sole: RuleState } {
  const { groupKinds, hosts, sole } = core;
  if (sole === undefined || hosts.lone === 0 || groupKinds.length > 0) return false;
  return (ruleFlags(core, sole.handle) & (RULE_LONE | RULE_GONE)) === RULE_LONE;
}

/** Makes the hosts of lone records among the next `count` to be handed out one by one, so that their cache misses overlap. @hot */
export function openNext(core: Core, count: number): void {
  const most = Math.min(count, core.limits.maxLeases - core.counters.leased);
  if (!isLoneCore(core) || most < TOUCHED_MIN) return;
  const room = leasesThatFit(core, most, LONE_BYTES);
  if (room > 0) openNextLones(core.scratch, core.hosts, core.sole.handle, room);
}

/** What a lone record takes besides when it is handed out: its host, a queue and a name. */
const LONE_BYTES = 512;

/** Leases the lone records that go next, with their hosts; how many. */
function leaseLoneHosts(core: Core, rule: RuleState, nowMs: SteppedMs, most: number): number {
  const { deadlines, hosts, leaseSequence, limits, scratch, shares, store } = core;
  const lane = ranksBest(store.arena, word(store, rule.handle, RULE_QUEUE_RANKS_WORD));
  const room = lane === 0 ? 0 : leasesThatFit(core, Math.min(most, LONES_MAX), LONE_BYTES);
  if (room === 0) return 0;
  const bound = laneBound(core, lane, false);
  const places = leaseRoom(scratch, deadlines, nowMs + limits.leaseMs, leaseSequence, room);
  if (places === 0) return 0;
  const made = listLones(scratch, hosts, places, { rule: rule.handle, bound });
  const turns = turnsBefore;
  const readyAt = nowMs + firstDelay(rule.policy);
  if (made === 0 || !leaseLones(scratch, { hosts, deadlines }, made, { readyAt, turns })) return 0;
  countLeased(core, made);
  bookRule(core, LEDGER.lease, RECORD_PENDING, rule.handle, made);
  for (let index = 0; index < made; index++) {
    sharesCharge(shares, rule.index);
    logClock(core, leasedAt(scratch, index));
  }
  return made;
}

/** The next hand-outs of several rules, as far as each is plain; the kernel counts for the rules. @hot */
function leaseByTurns(core: Core, deadlineMs: number, max: number): number {
  const { deadlines, leaseSequence, scratch, shares, store } = core;
  const most = Math.min(max, TURNS_MAX);
  const room = leaseRoom(scratch, deadlines, deadlineMs, leaseSequence, most);
  if (room === 0) return 0;
  const turns = sharesTurns(shares, room);
  if (turns.length === 0) return 0;
  const made = leaseTurns(scratch, deadlines, room, turns);
  if (made < turns.length) sharesReturn(shares, turns.length, made);
  for (let turn = lanesClosed(scratch) === 0 ? made : 0; turn < made; turn++) {
    const rule = turns[turn] as number;
    if (word(store, rule, RULE_QUEUE_RANKS_WORD) !== 0) continue;
    sharesLeave(shares, word(store, rule, RULE_QUEUE_INDEX_WORD));
  }
  countLeased(core, made);
  return made;
}

/** Counts and logs records handed out at once. @hot */
function countLeased(core: Core, made: number): void {
  core.leaseSequence += made;
  bookTotal(core, LEDGER.lease, RECORD_PENDING, made);
  if (core.log === undefined) return;
  for (let index = 0; index < made; index++) {
    announce(core, LEDGER.lease, leasedAt(core.scratch, index), 0);
  }
}

/**
 * Ends leases as done, in their order, without outcome; how many. `late`: true for those that came too late already, and from
 * now on for those that do not stand; all of them are counted. Throws MEMORY_FULL before the first one ends.
 */
export function endMany(
  core: Core,
  leases: readonly HandOut[],
  late: boolean[],
  nowMs: number,
): number {
  if (!holdRoom(core, leases.length)) throw memoryFull();
  try {
    return endHeld(core, leases, late, nowMs);
  } finally {
    releaseHeldRoom(core);
  }
}

/** Ends a lease that stands, by the kernel where it is plain and nothing was seen. Throws as `finish`, before anything changes. @hot */
export function endOne(
  core: Core,
  lease: HandOut,
  outcome: Outcome | undefined,
  nowMs: number,
): void {
  if (outcome === undefined && isPlainEnd(core)) {
    needRoom(core);
    if (collectEnd(core, 0, lease, nowMs)) {
      endCollected(core, 1, nowMs);
      return;
    }
  }
  finish(core, lease, outcome, nowMs);
}

function endHeld(core: Core, leases: readonly HandOut[], late: boolean[], nowMs: number): number {
  const isPlain = isPlainEnd(core);
  let ended = 0;
  let noted = 0;
  for (let at = 0; at < leases.length; at++) {
    if (at % TOUCHED === 0) {
      endCollected(core, noted, nowMs);
      noted = 0;
      touchLeases(core, leases, at);
    }
    const lease = leases[at] as HandOut;
    if (late[at] !== true && isPlain && collectEnd(core, noted, lease, nowMs)) noted++;
    else if (late[at] !== true && isLive(core, lease, nowMs)) {
      endCollected(core, noted, nowMs); // in their order
      noted = 0;
      finish(core, lease, undefined, nowMs);
    } else {
      late[at] = true;
      countLate(core);
      continue;
    }
    ended++;
  }
  endCollected(core, noted, nowMs);
  return ended;
}

/** Warms the caches for the next TOUCHED leases that end, if they are many. @hot */
function touchLeases(core: Core, leases: readonly HandOut[], from: number): void {
  const count = Math.min(leases.length - from, TOUCHED);
  if (count < TOUCHED_MIN) return;
  scratchTouch(core.scratch, core.seen.table.offset, leases, from, count);
}

/** Whether a lane holds some records, and in its list alone as far as they are in memory. @hot */
function isPlainLane({ region }: Store, lane: number): boolean {
  return laneIsList(region, lane) && laneCount(region, lane) > 1;
}

/** Whether leases may end by `collectEnd` and `endCollected`. @hot */
function isPlainEnd({ flagsSeen, groupKinds, seen, sink }: Core): boolean {
  if (sink.wants.done || seen.bloom !== undefined || groupKinds.length > 0) return false;
  return (flagsSeen & (RULE_AGAIN | RULE_BACKOFF)) === 0;
}

/**
 * Notes a lease that stands at `nowMs` as the next of those to be ended, number `index`; false: it does not stand, or is not
 * plain, and `finish` decides. @hot
 */
function collectEnd(core: Core, index: number, lease: HandOut, nowMs: number): boolean {
  const { deadlines, scratch, store } = core;
  const { record } = lease;
  if (!timelineHolds(deadlines, record, lease.sequence, nowMs)) return false;
  const isMore = (recordFlags(store, record) & (RECORD_FLAG_BLOB | RECORD_FLAG_VOLATILE)) !== 0;
  if (isMore || !isPlainVisit(core, recordQueue(store, record))) return false;
  countLeaseTime(core, lease, nowMs);
  timelineRemove(deadlines, record);
  noteEnd(scratch, index, record);
  return true;
}

/** Whether the end of a visit under a host queue moves nothing but counts and its host's clock. @hot */
function isPlainVisit(core: Core, queue: number): boolean {
  const { sole, store } = core;
  const flags = ruleFlags(core, word(store, queue, QUEUE_RULE_WORD));
  if ((flags & RULE_GONE) !== 0) return false;
  if ((flags & RULE_POLITE) !== 0) return true;
  const host = word(store, queue, QUEUE_HOST_WORD);
  if (hostFlag(store, host, HOST_STEERED)) return false;
  // Rules with politeness count the visits of all others, and check again when one ends.
  return sole !== undefined || word(store, host, HOST_PENDING_WORD) === 0;
}

/** Hosts whose clocks are set by the ends of the leases that are noted. */
const visited = new Uint32Array(TOUCHED);

/** Starts the delays of hosts whose visits under rules with politeness end; how many, each for as many visits as end. @hot */
function setClocks(core: Core, count: number, nowMs: number): number {
  const { log, scratch, store } = core;
  let set = 0;
  for (let index = 0; index < count; index++) {
    const queue = recordQueue(store, endAt(scratch, index));
    const rule = ruleOfQueue(core, queue);
    if (!rule.policy.isPolite) continue;
    const host = word(store, queue, QUEUE_HOST_WORD);
    setReadyAt(core, host, nowMs + hostDelay(core, host, rule.policy));
    log?.host(host, LOG_HOST_CLOCK);
    visited[set++] = host;
  }
  return set;
}

/** Ends the leases noted as done. @hot */
function endCollected(core: Core, count: number, nowMs: number): void {
  const { hosts, log, scratch, seen, sole, store } = core;
  if (count === 0) return;
  const clocks = (core.flagsSeen & RULE_POLITE) === 0 ? 0 : setClocks(core, count, nowMs);
  if (log !== undefined) {
    for (let index = 0; index < count; index++) {
      const record = endAt(scratch, index);
      announce(core, LEDGER.done, record, finishedWord(core, record));
    }
  }
  if (sole !== undefined) bookRule(core, LEDGER.done, RECORD_LEASED, sole.handle, count);
  else {
    for (let index = 0; index < count; index++) {
      const queue = recordQueue(store, endAt(scratch, index));
      bookRule(core, LEDGER.done, RECORD_LEASED, word(store, queue, QUEUE_RULE_WORD), 1);
    }
  }
  endBatch(scratch, hosts, seen.table.offset, count);
  bookTotal(core, LEDGER.done, RECORD_LEASED, count);
  for (let index = 0; index < clocks; index++) {
    needRoom(core);
    settleHost(core, visited[index] as number, nowMs);
  }
}

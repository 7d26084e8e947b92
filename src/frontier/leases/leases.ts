/**
 * Room `src/frontier/leases`: leases and their ends: hand-out, deadline, done, retry, fail, release, expiry. Decides
 * whether a result is late; states change through records/transitions.
 */

/**
 * Leases: the right to work on one record until a deadline. A lease is a record and a fence, the sequence of its
 * hand-out; it lives while the deadline heap holds the record under that fence and the clock is before the deadline.
 *
 *   I1  At most one live lease per record.
 *   I2  A result after the deadline changes nothing and is counted.
 *   I3  A lease that had not begun when it ran out goes back as if it had been released: only begun ones are attempts.
 *   I4  Whatever may fail is done, and the room of the step asked for, before anything changes (memory-reserve.ts). A clock for which there is no
 *       room passes later.
 */
import { memoryFull } from "../../base/errors.ts";
import {
  heapCount,
  heapPeekHandle,
  heapPeekKey,
  heapTieOf,
} from "../../structures/ordering/heap.ts";
import {
  timelineHas,
  timelineKeyOf,
  timelinePeekHandle,
  timelinePeekKey,
  timelineTieOf,
  timelineUpdate,
} from "../../structures/ordering/timeline.ts";
import {
  RECORD_FAILED,
  recordAttempt,
  recordBlob,
  recordDeliveries,
  recordPriority,
  recordState,
  setRecordAttempt,
  setRecordPriority,
  blobMaxAttempts,
} from "../../structures/records/record.ts";
import { rematchOrphans } from "../rules/rematch-records.ts";
import { RULE_BACKOFF } from "../../structures/hosts/host-table.ts";
import { clampPriority, type Core, ruleOf, type SteppedMs } from "../core.ts";
import type { FrontierPolicy, Outcome } from "../rules/rule-policy.ts";
import {
  countVisit,
  isAnswer,
  isBadStatus,
  readyVisit,
  takeOutcome,
  type VisitedHost,
} from "../politeness/politeness.ts";
import { hasRoom, hasSpare, needRoom } from "../records/memory-reserve.ts";
import type { HandOut } from "../scheduling/hand-out.ts";
import { countLeaseTime } from "./lease-times.ts";
import {
  cancelVisit,
  endVisit,
  handOut,
  handOutOfHost,
  hasStanding,
  logClock,
  wakeHosts,
} from "../scheduling/schedule.ts";
import { wakeGroups } from "../politeness/host-groups.ts";
import { againAt, wakeResting } from "../epochs/recrawl.ts";
import {
  failRecord,
  finishKeptRecord,
  finishRecord,
  hostOf,
  leaseRecord,
  ownsIdentity,
  retryRecord,
  returnRecord,
  wakeRecord,
} from "../records/transitions.ts";
import { bookExpired, bookLate, LEDGER } from "../records/ledger.ts";

interface RetryRequest {
  delayMs: number | undefined;
  priority: number | undefined;
  reason: string | undefined;
  outcome: Outcome | undefined;
}

/** Brings the core to `nowMs`: leases that ran out, records that became due, hosts that may go again, all as far as there is room. */
export function step(core: Core, nowMs: number): SteppedMs {
  if (timelinePeekKey(core.deadlines) <= nowMs) expireAll(core, nowMs);
  wakeRecords(core, nowMs);
  wakeHosts(core, nowMs);
  if (heapPeekKey(core.groupClocks) <= nowMs && hasRoom(core)) wakeGroups(core, nowMs);
  if (core.orphans.length > 0) rematchOrphans(core, nowMs);
  return nowMs as SteppedMs;
}

/** What waited and what rested, in the order of their times: places must not depend on who looked between. */
function wakeRecords(core: Core, nowMs: number): void {
  const { resting, waiting } = core;
  while (heapCount(waiting) > 0 && heapPeekKey(waiting) <= nowMs) {
    const record = heapPeekHandle(waiting);
    if (heapCount(resting) > 0) {
      const end = { key: heapPeekKey(waiting), tie: heapTieOf(waiting, record) };
      if (!wakeResting(core, nowMs, end)) return;
    }
    if (!hasRoom(core)) return;
    wakeRecord(core, record, nowMs);
  }
  if (heapCount(resting) > 0) wakeResting(core, nowMs);
}

/** Whether a lease has run out, or a record has become due, that `step` has not handled yet. @hot */
export function isOverdue({ deadlines, resting, waiting }: Core, nowMs: number): boolean {
  if (timelinePeekKey(deadlines) <= nowMs) return true;
  if (heapCount(waiting) > 0 && heapPeekKey(waiting) <= nowMs) return true;
  return heapCount(resting) > 0 && heapPeekKey(resting) <= nowMs;
}

/** Leases the next record. Throws MEMORY_FULL, and DISK_*, with nothing changed. @hot */
export function leaseNext(
  core: Core,
  nowMs: SteppedMs,
  out: HandOut,
  leaseMs = core.limits.leaseMs,
): boolean {
  if (core.counters.leased >= core.limits.maxLeases) return false;
  if (!hasSpare(core)) {
    if (hasStanding(core)) throw memoryFull();
    return false;
  }
  if (!handOut(core, nowMs, out)) return false;
  leaseFor(core, out, leaseMs, nowMs);
  return true;
}

function leaseFor(core: Core, out: HandOut, leaseMs: number, nowMs: number): void {
  out.givenMs = leaseMs;
  leaseRecord(core, out.record, nowMs + leaseMs, out.sequence);
  if (core.log !== undefined) logClock(core, out.record);
}

/**
 * Leases one record for a time of its own: the next one, or the next one of `host` where it is not 0, whose clock, limit and hold are
 * then passed over.
 */
export function leaseChosen(
  core: Core,
  { host, leaseMs }: { host: number; leaseMs: number },
  nowMs: SteppedMs,
  out: HandOut,
): boolean {
  if (core.counters.leased >= core.limits.maxLeases) return false;
  if (!hasSpare(core)) throw memoryFull();
  const isFound = host === 0 ? handOut(core, nowMs, out) : handOutOfHost(core, host, nowMs, out);
  if (!isFound) return false;
  leaseFor(core, out, leaseMs, nowMs);
  return true;
}

/** Whether this very hand-out still stands at `nowMs`. A lease that is late is counted by `countLate`. @hot */
export function isLive(core: Core, lease: HandOut, nowMs: number): boolean {
  const { deadlines } = core;
  if (!timelineHas(deadlines, lease.record)) return false;
  if (timelineTieOf(deadlines, lease.record) !== lease.sequence) return false;
  return nowMs < timelineKeyOf(deadlines, lease.record);
}

export function countLate(core: Core): void {
  bookLate(core);
}

/** Finished, with what the visit showed. Children are admitted afterwards: a page is done whatever becomes of them. @hot */
export function finish(
  core: Core,
  lease: HandOut,
  outcome: Outcome | undefined,
  nowMs: number,
): void {
  const host = readyVisit(core, lease.record, isBadStatus(outcome?.status));
  needRoom(core);
  countLeaseTime(core, lease, nowMs);
  learnOutcome(core, host, lease.record, outcome, nowMs);
  endVisit(core, lease.record, nowMs);
  finishRecord(core, lease.record, againAt(core, lease.record, outcome?.changed, nowMs));
}

/** Finished, and the record stays with its data, as if it had been put; false: it has no identity to stay under, and nothing changed. @hot */
export function finishKept(core: Core, lease: HandOut, nowMs: number): boolean {
  if (!ownsIdentity(core, lease.record)) return false;
  const host = readyVisit(core, lease.record, false);
  needRoom(core);
  countLeaseTime(core, lease, nowMs);
  learnOutcome(core, host, lease.record, undefined, nowMs);
  endVisit(core, lease.record, nowMs);
  finishKeptRecord(core, lease.record);
  return true;
}

/** What a finished visit showed. @hot */
function learnOutcome(
  core: Core,
  host: VisitedHost,
  record: number,
  outcome: Outcome | undefined,
  nowMs: number,
): void {
  // Nothing was seen, and nothing is counted.
  if (outcome === undefined && (core.flagsSeen & RULE_BACKOFF) === 0) return;
  const { policy } = ruleOf(core, record);
  if (outcome !== undefined) takeOutcome(core, host, policy, outcome, nowMs);
  countVisit(core, host, policy, isBadStatus(outcome?.status), nowMs);
}

export function retry(
  core: Core,
  lease: HandOut,
  request: RetryRequest,
  nowMs: number,
): "requeued" | "failed" {
  const { record } = lease;
  const { store } = core;
  const { policy } = ruleOf(core, record);
  const host = readyVisit(core, record, true);
  needRoom(core);
  countLeaseTime(core, lease, nowMs);
  endOf(core, record, request.outcome, nowMs);
  const attempt = recordAttempt(store, record);
  if (attempt >= maxAttempts(core, record)) {
    failRecord(core, record, request.reason ?? "attempts");
  } else if (isOverDelivered(core, record)) {
    failRecord(core, record, "deliveries");
  } else {
    setRecordAttempt(store, record, attempt + 1);
    setRecordPriority(store, record, retryPriority(core, record, request.priority));
    const delayMs = request.delayMs ?? backoffDelay(core, policy, attempt);
    retryRecord(core, record, nowMs + delayMs, { nowMs, reason: request.reason });
  }
  // This may end all of its host, and this record with it.
  countVisit(core, host, policy, true, nowMs);
  const answer = recordState(store, record) === RECORD_FAILED ? "failed" : "requeued";
  if (core.orphans.length > 0) rematchOrphans(core, nowMs);
  return answer;
}

export function fail(
  core: Core,
  lease: HandOut,
  result: { reason: string | undefined; outcome: Outcome | undefined },
  nowMs: number,
): void {
  const reason = result.reason ?? "failed";
  if (result.outcome?.visited === false) {
    failUnvisited(core, lease, reason, nowMs);
    return;
  }
  const { policy } = ruleOf(core, lease.record);
  // A page that is not there was answered all the same: that is no failure of its host.
  const isFailure = !isAnswer(result.outcome?.status);
  const host = readyVisit(core, lease.record, isFailure);
  needRoom(core);
  countLeaseTime(core, lease, nowMs);
  endOf(core, lease.record, result.outcome, nowMs);
  failRecord(core, lease.record, reason);
  countVisit(core, host, policy, isFailure, nowMs);
}

/** Fails, but its host was not asked: to it this is as if the record had never been handed out. */
function failUnvisited(core: Core, lease: HandOut, reason: string, nowMs: number): void {
  const host = hostOf(core, lease.record);
  needRoom(core);
  countLeaseTime(core, lease, nowMs);
  failRecord(core, lease.record, reason);
  cancelVisit(core, host, lease, nowMs);
  if (core.orphans.length > 0) rematchOrphans(core, nowMs);
}

/** Back to its place: no visit happened. A record handed out too often fails instead. */
export function release(core: Core, lease: HandOut, nowMs: number): void {
  needRoom(core);
  giveBack(core, lease, nowMs);
  if (core.orphans.length > 0) rematchOrphans(core, nowMs);
}

function giveBack(core: Core, lease: HandOut, nowMs: number): void {
  const { record } = lease;
  const host = hostOf(core, record);
  if (isOverDelivered(core, record)) {
    setRecordAttempt(core.store, record, recordAttempt(core.store, record) - 1); // not made
    failRecord(core, record, "deliveries");
  } else {
    returnRecord(core, record, LEDGER.release, nowMs);
  }
  cancelVisit(core, host, lease, nowMs);
}

export function extend(core: Core, lease: HandOut, ms: number): number {
  needRoom(core);
  const deadlineMs = timelineKeyOf(core.deadlines, lease.record) + ms;
  timelineUpdate(core.deadlines, lease.record, deadlineMs, lease.sequence);
  lease.givenMs += ms;
  return deadlineMs;
}

/** Attempts a record may have: its own number, else the rule's. */
export function maxAttempts(core: Core, record: number): number {
  const blob = recordBlob(core.store, record);
  const own = blob === 0 ? 0 : blobMaxAttempts(core.store, blob);
  return own > 0 ? own : ruleOf(core, record).policy.maxAttempts;
}

/** All leases whose deadline has passed, as far as there is room. */
function expireAll(core: Core, nowMs: number): void {
  const unbegun = core.unbegun?.();
  while (timelinePeekKey(core.deadlines) <= nowMs && hasRoom(core)) {
    const record = timelinePeekHandle(core.deadlines);
    const lease = unbegun?.get(timelineTieOf(core.deadlines, record));
    if (lease === undefined) expire(core, record, nowMs);
    else giveBack(core, lease, nowMs); // I3
  }
}

/** A deadline passed: an attempt is gone, the place is kept. The host is not to blame. */
function expire(core: Core, record: number, nowMs: number): void {
  const { store } = core;
  endVisit(core, record, nowMs, timelineKeyOf(core.deadlines, record));
  const attempt = recordAttempt(store, record);
  const isLast = attempt >= maxAttempts(core, record);
  if (isLast || isOverDelivered(core, record)) {
    bookExpired(core);
    failRecord(core, record, isLast ? "expired" : "deliveries");
  } else {
    setRecordAttempt(store, record, attempt + 1);
    returnRecord(core, record, LEDGER.expire, nowMs);
  }
}

/** Ends a visit that did not succeed. */
function endOf(core: Core, record: number, outcome: Outcome | undefined, nowMs: number): void {
  if (outcome !== undefined) {
    const { policy } = ruleOf(core, record);
    takeOutcome(core, hostOf(core, record), policy, outcome, nowMs);
  }
  endVisit(core, record, nowMs);
}

function isOverDelivered(core: Core, record: number): boolean {
  return recordDeliveries(core.store, record) >= core.limits.maxDeliveries;
}

function retryPriority(core: Core, record: number, asked: number | undefined): number {
  const { policy } = ruleOf(core, record);
  if (asked !== undefined) return clampPriority(asked);
  if (policy.retrySet !== undefined) return policy.retrySet;
  return clampPriority(recordPriority(core.store, record) + policy.retryAdd);
}

/** Exponential back-off with jitter: baseMs × factor^(attempt − 1), at most maxMs, spread by ±jitter. */
function backoffDelay(core: Core, policy: FrontierPolicy, attempt: number): number {
  const { baseMs, factor, maxMs, jitter } = policy.backoff;
  if (baseMs === 0) return 0;
  const delayMs = Math.min(maxMs, baseMs * factor ** Math.min(attempt - 1, 64));
  if (jitter === 0) return delayMs;
  return Math.min(maxMs, delayMs * (1 + jitter * (2 * core.random() - 1)));
}

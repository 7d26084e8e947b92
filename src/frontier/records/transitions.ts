/**
 * Transitions: the one place where a record's state changes (DESIGN §2). Each is one counter step, one call of the
 * sink and one of the log (transition-log.ts); whoever wants a state changed calls one of these.
 *
 *   admit ──▶ waiting ──due──▶ pending ──lease──▶ leased ──▶ done          record freed
 *     └──────────────────────────▲  ▲               ├──────▶ failed ──requeue──▶ pending
 *                                │  └─release,expiry─┤
 *                                └── waiting ◀─retry─┘        remove: pending, waiting ──▶ gone
 *
 *   Under a rule that re-crawls: leased ──▶ resting (counted as done) ──its time──▶ pending, done no more
 *
 *   I1  accepted + deferred = pending + waiting + leased + done + failed + forgotten + removed.
 *   I2  A record stands in its ranks (pending), the waiting heap, the deadline heap (leased), the failed lane or the resting heap.
 *   I3  Whoever calls has asked for the room of the step (memory-reserve.ts): nothing here can fail for want of memory.
 */
import { heapPush, heapRemove } from "../../structures/ordering/heap.ts";
import { timelinePush, timelineRemove } from "../../structures/ordering/timeline.ts";
import {
  QUEUE_HOST_WORD,
  RULE_GONE,
  RULE_LIFO,
  RULE_QUEUE_DONE_WORD,
  RULE_QUEUE_LEASED_WORD,
  RULE_QUEUE_PENDING_WORD,
  RULE_QUEUE_SERVED_WORD,
  RULE_START_LAST,
  hostRelease,
  hostRetain,
} from "../../structures/hosts/host-table.ts";
import { laneInsert, laneRemove } from "../../structures/ordering/lane.ts";
import {
  blobCreate,
  blobFree,
  parentRetain,
  RECORD_FAILED,
  RECORD_FLAG_NO_IDENTITY,
  RECORD_FLAG_START,
  RECORD_FLAG_VOLATILE,
  RECORD_LEASED,
  RECORD_PENDING,
  RECORD_RESTING,
  RECORD_WAITING,
  recordAttempt,
  recordBlob,
  recordDeliveries,
  recordDepth,
  recordFlags,
  recordFree,
  recordGiveBlob,
  recordHi,
  recordKey,
  recordLo,
  recordParent,
  recordQueue,
  recordState,
  setBlobPeriod,
  setRecordAgain,
  setRecordAttempt,
  setRecordDeliveries,
  setRecordKey,
  setRecordState,
} from "../../structures/records/record.ts";
import { seenFind, seenReplace } from "../../structures/seen/seen-set.ts";
import { float, setFloat, setWord, word } from "../../structures/store.ts";
import { type Core, DEPTH_COUNT_MAX, ruleFlags, ruleOf, ruleQueueOf } from "../core.ts";
import { assertRoom } from "./memory-reserve.ts";
import {
  LOG_ADMITTED,
  LOG_CHANGED,
  LOG_DONE,
  LOG_EXPIRED,
  LOG_FAILED,
  LOG_LEASED,
  LOG_RELEASED,
  LOG_REMOVED,
  LOG_REQUEUED,
  LOG_RESTED,
  LOG_RETRIED,
  LOG_WOKEN,
} from "./transition-log.ts";
import { finishedValue } from "./finished-word.ts";
import { countReason } from "./outcome-reasons.ts";
import { scheduleRecord, unscheduleRecord } from "../scheduling/schedule.ts";

/** Start requests that go last stand beyond every sequence there can be. */
const START_LAST = 2 ** 52;

/** A new record enters: pending, or waiting until `dueMs`. @hot */
export function admitRecord(core: Core, record: number, dueMs: number, nowMs: number): void {
  const { counters, store } = core;
  const depth = Math.min(recordDepth(store, record), DEPTH_COUNT_MAX);
  counters.depths[depth] = (counters.depths[depth] ?? 0) + 1;
  if (dueMs > nowMs) {
    counters.deferred++;
    setRecordKey(store, record, ++core.sequence);
    enterWaiting(core, record, dueMs);
  } else {
    counters.accepted++;
    enterPending(core, record, nowMs);
  }
  if (core.sink.wants.accepted) core.sink.record("accepted", record, undefined);
}

/** Tells the log of a record that was admitted, once its text is in its place. @hot */
export function logAdmitted(core: Core, record: number): void {
  core.log?.record(LOG_ADMITTED, record, 0);
}

/**
 * Records made in bulk, pending in their places up to `sequence` and counted by their rules: the other steps of
 * admitRecord for all of them. @hot
 */
export function admitMade(core: Core, sequence: number, depth: number): void {
  const { counters } = core;
  const made = sequence - core.sequence;
  if (made === 0) return;
  const level = Math.min(depth, DEPTH_COUNT_MAX);
  core.sequence = sequence;
  counters.depths[level] = (counters.depths[level] ?? 0) + made;
  counters.accepted += made;
  counters.pending += made;
  counters.seen += made;
}

/** A record made joins its host: the host lives while the record does. @hot */
export function keepRecord(core: Core, record: number, host: number): void {
  hostRetain(core.hosts, host);
  const parent = recordParent(core.store, record);
  if (parent !== 0) parentRetain(core.store, parent);
}

/** A waiting record's time has come; the caller has taken it off the heap. */
export function wakeRecord(core: Core, record: number, nowMs: number): void {
  core.counters.waiting--;
  ruleOf(core, record).waiting--;
  enterPending(core, record, nowMs);
  core.log?.record(LOG_WOKEN, record, 0);
}

/** A record handed out becomes a lease until `deadlineMs`, fenced by `sequence`. @hot */
export function leaseRecord(
  core: Core,
  record: number,
  deadlineMs: number,
  sequence: number,
): void {
  const { counters, store } = core;
  assertRoom(timelinePush(core.deadlines, record, deadlineMs, sequence));
  setRecordState(store, record, RECORD_LEASED);
  setRecordDeliveries(store, record, recordDeliveries(store, record) + 1);
  counters.pending--;
  counters.leased++;
  counters.leases++;
  const rule = ruleQueueOf(core, record);
  step(core, rule, RULE_QUEUE_PENDING_WORD, -1);
  step(core, rule, RULE_QUEUE_LEASED_WORD, 1);
  setFloat(store, rule, RULE_QUEUE_SERVED_WORD, float(store, rule, RULE_QUEUE_SERVED_WORD) + 1);
  core.log?.record(LOG_LEASED, record, 0);
  if (core.sink.wants.leased) core.sink.record("leased", record, undefined);
}

/** When a record comes again by itself, and the code of the period that it keeps until then; 0: none. */
export interface Again {
  readonly atMs: number;
  readonly code: number;
}

/**
 * Finished: the record goes, its identity stays with depth and attempts. One that comes again by itself rests until
 * then. @hot
 */
export function finishRecord(core: Core, record: number, again: Again | undefined): void {
  const rule = endLease(core, record);
  core.counters.done++;
  const { store } = core;
  setFloat(store, rule, RULE_QUEUE_DONE_WORD, float(store, rule, RULE_QUEUE_DONE_WORD) + 1);
  if (core.sink.wants.done) core.sink.record("done", record, undefined);
  const value = finishedWord(core, record);
  if (again !== undefined && ownsIdentity(core, record)) {
    // Without a page for it what was learned of the page goes, and the page comes again all the same.
    const kept = keepPeriod(core, record, again.code) || record;
    assertRoom(heapPush(core.resting, kept, again.atMs, sequenceOf(core, kept)));
    setRecordState(core.store, kept, RECORD_RESTING);
    ruleOf(core, kept).resting++;
    core.log?.record(LOG_RESTED, kept, value);
    return;
  }
  core.log?.record(LOG_DONE, record, value);
  retire(core, record, value);
}

/** A resting record's time has come; the caller has taken it off the heap. All attempts and deliveries are before it. */
export function returnResting(core: Core, record: number, nowMs: number): void {
  const { store } = core;
  core.counters.done--;
  const rule = ruleOf(core, record);
  rule.done--;
  rule.resting--;
  setRecordAttempt(store, record, 1);
  setRecordDeliveries(store, record, 0);
  enterPending(core, record, nowMs);
  setRecordAgain(store, record);
  core.log?.record(LOG_REQUEUED, record, 0);
}

/** A resting record does not come again by itself: the last word on its identity is what stays. */
export function endResting(core: Core, record: number): void {
  heapRemove(core.resting, record);
  retireResting(core, record);
}

/** The same for one that the caller has taken off the heap. */
export function retireResting(core: Core, record: number): void {
  if (recordState(core.store, record) === RECORD_RESTING) ruleOf(core, record).resting--;
  const value = finishedWord(core, record);
  core.log?.record(LOG_DONE, record, value);
  retire(core, record, value);
}

/** A record that came again by itself makes way for one that was pushed: it is done, as before. */
export function yieldAgain(core: Core, record: number, nowMs: number): void {
  leavePending(core, record, nowMs);
  core.counters.done++;
  ruleOf(core, record).done++;
  retireResting(core, record);
}

/** A resting record is forgotten with its generation; the caller counts. */
export function forgetResting(core: Core, record: number): void {
  heapRemove(core.resting, record);
  ruleOf(core, record).resting--;
  freeRecord(core, record);
}

/** Back to its place. */
export function returnRecord(
  core: Core,
  record: number,
  kind: "released" | "expired",
  nowMs: number,
): void {
  endLease(core, record);
  if (kind === "released") core.counters.released++;
  setRecordState(core.store, record, RECORD_PENDING);
  core.counters.pending++;
  const rule = ruleQueueOf(core, record);
  step(core, rule, RULE_QUEUE_PENDING_WORD, 1);
  if ((ruleFlags(core, rule) & RULE_GONE) !== 0) core.orphans.push(record);
  scheduleRecord(core, record, nowMs);
  core.log?.record(kind === "released" ? LOG_RELEASED : LOG_EXPIRED, record, 0);
  if (core.sink.wants[kind]) core.sink.record(kind, record, undefined);
}

/** Another attempt: now, at a new place, or waiting until `dueMs`. */
export function retryRecord(
  core: Core,
  record: number,
  dueMs: number,
  { nowMs, reason }: { nowMs: number; reason: string | undefined },
): void {
  endLease(core, record);
  core.counters.retried++;
  countReason(core.reasons.retried, reason);
  if (dueMs > nowMs) enterWaiting(core, record, dueMs);
  else enterPending(core, record, nowMs);
  core.log?.record(LOG_RETRIED, record, 0);
  if (core.sink.wants.retried) core.sink.record("retried", record, reason);
}

/** No attempt is left, or somebody said so: the record stays until requeued or forgotten. */
export function failRecord(core: Core, record: number, reason: string, nowMs?: number): void {
  const { counters, store } = core;
  const state = recordState(store, record);
  if (state === RECORD_LEASED) endLease(core, record);
  else {
    leavePending(core, record, nowMs ?? 0);
    setRecordAttempt(store, record, recordAttempt(store, record) - 1); // that one is not made
  }
  setRecordState(store, record, RECORD_FAILED);
  setRecordKey(store, record, ++core.sequence);
  laneInsert(store.region, core.failedLane, record);
  counters.failed++;
  countReason(core.reasons.failed, reason);
  ruleOf(core, record).failed++;
  core.log?.record(LOG_FAILED, record, 0);
  core.sink.failed?.(record, reason);
  if (core.sink.wants.failed) core.sink.record("failed", record, reason);
}

/** A pending or waiting record waits until `dueMs`. */
export function deferRecord(core: Core, record: number, dueMs: number, nowMs: number): void {
  leavePending(core, record, nowMs);
  enterWaiting(core, record, dueMs);
  core.log?.record(LOG_CHANGED, record, 0);
}

/** A waiting record need not wait any longer. */
export function wakeEarly(core: Core, record: number, nowMs: number): void {
  heapRemove(core.waiting, record);
  wakeRecord(core, record, nowMs);
}

/** A failed record is asked for again. */
export function requeueRecord(core: Core, record: number, nowMs: number): void {
  core.sink.failed?.(record, undefined);
  laneRemove(core.store.region, core.failedLane, record);
  core.counters.failed--;
  ruleOf(core, record).failed--;
  enterPending(core, record, nowMs);
  core.log?.record(LOG_REQUEUED, record, 0);
}

/** A pending or waiting record goes; its identity stays, so that a trap's links do not come back. */
export function removeRecord(core: Core, record: number, nowMs: number): void {
  const isResting = recordState(core.store, record) === RECORD_RESTING;
  if (isResting) {
    heapRemove(core.resting, record);
    core.counters.done--;
    const rule = ruleOf(core, record);
    rule.done--;
    rule.resting--;
  } else leavePending(core, record, nowMs);
  core.counters.removed++;
  const made = recordAttempt(core.store, record) - (isResting ? 0 : 1);
  const value = finishedValue(recordDepth(core.store, record), Math.min(made, 1023), true);
  core.log?.record(LOG_REMOVED, record, value);
  retire(core, record, value);
}

/** A failed record is forgotten with its generation. */
export function forgetFailed(core: Core, record: number): void {
  core.sink.failed?.(record, undefined);
  laneRemove(core.store.region, core.failedLane, record);
  core.counters.failed--;
  ruleOf(core, record).failed--;
  core.counters.forgotten++;
  freeRecord(core, record);
}

/** The last word on the identity of a record that is done. @hot */
export function finishedWord(core: Core, record: number): number {
  const attempts = Math.min(recordAttempt(core.store, record), 1023);
  return finishedValue(recordDepth(core.store, record), attempts, false);
}

/**
 * Keeps the period of a record that stands nowhere; one made before its rule kept any gets room for it, under a new handle. 0, with
 * nothing changed: there is none for a text that long.
 */
export function keepPeriod(core: Core, record: number, code: number): number {
  const { seen, store, volatileData } = core;
  const blob = recordBlob(store, record);
  if (blob !== 0) setBlobPeriod(store, blob, code);
  if (blob !== 0 || code === 0) return record;
  const own = blobCreate(store, new Uint8Array(0), 0);
  const made = own === 0 ? 0 : recordGiveBlob(store, record, own);
  if (made === 0) {
    if (own !== 0) blobFree(store, own);
    return 0;
  }
  setBlobPeriod(store, own, code);
  seenReplace(seen, recordLo(store, made), recordHi(store, made), record, made);
  if (volatileData.has(record)) {
    volatileData.set(made, volatileData.get(record));
    volatileData.delete(record);
  }
  return made;
}

/** Whether the identity of a record is still its own: not exempt, not forgotten meanwhile. */
export function ownsIdentity(core: Core, record: number): boolean {
  const { store } = core;
  if ((recordFlags(store, record) & RECORD_FLAG_NO_IDENTITY) !== 0) return false;
  return seenFind(core.seen, recordLo(store, record), recordHi(store, record)) === record;
}

/** The handle of a record's host. */
export function hostOf(core: Core, record: number): number {
  return word(core.store, recordQueue(core.store, record), QUEUE_HOST_WORD);
}

function enterPending(core: Core, record: number, nowMs: number): void {
  const { store } = core;
  setRecordState(store, record, RECORD_PENDING);
  setRecordKey(store, record, orderKey(core, record, ++core.sequence));
  core.counters.pending++;
  const rule = ruleQueueOf(core, record);
  step(core, rule, RULE_QUEUE_PENDING_WORD, 1);
  if ((ruleFlags(core, rule) & RULE_GONE) !== 0) core.orphans.push(record);
  scheduleRecord(core, record, nowMs);
}

/** The sequence it has stays, as the tie among those that become due at once. */
function enterWaiting(core: Core, record: number, dueMs: number): void {
  assertRoom(heapPush(core.waiting, record, dueMs, sequenceOf(core, record)));
  setRecordState(core.store, record, RECORD_WAITING);
  core.counters.waiting++;
  const rule = ruleOf(core, record);
  rule.waiting++;
  if (rule.isGone) core.orphans.push(record);
}

function leavePending(core: Core, record: number, nowMs: number): void {
  if (recordState(core.store, record) === RECORD_WAITING) {
    heapRemove(core.waiting, record);
    core.counters.waiting--;
    ruleOf(core, record).waiting--;
    return;
  }
  unscheduleRecord(core, record, nowMs);
  core.counters.pending--;
  step(core, ruleQueueOf(core, record), RULE_QUEUE_PENDING_WORD, -1);
}

/** Returns the rule queue. @hot */
function endLease(core: Core, record: number): number {
  timelineRemove(core.deadlines, record);
  core.counters.leased--;
  const rule = ruleQueueOf(core, record);
  step(core, rule, RULE_QUEUE_LEASED_WORD, -1);
  return rule;
}

/** One count of a rule. @hot */
function step({ store }: Core, ruleQueue: number, at: number, by: number): void {
  setWord(store, ruleQueue, at, word(store, ruleQueue, at) + by);
}

/** Start requests keep their own order, first in first out, behind all others of their priority. */
export function orderKey(core: Core, record: number, sequence: number): number {
  const flags = ruleFlags(core, ruleQueueOf(core, record));
  if ((flags & RULE_START_LAST) === 0) return sequence;
  if ((recordFlags(core.store, record) & RECORD_FLAG_START) === 0) return sequence;
  return (flags & RULE_LIFO) !== 0 ? -START_LAST - sequence : START_LAST + sequence;
}

/** The sequence behind an order key. */
export function sequenceOf(core: Core, record: number): number {
  return sequenceOfKey(recordKey(core.store, record));
}

/** The sequence in a key, whichever end of its lane it counts from. */
export function sequenceOfKey(key: number): number {
  if (key >= START_LAST) return key - START_LAST;
  return key <= -START_LAST ? -START_LAST - key : key;
}

/** Writes the last word on an identity, if this record still owns it, and frees the record. */
function retire(core: Core, record: number, value: number): void {
  const { store } = core;
  if ((recordFlags(store, record) & RECORD_FLAG_NO_IDENTITY) === 0) {
    const lo = recordLo(store, record);
    seenReplace(core.seen, lo, recordHi(store, record), record, value);
  }
  freeRecord(core, record);
}

/** Gives a record back with all that hangs on it; it stands nowhere. */
export function freeRecord(core: Core, record: number): void {
  const { store } = core;
  const host = hostOf(core, record);
  if ((recordFlags(store, record) & RECORD_FLAG_VOLATILE) !== 0) core.volatileData.delete(record);
  recordFree(store, record);
  hostRelease(core.hosts, host);
}

/**
 * Transitions: the only place where a record's state changes (ARCHITECTURE.md, A URL's life). Each leaves one place, applies one row of
 * the ledger (ledger.ts) and enters another place; every change of a state calls one of these.
 *
 *   admit ──▶ waiting ──due──▶ pending ──lease──▶ leased ──▶ done          record freed
 *     └──────────────────────────▲  ▲               ├──────▶ failed ──requeue──▶ pending
 *                                │  └─release,expiry─┤
 *                                └── waiting ◀─retry─┘        remove: pending, waiting ──▶ gone
 *
 *   Under a rule that re-crawls: leased ──▶ resting (counted as done) ──its time──▶ pending, done no more
 *   put: any but leased ──▶ forgotten, and admitted anew; a finished one: pending ──▶ done, or resting for good with its data
 *
 *   I1  accepted + deferred = pending + waiting + leased + done + failed + forgotten + removed.
 *   I2  A record stands in its ranks (pending), the waiting heap, the deadline heap (leased), the failed lane or the resting heap.
 *   I3  The caller has reserved the memory of the step (memory-reserve.ts): nothing here can fail for lack of memory.
 */
import { heapPush, heapRemove } from "../../structures/ordering/heap.ts";
import { timelinePush, timelineRemove } from "../../structures/ordering/timeline.ts";
import {
  QUEUE_HOST_WORD,
  RULE_GONE,
  RULE_LIFO,
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
  recordLo,
  recordParent,
  recordQueue,
  recordState,
  setBlobPeriod,
  setRecordAgain,
  setRecordAttempt,
  setRecordDeliveries,
  setRecordKey,
  isLone,
} from "../../structures/records/record.ts";
import { seenFind, seenReplace } from "../../structures/seen/seen-set.ts";
import { word } from "../../structures/store.ts";
import { type Core, ruleFlags, ruleQueueOf } from "../core.ts";
import { assertRoom } from "./memory-reserve.ts";
import {
  announce,
  book,
  bookDepth,
  bookNew,
  bookSeen,
  bookTotal,
  LEDGER,
  STATE_NONE,
  type Transition,
} from "./ledger.ts";
import { finishedValue } from "./finished-word.ts";
import { countReason } from "./outcome-reasons.ts";
import { orderKeyOf } from "../../structures/hosts/lone-host.ts";
import { scheduleRecord, unscheduleRecord } from "../scheduling/schedule.ts";

/** Start requests that go last stand beyond every sequence there can be. */
const START_LAST = 2 ** 52;

/** When a record that was put as finished comes again. */
export const NEVER_MS = Number.POSITIVE_INFINITY;

/** A new record enters: pending, or waiting until `dueMs`. @hot */
export function admitRecord(core: Core, record: number, dueMs: number, nowMs: number): void {
  const { store } = core;
  const entry = dueMs > nowMs ? LEDGER.defer : LEDGER.admit;
  bookNew(core, entry, record, recordDepth(store, record));
  if (entry === LEDGER.defer) {
    setRecordKey(store, record, ++core.sequence);
    enterWaiting(core, record, dueMs);
  } else enterPending(core, record, nowMs);
  if (core.sink.wants.accepted) core.sink.record("accepted", record, undefined);
}

/** The same of a record whose host is on disk: it enters the block of its host, which is the caller's to do. */
export function admitAdded(core: Core, record: number): void {
  bookNew(core, LEDGER.admit, record, recordDepth(core.store, record));
  setRecordKey(core.store, record, orderKey(core, record, ++core.sequence));
  if (core.sink.wants.accepted) core.sink.record("accepted", record, undefined);
}

/** Logs a record that was admitted, once its text is in its place. `known`: what was known of its identity. @hot */
export function logAdmitted(core: Core, record: number, known: number): void {
  core.log?.record(LEDGER.admit.log, record, known);
}

/**
 * Records made in bulk, pending in their places up to `sequence` and counted by their rules: the other steps of
 * admitRecord for all of them. @hot
 */
export function admitMade(core: Core, sequence: number, depth: number): void {
  const made = sequence - core.sequence;
  if (made === 0) return;
  core.sequence = sequence;
  bookDepth(core, depth, made);
  bookTotal(core, LEDGER.admit, STATE_NONE, made);
  bookSeen(core, made);
}

/** A record made joins its host: the host lives while the record does. @hot */
export function keepRecord(core: Core, record: number, host: number): void {
  hostRetain(core.hosts, host);
  const parent = recordParent(core.store, record);
  if (parent !== 0) parentRetain(core.store, parent);
}

/** A waiting record's time has come, or it need not wait any longer. */
export function wakeRecord(core: Core, record: number, nowMs: number): void {
  change(core, LEDGER.wake, record, nowMs);
  enterPending(core, record, nowMs);
  announce(core, LEDGER.wake, record, 0);
}

/** A record handed out becomes a lease until `deadlineMs`, fenced by `sequence`. @hot */
export function leaseRecord(
  core: Core,
  record: number,
  deadlineMs: number,
  sequence: number,
): void {
  const { store } = core;
  assertRoom(timelinePush(core.deadlines, record, deadlineMs, sequence));
  book(core, LEDGER.lease, record); // it has left its lane already
  setRecordDeliveries(store, record, recordDeliveries(store, record) + 1);
  announce(core, LEDGER.lease, record, 0);
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
  const value = finishedWord(core, record);
  if (again === undefined || !ownsIdentity(core, record)) {
    change(core, LEDGER.done, record, 0);
    announce(core, LEDGER.done, record, value);
    retire(core, record, value);
    return;
  }
  change(core, LEDGER.rest, record, 0);
  // Without a page for it what was learned of the page goes, and the page comes again all the same.
  const kept = keepPeriod(core, record, again.code) || record;
  assertRoom(heapPush(core.resting, kept, again.atMs, sequenceOf(core, kept)));
  announce(core, LEDGER.rest, kept, value);
}

/** Finished, and it rests for good with its data, as one that was put. It owns its identity. @hot */
export function finishKeptRecord(core: Core, record: number): void {
  const value = finishedWord(core, record);
  core.hasKept = true;
  change(core, LEDGER.rest, record, 0);
  assertRoom(heapPush(core.resting, record, NEVER_MS, sequenceOf(core, record)));
  announce(core, LEDGER.rest, record, value);
}

/** A resting record's time has come. All attempts and deliveries are before it. */
export function returnResting(core: Core, record: number, nowMs: number): void {
  const { store } = core;
  change(core, LEDGER.comeAgain, record, nowMs);
  setRecordAttempt(store, record, 1);
  setRecordDeliveries(store, record, 0);
  enterPending(core, record, nowMs);
  setRecordAgain(store, record);
  announce(core, LEDGER.comeAgain, record, 0);
}

/**
 * A record that rests does not come again by itself, or one that has come again makes way for one that was pushed: it is done, and the
 * last word on its identity is what stays.
 */
export function endAgain(core: Core, record: number, nowMs: number): void {
  const value = finishedWord(core, record);
  change(core, LEDGER.stay, record, nowMs);
  announce(core, LEDGER.stay, record, value);
  retire(core, record, value);
}

/** A pending record was put as finished: it goes, or rests for good with its data. */
export function finishPut(core: Core, record: number, isKept: boolean, nowMs: number): void {
  const value = finishedWord(core, record);
  if (!isKept) {
    change(core, LEDGER.finish, record, nowMs);
    announce(core, LEDGER.finish, record, value);
    retire(core, record, value);
    return;
  }
  core.hasKept = true;
  change(core, LEDGER.keep, record, nowMs);
  assertRoom(heapPush(core.resting, record, NEVER_MS, sequenceOf(core, record)));
  announce(core, LEDGER.keep, record, value);
}

/** A record that is not leased makes way for one that is put; its identity was forgotten, and logged, before. */
export function replaceRecord(core: Core, record: number, nowMs: number): void {
  if (recordState(core.store, record) === RECORD_FAILED) core.sink.failed?.(record, undefined);
  change(core, LEDGER.replace, record, nowMs);
  freeRecord(core, record);
}

/** A failed or resting record is forgotten with its generation. */
export function forgetRecord(core: Core, record: number): void {
  if (recordState(core.store, record) === RECORD_FAILED) core.sink.failed?.(record, undefined);
  change(core, LEDGER.forget, record, 0);
  freeRecord(core, record);
}

/** Back to its place. */
export function returnRecord(
  core: Core,
  record: number,
  entry: typeof LEDGER.release | typeof LEDGER.expire,
  nowMs: number,
): void {
  change(core, entry, record, nowMs);
  stand(core, record, nowMs);
  announce(core, entry, record, 0);
}

/** Another attempt: now, at a new place, or waiting until `dueMs`. */
export function retryRecord(
  core: Core,
  record: number,
  dueMs: number,
  { nowMs, reason }: { nowMs: number; reason: string | undefined },
): void {
  const entry = dueMs > nowMs ? LEDGER.retryLater : LEDGER.retry;
  change(core, entry, record, nowMs);
  countReason(core.reasons.retried, reason);
  if (entry === LEDGER.retryLater) enterWaiting(core, record, dueMs);
  else enterPending(core, record, nowMs);
  announce(core, entry, record, 0, reason);
}

/** No attempt is left, or the caller asked for it: the record stays until requeued or forgotten. */
export function failRecord(core: Core, record: number, reason: string, nowMs?: number): void {
  const { store } = core;
  if (recordState(store, record) !== RECORD_LEASED) {
    setRecordAttempt(store, record, recordAttempt(store, record) - 1); // that one is not made
  }
  change(core, LEDGER.fail, record, nowMs ?? 0);
  setRecordKey(store, record, ++core.sequence);
  laneInsert(store.region, core.failedLane, record);
  countReason(core.reasons.failed, reason);
  core.sink.failed?.(record, reason);
  announce(core, LEDGER.fail, record, 0, reason);
}

/** A pending or waiting record waits until `dueMs`. */
export function deferRecord(core: Core, record: number, dueMs: number, nowMs: number): void {
  change(core, LEDGER.delay, record, nowMs);
  enterWaiting(core, record, dueMs);
  announce(core, LEDGER.delay, record, 0);
}

/** A failed record is asked for again. */
export function requeueRecord(core: Core, record: number, nowMs: number): void {
  core.sink.failed?.(record, undefined);
  change(core, LEDGER.requeue, record, nowMs);
  enterPending(core, record, nowMs);
  announce(core, LEDGER.requeue, record, 0);
}

/** A pending, waiting or resting record goes; its identity stays, so that a trap's links do not come back. */
export function removeRecord(core: Core, record: number, nowMs: number): void {
  const { store } = core;
  const isResting = recordState(store, record) === RECORD_RESTING;
  const made = recordAttempt(store, record) - (isResting ? 0 : 1);
  const value = finishedValue(recordDepth(store, record), Math.min(made, 1023), true);
  change(core, LEDGER.remove, record, nowMs);
  announce(core, LEDGER.remove, record, value);
  retire(core, record, value);
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

/** The handle of a record's host; 0: that of a lone record, which is not made yet. */
export function hostOf({ store }: Core, record: number): number {
  if (isLone(store, record)) return 0;
  return word(store, recordQueue(store, record), QUEUE_HOST_WORD);
}

/** The record leaves the place of its state, and the row is booked. It stands nowhere then. @hot */
function change(core: Core, entry: Transition, record: number, nowMs: number): void {
  const { store } = core;
  switch (recordState(store, record)) {
    case RECORD_LEASED:
      timelineRemove(core.deadlines, record);
      break;
    case RECORD_WAITING:
      heapRemove(core.waiting, record);
      break;
    case RECORD_RESTING:
      heapRemove(core.resting, record);
      break;
    case RECORD_FAILED:
      laneRemove(store.region, core.failedLane, record);
      break;
    default:
      unscheduleRecord(core, record, nowMs);
  }
  book(core, entry, record);
}

/** A new place, behind all others of its order. */
function enterPending(core: Core, record: number, nowMs: number): void {
  setRecordKey(core.store, record, orderKey(core, record, ++core.sequence));
  stand(core, record, nowMs);
}

/** The place that its key names. */
function stand(core: Core, record: number, nowMs: number): void {
  if ((ruleFlags(core, ruleQueueOf(core, record)) & RULE_GONE) !== 0) core.orphans.push(record);
  scheduleRecord(core, record, nowMs);
}

/** The sequence it has stays, as the tie among those that become due at once. */
function enterWaiting(core: Core, record: number, dueMs: number): void {
  assertRoom(heapPush(core.waiting, record, dueMs, sequenceOf(core, record)));
  if ((ruleFlags(core, ruleQueueOf(core, record)) & RULE_GONE) !== 0) core.orphans.push(record);
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
  return sequenceOfKey(orderKeyOf(core.store, record));
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

/** Frees a record with all that it refers to; it is in no lane or heap. */
export function freeRecord(core: Core, record: number): void {
  const { store } = core;
  const host = hostOf(core, record);
  if ((recordFlags(store, record) & RECORD_FLAG_VOLATILE) !== 0) core.volatileData.delete(record);
  recordFree(store, record);
  hostRelease(core.hosts, host);
}

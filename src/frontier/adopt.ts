/**
 * Adoption: a pending or waiting record whose rule has gone is matched again and goes on under its new rule, at its old
 * place; one that no rule takes fails with reason `no-rule`. Its key is never recomputed.
 *
 *   rule gone ─▶ its id is in the set again? that rule : the rule that its URL matches ─▶ moved │ failed no-rule
 *
 *   I1  A record keeps priority, sequence, attempts, due time and identity.
 *   I2  Records that failed for want of a rule belong to the rule `core.none`, until they are requeued.
 */
import { memoryFull } from "../base/errors.ts";
import { heapKeyOf, heapPush, heapRemove, heapTieOf } from "../structures/heap.ts";
import { hostOfName, hostRelease, hostRetain, QUEUE_HOST_WORD } from "../structures/host-table.ts";
import { queueOf } from "../structures/host-queue.ts";
import {
  RECORD_FLAG_NO_IDENTITY,
  RECORD_FLAG_WHOLE,
  RECORD_PENDING,
  RECORD_WAITING,
  recordFlags,
  recordHi,
  recordLo,
  recordQueue,
  recordRemake,
  recordState,
  setRecordKey,
  setRecordQueue,
} from "../structures/record.ts";
import { recordUrl } from "../structures/scratch.ts";
import { seenFind, seenSet } from "../structures/seen-set.ts";
import { word } from "../structures/store.ts";
import { type Core, ruleOf, ruleOfId, ruleOfQueue, type RuleState } from "./core.ts";
import { LOG_MOVED } from "./log.ts";
import { matchUrl, NO_RULE, planOf, soleOfPlan } from "../url/matcher.ts";
import { scheduleRecord, unscheduleRecord } from "./schedule.ts";
import { keepSuccessor, type Successors, successorQueue } from "./successors.ts";
import { failRecord, orderKey, sequenceOf } from "./transition.ts";
import { unitOf } from "./unit.ts";
import { hostOfUrl } from "../url/host-of-url.ts";

/** Unmatched URLs that are told by name; all of them are counted. */
const UNMATCHED_MAX = 1_000;

/**
 * Finds a record of a gone rule its new one; false: without a look at its URL. The record may stand under another handle
 * afterwards. `successors`: what the slice under way has found out.
 */
export function adoptRecord(
  core: Core,
  record: number,
  nowMs: number,
  successors?: Successors,
): boolean {
  const before = recordQueue(core.store, record);
  const queue = successors === undefined ? 0 : successorQueue(successors, before);
  if (core.sweep !== undefined) core.sweep.moved++;
  if (queue === 0) {
    adoptUrl(core, record, nowMs, successors);
    return true;
  }
  const move = { from: ruleOfQueue(core, before), to: ruleOfQueue(core, queue), queue, url: "" };
  moveRecord(core, record, move, nowMs);
  return false;
}

/** The same by its URL. */
function adoptUrl(core: Core, record: number, nowMs: number, successors?: Successors): void {
  const { store, sweep } = core;
  const from = ruleOf(core, record);
  const before = recordQueue(store, record);
  const host = word(store, before, QUEUE_HOST_WORD);
  const url = recordUrl(core.scratch, record);
  const to = successorOf(core, from, url);
  if (to !== undefined) {
    moveRecord(core, record, { from, to, queue: 0, url }, nowMs);
    if (successors === undefined || !isOfHost(core, from, to, url)) return;
    keepSuccessor(successors, before, queueAt(core, host, to));
    return;
  }
  failRecord(core, record, "no-rule", nowMs);
  if (sweep !== undefined) {
    sweep.unmatchedCount++;
    if (sweep.unmatched.length < UNMATCHED_MAX) sweep.unmatched.push(url);
  }
  if (from === core.none) return;
  from.failed--;
  core.none.failed++;
  setRecordQueue(store, record, queueAt(core, host, core.none));
}

/** Whether all that is pending under `from` on the host of this URL goes on under `to` there: the host alone decides. */
function isOfHost({ matcher }: Core, from: RuleState, to: RuleState, url: string): boolean {
  if (from.policy.by !== "host" || to.policy.by !== "host") return false;
  if (from.id === to.id) return true;
  return soleOfPlan(matcher, planOf(matcher, hostOfUrl(url))) !== undefined;
}

/** Records that came back to a rule that has gone meanwhile. */
export function adoptOrphans(core: Core, nowMs: number): void {
  const { orphans, store } = core;
  for (let at = 0; at < orphans.length; at++) {
    const record = orphans[at] as number;
    const state = recordState(store, record);
    // It may have failed, or been removed, meanwhile.
    if (state !== RECORD_PENDING && state !== RECORD_WAITING) continue;
    if (ruleOf(core, record).isGone) adoptRecord(core, record, nowMs);
  }
  orphans.length = 0;
}

/** The rule that the records of a gone one go on under: that of its id, else the one that takes the URL. */
export function successorOf(core: Core, from: RuleState, url: string): RuleState | undefined {
  const same = ruleOfId(core, from.id);
  if (same !== undefined) return same;
  const order = matchUrl(core.matcher, url, hostOfUrl(url));
  return order === NO_RULE ? undefined : core.active[order];
}

interface Move {
  readonly from: RuleState;
  readonly to: RuleState;
  /** The queue that it goes to, on the same host; 0: its URL says which. */
  readonly queue: number;
  readonly url: string;
}

function moveRecord(core: Core, record: number, move: Move, nowMs: number): void {
  const { from, to } = move;
  if (recordState(core.store, record) === RECORD_WAITING) {
    const dueMs = heapKeyOf(core.waiting, record);
    const tie = heapTieOf(core.waiting, record);
    heapRemove(core.waiting, record);
    const moved = rehome(core, record, move);
    if (!heapPush(core.waiting, moved, dueMs, tie)) throw memoryFull();
    from.waiting--;
    to.waiting++;
    core.log?.record(LOG_MOVED, moved, 0);
    return;
  }
  unscheduleRecord(core, record, nowMs);
  const moved = rehome(core, record, move);
  from.pending--;
  to.pending++;
  setRecordKey(core.store, moved, orderKey(core, moved, sequenceOf(core, moved)));
  scheduleRecord(core, moved, nowMs);
  core.log?.record(LOG_MOVED, moved, 0);
}

/** Names the record's queue under its new rule, remade where its URL no longer begins with its unit. */
function rehome(core: Core, record: number, { to, queue, url }: Move): number {
  const { hosts, store } = core;
  if (queue !== 0) {
    setRecordQueue(store, record, queue);
    return record;
  }
  const before = word(store, recordQueue(store, record), QUEUE_HOST_WORD);
  const unit = unitOf(core, to.policy, url, hostOfUrl(url));
  const host = hostOfName(hosts, unit);
  if (host === 0) throw memoryFull();
  let moved = record;
  const isWhole = (recordFlags(store, record) & RECORD_FLAG_WHOLE) !== 0;
  if (host !== before) {
    if (!isWhole) moved = remake(core, record, url);
    hostRetain(hosts, host);
    hostRelease(hosts, before);
  }
  setRecordQueue(store, moved, queueAt(core, host, to));
  return moved;
}

function remake(core: Core, record: number, url: string): number {
  const { seen, store, volatileData } = core;
  const made = recordRemake(store, record, url);
  if (made === 0) throw memoryFull();
  if ((recordFlags(store, made) & RECORD_FLAG_NO_IDENTITY) === 0) {
    const lo = recordLo(store, made);
    const hi = recordHi(store, made);
    if (seenFind(seen, lo, hi) === record) seenSet(seen, lo, hi, made);
  }
  if (volatileData.has(record)) {
    volatileData.set(made, volatileData.get(record));
    volatileData.delete(record);
  }
  return made;
}

function queueAt(core: Core, host: number, rule: RuleState): number {
  const queue = queueOf(core.hosts, host, rule.handle);
  if (queue === 0) throw memoryFull();
  return queue;
}

/**
 * Rematching: a pending or waiting record whose rule has gone is matched again and goes on under its new rule, at its old
 * place; one that no rule takes fails with reason `no-rule`. Its key is never recomputed.
 *
 *   rule gone ─▶ its id is in the set again? that rule : the rule that its URL matches ─▶ moved │ failed no-rule
 *
 *   I1  A record keeps priority, sequence, attempts, due time and identity.
 *   I2  Records that failed for want of a rule belong to the rule `core.none`, until they are requeued.
 */
import { isMemoryFull, memoryFull } from "../../base/errors.ts";
import { heapKeyOf, heapPush, heapRemove, heapTieOf } from "../../structures/ordering/heap.ts";
import {
  hostOfName,
  hostRelease,
  hostRetain,
  QUEUE_HOST_WORD,
  openLone,
} from "../../structures/hosts/host-table.ts";
import { queueOf } from "../../structures/hosts/host-queue.ts";
import {
  RECORD_FLAG_NO_IDENTITY,
  RECORD_FLAG_WHOLE,
  RECORD_FAILED,
  RECORD_PENDING,
  RECORD_WAITING,
  recordFlags,
  recordHi,
  recordLo,
  recordQueue,
  recordRemake,
  remakeGive,
  remakeTake,
  recordState,
  setRecordKey,
  setRecordQueue,
  isLone,
} from "../../structures/records/record.ts";
import { recordUrl } from "../../structures/records/kernel-scratch.ts";
import { seenFind, seenSet } from "../../structures/seen/seen-set.ts";
import { word } from "../../structures/store.ts";
import { type Core, ruleOf, ruleOfId, ruleOfQueue, type RuleState } from "../core.ts";
import { matchUrl, NO_RULE, planOf, soleOfPlan } from "../../url/matching/rule-matcher.ts";
import { assertRoom, hasRoom, needRoom } from "../records/memory-reserve.ts";
import { scheduleRecord, unscheduleRecord } from "../scheduling/schedule.ts";
import { keepSuccessor, type Successors, successorQueue } from "./successor-queues.ts";
import { failRecord, orderKey, sequenceOf } from "../records/transitions.ts";
import { unitOf } from "../politeness/unit-name.ts";
import { hostOfUrl } from "../../url/parsing/host-of-url.ts";
import { announce, bookMove, LEDGER } from "../records/ledger.ts";

/** Unmatched URLs that are reported by name; all of them are counted. */
const UNMATCHED_MAX = 1_000;

/**
 * Finds the new rule of a record whose rule was removed; false: its URL was not needed for it. The record may stand under another handle
 * afterwards. `successors`: what the slice under way has found out. Throws MEMORY_FULL with nothing changed.
 */
export function rematchRecord(
  core: Core,
  record: number,
  nowMs: number,
  successors?: Successors,
): boolean {
  if (isLone(core.store, record)) openLone(core.hosts, record);
  const before = recordQueue(core.store, record);
  // Its unit is no sign of its rule, nor of that of others there.
  const shared = core.hasOwnUnits && core.ownUnitOf(record) !== undefined ? undefined : successors;
  const queue = shared === undefined ? 0 : successorQueue(shared, before);
  if (queue === 0) rematchUrl(core, record, nowMs, shared);
  else {
    const move = { from: ruleOfQueue(core, before), to: ruleOfQueue(core, queue), queue, url: "" };
    moveRecord(core, record, move, nowMs);
  }
  if (core.sweep !== undefined) core.sweep.moved++;
  return queue === 0;
}

/** The same by its URL. */
function rematchUrl(core: Core, record: number, nowMs: number, successors?: Successors): void {
  const { store, sweep } = core;
  const from = ruleOf(core, record);
  const before = recordQueue(store, record);
  const host = word(store, before, QUEUE_HOST_WORD);
  const url = recordUrl(core.scratch, record);
  const to = successorOf(core, from, url);
  if (to !== undefined) {
    moveRecord(core, record, { from, to, queue: 0, url }, nowMs);
    if (successors === undefined || !isOfHost(core, from, to, url)) return;
    const queue = queueOf(core.hosts, host, to.handle);
    if (queue !== 0) keepSuccessor(successors, before, queue);
    return;
  }
  const nowhere = queueAt(core, host, core.none);
  needRoom(core);
  failRecord(core, record, "no-rule", nowMs);
  if (sweep !== undefined) {
    sweep.unmatchedCount++;
    if (sweep.unmatched.length < UNMATCHED_MAX) sweep.unmatched.push(url);
  }
  if (from === core.none) return;
  bookMove(core, from, core.none, RECORD_FAILED);
  setRecordQueue(store, record, nowhere);
}

/** Whether all that is pending under `from` on the host of this URL goes on under `to` there: the host alone decides. */
function isOfHost({ matcher }: Core, from: RuleState, to: RuleState, url: string): boolean {
  if (from.policy.by !== "host" || to.policy.by !== "host") return false;
  if (from.id === to.id) return true;
  return soleOfPlan(matcher, planOf(matcher, hostOfUrl(url))) !== undefined;
}

/** Records that came back to a rule that has gone meanwhile. Where there is no room for one, a sweep finds those that are left. */
export function rematchOrphans(core: Core, nowMs: number): void {
  const { orphans, store } = core;
  try {
    for (let at = 0; at < orphans.length; at++) {
      const record = orphans[at] as number;
      const state = recordState(store, record);
      // It may have failed, or been removed, meanwhile.
      if (state !== RECORD_PENDING && state !== RECORD_WAITING) continue;
      if (ruleOf(core, record).isGone) rematchRecord(core, record, nowMs);
    }
  } catch (error) {
    if (!isMemoryFull(error)) throw error;
    sweepAgain(core);
  } finally {
    orphans.length = 0;
  }
}

/** The last pass of the sweep once more, as soon as there is time for it. */
function sweepAgain({ rules, sweep }: Core): void {
  if (sweep === undefined || !sweep.isDone) return;
  sweep.isDone = false;
  sweep.phase = "gone";
  sweep.rulesLeft = rules.length;
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
  /** The queue that it goes to, on the same host; 0: its URL decides which. */
  readonly queue: number;
  readonly url: string;
}

/** Where a record goes on, and the memory for it where it has to be made anew; 0: it need not be. */
interface Home {
  readonly queue: number;
  readonly host: number;
  readonly made: number;
}

function moveRecord(core: Core, record: number, move: Move, nowMs: number): void {
  const { from, to } = move;
  const home = homeOf(core, record, move);
  if (!hasRoom(core)) {
    if (home.made !== 0) remakeGive(core.store, record, move.url, home.made);
    throw memoryFull();
  }
  if (recordState(core.store, record) === RECORD_WAITING) {
    const dueMs = heapKeyOf(core.waiting, record);
    const tie = heapTieOf(core.waiting, record);
    heapRemove(core.waiting, record);
    const moved = moveQueued(core, record, move, home);
    assertRoom(heapPush(core.waiting, moved, dueMs, tie));
    bookMove(core, from, to, RECORD_WAITING);
    announce(core, LEDGER.moveWaiting, moved, 0);
    return;
  }
  unscheduleRecord(core, record, nowMs);
  const moved = moveQueued(core, record, move, home);
  bookMove(core, from, to, RECORD_PENDING);
  setRecordKey(core.store, moved, orderKey(core, moved, sequenceOf(core, moved)));
  scheduleRecord(core, moved, nowMs);
  announce(core, LEDGER.movePending, moved, 0);
}

/** Finds, and makes where it is missing, all that the record's new place needs. */
function homeOf(core: Core, record: number, { to, queue, url }: Move): Home {
  const { hosts, store } = core;
  const before = word(store, recordQueue(store, record), QUEUE_HOST_WORD);
  if (queue !== 0) return { queue, host: before, made: 0 };
  const own = core.hasOwnUnits ? core.ownUnitOf(record) : undefined;
  const host = hostOfName(hosts, own ?? unitOf(core, to.policy, url, hostOfUrl(url)));
  if (host === 0) throw memoryFull();
  const stand = queueAt(core, host, to);
  const isWhole = (recordFlags(store, record) & RECORD_FLAG_WHOLE) !== 0;
  if (host === before || isWhole) return { queue: stand, host, made: 0 };
  const made = remakeTake(store, record, url);
  if (made === 0) throw memoryFull();
  return { queue: stand, host, made };
}

/** Names the record's queue under its new rule, remade where its URL no longer begins with its unit. */
function moveQueued(
  core: Core,
  record: number,
  { url }: Move,
  { queue, host, made }: Home,
): number {
  const { hosts, store } = core;
  const before = word(store, recordQueue(store, record), QUEUE_HOST_WORD);
  if (made !== 0) remake(core, record, url, made);
  if (host !== before) {
    hostRetain(hosts, host);
    hostRelease(hosts, before);
  }
  const moved = made || record;
  setRecordQueue(store, moved, queue);
  return moved;
}

function remake(core: Core, record: number, url: string, made: number): void {
  const { seen, store, volatileData } = core;
  recordRemake(store, record, url, made);
  if ((recordFlags(store, made) & RECORD_FLAG_NO_IDENTITY) === 0) {
    const lo = recordLo(store, made);
    const hi = recordHi(store, made);
    if (seenFind(seen, lo, hi) === record) seenSet(seen, lo, hi, made);
  }
  if (volatileData.has(record)) {
    volatileData.set(made, volatileData.get(record));
    volatileData.delete(record);
  }
}

function queueAt(core: Core, host: number, rule: RuleState): number {
  const queue = queueOf(core.hosts, host, rule.handle);
  if (queue === 0) throw memoryFull();
  return queue;
}

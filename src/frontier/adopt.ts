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
import { type Core, ruleOf, ruleOfId, type RuleState } from "./core.ts";
import { LOG_MOVED } from "./log.ts";
import { matchUrl, NO_RULE } from "../url/matcher.ts";
import { scheduleRecord, unscheduleRecord } from "./schedule.ts";
import { failRecord, orderKey, sequenceOf } from "./transition.ts";
import { unitOf } from "./unit.ts";
import { hostOfUrl } from "./walk.ts";

/** Unmatched URLs that are told by name; all of them are counted. */
export const UNMATCHED_MAX = 1_000;

/** Finds a record of a gone rule its new one. The record may stand under another handle afterwards. */
export function adoptRecord(core: Core, record: number, nowMs: number): void {
  const from = ruleOf(core, record);
  const url = recordUrl(core.scratch, record);
  const to = successorOf(core, from, url);
  if (core.sweep !== undefined) core.sweep.moved++;
  if (to !== undefined) {
    moveRecord(core, record, { from, to, url }, nowMs);
    return;
  }
  failRecord(core, record, "no-rule", nowMs);
  if (core.sweep !== undefined) {
    core.sweep.unmatchedCount++;
    if (core.sweep.unmatched.length < UNMATCHED_MAX) core.sweep.unmatched.push(url);
  }
  if (from === core.none) return;
  from.failed--;
  core.none.failed++;
  const host = word(core.store, recordQueue(core.store, record), QUEUE_HOST_WORD);
  setRecordQueue(core.store, record, queueAt(core, host, core.none));
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
function rehome(core: Core, record: number, { to, url }: Move): number {
  const { hosts, store } = core;
  const before = word(store, recordQueue(store, record), QUEUE_HOST_WORD);
  const unit = unitOf(to.policy, url, hostOfUrl(url));
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

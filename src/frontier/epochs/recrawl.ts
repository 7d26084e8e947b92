/**
 * Recrawl: records that come again by themselves, under a rule whose epoch is `every` or `adaptive` (docs/decisions/0007).
 *
 *   done ──▶ resting ──its time──▶ pending (again) ──lease──▶ …       no push is needed
 *               │                    │
 *               └── a push after its time, or before its next hand-out, takes its place, with its period: accepted
 *   failed ── a push requeues it at once: accepted
 *
 *   sighted while      the push is                                row N13 of the ancestors
 *   pending, waiting   duplicate                                  it stands in line already
 *   leased             duplicate, until its deadline              one timeout, the lease's
 *   done, resting      duplicate before its time, then accepted   after the interval
 *   failed             accepted                                   at once
 *   removed            duplicate                                  a trap stays shut
 *
 *   I1  The verdict of a push depends on the time and on what was handed out, never on what was read meanwhile.
 */
import {
  type Heap,
  heapCount,
  heapKeyOf,
  heapPeekHandle,
  heapPeekKey,
  heapTieOf,
} from "../../structures/ordering/heap.ts";
import {
  blobPeriod,
  isRecordAgain,
  RECORD_FAILED,
  RECORD_PENDING,
  RECORD_RESTING,
  recordBlob,
  recordHi,
  recordLo,
  recordState,
} from "../../structures/records/record.ts";
import { recordUrl } from "../../structures/records/kernel-scratch.ts";
import { successorOf } from "../rules/rematch-records.ts";
import { seenFind } from "../../structures/seen/seen-set.ts";
import { nextPeriod, PERIOD_NEVER, periodCode, periodOf } from "./adaptive-period.ts";
import { RULE_AGAIN } from "../../structures/hosts/host-table.ts";
import { type Core, ruleOf } from "../core.ts";
import type { FrontierPolicy } from "../rules/rule-policy.ts";
import { isInMemory } from "../scheduling/spill-control.ts";
import { hasRoom, needRoom } from "../records/memory-reserve.ts";
import { finishedView, isFinishedValue } from "../records/finished-word.ts";
import { type Again, endAgain, forgetRecord, returnResting } from "../records/transitions.ts";

/** Whether records under a policy keep a period of their own, for which they need a blob. */
export function keepsPeriod({ epoch }: FrontierPolicy): boolean {
  return epoch.kind === "again" && epoch.minMs < epoch.maxMs;
}

/** When a record that is done now comes again; undefined: not by itself. */
export function againAt(
  core: Core,
  record: number,
  changed: boolean | undefined,
  nowMs: number,
): Again | undefined {
  if ((core.flagsSeen & RULE_AGAIN) === 0) return undefined;
  const { policy } = ruleOf(core, record);
  const { epoch } = policy;
  if (epoch.kind !== "again") return undefined;
  const blob = recordBlob(core.store, record);
  const code = blob === 0 ? 0 : blobPeriod(core.store, blob);
  if (code === PERIOD_NEVER) return undefined;
  if (!keepsPeriod(policy)) return { atMs: nowMs + epoch.minMs, code };
  const beforeMs = periodOf(code);
  const periodMs = Math.round(nextPeriod(beforeMs, changed, epoch));
  return { atMs: nowMs + periodMs, code: periodCode(periodMs) };
}

/**
 * Every resting record whose time has come, and comes before `end`, stands in line again, if its rule still wants it; false: there is no
 * room for one of them yet.
 */
export function wakeResting(
  core: Core,
  nowMs: number,
  end?: { key: number; tie: number },
): boolean {
  const { resting } = core;
  while (heapCount(resting) > 0 && heapPeekKey(resting) <= nowMs) {
    const record = heapPeekHandle(resting);
    if (end !== undefined && !isBefore(resting, record, end)) return true;
    const rule = ruleOf(core, record);
    const standing = rule.isGone ? successorOf(core, rule, recordUrl(core.scratch, record)) : rule;
    if (!hasRoom(core)) return false;
    if (standing?.policy.epoch.kind === "again") returnResting(core, record, nowMs);
    else endAgain(core, record, nowMs);
  }
  return true;
}

function isBefore(heap: Heap, item: number, end: { key: number; tie: number }): boolean {
  const key = heapPeekKey(heap);
  return key < end.key || (key === end.key && heapTieOf(heap, item) < end.tie);
}

/** A record that rests stands in line at once; false: the identity has none. */
export function comeBackNow(core: Core, lo: number, hi: number, nowMs: number): boolean {
  const value = seenFind(core.seen, lo, hi);
  if (!isInMemory(value)) return false;
  if (recordState(core.store, value) !== RECORD_RESTING) return false;
  needRoom(core);
  returnResting(core, value, nowMs);
  return true;
}

/** Whether a push of a known identity may be admitted anew under a rule that re-crawls. */
export function mayComeAgain(core: Core, known: number, nowMs: number): boolean {
  // Finished before its rule re-crawled: the time is unknown, so that it is over.
  if (isFinishedValue(known)) return !finishedView(known).isRemoved;
  switch (recordState(core.store, known)) {
    case RECORD_RESTING:
      return heapKeyOf(core.resting, known) <= nowMs;
    case RECORD_PENDING:
      return isRecordAgain(core.store, known);
    default:
      return recordState(core.store, known) === RECORD_FAILED;
  }
}

/** What was learned of a page, for the record that takes the place of this one: a link to it does not show how it changes. */
export function periodBefore({ store }: Core, known: number): number {
  const blob = isFinishedValue(known) ? 0 : recordBlob(store, known);
  return blob === 0 ? 0 : blobPeriod(store, blob);
}

/** The record that a push takes the place of goes; what it was is counted as it was. */
export function makeWay(core: Core, known: number, nowMs: number): void {
  switch (recordState(core.store, known)) {
    case RECORD_RESTING:
    case RECORD_PENDING:
      endAgain(core, known, nowMs);
      return;
    default:
      core.log?.identityForgotten(recordLo(core.store, known), recordHi(core.store, known));
      forgetRecord(core, known);
  }
}

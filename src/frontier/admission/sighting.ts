/**
 * Sighting: a row whose identity is known. It is a duplicate, but a shallower one lowers the depth of a record that
 * still has its visit before it, so that a subtree is never cut short by the longer way that was found first.
 */
import {
  RECORD_PENDING,
  RECORD_WAITING,
  recordDepth,
  recordPriority,
  recordState,
  setRecordDepth,
  setRecordPriority,
} from "../../structures/records/record.ts";
import { seenFind } from "../../structures/seen/seen-set.ts";
import { wordAt } from "../../structures/store.ts";
import { hashesOffset } from "../../url/batch/row-fields.ts";
import type { BatchAdmission } from "./admission-input.ts";
import { clampPriority, type Core, ruleOf } from "../core.ts";
import { LOG_CHANGED } from "../records/transition-log.ts";
import { hasRoom } from "../records/memory-reserve.ts";
import {
  isSpilledDeeper,
  lowerSpilled,
  placeOfValue,
  tryBehind,
} from "../scheduling/spill-control.ts";
import { scheduleRecord, unscheduleRecord } from "../scheduling/schedule.ts";

/**
 * Lowers the depth of the pending or waiting record behind a row's known value, if the sighting is shallower; false, with nothing changed:
 * there is no room for its new place.
 */
export function lowerDepth(
  core: Core,
  { rows, depth, nowMs }: Pick<BatchAdmission, "rows" | "depth" | "nowMs">,
  row: number,
  value: number,
): boolean {
  if (placeOfValue(value) === undefined) return sightRecord(core, value, depth, nowMs);
  const at = (hashesOffset(rows) >> 2) + row * 2;
  return sightSpilled(core, wordAt(core.store, at), wordAt(core.store, at + 1), depth, nowMs);
}

/** The live record behind an identity was sighted, wherever it is; false as above. */
export function sightIdentity(
  core: Core,
  { value, lo, hi }: { value: number; lo: number; hi: number },
  depth: number,
  nowMs: number,
): boolean {
  if (placeOfValue(value) !== undefined) return sightSpilled(core, lo, hi, depth, nowMs);
  return sightRecord(core, value, depth, nowMs);
}

/** The same for a record that is known. */
function sightRecord(core: Core, record: number, depth: number, nowMs: number): boolean {
  const { store } = core;
  const depthBefore = recordDepth(store, record);
  if (depth >= depthBefore) return true;
  const state = recordState(store, record);
  if (state !== RECORD_PENDING && state !== RECORD_WAITING) return true;
  const { depthPriority } = ruleOf(core, record).policy;
  const gained = (depthBefore - depth) * depthPriority;
  if (gained !== 0 && !hasRoom(core)) return false;
  setRecordDepth(store, record, depth);
  if (gained === 0) core.log?.record(LOG_CHANGED, record, 0);
  else movePriority(core, record, clampPriority(recordPriority(store, record) + gained), nowMs);
  return true;
}

/**
 * A shallower sighting of a spilled record: its depth is noted beside its place. Where its priority hangs on the depth, a
 * log must have it, or the place may be in the cold tier, the record comes back into memory first. @hot
 */
function sightSpilled(core: Core, lo: number, hi: number, depth: number, nowMs: number): boolean {
  const value = seenFind(core.seen, lo, hi);
  if (placeOfValue(value) === undefined) return true;
  if (!isSpilledDeeper(value, depth)) return true;
  if (!hangsOnDepth(core) && lowerSpilled(core, value, lo, hi, depth)) return true;
  const record = tryBehind(core, value, lo, hi);
  if (record < 0) return false;
  return record === 0 || sightRecord(core, record, depth, nowMs);
}

/** Whether any rule's priorities hang on depth. */
function hangsOnDepth(core: Core): boolean {
  return core.rules.some(({ policy }) => policy.depthPriority !== 0);
}

/** Changes the priority of a pending or waiting record; its sequence, and so its place, stays. The caller has asked for the room. */
export function movePriority(core: Core, record: number, priority: number, nowMs: number): void {
  const { store } = core;
  if (recordState(store, record) === RECORD_WAITING) {
    setRecordPriority(store, record, priority);
  } else {
    unscheduleRecord(core, record, nowMs);
    setRecordPriority(store, record, priority);
    scheduleRecord(core, record, nowMs);
  }
  core.log?.record(LOG_CHANGED, record, 0);
}

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
} from "../structures/record.ts";
import { TABLE_CLAIMED } from "../structures/fingerprint-table.ts";
import { seenFind } from "../structures/seen-set.ts";
import { wordAt } from "../structures/store.ts";
import { hashesOffset, type Rows } from "../url/rows.ts";
import { clampPriority, type Core, ruleOf } from "./core.ts";
import { LOG_CHANGED } from "./log.ts";
import { scheduleRecord, unscheduleRecord } from "./schedule.ts";
import { isFinishedValue } from "./transition.ts";

/** Lowers the depth of the pending or waiting record behind a sighting, if the sighting is shallower. @hot */
export function lowerDepth(
  core: Core,
  rows: Rows,
  row: number,
  value: number,
  depth: number,
  nowMs: number,
): void {
  let known = value;
  if (known === TABLE_CLAIMED) {
    const hash = (hashesOffset(rows) >> 2) + row * 2; // an earlier row of this batch
    known = seenFind(core.seen, wordAt(core.store, hash), wordAt(core.store, hash + 1));
  }
  if (known === 0 || isFinishedValue(known)) return;
  sightRecord(core, known, depth, nowMs);
}

/** The same for a record that is known. */
export function sightRecord(core: Core, record: number, depth: number, nowMs: number): void {
  const { store } = core;
  const depthBefore = recordDepth(store, record);
  if (depth >= depthBefore) return;
  const state = recordState(store, record);
  if (state !== RECORD_PENDING && state !== RECORD_WAITING) return;
  setRecordDepth(store, record, depth);
  const { depthPriority } = ruleOf(core, record).policy;
  const gained = (depthBefore - depth) * depthPriority;
  if (gained === 0) core.log?.record(LOG_CHANGED, record, 0);
  else movePriority(core, record, clampPriority(recordPriority(store, record) + gained), nowMs);
}

/** Changes the priority of a pending or waiting record; its sequence, and so its place, stays. */
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

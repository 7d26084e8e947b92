/**
 * Steering: what a user changes by hand about records already in. Every change of state is transition.ts's.
 */
import {
  RECORD_PENDING,
  RECORD_WAITING,
  recordState,
  setRecordAttempt,
} from "../structures/record.ts";
import { hostNamed } from "../structures/host-table.ts";
import { seenFind } from "../structures/seen-set.ts";
import { adoptOrphans } from "./adopt.ts";
import type { Core } from "./core.ts";
import { movePriority } from "./sighting.ts";
import { recordBehind, takeSpilled } from "./spilling.ts";
import {
  deferRecord,
  isFinishedValue,
  removeRecord,
  requeueRecord,
  wakeEarly,
} from "./transition.ts";
import type { RecordState } from "./record-state.ts";
import { matches, noteRecords, type RecordFilter } from "./walk.ts";

/** The live record of an identity, in memory, or 0. */
export function liveRecord(core: Core, lo: number, hi: number): number {
  const value = seenFind(core.seen, lo, hi);
  return value === 0 || isFinishedValue(value) ? 0 : recordBehind(core, value, lo, hi);
}

interface RecordChange {
  priority: number | undefined;
  dueMs: number | undefined;
}

/** Changes a pending or waiting record in place; false when it is neither. */
export function updateRecord(
  core: Core,
  record: number,
  change: RecordChange,
  nowMs: number,
): boolean {
  const state = recordState(core.store, record);
  if (state !== RECORD_PENDING && state !== RECORD_WAITING) return false;
  if (change.priority !== undefined) movePriority(core, record, change.priority, nowMs);
  const { dueMs } = change;
  if (dueMs === undefined) return true;
  if (dueMs > nowMs) deferRecord(core, record, dueMs, nowMs);
  else if (state === RECORD_WAITING) wakeEarly(core, record, nowMs);
  return true;
}

/** Failed records that match become pending, with all attempts before them; how many. */
export function requeueFailed(core: Core, filter: RecordFilter, nowMs: number): number {
  const count = eachMatching(core, filter, ["failed"], (record) => {
    setRecordAttempt(core.store, record, 1);
    requeueRecord(core, record, nowMs);
  });
  adoptOrphans(core, nowMs);
  return count;
}

/** Pending and waiting records that match go, and those that would come again; how many. */
export function removeRecords(core: Core, filter: RecordFilter, nowMs: number): number {
  let spilled = 0;
  const remove = (record: number): void => {
    removeRecord(core, record, nowMs);
    spilled++;
  };
  takeSpilled(core, (record) => matches(core, record, filter), remove, unitOf(core, filter));
  const count = eachMatching(core, filter, ["pending", "waiting", "done"], (record) => {
    removeRecord(core, record, nowMs);
  });
  return spilled + count;
}

/** The one host that a filter can be about, where units are hosts; 0: there may be several. */
function unitOf(core: Core, { host }: RecordFilter): number {
  if (host === undefined || core.rules.some(({ policy }) => policy.by !== "host")) return 0;
  return hostNamed(core.hosts, host.toLowerCase());
}

function eachMatching(
  core: Core,
  filter: RecordFilter,
  states: RecordState[],
  act: (record: number) => void,
): number {
  const noted = noteRecords(core, new Set(states));
  let count = 0;
  for (let index = 0; index < noted.count; index++) {
    const record = noted.handles[index] as number;
    if (!matches(core, record, filter)) continue;
    act(record);
    count++;
  }
  return count;
}

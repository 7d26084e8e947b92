/**
 * What a user changes by hand about records already admitted. Every change of state is transitions.ts's.
 */
import { memoryFull } from "../../base/errors.ts";
import {
  RECORD_PENDING,
  RECORD_WAITING,
  recordState,
  setRecordAttempt,
} from "../../structures/records/record.ts";
import { hostNamed } from "../../structures/hosts/host-table.ts";
import { seenFind } from "../../structures/seen/seen-set.ts";
import { rematchOrphans } from "../rules/rematch-records.ts";
import type { Core } from "../core.ts";
import { hasRoom, hasSpare, needRoom, needSpare } from "./memory-reserve.ts";
import { movePriority } from "../admission/sighting.ts";
import { recordOfValue, takeSpilled } from "../scheduling/spill-control.ts";
import { isFinishedValue } from "./finished-word.ts";
import { deferRecord, removeRecord, requeueRecord, wakeRecord } from "./transitions.ts";
import type { RecordState } from "./record-state.ts";
import { matches, listRecords, type RecordFilter } from "./record-walk.ts";

/** The live record of an identity, in memory, or 0. */
export function liveRecord(core: Core, lo: number, hi: number): number {
  const value = seenFind(core.seen, lo, hi);
  return value === 0 || isFinishedValue(value) ? 0 : recordOfValue(core, value, lo, hi);
}

interface RecordChange {
  priority: number | undefined;
  dueMs: number | undefined;
}

/** Changes a pending or waiting record in place; false when it is neither. Throws MEMORY_FULL with nothing changed. */
export function updateRecord(
  core: Core,
  record: number,
  change: RecordChange,
  nowMs: number,
): boolean {
  const state = recordState(core.store, record);
  if (state !== RECORD_PENDING && state !== RECORD_WAITING) return false;
  if (change.dueMs !== undefined && change.dueMs > nowMs) needSpare(core);
  else needRoom(core);
  if (change.priority !== undefined) movePriority(core, record, change.priority, nowMs);
  const { dueMs } = change;
  if (dueMs === undefined) return true;
  if (dueMs > nowMs) deferRecord(core, record, dueMs, nowMs);
  else if (state === RECORD_WAITING) wakeRecord(core, record, nowMs);
  return true;
}

/**
 * Failed records that match become pending, with all attempts before them; how many. Where there is no room for all of them it is those
 * that there was room for, and MEMORY_FULL where it is none.
 */
export function requeueFailed(core: Core, filter: RecordFilter, nowMs: number): number {
  const act = (record: number): void => {
    setRecordAttempt(core.store, record, 1);
    requeueRecord(core, record, nowMs);
  };
  const count = eachMatching(core, filter, { states: ["failed"], mayGo: hasSpare, act });
  rematchOrphans(core, nowMs);
  return count;
}

/** Pending and waiting records that match go, and those that would come again; how many. Where there is no room, as above. */
export function removeRecords(core: Core, filter: RecordFilter, nowMs: number): number {
  let spilled = 0;
  const remove = (record: number): void => {
    // What is passed over stands in memory now, and is met again below.
    if (!hasRoom(core)) return;
    removeRecord(core, record, nowMs);
    spilled++;
  };
  takeSpilled(core, (record) => matches(core, record, filter), remove, unitOf(core, filter));
  const act = (record: number): void => removeRecord(core, record, nowMs);
  const how = { states: ["pending", "waiting", "done"] as RecordState[], mayGo: hasRoom, act };
  return eachMatching(core, filter, how, spilled);
}

/** The one unit that a filter can be about; 0: there may be several. */
function unitOf(core: Core, { host, unit }: RecordFilter): number {
  if (unit !== undefined) return hostNamed(core.hosts, unit);
  if (host === undefined || core.hasOwnUnits) return 0;
  if (core.rules.some(({ policy }) => policy.by !== "host")) return 0;
  return hostNamed(core.hosts, host.toLowerCase());
}

interface Acting {
  readonly states: RecordState[];
  /** Whether there is room for one more. */
  readonly mayGo: (core: Core) => boolean;
  readonly act: (record: number) => void;
}

/** Acts on every record that matches, as long as there is room; how many, those that went `before` included. None at all: MEMORY_FULL. */
function eachMatching(
  core: Core,
  filter: RecordFilter,
  { states, mayGo, act }: Acting,
  before = 0,
): number {
  const noted = listRecords(core, new Set(states));
  let count = before;
  for (let index = 0; index < noted.count; index++) {
    const record = noted.handles[index] as number;
    if (!matches(core, record, filter)) continue;
    if (!mayGo(core)) {
      if (count === 0) throw memoryFull();
      return count;
    }
    act(record);
    count++;
  }
  return count;
}

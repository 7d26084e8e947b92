/**
 * Rows of a snapshot: turns the entries of a table walk into columns of records and of finished identities, taken when full.
 *
 *   entries of a walk ──┬▶ addSlice: many at a time, by the kernel ─┬─▶ take(section)
 *                       └▶ where memory has no room, one by one   ──┘
 *   records by their handles, in the same two ways
 *
 *   I1  Both ways make the same sections of the same entries, unless texts are so long that the kernel's columns fill up before
 *       their rows do.
 */
import type { Core } from "../../frontier/core.ts";
import {
  addEntries,
  addNamed,
  clearRecordRows,
  clearSeenRows,
  closeSnapshotBatch,
  eachOwnerRow,
  nameRecords,
  openSnapshotBatch,
  recordRows,
  recordViews,
  seenRows,
  seenViews,
  setRowDueTime,
  type SnapshotBatch,
} from "../../structures/records/snapshot-batch.ts";
import { isSpilledValue } from "../../structures/spill/spilled-identity.ts";
import { type TableWalk, walkHash, walkValue } from "../../structures/table/table-walk.ts";
import { COLD_REMOVED } from "../../structures/storage-tiers.ts";
import { TABLE_RESERVED_MIN } from "../../layout/seen/table.ts";
import { dueOf } from "../journal/entry-fields.ts";
import {
  addMore,
  addRecord,
  addSeen,
  type Columns,
  isVolatile,
  takeRecords,
  takeSeen,
} from "./snapshot-columns.ts";
import type { RecordChunk, SeenChunk } from "./snapshot-format.ts";
import type { SnapshotBuffers } from "./snapshot-buffers.ts";

const FINISHED = 0x8000_0000;

export interface Rows {
  readonly core: Core;
  /** Most rows of a section. */
  readonly most: number;
  readonly take: (chunk: RecordChunk | SeenChunk) => void;
  readonly batch: SnapshotBatch | undefined;
  /** Completes a row that the kernel left to the owner. */
  readonly own: (row: number, record: number) => void;
  readonly live: Columns;
  readonly finished: Columns;
}

interface RowsOptions {
  readonly core: Core;
  readonly room: SnapshotBuffers;
  readonly most: number;
  readonly take: Rows["take"];
  readonly isRowByRow: boolean;
}

export function openRows({ core, room, most, take, isRowByRow }: RowsOptions): Rows {
  const { live, finished } = room;
  const batch = isRowByRow ? undefined : openSnapshotBatch(core.store, most);
  const own = (row: number, record: number): void => {
    if (batch !== undefined) setRowDueTime(batch, row, dueOf(core, record));
    addMore(live, row, record);
  };
  return { core, most, take, batch, own, live, finished };
}

/** Returns the room; rows that were not taken are dropped. */
export function closeRows({ batch }: Rows): void {
  if (batch !== undefined) closeSnapshotBatch(batch);
}

/** Adds entries `from` to `end` of a walk, whose values were read in this turn. */
export function addSlice(rows: Rows, walk: TableWalk, from: number, end: number): void {
  const { batch } = rows;
  for (let entry = from; entry < end; ) {
    if (batch !== undefined) {
      entry = addEntries(batch, walk, entry, end);
      if (isSettled(rows, batch, entry === end)) continue;
    }
    addEntry(rows, walk, entry++);
    if (batch !== undefined) rows.take(takeRecords(rows.live));
  }
}

/** Adds live records, at most SNAPSHOT_ROWS_MAX; skips volatile ones. */
export function addRecords(rows: Rows, records: Uint32Array): void {
  const { batch } = rows;
  const end = records.length;
  if (batch !== undefined) nameRecords(batch, records);
  for (let index = 0; index < end; ) {
    if (batch !== undefined) {
      index = addNamed(batch, index, end);
      if (isSettled(rows, batch, index === end)) continue;
    }
    addLive(rows, records[index++] as number);
    if (batch !== undefined) rows.take(takeRecords(rows.live));
  }
}

/**
 * After a call of the kernel: completes the rows left to the owner and takes full columns. Returns false when the columns are empty and
 * the text at which the kernel stopped is longer than they are; the caller adds that record by itself.
 */
function isSettled(rows: Rows, batch: SnapshotBatch, isEnd: boolean): boolean {
  const { most } = rows;
  eachOwnerRow(batch, rows.own);
  const isRecordsFull = recordRows(batch) >= most;
  const isSeenFull = seenRows(batch) >= most;
  if (isRecordsFull) takeLive(rows, batch);
  if (isSeenFull) takeFinished(rows, batch);
  if (isEnd || isRecordsFull || isSeenFull) return true;
  if (recordRows(batch) === 0) return false;
  takeLive(rows, batch);
  return true;
}

/** Takes the rest: sections that are not full. */
export function endRows(rows: Rows): void {
  const { batch, finished, live, take } = rows;
  if (batch !== undefined && seenRows(batch) > 0) takeFinished(rows, batch);
  if (batch !== undefined && recordRows(batch) > 0) takeLive(rows, batch);
  if (finished.count > 0) take(takeSeen(finished));
  if (live.count > 0) take(takeRecords(live));
}

/** Adds one entry of a slice, as it is in the table now. @hot */
function addEntry(rows: Rows, walk: TableWalk, entry: number): void {
  const { u32 } = rows.core.store.region.views;
  const value = u32[walkValue(walk, entry)] as number;
  if (value === 0) return;
  if (value >= FINISHED || value === COLD_REMOVED) {
    const hash = walkHash(walk, entry);
    addSeen(rows.finished, u32[hash] as number, u32[hash + 1] as number, value);
    if (rows.finished.count >= rows.most) rows.take(takeSeen(rows.finished));
  } else if (!isSpilledValue(value) && value < TABLE_RESERVED_MIN) {
    addLive(rows, value);
  }
}

function addLive(rows: Rows, record: number): void {
  if (isVolatile(rows.core, record)) return;
  addRecord(rows.live, record);
  if (rows.live.count >= rows.most) rows.take(takeRecords(rows.live));
}

function takeLive(rows: Rows, batch: SnapshotBatch): void {
  rows.take(takeRecords(rows.live, recordViews(batch)));
  clearRecordRows(batch);
}

function takeFinished(rows: Rows, batch: SnapshotBatch): void {
  rows.take(takeSeen(rows.finished, seenViews(batch)));
  clearSeenRows(batch);
}

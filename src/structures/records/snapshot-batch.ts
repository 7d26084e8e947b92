/**
 * Columns of a snapshot in the region: the room that the kernel needs for them (layout/calls/snapshot-columns.ts) and the calls in order.
 *
 *   walkLook ─▶ addEntries ─▶ rows of the owner's completed ─▶ columns full? taken as they stand ─▶ cleared ─▶ addEntries …
 *
 *   I1  Views of columns are made when they are asked for and hold until memory grows: they are used at once.
 */
import { assert } from "../../base/assert.ts";
import { REGION_PAGE_BYTES } from "../../layout/memory/region.ts";
import {
  SNAPSHOT_DOUBLES_WORD,
  SNAPSHOT_HANDLES_WORD,
  SNAPSHOT_HASHES_WORD,
  SNAPSHOT_JOB_BYTES,
  SNAPSHOT_MOST_WORD,
  SNAPSHOT_OWN_COUNT_WORD,
  SNAPSHOT_OWN_WORD,
  SNAPSHOT_RECORDS_WORD,
  SNAPSHOT_RECORD_HASHES_WORD,
  SNAPSHOT_ROWS_MAX,
  SNAPSHOT_SEEN_HASHES_WORD,
  SNAPSHOT_SEEN_VALUES_WORD,
  SNAPSHOT_SEEN_WORD,
  SNAPSHOT_TEXT_BYTES,
  SNAPSHOT_TEXT_BYTES_WORD,
  SNAPSHOT_TEXT_WORD,
  SNAPSHOT_VALUES_WORD,
  SNAPSHOT_WORDS_WORD,
} from "../../layout/calls/snapshot-columns.ts";
import { regionGive, regionTake } from "../../memory/region.ts";
import type { Store } from "../store.ts";
import { type TableWalk, walkHash, walkValue } from "../table/table-walk.ts";

export { SNAPSHOT_KEPT_FLAGS, SNAPSHOT_ROWS_MAX } from "../../layout/calls/snapshot-columns.ts";

export interface SnapshotBatch {
  readonly store: Store;
  /** Word of the job, and of its columns. */
  readonly job: number;
  readonly recordHashes: number;
  readonly doubles: number;
  readonly words: number;
  readonly text: number;
  readonly seenHashes: number;
  readonly seenValues: number;
  readonly own: number;
  readonly handles: number;
}

/** Room in order, doubles first: they stand on eight bytes. */
const ARRAYS: ReadonlyArray<readonly [number, number]> = [
  [SNAPSHOT_DOUBLES_WORD, 24 * SNAPSHOT_ROWS_MAX],
  [SNAPSHOT_RECORD_HASHES_WORD, 16 * SNAPSHOT_ROWS_MAX],
  [SNAPSHOT_WORDS_WORD, 16 * SNAPSHOT_ROWS_MAX],
  [SNAPSHOT_OWN_WORD, 8 * SNAPSHOT_ROWS_MAX],
  [SNAPSHOT_SEEN_HASHES_WORD, 8 * SNAPSHOT_ROWS_MAX],
  [SNAPSHOT_SEEN_VALUES_WORD, 4 * SNAPSHOT_ROWS_MAX],
  [SNAPSHOT_HANDLES_WORD, 4 * SNAPSHOT_ROWS_MAX],
  [SNAPSHOT_TEXT_WORD, SNAPSHOT_TEXT_BYTES],
];
const BYTES = SNAPSHOT_JOB_BYTES + ARRAYS.reduce((sum, [, bytes]) => sum + bytes, 0);
const PAGES = Math.ceil(BYTES / REGION_PAGE_BYTES);

/** Columns of `most` rows; undefined: memory has no room for them. */
export function openSnapshotBatch(store: Store, most: number): SnapshotBatch | undefined {
  const offset = regionTake(store.region, PAGES);
  if (offset === 0) return undefined;
  const { u32 } = store.region.views;
  const job = offset >> 2;
  u32.fill(0, job, job + (SNAPSHOT_JOB_BYTES >> 2));
  u32[job + SNAPSHOT_MOST_WORD] = Math.min(most, SNAPSHOT_ROWS_MAX);
  let next = offset + SNAPSHOT_JOB_BYTES;
  for (const [word, bytes] of ARRAYS) {
    u32[job + word] = next;
    next += bytes;
  }
  const at = (word: number): number => (u32[job + word] as number) >> 2;
  return {
    ...{ store, job, recordHashes: at(SNAPSHOT_RECORD_HASHES_WORD) },
    ...{ doubles: at(SNAPSHOT_DOUBLES_WORD), words: at(SNAPSHOT_WORDS_WORD) },
    ...{ text: at(SNAPSHOT_TEXT_WORD), seenHashes: at(SNAPSHOT_SEEN_HASHES_WORD) },
    ...{ seenValues: at(SNAPSHOT_SEEN_VALUES_WORD), own: at(SNAPSHOT_OWN_WORD) },
    handles: at(SNAPSHOT_HANDLES_WORD),
  };
}

/** Frees the room. */
export function closeSnapshotBatch({ store, job }: SnapshotBatch): void {
  regionGive(store.region, job * 4, PAGES);
}

/** Adds entries `from` to `end` of a slice that were looked at; the first that was not added, or `end`. @hot */
export function addEntries(
  { store, job }: SnapshotBatch,
  walk: TableWalk,
  from: number,
  end: number,
): number {
  const { u32 } = store.region.views;
  u32[job + SNAPSHOT_HASHES_WORD] = walkHash(walk, 0) * 4;
  u32[job + SNAPSHOT_VALUES_WORD] = walkValue(walk, 0) * 4;
  u32[job + SNAPSHOT_OWN_COUNT_WORD] = 0;
  return store.kernel.exports.snapshotRows(job * 4, from, end);
}

/** Names records to be added by addNamed, at most SNAPSHOT_ROWS_MAX. */
export function nameRecords({ store, handles }: SnapshotBatch, records: Uint32Array): void {
  assert(records.length <= SNAPSHOT_ROWS_MAX, "the records fit their column");
  store.region.views.u32.set(records, handles);
}

/** Adds the records named `from` to `end`; the first that was not added, or `end`. @hot */
export function addNamed(
  { store, job, handles }: SnapshotBatch,
  from: number,
  end: number,
): number {
  const { u32 } = store.region.views;
  u32[job + SNAPSHOT_VALUES_WORD] = handles * 4;
  u32[job + SNAPSHOT_OWN_COUNT_WORD] = 0;
  return store.kernel.exports.snapshotRows(job * 4, from, end);
}

/** Shows rows and handles of the records that the last call has left to the owner. */
export function eachOwnerRow(
  { store, job, own }: SnapshotBatch,
  visit: (row: number, record: number) => void,
): void {
  const { u32 } = store.region.views;
  const count = u32[job + SNAPSHOT_OWN_COUNT_WORD] as number;
  for (let i = 0; i < count; i++) visit(u32[own + i * 2] as number, u32[own + i * 2 + 1] as number);
}

export function setRowDueTime({ store, doubles }: SnapshotBatch, row: number, dueMs: number): void {
  store.region.views.f64[(doubles >> 1) + row * 3 + 2] = dueMs;
}

export function recordRows({ store, job }: SnapshotBatch): number {
  return store.region.views.u32[job + SNAPSHOT_RECORDS_WORD] as number;
}

export function seenRows({ store, job }: SnapshotBatch): number {
  return store.region.views.u32[job + SNAPSHOT_SEEN_WORD] as number;
}

/** Columns of so many rows, as bytes. */
export interface ColumnViews {
  readonly rows: number;
  readonly hashes: Uint8Array;
  readonly doubles: Uint8Array;
  readonly words: Uint8Array;
  readonly text: Uint8Array;
}

export type SeenViews = Pick<ColumnViews, "rows" | "hashes" | "words">;

/** The columns of records (I1). */
export function recordViews(batch: SnapshotBatch): ColumnViews {
  const { store, job, recordHashes, doubles, words, text } = batch;
  const { buffer } = store.region.views.u8;
  const rows = recordRows(batch);
  const textBytes = store.region.views.u32[job + SNAPSHOT_TEXT_BYTES_WORD] as number;
  return {
    rows,
    hashes: new Uint8Array(buffer, recordHashes * 4, rows * 16),
    doubles: new Uint8Array(buffer, doubles * 4, rows * 24),
    words: new Uint8Array(buffer, words * 4, rows * 16),
    text: new Uint8Array(buffer, text * 4, textBytes),
  };
}

/** The columns of finished identities (I1). */
export function seenViews(batch: SnapshotBatch): SeenViews {
  const { store, seenHashes, seenValues } = batch;
  const { buffer } = store.region.views.u8;
  const rows = seenRows(batch);
  return {
    rows,
    hashes: new Uint8Array(buffer, seenHashes * 4, rows * 8),
    words: new Uint8Array(buffer, seenValues * 4, rows * 4),
  };
}

export function clearRecordRows({ store, job }: SnapshotBatch): void {
  store.region.views.u32[job + SNAPSHOT_RECORDS_WORD] = 0;
  store.region.views.u32[job + SNAPSHOT_TEXT_BYTES_WORD] = 0;
}

export function clearSeenRows({ store, job }: SnapshotBatch): void {
  store.region.views.u32[job + SNAPSHOT_SEEN_WORD] = 0;
}

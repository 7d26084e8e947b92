/**
 * Records of a recovery, a batch at a time: the room that the kernel needs for it (layout/calls/restore-records.ts) and the calls in order.
 *
 *   input ─▶ columns, or entries ─▶ rows ─▶ askHosts ─▶ admitRestored ─▶ makeRestored(0) ─▶ row of the owner's ─▶ makeRestored(row + 1) …
 *
 *   I1  Memory taken for a row becomes its record, or goes back by `leaveRestored`.
 */
import { REGION_PAGE_BYTES } from "../../layout/memory/region.ts";
import {
  RESTORE_AT_WORD,
  RESTORE_COUNT_WORD,
  RESTORE_END_WORD,
  RESTORE_HANDLES_WORD,
  RESTORE_HASHES_WORD,
  RESTORE_HOST_HASHES_WORD,
  RESTORE_HOST_VALUES_WORD,
  RESTORE_JOB_BYTES,
  RESTORE_OWN_WORD,
  RESTORE_PARENT_WORD,
  RESTORE_QUEUES_WORD,
  RESTORE_ROWS_MAX,
  RESTORE_ROWS_WORD,
  RESTORE_ROW_BYTES,
  RESTORE_ROW_WORDS,
  RESTORE_SIZES_WORD,
  RESTORE_SLOTS_WORD,
  RESTORE_SOLE_WORD,
  RESTORE_VALUES_WORD,
} from "../../layout/calls/restore-records.ts";
import { memoryFull } from "../../base/errors.ts";
import { arenaGive, arenaTakeEach } from "../../memory/arena.ts";
import { regionGive, regionTake } from "../../memory/region.ts";
import { type FingerprintTable, TABLE_NEW, tableFindBatch } from "../table/fingerprint-table.ts";
import { type SeenSet, seenAdmitBatch, seenSlot } from "../seen/seen-set.ts";
import type { Store } from "../store.ts";

export {
  RESTORE_DEPTH_WORD,
  RESTORE_DUE_WORD,
  RESTORE_HEAD_WORD,
  RESTORE_HOST_WORD,
  RESTORE_KEY_WORD,
  RESTORE_LENGTH_WORD,
  RESTORE_OWNER,
  RESTORE_OWN_WORD,
  RESTORE_PRIORITY_WORD,
  RESTORE_ROWS_MAX,
  RESTORE_TEXT_WORD,
  RESTORE_TRIES_WORD,
} from "../../layout/calls/restore-records.ts";

export interface RestoreBatch {
  readonly store: Store;
  readonly pages: number;
  readonly job: number;
  /** Absolute offsets, as the job names them. */
  readonly rows: number;
  readonly hashes: number;
  readonly hostHashes: number;
  readonly values: number;
  readonly slots: number;
  readonly hostValues: number;
  readonly queues: number;
  readonly sizes: number;
  readonly handles: number;
  /** Room for what is read, made anew where it is too small. */
  input: number;
  inputPages: number;
}

const ARRAYS: ReadonlyArray<readonly [number, number]> = [
  [RESTORE_ROWS_WORD, RESTORE_ROW_BYTES],
  [RESTORE_HASHES_WORD, 8],
  [RESTORE_HOST_HASHES_WORD, 8],
  [RESTORE_VALUES_WORD, 4],
  [RESTORE_SLOTS_WORD, 4],
  [RESTORE_HOST_VALUES_WORD, 4],
  [RESTORE_QUEUES_WORD, 4],
  [RESTORE_SIZES_WORD, 4],
  [RESTORE_HANDLES_WORD, 4],
];
const BYTES =
  RESTORE_JOB_BYTES + ARRAYS.reduce((sum, [, bytes]) => sum + bytes * RESTORE_ROWS_MAX, 0);
const PAGES = Math.ceil(BYTES / REGION_PAGE_BYTES);

export function openRestoreBatch(store: Store): RestoreBatch {
  const job = regionTake(store.region, PAGES);
  if (job === 0) throw memoryFull();
  const { u32 } = store.region.views;
  let next = job + RESTORE_JOB_BYTES;
  for (const [word, bytes] of ARRAYS) {
    u32[(job >> 2) + word] = next;
    next += bytes * RESTORE_ROWS_MAX;
  }
  const offset = (word: number): number => u32[(job >> 2) + word] as number;
  u32[(job >> 2) + RESTORE_COUNT_WORD] = 0;
  return {
    ...{ store, pages: PAGES, job },
    ...{ rows: offset(RESTORE_ROWS_WORD), hashes: offset(RESTORE_HASHES_WORD) },
    ...{ hostHashes: offset(RESTORE_HOST_HASHES_WORD), values: offset(RESTORE_VALUES_WORD) },
    ...{ slots: offset(RESTORE_SLOTS_WORD), hostValues: offset(RESTORE_HOST_VALUES_WORD) },
    ...{ queues: offset(RESTORE_QUEUES_WORD), sizes: offset(RESTORE_SIZES_WORD) },
    ...{ handles: offset(RESTORE_HANDLES_WORD), input: 0, inputPages: 0 },
  };
}

/** Frees the room. */
export function closeRestoreBatch(batch: RestoreBatch): void {
  const { region } = batch.store;
  if (batch.inputPages > 0) regionGive(region, batch.input, batch.inputPages);
  regionGive(region, batch.job, batch.pages);
}

/** Room for so many bytes to be read from; 0 where there is none. What stood there is gone. */
export function restoreInput(batch: RestoreBatch, bytes: number): number {
  const { region } = batch.store;
  const pages = Math.ceil(bytes / REGION_PAGE_BYTES);
  if (pages <= batch.inputPages) return batch.input;
  if (batch.inputPages > 0) regionGive(region, batch.input, batch.inputPages);
  batch.input = regionTake(region, pages);
  batch.inputPages = batch.input === 0 ? 0 : pages;
  return batch.input;
}

export function restoreCount({ store, job }: RestoreBatch): number {
  return store.region.views.u32[(job >> 2) + RESTORE_COUNT_WORD] as number;
}

export function setRestoreCount({ store, job }: RestoreBatch, count: number): void {
  store.region.views.u32[(job >> 2) + RESTORE_COUNT_WORD] = count;
}

/** Reads rows from columns: offsets of hashes, doubles, words, text. */
export function readColumns(
  { store, job }: RestoreBatch,
  columns: { hashes: number; doubles: number; words: number; text: number },
): void {
  const { hashes, doubles, words, text } = columns;
  store.kernel.exports.restoreColumns(job, hashes, doubles, words, text);
}

/** Reads rows from entries between two offsets, under a parent; where the reading ended. @hot */
export function readEntries(
  { store, job }: RestoreBatch,
  { at, end, parent }: { at: number; end: number; parent: number },
): number {
  const { u32 } = store.region.views;
  const word = job >> 2;
  u32[word + RESTORE_AT_WORD] = at;
  u32[word + RESTORE_END_WORD] = end;
  u32[word + RESTORE_PARENT_WORD] = parent;
  store.kernel.exports.restoreEntries(job);
  return u32[word + RESTORE_AT_WORD] as number;
}

/** The index in the region's words where a row stands. */
export function rowWords({ rows }: RestoreBatch, row: number): number {
  return (rows >> 2) + row * RESTORE_ROW_WORDS;
}

/** Names the rule queue that a row's record stands under. */
export function setRowRule({ store, queues }: RestoreBatch, row: number, rule: number): void {
  store.region.views.u32[(queues >> 2) + row] = rule;
}

/** Names the parent of a row, or leaves it to the owner. */
export function setRowOwn(batch: RestoreBatch, row: number, own: number): void {
  batch.store.region.views.u32[rowWords(batch, row) + RESTORE_OWN_WORD] = own;
}

/** Names the only rule there is, or 0. */
export function setRestoreSole({ store, job }: RestoreBatch, rule: number): void {
  store.region.views.u32[(job >> 2) + RESTORE_SOLE_WORD] = rule;
}

/** Finds hosts and queues, admits the identities of rows that have both, takes their memory. Throws MEMORY_FULL. @hot */
export function admitRestored(batch: RestoreBatch, hosts: FingerprintTable, seen: SeenSet): void {
  const { store, job, hashes, values, slots, sizes, handles } = batch;
  const count = restoreCount(batch);
  tableFindBatch(hosts, batch.hostHashes, count, batch.hostValues);
  store.kernel.exports.restoreQueues(job);
  if (seenAdmitBatch(seen, hashes, count, values, slots) < 0) throw memoryFull();
  arenaTakeEach(store.arena, sizes >> 2, handles >> 2, count);
}

/** Makes records from row `from` on; the row that is the caller's to make, or the count. @hot */
export function makeRestored({ store, job }: RestoreBatch, from: number): number {
  return store.kernel.exports.restoreRows(job, from);
}

/** Where the seen-set keeps what it claimed for rows from `from` on, after it may have moved. */
export function findRestored(batch: RestoreBatch, seen: SeenSet, from: number): void {
  const { store, hashes, values, slots } = batch;
  const { u32 } = store.region.views;
  const count = restoreCount(batch);
  for (let row = from; row < count; row++) {
    if (u32[(values >> 2) + row] !== TABLE_NEW) continue;
    const hash = (hashes >> 2) + row * 2;
    u32[(slots >> 2) + row] = seenSlot(seen, u32[hash] as number, u32[hash + 1] as number);
  }
}

/** Frees what was taken for a row that the caller makes. False: nothing was, though the row asked for it. */
export function leaveRestored({ store, handles, sizes }: RestoreBatch, row: number): boolean {
  const { u32 } = store.region.views;
  const object = u32[(handles >> 2) + row] as number;
  const size = u32[(sizes >> 2) + row] as number;
  if (object !== 0) arenaGive(store.arena, object, size);
  return object !== 0 || size === 0;
}

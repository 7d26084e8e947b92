/**
 * Records of a recovery, a batch at a time: the room that the kernel needs for it (layout/revive.ts) and the calls in order.
 *
 *   input ─▶ columns, or entries ─▶ rows ─▶ askHosts ─▶ admitRevived ─▶ makeRevived(0) ─▶ row of the owner's ─▶ makeRevived(row + 1) …
 *
 *   I1  Memory taken for a row becomes its record, or goes back by `leaveRevived`.
 */
import { REGION_PAGE_BYTES } from "../layout/region.ts";
import {
  REVIVE_AT_WORD,
  REVIVE_COUNT_WORD,
  REVIVE_END_WORD,
  REVIVE_HANDLES_WORD,
  REVIVE_HASHES_WORD,
  REVIVE_HOST_HASHES_WORD,
  REVIVE_HOST_VALUES_WORD,
  REVIVE_JOB_BYTES,
  REVIVE_OWN_WORD,
  REVIVE_PARENT_WORD,
  REVIVE_QUEUES_WORD,
  REVIVE_ROWS_MAX,
  REVIVE_ROWS_WORD,
  REVIVE_ROW_BYTES,
  REVIVE_ROW_WORDS,
  REVIVE_SIZES_WORD,
  REVIVE_SLOTS_WORD,
  REVIVE_VALUES_WORD,
} from "../layout/revive.ts";
import { memoryFull } from "../base/errors.ts";
import { arenaGive, arenaTakeEach } from "../memory/arena.ts";
import { regionGive, regionTake } from "../memory/region.ts";
import { type FingerprintTable, TABLE_NEW, tableFindBatch } from "./fingerprint-table.ts";
import { type SeenSet, seenAdmitBatch, seenSlot } from "./seen-set.ts";
import type { Store } from "./store.ts";

export {
  REVIVE_DEPTH_WORD,
  REVIVE_DUE_WORD,
  REVIVE_HEAD_WORD,
  REVIVE_HOST_WORD,
  REVIVE_KEY_WORD,
  REVIVE_LENGTH_WORD,
  REVIVE_OWNER,
  REVIVE_OWN_WORD,
  REVIVE_PRIORITY_WORD,
  REVIVE_ROWS_MAX,
  REVIVE_TEXT_WORD,
  REVIVE_TRIES_WORD,
} from "../layout/revive.ts";

export interface ReviveBatch {
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
  [REVIVE_ROWS_WORD, REVIVE_ROW_BYTES],
  [REVIVE_HASHES_WORD, 8],
  [REVIVE_HOST_HASHES_WORD, 8],
  [REVIVE_VALUES_WORD, 4],
  [REVIVE_SLOTS_WORD, 4],
  [REVIVE_HOST_VALUES_WORD, 4],
  [REVIVE_QUEUES_WORD, 4],
  [REVIVE_SIZES_WORD, 4],
  [REVIVE_HANDLES_WORD, 4],
];
const BYTES =
  REVIVE_JOB_BYTES + ARRAYS.reduce((sum, [, bytes]) => sum + bytes * REVIVE_ROWS_MAX, 0);
const PAGES = Math.ceil(BYTES / REGION_PAGE_BYTES);

export function openReviveBatch(store: Store): ReviveBatch {
  const job = regionTake(store.region, PAGES);
  if (job === 0) throw memoryFull();
  const { u32 } = store.region.views;
  let next = job + REVIVE_JOB_BYTES;
  for (const [word, bytes] of ARRAYS) {
    u32[(job >> 2) + word] = next;
    next += bytes * REVIVE_ROWS_MAX;
  }
  const offset = (word: number): number => u32[(job >> 2) + word] as number;
  u32[(job >> 2) + REVIVE_COUNT_WORD] = 0;
  return {
    ...{ store, pages: PAGES, job },
    ...{ rows: offset(REVIVE_ROWS_WORD), hashes: offset(REVIVE_HASHES_WORD) },
    ...{ hostHashes: offset(REVIVE_HOST_HASHES_WORD), values: offset(REVIVE_VALUES_WORD) },
    ...{ slots: offset(REVIVE_SLOTS_WORD), hostValues: offset(REVIVE_HOST_VALUES_WORD) },
    ...{ queues: offset(REVIVE_QUEUES_WORD), sizes: offset(REVIVE_SIZES_WORD) },
    ...{ handles: offset(REVIVE_HANDLES_WORD), input: 0, inputPages: 0 },
  };
}

/** Gives the room back. */
export function closeReviveBatch(batch: ReviveBatch): void {
  const { region } = batch.store;
  if (batch.inputPages > 0) regionGive(region, batch.input, batch.inputPages);
  regionGive(region, batch.job, batch.pages);
}

/** Room for so many bytes to be read from; 0 where there is none. What stood there is gone. */
export function reviveInput(batch: ReviveBatch, bytes: number): number {
  const { region } = batch.store;
  const pages = Math.ceil(bytes / REGION_PAGE_BYTES);
  if (pages <= batch.inputPages) return batch.input;
  if (batch.inputPages > 0) regionGive(region, batch.input, batch.inputPages);
  batch.input = regionTake(region, pages);
  batch.inputPages = batch.input === 0 ? 0 : pages;
  return batch.input;
}

export function reviveCount({ store, job }: ReviveBatch): number {
  return store.region.views.u32[(job >> 2) + REVIVE_COUNT_WORD] as number;
}

export function setReviveCount({ store, job }: ReviveBatch, count: number): void {
  store.region.views.u32[(job >> 2) + REVIVE_COUNT_WORD] = count;
}

/** Reads rows from columns: offsets of hashes, doubles, words, text. */
export function readColumns(
  { store, job }: ReviveBatch,
  columns: { hashes: number; doubles: number; words: number; text: number },
): void {
  const { hashes, doubles, words, text } = columns;
  store.kernel.exports.reviveColumns(job, hashes, doubles, words, text);
}

/** Reads rows from entries between two offsets, under a parent; where the reading ended. @hot */
export function readEntries(
  { store, job }: ReviveBatch,
  { at, end, parent }: { at: number; end: number; parent: number },
): number {
  const { u32 } = store.region.views;
  const word = job >> 2;
  u32[word + REVIVE_AT_WORD] = at;
  u32[word + REVIVE_END_WORD] = end;
  u32[word + REVIVE_PARENT_WORD] = parent;
  store.kernel.exports.reviveEntries(job);
  return u32[word + REVIVE_AT_WORD] as number;
}

/** The index in the region's words where a row stands. */
export function rowWords({ rows }: ReviveBatch, row: number): number {
  return (rows >> 2) + row * REVIVE_ROW_WORDS;
}

/** Names the rule queue that a row's record stands under. */
export function setRowRule({ store, queues }: ReviveBatch, row: number, rule: number): void {
  store.region.views.u32[(queues >> 2) + row] = rule;
}

/** Names the parent of a row, or leaves it to the owner. */
export function setRowOwn(batch: ReviveBatch, row: number, own: number): void {
  batch.store.region.views.u32[rowWords(batch, row) + REVIVE_OWN_WORD] = own;
}

/** Finds hosts and queues, admits the identities of rows that have both, takes their memory. Throws MEMORY_FULL. @hot */
export function admitRevived(batch: ReviveBatch, hosts: FingerprintTable, seen: SeenSet): void {
  const { store, job, hashes, values, slots, sizes, handles } = batch;
  const count = reviveCount(batch);
  tableFindBatch(hosts, batch.hostHashes, count, batch.hostValues);
  store.kernel.exports.reviveQueues(job);
  if (seenAdmitBatch(seen, hashes, count, values, slots) < 0) throw memoryFull();
  arenaTakeEach(store.arena, sizes >> 2, handles >> 2, count);
}

/** Makes records from row `from` on; the row that is the caller's to make, or the count. @hot */
export function makeRevived({ store, job }: ReviveBatch, from: number): number {
  return store.kernel.exports.reviveRows(job, from);
}

/** Where the seen-set keeps what it claimed for rows from `from` on, after it may have moved. */
export function findRevived(batch: ReviveBatch, seen: SeenSet, from: number): void {
  const { store, hashes, values, slots } = batch;
  const { u32 } = store.region.views;
  const count = reviveCount(batch);
  for (let row = from; row < count; row++) {
    if (u32[(values >> 2) + row] !== TABLE_NEW) continue;
    const hash = (hashes >> 2) + row * 2;
    u32[(slots >> 2) + row] = seenSlot(seen, u32[hash] as number, u32[hash + 1] as number);
  }
}

/** Gives back what was taken for a row that the caller makes. False: nothing was, though the row asked for it. */
export function leaveRevived({ store, handles, sizes }: ReviveBatch, row: number): boolean {
  const { u32 } = store.region.views;
  const object = u32[(handles >> 2) + row] as number;
  const size = u32[(sizes >> 2) + row] as number;
  if (object !== 0) arenaGive(store.arena, object, size);
  return object !== 0 || size === 0;
}

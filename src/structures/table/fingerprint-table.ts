/**
 * Room `src/structures/table`: the exact table of 64-bit hashes: its growth, walks and checks. The kernel writes the
 * bytes; this room takes and frees the pages.
 */

import { misuse } from "../../base/errors.ts";
import type { Kernel } from "../../kernel/kernel.ts";
import { REGION_PAGE_BYTES } from "../../layout/memory/region.ts";
import {
  SEGMENT_SLOTS_WORD,
  SEGMENT_USED_WORD,
  TABLE_COUNT_WORD,
  TABLE_CURSOR_WORD,
  TABLE_EACH_END,
  TABLE_FIRST_PAGES,
  TABLE_GROW_FIRST,
  TABLE_HEADER_BYTES,
  TABLE_HEADER_HASHES,
  TABLE_HEADER_VALUES_WORD,
  TABLE_LONGEST_PROBE_WORD,
  TABLE_MAGIC,
  TABLE_MAGIC_WORD,
  TABLE_NEED_WORD,
  TABLE_PAGES_WORD,
  TABLE_REMOVED_WORD,
  TABLE_SEGMENT_COUNT_WORD,
  TABLE_SOFT_WORD,
  TABLE_UNITS_WORD,
  TABLE_VALUED_WORD,
} from "../../layout/seen/table.ts";
import { regionGive, regionTake } from "../../memory/region.ts";
import {
  type FingerprintTable,
  growForDemand,
  segmentOf,
  segmentOfRow,
  segmentRoom,
  segmentsOf,
  tryGrow,
  unitsOf,
} from "./table-growth.ts";

export { TABLE_CLAIMED, TABLE_NEW, TABLE_SKIP } from "../../layout/seen/table.ts";
export type { FingerprintTable } from "./table-growth.ts";

/** Segments that one call grows ahead of need: each costs a sweep of at most 5 pages, of uneven hashes 7. */
const GROW_PER_CALL = 1;
/** Up to here a batch is taken as if all of its rows fell into one segment. */
const NEED_ROWS_MAX = 1024;

interface TableOptions {
  /** True for a u32 beside each hash. */
  readonly valued: boolean;
}

/** A new table of three pages, or undefined when the region is exhausted. */
export function tryCreateTable(
  kernel: Kernel,
  options: TableOptions,
): FingerprintTable | undefined {
  const offset = regionTake(kernel.region, TABLE_FIRST_PAGES);
  if (offset === 0) return undefined;
  const page = regionTake(kernel.region, 1);
  if (page === 0) {
    regionGive(kernel.region, offset, TABLE_FIRST_PAGES);
    return undefined;
  }
  const { u32 } = kernel.region.views;
  const header = offset / 4;
  u32[header + TABLE_MAGIC_WORD] = TABLE_MAGIC;
  u32[header + TABLE_VALUED_WORD] = options.valued ? 1 : 0;
  u32[header + TABLE_PAGES_WORD] = page;
  u32[header + TABLE_UNITS_WORD] = 1;
  kernel.exports.tableOpen(offset, offset + TABLE_HEADER_BYTES);
  return {
    kernel,
    offset,
    isValued: options.valued,
    descriptorPages: [],
    descriptorCount: 1,
    pageCount: TABLE_FIRST_PAGES + 1,
    sweeps: 0,
  };
}

/** A new table; throws MEMORY_FULL when the region has no three pages left. */
export function createTable(kernel: Kernel, options: TableOptions): FingerprintTable {
  const table = tryCreateTable(kernel, options);
  if (table === undefined) {
    throw misuse("MEMORY_FULL", "memory", "exhausted", "room in the frontier's 4 GiB for a table");
  }
  return table;
}

/**
 * Inserts `count` hashes. Rows whose value is TABLE_SKIP are passed over. Every other row's value
 * becomes
 * TABLE_NEW if it was inserted now (the entry then holds TABLE_CLAIMED), else what the entry holds
 * (bare: 1),
 * and its slot the byte offset of the entry's value word. Returns how many are new, or -1 when the
 * region is exhausted: nothing was inserted then, and the values of the rows not skipped are void.
 * @hot
 */
export function tableInsertBatch(
  table: FingerprintTable,
  hashesOffset: number,
  count: number,
  valuesOffset: number,
  slotsOffset: number,
): number {
  const { exports, region } = table.kernel;
  const header = table.offset / 4;
  let need = count;
  if (count > NEED_ROWS_MAX) {
    if (!growForDemand(table, hashesOffset, count, valuesOffset)) return -1;
    need = 0;
  }
  for (let grown = 0, soft = 1; ; grown++) {
    if (grown === GROW_PER_CALL) soft = 0;
    region.views.u32[header + TABLE_NEED_WORD] = need;
    region.views.u32[header + TABLE_SOFT_WORD] = soft;
    const result = exports.tableInsertBatch(
      table.offset,
      hashesOffset,
      count,
      valuesOffset,
      slotsOffset,
    );
    if (result >= 0) return result;
    const segment = segmentOfRow(table, hashesOffset, -2 - result);
    const isFull = segmentRoom(table, segment) <= need;
    if (tryGrow(table, segment)) {
      // A split may have left less room where these rows go than the whole segment had.
      if (need > 0 || growForDemand(table, hashesOffset, count, valuesOffset)) continue;
      return -1;
    }
    soft = 0;
    if (!isFull) continue;
    if (need === 0 || !growForDemand(table, hashesOffset, count, valuesOffset)) return -1;
    need = 0;
  }
}

/**
 * Looks up `count` hashes: each value becomes what the entry holds (bare: 1), or 0; TABLE_SKIP stays. @hot
 */
export function tableFindBatch(
  table: FingerprintTable,
  hashesOffset: number,
  count: number,
  valuesOffset: number,
): number {
  return table.kernel.exports.tableFindBatch(table.offset, hashesOffset, count, valuesOffset);
}

/** Byte offset of the value word (bare: 1), or 0 when absent. */
export function tableFind(table: FingerprintTable, lo: number, hi: number): number {
  return table.kernel.exports.tableFindOne(table.offset, lo, hi) >>> 0;
}

/**
 * Byte offset of the value word, which holds TABLE_CLAIMED when the entry is new (bare: 1 when it
 * was there, TABLE_BARE_NEW when it is new); 0 when the region is exhausted.
 */
export function tableInsert(table: FingerprintTable, lo: number, hi: number): number {
  const { exports, region } = table.kernel;
  const softWord = table.offset / 4 + TABLE_SOFT_WORD;
  region.views.u32[softWord] = 1;
  let place = exports.tableInsertOne(table.offset, lo, hi);
  if (place !== TABLE_GROW_FIRST) return place >>> 0;
  for (let hasGrown = true; hasGrown && place === TABLE_GROW_FIRST; ) {
    hasGrown = tryGrow(table, segmentOf(table, hi));
    region.views.u32[softWord] = 0;
    place = exports.tableInsertOne(table.offset, lo, hi);
  }
  return place === TABLE_GROW_FIRST ? tableFind(table, lo, hi) : place >>> 0;
}

/** Takes a hash out; false if it was not there. Its slot is reclaimed when its segment is swept. */
export function tableRemove(table: FingerprintTable, lo: number, hi: number): boolean {
  return table.kernel.exports.tableRemove(table.offset, lo, hi) !== 0;
}

/**
 * Removes everything and frees the pages, but for those of a new table and of its descriptors.
 */
export function tableClear(table: FingerprintTable): void {
  const { exports, region } = table.kernel;
  const header = table.offset / 4;
  const { u8, u32 } = region.views;
  const pages = segmentsOf(table).flatMap((segment) => unitsOf(table, segment));
  const first = pages.shift() as number;
  u8.fill(0, first, first + REGION_PAGE_BYTES);
  for (const word of [TABLE_COUNT_WORD, TABLE_REMOVED_WORD, TABLE_LONGEST_PROBE_WORD]) {
    u32[header + word] = 0;
  }
  u32.fill(
    0,
    header + TABLE_HEADER_VALUES_WORD,
    header + TABLE_HEADER_VALUES_WORD + TABLE_HEADER_HASHES,
  );
  u32[header + TABLE_PAGES_WORD] = first;
  u32[header + TABLE_UNITS_WORD] = 1;
  exports.tableOpen(table.offset, table.offset + TABLE_HEADER_BYTES);
  for (const page of pages) regionGive(region, page, 1);
  table.descriptorCount = 1;
  table.pageCount -= pages.length;
}

/** Frees every page; the table must not be used again. */
export function tableDrop(table: FingerprintTable): void {
  const { region } = table.kernel;
  const pages = segmentsOf(table).flatMap((segment) => unitsOf(table, segment));
  for (const page of [...pages, ...table.descriptorPages]) regionGive(region, page, 1);
  regionGive(region, table.offset, TABLE_FIRST_PAGES);
  table.pageCount = 0;
}

/**
 * Copies live entries out in slices: from directory index `from` (0 first) as many whole segments
 * as fit
 * into `max` (at least TABLE_EACH_MIN) entries: hashes to outOffset, values to outOffset + 8 × max.
 * `next` is where the following call goes on, or -1. Inserts and growth between two calls are
 * allowed: what is there all the time comes exactly once.
 */
export function tableEach(
  table: FingerprintTable,
  from: number,
  max: number,
  outOffset: number,
): { count: number; next: number } {
  const { exports, region } = table.kernel;
  const count = exports.tableEach(table.offset, from, max, outOffset);
  const cursor = region.views.u32[table.offset / 4 + TABLE_CURSOR_WORD] as number;
  return { count, next: cursor === TABLE_EACH_END ? -1 : cursor };
}

export function tableStats(table: FingerprintTable) {
  const { u32 } = table.kernel.region.views;
  const header = table.offset / 4;
  let used = 0;
  let slots = 0;
  for (const segment of segmentsOf(table)) {
    used += u32[segment / 4 + SEGMENT_USED_WORD] as number;
    slots += u32[segment / 4 + SEGMENT_SLOTS_WORD] as number;
  }
  return {
    count: u32[header + TABLE_COUNT_WORD] as number,
    removed: u32[header + TABLE_REMOVED_WORD] as number,
    bytes: table.pageCount * REGION_PAGE_BYTES,
    load: used / slots,
    segments: u32[header + TABLE_SEGMENT_COUNT_WORD] as number,
    longestProbe: u32[header + TABLE_LONGEST_PROBE_WORD] as number,
  };
}

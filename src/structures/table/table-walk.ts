/**
 * A walk over all of a table in slices, in the order of its hashes, through one buffer in the region.
 *
 *   I1  Inserts and growth between two slices are allowed: what is there all the time comes exactly once.
 */
import { memoryFull } from "../../base/errors.ts";
import { REGION_PAGE_BYTES } from "../../layout/memory/region.ts";
import { TABLE_EACH_MIN } from "../../layout/seen/table.ts";
import { regionGive, regionTake } from "../../memory/region.ts";
import { type FingerprintTable, tableEach, tableFindBatch } from "./fingerprint-table.ts";

const BUFFER_PAGES = Math.ceil((TABLE_EACH_MIN * 12) / REGION_PAGE_BYTES);

/** A walk over one table; the buffer holds one slice of it. */
export interface TableWalk {
  readonly table: FingerprintTable;
  readonly buffer: number;
  /** Where the next slice begins; −1: all was seen. */
  cursor: number;
  count: number;
}

export function openWalk(table: FingerprintTable): TableWalk {
  const buffer = regionTake(table.kernel.region, BUFFER_PAGES);
  if (buffer === 0) throw memoryFull();
  return { table, buffer, cursor: 0, count: 0 };
}

/** The next slice into the buffer; false: there is none. */
export function walkNext(walk: TableWalk): boolean {
  if (walk.cursor < 0) return false;
  const { count, next } = tableEach(walk.table, walk.cursor, TABLE_EACH_MIN, walk.buffer);
  walk.count = count;
  walk.cursor = next;
  return true;
}

/** Brings the values of entries `from` to `end` of the slice up to date; 0: it is there no more. */
export function walkLook(walk: TableWalk, from: number, end: number): void {
  const values = walkValue(walk, from);
  const { u32 } = walk.table.kernel.region.views;
  u32.fill(0, values, values + end - from); // nothing is passed over
  tableFindBatch(walk.table, walk.buffer + from * 8, end - from, values * 4);
}

export function closeWalk(walk: TableWalk): void {
  regionGive(walk.table.kernel.region, walk.buffer, BUFFER_PAGES);
}

/** Word of entry `index`'s hash (lo, then hi). */
export function walkHash(walk: TableWalk, index: number): number {
  return walk.buffer / 4 + index * 2;
}

/** Word of entry `index`'s value. */
export function walkValue(walk: TableWalk, index: number): number {
  return walk.buffer / 4 + TABLE_EACH_MIN * 2 + index;
}

/**
 * How a fingerprint table grows: one segment at a time, by whole pages.
 *
 *   1 → 2 → 3 → 4 → 5 pages → two segments of 3 pages
 *                           → 1 to 7 pages each, where hashes are so uneven that 3 will not do for
 *                             one half; up to 7 also where the directory has no bits left
 *   1 → 2 → 3 pages → two segments of 3 pages, while the table is small (DOUBLING_PAGES): half as
 *                     many sweeps, and as many entries where the room ends
 *
 * Each step is a sweep in the kernel from the old pages into fresh ones, so a step that finds no
 * pages
 * has changed nothing. A segment with many removed entries is swept into as many pages instead.
 *
 *   I1  The table's pages are exactly: header and directory, descriptor pages, units of live
 *       segments.
 *   I2  Old pages are given back after the kernel has exchanged the descriptor.
 *   I3  Any hashes at all: a segment that is split as often as the directory has bits and is full
 *       refuses more; nothing else does but a region without pages.
 */
import { assert } from "../../base/assert.ts";
import type { Kernel } from "../../kernel/kernel.ts";
import { REGION_PAGE_BYTES } from "../../layout/memory/region.ts";
import {
  SEGMENT_DEPTH_WORD,
  SEGMENT_LINES_WORD,
  SEGMENT_REMOVED_WORD,
  SEGMENT_SLOTS_WORD,
  SEGMENT_UNITS_EVEN,
  SEGMENT_UNITS_MAX,
  SEGMENT_UNITS_SPLIT,
  SEGMENT_UNITS_WORD,
  SEGMENT_USED_WORD,
  TABLE_COUNT_WORD,
  TABLE_DIRECTORY_BITS,
  TABLE_DIRECTORY_COUNT,
  TABLE_DIRECTORY_OFFSET,
  TABLE_GROW_LOW_BARE,
  TABLE_GROW_LOW_VALUED,
  TABLE_HEADER_BYTES,
  TABLE_LINE_SLOTS_BARE,
  TABLE_LINE_SLOTS_VALUED,
  TABLE_OTHER_UNITS_WORD,
  TABLE_PAGES_WORD,
  TABLE_SEGMENT_BYTES,
  TABLE_UNIT_LINES,
  TABLE_UNITS_WORD,
} from "../../layout/seen/table.ts";
import { regionGive, regionTake } from "../../memory/region.ts";

/** Entries of a segment differ from the mean: of 30,000 by less than this in all but a few. */
const AHEAD = 1.02;

/**
 * Pages up to which a table grows by doubling: 12 MiB, 64 segments of 3 pages. What half empty segments cost is
 * bounded by this, while from there on the steps are small, and so is the mean of bytes per entry.
 */
const DOUBLING_PAGES = 192;

export interface FingerprintTable {
  readonly kernel: Kernel;
  /** Where the table stands: what another thread attaches to. */
  readonly offset: number;
  readonly isValued: boolean;
  /** Pages of descriptors beyond those behind the header; kept until the table is gone. */
  readonly descriptorPages: number[];
  descriptorCount: number;
  /** Pages now held. */
  pageCount: number;
  /** Segments rebuilt so far: slots returned before the latest may have moved. */
  sweeps: number;
}

/** Offsets of the descriptors of all segments, in the order of their hashes. */
export function segmentsOf(table: FingerprintTable): number[] {
  const { u32 } = table.kernel.region.views;
  const segments: number[] = [];
  for (let index = 0; index < TABLE_DIRECTORY_COUNT; ) {
    const segment = u32[(table.offset + TABLE_DIRECTORY_OFFSET) / 4 + index] as number;
    segments.push(segment);
    const depth = u32[segment / 4 + SEGMENT_DEPTH_WORD] as number;
    assert(depth <= TABLE_DIRECTORY_BITS, "a segment's depth is within the directory");
    index += 1 << (TABLE_DIRECTORY_BITS - depth);
  }
  return segments;
}

/** Byte offsets of a segment's units. */
export function unitsOf(table: FingerprintTable, segment: number): number[] {
  const { u32 } = table.kernel.region.views;
  const first = segment / 4 + SEGMENT_UNITS_WORD;
  const count = (u32[segment / 4 + SEGMENT_LINES_WORD] as number) / TABLE_UNIT_LINES;
  return [...u32.subarray(first, first + count)];
}

/** Offset of the descriptor of the segment that a hash belongs to. */
export function segmentOf(table: FingerprintTable, hi: number): number {
  const index = hi >>> (32 - TABLE_DIRECTORY_BITS);
  const directory = (table.offset + TABLE_DIRECTORY_OFFSET) / 4;
  return table.kernel.region.views.u32[directory + index] as number;
}

export function segmentOfRow(table: FingerprintTable, hashesOffset: number, row: number): number {
  const hi = table.kernel.region.views.u32[hashesOffset / 4 + 2 * row + 1] as number;
  return segmentOf(table, hi);
}

/** Slots of a segment that are not in use. */
export function segmentRoom(table: FingerprintTable, segment: number): number {
  const { u32 } = table.kernel.region.views;
  const slots = u32[segment / 4 + SEGMENT_SLOTS_WORD] as number;
  return slots - (u32[segment / 4 + SEGMENT_USED_WORD] as number);
}

/**
 * Grows until every row of a batch has a place, counted exactly; false when the region is
 * exhausted.
 */
export function growForDemand(
  table: FingerprintTable,
  hashesOffset: number,
  count: number,
  valuesOffset: number,
): boolean {
  for (;;) {
    const row = table.kernel.exports.tableDemand(table.offset, hashesOffset, count, valuesOffset);
    if (row < 0) return true;
    if (!tryGrow(table, segmentOfRow(table, hashesOffset, row))) return false;
  }
}

/** Grows a segment; false: there is no memory. */
export function tryGrow(table: FingerprintTable, segment: number): boolean {
  const { u32 } = table.kernel.region.views;
  const word = segment / 4;
  const units = (u32[word + SEGMENT_LINES_WORD] as number) / TABLE_UNIT_LINES;
  const removed = u32[word + SEGMENT_REMOVED_WORD] as number;
  if (removed > 0 && removed * 4 >= (u32[word + SEGMENT_USED_WORD] as number)) {
    return rebuild(table, segment, units) === "done";
  }
  const isLeaf = u32[word + SEGMENT_DEPTH_WORD] === TABLE_DIRECTORY_BITS;
  if (units >= unitsToSplit(table) && !isLeaf) return trySplit(table, segment);
  if (units === SEGMENT_UNITS_MAX) return false;
  return rebuild(table, segment, units + 1) === "done";
}

/** Units at which a segment becomes two. */
function unitsToSplit({ pageCount }: FingerprintTable): number {
  return pageCount < DOUBLING_PAGES ? SEGMENT_UNITS_SPLIT : SEGMENT_UNITS_EVEN;
}

/**
 * Makes room for so many entries in an empty table, before any comes: hashes that come in order would else be crowded
 * into ever the same lines, and each be moved at every step of growth. False, with less room or none, when there
 * are no pages; the table is valid all the same.
 */
export function growAhead(table: FingerprintTable, count: number): boolean {
  const { u32 } = table.kernel.region.views;
  if (u32[table.offset / 4 + TABLE_COUNT_WORD] !== 0) return true;
  const most = unitRoom(table) * SEGMENT_UNITS_MAX;
  let depth = 0;
  while (depth < TABLE_DIRECTORY_BITS && (count * AHEAD) / 2 ** depth > most) depth++;
  for (let level = 0; level < depth; level++) {
    for (const segment of segmentsOf(table)) {
      if (u32[segment / 4 + SEGMENT_DEPTH_WORD] !== level) continue;
      const other = descriptorAt(table, table.descriptorCount);
      if (other === 0 || rebuild(table, segment, 1, { other, units: 1 }) !== "done") return false;
      table.descriptorCount++;
    }
  }
  const units = unitsFor(table, (count * AHEAD) / 2 ** depth);
  if (units === 1) return true;
  return segmentsOf(table).every((segment) => rebuild(table, segment, units) === "done");
}

/** Two segments for one: of equal size, or, where hashes are uneven, as large as each half needs. */
function trySplit(table: FingerprintTable, segment: number): boolean {
  const { exports, region } = table.kernel;
  const other = descriptorAt(table, table.descriptorCount);
  if (other === 0) return false;
  let result = rebuild(table, segment, SEGMENT_UNITS_SPLIT, { other, units: SEGMENT_UNITS_SPLIT });
  if (result === "unfit") {
    const { u32 } = region.views;
    const used = u32[segment / 4 + SEGMENT_USED_WORD] as number;
    const live = used - (u32[segment / 4 + SEGMENT_REMOVED_WORD] as number);
    const upper = exports.tableUpper(table.offset, segment);
    const upperHalf = { other, units: unitsFor(table, upper) };
    result = rebuild(table, segment, unitsFor(table, live - upper), upperHalf);
    assert(result !== "unfit", "a half has room for what one segment held");
  }
  if (result !== "done") return false;
  table.descriptorCount++;
  return true;
}

/** The fewest units in which so many entries do not ask for growth at once, or all there may be. */
function unitsFor(table: FingerprintTable, entries: number): number {
  return Math.min(Math.floor(entries / unitRoom(table)) + 1, SEGMENT_UNITS_MAX);
}

/** Entries that a unit takes before its segment asks for growth. */
function unitRoom({ isValued }: FingerprintTable): number {
  const perLine = isValued ? TABLE_LINE_SLOTS_VALUED : TABLE_LINE_SLOTS_BARE;
  const load1024 = isValued ? TABLE_GROW_LOW_VALUED : TABLE_GROW_LOW_BARE;
  return (TABLE_UNIT_LINES * perLine * load1024) / 1024;
}

/** The descriptor of a split's upper half, and its units. */
interface UpperHalf {
  readonly other: number;
  readonly units: number;
}

const NO_UPPER_HALF: UpperHalf = { other: 0, units: 0 };

/**
 * Takes pages, lets the kernel sweep the segment into them and frees the old ones. When there are no pages, or too few for a half,
 * nothing has changed.
 */
function rebuild(
  table: FingerprintTable,
  segment: number,
  units: number,
  upper: UpperHalf = NO_UPPER_HALF,
): "done" | "exhausted" | "unfit" {
  const { exports, region } = table.kernel;
  const wanted = units + upper.units;
  const pages: number[] = [];
  while (pages.length < wanted) {
    const page = regionTake(region, 1);
    if (page === 0) {
      for (const taken of pages) regionGive(region, taken, 1);
      return "exhausted";
    }
    pages.push(page);
  }
  const { u32 } = region.views;
  const header = table.offset / 4;
  u32[header + TABLE_UNITS_WORD] = units;
  u32[header + TABLE_OTHER_UNITS_WORD] = upper.units;
  u32.set(pages, header + TABLE_PAGES_WORD);
  const before = unitsOf(table, segment);
  if (exports.tableGrow(table.offset, segment, upper.other) === 0) {
    for (const page of pages) regionGive(region, page, 1);
    return "unfit";
  }
  for (const page of before) regionGive(region, page, 1);
  table.sweeps++;
  table.pageCount += wanted - before.length;
  return "done";
}

/** Offset of descriptor `index`, its page taken if need be; 0 when the region is exhausted. */
function descriptorAt(table: FingerprintTable, index: number): number {
  const behindHeader = (REGION_PAGE_BYTES - TABLE_HEADER_BYTES) / TABLE_SEGMENT_BYTES;
  if (index < behindHeader) return table.offset + TABLE_HEADER_BYTES + index * TABLE_SEGMENT_BYTES;
  const perPage = REGION_PAGE_BYTES / TABLE_SEGMENT_BYTES;
  const page = Math.floor((index - behindHeader) / perPage);
  if (page === table.descriptorPages.length) {
    const taken = regionTake(table.kernel.region, 1);
    if (taken === 0) return 0;
    table.descriptorPages.push(taken);
    table.pageCount++;
  }
  const offset = table.descriptorPages[page] as number;
  return offset + ((index - behindHeader) % perPage) * TABLE_SEGMENT_BYTES;
}

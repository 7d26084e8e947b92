/**
 * What changes the shape of a table: building segments, removal, iteration.
 *
 *   grow     segment (u units) ──▶ the same segment (u + 1 units)
 *   split    segment (5 units) ──▶ lower half (3 units) + upper half (3 units); where hashes are
 *                                  uneven, as many units each as the owner asks
 *   compact  segment (u units) ──▶ the same segment (u units) without its removed entries
 *
 * All three are one sweep: old lines are read in order, and since a higher hash never has a lower
 * home
 * line, new lines are written nearly in order. New pages come in zeroed through the header's page
 * lists;
 * the owner frees the old pages afterwards. A sweep writes nothing but the new pages; the segment is exchanged at its end. A sweep that
 * finds no room in the new pages has changed nothing and returns that.
 */
import {
  SEGMENT_DEPTH_WORD,
  SEGMENT_FULL_BYTES,
  SEGMENT_FULL_OFFSET,
  SEGMENT_GROW_AT_WORD,
  SEGMENT_LINES_WORD,
  SEGMENT_PREFIX_WORD,
  SEGMENT_REMOVED_WORD,
  SEGMENT_SLOTS_WORD,
  SEGMENT_UNITS_WORD,
  SEGMENT_USED_WORD,
  TABLE_COUNT_WORD,
  TABLE_CURSOR_WORD,
  TABLE_DIRECTORY_BITS,
  TABLE_DIRECTORY_COUNT,
  TABLE_DIRECTORY_OFFSET,
  TABLE_EACH_END,
  TABLE_GROW_HIGH_BARE,
  TABLE_GROW_HIGH_VALUED,
  TABLE_GROW_LOW_BARE,
  TABLE_GROW_LOW_VALUED,
  TABLE_HEADER_HASHES,
  TABLE_HEADER_VALUES_WORD,
  TABLE_LINE_BYTES,
  TABLE_LINE_SLOTS_BARE,
  TABLE_LINE_SLOTS_VALUED,
  TABLE_OTHER_UNITS_WORD,
  TABLE_PAGES_WORD,
  TABLE_REMOVED_HASH,
  TABLE_REMOVED_WORD,
  TABLE_SEGMENT_COUNT_WORD,
  TABLE_UNIT_BYTES,
  TABLE_UNIT_LINES,
  TABLE_UNITS_WORD,
  TABLE_VALUED_WORD,
} from "../../src/layout/seen/table";
import { add, findAt, homeLine, isHeaderHash, segmentOf, valueAt, wide } from "./table";
import { slotsPerLine, sweep, sweptMap } from "./rebuild-segment";

/** Type arguments, as in table.ts. */
type Bare = u8;
type Valued = u32;

/** Puts an empty segment of depth 0 with the pages of the header's list under the whole directory. */
export function tableOpen(table: usize, segment: usize): void {
  store<u32>(segment, 0, SEGMENT_USED_WORD << 2);
  store<u32>(segment, 0, SEGMENT_REMOVED_WORD << 2);
  describe(table, segment, TABLE_PAGES_WORD, load<u32>(table, TABLE_UNITS_WORD << 2), 0);
  memory.fill(segment + SEGMENT_FULL_OFFSET, 0, SEGMENT_FULL_BYTES);
  store<u32>(table, 1, TABLE_SEGMENT_COUNT_WORD << 2);
  point(table, segment, 0, TABLE_DIRECTORY_COUNT);
}

/**
 * Rebuilds a segment into the pages of the header's list; with `other` not 0 into two halves,
 * the upper one in the last pages of the list under the descriptor `other`. 1, or 0 when a half
 * has more entries than its pages hold; then nothing has changed.
 */
export function tableGrow(table: usize, segment: usize, other: usize): i32 {
  const used = load<u32>(segment, SEGMENT_USED_WORD << 2);
  const removed = load<u32>(segment, SEGMENT_REMOVED_WORD << 2);
  const kept =
    load<u32>(table, TABLE_VALUED_WORD << 2) !== 0
      ? sweep<Valued>(table, segment, other)
      : sweep<Bare>(table, segment, other);
  if (kept < 0) return 0;
  const upper = other === 0 ? 0 : load<u32>(other, SEGMENT_USED_WORD << 2);
  exchange(table, segment, other);
  store<u32>(segment, kept - upper, SEGMENT_USED_WORD << 2);
  if (load<u32>(table, TABLE_VALUED_WORD << 2) !== 0) {
    const lines = load<u32>(table, TABLE_UNITS_WORD << 2) << 10;
    const otherLines = load<u32>(table, TABLE_OTHER_UNITS_WORD << 2) << 10;
    memory.copy(segment + SEGMENT_FULL_OFFSET, sweptMap(table, 0), lines >> 3);
    if (other !== 0) {
      memory.copy(other + SEGMENT_FULL_OFFSET, sweptMap(table, lines), otherLines >> 3);
    }
  }
  add(table, TABLE_COUNT_WORD, kept - (used - removed));
  add(table, TABLE_REMOVED_WORD, -(<i32>removed));
  return 1;
}

/** Live entries of a segment that a split would put into its upper half. */
export function tableUpper(table: usize, segment: usize): u32 {
  const isValued = load<u32>(table, TABLE_VALUED_WORD << 2) !== 0;
  return isValued ? countUpper<Valued>(segment) : countUpper<Bare>(segment);
}

function countUpper<V>(segment: usize): u32 {
  const depth: u64 = load<u32>(segment, SEGMENT_DEPTH_WORD << 2);
  const units = load<u32>(segment, SEGMENT_LINES_WORD << 2) >> 10;
  let upper: u32 = 0;
  for (let unit: u32 = 0; unit < units; unit++) {
    const start: usize = load<u32>(segment + (unit << 2), SEGMENT_UNITS_WORD << 2);
    for (let line = start; line !== start + TABLE_UNIT_BYTES; line += TABLE_LINE_BYTES) {
      for (let slot = line; slot !== line + (slotsPerLine<V>() << 3); slot += 8) {
        const hash = load<u64>(slot);
        if (hash === 0) break;
        if (sizeof<V>() === 4 ? load<u32>(valueAt(slot)) === 0 : hash === TABLE_REMOVED_HASH) {
          continue;
        }
        upper += <u32>((hash << depth) >> 63);
      }
    }
  }
  return upper;
}

/** Lets the descriptors and the directory name the new lines in place of the old ones. */
function exchange(table: usize, segment: usize, other: usize): void {
  const depth = load<u32>(segment, SEGMENT_DEPTH_WORD << 2);
  const prefix = load<u32>(segment, SEGMENT_PREFIX_WORD << 2);
  const units = load<u32>(table, TABLE_UNITS_WORD << 2);
  store<u32>(segment, 0, SEGMENT_REMOVED_WORD << 2);
  if (other === 0) {
    describe(table, segment, TABLE_PAGES_WORD, units, (depth << 16) | prefix);
  } else {
    const newDepth = depth + 1;
    const upper = (prefix << 1) | 1;
    const span: u32 = 1 << (TABLE_DIRECTORY_BITS - newDepth);
    store<u32>(other, 0, SEGMENT_REMOVED_WORD << 2);
    const otherUnits = load<u32>(table, TABLE_OTHER_UNITS_WORD << 2);
    describe(table, other, TABLE_PAGES_WORD + units, otherUnits, (newDepth << 16) | upper);
    describe(table, segment, TABLE_PAGES_WORD, units, (newDepth << 16) | (prefix << 1));
    point(table, other, upper * span, span);
    add(table, TABLE_SEGMENT_COUNT_WORD, 1);
  }
}

/** Writes a descriptor's shape; `path` is its depth and, in the low 16 bits, its prefix. */
function describe(table: usize, segment: usize, list: u32, units: u32, path: u32): void {
  const isValued = load<u32>(table, TABLE_VALUED_WORD << 2) !== 0;
  const perLine: u32 = isValued ? TABLE_LINE_SLOTS_VALUED : TABLE_LINE_SLOTS_BARE;
  const slots: u32 = units * TABLE_UNIT_LINES * perLine;
  const prefix = path & 0xffff;
  // Neighbours grow at different loads, so that a table never grows all its segments at once.
  const share = (prefix * 0x9e3779b1) >> 22;
  const low: u32 = isValued ? TABLE_GROW_LOW_VALUED : TABLE_GROW_LOW_BARE;
  const high: u32 = isValued ? TABLE_GROW_HIGH_VALUED : TABLE_GROW_HIGH_BARE;
  const load1024 = low + (((high - low) * share) >> 10);
  store<u32>(segment, (slots >> 10) * load1024, SEGMENT_GROW_AT_WORD << 2);
  store<u32>(segment, slots, SEGMENT_SLOTS_WORD << 2);
  store<u32>(segment, prefix, SEGMENT_PREFIX_WORD << 2);
  store<u32>(segment, path >> 16, SEGMENT_DEPTH_WORD << 2);
  store<u32>(segment, units * TABLE_UNIT_LINES, SEGMENT_LINES_WORD << 2);
  for (let unit: u32 = 0; unit < units; unit++) {
    const page = load<u32>(table + ((list + unit) << 2));
    store<u32>(segment + (unit << 2), page, SEGMENT_UNITS_WORD << 2);
  }
}

/** Lets `count` directory entries from `first` on name a segment. */
function point(table: usize, segment: usize, first: u32, count: u32): void {
  const start = table + TABLE_DIRECTORY_OFFSET + (first << 2);
  for (let at = start; at !== start + (count << 2); at += 4) store<u32>(at, <u32>segment);
}

/** Takes one hash out; 1 if it was there. */
export function tableRemove(table: usize, lo: u32, hi: u32): i32 {
  const hash = wide(lo, hi);
  const segment = segmentOf(table, hash);
  const home = homeLine(segment, hash);
  const isValued = load<u32>(table, TABLE_VALUED_WORD << 2) !== 0;
  const place = isValued ? findAt<Valued>(table, hash, home) : findAt<Bare>(table, hash, home);
  if (place === 0) return 0;
  const isHeader = isHeaderHash(hash);
  if (isValued || isHeader) {
    if (load<u32>(place) === 0) return 0;
    store<u32>(place, 0);
  } else store<u64>(place, TABLE_REMOVED_HASH);
  if (!isHeader) {
    add(segment, SEGMENT_REMOVED_WORD, 1);
    add(table, TABLE_REMOVED_WORD, 1);
  }
  add(table, TABLE_COUNT_WORD, -1);
  return 1;
}

/**
 * Copies the live entries of whole segments out, from directory index `from` on: hashes to `out`,
 * values
 * (bare: 1) to out + 8 × max. Returns how many; the header's cursor then holds where to go on.
 */
export function tableEach(table: usize, from: u32, max: u32, out: usize): u32 {
  const isValued = load<u32>(table, TABLE_VALUED_WORD << 2) !== 0;
  const values = out + (max << 3);
  let count: u32 = 0;
  for (let hash: u32 = 0; from === 0 && hash < <u32>TABLE_HEADER_HASHES; hash++) {
    const value = load<u32>(table + (hash << 2), TABLE_HEADER_VALUES_WORD << 2);
    if (value === 0) continue;
    store<u64>(out + (count << 3), hash);
    store<u32>(values + (count << 2), isValued ? value : 1);
    count++;
  }
  while (from < <u32>TABLE_DIRECTORY_COUNT) {
    const segment: usize = load<u32>(table + (from << 2), TABLE_DIRECTORY_OFFSET);
    if (count + load<u32>(segment, SEGMENT_USED_WORD << 2) > max) break;
    count = isValued
      ? eachOf<Valued>(segment, count, out, values)
      : eachOf<Bare>(segment, count, out, values);
    const depth = load<u32>(segment, SEGMENT_DEPTH_WORD << 2);
    const next =
      (load<u32>(segment, SEGMENT_PREFIX_WORD << 2) + 1) << (TABLE_DIRECTORY_BITS - depth);
    if (next <= from) unreachable(); // a broken descriptor must not lead round for ever
    from = next;
  }
  const cursor: i32 = from < <u32>TABLE_DIRECTORY_COUNT ? <i32>from : TABLE_EACH_END;
  store<i32>(table, cursor, TABLE_CURSOR_WORD << 2);
  return count;
}

function eachOf<V>(segment: usize, from: u32, out: usize, values: usize): u32 {
  const units = load<u32>(segment, SEGMENT_LINES_WORD << 2) >> 10;
  let count = from;
  for (let unit: u32 = 0; unit < units; unit++) {
    const start: usize = load<u32>(segment + (unit << 2), SEGMENT_UNITS_WORD << 2);
    for (let line = start; line !== start + TABLE_UNIT_BYTES; line += TABLE_LINE_BYTES) {
      for (let slot = line; slot !== line + (slotsPerLine<V>() << 3); slot += 8) {
        const hash = load<u64>(slot);
        if (hash === 0) break;
        const value: u32 = sizeof<V>() === 4 ? load<u32>(valueAt(slot)) : 1;
        if (sizeof<V>() === 4 ? value === 0 : hash === TABLE_REMOVED_HASH) continue;
        store<u64>(out + (count << 3), hash);
        store<u32>(values + (count << 2), value);
        count++;
      }
    }
  }
  return count;
}

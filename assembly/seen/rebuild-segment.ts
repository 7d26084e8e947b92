/**
 * The sweep that rebuilds a segment: all live entries of its old pages into new ones, in two passes.
 *
 *   old lines in order ─▶ home has room ─▶ into it at once
 *                     └─▶ home is full ──▶ put off: a list of old slots ─▶ behind all others, to the first
 *                                          line with room, by the map of full lines
 *
 * Homes first: an entry that went on from its home takes no place there from one that belongs there, so that fewer
 * stand away from home than if each had come in its turn, and the loop over all entries reads no line but the home. Where the list is
 * full it is done at once, and the first pass goes on.
 *
 *   I1  Nothing is written but the new pages and the header's scratch; of `other`, which is not published yet, the count.
 *   I2  What is placed keeps I1, I2 and I6 of table.ts.
 */
import {
  SEGMENT_DEPTH_WORD,
  SEGMENT_LINES_WORD,
  SEGMENT_UNITS_WORD,
  SEGMENT_USED_WORD,
  TABLE_FILLS_BYTES,
  TABLE_FILLS_MAP_OFFSET,
  TABLE_FILLS_OFFSET,
  TABLE_FILTER_OFFSET,
  TABLE_LINE_BYTES,
  TABLE_LINE_SLOTS_BARE,
  TABLE_LINE_SLOTS_VALUED,
  TABLE_LINE_VALUES_BYTES,
  TABLE_OTHER_UNITS_WORD,
  TABLE_PAGES_WORD,
  TABLE_PUT_OFF_MAX,
  TABLE_PUT_OFF_OFFSET,
  TABLE_REMOVED_HASH,
  TABLE_UNIT_BYTES,
  TABLE_UNIT_LINES,
  TABLE_UNITS_WORD,
} from "../../src/layout/seen/table";
import { filterBit, valueAt } from "./table";
import { stepIndex, stepsToRoom } from "./probe-order";

/** Type arguments in place of a flag: into one segment, into two of equal size, into two that are not. */
type Whole = u8;
type Halves = u16;
type Uneven = u32;

/**
 * Places all live entries of a segment in the pages of the header's list, those of an upper half behind those of
 * the lower one. Returns how many there are, those of the upper half also in the count of `other`, or -1 when they
 * do not fit.
 */
export function sweep<V>(table: usize, segment: usize, other: usize): i32 {
  memory.fill(table + TABLE_FILLS_OFFSET, 0, TABLE_FILLS_BYTES);
  const lines = load<u32>(table, TABLE_UNITS_WORD << 2) << 10;
  const otherLines = load<u32>(table, TABLE_OTHER_UNITS_WORD << 2) << 10;
  const isPlaced =
    other === 0
      ? moveEntries<V, Whole>(table, segment)
      : lines === otherLines
        ? moveEntries<V, Halves>(table, segment)
        : moveEntries<V, Uneven>(table, segment);
  if (!isPlaced) return -1;
  const lower = sumOf(table + TABLE_FILLS_OFFSET, lines);
  if (other === 0) return <i32>lower;
  const upper = sumOf(table + TABLE_FILLS_OFFSET + lines, otherLines);
  store<u32>(other, upper, SEGMENT_USED_WORD << 2);
  return <i32>(lower + upper);
}

/** The map of full lines that a sweep has left; that of an upper half begins behind the lower one's lines. */
export function sweptMap(table: usize, line: u32): usize {
  return table + TABLE_FILLS_OFFSET + TABLE_FILLS_MAP_OFFSET + (line >> 3);
}

export function slotsPerLine<V>(): u32 {
  return sizeof<V>() === 1 ? TABLE_LINE_SLOTS_BARE : TABLE_LINE_SLOTS_VALUED;
}

/**
 * Number of an entry's home among the new lines. `scaled` is its hash without the bits that all entries share; of halves
 * of equal size the next bit is the one that leads behind `lines`, all by itself.
 */
function homeOf<S>(scaled: u64, lines: u32, otherLines: u32): u32 {
  if (sizeof<S>() === 1) return <u32>(((scaled >> 32) * <u64>lines) >> 32);
  if (sizeof<S>() === 2) return <u32>(((scaled >> 31) * <u64>lines) >> 32);
  const next = (scaled << 1) >> 32;
  const isUpper = scaled >> 63 !== 0;
  return isUpper ? lines + <u32>((next * <u64>otherLines) >> 32) : <u32>((next * <u64>lines) >> 32);
}

/**
 * The first pass, four times over each entry of a table's life: each instruction counts. What is needed for a few
 * entries, or can be counted afterwards, is done elsewhere; a product keeps the shift's register free. @hot
 */
function moveEntries<V, S>(table: usize, segment: usize): bool {
  const scale: u64 = (<u64>1) << (<u64>load<u32>(segment, SEGMENT_DEPTH_WORD << 2));
  const oldUnits = load<u32>(segment, SEGMENT_LINES_WORD << 2) >> 10;
  const lines = load<u32>(table, TABLE_UNITS_WORD << 2) << 10;
  const otherLines = load<u32>(table, TABLE_OTHER_UNITS_WORD << 2) << 10;
  const fills = table + TABLE_FILLS_OFFSET;
  const pages = table + (TABLE_PAGES_WORD << 2);
  let putOff = table + TABLE_PUT_OFF_OFFSET;
  for (let unit: u32 = 0; unit < oldUnits; unit++) {
    const start: usize = load<u32>(segment + (unit << 2), SEGMENT_UNITS_WORD << 2);
    for (let line = start; line !== start + TABLE_UNIT_BYTES; line += TABLE_LINE_BYTES) {
      let from = line + TABLE_LINE_VALUES_BYTES; // where the slot's value stands, if it has one
      for (let slot = line; slot !== line + (slotsPerLine<V>() << 3); slot += 8, from += 4) {
        const hash = load<u64>(slot);
        if (hash === 0) break;
        const value: u32 = sizeof<V>() === 4 ? load<u32>(from) : 0;
        if (sizeof<V>() === 4 ? value === 0 : hash === TABLE_REMOVED_HASH) continue;
        const home = homeOf<S>(hash * scale, lines, otherLines);
        const fill: u32 = load<u8>(fills + home);
        if (fill !== slotsPerLine<V>()) {
          store<u8>(fills + home, fill + 1);
          const place = placeOf(pages, home);
          store<u64>(place + (fill << 3), hash);
          if (sizeof<V>() === 4) store<u32>(place + (fill << 2), value, TABLE_LINE_VALUES_BYTES);
        } else {
          store<u32>(putOff, <u32>slot);
          putOff += 4;
          if (putOff !== table + TABLE_PUT_OFF_OFFSET + (TABLE_PUT_OFF_MAX << 2)) continue;
          if (!placeRest<V, S>(table, scale, putOff)) return false;
          putOff = table + TABLE_PUT_OFF_OFFSET;
        }
      }
    }
  }
  return placeRest<V, S>(table, scale, putOff);
}

/**
 * The second pass: entries whose homes are full, from the list's start to `end`; false: they do not fit. The maps are
 * then those of the new lines as they are.
 */
function placeRest<V, S>(table: usize, scale: u64, end: usize): bool {
  const lines = load<u32>(table, TABLE_UNITS_WORD << 2) << 10;
  const otherLines = load<u32>(table, TABLE_OTHER_UNITS_WORD << 2) << 10;
  const fills = table + TABLE_FILLS_OFFSET;
  const pages = table + (TABLE_PAGES_WORD << 2);
  markFull<V>(table, sizeof<S>() === 1 ? lines : lines + otherLines);
  for (let at = table + TABLE_PUT_OFF_OFFSET; at !== end; at += 4) {
    const slot: usize = load<u32>(at);
    const hash = load<u64>(slot);
    const home = homeOf<S>(hash * scale, lines, otherLines);
    const isUpper = sizeof<S>() !== 1 && home >= lines;
    const first = isUpper ? lines : 0;
    const most = isUpper ? otherLines : lines;
    const step = stepsToRoom(sweptMap(table, first), most, hash, home - first);
    if (step === most) return false;
    const index = first + stepIndex(home - first, hash, step, most);
    const fill: u32 = load<u8>(fills + index);
    store<u8>(fills + index, fill + 1);
    const byte = sweptMap(table, index);
    const isLast = <u32>(fill + 1 === slotsPerLine<V>());
    store<u8>(byte, load<u8>(byte) | (isLast << (index & 7)));
    const place = placeOf(pages, index);
    store<u64>(place + (fill << 3), hash);
    if (sizeof<V>() === 4) {
      store<u32>(place + (fill << 2), load<u32>(valueAt(slot)), TABLE_LINE_VALUES_BYTES);
      const filter = placeOf(pages, home) + TABLE_FILTER_OFFSET;
      store<u32>(filter, load<u32>(filter) | filterBit(hash));
    }
  }
  return true;
}

/** Where line `index` of the pages of a list stands. */
function placeOf(list: usize, index: u32): usize {
  const unit: usize = load<u32>(list + ((index >> 10) << 2));
  return unit + ((index & (TABLE_UNIT_LINES - 1)) << 6);
}

/** The map of full lines, from how full the sweep has made them. */
function markFull<V>(table: usize, lines: u32): void {
  const full = i8x16.splat(<i8>slotsPerLine<V>());
  for (let line: u32 = 0; line < lines; line += 16) {
    const bits = i8x16.bitmask(i8x16.eq(v128.load(table + line, TABLE_FILLS_OFFSET), full));
    store<u16>(sweptMap(table, line), bits);
  }
}

/** The sum of `count` bytes, none of them over 8: how many entries stand in so many lines. */
function sumOf(fills: usize, count: u32): u32 {
  let sum = i16x8.splat(0);
  for (let at = fills; at !== fills + count; at += 16) {
    sum = i16x8.add(sum, i16x8.extadd_pairwise_i8x16_u(v128.load(at)));
  }
  const pairs = i32x4.extadd_pairwise_i16x8_u(sum);
  return (
    i32x4.extract_lane(pairs, 0) +
    i32x4.extract_lane(pairs, 1) +
    i32x4.extract_lane(pairs, 2) +
    i32x4.extract_lane(pairs, 3)
  );
}

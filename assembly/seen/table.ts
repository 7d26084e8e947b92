/**
 * Room `assembly/seen`: the two hashes, the exact table and the bloom. Growth is decided by src/structures/table.
 */

/**
 * Exact fingerprint table: open addressing over 64-bit keyed hashes, grown segment by segment.
 *
 *   hash  ┌ 14 bits ─┐                      ┌ segment ─────────────┐      unit (one page)
 *         directory ─┴─▶ descriptor ───────▶│ depth, lines, units ─┼─▶ ┌ line ┐┌ line ┐┌ line ┐ …
 *                                           └──────────────────────┘   8 hashes, or 5 and 5 values
 *
 * A batch runs in passes over its rows (table-batch.ts): the first finds each row's home line and touches
 * it, so that the cache misses of many rows overlap; the last one inserts. Nothing is allocated here: the
 * owner (src/structures/table/fingerprint-table.ts) hands pages in when an insert asks for growth.
 *
 *   I1  An entry stands in the first line of its probe sequence (`lineAt`) that was not full when
 *       it came.
 *   I2  A line's empty slots (hash 0) come after its used ones; each segment keeps an empty slot.
 *   I3  The home line never falls when the hash rises: a segment is rebuilt in one sweep.
 *   I4  No hash stands twice. A removed slot keeps its hash and value 0, or, in a bare table, has
 *       hash 1.
 *   I5  The hashes 0 and 1, which mark slots, have their values in the header.
 *   I6  Valued tables: the filter word of a line has a bit for each entry whose home it is and that
 *       went on from it; a segment's map has a bit for each full line.
 *
 * What I6 is for: half of the lines of a dense valued table are full, and a probe for a new hash
 * would read three of them on average, each a miss that waits for the one before. The filter shows at the home that a hash is absent, and
 * the map, which stays in the cache, where there is room.
 *
 * Crash: nothing here survives the process.
 */
import {
  SEGMENT_DEPTH_WORD,
  SEGMENT_FULL_OFFSET,
  SEGMENT_GROW_AT_WORD,
  SEGMENT_LINES_WORD,
  SEGMENT_REMOVED_WORD,
  SEGMENT_SLOTS_WORD,
  SEGMENT_UNITS_WORD,
  SEGMENT_USED_WORD,
  TABLE_CLAIMED,
  TABLE_COUNT_WORD,
  TABLE_DIRECTORY_BITS,
  TABLE_DIRECTORY_OFFSET,
  TABLE_FAR_LINES,
  TABLE_FILTER_OFFSET,
  TABLE_GROUP_LINES,
  TABLE_GROW_FIRST,
  TABLE_LAST_SLOT_VALUED,
  TABLE_LINE_BYTES,
  TABLE_LINE_VALUES_BYTES,
  TABLE_LONGEST_PROBE_WORD,
  TABLE_REMOVED_WORD,
  TABLE_SOFT_WORD,
  TABLE_UNIT_LINES,
  TABLE_VALUED_WORD,
  TABLE_HEADER_HASHES,
  TABLE_HEADER_VALUES_WORD,
} from "../../src/layout/seen/table";
import { groupIndex, stepIndex, stepsToRoom } from "./probe-order";

/** A type argument in place of a flag, so that each kind of table has its own loops. */
type Bare = u8;
type Valued = u32;

const GROUP_LINES: u32 = TABLE_GROUP_LINES;
const GROUP_BYTES: usize = TABLE_GROUP_LINES * TABLE_LINE_BYTES;

export function segmentOf(table: usize, hash: u64): usize {
  const index = <usize>(hash >> (64 - TABLE_DIRECTORY_BITS));
  return load<u32>(table + (index << 2), TABLE_DIRECTORY_OFFSET);
}

export function homeLine(segment: usize, hash: u64): usize {
  return lineOf(segment, homeIndex(segment, hash));
}

export function homeIndex(segment: usize, hash: u64): u32 {
  const next = (hash << (<u64>load<u32>(segment, SEGMENT_DEPTH_WORD << 2))) >> 32;
  return <u32>((next * <u64>load<u32>(segment, SEGMENT_LINES_WORD << 2)) >> 32);
}

export function lineOf(segment: usize, index: u32): usize {
  const unit: usize = load<u32>(segment + ((index >> 10) << 2), SEGMENT_UNITS_WORD << 2);
  return unit + ((index & 1023) << 6);
}

/**
 * The line to read after `step` full ones. In the home's run of 64 lines, which is a page of memory to most systems: the home's
 * neighbour, then other pairs of neighbours at a stride that the hash determines; then the other runs of the group in the same way; then
 * the next group. Strides that differ keep full lines from running together, which is what makes linear probing slow.
 */
export function lineAt(table: usize, hash: u64, home: usize, step: u32): usize {
  if (step >= GROUP_LINES) return farLine(table, hash, step);
  const index = <u32>(home >> 6) & (GROUP_LINES - 1);
  return (home & ~(GROUP_BYTES - 1)) + (groupIndex(index, hash, step) << 6);
}

/** `lineAt` beyond the home's group; a segment whose probes go far shall grow. */
function farLine(table: usize, hash: u64, step: u32): usize {
  const segment = segmentOf(table, hash);
  const lines = load<u32>(segment, SEGMENT_LINES_WORD << 2);
  if (step >= lines) unreachable(); // I2 is broken: a probe must not go round for ever
  if (step === TABLE_FAR_LINES) store<u32>(segment, 0, SEGMENT_GROW_AT_WORD << 2);
  const home = homeIndex(segment, hash);
  return lineOf(segment, stepIndex(home, hash, step, lines));
}

/**
 * Byte offset of the slot that holds `hash`, or, with bit 0 set, of the empty slot where it
 * belongs; 1 alone (valued tables): it is absent and its home is full. @hot
 */
function probe<V>(table: usize, hash: u64, home: usize): usize {
  const key = i64x2.splat(hash);
  const zero = i64x2.splat(0);
  let steps: u32 = 0;
  let line = home;
  while (true) {
    const a = v128.load(line);
    const b = v128.load(line, 16);
    const c = v128.load(line, 32);
    const d = sizeof<V>() === 1 ? v128.load(line, 48) : zero;
    let hits = v128.or(i64x2.eq(a, key), i64x2.eq(b, key));
    hits = v128.or(hits, i64x2.eq(c, key));
    if (sizeof<V>() === 1) hits = v128.or(hits, i64x2.eq(d, key));
    if (v128.any_true(hits)) {
      const mask = maskOf<V>(a, b, c, d, key);
      if (mask !== 0) return line + ((<usize>ctz(mask)) << 3);
    }
    if (load<u64>(line, sizeof<V>() === 1 ? 56 : 32) === 0) {
      if (sizeof<V>() === 4 && steps !== 0) return 1;
      return (line + ((<usize>ctz(maskOf<V>(a, b, c, d, zero))) << 3)) | 1;
    }
    if (sizeof<V>() === 4 && steps === 0) {
      if ((load<u32>(home, TABLE_FILTER_OFFSET) & filterBit(hash)) === 0) return 1;
    }
    line = lineAt(table, hash, home, ++steps);
    noteSteps(table, steps);
  }
}

/** The bit of a hash in the filter word of its home. */
export function filterBit(hash: u64): u32 {
  return (<u32>1) << (<u32>hash & 31);
}

/**
 * The empty slot of a valued table where an absent hash belongs: at `at`, or beyond its home where that is
 * full (`at` 1). `room` is what roomOf returned before other rows of the batch came. The line is marked in the map where this fills it.
 */
function slotFor(table: usize, hash: u64, home: usize, at: usize, room: u32): usize {
  const segment = segmentOf(table, hash);
  let slot = at ^ 1;
  if (at === 1) {
    let line = <usize>(room & ~(TABLE_LINE_BYTES - 1));
    if (load<u64>(line, TABLE_LAST_SLOT_VALUED) !== 0) {
      room = roomOf(table, segment, hash, homeIndex(segment, hash));
      line = <usize>(room & ~(TABLE_LINE_BYTES - 1));
    }
    store<u32>(home, load<u32>(home, TABLE_FILTER_OFFSET) | filterBit(hash), TABLE_FILTER_OFFSET);
    slot = emptySlot(line);
  }
  markFilled(segment, slot, room);
  return slot;
}

/** Marks the line of `room` in its segment's map where `slot` is its last one. */
export function markFilled(segment: usize, slot: usize, room: u32): void {
  const isLast = <u32>((slot & (TABLE_LINE_BYTES - 1)) === TABLE_LAST_SLOT_VALUED);
  const index = ((room & (TABLE_LINE_BYTES - 1)) << 10) | ((room >> 6) & (TABLE_UNIT_LINES - 1));
  const map = segment + SEGMENT_FULL_OFFSET + <usize>(index >> 3);
  store<u8>(map, load<u8>(map) | (isLast << (index & 7)));
}

/** The first empty slot of a valued line that is not full. */
export function emptySlot(line: usize): usize {
  const zero = i64x2.splat(0);
  const free = maskOf<Valued>(
    v128.load(line),
    v128.load(line, 16),
    v128.load(line, 32),
    zero,
    zero,
  );
  return line + ((<usize>ctz(free)) << 3);
}

/**
 * The first line that is not full of those that a probe from line `home` reads, and in the bits below its offset the number of its unit.
 * @hot
 */
export function roomOf(table: usize, segment: usize, hash: u64, home: u32): u32 {
  const lines = load<u32>(segment, SEGMENT_LINES_WORD << 2);
  const step = stepsToRoom(segment + SEGMENT_FULL_OFFSET, lines, hash, home);
  if (step === lines) unreachable(); // I2 is broken: a segment keeps an empty slot
  noteSteps(table, step);
  if (step >= <u32>TABLE_FAR_LINES) store<u32>(segment, 0, SEGMENT_GROW_AT_WORD << 2);
  const index = stepIndex(home, hash, step, lines);
  return <u32>lineOf(segment, index) | (index >> 10);
}

export function noteSteps(table: usize, steps: u32): void {
  if (steps > load<u32>(table, TABLE_LONGEST_PROBE_WORD << 2)) {
    store<u32>(table, steps, TABLE_LONGEST_PROBE_WORD << 2);
  }
}

/**
 * One bit per slot of a line that equals `key`. In a valued line the sixth word is values, not a
 * hash.
 */
function maskOf<V>(a: v128, b: v128, c: v128, d: v128, key: v128): i32 {
  const low = i64x2.bitmask(i64x2.eq(a, key)) | (i64x2.bitmask(i64x2.eq(b, key)) << 2);
  const high = i64x2.bitmask(i64x2.eq(c, key)) << 4;
  if (sizeof<V>() === 1) return low | high | (i64x2.bitmask(i64x2.eq(d, key)) << 6);
  return low | (high & 16);
}

/** Where a valued table keeps the value of a slot. */
export function valueAt(slot: usize): usize {
  const line = slot & ~(TABLE_LINE_BYTES - 1);
  return line + TABLE_LINE_VALUES_BYTES + ((slot & (TABLE_LINE_BYTES - 1)) >> 1);
}

/** True for the hashes that mark slots. */
export function isHeaderHash(hash: u64): bool {
  return hash < <u64>TABLE_HEADER_HASHES;
}

/** Where the value of one of the hashes stands that mark empty and removed slots. */
function headerValue(table: usize, hash: u64): usize {
  return table + ((<usize>TABLE_HEADER_VALUES_WORD + <usize>hash) << 2);
}

export function add(block: usize, word: usize, by: i32): void {
  const at = block + (word << 2);
  store<i32>(at, load<i32>(at) + by);
}

/**
 * Puts a hash in if it is absent. Returns the offset of its value word (bare: of its slot), with
 * bit 0 set when it was put in now; a valued entry then holds TABLE_CLAIMED. `room` as slotFor takes it. @hot
 */
export function insertAt<V>(table: usize, hash: u64, home: usize, room: u32): usize {
  if (isHeaderHash(hash)) return claimValue(table, headerValue(table, hash), 0);
  const at = probe<V>(table, hash, home);
  if ((at & 1) !== 0) {
    add(segmentOf(table, hash), SEGMENT_USED_WORD, 1);
    add(table, TABLE_COUNT_WORD, 1);
    if (sizeof<V>() === 1) {
      store<u64>(at ^ 1, hash);
      return at;
    }
    const slot = slotFor(table, hash, home, at, room);
    const value = valueAt(slot);
    store<i32>(value, TABLE_CLAIMED);
    store<u64>(slot, hash);
    return value | 1;
  }
  if (sizeof<V>() === 1) return at;
  return claimValue(table, valueAt(at), segmentOf(table, hash));
}

/** The entry whose value stands at `value`: claimed now if it had been removed. */
function claimValue(table: usize, value: usize, segment: usize): usize {
  if (load<u32>(value) !== 0) return value;
  store<i32>(value, TABLE_CLAIMED);
  add(table, TABLE_COUNT_WORD, 1);
  if (segment !== 0) {
    add(segment, SEGMENT_REMOVED_WORD, -1);
    add(table, TABLE_REMOVED_WORD, -1);
  }
  return value | 1;
}

/** Offset of an entry's value word (bare: of its slot), or 0; a removed entry is still found. */
export function findAt<V>(table: usize, hash: u64, home: usize): usize {
  if (isHeaderHash(hash)) {
    const value = headerValue(table, hash);
    return load<u32>(value) === 0 ? 0 : value;
  }
  const at = probe<V>(table, hash, home);
  if ((at & 1) !== 0) return 0;
  return sizeof<V>() === 1 ? at : valueAt(at);
}

export function wide(lo: u32, hi: u32): u64 {
  return <u64>lo | ((<u64>hi) << 32);
}

/** Offset of the value word of one hash (bare: 1), or 0 when absent. */
export function tableFindOne(table: usize, lo: u32, hi: u32): usize {
  const hash = wide(lo, hi);
  const home = homeLine(segmentOf(table, hash), hash);
  if (load<u32>(table, TABLE_VALUED_WORD << 2) === 0) {
    return <usize>(findAt<Bare>(table, hash, home) !== 0);
  }
  const value = findAt<Valued>(table, hash, home);
  return value !== 0 && load<u32>(value) !== 0 ? value : 0;
}

/**
 * Offset of the value word of one hash, inserted if absent (bare: 1 there, 2 new), or
 * TABLE_GROW_FIRST.
 */
export function tableInsertOne(table: usize, lo: u32, hi: u32): usize {
  const hash = wide(lo, hi);
  const segment = segmentOf(table, hash);
  const used = load<u32>(segment, SEGMENT_USED_WORD << 2);
  const soft = load<u32>(table, TABLE_SOFT_WORD << 2) - 1;
  const isFull = used + 1 >= load<u32>(segment, SEGMENT_SLOTS_WORD << 2);
  if (isFull || used >= (load<u32>(segment, SEGMENT_GROW_AT_WORD << 2) | soft)) {
    return TABLE_GROW_FIRST;
  }
  const index = homeIndex(segment, hash);
  const home = lineOf(segment, index);
  if (load<u32>(table, TABLE_VALUED_WORD << 2) === 0) {
    return 1 + (insertAt<Bare>(table, hash, home, 0) & 1);
  }
  const room = <u32>home | (index >> 10);
  return insertAt<Valued>(table, hash, home, room) & ~1;
}

/**
 * Whole batches of hashes against a fingerprint table (table.ts), in passes over their rows:
 *
 *   touch   each row's home line, so that the cache misses of many rows overlap
 *   room    valued tables: the first line of each row's probe that is not full, by the map; touched too
 *   insert  row by row, in order: most new rows by insertNew, what is rare by insertAt
 *
 *   I1  A row whose segment has to grow first ends the call in the first pass: nothing was inserted.
 */
import {
  SEGMENT_FULL_OFFSET,
  SEGMENT_GROW_AT_WORD,
  SEGMENT_SLOTS_WORD,
  SEGMENT_USED_WORD,
  TABLE_CLAIMED,
  TABLE_COUNT_WORD,
  TABLE_FILTER_OFFSET,
  TABLE_LAST_SLOT_VALUED,
  TABLE_LINE_BYTES,
  TABLE_LONGEST_PROBE_WORD,
  TABLE_NEED_WORD,
  TABLE_NEW,
  TABLE_RUN_LINES,
  TABLE_SKIP,
  TABLE_SOFT_WORD,
  TABLE_TOUCHED_WORD,
  TABLE_VALUED_WORD,
} from "../../src/layout/seen/table";
import {
  add,
  emptySlot,
  filterBit,
  findAt,
  homeIndex,
  homeLine,
  insertAt,
  isHeaderHash,
  lineOf,
  markFilled,
  noteSteps,
  roomOf,
  segmentOf,
  valueAt,
} from "./table";

/** Type arguments, as in table.ts. */
type Bare = u8;
type Valued = u32;

const RUN_PAIRS: u32 = TABLE_RUN_LINES / 2;

/**
 * Inserts the rows of a batch: values and slots as in src/structures/table/fingerprint-table.ts.
 * Returns how
 * many are new, or -2 - row when that row's segment has to grow first; then nothing was inserted.
 * @hot
 */
export function tableInsertBatch(
  table: usize,
  hashes: usize,
  count: u32,
  values: usize,
  slots: usize,
): i32 {
  const isValued = load<u32>(table, TABLE_VALUED_WORD << 2) !== 0;
  const row = isValued
    ? touchRows<Valued>(table, hashes, count, values, slots)
    : touchRows<Bare>(table, hashes, count, values, slots);
  if (row >= 0) return -2 - row;
  if (isValued) return insertRows<Valued>(table, hashes, count, values, slots);
  return insertRows<Bare>(table, hashes, count, values, slots);
}

/**
 * First pass: the home line of every row into its value, and of a valued table where it finds room into its
 * slot (`roomOf`); then both lines are touched. Returns the row whose segment has to grow first, or -1. @hot
 */
function touchRows<V>(table: usize, hashes: usize, count: u32, values: usize, slots: usize): i32 {
  const need = load<u32>(table, TABLE_NEED_WORD << 2);
  const soft = load<u32>(table, TABLE_SOFT_WORD << 2) - 1; // all ones: may not ask
  for (let i: u32 = 0; i < count; i++) {
    if (load<i32>(values + (i << 2)) === TABLE_SKIP) continue;
    const hash = load<u64>(hashes + (i << 3));
    const segment = segmentOf(table, hash);
    const index = homeIndex(segment, hash);
    store<u32>(values + (i << 2), <u32>lineOf(segment, index));
    if (sizeof<V>() === 4) store<u32>(slots + (i << 2), index);
    const used = load<u32>(segment, SEGMENT_USED_WORD << 2);
    const isFull = used + need >= load<u32>(segment, SEGMENT_SLOTS_WORD << 2);
    if (isFull || used >= (load<u32>(segment, SEGMENT_GROW_AT_WORD << 2) | soft)) return i;
  }
  touchLines(table, values, count);
  if (sizeof<V>() === 1) return -1;
  findRooms(table, hashes, count, values, slots);
  touchLines(table, slots, count);
  return -1;
}

/**
 * Where each row of a valued table finds room, in place of its home's number (`roomOf`). A loop by itself, without a
 * call where one of the first six lines has room: the fewer instructions a row takes, the more rows' loads overlap. @hot
 */
function findRooms(table: usize, hashes: usize, count: u32, values: usize, slots: usize): void {
  let longest = load<u32>(table, TABLE_LONGEST_PROBE_WORD << 2);
  for (let i: u32 = 0; i < count; i++) {
    if (load<i32>(values + (i << 2)) === TABLE_SKIP) continue;
    const hash = load<u64>(hashes + (i << 3));
    const segment = segmentOf(table, hash);
    const slot = slots + (i << 2);
    const home = load<u32>(slot);
    const pair = (home >> 1) & (RUN_PAIRS - 1);
    const other = (pair + (<u32>hash | 1)) & (RUN_PAIRS - 1);
    const last = (pair + 2 * (<u32>hash | 1)) & (RUN_PAIRS - 1);
    const run = ~load<u64>(segment + <usize>((home >> 6) << 3), SEGMENT_FULL_OFFSET);
    let near = <u32>(run >> <u64>(pair << 1)) & 3;
    near |= (<u32>(run >> <u64>(other << 1)) & 3) << 2;
    near |= (<u32>(run >> <u64>(last << 1)) & 3) << 4;
    // A probe first reads that line of a pair which is odd or even as the home is.
    const turned = ((near & 21) << 1) | ((near >> 1) & 21);
    near = (home & 1) !== 0 ? turned : near;
    if (near === 0) {
      store<u32>(slot, roomOf(table, segment, hash, home));
      continue;
    }
    const step = <u32>ctz(near);
    longest = max(longest, step);
    const there = step < 2 ? pair : step < 4 ? other : last;
    const index = (home & ~(RUN_PAIRS * 2 - 1)) | (there << 1) | ((home ^ step) & 1);
    store<u32>(slot, <u32>lineOf(segment, index) | (index >> 10));
  }
  noteSteps(table, longest);
}

/**
 * Reads a word of every line that a list of words names. Nothing else is done here: the fewer instructions
 * lie between two loads, the more of their misses overlap, which is what native code has prefetches for. @hot
 */
function touchLines(table: usize, list: usize, count: u32): void {
  let sum: u64 = 0;
  for (const end = list + (count << 2); list !== end; list += 4) {
    const line = load<u32>(list);
    if (line !== TABLE_SKIP) sum += load<u64>(<usize>(line & ~(TABLE_LINE_BYTES - 1)));
  }
  store<u64>(table, sum, TABLE_TOUCHED_WORD << 2);
}

function insertRows<V>(table: usize, hashes: usize, count: u32, values: usize, slots: usize): i32 {
  const before = load<i32>(table, TABLE_COUNT_WORD << 2);
  for (let i: u32 = 0; i < count; i++) {
    const value = values + (i << 2);
    if (load<i32>(value) === TABLE_SKIP) continue;
    const hash = load<u64>(hashes + (i << 3));
    const home: usize = load<u32>(value);
    const room = sizeof<V>() === 4 ? load<u32>(slots + (i << 2)) : 0;
    let place: usize = sizeof<V>() === 4 ? insertNew(table, hash, home, room) : 0;
    if (place === 0) place = insertAt<V>(table, hash, home, room);
    const entry = place & ~1;
    const found = sizeof<V>() === 4 ? load<i32>(entry) : 1;
    store<i32>(value, (place & 1) !== 0 ? TABLE_NEW : found);
    if (sizeof<V>() === 4) store<u32>(slots + (i << 2), <u32>entry);
  }
  return load<i32>(table, TABLE_COUNT_WORD << 2) - before;
}

/**
 * insertAt of a valued table where home and filter show that a hash is absent, and its room is still free: the way of most new rows, in
 * which no branch is a guess. 0: nothing was done, insertAt has to search. @hot
 */
function insertNew(table: usize, hash: u64, home: usize, room: u32): usize {
  const key = i64x2.splat(hash);
  let hits = v128.or(i64x2.eq(v128.load(home), key), i64x2.eq(v128.load(home, 16), key));
  hits = v128.or(hits, i64x2.eq(v128.load(home, 32), key));
  const filter = load<u32>(home, TABLE_FILTER_OFFSET);
  const bit = filterBit(hash);
  if (v128.any_true(hits) || (filter & bit) !== 0 || isHeaderHash(hash)) return 0;
  const line = <usize>(room & ~(TABLE_LINE_BYTES - 1));
  if (load<u64>(line, TABLE_LAST_SLOT_VALUED) !== 0) return 0;
  const slot = emptySlot(line);
  const segment = segmentOf(table, hash);
  const used = segment + (SEGMENT_USED_WORD << 2);
  store<u32>(used, load<u32>(used) + 1);
  // An open home has an empty filter: no entry went on from it.
  store<u32>(home, line === home ? filter : filter | bit, TABLE_FILTER_OFFSET);
  markFilled(segment, slot, room);
  const value = valueAt(slot);
  store<i32>(value, TABLE_CLAIMED);
  store<u64>(slot, hash);
  add(table, TABLE_COUNT_WORD, 1);
  return value | 1;
}

/** Looks up the rows of a batch: their values, 0 when absent. Returns how many are there. @hot */
export function tableFindBatch(table: usize, hashes: usize, count: u32, values: usize): i32 {
  for (let i: u32 = 0; i < count; i++) {
    if (load<i32>(values + (i << 2)) === TABLE_SKIP) continue;
    const hash = load<u64>(hashes + (i << 3));
    store<u32>(values + (i << 2), <u32>homeLine(segmentOf(table, hash), hash));
  }
  touchLines(table, values, count);
  if (load<u32>(table, TABLE_VALUED_WORD << 2) !== 0) {
    return findRows<Valued>(table, hashes, count, values);
  }
  return findRows<Bare>(table, hashes, count, values);
}

function findRows<V>(table: usize, hashes: usize, count: u32, values: usize): i32 {
  let found: i32 = 0;
  for (let i: u32 = 0; i < count; i++) {
    const value = values + (i << 2);
    if (load<i32>(value) === TABLE_SKIP) continue;
    const place = findAt<V>(table, load<u64>(hashes + (i << 3)), load<u32>(value));
    const result: u32 = place === 0 ? 0 : sizeof<V>() === 4 ? load<u32>(place) : 1;
    store<u32>(value, result);
    found += <i32>(result !== 0);
  }
  return found;
}

/**
 * Counts the rows that fall into each segment, so that a large batch grows what it needs and no
 * more.
 */
export function tableDemand(table: usize, hashes: usize, count: u32, values: usize): i32 {
  let row: i32 = -1;
  for (let i: u32 = 0; i < count; i++) {
    if (load<i32>(values + (i << 2)) === TABLE_SKIP) continue;
    const segment = segmentOf(table, load<u64>(hashes + (i << 3)));
    add(segment, SEGMENT_USED_WORD, 1);
    const used = load<u32>(segment, SEGMENT_USED_WORD << 2);
    if (row < 0 && used >= load<u32>(segment, SEGMENT_SLOTS_WORD << 2)) row = i;
  }
  for (let i: u32 = 0; i < count; i++) {
    if (load<i32>(values + (i << 2)) === TABLE_SKIP) continue;
    add(segmentOf(table, load<u64>(hashes + (i << 3))), SEGMENT_USED_WORD, -1);
  }
  return row;
}

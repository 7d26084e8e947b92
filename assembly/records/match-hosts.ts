/**
 * Finds each parsed row its rule, by the bytes of its host (layout/calls/host-memo.ts):
 *
 *   host bytes ─▶ quick hash ─▶ ways of its set ─▶ entry whose bytes are equal ─▶ its number
 *
 * In passes, so that the cache misses of many rows overlap: hash, touch the sets, touch the entry whose tag is equal, compare,
 * touch the rules where their depths matter. Where a pass reads what is far, it does next to nothing else.
 *
 *   I1  An answer is that of equal bytes: the hash only decides where to search, so an attacker who aims collisions gains misses.
 *   I2  A row is left to the owner where its host is not known, or its plan asks for more than the host.
 */
import {
  BATCH_COUNT_WORD,
  BATCH_NO_RULE,
  BATCH_OK,
  BATCH_ROWS_OFFSET_WORD,
  BATCH_ROW_BYTES,
  BATCH_TOO_DEEP,
  ROW_HOST_LENGTH_WORD,
  ROW_HOST_START_WORD,
  ROW_HREF_OFFSET_WORD,
  ROW_STATUS_WORD,
} from "../../src/layout/calls/url-batch";
import { RULE_QUEUE_MAX_DEPTH_WORD } from "../../src/layout/records/host";
import {
  MATCH_PLAN,
  MATCH_UNKNOWN,
  MEMO_ENTRIES_MAX,
  MEMO_ENTRIES_OFFSET,
  MEMO_ENTRY_BYTES,
  MEMO_ENTRY_HEAD_BYTES,
  MEMO_ENTRY_LENGTH_WORD,
  MEMO_ENTRY_NUMBER_WORD,
  MEMO_HEADER_BYTES,
  MEMO_HOST_BYTES,
  MEMO_NEXT_WORD,
  MEMO_SETS,
  MEMO_SET_BYTES,
  MEMO_TOUCHED_WORD,
  MEMO_USED_WORD,
  MEMO_WAYS,
} from "../../src/layout/calls/host-memo";
import { at, bump, get, set } from "../batch-row";

/**
 * Writes the number of each row's host to `rules`; one that no rule takes, or that is deeper than its rule reaches, ends
 * with that status. Returns how many rows are left to the owner; `memo` 0: all of them. @hot
 */
export function matchBatch(batch: usize, memo: usize, rules: usize, depth: u32): u32 {
  const count = get(batch, BATCH_COUNT_WORD);
  const first = <usize>get(batch, BATCH_ROWS_OFFSET_WORD);
  let row = first;
  for (let i: u32 = 0; i < count; i++, row += BATCH_ROW_BYTES) {
    set(rules, i, memo === 0 || get(row, ROW_STATUS_WORD) !== BATCH_OK ? 0 : tagOf(row));
  }
  if (memo !== 0) touchEntries(memo, rules, count);
  let left: u32 = 0;
  row = first;
  for (let i: u32 = 0; i < count; i++, row += BATCH_ROW_BYTES) {
    if (get(row, ROW_STATUS_WORD) !== BATCH_OK) continue;
    const number = numberOf(memo, get(rules, i), row);
    set(rules, i, number);
    if (number >= <u32>MATCH_PLAN) left++;
    else if (number === 0) set(row, ROW_STATUS_WORD, BATCH_NO_RULE);
  }
  // Every rule reaches depth 0; where there is no memo no rule is known.
  if (depth > 0 && memo !== 0) refuseDeep(memo, first, rules, count, depth);
  return left;
}

/** Keeps a number for the host of a row, in an empty way of its set or in place of one of the others. */
export function keepMatch(batch: usize, i: u32, memo: usize, number: u32): void {
  const row = <usize>get(batch, BATCH_ROWS_OFFSET_WORD) + <usize>i * BATCH_ROW_BYTES;
  const tag = tagOf(row);
  // An earlier row of the batch may have had the same host.
  if (tag === 0 || numberOf(memo, tag, row) === number) return;
  const ways = waysOf(memo, tag);
  let way: u32 = 0;
  while (way < <u32>MEMO_WAYS && get(ways, way) !== 0) way++;
  let index = get(memo, MEMO_USED_WORD) + 1;
  if (way === <u32>MEMO_WAYS) {
    way = get(memo, MEMO_NEXT_WORD) % <u32>MEMO_WAYS;
    bump(memo, MEMO_NEXT_WORD);
    index = get(ways, way) & 0xffff;
  } else if (index > <u32>MEMO_ENTRIES_MAX) return;
  else set(memo, MEMO_USED_WORD, index);
  set(ways, way, (tag & 0xffff_0000) | index);
  const entry = entryOf(memo, index);
  const length = get(row, ROW_HOST_LENGTH_WORD);
  set(entry, MEMO_ENTRY_NUMBER_WORD, number);
  set(entry, MEMO_ENTRY_LENGTH_WORD, length);
  memory.copy(entry + MEMO_ENTRY_HEAD_BYTES, hostOf(row), length);
}

function hostOf(row: usize): usize {
  return <usize>(get(row, ROW_HREF_OFFSET_WORD) + get(row, ROW_HOST_START_WORD));
}

/** Reads the ways of every tag that `rules` has, then the first entry of this tag; index 0 leads to a line that no entry has. */
function touchEntries(memo: usize, rules: usize, count: u32): void {
  let touched: u32 = 0;
  for (let i: u32 = 0; i < count; i++) touched += get(waysOf(memo, get(rules, i)), 0);
  for (let i: u32 = 0; i < count; i++) {
    const tag = get(rules, i);
    const ways = sameWays(memo, tag);
    const index = get(waysOf(memo, tag), ctz(ways | 8)) & 0xffff;
    touched += get(entryOf(memo, ways === 0 ? 0 : index), 0);
  }
  set(memo, MEMO_TOUCHED_WORD, touched); // keeps the touching loads alive
}

/** Refuses the rows of known rules that do not reach `depth`. */
function refuseDeep(memo: usize, first: usize, rules: usize, count: u32, depth: u32): void {
  let touched: u32 = 0;
  for (let i: u32 = 0; i < count; i++) touched += get(reachOf(rules, i), 0);
  set(memo, MEMO_TOUCHED_WORD, touched);
  let row = first;
  for (let i: u32 = 0; i < count; i++, row += BATCH_ROW_BYTES) {
    const isRule = get(row, ROW_STATUS_WORD) === BATCH_OK && get(rules, i) < <u32>MATCH_PLAN;
    if (isRule && depth > get(reachOf(rules, i), 0)) {
      set(row, ROW_STATUS_WORD, BATCH_TOO_DEEP);
    }
  }
}

/** Address of the depth that the rule of row number `i` reaches, or of a readable word. */
function reachOf(rules: usize, i: u32): usize {
  const number = get(rules, i);
  return at(number < <u32>MATCH_PLAN ? number : 0) + (RULE_QUEUE_MAX_DEPTH_WORD << 2);
}

/** A bit for each way of a set that has the tag. */
function sameWays(memo: usize, tag: u32): u32 {
  const tags = i32x4.shr_u(v128.load(waysOf(memo, tag)), 16);
  return <u32>i32x4.bitmask(i32x4.eq(tags, i32x4.splat(<i32>(tag >>> 16))));
}

/** The number kept for a row's host, or MATCH_UNKNOWN. */
function numberOf(memo: usize, tag: u32, row: usize): u32 {
  if (tag === 0) return MATCH_UNKNOWN;
  const length = get(row, ROW_HOST_LENGTH_WORD);
  for (let ways = sameWays(memo, tag); ways !== 0; ways &= ways - 1) {
    const entry = entryOf(memo, get(waysOf(memo, tag), ctz(ways)) & 0xffff);
    if (get(entry, MEMO_ENTRY_LENGTH_WORD) !== length) continue;
    if (isEqual(entry + MEMO_ENTRY_HEAD_BYTES, hostOf(row), length)) {
      return get(entry, MEMO_ENTRY_NUMBER_WORD);
    }
  }
  return MATCH_UNKNOWN;
}

/** Blocks of 16; what a block holds behind the end is masked out. Both texts have room to be read there. */
function isEqual(a: usize, b: usize, length: u32): bool {
  let at: u32 = 0;
  for (; at + 16 <= length; at += 16) {
    if (<u32>i8x16.bitmask(i8x16.eq(v128.load(a + at), v128.load(b + at))) !== 0xffff) return false;
  }
  if (at === length) return true;
  const mask = ((<u32>1) << (length - at)) - 1;
  const same = <u32>i8x16.bitmask(i8x16.eq(v128.load(a + at), v128.load(b + at)));
  return (same & mask) === mask;
}

/** Quick hash of a row's host: its upper half is never 0; 0: the host is longer than an entry has room for. */
function tagOf(row: usize): u32 {
  const length = get(row, ROW_HOST_LENGTH_WORD);
  if (length > <u32>MEMO_HOST_BYTES) return 0;
  const host = hostOf(row);
  let hash: u64 = length;
  let at: u32 = 0;
  for (; at + 8 <= length; at += 8) hash = mix(hash ^ load<u64>(host + at));
  if (at < length) {
    const bits = (<u64>(length - at)) << 3;
    hash = mix(hash ^ (load<u64>(host + at) & (((<u64>1) << bits) - 1)));
  }
  return <u32>(hash >> 32) | 0x1_0000; // every bit of the product is in its upper half
}

/** 2⁶⁴ / the golden ratio, odd. */
const GOLDEN: u64 = ((<u64>0x9e37_79b9) << 32) | 0x7f4a_7c15;

function mix(x: u64): u64 {
  const y = x * GOLDEN;
  return y ^ (y >> 32);
}

function waysOf(memo: usize, tag: u32): usize {
  return memo + MEMO_HEADER_BYTES + <usize>(tag & (MEMO_SETS - 1)) * MEMO_SET_BYTES;
}

function entryOf(memo: usize, index: u32): usize {
  return memo + MEMO_ENTRIES_OFFSET + <usize>index * MEMO_ENTRY_BYTES;
}

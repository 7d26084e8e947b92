/**
 * Finds each parsed row its rule, by the bytes of its host (layout/calls/host-memo.ts):
 *
 *   host bytes ─▶ quick hash ─▶ tags of its set ─▶ entry whose bytes are equal ─▶ its number
 *
 * Three passes, so that the cache misses of many rows overlap: hash and touch the tags, touch the entry whose tag is equal,
 * then compare.
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
  MEMO_ENTRIES_OFFSET,
  MEMO_ENTRY_BYTES,
  MEMO_ENTRY_HEAD_BYTES,
  MEMO_ENTRY_LENGTH_WORD,
  MEMO_ENTRY_NUMBER_WORD,
  MEMO_HEADER_BYTES,
  MEMO_HOST_BYTES,
  MEMO_NEXT_WORD,
  MEMO_SETS,
  MEMO_SET_TAG_BYTES,
  MEMO_WAYS,
} from "../../src/layout/calls/host-memo";
import { get, set } from "../batch-row";

/**
 * Writes the number of each row's host to `rules`; one that no rule takes, or that is deeper than its rule reaches, ends
 * with that status. Returns how many rows are left to the owner; `memo` 0: all of them. @hot
 */
export function matchBatch(batch: usize, memo: usize, rules: usize, depth: u32): u32 {
  const count = get(batch, BATCH_COUNT_WORD);
  const first = <usize>get(batch, BATCH_ROWS_OFFSET_WORD);
  let touched: u32 = 0;
  let row = first;
  for (let i: u32 = 0; i < count; i++, row += BATCH_ROW_BYTES) {
    const tag = memo === 0 || get(row, ROW_STATUS_WORD) !== BATCH_OK ? 0 : tagOf(row);
    set(rules, i, tag);
    if (tag !== 0) touched += get(tagsOf(memo, tag), 0);
  }
  if (memo !== 0) {
    for (let i: u32 = 0; i < count; i++) touched += touchEntry(memo, get(rules, i));
    set(memo, MEMO_NEXT_WORD + 1, touched); // keeps the touching loads alive
  }
  let left: u32 = 0;
  row = first;
  for (let i: u32 = 0; i < count; i++, row += BATCH_ROW_BYTES) {
    if (get(row, ROW_STATUS_WORD) !== BATCH_OK) continue;
    const tag = get(rules, i);
    const number = tag === 0 ? <u32>MATCH_UNKNOWN : numberOf(memo, tag, row);
    set(rules, i, number);
    if (number >= <u32>MATCH_PLAN) left++;
    else if (number === 0) set(row, ROW_STATUS_WORD, BATCH_NO_RULE);
    else if (depth > get((<usize>number) << 3, RULE_QUEUE_MAX_DEPTH_WORD)) {
      set(row, ROW_STATUS_WORD, BATCH_TOO_DEEP);
    }
  }
  return left;
}

/** Keeps a number for the host of a row, in an empty way of its set or in place of one of the others. */
export function keepMatch(batch: usize, i: u32, memo: usize, number: u32): void {
  const row = <usize>get(batch, BATCH_ROWS_OFFSET_WORD) + <usize>i * BATCH_ROW_BYTES;
  const tag = tagOf(row);
  if (tag === 0) return;
  const tags = tagsOf(memo, tag);
  let way: u32 = 0;
  while (way < <u32>MEMO_WAYS && get(tags, way) !== 0) way++;
  if (way === <u32>MEMO_WAYS) {
    way = get(memo, MEMO_NEXT_WORD) % <u32>MEMO_WAYS;
    set(memo, MEMO_NEXT_WORD, way + 1);
  }
  set(tags, way, tag);
  const entry = entryOf(memo, tag, way);
  const length = get(row, ROW_HOST_LENGTH_WORD);
  set(entry, MEMO_ENTRY_NUMBER_WORD, number);
  set(entry, MEMO_ENTRY_LENGTH_WORD, length);
  memory.copy(entry + MEMO_ENTRY_HEAD_BYTES, hostOf(row), length);
}

function hostOf(row: usize): usize {
  return <usize>(get(row, ROW_HREF_OFFSET_WORD) + get(row, ROW_HOST_START_WORD));
}

/** Reads both ends of what the first entry of this tag holds of a host of usual length. */
function touchEntry(memo: usize, tag: u32): u32 {
  const same = i32x4.eq(v128.load(tagsOf(memo, tag)), i32x4.splat(<i32>tag));
  const ways = <u32>i32x4.bitmask(same);
  if (tag === 0 || ways === 0) return 0;
  const entry = entryOf(memo, tag, ctz(ways));
  return get(entry, MEMO_ENTRY_LENGTH_WORD) + get(entry, 8);
}

/** The number kept for a row's host, or MATCH_UNKNOWN. */
function numberOf(memo: usize, tag: u32, row: usize): u32 {
  const same = i32x4.eq(v128.load(tagsOf(memo, tag)), i32x4.splat(<i32>tag));
  const length = get(row, ROW_HOST_LENGTH_WORD);
  for (let ways = <u32>i32x4.bitmask(same); ways !== 0; ways &= ways - 1) {
    const entry = entryOf(memo, tag, ctz(ways));
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

/** Quick hash of a row's host, never 0; 0: it is longer than an entry has room for. */
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
  const tag = <u32>(hash >> 32); // every bit of the product is in its upper half
  return tag === 0 ? 1 : tag;
}

/** 2⁶⁴ / the golden ratio, odd. */
const GOLDEN: u64 = ((<u64>0x9e37_79b9) << 32) | 0x7f4a_7c15;

function mix(x: u64): u64 {
  const y = x * GOLDEN;
  return y ^ (y >> 32);
}

function tagsOf(memo: usize, tag: u32): usize {
  return memo + MEMO_HEADER_BYTES + <usize>(tag & (MEMO_SETS - 1)) * MEMO_SET_TAG_BYTES;
}

function entryOf(memo: usize, tag: u32, way: u32): usize {
  const place = <usize>(tag & (MEMO_SETS - 1)) * MEMO_WAYS + <usize>way;
  return memo + MEMO_ENTRIES_OFFSET + place * MEMO_ENTRY_BYTES;
}

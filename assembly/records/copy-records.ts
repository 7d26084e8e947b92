/**
 * Moving record bytes for the frontier: copies in after admission, URLs out at hand-out.
 * A visit URL is ASCII: the WHATWG serialisation writes everything else as percent-encoding or punycode.
 */
import {
  RECORD_FLAG_BLOB,
  RECORD_FLAG_HTTPS,
  RECORD_FLAG_PARENT,
  RECORD_FLAG_WHOLE,
  RECORD_HASH_LO_WORD,
  RECORD_HEAD_BYTES,
  RECORD_QUEUE_WORD,
  RECORD_STATE_WORD,
  RECORD_TEXT_BYTES_WORD,
  NAMED_NAME_BYTES_WORD,
  RECORD_LONE,
} from "../../src/layout/records/record";
import {
  HOST_LEASED_WORD,
  HOST_LIVE_WORD,
  HOST_NAME_BYTES_WORD,
  HOST_NAME_WORD,
  HOST_PENDING_WORD,
  QUEUE_HOST_WORD,
  QUEUE_RULE_WORD,
  RULE_QUEUE_LEASED_WORD,
  RULE_QUEUE_RANKS_WORD,
} from "../../src/layout/records/host";
import { ITEM_LEFT_WORD, ITEM_RIGHT_WORD } from "../../src/layout/ordering/item";
import { LANE_HEAD_WORD } from "../../src/layout/ordering/lane";
import { at, get } from "../batch-row";
import { homeLine, segmentOf } from "../seen/table";
import { copyText } from "./fill-record";
import { isNamed, ownHostBytes } from "./host-objects";

/** Makes `count` copies of three words each: to, from, bytes. */
export function copyBatch(jobs: i32, count: i32): void {
  const end = <usize>jobs + <usize>(count * 12);
  for (let job = <usize>jobs; job < end; job += 12) {
    memory.copy(load<u32>(job), load<u32>(job, 4), load<u32>(job, 8));
  }
}

/**
 * Writes the URLs of records one after the other to `text` and where each ends to `ends`; returns how many
 * fitted into `capacity` bytes.
 */
export function gatherUrls(handles: i32, count: i32, text: i32, capacity: i32, ends: i32): i32 {
  let to = <usize>(<u32>text);
  const limit = to + <usize>capacity;
  for (let index = 0; index < count; index++) {
    const record = (<usize>load<u32>(<usize>handles + ((<usize>index) << 2))) << 3;
    const flags = load<u8>(record, RECORD_STATE_WORD * 4 + 1);
    const bytes = <usize>load<u32>(record, RECORD_TEXT_BYTES_WORD * 4);
    let from = record + RECORD_HEAD_BYTES;
    if (flags & RECORD_FLAG_PARENT) from += 4;
    if (flags & RECORD_FLAG_BLOB) from += 4;
    if (isNamed(record)) {
      const nameBytes = get(from, NAMED_NAME_BYTES_WORD);
      from += <usize>ownHostBytes(record) - <usize>nameBytes;
      if (to + 8 + nameBytes + bytes > limit) return index;
      to = writeScheme(to, (flags & RECORD_FLAG_HTTPS) > 0);
      copyText(from, to, nameBytes + <u32>bytes); // the name stands right before the text
      to += <usize>nameBytes + bytes;
      store<u32>(<usize>ends + ((<usize>index) << 2), <u32>(to - <usize>(<u32>text)));
      continue;
    }
    if (flags & RECORD_FLAG_WHOLE) {
      if (to + bytes > limit) return index;
    } else {
      const queue = (<usize>load<u32>(record, RECORD_QUEUE_WORD * 4)) << 3;
      const host = (<usize>load<u32>(queue, QUEUE_HOST_WORD * 4)) << 3;
      const nameBytes = <usize>load<u32>(host, HOST_NAME_BYTES_WORD * 4);
      if (to + 8 + nameBytes + bytes > limit) return index;
      to = writeScheme(to, (flags & RECORD_FLAG_HTTPS) > 0);
      copyText((<usize>load<u32>(host, HOST_NAME_WORD * 4)) << 3, to, <u32>nameBytes);
      to += nameBytes;
    }
    copyText(from, to, <u32>bytes);
    to += bytes;
    store<u32>(<usize>ends + ((<usize>index) << 2), <u32>(to - <usize>(<u32>text)));
  }
  return count;
}

/**
 * Touches what the ends of these records will need, so that the cache misses of many overlap: their headers, hosts and rules, and
 * the lines of the fingerprint table where their hashes stand. Changes nothing. A handle whose record is gone may lead to any
 * word: what lies outside of memory is not followed.
 */
export function touchRecords(table: usize, handles: usize, count: u32): u32 {
  const limit = (<u32>memory.size()) << 13;
  let touched: u32 = 0;
  for (let i: u32 = 0; i < count; i++) {
    const record = within(get(handles, i), limit); // its head may lie in two lines
    touched += get(record, ITEM_LEFT_WORD) + get(record, RECORD_TEXT_BYTES_WORD);
  }
  for (let i: u32 = 0; i < count; i++) {
    const record = within(get(handles, i), limit);
    const hash = load<u64>(record, RECORD_HASH_LO_WORD << 2);
    touched += load<u32>(homeLine(segmentOf(table, hash), hash));
    touched += get(within(get(record, RECORD_QUEUE_WORD), limit), QUEUE_HOST_WORD);
  }
  for (let i: u32 = 0; i < count; i++) {
    const queue = within(get(within(get(handles, i), limit), RECORD_QUEUE_WORD), limit);
    const host = within(get(queue, QUEUE_HOST_WORD), limit);
    touched += get(host, HOST_LEASED_WORD) + get(host, HOST_LIVE_WORD);
    touched += get(within(get(queue, QUEUE_RULE_WORD), limit), RULE_QUEUE_LEASED_WORD);
  }
  return touched;
}

/**
 * Touches what the next hand-outs of these rules will need: the rule queue, its lane, the lane's first record (or host queue), the one
 * after it, and its host. A rule with several lanes is touched where its root stands. Changes nothing.
 */
export function touchRules(rules: usize, count: u32): u32 {
  let touched: u32 = 0;
  for (let i: u32 = 0; i < count; i++) touched += get(at(get(rules, i)), RULE_QUEUE_RANKS_WORD);
  for (let i: u32 = 0; i < count; i++) touched += get(laneOf(rules, i), LANE_HEAD_WORD);
  for (let i: u32 = 0; i < count; i++) touched += get(firstOf(rules, i), RECORD_QUEUE_WORD);
  for (let i: u32 = 0; i < count; i++) {
    const first = firstOf(rules, i);
    touched += get(at(get(first, ITEM_LEFT_WORD)), ITEM_RIGHT_WORD);
    touched += get(at(get(first, RECORD_QUEUE_WORD)), QUEUE_HOST_WORD);
    touched += get(first, RECORD_TEXT_BYTES_WORD) + get(first, TEXT_WORD);
  }
  for (let i: u32 = 0; i < count; i++) {
    const host = hostOf(rules, i);
    touched += get(host, HOST_LEASED_WORD) + get(host, HOST_PENDING_WORD);
  }
  for (let i: u32 = 0; i < count; i++) touched += get(at(get(hostOf(rules, i), HOST_NAME_WORD)), 0);
  return touched;
}

/** A word of the text of a record of usual length. */
const TEXT_WORD: u32 = 24;

/** 0 (readable) of a lone record, which has none yet. */
function hostOf(rules: usize, i: u32): usize {
  const first = firstOf(rules, i);
  const isHostless = (get(first, RECORD_STATE_WORD) & RECORD_LONE) !== 0;
  return isHostless ? 0 : at(get(at(get(first, RECORD_QUEUE_WORD)), QUEUE_HOST_WORD));
}

function laneOf(rules: usize, i: u32): usize {
  return at(get(at(get(rules, i)), RULE_QUEUE_RANKS_WORD));
}

function firstOf(rules: usize, i: u32): usize {
  return at(get(laneOf(rules, i), LANE_HEAD_WORD));
}

/** Address of a handle, 0 (readable) if it lies outside of memory. */
function within(handle: u32, limit: u32): usize {
  return handle < limit ? (<usize>handle) << 3 : 0;
}

/** Writes "http://" or "https://" as two words; the host overwrites what is too much. */
function writeScheme(to: usize, isHttps: bool): usize {
  if (isHttps) {
    store<u32>(to, 0x70747468); // "http"
    store<u32>(to, 0x2f2f3a73, 4); // "s://"
    return to + 8;
  }
  store<u32>(to, 0x70747468); // "http"
  store<u32>(to, 0x002f2f3a, 4); // "://"
  return to + 7;
}

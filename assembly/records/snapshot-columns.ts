/**
 * Columns of a snapshot, many entries of a table at a time (src/layout/calls/snapshot-columns.ts): what assembly/records/restore-records.ts reads.
 *
 *   walk of a table ─▶ values looked at anew ─▶ snapshotRows ─┬▶ columns of records ─┬▶ section
 *                                                             ├▶ columns of seen    ─┘
 *                                                             └▶ rows with a due time, a parent or a blob: the owner's to complete
 *
 * Records stand in memory in another order than in the table, so that each would be waited for: all are touched first, what they
 * lead to next, and the misses of many overlap.
 *
 *   I1  Rows are added in the order of the entries; a call that stops has added nothing of the entry it stopped at.
 *   I2  Nothing of the frontier is written.
 */
import {
  HOST_HASH_LO_WORD,
  QUEUE_HOST_WORD,
  QUEUE_RULE_WORD,
  RULE_QUEUE_INDEX_WORD,
} from "../../src/layout/records/host";
import {
  JOURNAL_RULE_HIGH,
  JOURNAL_RULE_HIGH_SHIFT,
  JOURNAL_RULE_SHIFT,
} from "../../src/layout/files/journal";
import { ITEM_KEY_WORD } from "../../src/layout/ordering/item";
import {
  RECORD_AGAIN,
  RECORD_DEPTH_WORD,
  RECORD_FLAG_BLOB,
  RECORD_FLAG_PARENT,
  RECORD_FLAG_VOLATILE,
  RECORD_HASH_LO_WORD,
  RECORD_HEAD_BYTES,
  RECORD_PRIORITY_WORD,
  RECORD_QUEUE_WORD,
  RECORD_RESTING,
  RECORD_STATE_MASK,
  RECORD_STATE_WORD,
  RECORD_TEXT_BYTES_WORD,
  RECORD_WAITING,
  NAMED_HASH_WORD,
  RECORD_LONE,
} from "../../src/layout/records/record";
import {
  SNAPSHOT_DOUBLES_WORD,
  SNAPSHOT_HASHES_WORD,
  SNAPSHOT_KEPT_FLAGS,
  SNAPSHOT_MOST_WORD,
  SNAPSHOT_OWN_COUNT_WORD,
  SNAPSHOT_OWN_WORD,
  SNAPSHOT_RECORDS_WORD,
  SNAPSHOT_RECORD_HASHES_WORD,
  SNAPSHOT_SEEN_HASHES_WORD,
  SNAPSHOT_SEEN_VALUES_WORD,
  SNAPSHOT_SEEN_WORD,
  SNAPSHOT_TEXT_BYTES,
  SNAPSHOT_TEXT_BYTES_WORD,
  SNAPSHOT_TEXT_WORD,
  SNAPSHOT_TOUCHED_WORD,
  SNAPSHOT_VALUES_WORD,
  SNAPSHOT_WORDS_WORD,
} from "../../src/layout/calls/snapshot-columns";
import { SPILL_VALUE } from "../../src/layout/records/spill-block";
import { TABLE_NEW, TABLE_RESERVED_MIN } from "../../src/layout/seen/table";
import { copyText } from "./fill-record";
import { ownHost, ownHostBytes } from "./host-objects";
import { get, set } from "../batch-row";

/** Of a record's state word: the state, that it came again, and the flags that are its own. */
const HEAD_MASK: u32 = RECORD_STATE_MASK | RECORD_AGAIN | (SNAPSHOT_KEPT_FLAGS << 8);
const OWN_FLAGS: u32 = (RECORD_FLAG_PARENT | RECORD_FLAG_BLOB) << 8;

/** Adds entries `from` to `end` of a walk; the first one that was not added, or `end`: columns are full, or the text. @hot */
export function snapshotRows(job: usize, from: u32, end: u32): u32 {
  const values = <usize>get(job, SNAPSHOT_VALUES_WORD);
  const most = get(job, SNAPSHOT_MOST_WORD);
  touchRows(job, values, from, end);
  for (let entry = from; entry < end; entry++) {
    const value = get(values, entry);
    let rows: u32 = 0;
    if (isRecord(value)) {
      if (!addRecord(job, at8(value), value)) return entry;
      rows = get(job, SNAPSHOT_RECORDS_WORD);
    } else if (value === TABLE_RESERVED_MIN || value > <u32>TABLE_NEW) {
      rows = addSeen(job, entry, value);
    }
    if (rows === most) return entry + 1;
  }
  return end;
}

/** Below the values of what is spilled there are handles alone. */
function isRecord(value: u32): bool {
  return value - 1 < <u32>(SPILL_VALUE - 1);
}

/** Each loop reads what the one before has made cheap to find. */
function touchRows(job: usize, values: usize, from: u32, end: u32): void {
  let touched: u32 = 0;
  for (let entry = from; entry < end; entry++) {
    const value = get(values, entry);
    if (!isRecord(value)) continue;
    touched += get(at8(value), RECORD_STATE_WORD) + get(at8(value), RECORD_TEXT_BYTES_WORD);
  }
  for (let entry = from; entry < end; entry++) {
    const value = get(values, entry);
    if (!isRecord(value)) continue;
    const record = at8(value);
    touched += load<u8>(record + get(record, RECORD_TEXT_BYTES_WORD), RECORD_HEAD_BYTES - 1);
    touched += get(at8(get(record, RECORD_QUEUE_WORD)), QUEUE_HOST_WORD);
  }
  for (let entry = from; entry < end; entry++) {
    const value = get(values, entry);
    if (!isRecord(value)) continue;
    const record = at8(value);
    if ((get(record, RECORD_STATE_WORD) & RECORD_LONE) !== 0) continue;
    const queue = at8(get(record, RECORD_QUEUE_WORD));
    touched += get(at8(get(queue, QUEUE_HOST_WORD)), HOST_HASH_LO_WORD);
  }
  set(job, SNAPSHOT_TOUCHED_WORD, touched);
}

/** How many there are then. */
function addSeen(job: usize, entry: u32, value: u32): u32 {
  const row = get(job, SNAPSHOT_SEEN_WORD);
  const hash = load<u64>(<usize>get(job, SNAPSHOT_HASHES_WORD) + ((<usize>entry) << 3));
  store<u64>(<usize>get(job, SNAPSHOT_SEEN_HASHES_WORD) + ((<usize>row) << 3), hash);
  set(<usize>get(job, SNAPSHOT_SEEN_VALUES_WORD), row, value);
  set(job, SNAPSHOT_SEEN_WORD, row + 1);
  return row + 1;
}

/** Adds a live record as it now is, a volatile one never; false: its text finds no room. */
function addRecord(job: usize, record: usize, handle: u32): bool {
  const state = get(record, RECORD_STATE_WORD);
  if ((state & (RECORD_FLAG_VOLATILE << 8)) !== 0) return true;
  const length = get(record, RECORD_TEXT_BYTES_WORD);
  const used = get(job, SNAPSHOT_TEXT_BYTES_WORD);
  const padded = (length + 3) & ~3;
  if (padded > <u32>SNAPSHOT_TEXT_BYTES - used) return false;
  const row = get(job, SNAPSHOT_RECORDS_WORD);
  const isLone = (state & RECORD_LONE) !== 0;
  const own = isLone ? ownHost(record) : 0;
  const queue = at8(get(record, RECORD_QUEUE_WORD));
  const ruleQueue = isLone ? queue : at8(get(queue, QUEUE_RULE_WORD));
  const rule = get(ruleQueue, RULE_QUEUE_INDEX_WORD);
  const hashes = <usize>get(job, SNAPSHOT_RECORD_HASHES_WORD) + ((<usize>row) << 4);
  store<u64>(hashes, load<u64>(record, RECORD_HASH_LO_WORD << 2));
  const hostHash = isLone
    ? load<u64>(own, NAMED_HASH_WORD << 2)
    : load<u64>(at8(get(queue, QUEUE_HOST_WORD)), HOST_HASH_LO_WORD << 2);
  store<u64>(hashes, hostHash, 8);
  const doubles = <usize>get(job, SNAPSHOT_DOUBLES_WORD) + <usize>row * 24;
  store<u64>(doubles, isLone ? load<u64>(own) : load<u64>(record, ITEM_KEY_WORD << 2));
  store<u64>(doubles, load<u64>(record, RECORD_PRIORITY_WORD << 2), 8);
  store<f64>(doubles, 0, 16);
  const words = <usize>get(job, SNAPSHOT_WORDS_WORD) + ((<usize>row) << 4);
  const depth = get(record, RECORD_DEPTH_WORD);
  set(words, 0, (state & HEAD_MASK) | ruleBits(rule));
  set(words, 1, (state >>> 16) | (depth & 0xffff_0000));
  set(words, 2, depth & 0xffff);
  set(words, 3, length);
  if (length !== 0) {
    const to = <usize>(get(job, SNAPSHOT_TEXT_WORD) + used);
    store<u32>(to + padded - 4, 0);
    copyText(textOf(record, state), to, length);
  }
  if (isOwners(state)) leave(job, row, handle);
  set(job, SNAPSHOT_TEXT_BYTES_WORD, used + padded);
  set(job, SNAPSHOT_RECORDS_WORD, row + 1);
  return true;
}

function ruleBits(index: u32): u32 {
  return (index << JOURNAL_RULE_SHIFT) | ((index >>> JOURNAL_RULE_HIGH_SHIFT) & JOURNAL_RULE_HIGH);
}

function textOf(record: usize, state: u32): usize {
  let text = record + RECORD_HEAD_BYTES;
  if ((state & (RECORD_FLAG_PARENT << 8)) !== 0) text += 4;
  if ((state & (RECORD_FLAG_BLOB << 8)) !== 0) text += 4;
  return text + ownHostBytes(record);
}

/** It has more than words of its own: a parent, a blob, or a due time that a heap keeps. */
function isOwners(word: u32): bool {
  const state = word & RECORD_STATE_MASK;
  const isTimed = state === RECORD_WAITING || state === RECORD_RESTING;
  return isTimed || (word & OWN_FLAGS) !== 0;
}

function leave(job: usize, row: u32, handle: u32): void {
  const count = get(job, SNAPSHOT_OWN_COUNT_WORD);
  const own = <usize>get(job, SNAPSHOT_OWN_WORD) + ((<usize>count) << 3);
  store<u32>(own, row);
  store<u32>(own, handle, 4);
  set(job, SNAPSHOT_OWN_COUNT_WORD, count + 1);
}

function at8(handle: u32): usize {
  return (<usize>handle) << 3;
}

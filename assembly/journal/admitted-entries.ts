/**
 * Room `assembly/journal`: entries of the journal (src/layout/files/journal.ts) written in bulk. Decides nothing; what is rare is left to
 * the owner.
 */

/**
 * Writes the entries of records that a batch has admitted, from the records themselves:
 *
 *   record ─▶ parent, unless the group named it last ─▶ host, unless its name was written before ─▶ admission
 *
 * The owner has the same, record by record (src/persistence/journal/journal-log.ts); both write the same bytes.
 *
 *   I1  A record that stops the call has changed nothing.
 *   I2  Nothing but the entries, the job's `both` and `out` fields and HOST_MARKED of hosts is written.
 */
import {
  HOST_ADMITTED_WORD,
  HOST_FLAGS_WORD,
  HOST_HASH_LO_WORD,
  HOST_MARKED,
  HOST_NAME_BYTES_WORD,
  HOST_NAME_WORD,
  HOST_TURN_WORD,
  QUEUE_HOST_WORD,
  QUEUE_RULE_WORD,
  RULE_QUEUE_INDEX_WORD,
} from "../../src/layout/records/host";
import { ITEM_KEY_WORD } from "../../src/layout/ordering/item";
import {
  ENTRIES_END_WORD,
  ENTRIES_FIXED_BYTES,
  ENTRIES_FROM_WORD,
  ENTRIES_LIMIT_WORD,
  ENTRIES_PARENT_WORD,
  ENTRIES_PRINT_WORD,
  ENTRIES_RECORDS_WORD,
} from "../../src/layout/calls/admitted-entries";
import {
  JOURNAL_ADMITTED_WORDS,
  JOURNAL_HAS_BUDGET,
  JOURNAL_HAS_PARENT,
  JOURNAL_HAS_PRIORITY,
  JOURNAL_HOST_MADE,
  JOURNAL_HOST_MADE_WORDS,
  JOURNAL_PARENT,
  JOURNAL_PARENT_WORDS,
  JOURNAL_RULE_HIGH,
  JOURNAL_RULE_HIGH_SHIFT,
  JOURNAL_RULE_SHIFT,
  JOURNAL_STATE_SHIFT,
} from "../../src/layout/files/journal";
import {
  LONE_BITS,
  NAMED_HASH_WORD,
  NAMED_NAME_BYTES_WORD,
  NAMED_SEQUENCE_WORD,
  RECORD_AGAIN,
  RECORD_DEPTH_WORD,
  RECORD_FLAG_BLOB,
  RECORD_FLAG_NO_IDENTITY,
  RECORD_FLAG_PARENT,
  RECORD_FLAG_VOLATILE,
  RECORD_HASH_LO_WORD,
  RECORD_HEAD_BYTES,
  RECORD_LONE,
  RECORD_PENDING,
  RECORD_PRIORITY_WORD,
  RECORD_QUEUE_WORD,
  RECORD_STATE_MASK,
  RECORD_STATE_WORD,
  RECORD_TEXT_BYTES_WORD,
} from "../../src/layout/records/record";
import { at, get, set } from "../batch-row";
import { copyText } from "../records/fill-record";
import { ownHost, ownHostBytes, paddedBytes } from "../records/host-objects";

/** The kind of an admission (src/frontier/records/transition-log.ts). */
const ADMITTED: u32 = 1;
/** Flags that belong to the record itself. */
const KEPT_FLAGS: u32 = 15;
/** What only the owner can write: data, names that are no identity, records of which only the number is written. */
const OWNER_FLAGS: u32 = RECORD_FLAG_BLOB | RECORD_FLAG_NO_IDENTITY | RECORD_FLAG_VOLATILE;
/** State and what else makes a record the owner's, in the record's word, and that word of a plain one. */
const PLAIN_MASK: u32 = RECORD_STATE_MASK | RECORD_AGAIN | (OWNER_FLAGS << 8);

/** Writes the entries of records from index `from` on; the index of the first that the owner has to write, or the count. @hot */
export function writeAdmitted(job: usize, from: u32, count: u32): u32 {
  const records = <usize>get(job, ENTRIES_RECORDS_WORD);
  const limit = <usize>get(job, ENTRIES_LIMIT_WORD);
  let to = <usize>get(job, ENTRIES_FROM_WORD);
  let i = from;
  for (; i < count; i++) {
    const record = at(get(records, i));
    const state = get(record, RECORD_STATE_WORD);
    if ((state & PLAIN_MASK) !== RECORD_PENDING) break;
    const own = ownHostBytes(record);
    const isLone = (state & LONE_BITS) === RECORD_LONE;
    const host = isLone ? <usize>0 : hostOf(record);
    const texts =
      get(record, RECORD_TEXT_BYTES_WORD) + (isLone ? own : get(host, HOST_NAME_BYTES_WORD));
    if (to + <usize>(ENTRIES_FIXED_BYTES + texts) > limit) break;
    const parent = (state >>> 8) & RECORD_FLAG_PARENT;
    if (parent !== 0) to = nameParent(job, get(record, RECORD_HEAD_BYTES >> 2), to);
    const text = ownHost(record) + <usize>own;
    to = isLone ? loneHost(record, text, to) : markHost(host, to);
    to = admission(record, host, text, to);
  }
  set(job, ENTRIES_END_WORD, <u32>to);
  return i;
}

/** The host of a record that is not lone. */
function hostOf(record: usize): usize {
  return at(get(at(get(record, RECORD_QUEUE_WORD)), QUEUE_HOST_WORD));
}

/** The parent, unless the group named it last. An equal handle is no proof: another may stand there by now. */
function nameParent(job: usize, handle: u32, to: usize): usize {
  const print = job + (ENTRIES_PRINT_WORD << 2);
  const parent = at(handle);
  const first = load<u64>(parent, 8);
  const second = load<u64>(parent, 16);
  const isEqual = load<u64>(print) === first && load<u64>(print, 8) === second;
  if (isEqual && get(job, ENTRIES_PARENT_WORD) === handle) return to;
  set(job, ENTRIES_PARENT_WORD, handle);
  store<u64>(print, first);
  store<u64>(print, second, 8);
  set(to, 0, JOURNAL_PARENT);
  store<u64>(to, first, 4);
  store<u64>(to, second, 12);
  return to + (JOURNAL_PARENT_WORDS << 2);
}

/** The host that a lone record stands for, whose name stands right before the text. */
function loneHost(record: usize, text: usize, to: usize): usize {
  const own = ownHost(record);
  const bytes = get(own, NAMED_NAME_BYTES_WORD);
  const hash = load<u64>(own, NAMED_HASH_WORD << 2);
  const turn = load<f64>(record, ITEM_KEY_WORD << 2);
  return hostMade(hash, turn, text - <usize>bytes, bytes, to);
}

/** Any other host, unless its name is in the journal. */
function markHost(host: usize, to: usize): usize {
  const flags = get(host, HOST_FLAGS_WORD);
  if ((flags & HOST_MARKED) !== 0) return to;
  set(host, HOST_FLAGS_WORD, flags | HOST_MARKED);
  const hash = load<u64>(host, HOST_HASH_LO_WORD << 2);
  const turn = load<f64>(host, HOST_TURN_WORD << 2);
  const name = at(get(host, HOST_NAME_WORD));
  return hostMade(hash, turn, name, get(host, HOST_NAME_BYTES_WORD), to);
}

function hostMade(hash: u64, turn: f64, name: usize, bytes: u32, to: usize): usize {
  set(to, 0, JOURNAL_HOST_MADE);
  store<u64>(to, hash, 4);
  set(to, 3, bytes);
  store<f64>(to, turn, 16);
  return padded(name, bytes, to + (JOURNAL_HOST_MADE_WORDS << 2));
}

/** The record itself. `host` 0: it is lone. */
function admission(record: usize, host: usize, text: usize, to: usize): usize {
  const flags = (get(record, RECORD_STATE_WORD) >>> 8) & 255;
  const queue = get(record, RECORD_QUEUE_WORD);
  const rule = host === 0 ? queue : get(at(queue), QUEUE_RULE_WORD);
  const own = ownHost(record);
  const index = get(at(rule), RULE_QUEUE_INDEX_WORD);
  const high = (index >>> JOURNAL_RULE_HIGH_SHIFT) & JOURNAL_RULE_HIGH;
  const inWord = (index << JOURNAL_RULE_SHIFT) | high;
  set(to, 0, ADMITTED | (RECORD_PENDING << JOURNAL_STATE_SHIFT) | inWord);
  store<u64>(to, load<u64>(record, RECORD_HASH_LO_WORD << 2), 4);
  if (host === 0) {
    store<u64>(to, load<u64>(own, NAMED_HASH_WORD << 2), 12);
    store<u64>(to, load<u64>(own, NAMED_SEQUENCE_WORD << 2), 20);
  } else {
    store<u64>(to, load<u64>(host, HOST_HASH_LO_WORD << 2), 12);
    store<u64>(to, load<u64>(record, ITEM_KEY_WORD << 2), 20);
  }
  const bytes = get(record, RECORD_TEXT_BYTES_WORD);
  set(to, 7, bytes);
  let next = to + (JOURNAL_ADMITTED_WORDS << 2);
  let has: u32 = (flags & RECORD_FLAG_PARENT) === 0 ? 0 : JOURNAL_HAS_PARENT;
  const priority = load<f64>(record, RECORD_PRIORITY_WORD << 2);
  if (priority !== 0) {
    has |= JOURNAL_HAS_PRIORITY;
    store<f64>(next, priority);
    next += 8;
  }
  const admitted = host === 0 ? 0 : get(host, HOST_ADMITTED_WORD);
  if (admitted !== 0) {
    has |= JOURNAL_HAS_BUDGET;
    store<u32>(next, admitted);
    next += 4;
  }
  const depth = get(record, RECORD_DEPTH_WORD) << 16;
  set(to, 8, (flags & KEPT_FLAGS) | (has << 8) | depth);
  return padded(text, bytes, next);
}

/** Bytes, padded with zeros to a word. */
function padded(from: usize, bytes: u32, to: usize): usize {
  const end = to + <usize>paddedBytes(bytes);
  if ((bytes & 3) !== 0) store<u32>(end - 4, 0);
  copyText(from, to, bytes);
  return end;
}

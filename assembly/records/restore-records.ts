/**
 * Records of a recovery, a batch at a time (src/layout/calls/restore-records.ts):
 *
 *   columns of a snapshot ──┐
 *   entries of a journal ───┴▶ rows ─▶ hosts asked ─▶ restoreQueues ─▶ seen-set asked, memory taken ─▶ restoreRows
 *                                                                         owner makes the row it stopped at ◀──┘
 *
 * The kernel makes what stands under a host and a rule that have a queue already, and whose identity is new. Anything else is
 * left to the owner, in its turn.
 *
 *   I1  Rows are made in their order.
 *   I2  A row that stops the call has changed nothing.
 *   I3  An entry is read only if all of it lies before `end`; the first that is not plain ends the reading.
 */
import {
  HOST_LIVE_WORD,
  HOST_LONE,
  HOST_QUEUES_WORD,
  QUEUE_NEXT_WORD,
  QUEUE_RULE_WORD,
} from "../../src/layout/records/host";
import { ITEM_KEY_WORD, ITEM_PLACE_WORD } from "../../src/layout/ordering/item";
import {
  JOURNAL_ADMITTED_WORDS,
  JOURNAL_HAS_BEEN_SEEN,
  JOURNAL_HAS_BLOB,
  JOURNAL_HAS_BUDGET,
  JOURNAL_HAS_DUE,
  JOURNAL_HAS_PARENT,
  JOURNAL_HAS_PRIORITY,
  JOURNAL_HAS_TRIES,
  JOURNAL_RULE_HIGH,
  JOURNAL_STATE_MASK,
  JOURNAL_STATE_SHIFT,
} from "../../src/layout/files/journal";
import {
  RECORD_FLAG_NO_IDENTITY,
  RECORD_FLAG_PARENT,
  RECORD_HEAD_BYTES,
} from "../../src/layout/records/record";
import {
  RESTORE_AT_WORD,
  RESTORE_COUNT_WORD,
  RESTORE_DEPTH_WORD,
  RESTORE_DUE_WORD,
  RESTORE_END_WORD,
  RESTORE_HANDLES_WORD,
  RESTORE_HASHES_WORD,
  RESTORE_HEAD_WORD,
  RESTORE_HOST_HASHES_WORD,
  RESTORE_HOST_VALUES_WORD,
  RESTORE_HOST_WORD,
  RESTORE_KEY_WORD,
  RESTORE_LENGTH_WORD,
  RESTORE_OWNER,
  RESTORE_OWN_WORD,
  RESTORE_PARENT_WORD,
  RESTORE_PRIORITY_WORD,
  RESTORE_QUEUES_WORD,
  RESTORE_ROWS_MAX,
  RESTORE_ROWS_WORD,
  RESTORE_ROW_BYTES,
  RESTORE_SIZES_WORD,
  RESTORE_SLOTS_WORD,
  RESTORE_SOLE_WORD,
  RESTORE_TEXT_WORD,
  RESTORE_TOUCHED_WORD,
  RESTORE_TRIES_WORD,
  RESTORE_VALUES_WORD,
} from "../../src/layout/calls/restore-records";
import { TABLE_CLAIMED, TABLE_NEW, TABLE_SKIP } from "../../src/layout/seen/table";
import { fillHead, fillText } from "./fill-record";
import { enterRestored } from "./ledger";
import { at, bump, get, set } from "../batch-row";

/** The kind of an admission (src/frontier/records/transition-log.ts), and the longest text there is. */
const ADMITTED: u32 = 1;
const LENGTH_MAX: u32 = 0x03ff_ffff;
const FIRST_TRY: u32 = 1;
/** Of a row's head: the state, and the flags that are a record's own whatever becomes of it. */
const STATE_AND_FLAGS: u32 = 0x0fff;
/** The rule in an entry's word 0 and in a row's head. */
const RULE: u32 = 0xffff_0000 | JOURNAL_RULE_HIGH;
/** Without identity, or such as no entry has: the owner refuses them. */
const OWNERS_FLAGS: u32 = RECORD_FLAG_NO_IDENTITY | 0xf0;

/** Rows of columns: hashes u32 × 4, doubles f64 × 3, words u32 × 4, texts padded to a word. @hot */
export function restoreColumns(
  job: usize,
  hashes: usize,
  doubles: usize,
  words: usize,
  text: usize,
): void {
  const count = get(job, RESTORE_COUNT_WORD);
  let row = <usize>get(job, RESTORE_ROWS_WORD);
  for (let i: u32 = 0; i < count; i++, row += RESTORE_ROW_BYTES) {
    v128.store(row, v128.load(hashes));
    v128.store(row, v128.load(doubles), RESTORE_KEY_WORD << 2);
    store<u64>(row, load<u64>(doubles, 16), RESTORE_DUE_WORD << 2);
    v128.store(row, v128.load(words), RESTORE_HEAD_WORD << 2);
    set(row, RESTORE_TEXT_WORD, <u32>text);
    const isNameless = (get(words, 0) & (RECORD_FLAG_NO_IDENTITY << 8)) !== 0;
    set(row, RESTORE_OWN_WORD, isNameless ? RESTORE_OWNER : 0);
    name(job, i, row);
    hashes += 16;
    doubles += 24;
    words += 16;
    text += (get(row, RESTORE_LENGTH_WORD) + 3) & ~3;
  }
}

/** Appends rows of plain admissions, up to the first entry that is none (I3). @hot */
export function restoreEntries(job: usize): void {
  const end = <usize>get(job, RESTORE_END_WORD);
  let at = <usize>get(job, RESTORE_AT_WORD);
  let count = get(job, RESTORE_COUNT_WORD);
  while (count < <u32>RESTORE_ROWS_MAX) {
    const next = entryRow(job, at, end, count);
    if (next === 0) break;
    at = next;
    count++;
  }
  set(job, RESTORE_AT_WORD, <u32>at);
  set(job, RESTORE_COUNT_WORD, count);
}

/** The row of one entry; where the next one stands, 0: it is no plain admission, or none at all. */
function entryRow(job: usize, at: usize, end: usize, i: u32): usize {
  if (at + (JOURNAL_ADMITTED_WORDS << 2) > end) return 0;
  const head = get(at, 0);
  if ((head & 255) !== ADMITTED) return 0;
  const packed = get(at, 8);
  const has = (packed >> 8) & 255;
  if ((packed & OWNERS_FLAGS) !== 0) return 0;
  if ((has & (JOURNAL_HAS_BEEN_SEEN | JOURNAL_HAS_BLOB | JOURNAL_HAS_BUDGET)) !== 0) return 0;
  const length = get(at, 7);
  if (length > LENGTH_MAX) return 0;
  const more =
    <usize>((has & JOURNAL_HAS_PRIORITY) !== 0 ? 8 : 0) +
    ((has & JOURNAL_HAS_DUE) !== 0 ? 8 : 0) +
    ((has & JOURNAL_HAS_TRIES) !== 0 ? 4 : 0);
  let rest = at + (JOURNAL_ADMITTED_WORDS << 2);
  const next = rest + more + <usize>((length + 3) & ~3);
  if (next > end) return 0;
  const row = <usize>get(job, RESTORE_ROWS_WORD) + <usize>i * RESTORE_ROW_BYTES;
  v128.store(row, v128.load(at, 4));
  store<u64>(row, load<u64>(at, 20), RESTORE_KEY_WORD << 2);
  store<f64>(row, 0, RESTORE_PRIORITY_WORD << 2);
  store<f64>(row, 0, RESTORE_DUE_WORD << 2);
  if ((has & JOURNAL_HAS_PRIORITY) !== 0) {
    store<u64>(row, load<u64>(rest), RESTORE_PRIORITY_WORD << 2);
    rest += 8;
  }
  if ((has & JOURNAL_HAS_DUE) !== 0) {
    store<u64>(row, load<u64>(rest), RESTORE_DUE_WORD << 2);
    rest += 8;
  }
  set(row, RESTORE_TRIES_WORD, (has & JOURNAL_HAS_TRIES) !== 0 ? get(rest, 0) : FIRST_TRY);
  const state = (head >> JOURNAL_STATE_SHIFT) & JOURNAL_STATE_MASK;
  set(row, RESTORE_HEAD_WORD, state | ((packed & 255) << 8) | (head & RULE));
  set(row, RESTORE_DEPTH_WORD, packed >> 16);
  set(row, RESTORE_LENGTH_WORD, length);
  set(row, RESTORE_TEXT_WORD, <u32>(next - <usize>((length + 3) & ~3)));
  const parent = (has & JOURNAL_HAS_PARENT) === 0 ? 0 : get(job, RESTORE_PARENT_WORD);
  set(row, RESTORE_OWN_WORD, parent);
  name(job, i, row);
  return next;
}

/** What the tables are asked for. */
function name(job: usize, i: u32, row: usize): void {
  store<u64>(<usize>get(job, RESTORE_HASHES_WORD) + ((<usize>i) << 3), load<u64>(row));
  const host = load<u64>(row, RESTORE_HOST_WORD << 2);
  store<u64>(<usize>get(job, RESTORE_HOST_HASHES_WORD) + ((<usize>i) << 3), host);
  set(<usize>get(job, RESTORE_HOST_VALUES_WORD), i, 0);
}

/** Finds each row the queue of its host and rule, and its record's size; a row without one is the owner's. @hot */
export function restoreQueues(job: usize): void {
  const count = get(job, RESTORE_COUNT_WORD);
  const hosts = <usize>get(job, RESTORE_HOST_VALUES_WORD);
  const queues = <usize>get(job, RESTORE_QUEUES_WORD);
  const values = <usize>get(job, RESTORE_VALUES_WORD);
  const sizes = <usize>get(job, RESTORE_SIZES_WORD);
  const sole = get(job, RESTORE_SOLE_WORD);
  forgetAway(hosts, count);
  touchHosts(job, hosts, count);
  let row = <usize>get(job, RESTORE_ROWS_WORD);
  for (let i: u32 = 0; i < count; i++, row += RESTORE_ROW_BYTES) {
    const host = at(get(hosts, i));
    const own = get(row, RESTORE_OWN_WORD);
    let queue: u32 = 0;
    if (own !== RESTORE_OWNER && host !== 0 && get(host, HOST_LIVE_WORD) !== 0) {
      const rule = get(queues, i);
      queue = rule === sole ? get(host, HOST_QUEUES_WORD) : queueOf(host, rule);
    }
    const bytes = RECORD_HEAD_BYTES + get(row, RESTORE_LENGTH_WORD) + (own === 0 ? 0 : 4);
    set(queues, i, queue);
    set(values, i, queue === 0 ? TABLE_SKIP : 0);
    set(sizes, i, queue === 0 ? 0 : bytes);
  }
}

/** The index holds no handle for hosts outside memory. Their rows are left to the owner. */
function forgetAway(hosts: usize, count: u32): void {
  for (let i: u32 = 0; i < count; i++) if (get(hosts, i) >= <u32>HOST_LONE) set(hosts, i, 0);
}

/** So that the cache misses of many rows overlap. A host that is not there is read at address 0. */
function touchHosts(job: usize, hosts: usize, count: u32): void {
  let touched: u32 = 0;
  for (let i: u32 = 0; i < count; i++) touched += get(at(get(hosts, i)), HOST_QUEUES_WORD);
  const isSole = get(job, RESTORE_SOLE_WORD) !== 0;
  for (let i: u32 = 0; i < count && !isSole; i++) {
    touched += get(at(get(at(get(hosts, i)), HOST_QUEUES_WORD)), QUEUE_RULE_WORD);
  }
  set(job, RESTORE_TOUCHED_WORD, touched);
}

function queueOf(host: usize, rule: u32): u32 {
  let queue = get(host, HOST_QUEUES_WORD);
  while (queue !== 0 && get(at(queue), QUEUE_RULE_WORD) !== rule) {
    queue = get(at(queue), QUEUE_NEXT_WORD);
  }
  return queue;
}

/** Makes records from row `from` on; the row that is the owner's to make, or the count. @hot */
export function restoreRows(job: usize, from: u32): u32 {
  const count = get(job, RESTORE_COUNT_WORD);
  let row = <usize>get(job, RESTORE_ROWS_WORD) + <usize>from * RESTORE_ROW_BYTES;
  for (let i = from; i < count; i++, row += RESTORE_ROW_BYTES) {
    const handle = get(<usize>get(job, RESTORE_HANDLES_WORD), i);
    if (handle === 0 || get(<usize>get(job, RESTORE_VALUES_WORD), i) !== TABLE_NEW) return i;
    const slot = <usize>get(<usize>get(job, RESTORE_SLOTS_WORD), i);
    // An earlier row of the same identity was the owner's, and has it now.
    if (load<u32>(slot) !== TABLE_CLAIMED) return i;
    fill(row, handle, get(<usize>get(job, RESTORE_QUEUES_WORD), i));
    store<u32>(slot, handle);
    const host = at(get(<usize>get(job, RESTORE_HOST_VALUES_WORD), i));
    bump(host, HOST_LIVE_WORD);
  }
  return count;
}

/** A record that stands nowhere; its due time stands where links will. */
function fill(row: usize, handle: u32, queue: u32): void {
  const record = at(handle);
  store<u64>(record, load<u64>(row, RESTORE_DUE_WORD << 2));
  store<u64>(record, load<u64>(row, RESTORE_KEY_WORD << 2), ITEM_KEY_WORD << 2);
  set(record, ITEM_PLACE_WORD, 0);
  const tries = get(row, RESTORE_TRIES_WORD);
  const parent = get(row, RESTORE_OWN_WORD);
  const flag: u32 = parent === 0 ? 0 : RECORD_FLAG_PARENT << 8;
  enterRestored(record, (get(row, RESTORE_HEAD_WORD) & STATE_AND_FLAGS) | flag, tries);
  const depths = min<u32>(get(row, RESTORE_DEPTH_WORD), 65_535) | (tries & 0xffff_0000);
  fillHead(record, queue, load<u64>(row), load<f64>(row, RESTORE_PRIORITY_WORD << 2), depths);
  fillText(record, parent, <usize>get(row, RESTORE_TEXT_WORD), get(row, RESTORE_LENGTH_WORD));
}

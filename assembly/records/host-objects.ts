/** Memory that becomes a host or a host queue (src/structures/hosts), and what a named record has of its host (src/layout/records/record.ts). */
import {
  QUEUE_HOST_WORD,
  QUEUE_MARK,
  QUEUE_MARK_WORD,
  QUEUE_RULE_NEXT_WORD,
  QUEUE_RULE_PREVIOUS_WORD,
  QUEUE_RULE_WORD,
  QUEUE_SIZE_BYTES,
  RULE_QUEUE_FIRST_WORD,
  HOST_ADAPTIVE_WORD,
  HOST_DELAY_WORD,
  HOST_FLAGS_WORD,
  HOST_HASH_LO_WORD,
  HOST_LIVE_WORD,
  HOST_NAME_BYTES_WORD,
  HOST_NAME_WORD,
  HOST_PASSED,
  HOST_SIZE_BYTES,
  HOST_TURN_WORD,
} from "../../src/layout/records/host";
import {
  NAMED_BYTES,
  NAMED_NAME_BYTES_WORD,
  RECORD_FLAG_BLOB,
  RECORD_FLAG_PARENT,
  RECORD_HEAD_BYTES,
  RECORD_NAMED,
  RECORD_STATE_WORD,
  NAMED_HASH_WORD,
} from "../../src/layout/records/record";
import { at, get, set } from "../batch-row";
import { ITEM_KEY_WORD } from "../../src/layout/ordering/item";
import { copyText } from "./fill-record";

/** An empty queue of a host, the first of its rule (src/structures/hosts/host-queue.ts). */
export function openQueue(queue: u32, host: u32, rule: u32): void {
  const block = at(queue);
  clear(block, QUEUE_SIZE_BYTES);
  set(block, QUEUE_MARK_WORD, QUEUE_MARK);
  set(block, QUEUE_RULE_WORD, rule);
  set(block, QUEUE_HOST_WORD, host);
  const next = get(at(rule), RULE_QUEUE_FIRST_WORD);
  set(block, QUEUE_RULE_NEXT_WORD, next);
  if (next !== 0) set(at(next), QUEUE_RULE_PREVIOUS_WORD, queue);
  set(at(rule), RULE_QUEUE_FIRST_WORD, queue);
}

/** Zeroes a block of a multiple of 16 bytes; a call of memory.fill would leave the kernel. */
export function clear(block: usize, bytes: usize): void {
  const zero = i32x4.splat(0);
  for (const end = block + bytes; block !== end; block += 16) v128.store(block, zero);
}

/** Whether a record carries the name of its host. */
export function isNamed(record: usize): bool {
  return (get(record, RECORD_STATE_WORD) & RECORD_NAMED) !== 0;
}

/** What a named record has of its host. */
export function ownHost(record: usize): usize {
  const flags = get(record, RECORD_STATE_WORD) >>> 8;
  let own = record + RECORD_HEAD_BYTES;
  if ((flags & RECORD_FLAG_PARENT) !== 0) own += 4;
  if ((flags & RECORD_FLAG_BLOB) !== 0) own += 4;
  return own;
}

/** Bytes of that, the name included; 0 of a record without. */
export function ownHostBytes(record: usize): u32 {
  if (!isNamed(record)) return 0;
  return NAMED_BYTES + paddedBytes(get(ownHost(record), NAMED_NAME_BYTES_WORD));
}

/** The text behind a name begins at a word. */
export function paddedBytes(nameBytes: u32): u32 {
  return (nameBytes + 3) & ~3;
}

/** The host of a lone record, with that one record: its hash, its name and the turn that is the record's key; it may go. */
export function fillLoneHost(host: usize, record: usize, name: u32, flags: u32): void {
  const own = ownHost(record);
  const bytes = get(own, NAMED_NAME_BYTES_WORD);
  clear(host, HOST_SIZE_BYTES);
  copyText(own + NAMED_BYTES + <usize>(-bytes & 3), at(name), bytes);
  set(host, HOST_NAME_WORD, name);
  set(host, HOST_NAME_BYTES_WORD, bytes);
  store<u64>(host, load<u64>(own, NAMED_HASH_WORD << 2), HOST_HASH_LO_WORD << 2);
  store<f64>(host, -1, HOST_DELAY_WORD << 2);
  store<f64>(host, -1, HOST_ADAPTIVE_WORD << 2);
  store<f64>(host, load<f64>(record, ITEM_KEY_WORD << 2), HOST_TURN_WORD << 2);
  set(host, HOST_FLAGS_WORD, HOST_PASSED | flags);
  set(host, HOST_LIVE_WORD, 1);
}

/** First of the busy hosts, which a word of the job names. */
export function joinBusy(job: usize, busyFirst: u32, host: u32): void {
  const first = get(job, busyFirst);
  set(at(host), 0, first);
  set(at(host), 1, 0);
  if (first !== 0) set(at(first), 1, host);
  set(job, busyFirst, host);
}

/** Fills records that are made in the kernel: what a batch admits (make-records.ts) and what a recovery brings back (restore-records.ts). */
import {
  RECORD_DEPTH_WORD,
  RECORD_FLAG_PARENT,
  RECORD_HASH_LO_WORD,
  RECORD_HEAD_BYTES,
  RECORD_PRIORITY_WORD,
  RECORD_QUEUE_WORD,
  RECORD_TEXT_BYTES_WORD,
} from "../../src/layout/records/record";
import { at, bump, set } from "../batch-row";

/** The fields behind the item's, but for the state, which is the ledger's. `depths`: depth and deliveries. */
export function fillHead(record: usize, queue: u32, hash: u64, priority: f64, depths: u32): void {
  store<f64>(record, priority, RECORD_PRIORITY_WORD << 2);
  set(record, RECORD_QUEUE_WORD, queue);
  store<u64>(record, hash, RECORD_HASH_LO_WORD << 2);
  set(record, RECORD_DEPTH_WORD, depths);
}

/** The parent, if any, and the text. */
export function fillText(record: usize, parent: u32, from: usize, bytes: u32): void {
  set(record, RECORD_TEXT_BYTES_WORD, bytes);
  const text = fillExtra(record, parent, RECORD_FLAG_PARENT);
  copyText(from, text, bytes);
}

/** The parent, which has one child more, or the blob of a record, if any; what comes after it. */
export function fillExtra(record: usize, extra: u32, flag: u32): usize {
  const next = record + RECORD_HEAD_BYTES;
  if (extra === 0) return next;
  store<u32>(next, extra);
  if (flag === RECORD_FLAG_PARENT) bump(at(extra), 0);
  return next + 4;
}

/**
 * Blocks of 16, and a last one that overlaps, down to 4; no byte behind the end is read or written. A call of memory.copy leaves
 * the kernel, which is dearer than all of a URL.
 */
export function copyText(from: usize, to: usize, bytes: u32): void {
  if (bytes >= 16) {
    const last = bytes - 16;
    for (let at: u32 = 0; at < last; at += 16) v128.store(to + at, v128.load(from + at));
    v128.store(to + last, v128.load(from + last));
  } else if (bytes >= 8) {
    const last = bytes - 8;
    store<u64>(to, load<u64>(from));
    store<u64>(to + last, load<u64>(from + last));
  } else if (bytes >= 4) {
    const last = bytes - 4;
    store<u32>(to, load<u32>(from));
    store<u32>(to + last, load<u32>(from + last));
  } else {
    for (let at: u32 = 0; at < bytes; at++) store<u8>(to + at, load<u8>(from + at));
  }
}

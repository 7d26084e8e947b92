/** Fills records that are made in the kernel: what a batch admits (make-records.ts) and what a recovery brings back (restore-records.ts). */
import {
  RECORD_DEPTH_WORD,
  RECORD_HASH_LO_WORD,
  RECORD_HEAD_BYTES,
  RECORD_PRIORITY_WORD,
  RECORD_QUEUE_WORD,
  RECORD_TEXT_BYTES_WORD,
} from "../../src/layout/records/record";
import { at, bump, set } from "../batch-row";
import { copyText } from "./copy-records";

/** The fields behind the item's, but for the state, which is the ledger's. `depths`: depth and deliveries. */
export function fillHead(record: usize, queue: u32, hash: u64, priority: f64, depths: u32): void {
  store<f64>(record, priority, RECORD_PRIORITY_WORD << 2);
  set(record, RECORD_QUEUE_WORD, queue);
  store<u64>(record, hash, RECORD_HASH_LO_WORD << 2);
  set(record, RECORD_DEPTH_WORD, depths);
}

/** The parent, if any, which has one child more, and the text. */
export function fillText(record: usize, parent: u32, from: usize, bytes: u32): void {
  set(record, RECORD_TEXT_BYTES_WORD, bytes);
  let text = record + RECORD_HEAD_BYTES;
  if (parent !== 0) {
    store<u32>(text, parent);
    bump(at(parent), 0);
    text += 4;
  }
  copyText(from, text, bytes);
}

/** Words of a batch's header and rows by number, and the room left for written bytes. */
import {
  BATCH_ROW_BYTES,
  BATCH_SCRATCH_BYTES,
  BATCH_TEXT_CAPACITY_WORD,
  BATCH_TEXT_OFFSET_WORD,
  BATCH_TEXT_USED_WORD,
  ROW_HREF_LENGTH_WORD,
  ROW_HREF_OFFSET_WORD,
  ROW_QUERY_START_WORD,
  ROW_STATUS_WORD,
  ROW_VISIT_LENGTH_WORD,
} from "../src/layout/calls/url-batch";

export function get(block: usize, word: u32): u32 {
  return load<u32>(block + (word << 2));
}

export function set(block: usize, word: u32, value: u32): void {
  store<u32>(block + (word << 2), value);
}

export function addFlags(block: usize, word: u32, flags: u32): void {
  set(block, word, get(block, word) | flags);
}

/** Ends a row with a status; the 0 means "nothing written" to callers that hand out an end. */
export function stop(row: usize, status: u32): usize {
  set(row, ROW_STATUS_WORD, status);
  return 0;
}

/** A row without a result has no ranges either, whatever it held before. Its status stays. */
export function clearRow(row: usize): void {
  const zero = i32x4.splat(0);
  set(row, ROW_HREF_OFFSET_WORD, 0);
  v128.store(row + (ROW_HREF_LENGTH_WORD << 2), zero);
  v128.store(row + (ROW_QUERY_START_WORD << 2), zero);
  v128.store(row + (ROW_VISIT_LENGTH_WORD << 2), zero);
  v128.store(row + BATCH_ROW_BYTES - 16, zero); // the last words, some of them twice
}

/** Where the next written bytes go. */
export function textEnd(batch: usize): usize {
  return <usize>(get(batch, BATCH_TEXT_OFFSET_WORD) + get(batch, BATCH_TEXT_USED_WORD));
}

/** True if `length` bytes may be written at textEnd. */
export function hasRoom(batch: usize, length: u64): bool {
  const used = <u64>get(batch, BATCH_TEXT_USED_WORD) + BATCH_SCRATCH_BYTES;
  return used + length <= <u64>get(batch, BATCH_TEXT_CAPACITY_WORD);
}

/** Keeps what was written up to `end`. */
export function keepText(batch: usize, end: usize): void {
  set(batch, BATCH_TEXT_USED_WORD, <u32>end - get(batch, BATCH_TEXT_OFFSET_WORD));
}

/** BATCH_PARAMETER_COUNT_MAX entries of BATCH_PARAMETER_BYTES, at the very end of text. */
export function scratchOf(batch: usize): usize {
  const end = get(batch, BATCH_TEXT_OFFSET_WORD) + get(batch, BATCH_TEXT_CAPACITY_WORD);
  return <usize>(end - BATCH_SCRATCH_BYTES);
}

/** Address of a handle. */
export function at(handle: u32): usize {
  return (<usize>handle) << 3;
}

/** One more in a word. */
export function bump(block: usize, word: u32): void {
  set(block, word, get(block, word) + 1);
}

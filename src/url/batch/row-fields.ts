/**
 * Rows: the results of a parsed and hashed batch for each URL (layout/calls/url-batch.ts), read field by field.
 * Owner: the thread that owns the batch.
 */
import {
  BATCH_FLAG_HREF_WRITTEN,
  BATCH_FLAG_HTTPS,
  BATCH_FLAG_USERINFO,
  BATCH_HASHES_OFFSET_WORD,
  BATCH_HOST_HASHES_OFFSET_WORD,
  BATCH_ROW_WORDS,
  BATCH_ROWS_OFFSET_WORD,
  BATCH_SLOTS_OFFSET_WORD,
  BATCH_VALUES_OFFSET_WORD,
  ROW_FLAGS_WORD,
  ROW_FRAGMENT_START_WORD,
  ROW_HOST_LENGTH_WORD,
  ROW_HOST_START_WORD,
  ROW_HREF_LENGTH_WORD,
  ROW_HREF_OFFSET_WORD,
  ROW_KEY_LENGTH_WORD,
  ROW_KEY_OFFSET_WORD,
  ROW_PATH_START_WORD,
  ROW_STATUS_WORD,
  ROW_VISIT_LENGTH_WORD,
} from "../../layout/calls/url-batch.ts";
import type { Kernel } from "../../kernel/kernel.ts";

export {
  BATCH_INVALID,
  BATCH_NO_RULE,
  BATCH_OK,
  BATCH_SCHEME,
  BATCH_SKIPPED,
  BATCH_TOO_DEEP,
  BATCH_TOO_LONG,
} from "../../layout/calls/url-batch.ts";

/** A batch, found by its header: `offset` is absolute, the header holds all other places. */
export interface Rows {
  readonly kernel: Kernel;
  readonly offset: number;
}

/** Word index of the first field of row 0. */
function rowsAt(rows: Rows): number {
  return (rows.kernel.region.views.u32[(rows.offset >> 2) + BATCH_ROWS_OFFSET_WORD] as number) >> 2;
}

function rowWord(rows: Rows, row: number, field: number): number {
  return rows.kernel.region.views.u32[rowWordAt(rows, row, field)] as number;
}

/** Index of a field of a row in the region's words. */
export function rowWordAt(rows: Rows, row: number, field: number): number {
  return rowsAt(rows) + row * BATCH_ROW_WORDS + field;
}

export function rowStatus(rows: Rows, row: number): number {
  return rowWord(rows, row, ROW_STATUS_WORD);
}

export function setRowStatus(rows: Rows, row: number, status: number): void {
  rows.kernel.region.views.u32[rowsAt(rows) + row * BATCH_ROW_WORDS + ROW_STATUS_WORD] = status;
}

export function rowIsHttps(rows: Rows, row: number): boolean {
  return (rowWord(rows, row, ROW_FLAGS_WORD) & BATCH_FLAG_HTTPS) !== 0;
}

export function rowHasUserinfo(rows: Rows, row: number): boolean {
  return (rowWord(rows, row, ROW_FLAGS_WORD) & BATCH_FLAG_USERINFO) !== 0;
}

/** Absolute offset of the visit URL. */
export function rowVisitOffset(rows: Rows, row: number): number {
  return rowWord(rows, row, ROW_HREF_OFFSET_WORD);
}

export function rowVisitLength(rows: Rows, row: number): number {
  return rowWord(rows, row, ROW_VISIT_LENGTH_WORD);
}

/** Where the path starts within the visit URL. */
export function rowPathStart(rows: Rows, row: number): number {
  return rowWord(rows, row, ROW_PATH_START_WORD);
}

/** The parsed URL without its fragment, before any key policy. Patterns of rules are tested on it. */
export function rowPageText(rows: Rows, row: number): string {
  const start = rowVisitOffset(rows, row);
  return rows.kernel.region.views.buffer.latin1Slice(
    start,
    start + rowWord(rows, row, ROW_FRAGMENT_START_WORD),
  );
}

/** A view of the host's bytes, valid until the region grows. */
export function rowHost(rows: Rows, row: number): Uint8Array {
  const start = rowVisitOffset(rows, row) + rowWord(rows, row, ROW_HOST_START_WORD);
  const length = rowWord(rows, row, ROW_HOST_LENGTH_WORD);
  return rows.kernel.region.views.u8.subarray(start, start + length);
}

export function rowVisitText(rows: Rows, row: number): string {
  const start = rowVisitOffset(rows, row);
  return rows.kernel.region.views.buffer.utf8Slice(start, start + rowVisitLength(rows, row));
}

export function rowHostText(rows: Rows, row: number): string {
  const start = rowVisitOffset(rows, row) + rowWord(rows, row, ROW_HOST_START_WORD);
  return rows.kernel.region.views.buffer.latin1Slice(
    start,
    start + rowWord(rows, row, ROW_HOST_LENGTH_WORD),
  );
}

export function rowKeyText(rows: Rows, row: number): string {
  const start = rowWord(rows, row, ROW_KEY_OFFSET_WORD);
  return rows.kernel.region.views.buffer.utf8Slice(
    start,
    start + rowWord(rows, row, ROW_KEY_LENGTH_WORD),
  );
}

export function rowKeyOffset(rows: Rows, row: number): number {
  return rowWord(rows, row, ROW_KEY_OFFSET_WORD);
}

export function rowKeyLength(rows: Rows, row: number): number {
  return rowWord(rows, row, ROW_KEY_LENGTH_WORD);
}

/** Whether the key begins with the first `length` bytes of the visit URL. */
export function rowKeyStartsLikeVisit(rows: Rows, row: number, length: number): boolean {
  const { buffer } = rows.kernel.region.views;
  const visit = rowVisitOffset(rows, row);
  const key = rowKeyOffset(rows, row);
  if (rowKeyLength(rows, row) < length) return false;
  return buffer.compare(buffer, key, key + length, visit, visit + length) === 0;
}

/** Whether the visit URL differs from the pushed string, because it was rewritten or its fragment was cut off. */
export function rowIsRewritten(rows: Rows, row: number): boolean {
  if ((rowWord(rows, row, ROW_FLAGS_WORD) & BATCH_FLAG_HREF_WRITTEN) !== 0) return true;
  return rowWord(rows, row, ROW_HREF_LENGTH_WORD) !== rowVisitLength(rows, row);
}

/** Absolute offset of one of the parallel arrays named by a header word. */
function arrayOffset(rows: Rows, field: number): number {
  return rows.kernel.region.views.u32[(rows.offset >> 2) + field] as number;
}

export function hashesOffset(rows: Rows): number {
  return arrayOffset(rows, BATCH_HASHES_OFFSET_WORD);
}

export function hostHashesOffset(rows: Rows): number {
  return arrayOffset(rows, BATCH_HOST_HASHES_OFFSET_WORD);
}

export function valuesOffset(rows: Rows): number {
  return arrayOffset(rows, BATCH_VALUES_OFFSET_WORD);
}

export function slotsOffset(rows: Rows): number {
  return arrayOffset(rows, BATCH_SLOTS_OFFSET_WORD);
}

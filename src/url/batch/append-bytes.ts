/**
 * Rows from bytes: URLs that are already in a buffer, such as a message between threads, enter a batch without becoming strings. A row that
 * needs a string (a host outside ASCII) makes it later, from the input.
 *
 *   batchOpen ─▶ batchAppend … ─▶ batchParse, batchAdmit …
 *
 *   I1  A batch of appended rows has the same results as batchLoad of the same strings.
 */
import { assert } from "../../base/assert.ts";
import {
  BATCH_INPUT_IS_UTF8_WORD,
  BATCH_OK,
  BATCH_ROW_WORDS,
  ROW_STATUS_WORD,
} from "../../layout/calls/url-batch.ts";
import { NO_URLS, type UrlBatch } from "./batch-memory.ts";
import { freeOverflow } from "./write-rows.ts";

/** Where the URLs are in `bytes`: their lengths, one word each, from `lengthsAt`; their text, one after another, from `textAt`. */
export interface UrlBytes {
  bytes: Buffer;
  lengthsAt: number;
  textAt: number;
}

/** Up to this size a loop over bytes is faster than a view and its copy, measured on Node 20. */
const SHORT_BYTES = 160;

/** Empties the batch for rows in UTF-8 or latin1. */
export function batchOpen(batch: UrlBatch, isUtf8: boolean): void {
  const { area, overflow } = batch;
  if (overflow.runs.length > 0) freeOverflow(area.kernel, overflow);
  area.kernel.region.views.u32[(area.header >>> 2) + BATCH_INPUT_IS_UTF8_WORD] = isUtf8 ? 1 : 0;
  batch.urls = NO_URLS;
  batch.start = 0;
  batch.count = 0;
}

/**
 * Appends up to `count` URLs, as many as fit; returns how many and moves `from` past them. A URL over the limit gets its room but is not
 * written, because the kernel checks only its length. @hot
 */
export function batchAppend(batch: UrlBatch, from: UrlBytes, count: number): number {
  const { area } = batch;
  const { u32, u8 } = area.kernel.region.views;
  const { bytes } = from;
  const ends = area.ends >>> 2;
  const most = Math.min(count, area.capacity - batch.count);
  const start = batch.count === 0 ? 0 : (u32[ends + batch.count - 1] as number);
  let status = (area.rows >>> 2) + batch.count * BATCH_ROW_WORDS + ROW_STATUS_WORD;
  let end = start;
  let isLong = false;
  let fitted = 0;
  for (; fitted < most; fitted++) {
    const length = bytes.readUInt32LE(from.lengthsAt + fitted * 4);
    const size = Math.min(length, area.maxUrlBytes + 1);
    if (end + size > area.inputBytes) break;
    if (size !== length) isLong = true;
    end += size;
    u32[ends + batch.count + fitted] = end;
    u32[status] = BATCH_OK;
    status += BATCH_ROW_WORDS;
  }
  if (isLong) copyEach(batch, from, fitted, start);
  else {
    copyText(u8, area.input + start, from, end - start);
    from.textAt += end - start;
  }
  from.lengthsAt += fitted * 4;
  batch.count += fitted;
  assert(fitted > 0 || batch.count > 0 || count === 0, "I1 of batch-area: one URL fits");
  return fitted;
}

/** Makes rows from the URLs of `count` records, whose handles start at `handles`. Returns how many fitted, from the first on. */
export function batchGather(batch: UrlBatch, handles: number, count: number): number {
  batchOpen(batch, false);
  const { area } = batch;
  const { ends, input, inputBytes, kernel } = area;
  const made = kernel.exports.gatherUrls(handles, count, input, inputBytes, ends);
  const { u32 } = kernel.region.views;
  const status = (area.rows >>> 2) + ROW_STATUS_WORD;
  for (let row = 0; row < made; row++) u32[status + row * BATCH_ROW_WORDS] = BATCH_OK;
  batch.count = made;
  return made;
}

/** @hot */
function copyText(u8: Uint8Array, to: number, { bytes, textAt }: UrlBytes, size: number): void {
  if (size > SHORT_BYTES) {
    u8.set(bytes.subarray(textAt, textAt + size), to);
    return;
  }
  for (let at = 0; at < size; at++) u8[to + at] = bytes[textAt + at] as number;
}

function copyEach(batch: UrlBatch, from: UrlBytes, count: number, start: number): void {
  const { area } = batch;
  const { u8 } = area.kernel.region.views;
  let to = area.input + start;
  for (let at = 0; at < count; at++) {
    const length = from.bytes.readUInt32LE(from.lengthsAt + at * 4);
    if (length <= area.maxUrlBytes) copyText(u8, to, from, length);
    to += Math.min(length, area.maxUrlBytes + 1);
    from.textAt += length;
  }
}

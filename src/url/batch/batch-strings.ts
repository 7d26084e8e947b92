/**
 * Strings from a batch: one slice of text for all rows, then substrings of it. If only keys are wanted, `batchChangedStrings` visits only
 * the rows that the kernel has marked, whose string is not yet its key.
 *
 *   href or key lies in the input ─▶ cut from the string that was loaded, or that string itself
 *                        in text  ─▶ cut from the one slice
 *                     elsewhere  ─▶ sliced on its own (overflow pages, UTF-8 keys)
 */
import {
  BATCH_CHANGED_COUNT_WORD,
  BATCH_CHANGED_UNKNOWN,
  BATCH_FLAG_KEY_UTF8,
  BATCH_OK,
  BATCH_ROW_WORDS,
  BATCH_TEXT_USED_WORD,
  ROW_FLAGS_WORD,
  ROW_HOST_LENGTH_WORD,
  ROW_HOST_START_WORD,
  ROW_HREF_LENGTH_WORD,
  ROW_HREF_OFFSET_WORD,
  ROW_KEY_LENGTH_WORD,
  ROW_KEY_OFFSET_WORD,
  ROW_STATUS_WORD,
  ROW_VISIT_LENGTH_WORD,
} from "../../layout/calls/url-batch.ts";
import { type BatchText, type UrlBatch, urlOfRow } from "./batch-memory.ts";

/**
 * Appends the href, key or host of every row to `strings`; undefined for a row that is not BATCH_OK. An unchanged URL is returned as the
 * same string. @hot
 */
export function batchStrings(
  batch: UrlBatch,
  which: BatchText,
  strings: (string | undefined)[] = [],
): (string | undefined)[] {
  const { area, count, urls, start } = batch;
  const { u32, buffer } = area.kernel.region.views;
  const used = u32[(area.header >>> 2) + BATCH_TEXT_USED_WORD] as number;
  const written = used === 0 ? "" : buffer.latin1Slice(area.text, area.text + used);
  const offsetWord = which === "key" ? ROW_KEY_OFFSET_WORD : ROW_HREF_OFFSET_WORD;
  const lengthAt = lengthWord(which);
  const ends = area.ends >>> 2;
  let at = area.rows >>> 2;
  let from = area.input;
  for (let row = 0; row < count; row++, at += BATCH_ROW_WORDS) {
    const url = urls[start + row] ?? ""; // "": the row came as bytes
    if (u32[at + ROW_STATUS_WORD] !== BATCH_OK) strings.push(undefined);
    else if (which !== "host" && u32[at + offsetWord] === from && u32[at + lengthAt] === url.length)
      strings.push(url); // by far the most common row: all of its raw bytes
    else strings.push(rowText(batch, row, which, written));
    from = area.input + (u32[ends + row] as number);
  }
  return strings;
}

/**
 * Turns `strings`, a copy of the list that the batch was loaded from, into keys. The result is that of batchStrings right after batchKey,
 * but only rows whose key differs are visited; the kernel has listed them. @hot
 */
export function batchChangedStrings(batch: UrlBatch, strings: (string | undefined)[]): void {
  const { area, count, start } = batch;
  const { u32, buffer } = area.kernel.region.views;
  const header = area.header >>> 2;
  const changed = u32[header + BATCH_CHANGED_COUNT_WORD] as number;
  const used = u32[header + BATCH_TEXT_USED_WORD] as number;
  const written = used === 0 ? "" : buffer.latin1Slice(area.text, area.text + used);
  const status = (area.rows >>> 2) + ROW_STATUS_WORD;
  const list = area.changed >>> 2;
  const isListed = changed !== BATCH_CHANGED_UNKNOWN;
  const last = isListed ? changed : count;
  for (let at = 0; at < last; at++) {
    const row = isListed ? (u32[list + at] as number) : at;
    const isOk = u32[status + row * BATCH_ROW_WORDS] === BATCH_OK;
    strings[start + row] = isOk ? rowText(batch, row, "key", written) : undefined;
  }
}

/** One string of a row that is BATCH_OK. */
export function batchString(batch: UrlBatch, row: number, which: BatchText): string {
  return rowText(batch, row, which, undefined);
}

/** Bytes of a row that lie in the input are cut from the original string, without a copy of bytes. */
export function rowText(
  batch: UrlBatch,
  row: number,
  which: BatchText,
  written: string | undefined,
): string {
  const { area } = batch;
  const { u32, buffer } = area.kernel.region.views;
  const at = (area.rows >>> 2) + row * BATCH_ROW_WORDS;
  const isKey = which === "key";
  let offset = u32[at + (isKey ? ROW_KEY_OFFSET_WORD : ROW_HREF_OFFSET_WORD)] as number;
  const length = u32[at + lengthWord(which)] as number;
  if (which === "host") offset += u32[at + ROW_HOST_START_WORD] as number;
  const inText = offset - area.text;
  if (inText < 0 && offset >= area.input) {
    const rowStart = row === 0 ? 0 : (u32[(area.ends >>> 2) + row - 1] as number);
    const start = offset - area.input - rowStart;
    const url = urlOfRow(batch, row);
    return start === 0 && length === url.length ? url : url.substring(start, start + length);
  }
  if (isKey && ((u32[at + ROW_FLAGS_WORD] as number) & BATCH_FLAG_KEY_UTF8) !== 0) {
    return buffer.utf8Slice(offset, offset + length);
  }
  return written !== undefined && inText >= 0 && inText + length <= written.length
    ? written.substring(inText, inText + length)
    : buffer.latin1Slice(offset, offset + length);
}

function lengthWord(which: BatchText): number {
  if (which === "key") return ROW_KEY_LENGTH_WORD;
  if (which === "visit") return ROW_VISIT_LENGTH_WORD;
  return which === "host" ? ROW_HOST_LENGTH_WORD : ROW_HREF_LENGTH_WORD;
}

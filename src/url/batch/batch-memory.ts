/**
 * The pages of one UrlBatch, laid out once. Every offset is absolute and stays for the batch's life.
 *
 *   ┌ header ┬ base header ┬ secret ┬ rows ┬ base row ┬ ends, hashes, values … ┐
 *   ├ input (inputBytes + slack) ┬ text (textBytes) ┬ base input ┬ base text ──┤
 *   └ policy, overflow: runs of pages of their own, taken when needed ─────────┘
 *
 * The base row is a batch of one row with its own header, so that the kernel parses it like any other. Untouched pages cost only address
 * space, so areas are sized for the worst case.
 *
 *   I1  inputBytes > maxUrlBytes: one URL of the greatest allowed length always fits an empty input area.
 *   I2  Bytes that do not fit text go to overflow pages; a row is never lost for lack of room.
 */
import { assert } from "../../base/assert.ts";
import { type Kernel, kernelTake } from "../../kernel/kernel.ts";
import {
  BATCH_AHEAD_BYTES,
  BATCH_BASE_ROW_WORD,
  BATCH_CAPACITY_WORD,
  BATCH_CHANGED_COUNT_WORD,
  BATCH_CHANGED_OFFSET_WORD,
  BATCH_CHANGED_UNKNOWN,
  BATCH_COUNT_WORD,
  BATCH_HASHES_OFFSET_WORD,
  BATCH_HEADER_BYTES,
  BATCH_HOST_HASHES_OFFSET_WORD,
  BATCH_INPUT_ENDS_OFFSET_WORD,
  BATCH_INPUT_IS_UTF8_WORD,
  BATCH_INPUT_OFFSET_WORD,
  BATCH_MAX_URL_BYTES_WORD,
  BATCH_ROW_BYTES,
  BATCH_ROWS_OFFSET_WORD,
  BATCH_SCRATCH_BYTES,
  BATCH_SECRET_OFFSET_WORD,
  BATCH_SLACK_BYTES,
  BATCH_SLOTS_OFFSET_WORD,
  BATCH_TEXT_CAPACITY_WORD,
  BATCH_TEXT_OFFSET_WORD,
  BATCH_VALUES_OFFSET_WORD,
} from "../../layout/calls/url-batch.ts";
import { REGION_PAGE_BYTES } from "../../layout/memory/region.ts";
import { type ParsedUrl, URL_BYTES_MAX } from "../parsing/canonical-parser.ts";
import type { NormalPolicy } from "../keys/key-policy.ts";

export interface BatchOptions {
  /** Most URLs in one batch. */
  readonly capacity?: number;
  readonly maxUrlBytes?: number;
  /** Room for the raw bytes of a batch; more than maxUrlBytes. */
  readonly inputBytes?: number;
  /** Room for hrefs and keys that the kernel writes. A batch that needs more takes longer but loses nothing. */
  readonly textBytes?: number;
}

/** Absolute byte offsets and sizes. */
export interface BatchArea {
  readonly kernel: Kernel;
  readonly header: number;
  readonly baseHeader: number;
  readonly secret: number;
  readonly rows: number;
  readonly baseRow: number;
  readonly ends: number;
  readonly hashes: number;
  readonly hostHashes: number;
  readonly values: number;
  readonly slots: number;
  readonly changed: number;
  readonly input: number;
  readonly text: number;
  readonly baseInput: number;
  readonly baseText: number;
  readonly capacity: number;
  readonly maxUrlBytes: number;
  readonly inputBytes: number;
  readonly textBytes: number;
  readonly pages: number;
}

/** Runs of pages for bytes that did not fit text; `used` counts the bytes of the last run. */
export interface Overflow {
  readonly runs: { readonly offset: number; readonly pages: number }[];
  used: number;
}

/** The policy of the last batchKey, as it lies in memory. */
export interface PolicyPlace {
  offset: number;
  pages: number;
  policy: NormalPolicy | undefined;
  readonly packed: WeakMap<NormalPolicy, Uint8Array>;
}

export interface UrlBatch {
  readonly area: BatchArea;
  readonly overflow: Overflow;
  readonly policyPlace: PolicyPlace;
  /** The URLs loaded last: rows 0 … count − 1 are urls[start] …; NO_URLS: they exist only in the input. */
  urls: readonly string[];
  start: number;
  count: number;
  /** The base as the caller passed it, its href, and its parsed form, which is made when the JavaScript parser first needs it. */
  base: string | undefined;
  baseHref: string | undefined;
  baseParsed: ParsedUrl | undefined;
}

declare const PHASE: unique symbol;
/** A batch whose loaded rows are parsed: the same object, under a type that the next step asks for. */
export type ParsedBatch = UrlBatch & { readonly [PHASE]: "parsed" | "keyed" };
/** A batch whose rows have keys too. */
export type KeyedBatch = UrlBatch & { readonly [PHASE]: "keyed" };

/** The value of `urls` for a batch whose rows came as bytes. */
export const NO_URLS: readonly string[] = Object.freeze([]);

/** The string of a row as it was pushed. */
export function urlOfRow(batch: UrlBatch, row: number): string {
  const { area, urls, start } = batch;
  if (urls !== NO_URLS) return urls[start + row] as string;
  const { buffer, u32 } = area.kernel.region.views;
  const ends = (area.ends >>> 2) + row;
  const from = area.input + (row === 0 ? 0 : (u32[ends - 1] as number));
  const to = area.input + (u32[ends] as number);
  const isUtf8 = u32[(area.header >>> 2) + BATCH_INPUT_IS_UTF8_WORD] === 1;
  return isUtf8 ? buffer.utf8Slice(from, to) : buffer.latin1Slice(from, to);
}

export type BatchText = "href" | "key" | "visit" | "host";

export function createArea(kernel: Kernel, options: BatchOptions): BatchArea {
  const capacity = options.capacity ?? 256;
  const maxUrlBytes = options.maxUrlBytes ?? URL_BYTES_MAX;
  const inputBytes = align(Math.max(options.inputBytes ?? 65536, maxUrlBytes + 1));
  const baseTextBytes = align(8 * maxUrlBytes + 64 + BATCH_SCRATCH_BYTES);
  const textBytes = align(options.textBytes ?? 4 * inputBytes + baseTextBytes);
  assert(capacity > 0 && maxUrlBytes > 0, "createArea: capacity and maxUrlBytes > 0");
  assert(textBytes >= BATCH_SCRATCH_BYTES, "createArea: text holds the scratch");
  let size = 0;
  const place = (bytes: number): number => {
    const offset = size;
    size += align(bytes);
    return offset;
  };
  const relative = {
    header: place(BATCH_HEADER_BYTES),
    baseHeader: place(BATCH_HEADER_BYTES),
    secret: place(16),
    rows: place(capacity * BATCH_ROW_BYTES),
    baseRow: place(BATCH_ROW_BYTES),
    ends: place((capacity + 1) * 4), // one more for the base
    hashes: place(capacity * 8),
    hostHashes: place(capacity * 8),
    values: place(capacity * 4),
    slots: place(capacity * 4),
    changed: place(capacity * 4),
    input: place(inputBytes + BATCH_AHEAD_BYTES),
    text: place(textBytes + BATCH_SLACK_BYTES),
    baseInput: place(maxUrlBytes + BATCH_AHEAD_BYTES),
    baseText: place(baseTextBytes + BATCH_SLACK_BYTES),
  };
  const pages = Math.ceil(size / REGION_PAGE_BYTES);
  const start = kernelTake(kernel, pages);
  const absolute = Object.fromEntries(
    Object.entries(relative).map(([name, offset]) => [name, offset + start]),
  ) as typeof relative;
  const area = { kernel, ...absolute, capacity, maxUrlBytes, inputBytes, textBytes, pages };
  writeHeader(area);
  writeBaseHeader(area, baseTextBytes);
  return area;
}

function writeHeader(area: BatchArea): void {
  const words = area.kernel.region.views.u32.subarray(area.header >>> 2);
  words[BATCH_CAPACITY_WORD] = area.capacity;
  words[BATCH_INPUT_OFFSET_WORD] = area.input;
  words[BATCH_INPUT_ENDS_OFFSET_WORD] = area.ends;
  words[BATCH_ROWS_OFFSET_WORD] = area.rows;
  words[BATCH_TEXT_OFFSET_WORD] = area.text;
  words[BATCH_TEXT_CAPACITY_WORD] = area.textBytes;
  words[BATCH_HASHES_OFFSET_WORD] = area.hashes;
  words[BATCH_HOST_HASHES_OFFSET_WORD] = area.hostHashes;
  words[BATCH_VALUES_OFFSET_WORD] = area.values;
  words[BATCH_SLOTS_OFFSET_WORD] = area.slots;
  words[BATCH_CHANGED_OFFSET_WORD] = area.changed;
  words[BATCH_CHANGED_COUNT_WORD] = BATCH_CHANGED_UNKNOWN;
  words[BATCH_SECRET_OFFSET_WORD] = area.secret;
  words[BATCH_MAX_URL_BYTES_WORD] = area.maxUrlBytes;
}

function writeBaseHeader(area: BatchArea, textBytes: number): void {
  const words = area.kernel.region.views.u32.subarray(area.baseHeader >>> 2);
  words[BATCH_COUNT_WORD] = 1;
  words[BATCH_CAPACITY_WORD] = 1;
  words[BATCH_INPUT_OFFSET_WORD] = area.baseInput;
  words[BATCH_INPUT_ENDS_OFFSET_WORD] = area.ends + area.capacity * 4;
  words[BATCH_ROWS_OFFSET_WORD] = area.baseRow;
  words[BATCH_TEXT_OFFSET_WORD] = area.baseText;
  words[BATCH_TEXT_CAPACITY_WORD] = textBytes;
  words[BATCH_MAX_URL_BYTES_WORD] = area.maxUrlBytes;
  words[BATCH_BASE_ROW_WORD] = 0;
}

/** Rounds up to whole rows, so that every area starts on a cache line. */
function align(bytes: number): number {
  return Math.ceil(bytes / BATCH_ROW_BYTES) * BATCH_ROW_BYTES;
}

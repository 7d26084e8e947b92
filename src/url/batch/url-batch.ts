/**
 * Room `src/url/batch`: many URLs through the kernel at once: strings in, parsed, keyed and hashed rows, strings out.
 * Decides which rows need JavaScript. May touch the kernel, url/keys and url/parsing.
 */

/**
 * UrlBatch: strings in, parsed and keyed rows in kernel memory, strings out.
 *
 *   batchBase? ─▶ batchLoad(urls) ─▶ batchParse ─▶ [rules] ─▶ batchKey(policy) ─▶ batchStrings
 *                          one latin1Write         kernel + oracle for the rows it leaves
 *
 * A batch that holds a character over U+00FF goes in as UTF-8, row by row. Rows that the oracle
 * made look like the kernel's.
 *
 *   I1  kernel + oracle = oracle alone, for every string, base and policy.
 *   I2  Between load and strings the caller leaves `urls` as it is.
 *   I3  Offsets of rows hold until the next batchLoad (base row: the next batchBase).
 */
import { assert, VERIFY } from "../../base/assert.ts";
import type { Kernel } from "../../kernel/kernel.ts";
import {
  BATCH_BASE_ROW_WORD,
  BATCH_CHANGED_COUNT_WORD,
  BATCH_CHANGED_UNKNOWN,
  BATCH_COUNT_WORD,
  BATCH_INPUT_IS_UTF8_WORD,
  BATCH_NEEDS_KEY,
  BATCH_NEEDS_PARSER,
  BATCH_OK,
  BATCH_POLICY_OFFSET_WORD,
  BATCH_ROW_WORDS,
  BATCH_TEXT_USED_WORD,
  BATCH_TOO_LONG,
  ROW_HREF_LENGTH_WORD,
  ROW_HREF_OFFSET_WORD,
  ROW_STATUS_WORD,
} from "../../layout/calls/url-batch.ts";
import { type BatchOptions, createArea, NO_URLS, type UrlBatch } from "./batch-memory.ts";
import { keyLeft, parseLeft } from "./parser-fallback.ts";
import { fillRow, freeOverflow, placePolicy } from "./write-rows.ts";
import { parseUrl } from "../parsing/canonical-parser.ts";
import { isScriptKey, type NormalPolicy, normalizePolicy } from "../keys/key-policy.ts";

// biome-ignore lint/suspicious/noControlCharactersInRegex: latin1 begins at NUL.
const WIDE = /[^\x00-\xff]/;
/** Up to here a loop over characters beats utf8Write, measured on Node 20. */
const SHORT_LENGTH = 128;
const DEFAULT_POLICY = normalizePolicy();

/** The kernel's word for rows left to JavaScript (assembly/batch.ts). */
const IN_STEPS = -1;

export function createUrlBatch(kernel: Kernel, options: BatchOptions = {}): UrlBatch {
  return {
    area: createArea(kernel, options),
    overflow: { runs: [], used: 0 },
    policyPlace: { offset: 0, pages: 0, policy: undefined, packed: new WeakMap() },
    urls: [],
    start: 0,
    count: 0,
    base: undefined,
    baseHref: undefined,
    baseParsed: undefined,
  };
}

/** Loads urls[start] and on, as many as fit (one at least), and returns how many. @hot */
export function batchLoad(batch: UrlBatch, urls: readonly string[], start: number): number {
  const { area, overflow } = batch;
  if (overflow.runs.length > 0) freeOverflow(area.kernel, overflow);
  const { buffer, u32 } = area.kernel.region.views;
  const { inputBytes, maxUrlBytes } = area;
  const count = Math.min(area.capacity, urls.length - start);
  const ends = area.ends >>> 2;
  let status = (area.rows >>> 2) + ROW_STATUS_WORD;
  let text = "";
  let size = 0;
  let row = 0;
  let isLong = false;
  for (; row < count; row++) {
    const url = urls[start + row] as string;
    const length = url.length;
    if (length > maxUrlBytes) isLong = true;
    if (isLong || size + length > inputBytes) break;
    text += url;
    size += length;
    u32[ends + row] = size;
    u32[status] = BATCH_OK;
    status += BATCH_ROW_WORDS;
  }
  batch.urls = urls;
  batch.start = start;
  if (isLong) return loadUtf8(batch, count);
  // Written first: that flattens the string, which makes the test cheap.
  buffer.latin1Write(text, area.input, size);
  if (WIDE.test(text)) return loadUtf8(batch, count);
  if (VERIFY) assert(row > 0 || count <= 0, "I1 of batch-area: one URL fits");
  u32[(area.header >>> 2) + BATCH_INPUT_IS_UTF8_WORD] = 0;
  batch.count = row;
  return row;
}

/**
 * Lets go of the strings that were loaded last, so that a batch that waits for its next ones keeps no list of its user
 * alive. Rows are what they were: what is asked of them from now on comes from their bytes.
 */
export function batchForget(batch: UrlBatch): void {
  batch.urls = NO_URLS;
}

/**
 * Sets the URL that links are resolved against; undefined: none. False: it can be no base, and
 * links are read without one.
 */
export function batchBase(batch: UrlBatch, base: string | undefined): boolean {
  if (base !== batch.base) {
    batch.base = base;
    batch.baseHref = base === undefined ? undefined : parseBase(batch, base);
    batch.baseParsed = undefined;
  }
  return batch.baseHref !== undefined;
}

/** Parses the loaded rows: each is then BATCH_OK, a verdict, or still BATCH_SKIPPED. @hot */
export function batchParse(batch: UrlBatch): void {
  const { area } = batch;
  prepare(batch);
  if (area.kernel.exports.parseBatch(area.header) > 0) {
    for (let row = 0; row < batch.count; row++) parseLeft(batch, row);
  }
}

/** The key of every row that is BATCH_OK; a key that is too long ends its row. @hot */
export function batchKey(batch: UrlBatch, policy: NormalPolicy = DEFAULT_POLICY): void {
  const { kernel, header } = batch.area;
  if (isScriptKey(policy)) {
    kernel.region.views.u32[(header >>> 2) + BATCH_CHANGED_COUNT_WORD] = BATCH_CHANGED_UNKNOWN;
    for (let row = 0; row < batch.count; row++) keyLeft(batch, row, BATCH_OK, policy);
    return;
  }
  const offset = placePolicy(kernel, batch.policyPlace, policy);
  kernel.region.views.u32[(header >>> 2) + BATCH_POLICY_OFFSET_WORD] = offset;
  if (kernel.exports.keyBatch(header) > 0) {
    for (let row = 0; row < batch.count; row++) keyLeft(batch, row, BATCH_NEEDS_KEY, policy);
  }
}

/** The hash of every row that is BATCH_OK. */
export function batchHash({ area }: UrlBatch): void {
  area.kernel.exports.hashBatch(area.header);
}

/** What batchAdmit returns when the rows are ready and nothing was inserted. */
export const NOT_INSERTED = -1;

/**
 * Parses, keys and hashes the loaded rows and inserts the hashes of those that are BATCH_OK into the
 * fingerprint table at `table` (0: none), in one crossing where no row needs JavaScript. Returns how
 * many are new, or NOT_INSERTED: rows were left to the oracle, or the table has to grow first. @hot
 */
export function batchAdmit(batch: UrlBatch, policy: NormalPolicy, table: number): number {
  const { kernel, header } = batch.area;
  if (isScriptKey(policy)) {
    batchParse(batch);
    batchKey(batch, policy);
    kernel.exports.hashBatch(header);
    return NOT_INSERTED;
  }
  prepare(batch);
  const offset = placePolicy(kernel, batch.policyPlace, policy);
  kernel.region.views.u32[(header >>> 2) + BATCH_POLICY_OFFSET_WORD] = offset;
  const result = kernel.exports.admitBatch(header, table);
  if (result === IN_STEPS) {
    for (let row = 0; row < batch.count; row++) parseLeft(batch, row);
    kernel.exports.keyBatch(header);
    for (let row = 0; row < batch.count; row++) keyLeft(batch, row, BATCH_NEEDS_KEY, policy);
    kernel.exports.hashBatch(header);
  }
  return result >= 0 && table !== 0 ? result : NOT_INSERTED;
}

/** Loads, parses and keys one URL as row 0, without the ways of a batch; its status. @hot */
export function batchOne(batch: UrlBatch, urls: readonly [string], policy?: NormalPolicy): number {
  const { area, overflow } = batch;
  const { kernel, header } = area;
  const url = urls[0];
  if (url.length > area.maxUrlBytes) return BATCH_TOO_LONG;
  if (overflow.runs.length > 0) freeOverflow(kernel, overflow);
  const usual = policy === undefined || !isScriptKey(policy);
  batch.urls = urls;
  batch.start = 0;
  if (url.length > SHORT_LENGTH || !loadShort(batch, url)) loadUtf8(batch, 1);
  prepare(batch);
  let status = kernel.exports.parseOne(header, 0);
  if (status === BATCH_NEEDS_PARSER) status = parseLeft(batch, 0);
  if (status !== BATCH_OK) return status;
  if (!usual) return keyLeft(batch, 0, BATCH_OK, policy as NormalPolicy);
  const offset = policy === undefined ? 0 : placePolicy(kernel, batch.policyPlace, policy);
  kernel.region.views.u32[(header >>> 2) + BATCH_POLICY_OFFSET_WORD] = offset;
  status = kernel.exports.keyOne(header, 0);
  return status === BATCH_NEEDS_KEY
    ? keyLeft(batch, 0, BATCH_NEEDS_KEY, policy ?? DEFAULT_POLICY)
    : status;
}

/**
 * One short ASCII URL, character by character: quicker than a call. False: it is not ASCII. @hot
 */
function loadShort(batch: UrlBatch, url: string): boolean {
  const { input, ends, rows, header, kernel } = batch.area;
  const { u8, u32 } = kernel.region.views;
  let seen = 0;
  for (let i = 0; i < url.length; i++) {
    const code = url.charCodeAt(i);
    u8[input + i] = code;
    seen |= code;
  }
  if (seen > 0x7f) return false;
  u32[ends >>> 2] = url.length;
  u32[(rows >>> 2) + ROW_STATUS_WORD] = BATCH_OK;
  u32[(header >>> 2) + BATCH_INPUT_IS_UTF8_WORD] = 0;
  batch.count = 1;
  return true;
}

/**
 * The same row by row and in UTF-8, lone surrogates as U+FFFD. A URL that is too long takes its
 * room and is not written: the kernel checks only its length.
 */
function loadUtf8(batch: UrlBatch, count: number): number {
  const { area, urls, start } = batch;
  const { buffer, u32 } = area.kernel.region.views;
  let end = 0;
  let row = 0;
  for (; row < count; row++) {
    const url = urls[start + row] as string;
    const size = boundedSize(url, area.maxUrlBytes);
    if (end + size > area.inputBytes) break;
    if (size <= area.maxUrlBytes) buffer.utf8Write(url, area.input + end, size);
    end += size;
    u32[(area.ends >>> 2) + row] = end;
    u32[(area.rows >>> 2) + row * BATCH_ROW_WORDS + ROW_STATUS_WORD] = BATCH_OK;
  }
  u32[(area.header >>> 2) + BATCH_INPUT_IS_UTF8_WORD] = 1;
  batch.count = row;
  return row;
}

/** Bytes of UTF-8, or `max` + 1 for all that is longer than `max`. */
function boundedSize(url: string, max: number): number {
  return url.length > max ? max + 1 : Math.min(Buffer.byteLength(url), max + 1);
}

/** The header words that change from call to call. */
function prepare(batch: UrlBatch): void {
  const { area } = batch;
  const { u32 } = area.kernel.region.views;
  const header = area.header >>> 2;
  u32[header + BATCH_COUNT_WORD] = batch.count;
  u32[header + BATCH_TEXT_USED_WORD] = 0;
  u32[header + BATCH_BASE_ROW_WORD] = batch.baseHref === undefined ? 0 : area.baseRow;
}

/** Puts the base into its row, as a batch of one; its href, or undefined. */
function parseBase(batch: UrlBatch, base: string): string | undefined {
  const { kernel, baseHeader, baseRow, baseInput, baseText, maxUrlBytes } = batch.area;
  const size = boundedSize(base, maxUrlBytes);
  if (size > maxUrlBytes) return undefined;
  const { u32, buffer } = kernel.region.views;
  buffer.utf8Write(base, baseInput, size);
  u32[(batch.area.ends >>> 2) + batch.area.capacity] = size;
  u32[(baseHeader >>> 2) + BATCH_INPUT_IS_UTF8_WORD] = 1;
  u32[(baseHeader >>> 2) + BATCH_TEXT_USED_WORD] = 0;
  const at = baseRow >>> 2;
  u32[at + ROW_STATUS_WORD] = BATCH_OK;
  const status = kernel.exports.parseOne(baseHeader, 0);
  if (status === BATCH_OK) {
    const href = u32[at + ROW_HREF_OFFSET_WORD] as number;
    return buffer.latin1Slice(href, href + (u32[at + ROW_HREF_LENGTH_WORD] as number));
  }
  const parsed = status === BATCH_NEEDS_PARSER ? parseUrl(base, undefined, maxUrlBytes) : status;
  if (typeof parsed === "number") return undefined;
  buffer.latin1Write(parsed.href, baseText);
  fillRow(u32, at, parsed, baseText);
  return parsed.href;
}

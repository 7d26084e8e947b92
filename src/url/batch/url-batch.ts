/**
 * Room `src/url/batch`: many URLs through the kernel at once: strings in, parsed, keyed and hashed rows, strings out.
 * Decides which rows need JavaScript. May touch the kernel, url/keys and url/parsing.
 */

/**
 * UrlBatch: strings in, parsed and keyed rows in kernel memory, strings out.
 *
 *   batchBase? ─▶ batchLoad(urls) ─▶ batchParse ─▶ [rules] ─▶ batchKey(policy) ─▶ batchStrings
 *                          one latin1Write         kernel, then the JavaScript parser for the rows it leaves
 *
 * A batch with a character above U+00FF is written as UTF-8, row by row. Rows made by the JavaScript parser (the oracle) have the same form
 * as the kernel's.
 *
 *   I1  kernel + oracle = oracle alone, for every string, base and policy.
 *   I2  The caller does not change `urls` between load and strings.
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
import {
  type BatchOptions,
  createArea,
  type KeyedBatch,
  NO_URLS,
  type ParsedBatch,
  type UrlBatch,
} from "./batch-memory.ts";
import { keyLeft, parseLeft } from "./parser-fallback.ts";
import { fillRow, freeOverflow, placePolicy } from "./write-rows.ts";
import { parseUrl } from "../parsing/canonical-parser.ts";
import { isScriptKey, type NormalPolicy, normalizePolicy } from "../keys/key-policy.ts";

// biome-ignore lint/suspicious/noControlCharactersInRegex: latin1 begins at NUL.
const WIDE = /[^\x00-\xff]/;
/** Up to this length a loop over characters is faster than utf8Write, measured on Node 20. */
const SHORT_LENGTH = 128;
const DEFAULT_POLICY = normalizePolicy();

const [H, T, P, S, COLON, SLASH] = Buffer.from("htps:/");

/** The kernel's result when rows are left to JavaScript (assembly/batch.ts). */
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

/** Loads urls[start] and the following, as many as fit (at least one); returns how many. @hot */
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
  // Written first: writing flattens the string, which makes the test cheap.
  buffer.latin1Write(text, area.input, size);
  if (WIDE.test(text)) return loadUtf8(batch, count);
  if (VERIFY) assert(row > 0 || count <= 0, "I1 of batch-area: one URL fits");
  u32[(area.header >>> 2) + BATCH_INPUT_IS_UTF8_WORD] = 0;
  batch.count = row;
  return row;
}

/**
 * Whether each loaded URL begins with http:// or https://, read from the loaded bytes: a string that was put together is made one piece when
 * one of its letters is read, which takes longer than all of this. @hot
 */
export function batchIsAbsolute({ area, count }: UrlBatch): boolean {
  const { u8, u32 } = area.kernel.region.views;
  const ends = area.ends >>> 2;
  let at = area.input;
  for (let row = 0; row < count; row++) {
    const end = area.input + (u32[ends + row] as number);
    const colon = u8[at + 4] === S ? at + 5 : at + 4;
    // One that is too long has room and no bytes.
    if (colon + 2 >= end || end - at > area.maxUrlBytes) return false;
    if (u8[at] !== H || u8[at + 1] !== T || u8[at + 2] !== T || u8[at + 3] !== P) return false;
    if (u8[colon] !== COLON || u8[colon + 1] !== SLASH || u8[colon + 2] !== SLASH) return false;
    at = end;
  }
  return true;
}

/**
 * Drops the reference to the strings that were loaded last, so that an idle batch keeps no list of its user alive. The rows stay; their
 * strings are made from their bytes from now on.
 */
export function batchForget(batch: UrlBatch): void {
  batch.urls = NO_URLS;
}

/**
 * Sets the URL that links are resolved against; undefined: none. Returns false if it cannot be a base; links are then parsed without one.
 */
export function batchBase(batch: UrlBatch, base: string | undefined): boolean {
  if (base !== batch.base) {
    batch.base = base;
    batch.baseHref = base === undefined ? undefined : parseBase(batch, base);
    batch.baseParsed = undefined;
  }
  return batch.baseHref !== undefined;
}

/** Parses the loaded rows. Afterwards each is BATCH_OK, a verdict, or still BATCH_SKIPPED. @hot */
export function batchParse(batch: UrlBatch): ParsedBatch {
  const { area } = batch;
  prepare(batch);
  if (area.kernel.exports.parseBatch(area.header) > 0) {
    for (let row = 0; row < batch.count; row++) parseLeft(batch, row);
  }
  return batch as ParsedBatch;
}

/** Makes the key of every row that is BATCH_OK; a row whose key is too long becomes BATCH_TOO_LONG. @hot */
export function batchKey(batch: ParsedBatch, policy: NormalPolicy = DEFAULT_POLICY): KeyedBatch {
  const { kernel, header } = batch.area;
  if (isScriptKey(policy)) {
    kernel.region.views.u32[(header >>> 2) + BATCH_CHANGED_COUNT_WORD] = BATCH_CHANGED_UNKNOWN;
    for (let row = 0; row < batch.count; row++) keyLeft(batch, row, BATCH_OK, policy);
    return batch as KeyedBatch;
  }
  const offset = placePolicy(kernel, batch.policyPlace, policy);
  kernel.region.views.u32[(header >>> 2) + BATCH_POLICY_OFFSET_WORD] = offset;
  if (kernel.exports.keyBatch(header) > 0) {
    for (let row = 0; row < batch.count; row++) keyLeft(batch, row, BATCH_NEEDS_KEY, policy);
  }
  return batch as KeyedBatch;
}

/** The hash of every row that is BATCH_OK. */
export function batchHash({ area }: KeyedBatch): void {
  area.kernel.exports.hashBatch(area.header);
}

/** The result of batchAdmit if the rows are ready but nothing was inserted. */
export const NOT_INSERTED = -1;

/** Where a settled batch goes on in the same kernel call: the fingerprint table that takes its hashes, and the job that surveys its rows. */
export interface BatchTarget {
  /** Offset of the table; 0: none. */
  readonly table: number;
  /** Offset of the job (layout/calls/make-records.ts); 0: none. */
  readonly job: number;
}

/** The target of a batch that is parsed, keyed and hashed alone. */
export const NO_TARGET: BatchTarget = Object.freeze({ table: 0, job: 0 });

/**
 * Parses, keys and hashes the loaded rows and inserts the hashes of those that are BATCH_OK into the target's table. This takes one kernel
 * call if no row needs JavaScript. Returns how many are new, or NOT_INSERTED if rows were left to the oracle or the table has to grow first;
 * only inserted rows are surveyed. @hot
 */
export function batchAdmit(batch: UrlBatch, policy: NormalPolicy, target: BatchTarget): number {
  const { table, job } = target;
  const { kernel, header } = batch.area;
  if (isScriptKey(policy)) {
    batchHash(batchKey(batchParse(batch), policy));
    return NOT_INSERTED;
  }
  prepare(batch);
  const offset = placePolicy(kernel, batch.policyPlace, policy);
  kernel.region.views.u32[(header >>> 2) + BATCH_POLICY_OFFSET_WORD] = offset;
  const result = kernel.exports.admitBatch(header, table, job);
  if (result === IN_STEPS) {
    for (let row = 0; row < batch.count; row++) parseLeft(batch, row);
    kernel.exports.keyBatch(header);
    for (let row = 0; row < batch.count; row++) keyLeft(batch, row, BATCH_NEEDS_KEY, policy);
    kernel.exports.hashBatch(header);
  }
  return result >= 0 && table !== 0 ? result : NOT_INSERTED;
}

/** Loads, parses and keys one URL as row 0, without the overhead of a batch; returns its status. @hot */
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

/** Loads one short ASCII URL character by character, which is faster than a call. Returns false if it is not ASCII. @hot */
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
 * Loads the rows one by one in UTF-8, lone surrogates as U+FFFD. A URL over the limit gets its room but is not written, because the kernel
 * checks only its length.
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

/** Size in bytes of UTF-8, at most `max` + 1. */
function boundedSize(url: string, max: number): number {
  return url.length > max ? max + 1 : Math.min(Buffer.byteLength(url), max + 1);
}

/** Writes the header words that change from call to call. */
function prepare(batch: UrlBatch): void {
  const { area } = batch;
  const { u32 } = area.kernel.region.views;
  const header = area.header >>> 2;
  u32[header + BATCH_COUNT_WORD] = batch.count;
  u32[header + BATCH_TEXT_USED_WORD] = 0;
  u32[header + BATCH_BASE_ROW_WORD] = batch.baseHref === undefined ? 0 : area.baseRow;
}

/** Parses the base into its row, as a batch of one; returns its href or undefined. */
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

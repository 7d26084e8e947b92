/**
 * Compares the kernel's URL path with the readable twin: every field of every row, every text.
 * `checkUrls` throws at the first difference and names the URL, so that loops stay fast.
 */
import { expect } from "vitest";
import { loadKernelModule, type KernelFlavour } from "../../src/engine/kernel-file.ts";
import { createKernel } from "../../src/kernel/kernel.ts";
import {
  BATCH_FLAG_ADDRESS,
  BATCH_FLAG_HREF_WRITTEN,
  BATCH_FLAG_HTTPS,
  BATCH_FLAG_USERINFO,
  BATCH_OK,
  BATCH_ROW_WORDS,
  BATCH_TOO_LONG,
  ROW_FLAGS_WORD,
  ROW_FRAGMENT_START_WORD,
  ROW_HOST_LENGTH_WORD,
  ROW_HOST_START_WORD,
  ROW_PATH_START_WORD,
  ROW_PORT_START_WORD,
  ROW_QUERY_START_WORD,
  ROW_STATUS_WORD,
} from "../../src/layout/calls/url-batch.ts";
import type { BatchOptions, UrlBatch } from "../../src/url/batch/batch-memory.ts";
import {
  batchBase,
  batchKey,
  batchLoad,
  batchOne,
  batchParse,
  createUrlBatch,
} from "../../src/url/batch/url-batch.ts";
import {
  batchChangedStrings,
  batchString,
  batchStrings,
} from "../../src/url/batch/batch-strings.ts";
import { type ParsedUrl, parseUrl } from "../../src/url/parsing/canonical-parser.ts";
import { keyOfHref, visitUrl } from "../../src/url/keys/dedup-key.ts";
import {
  type KeyPolicy,
  type NormalPolicy,
  normalizePolicy,
} from "../../src/url/keys/key-policy.ts";

export function newBatch(flavour: KernelFlavour = "release", options?: BatchOptions): UrlBatch {
  return createUrlBatch(createKernel(loadKernelModule(flavour)), options);
}

/** Policies that between them take every way through the key. */
export const POLICIES: readonly NormalPolicy[] = (
  [
    {},
    { fragment: "keep" },
    { userInfo: "drop" },
    { sortQuery: false },
    { sortQuery: false, fragment: "keep", userInfo: "drop" },
    { keepParams: "none" },
    { keepParams: ["b", "a", "\u00fc"] },
    { keepParams: ["a"], sortQuery: false },
    { profile: "url", keepParams: ["b", "a", "\u00fc"] },
    { profile: "url", visit: "canonical", keepParams: ["b", "a", "\u00fc"] },
    { dropParams: ["utm_*", "*sid*", "\u00fc", "a*b*"] },
    { dropParams: ["*"], fragment: "keep" },
    { dropParams: ["a", ""].slice(0, 1), keepParams: ["b", "a"], sortQuery: false },
    { profile: "url" },
    { profile: "url", fragment: "drop" },
    { profile: "w3lib" },
    { profile: "w3lib", fragment: "keep" },
  ] as KeyPolicy[]
).map((policy) => normalizePolicy(policy));

/** Base URLs for links; undefined: none. */
export const BASES = [
  undefined,
  "http://user:pa%20ss@Host.example:8080/a/b;c/../d?q=1&p=2#frag",
  "https://h.example",
  "https://[::1]/x",
  "http://1.2.3.4/%7e/?",
  "http://b\u00fccher.example/\u00e4/b",
  "not a url",
];

export interface CheckOptions {
  readonly base?: string | undefined;
  readonly policy?: NormalPolicy;
  /** Also run every URL through batchOne. */
  readonly single?: boolean;
}

/** Runs `urls` through the batch, throws at the first difference to the oracle, and expects that every row was compared. */
export function checkUrls(batch: UrlBatch, urls: readonly string[], options: CheckOptions): void {
  const policy = options.policy ?? (POLICIES[0] as NormalPolicy);
  const { maxUrlBytes } = batch.area;
  batchBase(batch, options.base);
  const parsedBase =
    options.base === undefined ? undefined : parseUrl(options.base, undefined, maxUrlBytes);
  const base = typeof parsedBase === "number" ? undefined : parsedBase;
  let compared = 0;
  for (let start = 0; start < urls.length; start += batch.count) {
    if (batchLoad(batch, urls, start) === 0) throw new Error("nothing was loaded");
    const parsed = batchParse(batch);
    const hrefs = batchStrings(batch, "href");
    const hosts = batchStrings(batch, "host");
    const wanted = urls
      .slice(start, start + batch.count)
      .map((url) => parseUrl(url, base, maxUrlBytes));
    wanted.forEach((parsed, row) => {
      const url = urls[start + row] as string;
      checkParsed(batch, row, parsed, url);
      const href = typeof parsed === "number" ? undefined : parsed.href;
      same(hrefs[row], href, "href", url);
      same(hosts[row], href === undefined ? undefined : hostOf(parsed as ParsedUrl), "host", url);
    });
    batchKey(parsed, policy);
    const keys = batchStrings(batch, "key");
    const mended: (string | undefined)[] = urls.slice();
    batchChangedStrings(batch, mended);
    const visits = batchStrings(batch, "visit");
    wanted.forEach((parsed, row) => {
      const url = urls[start + row] as string;
      const isUrl = typeof parsed !== "number";
      const key = isUrl ? keyOfHref(parsed, policy, maxUrlBytes) : undefined;
      const visit = isUrl && key !== undefined ? visitUrl(parsed, policy) : undefined;
      same(keys[row], key, "key", url);
      same(mended[start + row], key, "mended key", url);
      same(visits[row], visit, "visit", url);
      if (isUrl && key === undefined) same(rowWord(batch, row, 0), BATCH_TOO_LONG, "long", url);
    });
    compared += wanted.length;
    if (options.single === true) break;
  }
  expect(compared).toBeGreaterThan(0);
  if (options.single === true) checkSingles(batch, urls, policy, base);
  else expect(compared).toBe(urls.length);
}

/** One word of a row. */
export function rowWord(batch: UrlBatch, row: number, word: number): number {
  const { area } = batch;
  return area.kernel.region.views.u32[(area.rows >>> 2) + row * BATCH_ROW_WORDS + word] as number;
}

/** How many of the rows the kernel finishes by itself: parse and key without the oracle. */
export function kernelShare(batch: UrlBatch, urls: readonly string[], base?: string): number {
  const { exports } = batch.area.kernel;
  let left = 0;
  batchBase(batch, base);
  for (let start = 0; start < urls.length; start += batch.count) {
    batchLoad(batch, urls, start);
    // These two write the header; the next two count the rows left over.
    const parsed = batchParse(batch);
    batchKey(parsed);
    left += exports.parseBatch(batch.area.header);
    left += exports.keyBatch(batch.area.header);
  }
  return 1 - left / urls.length;
}

function checkSingles(
  batch: UrlBatch,
  urls: readonly string[],
  policy: NormalPolicy,
  base: ParsedUrl | undefined,
): void {
  const { maxUrlBytes } = batch.area;
  for (const url of urls) {
    const parsed = parseUrl(url, base, maxUrlBytes);
    const key = typeof parsed === "number" ? undefined : keyOfHref(parsed, policy, maxUrlBytes);
    const status = typeof parsed === "number" ? parsed : key === undefined ? BATCH_TOO_LONG : 0;
    same(batchOne(batch, [url], policy), status, "single status", url);
    if (status !== BATCH_OK) continue;
    same(batchString(batch, 0, "key"), key, "single key", url);
    const visit = visitUrl(parsed as ParsedUrl, policy);
    same(batchString(batch, 0, "visit"), visit, "single visit", url);
  }
}

function checkParsed(batch: UrlBatch, row: number, parsed: ParsedUrl | number, url: string): void {
  const status = rowWord(batch, row, ROW_STATUS_WORD);
  if (typeof parsed === "number") {
    same(status, parsed, "status", url);
    return;
  }
  same(status, BATCH_OK, "status", url);
  const flags = rowWord(batch, row, ROW_FLAGS_WORD);
  same(rowWord(batch, row, ROW_HOST_START_WORD), parsed.hostStart, "hostStart", url);
  same(rowWord(batch, row, ROW_HOST_LENGTH_WORD), parsed.hostLength, "hostLength", url);
  same(rowWord(batch, row, ROW_PORT_START_WORD), parsed.portStart, "portStart", url);
  same(rowWord(batch, row, ROW_PATH_START_WORD), parsed.pathStart, "pathStart", url);
  same(rowWord(batch, row, ROW_QUERY_START_WORD), parsed.queryStart, "queryStart", url);
  same(rowWord(batch, row, ROW_FRAGMENT_START_WORD), parsed.fragmentStart, "fragment", url);
  same((flags & BATCH_FLAG_HTTPS) !== 0, parsed.https, "https", url);
  same((flags & BATCH_FLAG_USERINFO) !== 0, parsed.userinfo, "userinfo", url);
  same((flags & BATCH_FLAG_ADDRESS) !== 0, parsed.address, "address", url);
  if ((flags & BATCH_FLAG_HREF_WRITTEN) === 0) same(parsed.href, url, "unwritten href", url);
}

function hostOf(parsed: ParsedUrl): string {
  return parsed.href.slice(parsed.hostStart, parsed.pathStart);
}

function same(actual: unknown, wanted: unknown, what: string, url: string): void {
  if (actual === wanted) return;
  const [a, w, u] = [actual, wanted, url].map((each) => JSON.stringify(each)?.slice(0, 300));
  throw new Error(`${what} of ${u}: kernel ${a}, oracle ${w}`);
}

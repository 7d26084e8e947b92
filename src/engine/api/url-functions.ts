/**
 * The public functions of URLs, over one small kernel of the process that is made at the first
 * call:
 * canonical form of one or many, and the links of a page.
 */
import type { PlainRequest } from "../../base/request-types.ts";
import { readList } from "../../base/argument-checks.ts";
import { createKernel } from "../../kernel/kernel.ts";
import { BATCH_OK } from "../../layout/calls/url-batch.ts";
import {
  batchBase,
  batchForget,
  batchKey,
  batchLoad,
  batchOne,
  batchParse,
  createUrlBatch,
} from "../../url/batch/url-batch.ts";
import type { UrlBatch } from "../../url/batch/batch-memory.ts";
import { batchChangedStrings, batchString, batchStrings } from "../../url/batch/batch-strings.ts";
import { isDeadLink } from "../../url/parsing/page-links.ts";
import { createPrinter, type Printer } from "../../url/keys/fingerprint-printer.ts";
import { identityBytes, keyOverride } from "../../url/keys/identity-bytes.ts";
import { type KeyPolicy, type NormalPolicy, normalizePolicy } from "../../url/keys/key-policy.ts";
import { isHookFault, misuse } from "../../base/errors.ts";
import { isList } from "../../base/type-guards.ts";
import { loadKernelModule } from "../kernel-file.ts";
import { readRequest } from "../intake/request-fields.ts";
import type { RequestInput, RequestLike } from "../types/frontier-types.ts";

/** The process's own kernel, made at the first call. */
const own: { batch: UrlBatch | undefined; print: Printer | undefined } = {
  batch: undefined,
  print: undefined,
};

/**
 * The canonical form of a URL under a key policy; undefined: the URL cannot be crawled. Never throws for a URL;
 * throws `OPTION_INVALID` for a wrong policy. Costs about 0.5 µs.
 *
 * @example
 * canonicalize("HTTPS://Example.org:443/b/../a#top"); // "https://example.org/a"
 * canonicalize("mailto:me@example.org"); // undefined
 */
export function canonicalize(url: string, policy?: KeyPolicy): string | undefined {
  const normal = policy === undefined ? undefined : normalizePolicy(policy, "policy");
  if (typeof url !== "string") return undefined;
  const batch = ownBatch();
  batchBase(batch, undefined);
  const status = batchOne(batch, [url], normal);
  const key = status === BATCH_OK ? batchString(batch, 0, "key") : undefined;
  batchForget(batch);
  return key;
}

/**
 * `canonicalize` for a list. Costs about two thirds of one call each. Throws `ARGUMENT_INVALID` for what is no list; an entry that
 * cannot be crawled is undefined.
 *
 * @example
 * canonicalizeMany(["http://example.org", "ftp://example.org"]); // ["http://example.org/", undefined]
 */
export function canonicalizeMany(
  urls: readonly string[],
  policy?: KeyPolicy,
): (string | undefined)[] {
  const normal = policy === undefined ? undefined : normalizePolicy(policy, "policy");
  const batch = ownBatch();
  batchBase(batch, undefined);
  if (!isList(urls)) throw misuse("ARGUMENT_INVALID", "urls", urls, "a list of URLs");
  const list = urls.every(isString) ? urls : urls.map((url) => (isString(url) ? url : ""));
  const keys: (string | undefined)[] = list.slice();
  for (let start = 0; start < list.length; start += batch.count) {
    batchLoad(batch, list, start);
    batchKey(batchParse(batch), normal);
    batchChangedStrings(batch, keys);
  }
  batchForget(batch);
  return keys;
}

/**
 * The 128-bit id of a request as 32 hex digits: equal on every machine and Node version for one profile. A URL that
 * cannot be crawled has one too, of its text. Never throws for a URL; throws `REQUEST_INVALID` for a wrong field. Costs about 3 µs.
 *
 * @example
 * fingerprint("https://example.org/a") === fingerprint("https://EXAMPLE.org/a#top"); // true
 */
export function fingerprint(request: RequestLike, policy?: KeyPolicy): string {
  return fingerprintOf(readRequest(request), normalizePolicy(policy, "policy"));
}

/** The same under a checked policy. */
export function fingerprintOf(request: PlainRequest, policy: NormalPolicy): string {
  const input: RequestInput = typeof request === "string" ? { url: request } : request;
  const batch = ownBatch();
  const given = keyOverride(input, policy);
  const override = isHookFault(given) ? undefined : given;
  batchBase(batch, undefined);
  const isKeyed = override === undefined && batchOne(batch, [input.url], policy) === BATCH_OK;
  const key = isKeyed ? batchString(batch, 0, "key") : (override ?? input.url.toWellFormed());
  batchForget(batch);
  own.print ??= createPrinter(batch.area.kernel);
  return own.print(identityBytes(key, input, policy));
}

/**
 * Resolves the links of a page against its URL. Drops blank ones, `#`, `javascript:` and everything that is not
 * http or https. Costs about 0.3 µs a link. Throws `ARGUMENT_INVALID` for what is no list of links.
 *
 * @example
 * resolveLinks("https://example.org/a/", ["b", "#top", "mailto:x@example.org"]); // ["https://example.org/a/b"]
 */
export function resolveLinks(baseUrl: string, hrefs: Iterable<string>): string[] {
  if (typeof baseUrl !== "string") {
    throw misuse("ARGUMENT_INVALID", "baseUrl", baseUrl, "a URL string");
  }
  const links: string[] = [];
  for (const href of readList(hrefs, "hrefs", "a list of links"))
    if (typeof href === "string" && !isDeadLink(href)) links.push(href);
  const batch = ownBatch();
  batchBase(batch, baseUrl);
  const resolved: (string | undefined)[] = [];
  for (let start = 0; start < links.length; start += batch.count) {
    batchLoad(batch, links, start);
    batchParse(batch);
    batchStrings(batch, "href", resolved);
  }
  batchForget(batch);
  return resolved.filter((url) => url !== undefined);
}

function isString(value: unknown): boolean {
  return typeof value === "string";
}

function ownBatch(): UrlBatch {
  own.batch ??= createUrlBatch(createKernel(loadKernelModule()));
  return own.batch;
}

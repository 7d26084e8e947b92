/**
 * The public functions of URLs, over one small kernel of the process that is made at the first
 * call:
 * canonical form of one or many, and the links of a page.
 */
import { createKernel } from "../kernel/kernel.ts";
import { BATCH_OK } from "../layout/batch.ts";
import {
  batchBase,
  batchKey,
  batchLoad,
  batchOne,
  batchParse,
  createUrlBatch,
} from "../url/batch.ts";
import type { UrlBatch } from "../url/batch-area.ts";
import { batchString, batchStrings } from "../url/batch-strings.ts";
import { isDeadLink } from "../url/links.ts";
import { type KeyPolicy, normalizePolicy } from "../url/policy.ts";
import { loadKernelModule } from "./kernel-file.ts";

let processBatch: UrlBatch | undefined;

/** The dedup key's URL under a key policy; undefined: not a crawlable URL. */
export function canonicalize(url: string, policy?: KeyPolicy): string | undefined {
  const normal = policy === undefined ? undefined : normalizePolicy(policy, "policy");
  if (typeof url !== "string") return undefined;
  const batch = ownBatch();
  batchBase(batch, undefined);
  const status = batchOne(batch, [url], normal);
  return status === BATCH_OK ? batchString(batch, 0, "key") : undefined;
}

/** `canonicalize` of a list, several times faster than one by one. */
export function canonicalizeMany(
  urls: readonly string[],
  policy?: KeyPolicy,
): (string | undefined)[] {
  const normal = policy === undefined ? undefined : normalizePolicy(policy, "policy");
  const batch = ownBatch();
  batchBase(batch, undefined);
  const keys: (string | undefined)[] = [];
  const list = urls.every(isString) ? urls : urls.map((url) => (isString(url) ? url : ""));
  for (let start = 0; start < list.length; start += batch.count) {
    batchLoad(batch, list, start);
    batchParse(batch);
    batchKey(batch, normal);
    batchStrings(batch, "key", keys);
  }
  return keys;
}

/** The links of a page, resolved; blank ones, `#`, `javascript:` and what is no http(s) URL go. */
export function resolveLinks(baseUrl: string, hrefs: Iterable<string>): string[] {
  const links: string[] = [];
  for (const href of hrefs) if (typeof href === "string" && !isDeadLink(href)) links.push(href);
  const batch = ownBatch();
  batchBase(batch, String(baseUrl));
  const resolved: (string | undefined)[] = [];
  for (let start = 0; start < links.length; start += batch.count) {
    batchLoad(batch, links, start);
    batchParse(batch);
    batchStrings(batch, "href", resolved);
  }
  return resolved.filter((url) => url !== undefined);
}

function isString(value: unknown): boolean {
  return typeof value === "string";
}

function ownBatch(): UrlBatch {
  processBatch ??= createUrlBatch(createKernel(loadKernelModule()));
  return processBatch;
}

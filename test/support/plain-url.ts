/** `canonicalize` and `resolveLinks` in plain JavaScript, one URL at a time: the reference for the kernel's answers. */
import { parseUrl, URL_BYTES_MAX } from "../../src/url/parsing/canonical-parser.ts";
import { keyOfHref } from "../../src/url/keys/dedup-key.ts";
import { isDeadLink } from "../../src/url/parsing/page-links.ts";
import type { NormalPolicy } from "../../src/url/keys/key-policy.ts";

/** The key of a pushed string; undefined: not a crawlable URL. */
export function canonicalizePlain(
  url: string,
  policy: NormalPolicy,
  maxUrlBytes: number = URL_BYTES_MAX,
): string | undefined {
  const parsed = parseUrl(url, undefined, maxUrlBytes);
  return typeof parsed === "number" ? undefined : keyOfHref(parsed, policy, maxUrlBytes);
}

export function resolveLinksPlain(
  baseUrl: string,
  hrefs: Iterable<string>,
  maxUrlBytes: number = URL_BYTES_MAX,
): string[] {
  const parsedBase = parseUrl(baseUrl, undefined, maxUrlBytes);
  const base = typeof parsedBase === "number" ? undefined : parsedBase;
  const resolved: string[] = [];
  for (const href of hrefs) {
    if (typeof href !== "string" || isDeadLink(href)) continue;
    const parsed = parseUrl(href, base, maxUrlBytes);
    if (typeof parsed !== "number") resolved.push(parsed.href);
  }
  return resolved;
}

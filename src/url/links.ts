/**
 * Links of a page: which href texts lead nowhere, and the plain way to resolve the others.
 *
 *   dropped: blank · "#" · javascript: · void(…) · every scheme but http and https · no URL
 *   kept:    all others, as the serialisation with its fragment; the key policy decides later
 *
 * Order and repetitions stay as they are: what is a duplicate, the seen-set knows.
 */
import { parseUrl, URL_BYTES_MAX } from "./canonical.ts";

/** The last of the C0 controls and the space. */
const BLANK_MAX = 0x20;

// biome-ignore lint/suspicious/noControlCharactersInRegex: the Standard strips C0 controls.
const DEAD_LINK = /^(?:#?[\x00-\x20]*$|javascript\s*[:;]|void\s*\()/i;

/**
 * Whether a link is known to lead nowhere before anything is parsed. Blanks in front are passed over here: two runs of
 * them in one expression would take time that grows with the square of what a page wrote.
 */
export function isDeadLink(href: string): boolean {
  let start = 0;
  while (href.charCodeAt(start) <= BLANK_MAX) start++;
  return DEAD_LINK.test(start === 0 ? href : href.slice(start));
}

/** Resolves links in plain JavaScript: the oracle of `resolveLinks`. Total. */
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

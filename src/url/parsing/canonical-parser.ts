/**
 * Room `src/url/parsing`: the bytes of a URL, before any policy: serialisation, IDNA, percent-encoding, registrable domains, seed
 * templates. The kernel parses the common case; this is its readable twin and parses the rest. Pure functions.
 */

/**
 * The readable twin and oracle of the kernel's parser: the WHATWG serialisation of an http(s) URL
 * with the pins of docs/formats/canonical-url.md §1, the same bytes on every Node version.
 *
 *   https://user:pass@host.example:8443/path;p?query#fragment
 *                     │            │    │      │     │
 *                     hostStart    │    pathStart    fragmentStart
 *                                  portStart   queryStart
 *
 * Only what all platforms agree on is left to `new URL()`: slashes, ports, user info, IPv4 and IPv6, most percent-encoding. Hosts are made
 * in idna-host.ts; paths are repaired here where a platform's parser is old or wrong. Tests compare a digest over fuzzed text across
 * Node versions.
 *
 * I1  href is ASCII and parses to itself.
 * I2  hostStart + hostLength = pathStart ≤ queryStart ≤ fragmentStart ≤ href.length.
 */
import { BATCH_INVALID, BATCH_SCHEME, BATCH_TOO_LONG } from "../../layout/calls/url-batch.ts";
import { endsInNumber, holdsIdnaLabel, hostToAscii, TR46_VERSION } from "./idna-host.ts";

/** Version of the bytes that docs/formats/canonical-url.md describes, the IDNA table included. */
export const CANONICAL_VERSION = `1+tr46-${TR46_VERSION}`;

/** Default of `maxUrlBytes`. */
export const URL_BYTES_MAX = 8192;

/** Why a string is not a URL that can be crawled: BATCH_INVALID, BATCH_SCHEME or BATCH_TOO_LONG. */
type RejectCode = typeof BATCH_INVALID | typeof BATCH_SCHEME | typeof BATCH_TOO_LONG;

/** A parsed URL; its fields have the meaning of the row words of layout/calls/url-batch.ts. */
export interface ParsedUrl {
  readonly href: string;
  /** The input of profiles `url` and `w3lib`: the pushed string, or href if there was a base. */
  readonly pushed: string;
  readonly hostStart: number;
  readonly hostLength: number;
  readonly portStart: number;
  readonly pathStart: number;
  readonly queryStart: number;
  readonly fragmentStart: number;
  readonly https: boolean;
  readonly userinfo: boolean;
  readonly address: boolean;
}

/** Stands in for a host that the platform's parser must not see. */
const PLACEHOLDER = "h";

/** Where the fragment begins after the placeholder: "http://h/". */
const FRAGMENT_AT = 9;

const SINGLE_DOT = /^(?:\.|%2e)$/i;
const DOUBLE_DOT = /^(?:\.|%2e){2}$/i;
const SCHEME = /^([a-z][a-z0-9+.-]*):/i;

/** Parses a pushed string, against `base` if there is one. Never throws. */
export function parseUrl(
  raw: string,
  base: ParsedUrl | undefined,
  maxUrlBytes: number,
): ParsedUrl | RejectCode {
  if (raw.length > maxUrlBytes || Buffer.byteLength(raw) > maxUrlBytes) return BATCH_TOO_LONG;
  const pushed = raw.toWellFormed();
  const text = withoutControls(pushed);
  const scheme = SCHEME.exec(text)?.[1]?.toLowerCase();
  if (scheme !== undefined && scheme !== "http" && scheme !== "https") return BATCH_SCHEME;
  if (scheme === undefined && base === undefined) return BATCH_INVALID;
  const host = findHost(text, scheme, base);
  const href = host === undefined ? hrefFromBase(text, base) : hrefWithHost(text, host, base);
  if (href === undefined) return BATCH_INVALID;
  if (href.length > maxUrlBytes) return BATCH_TOO_LONG;
  return describeHref(href, base === undefined ? pushed : href);
}

/** The ranges of a serialised http(s) URL; `pushed` as in ParsedUrl. */
export function describeHref(href: string, pushed: string = href): ParsedUrl {
  const https = href.startsWith("https:");
  const authorityStart = https ? 8 : 7;
  const pathStart = href.indexOf("/", authorityStart);
  const at = href.lastIndexOf("@", pathStart);
  const hostStart = at < authorityStart ? authorityStart : at + 1;
  const bracket = href[hostStart] === "[" ? href.indexOf("]", hostStart) : hostStart;
  const colon = href.indexOf(":", bracket);
  const portStart = colon < 0 || colon > pathStart ? pathStart : colon;
  const hash = href.indexOf("#", pathStart);
  const fragmentStart = hash < 0 ? href.length : hash;
  const question = href.indexOf("?", pathStart);
  const queryStart = question < 0 || question > fragmentStart ? fragmentStart : question;
  return {
    href,
    pushed,
    hostStart,
    hostLength: pathStart - hostStart,
    portStart,
    pathStart,
    queryStart,
    fragmentStart,
    https,
    userinfo: hostStart !== authorityStart,
    address: href[hostStart] === "[" || endsInNumber(href.slice(hostStart, portStart)),
  };
}

interface Range {
  readonly start: number;
  readonly end: number;
}

/** Range of the host in the text; undefined if the text is relative to the base. */
function findHost(
  text: string,
  scheme: string | undefined,
  base: ParsedUrl | undefined,
): Range | undefined {
  let start = scheme === undefined ? 0 : scheme.length + 1;
  let slashes = 0;
  for (; isSlash(text[start]); start++) slashes++;
  const canBeRelative =
    base !== undefined && (scheme === undefined || (scheme === "https") === base.https);
  if (canBeRelative && slashes < 2) return undefined;
  const authorityEnd = indexOfAny(text, "/\\?#", start, text.length);
  const at = text.lastIndexOf("@", authorityEnd - 1);
  if (at >= start) start = at + 1;
  return { start, end: indexOfAny(text, ":", start, authorityEnd) };
}

/** The href with its host converted by idna-host.ts. The platform's parser never sees a host that it would check by its own table. */
function hrefWithHost(text: string, host: Range, base: ParsedUrl | undefined): string | undefined {
  const baseHref = base === undefined ? undefined : withHostname(base.href, PLACEHOLDER);
  const rawHost = text.slice(host.start, host.end);
  if (rawHost.startsWith("[")) return platformHref(text, baseHref);
  const ascii = hostToAscii(rawHost);
  if (ascii === undefined) return undefined;
  const isHidden = holdsIdnaLabel(ascii);
  const shown = isHidden ? PLACEHOLDER : ascii;
  const href = platformHref(text.slice(0, host.start) + shown + text.slice(host.end), baseHref);
  return href !== undefined && isHidden ? withHostname(href, ascii) : href;
}

/** The href of a relative text. The base's host is added afterwards, so that the platform's parser does not see it. */
function hrefFromBase(text: string, base: ParsedUrl | undefined): string | undefined {
  if (base === undefined) return undefined;
  const reference = text.replace(SCHEME, "");
  if (reference === "" || reference.startsWith("#")) {
    // All but the fragment comes from the base, an empty query too; platforms disagree on the empty query.
    const fragment = platformHref(`http://${PLACEHOLDER}/${reference}`, undefined);
    return base.href.slice(0, base.fragmentStart) + (fragment?.slice(FRAGMENT_AT) ?? "");
  }
  const hostname = base.href.slice(base.hostStart, base.portStart);
  const href = platformHref(text, withHostname(base.href, PLACEHOLDER));
  return href === undefined ? undefined : withHostname(href, hostname);
}

function withHostname(href: string, hostname: string): string {
  const { hostStart, portStart } = describeHref(href);
  return href.slice(0, hostStart) + hostname + href.slice(portStart);
}

function platformHref(text: string, baseHref: string | undefined): string | undefined {
  let href: string;
  try {
    ({ href } = new URL(text, baseHref));
  } catch {
    return undefined;
  }
  const { pathStart, queryStart } = describeHref(href);
  const path = href.slice(pathStart, queryStart);
  if (!path.includes("/.") && !path.includes("/%2") && !path.includes("^")) return href;
  return href.slice(0, pathStart) + repairedPath(path) + href.slice(queryStart);
}

/**
 * Repairs paths of older platforms: Node 20 and 22 leave `^` raw, which the Standard added to the path percent-encode set in 2023, and do
 * not resolve dot segments in paths like `/a/.b/..`.
 */
function repairedPath(path: string): string {
  const segments = path.slice(1).split("/");
  const kept: string[] = [];
  segments.forEach((segment, i) => {
    const isDouble = DOUBLE_DOT.test(segment);
    if (isDouble) kept.pop();
    if (!isDouble && !SINGLE_DOT.test(segment)) kept.push(segment);
    else if (i === segments.length - 1) kept.push("");
  });
  return `/${kept.join("/").replaceAll("^", "%5E")}`;
}

/** Removes C0 controls and spaces at both ends, and tabs and newlines everywhere. */
export function withoutControls(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && text.charCodeAt(start) <= 0x20) start++;
  while (end > start && text.charCodeAt(end - 1) <= 0x20) end--;
  return text.slice(start, end).replace(/[\t\n\r]/g, "");
}

function isSlash(character: string | undefined): boolean {
  return character === "/" || character === "\\";
}

/** The first index in [start, end) that holds one of the characters, else end. */
function indexOfAny(text: string, characters: string, start: number, end: number): number {
  for (let i = start; i < end; i++) if (characters.includes(text[i] as string)) return i;
  return end;
}

/**
 * Room `src/url/keys`: key policies, and the key and identity bytes of a URL under each. Decides when two URLs are the same, not whether
 * one is a duplicate. May touch url/parsing.
 */

/**
 * The dedup key of a parsed URL under a policy, in readable form (docs/formats/canonical-url.md §2 to §4).
 *
 *   https://user@host/path;param?b=2&a=1#fragment
 *           ─1──     ──3────4── ───5──── ───2────     numbers are the steps of §2
 *
 * I1  key(key(x)) = key(x) under one policy of profile `canonical`.
 * I2  Keys of profile `canonical` are ASCII and parse to themselves.
 */
import { type ParsedUrl, URL_BYTES_MAX } from "../parsing/canonical-parser.ts";
import { encodeParamName, normalizePercent } from "../parsing/percent-encoding.ts";
import { asciiLowerCase, type NormalPolicy } from "./key-policy.ts";
import { w3libKey } from "./w3lib-key.ts";

type Names = readonly string[];

/** The key of a parsed URL; undefined if it is longer than `maxUrlBytes` (verdict too-long). */
export function keyOfHref(
  parsed: ParsedUrl,
  policy: NormalPolicy,
  maxUrlBytes: number = URL_BYTES_MAX,
): string | undefined {
  const key = keyText(parsed, policy);
  return Buffer.byteLength(key) > maxUrlBytes ? undefined : key;
}

/**
 * The URL that a lease carries, unless the key itself is visited. Its fragment stays only if the policy keeps it. The key of profile `url`
 * is not a serialisation; its canonical visit URL is the serialisation of the parts that the key keeps.
 */
export function visitUrl(parsed: ParsedUrl, policy: NormalPolicy): string {
  const { href, fragmentStart } = parsed;
  const keeps = policy.fragment === "keep" && href.length > fragmentStart + 1;
  const { profile, visit, keepParams } = policy;
  if (profile !== "url" || visit !== "canonical" || keepParams === undefined) {
    return keeps ? href : href.slice(0, fragmentStart);
  }
  return keptPage(parsed, keepParams) + (keeps ? href.slice(fragmentStart) : "");
}

/** Whether a name matches one of the patterns (lower-case, `*` for any run of characters). */
export function matchesAny(name: string, patterns: readonly string[]): boolean {
  const lower = asciiLowerCase(name);
  return patterns.some((pattern) => matchesPattern(lower, pattern));
}

function keyText(parsed: ParsedUrl, policy: NormalPolicy): string {
  if (policy.profile === "w3lib") return w3libKey(parsed, policy.fragment === "keep");
  if (policy.profile === "url") return pushedKey(parsed.pushed, policy);
  const { href, hostStart, pathStart, queryStart, fragmentStart } = parsed;
  const authorityStart = parsed.https ? 8 : 7;
  const userInfo =
    policy.userInfo === "drop" ? "" : normalizePercent(href.slice(authorityStart, hostStart));
  const path = pathKey(normalizePercent(href.slice(pathStart, queryStart)), policy.dropParams);
  const query =
    queryStart === fragmentStart
      ? ""
      : queryKey(normalizePercent(href.slice(queryStart + 1, fragmentStart)), policy);
  const fragment = policy.fragment === "keep" ? href.slice(fragmentStart + 1) : "";
  return (
    href.slice(0, authorityStart) +
    userInfo +
    href.slice(hostStart, pathStart) +
    path +
    (query === "" ? "" : `?${query}`) +
    (fragment === "" ? "" : `#${normalizePercent(fragment)}`)
  );
}

/** The pushed string. With `keepParams`, its query is reduced to those parameters, in the list's order. */
function pushedKey(pushed: string, { fragment, keepParams }: NormalPolicy): string {
  const { mark, end } = pushedQuery(pushed);
  const rest = fragment === "keep" ? pushed.slice(end) : "";
  if (keepParams === undefined || mark === end) return pushed.slice(0, end) + rest;
  const pieces = pushed.slice(mark + 1, end).split("&");
  return pushed.slice(0, mark) + queryOf(pieces, keptPlaces(pieces, keepParams)) + rest;
}

/**
 * The serialisation up to its fragment, with only those query parameters that the key keeps. Names are read from the pushed string, which
 * has the same number of pieces; the parser may have removed tabs and newlines from the serialised ones.
 */
function keptPage({ href, pushed, queryStart, fragmentStart }: ParsedUrl, keep: Names): string {
  if (queryStart === fragmentStart) return href.slice(0, fragmentStart);
  const { mark, end } = pushedQuery(pushed);
  const places = keptPlaces(pushed.slice(mark + 1, end).split("&"), keep);
  const pieces = href.slice(queryStart + 1, fragmentStart).split("&");
  return href.slice(0, queryStart) + queryOf(pieces, places);
}

/** Start (at its `?`) and end of the query of a pushed string; both are the string's end, without fragment, if there is no query. */
function pushedQuery(pushed: string): { mark: number; end: number } {
  const hash = pushed.indexOf("#");
  const end = hash < 0 ? pushed.length : hash;
  const mark = pushed.slice(0, end).indexOf("?");
  return { mark: mark < 0 ? end : mark, end };
}

/** Indexes of the query's pieces that stay, in the list's order. */
function keptPlaces(pieces: readonly string[], keep: Names): number[] {
  return pieces
    .map((piece, place) => ({ place, rank: keep.indexOf(encodeParamName(paramName(piece))) }))
    .filter(({ rank }) => rank >= 0)
    .sort((a, b) => a.rank - b.rank)
    .map(({ place }) => place);
}

/** The pieces at these indexes as a query; "" if none is left. */
function queryOf(pieces: readonly string[], places: readonly number[]): string {
  const query = places.map((place) => pieces[place]).join("&");
  return query === "" ? "" : `?${query}`;
}

function pathKey(path: string, dropParams: readonly string[]): string {
  if (dropParams.length === 0 || !path.includes(";")) return path;
  const segments = path.split("/").map((segment) => {
    const [head, ...params] = segment.split(";");
    const kept = params.filter((param) => !matchesAny(paramName(param), dropParams));
    const shorter = [head, ...kept].join(";");
    // A segment that would become a dot segment stays whole: the key must parse to itself (I2).
    return shorter === "." || shorter === ".." ? segment : shorter;
  });
  return segments.join("/");
}

function queryKey(query: string, policy: NormalPolicy): string {
  const { keepParams, dropParams, sortQuery } = policy;
  if (!sortQuery && keepParams === undefined && dropParams.length === 0) return query;
  let pieces = query
    .split("&")
    .filter((piece) => piece !== "")
    .map((piece) => ({ piece, name: paramName(piece), value: paramValue(piece), place: 0 }));
  if (dropParams.length > 0) pieces = pieces.filter(({ name }) => !matchesAny(name, dropParams));
  if (keepParams !== undefined) {
    pieces = pieces.filter(({ name }) => keepParams.includes(name));
    for (const each of pieces) each.place = keepParams.indexOf(each.name);
    pieces.sort((a, b) => a.place - b.place);
  }
  if (sortQuery) {
    pieces.sort((a, b) => a.place - b.place || order(a.name, b.name) || order(a.value, b.value));
  }
  return pieces.map(({ piece }) => piece).join("&");
}

function paramName(piece: string): string {
  const equals = piece.indexOf("=");
  return equals < 0 ? piece : piece.slice(0, equals);
}

function paramValue(piece: string): string {
  const equals = piece.indexOf("=");
  return equals < 0 ? "" : piece.slice(equals + 1);
}

/** Byte order: serialisations are ASCII, so code units are bytes. */
function order(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Greedy matching that returns only to the last `*`: at most name × pattern steps. */
function matchesPattern(name: string, pattern: string): boolean {
  let n = 0;
  let p = 0;
  let star = -1;
  let starName = 0;
  while (n < name.length) {
    if (pattern[p] === "*") {
      star = p++;
      starName = n;
    } else if (pattern[p] === name[n]) {
      p++;
      n++;
    } else if (star >= 0) {
      p = star + 1;
      n = ++starName;
    } else {
      return false;
    }
  }
  while (pattern[p] === "*") p++;
  return p === pattern.length;
}

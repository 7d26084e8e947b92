/**
 * The serialisation of a URL that is not serialised yet, written into text: a scalar walk of the
 * WHATWG basic URL parser for `http` and `https`, absolute or against a parsed base row.
 *
 *   latin1 to UTF-8, no tabs, trim ─▶ scheme ─▶ [base] ─▶ authority ─▶ path ─▶ ?query ─▶ #fragment
 *
 *   text: │ … used │ href being written (≤ 3 × raw + base + 64) │ copy of raw (only if needed) │
 *
 * Each writer takes the place to write at and returns the place after it, or 0 when the row has ended with another status (`stop`).
 * Ranges go straight into the row, relative to the start of the href.
 */
import {
  BATCH_FLAG_ADDRESS,
  BATCH_FLAG_AMPERSAND,
  BATCH_FLAG_HREF_WRITTEN,
  BATCH_FLAG_HTTPS,
  BATCH_FLAG_PERCENT,
  BATCH_FLAG_USERINFO,
  BATCH_INPUT_IS_UTF8_WORD,
  BATCH_INVALID,
  BATCH_MAX_URL_BYTES_WORD,
  BATCH_NEEDS_PARSER,
  BATCH_OK,
  BATCH_SCHEME,
  BATCH_TOO_LONG,
  ROW_FLAGS_WORD,
  ROW_FRAGMENT_START_WORD,
  ROW_HOST_LENGTH_WORD,
  ROW_HOST_START_WORD,
  ROW_HREF_LENGTH_WORD,
  ROW_HREF_OFFSET_WORD,
  ROW_PATH_START_WORD,
  ROW_PORT_START_WORD,
  ROW_QUERY_START_WORD,
  ROW_STATUS_WORD,
  ROW_VISIT_LENGTH_WORD,
} from "../../src/layout/calls/url-batch";
import { HTTP_WORD, SCHEME, classesOf, isLetter, writeBytes } from "./byte-classes";
import { writeAuthority } from "./authority";
import { encodeByte, endsAuthority, isSlash, writePath } from "./path";
import { addFlags, clearRow, get, hasRoom, keepText, set, stop, textEnd } from "../batch-row";
import { hasHighByte, scanByte, scanEither, scanFragment, scanOdd, scanQuery } from "./scan-bytes";

/** What a row has of its base; the hints may then be set without need. */
const BASE_FLAGS: u32 =
  BATCH_FLAG_HTTPS |
  BATCH_FLAG_USERINFO |
  BATCH_FLAG_ADDRESS |
  BATCH_FLAG_PERCENT |
  BATCH_FLAG_AMPERSAND;

/** Writes the row's href from [at, end), or ends the row with another status. */
export function transformRow(batch: usize, row: usize, at: usize, end: usize, base: usize): void {
  const odd = scanOdd(at, end);
  const widens = get(batch, BATCH_INPUT_IS_UTF8_WORD) === 0 && hasHighByte(odd, end);
  const copied = widens || hasTab(odd, end);
  const raw = (<u64>(end - at)) << (widens ? 1 : 0);
  const room = 3 * raw + (base === 0 ? 64 : <u64>get(base, ROW_HREF_LENGTH_WORD) + 64);
  if (!hasRoom(batch, room + (copied ? raw : 0))) {
    stop(row, BATCH_NEEDS_PARSER);
    return;
  }
  const out = textEnd(batch);
  if (copied) {
    const copy = out + <usize>room;
    if (widens && end - at + highCount(at, end) > <usize>get(batch, BATCH_MAX_URL_BYTES_WORD)) {
      stop(row, BATCH_TOO_LONG);
      return;
    }
    end = copyPlain(at, end, copy, widens);
    at = copy;
  }
  while (at < end && load<u8>(at) <= 0x20) at++;
  while (at < end && load<u8>(end - 1) <= 0x20) end--;
  set(row, ROW_HREF_OFFSET_WORD, <u32>out);
  const hrefEnd = writeHref(row, at, end, base);
  if (hrefEnd === 0) {
    clearRow(row);
    return;
  }
  finish(batch, row, out, hrefEnd);
}

function finish(batch: usize, row: usize, href: usize, end: usize): void {
  const length = <u32>(end - href);
  if (length > get(batch, BATCH_MAX_URL_BYTES_WORD)) {
    clearRow(row);
    stop(row, BATCH_TOO_LONG);
    return;
  }
  set(row, ROW_HREF_LENGTH_WORD, length);
  set(row, ROW_VISIT_LENGTH_WORD, get(row, ROW_FRAGMENT_START_WORD));
  addFlags(row, ROW_FLAGS_WORD, BATCH_FLAG_HREF_WRITTEN);
  set(row, ROW_STATUS_WORD, BATCH_OK);
  keepText(batch, end);
}

function writeHref(row: usize, at: usize, end: usize, base: usize): usize {
  const colon = schemeEnd(at, end);
  if (colon === 0) return base === 0 ? stop(row, BATCH_INVALID) : writeRelative(row, at, end, base);
  const length = colon - at;
  const isHttps = length === 5 && (load<u8>(at + 4) | 0x20) === 0x73;
  if ((length !== 4 && !isHttps) || (load<u32>(at) | 0x20202020) !== HTTP_WORD) {
    return stop(row, BATCH_SCHEME);
  }
  const scheme: u32 = isHttps ? BATCH_FLAG_HTTPS : 0;
  if (base !== 0 && (get(base, ROW_FLAGS_WORD) & BATCH_FLAG_HTTPS) === scheme) {
    // "http:path" is relative to a base of its scheme.
    return writeRelative(row, colon + 1, end, base);
  }
  return writeAbsolute(row, colon + 1, end, scheme);
}

/** The colon behind a scheme, or 0. */
function schemeEnd(at: usize, end: usize): usize {
  if (at === end || !isLetter(load<u8>(at))) return 0;
  while (at < end && (classesOf(load<u8>(at)) & SCHEME) !== 0) at++;
  return at < end && load<u8>(at) === 0x3a ? at : 0;
}

/** What stands behind a scheme: any number of slashes, then the authority. */
function writeAbsolute(row: usize, at: usize, end: usize, scheme: u32): usize {
  while (at < end && isSlash(load<u8>(at))) at++;
  let host = at;
  let authorityEnd = at;
  for (; authorityEnd < end; authorityEnd++) {
    const byte = <u32>load<u8>(authorityEnd);
    if (byte === 0x40) host = authorityEnd + 1;
    else if (endsAuthority(byte)) break;
  }
  set(row, ROW_FLAGS_WORD, scheme);
  const out = writeAuthority(row, at, host, authorityEnd);
  return out === 0 ? 0 : writeRest(row, authorityEnd, end, out, true);
}

/** Against a base: each case keeps a longer piece of the base's href. */
function writeRelative(row: usize, at: usize, end: usize, base: usize): usize {
  const source = <usize>get(base, ROW_HREF_OFFSET_WORD);
  const first: u32 = at < end ? load<u8>(at) : 0x23;
  if (at < end && isSlash(first) && at + 1 < end && isSlash(load<u8>(at + 1))) {
    return writeAbsolute(row, at + 2, end, get(base, ROW_FLAGS_WORD) & BATCH_FLAG_HTTPS);
  }
  const kept = get(base, ROW_FLAGS_WORD);
  set(row, ROW_FLAGS_WORD, kept & BASE_FLAGS);
  set(row, ROW_HOST_START_WORD, get(base, ROW_HOST_START_WORD));
  set(row, ROW_HOST_LENGTH_WORD, get(base, ROW_HOST_LENGTH_WORD));
  set(row, ROW_PORT_START_WORD, get(base, ROW_PORT_START_WORD));
  set(row, ROW_PATH_START_WORD, get(base, ROW_PATH_START_WORD));
  const href = <usize>get(row, ROW_HREF_OFFSET_WORD);
  const pathStart = <usize>get(base, ROW_PATH_START_WORD);
  const query = get(base, ROW_QUERY_START_WORD);
  let length = pathStart;
  if (first === 0x23) {
    length = <usize>get(base, ROW_FRAGMENT_START_WORD);
    const out = writeBytes(source, source + length, href);
    set(row, ROW_QUERY_START_WORD, query);
    return writeFragment(row, at, end, out);
  }
  if (first === 0x3f) {
    const out = writeBytes(source, source + <usize>query, href);
    return writeQuery(row, at, end, out);
  }
  if (isSlash(first)) {
    const out = writeBytes(source, source + length, href);
    return writeRest(row, at, end, out, true);
  }
  length = <usize>query;
  while (load<u8>(source + length - 1) !== 0x2f) length--; // the path begins with a slash
  const out = writeBytes(source, source + length - 1, href);
  return writeRest(row, at, end, out, false);
}

/** Path, query and fragment. `isRooted`: the first slash of [at, end) is the path's own. */
function writeRest(row: usize, at: usize, end: usize, out: usize, isRooted: bool): usize {
  const pathEnd = scanEither(at, end, 0x3f, 0x23);
  if (isRooted && at < pathEnd && isSlash(load<u8>(at))) at++;
  return writeQuery(row, pathEnd, end, writePath(row, at, pathEnd, out));
}

/** [at, end) is empty or begins with `?` or `#`. */
function writeQuery(row: usize, at: usize, end: usize, out: usize): usize {
  set(row, ROW_QUERY_START_WORD, <u32>(out - <usize>get(row, ROW_HREF_OFFSET_WORD)));
  const queryEnd = scanByte(at, end, 0x23);
  if (at < queryEnd) store<u8>(out++, load<u8>(at++));
  while (at < queryEnd) {
    const stop = scanQuery(at, queryEnd, row);
    out = writeBytes(at, stop, out);
    if (stop < queryEnd) out = encodeByte(row, out, load<u8>(stop));
    at = stop + 1;
  }
  return writeFragment(row, queryEnd, end, out);
}

/** [at, end) is empty or begins with `#`. */
function writeFragment(row: usize, at: usize, end: usize, out: usize): usize {
  set(row, ROW_FRAGMENT_START_WORD, <u32>(out - <usize>get(row, ROW_HREF_OFFSET_WORD)));
  if (at < end) store<u8>(out++, load<u8>(at++));
  while (at < end) {
    const stop = scanFragment(at, end, row);
    out = writeBytes(at, stop, out);
    if (stop < end) out = encodeByte(row, out, load<u8>(stop));
    at = stop + 1;
  }
  return out;
}

function hasTab(at: usize, end: usize): bool {
  for (; at < end; at++) if (isTab(load<u8>(at))) return true;
  return false;
}

/**
 * Copies [at, end) without tab, line feed and carriage return, latin1 as UTF-8; the end of the
 * copy.
 */
function copyPlain(at: usize, end: usize, out: usize, widens: bool): usize {
  for (; at < end; at++) {
    const byte = <u32>load<u8>(at);
    if (isTab(byte)) continue;
    if (widens && byte >= 0x80) {
      store<u8>(out++, 0xc0 | (byte >> 6));
      store<u8>(out++, 0x80 | (byte & 0x3f));
    } else store<u8>(out++, byte);
  }
  return out;
}

function highCount(at: usize, end: usize): usize {
  let count: usize = 0;
  for (; at < end; at++) count += <usize>load<u8>(at) >> 7;
  return count;
}

function isTab(byte: u32): bool {
  return byte === 0x09 || byte === 0x0a || byte === 0x0d;
}

/**
 * Room `assembly/url`: URL bytes: parse, serialise, key. What is not the common case is flagged and left to
 * src/url/parsing.
 */

/**
 * Raw bytes of a batch to rows: the WHATWG serialisation and its ranges
 * (docs/formats/canonical-url.md §1).
 *
 *   raw ──▶ already the serialisation? ── yes ──▶ href points into the input, nothing is copied
 *                │ no
 *                └──▶ serialize-url.ts writes it into text ──▶ BATCH_OK | INVALID | SCHEME | TOO_LONG
 *                                                     └──▶ BATCH_NEEDS_PARSER: the oracle goes on
 *
 * The check reads a URL once:  scheme │ host[:port] │ path │ ?query │ #fragment
 * Path and query together where they hold only what both keep; else part by part, exactly.
 *
 *   I1  A row that is BATCH_OK holds exactly the result of the readable twin (src/url/parsing/canonical-parser.ts).
 *   I2  BATCH_INVALID and BATCH_SCHEME only where the twin returns it too.
 *   I3  Raw bytes are never written to; text is written below textCapacity − BATCH_SCRATCH_BYTES.
 */
import {
  BATCH_BASE_ROW_WORD,
  BATCH_CHANGED_COUNT_WORD,
  BATCH_CHANGED_UNKNOWN,
  BATCH_COUNT_WORD,
  BATCH_FLAG_ADDRESS,
  BATCH_FLAG_HTTPS,
  BATCH_INPUT_ENDS_OFFSET_WORD,
  BATCH_INPUT_OFFSET_WORD,
  BATCH_MAX_URL_BYTES_WORD,
  BATCH_NEEDS_PARSER,
  BATCH_OK,
  BATCH_ROWS_OFFSET_WORD,
  BATCH_ROW_BYTES,
  BATCH_SKIPPED,
  BATCH_TOO_LONG,
  ROW_FLAGS_WORD,
  ROW_FRAGMENT_START_WORD,
  ROW_HOST_LENGTH_WORD,
  ROW_HOST_START_WORD,
  ROW_HREF_LENGTH_WORD,
  ROW_HREF_OFFSET_WORD,
  ROW_KEY_LENGTH_WORD,
  ROW_KEY_OFFSET_WORD,
  ROW_PATH_START_WORD,
  ROW_PORT_START_WORD,
  ROW_QUERY_START_WORD,
  ROW_STATUS_WORD,
  ROW_VISIT_LENGTH_WORD,
} from "../../src/layout/calls/url-batch";
import { HTTPS_WORD, HTTP_WORD, SLASHES_WORD, isDigit } from "./byte-classes";
import { HOST_ADDRESS, HOST_HARD, isPlainHost, judgeHost } from "./host-kind";
import { addFlags, clearRow, get, set } from "../batch-row";
import { plainHostEnd, scanFragment, scanHost, scanPath, scanQuery, scanRest } from "./scan-bytes";
import { isDotSegment } from "./path";
import { transformRow } from "./serialize-url";

/** Parses every row that is not skipped; returns how many only the full parser can decide. @hot */
export function parseBatch(batch: usize): i32 {
  const count = get(batch, BATCH_COUNT_WORD);
  set(batch, BATCH_CHANGED_COUNT_WORD, BATCH_CHANGED_UNKNOWN);
  const input = <usize>get(batch, BATCH_INPUT_OFFSET_WORD);
  const ends = <usize>get(batch, BATCH_INPUT_ENDS_OFFSET_WORD);
  let row = <usize>get(batch, BATCH_ROWS_OFFSET_WORD);
  let start = input;
  let left = 0;
  for (let i: u32 = 0; i < count; i++, row += BATCH_ROW_BYTES) {
    const end = input + <usize>load<u32>(ends + (i << 2));
    if (get(row, ROW_STATUS_WORD) !== BATCH_SKIPPED) {
      parseRow(batch, row, start, end);
      if (get(row, ROW_STATUS_WORD) === BATCH_NEEDS_PARSER) left++;
    }
    start = end;
  }
  return left;
}

/** Parses one row and returns its status. @hot */
export function parseOne(batch: usize, index: u32): i32 {
  const input = <usize>get(batch, BATCH_INPUT_OFFSET_WORD);
  const ends = <usize>get(batch, BATCH_INPUT_ENDS_OFFSET_WORD);
  const row = <usize>get(batch, BATCH_ROWS_OFFSET_WORD) + index * BATCH_ROW_BYTES;
  if (get(row, ROW_STATUS_WORD) === BATCH_SKIPPED) return BATCH_SKIPPED;
  const start = index === 0 ? 0 : load<u32>(ends + ((index - 1) << 2));
  parseRow(batch, row, input + start, input + <usize>load<u32>(ends + (index << 2)));
  return get(row, ROW_STATUS_WORD);
}

function parseRow(batch: usize, row: usize, start: usize, end: usize): void {
  set(row, ROW_STATUS_WORD, BATCH_OK);
  set(row, ROW_FLAGS_WORD, 0);
  const isLong = end - start > <usize>get(batch, BATCH_MAX_URL_BYTES_WORD);
  if (isLong) set(row, ROW_STATUS_WORD, BATCH_TOO_LONG);
  if (isLong || !checkRow(row, start, end)) {
    clearRow(row);
    if (!isLong) transformRow(batch, row, start, end, <usize>get(batch, BATCH_BASE_ROW_WORD));
  }
}

/**
 * Fills the row in place if the raw bytes are the serialisation; false: they are not, or it is hard to decide.
 */
function checkRow(row: usize, start: usize, end: usize): bool {
  if (end - start < 9) return false;
  if (load<u32>(start) !== HTTP_WORD) return false;
  const behind = load<u32>(start + 4);
  const isHttps = <u32>(behind === HTTPS_WORD);
  if ((isHttps | <u32>((behind & 0xffffff) === SLASHES_WORD)) === 0) return false;
  set(row, ROW_FLAGS_WORD, isHttps * BATCH_FLAG_HTTPS);
  const host = start + 7 + <usize>isHttps;
  const known = plainHostEnd(host, end);
  const hostEnd = known !== 0 ? known : checkHost(row, host, end);
  if (hostEnd === 0) return false;
  const path = load<u8>(hostEnd) === 0x3a ? portEnd(row, hostEnd, end) : hostEnd;
  if (path === 0 || load<u8>(path) !== 0x2f) return false;
  const fragment = scanRest(path, end, row, start) ? end : checkRest(row, path, end, start);
  if (fragment === 0) return false;
  set(row, ROW_HREF_OFFSET_WORD, <u32>start);
  set(row, ROW_HREF_LENGTH_WORD, <u32>(end - start));
  set(row, ROW_HOST_START_WORD, <u32>(host - start));
  set(row, ROW_HOST_LENGTH_WORD, <u32>(path - host));
  set(row, ROW_PATH_START_WORD, <u32>(path - start));
  set(row, ROW_FRAGMENT_START_WORD, <u32>(fragment - start));
  set(row, ROW_KEY_OFFSET_WORD, 0);
  set(row, ROW_KEY_LENGTH_WORD, 0);
  set(row, ROW_VISIT_LENGTH_WORD, <u32>(fragment - start));
  set(row, ROW_PORT_START_WORD, <u32>(hostEnd - start));
  return true;
}

/** The end of a host that ends before `end`, or 0: it needs a full parse. */
function checkHost(row: usize, host: usize, end: usize): usize {
  const hostEnd = scanHost(host, end);
  if (hostEnd === host || hostEnd === end) return 0;
  if (isPlainHost(host, hostEnd)) return hostEnd;
  const judged = judgeHost(host, hostEnd);
  if (judged === HOST_HARD) return 0;
  if (judged === HOST_ADDRESS) addFlags(row, ROW_FLAGS_WORD, BATCH_FLAG_ADDRESS);
  return hostEnd;
}

/** Part by part: where the fragment begins, or 0 if path, query and fragment are not serialised. */
function checkRest(row: usize, path: usize, end: usize, start: usize): usize {
  const query = pathEnd(row, path, end);
  if (query === 0) return 0;
  set(row, ROW_QUERY_START_WORD, <u32>(query - start));
  let fragment = query;
  if (query < end && load<u8>(query) === 0x3f) fragment = scanQuery(query + 1, end, row);
  if (fragment < end) {
    if (load<u8>(fragment) !== 0x23) return 0;
    if (scanFragment(fragment + 1, end, row) !== end) return 0;
  }
  return fragment;
}

/** End of the serialised path that begins at `at`, or 0 if it is not serialised. */
function pathEnd(row: usize, at: usize, end: usize): usize {
  while (true) {
    at = scanPath(at, end, row);
    if (at === end) return end;
    const byte = <u32>load<u8>(at);
    if (byte === 0x3f || byte === 0x23) return at;
    if ((byte !== 0x2e && byte !== 0x25) || isDotSegment(at, end)) return 0;
    at++;
  }
}

/** End of the port whose colon is at `colon`, or 0 if it is not as it is serialised. */
function portEnd(row: usize, colon: usize, end: usize): usize {
  const start = colon + 1;
  let at = start;
  let port: u32 = 0;
  while (at < end && at - start < 6 && isDigit(load<u8>(at)))
    port = port * 10 + (load<u8>(at++) - 0x30);
  if (at === start || at === end || port > 65535) return 0;
  if (load<u8>(start) === 0x30 && at - start > 1) return 0;
  const isHttps = (get(row, ROW_FLAGS_WORD) & BATCH_FLAG_HTTPS) !== 0;
  return port === (isHttps ? 443 : 80) ? 0 : at;
}

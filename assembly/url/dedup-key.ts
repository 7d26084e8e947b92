/**
 * Href and key policy to the key's bytes (docs/formats/canonical-url.md §2, §3).
 *
 *   href:   scheme://  userinfo@  host   /path   ?query   #fragment
 *   key:    as it is   stays|goes as is  normal  sorted   goes|stays
 *
 *   checkKey: is a prefix of href the key already? ── yes ──▶ key points into href, no copy
 *        └── no ──▶ writeKey: into text
 *                   text: │ … used │ key (≤ bound) │ normalised query (≤ bound) │ … │ scratch │
 *
 *   I1  A row that stays BATCH_OK holds exactly the result of the readable twin (src/url/keys/dedup-key.ts).
 *   I2  More than BATCH_PARAMETER_COUNT_MAX parameters or no room: BATCH_NEEDS_KEY, row otherwise
 *       untouched.
 */
import {
  BATCH_BASE_ROW_WORD,
  BATCH_CHANGED_COUNT_WORD,
  BATCH_CHANGED_OFFSET_WORD,
  BATCH_CHANGED_UNKNOWN,
  BATCH_COUNT_WORD,
  BATCH_FLAG_AMPERSAND,
  BATCH_FLAG_KEY_UTF8,
  BATCH_FLAG_KEY_WRITTEN,
  BATCH_FLAG_PERCENT,
  BATCH_FLAG_USERINFO,
  BATCH_INPUT_ENDS_OFFSET_WORD,
  BATCH_INPUT_OFFSET_WORD,
  BATCH_MAX_URL_BYTES_WORD,
  BATCH_NEEDS_KEY,
  BATCH_OK,
  BATCH_POLICY_OFFSET_WORD,
  BATCH_ROWS_OFFSET_WORD,
  BATCH_ROW_BYTES,
  BATCH_SLACK_BYTES,
  BATCH_TOO_LONG,
  ROW_FLAGS_WORD,
  ROW_FRAGMENT_START_WORD,
  ROW_HOST_START_WORD,
  ROW_HREF_LENGTH_WORD,
  ROW_HREF_OFFSET_WORD,
  ROW_KEY_LENGTH_WORD,
  ROW_KEY_OFFSET_WORD,
  ROW_PATH_START_WORD,
  ROW_QUERY_START_WORD,
  ROW_STATUS_WORD,
  ROW_VISIT_LENGTH_WORD,
} from "../../src/layout/calls/url-batch";
import {
  POLICY_DROP_PARAMS,
  POLICY_DROP_QUERY,
  POLICY_DROP_USERINFO,
  POLICY_FLAGS_WORD,
  POLICY_KEEP_FRAGMENT,
  POLICY_KEEP_PARAMS,
  POLICY_RAW,
  POLICY_UNSORTED,
} from "../../src/layout/calls/key-policy";
import { writeBytes } from "./byte-classes";
import { dropPathParams } from "./path-params";
import { isNormal, percentCount, writeNormal } from "./percent-encoding";
import {
  isRising,
  PIECES_CHANGED,
  PIECES_MANY,
  sortPieces,
  splitPieces,
  writePieces,
} from "./query-params";
import { addFlags, get, hasRoom, keepText, scratchOf, set, stop, textEnd } from "../batch-row";
import { hasHighByte, scanByte } from "./scan-bytes";

/** Hints of a row whose key may be more than a prefix of its href, and what an earlier key left. */
const KEY_HINTS: u32 =
  BATCH_FLAG_PERCENT |
  BATCH_FLAG_AMPERSAND |
  BATCH_FLAG_USERINFO |
  BATCH_FLAG_KEY_WRITTEN |
  BATCH_FLAG_KEY_UTF8;

/**
 * The key of every row that is BATCH_OK; returns how many only the JavaScript side can do. Rows whose
 * raw bytes are not their key are listed on the way: all others' strings are their keys' strings. @hot
 */
export function keyBatch(batch: usize): i32 {
  const count = get(batch, BATCH_COUNT_WORD);
  const input = get(batch, BATCH_INPUT_OFFSET_WORD);
  const ends = <usize>get(batch, BATCH_INPUT_ENDS_OFFSET_WORD);
  const changed = <usize>get(batch, BATCH_CHANGED_OFFSET_WORD);
  let row = <usize>get(batch, BATCH_ROWS_OFFSET_WORD);
  let start = input;
  const isDefault = get(batch, BATCH_POLICY_OFFSET_WORD) === 0;
  let left = 0;
  let listed: usize = 0;
  for (let i: u32 = 0; i < count; i++, row += BATCH_ROW_BYTES) {
    const end = input + load<u32>(ends + (i << 2));
    let status = get(row, ROW_STATUS_WORD);
    if (status === BATCH_OK && !(isDefault && keyPlainRow(row))) {
      keyRow(batch, row, i);
      status = get(row, ROW_STATUS_WORD);
      left += <i32>(status === BATCH_NEEDS_KEY);
    }
    const offset = get(row, ROW_KEY_OFFSET_WORD) ^ start;
    const length = get(row, ROW_KEY_LENGTH_WORD) ^ (end - start);
    store<u32>(changed + listed, i);
    listed += (<usize>((status | offset | length) !== 0)) << 2; // BATCH_OK is 0
    start = end;
  }
  set(batch, BATCH_CHANGED_COUNT_WORD, <u32>listed >> 2);
  return left;
}

/**
 * What keyRow does under the default policy to a row that has nothing to sort and no percent triples,
 * by far the most rows: without a call. False: keyRow has to decide.
 */
function keyPlainRow(row: usize): bool {
  const hints = get(row, ROW_FLAGS_WORD);
  if ((hints & KEY_HINTS) !== 0) return false;
  const fragment = get(row, ROW_FRAGMENT_START_WORD);
  const query = get(row, ROW_QUERY_START_WORD);
  set(row, ROW_KEY_OFFSET_WORD, get(row, ROW_HREF_OFFSET_WORD));
  set(row, ROW_KEY_LENGTH_WORD, fragment - <u32>(fragment - query === 1));
  set(row, ROW_VISIT_LENGTH_WORD, fragment);
  return true;
}

/** The key of one row; returns its status. @hot */
export function keyOne(batch: usize, index: u32): i32 {
  const row = <usize>get(batch, BATCH_ROWS_OFFSET_WORD) + index * BATCH_ROW_BYTES;
  set(batch, BATCH_CHANGED_COUNT_WORD, BATCH_CHANGED_UNKNOWN);
  if (get(row, ROW_STATUS_WORD) === BATCH_OK) keyRow(batch, row, index);
  return get(row, ROW_STATUS_WORD);
}

function keyRow(batch: usize, row: usize, index: u32): void {
  const policy = <usize>get(batch, BATCH_POLICY_OFFSET_WORD);
  const flags = policy === 0 ? 0 : get(policy, POLICY_FLAGS_WORD);
  set(
    row,
    ROW_FLAGS_WORD,
    get(row, ROW_FLAGS_WORD) & ~(BATCH_FLAG_KEY_WRITTEN | BATCH_FLAG_KEY_UTF8),
  );
  set(row, ROW_VISIT_LENGTH_WORD, visitLength(row, flags));
  if ((flags & POLICY_RAW) !== 0) {
    rawKey(batch, row, index, flags);
    return;
  }
  const href = <usize>get(row, ROW_HREF_OFFSET_WORD);
  const length = checkKey(batch, row, policy, flags);
  if ((length & PIECES_CHANGED) !== 0) {
    writeSorted(batch, row, length, policy);
    return;
  }
  if (length === 0) {
    writeKey(batch, row, policy, flags);
    return;
  }
  set(row, ROW_KEY_OFFSET_WORD, <u32>href);
  set(row, ROW_KEY_LENGTH_WORD, length);
}

/** The href without its fragment, unless the policy keeps it; an empty one goes always. */
function visitLength(row: usize, flags: u32): u32 {
  const fragment = get(row, ROW_FRAGMENT_START_WORD);
  if ((flags & POLICY_KEEP_FRAGMENT) === 0) return fragment;
  const length = get(row, ROW_HREF_LENGTH_WORD);
  return length > fragment + 1 ? length : fragment;
}

/**
 * Length of the prefix of href that is the key already; with PIECES_CHANGED, the result of
 * splitPieces where the query is all that changes; 0 if the key must be written from scratch. @hot
 */
function checkKey(batch: usize, row: usize, policy: usize, flags: u32): u32 {
  const hints = get(row, ROW_FLAGS_WORD);
  const query = get(row, ROW_QUERY_START_WORD);
  let end = get(row, ROW_FRAGMENT_START_WORD);
  if (end - query === 1 || (flags & POLICY_DROP_QUERY) !== 0) end = query;
  if (flags === 0 && (hints & KEY_HINTS) === 0) return end;
  const href = <usize>get(row, ROW_HREF_OFFSET_WORD);
  if ((hints & BATCH_FLAG_USERINFO) !== 0) {
    if ((flags & POLICY_DROP_USERINFO) !== 0) return 0;
    if (!isNormal(href, href + <usize>get(row, ROW_HOST_START_WORD))) return 0;
  }
  if ((flags & POLICY_KEEP_FRAGMENT) !== 0) {
    const hrefEnd = get(row, ROW_HREF_LENGTH_WORD);
    const fragment = get(row, ROW_FRAGMENT_START_WORD);
    if (hrefEnd - fragment > 1) {
      if (end !== fragment) return 0;
      end = hrefEnd;
    }
  }
  const path = href + <usize>get(row, ROW_PATH_START_WORD);
  if ((hints & BATCH_FLAG_PERCENT) !== 0 && !isNormal(path, href + <usize>end)) return 0;
  if ((flags & POLICY_DROP_PARAMS) !== 0) {
    const pathEnd = href + <usize>query;
    if (scanByte(path, pathEnd, 0x3b) !== pathEnd) return 0;
  }
  if (!isSplit(flags) || query >= end) return end;
  const isPlain = (flags & (POLICY_KEEP_PARAMS | POLICY_DROP_PARAMS)) === 0;
  if (isPlain && (hints & BATCH_FLAG_AMPERSAND) === 0) return end;
  const queryEnd = href + <usize>get(row, ROW_FRAGMENT_START_WORD);
  const isSorted = isPlain && (flags & POLICY_UNSORTED) === 0;
  if (isSorted && isRising(href + <usize>query + 1, queryEnd)) return end;
  const pieces = splitPieces(href + <usize>query + 1, queryEnd, scratchOf(batch), policy);
  return (pieces & PIECES_CHANGED) !== 0 ? pieces : end; // PIECES_MANY has that bit too
}

/** True if the policy depends on single parameters. */
function isSplit(flags: u32): bool {
  const lists = POLICY_KEEP_PARAMS | POLICY_DROP_PARAMS;
  return (flags & (POLICY_UNSORTED | lists)) !== POLICY_UNSORTED;
}

/** The key whose pieces lie in scratch already; all the rest of it is a piece of href. */
function writeSorted(batch: usize, row: usize, pieces: u32, policy: usize): void {
  const length = get(row, ROW_HREF_LENGTH_WORD);
  if (pieces === PIECES_MANY || !hasRoom(batch, <u64>length + BATCH_SLACK_BYTES)) {
    stop(row, BATCH_NEEDS_KEY);
    return;
  }
  const href = <usize>get(row, ROW_HREF_OFFSET_WORD);
  const key = textEnd(batch);
  const scratch = scratchOf(batch);
  const count = pieces & ~PIECES_CHANGED;
  sortPieces(scratch, count, policy);
  let out = writeBytes(href, href + <usize>get(row, ROW_QUERY_START_WORD), key);
  out = writePieces(scratch, count, out);
  const fragment = get(row, ROW_FRAGMENT_START_WORD);
  if (get(row, ROW_VISIT_LENGTH_WORD) > fragment) {
    out = writeBytes(href + <usize>fragment, href + <usize>length, out);
  }
  finishKey(batch, row, key, out);
}

function writeKey(batch: usize, row: usize, policy: usize, flags: u32): void {
  const href = <usize>get(row, ROW_HREF_OFFSET_WORD);
  const length = get(row, ROW_HREF_LENGTH_WORD);
  const bound = length + 2 * percentCount(href, href + <usize>length);
  if (!hasRoom(batch, 2 * (<u64>bound + BATCH_SLACK_BYTES))) {
    stop(row, BATCH_NEEDS_KEY);
    return;
  }
  const key = textEnd(batch);
  let out = writePrefix(row, key, flags);
  const path = out;
  const query = href + <usize>get(row, ROW_QUERY_START_WORD);
  out = writeNormal(href + <usize>get(row, ROW_PATH_START_WORD), query, out);
  if ((flags & POLICY_DROP_PARAMS) !== 0) out = dropPathParams(path, out, policy);
  const queryEnd = href + <usize>get(row, ROW_FRAGMENT_START_WORD);
  if (queryEnd - query > 1 && (flags & POLICY_DROP_QUERY) === 0) {
    if (isSplit(flags)) {
      let start = query + 1;
      let end = queryEnd;
      if (!isNormal(start, end)) {
        const normal = key + <usize>bound + BATCH_SLACK_BYTES;
        end = writeNormal(start, end, normal);
        start = normal;
      }
      out = writeSplit(batch, start, end, out, policy);
      if (out === 0) {
        stop(row, BATCH_NEEDS_KEY);
        return;
      }
    } else out = writeNormal(query, queryEnd, out);
  }
  const hrefEnd = href + <usize>length;
  if ((flags & POLICY_KEEP_FRAGMENT) !== 0 && hrefEnd - queryEnd > 1) {
    out = writeNormal(queryEnd, hrefEnd, out);
  }
  finishKey(batch, row, key, out);
}

function finishKey(batch: usize, row: usize, key: usize, end: usize): void {
  const length = <u32>(end - key);
  if (length > get(batch, BATCH_MAX_URL_BYTES_WORD)) {
    stop(row, BATCH_TOO_LONG);
    return;
  }
  set(row, ROW_KEY_OFFSET_WORD, <u32>key);
  set(row, ROW_KEY_LENGTH_WORD, length);
  addFlags(row, ROW_FLAGS_WORD, BATCH_FLAG_KEY_WRITTEN);
  keepText(batch, end);
}

/** Scheme, user info and host. */
function writePrefix(row: usize, out: usize, flags: u32): usize {
  const href = <usize>get(row, ROW_HREF_OFFSET_WORD);
  const host = href + <usize>get(row, ROW_HOST_START_WORD);
  const path = href + <usize>get(row, ROW_PATH_START_WORD);
  if ((get(row, ROW_FLAGS_WORD) & BATCH_FLAG_USERINFO) !== 0) {
    const userinfo = scanByte(href, host, 0x2f) + 2;
    out = writeBytes(href, userinfo, out);
    if ((flags & POLICY_DROP_USERINFO) === 0) out = writeNormal(userinfo, host, out);
  } else out = writeBytes(href, host, out);
  return writeBytes(host, path, out);
}

/** Splits, sorts and writes a normalised query; 0 if it has too many parameters. */
function writeSplit(batch: usize, at: usize, end: usize, out: usize, policy: usize): usize {
  const scratch = scratchOf(batch);
  const pieces = splitPieces(at, end, scratch, policy);
  if (pieces === PIECES_MANY) return 0;
  const count = pieces & ~PIECES_CHANGED;
  sortPieces(scratch, count, policy);
  return writePieces(scratch, count, out);
}

/** Profile `url`: the raw bytes, or the href where links were resolved against a base. */
function rawKey(batch: usize, row: usize, index: u32, flags: u32): void {
  let start: usize;
  let end: usize;
  if (get(batch, BATCH_BASE_ROW_WORD) !== 0) {
    start = <usize>get(row, ROW_HREF_OFFSET_WORD);
    end = start + <usize>get(row, ROW_HREF_LENGTH_WORD);
  } else {
    const input = <usize>get(batch, BATCH_INPUT_OFFSET_WORD);
    const ends = <usize>get(batch, BATCH_INPUT_ENDS_OFFSET_WORD);
    start = input + (index === 0 ? 0 : <usize>load<u32>(ends + ((index - 1) << 2)));
    end = input + <usize>load<u32>(ends + (index << 2));
  }
  if (hasHighByte(start, end)) {
    stop(row, BATCH_NEEDS_KEY);
    return;
  }
  if ((flags & POLICY_KEEP_FRAGMENT) === 0) end = scanByte(start, end, 0x23);
  set(row, ROW_KEY_OFFSET_WORD, <u32>start);
  set(row, ROW_KEY_LENGTH_WORD, <u32>(end - start));
}

/**
 * Paths that are not serialised yet: segments, dot segments, backslashes, percent-encoding.
 *
 *   in    /a/./b\..\c d     a run of bytes that stay is copied at once
 *   out   /a/c%20d          `..` takes back what was written since the last slash
 */
import { BATCH_FLAG_PERCENT, ROW_FLAGS_WORD } from "../../src/layout/calls/url-batch";
import { ROW_HREF_OFFSET_WORD, ROW_PATH_START_WORD } from "../../src/layout/calls/url-batch";
import { writeBytes, writeTriple } from "./byte-classes";
import { addFlags, get } from "../batch-row";
import { scanPath } from "./scan-bytes";

/**
 * The segments of [at, end), each behind a slash, in runs as long as nothing changes; dots take
 * away what stands between the start of the row's path and `out`.
 */
export function writePath(row: usize, at: usize, end: usize, out: usize): usize {
  const root = <usize>(get(row, ROW_HREF_OFFSET_WORD) + get(row, ROW_PATH_START_WORD));
  let isSegmentStart = true;
  store<u8>(out++, 0x2f);
  while (true) {
    const dots = isSegmentStart ? dotsOfSegment(at, end) : 0;
    if (dots !== 0) {
      if (dots === 2) out = shorten(out - 1, root);
      else out--;
      store<u8>(out++, 0x2f);
      while (at < end && !isSlash(load<u8>(at))) at++;
      if (at++ === end) return out;
      continue;
    }
    const stop = scanPath(at, end, row);
    out = writeBytes(at, stop, out);
    if (stop === end) return out;
    const byte = <u32>load<u8>(stop);
    at = stop + 1;
    isSegmentStart = byte === 0x5c;
    if (isSegmentStart) store<u8>(out++, 0x2f);
    else if (byte !== 0x2e && byte !== 0x25) out = encodeByte(row, out, byte);
    else if (dotsOfSegment(stop, end) === 0) store<u8>(out++, byte);
    else {
      isSegmentStart = true; // the scan stops here only behind a slash
      at = stop;
    }
  }
}

/** Takes the last segment and its slash away. */
function shorten(out: usize, root: usize): usize {
  while (out > root) {
    out--;
    if (load<u8>(out) === 0x2f) break;
  }
  return out;
}

/** 1 or 2 if the segment that begins at `at` is that many dots and nothing else, else 0. */
function dotsOfSegment(at: usize, end: usize): u32 {
  let dots: u32 = 0;
  while (at < end && dots < 3) {
    if (load<u8>(at) === 0x2e) at++;
    else if (isEncodedDot(at, end)) at += 3;
    else break;
    dots++;
  }
  if (dots === 0 || dots > 2) return 0;
  return at === end || endsAuthority(load<u8>(at)) ? dots : 0;
}

function isEncodedDot(at: usize, end: usize): bool {
  if (end - at < 3 || load<u8>(at) !== 0x25) return false;
  return load<u8>(at + 1) === 0x32 && (load<u8>(at + 2) | 0x20) === 0x65;
}

/** True if [at, end) begins with one or two dots (also as %2e) that fill a whole path segment. */
export function isDotSegment(at: usize, end: usize): bool {
  return dotsOfSegment(at, end) !== 0;
}

/** Writes the triple of a byte and its hint. */
export function encodeByte(row: usize, out: usize, byte: u32): usize {
  addFlags(row, ROW_FLAGS_WORD, BATCH_FLAG_PERCENT);
  return writeTriple(out, byte);
}

export function isSlash(byte: u32): bool {
  return byte === 0x2f || byte === 0x5c;
}

/** The bytes that end an authority end a path segment, too. */
export function endsAuthority(byte: u32): bool {
  return isSlash(byte) || byte === 0x3f || byte === 0x23;
}

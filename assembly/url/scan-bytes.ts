/**
 * Sixteen bytes at a time: finds the first byte that a part of a URL does not keep as it is.
 *
 * A byte's class = low[byte & 15] & high[byte >> 4], two swizzles. Each bit of a class stands for
 * one high nibble (or several with equal rows), so that any set of ASCII bytes can be tested exactly:
 *
 *   bit 0       controls and everything over 0x7F (all low nibbles)
 *   bits 1–5    the set's bytes with high nibble 2, 3, 4/5, 6, 7
 *   bit 6, 7    `%` and `&`: not of the set, but gathered into the row's hints on the way
 *
 * `scanRest` scans path and query in one pass: bytes that both keep, and where the first `?` is. What one of the two keeps and the other
 * does not, a fragment, and dots behind a slash are left to the scans of the parts, which are exact.
 *
 *   I1  Reads at most BATCH_SLACK_BYTES past `end` (scanRest BATCH_AHEAD_BYTES), and 1 byte before
 *       `at`; never returns more than `end`.
 *   I2  A hint is set for every `%` or `&` up to the stop, the stop itself too, and for no byte after it.
 */
import {
  BATCH_AHEAD_BYTES,
  BATCH_FLAG_AMPERSAND,
  BATCH_FLAG_PERCENT,
  ROW_FLAGS_WORD,
  ROW_QUERY_START_WORD,
} from "../../src/layout/calls/url-batch";

/** What scanRest reads before it checks whether there is more: as many bytes as most URLs have after their hosts. */
const AHEAD: usize = BATCH_AHEAD_BYTES;
/** AHEAD bytes of ones, then as many zeros: loaded from `x` bytes before the zeros, a mask of x bytes. */
// biome-ignore format: one row per block
const WITHIN: usize = memory.data<u8>([
  0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
  0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
  0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
  0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
  0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
  0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
  0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
  0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
]);

/** First byte of [at, end) that may not stand in a serialised host, or `end`. @hot */
export function scanHost(at: usize, end: usize): usize {
  for (; at < end; at += 16) {
    const stops = hostStops(v128.load(at));
    if (stops !== 0) return lowerOf(at + <usize>ctz(stops), end);
  }
  return end;
}

/**
 * Where a host ends, before `end`, that has fewer than 32 bytes and is surely plain: behind its last
 * dot stands something that is no digit. 0: it is not surely so. @hot
 */
export function plainHostEnd(at: usize, end: usize): usize {
  if (end - at < 16) return 0; // I1
  const left = v128.load(at);
  const right = v128.load(at, 16);
  const stops = hostStops(left) | (hostStops(right) << 16);
  const length = <u32>ctz(stops);
  if (stops === 0 || length === 0 || at + <usize>length >= end) return 0;
  const dot = i8x16.splat(0x2e);
  const dots =
    <u32>i8x16.bitmask(i8x16.eq(left, dot)) | ((<u32>i8x16.bitmask(i8x16.eq(right, dot))) << 16);
  const label = 32 - <u32>clz(dots & (((<u32>1) << length) - 1));
  if (label === length || <u32>load<u8>(at + <usize>label) - 0x30 < 10) return 0;
  return at + <usize>length;
}

/** A bit for each of 16 bytes that may not stand in a serialised host. */
function hostStops(bytes: v128): u32 {
  const low = i8x16(27, 25, 25, 27, 25, 27, 25, 25, 25, 25, 29, 25, 61, 25, 29, 47);
  const high = i8x16(1, 1, 2, 4, 8, 16, 0, 32, 1, 1, 1, 1, 1, 1, 1, 1);
  return i8x16.bitmask(i8x16.ne(nibbleClasses(bytes, low, high), i8x16.splat(0)));
}

/**
 * True if [at, end), which begins with a slash, is surely a serialised path and query without a
 * fragment; the row then has its hints and where its query begins, from `start`. @hot
 */
export function scanRest(at: usize, end: usize, row: usize, start: usize): bool {
  const low = i8x16(11, 1, 3, 3, 1, 65, -127, 3, 1, 1, 1, 17, 5, 17, 5, 49);
  const high = i8x16(1, 1, -62, 36, 0, 4, 8, 16, 1, 1, 1, 1, 1, 1, 1, 1);
  let seen = i8x16.splat(0);
  let query = end;
  for (; at < end; at += AHEAD) {
    const left = end - at;
    const within = WITHIN - lowerOf(left, AHEAD);
    const a = restClasses(at, within, low, high);
    const b = restClasses(at + 16, within + 16, low, high);
    const c = restClasses(at + 32, within + 32, low, high);
    const d = restClasses(at + 48, within + 48, low, high);
    seen = v128.or(seen, v128.or(v128.or(a, b), v128.or(c, d)));
    const first = questionsIn(a) | (questionsIn(b) << 16);
    const second = questionsIn(c) | (questionsIn(d) << 16);
    let questions = <u64>first | ((<u64>second) << 32);
    // One more stands at the end of all, so that no branch hangs on whether there is another.
    if (left < AHEAD) questions |= (<u64>1) << (<u64>left);
    if (query === end && questions !== 0) query = at + <usize>ctz(questions);
  }
  if (v128.any_true(v128.and(seen, i8x16.splat(31)))) return false;
  const hasPercent = <u32>(i8x16.bitmask(i16x8.shl(seen, 1)) !== 0);
  const hasAmpersand = <u32>(i8x16.bitmask(seen) !== 0);
  const hints = hasPercent * BATCH_FLAG_PERCENT + hasAmpersand * BATCH_FLAG_AMPERSAND;
  store<u32>(row, load<u32>(row, ROW_FLAGS_WORD << 2) | hints, ROW_FLAGS_WORD << 2);
  store<u32>(row, <u32>(query - start), ROW_QUERY_START_WORD << 2);
  return true;
}

/**
 * Classes of 16 bytes of a path or query, as far as `within` masks them in; bit 0 also of what may begin a dot
 * segment. Behind the end such dots count too: at worst the parts are looked at for nothing.
 */
function restClasses(at: usize, within: usize, low: v128, high: v128): v128 {
  const bytes = v128.load(at);
  const classes = v128.and(nibbleClasses(bytes, low, high), v128.load(within, AHEAD));
  const isDot = v128.or(i8x16.eq(bytes, i8x16.splat(0x2e)), i8x16.eq(bytes, i8x16.splat(0x25)));
  const isBehindSlash = i8x16.eq(v128.load(at - 1), i8x16.splat(0x2f));
  return v128.or(classes, v128.and(v128.and(isDot, isBehindSlash), i8x16.splat(1)));
}

/** A bit for each `?` in classes of restClasses. */
function questionsIn(classes: v128): u32 {
  return i8x16.bitmask(i16x8.shl(classes, 2));
}

/**
 * First byte of [at, end) that a serialised path does not keep, ends it, or stands behind a `/`
 * and is `.` or `%` and so may begin a dot segment; `end` if there is none. @hot
 */
export function scanPath(at: usize, end: usize, row: usize): usize {
  const low = i8x16(19, 1, 3, 3, 1, 65, -127, 1, 1, 1, 1, 33, 13, 33, 13, 37);
  const high = i8x16(1, 1, -62, 4, 0, 8, 16, 32, 1, 1, 1, 1, 1, 1, 1, 1);
  let seen = i8x16.splat(0);
  for (; at < end; at += 16) {
    const bytes = v128.load(at);
    const classes = nibbleClasses(bytes, low, high);
    const special = i8x16.ne(v128.and(classes, i8x16.splat(63)), i8x16.splat(0));
    const isDot = v128.or(i8x16.eq(bytes, i8x16.splat(0x2e)), i8x16.eq(bytes, i8x16.splat(0x25)));
    const isBehindSlash = i8x16.eq(v128.load(at - 1), i8x16.splat(0x2f));
    const stops = i8x16.bitmask(v128.or(special, v128.and(isDot, isBehindSlash)));
    if (stops !== 0 || end - at <= 16) return lastBlock(row, at, end, stops, seen, classes);
    seen = v128.or(seen, classes);
  }
  return end;
}

/** First byte of [at, end) that a serialised query does not keep, `#` included, or `end`. @hot */
export function scanQuery(at: usize, end: usize, row: usize): usize {
  const low = i8x16(3, 1, 3, 3, 1, 65, -127, 3, 1, 1, 1, 1, 5, 1, 5, 33);
  const high = i8x16(1, 1, -62, 4, 0, 0, 0, 32, 1, 1, 1, 1, 1, 1, 1, 1);
  return scanWith(at, end, row, low, high);
}

/** First byte of [at, end) that a serialised fragment does not keep, or `end`. @hot */
export function scanFragment(at: usize, end: usize, row: usize): usize {
  const low = i8x16(19, 1, 3, 1, 1, 65, -127, 1, 1, 1, 1, 1, 5, 1, 5, 33);
  const high = i8x16(1, 1, -62, 4, 0, 0, 16, 32, 1, 1, 1, 1, 1, 1, 1, 1);
  return scanWith(at, end, row, low, high);
}

/** First `byte` in [at, end), or `end`. @hot */
export function scanByte(at: usize, end: usize, byte: u32): usize {
  const wanted = i8x16.splat(<i8>byte);
  for (; at < end; at += 16) {
    const stops = i8x16.bitmask(i8x16.eq(v128.load(at), wanted));
    if (stops !== 0) return lowerOf(at + <usize>ctz(stops), end);
  }
  return end;
}

/** First of two bytes in [at, end), or `end`. @hot */
export function scanEither(at: usize, end: usize, left: u32, right: u32): usize {
  const wantedLeft = i8x16.splat(<i8>left);
  const wantedRight = i8x16.splat(<i8>right);
  for (; at < end; at += 16) {
    const bytes = v128.load(at);
    const found = v128.or(i8x16.eq(bytes, wantedLeft), i8x16.eq(bytes, wantedRight));
    const stops = i8x16.bitmask(found);
    if (stops !== 0) return lowerOf(at + <usize>ctz(stops), end);
  }
  return end;
}

/**
 * First byte of [at, end) that is below 0x0E (tabs and newlines are) or over 0x7F, or `end`. @hot
 */
export function scanOdd(at: usize, end: usize): usize {
  for (; at < end; at += 16) {
    const stops = i8x16.bitmask(i8x16.lt_s(v128.load(at), i8x16.splat(0x0e)));
    if (stops !== 0) return lowerOf(at + <usize>ctz(stops), end);
  }
  return end;
}

/** True if [at, end) holds a byte over 0x7F. */
export function hasHighByte(at: usize, end: usize): bool {
  for (; at + 16 <= end; at += 16) {
    if (i8x16.bitmask(v128.load(at)) !== 0) return true;
  }
  for (; at < end; at++) {
    if (load<u8>(at) >= 0x80) return true;
  }
  return false;
}

function scanWith(at: usize, end: usize, row: usize, low: v128, high: v128): usize {
  let seen = i8x16.splat(0);
  for (; at < end; at += 16) {
    const classes = nibbleClasses(v128.load(at), low, high);
    const special = i8x16.ne(v128.and(classes, i8x16.splat(63)), i8x16.splat(0));
    const stops = i8x16.bitmask(special);
    if (stops !== 0 || end - at <= 16) return lastBlock(row, at, end, stops, seen, classes);
    seen = v128.or(seen, classes);
  }
  return end;
}

/**
 * Ends a scan in the block at `at`: gathers the hints up to and with the stop, which it returns.
 */
function lastBlock(
  row: usize,
  at: usize,
  end: usize,
  stops: i32,
  seen: v128,
  classes: v128,
): usize {
  const stop = stops === 0 ? end : lowerOf(at + <usize>ctz(stops), end);
  const counted = ((<u32>1) << (<u32>(stop - at) + <u32>(stop < end))) - 1;
  const percents = <u32>i8x16.bitmask(i16x8.shl(classes, 1)) & counted;
  const ampersands = <u32>i8x16.bitmask(classes) & counted;
  let flags = load<u32>(row, ROW_FLAGS_WORD << 2);
  if ((percents | i8x16.bitmask(i16x8.shl(seen, 1))) !== 0) flags |= BATCH_FLAG_PERCENT;
  if ((ampersands | i8x16.bitmask(seen)) !== 0) flags |= BATCH_FLAG_AMPERSAND;
  store<u32>(row, flags, ROW_FLAGS_WORD << 2);
  return stop;
}

function nibbleClasses(bytes: v128, low: v128, high: v128): v128 {
  const nibble = i8x16.splat(15);
  return v128.and(
    i8x16.swizzle(low, v128.and(bytes, nibble)),
    i8x16.swizzle(high, v128.and(i16x8.shr_u(bytes, 4), nibble)),
  );
}

function lowerOf(left: usize, right: usize): usize {
  return left < right ? left : right;
}

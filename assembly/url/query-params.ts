/**
 * Query parameters as pieces in the batch's scratch: split, drop, keep, sort stably, write.
 *
 *   piece, words:   0 start   1 nameEnd   2 end   3 rank        (absolute offsets)
 *
 *   name = [start, nameEnd), value = what stands behind the '='; rank = place in keepParams, else 0
 *
 *   I1  Order: rank, then (unless POLICY_UNSORTED) name bytes, then value bytes, unsigned; ties
 *       keep their place.
 */
import { BATCH_PARAMETER_BYTES, BATCH_PARAMETER_COUNT_MAX } from "../../src/layout/calls/url-batch";
import {
  POLICY_DROP_COUNT_WORD,
  POLICY_DROP_PARAMS,
  POLICY_ENDS_WORD,
  POLICY_KEEP_COUNT_WORD,
  POLICY_KEEP_PARAMS,
  POLICY_UNSORTED,
  POLICY_FLAGS_WORD,
} from "../../src/layout/calls/key-policy";
import { lowerCase, writeBytes } from "./byte-classes";
import { get, set } from "../batch-row";
import { scanByte } from "./scan-bytes";

/** Split found more pieces than there is scratch for. */
export const PIECES_MANY: u32 = 0xffffffff;
/** Set in the result of splitPieces when the bytes are not the pieces joined by `&`, in order. */
export const PIECES_CHANGED: u32 = 0x40000000;

/**
 * Splits [at, end) into pieces that stay. Returns their count, PIECES_CHANGED in it, or
 * PIECES_MANY.
 */
export function splitPieces(at: usize, end: usize, scratch: usize, policy: usize): u32 {
  const flags = policy === 0 ? 0 : get(policy, POLICY_FLAGS_WORD);
  let count: u32 = 0;
  let changed: u32 = 0;
  for (; at <= end; at++) {
    const pieceEnd = scanByte(at, end, 0x26);
    const nameEnd = scanByte(at, pieceEnd, 0x3d);
    const rank = at === pieceEnd ? -1 : rankOf(at, nameEnd, policy, flags);
    if (rank < 0) changed = PIECES_CHANGED;
    else {
      if (count === BATCH_PARAMETER_COUNT_MAX) return PIECES_MANY;
      const piece = scratch + count * BATCH_PARAMETER_BYTES;
      set(piece, 0, <u32>at);
      set(piece, 1, <u32>nameEnd);
      set(piece, 2, <u32>pieceEnd);
      set(piece, 3, rank);
      if (count > 0 && isBefore(piece, piece - BATCH_PARAMETER_BYTES, flags))
        changed = PIECES_CHANGED;
      count++;
    }
    at = pieceEnd;
  }
  return count | changed;
}

/**
 * True if the names of [at, end), split at `&`, surely rise, each from the one before, and no piece
 * is empty: then sorting changes nothing. Equal names are left to splitPieces. @hot
 *
 * Names mostly differ in their first byte: one comparison per `&`, found sixteen bytes at a time.
 */
export function isRising(at: usize, end: usize): bool {
  if (at === end || load<u8>(at) === 0x26) return false;
  const ampersand = i8x16.splat(0x26);
  let first: u32 = load<u8>(at);
  let piece = at;
  for (let block = at; block < end; block += 16) {
    let found = <u32>i8x16.bitmask(i8x16.eq(v128.load(block), ampersand));
    for (; found !== 0; found &= found - 1) {
      const next = block + <usize>ctz(found) + 1;
      if (next > end) return true; // that `&` stands behind the query
      if (next === end) return false;
      const byte: u32 = load<u8>(next);
      const isHigher = byte > first && byte !== 0x26 && byte !== 0x3d;
      if (!isHigher && !isNameLower(piece, next, end)) return false;
      first = byte;
      piece = next;
    }
  }
  return true;
}

/** True if the name at `left`, whose piece ends before `next`, is surely lower than the one there. */
function isNameLower(left: usize, next: usize, end: usize): bool {
  for (; next < end; left++, next++) {
    const a = <u32>load<u8>(left);
    const b = <u32>load<u8>(next);
    if (b === 0x26 || b === 0x3d) return false;
    if (a !== b) return a < b || a === 0x26 || a === 0x3d;
  }
  return false;
}

/** Insertion sort: stable, and nearly free when the pieces are nearly in order. */
export function sortPieces(scratch: usize, count: u32, policy: usize): void {
  const flags = policy === 0 ? 0 : get(policy, POLICY_FLAGS_WORD);
  for (let i: u32 = 1; i < count; i++) {
    let piece = scratch + i * BATCH_PARAMETER_BYTES;
    while (piece > scratch && isBefore(piece, piece - BATCH_PARAMETER_BYTES, flags)) {
      const held = v128.load(piece);
      v128.store(piece, v128.load(piece - BATCH_PARAMETER_BYTES));
      piece -= BATCH_PARAMETER_BYTES;
      v128.store(piece, held);
    }
  }
}

/** Writes `?a&b&…`; nothing for no pieces. */
export function writePieces(scratch: usize, count: u32, out: usize): usize {
  for (let i: u32 = 0; i < count; i++) {
    const piece = scratch + i * BATCH_PARAMETER_BYTES;
    store<u8>(out++, i === 0 ? 0x3f : 0x26);
    out = writeBytes(<usize>get(piece, 0), <usize>get(piece, 2), out);
  }
  return out;
}

/** True if a name matches one of the dropParams patterns. */
export function isDropped(at: usize, end: usize, policy: usize): bool {
  const keepCount = get(policy, POLICY_KEEP_COUNT_WORD);
  const dropCount = get(policy, POLICY_DROP_COUNT_WORD);
  for (let i: u32 = 0; i < dropCount; i++) {
    const start = textOf(policy, keepCount + i);
    if (matches(at, end, start, textOf(policy, keepCount + i + 1))) return true;
  }
  return false;
}

/** Place of a name in keepParams (0 without a list), or −1 if it goes. */
function rankOf(at: usize, end: usize, policy: usize, flags: u32): i32 {
  if ((flags & POLICY_DROP_PARAMS) !== 0 && isDropped(at, end, policy)) return -1;
  if ((flags & POLICY_KEEP_PARAMS) === 0) return 0;
  const count = get(policy, POLICY_KEEP_COUNT_WORD);
  for (let i: u32 = 0; i < count; i++) {
    const start = textOf(policy, i);
    const length = textOf(policy, i + 1) - start;
    if (length === end - at && compareBytes(start, start + length, at, end) === 0) return i;
  }
  return -1;
}

/** Where the text of list entry `index` begins (= where the one before ends). */
function textOf(policy: usize, index: u32): usize {
  const total = get(policy, POLICY_KEEP_COUNT_WORD) + get(policy, POLICY_DROP_COUNT_WORD);
  const text = policy + <usize>((POLICY_ENDS_WORD + total) << 2);
  return index === 0 ? text : text + <usize>get(policy, POLICY_ENDS_WORD + index - 1);
}

function isBefore(left: usize, right: usize, flags: u32): bool {
  const leftRank = get(left, 3);
  const rightRank = get(right, 3);
  if (leftRank !== rightRank) return leftRank < rightRank;
  if ((flags & POLICY_UNSORTED) !== 0) return false;
  const leftName = <usize>get(left, 1);
  const rightName = <usize>get(right, 1);
  const order = compareBytes(<usize>get(left, 0), leftName, <usize>get(right, 0), rightName);
  if (order !== 0) return order < 0;
  const leftEnd = <usize>get(left, 2);
  const rightEnd = <usize>get(right, 2);
  return (
    compareBytes(
      valueStart(leftName, leftEnd),
      leftEnd,
      valueStart(rightName, rightEnd),
      rightEnd,
    ) < 0
  );
}

/** Where a value begins: behind the `=`, or at the end where there is none. */
function valueStart(nameEnd: usize, end: usize): usize {
  return nameEnd < end ? nameEnd + 1 : end;
}

/** Unsigned byte order; a prefix comes first. */
function compareBytes(left: usize, leftEnd: usize, right: usize, rightEnd: usize): i32 {
  for (; left < leftEnd && right < rightEnd; left++, right++) {
    const difference = <i32>load<u8>(left) - <i32>load<u8>(right);
    if (difference !== 0) return difference;
  }
  return <i32>(leftEnd - left > 0) - <i32>(rightEnd - right > 0);
}

/** Glob with `*` over ASCII-lower-cased bytes: on a mismatch the last star takes one byte more. */
function matches(at: usize, end: usize, pattern: usize, patternEnd: usize): bool {
  let star: usize = 0;
  let retry: usize = 0;
  while (at < end) {
    if (pattern < patternEnd && load<u8>(pattern) === 0x2a) {
      star = ++pattern;
      retry = at;
    } else if (pattern < patternEnd && lowerCase(load<u8>(at)) === <u32>load<u8>(pattern)) {
      at++;
      pattern++;
    } else if (star !== 0) {
      pattern = star;
      at = ++retry;
    } else return false;
  }
  while (pattern < patternEnd && load<u8>(pattern) === 0x2a) pattern++;
  return pattern === patternEnd;
}

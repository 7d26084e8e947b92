/**
 * What a host's bytes are: a plain domain, an IPv4 address as it is serialised, or a matter for the full parser. Labels are not checked,
 * not even `xn--` ones: the Standard leaves ASCII hosts alone.
 *
 *   … label . label . last [.]
 *                     └ digits or 0x…: the whole is an address or invalid; we read 1.2.3.4 only
 */
import { isDigit, isHexDigit, lowerCase } from "./byte-classes";

export const HOST_PLAIN: u32 = 0;
export const HOST_ADDRESS: u32 = 1;
/** Only the full parser can decide. */
export const HOST_HARD: u32 = 2;

/** Classifies a non-empty lower-case ASCII host without forbidden bytes. */
export function judgeHost(at: usize, end: usize): u32 {
  const lastEnd = load<u8>(end - 1) === 0x2e ? end - 1 : end; // one trailing dot does not count
  let last = lastEnd;
  while (last > at && load<u8>(last - 1) !== 0x2e) last--;
  if (last === lastEnd || !isDigit(load<u8>(last))) return HOST_PLAIN;
  return judgeNumber(at, last, end);
}

/** The last label begins with a digit: all digits, or 0x and hex digits, make it a number. */
function judgeNumber(at: usize, last: usize, end: usize): u32 {
  const isHex = load<u8>(last) === 0x30 && last + 1 < end && lowerCase(load<u8>(last + 1)) === 0x78;
  let i = isHex ? last + 2 : last;
  while (i < end && (isHex ? isHexDigit(load<u8>(i)) : isDigit(load<u8>(i)))) i++;
  if (i < end && load<u8>(i) !== 0x2e) return HOST_PLAIN;
  return isDottedQuad(at, end) ? HOST_ADDRESS : HOST_HARD;
}

/** True for four decimal numbers 0 … 255 without leading zeros. */
function isDottedQuad(at: usize, end: usize): bool {
  for (let part = 0; part < 4; part++) {
    const start = at;
    let value: u32 = 0;
    while (at < end && at - start < 4 && isDigit(load<u8>(at))) {
      value = value * 10 + (load<u8>(at++) - 0x30);
    }
    if (at === start || value > 255) return false;
    if (load<u8>(start) === 0x30 && at - start > 1) return false;
    if (part < 3 && (at >= end || load<u8>(at++) !== 0x2e)) return false;
  }
  return at === end;
}

/**
 * True if a host is surely plain: behind its last dot stands something that is no digit.
 * Reads at most BATCH_SLACK_BYTES past the end. @hot
 */
export function isPlainHost(at: usize, end: usize): bool {
  let last = at - 1;
  for (let i = at; i < end; i += 16) {
    let dots = <u32>i8x16.bitmask(i8x16.eq(v128.load(i), i8x16.splat(0x2e)));
    if (end - i < 16) dots &= ((<u32>1) << (<u32>(end - i))) - 1;
    if (dots !== 0) last = i + 31 - <usize>clz(dots);
  }
  return last + 1 < end && !isDigit(load<u8>(last + 1));
}

/**
 * Classes of bytes, one bit each, and the hexadecimal digits. A byte over 0x7F (a piece of UTF-8)
 * is percent-encoded everywhere, forbidden in a host, and nothing else.
 *
 *   bit  class           bytes
 *     1  ENCODE_PATH     the path percent-encode set
 *     2  ENCODE_QUERY    the special-query percent-encode set
 *     4  ENCODE_FRAGMENT the fragment percent-encode set
 *     8  ENCODE_USERINFO the userinfo percent-encode set
 *    16  HOST_FORBIDDEN  the forbidden domain code points
 *    32  UNRESERVED      A–Z a–z 0–9 - . _ ~
 *    64  HEX             0–9 A–F a–f
 *   128  SCHEME          A–Z a–z 0–9 + - .
 */
export const ENCODE_PATH: u32 = 1;
export const ENCODE_QUERY: u32 = 2;
export const ENCODE_FRAGMENT: u32 = 4;
export const ENCODE_USERINFO: u32 = 8;
export const HOST_FORBIDDEN: u32 = 16;
export const UNRESERVED: u32 = 32;
export const HEX: u32 = 64;
export const SCHEME: u32 = 128;
const NOT_ASCII: u32 = 0x1f;

/** Four bytes, little-endian: "http", "s://" and "://". */
export const HTTP_WORD: u32 = 0x70747468;
export const HTTPS_WORD: u32 = 0x2f2f3a73;
export const SLASHES_WORD: u32 = 0x2f2f3a;

// biome-ignore format: one row per high nibble
const CLASSES: usize = memory.data<u8>([
  0x1f, 0x1f, 0x1f, 0x1f, 0x1f, 0x1f, 0x1f, 0x1f, 0x1f, 0x1f, 0x1f, 0x1f, 0x1f, 0x1f, 0x1f, 0x1f,
  0x1f, 0x1f, 0x1f, 0x1f, 0x1f, 0x1f, 0x1f, 0x1f, 0x1f, 0x1f, 0x1f, 0x1f, 0x1f, 0x1f, 0x1f, 0x1f,
  0x1f, 0x00, 0x0f, 0x1b, 0x00, 0x10, 0x00, 0x02, 0x00, 0x00, 0x00, 0x80, 0x00, 0xa0, 0xa0, 0x18,
  0xe0, 0xe0, 0xe0, 0xe0, 0xe0, 0xe0, 0xe0, 0xe0, 0xe0, 0xe0, 0x18, 0x08, 0x1f, 0x08, 0x1f, 0x19,
  0x18, 0xe0, 0xe0, 0xe0, 0xe0, 0xe0, 0xe0, 0xa0, 0xa0, 0xa0, 0xa0, 0xa0, 0xa0, 0xa0, 0xa0, 0xa0,
  0xa0, 0xa0, 0xa0, 0xa0, 0xa0, 0xa0, 0xa0, 0xa0, 0xa0, 0xa0, 0xa0, 0x18, 0x18, 0x18, 0x19, 0x20,
  0x0d, 0xe0, 0xe0, 0xe0, 0xe0, 0xe0, 0xe0, 0xa0, 0xa0, 0xa0, 0xa0, 0xa0, 0xa0, 0xa0, 0xa0, 0xa0,
  0xa0, 0xa0, 0xa0, 0xa0, 0xa0, 0xa0, 0xa0, 0xa0, 0xa0, 0xa0, 0xa0, 0x09, 0x18, 0x09, 0x20, 0x1f,
]);

export function classesOf(byte: u32): u32 {
  return byte < 0x80 ? load<u8>(CLASSES + byte) : NOT_ASCII;
}

export function isDigit(byte: u32): bool {
  return byte - 0x30 < 10;
}

export function isHexDigit(byte: u32): bool {
  return (classesOf(byte) & HEX) !== 0;
}

export function isLetter(byte: u32): bool {
  return (byte | 0x20) - 0x61 < 26;
}

export function lowerCase(byte: u32): u32 {
  return byte - 0x41 < 26 ? byte | 0x20 : byte;
}

/** The upper-case digit of 0 … 15. */
function hexDigit(value: u32): u32 {
  return value < 10 ? 0x30 + value : 0x37 + value;
}

/** 0 … 15; the byte must be of class HEX. */
export function hexValue(byte: u32): u32 {
  return isDigit(byte) ? byte - 0x30 : (byte | 0x20) - 0x57;
}

/** Writes `%XX` and returns the place after it. */
export function writeTriple(out: usize, byte: u32): usize {
  store<u8>(out, 0x25);
  store<u8>(out + 1, hexDigit(byte >> 4));
  store<u8>(out + 2, hexDigit(byte & 15));
  return out + 3;
}

/**
 * Copies [at, end) to `out`, percent-encoding the bytes of a class. Returns the place after it.
 */
export function writeEncoded(at: usize, end: usize, out: usize, encode: u32): usize {
  for (; at < end; at++) {
    const byte = <u32>load<u8>(at);
    if ((classesOf(byte) & encode) === 0) store<u8>(out++, byte);
    else out = writeTriple(out, byte);
  }
  return out;
}

/**
 * Copies [at, end) to `out` and returns the place after it. Reads and writes whole blocks of BATCH_SLACK_BYTES: what lies behind either
 * end is touched, so the two must not overlap. @hot
 */
export function writeBytes(at: usize, end: usize, out: usize): usize {
  for (; at < end; at += 16, out += 16) v128.store(out, v128.load(at));
  return out - (at - end);
}

/** The same for pieces of one text that move towards its start, byte for byte. */
export function moveBytes(at: usize, end: usize, out: usize): usize {
  memory.copy(out, at, end - at);
  return out + (end - at);
}

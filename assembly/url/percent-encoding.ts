/**
 * Percent-normalisation of docs/formats/canonical-url.md §2 step 3, one pass from left to right:
 *
 *   %41        → A      two hex digits that name an unreserved byte
 *   %2f        → %2F    any other two hex digits
 *   %zz, %4    → %25zz  no two hex digits: the percent sign itself
 *
 *   I1  Normalised bytes are normal: isNormal(writeNormal(x)).
 */
import { HEX, UNRESERVED, classesOf, hexValue, writeBytes, writeTriple } from "./byte-classes";
import { scanByte } from "./scan-bytes";

/** True if normalisation would change nothing in [at, end). @hot */
export function isNormal(at: usize, end: usize): bool {
  while (true) {
    at = scanByte(at, end, 0x25);
    if (at === end) return true;
    if (!isTriple(at, end)) return false;
    const high = <u32>load<u8>(at + 1);
    const low = <u32>load<u8>(at + 2);
    if (high >= 0x61 || low >= 0x61) return false;
    if ((classesOf((hexValue(high) << 4) | hexValue(low)) & UNRESERVED) !== 0) return false;
    at += 3;
  }
}

/** Writes the normalised bytes and returns the place behind them. */
export function writeNormal(at: usize, end: usize, out: usize): usize {
  while (true) {
    const percent = scanByte(at, end, 0x25);
    out = writeBytes(at, percent, out);
    if (percent === end) return out;
    if (isTriple(percent, end)) {
      const byte = (hexValue(load<u8>(percent + 1)) << 4) | hexValue(load<u8>(percent + 2));
      if ((classesOf(byte) & UNRESERVED) !== 0) store<u8>(out++, byte);
      else out = writeTriple(out, byte);
      at = percent + 3;
    } else {
      out = writeTriple(out, 0x25);
      at = percent + 1;
    }
  }
}

/** How many percent signs [at, end) holds: each may grow by two bytes. */
export function percentCount(at: usize, end: usize): u32 {
  let count: u32 = 0;
  for (at = scanByte(at, end, 0x25); at < end; at = scanByte(at + 1, end, 0x25)) count++;
  return count;
}

function isTriple(at: usize, end: usize): bool {
  if (end - at < 3) return false;
  const classes = classesOf(load<u8>(at + 1)) & classesOf(load<u8>(at + 2));
  return (classes & HEX) !== 0;
}

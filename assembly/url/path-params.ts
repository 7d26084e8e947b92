/**
 * Path parameters of a key, `;name` and `;name=value`, dropped in place: bytes only move to the
 * left.
 *
 *   /a;sid=1;x/b;sid   ──dropParams: sid──▶   /a;x/b
 */
import { moveBytes } from "./byte-classes";
import { isDotSegment } from "./path";
import { isDropped } from "./query-params";
import { scanByte } from "./scan-bytes";

/**
 * Takes `;name` and `;name=value` with dropped names out of the segments of [at, end), in place.
 */
export function dropPathParams(at: usize, end: usize, policy: usize): usize {
  let out = at;
  while (at < end) {
    store<u8>(out++, 0x2f);
    const segmentEnd = scanByte(++at, end, 0x2f);
    const head = scanByte(at, segmentEnd, 0x3b);
    // A segment that would become a dot segment stays whole: the key must parse to itself.
    if (isDotSegment(at, head) && allDropped(head, segmentEnd, policy)) {
      out = moveBytes(at, segmentEnd, out);
    } else {
      out = moveBytes(at, head, out);
      out = writeParams(head, segmentEnd, out, policy);
    }
    at = segmentEnd;
  }
  return out;
}

/** Writes the `;param`s of [at, end) that stay. */
function writeParams(at: usize, end: usize, out: usize, policy: usize): usize {
  while (at < end) {
    const paramEnd = scanByte(at + 1, end, 0x3b);
    if (!isDroppedParam(at, paramEnd, policy)) out = moveBytes(at, paramEnd, out);
    at = paramEnd;
  }
  return out;
}

function allDropped(at: usize, end: usize, policy: usize): bool {
  while (at < end) {
    const paramEnd = scanByte(at + 1, end, 0x3b);
    if (!isDroppedParam(at, paramEnd, policy)) return false;
    at = paramEnd;
  }
  return true;
}

/** [at, end) is a semicolon and what follows it. */
function isDroppedParam(at: usize, end: usize, policy: usize): bool {
  return isDropped(at + 1, scanByte(at + 1, end, 0x3d), policy);
}

/**
 * HostMemo: what was found out about a host, by the bytes of a row, so that a URL on a known host costs neither a string
 * nor a search. Owner: the thread that owns the batch.
 *
 *   host bytes ─▶ quick hash ─▶ place ─▶ bytes equal? ─▶ the number kept
 *
 *   I1  An answer is that of equal bytes: the hash only says where to look, so whoever aims collisions wins a miss.
 *   I2  Hosts longer than a place are never kept.
 */
import type { Rows } from "./rows.ts";
import { rowHostLength, rowHostOffset } from "./rows.ts";

/** 4 MiB: some ten thousand hosts rarely meet in one place. */
const PLACES = 65_536;
/** First byte: the length; hosts of up to 63 bytes fit, as nearly all do. */
const PLACE_BYTES = 64;

export interface HostMemo {
  readonly bytes: Uint8Array;
  readonly numbers: Int32Array;
}

export function createHostMemo(): HostMemo {
  return {
    bytes: new Uint8Array(PLACES * PLACE_BYTES),
    numbers: new Int32Array(PLACES).fill(-1),
  };
}

/** Forgets everything. */
export function clearHostMemo(memo: HostMemo): void {
  memo.numbers.fill(-1);
}

/** The number kept for the host of a row, or −1. @hot */
export function hostMemo(memo: HostMemo, rows: Rows, row: number): number {
  const length = rowHostLength(rows, row);
  if (length >= PLACE_BYTES) return -1;
  const { u8 } = rows.kernel.region.views;
  const offset = rowHostOffset(rows, row);
  const { bytes, numbers } = memo;
  const place = placeOf(u8, offset, length);
  const number = numbers[place] as number;
  const at = place * PLACE_BYTES;
  if (number < 0 || bytes[at] !== length) return -1;
  for (let i = 0; i < length; i++) if (bytes[at + 1 + i] !== u8[offset + i]) return -1;
  return number;
}

/** Keeps a number for the host of a row, in place of whatever stood there. */
export function keepHostMemo(memo: HostMemo, rows: Rows, row: number, number: number): void {
  const length = rowHostLength(rows, row);
  if (length >= PLACE_BYTES) return;
  const { u8 } = rows.kernel.region.views;
  const offset = rowHostOffset(rows, row);
  const place = placeOf(u8, offset, length);
  memo.numbers[place] = number;
  memo.bytes[place * PLACE_BYTES] = length;
  memo.bytes.set(u8.subarray(offset, offset + length), place * PLACE_BYTES + 1);
}

/** FNV-1a, folded. @hot */
function placeOf(u8: Uint8Array, offset: number, length: number): number {
  let hash = 0x811c_9dc5;
  for (let i = 0; i < length; i++) hash = Math.imul(hash ^ (u8[offset + i] as number), 0x0100_0193);
  return (hash ^ (hash >>> 15)) & (PLACES - 1);
}

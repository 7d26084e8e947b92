/** Checksum: crc32 of bytes, seeded by the place they stand at, so that what was moved is as wrong as what was changed. */
import { crc32 } from "node:zlib";

/** Bytes in their place: which file of its sort, and where in it. */
export function crcAt(bytes: Uint8Array, serial: number, offset: number): number {
  return crc32(bytes, (Math.imul(serial, 0x9e3779b1) ^ offset) >>> 0);
}

export function crcOf(bytes: Uint8Array): number {
  return crc32(bytes);
}

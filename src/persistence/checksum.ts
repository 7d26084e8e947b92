/** Checksum: crc32 of bytes, seeded by their place, so that moved bytes are as wrong as changed ones. */
import { crc32 } from "node:zlib";

/** Checksum of bytes at their place: the serial of the file and the offset in it. */
export function crcAt(bytes: Uint8Array, serial: number, offset: number): number {
  return crc32(bytes, (Math.imul(serial, 0x9e3779b1) ^ offset) >>> 0);
}

export function crcOf(bytes: Uint8Array): number {
  return crc32(bytes);
}

/**
 * A record as one gzip member (RFC 1952).
 *
 *   record           how                                      why
 *   ≤ STORED_BYTES   stored, not compressed                   a third of it could be saved, for as much time as a small page takes
 *   ≤ QUICK_BYTES    on this thread, in one call              another thread costs more than it saves
 *   longer           on another thread, piece by piece        a body is never copied
 *
 * The compressor of a short record has a window no larger than the record: with the usual 256 KiB its making takes longer than its work.
 */
import { crc32, createGzip, gzipSync, type ZlibOptions } from "node:zlib";

const STORED_BYTES = 512;
/** Some two milliseconds: no more than reading the page takes. */
const QUICK_BYTES = 128 * 1024;
/** Of a longer record, at one time. */
const CHUNK_BYTES = 256 * 1024;
/** What is no longer goes to the other thread together with what stands beside it. */
const SHORT_BYTES = 16 * 1024;
/** Deflate, no name, no time, made on Unix: as zlib writes it, and `recoverTail` reads it. */
const HEAD = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3]);
const TAIL_BYTES = 8;
/** Last block, type 0; its length twice (RFC 1951, 3.2.4). */
const BLOCK_HEAD_BYTES = 5;
const WINDOW_BITS_MIN = 9;
const WINDOW_BITS_MAX = 15;
/** A match reaches back as far as the window less this (zlib, MIN_LOOKAHEAD). */
const LOOKAHEAD_BYTES = 262;
const MEMORY_LEVEL_MAX = 8;
/** What a member has beside its data at most, where these do not shrink. */
const OVERHEAD_BYTES = 64;

/** Returns the member that holds all parts, one behind the other, itself in parts. */
export function gzipMember(
  parts: readonly Uint8Array[],
  level: number,
): Uint8Array[] | Promise<Uint8Array[]> {
  const bytes = parts.reduce((sum, part) => sum + part.length, 0);
  if (bytes > QUICK_BYTES) return streamed(parts, level);
  if (bytes <= STORED_BYTES) return [storedMember(parts, bytes)];
  return [gzipSync(Buffer.concat(parts, bytes), { level, ...sizesFor(bytes) })];
}

function storedMember(parts: readonly Uint8Array[], bytes: number): Buffer {
  const start = HEAD.length + BLOCK_HEAD_BYTES;
  const member = Buffer.allocUnsafe(start + bytes + TAIL_BYTES);
  HEAD.copy(member);
  member.writeUInt8(1, HEAD.length);
  member.writeUInt16LE(bytes, HEAD.length + 1);
  member.writeUInt16LE(0xffff - bytes, HEAD.length + 3);
  let at = start;
  for (const part of parts) {
    member.set(part, at);
    at += part.length;
  }
  member.writeUInt32LE(crc32(member.subarray(start, at)), at);
  member.writeUInt32LE(bytes, at + 4);
  return member;
}

/** The least memory with which a record is compressed as well as with the most, and room for all that comes out. */
function sizesFor(bytes: number): ZlibOptions {
  const bits = Math.ceil(Math.log2(bytes + LOOKAHEAD_BYTES));
  return {
    windowBits: Math.min(Math.max(bits, WINDOW_BITS_MIN), WINDOW_BITS_MAX),
    memLevel: Math.min(Math.max(bits - 6, 1), MEMORY_LEVEL_MAX),
    chunkSize: bytes + OVERHEAD_BYTES,
  };
}

function streamed(parts: readonly Uint8Array[], level: number): Promise<Uint8Array[]> {
  return new Promise((resolve, reject) => {
    const chunks: Uint8Array[] = [];
    const gzip = createGzip({ level, chunkSize: CHUNK_BYTES });
    gzip.on("data", (chunk: Buffer) => chunks.push(chunk));
    gzip.on("end", () => resolve(chunks));
    gzip.on("error", reject);
    for (const part of joined(parts)) gzip.write(part);
    gzip.end();
  });
}

/** Short parts in one: each part that is written costs a way to the other thread and back. */
function joined(parts: readonly Uint8Array[]): Uint8Array[] {
  const fewer: Uint8Array[] = [];
  let short: Uint8Array[] = [];
  for (const part of [...parts, undefined]) {
    if (part !== undefined && part.length <= SHORT_BYTES) {
      short.push(part);
      continue;
    }
    if (short.length > 0) fewer.push(Buffer.concat(short));
    if (part !== undefined) fewer.push(part);
    short = [];
  }
  return fewer;
}

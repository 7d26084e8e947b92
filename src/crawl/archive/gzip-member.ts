/**
 * A record as one gzip member (RFC 1952).
 *
 *   record           how                                      why
 *   ≤ STORED_BYTES   stored, not compressed                   some 200 bytes could be saved, for a fifth of the time that a small page takes
 *   ≤ QUICK_BYTES    on this thread, in one call              another thread costs more than it saves
 *   longer           on another thread, piece by piece        a body is never copied
 *
 * The compressor of a short record has a window no larger than the record: with the usual 256 KiB its making takes longer than its work.
 */
import { crc32, createGzip, gzipSync, type ZlibOptions } from "node:zlib";
import { piecesOf, type WarcRecord, writeRecord } from "./warc-records.ts";

const STORED_BYTES = 1024;
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

export function isLong({ bytes }: WarcRecord): boolean {
  return bytes > QUICK_BYTES;
}

/** The member of each long record, in parts, and undefined in the place of others. */
export async function longMembers(
  records: readonly WarcRecord[],
  level: number,
): Promise<Array<Uint8Array[] | undefined>> {
  const members: Array<Uint8Array[] | undefined> = [];
  for (const record of records)
    members.push(isLong(record) ? await streamed(piecesOf(record), level) : undefined);
  return members;
}

/** `count`: of members, until they are cleared. */
export function createGzipMembers(level: number, count: number) {
  const room = Buffer.allocUnsafe(QUICK_BYTES + count * 2 * STORED_BYTES);
  let from = 0;
  return {
    /** It holds until `clear`. */
    short(record: WarcRecord): Uint8Array {
      const start = from + HEAD.length + BLOCK_HEAD_BYTES;
      const end = writeRecord(record, room, start);
      const { bytes } = record;
      const data = room.subarray(start, end);
      if (bytes > STORED_BYTES) return gzipSync(data, { level, ...sizesFor(bytes) });
      room.set(HEAD, from);
      room.writeUInt8(1, start - BLOCK_HEAD_BYTES);
      room.writeUInt16LE(bytes, start - 4);
      room.writeUInt16LE(0xffff - bytes, start - 2);
      room.writeUInt32LE(crc32(data), end);
      room.writeUInt32LE(bytes, end + 4);
      const member = room.subarray(from, end + TAIL_BYTES);
      from += member.length;
      return member;
    },
    clear(): void {
      from = 0;
    },
  };
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

/**
 * Records as bytes: what a client writes of a request, and reads of a lease (lua/lib-record.lua has the layout).
 *
 * The first four bytes are the server's: a client writes those of a record that is pending and was never handed out.
 */
import type { RequestInput } from "../../../base/request-types.ts";
import { copyBytes, type Piece, pieceOf } from "../server/packing.ts";
import { NO_EXTRAS, type Extras, unpackExtras } from "../../../engine/intake/request-extras.ts";

const HAS_PRIORITY = 1;
const HAS_FAMILY = 2;
const HAS_TERMS = 4;
const HAS_PARENT = 8;
const HAS_HOST = 16;
const HAS_REST = 32;
const IS_START = 64;
const IS_NAMELESS = 128;
const HEAD = 15;
const FIRST_ATTEMPT = 1;
/** What stands around the host of a URL. */
const [COLON, SLASH, QUESTION, HASH] = [0x3a, 0x2f, 0x3f, 0x23];
const DEPTH_MAX = 65_535;
/** In the terms: attempts allowed, whether it came again by itself, whether its request named its epoch. */
const ATTEMPTS_MAX = 16_383;
const CAME_AGAIN = 16_384;
const NAMED_EPOCH = 32_768;

/** What of a request is in its record. */
export interface RecordParts {
  readonly rule: number;
  readonly depth: number;
  readonly priority: number;
  readonly maxAttempts: number;
  /** Its request named its epoch. */
  readonly isOnce: boolean;
  /** Fingerprint of the page that it was found on. */
  readonly parent: Buffer | undefined;
  /** The host, where the URL does not show it. */
  readonly host: string | undefined;
  readonly extras: Uint8Array | undefined;
  readonly isStart: boolean;
  /** Where its fingerprint begins, 16 bytes, and its URL, both in the same memory. */
  readonly print: number;
  readonly url: number;
  readonly urlBytes: number;
}

/** Bytes of records, one behind the other. Once it is full, it belongs to its records alone. */
export interface Slab {
  bytes: Buffer;
  end: number;
}

const SLAB_BYTES = 64 * 1024;
export const PRINT_BYTES = 16;

/** An empty one with room for so many bytes. */
export function newSlab(size = 0): Slab {
  return { bytes: Buffer.allocUnsafe(Math.max(size, SLAB_BYTES)), end: 0 };
}

/** Writes a fingerprint, then the record, which begins where this returns and ends where the slab does. */
export function writeRecord(slab: Slab, memory: Uint8Array, parts: RecordParts): number {
  const { parent, extras, priority, print, url, urlBytes } = parts;
  const terms = Math.min(parts.maxAttempts, ATTEMPTS_MAX) + (parts.isOnce ? NAMED_EPOCH : 0);
  const host = parts.host === undefined ? undefined : Buffer.from(parts.host);
  const size =
    HEAD +
    (priority === 0 ? 0 : 8) +
    (terms > 0 ? 2 : 0) +
    (parent === undefined ? 0 : 16) +
    (host === undefined ? 0 : 2 + host.length) +
    (extras === undefined ? 0 : 4 + extras.length) +
    urlBytes;
  if (slab.end + PRINT_BYTES + size > slab.bytes.length)
    Object.assign(slab, newSlab(PRINT_BYTES + size));
  const { bytes, end } = slab;
  const from = end + PRINT_BYTES;
  slab.end = from + size;
  copyBytes(memory, print, bytes, end, PRINT_BYTES);
  bytes.writeUInt32BE(FIRST_ATTEMPT << 16, from);
  bytes.writeUInt16BE(parts.rule, from + 4);
  bytes.writeUInt16BE(Math.min(parts.depth, DEPTH_MAX), from + 6);
  copyBytes(memory, print, bytes, from + 8, 6);
  bytes[from + 14] =
    (priority === 0 ? 0 : HAS_PRIORITY) |
    (terms > 0 ? HAS_TERMS : 0) |
    (parent === undefined ? 0 : HAS_PARENT) |
    (host === undefined ? 0 : HAS_HOST) |
    (extras === undefined ? 0 : HAS_REST) |
    (parts.isStart ? IS_START : 0);
  let at = from + HEAD;
  if (priority !== 0) at = bytes.writeDoubleBE(priority, at);
  if (terms > 0) at = bytes.writeUInt16BE(terms, at);
  if (parent !== undefined) at += parent.copy(bytes, at);
  if (host !== undefined) {
    at = bytes.writeUInt16BE(host.length, at);
    at += host.copy(bytes, at);
  }
  if (extras !== undefined) {
    at = bytes.writeUInt32BE(extras.length, at);
    bytes.set(extras, at);
    at += extras.length;
  }
  copyBytes(memory, url, bytes, at, urlBytes);
  return from;
}

/** Counts one more hand-out in a record's bytes: a server answers them as they were before it. */
export function countHandOut(bytes: Buffer): void {
  bytes.writeUInt16BE(Math.min(bytes.readUInt16BE(2) + 1, 65_535), 2);
}

/** The fields of a record. */
export interface RecordFields {
  readonly state: number;
  readonly attempt: number;
  readonly deliveries: number;
  readonly rule: number;
  readonly depth: number;
  /** All of the record. */
  readonly bytes: Buffer;
  readonly priority: number;
  readonly family: number;
  readonly maxAttempts: number;
  readonly parent: Buffer | undefined;
  readonly ownHost: string | undefined;
  readonly isStart: boolean;
  readonly hasIdentity: boolean;
  readonly extras: Extras;
  readonly url: string;
}

/** State and attempts of a record's bytes. */
export function readHead(bytes: Buffer): Pick<RecordFields, "state" | "attempt"> {
  const head = bytes[0] as number;
  return { state: head % 8, attempt: (head >> 3) * 256 + (bytes[1] as number) };
}

export function readRecord(bytes: Buffer): RecordFields {
  const flags = bytes[14] as number;
  let at = 15;
  const take = (flag: number, size: number): number => {
    if ((flags & flag) === 0) return -1;
    at += size;
    return at - size;
  };
  const priority = take(HAS_PRIORITY, 8);
  const family = take(HAS_FAMILY, 2);
  const max = take(HAS_TERMS, 2);
  const parent = take(HAS_PARENT, 16);
  let ownHost: string | undefined;
  if ((flags & HAS_HOST) !== 0) {
    const size = bytes.readUInt16BE(at);
    ownHost = bytes.toString("utf8", at + 2, at + 2 + size);
    at += 2 + size;
  }
  let extras = NO_EXTRAS;
  if ((flags & HAS_REST) !== 0) {
    const size = bytes.readUInt32BE(at);
    extras = unpackExtras(bytes.subarray(at + 4, at + 4 + size));
    at += 4 + size;
  }
  const { state, attempt } = readHead(bytes);
  // Not spread: a spread took ten times as long as all the rest.
  return {
    state,
    attempt,
    deliveries: bytes.readUInt16BE(2),
    rule: bytes.readUInt16BE(4),
    depth: bytes.readUInt16BE(6),
    bytes,
    priority: priority < 0 ? 0 : bytes.readDoubleBE(priority),
    family: family < 0 ? 0 : bytes.readUInt16BE(family),
    maxAttempts: max < 0 ? 0 : bytes.readUInt16BE(max) % CAME_AGAIN,
    parent: parent < 0 ? undefined : bytes.subarray(parent, parent + 16),
    ownHost,
    isStart: (flags & IS_START) !== 0,
    hasIdentity: (flags & IS_NAMELESS) === 0,
    extras,
    url: bytes.utf8Slice(at, bytes.length),
  };
}

/** The rule of a record's bytes. */
export const ruleAt = (bytes: Buffer): number => bytes.readUInt16BE(4);

/** Depths from this one on are not in the entry of a live identity (lua/lib-seen.lua). */
const DEEP = 255;

/** Whether the end of its visit needs more than that it is done. */
export function isLong(bytes: Buffer): boolean {
  const isFirst = bytes[0] === 0 && (bytes[1] as number) <= FIRST_ATTEMPT;
  return !isFirst || bytes.readUInt16BE(6) >= DEEP || (bytes[14] as number) >= IS_NAMELESS;
}

/** The host under which a record's bytes were handed out. @hot */
export function hostPiece(bytes: Buffer): Piece {
  const flags = bytes[14] as number;
  let at = HEAD;
  if ((flags & HAS_PRIORITY) !== 0) at += 8;
  if ((flags & HAS_FAMILY) !== 0) at += 2;
  if ((flags & HAS_TERMS) !== 0) at += 2;
  if ((flags & HAS_PARENT) !== 0) at += 16;
  if ((flags & HAS_HOST) !== 0) return pieceOf(bytes, at + 2, at + 2 + bytes.readUInt16BE(at));
  if ((flags & HAS_REST) !== 0) at += 4 + bytes.readUInt32BE(at);
  return hostInUrl(bytes, at, bytes.length);
}

/** The host of a URL, from what follows its scheme on. @hot */
export function hostInUrl(bytes: Uint8Array, url: number, end: number): Piece {
  let from = url;
  while (from < end && bytes[from] !== COLON) from++;
  from += 3; // "://"
  let to = from;
  for (; to < end; to++)
    if (bytes[to] === SLASH || bytes[to] === QUESTION || bytes[to] === HASH) break;
  return pieceOf(bytes, from, to);
}

/** The request that a record came from, to be matched again. */
export function requestOf({ extras, url, maxAttempts, isStart }: RecordFields): RequestInput {
  const { m, b, h, k, u, n, d, e } = extras;
  return {
    ...{ url, start: isStart },
    ...(m === undefined ? {} : { method: m }),
    ...(b === undefined ? {} : { body: b }),
    ...(h === undefined ? {} : { headers: h }),
    ...(k === undefined ? {} : { key: k }),
    ...(u === undefined ? {} : { hostKey: u }),
    ...(n === undefined ? {} : { handler: n }),
    ...(d === undefined ? {} : { data: d }),
    ...(e === undefined ? {} : { epoch: e }),
    ...(maxAttempts > 0 ? { maxAttempts } : {}),
  };
}

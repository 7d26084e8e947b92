/**
 * Records as bytes: what a client writes of a request, and reads of a lease (lua/lib-record.lua has the layout).
 *
 * The first four bytes are the server's: a client writes those of a record that is pending and was never handed out.
 */
import type { RequestInput } from "../../../base/request-types.ts";
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
const DEPTH_MAX = 65_535;
/** In the terms: attempts allowed, whether it came again by itself, whether its request named its epoch. */
const ATTEMPTS_MAX = 16_383;
const CAME_AGAIN = 16_384;
const NAMED_EPOCH = 32_768;

/** What of a request is in its record. */
export interface RecordParts {
  readonly rule: number;
  readonly depth: number;
  /** 16 bytes. */
  readonly fingerprint: Buffer;
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
  readonly url: string;
}

export function writeRecord(parts: RecordParts): Buffer {
  const { parent, extras, url, priority } = parts;
  const terms = Math.min(parts.maxAttempts, ATTEMPTS_MAX) + (parts.isOnce ? NAMED_EPOCH : 0);
  const host = parts.host === undefined ? undefined : Buffer.from(parts.host);
  const size =
    HEAD +
    (priority === 0 ? 0 : 8) +
    (terms > 0 ? 2 : 0) +
    (parent === undefined ? 0 : 16) +
    (host === undefined ? 0 : 2 + host.length) +
    (extras === undefined ? 0 : 4 + extras.length);
  const bytes = Buffer.allocUnsafe(size + Buffer.byteLength(url));
  bytes.writeUInt32BE(FIRST_ATTEMPT << 16, 0);
  bytes.writeUInt16BE(parts.rule, 4);
  bytes.writeUInt16BE(Math.min(parts.depth, DEPTH_MAX), 6);
  parts.fingerprint.copy(bytes, 8, 0, 6);
  bytes[14] =
    (priority === 0 ? 0 : HAS_PRIORITY) |
    (terms > 0 ? HAS_TERMS : 0) |
    (parent === undefined ? 0 : HAS_PARENT) |
    (host === undefined ? 0 : HAS_HOST) |
    (extras === undefined ? 0 : HAS_REST) |
    (parts.isStart ? IS_START : 0);
  let at = HEAD;
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
  bytes.write(url, at, "utf8");
  return bytes;
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
  readonly prefix: Buffer;
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
    prefix: bytes.subarray(8, 14),
    priority: priority < 0 ? 0 : bytes.readDoubleBE(priority),
    family: family < 0 ? 0 : bytes.readUInt16BE(family),
    maxAttempts: max < 0 ? 0 : bytes.readUInt16BE(max) % CAME_AGAIN,
    parent: parent < 0 ? undefined : bytes.subarray(parent, parent + 16),
    ownHost,
    isStart: (flags & IS_START) !== 0,
    hasIdentity: (flags & IS_NAMELESS) === 0,
    extras,
    url: bytes.toString("utf8", at),
  };
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

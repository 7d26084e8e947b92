/**
 * Room `src/crawl/http/decoding`: bodies as they were before they were sent: content codings undone, within one bound for all. Touches no
 * network.
 */

/**
 * Content codings undone, within a bound: what is longer is refused before it is inflated, or cut there if the caller accepts its
 * beginning.
 *
 *   body ≤ QUICK_BYTES  ─▶ here, up to QUICK_PLAIN_BYTES ─ longer ─┐
 *   body > QUICK_BYTES  ───────────────────────────────────────────┴▶ on another thread, up to maxBytes ─ longer ─▶ refused, or cut
 */
import type { Transform } from "node:stream";
import { promisify } from "node:util";
import * as zlib from "node:zlib";
import { downloadError, refusedCoding } from "../download-error.ts";
import type { RawDownload } from "../http-exchange.ts";
import type { RoomShare } from "./inflate-room.ts";
import { zstdFrames } from "./zstd-frames.ts";

interface InflateOptions {
  readonly maxOutputLength: number;
  readonly finishFlush?: number;
}
type InflateLater = (body: Buffer, options: InflateOptions) => Promise<Buffer>;
type InflateNow = (body: Buffer, options: InflateOptions) => Buffer;
/** The first two throw what is over `maxOutputLength`. */
interface Inflate {
  readonly now: InflateNow;
  /** On another thread. */
  readonly later: InflateLater;
  /** In pieces. */
  readonly slowly: (body: Buffer, options: { finishFlush?: number }) => Transform;
}
const GZIP: Inflate = {
  now: zlib.gunzipSync,
  later: promisify(zlib.gunzip) as InflateLater,
  slowly: (_, options) => zlib.createGunzip(options),
};
const inflateLater = promisify(zlib.inflate) as InflateLater;
const inflateRawLater = promisify(zlib.inflateRaw) as InflateLater;

/** Content codings, and what undoes them; zstd where this Node has it. */
const INFLATE: Readonly<Record<string, Inflate | undefined>> = Object.freeze({
  gzip: GZIP,
  "x-gzip": GZIP,
  deflate: {
    now: (body, options) => (isZlib(body) ? zlib.inflateSync : zlib.inflateRawSync)(body, options),
    later: (body, options) => (isZlib(body) ? inflateLater : inflateRawLater)(body, options),
    slowly: (body, options) => (isZlib(body) ? zlib.createInflate : zlib.createInflateRaw)(options),
  },
  br: {
    now: zlib.brotliDecompressSync,
    later: promisify(zlib.brotliDecompress) as InflateLater,
    slowly: (_, options) => zlib.createBrotliDecompress(options),
  },
  zstd: zstdOf(zlib as unknown as Record<string, unknown>),
} satisfies Record<string, Inflate | undefined>);
export const ACCEPT_ENCODING: string = Object.entries(INFLATE)
  .filter(([name, inflate]) => inflate !== undefined && name !== "x-gzip")
  .map(([name]) => name)
  .join(", ");
/** A body of at most QUICK_BYTES that inflates to at most QUICK_PLAIN_BYTES is faster on this thread than on another one. */
const QUICK_BYTES = 16 * 1024;
const QUICK_PLAIN_BYTES = 256 * 1024;
const CODINGS_MAX = 3;
/** As the platform's constants have it, where they do. */
const ZSTD_FLUSH = 1;

interface DecodeBound {
  /** Of each coding's plain bytes. */
  readonly maxBytes: number;
  /** What is longer is cut there, not refused. */
  readonly mayCut: boolean;
  /** Held before more than QUICK_PLAIN_BYTES are inflated. */
  readonly room: RoomShare;
  readonly signal?: AbortSignal | undefined;
}

/** Undoes the content codings, last one first; rejects with DownloadError. */
export async function decode(
  raw: Pick<RawDownload, "body" | "headers" | "isTruncated">,
  bound: DecodeBound,
): Promise<{ body: Buffer; isCut: boolean }> {
  const given = raw.headers["content-encoding"];
  const codings = String(given ?? "")
    .toLowerCase()
    .split(",")
    .map((each) => each.trim())
    .filter((each) => each !== "" && each !== "identity");
  let { body } = raw;
  let isCut = false;
  if (codings.length === 0 || body.length === 0) return { body, isCut };
  if (codings.length > CODINGS_MAX) throw refusedCoding(String(given));
  for (const coding of codings.reverse()) {
    const inflate = INFLATE[coding];
    if (inflate === undefined && isCoding(coding)) throw refusedCoding(coding);
    // A value that is not a coding ("utf-8", "none") is a mistake of the server: the body is used as it is.
    if (inflate === undefined) continue;
    const flush = raw.isTruncated || isCut ? cutShort(coding) : {};
    const options = { maxOutputLength: bound.maxBytes, ...flush };
    try {
      const quick = inflateQuickly(inflate, body, options);
      if (quick === undefined) await bound.room.take(bound.maxBytes, bound.signal);
      body = quick ?? (await inflate.later(body, options));
    } catch (cause) {
      const fault = downloadError(cause);
      const mayBeWhole = inflate === GZIP && fault.fault === "encoding";
      const first = mayBeWhole ? await firstMember(body, bound.maxBytes) : undefined;
      if (first !== undefined) body = first;
      else if (!bound.mayCut || fault.fault !== "too-large") throw fault;
      else {
        body = await beginningOf(inflate.slowly(body, flush), body, bound.maxBytes);
        isCut = true;
      }
    }
  }
  return { body, isCut };
}

/** Whether IANA has registered the coding: then the body is encoded in a way that is not supported here. */
function isCoding(coding: string): boolean {
  return /^((x-)?compress|zstd|dcb|dcz|exi|pack200-gzip|aes128gcm)$/.test(coding);
}

interface Inflated {
  readonly buffer: Buffer;
  readonly engine: { readonly bytesWritten: number };
}
const inflateWithInfo = promisify(zlib.inflateRaw) as unknown as (
  body: Buffer,
  options: { maxOutputLength: number; info: true },
) => Promise<Inflated>;
const GZIP_HEADER_BYTES = 10;

/**
 * Inflates a whole gzip member that is followed by other bytes, which browsers accept; undefined: it is not whole, or too long.
 */
async function firstMember(body: Buffer, maxOutputLength: number): Promise<Buffer | undefined> {
  const at = gzipDataAt(body);
  if (at === undefined) return undefined;
  try {
    const { buffer, engine } = await inflateWithInfo(body.subarray(at), {
      maxOutputLength,
      info: true,
    });
    const trailer = at + engine.bytesWritten;
    // Checksum and length follow the data, and more bytes follow them; otherwise the stream's error is right.
    if (body.length <= trailer + 8) return undefined;
    return body.readUInt32LE(trailer + 4) === buffer.length ? buffer : undefined;
  } catch {
    return undefined;
  }
}

/** Where a member's data begin (RFC 1952, 2.3); undefined: it is none. */
function gzipDataAt(body: Buffer): number | undefined {
  if (body.length < GZIP_HEADER_BYTES || body.readUInt16BE(0) !== 0x1f8b) return undefined;
  const flags = body[3] as number;
  let at = GZIP_HEADER_BYTES;
  if ((flags & 4) !== 0) at += 2 + ((body[at] ?? 0) | ((body[at + 1] ?? 0) << 8));
  for (const flag of [8, 16]) {
    if ((flags & flag) === 0) continue;
    const end = body.indexOf(0, at);
    if (end < 0) return undefined;
    at = end + 1;
  }
  return (flags & 2) === 0 ? at : at + 2;
}

/** So much of what a stream makes of a body. */
async function beginningOf(stream: Transform, body: Buffer, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let left = maxBytes;
  stream.end(body);
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    chunks.push(chunk.subarray(0, left));
    left -= chunk.length;
    if (left <= 0) break; // which ends the stream
  }
  return Buffer.concat(chunks);
}

/** Undefined where it would hold this thread for long: 30 bytes may stand for megabytes. */
function inflateQuickly(
  inflate: Inflate,
  body: Buffer,
  options: InflateOptions,
): Buffer | undefined {
  if (body.length > QUICK_BYTES) return undefined;
  const maxOutputLength = Math.min(QUICK_PLAIN_BYTES, options.maxOutputLength);
  try {
    return inflate.now(body, { ...options, maxOutputLength });
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === "ERR_BUFFER_TOO_LARGE") return undefined;
    throw cause;
  }
}

/** What was cut is inflated as far as it goes. */
function cutShort(coding: string): { finishFlush?: number } {
  const { BROTLI_OPERATION_FLUSH, Z_SYNC_FLUSH } = zlib.constants;
  if (coding === "zstd") return { finishFlush: ZSTD_FLUSH };
  return { finishFlush: coding === "br" ? BROTLI_OPERATION_FLUSH : Z_SYNC_FLUSH };
}

/** "deflate" is zlib's format by the standard and raw in practice: the first byte distinguishes them. */
function isZlib(body: Buffer): boolean {
  return ((body[0] ?? 0) & 15) === 8;
}

function zstdOf(module: Record<string, unknown>): Inflate | undefined {
  const { zstdDecompress, zstdDecompressSync, createZstdDecompress } = module;
  if (typeof zstdDecompress !== "function") return undefined;
  const now = zstdDecompressSync as InflateNow;
  const later = promisify(zstdDecompress as never) as InflateLater;
  return {
    now(body, options) {
      const parts: Buffer[] = [];
      for (const frame of framesOf(body, options)) parts.push(now(frame, roomLeft(parts, options)));
      return joined(parts, options);
    },
    async later(body, options) {
      const parts: Buffer[] = [];
      for (const frame of framesOf(body, options)) {
        parts.push(await later(frame, roomLeft(parts, options)));
      }
      return joined(parts, options);
    },
    slowly: (_, options) => (createZstdDecompress as (given: object) => Transform)(options),
  };
}

function framesOf(body: Buffer, { finishFlush }: InflateOptions): Buffer[] {
  return zstdFrames(body, finishFlush !== undefined);
}

/** Options for another part; of at least one byte, which is then too many. */
function roomLeft(parts: readonly Buffer[], options: InflateOptions): InflateOptions {
  const used = parts.reduce((sum, { length }) => sum + length, 0);
  return { ...options, maxOutputLength: Math.max(options.maxOutputLength - used, 1) };
}

function joined(parts: readonly Buffer[], { maxOutputLength }: InflateOptions): Buffer {
  const [first = EMPTY, ...more] = parts;
  const whole = more.length === 0 ? first : Buffer.concat(parts);
  if (whole.length <= maxOutputLength) return whole;
  const code = "ERR_BUFFER_TOO_LARGE";
  throw Object.assign(new RangeError(`longer than ${maxOutputLength} bytes`), { code });
}

const EMPTY: Buffer = Buffer.alloc(0);

/**
 * Request extras: the optional part of a request as msgpack, and back.
 *
 *   extras = { m?: method, b?: body, h?: headers, n?: handler, k?: own key, u?: own host key, d?: data, r?: redirects so far,
 *              e?: epoch that the request named (on Redis) }
 *
 * Only what is given is written; data comes back equal or the request is refused as unserializable: the caller that packs has checked
 * every value before (base/serializable.ts).
 */
import type { Finding } from "../../base/serializable.ts";
import { packr, packValue } from "../../persistence/msgpack.ts";

export interface Extras {
  m?: string;
  b?: Uint8Array;
  h?: Record<string, string>;
  n?: string;
  k?: string;
  u?: string;
  d?: unknown;
  r?: number;
  e?: string;
}

/** A request that is a URL and nothing more. */
export const NO_EXTRAS: Extras = Object.freeze({});

/** Packs them; `found` in their data by a caller that has just looked, else −0 is looked for. */
export function packExtras(
  extras: Extras,
  found: Finding = extras.d === undefined ? "plain" : "zeros",
): Uint8Array {
  return found === "plain" ? packr.pack(extras) : packValue(extras);
}

/**
 * The same as `packExtras({ d: data }, "plain")` for a list of a number of four bytes, bytes, null and 0, as a server keeps its URLs,
 * written in place; undefined: they are something else. Costs a fifth.
 */
export function packList(data: unknown): Uint8Array | undefined {
  if (!Array.isArray(data) || data.length !== 4 || data[2] !== null || data[3] !== 0)
    return undefined;
  const [number, bytes] = data as [unknown, unknown];
  if (typeof number !== "number" || number >>> 0 !== number || number < 0x1_0000) return undefined;
  if (!(bytes instanceof Uint8Array) || Buffer.isBuffer(bytes)) return undefined;
  const length = bytes.length + 1;
  if (length > 0xffff) return undefined;
  const sizeBytes = length < 0x100 ? 1 : 2;
  const packed = Buffer.allocUnsafe(15 + sizeBytes + length);
  packed.set(LIST_HEAD);
  packed.writeUInt32BE(number, 7);
  packed[11] = EXTENSION + sizeBytes;
  let at = packed.writeUIntBE(length, 12, sizeBytes);
  packed[at++] = TYPED_ARRAY;
  packed[at++] = UINT8;
  packed.set(bytes, at);
  at += bytes.length;
  packed[at++] = NIL;
  packed[at] = 0;
  return packed;
}

/** A packed optional part with more in it. */
export function addExtras(packed: Uint8Array | undefined, more: Extras): Uint8Array {
  return packExtras(packed === undefined ? more : { ...unpackExtras(packed), ...more });
}

export function unpackExtras(bytes: Uint8Array): Extras {
  return packr.unpack(bytes) as Extras;
}

/** A map of one field, `d`: a list of four, a number of four bytes. */
const LIST_HEAD = Uint8Array.of(0xde, 0, 1, 0xa1, 0x64, 0x94, 0xce);
/** Bytes of our own type: and how many bytes their length has, of one and two. */
const EXTENSION = 0xc6;
const TYPED_ARRAY = 0x74;
const UINT8 = 1;
const NIL = 0xc0;

/** msgpack: a map of less than 256 fields, a number of four bytes, a text of one byte, one of up to 31. */
const MAP = 0xde;
const UINT32 = 0xce;
const LETTER = 0xa1;
const TEXT = 0xa0;
const TEXT_MOST = 31;
const K = 0x6b;
const D = 0x64;
const BEYOND_ASCII = /[^\0-\x7f]/;

/**
 * The same as `unpackExtras` for a key and data that are short ASCII texts, as most keys are, or data that are a number, read in place;
 * undefined: they are something else. Costs a third, and a tenth before it is compiled.
 */
export function readTexts(buffer: Buffer, start: number, size: number): Extras | undefined {
  if (buffer[start] !== MAP || buffer[start + 1] !== 0) return undefined;
  const extras: Extras = {};
  let at = start + 3;
  for (let left = buffer[start + 2] as number; left > 0; left--) {
    const length = (buffer[at + 2] as number) - TEXT;
    if (length === UINT32 - TEXT && buffer[at] === LETTER && buffer[at + 1] === D) {
      extras.d = buffer.readUInt32BE(at + 3);
      at += 7;
      continue;
    }
    if (buffer[at] !== LETTER || length < 0 || length > TEXT_MOST) return undefined;
    const text = buffer.latin1Slice(at + 3, at + 3 + length);
    if (BEYOND_ASCII.test(text)) return undefined;
    const name = buffer[at + 1];
    if (name === K) extras.k = text;
    else if (name === D) extras.d = text;
    else return undefined;
    at += 3 + length;
  }
  return at === start + size ? extras : undefined;
}

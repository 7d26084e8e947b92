/**
 * The part of msgpack that the server's `cmsgpack` has: it has texts and no bytes, so bytes are packed as texts, and every text
 * is read as a `Buffer`.
 */
import { misuse } from "../../../base/errors.ts";
import { isObject } from "../../../base/type-guards.ts";
import { packState } from "../../../persistence/msgpack.ts";

export type Packable =
  | null
  | undefined
  | boolean
  | number
  | string
  | Uint8Array
  | readonly Packable[]
  | { readonly [name: string]: Packable };

export type Unpacked = null | boolean | number | Buffer | Unpacked[] | Map<string, Unpacked>;

/** Where values are written: grown as needed, used by one call at a time. */
const out = { room: Buffer.allocUnsafe(1 << 16), end: 0 };

/** The bytes of a value. */
export function packed(value: Packable): Buffer {
  out.end = 0;
  write(value);
  return Buffer.from(out.room.subarray(0, out.end));
}

/** Bytes as a part of others. */
export interface Piece {
  readonly bytes: Uint8Array;
  readonly at: number;
  readonly end: number;
}

export const pieceOf = (bytes: Uint8Array, at: number, end: number): Piece => ({ bytes, at, end });

/** The bytes of a list of values, before and after which a list of bytes may stand. */
export function packedWith(
  first: readonly Piece[] | undefined,
  values: readonly Packable[],
  last?: readonly Piece[],
): Buffer {
  out.end = 0;
  writeHead(values.length + 1, 0x90, 16, 0xdd);
  if (first !== undefined) writePieces(first);
  for (const each of values) write(each);
  if (last !== undefined) writePieces(last);
  return Buffer.from(out.room.subarray(0, out.end));
}

function writePieces(pieces: readonly Piece[]): void {
  writeHead(pieces.length, 0x90, 16, 0xdd);
  for (const { bytes, at, end } of pieces) writeBytes(bytes, at, end - at);
}

/** Bytes up to which a loop is faster than a copy by the engine, which makes two objects. */
const LOOP_BYTES = 192;

/** Copies bytes. @hot */
export function copyBytes(
  source: Uint8Array,
  from: number,
  target: Uint8Array,
  at: number,
  size: number,
): void {
  if (size > LOOP_BYTES) target.set(source.subarray(from, from + size), at);
  else for (let each = 0; each < size; each++) target[at + each] = source[from + each] as number;
}

/** A user's state, which scripts keep and do not read. Throws ARGUMENT_INVALID where it is none. */
export function packedState(state: unknown): Buffer {
  try {
    if (isObject(state)) return packState(state);
  } catch {
    // msgpack cannot carry it.
  }
  throw misuse("ARGUMENT_INVALID", "state", state, "an object that msgpack can carry");
}

function need(bytes: number): void {
  if (out.end + bytes <= out.room.length) return;
  const more = Buffer.allocUnsafe(Math.max(out.room.length * 2, out.end + bytes));
  out.room.copy(more, 0, 0, out.end);
  out.room = more;
}

function write(value: Packable): void {
  need(9);
  if (value === null || value === undefined) out.room[out.end++] = 0xc0;
  else if (typeof value === "boolean") out.room[out.end++] = value ? 0xc3 : 0xc2;
  else if (typeof value === "number") writeNumber(value);
  else if (typeof value === "string") writeText(value);
  else if (value instanceof Uint8Array) writeBytes(value, 0, value.length);
  else if (Array.isArray(value)) {
    writeHead(value.length, 0x90, 16, 0xdd);
    for (const each of value as readonly Packable[]) write(each);
  } else {
    const fields = Object.entries(value).filter(([, each]) => each !== undefined);
    writeHead(fields.length, 0x80, 16, 0xdf);
    for (const [name, each] of fields) {
      writeText(name);
      write(each);
    }
  }
}

function writeBytes(bytes: Uint8Array, from: number, size: number): void {
  writeHead(size, 0xa0, 32, 0xdb);
  need(size);
  copyBytes(bytes, from, out.room, out.end, size);
  out.end += size;
}

function writeText(text: string): void {
  const size = Buffer.byteLength(text);
  writeHead(size, 0xa0, 32, 0xdb);
  need(size);
  out.end += out.room.write(text, out.end, "utf8");
}

function writeNumber(value: number): void {
  if (Number.isInteger(value) && value >= 0 && value < 128 && !Object.is(value, -0)) {
    out.room[out.end++] = value;
    return;
  }
  out.room[out.end] = 0xcb;
  out.end = out.room.writeDoubleBE(value, out.end + 1);
}

function writeHead(size: number, small: number, smallMax: number, large: number): void {
  need(5);
  if (size < smallMax) out.room[out.end++] = small | size;
  else {
    out.room[out.end] = large;
    out.end = out.room.writeUInt32BE(size, out.end + 1);
  }
}

/** The value of bytes that `cmsgpack.pack` wrote. */
export function unpacked(bytes: Buffer): Unpacked {
  return read({ bytes, at: 0 });
}

interface Reader {
  readonly bytes: Buffer;
  at: number;
}

function read(from: Reader): Unpacked {
  const kind = from.bytes[from.at++] as number;
  if (kind < 0x80) return kind;
  if (kind < 0x90) return readMap(from, kind & 0x0f);
  if (kind < 0xa0) return readList(from, kind & 0x0f);
  if (kind < 0xc0) return readText(from, kind & 0x1f);
  if (kind >= 0xe0) return kind - 0x100;
  return readLong(from, kind);
}

function readLong(from: Reader, kind: number): Unpacked {
  const { bytes } = from;
  const take = (size: number): number => {
    from.at += size;
    return from.at - size;
  };
  switch (kind) {
    case 0xc0:
      return null;
    case 0xc2:
      return false;
    case 0xc3:
      return true;
    case 0xca:
      return bytes.readFloatBE(take(4));
    case 0xcb:
      return bytes.readDoubleBE(take(8));
    case 0xcc:
      return bytes.readUInt8(take(1));
    case 0xcd:
      return bytes.readUInt16BE(take(2));
    case 0xce:
      return bytes.readUInt32BE(take(4));
    case 0xcf:
      return Number(bytes.readBigUInt64BE(take(8)));
    case 0xd0:
      return bytes.readInt8(take(1));
    case 0xd1:
      return bytes.readInt16BE(take(2));
    case 0xd2:
      return bytes.readInt32BE(take(4));
    case 0xd3:
      return Number(bytes.readBigInt64BE(take(8)));
    case 0xd9:
      return readText(from, bytes.readUInt8(take(1)));
    case 0xda:
      return readText(from, bytes.readUInt16BE(take(2)));
    case 0xdb:
      return readText(from, bytes.readUInt32BE(take(4)));
    case 0xdc:
      return readList(from, bytes.readUInt16BE(take(2)));
    case 0xdd:
      return readList(from, bytes.readUInt32BE(take(4)));
    case 0xde:
      return readMap(from, bytes.readUInt16BE(take(2)));
    default:
      return readMap(from, bytes.readUInt32BE(take(4)));
  }
}

function readText(from: Reader, size: number): Buffer {
  from.at += size;
  return from.bytes.subarray(from.at - size, from.at);
}

function readList(from: Reader, size: number): Unpacked[] {
  return Array.from({ length: size }, () => read(from));
}

function readMap(from: Reader, size: number): Map<string, Unpacked> {
  const map = new Map<string, Unpacked>();
  for (let each = 0; each < size; each++) {
    const name = read(from);
    map.set(String(name), read(from));
  }
  return map;
}

/**
 * Wire: protobuf on raw bytes. A reader walks the fields of one message, a writer appends fields to one buffer that is
 * used again and again.
 *
 *   I1  A reader never passes the end of its message: what is cut off or too long throws `WireError`.
 *   I2  Strings are valid UTF-8, or the message is refused.
 *   I3  Numbers above 2^53 lose their lowest bits; no field of the protocol needs them.
 */
import { isUtf8 } from "node:buffer";

export const VARINT = 0;
const FIXED64 = 1;
export const BYTES = 2;
const FIXED32 = 5;

/** A message that cannot be decoded. */
export class WireError extends Error {
  constructor(what: string) {
    super(`message: ${what} (expected: protobuf as urlfrontier.proto has it)`);
    this.name = "WireError";
  }
}

export interface Reader {
  readonly bytes: Buffer;
  at: number;
  end: number;
}

export function readerOf(bytes: Buffer, at = 0, end = bytes.length): Reader {
  return { bytes, at, end };
}

export function readVarint(reader: Reader): number {
  const { bytes, end } = reader;
  let value = 0;
  let scale = 1;
  for (let count = 0; count < 10; count++) {
    if (reader.at >= end) throw new WireError("a number is cut off");
    const byte = bytes[reader.at++] as number;
    value += (byte & 0x7f) * scale;
    if (byte < 0x80) return value;
    scale *= 128;
  }
  throw new WireError("a number has more than ten bytes");
}

/** The end of a field of bytes, whose first byte is at `reader.at` then. */
export function readEnd(reader: Reader): number {
  const length = readVarint(reader);
  const end = reader.at + length;
  if (end > reader.end) throw new WireError("a field is cut off");
  return end;
}

/** Skips a text that is valid. */
export function skipString(reader: Reader): void {
  const end = readEnd(reader);
  const { bytes } = reader;
  let { at } = reader;
  reader.at = end;
  while (at < end && (bytes[at] as number) < 0x80) at++;
  if (at < end && !isUtf8(bytes.subarray(at, end))) throw new WireError(NOT_UTF8);
}

const NOT_UTF8 = "a text is not UTF-8";

export function readString(reader: Reader): string {
  const end = readEnd(reader);
  const { bytes, at } = reader;
  reader.at = end;
  // Most are ASCII: a short one is made faster than checked.
  const text = bytes.latin1Slice(at, end);
  for (let index = 0; index < text.length; index++) {
    if (text.charCodeAt(index) < 0x80) continue;
    if (!isUtf8(bytes.subarray(at, end))) throw new WireError(NOT_UTF8);
    return bytes.utf8Slice(at, end);
  }
  return text;
}

/** Skips a field that is not used here. */
export function skipField(reader: Reader, type: number): void {
  if (type === VARINT) readVarint(reader);
  else if (type === BYTES) reader.at = readEnd(reader);
  else if (type === FIXED64) reader.at += 8;
  else if (type === FIXED32) reader.at += 4;
  else throw new WireError(`wire type ${type}`);
  if (reader.at > reader.end) throw new WireError("a field is cut off");
}

/** Appends fields; `take` copies what was written out and starts anew. */
export interface Writer {
  bytes: Buffer;
  at: number;
}

export function createWriter(size = 4_096): Writer {
  return { bytes: Buffer.allocUnsafeSlow(size), at: 0 };
}

/** Above this size the buffer is not kept. */
const KEPT_BYTES_MAX = 1 << 20;

export function take(writer: Writer): Buffer {
  const copy = Buffer.allocUnsafe(writer.at);
  writer.bytes.copy(copy, 0, 0, writer.at);
  writer.at = 0;
  if (writer.bytes.length > KEPT_BYTES_MAX) writer.bytes = Buffer.allocUnsafeSlow(4_096);
  return copy;
}

function reserve(writer: Writer, size: number): void {
  const { bytes, at } = writer;
  if (at + size <= bytes.length) return;
  const more = Buffer.allocUnsafeSlow(Math.max(bytes.length * 2, at + size));
  bytes.copy(more, 0, 0, at);
  writer.bytes = more;
}

export function writeVarint(writer: Writer, value: number): void {
  reserve(writer, 10);
  const { bytes } = writer;
  let rest = value;
  let at = writer.at;
  while (rest >= 0x80) {
    bytes[at++] = (rest % 128) + 0x80;
    rest = Math.floor(rest / 128);
  }
  bytes[at++] = rest;
  writer.at = at;
}

/** A number; 0 is not written. */
export function writeNumber(writer: Writer, field: number, value: number): void {
  if (value === 0) return;
  writeVarint(writer, field << 3);
  writeVarint(writer, value);
}

/** A text; an empty one is not written, unless it is a member of a list. */
export function writeString(writer: Writer, field: number, text: string, isMember = false): void {
  if (text === "" && !isMember) return;
  const length = Buffer.byteLength(text, "utf8");
  writeVarint(writer, (field << 3) | BYTES);
  writeVarint(writer, length);
  reserve(writer, length);
  writer.bytes.utf8Write(text, writer.at);
  writer.at += length;
}

/** Fields that are encoded already, tags included. */
export function writeFields(writer: Writer, fields: Uint8Array): void {
  reserve(writer, fields.length);
  writer.bytes.set(fields, writer.at);
  writer.at += fields.length;
}

/** Leaves room for the head of a message of gRPC (message-frames.ts); where the message starts. */
export function beginFrame(writer: Writer): number {
  reserve(writer, 5);
  writer.at += 5;
  return writer.at;
}

export function endFrame(writer: Writer, start: number): void {
  writer.bytes[start - 5] = 0; // not compressed
  writer.bytes.writeUInt32BE(writer.at - start, start - 4);
}

/** Begins a message within a message; its start goes to `endMessage`. */
export function beginMessage(writer: Writer, field: number): number {
  writeVarint(writer, (field << 3) | BYTES);
  reserve(writer, 5);
  writer.at += 1; // most are shorter than 128 bytes
  return writer.at;
}

export function endMessage(writer: Writer, start: number): void {
  const length = writer.at - start;
  if (length < 0x80) {
    writer.bytes[start - 1] = length;
    return;
  }
  const size = length < 1 << 14 ? 2 : length < 1 << 21 ? 3 : length < 1 << 28 ? 4 : 5;
  reserve(writer, size - 1);
  writer.bytes.copyWithin(start - 1 + size, start, writer.at);
  writer.at = start - 1;
  writeVarint(writer, length);
  writer.at += length;
}

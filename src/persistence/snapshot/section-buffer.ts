/**
 * Section buffer: sections as bytes, one after the other, in memory that is reused: a snapshot makes no garbage that grows
 * with it.
 *
 *   [ length | crc | msgpack ] [ length | crc | msgpack ] …      written together, then from the start again
 *
 * Columns are encoded to msgpack directly: maps of texts, whole numbers and bytes. Deeper values (a head) are packed by
 * msgpackr. One reader reads both.
 */
import { crcAt } from "../checksum.ts";
import { packr } from "../msgpack.ts";
import { type Section, SECTION_HEAD_BYTES } from "./snapshot-format.ts";

export interface SectionBuffer {
  bytes: Buffer;
  used: number;
}

/** Most bytes of a key's header, of a number, or of the header of a text or of bytes. */
const FIELD_BYTES = 16;

export function createSectionBuffer(bytes: number): SectionBuffer {
  return { bytes: Buffer.alloc(bytes), used: 0 };
}

/** Appends bytes unchanged; returns how many. */
export function addBytes(buffer: SectionBuffer, bytes: Uint8Array): number {
  reserve(buffer, bytes.length);
  buffer.bytes.set(bytes, buffer.used);
  buffer.used += bytes.length;
  return bytes.length;
}

/** Appends a section that is to stand at `offset` of the file; returns how many bytes. */
export function addSection(
  buffer: SectionBuffer,
  section: Section,
  { serial, offset }: { serial: number; offset: number },
): number {
  const start = buffer.used;
  reserve(buffer, SECTION_HEAD_BYTES);
  buffer.used += SECTION_HEAD_BYTES;
  const fields = section as unknown as Readonly<Record<string, Flat>>;
  const count = flatFields(fields);
  if (count > 0) {
    reserve(buffer, FIELD_BYTES);
    buffer.bytes[buffer.used++] = 0x80 | count;
    for (const key in fields) addField(buffer, key, fields[key] as Flat);
  } else addBytes(buffer, packr.pack(section));
  const length = buffer.used - start - SECTION_HEAD_BYTES;
  const body = buffer.bytes.subarray(start + SECTION_HEAD_BYTES, buffer.used);
  buffer.bytes.writeUInt32LE(length, start);
  buffer.bytes.writeUInt32LE(crcAt(body, serial, offset), start + 4);
  return buffer.used - start;
}

type Flat = string | number | Uint8Array;

/** The number of fields, if all are flat and few enough for a short header; otherwise 0. */
function flatFields(fields: Readonly<Record<string, unknown>>): number {
  let count = 0;
  for (const key in fields) {
    if (!isFlat(fields[key])) return 0;
    count++;
  }
  return count < 16 ? count : 0;
}

function isFlat(value: unknown): value is Flat {
  if (typeof value === "number") return Number.isInteger(value) && value >= 0;
  return typeof value === "string" || value instanceof Uint8Array;
}

function addField(buffer: SectionBuffer, key: string, value: Flat): void {
  addText(buffer, key);
  if (typeof value === "string") addText(buffer, value);
  else if (typeof value === "number") addNumber(buffer, value);
  else {
    reserve(buffer, FIELD_BYTES);
    buffer.bytes[buffer.used] = 0xc6;
    buffer.bytes.writeUInt32BE(value.length, buffer.used + 1);
    buffer.used += 5;
    addBytes(buffer, value);
  }
}

function addText(buffer: SectionBuffer, text: string): void {
  const length = Buffer.byteLength(text, "utf8");
  reserve(buffer, FIELD_BYTES + length);
  if (length < 32) buffer.bytes[buffer.used++] = 0xa0 | length;
  else {
    buffer.bytes[buffer.used] = 0xdb;
    buffer.bytes.writeUInt32BE(length, buffer.used + 1);
    buffer.used += 5;
  }
  buffer.used += buffer.bytes.write(text, buffer.used, "utf8");
}

function addNumber(buffer: SectionBuffer, value: number): void {
  reserve(buffer, FIELD_BYTES);
  const { bytes, used } = buffer;
  if (value < 128) {
    bytes[used] = value;
    buffer.used += 1;
  } else if (value < 2 ** 32) {
    bytes[used] = 0xce;
    bytes.writeUInt32BE(value, used + 1);
    buffer.used += 5;
  } else {
    bytes[used] = 0xcb;
    bytes.writeDoubleBE(value, used + 1);
    buffer.used += 9;
  }
}

function reserve(buffer: SectionBuffer, bytes: number): void {
  const needed = buffer.used + bytes;
  if (needed <= buffer.bytes.length) return;
  const grown = Buffer.alloc(needed * 2);
  grown.set(buffer.bytes.subarray(0, buffer.used));
  buffer.bytes = grown;
}

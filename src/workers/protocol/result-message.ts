/**
 * Result messages, worker to owner: how a lease ended and the links it found, in one record, so that both arrive or
 * neither does (layout/threads/worker-messages.ts).
 */
import {
  MESSAGE_DONE,
  RESULT_DUPLICATE_WORD,
  RESULT_HEAD_BYTES,
  RESULT_REFUSALS,
} from "../../layout/threads/worker-messages.ts";
import { beginMessage, endMessage, type Sender } from "./message-sender.ts";

export interface ResultMessage {
  readonly kind: number;
  /** The lease's id, 0: none. */
  readonly id: number;
  readonly links: readonly string[];
  /** Packed; the content depends on the kind. */
  readonly extras: Uint8Array | undefined;
  /** Links that the worker's filter dropped: duplicates, then those refused for each of RESULT_REFUSALS reasons. */
  readonly dropped: ArrayLike<number>;
}

/** No link was dropped. */
export const NOTHING_DROPPED: readonly number[] = Object.freeze([0, 0, 0, 0, 0, 0, 0]);

// biome-ignore lint/suspicious/noControlCharactersInRegex: latin1 begins at NUL.
const WIDE = /[^\x00-\xff]/;

export function writeResult(sender: Sender, message: ResultMessage): void {
  const { links, extras, dropped } = message;
  let text = "";
  for (let at = 0; at < links.length; at++) text += links[at] as string;
  const isWide = links.length > 0 && WIDE.test(text);
  const textBytes = isWide ? Buffer.byteLength(text) : text.length;
  const lengths = RESULT_HEAD_BYTES + links.length * 4;
  // A link cut in two by UTF-8 would be another link: each is measured alone when one of them is wide.
  const sizes = isWide ? links.map((link) => Buffer.byteLength(link)) : undefined;
  const sizeOfText = sizes === undefined ? textBytes : sizes.reduce((all, one) => all + one, 0);
  const size = lengths + sizeOfText + (extras?.length ?? 0);
  const draft = beginMessage(sender, size);
  const { bytes, words, start } = draft;
  const word = start >> 2;
  words[word] = message.kind;
  words[word + 1] = message.id;
  words[word + 2] = links.length;
  words[word + 3] = sizeOfText;
  words[word + 4] = extras?.length ?? 0;
  words[word + 5] = isWide ? 1 : 0;
  for (let at = 0; at <= RESULT_REFUSALS; at++) {
    words[word + RESULT_DUPLICATE_WORD + at] = dropped[at] as number;
  }
  const lengthsAt = word + (RESULT_HEAD_BYTES >> 2);
  for (let at = 0; at < links.length; at++) {
    words[lengthsAt + at] =
      sizes === undefined ? (links[at] as string).length : (sizes[at] as number);
  }
  if (sizes === undefined) bytes.latin1Write(text, start + lengths, sizeOfText);
  else writeWide(bytes, start + lengths, links);
  if (extras !== undefined) bytes.set(extras, start + lengths + sizeOfText);
  endMessage(sender, draft, size);
}

/** Whether a message reports that a lease is done, and nothing but its links. @hot */
export function isBareDone(bytes: Buffer, start: number): boolean {
  return bytes.readInt32LE(start) === MESSAGE_DONE && bytes.readUInt32LE(start + 16) === 0;
}

export function resultId(bytes: Buffer, start: number): number {
  return bytes.readUInt32LE(start + 4);
}

/** Links of a message: their number, and the offsets of lengths and text. */
export function foundCount(bytes: Buffer, start: number): number {
  return bytes.readUInt32LE(start + 8);
}

export function foundTextBytes(bytes: Buffer, start: number): number {
  return bytes.readUInt32LE(start + 12);
}

export function foundAreUtf8(bytes: Buffer, start: number): boolean {
  return bytes.readUInt32LE(start + 20) === 1;
}

export function foundLengthsAt(start: number): number {
  return start + RESULT_HEAD_BYTES;
}

export function foundTextAt(bytes: Buffer, start: number): number {
  return start + RESULT_HEAD_BYTES + foundCount(bytes, start) * 4;
}

/** Adds up the links that the worker's filter dropped. @hot */
export function addDropped(bytes: Buffer, start: number, sums: Uint32Array): void {
  for (let at = 0; at <= RESULT_REFUSALS; at++) {
    const count = bytes.readUInt32LE(start + (RESULT_DUPLICATE_WORD + at) * 4);
    sums[at] = (sums[at] as number) + count;
  }
}

/** Reads a message out of a lane; the result does not refer to the lane's memory. */
export function readResult(bytes: Buffer, start: number): ResultMessage {
  const count = bytes.readUInt32LE(start + 8);
  const textBytes = bytes.readUInt32LE(start + 12);
  const extrasBytes = bytes.readUInt32LE(start + 16);
  const textAt = start + RESULT_HEAD_BYTES + count * 4;
  const extrasAt = textAt + textBytes;
  const dropped: number[] = [];
  for (let at = 0; at <= RESULT_REFUSALS; at++) {
    dropped.push(bytes.readUInt32LE(start + (RESULT_DUPLICATE_WORD + at) * 4));
  }
  return {
    kind: bytes.readInt32LE(start),
    id: bytes.readUInt32LE(start + 4),
    links: count === 0 ? [] : readLinks(bytes, start, textAt, count),
    extras:
      extrasBytes === 0 ? undefined : Buffer.from(bytes.subarray(extrasAt, extrasAt + extrasBytes)),
    dropped,
  };
}

function readLinks(bytes: Buffer, start: number, textAt: number, count: number): string[] {
  const isWide = bytes.readUInt32LE(start + 20) === 1;
  const textBytes = bytes.readUInt32LE(start + 12);
  const text = isWide ? "" : bytes.latin1Slice(textAt, textAt + textBytes);
  const links: string[] = [];
  let at = 0;
  for (let index = 0; index < count; index++) {
    const length = bytes.readUInt32LE(start + RESULT_HEAD_BYTES + index * 4);
    const from = textAt + at;
    links.push(isWide ? bytes.utf8Slice(from, from + length) : text.substring(at, at + length));
    at += length;
  }
  return links;
}

function writeWide(bytes: Buffer, start: number, links: readonly string[]): void {
  let at = start;
  for (const link of links) at += bytes.utf8Write(link, at, Buffer.byteLength(link));
}

/**
 * Segments of the journal: head, frames, and how a reader classifies damage (layout/files/journal.ts).
 *
 *   I1  A frame that reads whole was written whole at this place of this segment: place and serial seed its checksum.
 *   I2  A torn tail is cut off. A bad frame that a later frame records as durable is damage, and is reported with file and offset.
 */
import {
  JOURNAL_FRAME_BYTES,
  JOURNAL_HEADER_BYTES,
  JOURNAL_HEADER_WORDS,
  JOURNAL_HEAD_ALGORITHM_WORD,
  JOURNAL_HEAD_CRC_WORD,
  JOURNAL_HEAD_MAGIC_WORD,
  JOURNAL_HEAD_PROFILE_WORD,
  JOURNAL_HEAD_SECRET_WORD,
  JOURNAL_HEAD_SERIAL_WORD,
  JOURNAL_HEAD_VERSION_WORD,
  JOURNAL_MAGIC,
  JOURNAL_VERSION,
  JOURNAL_VERSION_MIN,
} from "../../layout/files/journal.ts";
import { crcAt, crcOf } from "../checksum.ts";
import {
  damaged,
  HASH_ALGORITHM,
  type Identity,
  otherFormat,
} from "../directory/frontier-directory.ts";

/** Longest frame searched for after a bad one, and most bytes checked in all: they bound the search through noise. */
const SOUGHT_FRAME_BYTES = 1_048_576;
const SOUGHT_BYTES = 268_435_456;

/** Builds the head of a new segment. */
export function segmentHead(identity: Identity, serial: number): Uint8Array {
  const words = new Uint32Array(JOURNAL_HEADER_WORDS);
  words[JOURNAL_HEAD_MAGIC_WORD] = JOURNAL_MAGIC;
  words[JOURNAL_HEAD_VERSION_WORD] = JOURNAL_VERSION;
  words[JOURNAL_HEAD_ALGORITHM_WORD] = HASH_ALGORITHM;
  words.set(identity.secret.subarray(0, 4), JOURNAL_HEAD_SECRET_WORD);
  words[JOURNAL_HEAD_SERIAL_WORD] = serial;
  words[JOURNAL_HEAD_PROFILE_WORD] = crcOf(Buffer.from(identity.profile, "utf8"));
  const bytes = new Uint8Array(words.buffer);
  words[JOURNAL_HEAD_CRC_WORD] = crcOf(bytes.subarray((JOURNAL_HEAD_CRC_WORD + 1) * 4));
  return bytes;
}

export interface SegmentHead {
  readonly secret: Uint32Array;
  /** crc32 of the key profile's name. */
  readonly profile: number;
}

/**
 * Reads the head of a segment. Returns undefined when the head was never finished and nothing follows it. Throws SNAPSHOT_CORRUPT or
 * FORMAT_UNSUPPORTED for anything else that is not a head of this serial.
 */
export function readSegmentHead(
  path: string,
  bytes: Uint8Array,
  serial: number,
): SegmentHead | undefined {
  const isShort = bytes.length < JOURNAL_HEADER_BYTES;
  if (isShort || bytes.subarray(0, JOURNAL_HEADER_BYTES).every((byte) => byte === 0)) {
    if (bytes.length <= JOURNAL_HEADER_BYTES) return undefined;
    throw damaged(path, 0, "no header");
  }
  const words = new Uint32Array(bytes.slice(0, JOURNAL_HEADER_BYTES).buffer);
  const body = bytes.subarray((JOURNAL_HEAD_CRC_WORD + 1) * 4, JOURNAL_HEADER_BYTES);
  const isMagic = words[JOURNAL_HEAD_MAGIC_WORD] === JOURNAL_MAGIC;
  const isWhole = words[JOURNAL_HEAD_CRC_WORD] === crcOf(body);
  const version = words[JOURNAL_HEAD_VERSION_WORD] as number;
  if (!isMagic || !isWhole) {
    if (bytes.length === JOURNAL_HEADER_BYTES) return undefined;
    throw damaged(path, 0, isMagic ? "wrong checksum of the header" : "not a journal");
  }
  if (version < JOURNAL_VERSION_MIN || version > JOURNAL_VERSION) {
    const known = `version ${JOURNAL_VERSION_MIN} to ${JOURNAL_VERSION}`;
    throw otherFormat(path, `version ${version}`, known);
  }
  const algorithm = words[JOURNAL_HEAD_ALGORITHM_WORD] as number;
  if (algorithm !== HASH_ALGORITHM) {
    throw otherFormat(path, `hash algorithm ${algorithm}`, `algorithm ${HASH_ALGORITHM}`);
  }
  if (words[JOURNAL_HEAD_SERIAL_WORD] !== serial)
    throw damaged(path, 0, "the header of another segment");
  const secret = words.slice(JOURNAL_HEAD_SECRET_WORD, JOURNAL_HEAD_SECRET_WORD + 4);
  return { secret, profile: words[JOURNAL_HEAD_PROFILE_WORD] as number };
}

/** Fills in the head of a sealed frame that is to be written at `offset`. */
export function sealFrame(
  frame: Uint8Array,
  serial: number,
  offset: number,
  durable: number,
): void {
  const words = new Uint32Array(frame.buffer, frame.byteOffset, 3);
  words[0] = frame.length - JOURNAL_FRAME_BYTES;
  words[2] = durable;
  words[1] = crcAt(frame.subarray(8), serial, offset);
}

/** Bytes of a segment in memory, beginning at offset `from` of the file, a multiple of 4. */
export interface Span {
  readonly bytes: Uint8Array;
  readonly words: Uint32Array;
  readonly from: number;
}

/** Returns the end of the frame at `offset` of the file, or 0 when the span holds no whole frame there. */
export function frameEnd({ bytes, words, from }: Span, serial: number, offset: number): number {
  const start = offset - from;
  if (start + JOURNAL_FRAME_BYTES > bytes.length) return 0;
  const length = words[start >> 2] as number;
  const end = start + JOURNAL_FRAME_BYTES + length;
  if (length === 0 || length % 4 !== 0 || end > bytes.length) return 0;
  const crc = crcAt(bytes.subarray(start + 8, end), serial, offset);
  return crc === words[(start >> 2) + 1] ? from + end : 0;
}

/**
 * Whether a later frame records that the bad one at `offset` was durable: then it is damage, not a torn tail (I2). The span reaches the
 * file's end.
 */
export function wasDurable(span: Span, serial: number, offset: number): boolean {
  const { bytes, words, from } = span;
  const last = from + bytes.length - JOURNAL_FRAME_BYTES;
  let budget = SOUGHT_BYTES;
  for (let at = offset + 4; at <= last && budget > 0; at += 4) {
    const word = (at - from) >> 2;
    const length = words[word] as number;
    const durable = words[word + 2] as number;
    if (length === 0 || length > SOUGHT_FRAME_BYTES) continue;
    if (durable <= offset || durable > at) continue;
    budget -= length;
    if (frameEnd(span, serial, at) !== 0) return true;
  }
  return false;
}

/**
 * SegmentReader: reads the frames of a segment in order through one piece of memory that is reused. It never holds a whole segment, and
 * allocates nothing per frame.
 *
 *   file    │ head │ frame │ frame │ frame │ frame │ rest
 *   piece                  └── bytes, words ──┘              moves on as frames are read; grows for a longer frame
 *
 *   I1  A frame is returned only when all of it was read and its checksum matches.
 *   I2  A frame's words are valid until the next frame is read.
 *   I3  A file that becomes shorter while it is read is damaged, not ended.
 *   I4  At most REST_BYTES_MAX after the last whole frame are read: a segment that was lengthened, even by a hole of gigabytes, opens
 *       in the same time. Later bytes were not written by a frontier; they are cut with the tail.
 */
import {
  JOURNAL_FRAME_BYTES,
  JOURNAL_FRAME_WORDS,
  JOURNAL_HEADER_BYTES,
} from "../../layout/files/journal.ts";
import { becameShorter, type Files, named, openThere, readAll } from "../files.ts";
import { type Place, segmentPath } from "../directory/frontier-directory.ts";
import {
  frameEnd,
  readSegmentHead,
  type SegmentHead,
  type Span,
  wasDurable,
} from "./segment-format.ts";

/** A few frames, and small enough for the processor's cache. */
const PIECE_BYTES = 1024 * 1024;
const ZEROS = new Uint8Array(PIECE_BYTES);

/** Twice the length at which a segment ends: more than is ever written ahead, or torn. */
const REST_BYTES_MAX = 128 * 1024 * 1024;

/** What follows the last whole frame: nothing; a frame torn by a crash; damaged frames that were durable. */
type SegmentRest = "none" | "torn" | "damaged";

export class SegmentReader implements Span {
  readonly serial: number;
  readonly path: string;
  readonly size: number;
  /** The piece: bytes of the file from `from` on. */
  from = 0;
  bytes: Uint8Array;
  words: Uint32Array;
  /** Where in the file the current frame begins and ends. */
  offset = 0;
  end = JOURNAL_HEADER_BYTES;
  readonly #files: Files;
  readonly #file: number;
  /** Bytes of the piece that hold content of the file. */
  #filled = 0;

  /** Returns undefined when there is no such file. */
  static open(place: Place, serial: number): SegmentReader | undefined {
    const file = openThere(place.files, segmentPath(place, serial));
    if (file === undefined) return undefined;
    try {
      return new SegmentReader(place, serial, file);
    } catch (error) {
      place.files.close(file);
      throw error;
    }
  }

  private constructor(place: Place, serial: number, file: number) {
    this.serial = serial;
    this.path = segmentPath(place, serial);
    this.#files = place.files;
    this.#file = file;
    this.size = named(this.path, () => place.files.size(file));
    this.bytes = new Uint8Array(Math.min(this.size, PIECE_BYTES) & ~3);
    this.words = new Uint32Array(this.bytes.buffer);
  }

  close(): void {
    this.#files.close(this.#file);
  }

  /**
   * Reads the head, before any frame. Returns undefined when it was never finished and nothing follows it. Throws as `readSegmentHead`
   * does.
   */
  head(): SegmentHead | undefined {
    // One byte more distinguishes a head alone from one with something after it.
    const bytes = this.#read(0, Math.min(this.size, JOURNAL_HEADER_BYTES + 1));
    return readSegmentHead(this.path, bytes, this.serial);
  }

  /** Advances to the next frame; returns false when there is no whole one (I1). */
  next(): boolean {
    const { end } = this;
    if (!this.#reach(end, JOURNAL_FRAME_BYTES)) return false;
    const length = this.words[(end - this.from) >> 2] as number;
    if (!this.#reach(end, JOURNAL_FRAME_BYTES + length)) return false;
    const next = frameEnd(this, this.serial, end);
    if (next === 0) return false;
    this.offset = end;
    this.end = next;
    return true;
  }

  /** Where in `words` the entries of the current frame begin, and where they end. */
  get firstWord(): number {
    return ((this.offset - this.from) >> 2) + JOURNAL_FRAME_WORDS;
  }

  get lastWord(): number {
    return (this.end - this.from) >> 2;
  }

  /** Classifies what follows the last whole frame. */
  rest(): SegmentRest {
    const { end, serial } = this;
    const size = Math.min(this.size, end + REST_BYTES_MAX); // I4
    let zerosTo = end;
    while (zerosTo < size) {
      const part = this.#read(zerosTo, Math.min(size - zerosTo, PIECE_BYTES));
      if (!isZero(part)) break;
      zerosTo += part.length;
    }
    if (zerosTo >= size) return "none"; // room allocated ahead
    const bytes = this.#read(end, size - end);
    const words = new Uint32Array(bytes.buffer, 0, bytes.length >> 2);
    return wasDurable({ bytes, words, from: end }, serial, end) ? "damaged" : "torn";
  }

  /** Whether the file has `length` bytes at `offset`. Loads them into the piece if it has. */
  #reach(offset: number, length: number): boolean {
    if (offset + length > this.size) return false;
    const filledTo = this.from + this.#filled;
    if (offset + length <= filledTo) return true;
    // The part already loaded moves to the front; the rest is read after it.
    const have = this.bytes.subarray(offset - this.from, this.#filled);
    if (length > this.bytes.length) this.#grow(length);
    this.bytes.set(have);
    this.from = offset;
    this.#filled = have.length;
    const room = Math.min(this.bytes.length, this.size - offset) - have.length;
    this.#fill(this.bytes.subarray(have.length, have.length + room), offset + have.length);
    this.#filled += room;
    return true;
  }

  #grow(length: number): void {
    this.bytes = new Uint8Array((length + 3) & ~3);
    this.words = new Uint32Array(this.bytes.buffer);
  }

  #read(offset: number, length: number): Uint8Array {
    const bytes = new Uint8Array(length);
    this.#fill(bytes, offset);
    return bytes;
  }

  #fill(bytes: Uint8Array, offset: number): void {
    const isWhole = named(this.path, () => readAll(this.#files, this.#file, bytes, offset));
    if (!isWhole) throw becameShorter(this.path); // I3
  }
}

function isZero(bytes: Uint8Array): boolean {
  return Buffer.compare(bytes, ZEROS.subarray(0, bytes.length)) === 0;
}

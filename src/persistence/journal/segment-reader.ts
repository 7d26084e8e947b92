/**
 * SegmentReader: the frames of a segment, one behind the other, through a piece of memory that is used again: no reader holds a segment
 * whole, nor touches fresh memory for each.
 *
 *   file    │ head │ frame │ frame │ frame │ frame │ rest
 *   piece                  └── bytes, words ──┘              moved on as frames are asked for; longer for a frame that is longer
 *
 *   I1  A frame is told only when all of it was read and its checksum holds.
 *   I2  A frame's words are good until the next one is asked for.
 *   I4  Of what stands behind the last whole frame at most REST_BYTES_MAX are looked at: a segment that was lengthened, by a hole of
 *       gigabytes too, opens in the same time. What is further behind was written by nobody of us: it goes with the tail.
 *   I3  A file that became shorter while it was read is damage, never an end.
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

/** A few frames, and little enough to stay in the processor's own memory. */
const PIECE_BYTES = 1024 * 1024;
const ZEROS = new Uint8Array(PIECE_BYTES);

/** Twice the length at which a segment ends: more than is ever written ahead, or torn. */
const REST_BYTES_MAX = 128 * 1024 * 1024;

/** What stands behind the last whole frame: nothing that was said; what a crash tore; what was durable once. */
type SegmentRest = "none" | "torn" | "damaged";

export class SegmentReader implements Span {
  readonly serial: number;
  readonly path: string;
  readonly size: number;
  /** The piece: bytes of the file from `from` on. */
  from = 0;
  bytes: Uint8Array;
  words: Uint32Array;
  /** Where in the file the frame that was told last begins, and where it ends. */
  offset = 0;
  end = JOURNAL_HEADER_BYTES;
  readonly #files: Files;
  readonly #file: number;
  /** How many bytes of the piece are the file's. */
  #filled = 0;

  /** undefined: there is no such file. */
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

  /** Its head, before any frame; undefined: it was never finished, and nothing follows it. Throws as `readSegmentHead`. */
  head(): SegmentHead | undefined {
    // One byte more tells a head alone from one that something follows.
    const bytes = this.#read(0, Math.min(this.size, JOURNAL_HEADER_BYTES + 1));
    return readSegmentHead(this.path, bytes, this.serial);
  }

  /** Goes on to the next frame; false: there is no whole one (I1). */
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

  /** Where in `words` the entries of the frame that was told last begin, and where they end. */
  get firstWord(): number {
    return ((this.offset - this.from) >> 2) + JOURNAL_FRAME_WORDS;
  }

  get lastWord(): number {
    return (this.end - this.from) >> 2;
  }

  /** What stands behind the last whole frame. */
  rest(): SegmentRest {
    const { end, serial } = this;
    const size = Math.min(this.size, end + REST_BYTES_MAX); // I4
    let zerosTo = end;
    while (zerosTo < size) {
      const part = this.#read(zerosTo, Math.min(size - zerosTo, PIECE_BYTES));
      if (!isZero(part)) break;
      zerosTo += part.length;
    }
    if (zerosTo >= size) return "none"; // room that was written ahead
    const bytes = this.#read(end, size - end);
    const words = new Uint32Array(bytes.buffer, 0, bytes.length >> 2);
    return wasDurable({ bytes, words, from: end }, serial, end) ? "damaged" : "torn";
  }

  /** Whether the file has so many bytes there; they are in the piece then. */
  #reach(offset: number, length: number): boolean {
    if (offset + length > this.size) return false;
    const filledTo = this.from + this.#filled;
    if (offset + length <= filledTo) return true;
    // What is there of it goes to the front; the rest is read behind it.
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

/**
 * Message frames: gRPC puts five bytes before each message on a stream, whose pieces arrive as the network cuts them.
 *
 *   byte 0      1: the message is compressed
 *   bytes 1–4   its length, big-endian
 *
 *   I1  Messages are read in place, in the piece that brought them; only one that came in several pieces is copied.
 *   I2  What is kept of a message that is not whole yet is at most twice what came of it, however small the pieces.
 *   I3  All that is put together at the same time has a bound: a message beyond it is refused.
 */
import { gunzipSync, inflateSync } from "node:zlib";
import { CallError, INTERNAL, RESOURCE_EXHAUSTED } from "./call-errors.ts";
import { type Reader, readerOf } from "./wire.ts";

const HEAD_BYTES = 5;
const NOTHING: Buffer = Buffer.alloc(0);

/** How clients may compress messages. Answers are not compressed. */
export const UNPACKERS: Readonly<
  Record<string, (packed: Buffer, limit: { maxOutputLength: number }) => Buffer>
> = {
  gzip: gunzipSync,
  deflate: inflateSync,
};

/** Least room for pieces that are put together. */
const TOGETHER_BYTES_MIN = 16_384;

/** Room for messages that come in several pieces, shared by all streams of a server (I3). */
export interface Unfinished {
  bytes: number;
  readonly bytesMax: number;
}

export class FrameReader {
  readonly #bytesMax: number;
  readonly #unfinished: Unfinished;
  /** Bytes of the room that are taken. */
  #taken = 0;
  readonly #encoding: string;
  #bytes: Buffer = NOTHING;
  /** What is read next. */
  #at = 0;
  /** Where what arrived ends. */
  #end = 0;

  /** `encoding`: how the client compresses what it marks as compressed. */
  constructor(bytesMax: number, encoding: string, unfinished: Unfinished) {
    this.#bytesMax = bytesMax;
    this.#unfinished = unfinished;
    this.#encoding = encoding;
  }

  /** Bytes that arrived and were not taken as messages. */
  get size(): number {
    return this.#end - this.#at;
  }

  /** Whether a message can be taken: a whole one, or one that is too long. */
  get hasMessage(): boolean {
    if (this.size < HEAD_BYTES) return false;
    const length = this.#bytes.readUInt32BE(this.#at + 1);
    return length > this.#bytesMax || this.size >= HEAD_BYTES + length;
  }

  /** Bytes that arrived. Throws CallError where there is no room to put them together. */
  add(piece: Buffer): void {
    const kept = this.size;
    if (kept === 0) {
      this.#room(0);
      this.#bytes = piece;
      this.#at = 0;
      this.#end = piece.length;
      return;
    }
    const size = kept + piece.length;
    if (this.#bytes.length < this.#at + size) {
      const bytes = Math.max(size * 2, TOGETHER_BYTES_MIN);
      this.#room(bytes);
      const more = Buffer.allocUnsafeSlow(bytes);
      this.#bytes.copy(more, 0, this.#at, this.#end);
      this.#bytes = more;
      this.#at = 0;
      this.#end = kept;
    }
    piece.copy(this.#bytes, this.#end);
    this.#end += piece.length;
  }

  /** Nothing of what arrived is taken any more. */
  drop(): void {
    this.#room(0);
    this.#bytes = NOTHING;
    this.#at = 0;
    this.#end = 0;
  }

  /** Takes room for so many bytes in place of what was taken. */
  #room(bytes: number): void {
    const unfinished = this.#unfinished;
    const more = bytes - this.#taken;
    if (more > 0 && unfinished.bytes + more > unfinished.bytesMax) {
      throw new CallError(RESOURCE_EXHAUSTED, "messages: no room for more unfinished ones");
    }
    unfinished.bytes += more;
    this.#taken = bytes;
  }

  /** The next message, where `hasMessage`. */
  take(): Reader {
    const bytes = this.#bytes;
    const length = bytes.readUInt32BE(this.#at + 1);
    if (length > this.#bytesMax) {
      const message = `message: ${length} bytes (expected: at most ${this.#bytesMax})`;
      throw new CallError(RESOURCE_EXHAUSTED, message);
    }
    const start = this.#at + HEAD_BYTES;
    this.#at = start + length;
    const end = this.#at;
    if (this.size === 0) this.drop(); // the reader alone keeps it
    const flags = bytes[start - HEAD_BYTES] as number;
    if (flags > 1) throw new CallError(INTERNAL, `message: flags ${flags} (expected: 0 or 1)`);
    if (flags === 0) return readerOf(bytes, start, end);
    return readerOf(this.#unpack(bytes.subarray(start, end)));
  }

  #unpack(packed: Buffer): Buffer {
    const unpack = UNPACKERS[this.#encoding];
    if (unpack === undefined) {
      throw new CallError(INTERNAL, `message: compressed (expected: as grpc-encoding has it)`);
    }
    try {
      return unpack(packed, { maxOutputLength: this.#bytesMax });
    } catch (cause) {
      const isLong = (cause as { code?: string }).code === "ERR_BUFFER_TOO_LARGE";
      throw new CallError(
        isLong ? RESOURCE_EXHAUSTED : INTERNAL,
        `message: ${(cause as Error).message}`,
      );
    }
  }
}

/**
 * Message frames: gRPC puts five bytes before each message on a stream, whose pieces arrive as the network cuts them.
 *
 *   byte 0      1: the message is compressed
 *   bytes 1–4   its length, big-endian
 *
 *   I1  Messages are read in place, in the piece that brought them; only one that came in several pieces is copied.
 *   I2  What is kept of a message that is not whole yet is at most twice what came of it, however small the pieces.
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

export class FrameReader {
  readonly #bytesMax: number;
  readonly #encoding: string;
  #bytes: Buffer = NOTHING;
  /** What is read next. */
  #at = 0;
  /** Where what arrived ends. */
  #end = 0;

  /** `encoding`: how the client compresses what it marks as compressed. */
  constructor(bytesMax: number, encoding: string) {
    this.#bytesMax = bytesMax;
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

  /** Bytes that arrived. */
  add(piece: Buffer): void {
    const kept = this.size;
    if (kept === 0) {
      this.#bytes = piece;
      this.#at = 0;
      this.#end = piece.length;
      return;
    }
    const size = kept + piece.length;
    if (this.#bytes.length < this.#at + size) {
      const more = Buffer.allocUnsafeSlow(Math.max(size * 2, TOGETHER_BYTES_MIN));
      this.#bytes.copy(more, 0, this.#at, this.#end);
      this.#bytes = more;
      this.#at = 0;
      this.#end = kept;
    }
    piece.copy(this.#bytes, this.#end);
    this.#end += piece.length;
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
    const isPacked = bytes[start - HEAD_BYTES] === 1;
    if (!isPacked) return readerOf(bytes, start, this.#at);
    return readerOf(this.#unpack(bytes.subarray(start, this.#at)));
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

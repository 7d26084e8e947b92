/**
 * Message frames: gRPC puts five bytes before each message on a stream, whose pieces arrive as the network cuts them.
 *
 *   byte 0      1: the message is compressed
 *   bytes 1–4   its length, big-endian
 *
 *   I1  Messages are read where they stand in the piece that brought them; only one that came in several pieces is copied.
 *   I2  What is kept of a message that is not whole yet is at most twice what came of it, however small the pieces.
 */
import { gunzipSync, inflateSync } from "node:zlib";
import { CallError, INTERNAL, RESOURCE_EXHAUSTED } from "./call-errors.ts";

const HEAD_BYTES = 5;
const NOTHING: Buffer = Buffer.alloc(0);

/** How clients may compress messages. Answers are not compressed. */
export const UNPACKERS: Readonly<
  Record<string, (packed: Buffer, limit: { maxOutputLength: number }) => Buffer>
> = {
  gzip: gunzipSync,
  deflate: inflateSync,
};

/** Takes a message, which stands in `bytes` from `start` to `end`; false: no more of them for now. */
export type TakeMessage = (bytes: Buffer, start: number, end: number) => boolean;

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

  /** Whether something arrived that was not taken as a message. */
  get hasRest(): boolean {
    return this.#at < this.#end;
  }

  /** Bytes that arrived. */
  add(piece: Buffer): void {
    const kept = this.#end - this.#at;
    if (kept === 0) {
      this.#bytes = piece;
      this.#at = 0;
      this.#end = piece.length;
      return;
    }
    const size = kept + piece.length;
    if (this.#bytes.length < this.#at + size || this.#at > 0) {
      const more = Buffer.allocUnsafeSlow(size * 2);
      this.#bytes.copy(more, 0, this.#at, this.#end);
      this.#bytes = more;
      this.#at = 0;
      this.#end = kept;
    }
    piece.copy(this.#bytes, this.#end);
    this.#end += piece.length;
  }

  /** Hands over whole messages; false: the taker has enough of them, and there may be more. */
  read(take: TakeMessage): boolean {
    const bytes = this.#bytes;
    while (this.#end - this.#at >= HEAD_BYTES) {
      const length = bytes.readUInt32BE(this.#at + 1);
      if (length > this.#bytesMax) {
        throw new CallError(
          RESOURCE_EXHAUSTED,
          `message: ${length} bytes (expected: at most ${this.#bytesMax})`,
        );
      }
      const start = this.#at + HEAD_BYTES;
      const end = start + length;
      if (end > this.#end) return true;
      const isCompressed = bytes[this.#at] === 1;
      this.#at = end;
      if (!(isCompressed ? this.#takePacked(take, start, end) : take(bytes, start, end))) {
        return false;
      }
    }
    return true;
  }

  #takePacked(take: TakeMessage, start: number, end: number): boolean {
    const message = this.#unpack(this.#bytes.subarray(start, end));
    return take(message, 0, message.length);
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

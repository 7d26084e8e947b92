/**
 * The frames of a zstd body (RFC 8878, 3.1). Node inflates the first frame alone, and takes one without an end for whole.
 *
 *   body ─▶ magic, header ─▶ blocks to the last one ─▶ checksum ─▶ a frame ─▶ the next, up to the body's end
 *           skippable frame ─▶ skipped
 *
 *   I1  Bytes after a whole frame that are not a frame are ignored, as after a gzip member.
 */
import { DownloadError } from "../download-error.ts";

const MAGIC = 0xfd2fb528;
/** The lowest of sixteen. */
const SKIPPABLE_MAGIC = 0x184d2a50;
const WORD_BYTES = 4;
const BLOCK_HEAD_BYTES = 3;
const RLE = 1;
const RESERVED = 3;
/** Sizes of a dictionary's id and of the content's size, by their two bits. */
const DICTIONARY_BYTES: readonly number[] = [0, 1, 2, 4];
const CONTENT_BYTES: readonly number[] = [0, 2, 4, 8];
/** Each is inflated by itself. */
const FRAMES_MAX = 1_000;

/** Frames that hold content. Throws `encoding` where one has no end, unless `mayBeCut`: then it is the last. */
export function zstdFrames(body: Buffer, mayBeCut: boolean): Buffer[] {
  const frames: Buffer[] = [];
  for (let at = 0; at < body.length; ) {
    const magic = at + WORD_BYTES > body.length ? undefined : body.readUInt32LE(at);
    const isSkippable = magic !== undefined && (magic & 0xfffffff0) >>> 0 === SKIPPABLE_MAGIC;
    if (magic !== MAGIC && !isSkippable) {
      if (frames.length === 0) throw new DownloadError("encoding", "zstd: no frame");
      break;
    }
    const end = isSkippable ? skippableEnd(body, at) : frameEnd(body, at);
    const isWhole = end <= body.length;
    if (!isWhole && !mayBeCut) throw new DownloadError("encoding", "zstd: a frame without an end");
    if (!isSkippable) frames.push(body.subarray(at, end));
    if (frames.length > FRAMES_MAX) throw new DownloadError("encoding", "zstd: too many frames");
    at = end;
  }
  return frames;
}

/** Where a frame ends; beyond the body: it is not whole. */
function frameEnd(body: Buffer, start: number): number {
  const missing = body.length + 1;
  const descriptor = body[start + WORD_BYTES];
  if (descriptor === undefined) return missing;
  const isSingle = (descriptor & 32) !== 0;
  const contentBytes = CONTENT_BYTES[descriptor >> 6] as number;
  let at = start + WORD_BYTES + 1 + (isSingle ? 0 : 1);
  at += (DICTIONARY_BYTES[descriptor & 3] as number) + (contentBytes || (isSingle ? 1 : 0));
  for (let isLast = false; !isLast; ) {
    if (at + BLOCK_HEAD_BYTES > body.length) return missing;
    const head = body.readUIntLE(at, BLOCK_HEAD_BYTES);
    const kind = (head >> 1) & 3;
    if (kind === RESERVED) throw new DownloadError("encoding", "zstd: a reserved block");
    isLast = (head & 1) === 1;
    at += BLOCK_HEAD_BYTES + (kind === RLE ? 1 : head >> 3);
  }
  return at + ((descriptor & 4) === 0 ? 0 : WORD_BYTES);
}

function skippableEnd(body: Buffer, start: number): number {
  const at = start + 2 * WORD_BYTES;
  return at > body.length ? body.length + 1 : at + body.readUInt32LE(start + WORD_BYTES);
}

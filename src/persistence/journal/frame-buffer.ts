/**
 * FrameBuffer: collects the entries of the journal's next frame, written straight from the region's words. One chunk is one frame.
 * A group of entries is never split: the chunk grows when a group needs more room.
 *
 *   ┌ frame head ┬ group ┬ group ┬ group under way ┐
 *   0            3 words        groupEnd           end
 *
 *   I1  Only whole groups lie before groupEnd, and only they are sealed.
 */
import { JOURNAL_FRAME_WORDS } from "../../layout/files/journal.ts";

/** Room for 4,000 entries of usual length. A chunk enlarged for a large group is not reused. */
const CHUNK_BYTES = 512 * 1024;
/**
 * Chunks kept for reuse: those of the frames between two syncs 100 ms apart at full speed. New ones are zeroed by the system, and so
 * many of them make the runtime collect garbage.
 */
const SPARES_MAX = 64;
/** The same while nothing is logged. */
const SPARES_IDLE = 4;

export interface FrameBuffer {
  u32: Uint32Array;
  u8: Uint8Array;
  /** Words used. */
  end: number;
  groupEnd: number;
  /** Chunks to use again. */
  readonly spare: ArrayBuffer[];
  /** One double and its two words. */
  readonly double: Float64Array;
  readonly halves: Uint32Array;
}

export function createFrameBuffer(): FrameBuffer {
  const double = new Float64Array(1);
  const halves = new Uint32Array(double.buffer);
  const chunk = new ArrayBuffer(CHUNK_BYTES);
  return {
    ...{ u32: new Uint32Array(chunk), u8: new Uint8Array(chunk), spare: [], double, halves },
    ...{ end: JOURNAL_FRAME_WORDS, groupEnd: JOURNAL_FRAME_WORDS },
  };
}

/** Makes room for `words` more words and returns the index of the first. May replace the views. @hot */
export function frameRoom(frames: FrameBuffer, words: number): number {
  if (frames.end + words > frames.u32.length) growFrame(frames, words);
  return frames.end;
}

/** Writes a double at a word. @hot */
export function writeDouble(frames: FrameBuffer, at: number, value: number): void {
  frames.double[0] = value;
  frames.u32[at] = frames.halves[0] as number;
  frames.u32[at + 1] = frames.halves[1] as number;
}

/** Writes bytes, padded with zeros to a whole word. */
export function writeBytesPadded(frames: FrameBuffer, bytes: Uint8Array): void {
  const words = (bytes.length + 3) >>> 2;
  const at = frameRoom(frames, words);
  if (words > 0) frames.u32[at + words - 1] = 0;
  frames.u8.set(bytes, at * 4);
  frames.end = at + words;
}

/** Writes words that are whole entries. @hot */
export function writeWords(frames: FrameBuffer, words: Uint32Array): void {
  const at = frameRoom(frames, words.length);
  frames.u32.set(words, at);
  frames.end = at + words.length;
}

/** Bytes of whole groups that are not sealed yet. */
export function sealableBytes(frames: FrameBuffer): number {
  return (frames.groupEnd - JOURNAL_FRAME_WORDS) * 4;
}

/** Takes the chunk with its whole groups. The beginning of an unfinished group moves to a new chunk. */
export function takeFrame(frames: FrameBuffer): Uint8Array {
  const { u32, end, groupEnd } = frames;
  const bytes = frames.u8.subarray(0, groupEnd * 4);
  const chunk = frames.spare.pop() ?? new ArrayBuffer(CHUNK_BYTES);
  frames.u32 = new Uint32Array(chunk);
  frames.u8 = new Uint8Array(chunk);
  frames.end = JOURNAL_FRAME_WORDS;
  frames.groupEnd = JOURNAL_FRAME_WORDS;
  const left = end - groupEnd;
  if (left > 0) {
    const at = frameRoom(frames, left);
    frames.u32.set(u32.subarray(groupEnd, end), at);
    frames.end = at + left;
  }
  return bytes;
}

/** Keeps the chunk of a durable frame for reuse. */
export function reuseFrame(frames: FrameBuffer, bytes: Uint8Array): void {
  const { buffer } = bytes;
  if (buffer.byteLength === CHUNK_BYTES && frames.spare.length < SPARES_MAX) {
    frames.spare.push(buffer as ArrayBuffer);
  }
}

/** Frees most of the chunks kept for reuse. */
export function dropSpares({ spare }: FrameBuffer): void {
  if (spare.length > SPARES_IDLE) spare.length = SPARES_IDLE;
}

function growFrame(frames: FrameBuffer, words: number): void {
  const need = (frames.end + words) * 4;
  const chunk = new ArrayBuffer(Math.max(need + CHUNK_BYTES, frames.u8.length * 2));
  const u32 = new Uint32Array(chunk);
  u32.set(frames.u32.subarray(0, frames.end));
  frames.u32 = u32;
  frames.u8 = new Uint8Array(chunk);
}

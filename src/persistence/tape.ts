/**
 * Tape: the entries of one frame on their way to the journal, written straight from the region's words. One chunk is one
 * frame; a group of entries is never split, so the chunk grows for one that needs it.
 *
 *   ┌ frame head ┬ group ┬ group ┬ group under way ┐
 *   0            3 words        groupEnd           end
 *
 *   I1  What lies before groupEnd is whole groups; only they are ever sealed.
 */
import { JOURNAL_FRAME_WORDS } from "../layout/journal.ts";

/** Room for 4,000 entries of usual length; a chunk that a great group made larger is not kept. */
const CHUNK_BYTES = 512 * 1024;

export interface Tape {
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

export function createTape(): Tape {
  const double = new Float64Array(1);
  const halves = new Uint32Array(double.buffer);
  const chunk = new ArrayBuffer(CHUNK_BYTES);
  return {
    ...{ u32: new Uint32Array(chunk), u8: new Uint8Array(chunk), spare: [], double, halves },
    ...{ end: JOURNAL_FRAME_WORDS, groupEnd: JOURNAL_FRAME_WORDS },
  };
}

/** Room for so many more words; returns where they begin. The views may be new afterwards. @hot */
export function tapeRoom(tape: Tape, words: number): number {
  if (tape.end + words > tape.u32.length) growTape(tape, words);
  return tape.end;
}

/** Writes a double at a word. @hot */
export function tapeDouble(tape: Tape, at: number, value: number): void {
  tape.double[0] = value;
  tape.u32[at] = tape.halves[0] as number;
  tape.u32[at + 1] = tape.halves[1] as number;
}

/** Bytes, padded with zeros to a word. */
export function tapeBytesPadded(tape: Tape, bytes: Uint8Array): void {
  const words = (bytes.length + 3) >>> 2;
  const at = tapeRoom(tape, words);
  if (words > 0) tape.u32[at + words - 1] = 0;
  tape.u8.set(bytes, at * 4);
  tape.end = at + words;
}

/** Bytes of whole groups that wait to be sealed. */
export function tapeBytes(tape: Tape): number {
  return (tape.groupEnd - JOURNAL_FRAME_WORDS) * 4;
}

/** Takes the chunk off with its whole groups; what is of a group under way goes on in a new one. */
export function tapeSeal(tape: Tape): Uint8Array {
  const { u32, end, groupEnd } = tape;
  const bytes = tape.u8.subarray(0, groupEnd * 4);
  const chunk = tape.spare.pop() ?? new ArrayBuffer(CHUNK_BYTES);
  tape.u32 = new Uint32Array(chunk);
  tape.u8 = new Uint8Array(chunk);
  tape.end = JOURNAL_FRAME_WORDS;
  tape.groupEnd = JOURNAL_FRAME_WORDS;
  const left = end - groupEnd;
  if (left > 0) {
    const at = tapeRoom(tape, left);
    tape.u32.set(u32.subarray(groupEnd, end), at);
    tape.end = at + left;
  }
  return bytes;
}

/** A sealed chunk is durable: its memory can be used again. */
export function tapeReuse(tape: Tape, bytes: Uint8Array): void {
  const { buffer } = bytes;
  if (buffer.byteLength === CHUNK_BYTES && tape.spare.length < 4) {
    tape.spare.push(buffer as ArrayBuffer);
  }
}

function growTape(tape: Tape, words: number): void {
  const need = (tape.end + words) * 4;
  const chunk = new ArrayBuffer(Math.max(need + CHUNK_BYTES, tape.u8.length * 2));
  const u32 = new Uint32Array(chunk);
  u32.set(tape.u32.subarray(0, tape.end));
  tape.u32 = u32;
  tape.u8 = new Uint8Array(chunk);
}

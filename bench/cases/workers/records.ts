/**
 * URLs as bytes on both sides of `lane`: records that lie scattered in the sender's memory, as those of a frontier do, are gathered
 * into a block, and the receiver reads every word of each. No string is made on either side.
 *
 *   memory of the sender   … length · bytes, to a whole word …     where each begins: a list, in another order
 *   block                  word 0 count · for each: length · bytes, to a whole word
 */
import type { Sum } from "./blocks.ts";

/** Records of a block, in the order in which they are sent. */
export interface Records {
  readonly memory: Int32Array;
  readonly starts: Int32Array;
  /** Words of the block that they make. */
  readonly words: number;
}

/** Lays URLs out, the neighbours of a block far from one another. */
export function layRecords(blocks: readonly (readonly string[])[]): Records[] {
  const texts = blocks.map((urls) => urls.map((url) => Buffer.from(url, "latin1")));
  const sizeOf = (bytes: Buffer): number => 1 + ((bytes.length + 3) >>> 2);
  const all = texts.flat().reduce((sum, bytes) => sum + sizeOf(bytes), 0);
  const memory = new Int32Array(all);
  const starts = texts.map((of) => new Int32Array(of.length));
  let at = 0;
  for (let row = 0; row < Math.max(...texts.map(({ length }) => length)); row++) {
    for (const [block, of] of texts.entries()) {
      const bytes = of[row];
      if (bytes === undefined) continue;
      (starts[block] as Int32Array)[row] = at;
      memory[at] = bytes.length;
      new Uint8Array(memory.buffer, (at + 1) * 4, bytes.length).set(bytes);
      at += sizeOf(bytes);
    }
  }
  return texts.map((of, block) => {
    const words = of.reduce((sum, bytes) => sum + sizeOf(bytes), 1);
    return { memory, starts: starts[block] as Int32Array, words };
  });
}

/** Writes a block at a word. */
export function writeRecords(words: Int32Array, word: number, records: Records): void {
  const { memory, starts } = records;
  let to = word;
  words[to++] = starts.length;
  for (let row = 0; row < starts.length; row++) {
    const from = starts[row] as number;
    const end = from + 1 + (((memory[from] as number) + 3) >>> 2);
    for (let at = from; at < end; at++) words[to++] = memory[at] as number;
  }
}

/** Reads a block at a word: all of every record. */
export function readRecords(words: Int32Array, word: number, sum: Sum): void {
  let at = word;
  const count = words[at++] as number;
  let { bytes, mixed } = sum;
  for (let row = 0; row < count; row++) {
    const length = words[at++] as number;
    const end = at + ((length + 3) >>> 2);
    let folded = length;
    while (at < end) folded = (Math.imul(folded, 31) + (words[at++] as number)) | 0;
    bytes += length;
    mixed = (Math.imul(mixed, 31) + folded) | 0;
  }
  sum.count += count;
  sum.bytes = bytes;
  sum.mixed = mixed;
}

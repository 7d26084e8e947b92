/**
 * Walks over runs of the cold tier side by side: every hash once, ascending, with the value of the newest run that holds it.
 *
 *   oldest ─▶ block ─┐
 *             block ─┼─▶ smallest hash, newest value ─▶ rows
 *   newest ─▶ block ─┘
 *
 *   words                    [ block of input 0 ][ block of input 1 ] …
 *   hashAt, valueAt, left    by open input, oldest run first: its next hash and value in `words`, entries left of its block
 *
 *   I1  An entry out of order, or with a value that no tier stores, is SNAPSHOT_CORRUPT, which names file and block.
 *   I2  A passing value of a run before `firstOwn` counts as a removal: the older values below it must stay hidden.
 *
 * Cost: a comparison of two words for each open input, and no object, for each hash. Memory: a block for each input, and the rows.
 */
import {
  COLD_BLOCK_ENTRIES_WORD,
  COLD_BLOCK_HASHES_WORD,
  COLD_BLOCK_VALUES_WORD,
  COLD_BLOCK_WORDS,
} from "../../layout/files/cold-run.ts";
import { COLD_REMOVED, isColdValue, isPassing } from "../../structures/storage-tiers.ts";
import {
  type ColdBlock,
  type ColdReading,
  corrupt,
  createColdBlock,
  readColdBlock,
} from "./cold-run.ts";

/** Rows of one step. */
const ROWS = 1024;

/** A run as a walk reads it. */
export interface WalkedRun {
  readonly serial: number;
  readonly path: string;
  readonly file: number;
  readonly blockCount: number;
}

interface Input {
  readonly run: WalkedRun;
  readonly block: ColdBlock;
}

export interface ColdWalk {
  readonly place: Pick<ColdReading, "files">;
  /** Those that have entries left, oldest run first. */
  readonly inputs: Input[];
  readonly words: Uint32Array;
  readonly hashAt: Int32Array;
  readonly valueAt: Int32Array;
  readonly left: Int32Array;
  /** 1: of an earlier process (I2). */
  readonly isPast: Uint8Array;
  /** The rows of the last step: lo, hi each; and their values. */
  readonly hashes: Uint32Array;
  readonly values: Uint32Array;
  /** Entries of the inputs that the last step has passed. */
  handled: number;
}

/** Opens a walk over runs, oldest first. Throws SNAPSHOT_CORRUPT. */
export function createColdWalk(
  place: ColdWalk["place"],
  runs: readonly WalkedRun[],
  firstOwn = 0,
): ColdWalk {
  const words = new Uint32Array(runs.length * COLD_BLOCK_WORDS);
  const inputs = runs.map((run, at) => ({
    run,
    block: createColdBlock(words.subarray(at * COLD_BLOCK_WORDS, (at + 1) * COLD_BLOCK_WORDS)),
  }));
  const walk: ColdWalk = {
    ...{ place, inputs, words, handled: 0 },
    hashAt: new Int32Array(runs.length),
    valueAt: new Int32Array(runs.length),
    left: new Int32Array(runs.length),
    isPast: Uint8Array.from(runs, ({ serial }) => Number(serial < firstOwn)),
    hashes: new Uint32Array(ROWS * 2),
    values: new Uint32Array(ROWS),
  };
  for (let at = runs.length - 1; at >= 0; at--) nextBlock(walk, at, 0, 0);
  return walk;
}

/** Passes at most about `most` entries of the inputs; returns how many rows they make, 0 at the end. Throws SNAPSHOT_CORRUPT. @hot */
export function coldWalkRows(walk: ColdWalk, most: number): number {
  const { inputs, words, hashAt, valueAt, isPast, hashes, values } = walk;
  const enough = Math.min(most, ROWS);
  let handled = 0;
  let made = 0;
  while (handled < enough && inputs.length > 0) {
    const open = inputs.length;
    let best = 0;
    let isTwice = false;
    let lo = words[hashAt[0] as number] as number;
    let hi = words[(hashAt[0] as number) + 1] as number;
    for (let at = 1; at < open; at++) {
      const place = hashAt[at] as number;
      const otherHi = words[place + 1] as number;
      if (otherHi > hi) continue;
      const otherLo = words[place] as number;
      if (otherHi === hi && otherLo > lo) continue;
      isTwice = otherHi === hi && otherLo === lo; // of equals the later run, the newer one, wins
      best = at;
      lo = otherLo;
      hi = otherHi;
    }
    const value = words[valueAt[best] as number] as number;
    if (!isColdValue(value)) throw corruptAt(walk, best, "an entry with an impossible value");
    hashes[made * 2] = lo;
    hashes[made * 2 + 1] = hi;
    values[made++] = isPast[best] === 1 && isPassing(value) ? COLD_REMOVED : value;
    if (isTwice) handled += passAll(walk, lo, hi);
    else {
      pass(walk, best, lo, hi);
      handled += 1;
    }
  }
  walk.handled = handled;
  return made;
}

/** Calls `visit` with every row that is left of a walk. */
export function eachRow(
  walk: ColdWalk,
  visit: (lo: number, hi: number, value: number) => void,
): void {
  const { hashes, values } = walk;
  for (;;) {
    const count = coldWalkRows(walk, Number.POSITIVE_INFINITY);
    if (count === 0) return;
    for (let row = 0; row < count; row++)
      visit(hashes[row * 2] as number, hashes[row * 2 + 1] as number, values[row] as number);
  }
}

/** Memory of a walk. */
export function coldWalkBytes({ words, hashes, values }: ColdWalk): number {
  return words.byteLength + hashes.byteLength + values.byteLength;
}

/** Passes every input that stands at a hash; returns how many. */
function passAll(walk: ColdWalk, lo: number, hi: number): number {
  const { inputs, words, hashAt } = walk;
  let passed = 0;
  for (let at = inputs.length - 1; at >= 0; at--) {
    const place = hashAt[at] as number;
    if (words[place] !== lo || words[place + 1] !== hi) continue;
    pass(walk, at, lo, hi);
    passed += 1;
  }
  return passed;
}

/** Passes the entry of one input, whose hash it is. @hot */
function pass(walk: ColdWalk, at: number, lo: number, hi: number): void {
  const { words, hashAt, valueAt, left } = walk;
  const rest = (left[at] as number) - 1;
  if (rest === 0) {
    nextBlock(walk, at, lo, hi);
    return;
  }
  const place = (hashAt[at] as number) + 2;
  if (!isAfter(words, place, lo, hi)) throw corruptAt(walk, at, "entries out of order");
  hashAt[at] = place;
  valueAt[at] = (valueAt[at] as number) + 1;
  left[at] = rest;
}

/** Reads the next block of an input whose last hash was (lo, hi), or leaves the input out. */
function nextBlock(walk: ColdWalk, at: number, lo: number, hi: number): void {
  const { inputs, words, hashAt, valueAt, left, place } = walk;
  const { run, block } = inputs[at] as Input;
  if (block.index === run.blockCount) {
    inputs.splice(at, 1);
    for (const column of [hashAt, valueAt, left, walk.isPast]) column.copyWithin(at, at + 1);
    return;
  }
  const isFirst = block.index === 0;
  readColdBlock(place, run, block.index + 1, block);
  const start = block.words.byteOffset / 4;
  hashAt[at] = start + COLD_BLOCK_HASHES_WORD;
  valueAt[at] = start + COLD_BLOCK_VALUES_WORD;
  left[at] = block.words[COLD_BLOCK_ENTRIES_WORD] as number;
  if (!isFirst && !isAfter(words, hashAt[at] as number, lo, hi))
    throw corruptAt(walk, at, "entries out of order");
}

/** Whether the hash at a word comes after (lo, hi). @hot */
function isAfter(words: Uint32Array, place: number, lo: number, hi: number): boolean {
  const otherHi = words[place + 1] as number;
  return otherHi > hi || (otherHi === hi && (words[place] as number) > lo);
}

function corruptAt({ inputs }: ColdWalk, at: number, reason: string): Error {
  const { run, block } = inputs[at] as Input;
  return corrupt(run.path, block.index, reason);
}

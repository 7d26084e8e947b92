/**
 * SeenFilter: identities that were admitted, in shared memory, for workers to ask before they send a link. Written by
 * the owner alone, read by any thread. It forgets (a newer identity takes an older one's place) and never errs the other
 * way: a hit is an equal 64-bit keyed hash, which the exact table would call a duplicate too.
 *
 *   word   field   written by  read by
 *      0   magic   creator     all      FILTER_MAGIC
 *      1   lines   creator     all      a power of two
 *     32 …  lines   owner       all      of 64 bytes: 4 entries of depth + 1 (0: empty), low word, sealed high word, one unused
 *
 * Home line of a hash: its low word, masked. Within the line an equal hash keeps its place, else the first empty entry
 * is taken, else the one that the high word names.
 *
 * Ordering: none is needed. The high word is sealed with the depth (exclusive or with a multiple of it), so that a reader
 * that meets an entry half written finds no seal that fits, but by the odds of two 64-bit hashes.
 *
 *   I1  A hit at depth d was written for this hash and a depth of d or less.
 *   I2  The depth of an entry is never below the depth that the record had when it was written, and a record's depth
 *       only falls: a sighting that is no shallower than the entry changes nothing.
 */
import { assert } from "../../base/assert.ts";

const FILTER_MAGIC = 0x7365_656e;
const LINES_WORD = 1;
const HEADER_WORDS = 32;
const LINE_WORDS = 16;
const LINE_ENTRIES = 4;
const ENTRY_WORDS = 4;

export interface SeenFilter {
  readonly words: Int32Array;
  readonly mask: number;
}

export interface FilterPlace {
  readonly buffer: SharedArrayBuffer;
  readonly offset: number;
}

/** Bytes for so many entries, a power of two and at least 4. */
export function filterBytes(entries: number): number {
  return HEADER_WORDS * 4 + entries * ENTRY_WORDS * 4;
}

export function createSeenFilter(place: FilterPlace, entries: number): void {
  const lines = entries / LINE_ENTRIES;
  assert(lines >= 1 && (lines & (lines - 1)) === 0, "lines are a power of two");
  const words = new Int32Array(place.buffer, place.offset, HEADER_WORDS);
  words[LINES_WORD] = lines;
  Atomics.store(words, 0, FILTER_MAGIC);
}

export function attachSeenFilter(place: FilterPlace): SeenFilter {
  const header = new Int32Array(place.buffer, place.offset, HEADER_WORDS);
  assert(Atomics.load(header, 0) === FILTER_MAGIC, "a filter stands at this offset");
  const lines = header[LINES_WORD] as number;
  const words = new Int32Array(place.buffer, place.offset, HEADER_WORDS + lines * LINE_WORDS);
  return { words, mask: lines - 1 };
}

/** Remembers an identity that was admitted, or lowers its depth. Owner only. @hot */
export function filterInsert(filter: SeenFilter, lo: number, hi: number, depth: number): void {
  const { words } = filter;
  const line = HEADER_WORDS + ((lo & filter.mask) << 4);
  const low = lo | 0;
  let entry = line + (((hi >>> 28) & (LINE_ENTRIES - 1)) << 2);
  for (let at = line; at < line + LINE_WORDS; at += ENTRY_WORDS) {
    const known = words[at] as number;
    if (known === 0) {
      entry = at;
      break;
    }
    if (words[at + 1] === low && words[at + 2] === sealed(hi, known)) {
      if (depth + 1 >= known) return;
      entry = at;
      break;
    }
  }
  words[entry] = depth + 1;
  words[entry + 1] = low;
  words[entry + 2] = sealed(hi, depth + 1);
}

/** Whether this identity is known at this depth or a shallower one: then the sighting changes nothing. Any thread. @hot */
export function filterHas(filter: SeenFilter, lo: number, hi: number, depth: number): boolean {
  const { words } = filter;
  const line = HEADER_WORDS + ((lo & filter.mask) << 4);
  for (let at = line; at < line + LINE_WORDS; at += ENTRY_WORDS) {
    if (words[at + 1] !== (lo | 0)) continue;
    const known = words[at] as number;
    if (known === 0 || known > depth + 1) continue;
    if (words[at + 2] === sealed(hi, known)) return true;
  }
  return false;
}

/** @hot */
function sealed(hi: number, depthWord: number): number {
  return hi ^ Math.imul(depthWord, 0x9e37_79b1);
}

/** Forgets everything: a new generation. Owner only, while no worker asks (the edge is off). */
export function filterClear(filter: SeenFilter): void {
  filter.words.fill(0, HEADER_WORDS);
}

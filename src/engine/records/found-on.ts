/**
 * FoundOn: the URLs of the pages whose links were admitted last, by the fingerprint that their links carry. A record
 * holds the fingerprint of its page alone; this is where a URL can still be read for it.
 *
 *   page with links ─▶ young ── full ─▶ old, and what was old goes        at least GENERATION_BYTES of pages are kept
 *
 *   young and old, each:  texts    fingerprint (16 bytes) · length u16 · URL in UTF-8, one behind the other
 *                         slots    open addressing by the first word of fingerprints: offset of the text + 1 (0: free) · that word;
 *                                  texts come into it when one is looked for: most crawls add far more pages than fail
 *
 *   I1  A slot's text has the whole fingerprint: two pages are never taken for each other.
 *   I2  At most half of the slots are in use, and a search ends after PROBES_MAX of them: pages whose fingerprints are aimed at one slot
 *       lose their own URLs, and cost no time.
 *   I3  A journal gets the pages in pieces. A piece that is short is written again as it grows; the next one begins behind
 *       one that is long enough. The numbers of pieces go up, over restarts too; PIECES_MAX of them hold both generations.
 */

/** Texts of one generation: about 25,000 pages. */
const GENERATION_BYTES = 2 * 1024 * 1024;
const FIRST_BYTES = 16 * 1024;
const FIRST_SLOTS = 256;
/** Shorter texts are copied letter by letter, which takes half as long as a call of the platform. */
const SHORT_TEXT = 128;
const PROBES_MAX = 32;
const HEAD_BYTES = 18;
/** Longer URLs are not kept. */
const URL_LENGTH_MAX = 2_000;
/** A piece of this size is not written again. */
export const PIECE_BYTES = 2 * 1024;
/** A journal keeps so many pieces: the next one takes the place of the oldest (I3). */
export const PIECES_MAX = 2_048;

/** Pages for a journal, and their place among the pieces. */
export interface PagesPiece {
  readonly number: number;
  readonly pages: Uint8Array;
}

interface Generation {
  texts: Buffer;
  used: number;
  /** Two words a slot. */
  slots: Int32Array;
  /** Up to where texts are in the slots, and how many. */
  indexed: number;
  count: number;
}

export class FoundOn {
  #young = createGeneration();
  #old: Generation | undefined;
  /** The piece that is being written: its number, where it begins, and up to where it was written. */
  #piece = 0;
  #pieceIn = this.#young;
  #pieceFrom = 0;
  #writtenTo = 0;

  /** Takes note of a page: its fingerprint stands at a byte offset of the region. @hot */
  add(region: Buffer, offset: number, url: string): void {
    if (url.length > URL_LENGTH_MAX) return;
    const room = HEAD_BYTES + url.length * 3;
    let young = this.#young;
    if (young.used + room > GENERATION_BYTES) {
      this.#old = young;
      young = createGeneration(young.texts.length);
      this.#young = young;
    }
    if (young.used + room > young.texts.length) growTexts(young);
    const { texts, used } = young;
    for (let at = 0; at < 16; at++) texts[used + at] = region[offset + at] as number;
    const length = writeText(texts, used + HEAD_BYTES, url);
    texts[used + 16] = length & 0xff;
    texts[used + 17] = length >> 8;
    young.used = used + HEAD_BYTES + length;
  }

  /** The URL of the page with this fingerprint; undefined: it is not kept. */
  find(region: Buffer, offset: number): string | undefined {
    return textOf(this.#young, region, offset) ?? textOf(this.#old, region, offset);
  }

  clear(): void {
    this.#young = createGeneration();
    this.#old = undefined;
    this.#beginPiece(this.#young, 0);
  }

  /** Bytes of pages in no piece yet. */
  get newBytes(): number {
    const { used } = this.#young;
    return this.#pieceIn === this.#young ? used - this.#writtenTo : used + 1;
  }

  /** The pieces with pages in none yet: at most two. What they hold counts as written. */
  takePieces(): PagesPiece[] {
    const pieces: PagesPiece[] = [];
    if (this.#pieceIn !== this.#young) {
      const old = this.#old as Generation;
      // Where both generations were filled since the last piece, what was before is gone.
      if (this.#pieceIn !== old) this.#beginPiece(old, 0);
      this.#takePiece(pieces);
      this.#beginPiece(this.#young, 0);
    }
    this.#takePiece(pieces);
    return pieces;
  }

  #takePiece(pieces: PagesPiece[]): void {
    const { texts, used } = this.#pieceIn;
    if (used === this.#writtenTo) return;
    pieces.push({ number: this.#piece, pages: texts.subarray(this.#pieceFrom, used) });
    this.#writtenTo = used;
    if (used - this.#pieceFrom >= PIECE_BYTES) this.#beginPiece(this.#pieceIn, used);
  }

  #beginPiece(generation: Generation, from: number): void {
    if (this.#writtenTo > this.#pieceFrom) this.#piece++;
    this.#pieceIn = generation;
    this.#pieceFrom = from;
    this.#writtenTo = from;
  }

  /** All of it, the older part first; undefined: there is none. */
  pack(): Uint8Array | undefined {
    const old = this.#old;
    const young = this.#young;
    if (old === undefined && young.used === 0) return undefined;
    const parts = [young.texts.subarray(0, young.used)];
    if (old !== undefined) parts.unshift(old.texts.subarray(0, old.used));
    return Buffer.concat(parts);
  }

  /** Restores what `pack` returned, or a piece of this number. Throws a TypeError for anything else. */
  restore(packed: unknown, number = -1): void {
    if (!(packed instanceof Uint8Array)) throw new TypeError("pages that are no bytes");
    const bytes = Buffer.from(packed.buffer, packed.byteOffset, packed.length);
    for (let at = 0; at < bytes.length; ) {
      const end =
        at + HEAD_BYTES > bytes.length ? -1 : at + HEAD_BYTES + bytes.readUInt16LE(at + 16);
      if (end < 0 || end > bytes.length) throw new TypeError("pages that are cut off");
      this.add(bytes, at, bytes.toString("utf8", at + HEAD_BYTES, end));
      at = end;
    }
    this.#piece = Math.max(this.#piece, number + 1);
    this.#pieceIn = this.#young;
    this.#pieceFrom = this.#young.used;
    this.#writtenTo = this.#young.used;
  }
}

function createGeneration(bytes = FIRST_BYTES): Generation {
  const texts = Buffer.allocUnsafeSlow(bytes);
  return { texts, used: 0, slots: new Int32Array(FIRST_SLOTS * 2), indexed: 0, count: 0 };
}

function growTexts(generation: Generation): void {
  const texts = Buffer.allocUnsafeSlow(Math.min(generation.texts.length * 2, GENERATION_BYTES));
  generation.texts.copy(texts, 0, 0, generation.used);
  generation.texts = texts;
}

/** Brings the texts into the slots that were added since. */
function indexTexts(generation: Generation): void {
  const { texts, used } = generation;
  let at = generation.indexed;
  while (at < used) {
    if (generation.count * 4 >= generation.slots.length) growSlots(generation);
    putSlot(generation, at, texts.readInt32LE(at));
    at += HEAD_BYTES + texts.readUInt16LE(at + 16);
  }
  generation.indexed = at;
}

function growSlots(generation: Generation): void {
  const { slots } = generation;
  generation.slots = new Int32Array(slots.length * 2);
  generation.count = 0;
  for (let from = 0; from < slots.length; from += 2) {
    const held = slots[from] as number;
    if (held !== 0) putSlot(generation, held - 1, slots[from + 1] as number);
  }
}

function putSlot(generation: Generation, at: number, word: number): void {
  const slot = findSlot(generation, generation.texts, at);
  if (slot < 0) return;
  const { slots } = generation;
  if (slots[slot] === 0) generation.count++;
  slots[slot] = at + 1;
  slots[slot + 1] = word;
}

/** Writes a URL at a byte of the texts; how many bytes it takes. @hot */
function writeText(texts: Buffer, start: number, url: string): number {
  if (url.length > SHORT_TEXT) return texts.write(url, start);
  let bits = 0;
  for (let at = 0; at < url.length; at++) {
    const code = url.charCodeAt(at);
    bits |= code;
    texts[start + at] = code;
  }
  return bits < 0x80 ? url.length : texts.write(url, start);
}

/** The slot of a fingerprint, or the free one where it would be; −1: neither was found in PROBES_MAX slots (I2). */
function findSlot({ texts, slots }: Generation, from: Buffer, offset: number): number {
  const mask = slots.length - 1;
  const word = from.readInt32LE(offset);
  let slot = (word * 2) & mask;
  for (let probe = 0; probe < PROBES_MAX; probe++) {
    const held = slots[slot] as number;
    if (held === 0) return slot;
    if (slots[slot + 1] === word && isSame(texts, held - 1, from, offset)) return slot;
    slot = (slot + 2) & mask;
  }
  return -1;
}

function textOf(
  generation: Generation | undefined,
  region: Buffer,
  offset: number,
): string | undefined {
  if (generation === undefined) return undefined;
  indexTexts(generation);
  const slot = findSlot(generation, region, offset);
  const at = slot < 0 ? -1 : (generation.slots[slot] as number) - 1;
  if (at < 0) return undefined;
  const { texts } = generation;
  const start = at + HEAD_BYTES;
  return texts.toString("utf8", start, start + texts.readUInt16LE(at + 16));
}

function isSame(texts: Buffer, at: number, from: Buffer, offset: number): boolean {
  for (let by = 0; by < 16; by += 4) {
    if (texts.readInt32LE(at + by) !== from.readInt32LE(offset + by)) return false;
  }
  return true;
}

/**
 * Records pushed to hosts on disk: kept with the block of their host, which is not read (host-blocks.ts). Owner: the frontier's thread.
 *
 *   block ──▶ added ─▶ added ─▶ …           records in memory, with their host's hash (layout/records/spill-block.ts)
 *     └────▶ piece ─▶ piece ─▶ …            those that memory had no room for: bytes on the tier, an entry for each
 *
 *   blocks with added records in memory: addedFirst ⇄ … ⇄ addedLast
 *
 *   I1  The seen-set holds an added record as one of its block.
 *   I2  A piece is read when its block comes back, and freed then.
 *   I3  A block stands in that list while it has added records in memory.
 */
import {
  ADDED_HOST_HI_WORD,
  ADDED_HOST_LO_WORD,
  ADDED_NEXT_WORD,
  PIECE_BYTES,
  PIECE_BYTES_WORD,
  PIECE_NEXT_WORD,
  PIECE_PLACE_WORD,
  PIECE_RECORDS_WORD,
  SPILL_ADDED_NEXT_WORD,
  SPILL_ADDED_PREVIOUS_WORD,
  SPILL_ADDED_WORD,
  SPILL_ENTRY_HEAD_WORDS,
  SPILL_HELD_WORD,
  SPILL_LIVE_WORD,
  SPILL_NAMELESS_WORD,
  SPILL_PIECES_WORD,
  SPILL_PLACE_WORD,
} from "../../layout/records/spill-block.ts";
import { assert } from "../../base/assert.ts";
import { RECORD_QUEUE_WORD } from "../../layout/records/record.ts";
import { arenaGive, arenaTake } from "../../memory/arena.ts";
import {
  RECORD_FLAG_NO_IDENTITY,
  RECORD_FLAG_QUEUED,
  recordFlags,
  recordFree,
  recordHi,
  recordLo,
  recordQueue,
  setRecordFlags,
  setRecordQueue,
} from "../records/record.ts";
import { seenFind } from "../seen/seen-set.ts";
import { setWord, word } from "../store.ts";
import { type Spill, SPILL_RECORDS_MAX } from "./lane-spill.ts";
import { entryWords, packedWords, packRecord, setEntryFlag } from "./record-codec.ts";
import { isNameless, isSpilledValue, spilledPlace } from "./spilled-identity.ts";

/** Added records of a block that are in memory: whose each is, and under which rule. */
export interface Added {
  readonly records: number[];
  readonly los: number[];
  readonly his: number[];
  readonly rules: number[];
}

/** Adds a record, which stands nowhere, to the block of its host under a rule. */
export function addToBlock(
  spill: Spill,
  block: number,
  record: number,
  { lo, hi, ruleQueue }: { lo: number; hi: number; ruleQueue: number },
): void {
  const { store } = spill;
  link(spill, block, record, { lo, hi });
  setRecordQueue(store, record, ruleQueue);
  setRecordFlags(store, record, recordFlags(store, record) | RECORD_FLAG_QUEUED);
  setWord(store, block, SPILL_LIVE_WORD, word(store, block, SPILL_LIVE_WORD) + 1);
  spill.count += 1;
}

/** The block with added records in memory after this one; 0: none. */
export function nextWithAdded({ store }: Spill, block: number): number {
  return word(store, block, SPILL_ADDED_NEXT_WORD);
}

/** How many added records of a block are in memory. */
export function heldRecords({ store }: Spill, block: number): number {
  return word(store, block, SPILL_HELD_WORD);
}

/** Added records of a block in memory, the newest first, at most so many. Where a generation has left the block behind they get their names now. */
export function addedOf(spill: Spill, block: number, most = Number.POSITIVE_INFINITY): Added {
  const { store } = spill;
  const added: Added = { records: [], los: [], his: [], rules: [] };
  const isBehind = word(store, block, SPILL_NAMELESS_WORD) !== 0;
  let record = word(store, block, SPILL_ADDED_WORD);
  for (let left = most; record !== 0 && left > 0; left--) {
    if (isBehind && !isNameless(store, record)) spill.names?.name(record);
    added.records.push(record);
    added.los.push(word(store, record, ADDED_HOST_LO_WORD));
    added.his.push(word(store, record, ADDED_HOST_HI_WORD));
    added.rules.push(recordQueue(store, record));
    record = word(store, record, ADDED_NEXT_WORD);
  }
  return added;
}

/** Links added records, which have left their places meanwhile, to their block again. */
export function keepAdded(spill: Spill, block: number, added: Added): void {
  const { store } = spill;
  holdNone(spill, block);
  for (let index = added.records.length - 1; index >= 0; index--) {
    const record = added.records[index] as number;
    const lo = added.los[index] as number;
    link(spill, block, record, { lo, hi: added.his[index] as number });
    setRecordQueue(store, record, added.rules[index] as number);
  }
}

/** Calls `each` for the entries of a block's pieces, at a word of the buffer, with the hash of the host and the rule of each. */
export function eachPiece(
  spill: Spill,
  block: number,
  each: (lo: number, hi: number, ruleQueue: number, at: number) => void,
): void {
  const { store, tier } = spill;
  let piece = word(store, block, SPILL_PIECES_WORD);
  for (; piece !== 0; piece = word(store, piece, PIECE_NEXT_WORD)) {
    const bytes = word(store, piece, PIECE_BYTES_WORD);
    if (bytes > spill.words.byteLength) spill.words = new Uint32Array(bytes / 4);
    tier.read(word(store, piece, PIECE_PLACE_WORD), new Uint8Array(spill.words.buffer, 0, bytes));
    let at = 0;
    for (let left = word(store, piece, PIECE_RECORDS_WORD); left > 0; left--) {
      const { words } = spill;
      const from = at + SPILL_ENTRY_HEAD_WORDS;
      const lo = words[from + ADDED_HOST_LO_WORD] as number;
      const hi = words[from + ADDED_HOST_HI_WORD] as number;
      each(lo, hi, words[from + RECORD_QUEUE_WORD] as number, at);
      at += entryWords(words, at);
    }
  }
}

/**
 * Writes the added records of a block that are in memory, at most SPILL_RECORDS_MAX of them, as one piece more; how many went, 0: memory is
 * exhausted. Throws what the tier throws.
 */
export function writePiece(spill: Spill, block: number): number {
  const { store, tier } = spill;
  const { records } = addedOf(spill, block, SPILL_RECORDS_MAX);
  const words = records.reduce((sum, record) => sum + packedWords(store, record), 0);
  if (words > spill.words.length) spill.words = new Uint32Array(words);
  const place = word(store, block, SPILL_PLACE_WORD);
  let at = 0;
  for (const record of records) {
    const next = packRecord(store, record, spill.words, at);
    if (!isOwner(spill, record, place)) setEntryFlag(spill.words, at, RECORD_FLAG_NO_IDENTITY);
    at = next;
  }
  const piece = arenaTake(store.arena, PIECE_BYTES);
  if (piece === 0) return 0;
  let to: number;
  try {
    to = tier.write(new Uint8Array(spill.words.buffer, 0, at * 4));
  } catch (error) {
    arenaGive(store.arena, piece, PIECE_BYTES);
    throw error;
  }
  setWord(store, piece, PIECE_NEXT_WORD, word(store, block, SPILL_PIECES_WORD));
  setWord(store, piece, PIECE_PLACE_WORD, to);
  setWord(store, piece, PIECE_BYTES_WORD, at * 4);
  setWord(store, piece, PIECE_RECORDS_WORD, records.length);
  setWord(store, block, SPILL_PIECES_WORD, piece);
  unlink(spill, block, records);
  for (const record of records) {
    if (isNameless(store, record)) spill.names?.drop(record, place);
    recordFree(store, record);
  }
  spill.written += records.length;
  return records.length;
}

/** A block has come back: it has no added records any more, and its pieces go. */
export function endAdded(spill: Spill, block: number): void {
  const { store, tier } = spill;
  holdNone(spill, block);
  for (let piece = word(store, block, SPILL_PIECES_WORD); piece !== 0; ) {
    const next = word(store, piece, PIECE_NEXT_WORD);
    tier.free(word(store, piece, PIECE_PLACE_WORD));
    arenaGive(store.arena, piece, PIECE_BYTES);
    piece = next;
  }
}

/** Checks I3 over all blocks, which hold so many added records in memory. */
export function verifyAdded(spill: Spill, added: number): void {
  const { blocks, store } = spill;
  let last = 0;
  let [count, held] = [0, 0];
  for (let block = spill.addedFirst; block !== 0; block = nextWithAdded(spill, block)) {
    assert(word(store, block, SPILL_ADDED_PREVIOUS_WORD) === last, "I3: the list leads back");
    assert(heldRecords(spill, block) > 0, "I3: a block of the list has added records");
    last = block;
    count += 1;
    held += heldRecords(spill, block);
  }
  assert(spill.addedLast === last, "I3: the list ends");
  assert(held === added, "I3: all added records are in blocks of the list");
  const having = blocks.filter((block) => block !== 0 && heldRecords(spill, block) > 0);
  assert(having.length === count, "I3: each block with added records is in the list");
}

/** Whether the identity of an added record still names its block. */
function isOwner(spill: Spill, record: number, place: number): boolean {
  if (isNameless(spill.store, record)) return false;
  if (spill.seen.tiered !== undefined) return true; // there no spilled record loses its identity
  const value = seenFind(spill.seen, recordLo(spill.store, record), recordHi(spill.store, record));
  return isSpilledValue(value) && spilledPlace(value) === place;
}

function link(
  spill: Spill,
  block: number,
  record: number,
  { lo, hi }: { lo: number; hi: number },
): void {
  const { store } = spill;
  setWord(store, record, ADDED_NEXT_WORD, word(store, block, SPILL_ADDED_WORD));
  setWord(store, record, ADDED_HOST_LO_WORD, lo);
  setWord(store, record, ADDED_HOST_HI_WORD, hi);
  setWord(store, block, SPILL_ADDED_WORD, record);
  const held = word(store, block, SPILL_HELD_WORD);
  setWord(store, block, SPILL_HELD_WORD, held + 1);
  if (held === 0) join(spill, block);
}

/** The first records of a block's list leave it. */
function unlink(spill: Spill, block: number, records: readonly number[]): void {
  const { store } = spill;
  const rest = heldRecords(spill, block) - records.length;
  if (rest === 0) {
    holdNone(spill, block);
    return;
  }
  const last = records[records.length - 1] as number;
  setWord(store, block, SPILL_ADDED_WORD, word(store, last, ADDED_NEXT_WORD));
  setWord(store, block, SPILL_HELD_WORD, rest);
}

/** A block has no added records in memory from now on. */
function holdNone(spill: Spill, block: number): void {
  const { store } = spill;
  if (word(store, block, SPILL_HELD_WORD) > 0) leave(spill, block);
  setWord(store, block, SPILL_ADDED_WORD, 0);
  setWord(store, block, SPILL_HELD_WORD, 0);
}

function join(spill: Spill, block: number): void {
  const { addedLast, store } = spill;
  setWord(store, block, SPILL_ADDED_PREVIOUS_WORD, addedLast);
  setWord(store, block, SPILL_ADDED_NEXT_WORD, 0);
  if (addedLast === 0) spill.addedFirst = block;
  else setWord(store, addedLast, SPILL_ADDED_NEXT_WORD, block);
  spill.addedLast = block;
}

function leave(spill: Spill, block: number): void {
  const { store } = spill;
  const next = nextWithAdded(spill, block);
  const previous = word(store, block, SPILL_ADDED_PREVIOUS_WORD);
  if (next === 0) spill.addedLast = previous;
  else setWord(store, next, SPILL_ADDED_PREVIOUS_WORD, previous);
  if (previous === 0) spill.addedFirst = next;
  else setWord(store, previous, SPILL_ADDED_NEXT_WORD, next);
}

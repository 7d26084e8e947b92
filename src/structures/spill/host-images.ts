/**
 * Images: blocks of hosts as a file holds them, and blocks made of them by another process (docs/formats/snapshot.md, `block`). Owner: the
 * frontier's thread.
 *
 *   block + pieces + added records ─▶ imageOf ─▶ section of a snapshot ─▶ layImage ─▶ block, with one piece for what was added
 *
 * An image is the bytes of the block with one difference: where memory has the handle of a rule's queue, the image has the rule's index.
 *
 *   I1  layImage(imageOf(block)) holds the same hosts, with the same records, at the same turns and clocks.
 *   I2  A block has an image if each of its records has its identity, which in mode tiered none of them loses.
 *   I3  What is refused has changed nothing, by the disk as well. After a fault of memory, and after −2, the caller drops the whole core.
 *
 * Cost: a copy of the bytes, and an entry in the index and in the seen-set for each host and record; a record itself is never made.
 */
import { memoryFull } from "../../base/errors.ts";
import {
  HOST_SPILLED,
  RULE_QUEUE_INDEX_WORD,
  RULE_QUEUE_RANKS_WORD,
} from "../../layout/records/host.ts";
import { RECORD_FLAG_NO_IDENTITY, RECORD_QUEUE_WORD } from "../../layout/records/record.ts";
import {
  PIECE_BYTES,
  PIECE_BYTES_WORD,
  PIECE_NEXT_WORD,
  PIECE_PLACE_WORD,
  PIECE_RECORDS_WORD,
  SPILL_BY_CLOCK,
  SPILL_BY_TURN,
  SPILL_BYTES_WORD,
  SPILL_ENTRIES_WORD,
  SPILL_ENTRY_HEAD_WORDS,
  SPILL_HOST_RECORDS_WORD,
  SPILL_HOST_RULE_WORD,
  SPILL_HOST_WORDS_WORD,
  SPILL_KIND_WORD,
  SPILL_LANE_WORD,
  SPILL_LIVE_WORD,
  SPILL_NAMELESS_WORD,
  SPILL_OTHER_WORD,
  SPILL_PIECES_WORD,
  SPILL_PLACE_WORD,
  SPILL_QUEUE_WORD,
} from "../../layout/records/spill-block.ts";
import { arenaGive, arenaTake } from "../../memory/arena.ts";
import { lanePriority } from "../ordering/lane.ts";
import { ranksClose, ranksOpen } from "../ordering/ranks.ts";
import { recordKey } from "../records/record.ts";
import { seenMakeRoom } from "../seen/seen-set.ts";
import { float, setWord, type Store, word } from "../store.ts";
import {
  type FingerprintTable,
  tableFindBatch,
  tableInsertBatch,
} from "../table/fingerprint-table.ts";
import { addedOf, eachPiece } from "./added-records.ts";
import type { HostSpill } from "./host-blocks.ts";
import { firstRecordAt, hostHashAt } from "./host-codec.ts";
import { readBlock, type Spill, writeBlock } from "./lane-spill.ts";
import {
  entryDepth,
  entryFlags,
  entryHi,
  entryLo,
  entryWords,
  packedWords,
  packRecord,
} from "./record-codec.ts";
import { valueOfAdded } from "./spilled-identity.ts";

export interface BlockImage {
  readonly isClocked: boolean;
  /** Index of the rule, and the priority, of hosts that may go. */
  readonly rule: number;
  readonly priority: number;
  /** Turn or clock of its first host, and of its last one. */
  readonly first: number;
  readonly last: number;
  readonly hosts: number;
  readonly records: number;
  /** Host entries. */
  readonly words: Uint32Array;
  /** Entries of records that were added since, under rule indices. */
  readonly added: Uint32Array;
  readonly addedRecords: number;
}

/** The image of a block of hosts, its words valid until the next block is read; undefined: it has none (I2). Throws what the tier throws. */
export function imageOf({ spill }: HostSpill, block: number): BlockImage | undefined {
  const { store } = spill;
  if (spill.seen.tiered === undefined || word(store, block, SPILL_NAMELESS_WORD) !== 0) {
    return undefined;
  }
  const added = addedImage(spill, block);
  if (added === undefined) return undefined;
  const hosts = readBlock(spill, block);
  const records = toIndices(spill, hosts);
  if (records < 0) return undefined;
  const isClocked = word(store, block, SPILL_KIND_WORD) === SPILL_BY_CLOCK;
  const lane = word(store, block, SPILL_LANE_WORD);
  const ruleQueue = word(store, block, SPILL_QUEUE_WORD);
  return {
    isClocked,
    rule: isClocked ? 0 : word(store, ruleQueue, RULE_QUEUE_INDEX_WORD),
    priority: isClocked ? 0 : lanePriority(store.region, lane),
    first: recordKey(store, block),
    last: float(store, block, SPILL_OTHER_WORD),
    ...{ hosts, records },
    words: spill.words.subarray(0, word(store, block, SPILL_BYTES_WORD) / 4),
    ...{ added: added.words, addedRecords: added.records },
  };
}

/** Puts the indices of rules into the entries in the buffer; how many records they have, −1: one has no identity. */
function toIndices({ store, words }: Spill, hosts: number): number {
  let records = 0;
  let at = 0;
  for (let host = 0; host < hosts; host++) {
    const ruleQueue = words[at + SPILL_HOST_RULE_WORD] as number;
    words[at + SPILL_HOST_RULE_WORD] = word(store, ruleQueue, RULE_QUEUE_INDEX_WORD);
    let next = firstRecordAt(words, at);
    const held = words[at + SPILL_HOST_RECORDS_WORD] as number;
    for (let left = held; left > 0; left--) {
      if ((entryFlags(words, next) & RECORD_FLAG_NO_IDENTITY) !== 0) return -1;
      next += entryWords(words, next);
    }
    records += held;
    at += words[at + SPILL_HOST_WORDS_WORD] as number;
  }
  return records;
}

/** The added records of a block, on the tier and in memory; undefined: one has no identity. */
function addedImage(
  spill: Spill,
  block: number,
): { words: Uint32Array; records: number } | undefined {
  const { store } = spill;
  const held = addedOf(spill, block).records;
  let size = held.reduce((sum, record) => sum + packedWords(store, record), 0);
  eachPiece(spill, block, (_lo, _hi, _rule, at) => {
    size += entryWords(spill.words, at);
  });
  const words = new Uint32Array(size);
  let to = 0;
  let records = 0;
  let isWhole = true;
  const end = (next: number): void => {
    if ((entryFlags(words, to) & RECORD_FLAG_NO_IDENTITY) !== 0) isWhole = false;
    const rule = to + SPILL_ENTRY_HEAD_WORDS + RECORD_QUEUE_WORD;
    words[rule] = word(store, words[rule] as number, RULE_QUEUE_INDEX_WORD);
    to = next;
    records++;
  };
  eachPiece(spill, block, (_lo, _hi, _rule, at) => {
    const next = entryWords(spill.words, at);
    words.set(spill.words.subarray(at, at + next), to);
    end(to + next);
  });
  for (const record of held) end(packRecord(store, record, words, to));
  return isWhole ? { words, records } : undefined;
}

/** Most rows of hashes that are looked up or entered at once: hashes, values and slots fill a page. */
const IMAGE_ROWS = 1024;

export interface Laying {
  /** A page of memory for the time of the call. */
  readonly page: number;
  /** The queue of the rule of an index; 0: hosts of this rule may not be on disk. */
  readonly ruleQueueOf: (index: number) => number;
}

/**
 * Makes a block of an image that was checked; returns its place. −1: a host or an identity of it is known, or its rules do not allow it; −2:
 * two of its rows are the same (I3). Throws what the tier throws, and MEMORY_FULL.
 */
export function layImage(away: HostSpill, image: BlockImage, laying: Laying): number {
  const { hosts, spill } = away;
  const { seen, store } = spill;
  const { addedRecords, records } = image;
  const { ruleQueueOf } = laying;
  if (rulesOf(image).some((index) => ruleQueueOf(index) === 0)) return -1;
  const own = survey(image);
  const rows: Rows = { store, page: laying.page };
  const isKnown =
    isAnyKnown(rows, hosts.index, own.hosts) ||
    isAnyKnown(rows, seen.table, own.records) ||
    isAnyKnown(rows, seen.table, own.added);
  if (isKnown) return -1;
  const block = layBlock(away, image, ruleQueueOf);
  const place = word(store, block, SPILL_PLACE_WORD);
  if (!enter(rows, hosts.index, own.hosts, () => HOST_SPILLED + place)) return -2;
  hosts.count += image.hosts;
  hosts.spilled += image.hosts;
  seenMakeRoom(seen, records + addedRecords);
  const isEntered =
    enter(rows, seen.table, own.records, (row) => valueOfAdded(place, own.depths[row] as number)) &&
    enter(rows, seen.table, own.added, (row) =>
      valueOfAdded(place, own.depths[records + row] as number),
    );
  return isEntered ? place : -2;
}

/** Calls `each` with the word of every host entry. */
function eachHost({ words }: BlockImage, each: (at: number) => void): void {
  for (let at = 0; at < words.length; at += words[at + SPILL_HOST_WORDS_WORD] as number) each(at);
}

function eachAdded({ added }: BlockImage, each: (at: number) => void): void {
  for (let at = 0; at < added.length; at += entryWords(added, at)) each(at);
}

/** Indices of all rules that an image names. */
function rulesOf(image: BlockImage): number[] {
  const rules = new Set<number>(image.isClocked ? [] : [image.rule]);
  eachHost(image, (at) => rules.add(image.words[at + SPILL_HOST_RULE_WORD] as number));
  eachAdded(image, (at) => rules.add(image.added[at + ADDED_RULE_WORD] as number));
  return [...rules];
}

/** Where the entry of an added record names its rule. */
const ADDED_RULE_WORD = SPILL_ENTRY_HEAD_WORDS + RECORD_QUEUE_WORD;

/** What is there. */
export function addedRuleOf(added: Uint32Array, at: number): number {
  return added[at + ADDED_RULE_WORD] as number;
}

/** Hashes of an image, lo and hi of each, and the depths of its records, the added ones last. */
function survey(image: BlockImage) {
  const { added, words } = image;
  const hosts = new Uint32Array(image.hosts * 2);
  const records = new Uint32Array(image.records * 2);
  const more = new Uint32Array(image.addedRecords * 2);
  const depths = new Uint32Array(image.records + image.addedRecords);
  let host = 0;
  let row = 0;
  eachHost(image, (at) => {
    let next = firstRecordAt(words, at);
    hosts[host++] = words[hostHashAt(words, at)] as number;
    hosts[host++] = words[hostHashAt(words, at) + 1] as number;
    for (let left = words[at + SPILL_HOST_RECORDS_WORD] as number; left > 0; left--) {
      records[row * 2] = entryLo(words, next);
      records[row * 2 + 1] = entryHi(words, next);
      depths[row++] = entryDepth(words, next);
      next += entryWords(words, next);
    }
  });
  let to = 0;
  eachAdded(image, (at) => {
    more[to++] = entryLo(added, at);
    more[to++] = entryHi(added, at);
    depths[row++] = entryDepth(added, at);
  });
  return { hosts, records, added: more, depths };
}

interface Rows {
  readonly store: Store;
  readonly page: number;
}

/** Calls `each` for slices of hashes, each copied to the page with values of 0. */
function eachSlice(
  { store, page }: Rows,
  hashes: Uint32Array,
  each: (from: number, count: number, values: number) => boolean,
): boolean {
  const values = page + IMAGE_ROWS * 8;
  for (let from = 0; from < hashes.length / 2; from += IMAGE_ROWS) {
    const count = Math.min(IMAGE_ROWS, hashes.length / 2 - from);
    const { u32 } = store.region.views;
    u32.set(hashes.subarray(from * 2, (from + count) * 2), page >> 2);
    u32.fill(0, values >> 2, (values >> 2) + count);
    if (!each(from, count, values)) return false;
  }
  return true;
}

/** Whether a table has any of these hashes. */
function isAnyKnown(rows: Rows, table: FingerprintTable, hashes: Uint32Array): boolean {
  return !eachSlice(rows, hashes, (_from, count, values) => {
    tableFindBatch(table, rows.page, count, values);
    const { u32 } = rows.store.region.views;
    return u32.subarray(values >> 2, (values >> 2) + count).every((value) => value === 0);
  });
}

/** Enters hashes that a table does not have; false: two of them are the same. Throws MEMORY_FULL. */
function enter(
  rows: Rows,
  table: FingerprintTable,
  hashes: Uint32Array,
  valueFor: (row: number) => number,
): boolean {
  return eachSlice(rows, hashes, (from, count, values) => {
    const slots = values + IMAGE_ROWS * 4;
    const fresh = tableInsertBatch(table, rows.page, count, values, slots);
    if (fresh < 0) throw memoryFull();
    const { u32 } = rows.store.region.views;
    for (let row = 0; row < count; row++) {
      const slot = u32[(slots >> 2) + row] as number;
      u32[slot >>> 2] = valueFor(from + row);
    }
    return fresh === count;
  });
}

/** Writes an image as a block and a piece, with the queues of rules in the place of their indices. */
function layBlock(away: HostSpill, image: BlockImage, ruleQueueOf: Laying["ruleQueueOf"]): number {
  const { spill } = away;
  const { store } = spill;
  const { first, last, records } = image;
  const piece = image.addedRecords === 0 ? 0 : layPiece(spill, image, ruleQueueOf);
  const words = image.words.length;
  if (words > spill.words.length) spill.words = new Uint32Array(words);
  spill.words.set(image.words);
  eachHost(image, (at) => {
    const rule = at + SPILL_HOST_RULE_WORD;
    spill.words[rule] = ruleQueueOf(image.words[rule] as number);
  });
  const ruleQueue = image.isClocked ? 0 : ruleQueueOf(image.rule);
  const lane = ruleQueue === 0 ? away.clockLane : laneOf(store, ruleQueue, image.priority);
  let block: number;
  try {
    block = writeBlock(spill, lane, false, { words, records, first, last });
  } catch (error) {
    if (piece !== 0) dropPiece(spill, piece);
    if (ruleQueue !== 0) {
      ranksClose(store.arena, ruleQueue, RULE_QUEUE_RANKS_WORD, image.priority);
    }
    throw error;
  }
  if (block === 0) throw memoryFull();
  setWord(store, block, SPILL_ENTRIES_WORD, image.hosts);
  setWord(store, block, SPILL_KIND_WORD, image.isClocked ? SPILL_BY_CLOCK : SPILL_BY_TURN);
  setWord(store, block, SPILL_QUEUE_WORD, ruleQueue);
  setWord(store, block, SPILL_PIECES_WORD, piece);
  setWord(store, block, SPILL_LIVE_WORD, records + image.addedRecords);
  spill.count += image.addedRecords;
  spill.written += image.addedRecords;
  return block;
}

function laneOf({ arena }: Store, ruleQueue: number, priority: number): number {
  const lane = ranksOpen(arena, ruleQueue, RULE_QUEUE_RANKS_WORD, priority);
  if (lane === 0) throw memoryFull();
  return lane;
}

/** Writes the added records of an image as a piece of a block that is still to be made. */
function layPiece(
  { store, tier }: Spill,
  image: BlockImage,
  ruleQueueOf: Laying["ruleQueueOf"],
): number {
  const words = image.added.slice();
  eachAdded(image, (at) => {
    words[at + ADDED_RULE_WORD] = ruleQueueOf(words[at + ADDED_RULE_WORD] as number);
  });
  const place = tier.write(new Uint8Array(words.buffer));
  const piece = arenaTake(store.arena, PIECE_BYTES);
  if (piece === 0) throw memoryFull();
  setWord(store, piece, PIECE_NEXT_WORD, 0);
  setWord(store, piece, PIECE_PLACE_WORD, place);
  setWord(store, piece, PIECE_BYTES_WORD, words.byteLength);
  setWord(store, piece, PIECE_RECORDS_WORD, image.addedRecords);
  return piece;
}

function dropPiece({ store, tier }: Spill, piece: number): void {
  tier.free(word(store, piece, PIECE_PLACE_WORD));
  arenaGive(store.arena, piece, PIECE_BYTES);
}

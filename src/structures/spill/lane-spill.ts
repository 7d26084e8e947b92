/**
 * Spill: the cold end of lanes on a slower medium, in blocks, and back before anything of it is needed.
 *
 *            hot end                                        cold end
 *   FIFO lane   head ── records in memory ── tail               keys rise →
 *   chain              [ block ][ block ][ block ]              by first key
 *   LIFO lane   tail ── records in memory ── head               keys fall →
 *   chain              [ block ][ block ][ block ]              by last key
 *
 * A block is written once, sorted by key, and never changed. A record that is asked for alone is pulled: it comes back into
 * its lane and its entry is marked gone. What stands in memory may have any key, also within a block's range.
 *
 *   I1  A record stands in memory or in one block, never in both; entries marked gone are nowhere.
 *   I2  `spillReady` leaves the lane's best record in memory, if the lane has one at all: order does not depend on tiers.
 *   I3  The identity of a spilled record holds SPILL_VALUE with its place and its depth as last sighted; where the hot table
 *       holds something else, the identity was forgotten and the record goes on without one (spilled-identity.ts).
 *   I4  A lane with blocks stays among its owner's lanes, whether or not it has records in memory.
 *   I5  A failed call leaves lane, chain and seen-set as they were.
 *   I6  Where a log is kept, a record without identity has a name: it is kept while the record is in memory, and on disk the entry
 *       has it. A block that a generation left behind is only marked: its entries get their names as they are read.
 *
 * Cost: a record is copied out once and in once, with one look-up in the seen-set each time; a block is one write and one read. Crash:
 * the medium's blocks mean nothing without this memory; snapshot and journal hold the records.
 */
import { assert } from "../../base/assert.ts";
import { memoryFull } from "../../base/errors.ts";
import { ITEM_KEY_FIELD } from "../../layout/ordering/item.ts";
import { QUEUE_HOST_WORD } from "../../layout/records/host.ts";
import { LANE_SPARE_WORD } from "../../layout/ordering/lane.ts";
import {
  SPILL_BLOCK_BYTES,
  SPILL_BYTES_WORD,
  SPILL_ENTRIES_WORD,
  SPILL_GONE_WORD,
  SPILL_KIND_WORD,
  SPILL_LANE_WORD,
  SPILL_LIVE_WORD,
  SPILL_LOWERED_WORD,
  SPILL_NAMELESS_WORD,
  SPILL_OTHER_WORD,
  SPILL_PLACES_MAX,
  SPILL_PLACE_WORD,
  SPILL_QUEUE_WORD,
  SPILL_RECORDS,
} from "../../layout/records/spill-block.ts";
import {
  arenaGive,
  arenaGiveLasting,
  arenaPageBytes,
  arenaTakeLasting,
  arenaUsedBytes,
} from "../../memory/arena.ts";
import {
  createLaneCursor,
  laneFirst,
  laneInsert,
  laneLast,
  laneOpen,
  laneRemove,
  laneStep,
} from "../ordering/lane.ts";
import {
  RECORD_FLAG_NO_IDENTITY,
  RECORD_FLAG_QUEUED,
  RECORD_FLAG_VOLATILE,
  recordFlags,
  RECORD_PENDING,
  recordFree,
  recordKey,
  recordQueue,
  recordState,
} from "../records/record.ts";
import { type SeenSet, seenMakeRoom } from "../seen/seen-set.ts";
import { chainOf, dropChain, farEnd, goneMapBytes, isGone, turnChain } from "./block-chain.ts";
import {
  adoptSpilled,
  isNameless,
  markSpilled,
  type SpillNames,
  spilledPlace,
  warmSpilled,
  withDepth,
} from "./spilled-identity.ts";
import {
  createBlockLookup,
  type BlockLookup,
  lookedUpValue,
  lookUpEntries,
  lookUpRecords,
} from "./block-lookup.ts";
import {
  createUnpacking,
  endUnpacking,
  entryWords,
  packedWords,
  packRecord,
  setEntryFlag,
  unpackRecord,
  type Unpacking,
} from "./record-codec.ts";
import { setFloat, setWord, type Store, word } from "../store.ts";
import type { SpillTier } from "../storage-tiers.ts";

/** Most records of one block. */
export const SPILL_RECORDS_MAX = 512;
/** A block ends with the record that fills it to this: 128 KiB. */
export const BLOCK_WORDS = 32_768;
/** Records that may not leave memory are passed over, this many for each one that goes. */
const LOOKUP_PER_RECORD = 2;

/** Is shown records, and the hosts that came out of the same block. */
export type ShowSpilled = (records: Uint32Array, hosts: readonly number[]) => void;

export interface Spill {
  readonly store: Store;
  readonly seen: SeenSet;
  readonly tier: SpillTier;
  /** By place: handle of the block, 0 = none. */
  blocks: Uint32Array;
  blockCount: number;
  /** Records in blocks; all that ever went there, those in `count` included. */
  count: number;
  written: number;
  /** Blocks with added records in memory (added-records.ts), from the one that has had some for longest; 0: none. */
  addedFirst: number;
  addedLast: number;
  /** Bytes of the block that is written or read, as words. */
  words: Uint32Array;
  readonly handles: Uint32Array;
  readonly cursor: ReturnType<typeof createLaneCursor>;
  readonly unpacking: Unpacking;
  readonly look: BlockLookup;
  /** Called with all records that come back into memory. */
  onReturn: ((records: Uint32Array) => void) | undefined;
  /** Brings the hosts of a block back; undefined: no hosts are spilled. */
  bring: ((block: number) => readonly number[]) | undefined;
  /** Shows what a block of hosts holds: the hosts with the first records. */
  show: ((block: number, show: ShowSpilled) => void) | undefined;
  /** Called with all hosts that come back, before their records. */
  onHosts: ((hosts: readonly number[]) => void) | undefined;
  /** Who finds records without identity; undefined: none is looked for. */
  names: SpillNames | undefined;
}

/** What leaves a lane: at most `most` records, none if there are fewer than `least`. */
interface SpillRequest {
  readonly from: ColdEnd;
  readonly most: number;
  readonly least: number;
}

/**
 * Where records leave a lane: a LIFO lane at its bottom; a FIFO lane at its tail, behind its blocks on disk, or inside, where what stands
 * before those blocks goes too, though it is needed before them.
 */
export type ColdEnd = "bottom" | "tail" | "inside";

export function createSpill(store: Store, seen: SeenSet, tier: SpillTier): Spill {
  return {
    ...{ store, seen, tier, blocks: new Uint32Array(64), blockCount: 0, count: 0, written: 0 },
    ...{ addedFirst: 0, addedLast: 0 },
    words: new Uint32Array(BLOCK_WORDS),
    handles: new Uint32Array(SPILL_RECORDS_MAX),
    cursor: createLaneCursor(),
    unpacking: createUnpacking(),
    look: createBlockLookup(store, SPILL_RECORDS_MAX),
    ...{ onReturn: undefined, onHosts: undefined, names: undefined },
    ...{ bring: undefined, show: undefined },
  };
}

/** Bytes that records, hosts and queues take in memory, without the holes between them. */
export function spillUsedBytes(spill: Spill): number {
  return arenaUsedBytes(spill.store.arena);
}

/** The same with the holes. @hot */
export function spillPageBytes(spill: Spill): number {
  return arenaPageBytes(spill.store.arena);
}

/** Whether a block may hold records of a host in memory: its lane is a rule's, or that host's own. */
export function spillMayHold(spill: Spill, block: number, host: number): boolean {
  if (holdsHosts(spill, block)) return false;
  const queue = word(spill.store, block, SPILL_QUEUE_WORD);
  return queue === 0 || word(spill.store, queue, QUEUE_HOST_WORD) === host;
}

/** Writes a block of the lane's coldest records; returns how many went. Throws what the tier throws (I5). */
export function spillLane(spill: Spill, lane: number, request: SpillRequest): number {
  const { store, handles } = spill;
  const count = gather(spill, lane, request);
  if (count < request.least || count === 0) return 0;
  // Gathered from the cold end inwards: FIFO lanes from the highest key down.
  const isLifo = request.from === "bottom";
  if (!isLifo) handles.subarray(0, count).reverse();
  const words = packAll(spill, count);
  const bounds = {
    first: recordKey(store, handles[0] as number),
    last: recordKey(store, handles[count - 1] as number),
  };
  const block = writeBlock(spill, lane, isLifo, { ...bounds, words, records: count });
  if (block === 0) return 0;
  const place = word(store, block, SPILL_PLACE_WORD);
  setWord(store, block, SPILL_ENTRIES_WORD, count);
  const isQueued = (recordFlags(store, handles[0] as number) & RECORD_FLAG_QUEUED) !== 0;
  if (isQueued) setWord(store, block, SPILL_QUEUE_WORD, recordQueue(store, handles[0] as number));
  for (let index = 0; index < count; index++) {
    const record = handles[index] as number;
    if (lookedUpValue(spill.look, index) === record) markSpilled(spill.seen, store, record, place);
    if (isNameless(store, record)) spill.names?.drop(record, place);
    laneRemove(store.region, lane, record);
    recordFree(store, record);
  }
  return count;
}

/** What a block is made of: the words in the buffer, its records, the keys at its ends. */
interface BlockContent {
  readonly words: number;
  readonly records: number;
  readonly first: number;
  readonly last: number;
}

/** Writes what is in the buffer as a block of a lane's chain and counts its records; 0: memory is exhausted. Throws as above. */
export function writeBlock(
  spill: Spill,
  lane: number,
  isLifo: boolean,
  { words, records, first, last }: BlockContent,
): number {
  const { store } = spill;
  const block = arenaTakeLasting(store.arena);
  if (block === 0) return 0;
  const chain = chainOf(store, lane, isLifo);
  if (chain === 0 || spill.blockCount >= SPILL_PLACES_MAX) {
    arenaGiveLasting(store.arena, block);
    dropChain(store, lane);
    return 0;
  }
  let place: number;
  try {
    place = spill.tier.write(new Uint8Array(spill.words.buffer, 0, words * 4));
  } catch (error) {
    arenaGiveLasting(store.arena, block);
    dropChain(store, lane);
    throw error;
  }
  store.region.views.u32.fill(0, block * 2, block * 2 + SPILL_BLOCK_BYTES / 4);
  setFloat(store, block, ITEM_KEY_FIELD * 2, isLifo ? last : first);
  setFloat(store, block, SPILL_OTHER_WORD, isLifo ? first : last);
  setWord(store, block, SPILL_LANE_WORD, lane);
  setWord(store, block, SPILL_PLACE_WORD, place);
  setWord(store, block, SPILL_LIVE_WORD, records);
  setWord(store, block, SPILL_BYTES_WORD, words * 4);
  laneInsert(store.region, chain, block);
  noteBlock(spill, place, block);
  spill.count += records;
  spill.written += records;
  return block;
}

/** Brings back what must be in memory so that the lane's best record is (I2). Throws what the tier throws. @hot */
export function spillReady(spill: Spill, lane: number, isLifo: boolean): void {
  const { store } = spill;
  const { region } = store;
  for (;;) {
    const chain = word(store, lane, LANE_SPARE_WORD);
    if (chain === 0) return;
    turnChain(store, chain, isLifo);
    const block = isLifo ? laneLast(region, chain) : laneFirst(region, chain);
    const bound = recordKey(store, block);
    const item = isLifo ? laneLast(region, lane) : laneFirst(region, lane);
    if (item !== 0) {
      const key = recordKey(store, item);
      if (isLifo ? key > bound : key < bound) return;
    }
    refill(spill, block, isLifo);
  }
}

/** Whether a block holds hosts (host-blocks.ts). */
export function holdsHosts({ store }: Spill, block: number): boolean {
  return word(store, block, SPILL_KIND_WORD) !== SPILL_RECORDS;
}

/** Brings the hosts of a block back into memory, with all their records, whose handles it returns. */
export function bringHosts(spill: Spill, block: number): readonly number[] {
  assert(spill.bring !== undefined, "a block holds hosts where there are hosts");
  return spill.bring(block);
}

/** An identity's record was sighted at a lesser depth than its value holds, below SPILL_DEPTH_MAX; returns its new value. */
export function spillLower(spill: Spill, value: number, depth: number): number {
  setWord(spill.store, spill.blocks[spilledPlace(value)] as number, SPILL_LOWERED_WORD, 1);
  return withDepth(value, depth);
}

/** Places of all blocks there are now. */
export function spillPlaces(spill: Spill): Uint32Array {
  const places = new Uint32Array(spill.blockCount);
  let count = 0;
  for (let place = 0; place < spill.blocks.length; place++)
    if (spill.blocks[place] !== 0) places[count++] = place;
  return places;
}

/** The block of a place, or 0; the place of the seen-set's value of a spilled record is `spilledPlace`. */
export function spillBlock(spill: Spill, place: number): number {
  return spill.blocks[place] ?? 0;
}

/** The coldest records that may go, from the cold end inwards, into `handles`. */
function gather(spill: Spill, lane: number, request: SpillRequest): number {
  const { store, handles, cursor } = spill;
  const most = Math.min(request.most, SPILL_RECORDS_MAX);
  const limit = request.from === "tail" ? farEnd(store, lane) : Number.NEGATIVE_INFINITY;
  laneOpen(store.region, lane, cursor, request.from === "bottom");
  let count = 0;
  let words = 0;
  for (let looks = most * LOOKUP_PER_RECORD; looks > 0 && count < most; looks--) {
    const record = laneStep(store.region, cursor);
    if (record === 0 || recordKey(store, record) <= limit) break;
    if (recordState(store, record) !== RECORD_PENDING) continue; // a host queue
    if ((recordFlags(store, record) & RECORD_FLAG_VOLATILE) !== 0) continue;
    const size = packedWords(store, record);
    if (count > 0 && words + size > BLOCK_WORDS) break;
    words += size;
    handles[count++] = record;
  }
  // One record may be larger than a block.
  if (words > spill.words.length) spill.words = new Uint32Array(words);
  return count;
}

/** Packs the gathered records, ascending; one whose identity is no longer its own goes without. Returns the words. */
function packAll(spill: Spill, count: number): number {
  const { store, handles, words, seen, look } = spill;
  lookUpRecords(look, seen, handles, count);
  let at = 0;
  for (let index = 0; index < count; index++) {
    const record = handles[index] as number;
    const next = packRecord(store, record, words, at);
    if (lookedUpValue(look, index) !== record) setEntryFlag(words, at, RECORD_FLAG_NO_IDENTITY);
    at = next;
  }
  return at;
}

/** Brings a whole block back into its lane. */
export function refill(spill: Spill, block: number, isLifo: boolean): void {
  if (holdsHosts(spill, block)) {
    bringHosts(spill, block);
    return;
  }
  const { store, seen, unpacking, look } = spill;
  const lane = word(store, block, SPILL_LANE_WORD);
  const place = word(store, block, SPILL_PLACE_WORD);
  const entries = readBlock(spill, block);
  seenMakeRoom(seen, entries);
  lookUpEntries(look, seen, { block, entries, words: spill.words });
  let count = 0;
  for (let index = 0, at = 0; index < entries; index++) {
    if (!isGone(store, block, index)) {
      const record = unpack(spill, block, at);
      const isHot = lookedUpValue(look, count) !== 0 && !isNameless(store, record);
      if (record !== 0) spill.handles[count++] = record;
      if (record === 0 || !(isHot || warm(spill, record, place))) {
        for (let made = 0; made < count; made++) {
          freeUnpacked(spill, spill.handles[made] as number, place);
        }
        throw outOfMemory(spill);
      }
    }
    at += entryWords(spill.words, at);
  }
  endUnpacking(store, unpacking);
  // Towards the hot end, so that each one is the lane's new first (FIFO) or last (LIFO): O(1).
  for (let step = 0; step < count; step++) {
    const record = spill.handles[isLifo ? step : count - 1 - step] as number;
    adoptSpilled(seen, store, record, place);
    laneInsert(store.region, lane, record);
  }
  spill.onReturn?.(spill.handles.subarray(0, count));
  spill.count -= count;
  dropBlock(spill, block);
}

/** The record of an entry, which stands nowhere yet; 0: memory is exhausted. @hot */
export function unpack(spill: Spill, block: number, at: number): number {
  const { store } = spill;
  const record = unpackRecord(store, spill.words, at, spill.unpacking);
  if (record === 0 || word(store, block, SPILL_NAMELESS_WORD) === 0) return record;
  if (!isNameless(store, record)) spill.names?.name(record);
  return record;
}

/** Makes room for what finds a record that comes back; false: memory is exhausted. @hot */
export function warm(spill: Spill, record: number, place: number): boolean {
  if (!isNameless(spill.store, record)) {
    return warmSpilled(spill.seen, spill.store, record, place);
  }
  return spill.names === undefined || spill.names.keep(record);
}

/** Takes back an unpacked record that found no room. */
export function freeUnpacked(spill: Spill, record: number, place: number): void {
  if (isNameless(spill.store, record)) spill.names?.drop(record, place);
  recordFree(spill.store, record);
}

/** Reads a block's bytes into `words`; how many entries they hold. */
export function readBlock(spill: Spill, block: number): number {
  const { store } = spill;
  const bytes = word(store, block, SPILL_BYTES_WORD);
  if (bytes > spill.words.byteLength) spill.words = new Uint32Array(bytes / 4);
  const target = new Uint8Array(spill.words.buffer, 0, bytes);
  spill.tier.read(word(store, block, SPILL_PLACE_WORD), target);
  return word(store, block, SPILL_ENTRIES_WORD);
}

/** A block whose last record left: it leaves its chain, and its bytes go. */
export function dropBlock(spill: Spill, block: number): void {
  const { store, tier } = spill;
  const lane = word(store, block, SPILL_LANE_WORD);
  const place = word(store, block, SPILL_PLACE_WORD);
  const gone = word(store, block, SPILL_GONE_WORD);
  laneRemove(store.region, word(store, lane, LANE_SPARE_WORD), block);
  dropChain(store, lane);
  if (gone !== 0) arenaGive(store.arena, gone, goneMapBytes(store, block));
  arenaGiveLasting(store.arena, block);
  spill.blocks[place] = 0;
  spill.blockCount -= 1;
  tier.free(place);
}

/** A block stands at a place from now on. */
export function noteBlock(spill: Spill, place: number, block: number): void {
  if (place >= spill.blocks.length) {
    const blocks = new Uint32Array(Math.max(spill.blocks.length * 2, place + 1));
    blocks.set(spill.blocks);
    spill.blocks = blocks;
  }
  spill.blocks[place] = block;
  spill.blockCount += 1;
}

export function outOfMemory(spill: Spill): Error {
  endUnpacking(spill.store, spill.unpacking);
  return memoryFull();
}

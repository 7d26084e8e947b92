/**
 * Spilled records that come back into their lane alone, because a call asks for them, or are looked at where they are. Owner: the
 * frontier's thread.
 *
 *   identity, name ─▶ its block is read ─▶ the entry's record in its lane, the entry marked gone (lane-spill.ts, I1)
 *                                    └▶ a block of hosts comes back whole (host-blocks.ts)
 */
import {
  SPILL_GONE_WORD,
  SPILL_LANE_WORD,
  SPILL_LIVE_WORD,
  SPILL_LOWERED_WORD,
  SPILL_NAMELESS_WORD,
  SPILL_PLACE_WORD,
} from "../../layout/records/spill-block.ts";
import { arenaTake } from "../../memory/arena.ts";
import { laneInsert } from "../ordering/lane.ts";
import {
  RECORD_FLAG_NO_IDENTITY,
  recordFlags,
  recordFree,
  recordHi,
  recordLo,
} from "../records/record.ts";
import { setWord, word } from "../store.ts";
import { goneMapBytes, isGone } from "./block-chain.ts";
import {
  bringHosts,
  dropBlock,
  freeUnpacked,
  holdsHosts,
  outOfMemory,
  readBlock,
  type Spill,
  unpack,
  warm,
} from "./lane-spill.ts";
import { endUnpacking, entryFlags, entryHi, entryLo, entryWords } from "./record-codec.ts";
import { adoptSpilled, depthOfSpilled } from "./spilled-identity.ts";

/** Brings the record of an identity at a place back into its lane; its handle, or 0 where it is not there. */
export function spillPull(spill: Spill, place: number, lo: number, hi: number): number {
  const block = spill.blocks[place] as number;
  if (word(spill.store, block, SPILL_NAMELESS_WORD) !== 0) return 0;
  if (!holdsHosts(spill, block)) return pullEntry(spill, block, lo, hi, 0);
  return findOf(spill, bringHosts(spill, block), { lo, hi, flag: 0 });
}

/** The same of a name. */
export function spillPullNamed(spill: Spill, place: number, lo: number, hi: number): number {
  const { store } = spill;
  const block = spill.blocks[place] as number;
  if (holdsHosts(spill, block)) {
    return findOf(spill, bringHosts(spill, block), { lo, hi, flag: RECORD_FLAG_NO_IDENTITY });
  }
  if (word(store, block, SPILL_NAMELESS_WORD) === 0) {
    return pullEntry(spill, block, lo, hi, RECORD_FLAG_NO_IDENTITY);
  }
  const isIt = (record: number): boolean =>
    recordLo(store, record) === lo && recordHi(store, record) === hi;
  return spillVisit(spill, block, isIt)[0] ?? 0;
}

/** Of records that came back, that of a hash. */
function findOf(
  { store }: Spill,
  records: readonly number[],
  { lo, hi, flag }: { lo: number; hi: number; flag: number },
): number {
  const isIt = (record: number): boolean =>
    recordLo(store, record) === lo &&
    recordHi(store, record) === hi &&
    (recordFlags(store, record) & RECORD_FLAG_NO_IDENTITY) === flag;
  return records.find(isIt) ?? 0;
}

/** @hot */
function pullEntry(spill: Spill, block: number, lo: number, hi: number, flag: number): number {
  const count = readBlock(spill, block);
  for (let index = 0, at = 0; index < count; index++) {
    const { words } = spill;
    const isIt = entryLo(words, at) === lo && entryHi(words, at) === hi;
    const isSort = (entryFlags(words, at) & RECORD_FLAG_NO_IDENTITY) === flag;
    if (isIt && isSort && !isGone(spill.store, block, index)) {
      return takeEntry(spill, block, index, at);
    }
    at += entryWords(words, at);
  }
  return 0;
}

/**
 * Shows every record of a block, each in memory for the time of the call; those that `wants` are brought back into their lane
 * for good. `wants` may only read the record. Returns the handles of those brought back.
 */
export function spillVisit(
  spill: Spill,
  block: number,
  wants: (record: number) => boolean,
): number[] {
  const { store, unpacking } = spill;
  const place = word(store, block, SPILL_PLACE_WORD);
  if (holdsHosts(spill, block)) return bringHosts(spill, block).filter(wants);
  const count = readBlock(spill, block);
  const isLowered = word(store, block, SPILL_LOWERED_WORD) !== 0; // else its entries have it
  const taken: number[] = [];
  let left = word(store, block, SPILL_LIVE_WORD);
  for (let index = 0, at = 0; left > 0 && index < count; index++) {
    if (!isGone(store, block, index)) {
      left -= 1;
      const record = unpack(spill, block, at);
      if (record === 0) throw outOfMemory(spill);
      if (isLowered) depthOfSpilled(spill.seen, store, record, place);
      if (wants(record)) taken.push(enter(spill, block, index, record));
      else recordFree(store, record);
    }
    at += entryWords(spill.words, at);
  }
  endUnpacking(store, unpacking);
  return taken;
}

/** Unpacks one entry and brings it into its lane. */
function takeEntry(spill: Spill, block: number, index: number, at: number): number {
  const record = unpack(spill, block, at);
  if (record === 0) throw outOfMemory(spill);
  endUnpacking(spill.store, spill.unpacking);
  return enter(spill, block, index, record);
}

/** An unpacked record joins its lane; its entry is gone. */
function enter(spill: Spill, block: number, index: number, record: number): number {
  const { store, seen } = spill;
  const place = word(store, block, SPILL_PLACE_WORD);
  if (!warm(spill, record, place)) {
    freeUnpacked(spill, record, place);
    throw outOfMemory(spill);
  }
  if (word(store, block, SPILL_LIVE_WORD) > 1) markGone(spill, block, index, record);
  adoptSpilled(seen, store, record, place);
  laneInsert(store.region, word(store, block, SPILL_LANE_WORD), record);
  spill.onReturn?.(Uint32Array.of(record));
  spill.count -= 1;
  const live = word(store, block, SPILL_LIVE_WORD) - 1;
  setWord(store, block, SPILL_LIVE_WORD, live);
  if (live === 0) dropBlock(spill, block);
  return record;
}

/** Sets the entry's bit; where there is no memory for the bits the record is given back and nothing has happened. */
function markGone(spill: Spill, block: number, index: number, record: number): void {
  const { store } = spill;
  let gone = word(store, block, SPILL_GONE_WORD);
  if (gone === 0) {
    const bytes = goneMapBytes(store, block);
    gone = arenaTake(store.arena, bytes);
    if (gone === 0) {
      freeUnpacked(spill, record, word(store, block, SPILL_PLACE_WORD));
      throw outOfMemory(spill);
    }
    store.region.views.u32.fill(0, gone * 2, gone * 2 + bytes / 4);
    setWord(store, block, SPILL_GONE_WORD, gone);
  }
  const bits = word(store, gone, index >>> 5) | (1 << (index & 31));
  setWord(store, gone, index >>> 5, bits >>> 0);
}

/**
 * What the seen-set holds of a spilled record: SPILL_VALUE with place and depth (layout/records/spill-block.ts) in place of its handle.
 * So a duplicate of a spilled record is found, and a shallower sighting noted, without touching the medium.
 *
 *   I1  The value names the one place where the identity's record lies.
 *   I2  A depth below SPILL_DEPTH_MAX is the record's depth; SPILL_DEPTH_MAX: that of its entry.
 *   I3  In mode tiered the value may be in the cold tier alone. There no spilled record loses its identity and none is lowered
 *       where it lies: a step that would do that brings it into memory first. So what the hot table does not hold is its own.
 */
import {
  SPILL_DEPTH_MAX,
  SPILL_DEPTH_STEP,
  SPILL_PLACES_MAX,
  SPILL_VALUE,
} from "../../layout/records/spill-block.ts";
import {
  RECORD_FLAG_NO_IDENTITY,
  recordDepth,
  recordFlags,
  recordHi,
  recordLo,
  setRecordDepth,
  setRecordFlags,
} from "../records/record.ts";
import { type SeenSet, seenSlot, seenWarm } from "../seen/seen-set.ts";
import { entryFlags, entryHi, entryLo, setEntryDepth } from "./record-codec.ts";
import type { Store } from "../store.ts";

export { SPILL_DEPTH_MAX, SPILL_VALUE } from "../../layout/records/spill-block.ts";

/** How records without identity are found where a log is kept (lane-spill.ts, I6). */
export interface SpillNames {
  /** Sets the name of a record's place instead of its identity. */
  name(record: number): void;
  /** Makes it findable by its name; false: memory is exhausted. */
  keep(record: number): boolean;
  /** It goes, or lies at a place from now on. */
  drop(record: number, place: number): void;
}

/** What stands for a record that lies at a place, as deep as its entry has it. */
export function spilledValue(place: number): number {
  return SPILL_VALUE + place * SPILL_DEPTH_STEP + SPILL_DEPTH_MAX;
}

/** What stands for a record of a depth that was added to the block of a place. */
export function valueOfAdded(place: number, depth: number): number {
  return SPILL_VALUE + place * SPILL_DEPTH_STEP + Math.min(depth, SPILL_DEPTH_MAX);
}

/** Whether a record has no identity, or none any more. @hot */
export function isNameless(store: Store, record: number): boolean {
  return (recordFlags(store, record) & RECORD_FLAG_NO_IDENTITY) !== 0;
}

/** Whether a value of the seen-set is that of a spilled record. @hot */
export function isSpilledValue(value: number): boolean {
  return value >= SPILL_VALUE && value < SPILL_VALUE + SPILL_PLACES_MAX * SPILL_DEPTH_STEP;
}

export function spilledPlace(value: number): number {
  return (value - SPILL_VALUE) >>> 6;
}

/** Depth of a spilled record, or SPILL_DEPTH_MAX for that and anything deeper. */
export function spilledDepth(value: number): number {
  return value & SPILL_DEPTH_MAX;
}

/** The value of the same record seen at a lesser depth, below SPILL_DEPTH_MAX. */
export function withDepth(value: number, depth: number): number {
  return value - spilledDepth(value) + depth;
}

/** The identity of a record now names its place. @hot */
export function markSpilled(seen: SeenSet, store: Store, record: number, place: number): void {
  if ((recordFlags(store, record) & RECORD_FLAG_NO_IDENTITY) !== 0) return;
  const slot = seenSlot(seen, recordLo(store, record), recordHi(store, record));
  const { u32 } = store.region.views;
  if (slot === 0 || u32[slot >>> 2] !== record) return;
  const depth = Math.min(recordDepth(store, record), SPILL_DEPTH_MAX);
  u32[slot >>> 2] = SPILL_VALUE + place * SPILL_DEPTH_STEP + depth;
}

/**
 * Makes room in the hot table for the identity of a record that comes back, as far as the cold tier alone has it (I3); false:
 * memory is exhausted. @hot
 */
export function warmSpilled(seen: SeenSet, store: Store, record: number, place: number): boolean {
  if (seen.tiered === undefined) return true;
  if ((recordFlags(store, record) & RECORD_FLAG_NO_IDENTITY) !== 0) return true;
  const depth = Math.min(recordDepth(store, record), SPILL_DEPTH_MAX);
  const value = SPILL_VALUE + place * SPILL_DEPTH_STEP + depth;
  return seenWarm(seen, recordLo(store, record), recordHi(store, record), value);
}

/** A record came back from a place: its identity names it again, or it has lost it meanwhile. @hot */
export function adoptSpilled(seen: SeenSet, store: Store, record: number, place: number): void {
  const flags = recordFlags(store, record);
  if ((flags & RECORD_FLAG_NO_IDENTITY) !== 0) return;
  const slot = seenSlot(seen, recordLo(store, record), recordHi(store, record));
  const { u32 } = store.region.views;
  const value = slot === 0 ? 0 : (u32[slot >>> 2] as number);
  if (!isSpilledValue(value) || spilledPlace(value) !== place) {
    setRecordFlags(store, record, flags | RECORD_FLAG_NO_IDENTITY);
    return;
  }
  const depth = spilledDepth(value);
  if (depth < SPILL_DEPTH_MAX) setRecordDepth(store, record, depth);
  u32[slot >>> 2] = record;
}

/** Sets the depth at which a record was last seen, for a record that is only read. */
export function depthOfSpilled(seen: SeenSet, store: Store, record: number, place: number): void {
  if ((recordFlags(store, record) & RECORD_FLAG_NO_IDENTITY) !== 0) return;
  const slot = seenSlot(seen, recordLo(store, record), recordHi(store, record));
  const value = slot === 0 ? 0 : (store.region.views.u32[slot >>> 2] as number);
  if (!isSpilledValue(value) || spilledPlace(value) !== place) return;
  const depth = spilledDepth(value);
  if (depth < SPILL_DEPTH_MAX) setRecordDepth(store, record, depth);
}

/** The same for the entry of a block. */
export function lowerEntry(
  seen: SeenSet,
  store: Store,
  { words, at }: { words: Uint32Array; at: number },
  place: number,
): void {
  if ((entryFlags(words, at) & RECORD_FLAG_NO_IDENTITY) !== 0) return;
  const slot = seenSlot(seen, entryLo(words, at), entryHi(words, at));
  const value = slot === 0 ? 0 : (store.region.views.u32[slot >>> 2] as number);
  if (!isSpilledValue(value) || spilledPlace(value) !== place) return;
  const depth = spilledDepth(value);
  if (depth < SPILL_DEPTH_MAX) setEntryDepth(words, at, depth);
}

/**
 * How finished entries, and those of spilled records, leave the hot table for the cold tier: in passes over the whole
 * table, a slice at a time.
 *
 *   idle ─▶ count ─▶ write ─▶ flush ─▶ commit ─▶ remove ─▶ idle
 *             │        │                  │          └ read the run back; what the table still holds unchanged goes
 *             │        │                  └ sync, rename, manifest: one wait for the medium per slice
 *             │        └ segments in order of their hashes, sorted: one run of all that may go
 *             └ too few of them: not worth a pass, idle
 *
 * Until the last entry of a pass is durable all of them stay in the hot table; others come meanwhile, hence HOT_PEAK. Segments
 * are emptied whole, within some calls: the table counts on even hashes, and it never shrinks: its peak is its size.
 *
 *   I1  An entry leaves the hot table only after the bloom and the cold tier hold it, durably.
 *   I2  Only finished entries (high bit set), removals and those of spilled records move: none names memory.
 *   I3  The bloom holds every hash that the cold tier has a value of, and those of the batch under way.
 *   I4  An entry whose value changed after it was written stays: the hot table's is newer than the cold tier's.
 *
 * Crash: the batch is there whole or not at all; the hot table is gone either way and replayed by its owner.
 */
import { FrontierError } from "../../base/errors.ts";
import type { Kernel } from "../../kernel/kernel.ts";
import { REGION_PAGE_BYTES } from "../../layout/memory/region.ts";
import { TABLE_COUNT_WORD, TABLE_EACH_MIN } from "../../layout/seen/table.ts";
import { regionGive, regionTake, regionTakeRaw } from "../../memory/region.ts";
import {
  type Bloom,
  bloomInsertWords,
  type BloomOptions,
  bloomPagesAtFirst,
  createBloom,
} from "../bloom/bloom.ts";
import {
  type FingerprintTable,
  tableEach,
  tableFind,
  tableRemove,
} from "../table/fingerprint-table.ts";
import { type HashSorter, createHashSorter, sortHashes } from "./sort-hashes.ts";
import { bloomBytesMax, hotEntriesMax } from "./seen-memory-split.ts";
import {
  type BeforeMove,
  COLD_REMOVED,
  type ColdBatch,
  type ColdTier,
  isPassing,
  type MediumWait,
} from "../storage-tiers.ts";

/** From this multiple on admissions wait for the medium themselves. */
const HOT_HARD = 1.15;
/** Entries moved per admitted row: a pass is over when an eighth of its entries came new, its removals after another. */
const PAY_PER_ROW = 8;
/** Entries counted, or swept and sorted, for the price of one moved. */
const COUNTED_PER_MOVED = 16;
const SORTED_PER_MOVED = 4;
/** Entries of one slice of writing and removing. */
export const MOVE_SLICE = 2048;
/** Merge work due per moved entry: at most one rewrite per level of the tier, and a margin. */
const MERGE_WORK = 6;
const FINISHED = 0x8000_0000;
const EACH_PAGES = Math.ceil((TABLE_EACH_MIN * 12) / REGION_PAGE_BYTES);

export interface MoverOptions {
  readonly kernel: Kernel;
  readonly table: FingerprintTable;
  readonly cold: ColdTier;
  readonly beforeMove: BeforeMove;
  readonly memoryBytes: number;
  readonly falsePositiveRate: number;
  readonly capacity: number | undefined;
  /** The bloom is one layer for exactly `capacity` hashes. */
  readonly isBloomFixed: boolean;
}

export type MovePhase = "idle" | "count" | "write" | "flush" | "commit" | "remove";

export interface Mover extends MoverOptions {
  /** Of everything in the cold tier; made when the first entry goes there. */
  bloom: Bloom | undefined;
  /** A run of pages kept for it; 0: none. */
  reserved: number;
  phase: MovePhase;
  /** More entries than this in the hot table: begin a pass. */
  moveAt: number;
  /** More than this during a pass: wait for the medium within admissions. */
  hardAt: number;
  /** Work paid for and not yet done; below zero after a great slice. */
  credit: number;
  /** Merge work that is due in the cold tier. */
  debt: number;
  /** Directory index of the next segment, or −1 behind the last. */
  cursor: number;
  movable: number;
  counted: number;
  /** Region buffer of one segment's entries during a pass; 0 between. */
  buffer: number;
  /** The buffer's entries in order, from the first pass on; how many they are and how many of them are written. */
  order: HashSorter | undefined;
  picked: number;
  written: number;
  batch: ColdBatch | undefined;
  /** The flush before the batch is committed. */
  flush: { mark?: number };
  /** Entries of the batch that were released. */
  removed: number;
  readonly hashes: Uint32Array;
  readonly values: Uint32Array;
}

export function createMover(options: MoverOptions): Mover {
  return {
    ...options,
    ...{
      bloom: undefined,
      reserved: 0,
      phase: "idle",
      moveAt: hotEntriesMax(options.memoryBytes),
      hardAt: 0,
    },
    ...{ credit: 0, debt: 0, cursor: 0, movable: 0, counted: 0, buffer: 0 },
    ...{ order: undefined, picked: 0, written: 0, batch: undefined, flush: {}, removed: 0 },
    hashes: new Uint32Array(MOVE_SLICE * 2),
    values: new Uint32Array(MOVE_SLICE),
  };
}

/** Does what `rows` admissions pay for; begins a pass when the hot table is over its share. @hot */
export function moveFor(mover: Mover, rows: number): void {
  const count = hotCount(mover) + rows;
  if (mover.phase === "idle" && !tryBeginPass(mover, rows)) return;
  mover.credit += rows * PAY_PER_ROW;
  work(mover, count > mover.hardAt ? "here" : "never");
}

/** Goes on with a pass in the background, for `budget` entries; 0 when there is nothing to do but to wait. */
export function moveStep(mover: Mover, budget: number, wait: MediumWait): number {
  if (mover.phase === "idle" && !tryBeginPass(mover, 0)) return 0; // steps alone are no traffic
  if (wait === "beside" && mover.batch?.isSyncing === true) return 0;
  mover.credit = Math.max(1, budget);
  work(mover, wait);
  return mover.phase === "flush" ? 0 : Math.max(1, budget);
}

/** Abandons a pass: what is not durable counts as not written, and everything is still in the hot table. */
export function endPass(mover: Mover): void {
  mover.batch?.end();
  mover.batch = undefined;
  if (mover.buffer !== 0) regionGive(mover.kernel.region, mover.buffer, EACH_PAGES);
  mover.buffer = 0;
  mover.phase = "idle";
  mover.credit = 0;
}

/** A value may be in a batch that the cold tier does not answer for yet. */
export function isWriting(mover: Mover): boolean {
  return mover.batch !== undefined;
}

export function bloomOf(mover: Mover): Bloom {
  if (mover.bloom !== undefined) return mover.bloom;
  const options = bloomOptions(mover);
  giveReserved(mover);
  mover.bloom = createBloom(mover.kernel, options);
  return mover.bloom;
}

/**
 * Keeps a run of pages for the bloom, if there is room. It is the longest run of all: taken when memory is in pieces, it would lie after
 * everything, and no page before it would ever be given back to the system.
 */
export function reserveBloom(mover: Mover): void {
  if (mover.bloom !== undefined || mover.reserved !== 0) return;
  mover.reserved = regionTakeRaw(mover.kernel.region, bloomPagesAtFirst(bloomOptions(mover)));
}

function giveReserved(mover: Mover): void {
  const { reserved } = mover;
  mover.reserved = 0;
  if (reserved === 0) return;
  regionGive(mover.kernel.region, reserved, bloomPagesAtFirst(bloomOptions(mover)));
}

/**
 * One layer, of all its bytes unless a capacity is named: no rate would take as many members. Entries come by their hashes, so
 * that a layer which was full in the middle of a pass would have all of its members in some of its blocks.
 */
function bloomOptions({
  capacity,
  falsePositiveRate,
  isBloomFixed,
  memoryBytes,
}: Mover): BloomOptions {
  const most = bloomBytesMax(memoryBytes);
  const bytesMax = isBloomFixed ? Number.POSITIVE_INFINITY : most;
  return { capacity: capacity ?? most, falsePositiveRate, bytesMax, isFixed: true };
}

export function hotCount(mover: Mover): number {
  const word = mover.table.offset / 4 + TABLE_COUNT_WORD;
  return mover.kernel.region.views.u32[word] as number;
}

/** Memory beside table, bloom and the tier's own. */
export function moverBytes(mover: Mover): number {
  const { order, hashes, values } = mover;
  const orders = order === undefined ? 0 : order.order.byteLength + order.ends.byteLength;
  const scratch = hashes.byteLength + values.byteLength + orders;
  const buffer = mover.buffer === 0 ? 0 : EACH_PAGES;
  const reserved = mover.reserved === 0 ? 0 : bloomPagesAtFirst(bloomOptions(mover));
  return scratch + (buffer + reserved) * REGION_PAGE_BYTES;
}

/** Patience ends with traffic too, not by growth alone: records finish while none come. */
function tryBeginPass(mover: Mover, traffic: number): boolean {
  mover.moveAt = Math.max(hotEntriesMax(mover.memoryBytes), mover.moveAt - traffic / 8);
  if (hotCount(mover) <= mover.moveAt) return false;
  const { region } = mover.kernel;
  mover.buffer = regionTake(region, EACH_PAGES);
  if (mover.buffer === 0)
    throw new FrontierError("MEMORY_FULL", `memory: full (expected: ${EACH_PAGES} free pages)`);
  mover.hardAt = Math.max(hotEntriesMax(mover.memoryBytes), hotCount(mover)) * HOT_HARD;
  mover.cursor = 0;
  mover.movable = 0;
  mover.counted = 0;
  mover.phase = "count";
  return true;
}

/** Slices until the credit is used up, or until the next one would have to wait for the medium and must not. */
function work(mover: Mover, wait: MediumWait): void {
  while (mover.credit > 0) {
    switch (mover.phase) {
      case "idle":
        return;
      case "count":
        countSegments(mover);
        break;
      case "write":
        if (mover.written < mover.picked) writeSlice(mover);
        else sortSegments(mover);
        break;
      case "flush":
      case "commit":
        // Nothing to save up for: what waits here is the medium.
        mover.credit = 0;
        if (wait !== "never") commitSlice(mover, wait);
        return;
      case "remove":
        removeSlice(mover);
    }
  }
}

function countSegments(mover: Mover): void {
  const count = sweep(mover);
  mover.counted += count;
  mover.movable += pickMovable(mover, count);
  mover.credit -= count / COUNTED_PER_MOVED + 1;
  if (mover.cursor >= 0) return;
  if (mover.movable === 0 || mover.movable * 8 < mover.counted) {
    // Mostly live entries: looking again at once would cost a sweep per batch and gain little.
    endPass(mover);
    mover.moveAt = hotCount(mover) + patience(mover);
    return;
  }
  mover.batch = mover.cold.begin(mover.movable);
  mover.cursor = 0;
  mover.picked = 0;
  mover.written = 0;
  mover.phase = "write";
}

/** Brings the movable entries of the next segments into order, or ends the writing after the last ones. */
function sortSegments(mover: Mover): void {
  if (mover.cursor < 0) {
    regionGive(mover.kernel.region, mover.buffer, EACH_PAGES);
    mover.buffer = 0;
    mover.flush = {};
    mover.phase = "flush";
    return;
  }
  const count = sweep(mover);
  mover.picked = pickMovable(mover, count);
  mover.written = 0;
  mover.order ??= createHashSorter(TABLE_EACH_MIN);
  sortHashes(mover.kernel.region.views.u32, mover.buffer / 4, mover.picked, mover.order);
  mover.credit -= count / SORTED_PER_MOVED + 1;
}

function writeSlice(mover: Mover): void {
  const { written, hashes, values, buffer } = mover;
  const { order } = mover.order as HashSorter;
  const count = Math.min(MOVE_SLICE, mover.picked - written);
  const { u32 } = mover.kernel.region.views;
  const valuesAt = buffer / 4 + TABLE_EACH_MIN * 2;
  for (let i = 0; i < count; i++) {
    const row = order[written + i] as number;
    hashes[i * 2] = u32[buffer / 4 + row * 2] as number;
    hashes[i * 2 + 1] = u32[buffer / 4 + row * 2 + 1] as number;
    values[i] = u32[valuesAt + row] as number;
  }
  bloomInsertWords(bloomOf(mover), hashes, count); // I3: before the tier can answer for them
  mover.batch?.append(hashes, values, count);
  mover.written = written + count;
  mover.credit -= count;
}

function commitSlice(mover: Mover, wait: MediumWait): void {
  if (mover.phase === "flush") {
    if (mover.beforeMove(mover.flush, wait)) mover.phase = "commit";
    return;
  }
  if (mover.batch?.commit(wait) !== true) return;
  mover.removed = 0;
  mover.phase = "remove";
}

function removeSlice(mover: Mover): void {
  const { table, hashes, values, removed } = mover;
  const count = mover.batch?.read(removed, hashes, values) ?? 0;
  const { u32 } = mover.kernel.region.views;
  for (let i = 0; i < count; i++) {
    const lo = hashes[i * 2] as number;
    const hi = hashes[i * 2 + 1] as number;
    const slot = tableFind(table, lo, hi);
    if (slot !== 0 && u32[slot >>> 2] === values[i]) tableRemove(table, lo, hi); // else I4
  }
  mover.removed = removed + count;
  mover.credit -= count;
  if (count > 0) return;
  endPass(mover);
  mover.debt += removed * MERGE_WORK;
  mover.moveAt = Math.max(hotEntriesMax(mover.memoryBytes), hotCount(mover) + patience(mover));
}

/** Entries that come before the next pass, where little of what is there can move. */
function patience(mover: Mover): number {
  return Math.max(hotEntriesMax(mover.memoryBytes), hotCount(mover)) / 8 + 64;
}

function sweep(mover: Mover): number {
  const { count, next } = tableEach(mover.table, mover.cursor, TABLE_EACH_MIN, mover.buffer);
  mover.cursor = next;
  return count;
}

/** Brings the buffer's entries that may move to its front; returns how many. */
function pickMovable(mover: Mover, count: number): number {
  const { u32 } = mover.kernel.region.views;
  const hashesAt = mover.buffer / 4;
  const valuesAt = hashesAt + TABLE_EACH_MIN * 2;
  let picked = 0;
  for (let i = 0; i < count; i++) {
    const value = u32[valuesAt + i] as number;
    if (!isMovable(value)) continue; // I2, or just claimed
    u32[hashesAt + picked * 2] = u32[hashesAt + i * 2] as number;
    u32[hashesAt + picked * 2 + 1] = u32[hashesAt + i * 2 + 1] as number;
    u32[valuesAt + picked] = value;
    picked += 1;
  }
  return picked;
}

/** I2. The words between are answers of the table. */
function isMovable(value: number): boolean {
  return value >= FINISHED || value === COLD_REMOVED || isPassing(value);
}

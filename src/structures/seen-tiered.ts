/**
 * Seen-set, mode tiered: a hot table of bounded size in front of bloom and cold tier.
 *
 *   hot table ── tableEach, some segments at a time ─▶ finished entries ─▶ bloom, cold.add, then out of the table
 *   cursor: directory index of the segment that gives entries next; it wanders round the table
 *
 * A move happens inside an admission when the hot table holds more than its share, one slice per call; merges of the cold
 * tier are paid for by the admissions that follow. A move that fails (DISK_FULL) is put aside for `tieredStep` to throw: the
 * entries stay hot and the table grows instead.
 *
 *   I1  An entry leaves the hot table only after the bloom and the cold tier hold it.
 *   I2  Only finished entries (high bit set) and removals move.
 *   I3  The bloom holds every hash of the cold tier.
 *   I4  The hot table's entry is newer than the cold tier's of the same hash.
 */
import { FrontierError } from "../base/errors.ts";
import type { Kernel } from "../kernel/kernel.ts";
import { REGION_PAGE_BYTES } from "../layout/region.ts";
import { TABLE_CLAIMED, TABLE_COUNT_WORD, TABLE_EACH_MIN, TABLE_NEW } from "../layout/table.ts";
import { regionGive, regionTake } from "../memory/region.ts";
import { type Bloom, bloomClear, bloomHas, bloomInsertWords, createBloom } from "./bloom.ts";
import {
  type FingerprintTable,
  tableEach,
  tableInsertBatch,
  tableRemove,
} from "./fingerprint-table.ts";
import { type SeenRows, listMaybes } from "./seen-bloom.ts";
import { COLD_REMOVED, type ColdTier } from "./tier.ts";

/**
 * Entries of one move: all finished ones of the segments that one sweep gives. Part of a segment would be part of its hash
 * range, and what stays would be too uneven to split (the table counts on uniform hashes).
 */
const MOVE_ENTRIES = TABLE_EACH_MIN;
/** Hot table bytes per entry: 12.8 at a load of 1, about 15 between two growth steps, and removed slots. */
const HOT_ENTRY_BYTES = 17;
/** Merge work owed per moved entry: at most one rewrite per level of the tier, and a margin. */
const MERGE_WORK = 8;
/** Merge work per admitted row: twice what steady moving needs, so that the debt is always paid in time. */
const PAY_PER_ROW = 16;
const FINISHED = 0x8000_0000;
const EACH_PAGES = Math.ceil((TABLE_EACH_MIN * 12) / REGION_PAGE_BYTES);

export interface TieredOptions {
  readonly kernel: Kernel;
  readonly table: FingerprintTable;
  readonly cold: ColdTier;
  readonly beforeMove: () => void;
  readonly memoryBytes: number;
  readonly falsePositiveRate: number;
  readonly capacity: number | undefined;
}

export interface Tiered extends TieredOptions {
  /** Of everything in the cold tier; made when the first entry goes there. */
  bloom: Bloom | undefined;
  /** Hashes that the tier held when it was opened. */
  loaded: number;
  /** More entries than this in the hot table: move. */
  moveAt: number;
  cursor: number;
  debt: number;
  maybeButNew: number;
  /** A removal may be in the hot table. */
  hasRemoved: boolean;
  /** What a move or merge inside an admission threw. */
  failure: { readonly error: unknown } | undefined;
  readonly hashes: Uint32Array;
  readonly values: Uint32Array;
}

export function createTiered(options: TieredOptions): Tiered {
  const tiered: Tiered = {
    ...options,
    ...{ bloom: undefined, loaded: 0, moveAt: 0, cursor: 0, debt: 0, maybeButNew: 0 },
    ...{ hasRemoved: false, failure: undefined },
    hashes: new Uint32Array(MOVE_ENTRIES * 2),
    values: new Uint32Array(MOVE_ENTRIES),
  };
  tiered.moveAt = hotMax(tiered);
  options.cold.load((hashes, count) => {
    bloomInsertWords(bloomOf(tiered), hashes, count);
    tiered.loaded += count;
  });
  return tiered;
}

/** seenAdmitBatch of mode tiered. @hot */
export function tieredAdmit(tiered: Tiered, rows: SeenRows): number {
  const { hashesOffset, count, valuesOffset, slotsOffset } = rows;
  tieredMakeRoom(tiered, count);
  const { table, bloom } = tiered; // a move may have made the bloom
  let fresh = tableInsertBatch(table, hashesOffset, count, valuesOffset, slotsOffset);
  if (fresh > 0 && bloom !== undefined) fresh -= admitKnown(tiered, bloom, rows);
  if (fresh >= 0 && tiered.hasRemoved) fresh += admitRemoved(tiered, rows);
  return fresh;
}

/** Rows that the hot table did not know: the cold tier's value, or 0. @hot */
export function tieredProbeMissing(tiered: Tiered, rows: SeenRows): void {
  const { bloom, kernel } = tiered;
  const values = rows.valuesOffset / 4;
  if (bloom !== undefined) {
    const maybes: number[] = [];
    listMaybes(bloom, rows, 0, maybes);
    lookUp(tiered, rows, maybes, (row, value) => {
      kernel.region.views.u32[values + row] = value;
    });
  }
  if (!tiered.hasRemoved) return;
  const { u32 } = kernel.region.views;
  for (let row = 0; row < rows.count; row++)
    if (u32[values + row] === COLD_REMOVED) u32[values + row] = 0;
}

/** The cold tier's value of one hash, or 0. */
export function tieredFind(tiered: Tiered, lo: number, hi: number): number {
  if (tiered.bloom === undefined || !bloomHas(tiered.bloom, lo, hi)) return 0;
  const values = new Uint32Array(1);
  tiered.cold.has(new Uint32Array([lo, hi]), 1, values);
  const value = values[0] as number;
  if (value !== 0 && value !== COLD_REMOVED) return value;
  tiered.maybeButNew += 1;
  return 0;
}

/** Moves a slice when the hot table is over its share, and pays merge work for `rows` admissions. Never throws. @hot */
export function tieredMakeRoom(tiered: Tiered, rows: number): void {
  try {
    if (hotCount(tiered) + rows > tiered.moveAt) move(tiered);
    if (tiered.debt > 0) {
      const handled = tiered.cold.step(Math.min(tiered.debt, rows * PAY_PER_ROW));
      tiered.debt = handled === 0 ? 0 : tiered.debt - handled;
    }
  } catch (error) {
    tiered.failure ??= { error };
    tiered.debt = 0;
    tiered.moveAt = hotCount(tiered) + MOVE_ENTRIES; // try again later, not with every batch
  }
}

/** Background work; throws what an admission put aside. */
export function tieredStep(tiered: Tiered, budget: number): number {
  const { failure } = tiered;
  if (failure !== undefined) {
    tiered.failure = undefined;
    tiered.moveAt = hotMax(tiered);
    throw failure.error;
  }
  const moved = hotCount(tiered) > tiered.moveAt ? move(tiered) : 0;
  if (moved > 0) return moved;
  return tiered.cold.step(budget);
}

export function tieredClear(tiered: Tiered): void {
  tiered.cold.clear();
  if (tiered.bloom !== undefined) bloomClear(tiered.bloom);
  tiered.hasRemoved = false;
  tiered.cursor = 0;
  tiered.debt = 0;
  tiered.failure = undefined;
  tiered.moveAt = hotMax(tiered);
}

/** Memory beside the hot table. */
export function tieredBytes(tiered: Tiered): number {
  const scratch = tiered.hashes.byteLength + tiered.values.byteLength;
  return (tiered.bloom?.bytes ?? 0) + tiered.cold.stats().bytes + scratch;
}

/** New rows that the cold tier knows get its value, in the hot table too. Returns how many. */
function admitKnown(tiered: Tiered, bloom: Bloom, rows: SeenRows): number {
  const maybes: number[] = [];
  listMaybes(bloom, rows, TABLE_NEW, maybes);
  if (maybes.length === 0) return 0;
  const { u32 } = tiered.kernel.region.views;
  const values = rows.valuesOffset / 4;
  const slots = rows.slotsOffset / 4;
  let known = 0;
  try {
    lookUp(tiered, rows, maybes, (row, value) => {
      u32[values + row] = value;
      known += 1;
    });
  } catch (error) {
    takeBack(tiered, rows, maybes);
    throw error;
  }
  if (known === 0) return 0;
  for (const row of maybes)
    if (u32[values + row] !== TABLE_NEW)
      u32[(u32[slots + row] as number) >>> 2] = u32[values + row] as number;
  // The same hash again in this batch was told that the first one claimed it.
  for (let row = 0; row < rows.count; row++)
    if (u32[values + row] === TABLE_CLAIMED)
      u32[values + row] = u32[(u32[slots + row] as number) >>> 2] as number;
  return known;
}

/** Rows whose hash was removed are new. Returns how many. */
function admitRemoved(tiered: Tiered, rows: SeenRows): number {
  const { u32 } = tiered.kernel.region.views;
  let fresh = 0;
  for (let row = 0; row < rows.count; row++) {
    if (u32[rows.valuesOffset / 4 + row] !== COLD_REMOVED) continue;
    const slot = (u32[rows.slotsOffset / 4 + row] as number) >>> 2;
    const isFirst = u32[slot] === COLD_REMOVED;
    u32[slot] = TABLE_CLAIMED;
    u32[rows.valuesOffset / 4 + row] = isFirst ? TABLE_NEW : TABLE_CLAIMED;
    fresh += Number(isFirst);
  }
  return fresh;
}

/** Asks the cold tier for the listed rows; `visit` gets those it holds. */
function lookUp(
  tiered: Tiered,
  rows: SeenRows,
  listed: readonly number[],
  visit: (row: number, value: number) => void,
): void {
  const { u32 } = tiered.kernel.region.views;
  for (let start = 0; start < listed.length; start += MOVE_ENTRIES) {
    const count = Math.min(listed.length - start, MOVE_ENTRIES);
    for (let i = 0; i < count; i++) {
      const at = rows.hashesOffset / 4 + (listed[start + i] as number) * 2;
      tiered.hashes[i * 2] = u32[at] as number;
      tiered.hashes[i * 2 + 1] = u32[at + 1] as number;
    }
    tiered.cold.has(tiered.hashes, count, tiered.values);
    for (let i = 0; i < count; i++) {
      const value = tiered.values[i] as number;
      if (value === 0 || value === COLD_REMOVED) tiered.maybeButNew += 1;
      else visit(listed[start + i] as number, value);
    }
  }
}

/** The cold tier failed: nothing of this batch was admitted. */
function takeBack(tiered: Tiered, rows: SeenRows, maybes: readonly number[]): void {
  const { u32 } = tiered.kernel.region.views;
  const asked = new Set(maybes);
  for (let row = 0; row < rows.count; row++) {
    if (u32[rows.valuesOffset / 4 + row] !== TABLE_NEW && !asked.has(row)) continue;
    const at = rows.hashesOffset / 4 + row * 2;
    tableRemove(tiered.table, u32[at] as number, u32[at + 1] as number);
  }
}

/** Moves the finished entries of the next segments to the cold tier; returns how many. */
function move(tiered: Tiered): number {
  const { kernel, table, cold, hashes, values } = tiered;
  const buffer = regionTake(kernel.region, EACH_PAGES);
  if (buffer === 0)
    throw new FrontierError("MEMORY_FULL", `region: full (expected: ${EACH_PAGES} free pages)`);
  try {
    const { count, next } = tableEach(table, tiered.cursor, TABLE_EACH_MIN, buffer);
    const picked = pickFinished(tiered, buffer, count);
    if (picked > 0) {
      tiered.beforeMove();
      bloomInsertWords(bloomOf(tiered), hashes, picked);
      cold.add(hashes, values, picked);
      for (let i = 0; i < picked; i++)
        tableRemove(table, hashes[i * 2] as number, hashes[i * 2 + 1] as number);
    }
    tiered.cursor = Math.max(next, 0);
    tiered.debt += picked * MERGE_WORK;
    // Mostly live entries: looking again at once would cost a sweep per batch and gain little.
    const floor = picked * 8 < count ? hotCount(tiered) + patience(tiered) : 0;
    tiered.moveAt = Math.max(hotMax(tiered), floor);
    return picked;
  } finally {
    regionGive(kernel.region, buffer, EACH_PAGES);
  }
}

/** Entries that come before the next sweep when there was little to move. */
function patience(tiered: Tiered): number {
  return (hotMax(tiered) >> 3) + 64;
}

function pickFinished(tiered: Tiered, buffer: number, count: number): number {
  const { hashes, values } = tiered;
  const { u32 } = tiered.kernel.region.views;
  const valuesAt = (buffer + TABLE_EACH_MIN * 8) / 4;
  let picked = 0;
  for (let i = 0; i < count && picked < MOVE_ENTRIES; i++) {
    const value = u32[valuesAt + i] as number;
    if (value < FINISHED && value !== COLD_REMOVED) continue; // I2
    hashes[picked * 2] = u32[buffer / 4 + i * 2] as number;
    hashes[picked * 2 + 1] = u32[buffer / 4 + i * 2 + 1] as number;
    values[picked] = value;
    picked += 1;
  }
  return picked;
}

function bloomOf(tiered: Tiered): Bloom {
  const { kernel, falsePositiveRate } = tiered;
  const capacity = tiered.capacity ?? Math.max(1024, hotMax(tiered));
  tiered.bloom ??= createBloom(kernel, { capacity, falsePositiveRate });
  return tiered.bloom;
}

function hotCount(tiered: Tiered): number {
  const word = tiered.table.offset / 4 + TABLE_COUNT_WORD;
  return tiered.kernel.region.views.u32[word] as number;
}

/** Entries that the hot table may hold: what bloom and cold tier leave of the memory, a quarter of it at least. */
function hotMax(tiered: Tiered): number {
  const { memoryBytes } = tiered;
  const bytes = Math.max(memoryBytes / 4, memoryBytes - tieredBytes(tiered));
  return Math.floor(bytes / HOT_ENTRY_BYTES);
}

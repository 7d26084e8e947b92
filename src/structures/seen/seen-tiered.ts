/**
 * Seen-set, mode tiered: a hot table of bounded size in front of bloom and cold tier.
 *
 *   rows ─▶ hot table ── there ─▶ its value
 *               └─ new ─▶ bloom ── maybe ─▶ cold tier ── there ─▶ its value, hot from now on
 *
 * The bloom is filled after an opening (fill-bloom.ts). Until then, while the files of the frontier are replayed, the set is recovering:
 * of the tier it asks only what this process has written. Nothing else counts, since a replay overrides what it names.
 *
 * Each admission pays for a slice of moving (move-to-cold-tier.ts) and of the cold tier's merges; what waits for the medium is left
 * to `tieredStep` as long as the hot table has room. What fails meanwhile (DISK_FULL) is put aside for `tieredStep` to
 * throw: the entries stay hot and the table grows instead.
 *
 * Memory: half of memoryBytes is the hot table's, a fifth each the bloom's and the cold filters', the rest buffers and
 * fences. The bound holds from 8 MiB on and while live entries fit in the hot table's half: they never leave it. When the
 * bloom may not grow any more its rate rises, which costs lookups, never answers.
 *
 *   I1  What was admitted and not removed is in the hot table or in the cold tier.
 *   I2  The hot table's entry is newer than the cold tier's of the same hash.
 *   I3  A failed admission leaves nothing in the hot table.
 *   I4  While it recovers, a removal stands in the hot table whether the cold tier has the hash or not.
 */
import { REGION_PAGE_BYTES } from "../../layout/memory/region.ts";
import { TABLE_CLAIMED, TABLE_EACH_MIN, TABLE_NEW } from "../../layout/seen/table.ts";
import { type Bloom, bloomClear, bloomHas } from "../bloom/bloom.ts";
import { tableInsertBatch, tableRemove } from "../table/fingerprint-table.ts";
import {
  FILLED,
  type Filling,
  fillFor,
  fillStep,
  listMaybesWhileFilling,
  mayBeCold,
} from "./fill-bloom.ts";
import { type SeenRows, listMaybes } from "./seen-bloom.ts";
import {
  MOVE_SLICE,
  type MoverOptions,
  createMover,
  endPass,
  hotCount,
  isWriting,
  moveFor,
  moveStep,
  moverBytes,
  reserveBloom,
} from "./move-to-cold-tier.ts";
import { FILTERS_PART, hotEntriesMax, hotExcessBytes } from "./seen-memory-split.ts";
import { COLD_REMOVED } from "../storage-tiers.ts";

/** Merge work per admitted row: more than what steady moving needs, so that the debt is always paid in time. */
const MERGE_PER_ROW = 8;

export interface Tiered extends Filling {
  /** Entries that earlier processes left in the tier. */
  earlier: number;
  /** Of the tier, only what this process wrote is asked. */
  isRecovering: boolean;
  maybeButNew: number;
  /** A removal may be in the hot table. */
  hasRemoved: boolean;
  /** What a lookup, a move or a merge inside an admission threw. */
  failure: { readonly error: unknown } | undefined;
}

export function createTiered(options: MoverOptions): Tiered {
  const { cold, memoryBytes } = options;
  cold.bound(memoryBytes * FILTERS_PART);
  const earlier = cold.load();
  const tiered: Tiered = {
    ...createMover(options),
    ...{ filledTo: earlier > 0 ? 0 : FILLED, isFilling: false, fillCredit: 0 },
    ...{ earlier, isRecovering: false, maybeButNew: 0, hasRemoved: false, failure: undefined },
  };
  tiered.isFilling = earlier > 0;
  return tiered;
}

/** From here on until `tieredRecovered` files are replayed. */
export function tieredRecover(tiered: Tiered): void {
  if (tiered.earlier > 0) reserveBloom(tiered);
  tiered.isRecovering = true;
  tiered.isFilling = false;
}

export function tieredRecovered(tiered: Tiered): void {
  if (!tiered.isRecovering) return;
  tiered.isRecovering = false;
  tiered.isFilling = tiered.filledTo < FILLED;
}

/** seenAdmitBatch of mode tiered. @hot */
export function tieredAdmit(tiered: Tiered, rows: SeenRows): number {
  const { hashesOffset, count, valuesOffset, slotsOffset } = rows;
  tieredMakeRoom(tiered, count);
  const { table, bloom, isRecovering, filledTo } = tiered; // a move may have made the bloom
  const isAsked = bloom !== undefined || (filledTo < FILLED && !isRecovering);
  let fresh = tableInsertBatch(table, hashesOffset, count, valuesOffset, slotsOffset);
  if (fresh > 0 && isAsked) {
    const known = admitKnown(tiered, rows);
    if (known < 0) return -1;
    fresh -= known;
  }
  if (fresh >= 0 && tiered.hasRemoved) fresh += admitRemoved(tiered, rows);
  return fresh;
}

/** The cold tier's value of one hash, or 0. What the tier throws is put aside too. */
export function tieredFind(tiered: Tiered, lo: number, hi: number): number {
  if (!mayHold(tiered, lo, hi)) return 0;
  const values = new Uint32Array(1);
  ask(tiered, new Uint32Array([lo, hi]), 1, values);
  const value = values[0] as number;
  if (value !== 0 && value !== COLD_REMOVED) return value;
  tiered.maybeButNew += 1;
  return 0;
}

/** True when the cold tier may hold the hash, now or once a batch under way is committed. */
export function tieredMayHold(tiered: Tiered, lo: number, hi: number): boolean {
  if (tiered.isRecovering && tiered.earlier > 0) return true; // I4
  if (!mayHold(tiered, lo, hi)) return false;
  return isWriting(tiered) || tieredFind(tiered, lo, hi) !== 0;
}

/** Whether the tier may have the hash, by its filters. @hot */
function mayHold(tiered: Tiered, lo: number, hi: number): boolean {
  const { bloom, isRecovering } = tiered;
  if (!isRecovering) return mayBeCold(tiered, lo, hi);
  return bloom !== undefined && bloomHas(bloom, lo, hi);
}

/** Asks the tier; what it throws is put aside, to be reported, and thrown. */
function ask(tiered: Tiered, hashes: Uint32Array, count: number, values: Uint32Array): void {
  try {
    tiered.cold.has(hashes, count, values, tiered.isRecovering);
  } catch (error) {
    tiered.failure = { error };
    throw error;
  }
}

/** Whether the tier threw it when it was asked last. */
export function tieredFailed({ failure }: Tiered, error: unknown): boolean {
  return failure !== undefined && failure.error === error;
}

/** Moves, fills and merges what `rows` admissions pay for. Never throws. @hot */
export function tieredMakeRoom(tiered: Tiered, rows: number): void {
  try {
    moveFor(tiered, rows);
    if (tiered.isFilling) fillFor(tiered, rows);
    if (tiered.debt > 0) {
      pay(tiered, tiered.cold.step(Math.min(tiered.debt, rows * MERGE_PER_ROW), "never"));
    }
  } catch (error) {
    putAside(tiered, error);
  }
}

/** If nothing is left to merge, no work is due, unless merges have still to be committed. */
function pay(tiered: Tiered, merged: number): void {
  if (merged > 0) tiered.debt = Math.max(0, tiered.debt - merged);
  else if (!tiered.cold.isCommitting()) tiered.debt = 0;
}

/** Background work; returns 0 where there is nothing to do, or only to wait. Throws what an admission put aside. */
export function tieredStep(tiered: Tiered, budget: number): number {
  const { failure } = tiered;
  if (failure !== undefined) {
    tiered.failure = undefined;
    tiered.moveAt = hotEntriesMax(tiered.memoryBytes);
    throw failure.error;
  }
  try {
    const moved = moveStep(tiered, budget, "beside");
    if (moved > 0) return moved;
    const filled = fillStep(tiered, budget);
    if (filled > 0) return filled;
    const merged = tiered.cold.step(budget, "beside");
    pay(tiered, merged);
    return merged;
  } catch (error) {
    endPass(tiered);
    throw error;
  }
}

/** Continues a pass under way, or the merges that passes have made due; merges that are left from earlier can wait. Never throws. */
export function tieredTidy(tiered: Tiered, budget: number): void {
  try {
    if (tiered.phase !== "idle") moveStep(tiered, budget, "here");
    else if (tiered.debt > 0) {
      pay(tiered, tiered.cold.step(Math.min(budget, tiered.debt), "here"));
    }
  } catch (error) {
    putAside(tiered, error);
  }
}

export function tieredIsBusy({ cold, debt, failure, isFilling, phase }: Tiered): boolean {
  if (phase !== "idle" || isFilling || debt > 0 || failure !== undefined) return true;
  return cold.isCommitting();
}

function putAside(tiered: Tiered, error: unknown): void {
  endPass(tiered);
  tiered.failure ??= { error };
  tiered.debt = 0;
  tiered.moveAt = hotCount(tiered) + TABLE_EACH_MIN; // try again later, not with every batch
}

/** That all is forgotten is durable by now. */
export function tieredClear(tiered: Tiered): void {
  endPass(tiered);
  tiered.cold.clear();
  if (tiered.bloom !== undefined) bloomClear(tiered.bloom);
  tiered.earlier = 0;
  tiered.filledTo = FILLED;
  tiered.isFilling = false;
  tiered.hasRemoved = false;
  tiered.debt = 0;
  tiered.failure = undefined;
  tiered.moveAt = hotEntriesMax(tiered.memoryBytes);
}

/** Memory beside the hot table. */
export function tieredBytes(tiered: Tiered): number {
  return (tiered.bloom?.bytes ?? 0) + tiered.cold.stats().bytes + moverBytes(tiered);
}

/** What the hot table takes beyond its part of the bound, for records in memory. */
export function excessBytes({ memoryBytes, table }: Tiered): number {
  return hotExcessBytes(memoryBytes, table.pageCount * REGION_PAGE_BYTES);
}

/** New rows that the cold tier holds get its value, in the hot table too. Returns how many; −1: the tier failed. */
function admitKnown(tiered: Tiered, rows: SeenRows): number {
  const { bloom, isRecovering, filledTo } = tiered;
  if (isRecovering || filledTo === FILLED) listMaybes(bloom as Bloom, rows, TABLE_NEW);
  else listMaybesWhileFilling(tiered, rows);
  const { listed } = rows;
  if (listed.length === 0) return 0;
  const { u32 } = tiered.kernel.region.views;
  const values = rows.valuesOffset / 4;
  const slots = rows.slotsOffset / 4;
  let known = 0;
  try {
    known = lookUp(tiered, rows);
  } catch (error) {
    takeBack(tiered, rows);
    if (tiered.isRecovering) throw error;
    return -1;
  }
  if (known === 0) return 0;
  for (let i = 0; i < listed.length; i++) {
    const row = listed[i] as number;
    if (u32[values + row] !== TABLE_NEW)
      u32[(u32[slots + row] as number) >>> 2] = u32[values + row] as number;
  }
  // The same hash again in this batch was answered that the first one claimed it.
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

/** Asks the cold tier for the listed rows; those it holds get its value. Returns how many. */
function lookUp(tiered: Tiered, rows: SeenRows): number {
  const { u32 } = tiered.kernel.region.views;
  const { listed } = rows;
  const { hashes, values } = tiered;
  let known = 0;
  for (let start = 0; start < listed.length; start += MOVE_SLICE) {
    const count = Math.min(listed.length - start, MOVE_SLICE);
    for (let i = 0; i < count; i++) {
      const at = rows.hashesOffset / 4 + (listed[start + i] as number) * 2;
      hashes[i * 2] = u32[at] as number;
      hashes[i * 2 + 1] = u32[at + 1] as number;
    }
    ask(tiered, hashes, count, values);
    for (let i = 0; i < count; i++) {
      const value = values[i] as number;
      if (value === 0 || value === COLD_REMOVED) tiered.maybeButNew += 1;
      else {
        u32[rows.valuesOffset / 4 + (listed[start + i] as number)] = value;
        known += 1;
      }
    }
  }
  return known;
}

/** The cold tier failed: nothing of this batch was admitted. */
function takeBack(tiered: Tiered, rows: SeenRows): void {
  const { u32 } = tiered.kernel.region.views;
  const asked = new Set(rows.listed);
  for (let row = 0; row < rows.count; row++) {
    if (u32[rows.valuesOffset / 4 + row] !== TABLE_NEW && !asked.has(row)) continue;
    const at = rows.hashesOffset / 4 + row * 2;
    tableRemove(tiered.table, u32[at] as number, u32[at + 1] as number);
  }
}

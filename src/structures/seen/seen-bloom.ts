/**
 * Seen-set, mode bloom: the hot table holds live records alone, the bloom everything ever admitted.
 *
 *   rows ─▶ bloom ── maybe ─▶ hot table ── live ─▶ its value
 *             │                   └─ not ─▶ SEEN_UNKNOWN (seen; with the filter's rate it never was)
 *             └─ surely new ─▶ hot table and bloom
 *
 * The bloom is asked first, so that finished duplicates never touch the table.
 *
 *   I1  Every live entry's hash is in the bloom.
 *   I2  A row that memory refused is in neither.
 */
import {
  BLOOM_SCRATCH_HASHES_OFFSET,
  BLOOM_SCRATCH_RESULTS_OFFSET,
  BLOOM_SCRATCH_ROWS,
} from "../../layout/seen/bloom.ts";
import { TABLE_NEW, TABLE_SKIP } from "../../layout/seen/table.ts";
import { type Bloom, bloomInsertBatch, bloomProbeBatch } from "../bloom/bloom.ts";
import { type FingerprintTable, tableFind, tableInsertBatch } from "../table/fingerprint-table.ts";

/** SEEN_UNKNOWN of the seen-set. */
export const BLOOM_SEEN = 0x8000_0000;

/** One batch of the seen-set, all offsets in bytes. A set has one of these, filled for each batch. */
export interface SeenRows {
  hashesOffset: number;
  count: number;
  valuesOffset: number;
  slotsOffset: number;
  /** Rows that need a second check. */
  readonly listed: number[];
}

/** seenAdmitBatch of mode bloom. @hot */
export function bloomAdmitBatch(table: FingerprintTable, bloom: Bloom, rows: SeenRows): number {
  const { hashesOffset, count, valuesOffset, slotsOffset } = rows;
  const { listed } = rows;
  listed.length = 0;
  for (let start = 0; start < count; start += BLOOM_SCRATCH_ROWS) setKnownAside(bloom, rows, start);
  const fresh = tableInsertBatch(table, hashesOffset, count, valuesOffset, slotsOffset);
  const { u32 } = bloom.kernel.region.views;
  for (let i = 0; i < listed.length; i++) {
    const row = listed[i] as number;
    const lo = u32[hashesOffset / 4 + row * 2] as number;
    const hi = u32[hashesOffset / 4 + row * 2 + 1] as number;
    const slot = tableFind(table, lo, hi);
    u32[slotsOffset / 4 + row] = slot;
    u32[valuesOffset / 4 + row] = slot === 0 ? BLOOM_SEEN : (u32[slot >>> 2] as number);
  }
  if (fresh > 0) insertNew(bloom, rows);
  return fresh;
}

/** Lists the rows whose value is `wanted` and whose hash the bloom may hold. Uses the bloom's scratch. @hot */
export function listMaybes(bloom: Bloom, rows: SeenRows, wanted: number): void {
  const { hashesOffset, count, valuesOffset, listed } = rows;
  const scratch = bloom.offset + BLOOM_SCRATCH_HASHES_OFFSET;
  const results = bloom.offset + BLOOM_SCRATCH_RESULTS_OFFSET;
  const { u32 } = bloom.kernel.region.views;
  listed.length = 0;
  let kept = 0;
  for (let row = 0; row < count; ) {
    // Candidates go behind what is kept of the list, and stay where the bloom answers maybe.
    let picked = 0;
    for (; row < count && picked < BLOOM_SCRATCH_ROWS; row++) {
      if (u32[valuesOffset / 4 + row] !== wanted) continue;
      u32[scratch / 4 + picked * 2] = u32[hashesOffset / 4 + row * 2] as number;
      u32[scratch / 4 + picked * 2 + 1] = u32[hashesOffset / 4 + row * 2 + 1] as number;
      listed[kept + picked] = row;
      picked += 1;
    }
    bloomProbeBatch(bloom, scratch, picked, results);
    const start = kept;
    for (let i = 0; i < picked; i++) {
      if (u32[results / 4 + i] !== 1) continue;
      listed[kept] = listed[start + i] as number;
      kept += 1;
    }
  }
  listed.length = kept;
}

/** Marks rows that the bloom may hold TABLE_SKIP and lists them, for the insert to pass over. */
function setKnownAside(bloom: Bloom, rows: SeenRows, start: number): void {
  const count = Math.min(rows.count - start, BLOOM_SCRATCH_ROWS);
  const results = bloom.offset + BLOOM_SCRATCH_RESULTS_OFFSET;
  if (bloomProbeBatch(bloom, rows.hashesOffset + start * 8, count, results) === 0) return;
  const { u32 } = bloom.kernel.region.views;
  for (let i = 0; i < count; i++) {
    const value = rows.valuesOffset / 4 + start + i;
    if (u32[results / 4 + i] !== 1 || u32[value] === TABLE_SKIP) continue;
    u32[value] = TABLE_SKIP;
    rows.listed.push(start + i);
  }
}

/** Inserts the rows that the table took into the bloom. */
function insertNew(bloom: Bloom, rows: SeenRows): void {
  const { hashesOffset, count, valuesOffset } = rows;
  const scratch = bloom.offset + BLOOM_SCRATCH_HASHES_OFFSET;
  const results = bloom.offset + BLOOM_SCRATCH_RESULTS_OFFSET;
  for (let row = 0; row < count; ) {
    const { u32 } = bloom.kernel.region.views; // a layer may have been added
    let picked = 0;
    for (; row < count && picked < BLOOM_SCRATCH_ROWS; row++) {
      if (u32[valuesOffset / 4 + row] !== TABLE_NEW) continue;
      u32[scratch / 4 + picked * 2] = u32[hashesOffset / 4 + row * 2] as number;
      u32[scratch / 4 + picked * 2 + 1] = u32[hashesOffset / 4 + row * 2 + 1] as number;
      picked += 1;
    }
    bloomInsertBatch(bloom, scratch, picked, results);
  }
}

/**
 * ShardedTable: one fingerprint table over several memories, for more than 4 GiB.
 *
 *   hash ── low bits of its low word ──▶ shard ──▶ FingerprintTable in that shard's region
 *           (a table itself uses the high bits of the high word)
 *
 * Rows of a batch stand in the first kernel's region. Each shard has a staging area of its own,
 * where its share of the rows is copied to and from. A slot is an offset in its own shard's region:
 * `shardOf` says which.
 *
 *   I1  A failed insert has inserted nothing in any shard: what earlier shards took is removed
 *       again.
 *   I2  Rows of one hash go to one shard, in their order.
 */
import { assert } from "../base/assert.ts";
import { misuse } from "../base/errors.ts";
import type { Kernel } from "../kernel/kernel.ts";
import { REGION_PAGE_BYTES } from "../layout/region.ts";
import { TABLE_NEW, TABLE_SKIP } from "../layout/table.ts";
import { regionTake } from "../memory/region.ts";
import {
  createTable,
  type FingerprintTable,
  tableClear,
  tableFind,
  tableFindBatch,
  tableInsert,
  tableInsertBatch,
  tableRemove,
  type TableOptions,
  type TableStats,
  tableStats,
} from "./fingerprint-table.ts";
import { verifyTable } from "./table-verify.ts";

/** Rows that one staging page has room for: hash, value and slot of each. */
const STAGE_ROWS = REGION_PAGE_BYTES / 16;

interface Shard {
  readonly table: FingerprintTable;
  readonly hashes: number;
  readonly values: number;
  readonly slots: number;
  /** Row of the batch that each staged row came from. */
  readonly rows: Int32Array;
  staged: number;
}

export interface ShardedTable {
  readonly kernel: Kernel;
  readonly shards: readonly Shard[];
}

/** A table over 2, 4, 8 … kernels; the rows of its batches stand in the first one's region. */
export function createShardedTable(
  kernels: readonly Kernel[],
  options: TableOptions,
): ShardedTable {
  const [first] = kernels;
  const isPower = kernels.length > 0 && (kernels.length & (kernels.length - 1)) === 0;
  if (!isPower || first === undefined) {
    throw misuse("ARGUMENT_INVALID", "kernels", kernels.length, "a power of two of kernels");
  }
  return { kernel: first, shards: kernels.map((kernel) => createShard(kernel, options)) };
}

function createShard(kernel: Kernel, options: TableOptions): Shard {
  const stage = regionTake(kernel.region, 1);
  if (stage === 0) throw misuse("MEMORY_FULL", "region", "exhausted", "a free page for staging");
  return {
    table: createTable(kernel, options),
    hashes: stage,
    values: stage + 8 * STAGE_ROWS,
    slots: stage + 12 * STAGE_ROWS,
    rows: new Int32Array(STAGE_ROWS),
    staged: 0,
  };
}

/** Index of the shard that a hash belongs to. */
export function shardIndexOf(table: ShardedTable, lo: number): number {
  return lo & (table.shards.length - 1);
}

function shardOf(table: ShardedTable, lo: number): Shard {
  return table.shards[shardIndexOf(table, lo)] as Shard;
}

/** As tableInsertBatch, for at most 4,096 rows; slots are offsets in each row's own shard. @hot */
export function shardedInsertBatch(
  table: ShardedTable,
  hashesOffset: number,
  count: number,
  valuesOffset: number,
  slotsOffset: number,
): number {
  stage(table, hashesOffset, count, valuesOffset);
  let inserted = 0;
  for (let index = 0; index < table.shards.length; index++) {
    const shard = table.shards[index] as Shard;
    if (shard.staged === 0) continue;
    const { hashes, staged, values, slots } = shard;
    const result = tableInsertBatch(shard.table, hashes, staged, values, slots);
    if (result < 0) {
      for (let earlier = 0; earlier < index; earlier++) undo(table.shards[earlier] as Shard);
      return -1;
    }
    inserted += result;
  }
  for (let index = 0; index < table.shards.length; index++) {
    const shard = table.shards[index] as Shard;
    gather(table, shard, shard.values, valuesOffset);
    gather(table, shard, shard.slots, slotsOffset);
  }
  return inserted;
}

/** As tableFindBatch, for at most 4,096 rows. */
export function shardedFindBatch(
  table: ShardedTable,
  hashesOffset: number,
  count: number,
  valuesOffset: number,
): number {
  stage(table, hashesOffset, count, valuesOffset);
  let found = 0;
  for (const shard of table.shards) {
    if (shard.staged === 0) continue;
    found += tableFindBatch(shard.table, shard.hashes, shard.staged, shard.values);
    gather(table, shard, shard.values, valuesOffset);
  }
  return found;
}

export function shardedFind(table: ShardedTable, lo: number, hi: number): number {
  return tableFind(shardOf(table, lo).table, lo, hi);
}

export function shardedInsert(table: ShardedTable, lo: number, hi: number): number {
  return tableInsert(shardOf(table, lo).table, lo, hi);
}

export function shardedRemove(table: ShardedTable, lo: number, hi: number): boolean {
  return tableRemove(shardOf(table, lo).table, lo, hi);
}

export function shardedClear(table: ShardedTable): void {
  for (const shard of table.shards) tableClear(shard.table);
}

export function shardedStats(table: ShardedTable): TableStats {
  const all = table.shards.map((shard) => tableStats(shard.table));
  const sum = (pick: (stats: TableStats) => number): number =>
    all.reduce((total, stats) => total + pick(stats), 0);
  return {
    count: sum((stats) => stats.count),
    removed: sum((stats) => stats.removed),
    bytes: sum((stats) => stats.bytes) + table.shards.length * REGION_PAGE_BYTES,
    load: sum((stats) => stats.load) / all.length,
    segments: sum((stats) => stats.segments),
    longestProbe: Math.max(...all.map((stats) => stats.longestProbe)),
  };
}

export function verifyShardedTable(table: ShardedTable): void {
  for (const shard of table.shards) verifyTable(shard.table);
}

/** Copies each row that is not skipped to its shard's staging area. */
function stage(table: ShardedTable, hashes: number, count: number, values: number): void {
  assert(count <= STAGE_ROWS, "a sharded batch has at most 4,096 rows");
  const { u32, i32 } = table.kernel.region.views;
  for (const shard of table.shards) shard.staged = 0;
  for (let row = 0; row < count; row++) {
    if (i32[values / 4 + row] === TABLE_SKIP) continue;
    const lo = u32[hashes / 4 + 2 * row] as number;
    const shard = shardOf(table, lo);
    const at = shard.staged++;
    const own = shard.table.kernel.region.views.u32;
    own[shard.hashes / 4 + 2 * at] = lo;
    own[shard.hashes / 4 + 2 * at + 1] = u32[hashes / 4 + 2 * row + 1] as number;
    own[shard.values / 4 + at] = 0;
    shard.rows[at] = row;
  }
}

/** Copies a staged column back to the rows that it came from. */
function gather(table: ShardedTable, shard: Shard, from: number, to: number): void {
  const { u32 } = table.kernel.region.views;
  const own = shard.table.kernel.region.views.u32;
  for (let at = 0; at < shard.staged; at++) {
    u32[to / 4 + (shard.rows[at] as number)] = own[from / 4 + at] as number;
  }
}

/** Takes out what this batch put into a shard. */
function undo(shard: Shard): void {
  const { u32, i32 } = shard.table.kernel.region.views;
  for (let at = 0; at < shard.staged; at++) {
    if (i32[shard.values / 4 + at] !== TABLE_NEW) continue;
    const word = shard.hashes / 4 + 2 * at;
    tableRemove(shard.table, u32[word] as number, u32[word + 1] as number);
  }
}

/**
 * Room `src/structures/bloom`: the bloom filter: its size for a rate, its layers, how it is emptied and copied. Decides
 * sizes and rates. May touch the kernel and memory.
 */

import { FrontierError, misuse } from "../../base/errors.ts";
import type { Kernel } from "../../kernel/kernel.ts";
import {
  BLOOM_FIRST_BLOCKS_OFFSET,
  BLOOM_LAYER_BLOCK_COUNT_WORD,
  BLOOM_LAYER_CAPACITY_WORD,
  BLOOM_LAYER_COUNT_WORD,
  BLOOM_LAYER_PAGES_WORD,
  BLOOM_MAGIC,
  BLOOM_MAGIC_WORD,
  BLOOM_ROTATION_WORD,
  BLOOM_SCRATCH_HASHES_OFFSET,
  BLOOM_SCRATCH_RESULTS_OFFSET,
  BLOOM_SCRATCH_ROWS,
} from "../../layout/seen/bloom.ts";
import { REGION_PAGE_BYTES } from "../../layout/memory/region.ts";
import { regionGive, regionTakeRaw } from "../../memory/region.ts";
import { zeroGranulesAhead, markStale } from "./bloom-lazy-clear.ts";
import {
  addLayer,
  type Bloom,
  giveLaterLayers,
  type LayerPlan,
  layerWords,
  planLayer,
  publishLayer,
  zeroAhead,
} from "./bloom-layers.ts";
import { bloomLayerRate } from "./bloom-sizing.ts";

export type { Bloom } from "./bloom-layers.ts";

/** What a bloom lives in. Rooms that may not see the kernel name it by this. */
export type BloomKernel = Kernel;

export interface BloomOptions {
  /** Members the first layer takes. */
  readonly capacity: number;
  /** Most false positives among foreign hashes, over all layers. */
  readonly falsePositiveRate: number;
  /** No layer is added beyond this many bytes. */
  readonly bytesMax?: number;
  /** True: one layer sized for exactly `capacity` members and the whole rate. */
  readonly isFixed?: boolean;
  /** True: takes its bits from the other halves of the hash, independent of a filter that does not. */
  readonly isRotated?: boolean;
}

/** Pages of a run that `createBloom` takes for the same options. */
export function bloomPagesAtFirst(options: BloomOptions): number {
  return firstLayer(options).pages;
}

function firstLayer({ capacity, falsePositiveRate, bytesMax, isFixed }: BloomOptions): LayerPlan {
  const rate = isFixed === true ? falsePositiveRate : bloomLayerRate(falsePositiveRate, 0);
  return planLayer(capacity, rate, bytesMax ?? Number.POSITIVE_INFINITY, true);
}

/** Makes an empty filter. Throws MEMORY_FULL when the region has no room for its first layer. */
export function createBloom(kernel: Kernel, options: BloomOptions): Bloom {
  const { capacity, falsePositiveRate } = options;
  if (!(Number.isSafeInteger(capacity) && capacity > 0))
    throw misuse("OPTION_INVALID", "capacity", capacity, "an integer of at least 1");
  if (!(falsePositiveRate > 0 && falsePositiveRate < 1))
    throw misuse("OPTION_INVALID", "falsePositiveRate", falsePositiveRate, "0 < rate < 1");
  const isFixed = options.isFixed ?? false;
  const bytesMax = options.bytesMax ?? Number.POSITIVE_INFINITY;
  const layer = firstLayer(options);
  const { region } = kernel;
  const offset = regionTakeRaw(region, layer.pages);
  if (offset === 0) throw filterFull(layer.pages);
  const isStale = offset < region.dirtyEnd;
  const { u8, u32 } = region.views;
  u8.fill(0, offset, offset + BLOOM_FIRST_BLOCKS_OFFSET);
  u32[offset / 4 + BLOOM_MAGIC_WORD] = BLOOM_MAGIC;
  u32[offset / 4 + BLOOM_ROTATION_WORD] = options.isRotated ? 32 : 0;
  const bytes = layer.pages * REGION_PAGE_BYTES;
  const bloom: Bloom = {
    ...{ kernel, offset, falsePositiveRate, capacity, bytesMax, isFixed },
    ...{ layerCount: 0, bytes, room: 0, aheadAt: 0, ahead: undefined, staleAt: -1 },
  };
  const map = isStale ? markStale(bloom, layer.blocks) : 0;
  publishLayer(bloom, offset + BLOOM_FIRST_BLOCKS_OFFSET, layer, map);
  return bloom;
}

/** Result words: 1 maybe, 0 surely new. Returns the number of maybes. @hot */
export function bloomProbeBatch(
  bloom: Bloom,
  hashesOffset: number,
  count: number,
  resultsOffset: number,
): number {
  return bloom.kernel.exports.bloomProbeBatch(bloom.offset, hashesOffset, count, resultsOffset);
}

/** Inserts what is not held; result words: 1 was maybe there, 0 new now. Returns the number of new ones. Owner. @hot */
export function bloomInsertBatch(
  bloom: Bloom,
  hashesOffset: number,
  count: number,
  resultsOffset: number,
): number {
  const { exports } = bloom.kernel;
  let inserted = 0;
  for (let start = 0; start < count; ) {
    if (bloom.room < 1) addLayer(bloom);
    const rows = Math.min(count - start, bloom.room);
    const fresh = exports.bloomInsertBatch(
      bloom.offset,
      hashesOffset + start * 8,
      rows,
      resultsOffset + start * 4,
    );
    bloom.room -= fresh;
    inserted += fresh;
    start += rows;
  }
  if (bloom.room < bloom.aheadAt) zeroAhead(bloom, count);
  if (bloom.staleAt >= 0) zeroGranulesAhead(bloom, count);
  return inserted;
}

/** True: maybe a member. @hot */
export function bloomHas(bloom: Bloom, lo: number, hi: number): boolean {
  return bloom.kernel.exports.bloomProbe(bloom.offset, lo, hi) !== 0;
}

/** Inserts one hash; true when it was maybe a member before. Owner. @hot */
export function bloomAdd(bloom: Bloom, lo: number, hi: number): boolean {
  if (bloom.room < 1) addLayer(bloom);
  if (bloom.kernel.exports.bloomInsert(bloom.offset, lo, hi) !== 0) return true;
  bloom.room -= 1;
  if (bloom.room < bloom.aheadAt) zeroAhead(bloom, 1);
  if (bloom.staleAt >= 0) zeroGranulesAhead(bloom, 1);
  return false;
}

/** Inserts `count` hashes (words lo, hi) from an array outside the region. Owner. */
export function bloomInsertWords(bloom: Bloom, words: Uint32Array, count: number): void {
  const hashesOffset = bloom.offset + BLOOM_SCRATCH_HASHES_OFFSET;
  const resultsOffset = bloom.offset + BLOOM_SCRATCH_RESULTS_OFFSET;
  for (let start = 0; start < count; start += BLOOM_SCRATCH_ROWS) {
    const rows = Math.min(count - start, BLOOM_SCRATCH_ROWS);
    const { u32 } = bloom.kernel.region.views;
    u32.set(words.subarray(start * 2, (start + rows) * 2), hashesOffset / 4);
    bloomInsertBatch(bloom, hashesOffset, rows, resultsOffset);
  }
}

/**
 * Empties the filter, whatever its size, in the time that its map takes: layer 0 stays, stale (bloom-lazy-clear.ts), and the others'
 * pages go back. Other threads see a new, empty filter.
 */
export function bloomClear(bloom: Bloom): void {
  const first = layerWords(bloom, 0);
  const plan: LayerPlan = {
    blocks: first[BLOOM_LAYER_BLOCK_COUNT_WORD] as number,
    capacity: first[BLOOM_LAYER_CAPACITY_WORD] as number,
    pages: first[BLOOM_LAYER_PAGES_WORD] as number,
  };
  giveLaterLayers(bloom);
  const { i32 } = bloom.kernel.region.views;
  i32[bloom.offset / 4 + BLOOM_LAYER_COUNT_WORD] = 0;
  bloom.layerCount = 0;
  bloom.bytes = plan.pages * REGION_PAGE_BYTES;
  const map = markStale(bloom, plan.blocks);
  publishLayer(bloom, bloom.offset + BLOOM_FIRST_BLOCKS_OFFSET, plan, map);
}

/** Frees all pages. No thread may use the bloom any more. */
export function bloomGive(bloom: Bloom): void {
  giveLaterLayers(bloom);
  const pages = layerWords(bloom, 0)[BLOOM_LAYER_PAGES_WORD] as number;
  regionGive(bloom.kernel.region, bloom.offset, pages);
  bloom.bytes = 0;
}

export function filterFull(pages: number): FrontierError {
  const bytes = pages * REGION_PAGE_BYTES;
  const expected = "room in the frontier's 4 GiB; a larger `seen.falsePositiveRate` needs less";
  return new FrontierError("MEMORY_FULL", `filter: ${bytes} bytes (expected: ${expected})`);
}

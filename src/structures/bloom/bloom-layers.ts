/**
 * The layers of a bloom: how large the next one is, and how its pages come without a call that zeroes all of them.
 *
 *   newest layer ├──────────────── capacity ────────────────┤
 *                                    aheadAt ├── pages taken, zeroed slice by slice ──┤ published
 *
 * Pages that were never used are zero already; those of others before are zeroed by the inserts that come while the newest
 * layer has room, at a price a row that has them ready when half of that room is left.
 *
 *   I1  A layer is read only after it is published, and then all of its blocks are zeros, or known to be stale
 *       (bloom-lazy-clear.ts).
 */
import {
  BLOOM_LAYERS_WORD,
  BLOOM_LAYER_BLOCKS_OFFSET_WORD,
  BLOOM_LAYER_BLOCK_COUNT_WORD,
  BLOOM_LAYER_CAPACITY_WORD,
  BLOOM_LAYER_COUNT_MAX,
  BLOOM_LAYER_COUNT_WORD,
  BLOOM_LAYER_MAP_WORD,
  BLOOM_LAYER_PAGES_WORD,
  BLOOM_LAYER_WORDS,
} from "../../layout/seen/bloom.ts";
import type { Kernel } from "../../kernel/kernel.ts";
import { REGION_PAGE_BYTES } from "../../layout/memory/region.ts";
import { regionGive, regionTakeRaw } from "../../memory/region.ts";
import {
  bloomBlocksFor,
  bloomBlocksIn,
  bloomLayerRate,
  bloomLoadFor,
  bloomLostAt,
  bloomPages,
} from "./bloom-sizing.ts";

/** A last layer cut by `bytesMax` is added only when it is at least this part of what there is. */
const LAYER_WORTH = 8;
/** The next layer's pages are taken when this part of the newest one's capacity is left. */
const AHEAD_PART = 4;

export interface Bloom {
  readonly kernel: Kernel;
  /** Offset of the header. */
  readonly offset: number;
  readonly falsePositiveRate: number;
  readonly capacity: number;
  readonly bytesMax: number;
  readonly isFixed: boolean;
  layerCount: number;
  bytes: number;
  /** Inserts the newest layer still takes before the next one is due; Infinity when there will be none. */
  room: number;
  /** Room at which the next layer's pages are taken, so that they are zeroed slice by slice; 0: not ahead of need. */
  aheadAt: number;
  ahead: LayerAhead | undefined;
  /** The next granule of layer 0 that inserts check for being stale (bloom-lazy-clear.ts); -1: none is. */
  staleAt: number;
}

/** What a layer is made of. */
export interface LayerPlan {
  readonly blocks: number;
  readonly capacity: number;
  readonly pages: number;
}

/** Blocks for `offered` hashes at `rate`, cut to `bytesMax`. `capacity` is what will set bits of those offered. */
export function planLayer(
  offered: number,
  rate: number,
  bytesMax: number,
  isFirst: boolean,
): LayerPlan {
  const whole = Math.floor(bytesMax / REGION_PAGE_BYTES) * REGION_PAGE_BYTES;
  const fits = Math.max(1, bloomBlocksIn(whole, isFirst));
  const blocks = Math.min(bloomBlocksFor(offered, rate), fits);
  const load = Math.min(offered / blocks, bloomLoadFor(rate));
  const taken = Math.floor(blocks * (load - bloomLostAt(load)));
  return { blocks, capacity: Math.max(1, taken), pages: bloomPages(blocks, isFirst) };
}

/** A layer whose pages are taken: what lies from `dirtyAt` to `dirtyEnd` is not zero yet. */
interface LayerAhead {
  readonly plan: LayerPlan;
  readonly offset: number;
  dirtyAt: number;
  readonly dirtyEnd: number;
  /** What each row inserted zeroes. */
  readonly bytesPerRow: number;
}

/** The next layer, or none for ever: then the newest takes whatever comes. */
export function addLayer(bloom: Bloom): void {
  const ahead = bloom.ahead ?? takeAhead(bloom);
  bloom.ahead = undefined;
  bloom.room = Number.POSITIVE_INFINITY;
  bloom.aheadAt = 0;
  if (ahead === undefined) return;
  zero(bloom, ahead, Number.POSITIVE_INFINITY);
  publishLayer(bloom, ahead.offset, ahead.plan);
}

/** Takes the next layer's pages, or zeroes what `rows` inserts pay for of those that were taken. */
export function zeroAhead(bloom: Bloom, rows: number): void {
  const { ahead } = bloom;
  if (ahead === undefined) {
    bloom.ahead = takeAhead(bloom);
    // Once more when it is due: there may be pages by then.
    if (bloom.ahead === undefined) bloom.aheadAt = 0;
    return;
  }
  if (ahead.dirtyAt < ahead.dirtyEnd) zero(bloom, ahead, rows * ahead.bytesPerRow);
}

function zero({ kernel }: Bloom, ahead: LayerAhead, bytes: number): void {
  const end = Math.min(ahead.dirtyEnd, ahead.dirtyAt + bytes);
  if (ahead.dirtyAt < end) kernel.region.views.u8.fill(0, ahead.dirtyAt, end);
  ahead.dirtyAt = end;
}

function takeAhead(bloom: Bloom): LayerAhead | undefined {
  const { region } = bloom.kernel;
  const index = bloom.layerCount;
  if (bloom.isFixed || index === BLOOM_LAYER_COUNT_MAX) return undefined;
  const rate = bloomLayerRate(bloom.falsePositiveRate, index);
  const room = bloom.bytesMax - bloom.bytes;
  if (room < bloom.bytes / LAYER_WORTH) return undefined;
  const plan = planLayer(bloom.capacity * 2 ** index, rate, room, false);
  const offset = regionTakeRaw(region, plan.pages);
  if (offset === 0) return undefined;
  bloom.bytes += plan.pages * REGION_PAGE_BYTES;
  const { dirtyEnd } = region;
  const bytesPerRow = Math.ceil((2 * Math.max(0, dirtyEnd - offset)) / Math.max(1, bloom.room));
  return { plan, offset, dirtyAt: offset, dirtyEnd, bytesPerRow };
}

/** Makes a layer the newest: its blocks are zeros, or, with a map, stale. Owner. */
export function publishLayer(
  bloom: Bloom,
  blocksOffset: number,
  layer: LayerPlan,
  mapOffset = 0,
): void {
  const words = layerWords(bloom, bloom.layerCount);
  words.fill(0);
  words[BLOOM_LAYER_BLOCKS_OFFSET_WORD] = blocksOffset;
  words[BLOOM_LAYER_BLOCK_COUNT_WORD] = layer.blocks;
  words[BLOOM_LAYER_CAPACITY_WORD] = layer.capacity;
  words[BLOOM_LAYER_PAGES_WORD] = layer.pages;
  words[BLOOM_LAYER_MAP_WORD] = mapOffset;
  bloom.layerCount += 1;
  bloom.room = layer.capacity;
  bloom.aheadAt = bloom.isFixed ? 0 : Math.floor(layer.capacity / AHEAD_PART);
  bloom.kernel.region.views.u32[bloom.offset / 4 + BLOOM_LAYER_COUNT_WORD] = bloom.layerCount;
}

export function giveLaterLayers(bloom: Bloom): void {
  const { region } = bloom.kernel;
  if (bloom.ahead !== undefined) regionGive(region, bloom.ahead.offset, bloom.ahead.plan.pages);
  bloom.ahead = undefined;
  for (let index = bloom.layerCount - 1; index > 0; index--) {
    const words = layerWords(bloom, index);
    const offset = words[BLOOM_LAYER_BLOCKS_OFFSET_WORD] as number;
    regionGive(region, offset, words[BLOOM_LAYER_PAGES_WORD] as number);
  }
}

/** The header words of layer `index`. */
export function layerWords(bloom: Bloom, index: number): Uint32Array {
  const start = bloom.offset / 4 + BLOOM_LAYERS_WORD + index * BLOOM_LAYER_WORDS;
  return bloom.kernel.region.views.u32.subarray(start, start + BLOOM_LAYER_WORDS);
}

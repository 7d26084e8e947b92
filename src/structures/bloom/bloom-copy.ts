/**
 * A bloom's bits, taken out piece by piece while it is used, and put back into a new one.
 *
 *   running:  layers as they are now ─▶ piece ─▶ piece ─▶ …       new one: same layers, empty ◀─ piece ◀─ piece ◀─ …
 *
 * Bits are only ever set, so a piece taken later holds no less than one taken at once: what was a member when the layers were
 * noted is a member of the copy. Who comes meanwhile may be in it or not.
 *
 *   I1  A copy's layers have the sizes and members that were noted; bitsSet is counted from its bits.
 */
import { assert } from "../../base/assert.ts";
import {
  BLOOM_BLOCK_BYTES,
  BLOOM_FIRST_BLOCKS_OFFSET,
  BLOOM_LAYER_BITS_SET_WORD,
  BLOOM_LAYER_BLOCK_COUNT_WORD,
  BLOOM_LAYER_BLOCKS_OFFSET_WORD,
  BLOOM_LAYER_CAPACITY_WORD,
  BLOOM_LAYER_INSERTED_WORD,
  BLOOM_MAGIC,
  BLOOM_MAGIC_WORD,
  BLOOM_ROTATION_WORD,
} from "../../layout/seen/bloom.ts";
import { REGION_PAGE_BYTES } from "../../layout/memory/region.ts";
import { regionTake } from "../../memory/region.ts";
import { type Bloom, bloomGive, filterFull } from "./bloom.ts";
import { zeroedBytes } from "./bloom-lazy-clear.ts";
import { layerWords, publishLayer } from "./bloom-layers.ts";
import { bloomPages } from "./bloom-sizing.ts";

export interface BloomLayer {
  readonly blocks: number;
  readonly capacity: number;
  readonly inserted: number;
}

/** The layers as they are now. */
export function bloomLayers(bloom: Bloom): BloomLayer[] {
  return Array.from({ length: bloom.layerCount }, (_, index) => {
    const words = layerWords(bloom, index);
    return {
      blocks: words[BLOOM_LAYER_BLOCK_COUNT_WORD] as number,
      capacity: words[BLOOM_LAYER_CAPACITY_WORD] as number,
      inserted: words[BLOOM_LAYER_INSERTED_WORD] as number,
    };
  });
}

/** Bytes of a layer from one on, at most so many; a view, valid until the region grows. */
export function bloomPiece(bloom: Bloom, layer: number, from: number, length: number): Uint8Array {
  const words = layerWords(bloom, layer);
  const start = words[BLOOM_LAYER_BLOCKS_OFFSET_WORD] as number;
  const bytes = (words[BLOOM_LAYER_BLOCK_COUNT_WORD] as number) * BLOOM_BLOCK_BYTES;
  const end = Math.min(bytes, from + length);
  if (layer === 0) zeroedBytes(bloom, from, end);
  return bloom.kernel.region.views.u8.subarray(start + from, start + end);
}

/** A filter of these layers, without a bit set, in place of one that is given back. Throws MEMORY_FULL. */
export function bloomRemake(before: Bloom, layers: readonly BloomLayer[]): Bloom {
  const { kernel, falsePositiveRate, capacity, bytesMax, isFixed } = before;
  const rotation = kernel.region.views.u32[before.offset / 4 + BLOOM_ROTATION_WORD] as number;
  bloomGive(before);
  const [first] = layers;
  assert(first !== undefined, "bloomRemake: there is a layer");
  const offset = takePages(before, bloomPages(first.blocks, true));
  const { u32 } = kernel.region.views;
  u32[offset / 4 + BLOOM_MAGIC_WORD] = BLOOM_MAGIC;
  u32[offset / 4 + BLOOM_ROTATION_WORD] = rotation;
  const bloom: Bloom = {
    ...{ kernel, offset, falsePositiveRate, capacity, bytesMax, isFixed },
    ...{ layerCount: 0, bytes: 0, room: 0, aheadAt: 0, ahead: undefined, staleAt: -1 },
  };
  layers.forEach(({ blocks, capacity: most, inserted }, index) => {
    const pages = bloomPages(blocks, index === 0);
    const start = index === 0 ? offset + BLOOM_FIRST_BLOCKS_OFFSET : takePages(before, pages);
    publishLayer(bloom, start, { blocks, capacity: most, pages });
    layerWords(bloom, index)[BLOOM_LAYER_INSERTED_WORD] = inserted;
    bloom.bytes += pages * REGION_PAGE_BYTES;
    bloom.room = most - inserted;
  });
  return bloom;
}

/** Puts a piece where it was taken; false: the layer has no such place. Each piece once. */
export function bloomFill(bloom: Bloom, layer: number, from: number, bits: Uint8Array): boolean {
  if (!(layer < bloom.layerCount) || from % BLOOM_BLOCK_BYTES !== 0) return false;
  const { exports, region } = bloom.kernel;
  const words = layerWords(bloom, layer);
  const blocks = words[BLOOM_LAYER_BLOCK_COUNT_WORD] as number;
  if (from + bits.length > blocks * BLOOM_BLOCK_BYTES) return false;
  const start = (words[BLOOM_LAYER_BLOCKS_OFFSET_WORD] as number) + from;
  region.views.u8.set(bits, start);
  const counted = exports.bloomCountBits(start, bits.length) >>> 0;
  const low = (words[BLOOM_LAYER_BITS_SET_WORD] as number) + counted;
  words[BLOOM_LAYER_BITS_SET_WORD] = low;
  words[BLOOM_LAYER_BITS_SET_WORD + 1] =
    (words[BLOOM_LAYER_BITS_SET_WORD + 1] as number) + Math.floor(low / 2 ** 32);
  return true;
}

function takePages({ kernel }: Bloom, pages: number): number {
  const offset = regionTake(kernel.region, pages);
  if (offset !== 0) return offset;
  throw filterFull(pages);
}

/**
 * Granules: how a filter of any size is emptied at once. Its first layer is marked stale, and zeroed by 4 KiB as it is used:
 *
 *   markStale ─▶ map: 0 0 0 0 0 0 …    a probe: its granule has no bit ─▶ holds nothing
 *                     │                 an insert: its granule has no bit ─▶ zeroed, bit set, then written (assembly/seen/bloom.ts)
 *                     └─ inserts zero the next ones in their order too ─▶ all bits are set ─▶ no map any more
 *
 * The owner alone zeroes; what other threads may read when stands in assembly/seen/bloom.ts.
 *
 *   I1  While a layer has a map: what lies in a granule whose bit is set was inserted since, and nothing else is.
 *   I2  staleAt >= 0 while layer 0 has a map; the bits of all granules before it are set.
 */
import {
  BLOOM_FIRST_BLOCKS_OFFSET,
  BLOOM_GRANULE_BYTES,
  BLOOM_LAYERS_WORD,
  BLOOM_LAYER_BLOCK_COUNT_WORD,
  BLOOM_LAYER_MAP_WORD,
} from "../../layout/seen/bloom.ts";
import { type Bloom, layerWords } from "./bloom-layers.ts";
import { bloomGranules, bloomMapWords } from "./bloom-sizing.ts";

/** Marks all granules of layer 0 as not zeroed; returns where its map is, for publishLayer. */
export function markStale(bloom: Bloom, blocks: number): number {
  const { u32 } = bloom.kernel.region.views;
  const map = firstGranule(bloom) + bloomGranules(blocks) * BLOOM_GRANULE_BYTES;
  u32.fill(0, map / 4, map / 4 + bloomMapWords(blocks));
  bloom.staleAt = 0;
  return map;
}

/** Zeroes the granules that come next, one for each of `rows` inserts; the last of them ends the map. @hot */
export function zeroGranulesAhead(bloom: Bloom, rows: number): void {
  const words = layerWords(bloom, 0);
  const granules = bloomGranules(words[BLOOM_LAYER_BLOCK_COUNT_WORD] as number);
  const end = Math.min(granules, bloom.staleAt + rows);
  for (let granule = bloom.staleAt; granule < end; granule++) zeroGranules(bloom, granule);
  bloom.staleAt = end;
  if (end < granules) return;
  bloom.staleAt = -1;
  words[BLOOM_LAYER_MAP_WORD] = 0;
}

/** Zeroes what is stale of bytes of layer 0, for a reader of the bytes as they lie. */
export function zeroedBytes(bloom: Bloom, from: number, end: number): void {
  if (bloom.staleAt < 0) return;
  const last = Math.ceil(end / BLOOM_GRANULE_BYTES);
  for (let granule = Math.floor(from / BLOOM_GRANULE_BYTES); granule < last; granule++) {
    zeroGranules(bloom, granule);
  }
}

/** Whether a granule of layer 0, which has a map, is zeroed. */
export function isZeroed(bloom: Bloom, granule: number): boolean {
  const bits = bloom.kernel.region.views.i32[mapWord(bloom, granule)] as number;
  return ((bits >>> (granule & 31)) & 1) === 1;
}

function zeroGranules(bloom: Bloom, granule: number): void {
  if (isZeroed(bloom, granule)) return;
  const { u8, i32 } = bloom.kernel.region.views;
  const start = firstGranule(bloom) + granule * BLOOM_GRANULE_BYTES;
  u8.fill(0, start, start + BLOOM_GRANULE_BYTES);
  const word = mapWord(bloom, granule);
  i32[word] = (i32[word] as number) | (1 << (granule & 31));
}

/** Index of the word of the map that speaks of a granule. */
function mapWord({ kernel, offset }: Bloom, granule: number): number {
  const at = offset / 4 + BLOOM_LAYERS_WORD + BLOOM_LAYER_MAP_WORD;
  const map = kernel.region.views.u32[at] as number;
  return map / 4 + (granule >>> 5);
}

function firstGranule(bloom: Bloom): number {
  return bloom.offset + BLOOM_FIRST_BLOCKS_OFFSET;
}

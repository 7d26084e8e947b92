/** The filters of runs: how large one may be, and what all of them take together. */
import { BLOOM_BLOCK_BYTES } from "../../layout/seen/bloom.ts";
import { REGION_PAGE_BYTES } from "../../layout/memory/region.ts";
import { type Bloom, bloomGive, createBloom } from "../../structures/bloom/bloom.ts";
import { type BloomLayer, bloomRemake } from "../../structures/bloom/bloom-copy.ts";
import { bloomRateAt } from "../../structures/bloom/bloom-sizing.ts";
import type { ColdPlace } from "./cold-run.ts";

/** The largest part of the remaining filter memory that one filter takes: merges in progress and the next batch need some too. */
const FILTER_PART = 3 / 4;

/**
 * Creates the filter of a run, with the halves swapped so that it errs on other hashes than the filter in front of the tier. It takes
 * bitsPerEntry, or less where the tier's share of memory is smaller: lookups then read more.
 */
export function createColdBloom(place: ColdPlace, capacity: number): Bloom {
  const { filters, kernel } = place;
  const left = (filters.bytesMax - filters.bytes) * FILTER_PART;
  const bloom = createBloom(kernel, {
    capacity,
    falsePositiveRate: bloomRateAt(256 / place.bitsPerEntry),
    bytesMax: Math.max(REGION_PAGE_BYTES, left),
    ...{ isFixed: true, isRotated: true },
  });
  filters.bytes += bloom.bytes;
  return bloom;
}

/** An empty filter as one was before, or undefined where it exceeds the tier's share of memory. */
export function createColdBloomOf(place: ColdPlace, layer: BloomLayer): Bloom | undefined {
  const { filters, kernel } = place;
  const bytes = layer.blocks * BLOOM_BLOCK_BYTES;
  const left = Math.max(REGION_PAGE_BYTES, filters.bytesMax - filters.bytes);
  if (bytes > left) return undefined;
  const falsePositiveRate = bloomRateAt(256 / place.bitsPerEntry);
  const sizes = { capacity: 1, falsePositiveRate, isFixed: true, isRotated: true };
  const bloom = bloomRemake(createBloom(kernel, sizes), [layer]);
  filters.bytes += bloom.bytes;
  return bloom;
}

export function giveColdBloom(place: ColdPlace, bloom: Bloom): void {
  place.filters.bytes -= bloom.bytes;
  bloomGive(bloom);
}

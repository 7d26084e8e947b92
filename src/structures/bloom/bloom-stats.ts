/**
 * What a bloom measures of itself: load, rate, expected losses; and the check of its invariants (bloom.ts numbers them).
 * Owner thread. Reads alone.
 */
import { assert } from "../../base/assert.ts";
import {
  BLOOM_BLOCK_BITS,
  BLOOM_BLOCK_BYTES,
  BLOOM_GRANULE_BYTES,
  BLOOM_LAYER_BITS_SET_WORD,
  BLOOM_LAYER_BLOCKS_OFFSET_WORD,
  BLOOM_LAYER_BLOCK_COUNT_WORD,
  BLOOM_LAYER_CAPACITY_WORD,
  BLOOM_LAYER_INSERTED_WORD,
} from "../../layout/seen/bloom.ts";
import { type Bloom, layerWords } from "./bloom-layers.ts";
import { isZeroed } from "./bloom-lazy-clear.ts";
import {
  bloomGranules,
  bloomLayerRate,
  bloomLoadOf,
  bloomLostAt,
  bloomRateAt,
} from "./bloom-sizing.ts";

/** What the filter holds and what it costs. Not for the hot path: some thousand multiplications. */
export function bloomStats(bloom: Bloom) {
  let count = 0;
  let bits = 0;
  let bitsSet = 0;
  let expectedLost = 0;
  let surelyNew = 1;
  for (let index = 0; index < bloom.layerCount; index++) {
    const words = layerWords(bloom, index);
    const blocks = words[BLOOM_LAYER_BLOCK_COUNT_WORD] as number;
    const set = bitsSetOf(words);
    const load = bloomLoadOf(set, blocks);
    // Those that reached this layer were the ones the earlier, full layers did not take for members.
    expectedLost += blocks * (bloomLostAt(load) + (load * (1 - surelyNew)) / surelyNew);
    surelyNew *= 1 - bloomRateAt(load);
    count += words[BLOOM_LAYER_INSERTED_WORD] as number;
    bits += blocks * BLOOM_BLOCK_BITS;
    bitsSet += set;
  }
  const { bytes, layerCount } = bloom;
  return {
    ...{ bytes, layers: layerCount, count, bits, bitsSet, load: bitsSet / bits },
    bitsPerUrl: count === 0 ? 0 : (bytes * 8) / count,
    /** Of a foreign hash, now. */
    falsePositiveRate: 1 - surelyNew,
    /** Foreign hashes that met a false maybe so far, expected: URLs lost where no exact tier stands behind. */
    expectedLost,
  };
}

/** Checks I1 to I3; counts every bit. */
export function verifyBloom(bloom: Bloom): void {
  let rate = 0;
  for (let index = 0; index < bloom.layerCount; index++) {
    const words = layerWords(bloom, index);
    const blocks = words[BLOOM_LAYER_BLOCK_COUNT_WORD] as number;
    const inserted = words[BLOOM_LAYER_INSERTED_WORD] as number;
    const capacity = words[BLOOM_LAYER_CAPACITY_WORD] as number;
    const counted = countBits(bloom, index, blocks);
    assert(counted === bitsSetOf(words), "I2: bitsSet");
    assert(inserted <= counted, "I2: inserted");
    const isNewest = index === bloom.layerCount - 1;
    assert(isNewest ? bloom.room > 0 || inserted >= capacity : inserted === capacity, "I1");
    rate += bloom.isFixed
      ? bloom.falsePositiveRate
      : bloomLayerRate(bloom.falsePositiveRate, index);
  }
  assert(rate <= bloom.falsePositiveRate, "I3");
}

/** The one bits of a layer; those of stale granules count for none. */
function countBits(bloom: Bloom, index: number, blocks: number): number {
  const { exports } = bloom.kernel;
  const offset = layerWords(bloom, index)[BLOOM_LAYER_BLOCKS_OFFSET_WORD] as number;
  const size = blocks * BLOOM_BLOCK_BYTES;
  if (index > 0 || bloom.staleAt < 0) return exports.bloomCountBits(offset, size) >>> 0;
  let counted = 0;
  for (let granule = 0; granule < bloomGranules(blocks); granule++) {
    if (!isZeroed(bloom, granule)) continue;
    const from = granule * BLOOM_GRANULE_BYTES;
    const bytes = Math.min(BLOOM_GRANULE_BYTES, size - from);
    counted += exports.bloomCountBits(offset + from, bytes) >>> 0;
  }
  return counted;
}

function bitsSetOf(words: Uint32Array): number {
  const low = words[BLOOM_LAYER_BITS_SET_WORD] as number;
  return low + (words[BLOOM_LAYER_BITS_SET_WORD + 1] as number) * 2 ** 32;
}

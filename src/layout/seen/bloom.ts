/**
 * One bloom filter in the region: a header with a directory of layers, scratch rows, then the blocks of layer 0.
 * Later layers are page runs of their own. A layer is an array of 256-bit blocks, 32 bytes each.
 *
 * Header, words:
 *    0  magic
 *    1  layerCount
 *    2  rotation       bits by which a hash is rotated right before use: 0, or 32 for a second independent filter
 *    3  reserved, zero
 *   16… BLOOM_LAYER_WORDS per layer:
 *         0  blocksOffset  absolute
 *         1  blockCount
 *         2  capacity      members at which the next layer begins
 *         3  inserted      inserts that set at least one bit
 *         4  bitsSet, low word     5  bitsSet, high word
 *         6  pages of its run
 *         7  map           absolute, layer 0 only: the map of its granules while some of them are stale; 0: none is
 *
 * Granules and map: layer 0 in granules of 4 KiB, with a bit for each, set once it was zeroed after the filter was last emptied.
 * Any other granule holds bytes of an earlier use of the memory: its blocks count as empty.
 *
 * Scratch: BLOOM_SCRATCH_ROWS hashes (two words each: lo, hi), then as many result words. Owner only.
 */
export const BLOOM_MAGIC = 0x4d4c4232;
export const BLOOM_MAGIC_WORD = 0;
export const BLOOM_LAYER_COUNT_WORD = 1;
export const BLOOM_ROTATION_WORD = 2;
export const BLOOM_LAYERS_WORD = 16;
export const BLOOM_LAYER_WORDS = 8;
export const BLOOM_LAYER_COUNT_MAX = 32;
export const BLOOM_LAYER_BLOCKS_OFFSET_WORD = 0;
export const BLOOM_LAYER_BLOCK_COUNT_WORD = 1;
export const BLOOM_LAYER_CAPACITY_WORD = 2;
export const BLOOM_LAYER_INSERTED_WORD = 3;
export const BLOOM_LAYER_BITS_SET_WORD = 4;
export const BLOOM_LAYER_PAGES_WORD = 6;
export const BLOOM_LAYER_MAP_WORD = 7;

export const BLOOM_BLOCK_BYTES = 32;
export const BLOOM_BLOCK_BITS = 256;
/** A memory page of most systems. */
export const BLOOM_GRANULE_BYTES = 4096;
/** log₂ of the blocks of a granule, and of the blocks that one word of the map covers. */
export const BLOOM_GRANULE_SHIFT = 7;
export const BLOOM_MAP_SHIFT = 12;
/** Rows that one pass touches before it probes them: 128 lines stay in the first cache. */
export const BLOOM_PASS_ROWS = 128;

export const BLOOM_SCRATCH_ROWS = 512;
export const BLOOM_SCRATCH_HASHES_OFFSET = 2048;
export const BLOOM_SCRATCH_RESULTS_OFFSET = 6144;
/** Where the blocks of layer 0 start, after the header and the scratch. */
export const BLOOM_FIRST_BLOCKS_OFFSET = 8192;
/**
 * Odd multipliers, one per lane: lane i sets bit (half × multiplier_i mod 2³²) >> 27. Each is below 2³¹ so that both compilers read it
 * alike. Any odd numbers without common structure would do; these come from a seeded generator.
 */
export const BLOOM_MULTIPLIER_0 = 0x514f8aa1;
export const BLOOM_MULTIPLIER_1 = 0x63acacb3;
export const BLOOM_MULTIPLIER_2 = 0x4dd5b22d;
export const BLOOM_MULTIPLIER_3 = 0x4550f95f;
export const BLOOM_MULTIPLIER_4 = 0x612c8cef;
export const BLOOM_MULTIPLIER_5 = 0x40fc8cdf;
export const BLOOM_MULTIPLIER_6 = 0x4aa13cd9;
export const BLOOM_MULTIPLIER_7 = 0x4a7b42e5;

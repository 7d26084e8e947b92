/**
 * Split-block Bloom filter: probe and insert of keyed 64-bit hashes (layout/seen/bloom.ts draws the bytes).
 *
 *   hash ── rotr(rotation) ─▶ high half × blockCount >> 32 ─▶ block of 256 bits
 *                         └─▶ low half × odd multiplier_i >> 27 ─▶ one bit in lane i, i = 0 … 7
 *
 * WebAssembly SIMD shifts all lanes by one amount, so that `1 << s` per lane is made of bytes: s goes to all four
 * bytes of its lane, byte b subtracts 8·b, and a swizzle of the table 1, 2, 4 … 128, 0 … turns 0–7 into one bit and
 * everything else into zero.
 *
 * A batch goes over its rows in passes of BLOOM_PASS_ROWS: first touch each row's block (the loads are independent,
 * so that the memory serves many at once), then probe or insert from the cache. One loop that touches some rows ahead
 * of the one it probes was 1.5 × slower: the loads then wait behind the compares in the processor's window.
 *
 * Approximation: no false negatives. A foreign hash is "maybe" with the probability Σ Poisson(j; members / blocks) ·
 * (1 − (31/32)^j)⁸ per layer; structures/bloom/bloom.ts has what that costs.
 *
 * Of an emptied filter, the content of a granule that its map does not mark is never read.
 *
 *   I1  layerCount ≤ BLOOM_LAYER_COUNT_MAX; each entry names blockCount × 32 bytes inside the region.
 *   I2  bitsSet of a layer = the one bits in its blocks; inserted ≤ bitsSet.
 */
import {
  BLOOM_BLOCK_BYTES,
  BLOOM_GRANULE_BYTES,
  BLOOM_GRANULE_SHIFT,
  BLOOM_LAYERS_WORD,
  BLOOM_LAYER_BITS_SET_WORD,
  BLOOM_LAYER_BLOCK_COUNT_WORD,
  BLOOM_LAYER_COUNT_MAX,
  BLOOM_LAYER_COUNT_WORD,
  BLOOM_LAYER_INSERTED_WORD,
  BLOOM_LAYER_MAP_WORD,
  BLOOM_LAYER_WORDS,
  BLOOM_MAGIC,
  BLOOM_MAP_SHIFT,
  BLOOM_MULTIPLIER_0,
  BLOOM_MULTIPLIER_1,
  BLOOM_MULTIPLIER_2,
  BLOOM_MULTIPLIER_3,
  BLOOM_MULTIPLIER_4,
  BLOOM_MULTIPLIER_5,
  BLOOM_MULTIPLIER_6,
  BLOOM_MULTIPLIER_7,
  BLOOM_PASS_ROWS,
  BLOOM_ROTATION_WORD,
} from "../../src/layout/seen/bloom";

/**
 * Asks every layer for `count` hashes; a result word is 1 for "maybe a member", 0 for "surely not".
 * Returns the number of maybes.
 */
export function bloomProbeBatch(bloom: u32, hashes: u32, count: i32, results: u32): i32 {
  let maybes: i32 = 0;
  for (let start = 0; start < count; start += BLOOM_PASS_ROWS) {
    const rows: i32 = min(count - start, BLOOM_PASS_ROWS);
    maybes += probePass(bloom, hashes + ((<u32>start) << 3), rows, results + ((<u32>start) << 2));
  }
  return maybes;
}

/**
 * Inserts into the newest layer what no layer holds; a result word is 1 for "was maybe a member before" (and nothing
 * was stored), 0 for "new now". Returns the number of new ones. A hash that comes twice in one batch is new once.
 */
export function bloomInsertBatch(bloom: u32, hashes: u32, count: i32, results: u32): i32 {
  let inserted: i32 = 0;
  for (let start = 0; start < count; start += BLOOM_PASS_ROWS) {
    const rows: i32 = min(count - start, BLOOM_PASS_ROWS);
    inserted += insertPass(
      bloom,
      hashes + ((<u32>start) << 3),
      rows,
      results + ((<u32>start) << 2),
    );
  }
  return inserted;
}

/** One hash: 1 for "maybe a member". */
export function bloomProbe(bloom: u32, lo: u32, hi: u32): i32 {
  const hash = rotated(bloom, ((<u64>hi) << 32) | <u64>lo);
  const low = lowMask(<u32>hash);
  const high = highMask(<u32>hash);
  const layerCount = layerCountOf(bloom);
  for (let i: u32 = 0; i < layerCount; i++) {
    const layer = layerOf(bloom, i);
    const block = blockOf(layer, hash);
    const map = mapOf(layer);
    const stands = map === 0 || isFresh(map, load<u32>(layer), block);
    if (stands && isHeld(block, low, high)) return 1;
  }
  return 0;
}

/** One hash: inserts it unless a layer holds it; 1 for "was maybe a member before". */
export function bloomInsert(bloom: u32, lo: u32, hi: u32): i32 {
  if (bloomProbe(bloom, lo, hi)) return 1;
  const hash = rotated(bloom, ((<u64>hi) << 32) | <u64>lo);
  const layer = layerOf(bloom, layerCountOf(bloom) - 1);
  const block = blockOf(layer, hash);
  const map = mapOf(layer);
  if (map !== 0) freshen(map, load<u32>(layer), block);
  const bits = insertAt(block, <u32>hash);
  account(layer, 1, bits);
  return 0;
}

/** Counts the one bits of `size` bytes, a multiple of 16: what the owner verifies bitsSet against. */
export function bloomCountBits(offset: u32, size: u32): i32 {
  let bits: i64 = 0;
  for (let end = offset + size; offset < end; offset += 16) {
    const word = v128.load(offset);
    bits +=
      popcnt<i64>(v128.extract_lane<i64>(word, 0)) + popcnt<i64>(v128.extract_lane<i64>(word, 1));
  }
  return <i32>bits;
}

function probePass(bloom: u32, hashes: u32, rows: i32, results: u32): i32 {
  const layerCount = layerCountOf(bloom);
  const rotation = rotationOf(bloom);
  let touched: u64 = 0;
  let maybes: i32 = 0;
  for (let i: u32 = 0; i < layerCount; i++) {
    const layer = layerOf(bloom, i);
    const base = load<u32>(layer);
    const blockCount = blockCountOf(layer);
    touched += touch(base, blockCount, rotation, hashes, rows);
    const map = mapOf(layer);
    if (map !== 0) {
      maybes = probeEmptied(layer, map, rotation, hashes, rows, results);
      continue;
    }
    maybes = 0;
    const earlier: u32 = i === 0 ? 0 : 1; // layer 0 finds whatever the caller left in the results
    for (let row = 0; row < rows; row++) {
      const hash = rotr<u64>(load<u64>(hashes + ((<u32>row) << 3)), rotation);
      const result = results + ((<u32>row) << 2);
      const block = blockAt(base, blockCount, hash);
      const held = isHeld(block, lowMask(<u32>hash), highMask(<u32>hash));
      const maybe = <u32>held | (load<u32>(result) & earlier);
      store<u32>(result, maybe);
      maybes += maybe;
    }
  }
  return maybes + <i32>(touched >> 63);
}

/** The rows of a layer that was emptied, which is the first: granules are asked for before what they hold. */
function probeEmptied(
  layer: u32,
  map: u32,
  rotation: u64,
  hashes: u32,
  rows: i32,
  results: u32,
): i32 {
  const base = load<u32>(layer);
  let maybes: i32 = 0;
  for (let row = 0; row < rows; row++) {
    const hash = rotr<u64>(load<u64>(hashes + ((<u32>row) << 3)), rotation);
    const block = blockOf(layer, hash);
    const stands = isFresh(map, base, block);
    const maybe = <u32>(stands && isHeld(block, lowMask(<u32>hash), highMask(<u32>hash)));
    store<u32>(results + ((<u32>row) << 2), maybe);
    maybes += maybe;
  }
  return maybes;
}

function insertPass(bloom: u32, hashes: u32, rows: i32, results: u32): i32 {
  const newest = layerCountOf(bloom) - 1;
  const layer = layerOf(bloom, newest);
  const base = load<u32>(layer);
  const blockCount = blockCountOf(layer);
  const map = mapOf(layer);
  const rotation = rotationOf(bloom);
  const hasEarlier = newest > 0;
  if (hasEarlier) probePass(bloom, hashes, rows, results);
  const touched = touch(base, blockCount, rotation, hashes, rows);
  // Rows are handled one after the other: the second of two equal hashes finds the first one's bits.
  let inserted: i32 = 0;
  let bitsSet: i32 = 0;
  for (let row = 0; row < rows; row++) {
    const result = results + ((<u32>row) << 2);
    if (hasEarlier && load<u32>(result) !== 0) continue;
    const hash = rotr<u64>(load<u64>(hashes + ((<u32>row) << 3)), rotation);
    const block = blockAt(base, blockCount, hash);
    if (map !== 0) freshen(map, base, block);
    const bits = insertAt(block, <u32>hash);
    store<u32>(result, <u32>(bits === 0));
    inserted += <i32>(bits !== 0);
    bitsSet += bits;
  }
  account(layer, inserted, bitsSet);
  return inserted + <i32>(touched >> 63);
}

/** Loads a word of each row's block. The sum keeps the loads alive; its top bit is never set. */
function touch(base: u32, blockCount: u64, rotation: u64, hashes: u32, rows: i32): u64 {
  let sum: u64 = 0;
  for (let row = 0; row < rows; row++) {
    const hash = rotr<u64>(load<u64>(hashes + ((<u32>row) << 3)), rotation);
    sum += <u64>load<u32>(blockAt(base, blockCount, hash));
  }
  return sum;
}

function rotated(bloom: u32, hash: u64): u64 {
  return rotr<u64>(hash, rotationOf(bloom));
}

function rotationOf(bloom: u32): u64 {
  return <u64>load<u32>(bloom + (BLOOM_ROTATION_WORD << 2));
}

function layerCountOf(bloom: u32): u32 {
  const offset = bloom + (BLOOM_LAYER_COUNT_WORD << 2);
  const layerCount = load<u32>(offset);
  assert(load<u32>(bloom) === BLOOM_MAGIC && layerCount <= <u32>BLOOM_LAYER_COUNT_MAX); // I1
  return layerCount;
}

function layerOf(bloom: u32, index: u32): u32 {
  return bloom + (BLOOM_LAYERS_WORD << 2) + index * (BLOOM_LAYER_WORDS << 2);
}

function blockCountOf(layer: u32): u64 {
  return <u64>load<u32>(layer, BLOOM_LAYER_BLOCK_COUNT_WORD << 2);
}

function blockOf(layer: u32, hash: u64): u32 {
  return blockAt(load<u32>(layer), blockCountOf(layer), hash);
}

function blockAt(base: u32, blockCount: u64, hash: u64): u32 {
  return base + <u32>(((hash >> 32) * blockCount) >> 32) * BLOOM_BLOCK_BYTES;
}

/** Where the map of a layer's granules stands; 0: none of them is stale. */
function mapOf(layer: u32): u32 {
  const offset = layer + (BLOOM_LAYER_MAP_WORD << 2);
  return load<u32>(offset);
}

/** Whether the granule of a block was zeroed since the filter was emptied, by its map. */
function isFresh(map: u32, base: u32, block: u32): bool {
  const index = (block - base) / BLOOM_BLOCK_BYTES;
  const word = map + ((index >> BLOOM_MAP_SHIFT) << 2);
  const bits = load<u32>(word);
  return ((bits >> ((index >> BLOOM_GRANULE_SHIFT) & 31)) & 1) !== 0;
}

/** Zeroes the granule of a block that is about to be written, if it is stale. Owner. */
function freshen(map: u32, base: u32, block: u32): void {
  if (isFresh(map, base, block)) return;
  const index = (block - base) / BLOOM_BLOCK_BYTES;
  const granule = index >> BLOOM_GRANULE_SHIFT;
  memory.fill(base + granule * BLOOM_GRANULE_BYTES, 0, BLOOM_GRANULE_BYTES);
  const word = map + ((index >> BLOOM_MAP_SHIFT) << 2);
  const bits = load<u32>(word) | ((<u32>1) << (granule & 31));
  store<u32>(word, bits);
}

/** Adds to the counters of a layer; plain stores, for they are the owner's. */
function account(layer: u32, inserted: i32, bitsSet: i32): void {
  const insertedOffset = layer + (BLOOM_LAYER_INSERTED_WORD << 2);
  store<u32>(insertedOffset, load<u32>(insertedOffset) + inserted);
  const bitsOffset = layer + (BLOOM_LAYER_BITS_SET_WORD << 2);
  store<u64>(bitsOffset, load<u64>(bitsOffset) + <u64>bitsSet);
}

function isHeld(block: u32, low: v128, high: v128): bool {
  const missing = v128.or(
    v128.andnot(low, v128.load(block)),
    v128.andnot(high, v128.load(block, 16)),
  );
  return !v128.any_true(missing);
}

/** Sets the eight bits and returns how many were clear. */
function insertAt(block: u32, half: u32): i32 {
  const low = v128.load(block);
  const high = v128.load(block, 16);
  const lowBits = v128.andnot(lowMask(half), low);
  const highBits = v128.andnot(highMask(half), high);
  v128.store(block, v128.or(low, lowBits));
  v128.store(block, v128.or(high, highBits), 16);
  // At most one new bit per lane, so that the lanes that are not zero count them.
  const zero = i32x4.splat(0);
  const lanes =
    i32x4.bitmask(i32x4.ne(lowBits, zero)) | (i32x4.bitmask(i32x4.ne(highBits, zero)) << 4);
  return popcnt<i32>(lanes);
}

function lowMask(half: u32): v128 {
  return bitPerLane(
    i32x4(BLOOM_MULTIPLIER_0, BLOOM_MULTIPLIER_1, BLOOM_MULTIPLIER_2, BLOOM_MULTIPLIER_3),
    half,
  );
}

function highMask(half: u32): v128 {
  return bitPerLane(
    i32x4(BLOOM_MULTIPLIER_4, BLOOM_MULTIPLIER_5, BLOOM_MULTIPLIER_6, BLOOM_MULTIPLIER_7),
    half,
  );
}

/** 1 << (half × multiplier >> 27) in each lane. */
function bitPerLane(multipliers: v128, half: u32): v128 {
  const shifts = i32x4.shr_u(i32x4.mul(i32x4.splat(half), multipliers), 27);
  const spread = i8x16.shuffle(shifts, shifts, 0, 0, 0, 0, 4, 4, 4, 4, 8, 8, 8, 8, 12, 12, 12, 12);
  const bytes = i8x16.sub(spread, i8x16(0, 8, 16, 24, 0, 8, 16, 24, 0, 8, 16, 24, 0, 8, 16, 24));
  return i8x16.swizzle(i8x16(1, 2, 4, 8, 16, 32, 64, -128, 0, 0, 0, 0, 0, 0, 0, 0), bytes);
}

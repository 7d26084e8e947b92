/**
 * The arithmetic of split-block Bloom filters: rates from loads, sizes from rates. Pure functions.
 *
 * A block of 256 bits holds j members with Poisson probability (mean λ = members / blocks). Each member sets one bit in each
 * of 8 lanes of 32 bits, so that a foreign hash finds its 8 bits set with probability (1 − (31/32)^j)⁸. The rate of the
 * filter is the mixture of these over j; the formula for an unblocked filter would be too low by half at 16 bits.
 */
import {
  BLOOM_BLOCK_BITS,
  BLOOM_BLOCK_BYTES,
  BLOOM_FIRST_BLOCKS_OFFSET,
  BLOOM_GRANULE_BYTES,
  BLOOM_GRANULE_SHIFT,
  BLOOM_MAP_SHIFT,
} from "../../layout/seen/bloom.ts";
import { REGION_PAGE_BYTES } from "../../layout/memory/region.ts";

/** A bit of a lane stays clear through one insert with this probability. */
const LANE_CLEAR = 31 / 32;
/** Σ 1/(i + 1)² over all layers: shares of the configured rate that sum to 1 without vanishing fast. */
const LAYER_SHARE_SUM = Math.PI ** 2 / 6;
/** Blocks fuller than this answer maybe to everything. */
const LOAD_MAX = 4096;
/** Simpson intervals: the rate is a smooth function of the load, 64 are exact to seven digits. */
const INTERVALS = 64;

/** The false-positive rate of blocks that hold `load` members each on average. */
export function bloomRateAt(load: number): number {
  if (load <= 0) return 0;
  const mode = Math.floor(load);
  // Probabilities relative to the mode's, in both directions until they no longer count, then normalised.
  const clearAtMode = LANE_CLEAR ** mode;
  let clear = clearAtMode;
  let weight = 1;
  let sum = 1;
  let rate = blockRate(clear);
  for (let j = mode + 1; weight > 1e-18; j++) {
    weight *= load / j;
    clear *= LANE_CLEAR;
    sum += weight;
    rate += weight * blockRate(clear);
  }
  weight = 1;
  clear = clearAtMode;
  for (let j = mode; j > 0 && weight > 1e-18; j--) {
    weight *= j / load;
    clear /= LANE_CLEAR;
    sum += weight;
    rate += weight * blockRate(clear);
  }
  return rate / sum;
}

/** The largest load (members per block) whose rate is at most `rate`. */
export function bloomLoadFor(rate: number): number {
  let low = 0;
  let high = 1;
  while (high < LOAD_MAX && bloomRateAt(high) <= rate) high *= 2;
  for (let i = 0; i < 50; i++) {
    const middle = (low + high) / 2;
    if (bloomRateAt(middle) <= rate) low = middle;
    else high = middle;
  }
  return low;
}

/** Blocks for `capacity` members at `rate`. */
export function bloomBlocksFor(capacity: number, rate: number): number {
  return Math.max(1, Math.ceil(capacity / bloomLoadFor(rate)));
}

/** The load of a layer from its set bits: E(bits set) = 256 · (1 − e^(−λ/32)) a block. */
export function bloomLoadOf(bitsSet: number, blockCount: number): number {
  const clear = 1 - Math.min(bitsSet / (blockCount * BLOOM_BLOCK_BITS), 1 - 1e-9);
  return -32 * Math.log(clear);
}

/** Of hashes offered to an empty filter until its load is `load`: how many per block found their bits set already. */
export function bloomLostAt(load: number): number {
  if (load <= 0) return 0;
  const width = load / INTERVALS;
  let sum = bloomRateAt(0) + bloomRateAt(load);
  for (let i = 1; i < INTERVALS; i++) sum += bloomRateAt(i * width) * (i % 2 === 0 ? 2 : 4);
  return (sum * width) / 3;
}

/** Layer `index`'s part of the total rate; all parts together stay below it. */
export function bloomLayerRate(totalRate: number, index: number): number {
  return totalRate / LAYER_SHARE_SUM / (index + 1) ** 2;
}

/** Pages of the run that holds `blockCount` blocks; the first layer's begins with the header and ends with the map. */
export function bloomPages(blockCount: number, isFirst: boolean): number {
  const bytes = isFirst
    ? BLOOM_FIRST_BLOCKS_OFFSET + bloomGranules(blockCount) * BLOOM_GRANULE_BYTES
    : blockCount * BLOOM_BLOCK_BYTES;
  return Math.ceil((bytes + (isFirst ? bloomMapWords(blockCount) * 4 : 0)) / REGION_PAGE_BYTES);
}

/** Most blocks of a first layer of `bytes`, or of a later one. */
export function bloomBlocksIn(bytes: number, isFirst: boolean): number {
  if (!isFirst) return Math.floor(bytes / BLOOM_BLOCK_BYTES);
  // A bit of the map for each granule, in whole words.
  const room = bytes - BLOOM_FIRST_BLOCKS_OFFSET - 4;
  const granules = Math.floor(room / (BLOOM_GRANULE_BYTES + 1 / 8));
  return granules * 2 ** BLOOM_GRANULE_SHIFT;
}

/** Granules of so many blocks, and the words of a map of them (layout/seen/bloom.ts). */
export function bloomGranules(blockCount: number): number {
  return Math.ceil(blockCount / 2 ** BLOOM_GRANULE_SHIFT);
}

export function bloomMapWords(blockCount: number): number {
  return Math.ceil(blockCount / 2 ** BLOOM_MAP_SHIFT);
}

/** Of a block whose lanes have each of their bits clear with probability `clear`. */
function blockRate(clear: number): number {
  const lane = 1 - clear;
  const two = lane * lane;
  return two * two * two * two;
}

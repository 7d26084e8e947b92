/** The bloom's arithmetic again, bit by bit and with BigInt, on the bytes of a region. */
import * as layout from "../../src/layout/seen/bloom.ts";

const MULTIPLIERS = [
  layout.BLOOM_MULTIPLIER_0,
  layout.BLOOM_MULTIPLIER_1,
  layout.BLOOM_MULTIPLIER_2,
  layout.BLOOM_MULTIPLIER_3,
  layout.BLOOM_MULTIPLIER_4,
  layout.BLOOM_MULTIPLIER_5,
  layout.BLOOM_MULTIPLIER_6,
  layout.BLOOM_MULTIPLIER_7,
];

/** Numbers of the eight bits, counted from the start of the first block. */
export function twinBits(lo: number, hi: number, blockCount: number, isRotated: boolean): number[] {
  const [low, high] = isRotated ? [hi, lo] : [lo, hi];
  const block = Number((BigInt(high) * BigInt(blockCount)) >> 32n);
  return MULTIPLIERS.map((multiplier, lane) => {
    const bit = Number(((BigInt(low) * BigInt(multiplier)) & 0xffffffffn) >> 27n);
    return block * 256 + lane * 32 + bit;
  });
}

export function twinHas(bytes: Uint8Array, bits: number[]): boolean {
  return bits.every((bit) => ((bytes[bit >> 3] as number) >> (bit & 7)) & 1);
}

/** Sets the bits; returns true when all were set before. */
export function twinInsert(bytes: Uint8Array, bits: number[]): boolean {
  const was = twinHas(bytes, bits);
  for (const bit of bits) bytes[bit >> 3] = (bytes[bit >> 3] as number) | (1 << (bit & 7));
  return was;
}

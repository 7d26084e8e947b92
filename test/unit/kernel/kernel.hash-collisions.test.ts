/** Collisions over real-shaped URLs: COLLISION_URLS=10000000 for the full size. */
import { describe, expect, test } from "vitest";
import { createRandom, type Random } from "../../../src/base/random.ts";
import { regionTake } from "../../../src/memory/region.ts";
import { openTestKernel } from "../../support/kernels.ts";
import { testSeed } from "../../support/seed.ts";

const COUNT = Number(process.env.COLLISION_URLS ?? 1_000_000);
const CHUNK_BYTES = 96;

/**
 * A URL as sites number them: few hosts, long common prefixes, counters and dates in path and
 * query.
 */
function urlOf(index: number, random: Random): string {
  const host = `www${index % 7}.site-${index % 211}.example`;
  const kind = random.below(4);
  if (kind === 0) return `https://${host}/articles/2024/${index}/`;
  if (kind === 1) return `https://${host}/item?id=${index}&page=1&sort=asc`;
  if (kind === 2) return `http://${host}/a/b/c/${index.toString(36)}.html`;
  return `https://${host}/search?from=${index}&to=${index + 10}`;
}

/** Equal neighbours in a sorted column. */
function repeats(sorted: ArrayLike<number | bigint>): number {
  let count = 0;
  for (let i = 1; i < sorted.length; i++) if (sorted[i] === sorted[i - 1]) count++;
  return count;
}

interface Columns {
  readonly words: BigUint64Array;
  readonly halves: readonly Uint32Array[];
}

/**
 * Hashes COUNT URLs to `bytes` bytes each; columns of 64-bit words (the first) and of 32-bit
 * halves.
 */
function columnsOf(bytes: 8 | 16): Columns {
  const kernel = openTestKernel();
  const random = createRandom(testSeed("kernel.hash-collisions"));
  const offset = regionTake(kernel.region, 1);
  const secret = offset + 1024;
  const out = offset + 2048;
  const { u8, u32, buffer } = kernel.region.views;
  for (let i = 0; i < 16; i++) u8[secret + i] = random.word() & 255;
  const words = new BigUint64Array(COUNT);
  const halves = Array.from({ length: bytes / 4 }, () => new Uint32Array(COUNT));
  for (let i = 0; i < COUNT; i++) {
    const length = buffer.write(urlOf(i, random), offset, CHUNK_BYTES, "latin1");
    if (bytes === 8) kernel.exports.hashOne(offset, length, secret, out);
    else kernel.exports.fingerprint128(offset, length, out);
    words[i] = buffer.readBigUInt64LE(out);
    for (const [k, half] of halves.entries()) half[i] = u32[out / 4 + k] as number;
  }
  return { words: words.sort(), halves: halves.map((half) => half.sort()) };
}

describe.each([
  ["keyed hash", 8],
  ["fingerprint", 16],
] as const)("over %s values of many URLs", (_name, bytes) => {
  test("no 64-bit word repeats, and 32-bit halves repeat as often as chance has it", () => {
    const { words, halves } = columnsOf(bytes);
    expect(repeats(words)).toBe(0);
    const expected = COUNT ** 2 / 2 ** 33;
    const deviation = 5 * Math.sqrt(expected);
    for (const half of halves) {
      expect(Math.abs(repeats(half) - expected)).toBeLessThan(deviation + expected * 0.002);
    }
  });
});

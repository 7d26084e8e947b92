/**
 * Hashes as nobody draws them, and filters as few people size them: whatever is inserted is never "surely new" again, what
 * is reported stays within its meaning, and one call does no more than it must.
 */
import { describe, expect, it } from "vitest";
import { loadKernelModule } from "../../../../src/engine/kernel-file.ts";
import { createKernel, type Kernel } from "../../../../src/kernel/kernel.ts";
import { BLOOM_LAYER_COUNT_MAX } from "../../../../src/layout/seen/bloom.ts";
import { regionTake } from "../../../../src/memory/region.ts";
import {
  type Bloom,
  bloomAdd,
  bloomClear,
  bloomHas,
  bloomInsertBatch,
  bloomInsertWords,
  bloomProbeBatch,
  createBloom,
} from "../../../../src/structures/bloom/bloom.ts";
import { bloomStats, verifyBloom } from "../../../../src/structures/bloom/bloom-stats.ts";
import { randomHashes } from "../../../support/hashes.ts";
import { testRandom } from "../../../support/seed.ts";

const ROWS = 4096;

function kernelOf(pageCountMax?: number): Kernel {
  return createKernel(loadKernelModule(), pageCountMax === undefined ? {} : { pageCountMax });
}

/** Hashes whose words `of` gives. */
function hashesOf(count: number, of: (row: number) => [lo: number, hi: number]): Uint32Array {
  const words = new Uint32Array(count * 2);
  for (let row = 0; row < count; row++) words.set(of(row), row * 2);
  return words;
}

const random = testRandom("bloom hostile");
const lo = random.word();
const hi = random.word();

const ADVERSE: ReadonlyArray<readonly [name: string, hashes: Uint32Array]> = [
  ["zero", hashesOf(3, () => [0, 0])],
  ["all ones", hashesOf(3, () => [0xffff_ffff, 0xffff_ffff])],
  ["the ends of the range", hashesOf(4, (i) => [i & 1 ? 0xffff_ffff : 0, i & 2 ? 0xffff_ffff : 0])],
  ["one block: equal upper halves", hashesOf(5_000, (i) => [Math.imul(i, 0x9e3779b1), hi])],
  ["one block, bits in order", hashesOf(5_000, (i) => [i, hi])],
  ["equal lower halves", hashesOf(5_000, (i) => [lo, Math.imul(i, 0x9e3779b1)])],
  ["equal low bits", hashesOf(5_000, (i) => [i << 20, i << 20])],
  ["the first block alone", hashesOf(5_000, (i) => [Math.imul(i, 0x85ebca6b), i & 0xff])],
  ["the last block alone", hashesOf(5_000, (i) => [Math.imul(i, 0x85ebca6b), ~(i & 0xff)])],
  ["counted up", hashesOf(20_000, (i) => [i, 0])],
];

/** Every one of them is a member, asked one by one and in a batch. */
function expectMembers(bloom: Bloom, hashes: Uint32Array): void {
  const { kernel } = bloom;
  const rows = regionTake(kernel.region, 1);
  const count = hashes.length / 2;
  for (let row = 0; row < count; row += ROWS) {
    const part = hashes.subarray(row * 2, Math.min(count, row + ROWS) * 2);
    kernel.region.views.u32.set(part, rows / 4);
    const maybes = bloomProbeBatch(bloom, rows, part.length / 2, rows + ROWS * 8);
    if (maybes !== part.length / 2) expect.fail(`${part.length / 2 - maybes} members missed`);
  }
  for (let row = 0; row < count; row += 97) {
    expect(bloomHas(bloom, hashes[row * 2] as number, hashes[row * 2 + 1] as number)).toBe(true);
  }
}

function expectSound(bloom: Bloom): void {
  verifyBloom(bloom);
  const stats = bloomStats(bloom);
  expect(stats.falsePositiveRate).toBeGreaterThanOrEqual(0);
  expect(stats.falsePositiveRate).toBeLessThanOrEqual(1);
  expect(Number.isFinite(stats.expectedLost)).toBe(true);
}

/** The share of foreign hashes that are maybe. */
function foreignRate(bloom: Bloom, count: number): number {
  const foreign = randomHashes(count, random);
  let maybes = 0;
  for (let row = 0; row < count; row++) {
    maybes += Number(bloomHas(bloom, foreign[row * 2] as number, foreign[row * 2 + 1] as number));
  }
  return maybes / count;
}

describe.each([false, true])("a bloom (rotated: %s) of adverse hashes", (isRotated) => {
  it.each(ADVERSE)("misses none of %s", (_, hashes) => {
    const bloom = createBloom(kernelOf(), { capacity: 500, falsePositiveRate: 0.01, isRotated });
    bloomInsertWords(bloom, hashes, hashes.length / 2);
    expectMembers(bloom, hashes);
    expectSound(bloom);
    bloomClear(bloom);
    expect(bloomHas(bloom, hashes[0] as number, hashes[1] as number)).toBe(false);
    bloomInsertWords(bloom, hashes, hashes.length / 2);
    expectMembers(bloom, hashes);
  });
});

it.each([false, true])("a full block takes no other one with it (rotated: %s)", (isRotated) => {
  const options = { capacity: 50_000, falsePositiveRate: 0.01, isRotated };
  const bloom = createBloom(kernelOf(), options);
  for (const fixed of [lo, hi]) {
    const inOne = hashesOf(5_000, (i) => {
      const free = Math.imul(i, 0x9e3779b1);
      return isRotated ? [fixed, free] : [free, fixed];
    });
    bloomInsertWords(bloom, inOne, 5_000);
    expectMembers(bloom, inOne);
  }
  expect(bloom.layerCount).toBe(1);
  // Two blocks of some 2,000, and little else.
  expect(foreignRate(bloom, 50_000)).toBeLessThan(0.002);
});

describe("a bloom of an odd size", () => {
  it("made for one member holds its total rate over all its layers", () => {
    const bloom = createBloom(kernelOf(), { capacity: 1, falsePositiveRate: 0.01 });
    const members = randomHashes(300_000, random);
    for (let from = 0; from < 300_000; from += 30_000) {
      bloomInsertWords(bloom, members.subarray(from * 2), 30_000);
      expect(bloomStats(bloom).falsePositiveRate).toBeLessThanOrEqual(0.01);
    }
    expectMembers(bloom, members);
    expectSound(bloom);
    expect(bloom.layerCount).toBeGreaterThan(15);
    expect(foreignRate(bloom, 100_000)).toBeLessThan(0.012); // 1 % and six standard deviations
  });

  it("made for one member and forbidden to grow says maybe ever more often, and misses none", () => {
    const options = { capacity: 1, falsePositiveRate: 0.5, isFixed: true };
    const bloom = createBloom(kernelOf(), options);
    const members = randomHashes(5_000, random);
    bloomInsertWords(bloom, members, 5_000);
    expectMembers(bloom, members);
    expectSound(bloom);
    expect(bloomStats(bloom).falsePositiveRate).toBeGreaterThan(0.9);
  });

  it("made for 10⁸ members costs no call more than its own bits", () => {
    // Each member touches a page of memory of its own: few of them.
    const kernel = kernelOf();
    const bloom = createBloom(kernel, { capacity: 1e8, falsePositiveRate: 1e-4 });
    expect(bloom.bytes).toBeGreaterThan(200e6);
    const members = randomHashes(5_000, random);
    bloomInsertWords(bloom, members, 5_000);
    expectMembers(bloom, members);
    expect(bloom.layerCount).toBe(1);
    expect(foreignRate(bloom, 5_000)).toBe(0);
    const half = { capacity: 1e8, falsePositiveRate: 1e-4, bytesMax: 2 ** 20 };
    const cut = createBloom(kernel, half);
    bloomInsertWords(cut, members, 5_000);
    expectMembers(cut, members);
    expect(cut.bytes).toBeLessThanOrEqual(2 ** 20);
  });

  it("of 32 layers at most takes all that comes when there are no more", () => {
    const bloom = createBloom(kernelOf(40), { capacity: 1, falsePositiveRate: 0.9 });
    for (let i = 0; i < 200_000; i++) bloomAdd(bloom, random.word(), random.word());
    expect(bloom.layerCount).toBeLessThanOrEqual(BLOOM_LAYER_COUNT_MAX);
    expectSound(bloom);
  });
});

describe("a bloom that may not grow any more", () => {
  it("misses nothing when the region refuses a layer, and says how often it errs", () => {
    const kernel = kernelOf(10);
    const rows = regionTake(kernel.region, 1);
    const bloom = createBloom(kernel, { capacity: 5_000, falsePositiveRate: 0.001 });
    const members = randomHashes(400_000, random);
    let rate = 0;
    for (let from = 0; from < 400_000; from += ROWS) {
      const count = Math.min(ROWS, 400_000 - from);
      kernel.region.views.u32.set(members.subarray(from * 2, (from + count) * 2), rows / 4);
      bloomInsertBatch(bloom, rows, count, rows + ROWS * 8);
      const now = bloomStats(bloom).falsePositiveRate;
      expect(now).toBeGreaterThanOrEqual(rate * 0.999); // it never claims to have become better
      rate = now;
    }
    expect(kernel.region.pagesUsed).toBeLessThanOrEqual(10);
    expect(rate).toBeGreaterThan(0.05);
    for (let row = 0; row < 400_000; row += 3) {
      if (!bloomHas(bloom, members[row * 2] as number, members[row * 2 + 1] as number))
        expect.fail(`member ${row} missed`);
    }
    expectSound(bloom);
    const measured = foreignRate(bloom, 100_000);
    expect(measured / rate).toBeGreaterThan(0.9);
    expect(measured / rate).toBeLessThan(1.1);
  });
});

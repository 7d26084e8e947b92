/**
 * A filter that was emptied answers as one that is new, from the first call on, and emptying it zeroes next to nothing.
 *
 *   emptied, over what it held ─┐
 *   over memory full of ones ───┼── same inserts, same probes ──▶ same answers, same bits
 *   new, in untouched memory ───┘
 */
import { describe, expect, it } from "vitest";
import type { Kernel } from "../../../../src/kernel/kernel.ts";
import { REGION_PAGE_BYTES } from "../../../../src/layout/memory/region.ts";
import {
  regionBytes,
  regionGive,
  regionTake,
  verifyRegion,
} from "../../../../src/memory/region.ts";
import {
  type Bloom,
  bloomAdd,
  bloomClear,
  bloomGive,
  bloomHas,
  bloomInsertBatch,
  bloomProbeBatch,
  createBloom,
} from "../../../../src/structures/bloom/bloom.ts";
import { bloomLayers, bloomPiece } from "../../../../src/structures/bloom/bloom-copy.ts";
import { bloomStats, verifyBloom } from "../../../../src/structures/bloom/bloom-stats.ts";
import { randomHashes } from "../../../support/hashes.ts";
import { openTestKernel, type TestFlavour } from "../../../support/kernels.ts";
import { testRandom } from "../../../support/seed.ts";

const ROWS = 512;

/** A filter with room for the hashes and the answers of a call. */
interface Rig {
  readonly bloom: Bloom;
  readonly hashes: number;
}

function rigOf(kernel: Kernel, capacity: number, isDirty = false): Rig {
  const hashes = regionTake(kernel.region, 1);
  if (isDirty) {
    const pages = 40;
    const run = regionTake(kernel.region, pages);
    kernel.region.views.u8.fill(0xff, run, run + pages * REGION_PAGE_BYTES);
    regionGive(kernel.region, run, pages);
  }
  return { bloom: createBloom(kernel, { capacity, falsePositiveRate: 0.01 }), hashes };
}

/** What a call answers, as text. */
function answers({ bloom, hashes }: Rig, words: Uint32Array, isInsert: boolean): string {
  const count = words.length / 2;
  const { region } = bloom.kernel;
  region.views.u32.set(words, hashes / 4);
  if (isInsert) bloomInsertBatch(bloom, hashes, count, hashes + ROWS * 8);
  else bloomProbeBatch(bloom, hashes, count, hashes + ROWS * 8);
  const at = hashes / 4 + ROWS * 2;
  return region.views.u32.subarray(at, at + count).join("");
}

/** All bits of all layers, as text. */
function bitsOf(bloom: Bloom): string[] {
  return bloomLayers(bloom).map((_, layer) =>
    Buffer.from(bloomPiece(bloom, layer, 0, Number.POSITIVE_INFINITY)).toString("latin1"),
  );
}

describe.each<TestFlavour>(["debug", "release"])("an emptied bloom (%s)", (flavour) => {
  it("answers as a new one does, whatever comes, and however often it is emptied", () => {
    const random = testRandom("bloom granules");
    const capacity = 300_000;
    const emptied = rigOf(openTestKernel(flavour), capacity);
    const dirty = rigOf(openTestKernel(flavour), capacity, true);
    expect(dirty.bloom.staleAt).toBe(0);
    for (let round = 0; round < 3; round++) {
      const fresh = rigOf(openTestKernel(flavour), capacity);
      const rigs = round === 0 ? [emptied, dirty, fresh] : [emptied, fresh];
      const known: Uint32Array[] = [];
      // The second round ends while most granules are stale.
      const calls = [40, 8, 60][round] as number;
      for (let call = 0; call < calls; call++) {
        const count = 1 + random.below(call < 8 ? 6 : ROWS);
        const isOld = random.below(3) === 0 && known.length > 0;
        const words = isOld
          ? (known[random.below(known.length)] as Uint32Array)
          : randomHashes(count, random);
        const isInsert = random.below(3) > 0;
        if (isInsert) known.push(words);
        const [first, ...others] = rigs.map((rig) => answers(rig, words, isInsert));
        for (const other of others) expect(other).toBe(first);
        const [lo, hi] = [random.word(), random.word()];
        const isAdded = random.below(2) === 0;
        const singles = rigs.map(({ bloom }) =>
          isAdded ? bloomAdd(bloom, lo, hi) : bloomHas(bloom, lo, hi),
        );
        expect(new Set(singles).size).toBe(1);
      }
      for (const { bloom } of rigs) verifyBloom(bloom);
      if (round === 1) expect(emptied.bloom.staleAt).toBeGreaterThan(0);
      expect(bloomStats(emptied.bloom)).toEqual(bloomStats(fresh.bloom));
      const bits = bitsOf(fresh.bloom);
      for (const { bloom } of rigs) expect(bitsOf(bloom)).toEqual(bits);
      for (const { bloom } of rigs) verifyBloom(bloom);
      bloomClear(emptied.bloom);
      verifyBloom(emptied.bloom);
    }
  });
});

describe("emptying a bloom", () => {
  it("zeroes its map alone, and each insert after it a granule or two, until none is stale", () => {
    const random = testRandom("bloom granules zeroed");
    const kernel = openTestKernel();
    const before = regionBytes(kernel.region);
    const bloom = createBloom(kernel, { capacity: 3_000_000, falsePositiveRate: 0.01 });
    const held = bloom.bytes;
    const hashes = regionTake(kernel.region, 1);
    const rig = { bloom, hashes };
    for (let call = 0; call < 200; call++) answers(rig, randomHashes(ROWS, random), true);
    let zeroed = 0;
    const { u8, u32 } = kernel.region.views;
    u8.fill = (value, start = 0, end = u8.length) => {
      zeroed += end - start;
      return Uint8Array.prototype.fill.call(u8, value, start, end) as typeof u8;
    };
    u32.fill = (value, start = 0, end = u32.length) => {
      zeroed += (end - start) * 4;
      return Uint32Array.prototype.fill.call(u32, value, start, end) as typeof u32;
    };
    bloomClear(bloom);
    expect(held).toBeGreaterThan(2 ** 21);
    expect(zeroed).toBeLessThan(4096);
    expect(bloom.bytes).toBe(held);
    expect(bloomStats(bloom)).toMatchObject({ count: 0, bitsSet: 0, expectedLost: 0 });
    zeroed = 0;
    for (let calls = 0; bloom.staleAt >= 0; calls++) {
      const was = zeroed;
      answers(rig, randomHashes(ROWS, random), true);
      expect(zeroed - was).toBeLessThanOrEqual(ROWS * 4096);
      expect(calls).toBeLessThan(held / 4096 / ROWS + 1);
    }
    verifyBloom(bloom);
    bloomGive(bloom);
    regionGive(kernel.region, hashes, 1);
    expect(regionBytes(kernel.region)).toBe(before);
    verifyRegion(kernel.region);
  });
});

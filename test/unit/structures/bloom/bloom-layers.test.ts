import { describe, expect, it } from "vitest";
import { loadKernelModule } from "../../../../src/engine/kernel-file.ts";
import { createKernel, type Kernel } from "../../../../src/kernel/kernel.ts";
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
  createBloom,
} from "../../../../src/structures/bloom/bloom.ts";
import { bloomStats, verifyBloom } from "../../../../src/structures/bloom/bloom-stats.ts";
import { randomHashes } from "../../../support/hashes.ts";
import { testRandom } from "../../../support/seed.ts";

const CALL = 256;
/** Held by others before, and full of their bytes. */
const USED_PAGES = 512;

/** A kernel whose memory was somebody's before; `zeroed` counts the bytes that JavaScript fills with zeros. */
function usedKernel() {
  const kernel = createKernel(loadKernelModule(), { initialPages: USED_PAGES + 64 });
  const hashes = regionTake(kernel.region, 1);
  const { region } = kernel;
  const run = regionTake(region, USED_PAGES);
  region.views.u8.fill(0xff, run, run + USED_PAGES * REGION_PAGE_BYTES);
  regionGive(region, run, USED_PAGES);
  let zeroed = 0;
  const { u8 } = region.views;
  u8.fill = (value, start = 0, end = u8.length) => {
    zeroed += end - start;
    return Uint8Array.prototype.fill.call(u8, value, start, end) as typeof u8;
  };
  return { kernel, hashes, zeroed: () => zeroed };
}

/** Inserts a call of words; returns them. */
function insertCall(kernel: Kernel, bloom: Bloom, hashes: number, words: Uint32Array): void {
  kernel.region.views.u32.set(words, hashes / 4);
  bloomInsertBatch(bloom, hashes, words.length / 2, hashes + CALL * 8);
}

describe("layers of a bloom in memory that was used before", () => {
  it("are zeroed slice by slice before they are due, and hold nothing of others", () => {
    const random = testRandom("bloom layers ahead");
    const { kernel, hashes, zeroed } = usedKernel();
    const before = regionBytes(kernel.region);
    const bloom = createBloom(kernel, { capacity: 20_000, falsePositiveRate: 0.001 });
    const members: Uint32Array[] = [];
    let most = 0;
    while (bloom.layerCount < 5) {
      const was = { layers: bloom.layerCount, zeroed: zeroed() };
      const words = randomHashes(CALL, random);
      insertCall(kernel, bloom, hashes, words);
      members.push(words);
      most = Math.max(most, zeroed() - was.zeroed);
      // Counts the bits of a layer that is new.
      if (bloom.layerCount > was.layers) verifyBloom(bloom);
    }
    const largest = (bloomStats(bloom).bits / 8) * 0.4;
    expect(most).toBeGreaterThan(0);
    expect(largest).toBeGreaterThan(50 * most);
    expect(most).toBeLessThan(largest / 10);
    let missed = 0;
    for (const words of members) {
      for (let i = 0; i < words.length; i += 2) {
        missed += Number(!bloomHas(bloom, words[i] as number, words[i + 1] as number));
      }
    }
    expect(missed).toBe(0);
    bloomGive(bloom);
    expect(regionBytes(kernel.region)).toBe(before);
    verifyRegion(kernel.region);
  });

  it("are zeroed by single inserts too, and given back when the filter is emptied in between", () => {
    const random = testRandom("bloom layers ahead one by one");
    const { kernel, zeroed } = usedKernel();
    const before = regionBytes(kernel.region);
    const bloom = createBloom(kernel, { capacity: 4_000, falsePositiveRate: 0.01 });
    const held = bloom.bytes;
    for (let round = 0; round < 2; round++) {
      while (bloom.ahead === undefined) bloomAdd(bloom, random.word(), random.word());
      const { dirtyAt, dirtyEnd } = bloom.ahead;
      expect(dirtyEnd).toBeGreaterThan(dirtyAt);
      const was = zeroed();
      bloomAdd(bloom, random.word(), random.word());
      expect(zeroed() - was).toBeLessThan(1024);
      expect(bloom.ahead.dirtyAt).toBe(dirtyAt + zeroed() - was);
      bloomClear(bloom);
      expect(bloom.ahead).toBe(undefined);
      expect(bloom.bytes).toBe(held);
      expect(regionBytes(kernel.region)).toBe(before + held);
      verifyBloom(bloom);
    }
    while (bloom.layerCount < 3) bloomAdd(bloom, random.word(), random.word());
    verifyBloom(bloom);
    bloomGive(bloom);
    expect(regionBytes(kernel.region)).toBe(before);
  });
});

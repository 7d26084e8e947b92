import { describe, expect, it } from "vitest";
import { type KernelFlavour, loadKernelModule } from "../../../../src/engine/kernel-file.ts";
import { type Kernel, createKernel } from "../../../../src/kernel/kernel.ts";
import * as layout from "../../../../src/layout/seen/bloom.ts";
import { regionBytes, regionTake, verifyRegion } from "../../../../src/memory/region.ts";
import { bloomLostAt, bloomRateAt } from "../../../../src/structures/bloom/bloom-sizing.ts";
import {
  type Bloom,
  bloomAdd,
  bloomClear,
  bloomGive,
  bloomHas,
  bloomInsertBatch,
  bloomInsertWords,
  bloomProbeBatch,
  createBloom,
} from "../../../../src/structures/bloom/bloom.ts";
import { bloomStats, verifyBloom } from "../../../../src/structures/bloom/bloom-stats.ts";
import { twinBits, twinHas, twinInsert } from "../../../support/bloom-twin.ts";
import { fillWords, randomHashes } from "../../../support/hashes.ts";
import { testRandom } from "../../../support/seed.ts";

const ROWS = 8192;

function kernelOf(flavour: KernelFlavour = "release"): Kernel {
  return createKernel(loadKernelModule(flavour));
}

/** Room in the region for ROWS hashes and results. */
function rowsIn(kernel: Kernel) {
  const hashes = regionTake(kernel.region, (ROWS * 12) / 65536 + 1);
  const results = hashes + ROWS * 8;
  return {
    ...{ hashes, results },
    put: (words: Uint32Array) => kernel.region.views.u32.set(words, hashes / 4),
    result: (row: number) => kernel.region.views.u32[results / 4 + row] as number,
  };
}

function wordsAt(words: Uint32Array, row: number): [lo: number, hi: number] {
  return [words[row * 2] as number, words[row * 2 + 1] as number];
}

function layersOf(bloom: Bloom) {
  const { u32, u8 } = bloom.kernel.region.views;
  return Array.from({ length: bloom.layerCount }, (_, index) => {
    const at = bloom.offset / 4 + layout.BLOOM_LAYERS_WORD + index * layout.BLOOM_LAYER_WORDS;
    const blocks = u32[at + layout.BLOOM_LAYER_BLOCK_COUNT_WORD] as number;
    const offset = u32[at] as number;
    return { blocks, bytes: u8.subarray(offset, offset + blocks * layout.BLOOM_BLOCK_BYTES) };
  });
}

describe.each<KernelFlavour>(["debug", "release"])("bloom, %s kernel", (flavour) => {
  it.each([false, true])(
    "sets and finds the bits that the twin does (rotated: %s)",
    (isRotated) => {
      const random = testRandom("bloom twin");
      const kernel = kernelOf(flavour);
      const rows = rowsIn(kernel);
      for (const capacity of [1, 7, 3000]) {
        const options = { capacity, falsePositiveRate: 0.1, isFixed: true, isRotated };
        const bloom = createBloom(kernel, options);
        const { blocks } = layersOf(bloom)[0] as { blocks: number };
        const twin = new Uint8Array(blocks * 32);
        for (const count of [1, 127, 128, 129, 700]) {
          const words = randomHashes(count, random);
          if (count > 9) words.copyWithin(10, 0, 6); // three hashes twice in the batch
          rows.put(words);
          bloomInsertBatch(bloom, rows.hashes, count, rows.results);
          for (let i = 0; i < count; i++) {
            const bits = twinBits(...wordsAt(words, i), blocks, isRotated);
            expect(rows.result(i), `insert ${i}`).toBe(Number(twinInsert(twin, bits)));
          }
          const lo = random.word();
          const hi = random.word();
          expect(bloomAdd(bloom, lo, hi)).toBe(
            twinInsert(twin, twinBits(lo, hi, blocks, isRotated)),
          );
          expect(layersOf(bloom)[0]?.bytes).toEqual(twin);
          verifyBloom(bloom);
        }
      }
    },
  );

  it("answers for all layers as the twin does, in batches and one by one", () => {
    const random = testRandom("bloom layers");
    const kernel = kernelOf(flavour);
    const rows = rowsIn(kernel);
    const bloom = createBloom(kernel, { capacity: 50, falsePositiveRate: 0.3 });
    for (let round = 0; round < 12; round++) {
      const members = randomHashes(200, random);
      rows.put(members);
      bloomInsertBatch(bloom, rows.hashes, 200, rows.results);
      const words = randomHashes(300, random);
      words.set(members.subarray(0, 100), 40);
      rows.put(words);
      // What the caller left in the results must not matter.
      kernel.region.views.u32.fill(7, rows.results / 4, rows.results / 4 + 300);
      const maybes = bloomProbeBatch(bloom, rows.hashes, 300, rows.results);
      const layers = layersOf(bloom);
      let expected = 0;
      for (let i = 0; i < 300; i++) {
        const [lo, hi] = [words[i * 2] as number, words[i * 2 + 1] as number];
        const has = layers.some((one) => twinHas(one.bytes, twinBits(lo, hi, one.blocks, false)));
        expected += Number(has);
        expect(rows.result(i)).toBe(Number(has));
        expect(bloomHas(bloom, lo, hi)).toBe(has);
      }
      expect(maybes).toBe(expected);
      verifyBloom(bloom);
    }
    expect(bloom.layerCount).toBeGreaterThan(4);
  });
});

describe("bloom rates", () => {
  /** Shares of `probes` foreign hashes that are maybe. */
  function measure(
    bloom: Bloom,
    rows: ReturnType<typeof rowsIn>,
    probes: number,
    fill: () => void,
  ) {
    let maybes = 0;
    for (let done = 0; done < probes; done += ROWS) {
      fill();
      maybes += bloomProbeBatch(bloom, rows.hashes, ROWS, rows.results);
    }
    return maybes / (Math.ceil(probes / ROWS) * ROWS);
  }

  it.each([
    [8, 2_000_000],
    [12, 4_000_000],
    [16, 12_000_000],
    [24, 60_000_000],
  ])("measures within 5 percent of the prediction at %i bits a hash", (bits, probes) => {
    const random = testRandom(`bloom rate at ${bits}`);
    const kernel = kernelOf();
    const rows = rowsIn(kernel);
    const members = 200_000;
    const predicted = bloomRateAt(256 / bits);
    const bloom = createBloom(kernel, {
      capacity: members,
      falsePositiveRate: predicted,
      isFixed: true,
    });
    bloomInsertWords(bloom, randomHashes(members, random), members);
    const view = kernel.region.views.u32.subarray(rows.hashes / 4, rows.hashes / 4 + ROWS * 2);
    // A multiply-xor walk is uniform enough for probes and ten times faster than the seeded stream.
    let state = random.word();
    const fill = (): void => {
      for (let i = 0; i < view.length; i++) {
        state = (state + 0x9e3779b9) | 0;
        let z = Math.imul(state ^ (state >>> 16), 0x21f0aaad);
        z = Math.imul(z ^ (z >>> 15), 0x735a2d97);
        view[i] = z ^ (z >>> 15) ^ extra;
      }
      extra = random.word();
    };
    let extra = random.word();
    const measured = measure(bloom, rows, probes, fill);
    const stats = bloomStats(bloom);
    console.log({ bits, predicted, measured, ratio: measured / predicted });
    expect(stats.bits / members).toBeCloseTo(bits, 1);
    expect(measured / predicted).toBeGreaterThan(0.95);
    expect(measured / predicted).toBeLessThan(1.05);
    expect(stats.falsePositiveRate / predicted).toBeGreaterThan(0.97);
    expect(stats.falsePositiveRate / predicted).toBeLessThan(1.03);
  });

  it("holds the total rate through layers", () => {
    const random = testRandom("bloom total rate");
    const kernel = kernelOf();
    const rows = rowsIn(kernel);
    const bloom = createBloom(kernel, { capacity: 50_000, falsePositiveRate: 0.02 });
    for (let count = 0; count < 2_500_000; count += 25_000) {
      bloomInsertWords(bloom, randomHashes(25_000, random), 25_000);
      expect(bloomStats(bloom).falsePositiveRate).toBeLessThanOrEqual(0.0201);
    }
    expect(bloom.layerCount).toBeGreaterThanOrEqual(6);
    const words = new Uint32Array(ROWS * 2);
    const fill = (): void => rows.put(fillWords(words, random));
    const measured = measure(bloom, rows, 1_000_000, fill);
    const { falsePositiveRate } = bloomStats(bloom);
    expect(measured).toBeLessThan(0.02);
    expect(measured / falsePositiveRate).toBeGreaterThan(0.95);
    expect(measured / falsePositiveRate).toBeLessThan(1.05);
    verifyBloom(bloom);
  });

  it("reports the rate and the losses of a filter that may not grow", () => {
    const random = testRandom("bloom fixed memory");
    const kernel = kernelOf();
    const bytesMax = 4 * 65536;
    const bloom = createBloom(kernel, { capacity: 20_000, falsePositiveRate: 0.01, bytesMax });
    let lost = 0;
    for (let i = 0; i < 400_000; i++) if (bloomAdd(bloom, random.word(), random.word())) lost += 1;
    const stats = bloomStats(bloom);
    expect(bloom.bytes).toBeLessThanOrEqual(bytesMax);
    expect(stats.falsePositiveRate).toBeGreaterThan(0.5);
    expect(stats.count + lost).toBe(400_000);
    expect(lost / stats.expectedLost).toBeGreaterThan(0.97);
    expect(lost / stats.expectedLost).toBeLessThan(1.03);
    verifyBloom(bloom);
  });

  it("integrates losses as a sum of small steps does", () => {
    let sum = 0;
    for (let i = 0; i < 6000; i++) sum += bloomRateAt((i + 0.5) / 100) / 100;
    expect(bloomLostAt(60)).toBeCloseTo(sum, 4);
  });
});

describe("bloom life", () => {
  it("never misses a member, forgets all when cleared, gives its pages back", () => {
    const random = testRandom("bloom life");
    const kernel = kernelOf();
    const before = regionBytes(kernel.region);
    const bloom = createBloom(kernel, { capacity: 100, falsePositiveRate: 0.01 });
    const words = randomHashes(20_000, random);
    for (let round = 0; round < 2; round++) {
      bloomInsertWords(bloom, words, 20_000);
      for (let i = 0; i < 20_000; i++) expect(bloomHas(bloom, ...wordsAt(words, i))).toBe(true);
      verifyBloom(bloom);
      bloomClear(bloom);
      expect(bloomHas(bloom, ...wordsAt(words, 0))).toBe(false);
      expect(bloomStats(bloom)).toMatchObject({ count: 0, bitsSet: 0, layers: 1, expectedLost: 0 });
      verifyBloom(bloom);
    }
    bloomGive(bloom);
    expect(regionBytes(kernel.region)).toBe(before);
    verifyRegion(kernel.region);
  });

  it("names a rate or a capacity that can not be", () => {
    const kernel = kernelOf();
    const make = (capacity: number, falsePositiveRate: number) => () =>
      createBloom(kernel, { capacity, falsePositiveRate });
    expect(make(0, 0.1)).toThrow(/capacity: 0/);
    expect(make(10, 1)).toThrow(/falsePositiveRate: 1/);
    expect(make(10, Number.NaN)).toThrow(/falsePositiveRate/);
  });

  it("throws MEMORY_FULL when the region has no room for the first layer", () => {
    const kernel = createKernel(loadKernelModule(), { pageCountMax: 3 });
    const make = (): Bloom => createBloom(kernel, { capacity: 1e6, falsePositiveRate: 0.01 });
    expect(make).toThrow(expect.objectContaining({ code: "MEMORY_FULL" }));
  });
});

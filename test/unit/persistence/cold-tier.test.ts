import { describe, expect, it } from "vitest";
import type { Random } from "../../../src/base/random.ts";
import { createRandom } from "../../../src/base/random.ts";
import { loadKernelModule } from "../../../src/engine/kernel-file.ts";
import { createKernel } from "../../../src/kernel/kernel.ts";
import { verifyRegion, regionBytes } from "../../../src/memory/region.ts";
import { sortedOrder } from "../../../src/persistence/cold-sort.ts";
import { createColdTier } from "../../../src/persistence/cold-tier.ts";
import { COLD_REMOVED, type ColdTier } from "../../../src/structures/tier.ts";
import { testRandom, testSeed } from "../../support/hashes.ts";
import { type MemoryFiles, PowerCut, createMemoryFiles } from "../../support/memory-files.ts";

const IDENTITY = { algorithm: 1, secretCheck: [0x12345678, 0x9abcdef0] } as const;
const kernel = createKernel(loadKernelModule());

function openTier(files: MemoryFiles, identity = IDENTITY): ColdTier {
  const tier = createColdTier({ kernel, directory: "/cold", files, identity });
  tier.load(() => {});
  return tier;
}

type Model = Map<string, { lo: number; hi: number; value: number }>;

/** Hashes from a small pool, so that batches overlap; some share a high half. */
function batchFrom(random: Random, size: number, pool: number) {
  const batch: Model = new Map();
  while (batch.size < size) {
    const at = random.below(pool);
    const lo = Math.imul(at, 0x9e3779b1) >>> 0;
    const hi = Math.imul(at >> 1, 0x85ebca6b) >>> 0; // pairs with equal high halves
    const value = random.below(8) === 0 ? COLD_REMOVED : random.below(2 ** 32 - 5) + 1;
    batch.set(`${hi}:${lo}`, { lo, hi, value });
  }
  return batch;
}

function addTo(tier: ColdTier, batch: Model): void {
  const entries = [...batch.values()];
  const hashes = new Uint32Array(entries.flatMap(({ lo, hi }) => [lo, hi]));
  tier.add(hashes, new Uint32Array(entries.map(({ value }) => value)), entries.length);
}

function find(tier: ColdTier, lo: number, hi: number): number {
  const values = new Uint32Array(1);
  tier.has(new Uint32Array([lo, hi]), 1, values);
  // Whether a removal is still remembered depends on merges; both answers mean absent.
  return values[0] === COLD_REMOVED ? 0 : (values[0] as number);
}

function expectModel(tier: ColdTier, model: Model, pool: number): void {
  const hashes = new Uint32Array(pool * 2);
  const values = new Uint32Array(pool);
  for (let at = 0; at < pool; at++) {
    hashes[at * 2] = Math.imul(at, 0x9e3779b1);
    hashes[at * 2 + 1] = Math.imul(at >> 1, 0x85ebca6b);
  }
  const order = sortedOrder(hashes, pool);
  const sorted = new Uint32Array(pool * 2);
  order.forEach((row, at) => {
    sorted.set(hashes.subarray(row * 2, row * 2 + 2), at * 2);
  });
  tier.has(sorted, pool, values); // ascending, so that neighbours find their block read
  for (let at = 0; at < pool; at++) {
    const value = model.get(`${sorted[at * 2 + 1]}:${sorted[at * 2]}`)?.value ?? 0;
    const expected = value === COLD_REMOVED ? 0 : value;
    const found = values[at] === COLD_REMOVED ? 0 : values[at];
    if (found !== expected) expect.fail(`hash ${sorted[at * 2 + 1]}: ${found}, not ${expected}`);
  }
}

describe("cold tier", () => {
  it("agrees with a Map through adds, merges in slices, reopening and clearing", () => {
    const random = testRandom("cold model");
    const files = createMemoryFiles();
    let tier = openTier(files);
    const model: Model = new Map();
    const pool = 6000;
    let merged = 0;
    for (let round = 0; round < 60; round++) {
      const batch = batchFrom(random, 1 + random.below(900), pool);
      addTo(tier, batch);
      for (const [key, entry] of batch) model.set(key, entry);
      for (let slice = random.below(4); slice > 0; slice--) merged += tier.step(random.below(700));
      if (round % 10 === 5) expectModel(tier, model, pool);
      if (round % 20 === 9) {
        tier.close();
        expect(files.openCount()).toBe(0);
        tier = openTier(files);
        expectModel(tier, model, pool);
      }
      if (round === 40) {
        tier.clear();
        model.clear();
      }
    }
    expect(merged).toBeGreaterThan(10_000);
    while (tier.step(10_000) > 0);
    expectModel(tier, model, pool);
    expect(tier.stats().runs).toBeLessThan(6);
    tier.close();
  });

  it("reads one block of 4 KiB per run and lookup at most", () => {
    const random = testRandom("cold reads");
    const files = createMemoryFiles();
    const tier = openTier(files);
    const pool = 200_000;
    for (let i = 0; i < 5; i++) addTo(tier, batchFrom(random, 3000, pool));
    const { runs } = tier.stats();
    expect(runs).toBe(5);
    let reads = 0;
    for (let i = 0; i < 4000; i++) {
      files.reads.length = 0;
      const before = tier.stats().reads;
      const at = random.below(pool);
      find(tier, Math.imul(at, 0x9e3779b1) >>> 0, Math.imul(at >> 1, 0x85ebca6b) >>> 0);
      expect(files.reads.length).toBeLessThanOrEqual(runs);
      expect(tier.stats().reads - before).toBe(files.reads.length);
      for (const [length, position] of files.reads) {
        expect(length).toBe(4096);
        expect(position % 4096).toBe(0);
      }
      reads += files.reads.length;
    }
    expect(reads).toBeGreaterThan(100);
    // Absent hashes: the filters answer for nearly all of them.
    const before = tier.stats().reads;
    for (let i = 0; i < 4000; i++) expect(find(tier, random.word(), random.word())).toBe(0);
    expect((tier.stats().reads - before) / 4000 / runs).toBeLessThan(0.03);
    tier.close();
  });

  it("does bounded work per step and keeps few runs when steps are paid per entry", () => {
    const random = testRandom("cold steps");
    const files = createMemoryFiles();
    const tier = openTier(files);
    let runsMax = 0;
    for (let round = 0; round < 150; round++) {
      const hashes = new Uint32Array(2000).map(() => random.word());
      tier.add(hashes, new Uint32Array(1000).fill(1), 1000);
      for (let left = 10_000; left > 0; left -= 500) {
        const before = files.reads.length;
        const handled = tier.step(500);
        expect(handled).toBeLessThanOrEqual(500 + 8);
        // Eight cursors each begin a block at most beside those the entries fill; a new merge opens its own.
        expect(files.reads.length - before).toBeLessThanOrEqual(500 / 340 + 18);
        files.reads.length = 0;
        if (handled === 0) break;
      }
      runsMax = Math.max(runsMax, tier.stats().runs);
    }
    expect(tier.stats().count).toBe(150_000);
    expect(runsMax).toBeLessThanOrEqual(12);
    tier.close();
  });

  it("merges by itself when nobody steps, and stays under its bound of runs", () => {
    const random = testRandom("cold no steps");
    const files = createMemoryFiles();
    const tier = openTier(files);
    for (let i = 0; i < 100; i++) {
      tier.add(new Uint32Array([random.word(), random.word()]), new Uint32Array([9]), 1);
      expect(tier.stats().runs).toBeLessThanOrEqual(12);
    }
    tier.close();
  });

  it("gives every page and file back when closed", () => {
    const random = testRandom("cold close");
    const before = regionBytes(kernel.region);
    const files = createMemoryFiles();
    const tier = openTier(files);
    for (let i = 0; i < 4; i++) addTo(tier, batchFrom(random, 500, 5000));
    tier.step(300); // a merge is under way
    tier.close();
    expect(regionBytes(kernel.region)).toBe(before);
    expect(files.openCount()).toBe(0);
    verifyRegion(kernel.region);
  });

  it("shows every hash once while it loads", () => {
    const random = testRandom("cold load");
    const files = createMemoryFiles();
    let tier = openTier(files);
    const batch = batchFrom(random, 2500, 100_000);
    addTo(tier, batch);
    tier.close();
    tier = createColdTier({ kernel, directory: "/cold", files, identity: IDENTITY });
    const shown: string[] = [];
    tier.load((hashes, count) => {
      for (let i = 0; i < count; i++) shown.push(`${hashes[i * 2 + 1]}:${hashes[i * 2]}`);
    });
    expect(shown.sort()).toEqual([...batch.keys()].sort());
    tier.close();
  });
});

describe("cold tier, damaged files", () => {
  function filled(): { files: MemoryFiles; tier: ColdTier; run: string } {
    const files = createMemoryFiles();
    const tier = openTier(files);
    addTo(tier, batchFrom(createRandom(5), 1500, 100_000));
    tier.close();
    const run = files.names().find((name) => name.endsWith(".cold")) as string;
    return { files, tier, run };
  }

  it("names the run for a damaged byte in any block, when it loads", () => {
    const random = testRandom("cold damage");
    const { files, run } = filled();
    const good = files.bytesOf(run);
    expect(good.length).toBe(4096 * 6);
    for (let at = 0; at < good.length; at += 1 + random.below(200)) {
      const bad = good.slice();
      bad[at] = (bad[at] as number) ^ (1 << random.below(8));
      files.setBytes(run, bad);
      const named = expect.objectContaining({
        code: "SNAPSHOT_CORRUPT",
        message: expect.stringMatching(/run-00000001.cold/),
      });
      expect(() => openTier(files)).toThrow(named);
    }
    files.setBytes(run, good);
    openTier(files).close();
    expect(files.openCount()).toBe(0);
  });

  it("names the run for a file cut at, before or after any block, and for one too long", () => {
    const { files, run } = filled();
    const good = files.bytesOf(run);
    for (let block = 0; block <= 6; block++) {
      for (const size of [block * 4096 - 1, block * 4096, block * 4096 + 1]) {
        if (size < 0 || size === good.length) continue;
        const bad = new Uint8Array(size);
        bad.set(good.subarray(0, size));
        files.setBytes(run, bad);
        expect(() => openTier(files)).toThrow(
          expect.objectContaining({ code: "SNAPSHOT_CORRUPT" }),
        );
      }
    }
  });

  it("refuses two blocks that changed places, though both checksums are right", () => {
    const { files, run } = filled();
    const good = files.bytesOf(run);
    const bad = good.slice();
    bad.set(good.subarray(4096, 8192), 8192);
    bad.set(good.subarray(8192, 12288), 4096);
    files.setBytes(run, bad);
    expect(() => openTier(files)).toThrow(/another place/);
  });

  it("meets damage that comes while it is open at the lookup, and says so", () => {
    const { files, run } = filled();
    const tier = openTier(files);
    const { lo, hi } = [...batchFrom(createRandom(5), 1500, 100_000).values()][0] as {
      lo: number;
      hi: number;
    };
    const bytes = files.bytesOf(run);
    for (let block = 1; block < 6; block++)
      bytes[block * 4096 + 99] = (bytes[block * 4096 + 99] as number) ^ 1;
    expect(() => find(tier, lo, hi)).toThrow(/run-00000001.cold, block \d: wrong checksum/);
    tier.close();
  });

  it("names a missing run, a missing manifest and a damaged one", () => {
    const { files, run } = filled();
    const manifest = files.bytesOf("/cold/cold.manifest");
    for (let at = 0; at < manifest.length; at++) {
      const bad = manifest.slice();
      bad[at] = (bad[at] as number) ^ 4;
      files.setBytes("/cold/cold.manifest", bad);
      expect(() => openTier(files)).toThrow(/cold.manifest/);
    }
    files.setBytes("/cold/cold.manifest", manifest);
    const bytes = files.bytesOf(run);
    files.remove(run);
    expect(() => openTier(files)).toThrow(/run-00000001.cold, block 0: the manifest lists it/);
    files.remove("/cold/cold.manifest");
    files.close(files.open(run, "w"));
    files.setBytes(run, bytes);
    expect(() => openTier(files)).toThrow(/a run without a manifest/);
  });

  it("refuses the files of another secret or algorithm", () => {
    const { files } = filled();
    const mismatch = expect.objectContaining({ code: "PROFILE_MISMATCH" });
    expect(() =>
      openTier(files, { algorithm: 2, secretCheck: IDENTITY.secretCheck } as never),
    ).toThrow(mismatch);
    expect(() => openTier(files, { algorithm: 1, secretCheck: [1, 2] } as never)).toThrow(mismatch);
  });
});

describe("cold tier, failing disk", () => {
  const POOL = 1500;
  /** Every change is cut once in this many runs of the suite; STRESS_SECONDS takes them all at once. */
  const STRIDE = process.env.STRESS_SECONDS === undefined ? 3 : 1;

  interface Told {
    before(batch: Model): void;
    after(batch: Model): void;
  }

  /** Adds and merges; tells of each batch before it is added and after the tier acknowledged it. */
  function scenario(files: MemoryFiles, seed: number, told?: Told): ColdTier {
    const random = createRandom(seed);
    const tier = openTier(files);
    for (let round = 0; round < 7; round++) {
      const batch = batchFrom(random, 200 + random.below(400), POOL);
      told?.before(batch);
      addTo(tier, batch);
      told?.after(batch);
      tier.step(400 + random.below(800));
    }
    return tier;
  }

  it("comes back from a power cut at any change with all that was acknowledged", () => {
    const seed = testSeed("cold cuts");
    const whole = createMemoryFiles();
    scenario(whole, seed).close();
    let whereKept = 0;
    for (let cut = 1 + (seed % STRIDE); cut <= whole.changes; cut += STRIDE) {
      const files = createMemoryFiles();
      files.cutAt = cut;
      const model: Model = new Map();
      let underWay: Model = new Map();
      const told: Told = {
        before(batch) {
          underWay = batch;
        },
        after(batch) {
          for (const [key, entry] of batch) model.set(key, entry);
          underWay = new Map();
        },
      };
      try {
        scenario(files, seed, told).close();
      } catch (error) {
        expect(error).toBeInstanceOf(PowerCut);
      }
      for (let variant = 0; variant < 2; variant++) {
        const after = files.afterCut(createRandom(seed + cut * 3 + variant));
        const tier = openTier(after);
        // The batch under way is there whole, or not at all.
        const isThere = [...underWay.values()].some(
          ({ lo, hi, value }) =>
            value !== COLD_REMOVED &&
            model.get(`${hi}:${lo}`)?.value !== value &&
            find(tier, lo, hi) === value,
        );
        whereKept += Number(isThere);
        expectModel(tier, isThere ? new Map([...model, ...underWay]) : model, POOL);
        addTo(tier, batchFrom(createRandom(cut), 50, POOL)); // and it goes on
        tier.close();
        expect(after.names().filter((name) => name.endsWith(".tmp"))).toEqual([]);
      }
    }
    console.log({ changes: whole.changes, whereKept });
  });

  it("says DISK_FULL, keeps what it had, and goes on when there is space again", () => {
    const random = testRandom("cold full");
    const files = createMemoryFiles();
    const tier = openTier(files);
    const model: Model = new Map();
    let refused = 0;
    for (let round = 0; round < 60; round++) {
      const isTight = round % 3 !== 0;
      files.capacity = isTight ? usedBytes(files) + random.below(40_000) : Number.POSITIVE_INFINITY;
      const batch = batchFrom(random, 700, 5000);
      try {
        addTo(tier, batch);
        for (const [key, entry] of batch) model.set(key, entry);
        tier.step(2000);
      } catch (error) {
        expect(error).toMatchObject({ code: "DISK_FULL" });
        refused += 1;
      }
      if (round % 3 === 2) expectModel(tier, model, 5000);
    }
    expect(refused).toBeGreaterThan(5);
    files.capacity = Number.POSITIVE_INFINITY;
    while (tier.step(10_000) > 0);
    tier.close();
    const again = openTier(files);
    expectModel(again, model, 5000);
    again.close();
    verifyRegion(kernel.region);
  });

  it("survives an error of any single change and is right in memory and on disk", () => {
    const seed = testSeed("cold errors");
    const whole = createMemoryFiles();
    scenario(whole, seed).close();
    const pages = regionBytes(kernel.region);
    for (let at = 3 + (seed % STRIDE); at <= whole.changes; at += STRIDE) {
      const files = createMemoryFiles();
      const random = createRandom(seed);
      const model: Model = new Map();
      const tier = openTier(files);
      files.failAt = at;
      let failed: Model | undefined;
      for (let round = 0; round < 7; round++) {
        const batch = batchFrom(random, 200 + random.below(400), POOL);
        try {
          addTo(tier, batch);
          for (const [key, entry] of batch) model.set(key, entry);
        } catch {
          failed = batch;
        }
        const budget = 400 + random.below(800);
        try {
          tier.step(budget);
        } catch {
          failed ??= new Map();
        }
      }
      expectModel(tier, model, POOL);
      tier.close();
      expect(files.openCount()).toBe(0);
      const again = openTier(files);
      // The manifest was replaced again since, or the failed batch came last and may be listed.
      if (failed === undefined || failed.size === 0) expectModel(again, model, POOL);
      again.close();
    }
    expect(regionBytes(kernel.region)).toBe(pages);
  });
});

function usedBytes(files: MemoryFiles): number {
  return files.names().reduce((sum, name) => sum + files.bytesOf(name).length, 0);
}

import { describe, expect, it } from "vitest";
import { createRandom } from "../../../../src/base/random.ts";
import { regionBytes, verifyRegion } from "../../../../src/memory/region.ts";
import { COLD_REMOVED, type ColdTier } from "../../../../src/structures/storage-tiers.ts";
import { testRandom, testSeed } from "../../../support/seed.ts";
import {
  type ColdModel,
  addToCold,
  coldBatchFrom,
  coldKernel,
  expectColdModel,
  findCold,
  forgetPassing,
  openColdTier,
} from "../../../support/cold-model.ts";
import { type MemoryFiles, PowerCut, createMemoryFiles } from "../../../support/memory-files.ts";

describe("commits to the cold tier on a failing disk", () => {
  const POOL = 1500;
  /** One in this many of the changes is cut in a run; STRESS_SECONDS cuts every one. */
  const STRIDE = process.env.STRESS_SECONDS === undefined ? 3 : 1;

  interface Told {
    before(batch: ColdModel): void;
    after(batch: ColdModel): void;
  }

  /** Adds and merges; reports each batch before it is added and after the tier acknowledged it. */
  function scenario(files: MemoryFiles, seed: number, told?: Told): ColdTier {
    const random = createRandom(seed);
    const tier = openColdTier(files);
    for (let round = 0; round < 7; round++) {
      const batch = coldBatchFrom(random, 200 + random.below(400), POOL);
      told?.before(batch);
      addToCold(tier, batch);
      told?.after(batch);
      // A merge is read, synced, named and listed in one step each.
      for (let slice = 0; slice < 4; slice++) tier.step(400 + random.below(800));
    }
    return tier;
  }

  it("after a power cut at any change, everything acknowledged is there", () => {
    const seed = testSeed("cold cuts");
    const whole = createMemoryFiles();
    scenario(whole, seed).close();
    let whereKept = 0;
    for (let cut = 1 + (seed % STRIDE); cut <= whole.changes; cut += STRIDE) {
      const files = createMemoryFiles();
      files.cutAt = cut;
      const model: ColdModel = new Map();
      let underWay: ColdModel = new Map();
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
      for (let variant = 0; variant < 5; variant++) {
        const after = files.afterCut(createRandom(seed + cut * 7 + variant));
        const tier = openColdTier(after);
        // The batch in progress is there whole, or not at all.
        const isThere = [...underWay.values()].some(
          ({ lo, hi, value }) =>
            value !== COLD_REMOVED &&
            model.get(`${hi}:${lo}`)?.value !== value &&
            findCold(tier, lo, hi) === value,
        );
        whereKept += Number(isThere);
        const known = isThere ? new Map([...model, ...underWay]) : model;
        expectColdModel(tier, forgetPassing(known), POOL);
        addToCold(tier, coldBatchFrom(createRandom(cut), 50, POOL)); // the tier continues
        tier.close();
        expect(after.names().filter((name) => name.endsWith(".tmp"))).toEqual([]);
      }
    }
    expect(whereKept).toBeGreaterThan(0);
    expect(whole.changes).toBeGreaterThan(100);
  });

  it("a full disk throws DISK_FULL, loses nothing, and the tier continues when there is space again", () => {
    const random = testRandom("cold full");
    const files = createMemoryFiles();
    const tier = openColdTier(files);
    const model: ColdModel = new Map();
    let refused = 0;
    for (let round = 0; round < 60; round++) {
      const isTight = round % 3 !== 0;
      files.capacity = isTight ? usedBytes(files) + random.below(40_000) : Number.POSITIVE_INFINITY;
      const batch = coldBatchFrom(random, 700, 5000);
      try {
        addToCold(tier, batch);
        for (const [key, entry] of batch) model.set(key, entry);
        tier.step(2000);
      } catch (error) {
        expect(error).toMatchObject({ code: "DISK_FULL" });
        refused += 1;
      }
      if (round % 3 === 2) expectColdModel(tier, model, 5000);
    }
    expect(refused).toBeGreaterThan(5);
    files.capacity = Number.POSITIVE_INFINITY;
    while (tier.step(10_000) > 0);
    tier.close();
    const again = openColdTier(files);
    expectColdModel(again, forgetPassing(model), 5000);
    again.close();
    verifyRegion(coldKernel.region);
  });

  it("clear empties the tier at once even on a failing disk, and durably as soon as the disk works again", () => {
    const random = testRandom("cold clear");
    const files = createMemoryFiles();
    const tier = openColdTier(files);
    const batch = coldBatchFrom(random, 700, 5000);
    addToCold(tier, batch);
    files.capacity = usedBytes(files);
    tier.clear();
    expectColdModel(tier, new Map(), 5000);
    expect(() => tier.settle()).toThrow(expect.objectContaining({ code: "DISK_FULL" }));
    files.capacity = Number.POSITIVE_INFINITY;
    tier.settle();
    expect(files.names().filter((name) => name.endsWith(".cold"))).toEqual([]);
    addToCold(tier, batch);
    tier.settle();
    expectColdModel(tier, batch, 5000);
    tier.close();
    const again = openColdTier(files);
    expectColdModel(again, forgetPassing(batch), 5000);
    again.close();
  });

  it("after an error of any single change, memory and disk are right", () => {
    const seed = testSeed("cold errors");
    const whole = createMemoryFiles();
    scenario(whole, seed).close();
    const pages = regionBytes(coldKernel.region);
    for (let at = 3 + (seed % STRIDE); at <= whole.changes; at += STRIDE) {
      const files = createMemoryFiles();
      const random = createRandom(seed);
      const model: ColdModel = new Map();
      const tier = openColdTier(files);
      files.failAt = at;
      let failed: ColdModel | undefined;
      for (let round = 0; round < 7; round++) {
        const batch = coldBatchFrom(random, 200 + random.below(400), POOL);
        try {
          addToCold(tier, batch);
          for (const [key, entry] of batch) model.set(key, entry);
        } catch {
          failed = batch;
        }
        for (let slice = 0; slice < 4; slice++) {
          const budget = 400 + random.below(800);
          try {
            tier.step(budget);
          } catch {
            failed ??= new Map();
          }
        }
      }
      expectColdModel(tier, model, POOL);
      tier.close();
      expect(files.openCount()).toBe(0);
      const again = openColdTier(files);
      // A later manifest has replaced the list, or the failed batch came last and may be listed.
      if (failed === undefined || failed.size === 0)
        expectColdModel(again, forgetPassing(model), POOL);
      again.close();
    }
    expect(regionBytes(coldKernel.region)).toBe(pages);
  });
});

function usedBytes(files: MemoryFiles): number {
  return files.names().reduce((sum, name) => sum + files.bytesOf(name).length, 0);
}

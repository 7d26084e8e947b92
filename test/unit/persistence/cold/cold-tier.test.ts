import { describe, expect, it } from "vitest";
import { regionBytes, verifyRegion } from "../../../../src/memory/region.ts";
import { SPILL_VALUE } from "../../../../src/layout/records/spill-block.ts";
import { sealColdBlock } from "../../../../src/persistence/cold/cold-run.ts";
import { COLD_REMOVED } from "../../../../src/structures/storage-tiers.ts";
import { testRandom } from "../../../support/seed.ts";
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
import { createMemoryFiles } from "../../../support/memory-files.ts";

describe("cold tier", () => {
  it("agrees with a Map through adds, merges in slices, reopening and clearing", () => {
    const random = testRandom("cold model");
    const files = createMemoryFiles();
    let tier = openColdTier(files);
    let model: ColdModel = new Map();
    const pool = 6000;
    let merged = 0;
    for (let round = 0; round < 60; round++) {
      const batch = coldBatchFrom(random, 1 + random.below(900), pool);
      addToCold(tier, batch);
      for (const [key, entry] of batch) model.set(key, entry);
      for (let slice = random.below(4); slice > 0; slice--) merged += tier.step(random.below(700));
      if (round % 10 === 5) expectColdModel(tier, model, pool);
      if (round % 20 === 9) {
        tier.close();
        expect(files.openCount()).toBe(0);
        tier = openColdTier(files);
        model = forgetPassing(model);
        expectColdModel(tier, model, pool);
      }
      if (round === 40) {
        tier.clear();
        model.clear();
      }
    }
    expect(merged).toBeGreaterThan(10_000);
    while (tier.step(10_000) > 0);
    expectColdModel(tier, model, pool);
    expect(tier.stats().runs).toBeLessThan(6);
    tier.close();
  });

  it("reads one block of 4 KiB per run and lookup at most", () => {
    const random = testRandom("cold reads");
    const files = createMemoryFiles();
    const tier = openColdTier(files);
    const pool = 200_000;
    for (let i = 0; i < 5; i++) addToCold(tier, coldBatchFrom(random, 3000, pool));
    const { runs } = tier.stats();
    expect(runs).toBe(5);
    let reads = 0;
    for (let i = 0; i < 4000; i++) {
      files.reads.length = 0;
      const before = tier.stats().reads;
      const at = random.below(pool);
      findCold(tier, Math.imul(at, 0x9e3779b1) >>> 0, Math.imul(at >> 1, 0x85ebca6b) >>> 0);
      expect(files.reads.length).toBeLessThanOrEqual(runs);
      expect(tier.stats().reads - before).toBe(files.reads.length);
      for (const [length, position] of files.reads) {
        expect(length).toBe(4096);
        expect(position % 4096).toBe(0);
      }
      reads += files.reads.length;
    }
    expect(reads).toBeGreaterThan(100);
    // Absent hashes: the filters exclude nearly all of them.
    const before = tier.stats().reads;
    for (let i = 0; i < 4000; i++) expect(findCold(tier, random.word(), random.word())).toBe(0);
    expect((tier.stats().reads - before) / 4000 / runs).toBeLessThan(0.03);
    tier.close();
  });

  it("does bounded work per step and keeps few runs when each entry pays for its steps", () => {
    const random = testRandom("cold steps");
    const files = createMemoryFiles();
    const tier = openColdTier(files);
    let runsMax = 0;
    for (let round = 0; round < 150; round++) {
      const hashes = new Uint32Array(2000).map(() => random.word());
      tier.add(hashes, new Uint32Array(1000).fill(0x8000_0001), 1000);
      for (let left = 10_000; left > 0; left -= 500) {
        const before = files.reads.length;
        const handled = tier.step(500);
        expect(handled).toBeLessThanOrEqual(500 + 8);
        // Each of eight cursors begins at most one block besides the full ones; a new merge opens its own.
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

  it("commits a merge before it reads for another one, and merges what it has merged with its like alone", () => {
    const random = testRandom("cold commits");
    const tier = openColdTier(createMemoryFiles());
    const BATCH = 4_000;
    const add = (runs: number): void => {
      for (let run = 0; run < runs; run++) {
        const hashes = new Uint32Array(2 * BATCH).map(() => random.word());
        tier.add(hashes, new Uint32Array(BATCH).fill(0x8000_0001), BATCH);
      }
    };
    add(4);
    while (tier.step(1_000, "never") > 0); // all is read, and waits for the medium
    add(4);
    expect(tier.step(1, "never")).toBe(1); // the second merge has begun
    expect(tier.stats().runs).toBe(8);
    for (let waits = 0; tier.stats().runs === 8 && waits < 10; waits++) tier.step(1);
    expect(tier.stats().runs).toBe(5);
    while (tier.step(1_000) > 0);
    expect(tier.stats().runs).toBe(2);
    add(3);
    expect(tier.step(1_000)).toBe(0);
    tier.close();
  });

  it("drops removals when it merges down to the oldest run", () => {
    const random = testRandom("cold removals");
    const tier = openColdTier(createMemoryFiles());
    const hashes = new Uint32Array(2000).map(() => random.word());
    for (const value of [0x8000_0001, COLD_REMOVED, COLD_REMOVED, COLD_REMOVED])
      tier.add(hashes, new Uint32Array(1000).fill(value), 1000);
    while (tier.step(1_000) > 0);
    expect(tier.stats().count).toBe(0);
    tier.close();
  });

  it("takes no slice of a batch that begins before the end of the last one", () => {
    const tier = openColdTier(createMemoryFiles());
    const batch = tier.begin(4);
    batch.append(Uint32Array.of(7, 5), Uint32Array.of(0x8000_0001), 1);
    expect(() => batch.append(Uint32Array.of(6, 5), Uint32Array.of(0x8000_0001), 1)).toThrow("I2");
    tier.close();
  });

  it("merges by itself without steps, and keeps the bound on runs", () => {
    const random = testRandom("cold no steps");
    const files = createMemoryFiles();
    const tier = openColdTier(files);
    for (let i = 0; i < 100; i++) {
      tier.add(new Uint32Array([random.word(), random.word()]), new Uint32Array([0x8000_0009]), 1);
      expect(tier.stats().runs).toBeLessThanOrEqual(12);
    }
    tier.close();
  });

  it("releases every page and file when closed", () => {
    const random = testRandom("cold close");
    const before = regionBytes(coldKernel.region);
    const files = createMemoryFiles();
    const tier = openColdTier(files);
    for (let i = 0; i < 4; i++) addToCold(tier, coldBatchFrom(random, 500, 5000));
    tier.step(300); // a merge is in progress
    tier.close();
    expect(regionBytes(coldKernel.region)).toBe(before);
    expect(files.openCount()).toBe(0);
    verifyRegion(coldKernel.region);
  });

  it("shows every finished hash, range by range, while merges go on", () => {
    const random = testRandom("cold scan");
    const files = createMemoryFiles();
    let tier = openColdTier(files);
    const model: ColdModel = new Map();
    for (let run = 0; run < 7; run++) {
      const batch = coldBatchFrom(random, 2500, 6000);
      addToCold(tier, batch);
      for (const [key, entry] of batch) model.set(key, entry);
    }
    tier.close();
    tier = openColdTier(files);
    const shown = new Set<string>();
    let calls = 0;
    for (let from = 0; from < 2 ** 32; calls++) {
      const before = from;
      from = tier.scan(from, 700, (hashes, count) => {
        for (let i = 0; i < count; i++) shown.add(`${hashes[i * 2 + 1]}:${hashes[i * 2]}`);
      });
      expect(from).toBeGreaterThan(before);
      // Everything below is there, whatever runs have become of it.
      for (const [key, { hi, value }] of forgetPassing(model)) {
        if (hi < from && value !== COLD_REMOVED && !shown.has(key))
          expect.fail(`${key} below ${from}`);
      }
      tier.step(random.below(3000));
    }
    expect(calls).toBeGreaterThan(10);
    // Not what only a removal or a place of another process stands for.
    for (const key of shown) expect(model.has(key)).toBe(true);
    tier.close();
  });

  it("respects passing values while the process lives, and not the values they hide after it (I5)", () => {
    const files = createMemoryFiles();
    const passing = (place: number) => SPILL_VALUE + place * 64;
    let tier = openColdTier(files);
    const add = (value: number, lo = 7, hi = 9): void =>
      tier.add(new Uint32Array([lo, hi]), new Uint32Array([value]), 1);
    add(0x8000_0003);
    add(passing(5));
    expect(findCold(tier, 7, 9)).toBe(passing(5));
    tier.close();
    tier = openColdTier(files);
    expect(findCold(tier, 7, 9)).toBe(0);
    // Another process's place 6 is there beside the dead place 5, also after all runs became one.
    tier.add(new Uint32Array([8, 9]), new Uint32Array([passing(6)]), 1);
    for (let run = 0; run < 9; run++) add(0x8000_0001, run, 1);
    while (tier.step(10_000) > 0);
    expect(tier.stats().runs).toBeLessThan(8);
    expect(findCold(tier, 7, 9)).toBe(0);
    expect(findCold(tier, 8, 9)).toBe(passing(6));
    tier.close();
    tier = openColdTier(files);
    expect(findCold(tier, 8, 9)).toBe(0);
    // Asked for its own alone, it does not know what earlier processes left.
    expect(findCold(tier, 1, 1)).toBe(0x8000_0001);
    tier.add(new Uint32Array([5, 5]), new Uint32Array([0x8000_0002]), 1);
    const own = new Uint32Array(2);
    tier.has(new Uint32Array([1, 1, 5, 5]), 2, own, true);
    expect([...own]).toEqual([0, 0x8000_0002]);
    tier.close();
  });

  it("reads files of version 1", () => {
    const files = createMemoryFiles();
    const tier = openColdTier(files);
    tier.add(new Uint32Array([7, 9]), new Uint32Array([0x8000_0003]), 1);
    tier.close();
    for (const name of files.names()) {
      const bytes = files.bytesOf(name);
      const head = name.endsWith(".cold") ? bytes.subarray(0, 4096) : bytes;
      const words = new Uint32Array(head.slice().buffer);
      words[2] = 1;
      sealColdBlock(words);
      bytes.set(new Uint8Array(words.buffer));
      files.setBytes(name, bytes);
    }
    const opened = openColdTier(files);
    expect(findCold(opened, 7, 9)).toBe(0x8000_0003);
    opened.close();
  });
});

import { describe, expect, it } from "vitest";
import { createRandom } from "../../../../src/base/random.ts";
import { COLD_BLOCK_WORDS, COLD_FILTER_LAST_WORD } from "../../../../src/layout/files/cold-run.ts";
import { coldFilterPath } from "../../../../src/persistence/cold/cold-filter.ts";
import { sealColdBlock } from "../../../../src/persistence/cold/cold-run.ts";
import {
  addToCold,
  coldBatchFrom,
  coldKernel,
  expectColdModel,
  findCold,
  openColdTier,
} from "../../../support/cold-model.ts";
import { type MemoryFiles, createMemoryFiles } from "../../../support/memory-files.ts";
import { stressRounds, testRandom } from "../../../support/seed.ts";

const POOL = 9000;

describe("the filter file beside a run", () => {
  /** A tier of one run of nine blocks. */
  function filled() {
    const files = createMemoryFiles();
    const tier = openColdTier(files);
    const model = coldBatchFrom(createRandom(3), 3000, POOL);
    for (const entry of model.values()) entry.value = 0x8000_0001;
    addToCold(tier, model);
    tier.close();
    const run = files.names().find((name) => name.endsWith(".cold")) as string;
    return { files, model, run, filter: coldFilterPath(run) };
  }

  /** Bytes that opening reads. */
  function openingReads(files: MemoryFiles): number {
    files.reads.length = 0;
    openColdTier(files).close();
    return files.reads.reduce((sum, [length]) => sum + length, 0);
  }

  it("spares an opening the run, and is made again where it is missing", () => {
    const { files, filter, model } = filled();
    const good = files.bytesOf(filter).slice();
    const short = openingReads(files);
    files.remove(filter);
    const long = openingReads(files);
    expect(long - short).toBeGreaterThan(6 * 4096);
    expect(Buffer.compare(files.bytesOf(filter), good)).toBe(0);
    expect(openingReads(files)).toBe(short);
    const tier = openColdTier(files);
    expectColdModel(tier, model, POOL);
    tier.close();
  });

  it("does not count with any byte changed, cut or added, and nothing is lost", () => {
    const random = testRandom("cold filter");
    const { files, filter, model } = filled();
    const good = files.bytesOf(filter).slice();
    const pages = coldKernel.region.pagesUsed;
    for (let round = 0; round < stressRounds(60, 20); round++) {
      let bad = good.slice();
      const at = random.below(good.length);
      if (round % 3 === 0) bad = bad.subarray(0, at);
      else bad[at] = (bad[at] as number) ^ (1 << random.below(8));
      if (round % 7 === 1) bad = Buffer.concat([good, good.subarray(0, 1 + random.below(64))]);
      files.setBytes(filter, bad);
      const tier = openColdTier(files);
      expectColdModel(tier, model, POOL);
      tier.close();
      expect(Buffer.compare(files.bytesOf(filter), good)).toBe(0);
      expect(files.openCount()).toBe(0);
      expect(coldKernel.region.pagesUsed).toBe(pages);
    }
  });

  it("does not count beside a run that ends otherwise (I1)", () => {
    const { files, filter, model } = filled();
    const good = files.bytesOf(filter).slice();
    const bad = good.slice();
    const header = new Uint32Array(bad.buffer, 0, COLD_BLOCK_WORDS);
    header[COLD_FILTER_LAST_WORD] = (header[COLD_FILTER_LAST_WORD] as number) ^ 1;
    sealColdBlock(header);
    files.setBytes(filter, bad);
    const tier = openColdTier(files);
    expectColdModel(tier, model, POOL);
    tier.close();
    expect(Buffer.compare(files.bytesOf(filter), good)).toBe(0);
  });

  it("is made smaller where it exceeds the bound", () => {
    const files = createMemoryFiles();
    let tier = openColdTier(files);
    const model = coldBatchFrom(createRandom(4), 120_000, 400_000);
    addToCold(tier, model);
    const before = tier.stats().bytes;
    tier.close();
    tier = openColdTier(files, undefined, 70_000);
    expect(tier.stats().bytes).toBeLessThan(before);
    for (const [at, { lo, hi, value }] of [...model.values()].entries()) {
      if (at % 97 === 0 && value >= 0x8000_0000) expect(findCold(tier, lo, hi)).toBe(value);
    }
    tier.close();
  });

  it("goes with its run, when runs merge and when a crash left it", () => {
    const { files, run } = filled();
    const tier = openColdTier(files);
    for (let round = 0; round < 6; round++) {
      addToCold(tier, coldBatchFrom(createRandom(round), 500, POOL));
      while (tier.step(10_000) > 0);
    }
    tier.close();
    expect(files.names()).not.toContain(run);
    const names = (end: string): string[] =>
      files.names().flatMap((name) => (name.endsWith(end) ? [name.slice(0, -end.length)] : []));
    expect(names("filter").sort()).toEqual(names("cold").sort());
    files.close(files.open("/cold/run-00000077.filter", "w"));
    openColdTier(files).close();
    expect(names("filter").sort()).toEqual(names("cold").sort());
  });

  it("lets all runs but a damaged one go on merging, and that one answer where it can", () => {
    const { files, run, model } = filled();
    const bytes = files.bytesOf(run);
    bytes[4096 * 4 + 50] = (bytes[4096 * 4 + 50] as number) ^ 1;
    const tier = openColdTier(files);
    const named = expect.objectContaining({ code: "SNAPSHOT_CORRUPT" });
    let thrown = 0;
    for (const { lo, hi, value } of model.values()) {
      try {
        expect(findCold(tier, lo, hi)).toBe(value);
      } catch (error) {
        expect(error).toEqual(named);
        thrown += 1;
      }
    }
    expect(thrown).toBe(340);
    for (let round = 0; round < 30; round++) {
      const batch = coldBatchFrom(createRandom(round), 300, POOL);
      addToCold(tier, batch);
      while (tier.step(10_000) > 0);
      for (const { lo, hi, value } of batch.values()) {
        if (value >= 0x8000_0000) expect(findCold(tier, lo, hi)).toBe(value);
      }
    }
    expect(files.names()).toContain(run);
    expect(tier.stats().runs).toBeLessThanOrEqual(8);
    tier.close();
  });
});

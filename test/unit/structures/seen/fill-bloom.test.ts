import { describe, expect, it } from "vitest";
import { createRandom } from "../../../../src/base/random.ts";
import { REGION_PAGE_BYTES } from "../../../../src/layout/memory/region.ts";
import { regionTake } from "../../../../src/memory/region.ts";
import { bloomHas } from "../../../../src/structures/bloom/bloom.ts";
import { FILLED } from "../../../../src/structures/seen/fill-bloom.ts";
import {
  type SeenSet,
  seenFind,
  seenIsBusy,
  seenRecover,
  seenRecovered,
  seenRemove,
  seenSet,
  seenStats,
  seenStep,
} from "../../../../src/structures/seen/seen-set.ts";
import { createMemoryFiles, type MemoryFiles } from "../../../support/memory-files.ts";
import { FINISHED, hashOf, openBench, openTiered } from "../../../support/seen-bench.ts";
import { SEEN_POOL, type SeenPlay, playSeen } from "../../../support/seen-model.ts";
import { testSeed } from "../../../support/seed.ts";

describe("a bloom that is filled after an opening", () => {
  it("agrees with a Map at every moment of the filling, over openings", () => {
    const random = createRandom(testSeed("fill"));
    const files = createMemoryFiles();
    const model: SeenPlay["model"] = new Map();
    let whileFilling = 0;
    for (let opening = 0; opening < 6; opening++) {
      const bench = openBench();
      const seen = openTiered(bench, files);
      replay(seen, model, random.below(2) === 0);
      if (seen.tiered?.isFilling === true) whileFilling += 1;
      seen.count = model.size;
      for (let part = 0; part < 5; part++) {
        playSeen({ bench, seen, model, random }, 40);
        if (random.below(3) > 0) seenStep(seen, 2000);
      }
      expectModel(seen, model);
      while (seenIsBusy(seen)) seenStep(seen, 5000);
      expect(seen.tiered?.filledTo).toBe(FILLED);
      expectModel(seen, model);
      // Every finished hash is in the bloom now: whatever it does not know costs no lookup.
      for (const [at, value] of model) {
        const isCold = (seen.tiered?.cold && coldValue(seen, at)) === value;
        const { bloom } = seen.tiered ?? {};
        if (isCold && bloom !== undefined) expect(bloomHas(bloom, ...hashOf(at))).toBe(true);
      }
      if (opening % 2 === 1) forgetLive(seen, model);
      seen.tiered?.cold.close();
    }
    expect(whileFilling).toBeGreaterThan(2);
  });

  /** A process ends: of what only memory has, a journal would bring back all; here it is replayed from the model. */
  function replay(seen: SeenSet, model: SeenPlay["model"], isAll: boolean): void {
    seenRecover(seen);
    for (let at = 0; at < SEEN_POOL; at++) {
      const value = model.get(at);
      if (value === undefined) seenRemove(seen, ...hashOf(at));
      else if (isAll || value < FINISHED || coldValue(seen, at) !== value)
        seenSet(seen, ...hashOf(at), value);
    }
    seenRecovered(seen);
  }

  function coldValue(seen: SeenSet, at: number): number {
    const values = new Uint32Array(1);
    seen.tiered?.cold.has(new Uint32Array(hashOf(at)), 1, values);
    return values[0] as number;
  }

  function expectModel(seen: SeenSet, model: SeenPlay["model"]): void {
    for (let at = 0; at < SEEN_POOL; at++) {
      const found = seenFind(seen, ...hashOf(at));
      if (found !== (model.get(at) ?? 0)) expect.fail(`hash ${at}: ${found}`);
    }
  }

  /** So that some hashes are removed which the next process finds in the tier alone. */
  function forgetLive(seen: SeenSet, model: SeenPlay["model"]): void {
    for (let at = 0; at < SEEN_POOL; at += 3) {
      if (model.delete(at)) seenRemove(seen, ...hashOf(at));
    }
  }

  /** The set of a second process: the first one left 20,000 finished hashes. */
  function reopened(files: MemoryFiles): SeenSet {
    const first = openTiered(openBench(), files);
    for (let at = 0; at < 20_000; at++) seenSet(first, ...hashOf(at), FINISHED + at);
    while (seenStep(first, 5000) > 0);
    first.tiered?.cold.close();
    return openTiered(openBench(), files);
  }

  it("lies where memory was free when the replay began, not after what the replay brings", () => {
    const files = createMemoryFiles();
    const seen = reopened(files);
    const { region } = seen.table.kernel;
    const { bytes } = seenStats(seen);
    seenRecover(seen);
    const reserved = seenStats(seen).bytes - bytes;
    expect(reserved).toBe(2 * REGION_PAGE_BYTES);
    const later = regionTake(region, 1);
    const used = region.pagesUsed;
    seenRecovered(seen);
    while (seenIsBusy(seen)) seenStep(seen, 5000);
    expect(seen.tiered?.bloom?.bytes).toBe(reserved);
    expect(seen.tiered?.bloom?.offset).toBeLessThan(later);
    expect(region.pagesUsed).toBe(used);
    seen.tiered?.cold.close();
  });

  it("asks nothing that earlier processes left while files are replayed", () => {
    const files = createMemoryFiles();
    const seen = reopened(files);
    seenRecover(seen);
    files.reads.length = 0;
    for (let at = 0; at < 10_000; at++) expect(seenFind(seen, ...hashOf(at))).toBe(0);
    for (let at = 0; at < 500; at++) seenSet(seen, ...hashOf(at), FINISHED + 1);
    expect(seenRemove(seen, ...hashOf(777))).toBe(true);
    expect(files.reads.length).toBe(0);
    seenRecovered(seen);
    expect(seenFind(seen, ...hashOf(3))).toBe(FINISHED + 1);
    expect(seenFind(seen, ...hashOf(777))).toBe(0);
    expect(seenFind(seen, ...hashOf(12_345))).toBe(FINISHED + 12_345);
  });

  it("stops at a block that cannot be read, reports it, and answers wherever runs do", () => {
    const files = createMemoryFiles();
    const first = openTiered(openBench(), files, { memoryBytes: 2 ** 20 });
    for (let at = 0; at < 40_000; at++) seenSet(first, ...hashOf(at), FINISHED + at);
    while (seenStep(first, 5000) > 0);
    const { count = 0 } = first.tiered?.cold.stats() ?? {};
    expect(count).toBeGreaterThan(20_000);
    first.tiered?.cold.close();
    const run = files.names().find((name) => name.endsWith(".cold")) as string;
    const bytes = files.bytesOf(run);
    bytes[4096 * 20 + 9] = (bytes[4096 * 20 + 9] as number) ^ 1;
    const seen = openTiered(openBench(), files, { memoryBytes: 2 ** 20 });
    const named = expect.objectContaining({ code: "SNAPSHOT_CORRUPT" });
    expect(() => {
      for (let step = 0; step < 1000; step++) seenStep(seen, 1000);
    }).toThrow(named);
    while (seenIsBusy(seen)) seenStep(seen, 1000); // nothing more is thrown
    expect(seen.tiered?.filledTo).toBeLessThan(FILLED);
    let refused = 0;
    let found = 0;
    for (let at = 0; at < 40_000; at++) {
      try {
        found += Number(seenFind(seen, ...hashOf(at)) === FINISHED + at);
      } catch (error) {
        expect(error).toEqual(named);
        refused += 1;
      }
    }
    expect(refused).toBeGreaterThanOrEqual(340);
    expect(refused).toBeLessThan(400);
    expect(found).toBe(count - 340);
  });
});

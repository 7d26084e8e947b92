import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type Random, createRandom } from "../../../../src/base/random.ts";
import { TABLE_NEW } from "../../../../src/layout/seen/table.ts";
import { verifyRegion } from "../../../../src/memory/region.ts";
import { createColdTier } from "../../../../src/persistence/cold/cold-tier.ts";
import { verifyBloom } from "../../../../src/structures/bloom/bloom-stats.ts";
import { tableFind } from "../../../../src/structures/table/fingerprint-table.ts";
import {
  type SeenSet,
  createSeenSet,
  seenAdmitBatch,
  seenFind,
  seenForget,
  seenSet,
  seenStats,
  seenStep,
} from "../../../../src/structures/seen/seen-set.ts";
import { fillWords } from "../../../support/hashes.ts";
import { turn } from "../../../support/durable-rig.ts";
import { testSeed } from "../../../support/seed.ts";
import { createMemoryFiles } from "../../../support/memory-files.ts";
import {
  FINISHED,
  ROWS,
  SEEN_IDENTITY,
  type SeenBench,
  hashOf,
  insertFinished,
  openBench,
  openTiered,
  settle,
} from "../../../support/seen-bench.ts";
import { SEEN_POOL, type SeenPlay, playSeen } from "../../../support/seen-model.ts";

describe("seen-set, mode tiered", () => {
  it("agrees with a Map while everything finished moves and merges (I1, I2)", () => {
    const random = createRandom(testSeed("seen tiered"));
    const bench = openBench();
    const files = createMemoryFiles();
    // A filter that says maybe more often than not: the cold tier answers for most.
    const bloom = { capacity: 200, falsePositiveRate: 0.5, isBloomFixed: true };
    const seen = openTiered(bench, files, bloom);
    const model: SeenPlay["model"] = new Map();
    for (let round = 0; round < 3; round++) {
      playSeen({ bench, seen, model, random }, 250);
      const stats = seenStats(seen);
      expect(stats.falsePositiveRate).toBeGreaterThan(0.5);
      expect(stats.maybeButNew).toBeGreaterThan(100);
      expect(stats.coldReads).toBeGreaterThan(100);
      expect(stats.expectedLost).toBe(0);
      expect(seen.tiered?.cold.stats().count).toBeGreaterThan(400);
      expect(seen.tiered?.cold.stats().runs).toBeLessThanOrEqual(12);
      for (let at = 0; at < SEEN_POOL; at++)
        if (seenFind(seen, ...hashOf(at)) !== (model.get(at) ?? 0)) expect.fail(`hash ${at}`);
      if (seen.tiered?.bloom !== undefined) verifyBloom(seen.tiered.bloom);
      verifyRegion(bench.kernel.region);
      if (round !== 1) continue;
      seenForget(seen);
      model.clear();
    }
    expect(files.names().length).toBeLessThan(40);
  });

  it("keeps live entries hot, whatever the pressure (I2)", () => {
    const bench = openBench();
    const files = createMemoryFiles();
    const seen = openTiered(bench, files);
    for (let at = 0; at < 30_000; at++)
      seenSet(seen, ...hashOf(at), at % 3 === 0 ? at + 1 : FINISHED);
    settle(seen);
    files.reads.length = 0;
    for (let at = 0; at < 30_000; at += 3)
      if (seenFind(seen, ...hashOf(at)) !== at + 1) expect.fail(`hash ${at}`);
    expect(files.reads.length).toBe(0);
    expect(seen.tiered?.cold.stats().count).toBeGreaterThan(10_000);
  });

  it("answers a recent duplicate from the hot table after one cold read", () => {
    const bench = openBench();
    const files = createMemoryFiles();
    const seen = openTiered(bench, files);
    for (let at = 0; at < 20_000; at++) seenSet(seen, ...hashOf(at), FINISHED + at);
    settle(seen);
    const reads: number[] = [];
    const { u32 } = bench.kernel.region.views;
    for (let again = 0; again < 2; again++) {
      const before = seenStats(seen).coldReads;
      for (let row = 0; row < 100; row++) {
        u32.set(hashOf(row), bench.hashes / 4 + row * 2);
        u32[bench.values / 4 + row] = 0;
      }
      expect(seenAdmitBatch(seen, bench.hashes, 100, bench.values, bench.slots)).toBe(0);
      for (let row = 0; row < 100; row++) expect(u32[bench.values / 4 + row]).toBe(FINISHED + row);
      reads.push(seenStats(seen).coldReads - before);
    }
    expect(reads[0]).toBeGreaterThan(0);
    expect(reads[1]).toBe(0);
  });

  it("knows after a restart what the cold tier was given, and a replayed value wins", () => {
    const files = createMemoryFiles();
    const first = openBench();
    const seen = openTiered(first, files);
    for (let at = 0; at < 20_000; at++) seenSet(seen, ...hashOf(at), FINISHED + at);
    const moved = seen.tiered?.cold.stats().count ?? 0;
    seen.tiered?.cold.close();
    const second = openTiered(openBench(), files);
    let found = 0;
    for (let at = 0; at < 20_000; at++)
      found += Number(seenFind(second, ...hashOf(at)) === FINISHED + at);
    expect(found).toBe(moved);
    for (let at = 0; at < 20_000; at++) seenSet(second, ...hashOf(at), FINISHED + 1);
    expect(second.count).toBe(20_000 - moved);
    for (let at = 0; at < 20_000; at++) expect(seenFind(second, ...hashOf(at))).toBe(FINISHED + 1);
  });

  it("admits on while the disk is full, says so in step, and moves when there is space", () => {
    const bench = openBench();
    const files = createMemoryFiles();
    const seen = openTiered(bench, files);
    files.capacity = 50_000;
    for (let at = 0; at < 60_000; at++)
      expect(insertFinished(bench, seen, at), `hash ${at}`).toBe(true);
    expect(() => seenStep(seen, 100)).toThrow(expect.objectContaining({ code: "DISK_FULL" }));
    expect(seen.tiered?.cold.stats().count).toBeLessThan(5000);
    files.capacity = Number.POSITIVE_INFINITY;
    settle(seen);
    expect(seen.tiered?.cold.stats().count).toBeGreaterThan(30_000);
    for (let at = 0; at < 60_000; at += 7)
      expect(seenFind(seen, ...hashOf(at)), `hash ${at}`).toBe(FINISHED + at);
  });

  it("takes a batch back when the cold tier is corrupt (I4)", () => {
    const bench = openBench();
    const files = createMemoryFiles();
    const seen = openTiered(bench, files);
    for (let at = 0; at < 20_000; at++) seenSet(seen, ...hashOf(at), FINISHED + at);
    settle(seen);
    for (const name of files.names().filter((one) => one.endsWith(".cold"))) {
      const bytes = files.bytesOf(name);
      for (let at = 5000; at < bytes.length; at += 4096) bytes[at] = (bytes[at] as number) ^ 1;
    }
    const { u32 } = bench.kernel.region.views;
    for (let row = 0; row < 200; row++) {
      u32.set(hashOf(row < 100 ? 50_000 + row : row), bench.hashes / 4 + row * 2);
      u32[bench.values / 4 + row] = 0;
    }
    const { count } = seen;
    expect(seenAdmitBatch(seen, bench.hashes, 200, bench.values, bench.slots)).toBe(-1);
    const named = expect.objectContaining({ code: "SNAPSHOT_CORRUPT" });
    expect(() => seenStep(seen, 1)).toThrow(named);
    expect(() => seenFind(seen, ...hashOf(150))).toThrow(named);
    expect(seen.count).toBe(count);
    for (let row = 0; row < 100; row++)
      expect(tableFind(seen.table, ...hashOf(50_000 + row))).toBe(0);
  });
});

describe("seen-set, mode tiered, the bloom forced to 50 percent", () => {
  /** V-B2 asks for 10,000,000: FORCED_URLS=10000000. */
  const COUNT = Number(process.env.FORCED_URLS ?? 100_000);
  const PART = COUNT / 4;

  it("misses no old URL and refuses no new one (I1)", async () => {
    const seed = testSeed("seen forced");
    const bench = openBench();
    const { kernel } = bench;
    const directory = mkdtempSync(join(tmpdir(), "outrider-seen-"));
    try {
      const cold = createColdTier({ kernel, directory, identity: SEEN_IDENTITY });
      cold.load();
      const old = createRandom(seed);
      for (let left = COUNT; left > 0; left -= PART)
        cold.add(
          fillWords(new Uint32Array(PART * 2), old),
          new Uint32Array(PART).fill(0x8000_0007),
          PART,
        );
      cold.close();
      const again = createColdTier({ kernel, directory, identity: SEEN_IDENTITY });
      const forced = { capacity: COUNT, falsePositiveRate: 0.5, isBloomFixed: true };
      const seen = createSeenSet({ kernel, mode: "tiered", cold: again, ...forced });
      while (seenStep(seen, 10_000) > 0) await turn(); // a sync beside the thread ends in one
      expectHalf(seenStats(seen).falsePositiveRate);
      expect(countNew(bench, seen, createRandom(seed + 1))).toBe(COUNT);
      expectHalf(seenStats(seen).maybeButNew / COUNT); // the rate as it was met
      expect(seenStats(seen).expectedLost).toBe(0);
      expect(countNew(bench, seen, createRandom(seed))).toBe(0);
      expect(seen.count).toBe(COUNT);
      again.close();
    } finally {
      rmSync(directory, { recursive: true });
    }
  });

  function expectHalf(rate: number): void {
    expect(rate).toBeGreaterThan(0.45);
    expect(rate).toBeLessThan(0.55);
  }

  /** Admits the first COUNT hashes of a stream; how many are new, by rows and by the count given. */
  function countNew(bench: SeenBench, seen: SeenSet, random: Random): number {
    const { kernel, hashes, values, slots } = bench;
    let fresh = 0;
    for (let left = COUNT; left > 0; left -= ROWS) {
      const count = Math.min(left, ROWS);
      const { u32 } = kernel.region.views;
      fillWords(u32.subarray(hashes / 4, hashes / 4 + count * 2), random);
      u32.fill(0, values / 4, values / 4 + count);
      const told = seenAdmitBatch(seen, hashes, count, values, slots);
      let counted = 0;
      for (let row = 0; row < count; row++)
        counted += Number(kernel.region.views.u32[values / 4 + row] === TABLE_NEW);
      if (counted !== told) expect.fail(`${counted} new rows, told ${told}`);
      fresh += told;
    }
    return fresh;
  }
});

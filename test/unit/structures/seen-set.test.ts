import { describe, expect, it } from "vitest";
import { type Random, createRandom } from "../../../src/base/random.ts";
import type { Kernel } from "../../../src/kernel/kernel.ts";
import { TABLE_CLAIMED, TABLE_NEW, TABLE_SKIP } from "../../../src/layout/table.ts";
import { regionTake, verifyRegion } from "../../../src/memory/region.ts";
import { createColdTier } from "../../../src/persistence/cold-tier.ts";
import { verifyBloom } from "../../../src/structures/bloom.ts";
import {
  SEEN_UNKNOWN,
  type SeenMode,
  type SeenSet,
  type SeenSetOptions,
  createSeenSet,
  seenAdmitBatch,
  seenFind,
  seenForget,
  seenInsert,
  seenProbeBatch,
  seenRemove,
  seenSet,
  seenStats,
  seenStep,
} from "../../../src/structures/seen-set.ts";
import { testSeed } from "../../support/hashes.ts";
import { tableFind } from "../../../src/structures/fingerprint-table.ts";
import { openTestKernel } from "../../support/kernels.ts";
import { type MemoryFiles, createMemoryFiles } from "../../support/memory-files.ts";

const ROWS = 600;
const FINISHED = 0x8000_0000;
const IDENTITY = { algorithm: 1, secretCheck: [7, 8] } as const;

interface Bench {
  readonly kernel: Kernel;
  readonly hashes: number;
  readonly values: number;
  readonly slots: number;
}

function openBench(): Bench {
  const kernel = openTestKernel();
  const hashes = regionTake(kernel.region, 1);
  return { kernel, hashes, values: hashes + ROWS * 8, slots: hashes + ROWS * 12 };
}

function openSeen(bench: Bench, mode: SeenMode, files?: MemoryFiles, rate = 0.98): SeenSet {
  const { kernel } = bench;
  const options = { kernel, mode, falsePositiveRate: rate, capacity: 300 };
  // A budget that the hot table is over at once: every finished entry goes to the cold tier sooner or later.
  const tight = { ...options, memoryBytes: 60_000 };
  if (files === undefined) return createSeenSet(mode === "bloom" ? tight : options);
  const cold = createColdTier({ kernel, directory: "/seen", files, identity: IDENTITY });
  return createSeenSet({ ...tight, cold });
}

function hashOf(at: number): [lo: number, hi: number] {
  return [mixed(at * 2 + 1), mixed(at * 2 + 2)];
}

function mixed(word: number): number {
  let z = Math.imul(word ^ (word >>> 16), 0x21f0aaad);
  z = Math.imul(z ^ (z >>> 15), 0x735a2d97);
  return (z ^ (z >>> 15)) >>> 0;
}

type Model = Map<number, number>;

/** Runs random operations against a Map from number to value; `isExact` false where a foreign hash may be called seen. */
function play(bench: Bench, seen: SeenSet, model: Model, random: Random, operations: number): void {
  for (let i = 0; i < operations; i++) {
    const at = random.below(POOL);
    const [lo, hi] = hashOf(at);
    const value = model.get(at) ?? 0;
    switch (random.below(12)) {
      case 0:
      case 1:
      case 2:
        admit(bench, seen, model, random);
        break;
      case 3:
        expect(seenFind(seen, lo, hi), `find ${at}`).toBe(value);
        break;
      case 4: {
        expect(seenRemove(seen, lo, hi), `remove ${at}`).toBe(value !== 0);
        model.delete(at);
        break;
      }
      case 5: {
        const slot = seenInsert(seen, lo, hi);
        const held = bench.kernel.region.views.u32[slot >>> 2] as number;
        expect(held, `insert ${at}`).toBe(value === 0 ? TABLE_CLAIMED : value);
        if (value !== 0) break;
        bench.kernel.region.views.u32[slot >>> 2] = at + 1;
        model.set(at, at + 1);
        break;
      }
      case 6:
        probe(bench, seen, model, random);
        break;
      case 7:
        seenStep(seen, random.below(400));
        break;
      default:
        // Mostly records finish, so that there is something to move.
        for (let n = random.below(60); n > 0; n--) finish(seen, model, random);
    }
    expect(seen.count).toBe(model.size);
  }
}

function finish(seen: SeenSet, model: Model, random: Random): void {
  const at = random.below(POOL);
  const isNew = !model.has(at);
  if (isNew && random.below(4) > 0) return;
  const value = (FINISHED | random.below(2 ** 30)) >>> 0;
  expect(seenSet(seen, ...hashOf(at), value)).toBe(true);
  model.set(at, value);
}

const POOL = 9000;

function putRows(bench: Bench, random: Random): number[] {
  const { u32 } = bench.kernel.region.views;
  const count = 1 + random.below(ROWS);
  const base = random.below(POOL);
  const rows = Array.from({ length: count }, () => (base + random.below(count * 2)) % POOL);
  rows.forEach((at, row) => {
    u32.set(hashOf(at), bench.hashes / 4 + row * 2);
    u32[bench.values / 4 + row] = random.below(10) === 0 ? TABLE_SKIP : 0;
  });
  return rows;
}

function admit(bench: Bench, seen: SeenSet, model: Model, random: Random): void {
  const { kernel, hashes, values, slots } = bench;
  const rows = putRows(bench, random);
  const skipped = rows.map((_, row) => kernel.region.views.u32[values / 4 + row] !== 0);
  const fresh = seenAdmitBatch(seen, hashes, rows.length, values, slots);
  const { u32 } = kernel.region.views;
  const before = new Map(model);
  let expectedFresh = 0;
  rows.forEach((at, row) => {
    const value = u32[values / 4 + row];
    const slot = (u32[slots / 4 + row] as number) >>> 2;
    if (skipped[row]) {
      expect(value).toBe(TABLE_SKIP);
      return;
    }
    const known = before.get(at);
    if (known !== undefined) {
      expect(value, `row of ${at}`).toBe(known);
      expect(u32[slot]).toBe(known);
      return;
    }
    const isFirst = !model.has(at);
    expect(value, `row of ${at}`).toBe(isFirst ? TABLE_NEW : TABLE_CLAIMED);
    expect(u32[slot]).toBe(isFirst ? TABLE_CLAIMED : at + 1);
    if (isFirst) expectedFresh += 1;
    model.set(at, at + 1);
    u32[slot] = at + 1;
  });
  expect(fresh).toBe(expectedFresh);
}

function probe(bench: Bench, seen: SeenSet, model: Model, random: Random): void {
  const { kernel, hashes, values } = bench;
  const rows = putRows(bench, random);
  const skipped = rows.map((_, row) => kernel.region.views.u32[values / 4 + row] !== 0);
  seenProbeBatch(seen, hashes, rows.length, values);
  rows.forEach((at, row) => {
    const value = kernel.region.views.u32[values / 4 + row];
    const expected = skipped[row] ? TABLE_SKIP : (model.get(at) ?? 0);
    if (value !== expected) expect.fail(`probe of ${at}: ${value}, not ${expected}`);
  });
}

describe("seen-set, exact and tiered", () => {
  it("agrees with a Map in mode exact (I3)", () => {
    const random = createRandom(testSeed("seen exact"));
    const bench = openBench();
    const seen = openSeen(bench, "exact");
    const model: Model = new Map();
    play(bench, seen, model, random, 250);
    seenForget(seen);
    model.clear();
    play(bench, seen, model, random, 100);
    expect(seenStats(seen)).toMatchObject({ expectedLost: 0, coldReads: 0, falsePositiveRate: 0 });
  });

  it("misses nothing and refuses nothing with the bloom forced to 50 percent (I1, I3)", () => {
    const random = createRandom(testSeed("seen tiered"));
    const bench = openBench();
    const files = createMemoryFiles();
    const seen = openSeen(bench, "tiered", files);
    const model: Model = new Map();
    for (let round = 0; round < 3; round++) {
      play(bench, seen, model, random, 250);
      const stats = seenStats(seen);
      expect(stats.falsePositiveRate).toBeGreaterThan(0.35); // the layers' shares of 0.98
      expect(stats.maybeButNew).toBeGreaterThan(100);
      expect(stats.coldReads).toBeGreaterThan(100);
      expect(stats.expectedLost).toBe(0);
      expect(seen.tiered?.cold.stats().count).toBeGreaterThan(400);
      for (let at = 0; at < POOL; at++)
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
    const seen = openSeen(bench, "tiered", files, 0.01);
    for (let at = 0; at < 30_000; at++)
      seenSet(seen, ...hashOf(at), at % 3 === 0 ? at + 1 : FINISHED);
    while (seenStep(seen, 5000) > 0);
    files.reads.length = 0;
    for (let at = 0; at < 30_000; at += 3)
      if (seenFind(seen, ...hashOf(at)) !== at + 1) expect.fail(`hash ${at}`);
    expect(files.reads.length).toBe(0);
    expect(seen.tiered?.cold.stats().count).toBeGreaterThan(10_000);
  });

  it("answers a recent duplicate from the hot table after one cold read", () => {
    const bench = openBench();
    const files = createMemoryFiles();
    const seen = openSeen(bench, "tiered", files, 0.01);
    for (let at = 0; at < 20_000; at++) seenSet(seen, ...hashOf(at), FINISHED + at);
    while (seenStep(seen, 5000) > 0);
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
    const seen = openSeen(first, "tiered", files, 0.01);
    for (let at = 0; at < 20_000; at++) seenSet(seen, ...hashOf(at), FINISHED + at);
    const moved = seen.tiered?.cold.stats().count ?? 0;
    seen.tiered?.cold.close();
    const second = openSeen(openBench(), "tiered", files, 0.01);
    expect(second.count).toBe(moved);
    let found = 0;
    for (let at = 0; at < 20_000; at++)
      found += Number(seenFind(second, ...hashOf(at)) === FINISHED + at);
    expect(found).toBe(moved);
    for (let at = 0; at < 20_000; at++) seenSet(second, ...hashOf(at), FINISHED + 1);
    expect(second.count).toBe(20_000);
    for (let at = 0; at < 20_000; at++) expect(seenFind(second, ...hashOf(at))).toBe(FINISHED + 1);
  });

  it("admits on while the disk is full, says so in step, and moves when there is space", () => {
    const bench = openBench();
    const files = createMemoryFiles();
    const seen = openSeen(bench, "tiered", files, 0.01);
    files.capacity = 50_000;
    for (let at = 0; at < 60_000; at++)
      expect(seenInsertFinished(bench, seen, at), `hash ${at}`).toBe(true);
    expect(() => seenStep(seen, 100)).toThrow(expect.objectContaining({ code: "DISK_FULL" }));
    expect(seen.tiered?.cold.stats().count).toBeLessThan(5000);
    files.capacity = Number.POSITIVE_INFINITY;
    while (seenStep(seen, 10_000) > 0);
    expect(seen.tiered?.cold.stats().count).toBeGreaterThan(30_000);
    for (let at = 0; at < 60_000; at += 7)
      expect(seenFind(seen, ...hashOf(at)), `hash ${at}`).toBe(FINISHED + at);
  });

  it("takes a batch back when the cold tier is corrupt (I4)", () => {
    const bench = openBench();
    const files = createMemoryFiles();
    const seen = openSeen(bench, "tiered", files, 0.01);
    for (let at = 0; at < 20_000; at++) seenSet(seen, ...hashOf(at), FINISHED + at);
    while (seenStep(seen, 5000) > 0);
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
    expect(() => seenAdmitBatch(seen, bench.hashes, 200, bench.values, bench.slots)).toThrow(
      expect.objectContaining({ code: "SNAPSHOT_CORRUPT" }),
    );
    expect(seen.count).toBe(count);
    for (let row = 0; row < 100; row++)
      expect(tableFind(seen.table, ...hashOf(50_000 + row))).toBe(0);
  });

  it("refuses mode tiered without a cold tier", () => {
    const options = { kernel: openBench().kernel, mode: "tiered" } as SeenSetOptions;
    expect(() => createSeenSet(options)).toThrow(
      expect.objectContaining({ code: "OPTION_INVALID" }),
    );
  });
});

function seenInsertFinished(bench: Bench, seen: SeenSet, at: number): boolean {
  const slot = seenInsert(seen, ...hashOf(at)) >>> 2;
  if (slot === 0) return false;
  const { u32 } = bench.kernel.region.views;
  const isNew = u32[slot] === TABLE_CLAIMED;
  u32[slot] = FINISHED + at;
  return isNew;
}

describe("seen-set, bloom", () => {
  it("misses nothing in fixed memory, and loses about as many as it says", () => {
    const random = createRandom(testSeed("seen bloom"));
    const bench = openBench();
    const { kernel, hashes, values, slots } = bench;
    const memoryBytes = 2 * 65536;
    const seen = createSeenSet({ kernel, mode: "bloom", capacity: 40_000, memoryBytes });
    const { u32 } = kernel.region.views;
    let lost = 0;
    let offered = 0;
    const known = new Map<number, number>();
    for (let batch = 0; batch < 250; batch++) {
      const rows: number[] = [];
      for (let row = 0; row < ROWS; row++) {
        // Three of four rows are new; the others come again, some of them live, some finished.
        const isOld = offered > 0 && random.below(4) === 0;
        const at = isOld ? random.below(offered) : offered++;
        rows.push(at);
        u32.set(hashOf(at), hashes / 4 + row * 2);
        u32[values / 4 + row] = 0;
      }
      const fresh = seenAdmitBatch(seen, hashes, ROWS, values, slots);
      let expected = 0;
      rows.forEach((at, row) => {
        const value = u32[values / 4 + row] as number;
        if (value === TABLE_CLAIMED) expect(rows.indexOf(at)).toBeLessThan(row);
        else if (value === TABLE_NEW) {
          expect(known.has(at), `hash ${at} new twice`).toBe(false);
          u32[(u32[slots / 4 + row] as number) >>> 2] = at + 1;
          known.set(at, at + 1);
          expected += 1;
        } else if (known.has(at)) expect(value).toBe(known.get(at));
        else {
          expect(value).toBe(SEEN_UNKNOWN);
          known.set(at, SEEN_UNKNOWN);
          lost += 1;
        }
      });
      expect(fresh).toBe(expected);
      for (const at of rows.slice(0, 550)) {
        if ((known.get(at) ?? 0) >= SEEN_UNKNOWN) continue;
        seenSet(seen, ...hashOf(at), FINISHED + 5);
        known.set(at, SEEN_UNKNOWN);
      }
    }
    const stats = seenStats(seen);
    expect(stats.count + lost).toBe(offered);
    expect(stats.falsePositiveRate).toBeGreaterThan(0.02);
    expect(lost / stats.expectedLost).toBeGreaterThan(0.9);
    expect(lost / stats.expectedLost).toBeLessThan(1.1);
    for (const [at, value] of known)
      if (seenFind(seen, ...hashOf(at)) !== value) expect.fail(`hash ${at}`);
    expect(seenInsert(seen, ...hashOf(0))).toBe(0);
    seenForget(seen);
    expect(seenFind(seen, ...hashOf(0))).toBe(0);
    expect(seenInsert(seen, ...hashOf(0))).toBeGreaterThan(0);
  });
});

import { describe, expect, it } from "vitest";
import { createRandom } from "../../../../src/base/random.ts";
import { TABLE_NEW } from "../../../../src/layout/seen/table.ts";
import { createColdTier } from "../../../../src/persistence/cold/cold-tier.ts";
import { tableFind } from "../../../../src/structures/table/fingerprint-table.ts";
import type { MovePhase } from "../../../../src/structures/seen/move-to-cold-tier.ts";
import {
  type SeenSet,
  createSeenSet,
  seenAdmitBatch,
  seenFind,
  seenInsert,
  seenIsBusy,
  seenRemove,
  seenSet,
  seenStats,
  seenStep,
} from "../../../../src/structures/seen/seen-set.ts";
import type { Tiered } from "../../../../src/structures/seen/seen-tiered.ts";
import type { ColdTier } from "../../../../src/structures/storage-tiers.ts";
import { type HeldFiles, heldFiles } from "../../../support/held-files.ts";
import { testSeed } from "../../../support/seed.ts";
import { type MemoryFiles, createMemoryFiles } from "../../../support/memory-files.ts";
import {
  FINISHED,
  SEEN_IDENTITY,
  type SeenBench,
  hashOf,
  insertFinished,
  openBench,
  openTiered,
  settle,
} from "../../../support/seen-bench.ts";

/** A set with `count` finished entries whose pass has come to `phase`. */
function openAt(bench: SeenBench, files: MemoryFiles, count: number, phase: MovePhase): SeenSet {
  const seen = openTiered(bench, files);
  for (let at = 0; at < count; at++) seenSet(seen, ...hashOf(at), FINISHED + at);
  for (let i = 0; seen.tiered?.phase !== phase; i++) {
    expect(seenStep(seen, 1)).toBeGreaterThan(0);
    if (i === 1000) expect.fail(`never came to ${phase}`);
  }
  return seen;
}

function restart(files: MemoryFiles): SeenSet {
  return openTiered(openBench(), files);
}

describe("moves of the seen-set", () => {
  const PHASES: MovePhase[] = ["write", "commit", "remove"];

  it.each(PHASES)("keep hot what changed since phase %s (I4)", (phase) => {
    const bench = openBench();
    const seen = openAt(bench, createMemoryFiles(), 5000, phase);
    for (let at = 0; at < 5000; at += 3) seenSet(seen, ...hashOf(at), at + 1);
    settle(seen);
    for (let at = 0; at < 5000; at++) {
      const value = seenFind(seen, ...hashOf(at));
      if (value !== (at % 3 === 0 ? at + 1 : FINISHED + at)) expect.fail(`hash ${at}: ${value}`);
      const isHot = tableFind(seen.table, ...hashOf(at)) !== 0;
      if (at % 3 === 0 && !isHot) expect.fail(`hash ${at} is live and not hot`);
    }
  });

  it.each(PHASES)("leave removed what was removed in phase %s, and new when it comes", (phase) => {
    const bench = openBench();
    const seen = openAt(bench, createMemoryFiles(), 5000, phase);
    for (let at = 0; at < 5000; at += 2) expect(seenRemove(seen, ...hashOf(at))).toBe(true);
    settle(seen);
    for (let at = 0; at < 5000; at++) {
      const value = seenFind(seen, ...hashOf(at));
      if (value !== (at % 2 === 0 ? 0 : FINISHED + at)) expect.fail(`hash ${at}: ${value}`);
    }
    expect(seen.count).toBe(2500);
    for (let at = 0; at < 5000; at++)
      if (insertFinished(bench, seen, at) !== (at % 2 === 0)) expect.fail(`hash ${at}`);
    expect(seen.count).toBe(5000);
  });

  it("carry removals to disk, where they hide older values until a merge drops both", () => {
    const files = createMemoryFiles();
    const seen = openAt(openBench(), files, 5000, "idle");
    settle(seen);
    for (let at = 0; at < 5000; at += 2) seenRemove(seen, ...hashOf(at));
    settle(seen);
    seen.tiered?.cold.close();
    const bench = openBench();
    const again = openTiered(bench, files);
    const { kernel, hashes, values, slots } = bench;
    const { u32 } = kernel.region.views;
    for (let at = 0; at < 5000; at += 2)
      if (seenFind(again, ...hashOf(at)) !== 0) expect.fail(`hash ${at} came back`);
    // In a batch too: even ones were removed, odd ones are known.
    for (let at = 0; at < 500; at++) u32.set(hashOf(at), hashes / 4 + at * 2);
    u32.fill(0, values / 4, values / 4 + 500);
    expect(seenAdmitBatch(again, hashes, 500, values, slots)).toBe(250);
    for (let at = 0; at < 500; at++) {
      const expected = at % 2 === 0 ? TABLE_NEW : FINISHED + at;
      if (kernel.region.views.u32[values / 4 + at] !== expected) expect.fail(`row ${at}`);
    }
  });

  it("release nothing that a power cut could take (I1)", () => {
    const seed = testSeed("seen cuts");
    const count = 4000;
    const whole = createMemoryFiles();
    fill(openTiered(openBench(), whole), count);
    let cuts = 0;
    for (let cut = 2; cut < whole.changes; cut += 1 + ((seed + cut) % 7)) {
      const files = createMemoryFiles();
      const bench = openBench();
      const seen = openTiered(bench, files);
      files.cutAt = cut;
      fill(seen, count);
      const again = restart(files.afterCut(createRandom(seed + cut)));
      for (let at = 0; at < count; at++) {
        const isHot = tableFind(seen.table, ...hashOf(at)) !== 0;
        if (!isHot && seenFind(again, ...hashOf(at)) !== FINISHED + at)
          expect.fail(`cut ${cut}: hash ${at} is neither hot nor on disk`);
      }
      again.tiered?.cold.close();
      cuts++;
    }
    expect(cuts).toBeGreaterThan(4);
  });

  /** Admissions with some steps between them; what they throw is the disk's. */
  function fill(seen: SeenSet, count: number): void {
    const { u32 } = seen.kernel.region.views;
    for (let at = 0; at < count; at++) {
      u32[seenInsert(seen, ...hashOf(at)) >>> 2] = FINISHED + at;
      if (at % 16 !== 0) continue;
      try {
        seenStep(seen, 64);
      } catch {
        // The power is off.
      }
    }
  }

  it("flush what the entries stand for before a crash can bring them back", () => {
    const bench = openBench();
    const files = createMemoryFiles();
    let flushes = 0;
    const runs: number[] = [];
    const seen = openTiered(bench, files, {
      beforeMove() {
        runs.push(files.names().filter((name) => name.endsWith(".cold")).length);
        return ++flushes === 4; // until then it is under way beside the thread
      },
    });
    for (let at = 0; at < 4000; at++) seenSet(seen, ...hashOf(at), FINISHED);
    while (seen.tiered?.phase !== "flush") seenStep(seen, 5000);
    for (let step = flushes; step < 3; step++) expect(seenStep(seen, 5000)).toBe(0);
    expect(seen.tiered?.phase).toBe("flush");
    settle(seen); // an answer later
    expect(flushes).toBe(4);
    expect(runs).toEqual([0, 0, 0, 0]);
  });
});

describe("moves of the seen-set, bounds", () => {
  const MEMORY = 8 * 2 ** 20;
  const ENTRIES = 600_000;

  /** Counts what one call makes the tier do. */
  function counted(cold: ColdTier, work: { entries: number }): ColdTier {
    return {
      ...cold,
      step(budget, wait) {
        const handled = cold.step(budget, wait);
        work.entries += handled;
        return handled;
      },
      begin(capacity) {
        const batch = cold.begin(capacity);
        return {
          get bytes() {
            return batch.bytes;
          },
          get isSyncing() {
            return batch.isSyncing;
          },
          append(hashes, values, count) {
            work.entries += count;
            batch.append(hashes, values, count);
          },
          commit: (wait) => batch.commit(wait),
          read(from, hashes, values) {
            const count = batch.read(from, hashes, values);
            work.entries += count;
            return count;
          },
          end: () => batch.end(),
        };
      },
    };
  }

  it("hold memoryBytes, 12 runs and a small slice per call, and wait for no medium in admissions", () => {
    const bench = openBench();
    const { kernel } = bench;
    const files = createMemoryFiles();
    const work = { entries: 0 };
    const tier = createColdTier({ kernel, directory: "/seen", files, identity: SEEN_IDENTITY });
    const cold = counted(tier, work);
    const seen = createSeenSet({ kernel, mode: "tiered", memoryBytes: MEMORY, cold });
    const rows = 200;
    const { hashes, values, slots } = bench;
    let [entriesMax, syncs, runsMax, bytesMax] = [0, 0, 0, 0];
    for (let base = 0; base < ENTRIES; base += rows) {
      const { u32 } = kernel.region.views;
      for (let row = 0; row < rows; row++) u32.set(hashOf(base + row), hashes / 4 + row * 2);
      u32.fill(0, values / 4, values / 4 + rows);
      const before = files.syncs;
      work.entries = 0;
      expect(seenAdmitBatch(seen, hashes, rows, values, slots)).toBe(rows);
      entriesMax = Math.max(entriesMax, work.entries);
      syncs += files.syncs - before;
      const after = kernel.region.views.u32;
      for (let row = 0; row < rows; row++)
        after[(after[slots / 4 + row] as number) >>> 2] = FINISHED;
      seenStep(seen, 200);
      if (base % 10_000 !== 0) continue;
      runsMax = Math.max(runsMax, tier.stats().runs);
      bytesMax = Math.max(bytesMax, seenStats(seen).bytes);
      files.reads.length = 0;
    }
    expect(bytesMax).toBeLessThanOrEqual(MEMORY);
    expect(bytesMax).toBeGreaterThan(MEMORY / 2);
    expect(runsMax).toBeLessThanOrEqual(12);
    expect(entriesMax).toBeLessThanOrEqual(rows * 16 + 2048);
    expect(syncs).toBe(0);
    expect(tier.stats().count).toBeGreaterThan(ENTRIES / 2);
    for (let at = 0; at < ENTRIES; at += 97)
      if (seenFind(seen, ...hashOf(at)) !== FINISHED) expect.fail(`hash ${at}`);
  });

  it("hold too when nobody steps: then admissions wait for the medium", () => {
    const bench = openBench();
    const files = createMemoryFiles();
    const seen = openTiered(bench, files, { memoryBytes: 2 ** 18 });
    let runsMax = 0;
    for (let at = 0; at < 120_000; at++) {
      insertFinished(bench, seen, at);
      if (at % 500 !== 0) continue;
      runsMax = Math.max(runsMax, seen.tiered?.cold.stats().runs ?? 0);
      files.reads.length = 0;
    }
    const hot = seen.count - (seen.tiered?.cold.stats().count ?? 0);
    expect(hot).toBeLessThan((2 ** 17 / 17) * 1.05);
    expect(runsMax).toBeLessThanOrEqual(12);
    expect(files.syncs).toBeGreaterThan(10);
  });

  /** A set in `held`, and what makes a pass of it whose run is on its way to the medium. */
  function openHeld(held: HeldFiles) {
    const seen = openTiered(openBench(), held.files);
    const tiered = seen.tiered as Tiered;
    let count = 0;
    const write = (): void => {
      for (let more = 5000; more > 0; more--) seenSet(seen, ...hashOf(count), FINISHED + count++);
      for (let step = 0; tiered.batch?.isSyncing !== true; step++) {
        seenStep(seen, 5000);
        if (step === 1000) expect.fail("no sync ever began");
      }
    };
    const writeWhole = (): void => {
      write();
      held.end();
      while (tiered.phase !== "idle") seenStep(seen, 5000);
    };
    const expectAll = (): void => {
      for (let at = 0; at < count; at += 7)
        expect(seenFind(seen, ...hashOf(at))).toBe(FINISHED + at);
    };
    return { seen, tiered, write, writeWhole, expectAll };
  }

  it("wait in the background for no sync of a run, and merge meanwhile", () => {
    const held = heldFiles();
    const { seen, tiered, write, writeWhole, expectAll } = openHeld(held);
    for (let run = 0; run < 4; run++) writeWhole();
    write();
    const { debt } = tiered;
    const { syncs } = held.files;
    expect(debt).toBeGreaterThan(0);
    for (let step = 0; step < 5; step++) seenStep(seen, 1000);
    expect(held.files.syncs).toBe(syncs);
    expect(tiered.phase).toBe("commit");
    expect(tiered.debt).toBeLessThanOrEqual(debt - 5000);
    held.end();
    while (seenStep(seen, 5000) > 0) held.end();
    expectAll();
  });

  it("have the same work left, and are busy, until a merge that waits for the medium is committed", () => {
    const held = heldFiles();
    const { seen, tiered, writeWhole, expectAll } = openHeld(held);
    for (let run = 0; run < 4; run++) writeWhole();
    while (seenStep(seen, 5000) > 0);
    const { debt, cold } = tiered;
    expect(debt).toBeGreaterThan(0);
    expect(cold.isCommitting()).toBe(true);
    expect(seenStep(seen, 5000)).toBe(0);
    expect(tiered.debt).toBe(debt);
    tiered.debt = 0;
    expect(seenIsBusy(seen)).toBe(true);
    held.end();
    while (seenStep(seen, 5000) > 0) held.end();
    expect(cold.stats().runs).toBe(1);
    expect(seenIsBusy(seen)).toBe(false);
    expectAll();
  });
});

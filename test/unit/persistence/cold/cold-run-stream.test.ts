/** The sync of a run beside the thread: what happens before it has ended, and when it fails. */
import { describe, expect, it } from "vitest";
import { COLD_BLOCK_ENTRIES_MAX } from "../../../../src/layout/files/cold-run.ts";
import type { ColdBatch, ColdTier } from "../../../../src/structures/storage-tiers.ts";
import { findCold, openColdTier } from "../../../support/cold-model.ts";
import { heldFiles } from "../../../support/held-files.ts";
import type { MemoryFiles } from "../../../support/memory-files.ts";

/** A batch of so many hashes from `first` on, written and not committed. */
function batchOf(tier: ColdTier, first: number, count: number): ColdBatch {
  const batch = tier.begin(count);
  const hashes = new Uint32Array(2 * count);
  for (let at = 1; at < hashes.length; at += 2) hashes[at] = first + (at >> 1);
  batch.append(hashes, new Uint32Array(count).fill(0x8000_0001), count);
  return batch;
}

function isThere(tier: ColdTier, hi: number): boolean {
  return findCold(tier, 0, hi) !== 0;
}

const COUNT = 2 * COLD_BLOCK_ENTRIES_MAX;

/** A tier with a batch whose run is on its way to the medium. `syncs`: those of the thread before. */
function syncing() {
  const { files, end } = heldFiles();
  const tier = openColdTier(files);
  const batch = batchOf(tier, 1, COUNT);
  const { syncs } = files;
  batch.commit("beside");
  return { files, end, tier, batch, syncs };
}

function closeWhole(tier: ColdTier, files: MemoryFiles): void {
  tier.close();
  expect(files.openCount()).toBe(0);
}

describe("a run that is synced beside the thread", () => {
  it("is not there before its sync has ended, and needs no sync of the thread", () => {
    const { files, end, tier, batch, syncs } = syncing();
    for (let step = 0; step < 5; step++) expect(batch.commit("beside")).toBe(false);
    expect(batch.isSyncing).toBe(true);
    expect(files.syncs).toBe(syncs);
    expect(isThere(tier, 1)).toBe(false);
    end();
    expect(batch.isSyncing).toBe(false);
    while (!batch.commit("beside"));
    batch.end();
    expect(isThere(tier, 1) && isThere(tier, COUNT)).toBe(true);
    closeWhole(tier, files);
  });

  it("is there at once for a caller that waits for it", () => {
    const { files, end, tier, batch, syncs } = syncing();
    expect(batch.commit("here")).toBe(false);
    expect(files.syncs).toBe(syncs + 1);
    while (!batch.commit("here"));
    batch.end();
    expect(isThere(tier, 1)).toBe(true);
    end(); // later than all that
    closeWhole(tier, files);
  });

  it("fails with the error of its sync, and leaves nothing", () => {
    const { files, end, tier, batch } = syncing();
    end(Object.assign(new Error("ENOSPC: no space left"), { code: "ENOSPC" }));
    expect(() => batch.commit("beside")).toThrow(expect.objectContaining({ code: "DISK_FULL" }));
    expect(isThere(tier, 1)).toBe(false);
    expect(files.names().filter((name) => name.includes("run-"))).toEqual([]);
    const again = batchOf(tier, 1, COUNT);
    again.commit("beside");
    end();
    while (!again.commit("beside"));
    again.end();
    expect(isThere(tier, 1)).toBe(true);
    closeWhole(tier, files);
  });

  it("closes its descriptor when it was dropped meanwhile", () => {
    const { files, end, tier, batch } = syncing();
    batch.end();
    tier.close();
    expect(files.openCount()).toBe(1);
    end();
    expect(files.openCount()).toBe(0);
  });

  it("lets other merges go on", () => {
    const { files, end } = heldFiles();
    const tier = openColdTier(files);
    const add = (first: number): void => {
      const batch = batchOf(tier, first, COUNT);
      while (!batch.commit());
      batch.end();
    };
    for (let run = 0; run < 4; run++) add(1 + run * COUNT);
    expect(tier.step(4 * COUNT, "beside")).toBe(4 * COUNT);
    tier.step(1, "beside"); // its sync begins
    const { syncs } = files;
    expect(tier.step(1_000, "beside")).toBe(0);
    expect(tier.isCommitting()).toBe(true);
    for (let run = 4; run < 8; run++) add(1 + run * COUNT);
    expect(tier.stats().runs).toBe(8);
    expect(tier.step(100, "beside")).toBeGreaterThanOrEqual(100); // of the newer four
    expect(files.syncs).toBeGreaterThan(syncs); // of the four runs alone
    end();
    for (let step = 0; step < 9 && tier.stats().runs === 8; step++) tier.step(1, "beside");
    expect(tier.stats().runs).toBe(5);
    for (let at = 1; at <= 8 * COUNT; at += 97) expect(isThere(tier, at)).toBe(true);
    tier.close();
    end();
    expect(files.openCount()).toBe(0);
  });
});

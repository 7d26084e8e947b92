/** Cold tiers in memory for tests, beside a Map with the expected answers. */
import { expect } from "vitest";
import type { Random } from "../../src/base/random.ts";
import { loadKernelModule } from "../../src/engine/kernel-file.ts";
import { createKernel } from "../../src/kernel/kernel.ts";
import { SPILL_VALUE } from "../../src/layout/records/spill-block.ts";
import type { ColdIdentity } from "../../src/persistence/cold/cold-run.ts";
import { createColdTier } from "../../src/persistence/cold/cold-tier.ts";
import { createHashSorter, sortHashes } from "../../src/structures/seen/sort-hashes.ts";
import { COLD_REMOVED, type ColdTier, isPassing } from "../../src/structures/storage-tiers.ts";
import type { MemoryFiles } from "./memory-files.ts";

export const COLD_IDENTITY = { algorithm: 1, secretCheck: [0x12345678, 0x9abcdef0] } as const;
export const coldKernel = createKernel(loadKernelModule());

export function openColdTier(
  files: MemoryFiles,
  identity: ColdIdentity = COLD_IDENTITY,
  filterBytes = Number.POSITIVE_INFINITY,
): ColdTier {
  const tier = createColdTier({ kernel: coldKernel, directory: "/cold", files, identity });
  tier.bound(filterBytes);
  tier.load();
  return tier;
}

export type ColdModel = Map<string, { lo: number; hi: number; value: number }>;

/** Hashes from a small pool, so that batches overlap; some share a high half. */
export function coldBatchFrom(random: Random, size: number, pool: number) {
  const batch: ColdModel = new Map();
  while (batch.size < size) {
    const at = random.below(pool);
    const lo = Math.imul(at, 0x9e3779b1) >>> 0;
    const hi = Math.imul(at >> 1, 0x85ebca6b) >>> 0; // pairs with equal high halves
    const value = random.below(8) === 0 ? COLD_REMOVED : storedValue(random);
    batch.set(`${hi}:${lo}`, { lo, hi, value });
  }
  return batch;
}

/** A finished value, and every third time a place that only this process uses. */
function storedValue(random: Random): number {
  const isPlace = random.below(3) === 0;
  return isPlace
    ? SPILL_VALUE + random.below(COLD_REMOVED - SPILL_VALUE)
    : 2 ** 31 + random.below(2 ** 31);
}

export function addToCold(tier: ColdTier, batch: ColdModel): void {
  const entries = [...batch.values()];
  const hashes = new Uint32Array(entries.flatMap(({ lo, hi }) => [lo, hi]));
  tier.add(hashes, new Uint32Array(entries.map(({ value }) => value)), entries.length);
}

export function findCold(tier: ColdTier, lo: number, hi: number): number {
  const values = new Uint32Array(1);
  tier.has(new Uint32Array([lo, hi]), 1, values);
  // Whether a removal is still stored depends on merges; both answers mean absent.
  return values[0] === COLD_REMOVED ? 0 : (values[0] as number);
}

/** Another process opens the files: places of the previous process are void. */
export function forgetPassing(model: ColdModel): ColdModel {
  return new Map(
    [...model].map(([key, entry]) =>
      isPassing(entry.value) ? [key, { ...entry, value: COLD_REMOVED }] : [key, entry],
    ),
  );
}

export function expectColdModel(tier: ColdTier, model: ColdModel, pool: number): void {
  const hashes = new Uint32Array(pool * 2);
  const values = new Uint32Array(pool);
  for (let at = 0; at < pool; at++) {
    hashes[at * 2] = Math.imul(at, 0x9e3779b1);
    hashes[at * 2 + 1] = Math.imul(at >> 1, 0x85ebca6b);
  }
  const sort = createHashSorter(pool);
  sortHashes(hashes, 0, pool, sort);
  const { order } = sort;
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

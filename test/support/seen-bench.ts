/** Seen-sets for tests: a region with rows for a batch, hashes by number, a cold tier in memory. */
import type { Kernel } from "../../src/kernel/kernel.ts";
import { TABLE_CLAIMED } from "../../src/layout/seen/table.ts";
import { regionTake } from "../../src/memory/region.ts";
import { createColdTier } from "../../src/persistence/cold/cold-tier.ts";
import type { Files } from "../../src/persistence/files.ts";
import {
  type SeenSet,
  type SeenSetOptions,
  createSeenSet,
  seenInsert,
  seenStep,
} from "../../src/structures/seen/seen-set.ts";
import { openTestKernel } from "./kernels.ts";

export const ROWS = 600;
export const FINISHED = 0x8000_0000;
export const SEEN_IDENTITY = { algorithm: 1, secretCheck: [7, 8] } as const;

export interface SeenBench {
  readonly kernel: Kernel;
  readonly hashes: number;
  readonly values: number;
  readonly slots: number;
}

export function openBench(): SeenBench {
  const kernel = openTestKernel();
  const hashes = regionTake(kernel.region, 1);
  return { kernel, hashes, values: hashes + ROWS * 8, slots: hashes + ROWS * 12 };
}

/** A tier of its own in `files`, in front of which the set has as little memory as there is. */
export function openTiered(
  bench: SeenBench,
  files: Files,
  options: Partial<SeenSetOptions> = {},
): SeenSet {
  const { kernel } = bench;
  const cold = createColdTier({ kernel, directory: "/seen", files, identity: SEEN_IDENTITY });
  // The hot table exceeds its share at once: every finished entry goes to the cold tier sooner or later.
  return createSeenSet({ kernel, mode: "tiered", memoryBytes: 60_000, cold, ...options });
}

export function hashOf(at: number): [lo: number, hi: number] {
  return [mixed(at * 2 + 1), mixed(at * 2 + 2)];
}

function mixed(word: number): number {
  let z = Math.imul(word ^ (word >>> 16), 0x21f0aaad);
  z = Math.imul(z ^ (z >>> 15), 0x735a2d97);
  return (z ^ (z >>> 15)) >>> 0;
}

/** Admits one hash as a finished record; returns true when it was new. */
export function insertFinished(bench: SeenBench, seen: SeenSet, at: number): boolean {
  const slot = seenInsert(seen, ...hashOf(at)) >>> 2;
  const { u32 } = bench.kernel.region.views;
  const isNew = u32[slot] === TABLE_CLAIMED;
  u32[slot] = FINISHED + at;
  return isNew;
}

/** Runs background work until it is finished. */
export function settle(seen: SeenSet): void {
  while (seenStep(seen, 5000) > 0);
}

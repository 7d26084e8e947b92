/** The state of the spill (spill-control.ts): the tier, its budget, and what the disk said last. */
import type { SeenSet } from "../../structures/seen/seen-set.ts";
import { createSpill, type Spill } from "../../structures/spill/lane-spill.ts";
import type { Store } from "../../structures/store.ts";
import type { SpillTier } from "../../structures/storage-tiers.ts";

/** Fewer records than these are not worth a block. */
const BLOCK_LEAST = 16;

export interface Spilling {
  readonly spill: Spill;
  readonly budgetBytes: number;
  readonly blockLeast: number;
  /** Nothing could go: looked at again above so many bytes. */
  quietBytes: number;
  /** The disk refused: asked again from then on. */
  retryAtMs: number;
  /** What it said, until somebody is told. */
  failure: { readonly error: unknown } | undefined;
  isRefused: boolean;
}

export interface SpillingOptions {
  readonly tier: SpillTier;
  readonly budgetBytes: number;
  /** Fewer records are not worth a block. Tests take fewer. */
  readonly blockLeast?: number | undefined;
}

export function createSpilling(store: Store, seen: SeenSet, options: SpillingOptions): Spilling {
  const { tier, budgetBytes, blockLeast = BLOCK_LEAST } = options;
  return {
    spill: createSpill(store, seen, tier),
    budgetBytes,
    blockLeast,
    ...{ quietBytes: 0, retryAtMs: Number.NEGATIVE_INFINITY, failure: undefined, isRefused: false },
  };
}

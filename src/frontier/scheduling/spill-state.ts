/** The state of the spill (spill-control.ts): the tier, its budget, and what the disk said last. */
import type { SeenSet } from "../../structures/seen/seen-set.ts";
import { createHostSpill, type HostSpill } from "../../structures/spill/host-blocks.ts";
import { createSpill, type Spill } from "../../structures/spill/lane-spill.ts";
import type { HostTable } from "../../structures/hosts/host-table.ts";
import type { Timeline } from "../../structures/ordering/timeline.ts";
import type { Store } from "../../structures/store.ts";
import type { SpillTier } from "../../structures/storage-tiers.ts";

/** Fewer records than these are not worth a block. */
const BLOCK_LEAST = 16;

export interface Spilling {
  readonly spill: Spill;
  /** Hosts on disk (spill-hosts.ts). */
  readonly away: HostSpill;
  readonly budgetBytes: number;
  readonly blockLeast: number;
  /** Nothing could go: looked at again above so many bytes. */
  quietBytes: number;
  /** The disk refused to write, or to read hosts that are due: asked again from then on. */
  retryAtMs: number;
  readAtMs: number;
  /** Its error, until it is reported. */
  failure: { readonly error: unknown } | undefined;
  isRefused: boolean;
}

export interface SpillingOptions {
  readonly tier: SpillTier;
  readonly budgetBytes: number;
  /** Fewer records are not worth a block. Tests take fewer. */
  readonly blockLeast?: number | undefined;
}

/** What is spilled: records, their identities, hosts and their clocks. */
export interface Spilled {
  readonly store: Store;
  readonly seen: SeenSet;
  readonly hosts: HostTable;
  readonly clocks: Timeline;
}

export function createSpilling(
  { store, seen, hosts, clocks }: Spilled,
  { tier, budgetBytes, blockLeast = BLOCK_LEAST }: SpillingOptions,
): Spilling {
  const spill = createSpill(store, seen, tier);
  const away = createHostSpill(spill, hosts, clocks);
  return {
    ...{ spill, away, budgetBytes, blockLeast, quietBytes: 0 },
    ...{ retryAtMs: Number.NEGATIVE_INFINITY, readAtMs: Number.NEGATIVE_INFINITY },
    ...{ failure: undefined, isRefused: false },
  };
}

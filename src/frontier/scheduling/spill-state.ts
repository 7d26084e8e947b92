/** The state of the spill (spill-control.ts): the tier, its budget, and what the disk said last. */
import { REGION_PAGE_BYTES } from "../../layout/memory/region.ts";
import { arenaPageBytes } from "../../memory/arena.ts";
import type { SeenSet } from "../../structures/seen/seen-set.ts";
import { createHostSpill, type HostSpill } from "../../structures/spill/host-blocks.ts";
import { createSpill, type Spill, spillUsedBytes } from "../../structures/spill/lane-spill.ts";
import type { HostTable } from "../../structures/hosts/host-table.ts";
import { type Timeline, timelineBytes } from "../../structures/ordering/timeline.ts";
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
  /** Looked at again above so many bytes: until then what is new finds room in the holes of what has gone, or nothing could go. */
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

/**
 * Bytes of memory that the budget is held against: the pages of records, hosts, queues and lanes with their holes, the clocks of hosts, and
 * their index. @hot
 */
export function heldBytes({ away, spill }: Spilling): number {
  const index = away.hosts.index.pageCount * REGION_PAGE_BYTES;
  return arenaPageBytes(spill.store.arena) + timelineBytes(away.clocks) + index;
}

/** Whether records and hosts take more than the half of the budget that they keep, whatever holes and the index take. */
export function hasMuchToSpill({ away, spill, budgetBytes }: Spilling): boolean {
  return spillUsedBytes(spill) + timelineBytes(away.clocks) > budgetBytes / 2;
}

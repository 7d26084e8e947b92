/** The state of the spill (spill-control.ts): the tier, its budget, and the last result of the disk. */
import { type SeenSet, seenExcessBytes } from "../../structures/seen/seen-set.ts";
import { createHostSpill, type HostSpill } from "../../structures/spill/host-blocks.ts";
import {
  createSpill,
  type Spill,
  spillPageBytes,
  spillUsedBytes,
} from "../../structures/spill/lane-spill.ts";
import { hostIndexBytes, type HostTable } from "../../structures/hosts/host-table.ts";
import { type Timeline, timelineBytes } from "../../structures/ordering/timeline.ts";
import type { Store } from "../../structures/store.ts";
import type { SpillTier } from "../../structures/storage-tiers.ts";

/** Fewer records than these are not worth a block. */
const BLOCK_LEAST = 16;

export interface Spilling {
  readonly spill: Spill;
  /** Hosts on disk (spill-hosts.ts). */
  readonly away: HostSpill;
  readonly seen: SeenSet;
  readonly budgetBytes: number;
  readonly blockLeast: number;
  /** Looked at again above so many bytes: until then what is new finds room in the holes of what has gone, or nothing could go. */
  quietBytes: number;
  /** Records that are to go before memory is at rest again; 0: no round is under way. */
  owed: number;
  /** Records added to hosts on disk that went there since hosts did. */
  addedInTurn: number;
  /** Records that the call under way may send to disk. */
  share: number;
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
    ...{
      spill,
      away,
      seen,
      budgetBytes,
      blockLeast,
      quietBytes: 0,
      owed: 0,
      share: 0,
      addedInTurn: 0,
    },
    ...{ retryAtMs: Number.NEGATIVE_INFINITY, readAtMs: Number.NEGATIVE_INFINITY },
    ...{ failure: undefined, isRefused: false },
  };
}

/**
 * Bytes of memory that the budget is held against: the pages of records, hosts, queues and lanes with their holes, the clocks of hosts, and
 * tables: the index of hosts, and what the seen-set takes beyond its own bound for records in memory. Tables count for up to half of the budget. @hot
 */
export function heldBytes(spilling: Spilling): number {
  const { away, spill } = spilling;
  return spillPageBytes(spill) + timelineBytes(away.clocks) + tableBytes(spilling);
}

/** Whether records and hosts fill more than half of what tables leave to them: the rest is holes. */
export function hasMuchToSpill(spilling: Spilling): boolean {
  const { away, spill } = spilling;
  return spillUsedBytes(spill) + timelineBytes(away.clocks) > roomBytes(spilling) / 2;
}

/** What of the budget tables leave. */
export function roomBytes(spilling: Spilling): number {
  return spilling.budgetBytes - tableBytes(spilling);
}

function tableBytes({ away, budgetBytes, seen }: Spilling): number {
  return Math.min(hostIndexBytes(away.hosts) + seenExcessBytes(seen), budgetBytes / 2);
}

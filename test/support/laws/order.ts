/** Laws of order: which hosts may go, and which record goes before which. */
import type { SyncPolicy } from "../frontier-surface.ts";
import { isClockKept, type ModelHost, type ModelRecord } from "../model-state.ts";

export const ORDER_LAWS = {
  /** A host may have so many leases at a time. */
  isHostFull: (leased: number, limit: number): boolean => leased >= limit,

  /** A host may go as soon as its delay has passed. */
  hasDelayPassed: (readyAt: number, now: number): boolean => now >= readyAt,

  /** A rule without politeness waits for no host, except for one that was set by hand, blocked or held. */
  waitsForHost: (host: ModelHost, policy: SyncPolicy): boolean => isClockKept(host, policy),

  /** The best priority is that of the records that may go, not of all pending ones. */
  competitors: (mayGo: ModelRecord[], _pending: ModelRecord[]): ModelRecord[] => mayGo,

  /** The host leased least recently goes first. New hosts go before all others, in the order of joining. */
  compareTurns(a: ModelHost, b: ModelHost): number {
    if (a.turn === undefined && b.turn === undefined) return (a.joined ?? 0) - (b.joined ?? 0);
    return (a.turn ?? Number.NEGATIVE_INFINITY) - (b.turn ?? Number.NEGATIVE_INFINITY);
  },

  /** Start requests go after all others where the rule asks for that. */
  compareStarts: ({ startLast }: SyncPolicy, a: ModelRecord, b: ModelRecord): number =>
    startLast ? Number(a.start) - Number(b.start) : 0,

  /** The newest record goes first where the rule asks for that, else the oldest. */
  isNewestFirst: ({ order }: SyncPolicy): boolean => order === "lifo",
};

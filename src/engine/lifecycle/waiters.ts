/** The waiters of a lifecycle: for leases, or for room. */
import type { Core, SteppedMs } from "../../frontier/core.ts";
import type { Lease } from "../types/frontier-types.ts";

/** What hands out leases. */
export interface LeaseSource {
  take(core: Core, max: number, nowMs: SteppedMs): Lease[];
  takeOne(core: Core, nowMs: SteppedMs, leaseMs: number): Lease | undefined;
}

export interface Waiter {
  readonly max: number;
  readonly resolve: (leases: Lease[]) => void;
  readonly reject: (cause: unknown) => void;
  /** Takes its time-out and signal away. */
  readonly release: () => void;
}

/** A caller with more to push than there is room for. */
export interface Room {
  readonly resolve: () => void;
  /** Whether trying again makes sense. */
  readonly isMet: (core: Core) => boolean;
}

/** What a waiter asked for. */
export interface Asked extends Pick<Waiter, "max" | "resolve" | "reject"> {
  readonly timeoutMs: number | undefined;
  readonly signal: AbortSignal | undefined;
}

/** Records that have gone, which frees memory. */
export function freedOf({ counters }: Core): number {
  return counters.done + counters.removed + counters.forgotten;
}

/**
 * What rooms read of an open frontier at each request, where a report would cost microseconds: what is left to do, and what a lease
 * carries.
 */
import { step } from "../../frontier/leases/leases.ts";
import { hasDue as isDueIn } from "../../frontier/scheduling/due.ts";
import type { AsyncFrontier } from "../types/async-frontier.ts";
import { RecordLease } from "../leases/record-lease.ts";
import type { Frontier, Lease } from "../types/frontier-types.ts";
import { lifecycleOf } from "./lifecycles.ts";

/**
 * Records that are pending, waiting or leased, as the last call left them: deadlines that have passed since are not acted on. undefined: the
 * frontier is elsewhere. O(1)
 */
export function liveCount(frontier: Frontier | AsyncFrontier): number | undefined {
  const counters = lifecycleOf(frontier)?.coreAsLeft.counters;
  return counters && counters.pending + counters.waiting + counters.leased;
}

/** Whether `poll` would return a lease now; undefined: the frontier is elsewhere. Mostly O(1) */
export function hasDue(frontier: Frontier | AsyncFrontier): boolean | undefined {
  const lifecycle = lifecycleOf(frontier);
  if (lifecycle === undefined) return undefined;
  const { core, nowMs } = lifecycle.need();
  const steppedMs = step(core, nowMs);
  const isDue = lifecycle.status === "running" && isDueIn(core, steppedMs);
  lifecycle.end(nowMs);
  return isDue;
}

/** The next lease, for `leaseMs` or the frontier's own time, whichever is longer; null: the frontier is elsewhere. */
export function pollFor(
  frontier: Frontier | AsyncFrontier,
  leaseMs: number,
): Lease | undefined | null {
  const lifecycle = lifecycleOf(frontier);
  if (lifecycle === undefined) return null;
  return lifecycle.pollOne(Math.max(leaseMs, lifecycle.settings.leaseMs));
}

/** The key that its request named; undefined: none, or it is a lease of elsewhere. */
export function leaseKey(lease: object): string | undefined {
  return lease instanceof RecordLease ? lease.extras.k : undefined;
}

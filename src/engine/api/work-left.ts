/** What is left to do in an open frontier of this thread, for rooms that ask before and after each request. A report costs microseconds. */
import { step } from "../../frontier/leases/leases.ts";
import { hasDue as isDueIn } from "../../frontier/scheduling/due.ts";
import type { AsyncFrontier } from "../types/async-frontier.ts";
import type { Frontier } from "../types/frontier-types.ts";
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

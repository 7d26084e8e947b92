/**
 * Lease times: how long leases were out when their result came, and how long their fetches took. In memory alone, as the reasons are:
 * a process begins at 0, and so does a clear.
 *
 *   hand-out ──── leaseMs ────▶ deadline ── extend ──▶ deadline         the hand-out is counted back: deadline − givenMs
 *       └── time ──▶ done, retry, fail                                  release and expiry count nothing: no result came
 */
import {
  createLatencyHistogram,
  type LatencyHistogram,
  recordLatency,
} from "../../base/time/latency-histogram.ts";
import { type Timeline, timelineKeyOf } from "../../structures/ordering/timeline.ts";
import type { HandOut } from "../scheduling/hand-out.ts";

export interface LeaseTimes {
  readonly leases: LatencyHistogram;
  readonly fetches: LatencyHistogram;
}

/** What of a core is asked. */
interface Timed {
  readonly deadlines: Timeline;
  readonly leaseTimes: LeaseTimes;
}

export function createLeaseTimes(): LeaseTimes {
  return { leases: createLatencyHistogram(), fetches: createLatencyHistogram() };
}

/** Counts a lease whose result has come; it still has its deadline. @hot */
export function countLeaseTime(core: Timed, lease: HandOut, nowMs: number): void {
  const leasedAt = timelineKeyOf(core.deadlines, lease.record) - lease.givenMs;
  recordLatency(core.leaseTimes.leases, nowMs - leasedAt);
}

/**
 * Lease times: how long leases were out when their result came, and how long their fetches took. In memory alone, as the reasons are:
 * a process begins at 0, and so does a clear.
 *
 *   hand-out ──── leaseMs ────▶ deadline ── extend ──▶ deadline         a lease has no word for its hand-out: it is counted back
 *       └── time ──▶ done, retry, fail                                  release and expiry count nothing: no result came
 */
import {
  createLatencyHistogram,
  type LatencyHistogram,
  recordLatency,
} from "../../base/time/latency-histogram.ts";
import { type Timeline, timelineKeyOf, timelineTieOf } from "../../structures/ordering/timeline.ts";

export interface LeaseTimes {
  readonly leases: LatencyHistogram;
  readonly fetches: LatencyHistogram;
  /** What `extend` added to deadlines, by the sequence of the lease. */
  readonly extensions: Map<number, number>;
}

/** What of a core is asked. */
interface Timed {
  readonly deadlines: Timeline;
  readonly leaseTimes: LeaseTimes;
  readonly limits: { readonly leaseMs: number };
}

export function createLeaseTimes(): LeaseTimes {
  return {
    leases: createLatencyHistogram(),
    fetches: createLatencyHistogram(),
    extensions: new Map(),
  };
}

/** Counts a lease whose result has come; it still has its deadline. @hot */
export function countLeaseTime(core: Timed, record: number, nowMs: number): void {
  const { deadlines, leaseTimes, limits } = core;
  const addedMs = leaseTimes.extensions.size === 0 ? 0 : dropExtension(core, record);
  const leasedAt = timelineKeyOf(deadlines, record) - limits.leaseMs - addedMs;
  recordLatency(leaseTimes.leases, nowMs - leasedAt);
}

export function addExtension({ leaseTimes }: Timed, sequence: number, ms: number): void {
  const { extensions } = leaseTimes;
  extensions.set(sequence, (extensions.get(sequence) ?? 0) + ms);
}

/** A lease ends; what its deadline was moved by. */
export function dropExtension({ deadlines, leaseTimes }: Timed, record: number): number {
  const { extensions } = leaseTimes;
  if (extensions.size === 0) return 0;
  const sequence = timelineTieOf(deadlines, record);
  const addedMs = extensions.get(sequence) ?? 0;
  extensions.delete(sequence);
  return addedMs;
}

/** Small helpers for tests that state one sentence about the naive model. */
import { createVirtualClock } from "../../src/base/clock.ts";
import type { SyncFrontier, SyncLease, SyncOptions } from "./frontier-surface.ts";
import { createModelFrontier } from "./model-frontier.ts";

export const A1 = "http://a.test/1";
export const A2 = "http://a.test/2";
export const B1 = "http://b.test/1";
export const C1 = "http://c.test/1";

export function openModel(options: Omit<SyncOptions, "clock"> = {}): {
  frontier: SyncFrontier;
  clock: ReturnType<typeof createVirtualClock>;
} {
  const clock = createVirtualClock(1_000);
  return { frontier: createModelFrontier({ clock, ...options }), clock };
}

export function take(frontier: SyncFrontier): SyncLease {
  const lease = frontier.poll();
  if (lease === undefined) throw new Error("nothing to poll");
  return lease;
}

export function urls(leases: Iterable<{ url: string }>): string[] {
  return [...leases].map((lease) => lease.url);
}

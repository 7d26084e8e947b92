/**
 * Eviction: hosts on which nothing lives are remembered for a while, then forgotten, so that a crawl over millions of
 * hosts keeps only those it works on. A host whose clock runs, or that was set by hand, stays.
 */
import { hostEvictable, hostForget } from "../structures/host-table.ts";
import type { Core } from "./core.ts";
import { leaveGroups } from "./groups.ts";
import { hostClock } from "./host-clock.ts";

/** Hosts looked at after each batch: a batch of 256 rows joins fewer new hosts than this, or catches up later. */
const EVICTIONS_PER_BATCH = 256;

export function evictHosts(core: Core, nowMs: number): void {
  if (core.sweep?.isDone === false) return; // it stands on a queue of one of them
  const isFree = (host: number): boolean => hostClock(core, host) <= nowMs;
  for (let looked = 0; looked < EVICTIONS_PER_BATCH; looked++) {
    const host = hostEvictable(core.hosts, isFree);
    if (host === 0) return;
    core.log?.hostForgotten(host);
    leaveGroups(core, host, nowMs);
    hostForget(core.hosts, host);
  }
}

/**
 * Host eviction: hosts on which nothing lives are remembered for a while, then forgotten, so that a crawl over millions of
 * hosts keeps only those it works on. A host whose clock runs, or that was set by hand, stays.
 */
import { hostEvictable, hostForget } from "../../structures/hosts/host-table.ts";
import type { Core } from "../core.ts";
import { leaveGroups } from "./host-groups.ts";
import { hostHold } from "./host-clock.ts";
import { hasRoom } from "../records/memory-reserve.ts";

/** Hosts looked at after each batch: a batch of 256 rows joins fewer new hosts than this, or catches up later. */
const EVICTIONS_PER_BATCH = 256;
/** And for each lease that is handed out or ends: what is drained sheds its hosts as it goes, and what was idle before catches up. */
const EVICTIONS_PER_LEASE = 2;

/** Checks the hosts that have been idle longest, after a batch of requests. */
export function evictHosts(core: Core, nowMs: number): void {
  if (isCrowded(core)) evict(core, nowMs, EVICTIONS_PER_BATCH);
}

/** The same after so many leases went out, or ended; a call without any checks one host all the same. @hot */
export function evictAfter(core: Core, leases: number, nowMs: number): void {
  if (isCrowded(core)) evict(core, nowMs, (leases + 1) * EVICTIONS_PER_LEASE);
}

function isCrowded({ hosts }: Core): boolean {
  return hosts.idleCount > hosts.idleCountMax;
}

function evict(core: Core, nowMs: number, most: number): void {
  if (core.sweep?.isDone === false) return; // it stands on a queue of one of them
  const isFree = (host: number): boolean => hostHold(core, host) <= nowMs;
  // Those that stay go to the end of the list: only a few of them per check, which would otherwise do nothing else.
  let stays = 1 + (most >> 4);
  for (let looked = 0; looked < most && isCrowded(core); looked++) {
    const host = hostEvictable(core.hosts, isFree);
    if (host === 0 && --stays === 0) return;
    if (host === 0) continue;
    if (!hasRoom(core)) return;
    core.log?.hostForgotten(host);
    leaveGroups(core, host, nowMs);
    hostForget(core.hosts, host);
  }
}

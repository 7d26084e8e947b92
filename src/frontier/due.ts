/** Due: when something can go next. */
import { heapPeekKey } from "../structures/heap.ts";
import { timelinePeekKey } from "../structures/timeline.ts";
import type { Core } from "./core.ts";
import { hasStanding } from "./schedule.ts";

/** Whether a poll at `nowMs` could give a lease; the core must have been brought to `nowMs`. */
export function isReady(core: Core, nowMs: number): boolean {
  if (core.counters.leased >= core.limits.maxLeases) return false;
  if (hasStanding(core)) return true;
  return clockDueAt(core) <= nowMs;
}

/**
 * The earliest time at which a poll may give a lease: now, or the first clock to pass (a record's own time, a
 * host's clock, a lease's deadline). No poll before it gives one. undefined: nothing waits for a clock.
 */
export function nextDueAt(core: Core, nowMs: number): number | undefined {
  if (isReady(core, nowMs)) return nowMs;
  const atMs = core.counters.leased >= core.limits.maxLeases ? deadlineAt(core) : clockDueAt(core);
  return atMs === Number.POSITIVE_INFINITY ? undefined : Math.max(atMs, nowMs);
}

function clockDueAt(core: Core): number {
  const recordAt = Math.min(heapPeekKey(core.waiting), heapPeekKey(core.resting));
  const hostAt = Math.min(timelinePeekKey(core.clocks), heapPeekKey(core.groupClocks));
  return Math.min(recordAt, hostAt, deadlineAt(core));
}

/** The first deadline of a lease that is out. */
export function deadlineAt(core: Core): number {
  return timelinePeekKey(core.deadlines);
}

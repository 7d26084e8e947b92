/** Laws of groups: their limits, their clocks, and the address that makes a host a member. */
import type { GroupHold } from "../model-groups.ts";

export const GROUP_LAWS = {
  /** A group may have so many leases at a time. */
  isGroupFull: (leased: number, limit: number): boolean => leased >= limit,

  /** A group may go as soon as its delay has passed. */
  hasGroupDelayPassed: (readyAt: number, now: number): boolean => now >= readyAt,

  /** A hand-out starts the delay of a group. */
  groupReadyAfterHandOut: (readyAt: number, now: number, delayMs: number): number =>
    Math.max(readyAt, now + delayMs),

  /** The end of a visit starts the delay of a group again. */
  groupReadyAfterVisit: (readyAt: number, endMs: number, delayMs: number): number =>
    Math.max(readyAt, endMs + delayMs),

  /** An expired visit ended at its deadline, whenever that is noticed. */
  endForGroups: (endMs: number, _now: number): number => endMs,

  /** A release undoes only what its own hand-out did to the clock. */
  isClockAsSet: (readyAt: number, hold: GroupHold): boolean => readyAt === hold.readySet,

  /** A release leaves the clock as it was before the hand-out. */
  groupReadyAfterRelease: (hold: GroupHold): number => hold.readyBefore,

  /** An empty address is none: its hosts share no group. */
  knownAddress: (address: string): string | undefined => (address === "" ? undefined : address),

  /** A clock that still runs outlives a clear. */
  groupOutlivesClear: (readyAt: number, now: number): boolean => readyAt > now,
};

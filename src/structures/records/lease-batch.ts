/**
 * Hand-outs and ends of many records at once, done by the kernel (assembly/records/lease-records.ts) as far as they are plain ones.
 *
 *   timelineReserve ─▶ leaseRecords, leaseShared ─▶ handles in the scratch, ties from `sequence` + 1 on
 *   handles in the scratch ─▶ touchRecords ─▶ endRecords ─▶ memory, last references of hosts and parents given back here
 *
 *   I1  An entry of the timeline is written for each record handed out, and for no other.
 */
import {
  LEASE_BOUND_WORD,
  LEASE_DEADLINE_WORD,
  LEASE_HANDLES_WORD,
  LEASE_IDLES_WORD,
  LEASE_IDLE_WORD,
  LEASE_KEYS_WORD,
  LEASE_ORPHANED_WORD,
  LEASE_ORPHANS_WORD,
  LEASE_PLACE_WORD,
  LEASE_RULES_WORD,
  LEASE_RULE_WORD,
  LEASE_SEQUENCE_WORD,
  LEASE_SIZES_WORD,
  LEASE_SLOTS_WORD,
  LEASE_TABLE_WORD,
} from "../../layout/calls/lease-records.ts";
import { arenaGive } from "../../memory/arena.ts";
import { type HostTable, hostRelease } from "../hosts/host-table.ts";
import { parentRelease } from "./record.ts";
import type { Scratch } from "./kernel-scratch.ts";
import {
  type Timeline,
  timelineExtend,
  timelineKeys,
  timelinePlace,
  timelineReserve,
  timelineSlots,
} from "../ordering/timeline.ts";

/** Says for the next leaseBatch that records of this key or behind it, in their lane's order, stay. @hot */
export function leaseBound({ lease, store }: Scratch, bound: number): void {
  store.region.views.f64[((lease >> 2) + LEASE_BOUND_WORD) >> 1] = bound;
}

/**
 * Hands out at most `max` records of a rule queue until `deadlineMs`: how many; their handles stand in the scratch. The first
 * takes the sequence behind `sequence`; leaseBound comes before. May remake the views. @hot
 */
export function leaseBatch(
  scratch: Scratch,
  deadlines: Timeline,
  rule: number,
  max: number,
  deadlineMs: number,
  sequence: number,
): number {
  const room = timelineReserve(deadlines, deadlineMs, sequence + 1, max);
  if (room === 0) return 0;
  const { kernel, region } = scratch.store;
  region.views.u32[(scratch.lease >> 2) + LEASE_RULE_WORD] = rule;
  noteJob(scratch, deadlines, deadlineMs, sequence);
  const made = kernel.exports.leaseRecords(scratch.lease, room);
  timelineExtend(deadlines, made);
  return made;
}

/** How many of `max` hand-outs one call may make: leases until `deadlineMs` behind `sequence`. May remake the views. @hot */
export function leaseRoom(
  deadlines: Timeline,
  deadlineMs: number,
  sequence: number,
  max: number,
): number {
  return timelineReserve(deadlines, deadlineMs, sequence + 1, max);
}

/** Hands out one record for each of the rule queues, no more than leaseRoom said; how many it could. @hot */
export function leaseTurns(
  scratch: Scratch,
  deadlines: Timeline,
  turns: Uint32Array,
  deadlineMs: number,
  sequence: number,
): number {
  const { kernel, region } = scratch.store;
  region.views.u32.set(turns, scratch.turns >> 2);
  region.views.u32[(scratch.lease >> 2) + LEASE_RULES_WORD] = scratch.turns;
  noteJob(scratch, deadlines, deadlineMs, sequence);
  const made = kernel.exports.leaseShared(scratch.lease, turns.length);
  timelineExtend(deadlines, made);
  return made;
}

/** Fills in what every hand-out needs. @hot */
function noteJob(
  scratch: Scratch,
  deadlines: Timeline,
  deadlineMs: number,
  sequence: number,
): void {
  const { u32, f64 } = scratch.store.region.views;
  const job = scratch.lease >> 2;
  u32[job + LEASE_HANDLES_WORD] = scratch.handles;
  u32[job + LEASE_KEYS_WORD] = timelineKeys(deadlines);
  u32[job + LEASE_SLOTS_WORD] = timelineSlots(deadlines);
  u32[job + LEASE_PLACE_WORD] = timelinePlace(deadlines);
  f64[(job + LEASE_DEADLINE_WORD) >> 1] = deadlineMs;
  f64[(job + LEASE_SEQUENCE_WORD) >> 1] = sequence;
}

/** The record that the last leaseBatch handed out at `index`. @hot */
export function leasedAt(scratch: Scratch, index: number): number {
  return scratch.store.region.views.u32[(scratch.handles >> 2) + index] as number;
}

/**
 * Ends the first `count` leases whose records stand in the scratch, plain ones that are out of the timeline; their identities
 * stand in the table at `table`. @hot
 */
export function endBatch(scratch: Scratch, hosts: HostTable, table: number, count: number): void {
  const { arena, kernel, region } = scratch.store;
  const { u32 } = region.views;
  const job = scratch.lease >> 2;
  u32[job + LEASE_HANDLES_WORD] = scratch.handles;
  u32[job + LEASE_TABLE_WORD] = table;
  u32[job + LEASE_SIZES_WORD] = scratch.sizes;
  u32[job + LEASE_IDLE_WORD] = scratch.idles;
  u32[job + LEASE_ORPHANS_WORD] = scratch.orphans;
  kernel.exports.endRecords(scratch.lease, count);
  const handles = scratch.handles >> 2;
  const sizes = scratch.sizes >> 2;
  for (let index = 0; index < count; index++) {
    arenaGive(arena, u32[handles + index] as number, u32[sizes + index] as number);
  }
  const idles = u32[job + LEASE_IDLES_WORD] as number;
  for (let index = 0; index < idles; index++) {
    hostRelease(hosts, u32[(scratch.idles >> 2) + index] as number);
  }
  const orphaned = u32[job + LEASE_ORPHANED_WORD] as number;
  for (let index = 0; index < orphaned; index++) {
    parentRelease(scratch.store, u32[(scratch.orphans >> 2) + index] as number);
  }
}

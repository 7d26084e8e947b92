/**
 * Hand-outs and ends of many records at once, done by the kernel (assembly/records/lease-records.ts) as far as they are plain ones.
 *
 *   leaseRoom: room at the timeline's end ─▶ leaseBatch, leaseTurns ─▶ leasedAt, ties from `sequence` + 1 on
 *   noteEnd ─▶ endBatch ─▶ memory, last references of hosts and parents given back here
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
import { LANE_BYTES } from "../../layout/ordering/lane.ts";
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

declare const ROOM: unique symbol;
/** How many hand-outs the next call into the kernel may make: their deadline and first sequence are set. */
export type LeaseRoom = number & { readonly [ROOM]: true };

/**
 * Room for at most `max` hand-outs until `deadlineMs`, the first of which takes the sequence behind `sequence`; 0: there is none. May
 * remake the views. @hot
 */
export function leaseRoom(
  scratch: Scratch,
  deadlines: Timeline,
  deadlineMs: number,
  sequence: number,
  max: number,
): LeaseRoom {
  const room = timelineReserve(deadlines, deadlineMs, sequence + 1, max) as LeaseRoom;
  if (room === 0) return room;
  const { u32, f64 } = scratch.store.region.views;
  const job = scratch.lease >> 2;
  u32[job + LEASE_HANDLES_WORD] = scratch.leased;
  u32[job + LEASE_KEYS_WORD] = timelineKeys(deadlines);
  u32[job + LEASE_SLOTS_WORD] = timelineSlots(deadlines);
  u32[job + LEASE_PLACE_WORD] = timelinePlace(deadlines);
  f64[(job + LEASE_DEADLINE_WORD) >> 1] = deadlineMs;
  f64[(job + LEASE_SEQUENCE_WORD) >> 1] = sequence;
  return room;
}

/**
 * Leases the next records of a rule queue, as many as there is room for. It stops before a record whose key is at or behind `bound` in
 * the order of its lane. Returns how many; their handles are at `leasedAt`. @hot
 */
export function leaseBatch(
  scratch: Scratch,
  deadlines: Timeline,
  room: LeaseRoom,
  rule: number,
  bound: number,
): number {
  const { kernel, region } = scratch.store;
  const { f64, u32 } = region.views;
  const job = scratch.lease >> 2;
  u32[job + LEASE_RULE_WORD] = rule;
  f64[(job + LEASE_BOUND_WORD) >> 1] = bound;
  const made = kernel.exports.leaseRecords(scratch.lease, room);
  timelineExtend(deadlines, made);
  return made;
}

/** Leases one record of each rule queue, while it has one and there is room. Returns how many; their handles are at `leasedAt`. @hot */
export function leaseTurns(
  scratch: Scratch,
  deadlines: Timeline,
  room: LeaseRoom,
  turns: Uint32Array,
): number {
  const { arena, kernel, region } = scratch.store;
  const { u32 } = region.views;
  const job = scratch.lease >> 2;
  u32.set(turns, scratch.turns >> 2);
  u32[job + LEASE_RULES_WORD] = scratch.turns;
  u32[job + LEASE_IDLE_WORD] = scratch.idles;
  const made = kernel.exports.leaseShared(scratch.lease, Math.min(room, turns.length));
  timelineExtend(deadlines, made);
  const closed = lanesClosed(scratch);
  for (let index = 0; index < closed; index++) {
    arenaGive(arena, u32[(scratch.idles >> 2) + index] as number, LANE_BYTES);
  }
  return made;
}

/** How many rules have nothing standing since the last leaseTurns. @hot */
export function lanesClosed({ lease, store }: Scratch): number {
  return store.region.views.u32[(lease >> 2) + LEASE_IDLES_WORD] as number;
}

/** The record that the last leaseBatch or leaseTurns handed out at `index`. @hot */
export function leasedAt({ leased, store }: Scratch, index: number): number {
  return store.region.views.u32[(leased >> 2) + index] as number;
}

/** Notes the record of a lease that ends, number `index` of those for endBatch. @hot */
export function noteEnd({ ended, store }: Scratch, index: number, record: number): void {
  store.region.views.u32[(ended >> 2) + index] = record;
}

/** The record that was noted as number `index`. @hot */
export function endAt({ ended, store }: Scratch, index: number): number {
  return store.region.views.u32[(ended >> 2) + index] as number;
}

/**
 * Ends the first `count` leases that were noted, plain ones that are out of the timeline; their identities stand in the table at
 * `table`. @hot
 */
export function endBatch(scratch: Scratch, hosts: HostTable, table: number, count: number): void {
  const { arena, kernel, region } = scratch.store;
  const { u32 } = region.views;
  const job = scratch.lease >> 2;
  u32[job + LEASE_HANDLES_WORD] = scratch.ended;
  u32[job + LEASE_TABLE_WORD] = table;
  u32[job + LEASE_SIZES_WORD] = scratch.endSizes;
  u32[job + LEASE_IDLE_WORD] = scratch.idles;
  u32[job + LEASE_ORPHANS_WORD] = scratch.orphans;
  kernel.exports.endRecords(scratch.lease, count);
  const handles = scratch.ended >> 2;
  const sizes = scratch.endSizes >> 2;
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

/**
 * Hand-outs of many lone records at once, each with the host that it needs from then on (assembly/records/lease-lones.ts).
 *
 *   leaseRoom (lease-batch.ts) ─▶ listLones ─▶ leaseLones ─▶ leasedAt, ties from `sequence` + 1 on; the turns that the hosts had
 *
 *   I1  Where memory is short nothing is handed out, and nothing is taken.
 */
import {
  LEASE_BOUND_WORD,
  LEASE_BUSY_FIRST_WORD,
  LEASE_HANDLES_WORD,
  LEASE_HOSTS_WORD,
  LEASE_INDEX_WORD,
  LEASE_LONE_FLAGS_WORD,
  LEASE_NAMES_WORD,
  LEASE_NAME_SIZES_WORD,
  LEASE_QUEUES_WORD,
  LEASE_READY_AT_WORD,
  LEASE_RULE_WORD,
} from "../../layout/calls/lease-records.ts";
import type { HostTable } from "../hosts/host-table.ts";
import { type Timeline, timelineExtend } from "../ordering/timeline.ts";
import { takeObjects } from "./host-batch.ts";
import type { Scratch } from "./kernel-scratch.ts";
import { leasedAt, type LeaseRoom } from "./lease-batch.ts";
import { recordKey } from "./record.ts";

declare const LISTED: unique symbol;
/** How many lone records are listed. */
export type Listed = number & { readonly [LISTED]: true };

/** Lone records handed out in one call: more would push one another's hosts out of the nearest cache. */
export const LONES_MAX = 64;

/** Lists the lone records of a rule queue that go next, as many as there is room for; it stops before one whose key is at or behind `bound`. @hot */
export function listLones(
  scratch: Scratch,
  hosts: HostTable,
  room: LeaseRoom,
  { rule, bound }: { rule: number; bound: number },
): Listed {
  const { kernel, region } = scratch.store;
  const { f64, u32 } = region.views;
  const job = scratch.lease >> 2;
  u32[job + LEASE_RULE_WORD] = rule;
  f64[(job + LEASE_BOUND_WORD) >> 1] = bound;
  u32[job + LEASE_HANDLES_WORD] = scratch.leased;
  u32[job + LEASE_INDEX_WORD] = hosts.index.offset;
  u32[job + LEASE_NAME_SIZES_WORD] = scratch.nameSizes;
  u32[job + LEASE_NAMES_WORD] = scratch.names;
  u32[job + LEASE_HOSTS_WORD] = scratch.newHosts;
  u32[job + LEASE_QUEUES_WORD] = scratch.newQueues;
  return kernel.exports.listLones(scratch.lease, Math.min(room, LONES_MAX)) as Listed;
}

/** Hands out what was listed, and makes the hosts, which go again at `readyAt`; writes the turns that they had. False: memory is short. @hot */
export function leaseLones(
  scratch: Scratch,
  { hosts, deadlines }: { hosts: HostTable; deadlines: Timeline },
  listed: Listed,
  { readyAt, turns }: { readyAt: number; turns: Float64Array },
): boolean {
  if (!takeObjects(scratch, listed)) return false;
  const { store } = scratch;
  for (let index = 0; index < listed; index++) {
    turns[index] = recordKey(store, leasedAt(scratch, index));
  }
  const { f64, u32 } = store.region.views;
  const job = scratch.lease >> 2;
  f64[(job + LEASE_READY_AT_WORD) >> 1] = readyAt;
  u32[job + LEASE_LONE_FLAGS_WORD] = hosts.loneFlags;
  u32[job + LEASE_BUSY_FIRST_WORD] = hosts.busyFirst;
  store.kernel.exports.leaseLones(scratch.lease, listed);
  hosts.busyFirst = u32[job + LEASE_BUSY_FIRST_WORD] as number;
  hosts.lone -= listed;
  timelineExtend(deadlines, listed);
  return true;
}

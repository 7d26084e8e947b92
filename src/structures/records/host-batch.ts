/**
 * Hosts that a batch meets for the first time, made by the kernel in the crossing that makes the batch's records
 * (assembly/records/make-hosts.ts), and the lists of hosts that it keeps meanwhile.
 *
 *   survey: hosts claimed in the index ─▶ takeHosts ─▶ hostsLend ─▶ makeBatch ─▶ hostsReturn
 *                                                      the heads of idle and busy list are the kernel's in between
 *
 *   I1  Where memory is short no host is made: the rows' records are left to the caller, who makes the hosts one by one.
 */
import { HOST_SIZE_BYTES, QUEUE_SIZE_BYTES } from "../../layout/records/host.ts";
import {
  MAKE_BUSY_FIRST_WORD,
  MAKE_FRESH_WORD,
  MAKE_IDLE_COUNT_WORD,
  MAKE_IDLE_FIRST_WORD,
  MAKE_IDLE_LAST_WORD,
  MAKE_TURN_WORD,
} from "../../layout/calls/make-records.ts";
import { type Arena, arenaGive, arenaTake, arenaTakeEach } from "../../memory/arena.ts";
import { type HostTable, TURN_NEVER } from "../hosts/host-table.ts";
import type { Scratch } from "./kernel-scratch.ts";

/** Takes the memory of the hosts that the survey has listed, and counts them as joined: the next makeBatch makes them. @hot */
export function takeHosts(table: HostTable, scratch: Scratch): void {
  const { arena, region } = scratch.store;
  const job = scratch.make >> 2;
  const count = region.views.u32[job + MAKE_FRESH_WORD] as number;
  const names = scratch.names >> 2;
  arenaTakeEach(arena, scratch.nameSizes >> 2, names, count);
  let isShort = false;
  for (let index = 0; index < count; index++) {
    const host = arenaTake(arena, HOST_SIZE_BYTES);
    const queue = arenaTake(arena, QUEUE_SIZE_BYTES);
    region.views.u32[(scratch.newHosts >> 2) + index] = host;
    region.views.u32[(scratch.newQueues >> 2) + index] = queue;
    isShort ||= host === 0 || queue === 0 || region.views.u32[names + index] === 0;
  }
  if (isShort) {
    giveBack(scratch, count);
    region.views.u32[job + MAKE_FRESH_WORD] = 0;
    return;
  }
  region.views.f64[(job + MAKE_TURN_WORD) >> 1] = TURN_NEVER + table.joined;
  table.joined += count;
  table.count += count;
}

/** Lets the kernel keep the lists of hosts until `hostsReturn`. @hot */
export function hostsLend(table: HostTable, scratch: Scratch): void {
  const { u32 } = scratch.store.region.views;
  const job = scratch.make >> 2;
  u32[job + MAKE_IDLE_FIRST_WORD] = table.idleFirst;
  u32[job + MAKE_IDLE_LAST_WORD] = table.idleLast;
  u32[job + MAKE_IDLE_COUNT_WORD] = table.idleCount;
  u32[job + MAKE_BUSY_FIRST_WORD] = table.busyFirst;
}

/** Takes the lists back as the kernel left them. @hot */
export function hostsReturn(table: HostTable, scratch: Scratch): void {
  const { u32 } = scratch.store.region.views;
  const job = scratch.make >> 2;
  table.idleFirst = u32[job + MAKE_IDLE_FIRST_WORD] as number;
  table.idleLast = u32[job + MAKE_IDLE_LAST_WORD] as number;
  table.idleCount = u32[job + MAKE_IDLE_COUNT_WORD] as number;
  table.busyFirst = u32[job + MAKE_BUSY_FIRST_WORD] as number;
}

/** Gives back what was taken for hosts that are not made. */
function giveBack(scratch: Scratch, count: number): void {
  const { names, nameSizes, newHosts, newQueues, store } = scratch;
  const { arena, region } = store;
  const { u32 } = region.views;
  for (let index = 0; index < count; index++) {
    give(arena, u32[(names >> 2) + index] as number, u32[(nameSizes >> 2) + index] as number);
    give(arena, u32[(newHosts >> 2) + index] as number, HOST_SIZE_BYTES);
    give(arena, u32[(newQueues >> 2) + index] as number, QUEUE_SIZE_BYTES);
  }
}

function give(arena: Arena, handle: number, bytes: number): void {
  if (handle !== 0) arenaGive(arena, handle, bytes);
}

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
  MAKE_LONES_WORD,
  MAKE_MET_WORD,
  MAKE_UNUSED_WORD,
  MAKE_LONE,
} from "../../layout/calls/make-records.ts";
import { type Arena, arenaGive, arenaTake, arenaTakeEach } from "../../memory/arena.ts";
import { HOST_TURN_WORD, hostMake, type HostTable, TURN_NEVER } from "../hosts/host-table.ts";
import { setFloat, setWordAt, wordAt } from "../store.ts";
import { TABLE_NEW, tableRemove } from "../table/fingerprint-table.ts";
import type { Scratch } from "./kernel-scratch.ts";

/** Whether the index has claimed the host of a row for it, which is not made yet. */
export function isClaimed(value: number): boolean {
  return value === TABLE_NEW || value === MAKE_LONE;
}

/** Takes the memory of the hosts that the survey has listed, and counts them as joined: the next makeBatch makes them. @hot */
export function takeHosts(table: HostTable, scratch: Scratch): void {
  const { region } = scratch.store;
  const job = scratch.make >> 2;
  const count = region.views.u32[job + MAKE_FRESH_WORD] as number;
  const met = region.views.u32[job + MAKE_MET_WORD] as number;
  if (!takeObjects(scratch, count)) {
    region.views.u32[job + MAKE_FRESH_WORD] = 0;
    return;
  }
  region.views.f64[(job + MAKE_TURN_WORD) >> 1] = TURN_NEVER + table.joined;
  table.joined += met;
  table.count += met;
}

/** Takes an object for each of `count` hosts, its queue and its name, whose bytes are noted. False, with nothing taken: memory is short. @hot */
export function takeObjects(scratch: Scratch, count: number): boolean {
  const { arena, region } = scratch.store;
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
  if (isShort) giveBack(scratch, count);
  return !isShort;
}

/** No turn is given to the hosts of a batch before `takeHosts`. @hot */
export function openTurns({ store, make }: Scratch): void {
  store.region.views.f64[((make >> 2) + MAKE_TURN_WORD) >> 1] = 0;
}

/**
 * Makes the host of a row, which the index has claimed for it: the kernel did not, or left the row's record to the caller. 0: memory is
 * exhausted, and the claim is taken back.
 */
export function makeRowHost(
  table: HostTable,
  scratch: Scratch,
  { row, name, lo, hi }: { row: number; name: Uint8Array; lo: number; hi: number },
): number {
  const { store } = scratch;
  const turns = store.region.views.f64[((scratch.make >> 2) + MAKE_TURN_WORD) >> 1] as number;
  const slot = wordAt(store, (scratch.hostSlots >> 2) + row);
  const host = hostMake(table, name, lo, hi);
  setWordAt(store, slot >> 2, host);
  if (turns < 0) {
    // `takeHosts` has counted it, and given it the turn of its row.
    table.count--;
    if (host !== 0) {
      table.joined--;
      const first = wordAt(store, (scratch.firsts >> 2) + row);
      setFloat(store, host, HOST_TURN_WORD, turns + first);
    }
  }
  if (host === 0) tableRemove(table.index, lo, hi);
  return host;
}

/** Lets the kernel keep the lists of hosts until `hostsReturn`. @hot */
export function hostsLend(table: HostTable, scratch: Scratch): void {
  const { u32 } = scratch.store.region.views;
  const job = scratch.make >> 2;
  u32[job + MAKE_IDLE_FIRST_WORD] = table.idleFirst;
  u32[job + MAKE_IDLE_LAST_WORD] = table.idleLast;
  u32[job + MAKE_IDLE_COUNT_WORD] = table.idleCount;
  u32[job + MAKE_BUSY_FIRST_WORD] = table.busyFirst;
  u32[job + MAKE_LONES_WORD] = 0;
}

/** Takes the lists back as the kernel left them. @hot */
export function hostsReturn(table: HostTable, scratch: Scratch): void {
  const { u32 } = scratch.store.region.views;
  const job = scratch.make >> 2;
  table.idleFirst = u32[job + MAKE_IDLE_FIRST_WORD] as number;
  table.idleLast = u32[job + MAKE_IDLE_LAST_WORD] as number;
  table.idleCount = u32[job + MAKE_IDLE_COUNT_WORD] as number;
  table.busyFirst = u32[job + MAKE_BUSY_FIRST_WORD] as number;
  // Fewer, where more were opened than made.
  table.lone += (u32[job + MAKE_LONES_WORD] as number) | 0;
}

/** Frees what was taken for lone hosts that were not opened. @hot */
export function giveUnused(scratch: Scratch): void {
  const { u32 } = scratch.store.region.views;
  const job = scratch.make >> 2;
  if (u32[job + MAKE_UNUSED_WORD] === 0) return;
  const count = u32[job + MAKE_FRESH_WORD] as number;
  for (let index = 0; index < count; index++) {
    if (u32[(scratch.newHosts >> 2) + index] !== 0) giveOne(scratch, index);
  }
}

/** Frees what was taken for hosts that are not made. */
function giveBack(scratch: Scratch, count: number): void {
  for (let index = 0; index < count; index++) giveOne(scratch, index);
}

function giveOne({ names, nameSizes, newHosts, newQueues, store }: Scratch, index: number): void {
  const { arena, region } = store;
  const { u32 } = region.views;
  const nameBytes = u32[(nameSizes >> 2) + index] as number;
  give(arena, u32[(names >> 2) + index] as number, nameBytes);
  give(arena, u32[(newHosts >> 2) + index] as number, HOST_SIZE_BYTES);
  give(arena, u32[(newQueues >> 2) + index] as number, QUEUE_SIZE_BYTES);
}

function give(arena: Arena, handle: number, bytes: number): void {
  if (handle !== 0) arenaGive(arena, handle, bytes);
}

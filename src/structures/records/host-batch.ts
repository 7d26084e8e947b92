/**
 * Hosts that a batch meets for the first time, made by the kernel in one crossing (assembly/records/make-hosts.ts), and the lists of hosts
 * that it keeps while it makes records.
 *
 *   openRecords ─▶ index asked ─▶ hostMakeEach ─▶ hosts known, idle, with a queue each under their rows' rules
 *   hostsLend ─▶ makeRecords ─▶ hostsReturn        the heads of idle and busy list are the kernel's in between
 *
 *   I1  Where memory is short nothing is made: the rows' records are left to the caller, who makes the hosts one by one.
 */
import { HOST_SIZE_BYTES, QUEUE_SIZE_BYTES } from "../../layout/records/host.ts";
import {
  MAKE_BUSY_FIRST_WORD,
  MAKE_IDLE_COUNT_WORD,
  MAKE_IDLE_FIRST_WORD,
  MAKE_IDLE_LAST_WORD,
  MAKE_NAMES_WORD,
  MAKE_NAME_SIZES_WORD,
  MAKE_NEW_HOSTS_WORD,
  MAKE_NEW_QUEUES_WORD,
  MAKE_NEW_ROWS_WORD,
  MAKE_RULES_WORD,
  MAKE_RULE_WORD,
  MAKE_TURN_WORD,
} from "../../layout/calls/make-records.ts";
import { type Arena, arenaGive, arenaTake, arenaTakeEach } from "../../memory/arena.ts";
import { type HostTable, TURN_NEVER } from "../hosts/host-table.ts";
import type { Scratch } from "./kernel-scratch.ts";

/**
 * Makes the hosts that the index has claimed for rows of the batch in hand, under the rule queue `rule`, or those noted at
 * `rules`. @hot
 */
export function hostMakeEach(
  table: HostTable,
  scratch: Scratch,
  rule: number,
  rules: number,
): void {
  const { arena, kernel, region } = scratch.store;
  noteRoom(scratch, rule, rules);
  const count = kernel.exports.listHosts(scratch.make);
  const sizes = scratch.nameSizes >> 2;
  const names = scratch.names >> 2;
  const hosts = scratch.newHosts >> 2;
  const queues = scratch.newQueues >> 2;
  arenaTakeEach(arena, sizes, names, count);
  let isShort = false;
  for (let index = 0; index < count; index++) {
    const host = arenaTake(arena, HOST_SIZE_BYTES);
    const queue = arenaTake(arena, QUEUE_SIZE_BYTES);
    region.views.u32[hosts + index] = host;
    region.views.u32[queues + index] = queue;
    isShort ||= host === 0 || queue === 0 || region.views.u32[names + index] === 0;
  }
  if (isShort) {
    giveBack(scratch, count);
    return;
  }
  hostsLend(table, scratch);
  region.views.f64[((scratch.make >> 2) + MAKE_TURN_WORD) >> 1] = TURN_NEVER + table.joined;
  kernel.exports.makeHosts(scratch.make, count);
  table.joined += count;
  table.count += count;
  hostsReturn(table, scratch);
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

function noteRoom(scratch: Scratch, rule: number, rules: number): void {
  const { u32 } = scratch.store.region.views;
  const job = scratch.make >> 2;
  u32[job + MAKE_RULE_WORD] = rule;
  u32[job + MAKE_RULES_WORD] = rules;
  u32[job + MAKE_NEW_ROWS_WORD] = scratch.newRows;
  u32[job + MAKE_NAME_SIZES_WORD] = scratch.nameSizes;
  u32[job + MAKE_NAMES_WORD] = scratch.names;
  u32[job + MAKE_NEW_HOSTS_WORD] = scratch.newHosts;
  u32[job + MAKE_NEW_QUEUES_WORD] = scratch.newQueues;
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

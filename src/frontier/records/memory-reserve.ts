/**
 * Room: memory is asked for before anything changes, so that no step is half done.
 *
 *   pages left │ reserve: leases, clocks, waiting, resting records can continue │ steps │ free for new records
 *              └──────── ends, expiry, clocks: these may go down to 0 ──────────┴───────┴── pushes stop 16 MiB before
 *
 *   needRoom   a step that must be possible: the end of a lease, a clock that has passed. Asks for the pages of that step alone.
 *   needSpare  a step that may be refused: a lease, a delay, a change by hand. The reserve has to be left after it.
 *
 *   I1  One step takes no more pages than stepPages returns, one at a time: heaps, timelines, lanes, gates, and what hangs on them.
 *       Whatever is larger, a record with a text beyond a page or the first page of a table, is taken before the step begins.
 *   I2  What is in can go on: every lease can end in any way, every clock can pass, every record that waits can come back. The memory for
 *       that is reserved from the lease, or the clock, on.
 *   I3  A step that found no room has changed nothing.
 */
import { assert, VERIFY } from "../../base/assert.ts";
import { memoryFull } from "../../base/errors.ts";
import { heapCount } from "../../structures/ordering/heap.ts";
import {
  storeFit,
  storeHold,
  storeLeft,
  storeLetGo,
  storePages,
  storePromise,
} from "../../structures/store.ts";
import type { Core } from "../core.ts";

/**
 * Pages of one step at most. A timeline takes 5 (line, heap, and a move between them), a heap 2; there are two timelines and three
 * heaps. Lanes, gates, groups, members, addresses and blobs take a page of their kind each, a table that grows 15; two may.
 */
const STEP_PAGES = 64;
/** What the end of a lease takes: a lane of its own, a place among those that wait or rest, and one that a timeline sheds. */
const LEASE_BYTES = 104;
/** What a lease takes at once, beside that: its deadline. */
const DEADLINE_BYTES = 20;
/** What a record that waits or rests takes when its time comes: a lane of its own. */
const WAITING_BYTES = 48;
/** What a host takes: a clock, in a line with as many gaps, and a lane for its queue. */
const HOST_BYTES = 88;
/** A queue that moves from gate to gate: a lane, and beside it a gate for each kind of group. */
const LANE_BYTES = 48;
const GATE_BYTES = 24;
/** A group in the heap of their clocks. */
const CLOCK_BYTES = 20;

/** Most pages a batch and the structures it grows can ask for: 16 MiB kept free for transitions of what is in. */
const RESERVE_PAGES = 256;

/** Whether the region has room for a push beyond what the transitions of its records may need. It is not promised to a step. */
export function hasReserve(core: Core): boolean {
  endRoom(core);
  return storeLeft(core.store) >= RESERVE_PAGES + owedPages(core);
}

/** Asks for the pages of one step, and of `ends` ends of leases within it; false: they are not there. @hot */
export function hasRoom(core: Core, ends = 0): boolean {
  return storePromise(core.store, stepPages(core, ends));
}

/** The same for one step that takes so many bytes more, a page at a time. */
export function hasRoomFor(core: Core, bytes: number): boolean {
  return storePromise(core.store, stepPages(core, 0) + storePages(bytes));
}

/** The same, thrown as MEMORY_FULL before anything changes. @hot */
export function needRoom(core: Core): void {
  if (!hasRoom(core)) throw memoryFull();
}

/** Asks for the pages of a step made of several, with so many ends of leases in all; `letGo` ends it. False: they are not there. */
export function holdRoom(core: Core, ends: number): boolean {
  return storeHold(core.store, stepPages(core, ends));
}

/** The same for a step that takes so many bytes more. */
export function holdRoomFor(core: Core, bytes: number): boolean {
  return storeHold(core.store, stepPages(core, 0) + storePages(bytes));
}

export function releaseHeldRoom(core: Core): void {
  storeLetGo(core.store);
}

/** Whether there is room for one more step with the whole reserve left after it. @hot */
export function hasSpare(core: Core): boolean {
  const pages = stepPages(core, 0);
  if (!storePromise(core.store, pages)) return false;
  return storeLeft(core.store) >= pages + owedPages(core);
}

/** The same, thrown as MEMORY_FULL before anything changes. */
export function needSpare(core: Core): void {
  if (!hasSpare(core)) throw memoryFull();
}

/** How many of `most` leases may be made, each of which takes so many bytes more: each needs a reserve for its end. @hot */
export function leasesThatFit(core: Core, most: number, bytes = 0): number {
  const left = storeLeft(core.store) - stepPages(core, 0) - owedPages(core);
  return Math.max(0, Math.min(most, storeFit(left, LEASE_BYTES + DEADLINE_BYTES + bytes)));
}

/** The answer of a structure that a step enters: there was room, since the step has asked. @hot */
export function assertRoom(isIn: boolean): void {
  assert(isIn, "room I1: a step takes what it has asked for");
}

/** Ends the step: what comes next is promised nothing. */
function endRoom(core: Core): void {
  if (VERIFY) storePromise(core.store, 0); // nothing else counts what is left of a promise
}

/** Pages that what is in may take to go on (I2). A lone host needs no reserve: the step that makes it may be refused. @hot */
function owedPages({ counters, hosts, resting }: Core): number {
  const waiting = counters.waiting + heapCount(resting);
  const busy = hosts.count - hosts.idleCount - hosts.spilled - hosts.lone;
  const bytes = counters.leased * LEASE_BYTES + waiting * WAITING_BYTES + busy * HOST_BYTES;
  return storePages(bytes);
}

/** @hot */
function stepPages(core: Core, ends: number): number {
  const pages = ends === 0 ? STEP_PAGES : STEP_PAGES + storePages(ends * LEASE_BYTES);
  return core.groupKinds.length === 0 ? pages : pages + groupPages(core);
}

/** One step may move every queue that is parked, or is a front, behind another gate. */
function groupPages({ groupKinds, groups }: Core): number {
  const queues = groups.parked + groups.gates;
  const each = LANE_BYTES + GATE_BYTES * groupKinds.length;
  return storePages(queues * each + groups.count * CLOCK_BYTES);
}

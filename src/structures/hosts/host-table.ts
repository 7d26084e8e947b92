/**
 * Room `src/structures/hosts`: hosts, their queues and groups as data, found by name. Decides when a host can be
 * forgotten, never when it may be visited.
 */

/**
 * Hosts and host queues (layout/records/host.ts), found by the keyed hash of their name. Owner: the frontier's thread.
 *
 *   name ── hash ──▶ index (fingerprint table, value = handle) ──▶ host ──▶ queue (rule 0) ─▶ queue (rule 1) …
 *
 *   I1  Every host is in the index under the hash of its name; its queues are on its chain, one per rule.
 *   I2  A host is in the idle list when no record names one of its queues, else in the busy list; or on disk: then the index has
 *       HOST_SPILLED + its place in place of its handle (structures/spill/host-blocks.ts); or lone: HOST_LONE + a record (lone-host.ts).
 *   I3  Only idle hosts are forgotten, the one longest idle first, and none whose settings are kept.
 */
import { assert } from "../../base/assert.ts";
import { memoryFull } from "../../base/errors.ts";
import { REGION_PAGE_BYTES } from "../../layout/memory/region.ts";
import { arenaGive, arenaTake } from "../../memory/arena.ts";
import {
  HOST_ADAPTIVE_WORD,
  HOST_CLOCKED,
  HOST_DELAY_WORD,
  HOST_FLAGS_WORD,
  HOST_HASH_HI_WORD,
  HOST_HASH_LO_WORD,
  HOST_IDLE,
  HOST_KEPT,
  HOST_LIVE_WORD,
  HOST_NAME_BYTES_WORD,
  HOST_NAME_WORD,
  HOST_QUEUES_WORD,
  HOST_SIZE_BYTES,
  HOST_SPILLED,
  HOST_TURN_WORD,
  QUEUE_MARK,
  QUEUE_MARK_WORD,
  RULE_QUEUES_MAX,
  RULE_QUEUE_INDEX_WORD,
  RULE_QUEUE_SIZE_BYTES,
} from "../../layout/records/host.ts";
import {
  createTable,
  type FingerprintTable,
  tableFind,
  tableInsert,
  tableRemove,
} from "../table/fingerprint-table.ts";
import { TABLE_RESERVED_MIN } from "../../layout/seen/table.ts";
import { queueFree } from "./host-queue.ts";
import { isLoneHost, recordOfLone, unfoldLone, unfoldTaken } from "./lone-host.ts";
import { float, hashText, setFloat, setWord, type Store, word } from "../store.ts";

export {
  HOST_ADAPTIVE_WORD,
  HOST_ADMITTED_WORD,
  HOST_BLOCK_UNTIL_WORD,
  HOST_BYTES_WORD,
  HOST_CLOCKED,
  HOST_DELAY_WORD,
  HOST_FAILURES_WORD,
  HOST_FLAGS_WORD,
  HOST_HASH_HI_WORD,
  HOST_HASH_LO_WORD,
  HOST_HELD,
  HOST_MARKED,
  HOST_KEPT,
  HOST_SIZE_BYTES,
  HOST_LEASED_WORD,
  HOST_LIMIT_WORD,
  HOST_LIVE_WORD,
  HOST_NAME_BYTES_WORD,
  HOST_NAME_WORD,
  HOST_PASSED,
  HOST_PENDING_WORD,
  HOST_QUEUES_WORD,
  HOST_READY_AT_WORD,
  HOST_STEERED,
  HOST_TURN_DECIDED,
  HOST_TURN_WORD,
  QUEUE_HOST_WORD,
  QUEUE_NEXT_WORD,
  QUEUE_PENDING_WORD,
  QUEUE_RANK_WORD,
  QUEUE_RANKS_WORD,
  QUEUE_RULE_WORD,
  RULE_AGAIN,
  RULE_BACKOFF,
  RULE_GONE,
  RULE_LIFO,
  RULE_LONE,
  RULE_POLITE,
  RULE_PUSHED,
  RULE_QUEUE_DONE_WORD,
  RULE_QUEUE_FLAGS_WORD,
  RULE_QUEUE_INDEX_WORD,
  RULE_QUEUE_LEASED_WORD,
  RULE_QUEUE_MAX_DEPTH_WORD,
  RULE_QUEUE_PENDING_WORD,
  RULE_QUEUE_PER_DEPTH_WORD,
  RULE_QUEUE_PRIORITY_WORD,
  RULE_QUEUE_RANKS_WORD,
  RULE_QUEUE_SERVED_WORD,
  RULE_SHARED,
  RULE_START_LAST,
} from "../../layout/records/host.ts";

export interface HostTable {
  readonly store: Store;
  readonly index: FingerprintTable;
  /** Hosts known, idle ones and those on disk included; those on disk. */
  count: number;
  spilled: number;
  /** Hosts that are a record and nothing more (lone-host.ts); HOST_* of a host that is made of one. */
  lone: number;
  loneFlags: number;
  /** Brings what lies at a place on disk back into memory. undefined: nothing is there. */
  bring: ((place: number) => void) | undefined;
  /** Idle list: longest idle first. */
  idleFirst: number;
  idleLast: number;
  idleCount: number;
  /** Busy list: hosts with records, in no order that matters. */
  busyFirst: number;
  /** A busy host, or 0: where a round over the busy list goes on; moved on when that host falls idle. */
  hand: number;
  /** Idle hosts remembered beyond need. */
  readonly idleCountMax: number;
  /** Hosts joined so far: the order of joining. */
  joined: number;
  /** Queues made one by one so far. */
  queuesMade: number;
}

/** Bytes of the index, in which each host has an entry wherever it is. @hot */
export function hostIndexBytes({ index }: HostTable): number {
  return index.pageCount * REGION_PAGE_BYTES;
}

/** Idle hosts remembered beyond need: 65,536 × ~200 bytes = 13 MB, so that few crawls ever forget one. */
export const HOST_IDLE_COUNT_MAX = 65_536;

/** Before its first lease a host's turn lies below every lease's sequence, in order of joining. */
export const TURN_NEVER = -(2 ** 52);

export function createHostTable(store: Store, idleCountMax = HOST_IDLE_COUNT_MAX): HostTable {
  return {
    store,
    index: createTable(store.kernel, { valued: true }),
    ...{ count: 0, spilled: 0, bring: undefined, lone: 0, loneFlags: 0 },
    idleFirst: 0,
    idleLast: 0,
    idleCount: 0,
    busyFirst: 0,
    hand: 0,
    idleCountMax,
    joined: 0,
    queuesMade: 0,
  };
}

/** The host of this hash, or 0. One on disk comes back into memory first, a lone one is made: throws what the tier throws, and MEMORY_FULL. */
export function hostFind(table: HostTable, lo: number, hi: number): number {
  const value = hostLook(table, lo, hi);
  if (isLoneHost(value)) return openLone(table, recordOfLone(value));
  if (!isSpilledHost(value)) return value;
  table.bring?.(hostPlace(value));
  return hostLook(table, lo, hi);
}

/** What the index holds of a hash: a host, the value of one on disk, or 0. @hot */
export function hostLook(table: HostTable, lo: number, hi: number): number {
  const slot = tableFind(table.index, lo, hi);
  return slot === 0 ? 0 : (table.store.region.views.u32[slot >> 2] as number);
}

/** Makes the host of a lone record, in whose place its queue stands then. Throws MEMORY_FULL with nothing changed. */
export function openLone(table: HostTable, record: number): number {
  return enterLone(table, unfoldLone(table.store, record));
}

/** The same of a record that is handed out: it stands nowhere then. */
export function takeLone(table: HostTable, record: number): number {
  return enterLone(table, unfoldTaken(table.store, record));
}

/** A host that was made of a lone record is busy. */
function enterLone(table: HostTable, host: number): number {
  if (host === 0) throw memoryFull();
  const { store } = table;
  const lo = word(store, host, HOST_HASH_LO_WORD);
  const slot = tableFind(table.index, lo, word(store, host, HOST_HASH_HI_WORD));
  store.region.views.u32[slot >> 2] = host;
  setHostFlag(store, host, table.loneFlags, true);
  busyPush(table, host);
  table.lone--;
  return host;
}

/** Whether a value of the index is that of a host on disk. @hot */
export function isSpilledHost(value: number): boolean {
  return value >= HOST_SPILLED && value < TABLE_RESERVED_MIN;
}

/** The place of the block that it lies in. */
export function hostPlace(value: number): number {
  return value - HOST_SPILLED;
}

/** A busy host whose queues were freed leaves memory; the index names its place from now on. */
export function hostLeave(table: HostTable, host: number, place: number): void {
  const { store } = table;
  const lo = word(store, host, HOST_HASH_LO_WORD);
  const slot = tableFind(table.index, lo, word(store, host, HOST_HASH_HI_WORD));
  store.region.views.u32[slot >> 2] = HOST_SPILLED + place;
  busyRemove(table, host);
  hostGive(store, host);
  table.spilled++;
}

/** The same of a lone host, whose record was freed. */
export function loneLeave(table: HostTable, lo: number, hi: number, place: number): void {
  const slot = tableFind(table.index, lo, hi);
  table.store.region.views.u32[slot >> 2] = HOST_SPILLED + place;
  table.lone--;
  table.spilled++;
}

/** A host that was on disk, with its records and queues, is busy again. */
export function hostReturn(table: HostTable, host: number): void {
  const { store } = table;
  const lo = word(store, host, HOST_HASH_LO_WORD);
  const slot = tableFind(table.index, lo, word(store, host, HOST_HASH_HI_WORD));
  store.region.views.u32[slot >> 2] = host;
  busyPush(table, host);
  table.spilled--;
}

/** Frees the memory of a host and its name. */
export function hostGive(store: Store, host: number): void {
  const nameBytes = Math.max(word(store, host, HOST_NAME_BYTES_WORD), 1);
  arenaGive(store.arena, word(store, host, HOST_NAME_WORD), nameBytes);
  arenaGive(store.arena, host, HOST_SIZE_BYTES);
}

/** Makes the host of this hash, which must not be known; returns 0 when memory is exhausted. */
export function hostCreate(table: HostTable, view: Uint8Array, lo: number, hi: number): number {
  const name = steady(table.store, view); // as in hostMake: the index may grow first
  const slot = tableInsert(table.index, lo, hi);
  if (slot === 0) return 0;
  const host = hostMake(table, name, lo, hi);
  if (host === 0) {
    tableRemove(table.index, lo, hi);
    return 0;
  }
  // Making a host may have moved the views, never the slot: pages do not move.
  table.store.region.views.u32[slot >> 2] = host;
  return host;
}

/** The host of a name, made when missing; 0 when memory is exhausted. */
export function hostOfName(table: HostTable, name: string | Uint8Array): number {
  const hash = new Uint32Array(2);
  const bytes = hashText(table.store, name, hash);
  const [lo = 0, hi = 0] = hash;
  return hostFind(table, lo, hi) || hostCreate(table, bytes, lo, hi);
}

/** The host of a name, or 0. */
export function hostNamed(table: HostTable, name: string | Uint8Array): number {
  const hash = new Uint32Array(2);
  hashText(table.store, name, hash);
  return hostFind(table, hash[0] as number, hash[1] as number);
}

/** Whether a name has this hash. */
export function isHashOf({ store }: HostTable, name: Uint8Array, lo: number, hi: number): boolean {
  hashText(store, name, hashed);
  return hashed[0] === lo && hashed[1] === hi;
}

/** Of the name that was asked about last. */
const hashed = new Uint32Array(2);

/** Makes a host whose index entry the caller fills (a batch insert left it claimed). */
export function hostMake(table: HostTable, view: Uint8Array, lo: number, hi: number): number {
  const { store } = table;
  const name = steady(store, view);
  const nameHandle = arenaTake(store.arena, Math.max(name.length, 1));
  if (nameHandle === 0) return 0;
  const host = arenaTake(store.arena, HOST_SIZE_BYTES);
  if (host === 0) {
    arenaGive(store.arena, nameHandle, Math.max(name.length, 1));
    return 0;
  }
  const { u32, u8 } = store.region.views;
  u8.set(name, nameHandle * 8);
  u32.fill(0, host * 2, host * 2 + HOST_SIZE_BYTES / 4);
  setWord(store, host, HOST_NAME_WORD, nameHandle);
  setWord(store, host, HOST_NAME_BYTES_WORD, name.length);
  setWord(store, host, HOST_HASH_LO_WORD, lo);
  setWord(store, host, HOST_HASH_HI_WORD, hi);
  setFloat(store, host, HOST_DELAY_WORD, -1);
  setFloat(store, host, HOST_ADAPTIVE_WORD, -1);
  setFloat(store, host, HOST_TURN_WORD, TURN_NEVER + table.joined);
  table.joined++;
  table.count++;
  idlePush(table, host);
  return host;
}

/** The bytes themselves, or a copy of what is a view of the region: that is gone once it grows. */
function steady({ region }: Store, bytes: Uint8Array): Uint8Array {
  return bytes.buffer === region.views.u32.buffer ? bytes.slice() : bytes;
}

export function hostName(store: Store, host: number): string {
  const start = word(store, host, HOST_NAME_WORD) * 8;
  return store.region.views.buffer.utf8Slice(
    start,
    start + word(store, host, HOST_NAME_BYTES_WORD),
  );
}

/** Whether an item of a rule's ranks is a host queue, not a record. */
export function isQueue(store: Store, item: number): boolean {
  return ((store.region.views.u32[item * 2 + QUEUE_MARK_WORD] as number) & 255) === QUEUE_MARK;
}

/** Makes the root of one rule; 0 when memory is exhausted, or no file has room for its index. */
export function ruleQueueCreate(store: Store, index: number): number {
  if (index >= RULE_QUEUES_MAX) return 0;
  const handle = arenaTake(store.arena, RULE_QUEUE_SIZE_BYTES);
  if (handle !== 0) ruleQueueClear(store, handle, index);
  return handle;
}

/** Nothing stands under it, and nothing was counted. */
export function ruleQueueClear(store: Store, handle: number, index: number): void {
  const { f64 } = store.region.views;
  // Sets of very many rules are made in one call, and a `fill` of eight costs more than this.
  for (let at = handle; at < handle + RULE_QUEUE_SIZE_BYTES / 8; at++) f64[at] = 0;
  setWord(store, handle, RULE_QUEUE_INDEX_WORD, index);
}

export function hostFlag(store: Store, host: number, flag: number): boolean {
  return (word(store, host, HOST_FLAGS_WORD) & flag) !== 0;
}

export function setHostFlag(store: Store, host: number, flag: number, on: boolean): void {
  const flags = word(store, host, HOST_FLAGS_WORD);
  setWord(store, host, HOST_FLAGS_WORD, on ? flags | flag : flags & ~flag);
}

/** One more record names a queue of this host. @hot */
export function hostRetain(table: HostTable, host: number): void {
  const { store } = table;
  const live = word(store, host, HOST_LIVE_WORD);
  if (live === 0) {
    idleRemove(table, host);
    busyPush(table, host);
  }
  setWord(store, host, HOST_LIVE_WORD, live + 1);
}

/** One record fewer; the last one makes the host idle. @hot */
export function hostRelease(table: HostTable, host: number): void {
  const { store } = table;
  const live = word(store, host, HOST_LIVE_WORD) - 1;
  setWord(store, host, HOST_LIVE_WORD, live);
  if (live > 0) return;
  busyRemove(table, host);
  idlePush(table, host);
}

/**
 * The host longest idle if there are more than are remembered and `isFree` lets it go, else 0.
 * One that must stay goes to the end of the list, so that a call checks one host only.
 */
export function hostEvictable(table: HostTable, isFree: (host: number) => boolean): number {
  if (table.idleCount <= table.idleCountMax) return 0;
  const host = table.idleFirst;
  if (!hostFlag(table.store, host, HOST_KEPT | HOST_CLOCKED) && isFree(host)) return host;
  idleRemove(table, host);
  idlePush(table, host);
  return 0;
}

/** Forgets an idle host with its queues and its name. */
export function hostForget(table: HostTable, host: number): void {
  const { store } = table;
  idleRemove(table, host);
  tableRemove(
    table.index,
    word(store, host, HOST_HASH_LO_WORD),
    word(store, host, HOST_HASH_HI_WORD),
  );
  for (;;) {
    const queue = word(store, host, HOST_QUEUES_WORD);
    if (queue === 0) break;
    queueFree(store, queue);
  }
  hostGive(store, host);
  table.count--;
}

/** Forgets a host that joined behind the first `joined` ones and that nothing lives on: what it was made for found no room. */
export function hostUnmake(table: HostTable, host: number, joined: number): void {
  const { store } = table;
  if (word(store, host, HOST_LIVE_WORD) > 0) return;
  if (float(store, host, HOST_TURN_WORD) < TURN_NEVER + joined) return;
  if (float(store, host, HOST_TURN_WORD) > 0) return; // leased before
  hostForget(table, host);
}

/** Checks I1 to I3 over all hosts. */
export function verifyHosts(table: HostTable): void {
  const { store } = table;
  let busy = 0;
  for (let host = hostNextBusy(table, 0); host !== 0; host = hostNextBusy(table, host)) {
    assert(word(store, host, HOST_LIVE_WORD) > 0, "I2: a busy host has records");
    busy += verifyHost(table, host);
  }
  let idle = 0;
  for (let host = table.idleFirst; host !== 0; host = store.region.views.u32[host * 2] as number) {
    assert(word(store, host, HOST_LIVE_WORD) === 0, "I2: an idle host has no records");
    idle += verifyHost(table, host);
  }
  assert(idle === table.idleCount, "I2: idle hosts are counted");
  const apart = table.spilled + table.lone;
  assert(idle + busy + apart === table.count, "I2: every host is in one list, lone, or on disk");
}

function verifyHost(table: HostTable, host: number): number {
  const { store } = table;
  const lo = word(store, host, HOST_HASH_LO_WORD);
  assert(
    hostFind(table, lo, word(store, host, HOST_HASH_HI_WORD)) === host,
    "I1: a host is in the index",
  );
  return 1;
}

function idlePush(table: HostTable, host: number): void {
  const { u32 } = table.store.region.views;
  u32[host * 2] = 0;
  u32[host * 2 + 1] = table.idleLast;
  if (table.idleLast === 0) table.idleFirst = host;
  else u32[table.idleLast * 2] = host;
  table.idleLast = host;
  table.idleCount++;
  setHostFlag(table.store, host, HOST_IDLE, true);
}

function idleRemove(table: HostTable, host: number): void {
  const { u32 } = table.store.region.views;
  const next = u32[host * 2] as number;
  const previous = u32[host * 2 + 1] as number;
  if (previous === 0) table.idleFirst = next;
  else u32[previous * 2] = next;
  if (next === 0) table.idleLast = previous;
  else u32[next * 2 + 1] = previous;
  table.idleCount--;
  setHostFlag(table.store, host, HOST_IDLE, false);
}

function busyPush(table: HostTable, host: number): void {
  const { u32 } = table.store.region.views;
  u32[host * 2] = table.busyFirst;
  u32[host * 2 + 1] = 0;
  if (table.busyFirst !== 0) u32[table.busyFirst * 2 + 1] = host;
  table.busyFirst = host;
}

function busyRemove(table: HostTable, host: number): void {
  const { u32 } = table.store.region.views;
  const next = u32[host * 2] as number;
  const previous = u32[host * 2 + 1] as number;
  if (table.hand === host) table.hand = next;
  if (previous === 0) table.busyFirst = next;
  else u32[previous * 2] = next;
  if (next !== 0) u32[next * 2 + 1] = previous;
}

/** The idle host after `host`, or the first one for 0; 0 at the end. */
export function hostNextIdle(table: HostTable, host: number): number {
  return host === 0 ? table.idleFirst : (table.store.region.views.u32[host * 2] as number);
}

/** The busy host after `host`, or the first one for 0; 0 at the end. */
export function hostNextBusy(table: HostTable, host: number): number {
  return host === 0 ? table.busyFirst : (table.store.region.views.u32[host * 2] as number);
}

/** Hosts as files record them. Leases, records and places are not recorded here: they follow from the records. */
import { memoryFull } from "../../base/errors.ts";
import {
  HOST_ADAPTIVE_WORD,
  HOST_ADMITTED_WORD,
  HOST_BLOCK_UNTIL_WORD,
  HOST_BYTES_WORD,
  HOST_DELAY_WORD,
  HOST_FAILURES_WORD,
  HOST_HELD,
  HOST_MARKED,
  HOST_KEPT,
  HOST_LIMIT_WORD,
  HOST_READY_AT_WORD,
  HOST_STEERED,
  HOST_TURN_DECIDED,
  HOST_TURN_WORD,
  hostCreate,
  hostLook,
  hostNextBusy,
  type HostTable,
  isSpilledHost,
  setHostFlag,
} from "../../structures/hosts/host-table.ts";
import { lessOwnDelay } from "../../frontier/politeness/bound-clocks.ts";
import { restoreGroupClock } from "../../frontier/politeness/group-clocks.ts";
import { memberFree, setMemberAddress } from "../../structures/hosts/group-table.ts";
import type { Core } from "../../frontier/core.ts";
import { appendKey, createRecordList } from "../../frontier/records/record-list.ts";
import { sortByKey } from "../../frontier/records/sort-records.ts";
import { float, setFloat, setWord } from "../../structures/store.ts";
import { hostOfHash, type Restoration } from "./restore-records.ts";

const FLAGS = [HOST_HELD, HOST_STEERED, HOST_KEPT];
/** In the order of files. The turn is set by `setTurn`. */
const FLOATS = [
  ...[HOST_TURN_WORD, HOST_READY_AT_WORD, HOST_BLOCK_UNTIL_WORD],
  ...[HOST_DELAY_WORD, HOST_ADAPTIVE_WORD, HOST_BYTES_WORD],
];
/** A new host: no clock, no delay of its own; limit, failures, admitted and flags 0. */
const FRESH = [0, 0, 0, -1, -1, 0];
const FRESH_WORDS = [0, 0, 0, 0];

interface MadeHost {
  lo: number;
  hi: number;
  turn: number;
}

/**
 * Replays that a host was made. One on disk came from the snapshot and has not been forgotten since, so it is a copy of this host, as later
 * entries leave it: it stays where it is.
 */
export function remakeHost(restoration: Restoration, name: Uint8Array, made: MadeHost): void {
  const { hosts } = restoration.core;
  if (isSpilledHost(hostLook(hosts, made.lo, made.hi))) noteJoined(hosts, made.turn);
  else restoreHost(restoration, name, made);
}

/** Creates a host, or resets an existing one to its initial state. */
export function restoreHost(
  restoration: Restoration,
  name: Uint8Array,
  { lo, hi, turn }: MadeHost,
): number {
  const { hosts, store } = restoration.core;
  const { joined } = hosts;
  const host = hostOfHash(restoration, lo, hi) || hostCreate(hosts, name, lo, hi);
  if (host === 0) throw memoryFull();
  restoration.host = host;
  setHostFlag(store, host, HOST_MARKED, true);
  memberFree(store, host);
  setRestoredHost(restoration, host, FRESH, FRESH_WORDS);
  setTurn(restoration.core, host, turn);
  hosts.joined = joined; // the host joined when it was created, not now
  noteJoined(hosts, turn);
  return host;
}

/** A host without a lease so far has the turn −2⁵² + the number of earlier hosts. */
function noteJoined(hosts: HostTable, turn: number): void {
  if (turn < 0) hosts.joined = Math.max(hosts.joined, turn + 2 ** 52 + 1);
}

/** Sets turn and readyAt; with `words` (limit, failures, admitted, flags) all fields. */
export function setRestoredHost(
  restoration: Restoration,
  host: number,
  doubles: ArrayLike<number>,
  words: ArrayLike<number> | undefined,
): void {
  const { core } = restoration;
  const { store } = core;
  const count = words === undefined ? 2 : FLOATS.length;
  for (let i = 1; i < count; i++) setFloat(store, host, FLOATS[i] as number, doubles[i] as number);
  restoration.latestClock = Math.max(restoration.latestClock, lessOwnDelay(core, host));
  setTurn(core, host, doubles[0] as number);
  if (words === undefined) return;
  setWord(store, host, HOST_LIMIT_WORD, words[0] as number);
  setWord(store, host, HOST_FAILURES_WORD, words[1] as number);
  setWord(store, host, HOST_ADMITTED_WORD, words[2] as number);
  const flags = words[3] as number;
  for (const flag of FLAGS) setHostFlag(store, host, flag, (flags & flag) !== 0);
}

/** A turn that is greater was forged. Those that follow must stay below what check-fields.ts accepts, so it counts as this one. */
export const TURN_BELIEVED_MAX = 2 ** 51;

/** Notes turn and clock, less its own delay, of a host that stays on disk. */
export function noteSpilledHost(restoration: Restoration, turn: number, clockMs: number): void {
  const { core } = restoration;
  noteJoined(core.hosts, turn);
  if (Number.isInteger(turn) && turn > core.leaseSequence) core.leaseSequence = turn;
  restoration.latestClock = Math.max(restoration.latestClock, clockMs);
}

/** New turns continue after the highest one. A turn with a fraction was decided before any lease (fresh-hosts.ts, F1). */
function setTurn(core: Core, host: number, written: number): void {
  const turn = Math.min(written, TURN_BELIEVED_MAX);
  setFloat(core.store, host, HOST_TURN_WORD, turn);
  if (!Number.isInteger(turn)) setHostFlag(core.store, host, HOST_TURN_DECIDED, true);
  else if (turn > core.leaseSequence) core.leaseSequence = turn;
}

/** Sets the address of a host, '' for one no longer known. The host joins its group when its records are placed. */
export function setRestoredAddress({ core }: Restoration, host: number, address: Uint8Array): void {
  const text = Buffer.from(address).toString("utf8");
  if (!setMemberAddress(core.store, host, text)) throw memoryFull();
}

/** Restores the clock of a group, found by the hash of its kind and name. Its members join when records are placed. */
export function restoreGroup(core: Core, lo: number, hi: number, readyAt: number): void {
  if (!restoreGroupClock(core, lo, hi, readyAt)) throw memoryFull();
}

/**
 * Sets turns anew where a forged journal has one for two hosts; returns whether every host with records had its own. To be called while no
 * host stands anywhere.
 */
export function separateTurns(core: Core): boolean {
  const { hosts, store } = core;
  if (areApart(core)) return true;
  const taken = new Set<number>();
  for (let host = hostNextBusy(hosts, 0); host !== 0; host = hostNextBusy(hosts, host)) {
    const turn = float(store, host, HOST_TURN_WORD);
    if (taken.has(turn)) {
      setFloat(store, host, HOST_TURN_WORD, ++core.leaseSequence);
      setHostFlag(store, host, HOST_TURN_DECIDED, false);
    }
    taken.add(turn);
  }
  return false;
}

/** Whether no two hosts have the same turn. */
function areApart({ hosts, store }: Core): boolean {
  const turns = createRecordList(hosts.count);
  let areWhole = true;
  for (let host = hostNextBusy(hosts, 0); host !== 0; host = hostNextBusy(hosts, host)) {
    const turn = float(store, host, HOST_TURN_WORD);
    areWhole &&= Number.isInteger(turn);
    appendKey(turns, host, turn);
  }
  if (areWhole) {
    const same: number[] = [];
    sortByKey(turns, same);
    return same.length === 0;
  }
  const sorted = turns.keys.subarray(0, turns.count).sort();
  return sorted.every((turn, at) => at === 0 || turn !== sorted[at - 1]);
}

/**
 * What `clear` carries over to the new core: running clocks of hosts and groups, settings made by hand, and
 * addresses of hosts.
 */
import {
  HOST_ADAPTIVE_WORD,
  HOST_BLOCK_UNTIL_WORD,
  HOST_DELAY_WORD,
  HOST_FAILURES_WORD,
  HOST_HELD,
  HOST_KEPT,
  HOST_LIMIT_WORD,
  HOST_READY_AT_WORD,
  HOST_STEERED,
  HOST_TURN_WORD,
  hostFlag,
  hostName,
  hostNextBusy,
  hostNextIdle,
  hostOfName,
  setHostFlag,
} from "../../structures/hosts/host-table.ts";
import { memberAddress, setMemberAddress } from "../../structures/hosts/group-table.ts";
import { float, setFloat, setWord, word } from "../../structures/store.ts";
import type { Core } from "../core.ts";
import { bringHostsThat } from "../scheduling/spill-hosts.ts";
import { carryGroups } from "./group-clocks.ts";
import { hostClock } from "./host-clock.ts";

const FLOATS = [HOST_READY_AT_WORD, HOST_BLOCK_UNTIL_WORD, HOST_DELAY_WORD, HOST_ADAPTIVE_WORD];
const WORDS = [HOST_LIMIT_WORD, HOST_FAILURES_WORD];
const FLAGS = [HOST_HELD, HOST_STEERED, HOST_KEPT];

/** Hosts go over in the order of their turns, and join the new core in it. */
export function carryHostClocks(from: Core, to: Core, nowMs: number): void {
  const { hosts, store } = from;
  bringHostsThat(from, (host) => hasStateToCarry(from, host, nowMs));
  const owed: number[] = [];
  const look = (host: number): void => {
    if (hasStateToCarry(from, host, nowMs)) owed.push(host);
  };
  for (let host = hostNextBusy(hosts, 0); host !== 0; host = hostNextBusy(hosts, host)) look(host);
  for (let host = hostNextIdle(hosts, 0); host !== 0; host = hostNextIdle(hosts, host)) look(host);
  owed.sort((a, b) => float(store, a, HOST_TURN_WORD) - float(store, b, HOST_TURN_WORD));
  for (const host of owed) copyHostState(from, to, host);
  carryGroups(from, to, nowMs);
}

/** The hosts of a new core that were carried into it. */
export function hostsCarried({ hosts }: Core): number[] {
  const carried: number[] = [];
  for (let host = hostNextIdle(hosts, 0); host !== 0; host = hostNextIdle(hosts, host)) {
    carried.push(host);
  }
  return carried;
}

function hasStateToCarry(core: Core, host: number, nowMs: number): boolean {
  const { store } = core;
  const isSet = float(store, host, HOST_DELAY_WORD) >= 0 || word(store, host, HOST_LIMIT_WORD) > 0;
  const isKnown = memberAddress(store, host) !== undefined;
  return isSet || isKnown || hostFlag(store, host, HOST_HELD) || hostClock(core, host) > nowMs;
}

function copyHostState(from: Core, to: Core, host: number): void {
  const copy = hostOfName(to.hosts, hostName(from.store, host));
  if (copy === 0) return;
  for (const at of FLOATS) setFloat(to.store, copy, at, float(from.store, host, at));
  for (const at of WORDS) setWord(to.store, copy, at, word(from.store, host, at));
  for (const flag of FLAGS) setHostFlag(to.store, copy, flag, hostFlag(from.store, host, flag));
  const address = memberAddress(from.store, host);
  if (address !== undefined) setMemberAddress(to.store, copy, address);
}

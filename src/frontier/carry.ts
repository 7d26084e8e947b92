/** Carry: what a cleared frontier still owes its hosts. Clocks that run and settings made by hand go over to the new core. */
import {
  HOST_ADAPTIVE_WORD,
  HOST_BLOCK_UNTIL_WORD,
  HOST_DELAY_WORD,
  HOST_FAILURES_WORD,
  HOST_FLAGS_WORD,
  HOST_HELD,
  HOST_KEPT,
  HOST_LIMIT_WORD,
  HOST_READY_AT_WORD,
  HOST_STEERED,
  hostFlag,
  hostName,
  hostNextBusy,
  hostNextIdle,
  hostOfName,
  setHostFlag,
} from "../structures/host-table.ts";
import { float, setFloat, setWord, word } from "../structures/store.ts";
import type { Core } from "./core.ts";
import { hostClock } from "./schedule.ts";

const FLOATS = [HOST_READY_AT_WORD, HOST_BLOCK_UNTIL_WORD, HOST_DELAY_WORD, HOST_ADAPTIVE_WORD];
const WORDS = [HOST_LIMIT_WORD, HOST_FAILURES_WORD];
const FLAGS = HOST_HELD | HOST_STEERED | HOST_KEPT;

export function carryHosts(from: Core, to: Core, nowMs: number): void {
  const carry = (host: number): void => {
    if (hostClock(from, host) > nowMs || hostFlag(from.store, host, FLAGS)) {
      carryHost(from, to, host);
    }
  };
  const { hosts } = from;
  for (let host = hostNextBusy(hosts, 0); host !== 0; host = hostNextBusy(hosts, host)) carry(host);
  for (let host = hostNextIdle(hosts, 0); host !== 0; host = hostNextIdle(hosts, host)) carry(host);
}

function carryHost(from: Core, to: Core, host: number): void {
  const copy = hostOfName(to.hosts, hostName(from.store, host));
  if (copy === 0) return;
  for (const at of FLOATS) setFloat(to.store, copy, at, float(from.store, host, at));
  for (const at of WORDS) setWord(to.store, copy, at, word(from.store, host, at));
  setHostFlag(to.store, copy, word(from.store, host, HOST_FLAGS_WORD) & FLAGS, true);
}

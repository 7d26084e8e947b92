/** HostView: one politeness unit as a user sees and steers it. A host that is not known yet is made on the first change. */
import { readFields } from "../base/arguments.ts";
import { memoryFull, misuse } from "../base/errors.ts";
import type { Core } from "../frontier/core.ts";
import {
  blockHostByHand,
  holdHost,
  isHeld,
  setHostAddress,
  setHostDelay,
  setHostLimit,
} from "../frontier/politeness.ts";
import { addressOf } from "../frontier/groups.ts";
import { needSpare } from "../frontier/room.ts";
import { hostClock, strictestDelay, strictestLimit } from "../frontier/host-clock.ts";
import {
  HOST_ADMITTED_WORD,
  HOST_BYTES_WORD,
  HOST_FAILURES_WORD,
  HOST_LEASED_WORD,
  hostNamed,
  hostOfName,
} from "../structures/host-table.ts";
import { float, word } from "../structures/store.ts";
import type { Life } from "./life.ts";
import { timeMs } from "./request-fields.ts";
import type { HostView } from "./types.ts";

/** Room that a change of one host wants in the journal. */
const HOST_BYTES = 1024;

type Read = (core: Core, host: number) => number;

/** How the facts of one host are read. */
function readersOf(life: Life, key: string): Record<"read" | "settingOf", (get: Read) => number> {
  const hostIn = (core: Core): number => hostNamed(core.hosts, key);
  return {
    /** 0 of a host that is not known yet. */
    read(get) {
      const { core } = life.need();
      const host = hostIn(core);
      return host === 0 ? 0 : get(core, host);
    },
    /** Of a host that is not known yet, what the rules say. */
    settingOf(get) {
      const { core } = life.need();
      return get(core, hostIn(core));
    },
  };
}

export function hostView(life: Life, key: string): HostView {
  const { read, settingOf } = readersOf(life, key);
  const change = (act: (core: Core, host: number, nowMs: number) => void): void => {
    const { core, nowMs } = life.need();
    life.durable?.need(HOST_BYTES);
    needSpare(core);
    const host = hostOfName(core.hosts, key);
    if (host === 0) throw memoryFull();
    needSpare(core);
    act(core, host, nowMs);
    life.end(nowMs);
  };
  return {
    key,
    get delayMs() {
      return settingOf(strictestDelay);
    },
    set delayMs(ms: number) {
      checkDelay(ms);
      change((core, host, nowMs) => setHostDelay(core, host, ms, nowMs));
    },
    get limit() {
      return settingOf(strictestLimit);
    },
    set limit(limit: number) {
      checkLimit(limit);
      change((core, host, nowMs) => setHostLimit(core, host, limit, nowMs));
    },
    get leased() {
      return read((core, host) => word(core.store, host, HOST_LEASED_WORD));
    },
    get readyAt() {
      return read(hostClock);
    },
    get held() {
      return read((core, host) => Number(isHeld(core, host))) === 1;
    },
    get admitted() {
      return read((core, host) => word(core.store, host, HOST_ADMITTED_WORD));
    },
    get bytes() {
      return read((core, host) => float(core.store, host, HOST_BYTES_WORD));
    },
    get failures() {
      return read((core, host) => word(core.store, host, HOST_FAILURES_WORD));
    },
    get address(): string {
      return addressAt(life.need().core, key) as string;
    },
    set address(address: string) {
      checkAddress(address);
      change((core, host, nowMs) => setHostAddress(core, host, address, nowMs));
    },
    blockUntil(at) {
      const untilMs = timeMs(at, "at", "ARGUMENT_INVALID");
      change((core, host, nowMs) => blockHostByHand(core, host, untilMs, nowMs));
    },
    hold() {
      change((core, host, nowMs) => holdHost(core, host, true, nowMs));
    },
    unhold() {
      change((core, host, nowMs) => holdHost(core, host, false, nowMs));
    },
  };
}

/** What of a host can be set, each checked before any is. */
interface HostChange {
  delayMs?: number;
  limit?: number;
  address?: string;
}

export function readHostChange(given: HostChange): HostChange {
  if (given === undefined) throw misuse("ARGUMENT_INVALID", "change", given, "an object");
  const change = readFields(given, "change", ["delayMs", "limit", "address"]);
  const { delayMs, limit, address } = change;
  if (delayMs !== undefined) checkDelay(delayMs);
  if (limit !== undefined) checkLimit(limit);
  if (address !== undefined) checkAddress(address);
  return change;
}

export function checkHostKey(key: unknown): void {
  if (typeof key === "string" && key !== "") return;
  throw misuse("ARGUMENT_INVALID", "key", key, "a host such as 'example.com'");
}

function checkDelay(ms: unknown): void {
  if (typeof ms === "number" && Number.isFinite(ms) && ms >= 0) return;
  throw misuse("ARGUMENT_INVALID", "delayMs", ms, "a finite number of at least 0");
}

function checkLimit(limit: unknown): void {
  if (typeof limit === "number" && Number.isSafeInteger(limit) && limit >= 1 && limit < 2 ** 32) {
    return;
  }
  throw misuse("ARGUMENT_INVALID", "limit", limit, "a whole number of at least 1");
}

function checkAddress(address: unknown): void {
  if (typeof address === "string" && address.length <= 256) return;
  throw misuse("ARGUMENT_INVALID", "address", address, "a text such as '192.0.2.7'");
}

function addressAt(core: Core, key: string): string | undefined {
  const host = hostNamed(core.hosts, key);
  return host === 0 ? undefined : addressOf(core, host);
}

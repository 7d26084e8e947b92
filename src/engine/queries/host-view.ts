/** HostView: one politeness unit as a user reads and changes it. A host that does not exist yet is created by the first change. */
import { AMOUNT, argument, bare } from "../../base/argument-checks.ts";
import { memoryFull, misuse } from "../../base/errors.ts";
import { kind } from "../../base/fields.ts";
import type { Core } from "../../frontier/core.ts";
import {
  blockHostByHand,
  holdHost,
  isHeld,
  setHostAddress,
  setHostDelay,
  setHostLimit,
} from "../../frontier/politeness/politeness.ts";
import { addressOf } from "../../frontier/politeness/host-groups.ts";
import { needSpare } from "../../frontier/records/memory-reserve.ts";
import { hostClock, strictestDelay, strictestLimit } from "../../frontier/politeness/host-clock.ts";
import {
  HOST_ADMITTED_WORD,
  HOST_BLOCK_UNTIL_WORD,
  HOST_BYTES_WORD,
  HOST_FAILURES_WORD,
  HOST_LEASED_WORD,
  hostNamed,
  hostOfName,
} from "../../structures/hosts/host-table.ts";
import { float, word } from "../../structures/store.ts";
import type { Lifecycle } from "../lifecycle/lifecycle.ts";
import { TIME } from "../intake/request-fields.ts";
import type { HostView } from "../types/frontier-types.ts";

/** Room that a change of one host wants in the journal. */
const HOST_BYTES = 1024;

type Read = (core: Core, host: number) => number;

/**
 * A host's key as the table has it: hosts and domains are in lower case. A key from a user's function or a request is used as it is.
 */
export function unitKeyOf({ active, hasOwnUnits, hosts }: Core, key: string): string {
  const isOwn = hasOwnUnits && hostNamed(hosts, key) !== 0;
  const isExact = isOwn || active.some(({ policy }) => typeof policy.by === "function");
  return isExact ? key : key.toLowerCase();
}

/** How the facts of one host are read. */
function readersOf(
  lifecycle: Lifecycle,
  key: string,
): Record<"read" | "settingOf", (get: Read) => number> {
  const hostIn = (core: Core): number => hostNamed(core.hosts, key);
  return {
    /** 0 of a host that is not known yet. */
    read(get) {
      const { core } = lifecycle.need();
      const host = hostIn(core);
      return host === 0 ? 0 : get(core, host);
    },
    /** Of a host that is not known yet, the rules' settings. */
    settingOf(get) {
      const { core } = lifecycle.need();
      return get(core, hostIn(core));
    },
  };
}

export function hostView(lifecycle: Lifecycle, key: string): HostView {
  const { read, settingOf } = readersOf(lifecycle, key);
  const change = (act: Change): void => changeHost(lifecycle, key, act);
  return {
    key,
    get delayMs() {
      return settingOf(strictestDelay);
    },
    set delayMs(ms: number) {
      AMOUNT(ms, "delayMs", "ARGUMENT_INVALID");
      change((core, host, nowMs) => setHostDelay(core, host, ms, nowMs));
    },
    get limit() {
      return settingOf(strictestLimit);
    },
    set limit(limit: number) {
      LIMIT(limit, "limit", "ARGUMENT_INVALID");
      change((core, host, nowMs) => setHostLimit(core, host, limit, nowMs));
    },
    get leased() {
      return leasedOf(lifecycle, key);
    },
    get readyAt() {
      return read(hostClock);
    },
    get blockedUntil() {
      return read((core, host) => float(core.store, host, HOST_BLOCK_UNTIL_WORD));
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
      return addressAt(lifecycle.need().core, key) as string;
    },
    set address(address: string) {
      ADDRESS(address, "address", "ARGUMENT_INVALID");
      change((core, host, nowMs) => setHostAddress(core, host, address, nowMs));
    },
    blockUntil(at) {
      blockHost(lifecycle, key, at);
    },
    hold() {
      change((core, host, nowMs) => holdHost(core, host, true, nowMs));
    },
    unhold() {
      change((core, host, nowMs) => holdHost(core, host, false, nowMs));
    },
  };
}

type Change = (core: Core, host: number, nowMs: number) => void;

function changeHost(lifecycle: Lifecycle, key: string, act: Change): void {
  const { core, nowMs } = lifecycle.need();
  lifecycle.durable?.need(HOST_BYTES);
  needSpare(core);
  const host = hostOfName(core.hosts, key);
  if (host === 0) throw memoryFull();
  act(core, host, nowMs);
  lifecycle.end(nowMs);
}

export function blockHost(
  lifecycle: Lifecycle,
  key: string,
  at: number | Date,
  limit?: number,
): void {
  const untilMs = TIME(at, "at", "ARGUMENT_INVALID");
  changeHost(lifecycle, key, (core, host, nowMs) => {
    if (limit !== undefined) setHostLimit(core, host, limit, nowMs);
    blockHostByHand(core, host, untilMs, nowMs);
  });
}

/** Leases of a host that are out. */
export function leasedOf(lifecycle: Lifecycle, key: string): number {
  const { core } = lifecycle.need();
  const host = hostNamed(core.hosts, key);
  return host === 0 ? 0 : word(core.store, host, HOST_LEASED_WORD);
}

/** What of a host can be set, each checked before any is. */
export interface HostChange {
  delayMs?: number;
  limit?: number;
  address?: string;
}

const LIMIT = kind<number>(
  "a whole number of at least 1",
  (value) => Number.isSafeInteger(value) && Number(value) >= 1 && Number(value) < 2 ** 32,
);
const ADDRESS = kind<string>(
  "a string such as '192.0.2.7'",
  (value) => typeof value === "string" && value.length <= 256,
);

const readChange = argument<HostChange>("change", {
  delayMs: bare("delayMs", AMOUNT),
  limit: bare("limit", LIMIT),
  address: bare("address", ADDRESS),
});

export function readHostChange(given: HostChange): HostChange {
  if (given !== undefined) return readChange(given);
  throw misuse("ARGUMENT_INVALID", "change", given, "an object");
}

export function checkHostKey(key: unknown): void {
  if (typeof key === "string" && key !== "") return;
  throw misuse("ARGUMENT_INVALID", "key", key, "a host such as 'example.com'");
}

function addressAt(core: Core, key: string): string | undefined {
  const host = hostNamed(core.hosts, key);
  return host === 0 ? undefined : addressOf(core, host);
}

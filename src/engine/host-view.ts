/** HostView: one politeness unit as a user sees and steers it. A host that is not known yet is made on the first change. */
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
import { hostClock, strictestDelay, strictestLimit } from "../frontier/host-clock.ts";
import {
  HOST_FAILURES_WORD,
  HOST_LEASED_WORD,
  hostNamed,
  hostOfName,
} from "../structures/host-table.ts";
import { word } from "../structures/store.ts";
import type { Life } from "./life.ts";
import { timeMs } from "./request.ts";
import type { HostView } from "./types.ts";

/** Room that a change of one host wants in the journal. */
const HOST_BYTES = 1024;

export function hostView(life: Life, key: string): HostView {
  const read = (get: (core: Core, host: number) => number, otherwise: number): number => {
    const { core } = life.need();
    const host = hostNamed(core.hosts, key);
    return host === 0 ? otherwise : get(core, host);
  };
  /** Of a host that is not known yet, what the rules say. */
  const settingOf = (get: (core: Core, host: number) => number): number => {
    const { core } = life.need();
    return get(core, hostNamed(core.hosts, key));
  };
  const change = (act: (core: Core, host: number, nowMs: number) => void): void => {
    const { core, nowMs } = life.need();
    life.durable?.need(HOST_BYTES);
    const host = hostOfName(core.hosts, key);
    if (host === 0) throw memoryFull();
    act(core, host, nowMs);
    life.end(nowMs);
  };
  return {
    key,
    get delayMs() {
      return settingOf(strictestDelay);
    },
    set delayMs(ms: number) {
      if (!(Number.isFinite(ms) && ms >= 0)) {
        throw misuse("ARGUMENT_INVALID", "delayMs", ms, "a finite number of at least 0");
      }
      change((core, host, nowMs) => setHostDelay(core, host, ms, nowMs));
    },
    get limit() {
      return settingOf(strictestLimit);
    },
    set limit(limit: number) {
      if (!(Number.isSafeInteger(limit) && limit >= 1 && limit < 2 ** 32)) {
        throw misuse("ARGUMENT_INVALID", "limit", limit, "a whole number of at least 1");
      }
      change((core, host, nowMs) => setHostLimit(core, host, limit, nowMs));
    },
    get leased() {
      return read((core, host) => word(core.store, host, HOST_LEASED_WORD), 0);
    },
    get readyAt() {
      return read(hostClock, 0);
    },
    get held() {
      return read((core, host) => Number(isHeld(core, host)), 0) === 1;
    },
    get failures() {
      return read((core, host) => word(core.store, host, HOST_FAILURES_WORD), 0);
    },
    get address(): string {
      return addressAt(life.need().core, key) as string;
    },
    set address(address: string) {
      checkAddress(address);
      change((core, host, nowMs) => setHostAddress(core, host, address, nowMs));
    },
    blockUntil(at) {
      const untilMs = timeMs(at, "at");
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

function checkAddress(address: unknown): void {
  if (typeof address === "string" && address.length <= 256) return;
  throw misuse("ARGUMENT_INVALID", "address", address, "a text such as '192.0.2.7'");
}

function addressAt(core: Core, key: string): string | undefined {
  const host = hostNamed(core.hosts, key);
  return host === 0 ? undefined : addressOf(core, host);
}

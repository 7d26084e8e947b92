/**
 * After an opening no host and no group waits much longer than its delay: a clock that is ahead of it by more than SLACK_MS was set before
 * the machine's clock was set back. A block is a time that a host or a user named; it stays.
 *
 *   readyAt of a file ─▶ more than now + the longest delay that could have set it + SLACK_MS? ─▶ now + that delay
 *
 * Less than SLACK_MS may be a delay that was longer when it was set, and is waited for.
 */
import {
  GROUP_CLOCKED_WORD,
  GROUP_READY_AT_WORD,
  groupEach,
} from "../../structures/hosts/group-table.ts";
import {
  HOST_ADAPTIVE_WORD,
  HOST_DELAY_WORD,
  HOST_READY_AT_WORD,
  hostNextBusy,
  hostNextIdle,
} from "../../structures/hosts/host-table.ts";
import { heapUpdate } from "../../structures/ordering/heap.ts";
import { float, word } from "../../structures/store.ts";
import type { Core } from "../core.ts";
import { needRoom } from "../records/memory-reserve.ts";
import { settleHost } from "../scheduling/schedule.ts";
import { spillOverBudget } from "../scheduling/spill-control.ts";
import { bringHostsThat } from "../scheduling/spill-hosts.ts";
import { setGroupClock } from "./group-clocks.ts";
import { setReadyAt, strictestDelay } from "./host-clock.ts";

const SLACK_MS = 600_000;

/** The clock of a host, less the host's own delay: what is ahead of now by more than any rule's delay was set by another clock. */
export function lessOwnDelay(core: Core, host: number): number {
  return float(core.store, host, HOST_READY_AT_WORD) - ownDelay(core, host);
}

/**
 * Bounds the clocks of all groups and hosts: those on disk come back for it, a block at a time, and make room for the next. `latest` is the
 * highest `lessOwnDelay` that files named.
 */
export function boundClocks(core: Core, latest: number, nowMs: number): void {
  boundGroups(core, nowMs);
  const delayMs = strictestDelay(core, 0);
  if (latest <= nowMs + delayMs + SLACK_MS) return;
  const boundOf = (host: number): number => nowMs + Math.max(delayMs, ownDelay(core, host));
  const { hosts, store } = core;
  const isAhead = (host: number): boolean =>
    float(store, host, HOST_READY_AT_WORD) > boundOf(host) + SLACK_MS;
  const bound = (host: number): void => {
    if (!isAhead(host)) return;
    needRoom(core);
    setReadyAt(core, host, boundOf(host));
    settleHost(core, host, nowMs);
  };
  for (let host = hostNextBusy(hosts, 0); host !== 0; host = hostNextBusy(hosts, host)) bound(host);
  for (let host = hostNextIdle(hosts, 0); host !== 0; host = hostNextIdle(hosts, host)) bound(host);
  // Those on disk last: what goes there meanwhile is bounded.
  bringHostsThat(core, isAhead, (brought) => {
    brought.forEach(bound);
    spillOverBudget(core, nowMs);
  });
}

/** The delay set by hand or found from latencies; 0: there is none. */
function ownDelay({ store }: Core, host: number): number {
  const byHand = float(store, host, HOST_DELAY_WORD);
  return Math.max(byHand, float(store, host, HOST_ADAPTIVE_WORD), 0);
}

function boundGroups(core: Core, nowMs: number): void {
  const delays = core.active.flatMap(({ policy }) => policy.groups.map(({ delayMs }) => delayMs));
  const boundMs = nowMs + Math.max(0, ...delays);
  const { store } = core;
  groupEach(core.groups, (group) => {
    if (float(store, group, GROUP_READY_AT_WORD) <= boundMs + SLACK_MS) return;
    setGroupClock(core, group, boundMs);
    if (word(store, group, GROUP_CLOCKED_WORD) !== 0) {
      heapUpdate(core.groupClocks, group, boundMs, 0);
    }
  });
}

/**
 * Room `src/frontier/politeness`: when a host or a group of hosts may go: delays, limits, back-off, budgets, clocks
 * above hosts. Decides readiness, never order.
 */

/**
 * Politeness: what a host learns from outcomes (adaptive delay, back-off, Retry-After, budgets) and by hand.
 * The clocks themselves stand in layout/records/host.ts; who may go is decided in schedule.ts.
 */
import {
  HOST_ADAPTIVE_WORD,
  HOST_ADMITTED_WORD,
  HOST_BLOCK_UNTIL_WORD,
  HOST_BYTES_WORD,
  HOST_DELAY_WORD,
  HOST_FAILURES_WORD,
  HOST_FLAGS_WORD,
  HOST_HELD,
  HOST_KEPT,
  HOST_LIMIT_WORD,
  HOST_STEERED,
  setHostFlag,
} from "../../structures/hosts/host-table.ts";
import { float, setFloat, setWord, word } from "../../structures/store.ts";
import { type Core, ruleOf } from "../core.ts";
import { LOG_HOST_ALL } from "../records/transition-log.ts";
import type { FrontierPolicy, Outcome } from "../rules/rule-policy.ts";
import { memberAddress, setMemberAddress } from "../../structures/hosts/group-table.ts";
import { advanceHost, moveAddress } from "./host-groups.ts";
import { setBlockUntil } from "./host-clock.ts";
import { recordLatency } from "../../base/time/latency-histogram.ts";
import { assertRoom } from "../records/memory-reserve.ts";
import { settleHost } from "../scheduling/schedule.ts";
import { takeSpilled } from "../scheduling/spill-control.ts";
import { failRecord, hostOf, sequenceOf } from "../records/transitions.ts";
import { listRecords } from "../records/record-walk.ts";

/** Statuses that mean "not now": counted as failures of the host, whatever the result of the lease. */
const TOO_MANY_REQUESTS = 429;
const SERVER_ERRORS = 500;

declare const VISITED: unique symbol;
/** The host of a visit that may end: what its end may need is in memory (`readyVisit`). */
export type VisitedHost = number & { readonly [VISITED]: true };

/** Takes in what one visit showed, before it ends: delay, bytes, Retry-After. @hot */
export function takeOutcome(
  core: Core,
  host: number,
  policy: FrontierPolicy,
  outcome: Outcome,
  nowMs: number,
): void {
  const { store } = core;
  const { adaptive } = policy;
  const { latencyMs, bytes, retryAfterMs } = outcome;
  if (isAmount(latencyMs)) recordLatency(core.leaseTimes.fetches, latencyMs);
  if (adaptive !== undefined && isAmount(latencyMs)) {
    const delayMs = Math.min(Math.max(adaptive.factor * latencyMs, adaptive.minMs), adaptive.maxMs);
    setFloat(store, host, HOST_ADAPTIVE_WORD, delayMs);
  }
  if (isAmount(bytes)) setFloat(store, host, HOST_BYTES_WORD, spent(core, host) + bytes);
  if (isAmount(retryAfterMs)) blockHost(core, host, nowMs + retryAfterMs);
  if (outcome.address !== undefined) setAddress(core, host, outcome.address, nowMs);
  core.log?.host(host, LOG_HOST_ALL);
}

/** Whether a status is a failure of the host, whatever the worker made of the page. */
export function isBadStatus(status: number | undefined): boolean {
  return status !== undefined && (status === TOO_MANY_REQUESTS || status >= SERVER_ERRORS);
}

/** Whether a status shows that the host answers, be it that a page is not there. */
export function isAnswer(status: number | undefined): boolean {
  return status !== undefined && status >= 100 && !isBadStatus(status);
}

/**
 * Before a visit ends: where its failure ends all of its host, what that one has on disk comes back, so that nothing has to be read
 * while things change. Returns the host.
 */
export function readyVisit(core: Core, record: number, isFailure: boolean): VisitedHost {
  const host = hostOf(core, record) as VisitedHost;
  if (!isFailure || core.spilling === undefined) return host;
  const backoff = ruleOf(core, record).policy.hostBackoff;
  if (backoff === undefined) return host;
  if (word(core.store, host, HOST_FAILURES_WORD) + 1 < backoff.giveUpAfter) return host;
  takeSpilled(
    core,
    (other) => hostOf(core, other) === host,
    () => {},
    host,
  );
  return host;
}

/** Counts a visit for the breaker and for back-off, once its record has its new state: the host's last failure takes all of its records. @hot */
export function countVisit(
  core: Core,
  host: VisitedHost,
  policy: FrontierPolicy,
  isFailure: boolean,
  nowMs: number,
): void {
  if (isFailure) core.sink.failure(nowMs);
  const { store } = core;
  const backoff = policy.hostBackoff;
  if (backoff === undefined) return;
  const failures = isFailure ? word(store, host, HOST_FAILURES_WORD) + 1 : 0;
  const hadFailures = word(store, host, HOST_FAILURES_WORD) !== failures;
  setWord(store, host, HOST_FAILURES_WORD, failures);
  if (failures < backoff.after) {
    if (hadFailures) core.log?.host(host, LOG_HOST_ALL);
    return;
  }
  // 2^40 ms is 34 years: the exponent is bounded before the multiplication, maxMs bounds the rest.
  const doublings = Math.min(failures - backoff.after, 40);
  blockHost(core, host, nowMs + Math.min(backoff.maxMs, backoff.baseMs * 2 ** doublings));
  settleHost(core, host, nowMs);
  core.log?.host(host, LOG_HOST_ALL);
  if (failures >= backoff.giveUpAfter) giveUp(core, host, nowMs);
}

/**
 * The address of a host is known, or has changed: from now on it goes, and its leases count, in that address's group.
 * '' is not known.
 */
function setAddress(core: Core, host: number, address: string, nowMs: number): void {
  if ((memberAddress(core.store, host) ?? "") === address) return;
  assertRoom(setMemberAddress(core.store, host, address));
  moveAddress(core, host, nowMs);
  settleHost(core, host, nowMs);
  advanceHost(core, host, nowMs);
  core.log?.address(host);
}

/** The same by hand: the host is kept, and so is what is known of it. */
export function setHostAddress(core: Core, host: number, address: string, nowMs: number): void {
  setHostFlag(core.store, host, HOST_KEPT, true);
  setAddress(core, host, address, nowMs);
  core.log?.host(host, LOG_HOST_ALL);
}

/** Blocks a host until `untilMs`; never shortens an earlier block. */
function blockHost(core: Core, host: number, untilMs: number): void {
  const { store } = core;
  if (untilMs <= float(store, host, HOST_BLOCK_UNTIL_WORD)) return;
  setBlockUntil(core, host, untilMs);
  setHostFlag(store, host, HOST_STEERED, true);
}

/** Sets a block by hand, also an earlier one. */
export function blockHostByHand(core: Core, host: number, untilMs: number, nowMs: number): void {
  setBlockUntil(core, host, untilMs);
  markSteered(core, host, HOST_STEERED, nowMs);
}

export function holdHost(core: Core, host: number, isHeld: boolean, nowMs: number): void {
  setHostFlag(core.store, host, HOST_HELD, isHeld);
  markSteered(core, host, HOST_STEERED | HOST_KEPT, nowMs);
}

export function setHostDelay(core: Core, host: number, delayMs: number, nowMs: number): void {
  setFloat(core.store, host, HOST_DELAY_WORD, delayMs);
  markSteered(core, host, HOST_STEERED | HOST_KEPT, nowMs);
}

/** 0 takes the setting back: the rule decides again. */
export function setHostLimit(core: Core, host: number, limit: number, nowMs: number): void {
  setWord(core.store, host, HOST_LIMIT_WORD, limit);
  markSteered(core, host, HOST_STEERED | HOST_KEPT, nowMs);
}

/** Marks a host as changed by hand, settles it under its new settings, and logs it. */
function markSteered(core: Core, host: number, flags: number, nowMs: number): void {
  setHostFlag(core.store, host, flags, true);
  settleHost(core, host, nowMs);
  core.log?.host(host, LOG_HOST_ALL);
}

export function isHeld(core: Core, host: number): boolean {
  return (word(core.store, host, HOST_FLAGS_WORD) & HOST_HELD) !== 0;
}

/** Whether the budget of a host (0: one not known yet) lets one more record in. */
export function hasBudget(core: Core, policy: FrontierPolicy, host: number): boolean {
  if (host === 0) return policy.budgetUrls > 0 && policy.budgetBytes > 0;
  if (word(core.store, host, HOST_ADMITTED_WORD) >= policy.budgetUrls) return false;
  return spent(core, host) < policy.budgetBytes;
}

/** Counts an admission; a host with a budget is never forgotten, or it would start with a new one. */
export function spendBudget(core: Core, host: number): void {
  const { store } = core;
  setWord(store, host, HOST_ADMITTED_WORD, word(store, host, HOST_ADMITTED_WORD) + 1);
  setHostFlag(store, host, HOST_KEPT, true);
}

export function isBudgeted({ budgetUrls, budgetBytes }: FrontierPolicy): boolean {
  return budgetUrls !== Number.POSITIVE_INFINITY || budgetBytes !== Number.POSITIVE_INFINITY;
}

function spent(core: Core, host: number): number {
  return float(core.store, host, HOST_BYTES_WORD);
}

/** Everything the host has pending or waiting fails, in the order of its coming: it has not answered for too long. All of it is in memory. */
function giveUp(core: Core, host: number, nowMs: number): void {
  const noted = listRecords(core, new Set(["pending", "waiting"]));
  const left: number[] = [];
  for (let index = 0; index < noted.count; index++) {
    const record = noted.handles[index] as number;
    if (hostOf(core, record) === host) left.push(record);
  }
  left.sort((a, b) => sequenceOf(core, a) - sequenceOf(core, b));
  for (const record of left) failRecord(core, record, "host-gave-up", nowMs);
}

function isAmount(value: number | undefined): value is number {
  return value !== undefined && Number.isFinite(value) && value >= 0;
}

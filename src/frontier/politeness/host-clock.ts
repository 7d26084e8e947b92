/**
 * Host clock: when a host may go again and how many leases it may have, by its own settings and a rule's.
 *
 *   delay   set by hand, else from latencies where the rule adapts, else the rule's
 *   limit   set by hand, else the rule's perHost
 *
 * Where several rules work on one host, the rule of the record that is handed out, or whose visit ends, sets the delay that
 * follows, and each rule heeds its own limit against all leases of the host.
 */
import {
  HOST_ADAPTIVE_WORD,
  HOST_BLOCK_UNTIL_WORD,
  HOST_DELAY_WORD,
  HOST_LIMIT_WORD,
  HOST_PASSED,
  HOST_QUEUES_WORD,
  HOST_READY_AT_WORD,
  HOST_STEERED,
  QUEUE_NEXT_WORD,
  RULE_POLITE,
  hostFlag,
  setHostFlag,
} from "../../structures/hosts/host-table.ts";
import { float, setFloat, word } from "../../structures/store.ts";
import { type Core, type RuleState, ruleOfQueue } from "../core.ts";
import type { FrontierPolicy } from "../rules/rule-policy.ts";

/** The time before which a host may not go, or might not before it passed. */
export function hostClock(core: Core, host: number): number {
  const readyAt = float(core.store, host, HOST_READY_AT_WORD);
  return Math.max(readyAt, float(core.store, host, HOST_BLOCK_UNTIL_WORD));
}

/**
 * The time before which a host may not go; −Infinity once that has passed. A clock that has passed stays so, wherever the machine's
 * clock is set, until it is set anew: who may go does not depend on how often it is read.
 */
export function hostHold(core: Core, host: number): number {
  return hostFlag(core.store, host, HOST_PASSED) ? Number.NEGATIVE_INFINITY : hostClock(core, host);
}

/** Sets the delay clock of a host; it has not passed then. */
export function setReadyAt(core: Core, host: number, readyAt: number): void {
  setFloat(core.store, host, HOST_READY_AT_WORD, readyAt);
  setHostFlag(core.store, host, HOST_PASSED, false);
}

/**
 * Restores the delay clock of a host to its value from before the hand-out: it had passed then, so the host may go unless it is blocked.
 */
export function restoreReadyAt(core: Core, host: number, readyAt: number, nowMs: number): void {
  setFloat(core.store, host, HOST_READY_AT_WORD, readyAt);
  const isBlocked = float(core.store, host, HOST_BLOCK_UNTIL_WORD) > nowMs;
  setHostFlag(core.store, host, HOST_PASSED, !isBlocked);
}

/** Sets the block of a host; nothing has passed then. */
export function setBlockUntil(core: Core, host: number, untilMs: number): void {
  setFloat(core.store, host, HOST_BLOCK_UNTIL_WORD, untilMs);
  setHostFlag(core.store, host, HOST_PASSED, false);
}

/** The gap between visits of a host: by hand, else from its latencies, else the rule's. */
export function hostDelay(core: Core, host: number, policy: FrontierPolicy): number {
  const byHand = float(core.store, host, HOST_DELAY_WORD);
  if (byHand >= 0) return byHand;
  if (policy.adaptive === undefined) return policy.delayMs;
  const adaptive = float(core.store, host, HOST_ADAPTIVE_WORD);
  return adaptive >= 0 ? adaptive : firstDelay(policy);
}

/** The gap of a host of which nothing is known yet. */
export function firstDelay({ delayMs, adaptive }: FrontierPolicy): number {
  if (adaptive === undefined) return delayMs;
  return Math.min(Math.max(delayMs, adaptive.minMs), adaptive.maxMs);
}

/** Most leases of a host at once; Infinity without politeness. */
export function hostLimit(core: Core, host: number, rule: RuleState): number {
  const byHand = word(core.store, host, HOST_LIMIT_WORD);
  return byHand > 0 ? byHand : ruleLimit(rule);
}

function ruleLimit({ policy }: RuleState): number {
  return policy.isPolite ? policy.perHost : Number.POSITIVE_INFINITY;
}

/** Whether a host's turn and delay mean anything: without politeness they do once it is steered. */
export function isClockKept(core: Core, host: number, ruleFlags: number): boolean {
  return (ruleFlags & RULE_POLITE) !== 0 || hostFlag(core.store, host, HOST_STEERED);
}

/** The longest gap that a rule with work on this host keeps; of host 0: that any rule keeps. */
export function strictestDelay(core: Core, host: number): number {
  const delays = rulesOn(core, host).map(({ policy }) =>
    host === 0 ? firstDelay(policy) : hostDelay(core, host, policy),
  );
  return delays.reduce((a, b) => Math.max(a, b), 0);
}

/** The fewest leases at once that a rule with work on this host allows; of host 0: that any rule allows. */
export function strictestLimit(core: Core, host: number): number {
  const limits = rulesOn(core, host).map((rule) =>
    host === 0 ? ruleLimit(rule) : hostLimit(core, host, rule),
  );
  return limits.reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY);
}

/** Rules that have, or had, work on a host; all of the set where there are none. */
function rulesOn(core: Core, host: number): readonly RuleState[] {
  const { store } = core;
  const rules: RuleState[] = [];
  let queue = host === 0 ? 0 : word(store, host, HOST_QUEUES_WORD);
  for (; queue !== 0; queue = word(store, queue, QUEUE_NEXT_WORD)) {
    const rule = ruleOfQueue(core, queue);
    if (!rule.isGone) rules.push(rule); // what stands there still goes out under another
  }
  if (rules.length > 0) return rules;
  return core.active.length > 0 ? core.active : [core.none];
}

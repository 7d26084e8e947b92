/**
 * Politeness of the naive model: the effect of a visit and its outcome on a host and on the breaker.
 *
 *   readyAt       hand-out and end of visit set it to now + delay; a release takes its own back
 *   blockedUntil  Retry-After, blockUntil and host back-off raise it; nothing lowers it
 *   turn          of a new host: before all others, or where its domain has had its share of first turns later on
 *   failures      retry, fail except with a status of an answer, status ≥ 500 or 429, not expiry; in a row
 *                 per host, in a window for the breaker
 */
import type { SyncOutcome, SyncPoliteness, SyncPolicy } from "./frontier-surface.ts";
import { endGroups, setAddress } from "./model-groups.ts";
import { ruleOf } from "./model-rules.ts";
import {
  delayOf,
  failRecord,
  hostOf,
  isClockKept,
  isPolite,
  isUpcoming,
  type Model,
  type ModelHost,
  type ModelRecord,
} from "./model-state.ts";

export function endVisit(model: Model, record: ModelRecord, endMs = model.now()): void {
  const host = hostOf(model, record.host);
  const { policy } = ruleOf(model, record);
  host.leased -= 1;
  endGroups(model, host, policy, model.laws.endForGroups(endMs, model.now()));
  if (!isClockKept(host, policy)) return;
  host.readyAt = model.laws.readyAfterVisit(host, endMs, delayOf(host, policy));
}

/** The last latency sets the delay, Retry-After blocks, bytes are spent. Comes before endVisit. */
export function takeOutcome(model: Model, record: ModelRecord, outcome: SyncOutcome): void {
  const host = hostOf(model, record.host);
  const adaptive = ruleOf(model, record).policy.politeness?.adaptive;
  if (adaptive !== undefined && outcome.latencyMs !== undefined) {
    host.learnedMs = model.laws.learnedDelay(outcome.latencyMs, adaptive);
  }
  if (outcome.retryAfterMs !== undefined) {
    block(model, host, model.laws.endOfRetryAfter(model.now(), outcome.retryAfterMs));
  }
  host.bytes += outcome.bytes ?? 0;
  if (outcome.address !== undefined) setAddress(model, record.host, outcome.address);
}

function block(model: Model, host: ModelHost, untilMs: number): void {
  const before = host.blockedUntil;
  host.blockedUntil = model.laws.blockedUntil(before, untilMs);
  if (host.blockedUntil !== before) host.isSteered = true;
}

/** Counts a visit for host back-off and breaker. Comes after the record has its new state. */
export function countVisit(
  model: Model,
  record: ModelRecord,
  { policy, end }: { policy: SyncPolicy; end: "success" | "failure" },
): void {
  const host = hostOf(model, record.host);
  const { hostBackoff } = policy.politeness ?? {};
  if (end === "failure") countForBreaker(model);
  if (hostBackoff === undefined) return;
  if (end === "success") {
    host.failuresInRow = model.laws.failuresAfterSuccess(host.failuresInRow);
    return;
  }
  host.failuresInRow += 1;
  backOff(model, host, hostBackoff);
}

function backOff(
  model: Model,
  host: ModelHost,
  hostBackoff: NonNullable<SyncPoliteness["hostBackoff"]>,
): void {
  const { after, baseMs, maxMs, giveUpAfter = Number.POSITIVE_INFINITY } = hostBackoff;
  if (model.laws.isBackedOff(host.failuresInRow, after)) {
    const grown = baseMs * 2 ** (host.failuresInRow - after);
    block(model, host, model.now() + Math.min(grown, maxMs));
  }
  if (!model.laws.givesUp(host.failuresInRow, giveUpAfter)) return;
  const left = model.records.filter((r) => r.host === host.key && isUpcoming(r));
  left.sort((a, b) => a.sequence - b.sequence);
  for (const record of left) failRecord(model, record, "host-gave-up");
}

function countForBreaker(model: Model): void {
  const { breaker } = model.options;
  if (breaker === undefined) return;
  const now = model.now();
  model.failureTimes.push(now);
  model.failureTimes = model.failureTimes.filter((at) =>
    model.laws.countsForBreaker(at, now, breaker.withinMs),
  );
  if (model.failureTimes.length < breaker.failures) return;
  model.brokenUntil = now + breaker.pauseMs;
  model.failureTimes = [];
}

/** The first turns of hosts that have something pending under a rule that bounds the share of new hosts of a domain. */
export function decideTurns(model: Model): void {
  const pending = model.records.filter((r) => r.state === "pending");
  for (const record of pending.sort((a, b) => a.sequence - b.sequence)) {
    const host = hostOf(model, record.host);
    const { policy } = ruleOf(model, record);
    const { freshHosts = "first" } = policy;
    if (host.isDecided || host.turn !== undefined) continue;
    if (freshHosts === "first" || !isPolite(policy)) continue;
    host.isDecided = true;
    const domain = host.key.replace(/:\d+$/, "").split(".").slice(-2).join(".");
    const at = model.fresh.get(domain) ?? 0;
    const gap = 1 / (freshHosts === "share" ? 0.1 : freshHosts);
    model.fresh.set(domain, Math.max(at, model.nextLease) + gap);
    if (at <= model.nextLease) continue;
    // Turns are serials, which count from 0 here.
    host.turn = Math.floor(at) - 1 + (1 + (model.freshTurns++ % 4095)) / 4096;
  }
}

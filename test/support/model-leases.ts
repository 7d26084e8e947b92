/**
 * Transitions of the naive model: the clock's (settle), the hand-out and the five ends of a lease.
 *
 *   end        attempt  place            host
 *   done       counts   –                end of visit
 *   fail       counts   –                end of visit, a failure
 *   retry      counts   new sequence     end of visit, a failure
 *   expiry     counts   kept             end of visit
 *   release    –        kept             readyAt and turn as before the hand-out
 *
 * A record that returns fails instead when its attempts (not for release) or deliveries are used up.
 */
import type { SyncOutcome, SyncPolicy, SyncRetryOptions } from "./frontier-surface.ts";
import { rest, wakeResting } from "./model-epochs.ts";
import { cancelGroups, reserveGroups } from "./model-groups.ts";
import { countVisit, decideTurns, endVisit, takeOutcome } from "./model-hosts.ts";
import type { Laws } from "./model-laws.ts";
import { effectivePriority } from "./model-order.ts";
import { adoptAll, chargeRule, ruleOf } from "./model-rules.ts";
import {
  becomePending,
  DEFAULT_MAX_ATTEMPTS,
  delayOf,
  dueAtOf,
  DEFAULT_LEASE_MS,
  DEFAULT_MAX_DELIVERIES,
  failRecord,
  hostOf,
  isClockKept,
  type Model,
  type ModelHost,
  type ModelLease,
  type ModelRecord,
  takePlace,
} from "./model-state.ts";

/** The clock's work since the last call: expiries first, then records that became due. */
export function settle(model: Model): void {
  const { laws } = model;
  const now = model.now();
  const expired = model.records
    .filter((r) => r.lease !== undefined && laws.isLeaseOver(r.lease.deadlineMs, now))
    .sort((a, b) => leaseOf(a).deadlineMs - leaseOf(b).deadlineMs || bySerial(a, b));
  for (const record of expired) {
    model.counters.expired += 1;
    endVisit(model, record, leaseOf(record).deadlineMs);
    record.lease = undefined;
    record.attempts = laws.attemptsAfterExpiry(record.attempts);
    if (isSpent(model, record)) failRecord(model, record, "expired");
    else putBack(model, record);
  }
  const due = model.records.filter((r) => dueAtOf(r) <= now).sort(laws.compareDue);
  for (const record of due) {
    if (record.state === "done") wakeResting(model, record);
    else becomePending(record, laws.placeWhenDue(model, record));
  }
  adoptAll(model);
  decideTurns(model);
}

export function handOut(model: Model, record: ModelRecord): void {
  const now = model.now();
  const host = hostOf(model, record.host);
  const rule = ruleOf(model, record);
  chargeRule(model, rule);
  record.state = "leased";
  record.isAgain = false;
  record.deliveries += 1;
  record.lease = {
    serial: model.nextLease,
    deadlineMs: now + (model.options.leaseMs ?? DEFAULT_LEASE_MS),
    isClockKept: isClockKept(host, rule.policy),
    readyAtBefore: host.readyAt,
    readyAtSet: now + delayOf(host, rule.policy),
    turnBefore: host.turn,
    groups: reserveGroups(model, host, rule.policy),
  };
  model.nextLease += 1;
  host.leased += 1;
  if (!record.lease.isClockKept) return;
  host.readyAt = record.lease.readyAtSet;
  host.turn = record.lease.serial;
}

export function finishDone(model: Model, record: ModelRecord, outcome: SyncOutcome = {}): void {
  const { policy } = ruleOf(model, record);
  endLease(model, record, outcome);
  record.attempts += 1;
  record.state = "done";
  rest(model, record, outcome.changed);
  const { status = 0 } = outcome;
  const end = status >= 500 || status === 429 ? "failure" : "success";
  countVisit(model, record, { policy, end });
}

export function finishFailed(
  model: Model,
  record: ModelRecord,
  end: { reason: string | undefined; outcome: SyncOutcome | undefined },
): void {
  const { policy } = ruleOf(model, record);
  endLease(model, record, end.outcome ?? {});
  record.attempts += 1;
  failRecord(model, record, end.reason);
  const { status = 0 } = end.outcome ?? {};
  const hasAnswered = status >= 100 && status < 500 && status !== 429;
  countVisit(model, record, { policy, end: hasAnswered ? "success" : "failure" });
}

/** Retry; true when the record continues, false when it failed (also because its host gave up). */
export function finishRetry(model: Model, record: ModelRecord, options: SyncRetryOptions): boolean {
  const { policy } = ruleOf(model, record);
  endLease(model, record, options.outcome ?? {});
  record.attempts += 1;
  if (isSpent(model, record)) failRecord(model, record, options.reason);
  else if (isWornOut(model, record)) failRecord(model, record, "deliveries");
  else requeueLater(model, record, options);
  countVisit(model, record, { policy, end: "failure" });
  const goesOn = (record.state as string) !== "failed";
  adoptAll(model);
  return goesOn;
}

export function finishRelease(model: Model, record: ModelRecord): void {
  const lease = leaseOf(record);
  const host = hostOf(model, record.host);
  host.leased -= 1;
  // Only what this hand-out set is undone; later changes stay.
  if (lease.isClockKept) takeBack(model.laws, host, lease);
  cancelGroups(model, host, lease.groups);
  record.lease = undefined;
  record.sequence = model.laws.placeAfterRelease(model, record);
  putBack(model, record);
  adoptAll(model);
}

function takeBack(laws: Laws, host: ModelHost, lease: ModelLease): void {
  if (laws.releaseRestoresReadyAt(host, lease)) host.readyAt = lease.readyAtBefore;
  if (laws.releaseRestoresTurn(host, lease)) host.turn = lease.turnBefore;
}

/** Whether all its attempts are used up. */
function isSpent(model: Model, record: ModelRecord): boolean {
  const { maxAttempts = DEFAULT_MAX_ATTEMPTS } = ruleOf(model, record).policy;
  return model.laws.hasNoAttemptLeft(record.attempts, record.maxAttempts ?? maxAttempts);
}

export function leaseOf(record: ModelRecord): ModelLease {
  if (record.lease === undefined) throw new Error(`${record.url} is not leased`);
  return record.lease;
}

/** Returns a record to its old place. */
function putBack(model: Model, record: ModelRecord): void {
  if (isWornOut(model, record)) failRecord(model, record, "deliveries");
  else record.state = "pending";
}

function isWornOut(model: Model, record: ModelRecord): boolean {
  const { maxDeliveries = DEFAULT_MAX_DELIVERIES } = model.options;
  return model.laws.hasNoDeliveryLeft(record.deliveries, maxDeliveries);
}

function requeueLater(model: Model, record: ModelRecord, options: SyncRetryOptions): void {
  model.counters.retried += 1;
  const { policy } = ruleOf(model, record);
  const change = model.laws.retryPriority(policy);
  const priority = effectivePriority(model, record);
  if (options.priority !== undefined) record.shift += options.priority - priority;
  else if (typeof change === "number") record.shift += change;
  else record.shift += change.set - priority;
  const delayMs = options.delayMs ?? backoffMs(policy, model.laws.backoffSteps(record.attempts));
  if (delayMs <= 0) {
    becomePending(record, takePlace(model));
  } else {
    record.state = "waiting";
    record.dueAt = model.now() + delayMs;
  }
}

/** baseMs × factor^steps, at most maxMs; without jitter. */
function backoffMs({ backoff }: SyncPolicy, steps: number): number {
  if (backoff === undefined) return 0;
  const grown = backoff.baseMs * (backoff.factor ?? 2) ** steps;
  return Math.min(grown, backoff.maxMs ?? Number.POSITIVE_INFINITY);
}

function endLease(model: Model, record: ModelRecord, outcome: SyncOutcome): void {
  record.lease = undefined;
  takeOutcome(model, record, outcome);
  endVisit(model, record);
}

function bySerial(a: ModelRecord, b: ModelRecord): number {
  return leaseOf(a).serial - leaseOf(b).serial;
}

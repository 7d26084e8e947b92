/**
 * Leases: the right to work on one record until a deadline. A lease is a record and a fence, the sequence of its
 * hand-out; it lives while the deadline heap holds the record under that fence and the clock is before the deadline.
 *
 *   I1  At most one live lease per record.
 *   I2  A result after the deadline changes nothing and is counted.
 */
import {
  heapCount,
  heapHas,
  heapKeyOf,
  heapPeekHandle,
  heapPeekKey,
  heapPop,
  heapTieOf,
  heapUpdate,
} from "../structures/heap.ts";
import {
  recordAttempt,
  recordBlob,
  recordDeliveries,
  recordPriority,
  setRecordAttempt,
  setRecordPriority,
  blobMaxAttempts,
} from "../structures/record.ts";
import { clampPriority, type Core } from "./core.ts";
import type { Outcome } from "./policy.ts";
import { learn } from "./politeness.ts";
import { cancelVisit, endVisit, type HandOut, handOut, wakeHosts } from "./schedule.ts";
import {
  failRecord,
  finishRecord,
  hostOf,
  leaseRecord,
  retryRecord,
  returnRecord,
  wakeRecord,
} from "./transition.ts";

export interface RetryRequest {
  delayMs: number | undefined;
  priority: number | undefined;
  reason: string | undefined;
  outcome: Outcome | undefined;
}

/** Brings the core to `nowMs`: leases that ran out, records that became due, hosts that may go again. */
export function step(core: Core, nowMs: number): void {
  while (heapCount(core.deadlines) > 0 && heapPeekKey(core.deadlines) <= nowMs) {
    expire(core, heapPeekHandle(core.deadlines), nowMs);
  }
  while (heapCount(core.waiting) > 0 && heapPeekKey(core.waiting) <= nowMs) {
    const record = heapPeekHandle(core.waiting);
    heapPop(core.waiting);
    wakeRecord(core, record, nowMs);
  }
  wakeHosts(core, nowMs);
}

/** Leases the next record; the core must have been brought to `nowMs`. @hot */
export function leaseNext(core: Core, nowMs: number, out: HandOut): boolean {
  if (core.counters.leased >= core.limits.maxLeases) return false;
  if (!handOut(core, nowMs, out)) return false;
  leaseRecord(core, out.record, nowMs + core.limits.leaseMs, out.sequence);
  return true;
}

/** Whether this very hand-out still stands at `nowMs`. A lease that is late is counted by `countLate`. @hot */
export function isLive(core: Core, lease: HandOut, nowMs: number): boolean {
  const { deadlines } = core;
  if (!heapHas(deadlines, lease.record)) return false;
  if (heapTieOf(deadlines, lease.record) !== lease.sequence) return false;
  return nowMs < heapKeyOf(deadlines, lease.record);
}

export function countLate(core: Core): void {
  core.counters.lateResults++;
}

export function done(core: Core, lease: HandOut, outcome: Outcome | undefined, nowMs: number): void {
  const { record } = lease;
  const host = hostOf(core, record);
  learn(core, host, outcome, { isFailure: false, nowMs });
  endVisit(core, host, nowMs);
  finishRecord(core, record);
}

export function retry(
  core: Core,
  lease: HandOut,
  request: RetryRequest,
  nowMs: number,
): "requeued" | "failed" {
  const { record } = lease;
  const { store } = core;
  endFailedVisit(core, record, request.outcome, nowMs);
  const attempt = recordAttempt(store, record);
  if (attempt >= maxAttempts(core, record)) {
    failRecord(core, record, request.reason ?? "attempts");
    return "failed";
  }
  if (isOverDelivered(core, record)) {
    failRecord(core, record, "deliveries");
    return "failed";
  }
  setRecordAttempt(store, record, attempt + 1);
  setRecordPriority(store, record, retryPriority(core, record, request.priority));
  const delayMs = request.delayMs ?? backoffDelay(core, attempt);
  retryRecord(core, record, nowMs + delayMs, { nowMs, reason: request.reason });
  return "requeued";
}

export function fail(
  core: Core,
  lease: HandOut,
  result: { reason: string | undefined; outcome: Outcome | undefined },
  nowMs: number,
): void {
  endFailedVisit(core, lease.record, result.outcome, nowMs);
  failRecord(core, lease.record, result.reason ?? "failed");
}

/** Back to its place: no visit happened. */
export function release(core: Core, lease: HandOut, nowMs: number): void {
  const host = hostOf(core, lease.record);
  returnRecord(core, lease.record, "released", nowMs);
  cancelVisit(core, host, lease, nowMs);
}

export function extend(core: Core, lease: HandOut, ms: number): number {
  const deadlineMs = heapKeyOf(core.deadlines, lease.record) + ms;
  heapUpdate(core.deadlines, lease.record, deadlineMs, lease.sequence);
  return deadlineMs;
}

export function deadlineOf(core: Core, lease: HandOut): number {
  return heapKeyOf(core.deadlines, lease.record);
}

/** Attempts a record may have: its own number, else the rule's. */
export function maxAttempts(core: Core, record: number): number {
  const blob = recordBlob(core.store, record);
  const own = blob === 0 ? 0 : blobMaxAttempts(core.store, blob);
  return own > 0 ? own : core.rule.policy.maxAttempts;
}

/** A deadline passed: an attempt is gone, the place is kept. */
function expire(core: Core, record: number, nowMs: number): void {
  const host = hostOf(core, record);
  core.counters.expired++;
  core.sink.failure(nowMs);
  learn(core, host, undefined, { isFailure: true, nowMs });
  endVisit(core, host, nowMs);
  const attempt = recordAttempt(core.store, record);
  if (attempt >= maxAttempts(core, record)) {
    failRecord(core, record, "expired");
    return;
  }
  setRecordAttempt(core.store, record, attempt + 1);
  returnRecord(core, record, "expired", nowMs);
}

function endFailedVisit(
  core: Core,
  record: number,
  outcome: Outcome | undefined,
  nowMs: number,
): void {
  const host = hostOf(core, record);
  core.sink.failure(nowMs);
  learn(core, host, outcome, { isFailure: true, nowMs });
  endVisit(core, host, nowMs);
}

function isOverDelivered(core: Core, record: number): boolean {
  return recordDeliveries(core.store, record) >= core.limits.maxDeliveries;
}

function retryPriority(core: Core, record: number, asked: number | undefined): number {
  const { policy } = core.rule;
  if (asked !== undefined) return clampPriority(asked);
  if (policy.retrySet !== undefined) return policy.retrySet;
  return clampPriority(recordPriority(core.store, record) + policy.retryAdd);
}

/** Exponential back-off with jitter: baseMs × factor^(attempt − 1), at most maxMs, spread by ±jitter. */
function backoffDelay(core: Core, attempt: number): number {
  const { baseMs, factor, maxMs, jitter } = core.rule.policy.backoff;
  if (baseMs === 0) return 0;
  const delayMs = Math.min(maxMs, baseMs * factor ** Math.min(attempt - 1, 64));
  if (jitter === 0) return delayMs;
  return Math.min(maxMs, delayMs * (1 + jitter * (2 * core.random() - 1)));
}

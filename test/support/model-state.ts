/**
 * The state of the naive model: two plain collections and a few counters. Nothing is indexed and
 * nothing is cached; every answer is counted or sorted when it is needed.
 *
 *   record   one admitted request, for ever: its state changes, it never leaves the array
 *   host     one politeness unit, for ever
 *   group    a clock above hosts, by kind and name; its members are computed from the hosts (model-groups.ts)
 *   place    (effective priority, sequence); ONE counter assigns the sequences
 *   lease    lives inside its record while the record is leased
 *
 *   waiting ─due─▶ pending ─poll─▶ leased ─▶ done | failed | waiting | pending
 *                                  done, failed ─forget─▶ forgotten;  waiting, pending ─remove─▶ removed
 *   done, and comes again by itself at againAt ─its time─▶ pending (model-epochs.ts)
 */
import type { SyncOptions, SyncPolicy, SyncRule } from "./frontier-surface.ts";
import type { GroupHold } from "./model-groups.ts";
import type { Laws } from "./model-laws.ts";

export type ModelState =
  | "waiting"
  | "pending"
  | "leased"
  | "done"
  | "failed"
  | "forgotten"
  | "removed";

export interface ModelLease {
  serial: number;
  deadlineMs: number;
  /** Whether the hand-out changed the host's clock, so that release can undo it. */
  isClockKept: boolean;
  readyAtBefore: number;
  readyAtSet: number;
  turnBefore: number | undefined;
  groups: GroupHold[];
}

export interface ModelRecord {
  /** The value that the duplicate check compares, epoch included; undefined: a record without identity. */
  identity: string | undefined;
  epoch: string;
  url: string;
  method: string;
  host: string;
  /** The politeness unit that its request named; undefined: its URL's. */
  hostKey: string | undefined;
  state: ModelState;
  /** Serial of its rule; 0: it failed for want of a rule. */
  rule: number;
  /** Effective priority = asked − depth × depthPriority + shift; shift sums the retries' changes. */
  asked: number;
  shift: number;
  depthPriority: number;
  depth: number;
  sequence: number;
  start: boolean;
  dueAt: number;
  /** Attempts that ended: retry, expiry, done and fail count one, release none. */
  attempts: number;
  /** Its own maximum; undefined: its rule's. */
  maxAttempts: number | undefined;
  deliveries: number;
  data: unknown;
  reason: string | undefined;
  /** The order in which records failed; requeue takes them in that order. */
  failedOrder: number;
  /** Its request named its epoch: it never comes again by itself. */
  isOnce: boolean;
  /** When a done record comes again by itself; 0: it does not. */
  againAt: number;
  /** It came again by itself and was neither handed out nor put off since. */
  isAgain: boolean;
  /** Its own period of visits, where its rule keeps one; 0: none yet. */
  periodMs: number;
  lease: ModelLease | undefined;
  /** It was put as finished, and keeps its data. */
  isKept: boolean;
}

export interface ModelHost {
  key: string;
  /** Order of the first admitted record; undefined: settings only so far. */
  joined: number | undefined;
  /** Serial of the last lease; undefined: never leased. */
  turn: number | undefined;
  /** Its first turn was decided (model-hosts.ts, decideTurns). */
  isDecided: boolean;
  leased: number;
  readyAt: number;
  blockedUntil: number;
  isHeld: boolean;
  /** Its delay or limit was set by hand; a delay set by hand overrides one from latencies. */
  isSet: boolean;
  isDelaySet: boolean;
  /** Set by hand, blocked or held: rules without politeness respect it too. */
  isSteered: boolean;
  /** By hand, or undefined. */
  delayMs: number | undefined;
  limit: number | undefined;
  /** The delay from latencies. */
  learnedMs: number | undefined;
  failuresInRow: number;
  /** Known from an outcome or by hand. */
  address: string | undefined;
  admitted: number;
  bytes: number;
}

export interface ModelRule {
  serial: number;
  id: string;
  policy: SyncPolicy;
  match: SyncRule["match"];
  rate: number;
  order: number;
  pass: number;
  served: number;
  wasEligible: boolean;
  isGone: boolean;
}

export interface ModelCounters {
  pushed: number;
  accepted: number;
  deferred: number;
  duplicate: number;
  rejected: number;
  full: number;
  retried: number;
  expired: number;
  lateResults: number;
}

export interface Model {
  laws: Laws;
  options: SyncOptions;
  rules: ModelRule[];
  nextRule: number;
  currentPass: number;
  now: () => number;
  status: "running" | "paused" | "draining" | "stopped";
  /** The end of the breaker's pause. */
  brokenUntil: number;
  failureTimes: number[];
  records: ModelRecord[];
  hosts: Map<string, ModelHost>;
  /** readyAt of each group that was ever reserved. */
  groups: Map<string, number>;
  /** The functions that name groups: one that a set brings takes the place of one that it does not name. */
  kinds: Array<(host: string) => string>;
  /** The place that each function had last. */
  places: Map<(host: string) => string, number>;
  counters: ModelCounters;
  nextSequence: number;
  nextLease: number;
  /** By domain: the lease from which on its next new host goes first again; first turns decided so far. */
  fresh: Map<string, number>;
  freshTurns: number;
  nextFailure: number;
}

export const DEFAULT_LEASE_MS = 60_000;
export const DEFAULT_MAX_ATTEMPTS = 3;
export const DEFAULT_MAX_DELIVERIES = 10;
export const DEFAULT_MAX_URL_BYTES = 8_192;

export function createModel(options: SyncOptions, laws: Laws): Model {
  return {
    laws,
    options,
    rules: [createNone()],
    nextRule: 1,
    currentPass: 0,
    now: () => options.clock.now(),
    status: "running",
    brokenUntil: 0,
    failureTimes: [],
    records: [],
    hosts: new Map(),
    groups: new Map(),
    kinds: [],
    places: new Map(),
    counters: createCounters(),
    nextSequence: 0,
    nextLease: 0,
    fresh: new Map(),
    freshTurns: 0,
    nextFailure: 0,
  };
}

/** Represents "no rule". */
function createNone(): ModelRule {
  const state = { pass: 0, served: 0, wasEligible: false, isGone: true };
  return { serial: 0, id: "", policy: {}, match: undefined, rate: 1, order: -1, ...state };
}

export function createCounters(): ModelCounters {
  return {
    pushed: 0,
    accepted: 0,
    deferred: 0,
    duplicate: 0,
    rejected: 0,
    full: 0,
    retried: 0,
    expired: 0,
    lateResults: 0,
  };
}

/** An independent copy with its clock at `nowMs`: peek and nextDueAt try things out on it. */
export function modelAt(model: Model, nowMs: number): Model {
  return {
    ...model,
    now: () => nowMs,
    failureTimes: [...model.failureTimes],
    rules: model.rules.map((rule) => ({ ...rule })),
    records: model.records.map((r) => ({ ...r, lease: r.lease && { ...r.lease } })),
    hosts: new Map([...model.hosts].map(([key, host]) => [key, { ...host }])),
    groups: new Map(model.groups),
    fresh: new Map(model.fresh),
    counters: { ...model.counters },
  };
}

export function countState(model: Model, state: ModelState): number {
  return model.records.filter((r) => r.state === state).length;
}

export function failRecord(model: Model, record: ModelRecord, reason: string | undefined): void {
  record.state = "failed";
  record.reason = reason;
  record.failedOrder = model.nextFailure;
  model.nextFailure += 1;
}

/** Puts a record into the lanes with a new sequence: retries, requeued records and those that became due. */
export function becomePending(record: ModelRecord, sequence: number): void {
  record.state = "pending";
  record.dueAt = 0;
  record.sequence = sequence;
}

/** The next place, behind all others. */
export function takePlace(model: Model): number {
  model.nextSequence += 1;
  return model.nextSequence - 1;
}

/** Admitted and not yet out: reached by update, remove, a shallower sighting and giving up. */
export function isUpcoming(record: ModelRecord): boolean {
  return record.state === "pending" || record.state === "waiting";
}

/** When the clock makes a record pending, for the first time or again. */
export function dueAtOf(record: ModelRecord): number {
  if (record.state === "waiting") return record.dueAt;
  return record.state === "done" && record.againAt > 0 ? record.againAt : Number.POSITIVE_INFINITY;
}

export function hostOf(model: Model, key: string): ModelHost {
  let host = model.hosts.get(key);
  if (host === undefined) {
    host = {
      key,
      joined: undefined,
      turn: undefined,
      isDecided: false,
      leased: 0,
      readyAt: 0,
      blockedUntil: 0,
      isHeld: false,
      isSet: false,
      isDelaySet: false,
      isSteered: false,
      delayMs: undefined,
      limit: undefined,
      learnedMs: undefined,
      failuresInRow: 0,
      address: undefined,
      admitted: 0,
      bytes: 0,
    };
    model.hosts.set(key, host);
  }
  return host;
}

/** Whether a host's delay and turn mean anything to a rule. */
export function isClockKept(host: ModelHost, policy: SyncPolicy): boolean {
  return isPolite(policy) || host.isSteered;
}

/** Set by hand, else from latencies for a rule that adapts, else the rule's. */
export function delayOf(host: ModelHost, policy: SyncPolicy): number {
  const { delayMs = 0, adaptive } = policy.politeness ?? {};
  if (host.delayMs !== undefined) return host.delayMs;
  if (adaptive === undefined) return delayMs;
  return host.learnedMs ?? Math.min(Math.max(delayMs, adaptive.minMs), adaptive.maxMs);
}

export function limitOf(host: ModelHost, policy: SyncPolicy): number {
  if (host.limit !== undefined) return host.limit;
  return isPolite(policy) ? (policy.politeness?.perHost ?? 1) : Number.POSITIVE_INFINITY;
}

/** `by` and `budget` alone, or a delay of 0, make no politeness: hosts do not rotate. */
export function isPolite(policy: SyncPolicy): boolean {
  const { delayMs = 0, perHost, groups = [], adaptive, hostBackoff } = policy.politeness ?? {};
  const isAsked = perHost !== undefined || adaptive !== undefined || hostBackoff !== undefined;
  return delayMs > 0 || isAsked || groups.length > 0;
}

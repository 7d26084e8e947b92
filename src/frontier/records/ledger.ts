/**
 * The ledger: what each transition of a record counts, logs and reports. Every way on which a record changes its state applies a row of
 * this table, for one record or for n: transitions.ts one by one, admission and leases in bulk beside the kernel (assembly/records/ledger.ts
 * has the kernel's half), recovery for entries of a journal.
 *
 *   from, to   states; a record that is in none of `from` breaks the engine (I1)
 *   total      what is counted once for good, beside the states
 *   log        the kind of its journal entry (transition-log.ts)
 *   event      the event that listeners receive
 *
 *   I1  A state is left and another one entered in one step, so the equation of the report's counters holds after every row.
 *   I2  No other file writes a counter of the frontier or of a rule, or a record's state: `npm run check:tidy` fails where one does.
 *   I3  A finished record counts as done until it is forgotten, removed or due again. A resting record is done.
 */
import { assert } from "../../base/assert.ts";
import {
  QUEUE_RULE_WORD,
  RULE_QUEUE_DONE_WORD,
  RULE_QUEUE_LEASED_WORD,
  RULE_QUEUE_PENDING_WORD,
  RULE_QUEUE_SERVED_WORD,
} from "../../structures/hosts/host-table.ts";
import {
  RECORD_FAILED,
  RECORD_LEASED,
  RECORD_PENDING,
  RECORD_RESTING,
  RECORD_WAITING,
  isLone,
  recordQueue,
  recordState,
  setRecordState,
} from "../../structures/records/record.ts";
import { float, setFloat, setWord, type Store, word } from "../../structures/store.ts";
import { verdictOf } from "../admission/verdicts.ts";
import {
  type Core,
  type Counters,
  DEPTH_COUNT_MAX,
  type RuleState,
  ruleAt,
  type TransitionKind,
} from "../core.ts";
import {
  LOG_ADMITTED,
  LOG_CHANGED,
  LOG_DONE,
  LOG_EXPIRED,
  LOG_FAILED,
  LOG_LEASED,
  LOG_MOVED,
  LOG_RELEASED,
  LOG_REMOVED,
  LOG_REQUEUED,
  LOG_RESTED,
  LOG_RETRIED,
  LOG_WOKEN,
} from "./transition-log.ts";

/** States of an identity that has no record: not yet, or no more. */
export const STATE_NONE = 0;
export const STATE_DONE = 16;
export const STATE_REMOVED = 17;
export const STATE_FORGOTTEN = 18;

/** Names of the states, for people. */
export const STATE_NAMES: Readonly<Record<number, string>> = {
  [STATE_NONE]: "none",
  [RECORD_WAITING]: "waiting",
  [RECORD_PENDING]: "pending",
  [RECORD_LEASED]: "leased",
  [RECORD_RESTING]: "resting",
  [RECORD_FAILED]: "failed",
  [STATE_DONE]: "done",
  [STATE_REMOVED]: "removed",
  [STATE_FORGOTTEN]: "forgotten",
};

type Total = "accepted" | "deferred" | "leases" | "released" | "expired" | "retried";

export interface Transition {
  /** Bits 1 << state. */
  readonly from: number;
  readonly to: number;
  readonly total: Total | undefined;
  readonly log: number;
  readonly event: TransitionKind | undefined;
}

const NONE = 1 << STATE_NONE;
const WAITING = 1 << RECORD_WAITING;
const PENDING = 1 << RECORD_PENDING;
const LEASED = 1 << RECORD_LEASED;
const RESTING = 1 << RECORD_RESTING;
const FAILED = 1 << RECORD_FAILED;
const DONE = 1 << STATE_DONE;

/** Counters as this file alone has them. */
type Writable<T> = { -readonly [K in keyof T]: T[K] };

interface Booked {
  readonly counters: Writable<Counters>;
}

export const LEDGER = {
  admit: row(NONE, RECORD_PENDING, "accepted", LOG_ADMITTED, "accepted"),
  defer: row(NONE, RECORD_WAITING, "deferred", LOG_ADMITTED, "accepted"),
  wake: row(WAITING, RECORD_PENDING, undefined, LOG_WOKEN, undefined),
  delay: row(PENDING | WAITING, RECORD_WAITING, undefined, LOG_CHANGED, undefined),
  lease: row(PENDING, RECORD_LEASED, "leases", LOG_LEASED, "leased"),
  done: row(LEASED, STATE_DONE, undefined, LOG_DONE, "done"),
  rest: row(LEASED, RECORD_RESTING, undefined, LOG_RESTED, "done"),
  comeAgain: row(RESTING, RECORD_PENDING, undefined, LOG_REQUEUED, undefined),
  stay: row(RESTING | PENDING, STATE_DONE, undefined, LOG_DONE, undefined),
  finish: row(PENDING, STATE_DONE, undefined, LOG_DONE, "done"),
  keep: row(PENDING, RECORD_RESTING, undefined, LOG_RESTED, "done"),
  release: row(LEASED, RECORD_PENDING, "released", LOG_RELEASED, "released"),
  expire: row(LEASED, RECORD_PENDING, "expired", LOG_EXPIRED, "expired"),
  retry: row(LEASED, RECORD_PENDING, "retried", LOG_RETRIED, "retried"),
  retryLater: row(LEASED, RECORD_WAITING, "retried", LOG_RETRIED, "retried"),
  fail: row(LEASED | PENDING | WAITING, RECORD_FAILED, undefined, LOG_FAILED, "failed"),
  requeue: row(FAILED, RECORD_PENDING, undefined, LOG_REQUEUED, undefined),
  remove: row(PENDING | WAITING | RESTING, STATE_REMOVED, undefined, LOG_REMOVED, undefined),
  forget: row(FAILED | RESTING | DONE, STATE_FORGOTTEN, undefined, 0, undefined),
  replace: row(PENDING | WAITING | FAILED | RESTING, STATE_FORGOTTEN, undefined, 0, undefined),
  movePending: row(PENDING, RECORD_PENDING, undefined, LOG_MOVED, undefined),
  moveWaiting: row(WAITING, RECORD_WAITING, undefined, LOG_MOVED, undefined),
} as const;

function row(
  from: number,
  to: number,
  total: Total | undefined,
  ...[log, event]: [number, TransitionKind | undefined]
): Transition {
  return { from, to, total, log, event };
}

/** Changes the state of one record and all counts. Returns its rule queue. `announce` logs the transition once the record has its place. @hot */
export function book(core: Core, entry: Transition, record: number): number {
  const { store } = core;
  const rule = ruleQueue(core, record);
  const from = recordState(store, record);
  bookRule(core, entry, from, rule, 1);
  bookTotal(core, entry, from, 1);
  if (entry.to < STATE_DONE) setRecordState(store, record, entry.to);
  return rule;
}

/** A record that was made enters. @hot */
export function bookNew(core: Core, entry: Transition, record: number, depth: number): void {
  bookRule(core, entry, STATE_NONE, ruleQueue(core, record), 1);
  bookTotal(core, entry, STATE_NONE, 1);
  bookDepth(core, depth, 1);
  setRecordState(core.store, record, entry.to);
}

/** The frontier's counts of n records from one state. The kernel, or `bookRule`, counts for their rules. @hot */
export function bookTotal(core: Core, entry: Transition, from: number, n: number): void {
  const { counters }: Booked = core;
  assert((entry.from & (1 << from)) !== 0, "I1: a transition that the ledger has");
  countState(counters, from, -n);
  countState(counters, entry.to, n);
  if (entry.total !== undefined) counters[entry.total] += n;
}

/** A rule's counts of n records from one state. @hot */
export function bookRule(
  core: Core,
  entry: Transition,
  from: number,
  rule: number,
  n: number,
): void {
  countRule(core, from, rule, -n);
  countRule(core, entry.to, rule, n);
  if (entry === LEDGER.lease) countRuleTotal(core.store, rule, RULE_QUEUE_SERVED_WORD, n);
  // The rule of a finished identity is unknown unless there is only one. A resting record is forgotten the same way.
  const isForgotten = entry === LEDGER.forget || entry === LEDGER.replace;
  if (isForgotten && from === RECORD_RESTING && core.sole === undefined) {
    countRuleTotal(core.store, rule, RULE_QUEUE_DONE_WORD, n);
  }
}

/**
 * What an entry of a journal counts: totals, and what is over. States are counted when all records are placed (`bookPlace`). `rule`: the
 * rule queue, or 0 where the entry names none.
 */
export function bookEntry(core: Core, entry: Transition, from: number, rule = 0): void {
  const { counters }: Booked = core;
  const { store } = core;
  if (entry.total !== undefined) counters[entry.total]++;
  if (entry === LEDGER.lease) countRuleTotal(store, rule, RULE_QUEUE_SERVED_WORD, 1);
  countOver(core, from, rule, -1);
  countOver(core, entry.to, rule, 1);
}

/** States that recovery does not place: what is over. @hot */
function countOver({ counters, store }: Core, state: number, rule: number, by: number): void {
  if (state < RECORD_RESTING) return;
  countState(counters, state, by);
  if (rule !== 0 && isDone(state)) countRuleTotal(store, rule, RULE_QUEUE_DONE_WORD, by);
}

/** The first row of each kind of entry. Rows of one kind differ in states that `bookEntry` does not count. */
const ROW_OF_LOG: Transition[] = [];
for (const entry of Object.values(LEDGER)) ROW_OF_LOG[entry.log] ??= entry;

/** The row of a kind of entry. @hot */
export function rowOfLog(log: number): Transition {
  const found = ROW_OF_LOG[log];
  assert(found !== undefined, "a kind of entry has a row");
  return found as Transition;
}

/** Passes a booked transition to the log and to listeners, before the record is freed. @hot */
export function announce(
  core: Core,
  entry: Transition,
  record: number,
  value: number,
  reason?: string,
): void {
  core.log?.record(entry.log, record, value);
  const { event } = entry;
  if (event !== undefined && core.sink.wants[event]) core.sink.record(event, record, reason);
}

/** Counts admissions of one depth. @hot */
export function bookDepth({ counters }: Booked, depth: number, n: number): void {
  const depths = counters.depths as number[];
  const level = Math.min(depth, DEPTH_COUNT_MAX);
  depths[level] = (depths[level] ?? 0) + n;
}

/** Records go on under another rule in the state that they are in. */
export function bookMove(core: Core, from: RuleState, to: RuleState, state: number): void {
  countRule(core, state, from.handle, -1);
  countRule(core, state, to.handle, 1);
}

/** Recovery has placed a record by its state, or taken it away: its rule counts it. */
export function bookPlace(core: Core, record: number, by: 1 | -1): void {
  const state = recordState(core.store, record);
  const rule = ruleQueue(core, record);
  if (state === RECORD_RESTING)
    ruleCounts(core, rule).resting += by; // counted as done before
  else countRule(core, state, rule, by);
}

/** The same of so many pending records on disk. */
export function bookPending(core: Core, rule: number, n: number): void {
  countRule(core, RECORD_PENDING, rule, n);
}

/** All records are placed: the frontier's counts of their states are those of all rules. */
export function sumPlaced(core: Core): void {
  const { counters }: Booked = core;
  counters.pending = 0;
  counters.waiting = 0;
  counters.failed = 0;
  for (const { failed, pending, waiting } of core.rules) {
    counters.pending += pending;
    counters.waiting += waiting;
    counters.failed += failed;
  }
}

/** Sets the state that was read from a file. */
export function restoreState(store: Store, record: number, state: number): void {
  setRecordState(store, record, state);
}

/** Counters as a snapshot holds them. */
export function restoreCounters(core: Core, head: StoredTotals): void {
  Object.assign(core.counters, head.counters);
  (core.counters.depths as number[]).push(...head.depths);
  setRejected(core, head.rejected);
}

interface StoredTotals {
  readonly counters: Partial<Counters>;
  readonly depths: readonly number[];
  readonly rejected: Readonly<Record<string, number>>;
}

/** An entry of a journal admits a record. */
export function bookAdmitted(core: Core, isDeferred: boolean, depth: number): void {
  bookEntry(core, isDeferred ? LEDGER.defer : LEDGER.admit, STATE_NONE);
  bookDepth(core, depth, 1);
}

/**
 * Corrects counters that do not add up to the records that are there, as only those of a forged file do; returns whether they did.
 * What is placed is certain, so the totals follow.
 */
export function balanceCounters({ counters, rules }: Core): boolean {
  const { accepted, deferred, done, failed, forgotten, pending, removed, waiting } = counters;
  const resting = rules.reduce((sum, rule) => sum + rule.resting, 0);
  const over = done + removed + forgotten;
  const isWhole = [accepted, deferred, done - resting, removed, forgotten].every(isCount);
  if (isWhole && accepted + deferred === pending + waiting + failed + over) return true;
  const { counters: own }: Booked = { counters };
  own.done = Math.max(countOf(done), resting);
  own.removed = countOf(removed);
  own.forgotten = countOf(forgotten);
  const sum = pending + waiting + failed + own.done + own.removed + own.forgotten;
  own.deferred = Math.min(countOf(deferred), sum);
  own.accepted = sum - own.deferred;
  return false;
}

function isCount(count: number): boolean {
  return Number.isSafeInteger(count) && count >= 0;
}

function countOf(count: number): number {
  return isCount(count) ? count : 0;
}

/** A finished identity is forgotten. Its rule is unknown unless there is only one. */
export function bookForgotten(core: Core): void {
  bookTotal(core, LEDGER.forget, STATE_DONE, 1);
  const { sole } = core;
  if (sole !== undefined) countRule(core, STATE_DONE, sole.handle, -1);
}

/** Records that were never logged are gone with their process. */
export function bookGone({ counters }: Booked, n: number): void {
  counters.forgotten += n;
}

/** A generation ends: only `kept` finished identities remain. */
export function endGeneration(core: Core, kept: number): void {
  const { counters, rules, store } = core;
  bookTotal(core, LEDGER.forget, STATE_DONE, counters.done - kept);
  for (const { done, handle } of rules) {
    setFloat(store, handle, RULE_QUEUE_DONE_WORD, Math.min(done, kept));
  }
}

/** Identities admitted since the last forget. @hot */
export function bookSeen({ counters }: Booked, by: number): void {
  counters.seen += by;
}

/** The seen-set has been counted. */
export function setSeen({ counters }: Booked, count: number): void {
  counters.seen = count;
}

/** Requests handed in. @hot */
export function bookPushed({ counters }: Booked, n: number): void {
  counters.pushed += n;
}

/** n verdicts of one code; accepted and deferred are counted by their transitions. @hot */
export function bookVerdict({ counters }: Booked, code: number, n = 1): void {
  const { admitted, status, reason = "" } = verdictOf(code);
  if (admitted) return;
  if (status === "duplicate") counters.duplicate += n;
  else if (status === "full") counters.full += n;
  else if (status === "rejected") {
    const rejected = counters.rejected as Map<string, number>;
    rejected.set(reason, (rejected.get(reason) ?? 0) + n);
  }
}

/** A result that came too late. */
export function bookLate({ counters }: Booked): void {
  counters.lateResults++;
}

/** A lease ran out whose record fails for it. */
export function bookExpired({ counters }: Booked): void {
  counters.expired++;
}

/** Stored totals: no total decreases. */
export function raiseCounters({ counters }: Booked, noted: Partial<Counters>): void {
  for (const [name, count] of Object.entries(noted)) {
    const at = name as "pushed";
    counters[at] = Math.max(counters[at], count as number);
  }
}

/** Stored counts of rejections, by reason. */
export function setRejected({ counters }: Booked, noted: Readonly<Record<string, number>>): void {
  const rejected = counters.rejected as Map<string, number>;
  for (const [reason, count] of Object.entries(noted)) rejected.set(reason, count);
}

/** Adds to the served and done counts of a rule. */
export function addRuleTotals(store: Store, rule: RuleState, served: number, done: number): void {
  setFloat(store, rule.handle, RULE_QUEUE_SERVED_WORD, rule.served + served);
  setFloat(store, rule.handle, RULE_QUEUE_DONE_WORD, rule.done + done);
}

/** Moves served and done counts to the rule that has the id now, since files add up all rules of one id. */
export function moveRuleTotals(store: Store, from: RuleState, to: RuleState | undefined): void {
  const { done, served } = from;
  if (to !== undefined) addRuleTotals(store, to, served, done);
  addRuleTotals(store, from, -served, -done);
}

/** @hot */
function countState(counters: Writable<Counters>, state: number, by: number): void {
  if (state === RECORD_PENDING) counters.pending += by;
  else if (state === RECORD_LEASED) counters.leased += by;
  else if (isDone(state)) counters.done += by;
  else if (state === RECORD_WAITING) counters.waiting += by;
  else if (state === RECORD_FAILED) counters.failed += by;
  else if (state === STATE_REMOVED) counters.removed += by;
  else if (state === STATE_FORGOTTEN) counters.forgotten += by;
}

/** @hot */
function countRule(core: Core, state: number, rule: number, by: number): void {
  const { store } = core;
  if (state === RECORD_PENDING) step(store, rule, RULE_QUEUE_PENDING_WORD, by);
  else if (state === RECORD_LEASED) step(store, rule, RULE_QUEUE_LEASED_WORD, by);
  else if (state === RECORD_WAITING) ruleCounts(core, rule).waiting += by;
  else if (state === RECORD_FAILED) ruleCounts(core, rule).failed += by;
  else if (isDone(state)) {
    countRuleTotal(store, rule, RULE_QUEUE_DONE_WORD, by);
    if (state === RECORD_RESTING) ruleCounts(core, rule).resting += by;
  }
}

/** The counts of the rule of a rule queue. @hot */
function ruleCounts(core: Core, rule: number): Writable<RuleState> {
  return ruleAt(core, rule);
}

/** @hot */
function isDone(state: number): boolean {
  return state === STATE_DONE || state === RECORD_RESTING;
}

/** @hot */
function countRuleTotal(store: Store, rule: number, at: number, by: number): void {
  setFloat(store, rule, at, float(store, rule, at) + by);
}

/** @hot */
function step(store: Store, rule: number, at: number, by: number): void {
  setWord(store, rule, at, word(store, rule, at) + by);
}

/** @hot */
function ruleQueue({ sole, store }: Core, record: number): number {
  if (sole !== undefined) return sole.handle;
  const queue = recordQueue(store, record);
  return isLone(store, record) ? queue : word(store, queue, QUEUE_RULE_WORD);
}

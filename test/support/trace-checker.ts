/**
 * TraceChecker: reads the trace of a crawl event by event and notes what must not happen. It
 * knows nothing of the frontier but the trace, keeps a few numbers per host and per item, and
 * assumes one priority, FIFO and one delay.
 *
 *   violation   what it means
 *   parallel    a host had more than perHost visits at once
 *   gap         a hand-out came less than delayMs after the host's last hand-out or end
 *   blocked     a hand-out came before the host's Retry-After was over
 *   fairness    a host went although another, leased less recently, was due and had work
 *   order       a host's first deliveries were not in the order of admission
 *   identity    an item was admitted twice, leased while not pending, or ended while not leased
 *   progress    a host was due and had work, and yet nothing was handed out
 *
 *   I1  A host is in the due heap under its present stamp only if it may go and has work.
 *   I2  A stamp changes with everything that can change whether the host may go.
 */
import { createHeap, firstKey, heapPop, heapPush, type MinHeap } from "./min-heap.ts";

export type Violation =
  | "parallel"
  | "gap"
  | "blocked"
  | "fairness"
  | "order"
  | "identity"
  | "progress";

export interface Trace {
  readonly hosts: number;
  readonly items: number;
  readonly delayMs: number;
  readonly perHost: number;
  /** Idle hosts that the frontier remembers: one idle for longer than so many may come back as a new one. */
  readonly idleHosts?: number;
}

export type End = "done" | "fail" | "retry" | "expire" | "release";

export interface TraceChecker {
  readonly trace: Trace;
  readonly violations: Map<Violation, number>;
  readonly examples: string[];
  handOuts: number;
  /** The longest time that a due host with work waited for its hand-out. */
  longestWaitMs: number;
  /** Hosts that came back after they may have been forgotten, and how often a host has fallen idle. */
  returned: number;
  idleCount: number;
  readonly host: HostColumns;
  /** Per item: ITEM_… below, and the order of its admission. */
  readonly itemState: Uint8Array;
  readonly itemOrder: Float64Array;
  /** Hosts by the time at which they may go, and hosts that may go by their turn. */
  readonly upcoming: MinHeap;
  readonly due: MinHeap;
  nextOrder: number;
  nextTurn: number;
}

interface HostColumns {
  active: Int32Array;
  pending: Int32Array;
  stamp: Int32Array;
  readyAt: Float64Array;
  readyAtBefore: Float64Array;
  blockedUntil: Float64Array;
  turn: Float64Array;
  turnBefore: Float64Array;
  dueSince: Float64Array;
  lastFirst: Float64Array;
  /** The count of idle hosts when it fell idle. */
  idleAt: Float64Array;
  /** It may have been forgotten, and then goes before all others, until its next hand-out. */
  isForgotten: Uint8Array;
}

const ITEM_UNKNOWN = 0;
const ITEM_PENDING = 1;
const ITEM_LEASED = 2;
const ITEM_FINISHED = 3;
const EXAMPLES_MAX = 5;

/** Hosts that were never leased come before all others, in order of joining. */
const NEVER_LEASED = -1e15;

export function createTraceChecker(trace: Trace): TraceChecker {
  const words = (): Int32Array => new Int32Array(trace.hosts);
  const doubles = (): Float64Array => new Float64Array(trace.hosts);
  const lastFirst = doubles().fill(-1);
  return {
    trace,
    violations: new Map(),
    examples: [],
    handOuts: 0,
    longestWaitMs: 0,
    returned: 0,
    idleCount: 0,
    host: {
      active: words(),
      pending: words(),
      stamp: words(),
      readyAt: doubles(),
      readyAtBefore: doubles(),
      blockedUntil: doubles(),
      turn: doubles(),
      turnBefore: doubles(),
      dueSince: doubles(),
      lastFirst,
      idleAt: doubles(),
      isForgotten: new Uint8Array(trace.hosts),
    },
    itemState: new Uint8Array(trace.items),
    itemOrder: new Float64Array(trace.items),
    upcoming: createHeap(),
    due: createHeap(),
    nextOrder: 0,
    nextTurn: 0,
  };
}

export interface TraceEvent {
  host: number;
  item: number;
  nowMs: number;
}

/** The frontier said accepted. */
export function traceAdmitted(checker: TraceChecker, { host, item, nowMs }: TraceEvent): void {
  const { pending, turn } = checker.host;
  if (checker.itemState[item] !== ITEM_UNKNOWN)
    violate(checker, "identity", `${item} admitted again`);
  checker.itemState[item] = ITEM_PENDING;
  checker.itemOrder[item] = checker.nextOrder;
  if (turn[host] === 0) turn[host] = NEVER_LEASED + checker.nextOrder;
  else if (isIdle(checker, host)) judgeReturn(checker, host);
  checker.nextOrder += 1;
  pending[host] = num(pending, host) + 1;
  if (pending[host] === 1) touch(checker, host, nowMs);
}

export function traceHandedOut(
  checker: TraceChecker,
  { host, item, nowMs }: TraceEvent,
  isFirst: boolean,
): void {
  const { active, pending, readyAt, readyAtBefore, blockedUntil, turn, turnBefore } = checker.host;
  const where = `host ${host} at ${nowMs}`;
  if (num(active, host) >= checker.trace.perHost) violate(checker, "parallel", where);
  if (nowMs < num(readyAt, host)) violate(checker, "gap", where);
  if (nowMs < num(blockedUntil, host)) violate(checker, "blocked", where);
  checkTurn(checker, host, nowMs);
  checkItem(checker, { host, item, nowMs }, isFirst);
  checker.handOuts += 1;
  checker.itemState[item] = ITEM_LEASED;
  active[host] = num(active, host) + 1;
  pending[host] = num(pending, host) - 1;
  readyAtBefore[host] = num(readyAt, host);
  turnBefore[host] = num(turn, host);
  readyAt[host] = nowMs + checker.trace.delayMs;
  checker.nextTurn += 1;
  turn[host] = checker.nextTurn;
  checker.host.isForgotten[host] = 0;
  touch(checker, host, nowMs);
}

export function traceEnded(checker: TraceChecker, event: TraceEvent, end: End): void {
  const { host, item, nowMs } = event;
  const { active, pending, readyAt, readyAtBefore, turn, turnBefore } = checker.host;
  if (checker.itemState[item] !== ITEM_LEASED) violate(checker, "identity", `${item} not leased`);
  const isOver = end === "done" || end === "fail";
  checker.itemState[item] = isOver ? ITEM_FINISHED : ITEM_PENDING;
  active[host] = num(active, host) - 1;
  if (!isOver) pending[host] = num(pending, host) + 1;
  if (end !== "release") {
    readyAt[host] = nowMs + checker.trace.delayMs;
  } else if (checker.trace.perHost === 1) {
    readyAt[host] = num(readyAtBefore, host);
    turn[host] = num(turnBefore, host);
  }
  if (isIdle(checker, host)) {
    checker.idleCount += 1;
    checker.host.idleAt[host] = checker.idleCount;
  }
  touch(checker, host, nowMs);
}

export function traceBlocked(checker: TraceChecker, host: number, untilMs: number): void {
  const { blockedUntil } = checker.host;
  blockedUntil[host] = Math.max(num(blockedUntil, host), untilMs);
  touch(checker, host, 0);
}

/** The frontier had nothing to give although more was wanted. */
export function traceNothingDue(checker: TraceChecker, nowMs: number): void {
  const host = firstDue(checker, nowMs);
  if (host !== undefined) violate(checker, "progress", `host ${host} is due at ${nowMs}`);
}

/** Items by what became of them, for conservation. */
export function countItems(checker: TraceChecker): {
  pending: number;
  leased: number;
  over: number;
} {
  const counts = [0, 0, 0, 0];
  for (const state of checker.itemState) counts[state] = (counts[state] as number) + 1;
  const [, pending = 0, leased = 0, over = 0] = counts;
  return { pending, leased, over };
}

function isIdle({ host: { active, pending } }: TraceChecker, host: number): boolean {
  return num(pending, host) === 0 && num(active, host) === 0;
}

/** Hosts are forgotten in the order of their falling idle: so many fell idle after it that it may be one of them. */
function judgeReturn(checker: TraceChecker, host: number): void {
  const { idleHosts = Number.POSITIVE_INFINITY } = checker.trace;
  if (checker.idleCount - num(checker.host.idleAt, host) < idleHosts) return;
  checker.host.isForgotten[host] = 1;
  checker.returned += 1;
}

function checkTurn(checker: TraceChecker, host: number, nowMs: number): void {
  const { turn, dueSince } = checker.host;
  const first = firstDue(checker, nowMs);
  // A host that may not go at all was reported as such; here it is about who waits.
  const isKnown = checker.host.isForgotten[host] === 0;
  if (isKnown && first !== undefined && num(turn, first) < num(turn, host)) {
    violate(checker, "fairness", `host ${host} before host ${first} at ${nowMs}`);
  }
  const waitedMs = nowMs - num(dueSince, host);
  if (waitedMs > checker.longestWaitMs) checker.longestWaitMs = waitedMs;
}

function checkItem(checker: TraceChecker, event: TraceEvent, isFirst: boolean): void {
  const { host, item } = event;
  if (checker.itemState[item] !== ITEM_PENDING) violate(checker, "identity", `${item} not pending`);
  if (!isFirst) return;
  const order = num(checker.itemOrder, item);
  if (order < num(checker.host.lastFirst, host)) violate(checker, "order", `item ${item}`);
  checker.host.lastFirst[host] = order;
}

/** Gives the host a new stamp and, when it has work and room, its new place in the heaps. */
function touch(checker: TraceChecker, host: number, nowMs: number): void {
  const { active, pending, stamp, readyAt, blockedUntil } = checker.host;
  stamp[host] = num(stamp, host) + 1;
  if (num(pending, host) === 0 || num(active, host) >= checker.trace.perHost) return;
  const dueAtMs = Math.max(num(readyAt, host), num(blockedUntil, host), nowMs);
  heapPush(checker.upcoming, dueAtMs, num(stamp, host), host);
}

/** The due host that was leased least recently, after moving what has become due by now. */
function firstDue(checker: TraceChecker, nowMs: number): number | undefined {
  const { upcoming, due, host: columns } = checker;
  for (let key = firstKey(upcoming); key !== undefined && key <= nowMs; key = firstKey(upcoming)) {
    const host = num(upcoming.values, 0);
    const stamp = num(upcoming.ties, 0);
    heapPop(upcoming);
    if (num(columns.stamp, host) !== stamp) continue;
    columns.dueSince[host] = key;
    heapPush(due, num(columns.turn, host), stamp, host);
  }
  while (due.keys.length > 0 && num(columns.stamp, num(due.values, 0)) !== num(due.ties, 0)) {
    heapPop(due);
  }
  return due.values[0];
}

function violate(checker: TraceChecker, kind: Violation, text: string): void {
  checker.violations.set(kind, (checker.violations.get(kind) ?? 0) + 1);
  if (checker.examples.length < EXAMPLES_MAX) checker.examples.push(`${kind}: ${text}`);
}

function num(list: { readonly [index: number]: number }, index: number): number {
  return list[index] as number;
}

/**
 * TraceChecker: reads the trace of a crawl event by event and notes what must not happen. It
 * sees only the trace of the frontier, keeps a few numbers per host and per item, and
 * assumes one priority, FIFO and one delay.
 *
 *   violation        what it means
 *   parallel         a host had more than perHost visits at once
 *   gap              a hand-out came less than delayMs after the host's last hand-out or end
 *   blocked          a hand-out came before the host's Retry-After was over
 *   group-parallel   a group had more visits at once than its limit, whatever hosts they were on
 *   group-gap        a hand-out came before the clock of one of the host's groups had passed
 *   fairness         a host went although another, leased less recently, was due and had work
 *   order            a host's first deliveries were not in the order of admission
 *   identity         an item was admitted twice, leased while not pending, or ended while not leased
 *   epoch            an item was visited again before its period was over
 *   lost             an item was refused as seen that never was
 *   progress         a host was due and had work, and yet nothing was handed out
 *
 * An item is a page in one epoch: where epochs are named, each has items of its own. With `everyMs` a done item is pending again, as if
 * admitted then, that long after its end, and a failed one is new again.
 *
 *   I1  A host is in the due heap under its present stamp only if it may go and has work.
 *   I2  A stamp changes with everything that can change whether the host may go.
 */
import {
  createGroupTrace,
  endGroups,
  groupFault,
  type GroupShape,
  type GroupTrace,
  holdGroups,
  releaseGroups,
  type TracedHold,
} from "./trace-groups.ts";
import { createHeap, firstKey, heapPop, heapPush, type MinHeap } from "./min-heap.ts";

export type Violation =
  | "parallel"
  | "gap"
  | "blocked"
  | "fairness"
  | "order"
  | "identity"
  | "epoch"
  | "lost"
  | "group-parallel"
  | "group-gap"
  | "progress";

export interface Trace {
  readonly hosts: number;
  readonly items: number;
  readonly delayMs: number;
  readonly perHost: number;
  /** Idle hosts that the frontier remembers: after more than this many other hosts fell idle, one may return as a new one. */
  readonly idleHosts?: number;
  readonly groups?: readonly GroupShape[];
  readonly everyMs?: number;
}

export type End = "done" | "fail" | "retry" | "expire" | "release";

export interface TraceChecker {
  readonly trace: Trace;
  readonly violations: Map<Violation, number>;
  readonly examples: string[];
  handOuts: number;
  /** The longest time that a due host with work waited for its hand-out. */
  longestWaitMs: number;
  /** Hosts that returned after they may have been forgotten, and how often a host has fallen idle. */
  returned: number;
  idleCount: number;
  readonly host: HostColumns;
  /** Per item: ITEM_… below, and the order of its admission. */
  readonly itemState: Uint8Array;
  readonly itemOrder: Float64Array;
  /** Hosts by the time at which they may go, and hosts that may go by their turn. */
  readonly upcoming: MinHeap;
  readonly due: MinHeap;
  readonly groups: readonly GroupTrace[];
  /** The effect of each outstanding item's hand-out on its groups. */
  readonly holds: Map<number, TracedHold[]>;
  /** Items that come again, by their time, and the host of each. */
  readonly resting: MinHeap;
  readonly restingHost: Map<number, number>;
  /** Items that came again by themselves and were not handed out since: a push replaces them. */
  readonly woken: Set<number>;
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
  /** The count of idle hosts when this one fell idle. */
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
    groups: (trace.groups ?? []).map(createGroupTrace),
    holds: new Map(),
    resting: createHeap(),
    restingHost: new Map(),
    woken: new Set(),
    nextOrder: 0,
    nextTurn: 0,
  };
}

export interface TraceEvent {
  host: number;
  item: number;
  nowMs: number;
}

/** The verdict was accepted. */
export function traceAdmitted(checker: TraceChecker, { host, item, nowMs }: TraceEvent): void {
  traceTime(checker, nowMs);
  const { pending, turn } = checker.host;
  if (checker.woken.delete(item)) pending[host] = num(pending, host) - 1;
  else if (checker.itemState[item] !== ITEM_UNKNOWN) {
    violate(checker, "identity", `${item} admitted again`);
  }
  checker.itemState[item] = ITEM_PENDING;
  checker.itemOrder[item] = checker.nextOrder;
  if (turn[host] === 0) turn[host] = NEVER_LEASED + checker.nextOrder;
  else if (isIdle(checker, host)) judgeReturn(checker, host);
  checker.nextOrder += 1;
  pending[host] = num(pending, host) + 1;
  if (pending[host] === 1) touch(checker, host, nowMs);
}

/** The verdict was duplicate. */
export function traceRefused(checker: TraceChecker, { item, nowMs }: TraceEvent): void {
  if (checker.itemState[item] === ITEM_UNKNOWN) {
    violate(checker, "lost", `${item} refused at ${nowMs}`);
  }
}

/** Items that rest until now or earlier are pending again. */
export function traceTime(checker: TraceChecker, nowMs: number): void {
  const { resting, restingHost, host: columns } = checker;
  for (let key = firstKey(resting); key !== undefined && key <= nowMs; key = firstKey(resting)) {
    const item = num(resting.values, 0);
    const host = restingHost.get(item) as number;
    heapPop(resting);
    restingHost.delete(item);
    checker.woken.add(item);
    checker.itemState[item] = ITEM_PENDING;
    checker.itemOrder[item] = checker.nextOrder++;
    columns.pending[host] = num(columns.pending, host) + 1;
    if (columns.pending[host] === 1) touch(checker, host, key);
  }
}

export function traceHandedOut(
  checker: TraceChecker,
  { host, item, nowMs }: TraceEvent,
  isFirst: boolean,
): void {
  const { active, pending, readyAt, readyAtBefore, blockedUntil, turn, turnBefore } = checker.host;
  const where = `host ${host} at ${nowMs}`;
  traceTime(checker, nowMs);
  if (num(active, host) >= checker.trace.perHost) violate(checker, "parallel", where);
  if (nowMs < num(readyAt, host)) violate(checker, "gap", where);
  if (nowMs < num(blockedUntil, host)) violate(checker, "blocked", where);
  const fault = groupFault(checker.groups, host, nowMs);
  if (fault !== undefined) violate(checker, fault, where);
  checkTurn(checker, host, nowMs);
  checker.holds.set(item, holdGroups(checker.groups, host, nowMs));
  checkItem(checker, { host, item, nowMs }, isFirst);
  checker.woken.delete(item);
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
  if (end === "fail" && checker.trace.everyMs !== undefined) checker.itemState[item] = ITEM_UNKNOWN;
  active[host] = num(active, host) - 1;
  if (!isOver) pending[host] = num(pending, host) + 1;
  endClocks(checker, event, end);
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

/** The effect of an end on the clocks of groups, and when the item comes again. */
function endClocks(checker: TraceChecker, { host, item, nowMs }: TraceEvent, end: End): void {
  const { everyMs } = checker.trace;
  if (end === "release") releaseGroups(checker.groups, host, checker.holds.get(item) ?? []);
  else endGroups(checker.groups, host, nowMs);
  if (end !== "done" || everyMs === undefined) return;
  heapPush(checker.resting, nowMs + everyMs, checker.nextTurn, item);
  checker.restingHost.set(item, host);
}

export function traceBlocked(checker: TraceChecker, host: number, untilMs: number): void {
  const { blockedUntil } = checker.host;
  blockedUntil[host] = Math.max(num(blockedUntil, host), untilMs);
  touch(checker, host, 0);
}

/** The frontier returned nothing although more was wanted. */
export function traceNothingDue(checker: TraceChecker, nowMs: number): void {
  traceTime(checker, nowMs);
  const host = firstDue(checker, nowMs);
  if (host !== undefined) violate(checker, "progress", `host ${host} is due at ${nowMs}`);
}

/** Items by their outcome, for conservation. */
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

/** Hosts are forgotten in the order in which they fell idle: after enough others, this one may be among them. */
function judgeReturn(checker: TraceChecker, host: number): void {
  const { idleHosts = Number.POSITIVE_INFINITY } = checker.trace;
  if (checker.idleCount - num(checker.host.idleAt, host) < idleHosts) return;
  checker.host.isForgotten[host] = 1;
  checker.returned += 1;
}

function checkTurn(checker: TraceChecker, host: number, nowMs: number): void {
  const { turn, dueSince } = checker.host;
  const first = firstDue(checker, nowMs);
  // A host that may not go at all was reported as such; here the question is which hosts wait.
  const isKnown = checker.host.isForgotten[host] === 0;
  if (isKnown && first !== undefined && num(turn, first) < num(turn, host)) {
    violate(checker, "fairness", `host ${host} before host ${first} at ${nowMs}`);
  }
  if (checker.groups.length > 0) return; // the time since which all clocks agreed was not noted
  const waitedMs = nowMs - num(dueSince, host);
  if (waitedMs > checker.longestWaitMs) checker.longestWaitMs = waitedMs;
}

function checkItem(checker: TraceChecker, event: TraceEvent, isFirst: boolean): void {
  const { host, item } = event;
  if (checker.itemState[item] !== ITEM_PENDING) {
    const isEarly = checker.restingHost.delete(item);
    violate(checker, isEarly ? "epoch" : "identity", `${item} not pending`);
  }
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

/** The due host that was leased least recently, after hosts that have become due were moved. */
function firstDue(checker: TraceChecker, nowMs: number): number | undefined {
  if (checker.groups.length > 0) return firstAgreed(checker, nowMs);
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

/** The same where groups must agree: all hosts are compared, since one group's clock may free many. */
function firstAgreed(checker: TraceChecker, nowMs: number): number | undefined {
  const { active, pending, readyAt, blockedUntil, turn } = checker.host;
  let first: number | undefined;
  for (let host = 0; host < checker.trace.hosts; host++) {
    if (num(pending, host) === 0 || num(active, host) >= checker.trace.perHost) continue;
    if (Math.max(num(readyAt, host), num(blockedUntil, host)) > nowMs) continue;
    if (first !== undefined && num(turn, host) >= num(turn, first)) continue;
    if (groupFault(checker.groups, host, nowMs) === undefined) first = host;
  }
  return first;
}

function violate(checker: TraceChecker, kind: Violation, text: string): void {
  checker.violations.set(kind, (checker.violations.get(kind) ?? 0) + 1);
  if (checker.examples.length < EXAMPLES_MAX) checker.examples.push(`${kind}: ${text}`);
}

function num(list: { readonly [index: number]: number }, index: number): number {
  return list[index] as number;
}

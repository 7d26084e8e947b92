/**
 * Schedule: where pending records stand, which host may go, which record goes next.
 *
 *   rule queue ─ ranks ─┬─ record            (no politeness: key = its sequence)
 *                       └─ host queue ─ ranks ─ record
 *                          with politeness: rank = best priority it holds, key = the host's turn
 *                          without, steered: rank and key of its best record, so that order stays exact
 *
 *   I1  A host queue stands in its rule's ranks exactly when it holds records and its host may go.
 *   I2  A host stands in the clock heap exactly when it holds records and only time keeps it.
 *   I3  A rule without politeness keeps the records of a steered host in that host's queue as soon
 *       as one of them comes up; until then they stand in the rule's ranks under the same order.
 */
import {
  HOST_ADAPTIVE_WORD,
  HOST_BLOCK_UNTIL_WORD,
  HOST_CLOCKED,
  HOST_DELAY_WORD,
  HOST_HELD,
  HOST_LEASED_WORD,
  HOST_LIMIT_WORD,
  HOST_PENDING_WORD,
  HOST_QUEUES_WORD,
  HOST_READY_AT_WORD,
  HOST_STEERED,
  HOST_TURN_WORD,
  hostFlag,
  QUEUE_HOST_WORD,
  QUEUE_NEXT_WORD,
  QUEUE_PENDING_WORD,
  QUEUE_RANK_WORD,
  QUEUE_RANKS_WORD,
  QUEUE_RULE_WORD,
  RULE_QUEUE_RANKS_WORD,
  isQueue,
  setHostFlag,
} from "../structures/host-table.ts";
import {
  heapCount,
  heapPeekHandle,
  heapPeekKey,
  heapPop,
  heapPush,
  heapRemove,
  heapUpdate,
} from "../structures/heap.ts";
import { laneFirst, laneLast, lanePriority } from "../structures/lane.ts";
import { ranksBest, ranksInsert, ranksRemove } from "../structures/ranks.ts";
import {
  RECORD_FLAG_QUEUED,
  recordFlags,
  recordKey,
  recordPlace,
  recordPriority,
  recordQueue,
  setRecordFlags,
  setRecordKey,
} from "../structures/record.ts";
import { float, setFloat, setWord, word } from "../structures/store.ts";
import { memoryFull } from "../base/errors.ts";
import type { Core } from "./core.ts";
import { LOG_HOST_CLOCK } from "./log.ts";

/** The state of a host before a hand-out, for release and peek to put back. */
export interface HandOut {
  record: number;
  /** Sequence of this hand-out: the lease's fence and the host's turn. */
  sequence: number;
  turnBefore: number;
  readyAtBefore: number;
  readyAtSet: number;
}

/** Puts a pending record into its ranks, at the place its key names. @hot */
export function scheduleRecord(core: Core, record: number, nowMs: number): void {
  const { store } = core;
  const queue = recordQueue(store, record);
  const host = word(store, queue, QUEUE_HOST_WORD);
  if (isClockKept(core, host)) {
    queueInsert(core, queue, record);
    settleHost(core, host, nowMs);
    return;
  }
  const rule = word(store, queue, QUEUE_RULE_WORD);
  const { arena } = store;
  if (!ranksInsert(arena, rule, RULE_QUEUE_RANKS_WORD, recordPriority(store, record), record)) {
    throw memoryFull();
  }
}

/** Takes a pending record out of its ranks. */
export function unscheduleRecord(core: Core, record: number, nowMs: number): void {
  const { store } = core;
  const queue = recordQueue(store, record);
  if ((recordFlags(store, record) & RECORD_FLAG_QUEUED) !== 0) {
    queueRemove(core, queue, record);
    settleHost(core, word(store, queue, QUEUE_HOST_WORD), nowMs);
    return;
  }
  const rule = word(store, queue, QUEUE_RULE_WORD);
  ranksRemove(store.arena, rule, RULE_QUEUE_RANKS_WORD, recordPriority(store, record), record);
}

/** The record that goes next at `nowMs`, handed out of its ranks and its host; undefined: none may. @hot */
export function handOut(core: Core, nowMs: number, out: HandOut): boolean {
  const { store, rule } = core;
  const takeLast = rule.policy.isLifo && !rule.policy.isPolite;
  for (;;) {
    const lane = ranksBest(store.arena, word(store, rule.handle, RULE_QUEUE_RANKS_WORD));
    if (lane === 0) return false;
    const item = takeLast ? laneLast(store.region, lane) : laneFirst(store.region, lane);
    const isRecord = !isQueue(store, item);
    const queue = isRecord ? recordQueue(store, item) : item;
    const host = word(store, queue, QUEUE_HOST_WORD);
    const record = isRecord ? item : queueBest(core, queue);
    if (isRecord) {
      const priority = recordPriority(store, record);
      ranksRemove(store.arena, rule.handle, RULE_QUEUE_RANKS_WORD, priority, record);
      if (hostFlag(store, host, HOST_STEERED)) {
        queueInsert(core, queue, record); // I3: from now on the host decides
        settleHost(core, host, nowMs);
        continue;
      }
    } else {
      queueRemove(core, queue, record);
    }
    beginVisit(core, host, nowMs, out);
    out.record = record;
    return true;
  }
}

/** Undoes the latest hand-out as if it had never been. Hand-outs are undone in reverse order. */
export function undoHandOut(core: Core, out: HandOut, nowMs: number): void {
  const { store } = core;
  const host = word(store, recordQueue(store, out.record), QUEUE_HOST_WORD);
  core.leaseSequence--;
  setWord(store, host, HOST_LEASED_WORD, word(store, host, HOST_LEASED_WORD) - 1);
  if (isClockKept(core, host)) {
    setFloat(store, host, HOST_TURN_WORD, out.turnBefore);
    setFloat(store, host, HOST_READY_AT_WORD, out.readyAtBefore);
  }
  scheduleRecord(core, out.record, nowMs);
  settleHost(core, host, nowMs);
}

/** A lease of this host ended: its delay starts anew. */
export function endVisit(core: Core, host: number, nowMs: number): void {
  const { store } = core;
  setWord(store, host, HOST_LEASED_WORD, word(store, host, HOST_LEASED_WORD) - 1);
  if (!isClockKept(core, host)) return;
  setFloat(store, host, HOST_READY_AT_WORD, nowMs + hostDelay(core, host));
  settleHost(core, host, nowMs);
  logClock(core, host);
}

/** Tells the log where a host's clock now stands, if it has one. A peek says nothing: it is undone. @hot */
export function logClock(core: Core, host: number): void {
  if (core.log !== undefined && isClockKept(core, host)) core.log.host(host, LOG_HOST_CLOCK);
}

/** A lease ended without a visit: the host is as before it, unless something changed it since. */
export function cancelVisit(core: Core, host: number, out: HandOut, nowMs: number): void {
  const { store } = core;
  setWord(store, host, HOST_LEASED_WORD, word(store, host, HOST_LEASED_WORD) - 1);
  if (float(store, host, HOST_TURN_WORD) === out.sequence) {
    setFloat(store, host, HOST_TURN_WORD, out.turnBefore);
    if (float(store, host, HOST_READY_AT_WORD) === out.readyAtSet) {
      setFloat(store, host, HOST_READY_AT_WORD, out.readyAtBefore);
    }
  }
  settleHost(core, host, nowMs);
  logClock(core, host);
}

/** Brings I1 and I2 about for one host after anything that concerns it changed. @hot */
export function settleHost(core: Core, host: number, nowMs: number): void {
  const { store } = core;
  let queue = word(store, host, HOST_QUEUES_WORD);
  const pending = word(store, host, HOST_PENDING_WORD);
  const clockMs = hostClock(core, host);
  const hasRoom = pending > 0 && !isHostShut(core, host);
  const mayGo = hasRoom && clockMs <= nowMs;
  for (; queue !== 0; queue = word(store, queue, QUEUE_NEXT_WORD)) settleQueue(core, queue, mayGo);
  const isClocked = hostFlag(store, host, HOST_CLOCKED);
  if (hasRoom && !mayGo) {
    if (isClocked) heapUpdate(core.clocks, host, clockMs, 0);
    else {
      if (!heapPush(core.clocks, host, clockMs, 0)) throw memoryFull();
      setHostFlag(store, host, HOST_CLOCKED, true);
    }
  } else if (isClocked) {
    heapRemove(core.clocks, host);
    setHostFlag(store, host, HOST_CLOCKED, false);
  }
}

/** Lets go every host whose clock has passed. */
export function wakeHosts(core: Core, nowMs: number): void {
  while (heapCount(core.clocks) > 0 && heapPeekKey(core.clocks) <= nowMs) {
    const host = heapPeekHandle(core.clocks);
    heapPop(core.clocks);
    setHostFlag(core.store, host, HOST_CLOCKED, false);
    settleHost(core, host, nowMs);
  }
}

/** The time before which a host may not go. */
export function hostClock(core: Core, host: number): number {
  const readyAt = float(core.store, host, HOST_READY_AT_WORD);
  return Math.max(readyAt, float(core.store, host, HOST_BLOCK_UNTIL_WORD));
}

/** The gap between visits of a host: by hand, else from its latencies, else the rule's. */
export function hostDelay(core: Core, host: number): number {
  const byHand = float(core.store, host, HOST_DELAY_WORD);
  if (byHand >= 0) return byHand;
  const adaptive = float(core.store, host, HOST_ADAPTIVE_WORD);
  if (adaptive >= 0) return adaptive;
  const { policy } = core.rule;
  if (policy.adaptive === undefined) return policy.delayMs;
  return Math.min(Math.max(policy.delayMs, policy.adaptive.minMs), policy.adaptive.maxMs);
}

/** Most leases of a host at once; Infinity without politeness. */
export function hostLimit(core: Core, host: number): number {
  const byHand = word(core.store, host, HOST_LIMIT_WORD);
  if (byHand > 0) return byHand;
  return core.rule.policy.isPolite ? core.rule.policy.perHost : Number.POSITIVE_INFINITY;
}

function isHostShut(core: Core, host: number): boolean {
  if (hostFlag(core.store, host, HOST_HELD)) return true;
  return word(core.store, host, HOST_LEASED_WORD) >= hostLimit(core, host);
}

function beginVisit(core: Core, host: number, nowMs: number, out: HandOut): void {
  const { store } = core;
  out.sequence = ++core.leaseSequence;
  setWord(store, host, HOST_LEASED_WORD, word(store, host, HOST_LEASED_WORD) + 1);
  if (!isClockKept(core, host)) return;
  out.turnBefore = float(store, host, HOST_TURN_WORD);
  out.readyAtBefore = float(store, host, HOST_READY_AT_WORD);
  setFloat(store, host, HOST_TURN_WORD, out.sequence);
  out.readyAtSet = nowMs + hostDelay(core, host);
  setFloat(store, host, HOST_READY_AT_WORD, out.readyAtSet);
  settleHost(core, host, nowMs);
}

/** Whether a host's turn and delay mean anything: without politeness they do once it is steered. */
function isClockKept(core: Core, host: number): boolean {
  return core.rule.policy.isPolite || hostFlag(core.store, host, HOST_STEERED);
}

/** Puts a queue where its best record and its host's turn say, or nowhere. */
function settleQueue(core: Core, queue: number, mayGo: boolean): void {
  const { store } = core;
  const ruleQueue = word(store, queue, QUEUE_RULE_WORD);
  const stands = recordPlace(store, queue) !== 0;
  const isWanted = mayGo && word(store, queue, QUEUE_PENDING_WORD) > 0;
  if (!isWanted) {
    if (stands) {
      const rank = float(store, queue, QUEUE_RANK_WORD);
      ranksRemove(store.arena, ruleQueue, RULE_QUEUE_RANKS_WORD, rank, queue);
    }
    return;
  }
  const lane = ranksBest(store.arena, word(store, queue, QUEUE_RANKS_WORD));
  const rank = lanePriority(store.region, lane);
  const key = core.rule.policy.isPolite
    ? float(store, word(store, queue, QUEUE_HOST_WORD), HOST_TURN_WORD)
    : recordKey(store, laneBest(core, lane));
  if (stands) {
    const rankBefore = float(store, queue, QUEUE_RANK_WORD);
    if (rankBefore === rank && recordKey(store, queue) === key) return;
    ranksRemove(store.arena, ruleQueue, RULE_QUEUE_RANKS_WORD, rankBefore, queue);
  }
  setFloat(store, queue, QUEUE_RANK_WORD, rank);
  setRecordKey(store, queue, key);
  if (!ranksInsert(store.arena, ruleQueue, RULE_QUEUE_RANKS_WORD, rank, queue)) throw memoryFull();
}

function queueInsert(core: Core, queue: number, record: number): void {
  const { store } = core;
  const priority = recordPriority(store, record);
  if (!ranksInsert(store.arena, queue, QUEUE_RANKS_WORD, priority, record)) throw memoryFull();
  setRecordFlags(store, record, recordFlags(store, record) | RECORD_FLAG_QUEUED);
  countQueue(core, queue, 1);
}

function queueRemove(core: Core, queue: number, record: number): void {
  const { store } = core;
  ranksRemove(store.arena, queue, QUEUE_RANKS_WORD, recordPriority(store, record), record);
  setRecordFlags(store, record, recordFlags(store, record) & ~RECORD_FLAG_QUEUED);
  countQueue(core, queue, -1);
}

function countQueue(core: Core, queue: number, by: number): void {
  const { store } = core;
  const host = word(store, queue, QUEUE_HOST_WORD);
  setWord(store, queue, QUEUE_PENDING_WORD, word(store, queue, QUEUE_PENDING_WORD) + by);
  setWord(store, host, HOST_PENDING_WORD, word(store, host, HOST_PENDING_WORD) + by);
}

function queueBest(core: Core, queue: number): number {
  const { store } = core;
  return laneBest(core, ranksBest(store.arena, word(store, queue, QUEUE_RANKS_WORD)));
}

function laneBest(core: Core, lane: number): number {
  const { region } = core.store;
  return core.rule.policy.isLifo ? laneLast(region, lane) : laneFirst(region, lane);
}

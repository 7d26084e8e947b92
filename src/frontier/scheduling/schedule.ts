/**
 * Room `src/frontier/scheduling`: which record is handed out next, when that is, and which pending records go to disk.
 * Decides by rule shares, hosts that may go and places; time comes in as an argument.
 */

/**
 * Schedule: where pending records stand, which host may go, which record goes next.
 *
 *   rule queue ─ ranks ─┬─ record            (no politeness: key = its sequence)
 *                       ├─ lone record       (with politeness: key = the turn of its host, which is not made yet)
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
  HOST_CLOCKED,
  HOST_HELD,
  HOST_LEASED_WORD,
  HOST_PASSED,
  HOST_PENDING_WORD,
  HOST_QUEUES_WORD,
  HOST_READY_AT_WORD,
  HOST_STEERED,
  HOST_TURN_WORD,
  QUEUE_HOST_WORD,
  QUEUE_NEXT_WORD,
  QUEUE_PENDING_WORD,
  QUEUE_RANKS_WORD,
  QUEUE_RANK_WORD,
  QUEUE_RULE_WORD,
  RULE_GONE,
  RULE_LIFO,
  RULE_POLITE,
  RULE_QUEUE_INDEX_WORD,
  RULE_QUEUE_RANKS_WORD,
  hostFlag,
  isQueue,
  openLone,
  setHostFlag,
  takeLone,
} from "../../structures/hosts/host-table.ts";
import {
  timelinePeekHandle,
  timelinePeekKey,
  timelinePop,
  timelinePush,
  timelineRemove,
  timelineUpdate,
} from "../../structures/ordering/timeline.ts";
import { lanePriority } from "../../structures/ordering/lane.ts";
import { ranksBest, ranksInsert, ranksRemove } from "../../structures/ordering/ranks.ts";
import {
  isLone,
  RECORD_FLAG_QUEUED,
  recordFlags,
  recordKey,
  recordPlace,
  recordPriority,
  recordQueue,
  setRecordFlags,
  setRecordKey,
} from "../../structures/records/record.ts";
import { scratchTouchRules } from "../../structures/records/kernel-scratch.ts";
import { float, setFloat, setWord, word } from "../../structures/store.ts";
import type { HandOut } from "./hand-out.ts";
import { type Core, type RuleState, ruleFlags, ruleOfQueue, ruleQueueOf } from "../core.ts";
import {
  hostDelay,
  hostHold,
  hostLimit,
  isClockKept,
  restoreReadyAt,
  setReadyAt,
} from "../politeness/host-clock.ts";
import { assertRoom, hasRoom, needRoom } from "../records/memory-reserve.ts";
import { decideFirstTurn } from "../politeness/fresh-hosts.ts";
import { laneBest, laneBestKey } from "./spill-control.ts";
import { spilledClockAt, wakeSpilled } from "./spill-hosts.ts";
import {
  advanceHost,
  cancelGroups,
  endGroups,
  isGrouped,
  joinGroups,
  reserveGroups,
  settleGrouped,
  takeGrouped,
} from "../politeness/host-groups.ts";
import { logGroups } from "../politeness/group-clocks.ts";
import {
  sharesAhead,
  sharesCharge,
  sharesFirst,
  sharesJoin,
  sharesLeave,
  sharesRefund,
} from "./rule-shares.ts";
import { LOG_HOST_CLOCK } from "../records/transition-log.ts";

/** Fewer rules than this are not worth a call. */
const TOUCHED_MIN = 4;

/** Records of gone rules that one hand-out finds a new rule for, before it answers that nothing is due yet. */
const REMATCHED_MAX = 1_000;

/** Puts a pending record into its ranks, at the place its key names. @hot */
export function scheduleRecord(core: Core, record: number, nowMs: number): void {
  const { store } = core;
  const queue = recordQueue(store, record);
  const host = word(store, queue, QUEUE_HOST_WORD);
  const rule = word(store, queue, QUEUE_RULE_WORD);
  if (isClockKept(core, host, ruleFlags(core, rule))) {
    queueInsert(core, queue, record);
    settleHost(core, host, nowMs);
    return;
  }
  const priority = recordPriority(store, record);
  assertRoom(ranksInsert(store.arena, rule, RULE_QUEUE_RANKS_WORD, priority, record));
  if (core.sole === undefined) joinShares(core, rule);
}

/** Takes a pending record out of its ranks. */
export function unscheduleRecord(core: Core, record: number, nowMs: number): void {
  const { store } = core;
  if (isLone(store, record)) openLone(core.hosts, record);
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
  const { shares, sole } = core;
  if (sole !== undefined) {
    if (!handOutOf(core, sole.handle, nowMs, out)) return false;
    sharesCharge(shares, sole.index); // others may come to share with it
    return true;
  }
  let adopted = 0;
  for (let index = nextRule(core); index >= 0; index = nextRule(core)) {
    const ruleQueue = shares.handles[index] as number;
    if ((ruleFlags(core, ruleQueue) & RULE_GONE) !== 0) {
      if (++adopted > REMATCHED_MAX) return false;
      const gone = core.rules[index] as RuleState;
      core.adopt(core, standingOf(core, gone), nowMs); // the sweep has not come so far
      sharesCharge(shares, index);
      continue;
    }
    if (!handOutOf(core, ruleQueue, nowMs, out)) continue; // what stood there waits for its hosts
    sharesCharge(shares, index);
    return true;
  }
  return false;
}

/** The best pending record of one host, whatever its clock, limit or hold; false: it has none. Costs no rule its share. */
export function handOutOfHost(core: Core, host: number, nowMs: number, out: HandOut): boolean {
  const { store } = core;
  let queue = word(store, host, HOST_QUEUES_WORD);
  while (queue !== 0 && word(store, queue, QUEUE_PENDING_WORD) === 0) {
    queue = word(store, queue, QUEUE_NEXT_WORD);
  }
  if (queue === 0) return false;
  const record = queueBest(core, queue, ruleOfQueue(core, queue).policy.isLifo);
  needRoom(core); // all that is read was read
  queueRemove(core, queue, record);
  out.record = record;
  beginVisit(core, host, nowMs, out);
  return true;
}

/** Warms the caches for the next `count` hand-outs, as far as it is known whose they will be. @hot */
export function touchNext({ scratch, shares, sole }: Core, count: number): void {
  if (sole !== undefined) return; // its records mostly follow one another
  const known = sharesAhead(shares, count);
  if (known.length > TOUCHED_MIN) scratchTouchRules(scratch, known);
}

/** The oldest record that stands in a rule's ranks, or one of the host queue that stands there first; 0: none. */
export function standingOf(core: Core, { handle, policy }: RuleState): number {
  const lane = ranksBest(core.store.arena, word(core.store, handle, RULE_QUEUE_RANKS_WORD));
  if (lane === 0) return 0;
  const item = laneBest(core, lane, false);
  return isQueue(core.store, item) ? queueBest(core, item, policy.isLifo) : item;
}

/** Whether anything stands in any rule's ranks. */
export function hasStanding(core: Core): boolean {
  if (core.sole !== undefined) return stands(core, core.sole.handle);
  return nextRule(core) >= 0;
}

/** The index of the rule whose turn it is, of those that have something standing; −1: none has. */
function nextRule(core: Core): number {
  const { shares } = core;
  for (let index = sharesFirst(shares); index >= 0; index = sharesFirst(shares)) {
    if (stands(core, shares.handles[index] as number)) return index;
    sharesLeave(shares, index);
  }
  return -1;
}

function stands(core: Core, ruleQueue: number): boolean {
  return word(core.store, ruleQueue, RULE_QUEUE_RANKS_WORD) !== 0;
}

/** Lists the rule of a rule queue among those that may go. */
function joinShares(core: Core, ruleQueue: number): void {
  sharesJoin(core.shares, word(core.store, ruleQueue, RULE_QUEUE_INDEX_WORD));
}

/** The same within one rule. @hot */
function handOutOf(core: Core, ruleQueue: number, nowMs: number, out: HandOut): boolean {
  const { store } = core;
  const flags = ruleFlags(core, ruleQueue);
  const isLifo = (flags & RULE_LIFO) !== 0;
  const isPolite = (flags & RULE_POLITE) !== 0;
  const takeLast = isLifo && !isPolite;
  for (;;) {
    const lane = ranksBest(store.arena, word(store, ruleQueue, RULE_QUEUE_RANKS_WORD));
    if (lane === 0) return false;
    const item = laneBest(core, lane, takeLast);
    const isRecord = !isQueue(store, item);
    if (isRecord && isLone(store, item)) {
      needRoom(core);
      out.record = item;
      beginVisit(core, takeLone(core.hosts, item), nowMs, out);
      return true;
    }
    const queue = isRecord ? recordQueue(store, item) : item;
    const host = word(store, queue, QUEUE_HOST_WORD);
    const record = isRecord ? item : queueBest(core, queue, isLifo);
    needRoom(core); // all that is read was read
    if (isRecord) {
      const priority = recordPriority(store, record);
      ranksRemove(store.arena, ruleQueue, RULE_QUEUE_RANKS_WORD, priority, record);
      if (hostFlag(store, host, HOST_STEERED)) {
        queueInsert(core, queue, record); // I3: from now on the host decides
        settleHost(core, host, nowMs);
        continue;
      }
    } else if (!isPolite && recordKey(store, record) !== recordKey(store, queue)) {
      settleHost(core, host, nowMs); // the record that it stood for left its block alone
      continue;
    } else {
      queueRemove(core, queue, record);
    }
    out.record = record;
    beginVisit(core, host, nowMs, out);
    return true;
  }
}

/** Undoes the latest hand-out as if it had never been. Hand-outs are undone in reverse order. */
export function undoHandOut(
  core: Core,
  out: HandOut & { passBefore: number; currentBefore: number },
  nowMs: number,
): void {
  const { store } = core;
  const queue = recordQueue(store, out.record);
  const host = word(store, queue, QUEUE_HOST_WORD);
  const ruleQueue = word(store, queue, QUEUE_RULE_WORD);
  core.leaseSequence--;
  core.shares.current = out.currentBefore; // before any rule comes back to its share
  setWord(store, host, HOST_LEASED_WORD, word(store, host, HOST_LEASED_WORD) - 1);
  if (isClockKept(core, host, ruleFlags(core, ruleQueue))) {
    setFloat(store, host, HOST_TURN_WORD, out.turnBefore);
    setFloat(store, host, HOST_READY_AT_WORD, out.readyAtBefore);
    setHostFlag(store, host, HOST_PASSED, true); // its clock had passed
  }
  if (hasGroups(core)) cancelGroups(core, host, out.holds);
  scheduleRecord(core, out.record, nowMs);
  settleHost(core, host, nowMs);
  if (hasGroups(core)) advanceHost(core, host, nowMs);
  const index = word(store, ruleQueue, RULE_QUEUE_INDEX_WORD);
  sharesRefund(core.shares, index, out.passBefore, out.currentBefore);
}

/** The lease of this record ended at `endMs`, now or at a deadline before: its host's delay starts then. */
export function endVisit(core: Core, record: number, nowMs: number, endMs = nowMs): void {
  const { store } = core;
  const queue = recordQueue(store, record);
  const host = word(store, queue, QUEUE_HOST_WORD);
  setWord(store, host, HOST_LEASED_WORD, word(store, host, HOST_LEASED_WORD) - 1);
  if (hasGroups(core)) {
    endGroups(core, host, ruleOfQueue(core, queue), endMs);
    logGroups(core, host);
  }
  if (!isClockKept(core, host, ruleFlags(core, word(store, queue, QUEUE_RULE_WORD)))) {
    settleOthers(core, host, nowMs);
    if (hasGroups(core)) advanceHost(core, host, nowMs);
    return;
  }
  const delayMs = hostDelay(core, host, ruleOfQueue(core, queue).policy);
  setReadyAt(core, host, endMs + delayMs);
  settleHost(core, host, nowMs);
  if (hasGroups(core)) advanceHost(core, host, nowMs);
  core.log?.host(host, LOG_HOST_CLOCK);
}

/** Logs the clock that a hand-out has set, if it has. A peek logs nothing: it is undone. @hot */
export function logClock(core: Core, record: number): void {
  if (core.log === undefined) return;
  const host = word(core.store, recordQueue(core.store, record), QUEUE_HOST_WORD);
  const flags = ruleFlags(core, ruleQueueOf(core, record));
  if (isClockKept(core, host, flags)) core.log.host(host, LOG_HOST_CLOCK);
  if (hasGroups(core)) logGroups(core, host);
}

/** A lease ended without a visit: the host is as before it, unless something changed it since. */
export function cancelVisit(core: Core, host: number, out: HandOut, nowMs: number): void {
  const { store } = core;
  setWord(store, host, HOST_LEASED_WORD, word(store, host, HOST_LEASED_WORD) - 1);
  if (float(store, host, HOST_TURN_WORD) === out.sequence) {
    setFloat(store, host, HOST_TURN_WORD, out.turnBefore);
    if (float(store, host, HOST_READY_AT_WORD) === out.readyAtSet) {
      restoreReadyAt(core, host, out.readyAtBefore, nowMs);
    }
    core.log?.host(host, LOG_HOST_CLOCK);
  }
  if (hasGroups(core)) {
    cancelGroups(core, host, out.holds);
    logGroups(core, host);
  }
  settleHost(core, host, nowMs);
  if (hasGroups(core)) advanceHost(core, host, nowMs);
}

/** Brings I1 and I2 about for one host after anything that concerns it changed. @hot */
export function settleHost(core: Core, host: number, nowMs: number): void {
  const { store } = core;
  const pending = word(store, host, HOST_PENDING_WORD);
  if (pending > 0) decideFirstTurn(core, host);
  let queue = word(store, host, HOST_QUEUES_WORD);
  const clockMs = hostHold(core, host);
  const isFree = pending > 0 && !hostFlag(store, host, HOST_HELD);
  const mayGo = isFree && clockMs <= nowMs;
  if (mayGo) setHostFlag(store, host, HOST_PASSED, true);
  const leased = word(store, host, HOST_LEASED_WORD);
  let hasRoom = false;
  for (; queue !== 0; queue = word(store, queue, QUEUE_NEXT_WORD)) {
    const rule = ruleOfQueue(core, queue);
    const isOpen = isFree && leased < hostLimit(core, host, rule);
    settleQueue(core, queue, rule, isOpen && mayGo, nowMs);
    if (isOpen && word(store, queue, QUEUE_PENDING_WORD) > 0) hasRoom = true;
  }
  const isClocked = hostFlag(store, host, HOST_CLOCKED);
  if (hasRoom && !mayGo) {
    if (isClocked) timelineUpdate(core.clocks, host, clockMs, 0);
    else {
      assertRoom(timelinePush(core.clocks, host, clockMs, 0));
      setHostFlag(store, host, HOST_CLOCKED, true);
    }
  } else if (isClocked) {
    timelineRemove(core.clocks, host);
    setHostFlag(store, host, HOST_CLOCKED, false);
  }
}

/** A lease of a rule without politeness counts among its host's: rules with politeness check it again. */
function settleOthers(core: Core, host: number, nowMs: number): void {
  if (core.sole !== undefined || word(core.store, host, HOST_PENDING_WORD) === 0) return;
  settleHost(core, host, nowMs);
}

/** Makes every host whose clock has passed ready, as far as there is memory: those on disk come back for it. */
export function wakeHosts(core: Core, nowMs: number): void {
  for (;;) {
    while (timelinePeekKey(core.clocks) <= nowMs && hasRoom(core)) {
      const host = timelinePeekHandle(core.clocks);
      timelinePop(core.clocks);
      setHostFlag(core.store, host, HOST_CLOCKED, false);
      settleHost(core, host, nowMs);
    }
    if (timelinePeekKey(core.clocks) <= nowMs) return;
    if (spilledClockAt(core) > nowMs || !wakeSpilled(core, nowMs)) return;
  }
}

function beginVisit(core: Core, host: number, nowMs: number, out: HandOut): void {
  const { store } = core;
  out.sequence = ++core.leaseSequence;
  if (hasGroups(core)) joinGroups(core, host, nowMs);
  setWord(store, host, HOST_LEASED_WORD, word(store, host, HOST_LEASED_WORD) + 1);
  const queue = recordQueue(store, out.record);
  out.holds = hasGroups(core)
    ? reserveGroups(core, host, ruleOfQueue(core, queue), nowMs)
    : undefined;
  if (!isClockKept(core, host, ruleFlags(core, word(store, queue, QUEUE_RULE_WORD)))) {
    settleOthers(core, host, nowMs);
    if (hasGroups(core)) advanceHost(core, host, nowMs);
    return;
  }
  out.turnBefore = float(store, host, HOST_TURN_WORD);
  out.readyAtBefore = float(store, host, HOST_READY_AT_WORD);
  setFloat(store, host, HOST_TURN_WORD, out.sequence);
  out.readyAtSet = nowMs + hostDelay(core, host, ruleOfQueue(core, queue).policy);
  setReadyAt(core, host, out.readyAtSet);
  settleHost(core, host, nowMs);
  if (hasGroups(core)) advanceHost(core, host, nowMs);
}

/** Whether any rule has had groups: without, nothing above the host is looked at. */
export function hasGroups(core: Core): boolean {
  return core.groupKinds.length > 0;
}

/** Puts a queue in the place of its best record and its host's turn, or nowhere. @hot */
function settleQueue(
  core: Core,
  queue: number,
  rule: RuleState,
  mayGo: boolean,
  nowMs: number,
): void {
  const { store } = core;
  const grouped = isGrouped(core, queue, rule);
  const ruleQueue = word(store, queue, QUEUE_RULE_WORD);
  const stands = recordPlace(store, queue) !== 0;
  const isWanted = mayGo && word(store, queue, QUEUE_PENDING_WORD) > 0;
  if (!isWanted) {
    if (grouped) takeGrouped(core, queue, nowMs);
    else if (stands) {
      const rank = float(store, queue, QUEUE_RANK_WORD);
      ranksRemove(store.arena, ruleQueue, RULE_QUEUE_RANKS_WORD, rank, queue);
    }
    return;
  }
  const lane = ranksBest(store.arena, word(store, queue, QUEUE_RANKS_WORD));
  const rank = lanePriority(store.region, lane);
  const { isLifo, isPolite } = rule.policy;
  const key = isPolite
    ? float(store, word(store, queue, QUEUE_HOST_WORD), HOST_TURN_WORD)
    : laneBestKey(core, lane, isLifo);
  if (grouped) {
    settleGrouped(core, queue, rank, key, nowMs);
    return;
  }
  if (stands) {
    const rankBefore = float(store, queue, QUEUE_RANK_WORD);
    if (rankBefore === rank && recordKey(store, queue) === key) return;
    ranksRemove(store.arena, ruleQueue, RULE_QUEUE_RANKS_WORD, rankBefore, queue);
  }
  setFloat(store, queue, QUEUE_RANK_WORD, rank);
  setRecordKey(store, queue, key);
  assertRoom(ranksInsert(store.arena, ruleQueue, RULE_QUEUE_RANKS_WORD, rank, queue));
  if (core.sole === undefined) joinShares(core, ruleQueue);
}

/** Puts a record into its host queue, which then has to be settled. */
export function queueInsert(core: Core, queue: number, record: number): void {
  const { store } = core;
  const priority = recordPriority(store, record);
  assertRoom(ranksInsert(store.arena, queue, QUEUE_RANKS_WORD, priority, record));
  setRecordFlags(store, record, recordFlags(store, record) | RECORD_FLAG_QUEUED);
  countQueue(core, queue, 1);
}

/** Takes a record out of its host queue, which then has to be settled. */
export function queueRemove(core: Core, queue: number, record: number): void {
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

function queueBest(core: Core, queue: number, isLifo: boolean): number {
  const { store } = core;
  return laneBest(core, ranksBest(store.arena, word(store, queue, QUEUE_RANKS_WORD)), isLifo);
}

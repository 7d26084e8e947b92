/**
 * Groups: clocks above the host. Every group of a host must agree before one of its URLs goes out.
 *
 *   rule's ranks ◀── front ── gate of group example.com ── parked: host queues in order
 *                ◀── front ── gate of group 192.0.2.7   ── parked: …
 *
 * Of all the host queues of a rule that wait behind an open group the best one alone stands in the rule's ranks, as the front of
 * each of its gates; the others are parked, in order. A hand-out shuts the group and takes the front away: no queue of a shut group
 * is looked at again until it opens. When it opens, or its front goes, the next best moves up.
 *
 *   I1  A parked queue may go but for its groups: it holds records and its host may go.
 *   I2  An open gate with anything parked has a front, and none parked there is better than it; a shut gate has none.
 *   I3  leased of a group = sum of the leases of its hosts: what is handed out is counted in all groups at once.
 *   I4  A group stands in the heap of group clocks while it is shut by time and something is parked, or while nothing
 *       belongs to it and its clock runs.
 *   I5  An address that is not known blocks nothing.
 */
import {
  createGroupTable,
  GATE_FRONT_WORD,
  GATE_GROUP_WORD,
  GATE_NEXT_WORD,
  GATE_PARKED_WORD,
  GATE_RANKS_WORD,
  GATE_RULE_WORD,
  GROUP_CLOCKED_WORD,
  GROUP_GATES_WORD,
  GROUP_HOSTS_WORD,
  GROUP_KIND_WORD,
  GROUP_LEASED_WORD,
  GROUP_PASSED_WORD,
  GROUP_READY_AT_WORD,
  gateFind,
  gateOpen,
  groupFree,
  memberAddress,
  memberFree,
  memberGroup,
  memberGrow,
  memberKinds,
  memberSet,
  memberStamp,
  QUEUE_GATE_WORD,
  setMemberStamp,
} from "../../structures/hosts/group-table.ts";
import {
  createHeap,
  heapCount,
  heapPeekHandle,
  heapPeekKey,
  heapPop,
  heapPush,
  heapRemove,
  heapUpdate,
} from "../../structures/ordering/heap.ts";
import {
  HOST_LEASED_WORD,
  HOST_QUEUES_WORD,
  QUEUE_HOST_WORD,
  QUEUE_NEXT_WORD,
  QUEUE_RANK_WORD,
  QUEUE_RULE_WORD,
  RULE_QUEUE_RANKS_WORD,
} from "../../structures/hosts/host-table.ts";
import { laneFirst } from "../../structures/ordering/lane.ts";
import { ranksBest, ranksInsert, ranksRemove } from "../../structures/ordering/ranks.ts";
import {
  recordKey,
  recordPlace,
  recordQueue,
  setRecordKey,
} from "../../structures/records/record.ts";
import { float, setFloat, setWord, word } from "../../structures/store.ts";
import { timelineItems } from "../../structures/ordering/timeline.ts";
import type { GroupHold } from "../scheduling/hand-out.ts";
import { type Core, type RuleState, ruleAt, ruleOfQueue } from "../core.ts";
import { askGroup, isAsked, isKindNew, numberKinds, openGroup } from "./group-kinds.ts";
import type { GroupBy, GroupTerm } from "../rules/rule-policy.ts";
import { assertRoom, hasRoom } from "../records/memory-reserve.ts";
import { groupHold, hasPassed, setGroupClock } from "./group-clocks.ts";
import { sharesJoin } from "../scheduling/rule-shares.ts";

/** The state of groups that a new core begins with: none, but the kinds of the core that it replaces. */
export function createGroups(
  store: Core["store"],
  before: readonly GroupBy[] = [],
): Pick<Core, "groupClocks" | "groups" | "groupKinds" | "groupStamp" | "groupStamps" | "isAsking"> {
  return {
    groupClocks: createHeap(store.region),
    groups: createGroupTable(store),
    groupKinds: [...before],
    groupStamps: before.map(() => 0),
    groupStamp: 0,
    isAsking: false,
  };
}

/** Whether a host queue is in the care of groups, now or under the policy before this one. */
export function isGrouped(core: Core, queue: number, { policy }: RuleState): boolean {
  return policy.groups.length > 0 || word(core.store, queue, QUEUE_GATE_WORD) !== 0;
}

/** Puts a queue, with its rank and key, where its groups allow it to stand. @hot */
export function settleGrouped(
  core: Core,
  queue: number,
  rank: number,
  key: number,
  nowMs: number,
): void {
  const { store } = core;
  const rule = ruleOfQueue(core, queue);
  const host = word(store, queue, QUEUE_HOST_WORD);
  joinGroups(core, host, nowMs);
  const isAway = recordPlace(store, queue) === 0;
  if (heapPeekKey(core.groupClocks) <= nowMs) wakeGroups(core, nowMs); // I2, before anything passes
  if (!isAway && float(store, queue, QUEUE_RANK_WORD) === rank) {
    if (recordKey(store, queue) === key && rule.policy.groups.length > 0) return;
  }
  const wasFront = takeAway(core, queue);
  setFloat(store, queue, QUEUE_RANK_WORD, rank);
  setRecordKey(store, queue, key);
  place(core, queue, rule, nowMs);
  if (wasFront) advanceHost(core, host, nowMs);
}

/** Takes a queue away, wherever it stands: its host may not go, or it holds nothing. */
export function takeGrouped(core: Core, queue: number, nowMs: number): void {
  if (recordPlace(core.store, queue) === 0) return;
  if (!takeAway(core, queue)) return;
  advanceHost(core, word(core.store, queue, QUEUE_HOST_WORD), nowMs);
}

/** Counts a lease in every group of the host and starts their delays; returns what release needs. */
export function reserveGroups(
  core: Core,
  host: number,
  rule: RuleState,
  nowMs: number,
): GroupHold[] | undefined {
  countLease(core, host, 1);
  if (rule.policy.groups.length === 0) return undefined;
  const holds: GroupHold[] = [];
  for (const { kind, delayMs } of rule.policy.groups) {
    const group = memberGroup(core.store, host, kind);
    if (group === 0) continue;
    const readyBefore = float(core.store, group, GROUP_READY_AT_WORD);
    const readySet = Math.max(groupHold(core, group), nowMs + delayMs);
    setGroupClock(core, group, readySet);
    holds.push({ group, readyBefore, readySet });
  }
  return holds;
}

/** A visit of the host ended at `endMs`: its groups count one lease less, and their delays start anew. */
export function endGroups(core: Core, host: number, rule: RuleState, endMs: number): void {
  countLease(core, host, -1);
  for (const { kind, delayMs } of rule.policy.groups) {
    const group = memberGroup(core.store, host, kind);
    if (group === 0) continue;
    setGroupClock(core, group, Math.max(groupHold(core, group), endMs + delayMs));
  }
}

/** A lease ended without a visit: clocks that were not set since are as before it. */
export function cancelGroups(core: Core, host: number, holds: GroupHold[] | undefined): void {
  countLease(core, host, -1);
  for (const { group, readyBefore, readySet } of holds ?? []) {
    if (!isMember(core, host, group)) continue;
    if (float(core.store, group, GROUP_READY_AT_WORD) !== readySet) continue;
    setFloat(core.store, group, GROUP_READY_AT_WORD, readyBefore);
    setWord(core.store, group, GROUP_PASSED_WORD, 1); // it had let the host go
  }
}

/** Opens and shuts the gates of a host's groups after anything about them changed. */
export function advanceHost(core: Core, host: number, nowMs: number): void {
  if (heapPeekKey(core.groupClocks) <= nowMs) wakeGroups(core, nowMs);
  const kinds = memberKinds(core.store, host);
  for (let kind = 0; kind < kinds; kind++) {
    const group = memberGroup(core.store, host, kind);
    if (group !== 0) advanceGroup(core, group, nowMs);
  }
}

/** Advances every group whose clock has passed; the caller has reserved the memory for it. */
export function wakeGroups(core: Core, nowMs: number): void {
  const { groupClocks, store } = core;
  while (heapCount(groupClocks) > 0 && heapPeekKey(groupClocks) <= nowMs) {
    const group = heapPeekHandle(groupClocks);
    heapPop(groupClocks);
    setWord(store, group, GROUP_CLOCKED_WORD, 0);
    if (word(store, group, GROUP_HOSTS_WORD) === 0) groupFree(core.groups, group);
    else advanceGroup(core, group, nowMs);
  }
}

/** The time before which a group of the host lets nothing of a rule out; −Infinity: none holds it by time. */
export function groupClock(core: Core, host: number, rule: RuleState): number {
  let atMs = Number.NEGATIVE_INFINITY;
  for (const { kind } of rule.policy.groups) {
    const group = memberGroup(core.store, host, kind);
    if (group !== 0) atMs = Math.max(atMs, groupHold(core, group));
  }
  return atMs;
}

/** Whether a group of the host has as many leases out as a rule allows. */
export function isGroupFull(core: Core, host: number, rule: RuleState): boolean {
  return rule.policy.groups.some(({ kind, limit }) => {
    const group = memberGroup(core.store, host, kind);
    return group !== 0 && word(core.store, group, GROUP_LEASED_WORD) >= limit;
  });
}

/** The address of a host; undefined: not known. */
export function addressOf(core: Core, host: number): string | undefined {
  return memberAddress(core.store, host);
}

/** Moves a host with its leases to the group of its address, which has changed; its queues stand nowhere meanwhile. */
export function moveAddress(core: Core, host: number, nowMs: number): void {
  const { store } = core;
  const kind = core.groupKinds.indexOf("address");
  if (kind < 0 || kind >= memberKinds(store, host)) return;
  const before = memberGroup(store, host, kind);
  const address = memberAddress(store, host);
  const after = address === undefined ? 0 : openGroup(core, kind, address);
  if (before === after) return;
  let queue = word(store, host, HOST_QUEUES_WORD);
  for (; queue !== 0; queue = word(store, queue, QUEUE_NEXT_WORD)) takeAway(core, queue);
  moveMember(core, host, kind, after);
  if (before === 0) return;
  advanceGroup(core, before, nowMs);
  freeIdle(core, before, nowMs);
}

/** A host is forgotten: so are the groups that it was the last of, once their clocks have run out. */
export function leaveGroups(core: Core, host: number, nowMs: number): void {
  const { store } = core;
  const kinds = memberKinds(store, host);
  for (let kind = 0; kind < kinds; kind++) {
    const group = memberGroup(store, host, kind);
    if (group === 0) continue;
    memberSet(store, host, kind, 0);
    freeIdle(core, group, nowMs);
  }
  memberFree(store, host);
}

/** Takes a queue out of the rule's ranks or of the gate it is parked at; true: it was the front of its gates. */
function takeAway(core: Core, queue: number): boolean {
  const { store } = core;
  const rank = float(store, queue, QUEUE_RANK_WORD);
  const gate = word(store, queue, QUEUE_GATE_WORD);
  if (gate !== 0) {
    ranksRemove(store.arena, gate, GATE_RANKS_WORD, rank, queue);
    setWord(store, queue, QUEUE_GATE_WORD, 0);
    setWord(store, gate, GATE_PARKED_WORD, word(store, gate, GATE_PARKED_WORD) - 1);
    core.groups.parked--;
    return false;
  }
  if (recordPlace(store, queue) === 0) return false;
  const ruleQueue = word(store, queue, QUEUE_RULE_WORD);
  ranksRemove(store.arena, ruleQueue, RULE_QUEUE_RANKS_WORD, rank, queue);
  const host = word(store, queue, QUEUE_HOST_WORD);
  const kinds = memberKinds(store, host);
  for (let kind = 0; kind < kinds; kind++) {
    const group = memberGroup(store, host, kind);
    const own = group === 0 ? 0 : gateFind(store, group, ruleQueue);
    if (own !== 0 && word(store, own, GATE_FRONT_WORD) === queue) {
      setWord(store, own, GATE_FRONT_WORD, 0);
    }
  }
  return true;
}

/** Parks a queue that stands nowhere at the first gate that is shut or has a better front; else it is the front of all. */
function place(core: Core, queue: number, rule: RuleState, nowMs: number): void {
  const { store } = core;
  const host = word(store, queue, QUEUE_HOST_WORD);
  const gates: number[] = [];
  for (const term of rule.policy.groups) {
    const group = memberGroup(store, host, term.kind);
    if (group === 0) continue;
    const gate = gateOpen(core.groups, group, rule.handle);
    assertRoom(gate !== 0);
    const front = word(store, gate, GATE_FRONT_WORD);
    if (!isOpen(core, group, term, nowMs) || (front !== 0 && isBetter(core, front, queue))) {
      park(core, gate, queue);
      clockGroup(core, group, nowMs);
      return;
    }
    gates.push(gate);
  }
  const left: number[] = [];
  for (const gate of gates) {
    const front = word(store, gate, GATE_FRONT_WORD);
    if (front === 0) continue;
    takeAway(core, front);
    park(core, gate, front);
    left.push(word(store, front, QUEUE_HOST_WORD));
  }
  for (const gate of gates) setWord(store, gate, GATE_FRONT_WORD, queue);
  const rank = float(store, queue, QUEUE_RANK_WORD);
  assertRoom(ranksInsert(store.arena, rule.handle, RULE_QUEUE_RANKS_WORD, rank, queue));
  if (core.sole === undefined) sharesJoin(core.shares, rule.index);
  for (const other of left) advanceHost(core, other, nowMs);
  // A gate that had no front for a moment may hold a better queue than the one that came just now.
  for (const gate of gates) advanceGate(core, gate, nowMs);
}

function park(core: Core, gate: number, queue: number): void {
  const { store } = core;
  const rank = float(store, queue, QUEUE_RANK_WORD);
  assertRoom(ranksInsert(store.arena, gate, GATE_RANKS_WORD, rank, queue));
  setWord(store, queue, QUEUE_GATE_WORD, gate);
  setWord(store, gate, GATE_PARKED_WORD, word(store, gate, GATE_PARKED_WORD) + 1);
  core.groups.parked++;
}

/** Brings I2 and I4 about for one group. */
function advanceGroup(core: Core, group: number, nowMs: number): void {
  const { store } = core;
  let gate = word(store, group, GROUP_GATES_WORD);
  for (; gate !== 0; gate = word(store, gate, GATE_NEXT_WORD)) advanceGate(core, gate, nowMs);
  clockGroup(core, group, nowMs);
}

function advanceGate(core: Core, gate: number, nowMs: number): void {
  const { store } = core;
  const group = word(store, gate, GATE_GROUP_WORD);
  const rule = ruleAt(core, word(store, gate, GATE_RULE_WORD));
  const kind = word(store, group, GROUP_KIND_WORD);
  const term = rule.policy.groups.find((each) => each.kind === kind);
  const front = word(store, gate, GATE_FRONT_WORD);
  if (term !== undefined && !isOpen(core, group, term, nowMs)) {
    if (front === 0) return;
    takeAway(core, front);
    park(core, gate, front);
    advanceHost(core, word(store, front, QUEUE_HOST_WORD), nowMs);
    return;
  }
  for (let best = firstParked(core, gate); best !== 0; best = firstParked(core, gate)) {
    const now = word(store, gate, GATE_FRONT_WORD);
    if (now !== 0 && !isBetter(core, best, now)) return;
    takeAway(core, best);
    place(core, best, rule, nowMs); // behind another gate, or the front of this one
  }
}

function firstParked(core: Core, gate: number): number {
  const { store } = core;
  const lane = ranksBest(store.arena, word(store, gate, GATE_RANKS_WORD));
  return lane === 0 ? 0 : laneFirst(store.region, lane);
}

/** Order among the host queues of one rule: the better record first, then the host's turn. */
function isBetter(core: Core, a: number, b: number): boolean {
  const { store } = core;
  const rankA = float(store, a, QUEUE_RANK_WORD);
  const rankB = float(store, b, QUEUE_RANK_WORD);
  return rankA > rankB || (rankA === rankB && recordKey(store, a) < recordKey(store, b));
}

function isOpen(core: Core, group: number, { limit }: GroupTerm, nowMs: number): boolean {
  if (word(core.store, group, GROUP_LEASED_WORD) >= limit) return false;
  return hasPassed(core, group, nowMs);
}

/** Puts a group into the heap of clocks, or takes it out, as I4 asks. */
function clockGroup(core: Core, group: number, nowMs: number): void {
  const { groupClocks, store } = core;
  const readyAt = float(store, group, GROUP_READY_AT_WORD);
  const isWanted =
    !hasPassed(core, group, nowMs) && (isWaitedFor(core, group) || isUnused(core, group));
  const isClocked = word(store, group, GROUP_CLOCKED_WORD) !== 0;
  if (isWanted && isClocked) heapUpdate(groupClocks, group, readyAt, 0);
  else if (isWanted) assertRoom(heapPush(groupClocks, group, readyAt, 0));
  else if (!isWanted && isClocked) heapRemove(groupClocks, group);
  setWord(store, group, GROUP_CLOCKED_WORD, isWanted ? 1 : 0);
}

function isWaitedFor(core: Core, group: number): boolean {
  const { store } = core;
  let gate = word(store, group, GROUP_GATES_WORD);
  while (gate !== 0 && word(store, gate, GATE_PARKED_WORD) === 0) {
    gate = word(store, gate, GATE_NEXT_WORD);
  }
  return gate !== 0;
}

function isUnused(core: Core, group: number): boolean {
  return word(core.store, group, GROUP_HOSTS_WORD) === 0;
}

/** Frees a group without members, or leaves that to its clock. */
function freeIdle(core: Core, group: number, nowMs: number): void {
  const { store } = core;
  if (!isUnused(core, group)) return;
  clockGroup(core, group, nowMs);
  if (word(store, group, GROUP_CLOCKED_WORD) === 0) groupFree(core.groups, group);
}

function countLease(core: Core, host: number, by: number): void {
  const { store } = core;
  const kinds = memberKinds(store, host);
  for (let kind = 0; kind < kinds; kind++) {
    const group = memberGroup(store, host, kind);
    if (group === 0) continue;
    setWord(store, group, GROUP_LEASED_WORD, word(store, group, GROUP_LEASED_WORD) + by);
  }
}

function isMember(core: Core, host: number, group: number): boolean {
  const kinds = memberKinds(core.store, host);
  for (let kind = 0; kind < kinds; kind++) {
    if (memberGroup(core.store, host, kind) === group) return true;
  }
  return false;
}

/**
 * Asks a host about every kind of group that it was not asked about as it is now. A host with work for a rule with groups, or with a
 * lease, is included: a rule compares its limit with all leases of the group, under any rule. @hot
 */
export function joinGroups(core: Core, host: number, nowMs: number): void {
  if (!isAsked(core, host)) askHost(core, host, nowMs);
}

function askHost(core: Core, host: number, nowMs: number): void {
  const { groupKinds, store } = core;
  const had = memberKinds(store, host);
  const stamp = memberStamp(store, host);
  assertRoom(memberGrow(store, host, groupKinds.length));
  setMemberStamp(store, host, core.groupStamp);
  for (let kind = 0; kind < groupKinds.length; kind++) {
    if (!isKindNew(core, kind, had, stamp)) continue;
    const group = askGroup(core, host, kind);
    if (kind >= had) moveMember(core, host, kind, group);
    else changeGroup(core, { host, kind, group }, nowMs);
  }
}

/** A host belongs to another group from now on; rules that have gone may have queues of it at the gates of the one before. */
function changeGroup(
  core: Core,
  { host, kind, group }: { host: number; kind: number; group: number },
  nowMs: number,
): void {
  const { store } = core;
  const before = memberGroup(store, host, kind);
  if (before === group) return;
  const standing: number[] = [];
  let queue = word(store, host, HOST_QUEUES_WORD);
  for (; queue !== 0; queue = word(store, queue, QUEUE_NEXT_WORD)) {
    if (recordPlace(store, queue) === 0) continue;
    takeAway(core, queue);
    standing.push(queue);
  }
  moveMember(core, host, kind, group);
  if (before !== 0) {
    advanceGroup(core, before, nowMs);
    freeIdle(core, before, nowMs);
  }
  for (const each of standing) place(core, each, ruleOfQueue(core, each), nowMs);
  advanceHost(core, host, nowMs);
}

/** Puts a host with the leases it has into another group of a kind. */
function moveMember(core: Core, host: number, kind: number, group: number): void {
  const { store } = core;
  const leased = word(store, host, HOST_LEASED_WORD);
  const before = memberGroup(store, host, kind);
  for (const [each, by] of [
    [before, -leased],
    [group, leased],
  ] as const) {
    if (each === 0) continue;
    setWord(store, each, GROUP_LEASED_WORD, word(store, each, GROUP_LEASED_WORD) + by);
  }
  memberSet(store, host, kind, group);
}

/**
 * Takes the kinds of a set of rules; hosts that have leases out are asked at once. Where there is no room for that, they are asked when
 * they are looked at next.
 */
export function noteKinds(core: Core, nowMs: number): void {
  if (!numberKinds(core)) return;
  for (const record of timelineItems(core.deadlines)) {
    if (!hasRoom(core)) return;
    joinGroups(core, word(core.store, recordQueue(core.store, record), QUEUE_HOST_WORD), nowMs);
  }
}

/** The slow, complete check of a core: every invariant of the structures and of how they hold together. */
import { assert } from "../base/assert.ts";
import { verifyEpochs } from "../structures/seen/epoch-table.ts";
import { heapCount, verifyHeap } from "../structures/ordering/heap.ts";
import { loneHash, loneSequence, loneText, recordOfLone } from "../structures/hosts/lone-host.ts";
import {
  timelineCount,
  timelineHas,
  timelineItems,
  verifyTimeline,
} from "../structures/ordering/timeline.ts";
import {
  HOST_CLOCKED,
  HOST_LEASED_WORD,
  HOST_LIVE_WORD,
  HOST_PENDING_WORD,
  HOST_QUEUES_WORD,
  hostFlag,
  hostNextBusy,
  QUEUE_NEXT_WORD,
  QUEUE_PENDING_WORD,
  QUEUE_RANKS_WORD,
  RULE_QUEUE_RANKS_WORD,
  verifyHosts,
  hostLook,
  isHashOf,
} from "../structures/hosts/host-table.ts";
import { verifyLane } from "../structures/ordering/lane.ts";
import { ranksBest, verifyRanks } from "../structures/ordering/ranks.ts";
import {
  RECORD_FAILED,
  RECORD_LEASED,
  RECORD_PENDING,
  RECORD_RESTING,
  RECORD_WAITING,
  recordPlace,
  recordState,
  recordKey,
  recordQueue,
} from "../structures/records/record.ts";
import { verifyStore, word } from "../structures/store.ts";
import { type Core, type RuleState, ruleOf, ruleOfQueue } from "./core.ts";
import { verifyGroups } from "./politeness/verify-groups.ts";
import { hostClock, hostLimit } from "./politeness/host-clock.ts";
import { hostOf } from "./records/transitions.ts";
import type { RecordState } from "./records/record-state.ts";
import { isListed, verifyShares } from "./scheduling/rule-shares.ts";
import {
  isHostsPlace,
  placesSpilled,
  probeSpilled,
  spilledUnder,
} from "./scheduling/spill-control.ts";
import { verifySpilledHosts } from "./scheduling/spill-hosts.ts";
import { listRecords } from "./records/record-walk.ts";

/** Throws InvariantError at the first thing that is not as it must be. */
export function verifyCore(core: Core): void {
  const { counters } = core;
  const { pending, waiting, leased, done, failed, forgotten, removed } = counters;
  const sum = pending + waiting + leased + done + failed + forgotten + removed;
  assert(counters.accepted + counters.deferred === sum, "I1: every admission is accounted for");
  verifyStore(core.store);
  verifyHeap(core.waiting);
  verifyTimeline(core.deadlines);
  verifyHeap(core.resting);
  verifyEpochs(core.epochs);
  verifyTimeline(core.clocks);
  assert(heapCount(core.waiting) === waiting, "I1: the waiting heap holds the waiting");
  assert(timelineCount(core.deadlines) === leased, "I1: the deadline heap holds the leased");
  assert(verifyLane(core.store.region, core.failedLane) === failed, "I1: the failed lane");
  verifySpilledHosts(core);
  const spilled = core.spilling?.spill.count ?? 0;
  verifyStates(core, "pending", RECORD_PENDING, pending - spilled);
  verifyStates(core, "waiting", RECORD_WAITING, waiting);
  verifyStates(core, "leased", RECORD_LEASED, leased);
  verifyStates(core, "failed", RECORD_FAILED, failed);
  verifyStates(core, "done", RECORD_RESTING, heapCount(core.resting));
  assert(heapCount(core.resting) <= done, "I1: what rests is done");
  verifyHosts(core.hosts);
  verifyHeap(core.groupClocks);
  verifyLive(core);
  const { hosts, store } = core;
  for (const rule of core.rules) {
    verifyRanks(store.arena, word(store, rule.handle, RULE_QUEUE_RANKS_WORD));
  }
  verifyRules(core);
  for (let host = hostNextBusy(hosts, 0); host !== 0; host = hostNextBusy(hosts, host)) {
    verifyHost(core, host);
  }
  verifyGroups(core);
}

/** Rules count their records; the shares list every rule that has something standing. */
function verifyRules(core: Core): void {
  const inUse = core.rules.length - core.spare.length;
  assert(core.sole === undefined || inUse === 2, "a sole rule is the only one beside none");
  for (const state of ["pending", "waiting", "leased", "failed"] as const) {
    const counts = new Map<RuleState, number>();
    const noted = listRecords(core, new Set([state]));
    for (let index = 0; index < noted.count; index++) {
      const rule = ruleOf(core, noted.handles[index] as number);
      counts.set(rule, (counts.get(rule) ?? 0) + 1);
    }
    if (state === "pending") countSpilled(core, counts, (record) => ruleOf(core, record));
    for (const rule of core.rules) {
      assert(rule[state] === (counts.get(rule) ?? 0), `a rule counts its ${state} records`);
    }
  }
  verifyShares(core.shares);
  if (core.sole !== undefined) return;
  for (const { handle, index } of core.rules) {
    const stands = word(core.store, handle, RULE_QUEUE_RANKS_WORD) !== 0;
    assert(!stands || isListed(core.shares, index), "a rule with something standing is listed");
  }
}

/** Adds every spilled record to the count of what `of` returns for it. */
function countSpilled<T>(
  core: Core,
  counts: Map<T, number>,
  of: (record: number) => T,
  hasHosts = true,
): void {
  for (const place of placesSpilled(core)) {
    if (!hasHosts && isHostsPlace(core, place)) continue; // their hosts are on disk with them
    probeSpilled(core, place, (record) => {
      assert(recordState(core.store, record) === RECORD_PENDING, "I2: spilled records are pending");
      counts.set(of(record), (counts.get(of(record)) ?? 0) + 1);
    });
  }
}

function verifyStates(core: Core, name: RecordState, state: number, count: number): void {
  const noted = listRecords(core, new Set([name]));
  assert(noted.count === count, `I2: ${name} records are in their place`);
  for (let index = 0; index < noted.count; index++) {
    const record = noted.handles[index] as number;
    assert(recordState(core.store, record) === state, `I2: ${name} records are ${name}`);
  }
}

/** Records and leases per host are those that the hosts count. */
function verifyLive(core: Core): void {
  const live = new Map<number, number>();
  const noted = listRecords(core, new Set(["pending", "waiting", "leased", "failed", "done"]));
  let lone = 0;
  for (let index = 0; index < noted.count; index++) {
    const record = noted.handles[index] as number;
    const host = hostOf(core, record);
    if (host === 0) {
      verifyLone(core, record);
      lone++;
    } else live.set(host, (live.get(host) ?? 0) + 1);
  }
  assert(lone === core.hosts.lone, "lone hosts are counted");
  countSpilled(core, live, (record) => hostOf(core, record), false);
  const leased = new Map<number, number>();
  for (const record of timelineItems(core.deadlines)) {
    const host = hostOf(core, record);
    leased.set(host, (leased.get(host) ?? 0) + 1);
  }
  const { hosts, store } = core;
  for (let host = hostNextBusy(hosts, 0); host !== 0; host = hostNextBusy(hosts, host)) {
    assert(word(store, host, HOST_LIVE_WORD) === live.get(host), "a host counts its records");
    const out = leased.get(host) ?? 0;
    assert(word(store, host, HOST_LEASED_WORD) === out, "a host counts its leases");
    live.delete(host);
  }
  assert(live.size === 0, "a host with records is busy");
}

/** A lone record is pending, the index has it for its host, and its key is a turn before the first lease. */
function verifyLone({ hosts, rules, store }: Core, record: number): void {
  const { lo, hi } = loneHash(store, record);
  assert(recordState(store, record) === RECORD_PENDING, "a lone record is pending");
  assert(recordOfLone(hostLook(hosts, lo, hi)) === record, "the index has a lone record");
  assert(isHashOf(hosts, Buffer.from(loneText(store, record)), lo, hi), "its name");
  assert(recordKey(store, record) < 0 && loneSequence(store, record) > 0, "its key is a turn");
  const rule = rules.find(({ handle }) => handle === recordQueue(store, record));
  assert(rule?.policy.isPolite === true, "a lone record is under a rule with politeness");
}

/** A host stands in the clock heap, or its queues in their rule's ranks, or neither, as its state asks. */
function verifyHost(core: Core, host: number): void {
  const { store } = core;
  const isClocked = hostFlag(store, host, HOST_CLOCKED);
  assert(isClocked === timelineHas(core.clocks, host), "a clocked host is in the clock heap");
  const pending = word(store, host, HOST_PENDING_WORD);
  if (isClocked) assert(pending > 0, "only time keeps a clocked host");
  let hasRoom = false;
  let sum = 0;
  let queue = word(store, host, HOST_QUEUES_WORD);
  for (; queue !== 0; queue = word(store, queue, QUEUE_NEXT_WORD)) {
    const root = word(store, queue, QUEUE_RANKS_WORD);
    const held = verifyRanks(store.arena, root) + spilledUnder(core, root);
    assert(word(store, queue, QUEUE_PENDING_WORD) === held, "a queue counts its records");
    sum += held;
    const stands = recordPlace(store, queue) !== 0;
    const limit = hostLimit(core, host, ruleOfQueue(core, queue));
    const isFull = word(store, host, HOST_LEASED_WORD) >= limit;
    if (held > 0 && !isFull) hasRoom = true;
    if (stands) assert(held > 0 && !isClocked && !isFull, "a standing queue may go");
    if (stands) assert(ranksBest(store.arena, root) !== 0, "a standing queue has a best record");
    if (isClocked) assert(hostClock(core, host) > 0, "a clocked host has a clock");
  }
  if (isClocked) assert(hasRoom, "a clocked host has room");
  assert(pending === sum, "a host counts its pending records");
}

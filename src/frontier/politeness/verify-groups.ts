/** The slow, complete check of groups: their leases, their gates, their clocks (host-groups.ts I1 to I4). */
import { assert } from "../../base/assert.ts";
import {
  GATE_FRONT_WORD,
  GATE_NEXT_WORD,
  GATE_PARKED_WORD,
  GATE_RANKS_WORD,
  GATE_RULE_WORD,
  GROUP_CLOCKED_WORD,
  GROUP_GATES_WORD,
  GROUP_HOSTS_WORD,
  GROUP_KIND_WORD,
  GROUP_LEASED_WORD,
  GROUP_READY_AT_WORD,
  memberGroup,
  memberKinds,
  QUEUE_GATE_WORD,
} from "../../structures/hosts/group-table.ts";
import { heapCount, heapHas } from "../../structures/ordering/heap.ts";
import {
  HOST_LEASED_WORD,
  HOST_QUEUES_WORD,
  hostNextBusy,
  hostNextIdle,
  QUEUE_NEXT_WORD,
  QUEUE_PENDING_WORD,
  QUEUE_RANK_WORD,
  QUEUE_RULE_WORD,
} from "../../structures/hosts/host-table.ts";
import { laneFirst } from "../../structures/ordering/lane.ts";
import { ranksBest, verifyRanks } from "../../structures/ordering/ranks.ts";
import { recordKey, recordPlace } from "../../structures/records/record.ts";
import { float, word } from "../../structures/store.ts";
import { type Core, ruleAt } from "../core.ts";

interface Sum {
  hosts: number;
  leased: number;
}

/** Throws InvariantError at the first thing that breaks an invariant of host-groups.ts. */
export function verifyGroups(core: Core): void {
  const { groupKinds, groups, hosts, store } = core;
  if (groupKinds.length === 0) return;
  const sums = new Map<number, Sum>();
  const parked = new Map<number, number>();
  const look = (host: number): void => {
    sumHost(core, host, sums);
    countParked(core, host, parked);
  };
  for (let host = hostNextBusy(hosts, 0); host !== 0; host = hostNextBusy(hosts, host)) look(host);
  for (let host = hostNextIdle(hosts, 0); host !== 0; host = hostNextIdle(hosts, host)) look(host);
  let clocked = 0;
  for (const [group, { hosts: count, leased }] of sums) {
    assert(word(store, group, GROUP_HOSTS_WORD) === count, "a group counts its hosts");
    assert(word(store, group, GROUP_LEASED_WORD) === leased, "I3: a group counts its leases");
    clocked += verifyClock(core, group);
    let gate = word(store, group, GROUP_GATES_WORD);
    for (; gate !== 0; gate = word(store, gate, GATE_NEXT_WORD)) {
      const held = verifyRanks(store.arena, word(store, gate, GATE_RANKS_WORD));
      assert(held === word(store, gate, GATE_PARKED_WORD), "a gate counts what is parked");
      assert(held === (parked.get(gate) ?? 0), "I1: what is parked knows its gate");
      verifyGate(core, group, gate);
    }
  }
  const forsaken = groups.count - sums.size;
  assert(heapCount(core.groupClocks) === clocked + forsaken, "I4: the heap of group clocks");
}

function sumHost(core: Core, host: number, sums: Map<number, Sum>): void {
  const { store } = core;
  for (let kind = 0; kind < memberKinds(store, host); kind++) {
    const group = memberGroup(store, host, kind);
    if (group === 0) continue;
    const sum = sums.get(group) ?? { hosts: 0, leased: 0 };
    sum.hosts++;
    sum.leased += word(store, host, HOST_LEASED_WORD);
    sums.set(group, sum);
  }
}

function countParked(core: Core, host: number, parked: Map<number, number>): void {
  const { store } = core;
  let queue = word(store, host, HOST_QUEUES_WORD);
  for (; queue !== 0; queue = word(store, queue, QUEUE_NEXT_WORD)) {
    const gate = word(store, queue, QUEUE_GATE_WORD);
    if (gate === 0) continue;
    assert(recordPlace(store, queue) !== 0, "I1: a parked queue stands at its gate");
    assert(word(store, queue, QUEUE_PENDING_WORD) > 0, "I1: a parked queue holds records");
    parked.set(gate, (parked.get(gate) ?? 0) + 1);
  }
}

/** 1: it stands in the heap of clocks. */
function verifyClock(core: Core, group: number): number {
  const isClocked = word(core.store, group, GROUP_CLOCKED_WORD) !== 0;
  assert(isClocked === heapHas(core.groupClocks, group), "I4: a clocked group is in the heap");
  return isClocked ? 1 : 0;
}

function verifyGate(core: Core, group: number, gate: number): void {
  const { store } = core;
  const rule = ruleAt(core, word(store, gate, GATE_RULE_WORD));
  const kind = word(store, group, GROUP_KIND_WORD);
  const term = rule.policy.groups.find((each) => each.kind === kind);
  if (term === undefined) return;
  const front = word(store, gate, GATE_FRONT_WORD);
  if (front !== 0) {
    assert(recordPlace(store, front) !== 0, "I2: a front stands");
    assert(word(store, front, QUEUE_GATE_WORD) === 0, "I2: a front is parked nowhere");
    assert(word(store, front, QUEUE_RULE_WORD) === rule.handle, "I2: a front is its rule's");
  }
  const isFull = word(store, group, GROUP_LEASED_WORD) >= term.limit;
  const lane = ranksBest(store.arena, word(store, gate, GATE_RANKS_WORD));
  const isTimed = word(store, group, GROUP_CLOCKED_WORD) !== 0;
  if (isFull) assert(front === 0, "I2: a full gate has no front");
  if (lane === 0 || isFull) return;
  // The clock alone decides the rest: what is parked at an open gate has a front before it.
  assert(front !== 0 || isTimed, "I2: an open gate has a front");
  if (front === 0) {
    assert(float(store, group, GROUP_READY_AT_WORD) > 0, "I4: a shut gate has a clock");
    return;
  }
  const best = laneFirst(store.region, lane);
  const rank = float(store, front, QUEUE_RANK_WORD) - float(store, best, QUEUE_RANK_WORD);
  const isBehind = rank > 0 || (rank === 0 && recordKey(store, front) < recordKey(store, best));
  assert(isBehind, "I2: no parked queue is better than the front");
}

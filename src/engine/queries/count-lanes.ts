/**
 * Counts the lanes: how many lanes the pending records make, by what they are and not by where they stand.
 *
 *   rule without politeness   the distinct priorities of its records: in its ranks, or in the queues of hosts that are steered
 *   rule with politeness      the distinct priorities of each host queue
 *
 * Records of a steered host move from the ranks to their queue as they come up (schedule.ts, I3); that must show nowhere.
 */
import { type Core, type RuleState, ruleAt } from "../../frontier/core.ts";
import {
  HOST_QUEUES_WORD,
  hostNextBusy,
  QUEUE_NEXT_WORD,
  QUEUE_RANKS_WORD,
  QUEUE_RULE_WORD,
  RULE_QUEUE_RANKS_WORD,
} from "../../structures/hosts/host-table.ts";
import { laneCount, lanePriority } from "../../structures/ordering/lane.ts";
import { ranksBest, ranksFind, ranksNext } from "../../structures/ordering/ranks.ts";
import { spilledOfRanks } from "../../structures/spill/block-chain.ts";
import { word } from "../../structures/store.ts";

/** Lanes of distinct priorities in use. */
export function countLanes(core: Core): number {
  const { store, hosts } = core;
  let lanes = 0;
  let isMore = false;
  for (const rule of core.rules) {
    if (rule.policy.isPolite) isMore = true;
    else {
      lanes += countRanks(core, word(store, rule.handle, RULE_QUEUE_RANKS_WORD));
      isMore ||= !standsAlone(core, rule);
    }
  }
  lanes += hosts.lone; // each has its priority to itself
  if (!isMore) return lanes;
  const apart = new Map<number, Set<number>>();
  for (let host = hostNextBusy(hosts, 0); host !== 0; host = hostNextBusy(hosts, host)) {
    let queue = word(store, host, HOST_QUEUES_WORD);
    for (; queue !== 0; queue = word(store, queue, QUEUE_NEXT_WORD)) {
      const rule = ruleAt(core, word(store, queue, QUEUE_RULE_WORD));
      const root = word(store, queue, QUEUE_RANKS_WORD);
      if (rule.policy.isPolite) lanes += countRanks(core, root);
      else if (root !== 0) countApart(core, rule, root, apart);
    }
  }
  for (const priorities of apart.values()) lanes += priorities.size;
  return lanes;
}

/** Whether all pending records of a rule without politeness stand in its own ranks. */
function standsAlone({ store }: Core, { handle, pending }: RuleState): boolean {
  const { arena, region } = store;
  const root = word(store, handle, RULE_QUEUE_RANKS_WORD);
  let standing = spilledOfRanks(store, root);
  for (let lane = ranksBest(arena, root); lane !== 0; lane = ranksNext(arena, root, lane)) {
    standing += laneCount(region, lane);
  }
  return standing === pending;
}

/** Notes the priorities of a host queue that do not stand in its rule's ranks. */
function countApart(
  { store }: Core,
  { handle }: RuleState,
  root: number,
  apart: Map<number, Set<number>>,
): void {
  const { arena, region } = store;
  const own = word(store, handle, RULE_QUEUE_RANKS_WORD);
  for (let lane = ranksBest(arena, root); lane !== 0; lane = ranksNext(arena, root, lane)) {
    const priority = lanePriority(region, lane);
    if (ranksFind(arena, own, priority) !== 0) continue;
    const noted = apart.get(handle) ?? new Set();
    apart.set(handle, noted.add(priority));
  }
}

function countRanks({ store }: Core, root: number): number {
  const { arena } = store;
  let count = 0;
  for (let lane = ranksBest(arena, root); lane !== 0; lane = ranksNext(arena, root, lane)) count++;
  return count;
}

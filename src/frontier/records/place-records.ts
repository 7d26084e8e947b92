/**
 * Places many pending records at once into the places that their keys name, by a recovery. Hosts are settled at the
 * end, each once, whatever number of records it got.
 *
 *   handles, those of a queue ascending by key ─▶ kernel: behind their lanes' tails ─▶ what it leaves: one by one ─ … ─▶ settlePlacedHosts
 *
 *   handle of a placed record ─▶ unplaceRecord ─▶ it stands nowhere, and may be placed again
 *
 *   I1  Between placing and `settlePlacedHosts` host queues may hold records and stand nowhere; nothing else is open.
 */
import {
  HOST_PENDING_WORD,
  HOST_TURN_WORD,
  hostNextBusy,
  QUEUE_HOST_WORD,
  QUEUE_RULE_WORD,
  RULE_POLITE,
  RULE_QUEUE_RANKS_WORD,
  RULE_SHARED,
} from "../../structures/hosts/host-table.ts";
import { ranksInsert, ranksRemove } from "../../structures/ordering/ranks.ts";
import {
  RECORD_FLAG_QUEUED,
  recordFlags,
  recordPriority,
  recordQueue,
} from "../../structures/records/record.ts";
import {
  SCRATCH_ROWS,
  scratchPlace,
  scratchPlacing,
} from "../../structures/records/kernel-scratch.ts";
import { areLanesOpened, giveLanes, takeLanes } from "../../structures/records/record-batch.ts";
import { float, setFloat, word } from "../../structures/store.ts";
import { type Core, ruleFlags } from "../core.ts";
import { isClockKept } from "../politeness/host-clock.ts";
import { assertRoom, needRoom } from "./memory-reserve.ts";
import { queueInsert, queueRemove, settleHost } from "../scheduling/schedule.ts";
import { sharesJoin } from "../scheduling/rule-shares.ts";
import { bookPlace } from "./ledger.ts";
import { appendKey, createRecordList } from "./record-list.ts";
import { sortByKey } from "./sort-records.ts";

/**
 * Whether all pending records stand in queues of their hosts, each of which has an order of its own: they may be placed queue by queue, which
 * keeps what placing needs in the caches. Under any other rule they stand in one lane.
 */
export function areQueued(core: Core): boolean {
  return core.rules.every(
    (rule) => rule === core.none || (ruleFlags(core, rule.handle) & RULE_POLITE) !== 0,
  );
}

/** Puts pending records, which stand nowhere, into their places and counts them at their rules. */
export function placeRecords(core: Core, handles: Uint32Array): void {
  const { scratch } = core;
  takeLanes(scratch, 0);
  for (let start = 0; start < handles.length; start += SCRATCH_ROWS) {
    const placing = scratchPlacing(scratch, handles.subarray(start, start + SCRATCH_ROWS));
    for (let index = 0; ; index++) {
      index = scratchPlace(scratch, placing, index);
      if (index < placing && areLanesOpened(scratch)) {
        needRoom(core);
        takeLanes(scratch, placing - index);
        index = scratchPlace(scratch, placing, index);
      }
      if (index >= placing) break;
      placeOne(core, handles[start + index] as number);
    }
  }
  giveLanes(scratch);
}

/** Where the kernel does not: a lane beside another one, or a place between others. */
function placeOne(core: Core, record: number): void {
  const { store } = core;
  needRoom(core);
  const queue = recordQueue(store, record);
  const rule = word(store, queue, QUEUE_RULE_WORD);
  setFloat(store, record, 0, 0); // links
  if (isClockKept(core, word(store, queue, QUEUE_HOST_WORD), ruleFlags(core, rule))) {
    queueInsert(core, queue, record);
  } else {
    const priority = recordPriority(store, record);
    assertRoom(ranksInsert(store.arena, rule, RULE_QUEUE_RANKS_WORD, priority, record));
  }
  bookPlace(core, record, 1);
}

/** Takes a placed record out of its place again: a later entry speaks of it. Its links hold nothing then. */
export function unplaceRecord(core: Core, record: number): void {
  const { store } = core;
  const queue = recordQueue(store, record);
  if ((recordFlags(store, record) & RECORD_FLAG_QUEUED) !== 0) queueRemove(core, queue, record);
  else {
    const rule = word(store, queue, QUEUE_RULE_WORD);
    const priority = recordPriority(store, record);
    ranksRemove(store.arena, rule, RULE_QUEUE_RANKS_WORD, priority, record);
  }
  setFloat(store, record, 0, 0);
  bookPlace(core, record, -1);
}

/** Lets rules and hosts stand where their placed records ask: in the order of their turns, in which each costs O(1). */
export function settlePlacedHosts(core: Core, nowMs: number): void {
  const { hosts, store } = core;
  const placed = createRecordList();
  for (let host = hostNextBusy(hosts, 0); host !== 0; host = hostNextBusy(hosts, host)) {
    if (word(store, host, HOST_PENDING_WORD) === 0) continue;
    appendKey(placed, host, float(store, host, HOST_TURN_WORD));
  }
  // Groups are asked about hosts, and first turns decided, in the order in which the hosts came.
  const isFree = core.groupKinds.length === 0 && (core.flagsSeen & RULE_SHARED) === 0;
  const listed = placed.handles.subarray(0, placed.count);
  for (const host of isFree ? sortByKey(placed, []) : listed) {
    needRoom(core);
    settleHost(core, host, nowMs);
  }
  if (core.sole !== undefined) return;
  for (const { handle, index } of core.rules) {
    if (word(store, handle, RULE_QUEUE_RANKS_WORD) !== 0) sharesJoin(core.shares, index);
  }
}

/**
 * Recovery spill: keeps a recovery within the bound on memory while it reads, whatever the directory holds.
 *
 *   memory over its bound ─▶ pending records without a place: sorted, placed ─▶ hosts scheduled ─▶ to disk ─▶ the rest unscheduled
 *                                                                           └▶ lanes of what is left to disk, down to half of the bound
 *                                         an entry names one of them ─▶ back, out of its place (restore-records.ts, I3)
 *                                         an entry or a row has a new record for a host on disk ─▶ beside the host's block, unread
 *
 *   I1  Only pending records are spilled: leased, waiting and failed ones stay in memory, and so do hosts that have any.
 *   I2  Memory exceeds its bound by at most a section or what some entries bring back, and by the records and hosts that must stay.
 *   I3  Between two sections or frames no host in memory stands anywhere; one on disk is in the order of its turn, or of its clock.
 *
 * Rows of a snapshot come in the order of hashes, so the blocks of each spill overlap with those of earlier spills. When a lane is
 * worked off, it is merged from as many runs, with one block of each in memory.
 */
import type { Core } from "../../frontier/core.ts";
import { REGION_PAGE_BYTES } from "../../layout/memory/region.ts";
import { hostClock } from "../../frontier/politeness/host-clock.ts";
import { needRoom } from "../../frontier/records/memory-reserve.ts";
import { areQueued, placeRecords } from "../../frontier/records/place-records.ts";
import { appendKey, createRecordList } from "../../frontier/records/record-list.ts";
import { settleHost } from "../../frontier/scheduling/schedule.ts";
import { spillDownTo } from "../../frontier/scheduling/spill-control.ts";
import {
  leavingQueue,
  spillRestoredAdded,
  spillRestoredHosts,
} from "../../frontier/scheduling/spill-hosts.ts";
import { hasMuchToSpill, heldBytes, type Spilling } from "../../frontier/scheduling/spill-state.ts";
import {
  HOST_CLOCKED,
  HOST_PASSED,
  HOST_QUEUES_WORD,
  HOST_TURN_DECIDED,
  HOST_TURN_WORD,
  hostFlag,
  hostNextBusy,
  QUEUE_NEXT_WORD,
  QUEUE_RANK_WORD,
  QUEUE_RULE_WORD,
  RULE_QUEUE_RANKS_WORD,
  setHostFlag,
} from "../../structures/hosts/host-table.ts";
import { compactIdleHosts } from "../../structures/hosts/compact-hosts.ts";
import { seenTidy } from "../../structures/seen/seen-set.ts";
import { ranksRemove } from "../../structures/ordering/ranks.ts";
import { timelineRemove } from "../../structures/ordering/timeline.ts";
import { recordPlace } from "../../structures/records/record.ts";
import { type Spill, spillPageBytes, spillUsedBytes } from "../../structures/spill/lane-spill.ts";
import { float, word } from "../../structures/store.ts";
import { copiedBytes } from "./copied-records.ts";
import { listUnplaced } from "../journal/live-records.ts";
import type { Restoration } from "./restore-records.ts";
import { sortApart, sortByKey } from "../../frontier/records/sort-records.ts";

/** How many hosts are let stand for those that have to leave: some of them may not leave. */
const LEAVING_MORE = 1.25;

/** Of the bound, where the files do not fit in memory. */
const PART_BESIDE_LISTS = 0.6;
/**
 * Of that, what stays in memory when hosts go. Where the files do not fit, none does that may go: it would be scattered over all pages, so that
 * few could be given back.
 */
const PART_LEFT = 1 / 2;
/** A journal of at most this part of the snapshot's size brings little that is new. Partial snapshots let it grow as far. */
const PART_REPLACED = 1 / 4;
/** Entries of the seen-set that move or merge in a call. */
const SEEN_ENTRIES = 16_384;

/** Called after each section or frame, and within frames of many entries, while no row is collected. */
export function spillDuringRecovery(restoration: Restoration): void {
  const { core, names } = restoration;
  const { spilling } = core;
  if (spilling === undefined) return;
  const { spill } = spilling;
  seenTidy(core.seen, SEEN_ENTRIES);
  const budgetBytes = boundBytes(restoration, spilling);
  const held = heldBytes(spilling);
  if (held <= budgetBytes || !hasMuchToSpill(spilling)) return;
  if (held < restoration.spillAt && spillUsedBytes(spill) < restoration.spillUsedAt) return;
  const pending = createRecordList(0, areQueued(core));
  listUnplaced(core, names, pending, () => undefined);
  const { handles, areApart } = sortApart(core, pending);
  if (!areApart) restoration.isCorrected = true;
  placeRecords(core, handles);
  spillHostsDownTo(restoration, spilling);
  spillDownTo(core, budgetBytes / 2);
  if (isFullOfHoles(spilling)) compactIdleHosts(core.hosts);
  // What is new fills the holes first, and takes pages where it is of another size: so both are looked at. If most of the memory cannot be
  // spilled, checking again soon would not help.
  const used = spillUsedBytes(spill);
  restoration.spillAt = heldBytes(spilling) + budgetBytes / (used > (budgetBytes * 3) / 4 ? 4 : 16);
  restoration.spillUsedAt = used + Math.max(budgetBytes / 4, REGION_PAGE_BYTES);
}

/** Whether holes take more than an eighth of the bound. */
function isFullOfHoles({ budgetBytes, spill }: Spilling): boolean {
  return spillPageBytes(spill) - spillUsedBytes(spill) > budgetBytes / 8;
}

/**
 * Files of more bytes than memory may have do not fit. So the holes that spilled hosts leave, and the lists that bring the others into their order,
 * get a part of it from the beginning.
 */
function boundBytes(restoration: Restoration, spilling: Spilling): number {
  const bytes = spilling.budgetBytes - copiedBytes(restoration);
  return isGreat(restoration, spilling) ? bytes * PART_BESIDE_LISTS : bytes;
}

/** Whether the files do not fit in memory. A journal of a part of the snapshot mostly replaces what the snapshot has. */
function isGreat({ journalBytes, snapshotBytes }: Restoration, { budgetBytes }: Spilling): boolean {
  return snapshotBytes + Math.max(journalBytes - snapshotBytes * PART_REPLACED, 0) > budgetBytes;
}

/** What stays of records and hosts when hosts go. */
function leftBytes(restoration: Restoration, spilling: Spilling): number {
  if (isGreat(restoration, spilling)) return 0;
  return boundBytes(restoration, spilling) * PART_LEFT;
}

/** Hosts that an entry names come back where they stood: they leave that place until all is read (I3). */
export function unsettleReturning(core: Core, spill: Spill): void {
  spill.onHosts = (hosts) => {
    for (const host of hosts) unsettleHost(core, host);
  };
}

/** All is read: what comes back from disk from now on stands where it belongs. */
export function endRecoverySpill({ core }: Restoration): void {
  if (core.spilling !== undefined) core.spilling.spill.onHosts = undefined;
}

/** Sends whole hosts to disk until memory is down to its part. Never throws what the tier throws: what the disk refuses stays. */
function spillHostsDownTo(restoration: Restoration, spilling: Spilling): void {
  const { core } = restoration;
  const { spill } = spilling;
  const left = leftBytes(restoration, spilling);
  unsettleReturning(core, spill);
  const used = spillUsedBytes(spill);
  const part = (LEAVING_MORE * (used - left)) / used;
  for (const most of [part, 1]) {
    letStand(restoration, most);
    try {
      spillRestoredAdded(spilling);
      while (spillUsedBytes(spill) > left && spillRestoredHosts(core, spilling) > 0);
    } catch (error) {
      spilling.failure = { error };
    }
    const { hosts } = core;
    for (let host = hostNextBusy(hosts, 0); host !== 0; host = hostNextBusy(hosts, host)) {
      unsettleHost(core, host);
    }
    if (spillUsedBytes(spill) <= left || spilling.failure !== undefined) break;
  }
  restoration.host = 0; // it may have left, or will be moved
}

/**
 * Lets hosts stand that may leave, in their order: then each costs O(1). Those whose turn comes last are looked at first, up to a part of all.
 * Two of one turn, as a forged file has them, stay to be separated.
 */
function letStand({ core, nowMs }: Restoration, part: number): void {
  const { hosts, store } = core;
  const turnOf = (host: number): number => float(store, host, HOST_TURN_WORD);
  const all = createRecordList();
  for (let host = hostNextBusy(hosts, 0); host !== 0; host = hostNextBusy(hosts, host)) {
    appendKey(all, host, turnOf(host));
  }
  const same: number[] = [];
  const byTurn = sortByKey(all, same);
  const shared = new Set(same.map(turnOf));
  const waiting = createRecordList();
  const going: number[] = [];
  const most = Math.min(Math.ceil(byTurn.length * part), byTurn.length);
  for (let at = byTurn.length - 1; going.length + waiting.count < most && at >= 0; at--) {
    const host = byTurn[at] as number;
    if (leavingQueue(core, host) === 0) continue;
    if (shared.size > 0 && shared.has(turnOf(host))) continue;
    const clockMs = hostClock(core, host);
    if (clockMs > nowMs) appendKey(waiting, host, clockMs);
    else going.push(host);
  }
  for (const host of going.reverse()) standAlone(core, host, nowMs);
  for (const host of sortByKey(waiting, [])) standAlone(core, host, nowMs);
}

/** A host that was pushed before the process ended had its first turn decided then. */
function standAlone(core: Core, host: number, nowMs: number): void {
  needRoom(core);
  setHostFlag(core.store, host, HOST_TURN_DECIDED, true);
  settleHost(core, host, nowMs);
}

/** A host stands nowhere from now on, as before it was settled: its clock is looked at anew then. */
function unsettleHost(core: Core, host: number): void {
  const { clocks, store } = core;
  let queue = word(store, host, HOST_QUEUES_WORD);
  for (; queue !== 0; queue = word(store, queue, QUEUE_NEXT_WORD)) {
    if (recordPlace(store, queue) === 0) continue;
    const rank = float(store, queue, QUEUE_RANK_WORD);
    const ruleQueue = word(store, queue, QUEUE_RULE_WORD);
    ranksRemove(store.arena, ruleQueue, RULE_QUEUE_RANKS_WORD, rank, queue);
  }
  if (hostFlag(store, host, HOST_CLOCKED)) timelineRemove(clocks, host);
  setHostFlag(store, host, HOST_CLOCKED | HOST_PASSED, false);
}

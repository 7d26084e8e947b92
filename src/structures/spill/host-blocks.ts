/**
 * Hosts on disk: blocks of whole hosts, in the order in which they will be needed (docs/decisions/0018-hosts-on-disk.md). Owner: the
 * frontier's thread.
 *
 *   may go    rule's lane ── hosts in memory ──   turns rise →   chain [ block ][ block ][ block ]    by first turn
 *   wait      clocks      ── hosts in memory ──   times rise →   chain [ block ][ block ][ block ]    by first clock
 *
 *   host, its queue, its records ─▶ entry of a block;    index: hash ─▶ HOST_SPILLED + place
 *   a push to it ─▶ added to the block, unread (added-records.ts) ─▶ in its queue when the block comes back
 *
 *   I1  A host is in memory with all its records, or in one block with all of them, those added since included.
 *   I2  A block comes back whole: its key is the turn, or the clock, of a host in it.
 *   I3  Only hosts without leases, all of whose records are pending in one queue, go (frontier/scheduling/spill-hosts.ts).
 *   I4  A failed call leaves hosts, lanes, clocks and seen-set as they were.
 *
 * Cost: a host is copied out once and in once; a look-up in the seen-set and in the index for each record and host. Crash: as with
 * records (lane-spill.ts): the blocks mean nothing without this memory.
 */
import { LANE_SPARE_WORD } from "../../layout/ordering/lane.ts";
import {
  HOST_CLOCKED,
  HOST_HASH_HI_WORD,
  HOST_HASH_LO_WORD,
  HOST_LIVE_WORD,
  HOST_MARKED,
  HOST_NAME_WORD,
  HOST_PENDING_WORD,
  HOST_QUEUES_WORD,
  HOST_READY_AT_WORD,
  HOST_BLOCK_UNTIL_WORD,
  HOST_SIZE_BYTES,
  HOST_TURN_WORD,
  QUEUE_HOST_WORD,
  QUEUE_NEXT_WORD,
  QUEUE_PENDING_WORD,
  QUEUE_RANKS_WORD,
  QUEUE_RANK_WORD,
  QUEUE_RULE_WORD,
  RULE_QUEUE_RANKS_WORD,
} from "../../layout/records/host.ts";
import {
  SPILL_BY_CLOCK,
  SPILL_ENTRIES_WORD,
  SPILL_HOST_RECORDS_WORD,
  SPILL_HOST_RULE_WORD,
  SPILL_HOST_WORDS_WORD,
  SPILL_KIND_WORD,
  SPILL_LANE_WORD,
  SPILL_LOWERED_WORD,
  SPILL_PLACE_WORD,
} from "../../layout/records/spill-block.ts";
import { memoryFull } from "../../base/errors.ts";
import { arenaTake } from "../../memory/arena.ts";
import { queueGive, queueJoin, queueMake } from "../hosts/host-queue.ts";
import { hostGive, hostReturn, type HostTable, setHostFlag } from "../hosts/host-table.ts";
import {
  createLaneCursor,
  laneCreate,
  laneFirst,
  laneInsert,
  laneOpen,
  lanePriority,
  laneStep,
} from "../ordering/lane.ts";
import { ranksBest, ranksInsert, ranksNext, ranksRemove } from "../ordering/ranks.ts";
import { type Timeline, timelinePush, timelineRemove } from "../ordering/timeline.ts";
import {
  recordFree,
  recordKey,
  recordPriority,
  setRecordKey,
  setRecordQueue,
} from "../records/record.ts";
import { seenMakeRoom } from "../seen/seen-set.ts";
import { float, setFloat, setWord, type Store, word } from "../store.ts";
import { type Added, addedOf, eachPiece, endAdded, keepAdded } from "./added-records.ts";
import { firstRecordAt, unpackHost } from "./host-codec.ts";
import {
  dropBlock,
  holdsHosts,
  outOfMemory,
  readBlock,
  type ShowSpilled,
  type Spill,
  SPILL_RECORDS_MAX,
  unpack,
  warm,
} from "./lane-spill.ts";
import { endUnpacking, entryWords } from "./record-codec.ts";
import { adoptSpilled, depthOfSpilled, isNameless } from "./spilled-identity.ts";

export interface HostSpill {
  readonly spill: Spill;
  readonly hosts: HostTable;
  readonly clocks: Timeline;
  /** Has no items: its chain is that of the blocks by clock. */
  readonly clockLane: number;
  /** Added records in memory, of all blocks. */
  added: number;
  /** A host that stands for one on disk while a record of it is made (`guestQueue`), and its queue. */
  readonly guest: number;
  readonly guestQueue: number;
}

/** Longest name of a host that takes records while it is on disk. */
export const GUEST_NAME_BYTES = 512;

/** Lets hosts be spilled beside records; throws MEMORY_FULL. */
export function createHostSpill(spill: Spill, hosts: HostTable, clocks: Timeline): HostSpill {
  const { store } = spill;
  const clockLane = laneCreate(store.arena, 0);
  const guest = arenaTake(store.arena, HOST_SIZE_BYTES);
  const name = arenaTake(store.arena, GUEST_NAME_BYTES);
  if (clockLane === 0 || guest === 0 || name === 0) throw memoryFull();
  store.region.views.u32.fill(0, guest * 2, guest * 2 + HOST_SIZE_BYTES / 4);
  setWord(store, guest, HOST_NAME_WORD, name);
  setHostFlag(store, guest, HOST_MARKED, true);
  const guestQueue = queueMake(store, guest, 0);
  if (guestQueue === 0) throw memoryFull();
  const away: HostSpill = {
    ...{ spill, hosts, clocks, clockLane, guest, guestQueue, added: 0 },
  };
  spill.bring = (block) => bring(away, block);
  spill.show = (block, show) => showHosts(away, block, show);
  hosts.bring = (place) => void bring(away, spill.blocks[place] as number);
  return away;
}

/** The time from which the first block by clock is needed; Infinity: there is none. @hot */
export function firstClock({ spill, clockLane }: HostSpill): number {
  const block = firstBlock(spill.store, clockLane);
  return block === 0 ? Number.POSITIVE_INFINITY : recordKey(spill.store, block);
}

/** Brings that block back. */
export function bringFirstClocked(away: HostSpill): void {
  bring(away, firstBlock(away.spill.store, away.clockLane));
}

/**
 * Brings back a block of hosts that may go under a rule; false: there is none. O(lanes of the rule), or O(blocks) while its politeness
 * changes.
 */
export function bringStanding(away: HostSpill, ruleQueue: number): boolean {
  const { store } = away.spill;
  const root = word(store, ruleQueue, RULE_QUEUE_RANKS_WORD);
  for (
    let lane = ranksBest(store.arena, root);
    lane !== 0;
    lane = ranksNext(store.arena, root, lane)
  ) {
    const block = firstOfHosts(away.spill, lane);
    if (block === 0) continue;
    bring(away, block);
    return true;
  }
  return false;
}

/** The first block of hosts in a lane's chain; 0: it has none. Blocks of records stand there too while a rule's politeness changes. */
function firstOfHosts(spill: Spill, lane: number): number {
  const { region } = spill.store;
  const chain = word(spill.store, lane, LANE_SPARE_WORD);
  if (chain === 0) return 0;
  const cursor = createLaneCursor();
  laneOpen(region, chain, cursor, true);
  let block = laneStep(region, cursor);
  while (block !== 0 && !holdsHosts(spill, block)) block = laneStep(region, cursor);
  return block;
}

/** Shows the records of a block of hosts, with their hosts, in memory for the time of the call; `show` may only read. */
function showHosts(away: HostSpill, block: number, show: ShowSpilled): void {
  const { spill } = away;
  const { store } = spill;
  const open = openBlock(away, block);
  const { hosts, queues, records, added } = open;
  const place = word(store, block, SPILL_PLACE_WORD);
  const isLowered = word(store, block, SPILL_LOWERED_WORD) !== 0;
  const all = records.length + added.records.length;
  const handles = new Uint32Array(all);
  for (let index = 0; index < all; index++) {
    const record = recordAt(open, index);
    if (isLowered) depthOfSpilled(spill.seen, store, record, place);
    setRecordQueue(store, record, queues[index] as number);
    handles[index] = record;
  }
  try {
    show(handles.subarray(0, SPILL_RECORDS_MAX), hosts);
    for (let from = SPILL_RECORDS_MAX; from < all; from += SPILL_RECORDS_MAX) {
      show(handles.subarray(from, from + SPILL_RECORDS_MAX), []);
    }
  } finally {
    for (let index = 0; index < added.records.length; index++) {
      setRecordQueue(store, added.records[index] as number, added.rules[index] as number);
    }
    closeBlock(spill, open);
  }
}

/** What a block holds, in memory beside it: hosts with empty queues, and by record the queue that it belongs to. */
interface OpenBlock {
  readonly hosts: number[];
  /** Made for this: the block's own records, and those in its pieces. */
  readonly records: number[];
  /** Records that were added and are in memory. */
  readonly added: Added;
  /** By record, the added ones last. */
  readonly queues: number[];
  /** Index in `hosts` by low word of the hash. */
  readonly byLo: Map<number, number>;
}

/** Reads a block and makes its hosts and records; takes it all back where memory is exhausted. */
function openBlock({ spill }: HostSpill, block: number): OpenBlock {
  const open: OpenBlock = {
    ...{ hosts: [], records: [], queues: [], byLo: new Map() },
    added: addedOf(spill, block),
  };
  try {
    const entries = readBlock(spill, block);
    let at = 0;
    for (let index = 0; index < entries; index++) at = openHost(spill, open, block, at);
    eachPiece(spill, block, (lo, hi, ruleQueue, from) => {
      makeRecord(spill, open, block, from);
      open.queues.push(queueFor(spill, open, { lo, hi, ruleQueue }));
    });
    const { added } = open;
    for (let index = 0; index < added.records.length; index++) {
      const lo = added.los[index] as number;
      const ruleQueue = added.rules[index] as number;
      open.queues.push(queueFor(spill, open, { lo, hi: added.his[index] as number, ruleQueue }));
    }
    endUnpacking(spill.store, spill.unpacking);
    return open;
  } catch (error) {
    endUnpacking(spill.store, spill.unpacking);
    closeBlock(spill, open);
    throw error;
  }
}

/** Makes the host of an entry, and its records; returns the word after the entry. */
function openHost(spill: Spill, open: OpenBlock, block: number, at: number): number {
  const { store, words } = spill;
  const host = unpackHost(store, words, at);
  if (host === 0) throw outOfMemory(spill);
  open.byLo.set(word(store, host, HOST_HASH_LO_WORD), open.hosts.length);
  open.hosts.push(host);
  const queue = queueMake(store, host, words[at + SPILL_HOST_RULE_WORD] as number);
  if (queue === 0) throw outOfMemory(spill);
  let next = firstRecordAt(words, at);
  for (let left = words[at + SPILL_HOST_RECORDS_WORD] as number; left > 0; left--) {
    makeRecord(spill, open, block, next);
    open.queues.push(queue);
    next += entryWords(words, next);
  }
  return at + (words[at + SPILL_HOST_WORDS_WORD] as number);
}

function makeRecord(spill: Spill, open: OpenBlock, block: number, at: number): void {
  const record = unpack(spill, block, at);
  if (record === 0) throw outOfMemory(spill);
  open.records.push(record);
}

/** The queue of a host of the block under a rule, made when missing. */
function queueFor(
  spill: Spill,
  { hosts, byLo }: OpenBlock,
  { lo, hi, ruleQueue }: { lo: number; hi: number; ruleQueue: number },
): number {
  const { store } = spill;
  const isIt = (host: number): boolean =>
    word(store, host, HOST_HASH_LO_WORD) === lo && word(store, host, HOST_HASH_HI_WORD) === hi;
  const near = hosts[byLo.get(lo) as number] as number;
  const host = isIt(near) ? near : (hosts.find(isIt) as number);
  let queue = word(store, host, HOST_QUEUES_WORD);
  while (queue !== 0 && word(store, queue, QUEUE_RULE_WORD) !== ruleQueue) {
    queue = word(store, queue, QUEUE_NEXT_WORD);
  }
  queue ||= queueMake(store, host, ruleQueue);
  if (queue === 0) throw outOfMemory(spill);
  return queue;
}

/** Frees what was made. Added records stay where they are. */
function closeBlock({ store }: Spill, { hosts, records }: OpenBlock): void {
  for (const record of records) recordFree(store, record);
  for (const host of hosts) {
    for (let queue = word(store, host, HOST_QUEUES_WORD); queue !== 0; ) {
      const next = word(store, queue, QUEUE_NEXT_WORD);
      queueGive(store, queue);
      queue = next;
    }
    hostGive(store, host);
  }
}

function recordAt({ records, added }: OpenBlock, index: number): number {
  return (
    index < records.length ? records[index] : added.records[index - records.length]
  ) as number;
}

/** Brings all hosts of a block back (I2); the handles of their records. */
function bring(away: HostSpill, block: number): readonly number[] {
  const { spill, hosts } = away;
  const { store } = spill;
  seenMakeRoom(spill.seen, word(store, block, SPILL_ENTRIES_WORD));
  const open = openBlock(away, block);
  const lane = word(store, block, SPILL_LANE_WORD);
  const place = word(store, block, SPILL_PLACE_WORD);
  enterQueues(away, block, open);
  const all = open.queues.map((_, index) => recordAt(open, index));
  for (const record of all) adoptSpilled(spill.seen, store, record, place);
  for (const host of open.hosts) {
    for (let queue = word(store, host, HOST_QUEUES_WORD); queue !== 0; ) {
      queueJoin(store, queue);
      queue = word(store, queue, QUEUE_NEXT_WORD);
    }
    hostReturn(hosts, host);
    if (lane === away.clockLane) continue;
    const queue = word(store, host, HOST_QUEUES_WORD);
    setFloat(store, queue, QUEUE_RANK_WORD, lanePriority(store.region, lane));
    setRecordKey(store, queue, turnOf(store, host));
    laneInsert(store.region, lane, queue);
  }
  spill.count -= all.length;
  away.added -= open.added.records.length;
  endAdded(spill, block);
  // While the queues stand in the lane: with neither items nor blocks it would stay among its owner's lanes, empty.
  dropBlock(spill, block);
  spill.onHosts?.(open.hosts);
  for (let from = 0; spill.onReturn !== undefined && from < all.length; ) {
    spill.onReturn(Uint32Array.from(all.slice(from, from + SPILL_RECORDS_MAX)));
    from += SPILL_RECORDS_MAX;
  }
  return all;
}

/** Puts the records of an open block into their queues, and hosts that wait into the timeline; takes it all back where memory is exhausted. */
function enterQueues(away: HostSpill, block: number, open: OpenBlock): void {
  const { spill, clocks } = away;
  const { store } = spill;
  const place = word(store, block, SPILL_PLACE_WORD);
  const isClocked = word(store, block, SPILL_KIND_WORD) === SPILL_BY_CLOCK;
  let entered = 0;
  while (entered < open.queues.length && enterQueue(spill, open, entered, place)) entered++;
  let clocked = 0;
  if (entered === open.queues.length && isClocked) {
    for (const host of open.hosts) {
      if (!timelinePush(clocks, host, clockOf(store, host), 0)) break;
      setHostFlag(store, host, HOST_CLOCKED, true);
      clocked++;
    }
  }
  if (entered === open.queues.length && (!isClocked || clocked === open.hosts.length)) return;
  while (clocked > 0) timelineRemove(clocks, open.hosts[--clocked] as number);
  for (let index = 0; index < entered; index++) {
    const record = recordAt(open, index);
    const priority = recordPriority(store, record);
    ranksRemove(store.arena, open.queues[index] as number, QUEUE_RANKS_WORD, priority, record);
  }
  for (let index = 0; index < open.queues.length; index++) {
    const record = recordAt(open, index);
    if (isNameless(store, record)) spill.names?.drop(record, place);
  }
  keepAdded(spill, block, open.added);
  closeBlock(spill, open);
  throw outOfMemory(spill);
}

/** Puts one record into its queue, and counts it; false: memory is exhausted. */
function enterQueue(spill: Spill, open: OpenBlock, index: number, place: number): boolean {
  const { store } = spill;
  const record = recordAt(open, index);
  const queue = open.queues[index] as number;
  if (!warm(spill, record, place)) return false;
  const priority = recordPriority(store, record);
  if (!ranksInsert(store.arena, queue, QUEUE_RANKS_WORD, priority, record)) return false;
  setRecordQueue(store, record, queue);
  const host = word(store, queue, QUEUE_HOST_WORD);
  setWord(store, queue, QUEUE_PENDING_WORD, word(store, queue, QUEUE_PENDING_WORD) + 1);
  setWord(store, host, HOST_PENDING_WORD, word(store, host, HOST_PENDING_WORD) + 1);
  setWord(store, host, HOST_LIVE_WORD, word(store, host, HOST_LIVE_WORD) + 1);
  return true;
}

/** The block of a lane's chain that is needed first; 0: it has none. */
function firstBlock(store: Store, lane: number): number {
  const chain = word(store, lane, LANE_SPARE_WORD);
  return chain === 0 ? 0 : laneFirst(store.region, chain);
}

/** The time before which a host that waits may not go. */
function clockOf(store: Store, host: number): number {
  const readyAt = float(store, host, HOST_READY_AT_WORD);
  return Math.max(readyAt, float(store, host, HOST_BLOCK_UNTIL_WORD));
}

function turnOf(store: Store, host: number): number {
  return float(store, host, HOST_TURN_WORD);
}

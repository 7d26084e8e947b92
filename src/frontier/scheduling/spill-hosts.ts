/**
 * Spill of hosts: which hosts go to disk when memory is over its budget, and when they come back (docs/decisions/0018-hosts-on-disk.md).
 *
 *   may go   the lane of a rule's worst priority first, from the highest turn down: the hosts whose turn comes last
 *   wait     from the highest clock down: the hosts that are due last
 *   added    records pushed to hosts on disk: to pieces, once they take a quarter of the budget
 *
 * Hosts behind all blocks, the newest, go first. If there are fewer than NEW_LEAST of them, hosts before the blocks go instead. So the
 * blocks of a chain hardly overlap: a block that comes back brings hosts that are needed soon, and each host is written once on its way to a lease.
 *
 *   I1  Which hosts are in memory decides nothing (spill-control.ts, I1).
 *   I2  A host that goes is what its entry holds: no lease, no group, all its records pending in the one queue that stands, or waits.
 *   I3  None goes while a sweep brings hosts under a new set of rules, since it walks their queues.
 */
import {
  HOST_HELD,
  HOST_LEASED_WORD,
  HOST_LIVE_WORD,
  HOST_MARKED,
  HOST_PENDING_WORD,
  HOST_QUEUES_WORD,
  hostFlag,
  hostPlace,
  isQueue,
  QUEUE_HOST_WORD,
  QUEUE_NEXT_WORD,
  QUEUE_PENDING_WORD,
  QUEUE_RANKS_WORD,
  QUEUE_RULE_WORD,
  RULE_QUEUE_RANKS_WORD,
} from "../../structures/hosts/host-table.ts";
import { HOST_GROUPS_WORD, QUEUE_GATE_WORD } from "../../structures/hosts/group-table.ts";
import { hasShortLoneName } from "../../structures/spill/lone-codec.ts";
import { createLaneCursor, laneOpen, laneStep } from "../../structures/ordering/lane.ts";
import { ranksBest, ranksHigher, ranksNext, ranksWorst } from "../../structures/ordering/ranks.ts";
import { timelineKeyOf, timelineLast } from "../../structures/ordering/timeline.ts";
import {
  RECORD_FLAG_VOLATILE,
  RECORD_PENDING,
  recordFlags,
  recordKey,
  recordQueue,
  recordState,
  isLone,
} from "../../structures/records/record.ts";
import {
  heldRecords,
  nextWithAdded,
  verifyAdded,
  writePiece,
} from "../../structures/spill/added-records.ts";
import { farEnd, laneHeld, laneIsSpilled } from "../../structures/spill/block-chain.ts";
import {
  bringFirstClocked,
  bringStanding,
  firstClock,
  type HostSpill,
} from "../../structures/spill/host-blocks.ts";
import { addRecord, guestOf, mayAdd } from "../../structures/spill/host-guest.ts";
import { valueOfAdded } from "../../structures/spill/spilled-identity.ts";
import { visitSpilled } from "../../structures/spill/visit-spilled.ts";
import { eachRecord, wordsOfHost, writeHosts } from "../../structures/spill/write-hosts.ts";
import { hasShortName } from "../../structures/spill/host-codec.ts";
import {
  BLOCK_WORDS,
  bringHosts,
  holdsHosts,
  SPILL_RECORDS_MAX,
  spillBlock,
  spillPlaces,
  spillUsedBytes,
} from "../../structures/spill/lane-spill.ts";
import { isMemoryFull } from "../../base/errors.ts";
import { word } from "../../structures/store.ts";
import { type Core, ruleAt } from "../core.ts";
import { roomBytes, type Spilling } from "./spill-state.ts";

/** Hosts with more records stay: their lanes go to disk by themselves. */
const RECORDS_MAX = 64;
/** Hosts that are looked at for one block. */
const LOOKS_PER_BLOCK = 2 * SPILL_RECORDS_MAX;
/** Fewest hosts behind all blocks that get a block of their own, as long as others could go. */
const NEW_LEAST = 128;
/** What a host and its record take at least, from which follows how many an eighth of the budget holds: these stay, of each kind. */
const HOST_BYTES = 384;
/** What an added record takes about. */
const ADDED_BYTES = 128;
/** Added records that go before it is the turn of hosts. */
const ADDED_PER_TURN = 1024;
/** After the disk refused to be read: as spill-control.ts does for writes. */
const RETRY_MS = 1000;

/**
 * Sends added records to disk where they take too much, or a block of hosts, in turn: as long as hosts go too, added records wait for more of
 * their block, and pieces are few. How many records went; throws what the tier throws.
 */
export function spillHosts(core: Core, spilling: Spilling): number {
  const { away } = spilling;
  if (core.sweep?.isDone === false) return 0;
  const isHostsTurn = spilling.addedInTurn >= ADDED_PER_TURN;
  const added = isHostsTurn ? 0 : spillAdded(away, spilling);
  spilling.addedInTurn = added > 0 ? spilling.addedInTurn + added : 0;
  if (added > 0) return added;
  const keep = Math.max(
    Math.floor(roomBytes(spilling) / 8 / bytesOfHost(core, spilling)),
    spilling.blockLeast,
  );
  const count = spillFrom(core, away, { keep, least: spilling.blockLeast });
  return count > 0 || !isHostsTurn ? count : spillAdded(away, spilling);
}

/** What a host in memory takes on average, with all its records. */
function bytesOfHost({ hosts }: Core, { away, spill }: Spilling): number {
  const count = Math.max(hosts.count - hosts.idleCount - hosts.spilled, 1);
  return Math.max((spillUsedBytes(spill) - away.added * ADDED_BYTES) / count, HOST_BYTES);
}

/** Sends hosts that a recovery has let stand, of which none needs to stay. Throws what the tier throws. */
export function spillRestoredHosts(core: Core, { away, blockLeast }: Spilling): number {
  return spillFrom(core, away, { keep: 0, least: blockLeast });
}

/** Sends the added records of all blocks that have enough of them. Throws what the tier throws. */
export function spillRestoredAdded({ away, spill, blockLeast }: Spilling): void {
  for (let block = spill.addedFirst; block !== 0; ) {
    const next = nextWithAdded(spill, block);
    for (let went = 1; went > 0 && heldRecords(spill, block) >= blockLeast; away.added -= went) {
      went = writePiece(spill, block);
    }
    block = next;
  }
}

/** A block of hosts of one rule that may go; where there is none, one of those that wait. */
function spillFrom(core: Core, away: HostSpill, limits: Limits): number {
  for (const { handle, policy, isGone } of core.rules) {
    if (isGone || !policy.isPolite || policy.groups.length > 0) continue;
    const count = spillStanding(core, away, handle, limits);
    if (count > 0) return count;
  }
  return spillWaiting(core, away, limits);
}

/** The time at which the first host on disk may go again; Infinity: none waits there. @hot */
export function spilledClockAt({ spilling }: Core): number {
  if (spilling === undefined) return Number.POSITIVE_INFINITY;
  return Math.max(firstClock(spilling.away), spilling.readAtMs);
}

/** Brings back the hosts that are due first; false: there is no room, or the disk refused, which is reported and tried again later. */
export function wakeSpilled({ spilling }: Core, nowMs: number): boolean {
  const state = spilling as Spilling;
  try {
    bringFirstClocked(state.away);
    return true;
  } catch (error) {
    if (!isMemoryFull(error)) state.failure = { error };
    state.readAtMs = nowMs + RETRY_MS;
    return false;
  }
}

/** Brings a block of hosts that wait back; false: there is none. For a sweep that searches what they hold. */
export function bringWaiting({ spilling }: Core): boolean {
  if (spilling === undefined || firstClock(spilling.away) === Number.POSITIVE_INFINITY)
    return false;
  bringFirstClocked(spilling.away);
  return true;
}

/** Brings a block of hosts with work for a rule back, or of some that may have it; false: there is none. */
export function bringOfRule(core: Core, ruleQueue: number): boolean {
  return (
    bringWaiting(core) ||
    (core.spilling !== undefined && bringStanding(core.spilling.away, ruleQueue))
  );
}

/**
 * Brings back the blocks with a host that `wants`, one by one; `wants` reads the host and changes nothing. `brought` is called with the
 * hosts of each.
 */
export function bringHostsThat(
  core: Core,
  wants: (host: number) => boolean,
  brought?: (hosts: readonly number[]) => void,
): void {
  const { hosts, spilling, store } = core;
  if (spilling === undefined || hosts.spilled === 0) return;
  const { spill } = spilling;
  for (const place of spillPlaces(spill)) {
    const block = spillBlock(spill, place);
    if (block === 0 || !holdsHosts(spill, block)) continue;
    let isWanted = false;
    visitSpilled(spill, block, (_, away) => {
      isWanted ||= away.some(wants);
    });
    if (!isWanted) continue;
    const records = bringHosts(spill, block);
    if (brought === undefined) continue;
    const hostOf = (record: number): number =>
      word(store, recordQueue(store, record), QUEUE_HOST_WORD);
    brought([...new Set(records.map(hostOf))]);
  }
}

/** A record that is pushed to a host on disk: the value of the host in the index, the rule's queue, the record's priority. */
interface Pushed {
  readonly value: number;
  readonly ruleQueue: number;
  readonly priority: number;
}

/** Whether the block of a host on disk takes a record under a rule with politeness. */
export function takesRecord({ spilling }: Core, { value, ruleQueue, priority }: Pushed): boolean {
  return mayAdd((spilling as Spilling).away, hostPlace(value), ruleQueue, priority);
}

/** The queue under which the record of a host on disk is made (host-guest.ts); 0: its name is too long. */
export function guestQueueOf(
  { spilling }: Core,
  host: { name: Uint8Array; lo: number; hi: number },
  ruleQueue: number,
): number {
  return guestOf((spilling as Spilling).away, host, ruleQueue);
}

/** Moves a record that was made so to its host on disk; what the seen-set holds for it from now on. */
export function addToSpilled(
  { spilling }: Core,
  value: number,
  record: number,
  depth: number,
): number {
  const place = hostPlace(value);
  addRecord((spilling as Spilling).away, place, record);
  return valueOfAdded(place, depth);
}

/** Keeps the disk's error for a call that needed hosts from it: reported once, by spill-control.ts. */
export function noteFailure({ spilling }: Core, error: unknown): void {
  if (spilling !== undefined) spilling.failure = { error };
}

/** Checks what is in memory for hosts on disk. */
export function verifySpilledHosts({ spilling }: Core): void {
  if (spilling !== undefined) verifyAdded(spilling.spill, spilling.away.added);
}

interface Limits {
  /** So many stay in memory. */
  readonly keep: number;
  /** Fewer are not worth a block. */
  readonly least: number;
}

/** A block of the hosts of a rule whose turns come last. */
function spillStanding(core: Core, away: HostSpill, ruleQueue: number, limits: Limits): number {
  const { store } = core;
  const root = word(store, ruleQueue, RULE_QUEUE_RANKS_WORD);
  const best = ranksBest(store.arena, root);
  for (let lane = ranksWorst(store.arena, root); lane !== 0; ) {
    const most = laneHeld(store, lane) - (lane === best ? limits.keep : 0);
    if (most >= limits.least) {
      const queues = gatherStanding(core, lane, most);
      if (queues.length >= limits.least) return writeHosts(away, lane, queues.reverse());
    }
    lane = ranksHigher(store.arena, root, lane);
  }
  return 0;
}

/** From the highest turn down: those behind all blocks, or when they are few, those before. */
function gatherStanding(core: Core, lane: number, most: number): number[] {
  const { store } = core;
  const behind = farEnd(store, lane);
  const cursor = createLaneCursor();
  laneOpen(store.region, lane, cursor, false);
  const newest = openGathering();
  const before = openGathering();
  let block = newest;
  for (let looks = Math.min(most, LOOKS_PER_BLOCK); looks > 0; looks--) {
    const item = laneStep(store.region, cursor);
    if (item === 0) break;
    if (block === newest && recordKey(store, item) <= behind) {
      if (newest.queues.length >= NEW_LEAST) break;
      block = before;
    }
    if (!mayStandAway(core, item)) continue;
    if (!take(core, block, item)) break;
  }
  return larger(newest, before);
}

/** Whether the host of a queue, or of a lone record, is what an entry can hold (I2). */
function mayStandAway(core: Core, item: number): boolean {
  const { store } = core;
  if (isQueue(store, item)) return mayLeave(core, item);
  return isLone(store, item) && hasShortLoneName(store, item);
}

/** A block of the hosts that are due last: of those behind all blocks, or when they are few, of those before. */
function spillWaiting(core: Core, away: HostSpill, { keep, least }: Limits): number {
  const { clocks, store } = core;
  const most = Math.min(clocks.lineCount + clocks.heap.count - keep, LOOKS_PER_BLOCK);
  if (most < least) return 0;
  const behind = farEnd(store, away.clockLane);
  const newest = openGathering();
  const before = openGathering();
  let block = newest;
  for (const host of timelineLast(clocks, most)) {
    if (block === newest && timelineKeyOf(clocks, host) <= behind) {
      if (newest.queues.length >= NEW_LEAST) break;
      block = before;
    }
    const queue = leavingQueue(core, host);
    if (queue !== 0 && !take(core, block, queue)) break;
  }
  const queues = larger(newest, before);
  if (queues.length < least) return 0;
  const keyOf = (queue: number): number =>
    timelineKeyOf(clocks, word(store, queue, QUEUE_HOST_WORD));
  queues.sort((a, b) => keyOf(a) - keyOf(b));
  return writeHosts(away, away.clockLane, queues);
}

/** The one queue in which a host has its records, if it may leave; 0: it may not. */
export function leavingQueue(core: Core, host: number): number {
  const { store } = core;
  let queue = word(store, host, HOST_QUEUES_WORD);
  while (queue !== 0 && word(store, queue, QUEUE_PENDING_WORD) === 0) {
    queue = word(store, queue, QUEUE_NEXT_WORD);
  }
  if (queue === 0 || !mayLeave(core, queue)) return 0;
  const { isGone, policy } = ruleAt(core, word(store, queue, QUEUE_RULE_WORD));
  return isGone || !policy.isPolite || policy.groups.length > 0 ? 0 : queue;
}

/** Whether the host of a queue is what an entry can hold (I2). */
function mayLeave(core: Core, queue: number): boolean {
  const { store } = core;
  const host = word(store, queue, QUEUE_HOST_WORD);
  const pending = word(store, queue, QUEUE_PENDING_WORD);
  if (pending === 0 || pending > RECORDS_MAX || pending !== word(store, host, HOST_LIVE_WORD)) {
    return false;
  }
  if (pending !== word(store, host, HOST_PENDING_WORD)) return false;
  if (word(store, host, HOST_LEASED_WORD) > 0 || word(store, host, HOST_GROUPS_WORD) !== 0) {
    return false;
  }
  if (word(store, queue, QUEUE_GATE_WORD) !== 0 || hostFlag(store, host, HOST_HELD)) return false;
  if (core.log !== undefined && !hostFlag(store, host, HOST_MARKED)) return false;
  return hasShortName(store, host) && hasPlainRecords(core, queue);
}

/** Whether all records of a queue are in memory, and may leave it. */
function hasPlainRecords({ store }: Core, queue: number): boolean {
  const root = word(store, queue, QUEUE_RANKS_WORD);
  for (let lane = ranksBest(store.arena, root); lane !== 0; ) {
    if (laneIsSpilled(store, lane)) return false;
    lane = ranksNext(store.arena, root, lane);
  }
  let isPlain = true;
  eachRecord(store, queue, (record) => {
    if (recordState(store, record) !== RECORD_PENDING) isPlain = false;
    if ((recordFlags(store, record) & RECORD_FLAG_VOLATILE) !== 0) isPlain = false;
  });
  return isPlain;
}

/** The block of more hosts; of equal ones the newest. */
function larger(newest: Gathering, before: Gathering): number[] {
  return (before.queues.length > newest.queues.length ? before : newest).queues;
}

interface Gathering {
  readonly queues: number[];
  records: number;
  words: number;
}

function openGathering(): Gathering {
  return { queues: [], records: 0, words: 0 };
}

/** Takes a queue into a block; false: the block is full. */
function take({ store }: Core, block: Gathering, queue: number): boolean {
  const held = isLone(store, queue) ? 1 : word(store, queue, QUEUE_PENDING_WORD);
  const records = block.records + held;
  const words = block.words + wordsOfHost(store, queue);
  if (records > SPILL_RECORDS_MAX || words > BLOCK_WORDS) return false;
  block.queues.push(queue);
  block.records = records;
  block.words = words;
  return true;
}

/** Sends added records to pieces, the oldest block's first, once they take a quarter of the budget. */
function spillAdded(away: HostSpill, spilling: Spilling): number {
  const { spill, blockLeast } = spilling;
  const most = Math.max(Math.floor(roomBytes(spilling) / 4 / ADDED_BYTES), 2 * blockLeast);
  if (away.added <= most) return 0;
  let count = 0;
  while (count < spilling.share && spill.addedFirst !== 0) {
    const went = writePiece(spill, spill.addedFirst);
    away.added -= went;
    count += went;
    if (went === 0) break;
  }
  return count;
}

/**
 * Spill control: which pending records go to disk when there are more than memory is meant for, and how others find them.
 *
 *   push ─▶ relieve: over the budget? ─▶ rules' ranks, worst priority first ─▶ cold end of a lane ─▶ block
 *                                    ├▶ host queues, round the busy hosts ──▶ cold end of a lane ─▶ block
 *                                    └▶ whole hosts that go last (spill-hosts.ts)             ─▶ block
 *   poll ─▶ readyLane: the lane's best record, back from its block
 *
 * A lane keeps its hot end, as many records as one block brings back, so that what comes back is not what goes next. Lanes with
 * fewer records than make a block stay whole: a read for so few would cost more than their memory.
 *
 *   I1  Which records are in memory decides nothing: order, counts and answers are those of a frontier without a tier.
 *   I2  Where a log is or will be kept, the names of records without identity are kept (SpillNames) before any can go.
 *   I3  A round of some blocks goes at a time, in parts of about SPILL_PER_CALL records a call, more of them far over the budget: none waits
 *       for the whole of it. The next calls go on with the round, or the next turn of the event loop.
 *   I4  What the disk refuses stays in memory; it is tried again after RETRY_MS, and pushes are refused once memory is
 *       an eighth over its budget.
 *   I5  Holes and the index of hosts count too. The index may take half of the budget, and holes half of what that leaves.
 */
import { isMemoryFull } from "../../base/errors.ts";
import {
  HOST_QUEUES_WORD,
  hostNextBusy,
  QUEUE_NEXT_WORD,
  QUEUE_RANKS_WORD,
  QUEUE_RULE_WORD,
  RULE_QUEUE_RANKS_WORD,
} from "../../structures/hosts/host-table.ts";
import { ranksBest, ranksHigher, ranksWorst } from "../../structures/ordering/ranks.ts";
import {
  chainBound,
  laneHeld,
  laneIsSpilled,
  spilledOfRanks,
} from "../../structures/spill/block-chain.ts";
import {
  holdsHosts,
  SPILL_RECORDS_MAX,
  spillBlock,
  spillLower,
  spillLane,
  type ColdEnd,
  spillMayHold,
  spillPlaces,
  spillReady,
  spillUsedBytes,
} from "../../structures/spill/lane-spill.ts";
import { spillPull, spillPullNamed, spillVisit } from "../../structures/spill/take-spilled.ts";
import { visitSpilled } from "../../structures/spill/visit-spilled.ts";
import { closeToAdded } from "../../structures/spill/host-guest.ts";
import { spillSettle } from "../../structures/spill/forget-spilled.ts";
import {
  isSpilledValue,
  SPILL_DEPTH_MAX,
  spilledDepth,
  spilledPlace,
} from "../../structures/spill/spilled-identity.ts";
import { laneFirst, laneLast } from "../../structures/ordering/lane.ts";
import { recordKey } from "../../structures/records/record.ts";
import { seenSet } from "../../structures/seen/seen-set.ts";
import { word } from "../../structures/store.ts";
import { type Core, ruleAt } from "../core.ts";
import { isFinishedValue } from "../records/finished-word.ts";
import type { FrontierPolicy } from "../rules/rule-policy.ts";
import { spillHosts } from "./spill-hosts.ts";
import { hasMuchToSpill, heldBytes, type Spilling } from "./spill-state.ts";

/** Records that one call may send to disk: twice what a batch brings. With the last block they may be half as many more. */
export const SPILL_PER_CALL = 512;
/** Records of a round. Then memory is at rest until it takes another page. */
const SPILL_PER_ROUND = 1024;
/** As many more for each 64th of the budget that memory is over it, up to MOST_PER_ROUND: where new records are of other sizes, what goes leaves holes. */
const MOST_PER_ROUND = 8 * SPILL_PER_ROUND;
/** Most records of a call, which sends twice as many as SPILL_PER_CALL more for each 64th of the budget that memory is over it, but for the first. */
const MOST_PER_CALL = 16 * SPILL_PER_CALL;
/** Lanes of a rule, and hosts, that one call checks. */
const LANES_PER_CALL = 32;
const HOSTS_PER_CALL = 64;
/** What a record takes about, from which follows how many the hot ends of all lanes may hold in a quarter of the budget. */
const RECORD_BYTES = 128;
/** From so much of its budget on something goes; memory between that and the whole budget may be at rest. */
const START = 15 / 16;
/** Above so much of it pushes are refused where the disk takes nothing. */
const MOST = 1.125;
/** After the disk refused: long enough not to be asked by every push, short enough to go on soon. */
const RETRY_MS = 1000;

/** After an admission: sends records to disk where memory is over its budget. Never throws. */
export function spillOverBudget(core: Core, nowMs: number): void {
  const { spilling } = core;
  if (spilling === undefined) return;
  if (!isDue(spilling) || nowMs < spilling.retryAtMs) return;
  try {
    const count = spillSome(core, spilling);
    spilling.isRefused = false;
    spilling.owed = count > 0 ? Math.max(spilling.owed - count, 0) : 0;
    if (count === 0) spilling.quietBytes = heldBytes(spilling) + spilling.budgetBytes / 64;
    else if (spilling.owed === 0) spilling.quietBytes = restBytes(spilling);
  } catch (error) {
    spilling.owed = 0;
    spilling.failure = { error };
    spilling.isRefused = true;
    spilling.retryAtMs = nowMs + RETRY_MS;
  }
}

/**
 * During a recovery, where no call asks for a best record: sends whole lanes to disk until memory is down to so many bytes.
 * Blocks of one lane may overlap in their keys; they are merged as they come back. Never throws: what the disk refuses stays.
 */
export function spillDownTo(core: Core, targetBytes: number): void {
  const { spilling, store, hosts } = core;
  if (spilling === undefined) return;
  try {
    for (const { handle, policy } of core.rules) {
      const root = word(store, handle, RULE_QUEUE_RANKS_WORD);
      if (!policy.isPolite && spillRanksDownTo(core, spilling, { root, targetBytes, policy }))
        return;
    }
    for (let host = hostNextBusy(hosts, 0); host !== 0; host = hostNextBusy(hosts, host)) {
      let queue = word(store, host, HOST_QUEUES_WORD);
      for (; queue !== 0; queue = word(store, queue, QUEUE_NEXT_WORD)) {
        const { policy } = ruleAt(core, word(store, queue, QUEUE_RULE_WORD));
        const root = word(store, queue, QUEUE_RANKS_WORD);
        if (spillRanksDownTo(core, spilling, { root, targetBytes, policy })) return;
      }
    }
  } catch (error) {
    spilling.failure = { error };
  }
}

/** True: memory is down to its target. */
function spillRanksDownTo(
  { store }: Core,
  { spill, blockLeast }: Spilling,
  { root, targetBytes, policy }: { root: number; targetBytes: number; policy: FrontierPolicy },
): boolean {
  const from: ColdEnd = policy.isLifo ? "bottom" : "inside";
  let lane = ranksWorst(store.arena, root);
  for (; lane !== 0; lane = ranksHigher(store.arena, root, lane)) {
    if (laneHeld(store, lane) < blockLeast) continue;
    for (let went = 1; went > 0; ) {
      if (spillUsedBytes(spill) <= targetBytes) return true;
      went = spillLane(spill, lane, { from, most: SPILL_RECORDS_MAX, least: blockLeast });
    }
  }
  return false;
}

/** The disk's last error for records that had to go, reported once. */
export function spillFault(core: Core): unknown {
  const failure = core.spilling?.failure;
  if (core.spilling !== undefined) core.spilling.failure = undefined;
  return failure?.error;
}

/** Whether memory is over its budget and something may be done about it. */
export function isSpillDue(core: Core): boolean {
  const { spilling } = core;
  return spilling !== undefined && !spilling.isRefused && isDue(spilling);
}

/** Whether the disk refuses what memory has no room for. */
export function isDiskFull(core: Core): boolean {
  const { spilling } = core;
  if (spilling === undefined || !spilling.isRefused) return false;
  return heldBytes(spilling) > spilling.budgetBytes * MOST && hasMuchToSpill(spilling);
}

/** Whether a lane goes on on disk. */
export function goesOnElsewhere({ store }: Core, lane: number): boolean {
  return laneIsSpilled(store, lane);
}

/** Brings the lane's best record into memory. @hot */
function readyLane(core: Core, lane: number, isLifo: boolean): void {
  if (!laneIsSpilled(core.store, lane)) return;
  spillReady((core.spilling as Spilling).spill, lane, isLifo);
}

/** The record that a lane's order puts first, in memory. @hot */
export function laneBest(core: Core, lane: number, isLifo: boolean): number {
  const { region } = core.store;
  readyLane(core, lane, isLifo);
  return isLifo ? laneLast(region, lane) : laneFirst(region, lane);
}

/** The key from which on a lane's records stand on disk; its best one is in memory then. @hot */
export function laneBound(core: Core, lane: number, isLifo: boolean): number {
  readyLane(core, lane, isLifo);
  return chainBound(core.store, lane, isLifo);
}

/**
 * The key of the record that a lane's order puts first. Of one on disk it is the key from which on its block is needed, which may be
 * that of a record that has left the block: nothing is read here, a hand-out finds out.
 */
export function laneBestKey({ store }: Core, lane: number, isLifo: boolean): number {
  const { region } = store;
  const item = isLifo ? laneLast(region, lane) : laneFirst(region, lane);
  if (!laneIsSpilled(store, lane)) return recordKey(store, item);
  const bound = chainBound(store, lane, isLifo);
  if (item === 0) return bound;
  const key = recordKey(store, item);
  return isLifo ? Math.max(key, bound) : Math.min(key, bound);
}

/** Whether what the seen-set holds of an identity is a record in memory. @hot */
export function isInMemory(value: number): boolean {
  return value !== 0 && !isFinishedValue(value) && !isSpilledValue(value);
}

/** The place on disk of a live value of the seen-set; undefined: its record is in memory. */
export function placeOfValue(value: number): number | undefined {
  return isSpilledValue(value) ? spilledPlace(value) : undefined;
}

/** Records on disk of all lanes of one owner. */
export function spilledUnder({ store }: Core, root: number): number {
  return spilledOfRanks(store, root);
}

/** Whether a spilled record may be of a greater depth than `depth`. */
export function isSpilledDeeper(value: number, depth: number): boolean {
  const held = spilledDepth(value);
  return held >= SPILL_DEPTH_MAX || depth < held;
}

/** Writes a lower depth beside the place of a spilled record. False: it does not fit there, or must be logged or kept in a tiered set. @hot */
export function lowerSpilled(
  core: Core,
  value: number,
  lo: number,
  hi: number,
  depth: number,
): boolean {
  if (depth >= SPILL_DEPTH_MAX || core.log !== undefined || core.seen.tiered !== undefined) {
    return false;
  }
  seenSet(core.seen, lo, hi, spillLower((core.spilling as Spilling).spill, value, depth));
  return true;
}

/** The record behind a live value of the seen-set, in memory: one that was spilled comes back. @hot */
export function recordOfValue(core: Core, value: number, lo: number, hi: number): number {
  if (!isSpilledValue(value)) return value;
  return spillPull((core.spilling as Spilling).spill, spilledPlace(value), lo, hi);
}

/** The same, −1 where memory has no room for it. */
export function tryBehind(core: Core, value: number, lo: number, hi: number): number {
  try {
    return recordOfValue(core, value, lo, hi);
  } catch (error) {
    if (isMemoryFull(error)) return -1;
    throw error;
  }
}

/** The same of a value that a table of names holds. */
export function recordNamed(core: Core, value: number, lo: number, hi: number): number {
  if (!isSpilledValue(value)) return value;
  return spillPullNamed((core.spilling as Spilling).spill, spilledPlace(value), lo, hi);
}

/**
 * Brings the spilled records that `wants` back into memory for good and passes them to `taken`, a block at a time. With a host
 * only blocks are read that may hold records of it. `wants` reads a record and changes nothing.
 */
export function takeSpilled(
  core: Core,
  wants: (record: number) => boolean,
  taken: (record: number) => void,
  host = 0,
): void {
  const { spilling } = core;
  if (spilling === undefined || spilling.spill.count === 0) return;
  const { spill } = spilling;
  for (const place of spillPlaces(spill)) {
    const block = spillBlock(spill, place);
    if (block === 0 || (host !== 0 && !spillMayHold(spill, block, host))) continue;
    // A block of hosts comes back whole: not in vain.
    if (holdsHosts(spill, block) && !holdsWanted(spill, block, wants)) continue;
    for (const record of spillVisit(spill, block, wants)) taken(record);
  }
}

/** Whether a block holds a record that is wanted. */
function holdsWanted(
  spill: Spilling["spill"],
  block: number,
  wants: (record: number) => boolean,
): boolean {
  let isWanted = false;
  visitSpilled(spill, block, (records) => {
    isWanted ||= records.some(wants);
  });
  return isWanted;
}

/** The same of the block at one place. */
export function takeSpilledAt(
  core: Core,
  place: number,
  wants: (record: number) => boolean,
  taken: (record: number) => void,
): void {
  const { spill } = core.spilling as Spilling;
  for (const record of spillVisit(spill, spillBlock(spill, place), wants)) taken(record);
}

/**
 * Called before all identities are forgotten: writes what only they hold of spilled records into the records. Where the names are not
 * kept that a log finds them by from then on, all of them come back.
 */
export function settleSpilled(core: Core): void {
  const { spilling } = core;
  if (spilling === undefined || spilling.spill.count === 0) return;
  const { spill, away } = spilling;
  closeToAdded(away);
  const isPlain = core.log === undefined && core.seen.tiered === undefined;
  if (isPlain || (core.log !== undefined && spill.names !== undefined)) spillSettle(spill);
  else {
    takeSpilled(
      core,
      () => true,
      () => {},
    );
  }
}

/** Places of the blocks there are; a block that is gone when it is looked at is passed over. */
export function placesSpilled(core: Core): Uint32Array {
  return core.spilling === undefined ? new Uint32Array(0) : spillPlaces(core.spilling.spill);
}

/** Whether what lies at a place are hosts with their records. */
export function isHostsPlace({ spilling }: Core, place: number): boolean {
  const { spill } = spilling as Spilling;
  return holdsHosts(spill, spillBlock(spill, place));
}

/** Shows the records of one block, each in memory for the time of the call. */
export function probeSpilled(core: Core, place: number, look: (record: number) => void): void {
  const { spill } = core.spilling as Spilling;
  const block = spillBlock(spill, place);
  if (block === 0) return;
  visitSpilled(spill, block, (records) => records.forEach((record) => void look(record)));
}

/** Whether something should go. */
function isDue(spilling: Spilling): boolean {
  const held = heldBytes(spilling);
  return held > spilling.budgetBytes * START && (spilling.owed > 0 || held >= spilling.quietBytes);
}

/**
 * After something went. That leaves holes, and pages are free only once they are empty: so memory near its budget is at rest until it takes
 * another page.
 */
function restBytes(spilling: Spilling): number {
  const held = heldBytes(spilling);
  return held > spilling.budgetBytes && hasMuchToSpill(spilling) ? 0 : held + 1;
}

function spillSome(core: Core, spilling: Spilling): number {
  const { hosts, rules } = core;
  const over = overBudget(spilling);
  if (spilling.owed === 0) spilling.owed = Math.min(SPILL_PER_ROUND * (1 + over), MOST_PER_ROUND);
  spilling.share = Math.min(SPILL_PER_CALL * Math.max(1, 2 * (over - 1)), MOST_PER_CALL);
  const hotOfRules = hotRecords(spilling, rules.length);
  let count = 0;
  for (const { handle, policy, isGone } of core.rules) {
    if (isGone) continue; // they are about to be matched again
    const root = word(core.store, handle, RULE_QUEUE_RANKS_WORD);
    const { isLifo, isPolite } = policy;
    if (!isPolite) count += spillRanks(core, root, { hot: hotOfRules, isLifo });
    if (count >= spilling.share) return count;
  }
  const hot = hotRecords(spilling, rules.length + hosts.count - hosts.idleCount - hosts.spilled);
  for (let looked = 0; looked < HOSTS_PER_CALL && count < spilling.share; looked++) {
    const host = hosts.hand || hosts.busyFirst;
    if (host === 0 || !isOver(spilling)) break;
    hosts.hand = hostNextBusy(hosts, host);
    count += spillHost(core, host, hot);
  }
  for (let went = 1; went > 0 && 2 * count < spilling.share && isOver(spilling); count += went) {
    went = spillHosts(core, spilling);
  }
  return count;
}

/** By how many 64ths of the budget memory is over it, the last one begun. */
function overBudget(spilling: Spilling): number {
  const { budgetBytes } = spilling;
  return Math.max(0, Math.ceil(((heldBytes(spilling) - budgetBytes) * 64) / budgetBytes));
}

function isOver(spilling: Spilling): boolean {
  return heldBytes(spilling) > spilling.budgetBytes * START;
}

/** Records that the hot end of a lane keeps and a block holds: so many lanes together a quarter of the budget. */
function hotRecords({ budgetBytes, blockLeast }: Spilling, lanes: number): number {
  const each = Math.floor(budgetBytes / 4 / RECORD_BYTES / lanes);
  return Math.min(Math.max(each, 2 * blockLeast), SPILL_RECORDS_MAX);
}

function spillHost(core: Core, host: number, hot: number): number {
  const { store } = core;
  let count = 0;
  let queue = word(store, host, HOST_QUEUES_WORD);
  for (; queue !== 0; queue = word(store, queue, QUEUE_NEXT_WORD)) {
    const { isGone, policy } = ruleAt(core, word(store, queue, QUEUE_RULE_WORD));
    if (isGone) continue;
    const { isLifo } = policy;
    count += spillRanks(core, word(store, queue, QUEUE_RANKS_WORD), { hot, isLifo });
  }
  return count;
}

/** From the worst priority up; returns the records that went. */
function spillRanks(core: Core, root: number, how: { hot: number; isLifo: boolean }): number {
  const { arena } = core.store;
  const best = ranksBest(arena, root);
  let count = 0;
  let lane = ranksWorst(arena, root);
  for (let looked = 0; lane !== 0 && looked < LANES_PER_CALL; looked++) {
    count += spillCold(core, lane, how, best);
    if (count >= (core.spilling as Spilling).share) break;
    lane = ranksHigher(arena, root, lane);
  }
  return count;
}

/** Blocks of a lane's cold end, until its hot end is left or the call's share is used up. `best`: the lane that goes first. */
function spillCold(
  core: Core,
  lane: number,
  { hot, isLifo }: { hot: number; isLifo: boolean },
  best: number,
): number {
  const { store } = core;
  const spilling = core.spilling as Spilling;
  const { spill, blockLeast } = spilling;
  let count = 0;
  while (count < spilling.share && isOver(spilling)) {
    const held = laneHeld(store, lane);
    // What stands behind a FIFO lane's blocks is cold whatever it is; in front of them, and without any, the hot end stays.
    const isBehind = !isLifo && laneIsSpilled(store, lane);
    const isDeep = isBehind && held > 4 * SPILL_RECORDS_MAX;
    const keep = lane === best && !(isBehind && !isDeep) ? hot : 0;
    const most = Math.min(held - keep, hot);
    if (most < blockLeast) break;
    const request = { most, least: blockLeast };
    let went = spillLane(spill, lane, { ...request, from: isLifo ? "bottom" : "tail" });
    if (went === 0 && isDeep) went = spillLane(spill, lane, { ...request, from: "inside" });
    if (went === 0) break;
    count += went;
  }
  return count;
}

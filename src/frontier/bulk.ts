/**
 * Bulk: hand-outs and ends of plain leases by the kernel, many in one crossing (structures/lease-batch.ts). What they do is
 * what `leaseNext` and `done` do one by one, and those take over where anything is not plain.
 *
 *   plain hand-outs   one rule, no politeness, no groups; nobody listens, nothing is journaled
 *   plain ends        the same; no rule that re-crawls or backs off; a record without blob and volatile data, on a host
 *                     that nobody steered; the exact table keeps the last word
 */
import { endBatch, leaseBatch } from "../structures/lease-batch.ts";
import {
  HOST_STEERED,
  hostFlag,
  RULE_AGAIN,
  RULE_BACKOFF,
  RULE_GONE,
  RULE_POLITE,
  RULE_QUEUE_DONE_WORD,
  RULE_QUEUE_LEASED_WORD,
  RULE_QUEUE_PENDING_WORD,
  RULE_QUEUE_RANKS_WORD,
  RULE_QUEUE_SERVED_WORD,
} from "../structures/host-table.ts";
import { laneCount, laneIsList } from "../structures/lane.ts";
import { ranksBest } from "../structures/ranks.ts";
import { RECORD_FLAG_BLOB, RECORD_FLAG_VOLATILE, recordFlags } from "../structures/record.ts";
import { scratchHandle, scratchTouch } from "../structures/scratch.ts";
import { type Store, word } from "../structures/store.ts";
import { timelineHolds, timelineRemove } from "../structures/timeline.ts";
import { type Core, ruleFlags } from "./core.ts";
import { countLate, done, isLive, learn } from "./leases.ts";
import type { HandOut } from "./schedule.ts";
import { sharesCharge } from "./shares.ts";
import { hostOf } from "./transition.ts";

/** Leases whose memory is touched at once before they end: more would push one another out of the nearest cache. */
const TOUCHED = 128;
const TOUCHED_MIN = 8;

/** Whether all records stand in one rule's ranks and nothing above a host is looked at. @hot */
function isPlainCore(core: Core): boolean {
  const { log, groupKinds, sole } = core;
  if (sole === undefined || log !== undefined || groupKinds.length > 0) return false;
  return (ruleFlags(core, sole.handle) & (RULE_POLITE | RULE_GONE)) === 0;
}

/**
 * Leases the next records, at most `max`, as far as they are plain; how many. Their handles stand in the scratch, their
 * sequences end with the core's. The core must have been brought to `nowMs`. @hot
 */
export function leaseMany(core: Core, nowMs: number, max: number): number {
  const { counters, deadlines, leaseSequence, limits, scratch, shares, sole, store } = core;
  if (sole === undefined || core.sink.wants.leased || !isPlainCore(core)) return 0;
  if (!isPlainLane(store, word(store, sole.handle, RULE_QUEUE_RANKS_WORD))) return 0;
  const room = Math.min(max, limits.maxLeases - counters.leased);
  if (room <= 0) return 0;
  const deadlineMs = nowMs + limits.leaseMs;
  const made = leaseBatch(scratch, deadlines, sole.handle, room, deadlineMs, leaseSequence);
  core.leaseSequence += made;
  counters.pending -= made;
  counters.leased += made;
  counters.leases += made;
  const { f64, u32 } = store.region.views;
  const rule = sole.handle * 2;
  u32[rule + RULE_QUEUE_PENDING_WORD] = (u32[rule + RULE_QUEUE_PENDING_WORD] as number) - made;
  u32[rule + RULE_QUEUE_LEASED_WORD] = (u32[rule + RULE_QUEUE_LEASED_WORD] as number) + made;
  const served = sole.handle + RULE_QUEUE_SERVED_WORD / 2;
  f64[served] = (f64[served] as number) + made;
  for (let index = 0; index < made; index++) sharesCharge(shares, sole.index);
  return made;
}

/**
 * Ends leases as done, in their order, without outcome; how many. `late`: true for those that came too late already, and from
 * now on for those that do not stand; all of them are counted. The core must have been brought to `nowMs`.
 */
export function endMany(
  core: Core,
  leases: readonly HandOut[],
  late: boolean[],
  nowMs: number,
): number {
  const isPlain = isPlainEnd(core);
  let ended = 0;
  let noted = 0;
  for (let at = 0; at < leases.length; at++) {
    if (at % TOUCHED === 0) {
      endNoted(core, noted);
      noted = 0;
      touchLeases(core, leases, at);
    }
    const lease = leases[at] as HandOut;
    if (late[at] !== true && isPlain && noteEnd(core, noted, lease, nowMs)) noted++;
    else if (late[at] !== true && isLive(core, lease, nowMs)) {
      endNoted(core, noted); // in their order
      noted = 0;
      learn(core, lease, undefined, nowMs);
      done(core, lease, undefined, nowMs);
    } else {
      late[at] = true;
      countLate(core);
      continue;
    }
    ended++;
  }
  endNoted(core, noted);
  return ended;
}

/** Warms the caches for the next TOUCHED leases that end, if they are many. @hot */
function touchLeases(core: Core, leases: readonly HandOut[], from: number): void {
  const count = Math.min(leases.length - from, TOUCHED);
  if (count < TOUCHED_MIN) return;
  for (let at = 0; at < count; at++) {
    scratchHandle(core.scratch, at, (leases[from + at] as HandOut).record);
  }
  scratchTouch(core.scratch, core.seen.table.offset, count);
}

/** Whether the best of a rule's lanes holds some records, and in its list alone. @hot */
function isPlainLane({ arena, region }: Store, root: number): boolean {
  const lane = ranksBest(arena, root);
  return lane !== 0 && laneIsList(region, lane) && laneCount(region, lane) > 1;
}

/** Whether leases may end by `noteEnd` and `endNoted`. @hot */
function isPlainEnd(core: Core): boolean {
  if (core.sink.wants.done || core.seen.bloom !== undefined || !isPlainCore(core)) return false;
  return (core.flagsSeen & (RULE_AGAIN | RULE_BACKOFF)) === 0;
}

/**
 * Notes a lease that stands at `nowMs` as the next of those to be ended, number `index`; false: it does not stand, or is not
 * plain, and `done` decides. @hot
 */
function noteEnd(core: Core, index: number, lease: HandOut, nowMs: number): boolean {
  const { deadlines, scratch, store } = core;
  const { record } = lease;
  if (!timelineHolds(deadlines, record, lease.sequence, nowMs)) return false;
  const isMore = (recordFlags(store, record) & (RECORD_FLAG_BLOB | RECORD_FLAG_VOLATILE)) !== 0;
  if (isMore || hostFlag(store, hostOf(core, record), HOST_STEERED)) return false;
  timelineRemove(deadlines, record);
  scratchHandle(scratch, index, record);
  return true;
}

/** Ends the leases noted as done. @hot */
function endNoted(core: Core, count: number): void {
  const { counters, hosts, scratch, seen, sole, store } = core;
  if (count === 0 || sole === undefined) return;
  endBatch(scratch, hosts, seen.table.offset, count);
  counters.leased -= count;
  counters.done += count;
  const { f64, u32 } = store.region.views;
  const leased = sole.handle * 2 + RULE_QUEUE_LEASED_WORD;
  u32[leased] = (u32[leased] as number) - count;
  const done = sole.handle + RULE_QUEUE_DONE_WORD / 2;
  f64[done] = (f64[done] as number) + count;
}

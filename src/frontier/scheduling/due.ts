/** Due: when something can go next. */
import { heapPeekKey } from "../../structures/ordering/heap.ts";
import {
  HOST_STEERED,
  hostFlag,
  isQueue,
  QUEUE_HOST_WORD,
  RULE_GONE,
  RULE_POLITE,
  RULE_QUEUE_RANKS_WORD,
} from "../../structures/hosts/host-table.ts";
import { laneFirst } from "../../structures/ordering/lane.ts";
import { ranksBest } from "../../structures/ordering/ranks.ts";
import { recordQueue, isLone } from "../../structures/records/record.ts";
import { word } from "../../structures/store.ts";
import { timelinePeekKey } from "../../structures/ordering/timeline.ts";
import { type Core, ruleFlags, ruleOf, type SteppedMs } from "../core.ts";
import { CANDIDATES_MAX, forecast } from "./lease-forecast.ts";
import { peekRecords } from "./peek.ts";
import { hasRoom } from "../records/memory-reserve.ts";
import { hasGroups, hasStanding } from "./schedule.ts";
import { goesOnElsewhere } from "./spill-control.ts";
import { spilledClockAt, wakeSpilled } from "./spill-hosts.ts";
import { isSweeping } from "../rules/rule-sweep.ts";

/** Blocks of hosts on disk that one check brings back. */
const READS_MAX = 4;

/** Whether a poll at `nowMs` could return a lease. May be true too often where the core was not brought to `nowMs`, never too seldom. */
export function isReady(core: Core, nowMs: number): boolean {
  if (core.counters.leased >= core.limits.maxLeases) return false;
  if (hasStanding(core)) return true;
  return clockDueAt(core) <= nowMs;
}

/** Whether a poll at `nowMs` returns a lease. Mostly O(1): a hand-out and its undoing only where nothing simpler decides. */
export function hasDue(core: Core, nowMs: SteppedMs): boolean {
  if (!isReady(core, nowMs)) return false;
  return (isFirstFree(core) && hasRoom(core, 2)) || peekRecords(core, 1, nowMs).length > 0;
}

/**
 * The earliest time at which a poll returns a lease: now, or when clocks will have brought one about. No poll before it returns one. It
 * may be early as lease-forecast.ts has it (I2), while records are on their way to the rules of a new set, and where no clock brings one
 * about: then it is the first clock to pass, so that who drives the clock by it comes to the end. undefined: nothing waits for a clock.
 */
export function nextDueAt(core: Core, nowMs: SteppedMs): number | undefined {
  if (isSweeping(core)) return soonestDueAt(core, nowMs);
  const isFull = core.counters.leased >= core.limits.maxLeases;
  const most = isFull ? CANDIDATES_MAX : 1;
  const records = peekRecords(core, most, nowMs);
  if (!isFull && (records.length > 0 || hasStanding(core))) return nowMs;
  const standing = records.map((record) => ({
    host: word(core.store, recordQueue(core.store, record), QUEUE_HOST_WORD),
    rule: ruleOf(core, record),
  }));
  // Those that go one after the other: where groups bound them, one that goes keeps others back, which may go in its place.
  const isAll = records.length === 0 || (records.length < most && !hasGroups(core));
  for (let reads = 0; ; reads++) {
    const atMs = forecast(core, nowMs, standing, isAll);
    const spilledMs = spilledClockAt(core);
    if (spilledMs >= atMs) {
      return atMs === Number.POSITIVE_INFINITY ? soonestDueAt(core, nowMs) : atMs;
    }
    // Hosts on disk may go before: they are looked at in memory.
    if (reads === READS_MAX || !wakeSpilled(core, nowMs)) return Math.max(spilledMs, nowMs);
  }
}

/**
 * The same in O(1), and early more often: the first clock to pass may bring nothing about. For callers that wake at it and check again.
 */
export function soonestDueAt(core: Core, nowMs: number): number | undefined {
  if (isReady(core, nowMs)) return nowMs;
  const atMs = core.counters.leased >= core.limits.maxLeases ? deadlineAt(core) : clockDueAt(core);
  return atMs === Number.POSITIVE_INFINITY ? undefined : Math.max(atMs, nowMs);
}

/**
 * Whether the next poll is certain to return the first in line: a record on a host without settings of its own, or a host with politeness, which
 * stands only while it may go. False with several rules, and where its lane goes on elsewhere.
 */
function isFirstFree(core: Core): boolean {
  const { sole, store } = core;
  if (sole === undefined) return false;
  const flags = ruleFlags(core, sole.handle);
  const lane = ranksBest(store.arena, word(store, sole.handle, RULE_QUEUE_RANKS_WORD));
  if (lane === 0 || goesOnElsewhere(core, lane) || (flags & RULE_GONE) !== 0) return false;
  const item = laneFirst(store.region, lane);
  if (item === 0) return false;
  if (isQueue(store, item) || isLone(store, item)) return (flags & RULE_POLITE) !== 0;
  const host = word(store, recordQueue(store, item), QUEUE_HOST_WORD);
  return !hostFlag(store, host, HOST_STEERED);
}

function clockDueAt(core: Core): number {
  const recordAt = Math.min(heapPeekKey(core.waiting), heapPeekKey(core.resting));
  const hostAt = Math.min(timelinePeekKey(core.clocks), heapPeekKey(core.groupClocks));
  return Math.min(recordAt, hostAt, spilledClockAt(core), deadlineAt(core));
}

/** The first deadline of a lease that is out. */
export function deadlineAt(core: Core): number {
  return timelinePeekKey(core.deadlines);
}

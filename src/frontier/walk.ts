/**
 * Walks over the live records, state by state. A walk notes record and key first and reads afterwards, so that
 * whoever walks may change the frontier meanwhile: a record that is gone or moved on is passed over.
 */
import { heapAt, heapCount } from "../structures/heap.ts";
import { timelineItems } from "../structures/timeline.ts";
import {
  hostName,
  hostNextBusy,
  isQueue,
  QUEUE_HOST_WORD,
  QUEUE_NEXT_WORD,
  QUEUE_RANKS_WORD,
  HOST_QUEUES_WORD,
  RULE_QUEUE_RANKS_WORD,
} from "../structures/host-table.ts";
import { createLaneCursor, laneOpen, laneStep } from "../structures/lane.ts";
import { ranksBest, ranksNext } from "../structures/ranks.ts";
import {
  RECORD_FLAG_WHOLE,
  recordFlags,
  recordKey,
  recordQueue,
  recordState,
} from "../structures/record.ts";
import { recordUrl } from "../structures/scratch.ts";
import { word } from "../structures/store.ts";
import { type Core, ruleOf } from "./core.ts";
import { createNoted, type Noted, note } from "./noted.ts";
import type { RecordState } from "./record-state.ts";
import { hostOfUrl } from "../url/host-of-url.ts";

export interface RecordFilter {
  readonly state?: RecordState | undefined;
  readonly rule?: string | undefined;
  readonly host?: string | undefined;
  readonly pattern?: RegExp | undefined;
}

/** Notes every live record of the states asked for, in the order of their structures. */
export function noteRecords(core: Core, states: ReadonlySet<RecordState>): Noted {
  const noted = createNoted();
  if (states.has("pending")) notePending(core, noted);
  if (states.has("waiting")) noteHeap(core, noted, core.waiting);
  if (states.has("leased")) {
    for (const record of timelineItems(core.deadlines)) note(core.store, noted, record);
  }
  if (states.has("failed")) noteLane(core, noted, core.failedLane);
  if (states.has("done")) noteHeap(core, noted, core.resting);
  return noted;
}

/** Whether a noted record is still the one that was noted. */
export function isStill(core: Core, noted: Noted, index: number, state: number): boolean {
  const record = noted.handles[index] as number;
  if (recordState(core.store, record) !== state) return false;
  return recordKey(core.store, record) === noted.keys[index];
}

export function matches(core: Core, record: number, filter: RecordFilter): boolean {
  if (filter.rule !== undefined && filter.rule !== ruleOf(core, record).id) return false;
  if (filter.host !== undefined && !isOfHost(core, record, filter.host)) return false;
  if (filter.pattern === undefined) return true;
  filter.pattern.lastIndex = 0;
  return filter.pattern.test(recordUrl(core.scratch, record));
}

/** The URL's host of a record, as `URL.host` has it. */
export function recordHost(core: Core, record: number): string {
  if ((recordFlags(core.store, record) & RECORD_FLAG_WHOLE) === 0) return unitName(core, record);
  return hostOfUrl(recordUrl(core.scratch, record));
}

/** Name of the politeness unit of a record. */
function unitName(core: Core, record: number): string {
  return hostName(core.store, word(core.store, recordQueue(core.store, record), QUEUE_HOST_WORD));
}

function isOfHost(core: Core, record: number, host: string): boolean {
  const lower = host.toLowerCase();
  if (recordHost(core, record) === lower) return true;
  const unit = unitName(core, record); // the user's own may have letters of either case
  return unit === host || unit === lower;
}

/** Records stand in a rule's ranks, or in the queues of busy hosts. */
function notePending(core: Core, noted: Noted): void {
  const { store, hosts } = core;
  for (const { handle } of core.rules) {
    noteRanks(core, noted, word(store, handle, RULE_QUEUE_RANKS_WORD));
  }
  for (let host = hostNextBusy(hosts, 0); host !== 0; host = hostNextBusy(hosts, host)) {
    let queue = word(store, host, HOST_QUEUES_WORD);
    for (; queue !== 0; queue = word(store, queue, QUEUE_NEXT_WORD)) {
      noteRanks(core, noted, word(store, queue, QUEUE_RANKS_WORD));
    }
  }
}

function noteRanks(core: Core, noted: Noted, root: number): void {
  const { arena } = core.store;
  for (let lane = ranksBest(arena, root); lane !== 0; lane = ranksNext(arena, root, lane)) {
    noteLane(core, noted, lane);
  }
}

function noteLane(core: Core, noted: Noted, lane: number): void {
  const { region } = core.store;
  const cursor = createLaneCursor();
  laneOpen(region, lane, cursor, true);
  for (let item = laneStep(region, cursor); item !== 0; item = laneStep(region, cursor)) {
    if (!isQueue(core.store, item)) note(core.store, noted, item);
  }
}

function noteHeap(core: Core, noted: Noted, heap: Core["waiting"]): void {
  for (let index = 0; index < heapCount(heap); index++)
    note(core.store, noted, heapAt(heap, index));
}

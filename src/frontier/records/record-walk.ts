/**
 * Walks over the live records, state by state. A walk notes record and key first and reads afterwards, so that
 * the walk's caller may change the frontier meanwhile: a record that is gone or moved on is passed over.
 */
import type { UrlPattern } from "../../base/pattern/url-pattern.ts";
import { heapAt, heapCount } from "../../structures/ordering/heap.ts";
import { timelineItems } from "../../structures/ordering/timeline.ts";
import {
  hostName,
  hostNextBusy,
  isQueue,
  QUEUE_HOST_WORD,
  QUEUE_NEXT_WORD,
  QUEUE_RANKS_WORD,
  HOST_QUEUES_WORD,
  RULE_QUEUE_RANKS_WORD,
} from "../../structures/hosts/host-table.ts";
import { createLaneCursor, laneOpen, laneStep } from "../../structures/ordering/lane.ts";
import { ranksBest, ranksNext } from "../../structures/ordering/ranks.ts";
import { loneText, orderKeyOf } from "../../structures/hosts/lone-host.ts";
import {
  isLone,
  RECORD_FLAG_WHOLE,
  recordFlags,
  recordQueue,
  recordState,
} from "../../structures/records/record.ts";
import { recordUrl } from "../../structures/records/kernel-scratch.ts";
import { word } from "../../structures/store.ts";
import { type Core, ruleOf } from "../core.ts";
import { createRecordList, type RecordList, appendRecord } from "./record-list.ts";
import type { RecordState } from "./record-state.ts";
import { hostOfUrl } from "../../url/parsing/host-of-url.ts";

export interface RecordFilter {
  readonly state?: RecordState | undefined;
  readonly rule?: string | undefined;
  /** A host of URLs, or a politeness unit of this name. */
  readonly host?: string | undefined;
  /** Name of a politeness unit, letter by letter. */
  readonly unit?: string | undefined;
  readonly pattern?: UrlPattern | undefined;
  /** Asked last. */
  readonly isWanted?: ((record: number) => boolean) | undefined;
}

/** Notes the live records of the states asked for, in the order of their structures: all, or the first `most` but for leased ones. */
export function listRecords(
  core: Core,
  states: ReadonlySet<RecordState>,
  most = Number.POSITIVE_INFINITY,
): RecordList {
  const noted = createRecordList();
  if (states.has("pending")) listPending(core, noted, most);
  if (states.has("waiting")) listHeap(core, noted, core.waiting, most);
  if (states.has("leased")) {
    for (const record of timelineItems(core.deadlines)) appendRecord(core.store, noted, record);
  }
  if (states.has("failed")) listLane(core, noted, core.failedLane, most);
  if (states.has("done")) listHeap(core, noted, core.resting, most);
  return noted;
}

/** Whether a noted record is still the one that was noted. */
export function isUnchanged(core: Core, noted: RecordList, index: number, state: number): boolean {
  const record = noted.handles[index] as number;
  if (recordState(core.store, record) !== state) return false;
  return orderKeyOf(core.store, record) === noted.keys[index];
}

export function matches(core: Core, record: number, filter: RecordFilter): boolean {
  if (filter.rule !== undefined && filter.rule !== ruleOf(core, record).id) return false;
  if (filter.host !== undefined && !isOfHost(core, record, filter.host)) return false;
  if (filter.unit !== undefined && filter.unit !== unitName(core, record)) return false;
  const { isWanted, pattern } = filter;
  if (pattern !== undefined) {
    if (!pattern.test(recordUrl(core.scratch, record))) return false;
  }
  return isWanted === undefined || isWanted(record);
}

/** The URL's host of a record, as `URL.host` has it. */
export function recordHost(core: Core, record: number): string {
  if ((recordFlags(core.store, record) & RECORD_FLAG_WHOLE) === 0) return unitName(core, record);
  return hostOfUrl(recordUrl(core.scratch, record));
}

/** Name of the politeness unit of a record. */
function unitName({ store }: Core, record: number): string {
  if (!isLone(store, record)) {
    return hostName(store, word(store, recordQueue(store, record), QUEUE_HOST_WORD));
  }
  return loneText(store, record);
}

function isOfHost(core: Core, record: number, host: string): boolean {
  const lower = host.toLowerCase();
  const own = recordHost(core, record);
  if (own === lower) return true;
  const unit = unitName(core, record);
  // A unit that the user named keeps the case of its letters. A domain is the end of its host's name.
  return unit === host || (unit === lower && `.${own}:`.includes(`.${lower}:`));
}

/** Records stand in a rule's ranks, or in the queues of busy hosts. */
function listPending(core: Core, noted: RecordList, most: number): void {
  const { store, hosts } = core;
  for (const { handle } of core.rules) {
    listRanks(core, noted, word(store, handle, RULE_QUEUE_RANKS_WORD), most);
  }
  for (let host = hostNextBusy(hosts, 0); host !== 0; host = hostNextBusy(hosts, host)) {
    let queue = word(store, host, HOST_QUEUES_WORD);
    for (; queue !== 0; queue = word(store, queue, QUEUE_NEXT_WORD)) {
      if (noted.count >= most) return;
      listRanks(core, noted, word(store, queue, QUEUE_RANKS_WORD), most);
    }
  }
}

function listRanks(core: Core, noted: RecordList, root: number, most: number): void {
  const { arena } = core.store;
  for (let lane = ranksBest(arena, root); lane !== 0; lane = ranksNext(arena, root, lane)) {
    listLane(core, noted, lane, most);
  }
}

function listLane(core: Core, noted: RecordList, lane: number, most: number): void {
  const { region } = core.store;
  const cursor = createLaneCursor();
  laneOpen(region, lane, cursor, true);
  for (let item = laneStep(region, cursor); item !== 0; item = laneStep(region, cursor)) {
    if (noted.count >= most) return;
    if (!isQueue(core.store, item)) appendRecord(core.store, noted, item);
  }
}

function listHeap(core: Core, noted: RecordList, heap: Core["waiting"], most: number): void {
  const count = Math.min(heapCount(heap), most);
  for (let index = 0; index < count; index++) appendRecord(core.store, noted, heapAt(heap, index));
}

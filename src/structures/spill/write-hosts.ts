/**
 * Hosts that go to disk: from memory to a block (host-blocks.ts). Owner: the frontier's thread.
 *
 *   queues, in the order of their turns or their hosts' clocks ─▶ hosts and records packed ─▶ block ─▶ memory freed
 *
 * A lone record stands for its host and its queue (structures/hosts/lone-host.ts).
 */
import {
  HOST_QUEUES_WORD,
  QUEUE_HOST_WORD,
  QUEUE_PENDING_WORD,
  QUEUE_RANKS_WORD,
  QUEUE_RULE_WORD,
  HOST_PASSED,
} from "../../layout/records/host.ts";
import {
  SPILL_BY_CLOCK,
  SPILL_BY_TURN,
  SPILL_ENTRIES_WORD,
  SPILL_HOST_RECORDS_WORD,
  SPILL_HOST_RULE_WORD,
  SPILL_HOST_WORDS_WORD,
  SPILL_KIND_WORD,
  SPILL_PLACE_WORD,
  SPILL_QUEUE_WORD,
  SPILL_HOST_FLAGS_WORD,
} from "../../layout/records/spill-block.ts";
import { queueFree } from "../hosts/host-queue.ts";
import { loneHash } from "../hosts/lone-host.ts";
import { hostLeave, loneLeave } from "../hosts/host-table.ts";
import { createLaneCursor, laneFirst, laneOpen, laneRemove, laneStep } from "../ordering/lane.ts";
import { ranksBest, ranksNext, ranksRemove } from "../ordering/ranks.ts";
import { timelineKeyOf, timelineRemove, timelineTrim } from "../ordering/timeline.ts";
import {
  isLone,
  RECORD_FLAG_NO_IDENTITY,
  recordFree,
  recordKey,
  recordPriority,
  recordQueue,
} from "../records/record.ts";
import { setWord, type Store, word } from "../store.ts";
import { lookedUpValue, lookUpRecords } from "./block-lookup.ts";
import type { HostSpill } from "./host-blocks.ts";
import { hostWords, packHost } from "./host-codec.ts";
import { loneWords, packLoneHost, packLoneRecord } from "./lone-codec.ts";
import { writeBlock } from "./lane-spill.ts";
import { packedWords, packRecord, setEntryFlag } from "./record-codec.ts";
import { isNameless, markSpilled } from "./spilled-identity.ts";

/**
 * Writes the hosts of queues, which may go, as a block: in the order of their turns in `lane`, their rule's, or of their clocks. They have at most
 * SPILL_RECORDS_MAX records and fit the buffer. Returns how many records went: 0, memory is exhausted. Throws what the tier throws (I4).
 */
export function writeHosts(away: HostSpill, lane: number, queues: readonly number[]): number {
  const { spill, hosts, clocks, clockLane } = away;
  const { store, handles } = spill;
  const isClocked = lane === clockLane;
  let records = 0;
  for (const queue of queues) {
    eachRecord(store, queue, (record) => {
      handles[records++] = record;
    });
  }
  const words = packHosts(away, queues, records);
  const keyOf = (queue: number): number =>
    isClocked
      ? timelineKeyOf(clocks, word(store, queue, QUEUE_HOST_WORD))
      : recordKey(store, queue);
  const first = keyOf(queues[0] as number);
  const last = keyOf(queues[queues.length - 1] as number);
  const block = writeBlock(spill, lane, false, { words, records, first, last });
  if (block === 0) return 0;
  setWord(store, block, SPILL_ENTRIES_WORD, queues.length);
  setWord(store, block, SPILL_KIND_WORD, isClocked ? SPILL_BY_CLOCK : SPILL_BY_TURN);
  const ruleQueue = ruleOfItem(store, queues[0] as number);
  if (!isClocked) setWord(store, block, SPILL_QUEUE_WORD, ruleQueue);
  const place = word(store, block, SPILL_PLACE_WORD);
  for (let index = 0; index < records; index++) {
    const record = handles[index] as number;
    if (lookedUpValue(spill.look, index) === record) markSpilled(spill.seen, store, record, place);
    if (isNameless(store, record)) spill.names?.drop(record, place);
  }
  for (let index = queues.length - 1; index >= 0; index--) {
    const queue = queues[index] as number;
    if (isLone(store, queue)) {
      const { lo, hi } = loneHash(store, queue);
      laneRemove(store.region, lane, queue);
      recordFree(store, queue);
      loneLeave(hosts, lo, hi, place);
      continue;
    }
    const host = word(store, queue, QUEUE_HOST_WORD);
    if (isClocked) {
      timelineRemove(clocks, host);
      timelineTrim(clocks);
    } else laneRemove(store.region, lane, queue);
    emptyQueue(store, queue);
    for (let each = queue; each !== 0; each = word(store, host, HOST_QUEUES_WORD)) {
      queueFree(store, each);
    }
    hostLeave(hosts, host, place);
  }
  return records;
}

/** Words that the host of a queue takes in a block, with so many of its records. */
export function wordsOfHost(store: Store, queue: number): number {
  if (isLone(store, queue)) return loneWords(store, queue);
  let words = hostWords(store, word(store, queue, QUEUE_HOST_WORD));
  eachRecord(store, queue, (record) => {
    words += packedWords(store, record);
  });
  return words;
}

/** Calls `each` with the records of a queue, all of which are in memory, or with a lone record. */
export function eachRecord(store: Store, queue: number, each: (record: number) => void): void {
  if (isLone(store, queue)) {
    each(queue);
    return;
  }
  const root = word(store, queue, QUEUE_RANKS_WORD);
  const cursor = createLaneCursor();
  for (let lane = ranksBest(store.arena, root); lane !== 0; ) {
    laneOpen(store.region, lane, cursor, true);
    for (let item = laneStep(store.region, cursor); item !== 0; ) {
      each(item);
      item = laneStep(store.region, cursor);
    }
    lane = ranksNext(store.arena, root, lane);
  }
}

/** Packs the hosts of queues with their records, which are the gathered ones; returns the words. */
function packHosts(
  { hosts, spill }: HostSpill,
  queues: readonly number[],
  records: number,
): number {
  const { store, handles, words, seen, look } = spill;
  lookUpRecords(look, seen, handles, records);
  let at = 0;
  let index = 0;
  for (const queue of queues) {
    const first = index;
    const lone = isLone(store, queue);
    let next = lone
      ? packLoneHost(store, queue, words, at)
      : packHost(store, word(store, queue, QUEUE_HOST_WORD), words, at);
    if (lone) words[at + SPILL_HOST_FLAGS_WORD] = HOST_PASSED | hosts.loneFlags;
    const held = lone ? 1 : word(store, queue, QUEUE_PENDING_WORD);
    for (const end = index + held; index < end; index++) {
      const record = handles[index] as number;
      const pack = lone ? packLoneRecord : packRecord;
      const behind = pack(store, record, words, next);
      if (lookedUpValue(look, index) !== record) setEntryFlag(words, next, RECORD_FLAG_NO_IDENTITY);
      next = behind;
    }
    words[at + SPILL_HOST_WORDS_WORD] = next - at;
    words[at + SPILL_HOST_RECORDS_WORD] = index - first;
    words[at + SPILL_HOST_RULE_WORD] = ruleOfItem(store, queue);
    at = next;
  }
  return at;
}

/** The rule queue of a host queue, or of a lone record. */
function ruleOfItem(store: Store, item: number): number {
  return isLone(store, item) ? recordQueue(store, item) : word(store, item, QUEUE_RULE_WORD);
}

/** Frees the records of a queue, which are in a block now. */
function emptyQueue(store: Store, queue: number): void {
  for (let lane = firstLane(store, queue); lane !== 0; lane = firstLane(store, queue)) {
    const record = laneFirst(store.region, lane);
    const priority = recordPriority(store, record);
    ranksRemove(store.arena, queue, QUEUE_RANKS_WORD, priority, record);
    recordFree(store, record);
  }
}

function firstLane(store: Store, queue: number): number {
  return ranksBest(store.arena, word(store, queue, QUEUE_RANKS_WORD));
}

/**
 * Lone hosts: a host that was never visited, with one record and no settings, is that record alone (layout/records/record.ts). In a broad crawl
 * most hosts are.
 *
 *   index ─▶ HOST_LONE + record ─▶ lane of its rule, by the host's turn          104 bytes with index and identity, and the URL's own
 *
 *   hostFind, anything that steers the host  ─▶ openLone ─▶ host ─▶ queue ─▶ lane ─▶ record; the queue stands in the record's place
 *   a hand-out of the record                 ─▶ takeLone ─▶ host ─▶ queue; the record stands nowhere
 *
 *   I1  A lone record is pending, and stands in the ranks of a rule with politeness: its host may go.
 *   I2  Its key is the turn of its host. The sequence that is its own key stands beside the name.
 *   I3  What opens a lone host changes no order, no count and no answer.
 */
import { arenaGive, arenaTake } from "../../memory/arena.ts";
import {
  HOST_ADAPTIVE_WORD,
  HOST_DELAY_WORD,
  HOST_FLAGS_WORD,
  HOST_HASH_LO_WORD,
  HOST_HASH_HI_WORD,
  HOST_LIVE_WORD,
  HOST_LONE,
  HOST_NAME_BYTES_WORD,
  HOST_NAME_WORD,
  HOST_PASSED,
  HOST_PENDING_WORD,
  HOST_SIZE_BYTES,
  HOST_SPILLED,
  HOST_TURN_WORD,
  QUEUE_PENDING_WORD,
  QUEUE_RANK_WORD,
  QUEUE_RANKS_WORD,
  RULE_QUEUE_RANKS_WORD,
  QUEUE_HOST_WORD,
} from "../../layout/records/host.ts";
import {
  NAMED_BYTES,
  NAMED_HASH_WORD,
  NAMED_NAME_BYTES_WORD,
  NAMED_SEQUENCE_WORD,
  RECORD_FLAG_QUEUED,
} from "../../layout/records/record.ts";
import { laneReplace } from "../ordering/lane.ts";
import { ranksFind, ranksInsert, ranksRemove } from "../ordering/ranks.ts";
import {
  endLone,
  isLone,
  ownHostWord,
  recordFlags,
  recordKey,
  recordPriority,
  recordQueue,
  setRecordFlags,
  setRecordKey,
  setRecordQueue,
} from "../records/record.ts";
import { setFloat, setWord, type Store, word } from "../store.ts";
import { queueGive, queueJoin, queueMake } from "./host-queue.ts";

/** Whether a value of the index is a host in memory, or 0: none. @hot */
export function isHandle(value: number): boolean {
  return value < HOST_LONE;
}

/** Whether a value of the index is a lone host. @hot */
export function isLoneHost(value: number): boolean {
  return value >= HOST_LONE && value < HOST_SPILLED;
}

/** The record that stands for it. */
export function recordOfLone(value: number): number {
  return value - HOST_LONE;
}

/** The hash of a lone record's host. */
export function loneHash(store: Store, record: number): { lo: number; hi: number } {
  const { u32 } = store.region.views;
  const at = ownHostWord(store, record) + NAMED_HASH_WORD;
  return { lo: u32[at] as number, hi: u32[at + 1] as number };
}

/** Index, among the region's words, of the hash of a record's host, be it lone or made. @hot */
export function hostHashWord(store: Store, record: number): number {
  if (isLone(store, record)) return ownHostWord(store, record) + NAMED_HASH_WORD;
  return word(store, recordQueue(store, record), QUEUE_HOST_WORD) * 2 + HOST_HASH_LO_WORD;
}

/** Bytes of the name of a lone record's host, which stands right before the text. @hot */
export function loneNameBytes(store: Store, record: number): number {
  return store.region.views.u32[ownHostWord(store, record) + NAMED_NAME_BYTES_WORD] as number;
}

/** The key that orders a record among those of its host. */
export function orderKeyOf(store: Store, record: number): number {
  return isLone(store, record) ? loneSequence(store, record) : recordKey(store, record);
}

/** The name of a lone record's host. */
export function loneText(store: Store, record: number): string {
  const { offset, bytes } = loneName(store, record);
  return store.region.views.buffer.utf8Slice(offset, offset + bytes);
}

/** Where that stands, and its bytes. */
export function loneName(store: Store, record: number): { offset: number; bytes: number } {
  const at = ownHostWord(store, record);
  const bytes = store.region.views.u32[at + NAMED_NAME_BYTES_WORD] as number;
  return { offset: at * 4 + NAMED_BYTES + (-bytes & 3), bytes };
}

/** The sequence of a lone record. */
export function loneSequence(store: Store, record: number): number {
  const { u32 } = store.region.views;
  const at = ownHostWord(store, record) + NAMED_SEQUENCE_WORD;
  halves[0] = u32[at] as number;
  halves[1] = u32[at + 1] as number;
  return whole[0] as number;
}

const whole = new Float64Array(1);
const halves = new Uint32Array(whole.buffer);

/** Makes the host of a lone record, whose queue stands in the record's place and holds it; 0, with nothing changed: memory is exhausted. */
export function unfoldLone(store: Store, record: number): number {
  const ruleQueue = recordQueue(store, record);
  const priority = recordPriority(store, record);
  const host = makeHost(store, record);
  const queue = host === 0 ? 0 : queueMake(store, host, ruleQueue);
  if (queue === 0) {
    if (host !== 0) giveHost(store, host);
    return 0;
  }
  const { region, arena } = store;
  const turn = recordKey(store, record);
  const lane = ranksFind(arena, rootOf(store, ruleQueue), priority);
  setRecordKey(store, queue, turn);
  laneReplace(region, lane, record, queue);
  setRecordKey(store, record, loneSequence(store, record));
  if (!ranksInsert(arena, queue, QUEUE_RANKS_WORD, priority, record)) {
    setRecordKey(store, record, turn);
    laneReplace(region, lane, queue, record);
    queueGive(store, queue);
    giveHost(store, host);
    return 0;
  }
  setRecordFlags(store, record, recordFlags(store, record) | RECORD_FLAG_QUEUED);
  setFloat(store, queue, QUEUE_RANK_WORD, priority);
  setWord(store, queue, QUEUE_PENDING_WORD, 1);
  setWord(store, host, HOST_PENDING_WORD, 1);
  joinHost(store, record, queue);
  return host;
}

/** The same of a record that leaves its place: it stands nowhere then. */
export function unfoldTaken(store: Store, record: number): number {
  const ruleQueue = recordQueue(store, record);
  const host = makeHost(store, record);
  const queue = host === 0 ? 0 : queueMake(store, host, ruleQueue);
  if (queue === 0) {
    if (host !== 0) giveHost(store, host);
    return 0;
  }
  const priority = recordPriority(store, record);
  ranksRemove(store.arena, ruleQueue, RULE_QUEUE_RANKS_WORD, priority, record);
  setRecordKey(store, record, loneSequence(store, record));
  joinHost(store, record, queue);
  return host;
}

function rootOf({ region }: Store, ruleQueue: number): number {
  return region.views.u32[ruleQueue * 2 + RULE_QUEUE_RANKS_WORD] as number;
}

/** The record is one of its host's. */
function joinHost(store: Store, record: number, queue: number): void {
  setRecordQueue(store, record, queue);
  endLone(store, record);
  queueJoin(store, queue);
}

/** The host of a lone record, with one record, no queue and its turn; it may go. 0: memory is exhausted. */
function makeHost(store: Store, record: number): number {
  const { bytes } = loneName(store, record);
  const name = arenaTake(store.arena, Math.max(bytes, 1));
  const host = name === 0 ? 0 : arenaTake(store.arena, HOST_SIZE_BYTES);
  if (host === 0) {
    if (name !== 0) arenaGive(store.arena, name, Math.max(bytes, 1));
    return 0;
  }
  const { u32, u8 } = store.region.views;
  const { offset } = loneName(store, record);
  const { lo, hi } = loneHash(store, record);
  u8.copyWithin(name * 8, offset, offset + bytes);
  u32.fill(0, host * 2, host * 2 + HOST_SIZE_BYTES / 4);
  setWord(store, host, HOST_NAME_WORD, name);
  setWord(store, host, HOST_NAME_BYTES_WORD, bytes);
  setWord(store, host, HOST_HASH_LO_WORD, lo);
  setWord(store, host, HOST_HASH_HI_WORD, hi);
  setFloat(store, host, HOST_DELAY_WORD, -1);
  setFloat(store, host, HOST_ADAPTIVE_WORD, -1);
  setFloat(store, host, HOST_TURN_WORD, recordKey(store, record));
  setWord(store, host, HOST_FLAGS_WORD, HOST_PASSED);
  setWord(store, host, HOST_LIVE_WORD, 1);
  return host;
}

function giveHost(store: Store, host: number): void {
  const { u32 } = store.region.views;
  const bytes = Math.max(u32[host * 2 + HOST_NAME_BYTES_WORD] as number, 1);
  arenaGive(store.arena, u32[host * 2 + HOST_NAME_WORD] as number, bytes);
  arenaGive(store.arena, host, HOST_SIZE_BYTES);
}

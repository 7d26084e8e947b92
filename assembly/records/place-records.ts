/**
 * Puts records that a recovery made into their lanes. Of each lane they come in the order of their keys, so that nearly all of them are
 * appended:
 *
 *   values of a walk ─ listUnplaced ─▶ handles, keys, parts ─▶ sorted (src/frontier/records/sort-records.ts)
 *   handles, sorted ── placeRecords ──▶ each behind the tail of its lane │ stopped at the owner's ──▶ owner ──▶ next
 *
 * What is left to the owner: a lane beside another one, or for which no memory was taken, and a key that is not its lane's highest. Hosts
 * are settled by the owner, once each, when all is planted.
 *
 *   I1  Records are planted in the order of the handles.
 *   I2  A record that stops the call has not been changed.
 */
import {
  HOST_FLAGS_WORD,
  HOST_PENDING_WORD,
  HOST_STEERED,
  QUEUE_HOST_WORD,
  QUEUE_PENDING_WORD,
  QUEUE_RANKS_WORD,
  QUEUE_RULE_WORD,
  RULE_POLITE,
  RULE_QUEUE_FLAGS_WORD,
  RULE_QUEUE_RANKS_WORD,
} from "../../src/layout/records/host";
import {
  MAKE_LANES_OPENED_WORD,
  MAKE_LANES_TAKEN_WORD,
  MAKE_LANES_WORD,
} from "../../src/layout/calls/make-records";
import { PART_FACTOR, PART_SHIFT } from "../../src/layout/calls/place-records";
import { ITEM_KEY_WORD, ITEM_PLACE_WORD, PLACE_NOWHERE } from "../../src/layout/ordering/item";
import { LANE_TAIL_WORD } from "../../src/layout/ordering/lane";
import {
  RECORD_LONE,
  RECORD_PENDING,
  RECORD_PRIORITY_WORD,
  RECORD_QUEUE_WORD,
  RECORD_STATE_MASK,
  RECORD_STATE_WORD,
} from "../../src/layout/records/record";
import { SPILL_VALUE } from "../../src/layout/records/spill-block";
import { laneAppend, laneOf, openLane, placeLast } from "./lane";
import { countPending, enterQueue } from "./ledger";
import { at, bump, get, set } from "../batch-row";

/** Records whose memory is asked for before the first of them is planted. */
const AHEAD: u32 = 128;

/**
 * Lists, of values that a walk over a table found, the pending records that stand nowhere; returns how many, and in the upper half how many
 * others stand nowhere: their handles replace the first values. @hot
 */
export function listUnplaced(
  values: usize,
  count: u32,
  handles: usize,
  keys: usize,
  parts: usize,
): u32 {
  const live = keepLive(values, count, handles);
  let pending: u32 = 0;
  let others: u32 = 0;
  for (let i: u32 = 0; i < live; i++) {
    const handle = get(values, i);
    const record = at(handle);
    if (get(record, ITEM_PLACE_WORD) !== PLACE_NOWHERE) continue;
    const state = load<u8>(record, RECORD_STATE_WORD << 2) & (RECORD_STATE_MASK | RECORD_LONE);
    if (state !== RECORD_PENDING) {
      set(values, others++, handle);
      continue;
    }
    set(handles, pending, handle);
    store<f64>(keys + ((<usize>pending) << 3), load<f64>(record, ITEM_KEY_WORD << 2));
    const part = (get(record, RECORD_QUEUE_WORD) * <u32>PART_FACTOR) >>> PART_SHIFT;
    store<u16>(parts + ((<usize>pending) << 1), <u16>part);
    pending++;
  }
  return pending | (others << 16);
}

/** Moves the handles among the values to the front, and reads what listing needs, so that the cache misses of many records overlap. */
function keepLive(values: usize, count: u32, touched: usize): u32 {
  let live: u32 = 0;
  for (let i: u32 = 0; i < count; i++) {
    const value = get(values, i);
    set(values, live, value);
    live += <u32>(value - 1 < <u32>SPILL_VALUE - 1);
  }
  let sum: u32 = 0;
  for (let i: u32 = 0; i < live; i++) {
    const record = at(get(values, i));
    sum += get(record, ITEM_KEY_WORD) + get(record, RECORD_QUEUE_WORD);
  }
  set(touched, 0, sum);
  return live;
}

/**
 * Plants records from index `from` on; the index of the one that is the owner's to plant, or the count. The word behind the
 * handles is written to. @hot
 */
export function placeRecords(job: usize, handles: usize, from: u32, count: u32): u32 {
  for (let i = from; i < count; i++) {
    if (i % AHEAD === 0) touch(handles, i, min(i + AHEAD, count), count);
    if (!plant(job, get(handles, i))) return i;
  }
  return count;
}

/** Reads what planting will need, so that the cache misses of many records overlap. */
function touch(handles: usize, start: u32, end: u32, count: u32): void {
  let touched: u32 = 0;
  for (let i = start; i < end; i++) touched += get(at(get(handles, i)), RECORD_QUEUE_WORD);
  for (let i = start; i < end; i++) {
    const queue = at(get(at(get(handles, i)), RECORD_QUEUE_WORD));
    touched +=
      get(queue, QUEUE_PENDING_WORD) + get(at(get(queue, QUEUE_HOST_WORD)), HOST_FLAGS_WORD);
  }
  for (let i = start; i < end; i++) {
    const queue = at(get(at(get(handles, i)), RECORD_QUEUE_WORD));
    touched += get(at(get(queue, QUEUE_RANKS_WORD)), LANE_TAIL_WORD);
  }
  for (let i = start; i < end; i++) {
    const queue = at(get(at(get(handles, i)), RECORD_QUEUE_WORD));
    const tail = get(at(get(queue, QUEUE_RANKS_WORD)), LANE_TAIL_WORD);
    touched += get(at(tail), ITEM_KEY_WORD);
  }
  set(handles, count, touched);
}

/** Behind the tail of its lane, or into the first lane of its queue; false: it is the owner's to plant. */
function plant(job: usize, handle: u32): bool {
  const record = at(handle);
  const queue = at(get(record, RECORD_QUEUE_WORD));
  const rule = at(get(queue, QUEUE_RULE_WORD));
  const host = at(get(queue, QUEUE_HOST_WORD));
  const isQueued =
    (get(rule, RULE_QUEUE_FLAGS_WORD) & RULE_POLITE) !== 0 ||
    (get(host, HOST_FLAGS_WORD) & HOST_STEERED) !== 0;
  const hook = isQueued ? queue + (QUEUE_RANKS_WORD << 2) : rule + (RULE_QUEUE_RANKS_WORD << 2);
  const root = load<u32>(hook);
  const priority = load<f64>(record, RECORD_PRIORITY_WORD << 2);
  const key = load<f64>(record, ITEM_KEY_WORD << 2);
  if (root === 0) {
    const lane = takeLane(job);
    if (lane === 0) return false;
    openLane(at(lane), priority, handle, key);
    placeLast(record, 0, key);
    store<u32>(hook, lane);
  } else {
    const lane = at(laneOf(root, priority));
    if (lane === 0 || !laneAppend(lane, handle, key)) return false;
  }
  countPending(rule);
  if (isQueued) {
    bump(host, HOST_PENDING_WORD);
    bump(queue, QUEUE_PENDING_WORD);
    enterQueue(record);
  }
  return true;
}

/** The memory of a lane, 0: none is left of what was taken. */
function takeLane(job: usize): u32 {
  const opened = get(job, MAKE_LANES_OPENED_WORD);
  if (opened === get(job, MAKE_LANES_TAKEN_WORD)) return 0;
  set(job, MAKE_LANES_OPENED_WORD, opened + 1);
  return get(<usize>get(job, MAKE_LANES_WORD), opened);
}

/**
 * Puts records that a recovery made into their lanes, in the order of their keys, so that nearly all of them are appended:
 *
 *   handles, sorted by key ── placeRecords ──▶ each behind the tail of its lane │ stopped at the owner's ──▶ owner ──▶ next
 *
 * What is left to the owner: a lane that does not stand yet, and a key that is no lane's highest. Hosts are settled by the
 * owner, once each, when all is planted.
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
  RULE_QUEUE_PENDING_WORD,
  RULE_QUEUE_RANKS_WORD,
} from "../../src/layout/records/host";
import {
  ITEM_KEY_WORD,
  ITEM_LEFT_WORD,
  ITEM_PLACE_WORD,
  ITEM_RIGHT_WORD,
  PLACE_LIST,
} from "../../src/layout/ordering/item";
import { LANE_COUNT_WORD, LANE_TAIL_WORD } from "../../src/layout/ordering/lane";
import {
  RECORD_FLAG_QUEUED,
  RECORD_PRIORITY_WORD,
  RECORD_QUEUE_WORD,
  RECORD_STATE_WORD,
} from "../../src/layout/records/record";
import { get, set } from "../batch-row";

/** Records whose memory is asked for before the first of them is planted. */
const AHEAD: u32 = 128;

/**
 * Plants records from index `from` on; the index of the one that is the owner's to plant, or the count. The word behind the
 * handles is written to. @hot
 */
export function placeRecords(handles: usize, from: u32, count: u32): u32 {
  for (let start = from; start < count; start += AHEAD) {
    const end = min(start + AHEAD, count);
    touch(handles, start, end, count);
    for (let i = start; i < end; i++) if (!plant(get(handles, i))) return i;
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

/** Behind the tail of its lane; false: it is the owner's to plant. */
function plant(handle: u32): bool {
  const record = at(handle);
  const queue = at(get(record, RECORD_QUEUE_WORD));
  const rule = at(get(queue, QUEUE_RULE_WORD));
  const host = at(get(queue, QUEUE_HOST_WORD));
  const isQueued =
    (get(rule, RULE_QUEUE_FLAGS_WORD) & RULE_POLITE) !== 0 ||
    (get(host, HOST_FLAGS_WORD) & HOST_STEERED) !== 0;
  const root = isQueued ? get(queue, QUEUE_RANKS_WORD) : get(rule, RULE_QUEUE_RANKS_WORD);
  const lane = at(laneOf(root, load<f64>(record, RECORD_PRIORITY_WORD << 2)));
  if (lane === 0) return false;
  const tail = get(lane, LANE_TAIL_WORD);
  if (tail === 0) return false;
  const key = load<f64>(record, ITEM_KEY_WORD << 2);
  if (load<f64>(at(tail), ITEM_KEY_WORD << 2) >= key) return false;
  set(at(tail), ITEM_LEFT_WORD, handle);
  set(record, ITEM_LEFT_WORD, 0);
  set(record, ITEM_RIGHT_WORD, tail);
  set(record, ITEM_PLACE_WORD, PLACE_LIST);
  set(lane, LANE_TAIL_WORD, handle);
  bump(lane, LANE_COUNT_WORD);
  bump(rule, RULE_QUEUE_PENDING_WORD);
  if (isQueued) {
    bump(host, HOST_PENDING_WORD);
    bump(queue, QUEUE_PENDING_WORD);
    set(record, RECORD_STATE_WORD, get(record, RECORD_STATE_WORD) | (RECORD_FLAG_QUEUED << 8));
  }
  return true;
}

/** The lane of a priority among those of a root (src/structures/ordering/treap.ts), 0: none. */
function laneOf(root: u32, priority: f64): u32 {
  let lane = root;
  while (lane !== 0) {
    const key = load<f64>(at(lane), ITEM_KEY_WORD << 2);
    if (key === priority) return lane;
    lane = get(at(lane), key < priority ? ITEM_RIGHT_WORD : ITEM_LEFT_WORD);
  }
  return 0;
}

function at(handle: u32): usize {
  return (<usize>handle) << 3;
}

function bump(block: usize, word: u32): void {
  set(block, word, get(block, word) + 1);
}

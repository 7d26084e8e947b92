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
  RULE_QUEUE_RANKS_WORD,
} from "../../src/layout/records/host";
import { ITEM_KEY_WORD } from "../../src/layout/ordering/item";
import { LANE_TAIL_WORD } from "../../src/layout/ordering/lane";
import { RECORD_PRIORITY_WORD, RECORD_QUEUE_WORD } from "../../src/layout/records/record";
import { laneAppend, laneOf } from "./lane";
import { countPending, enterQueue } from "./ledger";
import { at, bump, get, set } from "../batch-row";

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
  if (!laneAppend(lane, handle, load<f64>(record, ITEM_KEY_WORD << 2))) return false;
  countPending(rule);
  if (isQueued) {
    bump(host, HOST_PENDING_WORD);
    bump(queue, QUEUE_PENDING_WORD);
    enterQueue(record);
  }
  return true;
}

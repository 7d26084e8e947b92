/**
 * Lone records in the kernel (src/structures/hosts/lone-host.ts): the only record of a host that a batch meets for the first time stands for that
 * host, so that one object is written in place of four.
 *
 *   row that listHosts has marked ─▶ lane of its rule, by the turn of its host ─▶ index: HOST_LONE + record
 *   its second record:   … ⇄ lone record ⇄ …      ─▶      … ⇄ queue ⇄ …,  host ─▶ queue ─▶ lane ─▶ record
 *
 *   I1  A lone record is made where a lane of its priority stands; anything else is left to the owner, who makes the host.
 *   I2  The queue of a host that is made of a lone record stands where the record stood, under the same key.
 */
import {
  BATCH_FLAG_HTTPS,
  BATCH_HASHES_OFFSET_WORD,
  BATCH_HOST_HASHES_OFFSET_WORD,
  BATCH_ROWS_OFFSET_WORD,
  BATCH_ROW_BYTES,
  BATCH_SLOTS_OFFSET_WORD,
  ROW_FLAGS_WORD,
  ROW_HOST_LENGTH_WORD,
  ROW_HOST_START_WORD,
  ROW_HREF_OFFSET_WORD,
  ROW_PATH_START_WORD,
  ROW_VISIT_LENGTH_WORD,
} from "../../src/layout/calls/url-batch";
import {
  HOST_LONE,
  RULE_LONE,
  RULE_PUSHED,
  RULE_QUEUE_FLAGS_WORD,
  HOST_SPILLED,
  HOST_PENDING_WORD,
  HOST_QUEUES_WORD,
  QUEUE_PENDING_WORD,
  QUEUE_RANKS_WORD,
  QUEUE_RANK_WORD,
  RULE_QUEUE_RANKS_WORD,
} from "../../src/layout/records/host";
import {
  MAKE_DEPTH_WORD,
  MAKE_EXTRA_WORD,
  MAKE_HOST_SLOTS_WORD,
  MAKE_LONES_WORD,
  MAKE_PARENTS_WORD,
  MAKE_PARENT_WORD,
  MAKE_PRIORITY_WORD,
  MAKE_RECORD_BYTES_MAX,
  MAKE_RULES_WORD,
  MAKE_RULE_WORD,
  MAKE_SEQUENCE_WORD,
  MAKE_SIZES_WORD,
  MAKE_STAND_WORD,
  MAKE_TURNS_WORD,
  MAKE_TURN_WORD,
  MAKE_BUSY_FIRST_WORD,
  MAKE_HOSTS_WORD,
  MAKE_LANES_OPENED_WORD,
  MAKE_LANES_TAKEN_WORD,
  MAKE_LANES_WORD,
  MAKE_LONE_FLAGS_WORD,
  MAKE_INDEX_WORD,
  MAKE_NEW_ROWS_WORD,
  MAKE_NAME_SIZES_WORD,
  MAKE_TOUCHED_WORD,
  MAKE_FRESH_WORD,
} from "../../src/layout/calls/make-records";
import {
  LONE_BITS,
  NAMED_BYTES,
  NAMED_HASH_WORD,
  NAMED_NAME_BYTES_WORD,
  RECORD_FLAG_HTTPS,
  RECORD_TEXT_BYTES_WORD,
  NAMED_SEQUENCE_WORD,
  RECORD_PRIORITY_WORD,
  RECORD_QUEUE_WORD,
  RECORD_LONE,
  RECORD_STATE_WORD,
} from "../../src/layout/records/record";
import { at, bump, get, set } from "../batch-row";
import { homeLine, segmentOf, tableFindOne } from "../seen/table";
import { copyText, fillExtra, fillHead } from "./fill-record";
import { laneInsert, laneOf, openLane, placeLast, bestLane } from "./lane";
import { countPending, enterLone, endLone } from "./ledger";
import { ownHost, paddedBytes, openQueue, fillLoneHost, joinBusy } from "./host-objects";
import {
  ITEM_KEY_WORD,
  ITEM_LEFT_WORD,
  ITEM_PLACE_WORD,
  ITEM_RIGHT_WORD,
  PLACE_LIST,
} from "../../src/layout/ordering/item";
import { LANE_HEAD_WORD, LANE_TAIL_WORD, LANE_BELOW_WORD } from "../../src/layout/ordering/lane";

/** Whether a value of the index is a lone record. */
export function isLoneHost(value: u32): bool {
  return value - <u32>HOST_LONE < <u32>(HOST_SPILLED - HOST_LONE);
}

/** Bytes of the name of a lone host. */
export function nameBytesOf(value: u32): u32 {
  return get(ownHost(at(value - <u32>HOST_LONE)), NAMED_NAME_BYTES_WORD);
}

/** Bytes of the record of a row whose host was never met, if that may be lone; else 0. */
export function loneBytes(job: usize, i: u32, nameBytes: u32): u32 {
  const rules = <usize>get(job, MAKE_RULES_WORD);
  const rule = rules === 0 ? get(job, MAKE_RULE_WORD) : get(rules, i);
  const flags = get(at(rule), RULE_QUEUE_FLAGS_WORD) & (RULE_LONE | RULE_PUSHED);
  const bytes = get(<usize>get(job, MAKE_SIZES_WORD), i);
  if (flags !== (RULE_LONE | RULE_PUSHED) || bytes === 0) return 0;
  const all = bytes + NAMED_BYTES + paddedBytes(nameBytes);
  return all <= <u32>MAKE_RECORD_BYTES_MAX ? all : 0;
}

/** Makes the lone record of a row; false, with nothing changed: the owner makes its host. @hot */
export function makeLone(job: usize, batch: usize, i: u32, handle: u32): bool {
  const stand = get(job, MAKE_STAND_WORD);
  if (stand === 0 || load<f64>(job, MAKE_TURN_WORD << 2) >= 0) return false;
  const turns = <usize>get(job, MAKE_TURNS_WORD);
  const turn = load<f64>(job, MAKE_TURN_WORD << 2) + <f64>get(turns, i);
  laneInsert(at(stand), handle, turn);
  const sequence = load<f64>(job, MAKE_SEQUENCE_WORD << 2) + 1;
  store<f64>(job, sequence, MAKE_SEQUENCE_WORD << 2);
  const rule = get(job, MAKE_RULE_WORD);
  countPending(at(rule));
  fillLone(job, batch, i, at(handle), sequence);
  store<u32>(<usize>get(<usize>get(batch, BATCH_SLOTS_OFFSET_WORD), i), handle);
  store<u32>(<usize>get(<usize>get(job, MAKE_HOST_SLOTS_WORD), i), HOST_LONE + handle);
  bump(job, MAKE_LONES_WORD);
  return true;
}

/** All fields behind the item's: those of a record, those of its host, the name and the text. */
function fillLone(job: usize, batch: usize, i: u32, record: usize, sequence: f64): void {
  const row = <usize>get(batch, BATCH_ROWS_OFFSET_WORD) + <usize>i * BATCH_ROW_BYTES;
  const parents = <usize>get(job, MAKE_PARENTS_WORD);
  const extra = parents === 0 ? get(job, MAKE_PARENT_WORD) : get(parents, i);
  const isHttps = (get(row, ROW_FLAGS_WORD) & BATCH_FLAG_HTTPS) !== 0;
  const flag = get(job, MAKE_EXTRA_WORD);
  enterLone(record, (extra === 0 ? 0 : flag) | (isHttps ? RECORD_FLAG_HTTPS : 0));
  const hash = load<u64>(<usize>get(batch, BATCH_HASHES_OFFSET_WORD) + at(i));
  const priority = load<f64>(job, MAKE_PRIORITY_WORD << 2);
  fillHead(record, get(job, MAKE_RULE_WORD), hash, priority, get(job, MAKE_DEPTH_WORD));
  const own = fillExtra(record, extra, flag);
  store<f64>(own, sequence);
  const hostHash = load<u64>(<usize>get(batch, BATCH_HOST_HASHES_OFFSET_WORD) + at(i));
  store<u64>(own, hostHash, NAMED_HASH_WORD << 2);
  const nameBytes = get(row, ROW_HOST_LENGTH_WORD);
  set(own, NAMED_NAME_BYTES_WORD, nameBytes);
  const href = <usize>get(row, ROW_HREF_OFFSET_WORD);
  const path = get(row, ROW_PATH_START_WORD);
  const pathBytes = get(row, ROW_VISIT_LENGTH_WORD) - path;
  set(record, RECORD_TEXT_BYTES_WORD, pathBytes);
  const text = own + NAMED_BYTES + <usize>paddedBytes(nameBytes);
  copyText(href + <usize>get(row, ROW_HOST_START_WORD), text - <usize>nameBytes, nameBytes);
  copyText(href + <usize>path, text, pathBytes);
}

/** Makes the host of a row's lone record; false, with nothing changed: an earlier row has, or it is the owner's to do. */
export function openLone(job: usize, i: u32, host: u32, queue: u32, name: u32): bool {
  const slot = <usize>get(<usize>get(job, MAKE_HOST_SLOTS_WORD), i);
  const value = get(<usize>get(job, MAKE_HOSTS_WORD), i);
  if (load<u32>(slot) !== value) return false;
  const handle = value - <u32>HOST_LONE;
  const record = at(handle);
  const opened = get(job, MAKE_LANES_OPENED_WORD);
  if (opened === get(job, MAKE_LANES_TAKEN_WORD)) return false;
  if (get(record, ITEM_PLACE_WORD) !== PLACE_LIST) return false;
  const rule = get(record, RECORD_QUEUE_WORD);
  const priority = load<f64>(record, RECORD_PRIORITY_WORD << 2);
  const lanes = <usize>get(job, MAKE_LANES_WORD);
  const lane = get(lanes, opened);
  set(lanes, opened, rule);
  set(job, MAKE_LANES_OPENED_WORD, opened + 1);
  fillLoneHost(at(host), record, name, get(job, MAKE_LONE_FLAGS_WORD));
  set(at(host), HOST_PENDING_WORD, 1);
  set(at(host), HOST_QUEUES_WORD, queue);
  openQueue(queue, host, rule);
  store<f64>(at(queue), priority, QUEUE_RANK_WORD << 2);
  set(at(queue), QUEUE_PENDING_WORD, 1);
  set(at(queue), QUEUE_RANKS_WORD, lane);
  replace(at(laneOf(get(at(rule), RULE_QUEUE_RANKS_WORD), priority)), record, queue);
  const sequence = load<f64>(ownHost(record), NAMED_SEQUENCE_WORD << 2);
  openLane(at(lane), priority, handle, sequence);
  placeLast(record, 0, sequence);
  set(record, RECORD_QUEUE_WORD, queue);
  endLone(record);
  joinBusy(job, MAKE_BUSY_FIRST_WORD, host);
  store<u32>(slot, host);
  set(<usize>get(job, MAKE_HOSTS_WORD), i, host);
  set(job, MAKE_LONES_WORD, get(job, MAKE_LONES_WORD) - 1);
  return true;
}

/** Puts a queue where a record of a lane's list stands. */
function replace(lane: usize, record: usize, queue: u32): void {
  const next = get(record, ITEM_LEFT_WORD);
  const previous = get(record, ITEM_RIGHT_WORD);
  if (at(get(lane, LANE_BELOW_WORD)) === record) set(lane, LANE_BELOW_WORD, queue);
  if (next !== 0) set(at(next), ITEM_RIGHT_WORD, queue);
  else set(lane, LANE_TAIL_WORD, queue);
  if (previous !== 0) set(at(previous), ITEM_LEFT_WORD, queue);
  else set(lane, LANE_HEAD_WORD, queue);
  const item = at(queue);
  set(item, ITEM_LEFT_WORD, next);
  set(item, ITEM_RIGHT_WORD, previous);
  store<f64>(item, load<f64>(record, ITEM_KEY_WORD << 2), ITEM_KEY_WORD << 2);
  set(item, ITEM_PLACE_WORD, PLACE_LIST);
}

/**
 * Lists the lone records among the next `most` items of a rule's best lane, as rows whose hosts makeHosts is to make; how many. Their cache misses
 * overlap. @hot
 */
export function listNextLones(job: usize, rule: u32, most: u32): u32 {
  const lane = at(bestLane(get(at(rule), RULE_QUEUE_RANKS_WORD)));
  const hosts = <usize>get(job, MAKE_HOSTS_WORD);
  const slots = <usize>get(job, MAKE_HOST_SLOTS_WORD);
  const index = <usize>get(job, MAKE_INDEX_WORD);
  let found: u32 = 0;
  let handle = lane === 0 ? 0 : get(lane, LANE_HEAD_WORD);
  for (let seen: u32 = 0; seen < most && handle !== 0; seen++) {
    const item = at(handle);
    if ((get(item, RECORD_STATE_WORD) & LONE_BITS) === RECORD_LONE) {
      set(hosts, found, HOST_LONE + handle);
      set(<usize>get(job, MAKE_NEW_ROWS_WORD), found, found);
      found++;
    }
    handle = get(item, ITEM_LEFT_WORD);
  }
  let touched: u32 = 0;
  for (let i: u32 = 0; i < found; i++) {
    const own = ownHost(at(get(hosts, i) - <u32>HOST_LONE));
    const hash = load<u64>(own, NAMED_HASH_WORD << 2);
    touched += load<u32>(homeLine(segmentOf(index, hash), hash));
    set(<usize>get(job, MAKE_NAME_SIZES_WORD), i, max<u32>(get(own, NAMED_NAME_BYTES_WORD), 1));
  }
  for (let i: u32 = 0; i < found; i++) {
    const own = ownHost(at(get(hosts, i) - <u32>HOST_LONE));
    const lo = get(own, NAMED_HASH_WORD);
    set(slots, i, <u32>tableFindOne(index, lo, get(own, NAMED_HASH_WORD + 1)));
  }
  set(job, MAKE_TOUCHED_WORD, touched);
  set(job, MAKE_FRESH_WORD, found);
  set(job, MAKE_LANES_OPENED_WORD, 0);
  return found;
}

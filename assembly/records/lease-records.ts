/**
 * Hands plain records out, and ends plain leases, many in one crossing (src/layout/calls/lease-records.ts).
 *
 *   best lane of a rule ─▶ its first (or last) records ─▶ leased, counted by their hosts, standing in the timeline
 *   ended records ─▶ their last word in the table, their hosts' counts ─▶ sizes: the owner frees them
 *
 * Plain: a record that stands in the list of its rule's best lane, and not as the last one there, nor behind the blocks in which
 * the lane goes on; a lane without side, and without blocks where rules take turns; a host that was not steered. Whatever else
 * comes next is left to the owner, one by one. Where rules take turns the last record of a rule's only lane is plain too.
 *
 *   I1  Records leave in the order of their lane; each takes the next sequence and the timeline's next place.
 *   I2  A record that stops the call has not been changed.
 *   I3  A host whose last record ends, and a parent whose last child does, keep that reference: the owner takes it. A lane whose last
 *       record goes is out of its ranks: the owner frees its memory.
 */
import {
  HOST_FLAGS_WORD,
  HOST_LEASED_WORD,
  HOST_LIVE_WORD,
  HOST_NAME_WORD,
  HOST_PENDING_WORD,
  HOST_STEERED,
  QUEUE_HOST_WORD,
  RULE_GONE,
  RULE_LIFO,
  RULE_POLITE,
  RULE_QUEUE_FLAGS_WORD,
  RULE_QUEUE_RANKS_WORD,
} from "../../src/layout/records/host";
import {
  ITEM_KEY_WORD,
  ITEM_LEFT_WORD,
  ITEM_PLACE_WORD,
  ITEM_RIGHT_WORD,
} from "../../src/layout/ordering/item";
import {
  LANE_COUNT_WORD,
  LANE_HEAD_WORD,
  LANE_SIDE_WORD,
  LANE_SPARE_WORD,
  LANE_TAIL_WORD,
} from "../../src/layout/ordering/lane";
import {
  LEASE_BOUND_WORD,
  LEASE_DEADLINE_WORD,
  LEASE_HANDLES_WORD,
  LEASE_IDLES_WORD,
  LEASE_IDLE_WORD,
  LEASE_KEYS_WORD,
  LEASE_ORPHANED_WORD,
  LEASE_ORPHANS_WORD,
  LEASE_PLACE_WORD,
  LEASE_RULES_WORD,
  LEASE_RULE_WORD,
  LEASE_SEQUENCE_WORD,
  LEASE_SIZES_WORD,
  LEASE_SLOTS_WORD,
  LEASE_TABLE_WORD,
  LEASE_TOUCHED_ROWS,
  LEASE_TOUCHED_WORD,
} from "../../src/layout/calls/lease-records";
import {
  LONE_BITS,
  RECORD_DEPTH_WORD,
  RECORD_FLAG_NO_IDENTITY,
  RECORD_FLAG_PARENT,
  RECORD_HASH_HI_WORD,
  RECORD_HASH_LO_WORD,
  RECORD_HEAD_BYTES,
  RECORD_QUEUE_WORD,
  RECORD_STATE_WORD,
  RECORD_TEXT_BYTES_WORD,
} from "../../src/layout/records/record";
import { bestLane, laneCut } from "./lane";
import { countLeased, enterLease } from "./ledger";
import { ownHostBytes } from "./host-objects";
import { at, bump, get, set } from "../batch-row";
import { tableFindOne } from "../seen/table";

const CLAMP_16: u32 = 65_535;
const ATTEMPTS_MAX: u32 = 1_023;
const FINISHED_BIT: u32 = 1 << 31;
/** A word of the text of a record of usual length. */
const TEXT_WORD: u32 = 24;
/** One between that and its first word: it lies in two or three lines. */
const MIDDLE_WORD: u32 = 12;

/** Hands out at most `max` records; returns how many. @hot */
export function leaseRecords(job: usize, max: u32): u32 {
  const rule = at(get(job, LEASE_RULE_WORD));
  const lane = at(bestLane(get(rule, RULE_QUEUE_RANKS_WORD)));
  if (lane === 0 || get(lane, LANE_SIDE_WORD) !== 0) return 0;
  const isLifo = (get(rule, RULE_QUEUE_FLAGS_WORD) & RULE_LIFO) !== 0;
  const end: u32 = isLifo ? LANE_TAIL_WORD : LANE_HEAD_WORD;
  const step: u32 = isLifo ? ITEM_RIGHT_WORD : ITEM_LEFT_WORD;
  const handles = <usize>get(job, LEASE_HANDLES_WORD);
  const standing = get(lane, LANE_COUNT_WORD);
  const most: u32 = standing > max ? max : standing - 1; // with its last one goes the lane
  let made: u32 = 0;
  while (made < most) {
    const wanted: u32 = min<u32>(most - made, LEASE_TOUCHED_ROWS);
    const found = touchRows(job, handles + ((<usize>made) << 2), get(lane, end), wanted, step);
    if (found !== 0) {
      const next = get(at(get(handles, made + found - 1)), step);
      for (let i = made; i < made + found; i++) leaseRow(job, handles, i);
      laneCut(lane, next, isLifo);
      set(lane, LANE_COUNT_WORD, get(lane, LANE_COUNT_WORD) - found);
    }
    made += found;
    if (found < wanted) break;
  }
  return made;
}

/**
 * The same for rules that take turns: `max` rule queues stand in the job's list, one hand-out each, a rule as often as it has
 * turns. The first that has none that is plain ends the call; a host on which other rules keep records is not plain here. @hot
 */
export function leaseShared(job: usize, max: u32): u32 {
  const handles = <usize>get(job, LEASE_HANDLES_WORD);
  const rules = <usize>get(job, LEASE_RULES_WORD);
  set(job, LEASE_IDLES_WORD, 0);
  for (let made: u32 = 0; made < max; made++) {
    if (made % LEASE_TOUCHED_ROWS === 0) {
      const from = (<usize>made) << 2;
      touchShared(job, rules + from, handles + from, min<u32>(max - made, LEASE_TOUCHED_ROWS));
    }
    const rule = at(get(rules, made));
    const flags = get(rule, RULE_QUEUE_FLAGS_WORD);
    if ((flags & (RULE_GONE | RULE_POLITE)) !== 0) return made;
    const lane = at(bestLane(get(rule, RULE_QUEUE_RANKS_WORD)));
    if (lane === 0 || (get(lane, LANE_SIDE_WORD) | get(lane, LANE_SPARE_WORD)) !== 0) return made;
    const left = get(lane, LANE_COUNT_WORD) - 1;
    if (left === 0 && !isOnlyLane(rule, lane)) return made;
    const isLifo = (flags & RULE_LIFO) !== 0;
    const end: u32 = isLifo ? LANE_TAIL_WORD : LANE_HEAD_WORD;
    const handle = get(lane, end);
    if ((get(at(handle), RECORD_STATE_WORD) & LONE_BITS) !== 0) return made;
    const host = hostOf(at(handle));
    const isSteered = (get(host, HOST_FLAGS_WORD) & HOST_STEERED) !== 0;
    if (isSteered || get(host, HOST_PENDING_WORD) !== 0) return made;
    const next = get(at(handle), isLifo ? ITEM_RIGHT_WORD : ITEM_LEFT_WORD);
    set(handles, made, handle);
    leaseRow(job, handles, made);
    countLeased(rule);
    if (left === 0) {
      set(rule, RULE_QUEUE_RANKS_WORD, 0);
      note(job, LEASE_IDLE_WORD, LEASE_IDLES_WORD, <u32>(lane >> 3));
      continue;
    }
    laneCut(lane, next, isLifo);
    set(lane, LANE_COUNT_WORD, left);
  }
  return max;
}

/**
 * Ends leases that are out of the timeline: `count` plain records, without blob and without data kept elsewhere, on hosts that
 * was not steered. touchRecords comes before. @hot
 */
export function endRecords(job: usize, count: u32): void {
  const handles = <usize>get(job, LEASE_HANDLES_WORD);
  const sizes = <usize>get(job, LEASE_SIZES_WORD);
  set(job, LEASE_IDLES_WORD, 0);
  set(job, LEASE_ORPHANED_WORD, 0);
  for (let i: u32 = 0; i < count; i++) {
    const handle = get(handles, i);
    const record = at(handle);
    const flags = <u32>load<u8>(record, RECORD_STATE_WORD * 4 + 1);
    if ((flags & RECORD_FLAG_NO_IDENTITY) === 0) finish(job, handle);
    leave(job, get(at(get(record, RECORD_QUEUE_WORD)), QUEUE_HOST_WORD));
    let bytes = RECORD_HEAD_BYTES + get(record, RECORD_TEXT_BYTES_WORD) + ownHostBytes(record);
    if ((flags & RECORD_FLAG_PARENT) !== 0) {
      release(job, load<u32>(record, RECORD_HEAD_BYTES));
      bytes += 4;
    }
    set(sizes, i, bytes);
  }
}

function hostOf(record: usize): usize {
  return at(get(at(get(record, RECORD_QUEUE_WORD)), QUEUE_HOST_WORD));
}

/**
 * Notes the next records of a lane, `first` and those that follow it, and touches what is to be read of them, so that their
 * cache misses overlap; how many are plain.
 */
function touchRows(job: usize, handles: usize, first: u32, wanted: u32, step: u32): u32 {
  const bound = load<f64>(job, LEASE_BOUND_WORD << 2);
  let touched: u32 = 0;
  let found: u32 = 0;
  for (let handle = first; found < wanted; found++) {
    const record = at(handle);
    if ((get(record, RECORD_STATE_WORD) & LONE_BITS) !== 0) break;
    const key = load<f64>(record, ITEM_KEY_WORD << 2);
    if (step === ITEM_RIGHT_WORD ? key <= bound : key >= bound) break;
    set(handles, found, handle);
    touched += get(record, TEXT_WORD);
    handle = get(record, step);
  }
  for (let i: u32 = 0; i < found; i++) {
    touched += get(at(get(at(get(handles, i)), RECORD_QUEUE_WORD)), QUEUE_HOST_WORD);
  }
  set(job, LEASE_TOUCHED_WORD, touched);
  for (let i: u32 = 0; i < found; i++) {
    if ((get(hostOf(at(get(handles, i))), HOST_FLAGS_WORD) & HOST_STEERED) !== 0) return i;
  }
  return found;
}

/**
 * Touches what the next turns of `count` rules, and then the reading of their URLs, need, each kind for all of them: queues, lanes, records
 * with their text, what stands behind them, host queues, hosts, names. The records go to `handles`, 0 for what is no plain one.
 */
function touchShared(job: usize, rules: usize, handles: usize, count: u32): void {
  let touched: u32 = 0;
  for (let i: u32 = 0; i < count; i++) touched += get(at(get(rules, i)), RULE_QUEUE_RANKS_WORD);
  for (let i: u32 = 0; i < count; i++) touched += get(at(bestOf(rules, i)), LANE_COUNT_WORD);
  for (let i: u32 = 0; i < count; i++) {
    const next = nextOf(rules, i);
    set(handles, i, next);
    touched += get(at(next), 0) + get(at(next), MIDDLE_WORD) + get(at(next), TEXT_WORD);
  }
  for (let i: u32 = 0; i < count; i++) {
    const record = at(get(handles, i));
    touched += get(at(get(record, ITEM_LEFT_WORD)), ITEM_RIGHT_WORD);
    if ((get(record, RECORD_STATE_WORD) & LONE_BITS) !== 0) set(handles, i, 0);
    else touched += get(at(get(record, RECORD_QUEUE_WORD)), QUEUE_HOST_WORD);
  }
  for (let i: u32 = 0; i < count; i++) touched += get(nextHost(handles, i), HOST_FLAGS_WORD);
  for (let i: u32 = 0; i < count; i++) {
    touched += get(at(get(nextHost(handles, i), HOST_NAME_WORD)), 0);
  }
  set(job, LEASE_TOUCHED_WORD, touched);
}

/** Whether a rule has no lane but its best one. */
function isOnlyLane(rule: usize, lane: usize): bool {
  return at(get(rule, RULE_QUEUE_RANKS_WORD)) === lane && get(lane, ITEM_LEFT_WORD) === 0;
}

/** Address of the host of record number `i`, or 0 (readable). */
function nextHost(handles: usize, i: u32): usize {
  const handle = get(handles, i);
  return handle === 0 ? 0 : hostOf(at(handle));
}

/** The best lane of rule number `i`, or 0. */
function bestOf(rules: usize, i: u32): u32 {
  return bestLane(get(at(get(rules, i)), RULE_QUEUE_RANKS_WORD));
}

/** What probably goes next of rule number `i`, or 0. */
function nextOf(rules: usize, i: u32): u32 {
  const rule = at(get(rules, i));
  const lane = bestLane(get(rule, RULE_QUEUE_RANKS_WORD));
  if (lane === 0) return 0;
  const isLifo = (get(rule, RULE_QUEUE_FLAGS_WORD) & RULE_LIFO) !== 0;
  return get(at(lane), isLifo ? LANE_TAIL_WORD : LANE_HEAD_WORD);
}

/** Record number `i` of the call becomes a lease; its lane is updated later. */
export function leaseRow(job: usize, handles: usize, i: u32): void {
  const handle = get(handles, i);
  const record = at(handle);
  enterLease(record);
  set(record, ITEM_LEFT_WORD, 0);
  set(record, ITEM_RIGHT_WORD, 0);
  set(record, ITEM_PLACE_WORD, get(job, LEASE_PLACE_WORD) + i);
  const key = <usize>get(job, LEASE_KEYS_WORD) + ((<usize>i) << 4);
  store<f64>(key, load<f64>(job, LEASE_DEADLINE_WORD << 2));
  store<f64>(key, load<f64>(job, LEASE_SEQUENCE_WORD << 2) + <f64>(i + 1), 8);
  set(<usize>get(job, LEASE_SLOTS_WORD), i, handle);
  const host = hostOf(record);
  bump(host, HOST_LEASED_WORD);
}

/** The last word on an identity that is still the record's own (src/frontier/records/transitions.ts, finishedWord). */
function finish(job: usize, handle: u32): void {
  const record = at(handle);
  const lo = get(record, RECORD_HASH_LO_WORD);
  const slot = tableFindOne(
    <usize>get(job, LEASE_TABLE_WORD),
    lo,
    get(record, RECORD_HASH_HI_WORD),
  );
  if (slot === 0 || load<u32>(slot) !== handle) return;
  const attempts: u32 = min<u32>(get(record, RECORD_STATE_WORD) >>> 16, ATTEMPTS_MAX);
  const depth = get(record, RECORD_DEPTH_WORD) & CLAMP_16;
  store<u32>(slot, FINISHED_BIT | (attempts << 20) | depth);
}

/** One visit and one record fewer on a host. */
function leave(job: usize, handle: u32): void {
  const host = at(handle);
  set(host, HOST_LEASED_WORD, get(host, HOST_LEASED_WORD) - 1);
  const live = get(host, HOST_LIVE_WORD);
  if (live > 1) set(host, HOST_LIVE_WORD, live - 1);
  else note(job, LEASE_IDLE_WORD, LEASE_IDLES_WORD, handle);
}

/** One child fewer of a parent. */
function release(job: usize, handle: u32): void {
  const children = get(at(handle), 0);
  if (children > 1) set(at(handle), 0, children - 1);
  else note(job, LEASE_ORPHANS_WORD, LEASE_ORPHANED_WORD, handle);
}

function note(job: usize, list: u32, counter: u32, handle: u32): void {
  const count = get(job, counter);
  set(<usize>get(job, list), count, handle);
  set(job, counter, count + 1);
}

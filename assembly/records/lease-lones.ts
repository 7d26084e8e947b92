/**
 * Hands out lone records (src/structures/hosts/lone-host.ts), many in one crossing, each with the host that it needs from then on:
 *
 *   best lane of a rule with politeness ── listLones ──▶ its first records that are lone, bytes of names ── owner takes objects
 *   ── leaseLones ──▶ host with one lease, its turn and its delay; an empty queue; the record leased, standing in the timeline
 *
 *   I1  Hosts go in the order of their lane; each takes the next sequence as its turn, and the timeline's next place.
 *   I2  What is listed has not been changed.
 */
import {
  HOST_FLAGS_WORD,
  HOST_HASH_HI_WORD,
  HOST_HASH_LO_WORD,
  HOST_QUEUES_WORD,
  HOST_READY_AT_WORD,
  HOST_TURN_WORD,
  RULE_QUEUE_RANKS_WORD,
} from "../../src/layout/records/host";
import {
  ITEM_KEY_WORD,
  ITEM_LEFT_WORD,
  ITEM_PLACE_WORD,
  PLACE_SIDE,
} from "../../src/layout/ordering/item";
import { LANE_COUNT_WORD, LANE_HEAD_WORD, LANE_SIDE_WORD } from "../../src/layout/ordering/lane";
import {
  LEASE_BOUND_WORD,
  LEASE_BUSY_FIRST_WORD,
  LEASE_HANDLES_WORD,
  LEASE_HOSTS_WORD,
  LEASE_INDEX_WORD,
  LEASE_LONE_FLAGS_WORD,
  LEASE_NAMES_WORD,
  LEASE_NAME_SIZES_WORD,
  LEASE_QUEUES_WORD,
  LEASE_READY_AT_WORD,
  LEASE_RULE_WORD,
  LEASE_SEQUENCE_WORD,
  LEASE_TOUCHED_WORD,
} from "../../src/layout/calls/lease-records";
import {
  LONE_BITS,
  NAMED_HASH_WORD,
  NAMED_NAME_BYTES_WORD,
  NAMED_SEQUENCE_WORD,
  RECORD_LONE,
  RECORD_QUEUE_WORD,
  RECORD_STATE_WORD,
} from "../../src/layout/records/record";
import { at, get, set } from "../batch-row";
import { homeLine, segmentOf, tableFindOne } from "../seen/table";
import { fillLoneHost, joinBusy, openQueue, ownHost } from "./host-objects";
import { bestLane, laneFirst, laneTakeFirst, treapFirst, treapNext } from "./lane";
import { leaseRow } from "./lease-records";

/** Lists at most `max` lone records that go next, with the bytes of their hosts' names, and touches what leaseLones needs; how many. @hot */
export function listLones(job: usize, max: u32): u32 {
  const rule = at(get(job, LEASE_RULE_WORD));
  const lane = at(bestLane(get(rule, RULE_QUEUE_RANKS_WORD)));
  if (lane === 0) return 0;
  const standing = get(lane, LANE_COUNT_WORD);
  const most: u32 = standing > max ? max : standing - 1; // with its last one goes the lane
  const handles = <usize>get(job, LEASE_HANDLES_WORD);
  const sizes = <usize>get(job, LEASE_NAME_SIZES_WORD);
  const index = <usize>get(job, LEASE_INDEX_WORD);
  const bound = load<f64>(job, LEASE_BOUND_WORD << 2);
  // A run of the list, or of the side, up to where the other one goes on.
  const first = laneFirst(lane);
  const isSide = get(at(first), ITEM_PLACE_WORD) === PLACE_SIDE;
  const side = get(lane, LANE_SIDE_WORD);
  const end = Math.min(bound, keyOf(isSide ? get(lane, LANE_HEAD_WORD) : treapFirst(side)));
  let touched: u32 = 0;
  let found: u32 = 0;
  for (let handle = first; found < most && handle !== 0; found++) {
    const record = at(handle);
    if ((get(record, RECORD_STATE_WORD) & LONE_BITS) !== RECORD_LONE) break;
    if (load<f64>(record, ITEM_KEY_WORD << 2) >= end) break;
    set(handles, found, handle);
    handle = isSide ? treapNext(side, handle) : get(record, ITEM_LEFT_WORD);
  }
  for (let i: u32 = 0; i < found; i++) {
    const own = ownHost(at(get(handles, i)));
    const bytes = get(own, NAMED_NAME_BYTES_WORD);
    set(sizes, i, bytes === 0 ? 1 : bytes);
    const hash = load<u64>(own, NAMED_HASH_WORD << 2);
    touched += load<u32>(homeLine(segmentOf(index, hash), hash));
  }
  set(job, LEASE_TOUCHED_WORD, touched);
  return found;
}

/** The key of an item; of 0 one behind all others. */
function keyOf(handle: u32): f64 {
  return handle === 0 ? Infinity : load<f64>(at(handle), ITEM_KEY_WORD << 2);
}

/** Hands out the first `count` records listed; there is an object for each of their hosts, queues and names. @hot */
export function leaseLones(job: usize, count: u32): void {
  const rule = get(job, LEASE_RULE_WORD);
  const lane = at(bestLane(get(at(rule), RULE_QUEUE_RANKS_WORD)));
  const handles = <usize>get(job, LEASE_HANDLES_WORD);
  for (let i: u32 = 0; i < count; i++) {
    const handle = get(handles, i);
    const record = at(handle);
    laneTakeFirst(lane, handle);
    const sequence = load<f64>(job, LEASE_SEQUENCE_WORD << 2) + <f64>(i + 1);
    const host = get(<usize>get(job, LEASE_HOSTS_WORD), i);
    const queue = get(<usize>get(job, LEASE_QUEUES_WORD), i);
    fillHost(job, at(host), record, get(<usize>get(job, LEASE_NAMES_WORD), i));
    store<f64>(at(host), sequence, HOST_TURN_WORD << 2);
    set(at(host), HOST_QUEUES_WORD, queue);
    openQueue(queue, host, rule);
    store<f64>(record, load<f64>(ownHost(record), NAMED_SEQUENCE_WORD << 2), ITEM_KEY_WORD << 2);
    set(record, RECORD_QUEUE_WORD, queue);
    leaseRow(job, handles, i);
    joinBusy(job, LEASE_BUSY_FIRST_WORD, host);
  }
}

/** A host whose delay has begun, in the index in place of its record. */
function fillHost(job: usize, host: usize, record: usize, name: u32): void {
  fillLoneHost(host, record, name, 0);
  set(host, HOST_FLAGS_WORD, get(job, LEASE_LONE_FLAGS_WORD)); // its clock has not passed
  store<f64>(host, load<f64>(job, LEASE_READY_AT_WORD << 2), HOST_READY_AT_WORD << 2);
  const index = <usize>get(job, LEASE_INDEX_WORD);
  const slot = tableFindOne(index, get(host, HOST_HASH_LO_WORD), get(host, HOST_HASH_HI_WORD));
  store<u32>(slot, <u32>(host >> 3));
}

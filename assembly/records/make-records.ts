/**
 * Room `assembly/records`: records, hosts and leases in bulk, as far as they are plain; the rest is left to the owner,
 * row by row.
 */

/**
 * Makes the records of a batch's new rows and puts them into their lanes, so that the common push is done in a few
 * crossings (layout/calls/make-records.ts):
 *
 *   marked rows ── surveyRows ──▶ sizes, new hosts, number of lanes ── owner takes objects ── makeBatch ──▶ records in lanes
 *                                             owner makes the row it stopped at, makeRecords goes on ◀──┘
 *
 * What is made here is the plain case: a host with a queue under this rule, a lane with a tail before the new place, or no lane
 * at all. Hosts met for the first time have been made before (make-hosts.ts).
 * Anything else is left to the owner, row by row and in order, so that there is one way to do what is rare.
 *
 *   I1  Rows are made in their order; each takes the next sequence.
 *   I2  A row that stops the call has changed nothing.
 *   I3  Nothing but the objects handed in, their neighbours in the lane, the counts of rule, host, queue and lane, and the
 *       lists of idle and busy hosts is written.
 */
import {
  BATCH_COUNT_WORD,
  BATCH_FLAG_HTTPS,
  BATCH_HASHES_OFFSET_WORD,
  BATCH_ROWS_OFFSET_WORD,
  BATCH_ROW_BYTES,
  BATCH_SLOTS_OFFSET_WORD,
  BATCH_VALUES_OFFSET_WORD,
  ROW_FLAGS_WORD,
  ROW_HREF_OFFSET_WORD,
  ROW_PATH_START_WORD,
  ROW_VISIT_LENGTH_WORD,
} from "../../src/layout/calls/url-batch";
import {
  HOST_FLAGS_WORD,
  HOST_LIVE_WORD,
  HOST_LONE,
  HOST_PENDING_WORD,
  HOST_QUEUES_WORD,
  HOST_STEERED,
  QUEUE_HOST_WORD,
  QUEUE_NEXT_WORD,
  QUEUE_PENDING_WORD,
  QUEUE_RANKS_WORD,
  QUEUE_RULE_WORD,
  RULE_POLITE,
  RULE_PUSHED,
  RULE_QUEUE_FLAGS_WORD,
  RULE_QUEUE_PER_DEPTH_WORD,
  RULE_QUEUE_PRIORITY_WORD,
  RULE_QUEUE_RANKS_WORD,
} from "../../src/layout/records/host";
import { ITEM_KEY_WORD, ITEM_LEFT_WORD, ITEM_RIGHT_WORD } from "../../src/layout/ordering/item";
import { LANE_SPARE_WORD, LANE_TAIL_WORD } from "../../src/layout/ordering/lane";
import {
  MAKE_BATCH_WORD,
  MAKE_DEPTH_WORD,
  MAKE_EXTRA_WORD,
  MAKE_FRESH_WORD,
  MAKE_HANDLES_WORD,
  MAKE_HOSTS_WORD,
  MAKE_HOST_SLOTS_WORD,
  MAKE_LANES_OPENED_WORD,
  MAKE_LANES_TAKEN_WORD,
  MAKE_LANES_WORD,
  MAKE_LANE_HOSTS,
  MAKE_LANE_OPEN,
  MAKE_LANE_OWNER,
  MAKE_LANE_WORD,
  MAKE_LONE,
  MAKE_PARENTS_WORD,
  MAKE_PARENT_WORD,
  MAKE_PRIORITY_WORD,
  MAKE_RULES_WORD,
  MAKE_RULE_WORD,
  MAKE_SEQUENCE_WORD,
  MAKE_STAND_WORD,
  MAKE_TOUCHED_WORD,
} from "../../src/layout/calls/make-records";
import {
  RECORD_FLAG_HTTPS,
  RECORD_FLAG_QUEUED,
  RECORD_TEXT_BYTES_WORD,
} from "../../src/layout/records/record";
import { TABLE_NEW, TABLE_SKIP } from "../../src/layout/seen/table";
import { makeHosts, wakeHost } from "./make-hosts";
import { copyText, fillExtra, fillHead } from "./fill-record";
import { laneAppend, laneOf, openLane, placeLast } from "./lane";
import { makeLone } from "./lone-records";
import { countPending, enterPending } from "./ledger";
import { at, bump, get, set } from "../batch-row";

/** Makes the job's new hosts, then records from the first row on; the row that is the owner's to make, or the count. @hot */
export function makeBatch(job: usize): u32 {
  makeHosts(job, get(job, MAKE_FRESH_WORD));
  touchHosts(job, get(<usize>get(job, MAKE_BATCH_WORD), BATCH_COUNT_WORD));
  return makeRecords(job, 0);
}

/** Whether nothing stands under a rule whose records the kernel makes in the rule's own lanes. */
export function opensLane(rule: usize): bool {
  const flags = get(rule, RULE_QUEUE_FLAGS_WORD) & (RULE_PUSHED | RULE_POLITE);
  return flags === RULE_PUSHED && get(rule, RULE_QUEUE_RANKS_WORD) === 0;
}

/**
 * Touches what makeRecords will need, so that the cache misses of many rows overlap: each known host, its first queue, each
 * row's rule, and the lane that holds the records with its tail.
 */
function touchHosts(job: usize, count: u32): void {
  const hosts = <usize>get(job, MAKE_HOSTS_WORD);
  let touched: u32 = 0;
  for (let i: u32 = 0; i < count; i++) {
    const host = get(hosts, i);
    if (host < <u32>HOST_LONE) touched += get(at(host), HOST_QUEUES_WORD);
  }
  for (let i: u32 = 0; i < count; i++) touched += get(queueOf(hosts, i), QUEUE_RANKS_WORD);
  const rules = <usize>get(job, MAKE_RULES_WORD);
  if (rules !== 0) {
    for (let i: u32 = 0; i < count; i++)
      touched += get(ruleOf(rules, hosts, i), RULE_QUEUE_FLAGS_WORD);
    for (let i: u32 = 0; i < count; i++) touched += get(rankOf(rules, hosts, i), LANE_TAIL_WORD);
    for (let i: u32 = 0; i < count; i++) {
      touched += get(at(get(rankOf(rules, hosts, i), LANE_TAIL_WORD)), ITEM_LEFT_WORD);
    }
  }
  const rule = at(get(job, MAKE_RULE_WORD));
  if (rules !== 0 || (get(rule, RULE_QUEUE_FLAGS_WORD) & RULE_POLITE) !== 0) {
    for (let i: u32 = 0; i < count; i++) touched += get(firstLaneOf(hosts, i), LANE_TAIL_WORD);
    for (let i: u32 = 0; i < count; i++) {
      touched += get(at(get(firstLaneOf(hosts, i), LANE_TAIL_WORD)), ITEM_LEFT_WORD);
    }
  }
  set(job, MAKE_TOUCHED_WORD, touched);
}

/** Address of a new row's rule queue, 0 (readable) for any other row. */
function ruleOf(rules: usize, hosts: usize, i: u32): usize {
  return get(hosts, i) === TABLE_SKIP ? 0 : at(get(rules, i));
}

/** Address of the root of its lanes. */
function rankOf(rules: usize, hosts: usize, i: u32): usize {
  return at(get(ruleOf(rules, hosts, i), RULE_QUEUE_RANKS_WORD));
}

/** Address of the first queue of a row's host, 0 (readable, and empty) where there is none. */
function queueOf(hosts: usize, i: u32): usize {
  const host = get(hosts, i);
  if (host >= <u32>HOST_LONE) return 0;
  return at(get(at(host), HOST_QUEUES_WORD));
}

function firstLaneOf(hosts: usize, i: u32): usize {
  return at(get(queueOf(hosts, i), QUEUE_RANKS_WORD));
}

/** Makes records from row `from` on; returns the row that is the owner's to make, or the count. @hot */
export function makeRecords(job: usize, from: u32): u32 {
  const batch = <usize>get(job, MAKE_BATCH_WORD);
  const count = get(batch, BATCH_COUNT_WORD);
  const values = <usize>get(batch, BATCH_VALUES_OFFSET_WORD);
  const handles = <usize>get(job, MAKE_HANDLES_WORD);
  const rules = <usize>get(job, MAKE_RULES_WORD);
  if (rules === 0) takeRule(job, get(job, MAKE_RULE_WORD));
  else set(job, MAKE_RULE_WORD, 0);
  let i = from;
  for (; i < count; i++) {
    if (get(values, i) !== TABLE_NEW) continue;
    if (rules !== 0 && get(rules, i) !== get(job, MAKE_RULE_WORD)) takeRule(job, get(rules, i));
    const handle = get(handles, i);
    if (handle === 0 || !makeRow(job, batch, i, handle)) break;
  }
  return i;
}

/** Largest safe integer: where effective priorities end. */
const PRIORITY_MAX: f64 = 9_007_199_254_740_991;

/** The rule in hand: the priority of its records at the job's depth, and where they stand. */
function takeRule(job: usize, rule: u32): void {
  const queue = at(rule);
  set(job, MAKE_RULE_WORD, rule);
  let priority = load<f64>(queue, RULE_QUEUE_PRIORITY_WORD << 2);
  const perDepth = load<f64>(queue, RULE_QUEUE_PER_DEPTH_WORD << 2);
  if (perDepth !== 0) {
    priority -= <f64>get(job, MAKE_DEPTH_WORD) * perDepth;
    priority = Math.max(-PRIORITY_MAX, Math.min(priority, PRIORITY_MAX));
  }
  store<f64>(job, priority, MAKE_PRIORITY_WORD << 2);
  const flags = get(queue, RULE_QUEUE_FLAGS_WORD);
  let lane: u32 = MAKE_LANE_OWNER;
  set(job, MAKE_STAND_WORD, 0);
  if ((flags & RULE_PUSHED) !== 0) {
    if ((flags & RULE_POLITE) !== 0) {
      lane = MAKE_LANE_HOSTS;
      set(job, MAKE_STAND_WORD, laneOf(get(queue, RULE_QUEUE_RANKS_WORD), priority));
    } else if (opensLane(queue)) lane = MAKE_LANE_OPEN;
    else lane = laneOf(get(queue, RULE_QUEUE_RANKS_WORD), priority);
    if (lane === 0) lane = MAKE_LANE_OWNER;
  }
  set(job, MAKE_LANE_WORD, lane);
}

/** Makes one row's record; false: it is no plain case. */
function makeRow(job: usize, batch: usize, i: u32, handle: u32): bool {
  const own = get(job, MAKE_LANE_WORD);
  if (own === MAKE_LANE_OWNER) return false;
  if (get(<usize>get(job, MAKE_HOSTS_WORD), i) === MAKE_LONE) {
    return makeLone(job, batch, i, handle);
  }
  const host = hostOf(job, i);
  if (host === 0) return false;
  const rule = get(job, MAKE_RULE_WORD);
  let queue = get(host, HOST_QUEUES_WORD);
  while (queue !== 0 && get(at(queue), QUEUE_RULE_WORD) !== rule) {
    queue = get(at(queue), QUEUE_NEXT_WORD);
  }
  if (queue === 0) return false;
  if (own === MAKE_LANE_OPEN) return openRow(job, batch, i, queue);
  const isPolite = own === MAKE_LANE_HOSTS;
  const lane = isPolite ? queueLane(job, at(queue)) : at(own);
  if (lane === 0 || (!isPolite && (get(host, HOST_FLAGS_WORD) & HOST_STEERED) !== 0)) return false;
  if (get(lane, LANE_SPARE_WORD) !== 0) return false; // it goes on where the kernel does not see
  const sequence = load<f64>(job, MAKE_SEQUENCE_WORD << 2) + 1;
  if (!laneAppend(lane, handle, sequence)) return false;
  store<f64>(job, sequence, MAKE_SEQUENCE_WORD << 2);
  if (isPolite) {
    bump(host, HOST_PENDING_WORD);
    bump(at(queue), QUEUE_PENDING_WORD);
  }
  keep(job, batch, i, queue, isPolite ? RECORD_FLAG_QUEUED : 0);
  return true;
}

/** Makes the first record of a rule under which nothing stands, and its lane; false: no lane was taken for it. */
function openRow(job: usize, batch: usize, i: u32, queue: u32): bool {
  const host = at(get(at(queue), QUEUE_HOST_WORD));
  const opened = get(job, MAKE_LANES_OPENED_WORD);
  if (opened === get(job, MAKE_LANES_TAKEN_WORD)) return false;
  if ((get(host, HOST_FLAGS_WORD) & HOST_STEERED) !== 0) return false;
  const lanes = <usize>get(job, MAKE_LANES_WORD);
  const lane = get(lanes, opened);
  const rule = get(job, MAKE_RULE_WORD);
  const handle = get(<usize>get(job, MAKE_HANDLES_WORD), i);
  const sequence = load<f64>(job, MAKE_SEQUENCE_WORD << 2) + 1;
  store<f64>(job, sequence, MAKE_SEQUENCE_WORD << 2);
  openLane(at(lane), load<f64>(job, MAKE_PRIORITY_WORD << 2), handle, sequence);
  placeLast(at(handle), 0, sequence);
  set(at(rule), RULE_QUEUE_RANKS_WORD, lane);
  set(lanes, opened, rule);
  set(job, MAKE_LANES_OPENED_WORD, opened + 1);
  set(job, MAKE_LANE_WORD, lane);
  keep(job, batch, i, queue, 0);
  return true;
}

/** Counts a row's record, which stands in its place, at its host and its rule, fills it and enters it into the table. */
function keep(job: usize, batch: usize, i: u32, queue: u32, state: u32): void {
  const host = at(get(at(queue), QUEUE_HOST_WORD));
  const handle = get(<usize>get(job, MAKE_HANDLES_WORD), i);
  if (get(host, HOST_LIVE_WORD) === 0) wakeHost(job, host);
  bump(host, HOST_LIVE_WORD);
  countPending(at(get(job, MAKE_RULE_WORD)));
  fill(job, batch, i, handle, queue, state);
  store<u32>(<usize>get(<usize>get(batch, BATCH_SLOTS_OFFSET_WORD), i), handle);
}

/** Address of a row's host, 0 where it is not made yet, lone or on disk. An earlier row of the batch may have made it, or brought it back, since. */
function hostOf(job: usize, i: u32): usize {
  let host = get(<usize>get(job, MAKE_HOSTS_WORD), i);
  if (host >= <u32>HOST_LONE) {
    if (host === TABLE_SKIP) return 0;
    host = load<u32>(<usize>get(<usize>get(job, MAKE_HOST_SLOTS_WORD), i));
    if (host >= <u32>HOST_LONE) return 0;
  }
  return at(host);
}

/** Address of a queue's only lane if it is one of the job's priority; else 0. */
function queueLane(job: usize, queue: usize): usize {
  const lane = at(get(queue, QUEUE_RANKS_WORD));
  if (lane === 0 || (get(lane, ITEM_LEFT_WORD) | get(lane, ITEM_RIGHT_WORD)) !== 0) return 0;
  const priority = load<f64>(job, MAKE_PRIORITY_WORD << 2);
  return load<f64>(lane, ITEM_KEY_WORD << 2) === priority ? lane : 0;
}

/** All fields behind the item's, and the text. */
function fill(job: usize, batch: usize, i: u32, handle: u32, queue: u32, state: u32): void {
  const record = at(handle);
  const row = <usize>get(batch, BATCH_ROWS_OFFSET_WORD) + <usize>i * BATCH_ROW_BYTES;
  const parents = <usize>get(job, MAKE_PARENTS_WORD);
  const extra = parents === 0 ? get(job, MAKE_PARENT_WORD) : get(parents, i);
  const isHttps = (get(row, ROW_FLAGS_WORD) & BATCH_FLAG_HTTPS) !== 0;
  const flag = get(job, MAKE_EXTRA_WORD);
  const own: u32 = extra === 0 ? 0 : flag;
  enterPending(record, state | own | (isHttps ? RECORD_FLAG_HTTPS : 0));
  const hash = load<u64>(<usize>get(batch, BATCH_HASHES_OFFSET_WORD) + at(i));
  const priority = load<f64>(job, MAKE_PRIORITY_WORD << 2);
  fillHead(record, queue, hash, priority, get(job, MAKE_DEPTH_WORD));
  const start = get(row, ROW_PATH_START_WORD);
  const from = <usize>(get(row, ROW_HREF_OFFSET_WORD) + start);
  const bytes = get(row, ROW_VISIT_LENGTH_WORD) - start;
  set(record, RECORD_TEXT_BYTES_WORD, bytes);
  copyText(from, fillExtra(record, extra, flag), bytes);
}

/**
 * Settling: everything was read; each record goes where its state and its key say, and is counted. Leases come back:
 * pending, at their old place.
 *
 *   tables ─▶ handles and keys ─▶ sorted ─▶ pending: planted · failed: their lane · waiting, resting: their heaps
 */
import { memoryFull } from "../base/errors.ts";
import { type Core, type Counters, ruleOf } from "../frontier/core.ts";
import { plantRecords, settlePlanted } from "../frontier/plant.ts";
import { installRules } from "../frontier/rule-set.ts";
import { epochDrop, epochEach, epochNext } from "../structures/epoch-table.ts";
import { heapPush } from "../structures/heap.ts";
import { laneInsert } from "../structures/lane.ts";
import {
  RECORD_FAILED,
  RECORD_LEASED,
  RECORD_PENDING,
  RECORD_RESTING,
  RECORD_WAITING,
  recordKey,
  recordState,
  setRecordState,
} from "../structures/record.ts";
import { seenFind } from "../structures/seen-set.ts";
import { eachLive, type Live } from "./live.ts";
import { dueOfRevived, type Revival } from "./revive.ts";
import { closeRows } from "./revive-rows.ts";
import { sortByKey } from "./sort-keys.ts";

/** Puts every record where its state says, and counts them. Leases come back: pending, at their old place. */
export function settleRevived(revival: Revival, nowMs: number): void {
  const { core } = revival;
  const { counters, store } = core;
  closeRows(revival);
  const pending = createKept();
  const failed = createKept();
  eachLive(core, revival.names, (record) => {
    const state = recordState(store, record);
    if (state === RECORD_LEASED) {
      setRecordState(store, record, RECORD_PENDING);
      revival.leases++;
    }
    if (state === RECORD_WAITING) keepWaiting(core, record);
    else if (state === RECORD_RESTING) keepResting(core, record);
    else keep(state === RECORD_FAILED ? failed : pending, record, recordKey(store, record));
  });
  for (const record of sortByKey(failed)) {
    clearLinks(core, record);
    laneInsert(store.region, core.failedLane, record);
    ruleOf(core, record).failed++;
  }
  plantRecords(core, sortByKey(pending));
  settlePlanted(core, nowMs);
  counters.pending = pending.count;
  counters.failed = failed.count;
  if (revival.isAlone) revival.volatileLive = restOf(counters);
  counters.forgotten += revival.volatileLive; // what was never written is gone with the process
  // A filter can not count what it holds: the admissions were counted.
  if (core.seen.bloom === undefined) counters.seen = core.seen.count;
  else core.seen.count = counters.seen;
  if (core.rules.some((rule) => rule.isGone && rule !== core.none))
    installRules(core, core.specs, core.version, nowMs);
  if (revival.hasForgotten) dropEmptyEpochs(core);
}

/** Records that were admitted and are in none of the places that one can be in. */
function restOf(counters: Counters): number {
  const { accepted, deferred, pending, waiting, done, failed, forgotten, removed } = counters;
  return accepted + deferred - pending - waiting - done - failed - forgotten - removed;
}

/** Epochs of which nothing is known any more: they were forgotten, and their members one by one. */
function dropEmptyEpochs({ epochs, seen }: Core): void {
  const empty: number[] = [];
  for (let epoch = epochNext(epochs, 0); epoch !== 0; epoch = epochNext(epochs, epoch)) {
    let isEmpty = true;
    epochEach(epochs, epoch, (lo, hi) => {
      if (isEmpty && seenFind(seen, lo, hi) !== 0) isEmpty = false;
    });
    if (isEmpty) empty.push(epoch);
  }
  for (const epoch of empty) epochDrop(epochs, epoch);
}

function keepResting(core: Core, record: number): void {
  const dueMs = dueOfRevived(core, record);
  clearLinks(core, record);
  const tie = sequenceOfKey(recordKey(core.store, record));
  if (!heapPush(core.resting, record, dueMs, tie)) throw memoryFull();
  ruleOf(core, record).resting++;
}

function keepWaiting(core: Core, record: number): void {
  const dueMs = dueOfRevived(core, record);
  clearLinks(core, record);
  const key = recordKey(core.store, record);
  if (!heapPush(core.waiting, record, dueMs, sequenceOfKey(key))) throw memoryFull();
  core.counters.waiting++;
  ruleOf(core, record).waiting++;
}

/** The key of a start request that goes last stands beyond ±2⁵². */
function sequenceOfKey(key: number): number {
  const size = Math.abs(key);
  return size >= 2 ** 52 ? size - 2 ** 52 : key;
}

function clearLinks(core: Core, record: number): void {
  core.store.region.views.f64[record] = 0;
}

/** Handles with their keys, outside the objects of the heap. */
function createKept(): Live {
  return { handles: new Uint32Array(1024), keys: new Float64Array(1024), count: 0 };
}

function keep(kept: Live, record: number, key: number): void {
  if (kept.count === kept.handles.length) {
    const handles = new Uint32Array(kept.count * 2);
    const keys = new Float64Array(kept.count * 2);
    handles.set(kept.handles);
    keys.set(kept.keys);
    kept.handles = handles;
    kept.keys = keys;
  }
  kept.handles[kept.count] = record;
  kept.keys[kept.count] = key;
  kept.count++;
}

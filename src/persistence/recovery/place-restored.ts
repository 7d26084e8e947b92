/**
 * Places restored records after everything was read: each record goes where its state and its key require, and is counted. Leases return:
 * pending, at their old place.
 *
 *   tables ─▶ handles and keys ─▶ sorted, queue by queue where each has an order of its own ─▶ pending: placed · failed: their lane · waiting, resting: their heaps
 */
import { memoryFull } from "../../base/errors.ts";
import type { Core, Counters } from "../../frontier/core.ts";
import {
  areQueued,
  placeRecords,
  settlePlacedHosts,
} from "../../frontier/records/place-records.ts";
import { installRules } from "../../frontier/rules/install-rules.ts";
import {
  epochDrop,
  epochEach,
  epochFind,
  epochKeep,
  epochNext,
} from "../../structures/seen/epoch-table.ts";
import { TABLE_BARE_NEW } from "../../layout/seen/table.ts";
import { createTable, tableDrop, tableInsert } from "../../structures/table/fingerprint-table.ts";
import { heapPush } from "../../structures/ordering/heap.ts";
import { laneInsert } from "../../structures/ordering/lane.ts";
import {
  RECORD_FAILED,
  RECORD_LEASED,
  RECORD_PENDING,
  RECORD_RESTING,
  RECORD_WAITING,
  recordKey,
  recordState,
} from "../../structures/records/record.ts";
import { seenFind, seenHot, seenRecovered } from "../../structures/seen/seen-set.ts";
import { createRecordList, appendRecord } from "../../frontier/records/record-list.ts";
import { listUnplaced } from "../journal/live-records.ts";
import { endRecoverySpill } from "./recovery-spill.ts";
import { dueOfRestored, type Restoration } from "./restore-records.ts";
import { clearCopied } from "./copied-records.ts";
import { closeRows } from "./restore-rows.ts";
import { separateTurns } from "./restore-hosts.ts";
import { sortApart } from "../../frontier/records/sort-records.ts";
import {
  balanceCounters,
  bookGone,
  bookPlace,
  restoreState,
  setSeen,
  sumPlaced,
} from "../../frontier/records/ledger.ts";

/**
 * Puts every record where its state requires, and counts the records. Leases return: pending, at their old place.
 * Counters that do not add up, and two records in one place, are corrected, and so are two hosts with one turn.
 */
export function placeRestored(restoration: Restoration, nowMs: number): void {
  const { core } = restoration;
  const { counters, store } = core;
  closeRows(restoration);
  clearCopied(restoration);
  endRecoverySpill(restoration);
  // No host stands anywhere yet, even where a spill has placed records: `settlePlacedHosts` comes below.
  if (!separateTurns(core)) restoration.isCorrected = true;
  const pending = createRecordList(seenHot(core.seen), areQueued(core));
  const failed = createRecordList();
  // Some are placed already, to save memory.
  listUnplaced(core, restoration.names, pending, (record) => {
    const state = recordState(store, record);
    if (state === RECORD_LEASED) {
      restoreState(store, record, RECORD_PENDING);
      restoration.leases++;
    }
    if (state === RECORD_WAITING) keepWaiting(core, record);
    else if (state === RECORD_RESTING) keepResting(core, record);
    else appendRecord(store, state === RECORD_FAILED ? failed : pending, record);
  });
  const failures = sortApart(core, failed);
  for (const record of failures.handles) {
    clearLinks(core, record);
    laneInsert(store.region, core.failedLane, record);
    bookPlace(core, record, 1);
  }
  const places = sortApart(core, pending);
  placeRecords(core, places.handles);
  settlePlacedHosts(core, nowMs);
  sumPlaced(core);
  if (restoration.isAlone) restoration.volatileLive = restOf(counters);
  restoration.volatileLive = Math.max(restoration.volatileLive, 0);
  bookGone(core, restoration.volatileLive); // volatile records are gone with the process
  // A filter cannot count its members, and a cold tier is not read whole: the counted admissions are used.
  if (core.seen.mode === "exact") setSeen(core, core.seen.count);
  else core.seen.count = counters.seen;
  seenRecovered(core.seen);
  if (core.rules.some((rule) => rule.isGone && rule !== core.none))
    installRules(core, core, core.version, nowMs);
  settleEpochs(restoration);
  if (restoration.hasForgotten) dropEmptyEpochs(core);
  const isWhole = balanceCounters(core);
  if (!isWhole || !failures.areApart || !places.areApart) restoration.isCorrected = true;
}

/**
 * Keeps each member of an epoch once. A snapshot and the journal beside it may both name a member, and members that an epoch had before
 * it was forgotten do not belong to a later epoch of that name.
 */
function settleEpochs({ core, joined, hasForgotten }: Restoration): void {
  if (joined.size === 0) return;
  const { epochs, seen, store } = core;
  const once = createTable(store.kernel, { valued: false }); // hashes of different epochs differ
  const isAsked = hasForgotten && seen.bloom === undefined;
  const isKept = (lo: number, hi: number): boolean => {
    if (isAsked && seenFind(seen, lo, hi) === 0) return false;
    const inserted = tableInsert(once, lo, hi);
    if (inserted === 0) throw memoryFull();
    return inserted === TABLE_BARE_NEW;
  };
  for (const name of joined) {
    const epoch = epochFind(epochs, name);
    if (epoch !== 0 && !epochKeep(epochs, epoch, isKept)) throw memoryFull();
  }
  tableDrop(once);
}

/** Admitted records that are in none of the counted states. */
function restOf(counters: Counters): number {
  const { accepted, deferred, pending, waiting, done, failed, forgotten, removed } = counters;
  return accepted + deferred - pending - waiting - done - failed - forgotten - removed;
}

/** Drops epochs whose members were all forgotten. */
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
  const dueMs = dueOfRestored(core, record);
  clearLinks(core, record);
  const tie = sequenceOfKey(recordKey(core.store, record));
  if (dueMs === Number.POSITIVE_INFINITY) core.hasKept = true;
  if (!heapPush(core.resting, record, dueMs, tie)) throw memoryFull();
  bookPlace(core, record, 1);
}

function keepWaiting(core: Core, record: number): void {
  const dueMs = dueOfRestored(core, record);
  clearLinks(core, record);
  const key = recordKey(core.store, record);
  if (!heapPush(core.waiting, record, dueMs, sequenceOfKey(key))) throw memoryFull();
  bookPlace(core, record, 1);
}

/** The key of a start request that goes last is beyond ±2⁵². */
function sequenceOfKey(key: number): number {
  const size = Math.abs(key);
  return size >= 2 ** 52 ? size - 2 ** 52 : key;
}

function clearLinks(core: Core, record: number): void {
  core.store.region.views.f64[record] = 0;
}

/**
 * Room `src/frontier/epochs`: how long one sighting blocks the next, and when a done record comes again. Decides
 * identities' salts and periods.
 */

/**
 * Epochs at work: which epoch each row of a batch is in, its salt on the row's hash, and the end of an epoch.
 *
 *   row's hash ⊕ salt of its epoch = the identity that the seen-set holds       (structures/seen/epoch-table.ts)
 *
 * A batch whose mode has neither epochs nor requests never comes here.
 *
 *   I1  A row's hash is salted once, after its key is known and before the seen-set is asked.
 *   I2  Every identity of a named epoch that was admitted and not forgotten is among the epoch's members.
 */
import {
  epochAdd,
  epochClear,
  epochCopy,
  epochDrop,
  epochEach,
  epochFind,
  epochMembers,
  epochNext,
  epochOpen,
  epochSalt,
  epochStart,
  epochTakeBack,
} from "../../structures/seen/epoch-table.ts";
import {
  RECORD_FAILED,
  RECORD_RESTING,
  recordHi,
  recordLo,
  recordState,
} from "../../structures/records/record.ts";
import { seenFind, seenForget, seenRemove, seenSet } from "../../structures/seen/seen-set.ts";
import { setWordAt, wordAt } from "../../structures/store.ts";
import { BATCH_OK, hashesOffset, type Rows, rowStatus } from "../../url/batch/row-fields.ts";
import { type BatchAdmission, rowLeaseText, ruleOfRow } from "../admission/admission-input.ts";
import { MODE_ADMISSIONS, MODE_EPOCHS } from "../admission/admission-mode.ts";
import type { Core } from "../core.ts";
import { isHookFault, memoryFull, misuse } from "../../base/errors.ts";
import { epochNameOf, FOREVER, UNDATED_MS } from "./epoch-policy.ts";
import { hasRoomFor } from "../records/memory-reserve.ts";
import {
  isInMemory,
  placeOfValue,
  settleSpilled,
  spillOverBudget,
  takeSpilledAt,
} from "../scheduling/spill-control.ts";
import { finishedView, isFinishedValue } from "../records/finished-word.ts";
import { forgetRecord, replaceRecord } from "../records/transitions.ts";
import { listRecords } from "../records/record-walk.ts";
import { bookForgotten, bookSeen, endGeneration, setSeen } from "../records/ledger.ts";

/** Members of an epoch that are forgotten between two checks of memory. */
const MEMBERS_AT_ONCE = 8192;
/** An entry of a table that is half empty, as one is that has just been split. */
const ENTRY_BYTES = 32;

/** The epoch of each row: a name; FOREVER; null where the user's function returned none. undefined: all are forever. */
export type RowEpochs = ReadonlyArray<string | null> | undefined;

/** Finds the epoch of every row and salts its hash (I1). */
export function enterEpochs(core: Core, intake: BatchAdmission): RowEpochs {
  const { rows, count, admissions, mode, named, rowRules, nowMs, codesStart } = intake;
  if ((mode & (MODE_EPOCHS | MODE_ADMISSIONS)) === 0) return undefined;
  if (named !== undefined) {
    for (let row = 0; row < count; row++) {
      if (rowStatus(rows, row) !== BATCH_OK) continue;
      saltRow(core, rows, row, named.epochs[codesStart + row] as string);
    }
    return codesStart === 0 ? named.epochs : named.epochs.slice(codesStart, codesStart + count);
  }
  const names: Array<string | null> = [];
  for (let row = 0; row < count; row++) {
    let name: string | null = FOREVER;
    if (rowStatus(rows, row) === BATCH_OK) {
      const admission = admissions?.[row];
      const { policy } = ruleOfRow(core, rowRules, row);
      const dueMs = admission?.dueMs ?? UNDATED_MS;
      const answer = admission?.epoch ?? epochNameOf(policy.epoch, dueMs, nowMs);
      name = isHookFault(answer) ? null : answer;
      if (isHookFault(answer)) core.sink.fault("of", answer.cause, rowLeaseText(policy, rows, row));
      saltRow(core, rows, row, name);
    }
    names.push(name);
  }
  return names;
}

/** Salts one row's hash for the epoch of this name. */
export function saltRow(core: Core, rows: Rows, row: number, name: string | null): void {
  if (name === FOREVER || name === null) return;
  const { store } = core;
  const salt = epochSalt(core.epochs, name);
  const hash = (hashesOffset(rows) >> 2) + row * 2;
  setWordAt(store, hash, wordAt(store, hash) ^ salt.lo);
  setWordAt(store, hash + 1, wordAt(store, hash + 1) ^ salt.hi);
}

declare const JOINED: unique symbol;
/** The name of an epoch, null for none, that an identity has joined. */
export type JoinedEpoch = (string | null) & { readonly [JOINED]: true };

/** Notes an identity among its epoch's members; undefined, with nothing changed, when memory is exhausted. `logJoined` logs it. */
export function joinEpoch(
  core: Core,
  name: string | null,
  lo: number,
  hi: number,
): JoinedEpoch | undefined {
  if (name === FOREVER || name === null) return name as JoinedEpoch;
  const { epochs, store } = core;
  const epoch = epochOpen(epochs, name);
  if (epoch === 0) return undefined;
  if (epochAdd(epochs, epoch, lo, hi)) return name as JoinedEpoch;
  if (epochMembers(store, epoch) === 0) epochDrop(epochs, epoch);
  return undefined;
}

/** Takes back an identity that `joinEpoch` has noted lately: it is not admitted after all. */
export function leaveEpoch({ epochs }: Core, name: JoinedEpoch, lo: number, hi: number): void {
  if (name === FOREVER || name === null) return;
  epochTakeBack(epochs, epochFind(epochs, name), lo, hi);
}

/** Logs a member whose record was made. */
export function logJoined(core: Core, name: JoinedEpoch, lo: number, hi: number): void {
  if (name !== FOREVER && name !== null) core.log?.joined(name, lo, hi);
}

/**
 * Makes the identities of one epoch new again: finished and failed ones go, others finish without identity; how many went. Where a log
 * has to name those, spilled ones come back for it a block at a time, and go again. Throws MEMORY_FULL between two members: the epoch is
 * still there, and the next call goes on.
 */
export function forgetEpoch(core: Core, name: string, nowMs: number): number {
  if (name === FOREVER) return forgetForever(core);
  const { epochs, log, seen, store } = core;
  const epoch = epochFind(epochs, name);
  if (epoch === 0) return 0;
  if (log === undefined) settleSpilled(core);
  const hashes = new Uint32Array(2 * MEMBERS_AT_ONCE);
  const place = epochStart(store, epoch);
  let count = 0;
  for (let words = 1; words > 0; ) {
    words = epochCopy(store, place, hashes);
    const spilled = new Map<number, Set<string>>();
    for (let at = 0; at < words; at += 2) {
      const lo = hashes[at] as number;
      const hi = hashes[at + 1] as number;
      const value = seenFind(seen, lo, hi);
      if (value === 0) continue;
      const block = log === undefined ? undefined : placeOfValue(value);
      if (block !== undefined) noteSpilled(spilled, block, `${lo} ${hi}`);
      else count += forgetMember(core, value, lo, hi);
    }
    for (const [at, members] of spilled) {
      takeSpilledAt(
        core,
        at,
        (record) => members.has(`${recordLo(store, record)} ${recordHi(store, record)}`),
        (record) => forgetMember(core, record, recordLo(store, record), recordHi(store, record)),
      );
      spillOverBudget(core, nowMs);
    }
  }
  epochDrop(epochs, epoch);
  return count;
}

function noteSpilled(spilled: Map<number, Set<string>>, place: number, member: string): void {
  const members = spilled.get(place);
  if (members === undefined) spilled.set(place, new Set([member]));
  else members.add(member);
}

/** One identity of an epoch is new again; 1: what it was went with it. */
function forgetMember(core: Core, value: number, lo: number, hi: number): number {
  needNames(core, 0);
  const { log, seen, store } = core;
  const isFinished = isFinishedValue(value);
  const isResting = isRestingValue(core, value);
  if (isResting || (isFinished && !finishedView(value).isRemoved)) {
    if (isResting) {
      forgetIdentity(core, lo, hi);
      forgetRecord(core, value);
    } else forgetDone(core, lo, hi);
    return 1;
  }
  const isLive = isInMemory(value);
  const isFailed = isLive && recordState(store, value) === RECORD_FAILED;
  if (isFinished || isFailed) log?.identityForgotten(lo, hi);
  else log?.disowned(value);
  if (isFailed) forgetRecord(core, value);
  seenRemove(seen, lo, hi);
  bookSeen(core, -1);
  return isFailed ? 1 : 0;
}

/** Whether a word of the seen-set is the handle of a record that is done and comes again. */
export function isRestingValue(core: Core, value: number): boolean {
  if (!isInMemory(value)) return false;
  return recordState(core.store, value) === RECORD_RESTING;
}

/** One done identity is new again, counted as forgotten. */
export function forgetDone(core: Core, lo: number, hi: number): void {
  forgetIdentity(core, lo, hi);
  bookForgotten(core);
}

/**
 * One identity, whatever it is but leased, is new again, for a request that is put in its place. The caller has asked for the room of a
 * step.
 */
export function forgetForPut(
  core: Core,
  value: number,
  { lo, hi, nowMs }: { lo: number; hi: number; nowMs: number },
): void {
  const isFinished = isFinishedValue(value);
  forgetIdentity(core, lo, hi);
  if (!isFinished) replaceRecord(core, value, nowMs);
  else if (!finishedView(value).isRemoved) bookForgotten(core);
}

function forgetIdentity(core: Core, lo: number, hi: number): void {
  core.log?.identityForgotten(lo, hi);
  seenRemove(core.seen, lo, hi);
  bookSeen(core, -1);
}

/**
 * The same for the epoch without end, whose members are not noted: all is forgotten but what the other epochs hold.
 */
function forgetForever(core: Core): number {
  const { counters, epochs, log, seen } = core;
  if (log !== undefined && epochs.members > 0) {
    const expected = "a frontier in memory, or no other epoch beside it";
    throw misuse("UNSUPPORTED", "filter.epoch", FOREVER, expected);
  }
  settleSpilled(core);
  needNames(core, log === undefined ? 0 : liveOf(core));
  // An identity that was put, or forgotten and pushed again, is a member twice.
  const words = new Uint32Array(epochs.members * 3);
  const live = new Set<number>();
  let size = 0;
  for (let epoch = epochNext(epochs, 0); epoch !== 0; epoch = epochNext(epochs, epoch)) {
    epochEach(epochs, epoch, (lo, hi) => {
      const value = seenFind(seen, lo, hi);
      if (value === 0) return;
      words.set([lo, hi, value], size);
      size += 3;
      if (!isFinishedValue(value)) live.add(value);
    });
  }
  const before = counters.forgotten;
  log?.forgotten();
  forgetRecords(core, live);
  seenForget(seen);
  let kept = 0;
  let done = 0;
  for (let at = 0; at < size; at += 3) {
    const lo = words[at] as number;
    const hi = words[at + 1] as number;
    const value = words[at + 2] as number;
    if (seenFind(seen, lo, hi) !== 0) continue;
    seenSet(seen, lo, hi, value);
    kept++;
    if (isDoneValue(core, value)) done++;
  }
  endGeneration(core, done);
  setSeen(core, kept);
  return counters.forgotten - before;
}

/** Whether a value of the seen-set stands for a done record, finished or resting. */
function isDoneValue(core: Core, value: number): boolean {
  return isFinishedValue(value) ? !finishedView(value).isRemoved : isRestingValue(core, value);
}

/** A new generation of all epochs. */
export function forgetAll(core: Core): number {
  const { counters } = core;
  const before = counters.forgotten;
  settleSpilled(core);
  needNames(core, core.log === undefined ? 0 : liveOf(core));
  core.log?.forgotten();
  forgetRecords(core, undefined);
  endGeneration(core, 0);
  setSeen(core, 0);
  epochClear(core.epochs);
  seenForget(core.seen);
  return counters.forgotten - before;
}

/** Records that live. */
function liveOf({ counters }: Core): number {
  const { pending, waiting, leased, failed } = counters;
  return pending + waiting + leased + failed;
}

/**
 * Asks for room to name so many records, or keep so many identities, anew: an entry of a table each, at its emptiest. Throws MEMORY_FULL
 * with nothing changed.
 */
function needNames(core: Core, count: number): void {
  const isReady = core.log?.ready() ?? true;
  if (!isReady || !hasRoomFor(core, count * ENTRY_BYTES)) throw memoryFull();
}

/** Failed and resting records go, but for those to be kept. */
function forgetRecords(core: Core, kept: ReadonlySet<number> | undefined): void {
  const { handles, count } = listRecords(core, new Set(["failed", "done"]));
  for (let index = 0; index < count; index++) {
    const record = handles[index] as number;
    if (kept?.has(record)) continue;
    forgetRecord(core, record);
  }
}

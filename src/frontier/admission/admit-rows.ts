/**
 * Admission row by row: for requests that are more than a URL, and wherever a hook, a budget, a capacity or a
 * politeness unit of the user's own decides. Asks first, marks only what is admitted.
 */
import { hostCreate, hostOfName, hostUnmake } from "../../structures/hosts/host-table.ts";
import { isMemoryFull } from "../../base/errors.ts";
import { queueFree, queueOf } from "../../structures/hosts/host-queue.ts";
import {
  blobCreate,
  blobFree,
  RECORD_FLAG_HTTPS,
  RECORD_FLAG_NO_IDENTITY,
  RECORD_FLAG_START,
  RECORD_FLAG_VOLATILE,
  RECORD_FLAG_WHOLE,
  RECORD_FAILED,
  recordCreate,
  recordState,
  recordTextOffset,
  recordUnmake,
  setBlobPeriod,
  setRecordAttempt,
} from "../../structures/records/record.ts";
import { scratchCopy, scratchCopyAll } from "../../structures/records/kernel-scratch.ts";
import { seenFailed, seenFind, seenInsert, seenSet } from "../../structures/seen/seen-set.ts";
import { setWordAt, wordAt } from "../../structures/store.ts";
import {
  BATCH_OK,
  hashesOffset,
  hostHashesOffset,
  rowHost,
  rowIsHttps,
  rowStatus,
} from "../../url/batch/row-fields.ts";
import {
  type Admission,
  type BatchAdmission,
  parentOfRow,
  ruleOfRow,
  setRowText,
} from "./admission-input.ts";
import { awayHostOf, enterAway, guestOfRow } from "./add-to-host.ts";
import { type Candidate, decide, findUnit, type Unit } from "./decide.ts";
import { PERIOD_NEVER } from "../epochs/adaptive-period.ts";
import { FOREVER, isRecrawled, UNDATED_MS } from "../epochs/epoch-policy.ts";
import { joinEpoch, leaveEpoch, logJoined, type RowEpochs } from "../epochs/row-epochs.ts";
import { keepsPeriod, makeWay, periodBefore } from "../epochs/recrawl.ts";
import { type Core, effectivePriority, type RuleState } from "../core.ts";
import { isBudgeted, spendBudget } from "../politeness/politeness.ts";
import { hasRoom, hasSpare } from "../records/memory-reserve.ts";
import { sightIdentity } from "./sighting.ts";
import { placeOfValue, tryBehind } from "../scheduling/spill-control.ts";
import { isFinishedValue } from "../records/finished-word.ts";
import { admitRecord, keepRecord, requeueRecord, logAdmitted } from "../records/transitions.ts";
import {
  VERDICT_ACCEPTED,
  VERDICT_DEFERRED,
  VERDICT_FULL_DISK,
  VERDICT_FULL_MEMORY,
} from "./verdicts.ts";
import { bookSeen, bookVerdict } from "../records/ledger.ts";

/** What a plain URL holds beyond itself. */
function plainAdmission(depth: number): Admission {
  return {
    verdict: undefined,
    priority: undefined,
    depth,
    dueMs: UNDATED_MS,
    dedup: "check",
    isStart: false,
    maxAttempts: 0,
    blob: undefined,
    isVolatile: false,
    epoch: undefined,
    hostKey: undefined,
    volatileData: undefined,
  };
}

export function admitEach(core: Core, intake: BatchAdmission, epochs: RowEpochs): void {
  const { codes, codesStart, named, rows, rowRules } = intake;
  const plain = plainAdmission(intake.depth);
  for (let row = 0; row < intake.count; row++) {
    const isOk = rowStatus(rows, row) === BATCH_OK;
    const code = tryRow(core, intake, {
      rows,
      row,
      rule: isOk ? ruleOfRow(core, rowRules, row) : undefined,
      admission:
        named === undefined
          ? (intake.admissions?.[row] ?? plain)
          : {
              ...plain,
              epoch: named.epochs[codesStart + row],
              blob: named.blobs[codesStart + row],
            },
      epoch: epochs === undefined ? FOREVER : (epochs[row] as string | null),
      known: 0,
      isAgain: false,
      unit: undefined,
    });
    codes[codesStart + row] = code;
    bookVerdict(core, code);
  }
}

/** A row for which memory has no room, or of which the disk does not answer, has changed nothing: its verdict is `full`, and earlier rows keep theirs. */
function tryRow(core: Core, intake: BatchAdmission, candidate: Candidate): number {
  try {
    return admitRow(core, intake, candidate);
  } catch (error) {
    if (isMemoryFull(error)) return VERDICT_FULL_MEMORY;
    if (seenFailed(core.seen, error)) return VERDICT_FULL_DISK;
    throw error;
  }
}

function admitRow(core: Core, intake: BatchAdmission, candidate: Candidate): number {
  const { nowMs } = intake;
  const { depth } = candidate.admission; // the hook changes none
  const code = decide(core, candidate, intake, lookUp);
  const { admission, isAgain, known } = candidate;
  const isLive = known !== 0 && !isFinishedValue(known);
  if (isLive && !isAgain) {
    const { lo, hi } = hashOf(core, candidate);
    const identity = { value: known, lo, hi };
    if (!sightIdentity(core, identity, depth, nowMs)) return VERDICT_FULL_MEMORY;
    if (admission.dedup === "again" && !askAgain(core, known, nowMs)) return VERDICT_FULL_MEMORY;
  }
  if (code > VERDICT_DEFERRED) return code;
  const rule = candidate.rule as RuleState;
  const away = awayOf(core, candidate, rule, code);
  // Fields one by one: a spread takes longer than all of them.
  const { lo, hi } = hashOf(core, candidate);
  if (away !== 0) {
    const making = { intake, candidate, rule, host: 0, away, lo, hi };
    return makeRecord(core, making) ? code : VERDICT_FULL_MEMORY;
  }
  const unit = candidate.unit ?? findUnit(core, rule.policy, candidate);
  const { joined } = core.hosts;
  if (admission.hostKey !== undefined) core.hasOwnUnits = true;
  const host = unit.host || joinUnit(core, candidate, unit.name);
  if (host === 0) return VERDICT_FULL_MEMORY;
  const making = { intake, candidate, rule, host, away: 0, lo, hi };
  const isMade = makeRecord(core, making);
  if (!isMade) hostUnmake(core.hosts, host, joined);
  return isMade ? code : VERDICT_FULL_MEMORY;
}

/** The index value of the host on disk that can take this new, plain record unread; 0 if the host must be in memory. */
function awayOf(core: Core, candidate: Candidate, rule: RuleState, code: number): number {
  const { admission, known, row, rows, unit } = candidate;
  const { depth, hostKey, isVolatile, priority } = admission;
  if (core.hosts.spilled === 0 || code !== VERDICT_ACCEPTED || known !== 0) return 0;
  if (hostKey !== undefined || unit !== undefined || isVolatile) return 0;
  if (admission.dedup === "skip" || isBudgeted(rule.policy)) return 0;
  const place = effectivePriority(rule.policy, priority, depth);
  return awayHostOf(core, { rows, row, rule }, place);
}

/** What the seen-set holds; −1: memory has no room. Who may come again, or beside itself, is looked at in memory. */
function lookUp(core: Core, candidate: Candidate): number {
  const { admission, rule } = candidate;
  if (admission.dedup === "skip") return 0;
  const { lo, hi } = hashOf(core, candidate);
  const known = seenFind(core.seen, lo, hi);
  const { policy } = rule as RuleState;
  const isSettled = admission.dedup === "check" && !isRecrawled(policy.epoch);
  if (isSettled || placeOfValue(known) === undefined) return known;
  return tryBehind(core, known, lo, hi);
}

function hashOf({ store }: Core, { rows, row }: Candidate): { lo: number; hi: number } {
  const at = (hashesOffset(rows) >> 2) + row * 2;
  return { lo: wordAt(store, at), hi: wordAt(store, at + 1) };
}

/** A failed record of a seed that comes again has all attempts before it; false: there is no room for it. */
function askAgain(core: Core, record: number, nowMs: number): boolean {
  if (recordState(core.store, record) !== RECORD_FAILED) return true;
  if (!hasSpare(core)) return false;
  setRecordAttempt(core.store, record, 1);
  requeueRecord(core, record, nowMs);
  return true;
}

interface Making {
  intake: BatchAdmission;
  candidate: Candidate;
  rule: RuleState;
  /** In memory; 0: on disk, and `away` is what the index has of it. */
  host: number;
  away: number;
  lo: number;
  hi: number;
}

/** Makes the record of a candidate that was let in; false, with nothing changed: memory is exhausted. */
function makeRecord(core: Core, making: Making): boolean {
  const { away, candidate, host, intake, rule, lo, hi } = making;
  const { admission, isAgain, known, row, rows } = candidate;
  const { policy } = rule;
  const { draft, scratch, store } = core;
  // A live identity keeps its record; a second one beside it has none (dedup: 'record').
  const isOwner = admission.dedup !== "skip" && (isAgain || known === 0 || isFinishedValue(known));
  draft.flags = flagsOf(admission, isOwner) | (rowIsHttps(rows, row) ? RECORD_FLAG_HTTPS : 0);
  draft.priority = effectivePriority(policy, admission.priority, admission.depth);
  const { queuesMade } = core.hosts;
  draft.queue =
    away === 0 ? queueOf(core.hosts, host, rule.handle) : guestOfRow(core, { rows, row, rule });
  draft.lo = lo;
  draft.hi = hi;
  draft.depth = admission.depth;
  draft.parent = parentOfRow(core, intake, row);
  draft.blob = blobOf(core, candidate, rule);
  setRowText(core, policy, rows, row);
  const isReady = draft.queue !== 0 && draft.blob >= 0 && (isOwner || (core.log?.ready() ?? true));
  const record = isReady ? recordCreate(store, draft) : 0;
  if (record === 0 || !hasRoom(core) || (isOwner && !claim(core, making, record))) {
    if (record !== 0) recordUnmake(store, record);
    if (core.hosts.queuesMade > queuesMade) queueFree(store, draft.queue);
    if (draft.blob > 0) blobFree(store, draft.blob);
    return false;
  }
  scratchCopy(scratch, recordTextOffset(store, record), draft.textOffset, draft.textLength);
  scratchCopyAll(scratch);
  if (away !== 0) return seenSet(core.seen, lo, hi, enterAway(core, away, record, known));
  if (admission.isVolatile) core.volatileData.set(record, admission.volatileData);
  keepRecord(core, record, host);
  if (isBudgeted(policy)) spendBudget(core, host);
  admitRecord(core, record, admission.dueMs, intake.nowMs);
  logAdmitted(core, record, isOwner ? known : 0);
  return true;
}

function flagsOf(admission: Admission, isOwner: boolean): number {
  let flags = isOwner ? 0 : RECORD_FLAG_NO_IDENTITY;
  if (admission.isStart) flags |= RECORD_FLAG_START;
  if (admission.hostKey !== undefined) flags |= RECORD_FLAG_WHOLE;
  if (admission.isVolatile) flags |= RECORD_FLAG_VOLATILE;
  return flags;
}

/** Handle of the blob, 0 when there is nothing to keep, −1 when memory is exhausted. */
function blobOf(core: Core, { admission, known, isAgain }: Candidate, rule: RuleState): number {
  const { blob: bytes, maxAttempts } = admission;
  const isNever = admission.epoch !== undefined;
  const isKept = keepsPeriod(rule.policy);
  if (bytes === undefined && maxAttempts === 0 && !isNever && !isKept) return 0;
  if (isNever) return namedBlob(core, bytes ?? new Uint8Array(0), maxAttempts);
  const blob = blobCreate(core.store, bytes ?? new Uint8Array(0), maxAttempts);
  if (blob !== 0 && isKept && isAgain) setBlobPeriod(core.store, blob, periodBefore(core, known));
  return blob || -1;
}

/** The blob of a request that names its epoch: it never comes again by itself. −1: memory is exhausted. */
export function namedBlob({ store }: Core, bytes: Uint8Array, maxAttempts: number): number {
  const blob = blobCreate(store, bytes, maxAttempts);
  if (blob !== 0) setBlobPeriod(store, blob, PERIOD_NEVER);
  return blob || -1;
}

/** Marks the identity as this record's; false, with nothing changed: memory is exhausted. The room of the step has been asked for. */
function claim(core: Core, making: Making, record: number): boolean {
  const { candidate, lo, hi, intake } = making;
  const { epoch, isAgain, known } = candidate;
  if (known === 0) {
    const joined = joinEpoch(core, epoch, lo, hi);
    if (joined === undefined) return false;
    const slot = seenInsert(core.seen, lo, hi);
    if (slot === 0) {
      leaveEpoch(core, joined, lo, hi);
      return false;
    }
    logJoined(core, joined, lo, hi);
    setWordAt(core.store, slot >>> 2, record); // the slot was claimed for it
    bookSeen(core, 1);
    return true;
  }
  if (isAgain && !isFinishedValue(known)) makeWay(core, known, intake.nowMs);
  seenSet(core.seen, lo, hi, record);
  return true;
}

/** Makes a unit that is not known yet; 0 when memory is exhausted. */
function joinUnit(core: Core, { rows, row }: Candidate, name: Unit["name"]): number {
  if (name !== undefined) return hostOfName(core.hosts, name);
  const hash = (hostHashesOffset(rows) >> 2) + row * 2;
  const lo = wordAt(core.store, hash);
  return hostCreate(core.hosts, rowHost(rows, row), lo, wordAt(core.store, hash + 1));
}

/**
 * Admission row by row: for requests that are more than a URL, and wherever a hook, a budget, a capacity or a
 * politeness unit of the user's own decides. Asks first, marks only what is admitted.
 */
import {
  hostCreate,
  hostFind,
  hostNamed,
  hostOfName,
  hostUnmake,
} from "../../structures/hosts/host-table.ts";
import { isMemoryFull } from "../../base/errors.ts";
import { queueFree, queueOf } from "../../structures/hosts/host-queue.ts";
import {
  blobCreate,
  blobFree,
  RECORD_FLAG_HTTPS,
  RECORD_FLAG_NO_IDENTITY,
  RECORD_FLAG_START,
  RECORD_FLAG_VOLATILE,
  RECORD_FAILED,
  RECORD_RESTING,
  recordCreate,
  recordState,
  recordTextOffset,
  recordUnmake,
  setBlobPeriod,
  setRecordAttempt,
} from "../../structures/records/record.ts";
import { scratchCopy, scratchCopyAll } from "../../structures/records/kernel-scratch.ts";
import { seenFind, seenInsert, seenSet } from "../../structures/seen/seen-set.ts";
import { wordAt } from "../../structures/store.ts";
import { findDomain, rowDomain } from "../../url/matching/row-domain.ts";
import {
  BATCH_OK,
  hashesOffset,
  hostHashesOffset,
  type Rows,
  rowHost,
  rowHostText,
  rowIsHttps,
  rowStatus,
} from "../../url/batch/row-fields.ts";
import {
  type Admission,
  hasReserve,
  type BatchAdmission,
  parentOfRow,
  refusalOf,
  rowLeaseText,
  ruleOfRow,
  setRowText,
} from "./admission-input.ts";
import { PERIOD_NEVER } from "../epochs/adaptive-period.ts";
import { FOREVER, isRecrawled, UNDATED_MS } from "../epochs/epoch-policy.ts";
import { joinEpoch, leaveEpoch, type RowEpochs, sayJoined } from "../epochs/row-epochs.ts";
import { keepsPeriod, makeWay, mayComeAgain, periodBefore } from "../epochs/recrawl.ts";
import { type Core, effectivePriority, type RuleState } from "../core.ts";
import type { FrontierPolicy } from "../rules/rule-policy.ts";
import { hasBudget, isBudgeted, spendBudget } from "../politeness/politeness.ts";
import { hasRoom, hasSpare } from "../records/memory-reserve.ts";
import { sightIdentity } from "./sighting.ts";
import { isDiskFull, placeOfValue, tryBehind } from "../scheduling/spill-control.ts";
import { isFinishedValue } from "../records/finished-word.ts";
import { admitRecord, keepRecord, requeueRecord, logAdmitted } from "../records/transitions.ts";
import { unitOf } from "../politeness/politeness-unit.ts";
import {
  VERDICT_ACCEPTED,
  VERDICT_BUDGET,
  VERDICT_DEFERRED,
  VERDICT_DUPLICATE,
  VERDICT_FULL,
  VERDICT_FULL_DISK,
  VERDICT_FULL_MEMORY,
  VERDICT_HOOK,
  VERDICT_TOO_DEEP,
} from "./verdicts.ts";
import { bookSeen } from "../records/ledger.ts";

/** What a plain URL says beyond itself. */
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
    volatileData: undefined,
  };
}

export function admitEach(core: Core, intake: BatchAdmission, epochs: RowEpochs): void {
  const plain = plainAdmission(intake.depth);
  for (let row = 0; row < intake.count; row++) {
    const admission = intake.admissions?.[row] ?? plain;
    const epoch = epochs === undefined ? FOREVER : (epochs[row] as string | null);
    intake.codes[intake.codesStart + row] = tryRow(core, { intake, row, admission, epoch });
  }
}

/** A row that throws MEMORY_FULL has changed nothing: its verdict says it, and those before it stand. */
function tryRow(core: Core, row: Row): number {
  try {
    return admitRow(core, row);
  } catch (error) {
    if (isMemoryFull(error)) return VERDICT_FULL_MEMORY;
    throw error;
  }
}

interface Row {
  intake: BatchAdmission;
  row: number;
  admission: Admission;
  /** Name of its epoch; null: the user's function gave none. */
  epoch: string | null;
}

function admitRow(core: Core, { intake, row, admission, epoch }: Row): number {
  const { rows, nowMs } = intake;
  if (admission.verdict !== undefined) return admission.verdict;
  const status = rowStatus(rows, row);
  if (status !== BATCH_OK) return refusalOf(status);
  const rule = ruleOfRow(core, intake.rowRules, row);
  const { policy } = rule;
  if (admission.depth > policy.maxDepth) return VERDICT_TOO_DEEP;
  if (epoch === null) return VERDICT_HOOK;
  const hash = (hashesOffset(rows) >> 2) + row * 2;
  const lo = wordAt(core.store, hash);
  const hi = wordAt(core.store, hash + 1);
  let known = admission.dedup === "skip" ? 0 : seenFind(core.seen, lo, hi);
  // Who may come again, or beside itself, is looked at in memory.
  if (
    placeOfValue(known) !== undefined &&
    (isRecrawled(policy.epoch) || admission.dedup !== "check")
  ) {
    known = tryBehind(core, known, lo, hi);
    if (known < 0) return VERDICT_FULL_MEMORY;
  }
  const isAgain = known !== 0 && mayReplace(core, { known, admission, epoch, policy }, nowMs);
  if (known !== 0 && !isAgain) {
    const isLive = !isFinishedValue(known);
    if (isLive && !sightIdentity(core, { value: known, lo, hi }, admission.depth, nowMs)) {
      return VERDICT_FULL_MEMORY;
    }
    if (admission.dedup === "check") return VERDICT_DUPLICATE;
    if (admission.dedup === "again" && !isFinishedValue(known)) {
      return askAgain(core, known, nowMs) ? VERDICT_DUPLICATE : VERDICT_FULL_MEMORY;
    }
  }
  const asked = intake.hook === undefined ? admission : intake.hook(row);
  if (asked === undefined) return VERDICT_HOOK;
  const unit = unitOfRow(core, policy, rows, row);
  if (isBudgeted(policy) && !hasBudget(core, policy, unit.host)) return VERDICT_BUDGET;
  if (intake.isOutside && isAtCapacity(core)) return VERDICT_FULL;
  if (intake.isOutside && isDiskFull(core)) return VERDICT_FULL_DISK;
  if (!hasReserve(core)) return VERDICT_FULL_MEMORY;
  const { joined } = core.hosts;
  const host = unit.host || joinUnit(core, rows, row, unit.name);
  if (host === 0) return VERDICT_FULL_MEMORY;
  const identity = { lo, hi, known, isAgain, epoch };
  const code = makeRecord(core, { intake, row, rule, admission: asked, host, ...identity });
  if (code === VERDICT_FULL_MEMORY) hostUnmake(core.hosts, host, joined);
  return code;
}

/** Whether the row stands in for what is known of its identity: its rule crawls again, and its time has come. */
function mayReplace(
  core: Core,
  sighting: { known: number; admission: Admission; epoch: string; policy: FrontierPolicy },
  nowMs: number,
): boolean {
  const { known, admission, epoch, policy } = sighting;
  if (!isFinishedValue(known) && recordState(core.store, known) === RECORD_RESTING) {
    // One that is never refused comes at any time, and so do seeds.
    if (admission.dedup === "record" || admission.dedup === "again") return true;
  }
  if (!isRecrawled(policy.epoch) || epoch !== FOREVER || admission.epoch !== undefined)
    return false;
  return admission.dedup === "check" && mayComeAgain(core, known, nowMs);
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
  row: number;
  rule: RuleState;
  admission: Admission;
  host: number;
  lo: number;
  hi: number;
  /** What the seen-set held before. */
  known: number;
  /** It stands in for what is known. */
  isAgain: boolean;
  epoch: string;
}

function makeRecord(core: Core, making: Making): number {
  const { admission, host, intake, row, rule, lo, hi } = making;
  const { policy } = rule;
  const { draft, scratch, store } = core;
  // A live identity keeps its record; a second one beside it has none (dedup: 'record').
  const isOwner =
    admission.dedup !== "skip" &&
    (making.isAgain || making.known === 0 || isFinishedValue(making.known));
  draft.flags =
    flagsOf(admission, isOwner) | (rowIsHttps(intake.rows, row) ? RECORD_FLAG_HTTPS : 0);
  draft.priority = effectivePriority(policy, admission.priority, admission.depth);
  const { queuesMade } = core.hosts;
  draft.queue = queueOf(core.hosts, host, rule.handle);
  draft.lo = lo;
  draft.hi = hi;
  draft.depth = admission.depth;
  draft.parent = parentOfRow(core, intake, row);
  draft.blob = blobOf(core, making);
  setRowText(core, policy, intake.rows, row);
  const isReady = draft.queue !== 0 && draft.blob >= 0 && (isOwner || (core.log?.ready() ?? true));
  const record = isReady ? recordCreate(store, draft) : 0;
  if (record === 0 || !hasRoom(core) || (isOwner && !claim(core, making, record))) {
    if (record !== 0) recordUnmake(store, record);
    if (core.hosts.queuesMade > queuesMade) queueFree(store, draft.queue);
    if (draft.blob > 0) blobFree(store, draft.blob);
    return VERDICT_FULL_MEMORY;
  }
  scratchCopy(scratch, recordTextOffset(store, record), draft.textOffset, draft.textLength);
  scratchCopyAll(scratch);
  if (admission.isVolatile) core.volatileData.set(record, admission.volatileData);
  keepRecord(core, record, host);
  if (isBudgeted(policy)) spendBudget(core, host);
  admitRecord(core, record, admission.dueMs, intake.nowMs);
  logAdmitted(core, record);
  return admission.dueMs > intake.nowMs ? VERDICT_DEFERRED : VERDICT_ACCEPTED;
}

function flagsOf(admission: Admission, isOwner: boolean): number {
  let flags = isOwner ? 0 : RECORD_FLAG_NO_IDENTITY;
  if (admission.isStart) flags |= RECORD_FLAG_START;
  if (admission.isVolatile) flags |= RECORD_FLAG_VOLATILE;
  return flags;
}

/** Handle of the blob, 0 when there is nothing to keep, −1 when memory is exhausted. */
function blobOf(core: Core, { admission, rule, known, isAgain }: Making): number {
  const { blob: bytes, maxAttempts } = admission;
  const isNever = admission.epoch !== undefined;
  const isKept = keepsPeriod(rule.policy);
  if (bytes === undefined && maxAttempts === 0 && !isNever && !isKept) return 0;
  const blob = blobCreate(core.store, bytes ?? new Uint8Array(0), maxAttempts);
  if (blob !== 0 && isNever) setBlobPeriod(core.store, blob, PERIOD_NEVER);
  else if (blob !== 0 && isKept && isAgain)
    setBlobPeriod(core.store, blob, periodBefore(core, known));
  return blob || -1;
}

/** Marks the identity as this record's; false, with nothing changed: memory is exhausted. The room of the step has been asked for. */
function claim(core: Core, making: Making, record: number): boolean {
  const { lo, hi, known, isAgain, epoch, intake } = making;
  if (known === 0) {
    if (!joinEpoch(core, epoch, lo, hi)) return false;
    if (!seenInsert(core.seen, lo, hi)) {
      leaveEpoch(core, epoch);
      return false;
    }
    sayJoined(core, epoch, lo, hi);
  }
  if (isAgain && !isFinishedValue(known)) makeWay(core, known, intake.nowMs);
  seenSet(core.seen, lo, hi, record);
  if (known === 0) bookSeen(core, 1);
  return true;
}

function isAtCapacity(core: Core): boolean {
  return core.counters.pending + core.counters.waiting >= core.limits.capacity;
}

/** The politeness unit of a row: its host where that is known, and its name where it is not the URL's host. */
interface Unit {
  readonly host: number;
  readonly name: string | Uint8Array | undefined;
}

function unitOfRow(core: Core, policy: FrontierPolicy, rows: Rows, row: number): Unit {
  if (policy.by === "domain") {
    findDomain(core.domains, rows, row);
    const name = rowDomain(rows, row);
    return { host: hostNamed(core.hosts, name), name };
  }
  if (policy.by !== "host") {
    const name = unitOf(core, policy, rowLeaseText(policy, rows, row), rowHostText(rows, row));
    return { host: hostNamed(core.hosts, name), name };
  }
  const hash = (hostHashesOffset(rows) >> 2) + row * 2;
  const host = hostFind(core.hosts, wordAt(core.store, hash), wordAt(core.store, hash + 1));
  return { host, name: undefined };
}

/** Makes a unit that is not known yet; 0 when memory is exhausted. */
function joinUnit(core: Core, rows: Rows, row: number, name: Unit["name"]): number {
  if (name !== undefined) return hostOfName(core.hosts, name);
  const hash = (hostHashesOffset(rows) >> 2) + row * 2;
  const lo = wordAt(core.store, hash);
  return hostCreate(core.hosts, rowHost(rows, row), lo, wordAt(core.store, hash + 1));
}

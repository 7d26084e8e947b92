/**
 * Room `src/engine/intake`: requests in: fields checked, batched, hooked, admitted, counted as verdicts; rule seeds too.
 * Verdicts are decided in frontier/admission.
 */

/**
 * Intake of requests: requests in, verdict codes out, in slices of one URL batch.
 *
 *   requests ─▶ load ─▶ parse ─▶ key ─▶ hash ─▶ (own identities) ─▶ admitRows ─▶ codes
 *
 * A slice has one mode (frontier/admission/admission-mode.ts); where that wants more than URLs, each row has an Admission.
 */
import type { PlainRequest } from "../../base/request-types.ts";
import {
  type Admission,
  type BatchAdmission,
  matchRules,
  ruleOfRow,
} from "../../frontier/admission/admission-input.ts";
import {
  MODE_ADMISSIONS,
  MODE_EPOCHS,
  MODE_HOOK,
  MODE_KEYS,
  MODE_REFUSED,
  MODE_REQUESTS,
  MODE_ROWS,
  tightness,
} from "../../frontier/admission/admission-mode.ts";
import { admitRows, openAdmission } from "../../frontier/admission/admit-batch.ts";
import { finishedView, isFinishedValue } from "../../frontier/records/finished-word.ts";
import { seenCount, seenFind, seenTable } from "../../structures/seen/seen-set.ts";
import type { RuleState } from "../../frontier/core.ts";
import {
  VERDICT_DUPLICATE,
  VERDICT_FULL_MEMORY,
  VERDICT_MAX_FOUND,
  verdictOf,
  VERDICT_FULL_DISK,
} from "../../frontier/admission/verdicts.ts";
import { filterInsert, type SeenFilter } from "../../structures/threads/seen-filter.ts";
import { type MarkedJob, markedJob } from "../../structures/records/record-batch.ts";
import { wordAt } from "../../structures/store.ts";
import {
  batchAdmit,
  batchForget,
  batchLoad,
  batchParse,
  type BatchTarget,
  NO_TARGET,
} from "../../url/batch/url-batch.ts";
import type { ParsedBatch } from "../../url/batch/batch-memory.ts";
import { batchSettle } from "../../url/batch/key-and-hash.ts";
import { isExempt } from "../../url/keys/identity-bytes.ts";
import type { NormalPolicy } from "../../url/keys/key-policy.ts";
import { BATCH_OK, hashesOffset, rowIsRewritten, rowStatus } from "../../url/batch/row-fields.ts";
import { isMemoryFull } from "../../base/errors.ts";
import { type IntakeContext, modeOf, type PushContext } from "./intake-context.ts";
import { acceptRow, admissionOfRow } from "./row-admission.ts";
import type { RequestInput } from "../types/frontier-types.ts";
import { bookPushed, bookVerdict } from "../../frontier/records/ledger.ts";

/** Sets the verdict code of every checked request. */
export function pushList(
  intake: IntakeContext,
  list: readonly PlainRequest[],
  context: PushContext,
  most = list.length,
): Uint8Array {
  const codes = new Uint8Array(list.length);
  const taken = most < list.length ? list.slice(0, most) : list;
  intake.isBusy = true;
  try {
    for (let start = 0; start < taken.length; ) {
      start += pushSlice(intake, taken, { start, context, codes });
    }
  } finally {
    batchForget(intake.batch);
    intake.isBusy = false;
  }
  if (taken.length < list.length) {
    codes.fill(VERDICT_MAX_FOUND, taken.length);
    refuse(intake, VERDICT_MAX_FOUND, list.length - taken.length, list.slice(taken.length));
  }
  return codes;
}

interface Slice {
  readonly start: number;
  readonly context: PushContext;
  readonly codes: Uint8Array;
}

/** One batch from `start`; returns how many requests it took. */
function pushSlice(intake: IntakeContext, list: readonly PlainRequest[], slice: Slice): number {
  const { batch, core, events } = intake;
  const { start, context, codes } = slice;
  const end = Math.min(list.length, start + batch.area.capacity);
  const mode = modeOfSlice(intake, list, slice, end);
  const isEach = (mode & MODE_ADMISSIONS) !== 0;
  const inputs = isEach ? inputsOf(list, start, end, context) : undefined;
  const urls = inputs === undefined ? (list as readonly string[]) : inputs.map(({ url }) => url);
  const from = inputs === undefined ? start : 0;
  const count = batchLoad(batch, urls, from);
  if (!tryAdmit(intake, { start, context, codes, mode, inputs })) {
    codes.fill(VERDICT_FULL_MEMORY, start, start + count);
    refuse(intake, VERDICT_FULL_MEMORY, count, list.slice(start, start + count));
    return count;
  }
  // From outside each slice is an entry of its own; children belong to their page's.
  if (context.isOutside) core.log?.end();
  if ((events.mode & MODE_REFUSED) !== 0) {
    const depthOf = (row: number): number => context.depth ?? inputs?.[row]?.depth ?? 0;
    reportRefused(intake, urls, { start, count, codes, from, depthOf });
  }
  return count;
}

/** Links of several pages of one depth, whose parents the scratch names; their rows are loaded. */
interface Loaded {
  readonly nowMs: number;
  readonly depth: number;
  /** That of one of the pages. */
  readonly parent: number;
  /** Room for a code per row. */
  readonly codes: Uint8Array;
}

/** Admits the loaded rows, where the mode has nothing of MODE_SHOWN: what pushSlice does of plain strings. */
export function pushLoaded(intake: IntakeContext, { codes, nowMs, depth, parent }: Loaded): void {
  const { core, batch } = intake;
  const context = { nowMs, depth, parent, isOutside: false, hasParents: true };
  if (tryAdmit(intake, { start: 0, context, codes, mode: modeOf(intake), inputs: undefined }))
    return;
  codes.fill(VERDICT_FULL_MEMORY, 0, batch.count);
  bookPushed(core, batch.count);
  bookVerdict(core, VERDICT_FULL_MEMORY, batch.count);
}

interface Admitting extends Slice {
  /** What rules, hooks, listeners and requests ask. */
  readonly mode: number;
  /** One for each row, where the mode wants admissions. */
  readonly inputs: readonly RequestInput[] | undefined;
}

/** Decides about the loaded rows; false, with nothing changed: memory has no room for their keys. */
function tryAdmit(intake: IntakeContext, admitting: Admitting): boolean {
  const { batch, core, rows } = intake;
  const { codes, context, start } = admitting;
  const { hasParents = false, isOutside, nowMs, parent, depth = 0 } = context;
  const { count } = batch;
  let mode = admitting.mode | tightness(core, { count, depth, isOutside });
  let { inputs } = admitting;
  let rowRules: number;
  let marked: MarkedJob | undefined;
  let admissions: Admission[] | undefined;
  try {
    const parsed = core.plain === undefined ? batchParse(batch) : undefined;
    const depthOfAll = inputs === undefined ? depth : 0;
    rowRules = parsed === undefined ? 0 : matchRules(core, rows, count, depthOfAll);
    marked = settleLoaded(intake, context, { parsed, rowRules, mode });
    if (context.named !== undefined && inputs === undefined && !isMarkable(intake, mode)) {
      mode |= MODE_REQUESTS;
      inputs = inputsOf(batch.urls, start, start + count, context);
    }
    admissions = inputs?.slice(0, count).map((input, row) => {
      const packed = context.named?.blobs[start + row];
      return admissionOfRow(intake, input, { row, context, rowRules, packed });
    });
  } catch (error) {
    if (isMemoryFull(error)) return false; // for keys that JavaScript makes: nothing is marked then
    throw error;
  }
  const isHooked = (mode & MODE_HOOK) !== 0;
  // One literal: a push of one URL would spend most of its time on spreads.
  const admission: BatchAdmission = {
    rows,
    count,
    mode,
    nowMs,
    isOutside,
    depth,
    parent,
    hasParents,
    admissions,
    named: inputs === undefined ? context.named : undefined,
    rowRules,
    hook: isHooked
      ? (row) => acceptRow(intake, { row, context, rowRules }, admissions?.[row])
      : undefined,
    codes,
    codesStart: start,
  };
  admitRows(core, admission, marked);
  if (intake.filter !== undefined && inputs === undefined && context.named === undefined) {
    addToSeenFilter(intake, admitting, count);
  }
  return true;
}

interface Settling {
  /** The loaded rows, where they were parsed and matched to rules; undefined: one rule takes them all. */
  readonly parsed: ParsedBatch | undefined;
  readonly rowRules: number;
  readonly mode: number;
}

/**
 * Keys and hashes the rows, and marks those that nothing but the seen-set decides about: their job, or undefined with nothing marked. Throws
 * MEMORY_FULL with nothing changed: there is no room for their keys.
 */
function settleLoaded(
  intake: IntakeContext,
  context: PushContext,
  settling: Settling,
): MarkedJob | undefined {
  const { core, rows } = intake;
  const { mode, rowRules } = settling;
  // No host may have to come back from disk first.
  const isKernels = (mode & (MODE_ROWS | MODE_EPOCHS)) === 0 && core.hosts.spilled === 0;
  const table = isKernels ? seenTable(core.seen) : 0;
  if (table === 0) {
    settle(intake, settling, NO_TARGET);
    return undefined;
  }
  const job = openAdmission(core, rows, rowRules, context);
  const fresh = settle(intake, settling, { table, job });
  if (fresh > 0) seenCount(core.seen, fresh);
  return markedJob(job, fresh);
}

/** Adds to the workers' filter which identities are seen, and how deep at most. */
function addToSeenFilter(intake: IntakeContext, slice: Slice, count: number): void {
  const { rows, core } = intake;
  const filter = intake.filter as SeenFilter;
  const { start, codes, context } = slice;
  const { depth = 0 } = context;
  const { u32 } = core.store.region.views;
  const hashes = hashesOffset(rows) >>> 2;
  for (let row = 0; row < count; row++) {
    if ((codes[start + row] as number) > VERDICT_DUPLICATE) continue;
    const hash = hashes + row * 2;
    filterInsert(filter, u32[hash] as number, u32[hash + 1] as number, depth);
  }
}

/** Keys and hashes the rows under the policies of their rules; how many the kernel found new, or NOT_INSERTED. */
function settle(
  intake: IntakeContext,
  { parsed, rowRules }: Settling,
  target: BatchTarget,
): number {
  const { batch, core } = intake;
  if (parsed === undefined) return batchAdmit(batch, (core.plain as RuleState).key, target);
  const policyOf = (row: number): NormalPolicy => ruleOfRow(core, rowRules, row).key;
  if (core.soleKey !== undefined) return batchSettle(parsed, core.soleKey, policyOf, target);
  let sole: NormalPolicy | undefined;
  for (let row = 0; row < batch.count; row++) {
    if (rowStatus(intake.rows, row) !== BATCH_OK) continue;
    const policy = policyOf(row);
    if (sole !== undefined && policy !== sole)
      return batchSettle(parsed, undefined, policyOf, NO_TARGET);
    sole = policy;
  }
  return batchSettle(parsed, sole ?? intake.key, policyOf, target);
}

/** What a slice up to `end` asks of its rows. */
function modeOfSlice(
  intake: IntakeContext,
  list: readonly PlainRequest[],
  { context, start }: Slice,
  end: number,
): number {
  const mode = modeOf(intake);
  if (context.named === undefined) return mode | modeOfRequests(list, start, end, context);
  const { soleKey } = intake.core;
  const isSame = soleKey !== undefined && isPushedKey(soleKey);
  return isSame && (mode & MODE_ROWS & ~MODE_KEYS) === 0
    ? (mode & ~MODE_KEYS) | MODE_EPOCHS
    : mode | MODE_REQUESTS;
}

/** Whether the kernel makes the key of a URL, and a lease's URL has the same one where the batch has not rewritten it. */
function isPushedKey(key: NormalPolicy): boolean {
  return key.keyOf === undefined && key.visit === "pushed" && !isExempt(undefined, key);
}

/** Whether rows with names, whose keys are made, can be marked in bulk. */
function isMarkable({ batch, core, rows }: IntakeContext, mode: number): boolean {
  if ((mode & MODE_ROWS) !== 0) return false;
  if (core.soleKey?.profile === "canonical") return true;
  for (let row = 0; row < batch.count; row++) {
    if (rowStatus(rows, row) === BATCH_OK && rowIsRewritten(rows, row)) return false;
  }
  return true;
}

/** MODE_REQUESTS where some request from `start` on is more than a string. */
function modeOfRequests(
  list: readonly PlainRequest[],
  start: number,
  end: number,
  { redirects }: PushContext,
): number {
  if (redirects !== undefined) return MODE_REQUESTS;
  for (let index = start; index < end; index++) {
    if (typeof list[index] !== "string") return MODE_REQUESTS;
  }
  return 0;
}

function inputsOf(
  list: readonly PlainRequest[],
  start: number,
  end: number,
  { named }: PushContext,
): RequestInput[] {
  return list.slice(start, end).map((one, at) => {
    if (typeof one !== "string") return one;
    return named === undefined ? { url: one } : { url: one, epoch: named.epochs[start + at] };
  });
}

interface RefusalContext {
  start: number;
  count: number;
  codes: Uint8Array;
  /** Index of the first row's URL. */
  from: number;
  depthOf(row: number): number;
}

function reportRefused(
  intake: IntakeContext,
  urls: readonly string[],
  refused: RefusalContext,
): void {
  const { events } = intake;
  for (let row = 0; row < refused.count; row++) {
    const code = refused.codes[refused.start + row] as number;
    const url = urls[refused.from + row] as string;
    if (code === VERDICT_DUPLICATE) reportDuplicate(intake, url, row, refused.depthOf(row));
    else {
      const { admitted, status, reason } = verdictOf(code);
      if (!admitted) events.rejected(url, reason ?? status);
    }
  }
}

/** A page that is done keeps its depth: a shorter way to it is reported, since no visit follows it. */
function reportDuplicate(
  { core, events, rows }: IntakeContext,
  url: string,
  row: number,
  depth: number,
): void {
  if (!events.wants.duplicate) return;
  const hash = (hashesOffset(rows) >> 2) + row * 2;
  const value = seenFind(core.seen, wordAt(core.store, hash), wordAt(core.store, hash + 1));
  const known = isFinishedValue(value) ? finishedView(value).depth : depth;
  events.duplicate(depth < known ? { url, depth, finishedDepth: known } : { url });
}

/** About how many bytes the journal will hold of these, should all be admitted: a bound for plain text. */
export function journalBytesBound(list: readonly PlainRequest[]): number {
  let bytes = 0;
  for (const one of list) bytes += 3 * (typeof one === "string" ? one : one.url).length + 256;
  return bytes;
}

/** Refuses every request, since the disk is full. */
export function refuseForDisk(intake: IntakeContext, list: readonly PlainRequest[]): Uint8Array {
  refuse(intake, VERDICT_FULL_DISK, list.length, list);
  return new Uint8Array(list.length).fill(VERDICT_FULL_DISK);
}

/** Counts requests that no batch has seen, and reports those that have a URL. */
export function refuse(
  intake: IntakeContext,
  code: number,
  count: number,
  list: readonly PlainRequest[] = [],
): void {
  if (count === 0) return;
  const reason = verdictOf(code).reason as string;
  bookPushed(intake.core, count);
  bookVerdict(intake.core, code, count);
  if (!intake.events.wants.rejected) return;
  for (const one of list) intake.events.rejected(typeof one === "string" ? one : one.url, reason);
}

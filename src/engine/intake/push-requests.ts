/**
 * Room `src/engine/intake`: requests in: fields checked, batched, hooked, admitted, counted as verdicts; rule seeds too.
 * Verdicts are decided in frontier/admission.
 */

/**
 * Intake of requests: requests in, verdict codes out, in slices of one URL batch.
 *
 *   requests ─▶ load ─▶ parse ─▶ key ─▶ hash ─▶ (own identities) ─▶ admitRows ─▶ codes
 *
 * A slice of plain strings goes through as it is; a slice that holds a RequestInput, or meets a policy that looks at
 * more than URLs, carries an Admission per row.
 */
import { type Admission, ruleOfRow } from "../../frontier/admission/admission-input.ts";
import { admitRows, isPlain } from "../../frontier/admission/admit-batch.ts";
import { finishedView, isFinishedValue } from "../../frontier/records/finished-word.ts";
import { seenCount, seenFind, seenTable } from "../../structures/seen/seen-set.ts";
import type { RuleState } from "../../frontier/core.ts";
import { matchRows } from "../../frontier/rules/match-rows.ts";
import {
  VERDICT_DUPLICATE,
  VERDICT_FULL_MEMORY,
  VERDICT_HOOK,
  VERDICT_MAX_FOUND,
  verdictOf,
} from "../../frontier/admission/verdicts.ts";
import { filterInsert, type SeenFilter } from "../../structures/threads/seen-filter.ts";
import { hashBytes, wordAt } from "../../structures/store.ts";
import {
  batchAdmit,
  batchForget,
  batchLoad,
  batchParse,
  NOT_INSERTED,
} from "../../url/batch/url-batch.ts";
import { batchSettle } from "../../url/batch/key-and-hash.ts";
import { identityBytes, isKeyOnly, keyOverride } from "../../url/keys/identity-bytes.ts";
import type { NormalPolicy } from "../../url/keys/key-policy.ts";
import {
  BATCH_OK,
  hashesOffset,
  type Rows,
  rowIsRewritten,
  rowKeyText,
  rowStatus,
} from "../../url/batch/row-fields.ts";
import { isHookFault, isMemoryFull } from "../../base/errors.ts";
import { callAcceptHook } from "./accept-hook.ts";
import { addExtras } from "./request-extras.ts";
import { admissionOf } from "./split-request.ts";
import type { IntakeContext } from "./intake-context.ts";
import type { RequestInput, PlainRequest } from "../types/frontier-types.ts";
import { asksDigests, isInDigests } from "./scrapy-digests.ts";
import { bookPushed, bookVerdict } from "../../frontier/records/ledger.ts";

interface PushContext {
  readonly nowMs: number;
  readonly isOutside: boolean;
  /** Seeds that come again: what is over starts anew, what is on its way is a duplicate. */
  readonly isAgain?: boolean;
  /** Depth that the engine sets; undefined: the request's own. */
  readonly depth: number | undefined;
  /** Handle of the parent's fingerprint, or 0. */
  readonly parent: number;
  /** Redirects behind each of them; undefined: none. */
  readonly redirects?: number;
}

/** Gives every checked request its verdict code. */
export function pushList(
  intake: IntakeContext,
  list: readonly PlainRequest[],
  context: PushContext,
  most = list.length,
): Uint8Array {
  const codes = new Uint8Array(list.length);
  const end = Math.min(most, list.length);
  intake.isBusy = true;
  try {
    for (let start = 0; start < end; ) {
      start += pushSlice(intake, list, { start, end, context, codes });
    }
  } finally {
    batchForget(intake.batch);
    intake.isBusy = false;
  }
  if (end < list.length) {
    codes.fill(VERDICT_MAX_FOUND, end);
    refuse(intake, VERDICT_MAX_FOUND, list.length - end, list.slice(end));
  }
  return codes;
}

interface Slice {
  start: number;
  end: number;
  context: PushContext;
  codes: Uint8Array;
}

/** One batch from `start`; returns how many requests it took. */
function pushSlice(intake: IntakeContext, list: readonly PlainRequest[], slice: Slice): number {
  const { batch, core, rows } = intake;
  const { start, context, codes } = slice;
  const end = Math.min(slice.end, start + batch.area.capacity);
  const isBare = !core.isSpecial && !intake.visited && context.redirects === undefined;
  const isPlain = isBare && areStrings(list, start, end);
  const inputs = isPlain ? undefined : inputsOf(list, start, end);
  const urls = inputs === undefined ? (list as readonly string[]) : inputs.map(({ url }) => url);
  const loaded = batchLoad(batch, urls, inputs === undefined ? start : 0);
  const count = Math.min(loaded, end - start);
  const ready = tryReady(intake, inputs, { loaded, count, context });
  if (ready === undefined) {
    codes.fill(VERDICT_FULL_MEMORY, start, start + count);
    refuseFull(intake, VERDICT_FULL_MEMORY, list.slice(start, start + count));
    return count;
  }
  const { admissions, fresh, rowRules } = ready;
  admitRows(core, {
    rows,
    count,
    isMarked: fresh !== NOT_INSERTED,
    nowMs: context.nowMs,
    isOutside: context.isOutside,
    depth: context.depth ?? 0,
    parent: context.parent,
    admissions,
    rowRules,
    hook:
      intake.accept === undefined
        ? undefined
        : (row) => acceptRow(intake, { row, context, rowRules }, admissions?.[row]),
    codes,
    codesStart: start,
  });
  // From outside each slice is an entry of its own; children belong to their page's.
  if (context.isOutside) core.log?.end();
  if (intake.filter !== undefined && inputs === undefined) addToSeenFilter(intake, slice, count);
  if (intake.events.wants.duplicate || intake.events.wants.rejected) {
    const from = inputs === undefined ? start : 0;
    const depthOf = (row: number): number => admissions?.[row]?.depth ?? context.depth ?? 0;
    reportRefused(intake, urls, { start, count, codes, from, depthOf });
  }
  return count;
}

/** Loaded rows, keyed and hashed. */
interface Ready {
  readonly rowRules: number;
  readonly fresh: number;
  readonly admissions: Admission[] | undefined;
}

/** Readies the loaded rows for admission; undefined, with nothing changed: memory has no room for their keys. */
function tryReady(
  intake: IntakeContext,
  inputs: readonly RequestInput[] | undefined,
  slice: { loaded: number; count: number; context: PushContext },
): Ready | undefined {
  const { core } = intake;
  const { count, context } = slice;
  try {
    const table = tableFor(intake, inputs, slice);
    const depth = inputs === undefined ? (context.depth ?? 0) : 0;
    const rowRules = core.plain === undefined ? parseAndMatch(intake, depth) : 0;
    const fresh = settle(intake, rowRules, table);
    if (fresh > 0) seenCount(core.seen, fresh);
    const admissions = inputs
      ?.slice(0, count)
      .map((input, row) => admit(intake, input, { row, context, rowRules }));
    return { rowRules, fresh, admissions };
  } catch (error) {
    if (isMemoryFull(error)) return undefined;
    throw error;
  }
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

/** Whether links may be admitted by their rows alone: nobody wants to see, or be asked about, each. */
export function isByRows({ core, accept, events, visited }: IntakeContext): boolean {
  const isAsked = accept !== undefined || visited !== undefined;
  return !core.isSpecial && !isAsked && !events.wants.duplicate && !events.wants.rejected;
}

/** Admits the loaded rows, under the conditions of isByRows: what pushSlice does of plain strings. */
export function pushLoaded(intake: IntakeContext, { nowMs, depth, parent, codes }: Loaded): void {
  const { batch, core, rows } = intake;
  const { count } = batch;
  const context = { nowMs, isOutside: false, depth, parent };
  const ready = tryReady(intake, undefined, { loaded: count, count, context });
  if (ready === undefined) {
    codes.fill(VERDICT_FULL_MEMORY, 0, count);
    bookPushed(core, count);
    bookVerdict(core, VERDICT_FULL_MEMORY, count);
    return;
  }
  const { fresh, rowRules } = ready;
  admitRows(core, {
    rows,
    count,
    isMarked: fresh !== NOT_INSERTED,
    nowMs,
    isOutside: false,
    depth,
    parent,
    hasParents: true,
    admissions: undefined,
    rowRules,
    hook: undefined,
    codes,
    codesStart: 0,
  });
  if (intake.filter !== undefined) addToSeenFilter(intake, { start: 0, codes, context }, count);
}

/** Tells the workers' filter which identities are seen, and how deep at most. */
function addToSeenFilter(intake: IntakeContext, slice: Omit<Slice, "end">, count: number): void {
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

/** The table that the kernel may insert a whole slice into, or 0: where a row may yet be refused for another reason. */
function tableFor(
  intake: IntakeContext,
  inputs: readonly RequestInput[] | undefined,
  slice: { loaded: number; count: number; context: PushContext },
): number {
  const { core, accept } = intake;
  if (core.isSegmented) return 0; // their hashes are salted first
  if (inputs !== undefined || accept !== undefined || slice.loaded !== slice.count) return 0;
  const { isOutside, depth = 0 } = slice.context;
  const outline = { admissions: undefined, hook: undefined, depth, isOutside, count: slice.count };
  return isPlain(core, outline) ? seenTable(core.seen) : 0;
}

/** Parses the loaded rows and finds each its rule; where their rule queues are noted until the next batch. */
function parseAndMatch({ batch, core, rows }: IntakeContext, depth: number): number {
  batchParse(batch);
  return matchRows(core, rows, batch.count, depth);
}

/** Keys and hashes the rows under the policies of their rules; how many the kernel found new, or NOT_INSERTED. */
function settle(intake: IntakeContext, rowRules: number, table: number): number {
  const { batch, core } = intake;
  if (rowRules === 0) return batchAdmit(batch, keyOf(core.plain as RuleState), table);
  const policyOf = (row: number): NormalPolicy => keyOf(ruleOfRow(core, rowRules, row));
  if (core.soleKey !== undefined) return batchSettle(batch, core.soleKey, policyOf, table);
  let sole: NormalPolicy | undefined;
  for (let row = 0; row < batch.count; row++) {
    if (rowStatus(intake.rows, row) !== BATCH_OK) continue;
    const policy = policyOf(row);
    if (sole !== undefined && policy !== sole) return batchSettle(batch, undefined, policyOf, 0);
    sole = policy;
  }
  return batchSettle(batch, sole ?? intake.key, policyOf, table);
}

function keyOf({ key }: RuleState): NormalPolicy {
  return key;
}

function areStrings(list: readonly PlainRequest[], start: number, end: number): boolean {
  for (let index = start; index < end; index++) {
    if (typeof list[index] !== "string") return false;
  }
  return true;
}

function inputsOf(list: readonly PlainRequest[], start: number, end: number): RequestInput[] {
  return list.slice(start, end).map((one) => (typeof one === "string" ? { url: one } : one));
}

/** A row of the batch in hand. */
interface RowContext {
  readonly row: number;
  readonly context: PushContext;
  readonly rowRules: number;
}

/** The Admission of a row; writes the hash of an identity that is more than the URL's key. */
function admit(intake: IntakeContext, input: RequestInput, asked: RowContext): Admission {
  const { rows, core } = intake;
  const { row, context, rowRules } = asked;
  if (rowStatus(rows, row) !== BATCH_OK) return admissionOf(input, intake.key, context.depth);
  const rule = ruleOfRow(core, rowRules, row);
  const policy = rule.key;
  const admission = admissionOf(input, policy, context.depth);
  if (context.isAgain === true) admission.dedup = "again";
  const override = keyOverride(input, policy);
  if (isHookFault(override)) {
    intake.events.hookFault("keyOf", override.cause, input.url);
    admission.verdict ??= VERDICT_HOOK;
    return admission;
  }
  if (override !== undefined || !isKeyOnly(input, policy)) {
    const bytes = identityBytes(override ?? rowKeyText(rows, row), input, policy);
    hashBytes(core.store, bytes, hashesOffset(rows) + row * 8);
  }
  const { visited } = intake;
  if (visited !== undefined && override === undefined && asksDigests(admission, rule)) {
    if (isInDigests(visited, input, rowKeyText(rows, row))) admission.verdict ??= VERDICT_DUPLICATE;
  }
  const key = keyToKeep({ policy, rows }, input, row, override);
  if (key !== undefined) admission.blob = addExtras(admission.blob, { k: key });
  if (context.redirects !== undefined) {
    admission.blob = addExtras(admission.blob, { r: context.redirects });
  }
  return admission;
}

/** The key a request was admitted under, where what a lease carries would not give it back. */
function keyToKeep(
  { policy, rows }: { policy: NormalPolicy; rows: Rows },
  input: RequestInput,
  row: number,
  override: string | undefined,
): string | undefined {
  if (input.key !== undefined) return undefined; // kept already
  if (override !== undefined) return override; // keyOf may look at what no lease shows
  if (policy.profile === "canonical") return undefined;
  const isOther = policy.visit === "canonical" || rowIsRewritten(rows, row);
  return isOther ? rowKeyText(rows, row) : undefined;
}

/** Asks the user's hook about a row that would be admitted; undefined: refused. */
function acceptRow(
  intake: IntakeContext,
  { row, context, rowRules }: RowContext,
  given: Admission | undefined,
): Admission | undefined {
  const rule = ruleOfRow(intake.core, rowRules, row);
  const admission = given ?? admissionOf({ url: "" }, rule.key, context.depth);
  return callAcceptHook(intake, { row, rule, admission, parent: context.parent });
}

interface RefusalContext {
  start: number;
  count: number;
  codes: Uint8Array;
  /** Index of the first row's URL. */
  from: number;
  depthOf(row: number): number;
}

function reportRefused(intake: IntakeContext, urls: readonly string[], told: RefusalContext): void {
  const { events } = intake;
  for (let row = 0; row < told.count; row++) {
    const code = told.codes[told.start + row] as number;
    const url = urls[told.from + row] as string;
    if (code === VERDICT_DUPLICATE) reportDuplicate(intake, url, row, told.depthOf(row));
    else {
      const { admitted, status, reason } = verdictOf(code);
      if (!admitted) events.rejected(url, reason ?? status);
    }
  }
}

/** A page that is done keeps its depth: that there is a shorter way to it is told, since nobody goes it. */
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

/** Gives every request the same refusal that is no rejection. */
export function refuseAll(
  intake: IntakeContext,
  code: number,
  list: readonly PlainRequest[],
): Uint8Array {
  refuseFull(intake, code, list);
  return new Uint8Array(list.length).fill(code);
}

function refuseFull(intake: IntakeContext, code: number, list: readonly PlainRequest[]): void {
  bookPushed(intake.core, list.length);
  bookVerdict(intake.core, code, list.length);
  if (intake.events.wants.rejected) {
    const reason = verdictOf(code).reason as string;
    for (const one of list) intake.events.rejected(typeof one === "string" ? one : one.url, reason);
  }
}

/** Counts requests that no batch has seen, and tells of those that have a URL. */
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

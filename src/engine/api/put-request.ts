/**
 * Put: what is known of a URL from elsewhere replaces what is known here (URLFrontier's "known" items, imports, repairs).
 *
 *   unknown ────────────────────────────────┐
 *   done, failed, pending, waiting ─forgotten┴─▶ admitted ─▶ dueAt in the future: waiting · passed: pending · none: done
 *   leased ─▶ nothing changes, `leased`: the holder of the lease decides
 *
 *   I1  One call is one entry of the journal: after a crash the old state is there, or the new one.
 *   I2  A known URL is forgotten only after a push of it could not be refused: a put that is refused has changed nothing.
 *   I3  A finished URL keeps its data: in the archive where `records: 'full'` keeps one, else its record rests for good.
 */
import { argument } from "../../base/argument-checks.ts";
import { FrontierError, isMemoryFull } from "../../base/errors.ts";
import { ANYTHING } from "../../base/fields.ts";
import {
  VERDICT_CLOSED,
  VERDICT_DEFERRED,
  VERDICT_FULL,
  VERDICT_FULL_DISK,
  VERDICT_FULL_MEMORY,
  verdictOf,
} from "../../frontier/admission/verdicts.ts";
import type { Core } from "../../frontier/core.ts";
import { forgetForPut } from "../../frontier/epochs/row-epochs.ts";
import { step } from "../../frontier/leases/leases.ts";
import { liveRecord } from "../../frontier/records/edit-records.ts";
import { finishedView, isFinishedValue } from "../../frontier/records/finished-word.ts";
import { hasReserve, holdRoomFor, releaseHeldRoom } from "../../frontier/records/memory-reserve.ts";
import { finishPut } from "../../frontier/records/transitions.ts";
import { recordDepth, recordState, RECORD_LEASED } from "../../structures/records/record.ts";
import { seenFailed, seenFind } from "../../structures/seen/seen-set.ts";
import { isDiskFull } from "../../frontier/scheduling/spill-control.ts";
import { BATCH_OK } from "../../url/batch/row-fields.ts";
import { type IntakeContext, withoutHook } from "../intake/intake-context.ts";
import { journalBytesBound, pushList } from "../intake/push-requests.ts";
import { readRequest, TIME } from "../intake/request-fields.ts";
import { type Extras, NO_EXTRAS, unpackExtras } from "../intake/request-extras.ts";
import { packInput } from "../intake/split-request.ts";
import type { Lifecycle } from "../lifecycle/lifecycle.ts";
import { findIdentity, type Identity } from "../queries/find-identity.ts";
import { predictVerdict } from "../queries/predict-verdict.ts";
import type { RecordArchive } from "../records/record-archive.ts";
import { recordExtras } from "../records/record-view.ts";
import type { PutOptions, PutResult, RequestInput, RequestLike } from "../types/frontier-types.ts";

const readOptions = argument<{ dueAt?: number; data?: unknown }>("options", {
  dueAt: TIME,
  data: ANYTHING,
});

const DONE: PutResult = Object.freeze({ status: "done" });
const PENDING: PutResult = Object.freeze({ status: "pending" });
const WAITING: PutResult = Object.freeze({ status: "waiting" });
const LEASED: PutResult = Object.freeze({ status: "leased" });
const NAMELESS: PutResult = Object.freeze({ status: "rejected", reason: "no-identity" });

/** Room that the steps of a put take beside its text: more than any of them. */
const STEPS_BYTES = 2 ** 20;

/** What is put, and what was known of it. */
interface Putting {
  readonly request: RequestInput;
  readonly isDone: boolean;
  readonly looked: Identity;
  /** What the seen-set holds, a spilled record in memory; 0: unknown. */
  readonly known: number;
  readonly nowMs: number;
  /** The request's optional part. */
  readonly packed: Uint8Array | null | undefined;
}

export function put(
  lifecycle: Lifecycle,
  archive: RecordArchive | undefined,
  given: RequestLike,
  options: PutOptions | undefined,
): PutResult {
  const read = readRequest(given);
  const { dueAt, data } = readOptions(options);
  const { core, nowMs } = lifecycle.begin();
  if (core === undefined) return refused(VERDICT_CLOSED);
  if (core.seen.mode === "bloom") {
    const message = "put: seen.mode 'bloom' (expected: 'exact' or 'tiered', which know every URL)";
    throw new FrontierError("UNSUPPORTED", message);
  }
  const request: RequestInput = typeof read === "string" ? { url: read } : { ...read };
  if (data !== undefined) request.data = data;
  if (dueAt !== undefined) request.notBefore = dueAt;
  if (lifecycle.durable?.refuses(journalBytesBound([request])) === true) {
    return refused(VERDICT_FULL_DISK);
  }
  step(core, nowMs);
  try {
    return putRead(lifecycle.intake, archive, request, { isDone: dueAt === undefined, nowMs });
  } catch (error) {
    if (isMemoryFull(error)) return refused(VERDICT_FULL_MEMORY);
    if (seenFailed(core.seen, error)) return refused(VERDICT_FULL_DISK);
    throw error;
  } finally {
    lifecycle.end(nowMs);
  }
}

function putRead(
  intake: IntakeContext,
  archive: RecordArchive | undefined,
  request: RequestInput,
  { isDone, nowMs }: { isDone: boolean; nowMs: number },
): PutResult {
  const { core } = intake;
  const looked = findIdentity(intake, request, nowMs);
  const { lo, hi } = looked;
  const value = looked.hasIdentity ? seenFind(core.seen, lo, hi) : 0;
  const isLive = value !== 0 && !isFinishedValue(value);
  const known = isLive ? liveRecord(core, lo, hi) : value;
  if (isLive && recordState(core.store, known) === RECORD_LEASED) return LEASED;
  if (known !== 0) keepKnown(core, request, known, archive?.history(lo, hi)?.extras);
  const packed = packInput(request);
  const putting = { request, isDone, looked, known, nowMs, packed };
  // What was known is forgotten only when the rest is sure to find room (I2).
  const bytes = STEPS_BYTES + request.url.length + (packed?.length ?? 0);
  if (!holdRoomFor(core, bytes)) return refused(VERDICT_FULL_MEMORY);
  try {
    const code = known === 0 ? admitNew(intake, putting) : admitKnown(intake, putting);
    if (code > VERDICT_DEFERRED) return refused(code);
    if (!isDone) return code === VERDICT_DEFERRED ? WAITING : PENDING;
    const record = liveRecord(core, lo, hi);
    // Its key came from a function that returns another one each time.
    if (record === 0) return PENDING;
    finishPut(core, record, archive === undefined, nowMs);
    return DONE;
  } finally {
    releaseHeldRoom(core);
  }
}

/** What the request leaves out stays as it was. */
function keepKnown(
  core: Core,
  request: RequestInput,
  known: number,
  packed: Uint8Array | undefined,
): void {
  const isLive = !isFinishedValue(known);
  let extras: Extras = packed === undefined ? NO_EXTRAS : unpackExtras(packed);
  if (isLive) extras = recordExtras(core, known);
  const { d, h, n, u } = extras;
  if (request.data === undefined && d !== undefined) request.data = d;
  if (request.headers === undefined && h !== undefined) request.headers = h;
  if (request.handler === undefined && n !== undefined) request.handler = n;
  if (request.hostKey === undefined && u !== undefined) request.hostKey = u;
  request.depth ??= isLive ? recordDepth(core.store, known) : finishedView(known).depth;
}

/** An unknown URL is pushed; one without identity can not be put, since it is never known. */
function admitNew(intake: IntakeContext, putting: Putting): number {
  const { request, isDone, looked, nowMs, packed } = putting;
  // Capacity is for what is to be visited.
  const context = { nowMs, isOutside: !isDone, depth: undefined, parent: 0, packed };
  const isNameless = !looked.hasIdentity && looked.status === BATCH_OK;
  if (isNameless && looked.override !== null && looked.epoch !== null) return CODE_NAMELESS;
  return pushList(intake, [request], context)[0] as number;
}

/** A known URL is forgotten, and pushed anew: the hook was asked when it came, and its place in the capacity is its own (I2). */
function admitKnown(intake: IntakeContext, putting: Putting): number {
  const { request, looked, known, nowMs, packed } = putting;
  const { core } = intake;
  const { lo, hi } = looked;
  const unasked = withoutHook(intake);
  const asked = { looked, known: 0, isDiskShut: false, nowMs, packed };
  const foreseen = predictVerdict(unasked, request, asked);
  if (foreseen > VERDICT_DEFERRED && foreseen !== VERDICT_FULL) return foreseen;
  if (isDiskFull(core)) return VERDICT_FULL_DISK;
  if (!hasReserve(core)) return VERDICT_FULL_MEMORY;
  forgetForPut(core, known, { lo, hi, nowMs });
  const context = { nowMs, isOutside: false, depth: undefined, parent: 0, packed };
  return pushList(unasked, [request], context)[0] as number;
}

/** No verdict of a push. */
const CODE_NAMELESS = 255;

function refused(code: number): PutResult {
  if (code === CODE_NAMELESS) return NAMELESS;
  const { status, reason } = verdictOf(code);
  return { status: status as PutResult["status"], ...(reason === undefined ? {} : { reason }) };
}

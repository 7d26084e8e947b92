/**
 * Room `src/engine/queries`: answers that change nothing: records, explain, the predicted verdict, report. One
 * exception: a host's view also sets what a user may set by hand.
 */

/** Queries about one request or many. Nothing is changed. */
import type { PlainRequest } from "../../base/request-types.ts";
import { type Core, ruleOf } from "../../frontier/core.ts";
import { FOREVER } from "../../frontier/epochs/epoch-policy.ts";
import { groupClock, isGroupFull } from "../../frontier/politeness/host-groups.ts";
import { hostHold, hostLimit } from "../../frontier/politeness/host-clock.ts";
import {
  probeSpilled,
  placesSpilled,
  recordOfValue,
} from "../../frontier/scheduling/spill-control.ts";
import { finishedView, isFinishedValue } from "../../frontier/records/finished-word.ts";
import { hostOf, NEVER_MS } from "../../frontier/records/transitions.ts";
import { verdictOf } from "../../frontier/admission/verdicts.ts";
import type { RecordState } from "../../frontier/records/record-state.ts";
import {
  isUnchanged,
  matches,
  listRecords,
  recordHost,
} from "../../frontier/records/record-walk.ts";
import { heapKeyOf } from "../../structures/ordering/heap.ts";
import { timelineKeyOf } from "../../structures/ordering/timeline.ts";
import {
  HOST_BLOCK_UNTIL_WORD,
  HOST_HELD,
  HOST_LEASED_WORD,
  hostFlag,
} from "../../structures/hosts/host-table.ts";
import {
  parentFingerprint,
  RECORD_FAILED,
  RECORD_LEASED,
  RECORD_RESTING,
  RECORD_WAITING,
  recordAttempt,
  recordDeliveries,
  recordDepth,
  recordParent,
  recordPriority,
  recordState,
} from "../../structures/records/record.ts";
import { recordUrl } from "../../structures/records/kernel-scratch.ts";
import { seenFind } from "../../structures/seen/seen-set.ts";
import { float, word } from "../../structures/store.ts";
import type { RecordArchive } from "../records/record-archive.ts";
import { recordData, recordExtras, STATES } from "../records/record-view.ts";
import { isAt, type Where, withHistory } from "../records/record-history.ts";
import { registrableDomain } from "../../url/parsing/registrable-domain.ts";
import { BATCH_OK, rowHostText, rowKeyText } from "../../url/batch/row-fields.ts";
import { isSpilledValue } from "../../structures/spill/spilled-identity.ts";
import {
  epochEach,
  epochFind,
  epochMembers,
  epochName,
  epochNext,
} from "../../structures/seen/epoch-table.ts";
import type { NormalPolicy } from "../../url/keys/key-policy.ts";
import { predictVerdict } from "./predict-verdict.ts";
import type { IntakeContext } from "../intake/intake-context.ts";
import { type Identity, findIdentity } from "./find-identity.ts";
import type {
  EpochView,
  Explanation,
  FrontierStatus,
  RecordsFilter,
  RecordView,
  RequestInput,
} from "../types/frontier-types.ts";

const CODES = new Map(Object.entries(STATES).map(([code, state]) => [state, Number(code)]));

/** What is known of a request's identity; undefined: nothing. */
export function recordOf(
  intake: IntakeContext,
  request: PlainRequest,
  nowMs: number,
  archive?: RecordArchive,
): RecordView | undefined {
  const { core } = intake;
  const { hasIdentity, lo, hi } = findIdentity(intake, request, nowMs);
  if (!hasIdentity) return undefined;
  const value = seenFind(core.seen, lo, hi);
  if (value === 0) return undefined;
  const history = archive?.history(lo, hi);
  if (!isFinishedValue(value)) {
    return withHistory(liveView(intake, recordOfValue(core, value, lo, hi)), history);
  }
  // What a bloom holds as seen may be any other's bits: it has no record.
  if (core.seen.bloom !== undefined && history === undefined) return undefined;
  return withHistory(finishedRecord(value), history);
}

function finishedRecord(value: number): RecordView {
  const { isRemoved, attempts, depth } = finishedView(value);
  return { state: isRemoved ? "removed" : "done", attempts, depth };
}

/** The first `most` records of a state, at once. No more are read, but for leased ones. */
export function firstRecords(
  intake: IntakeContext,
  state: RecordState,
  most: number,
): RecordView[] {
  const views: RecordView[] = [];
  for (const view of recordsOf(intake, { state }, () => true, most)) {
    if (views.push(view) >= most) break;
  }
  return views;
}

/** Records in memory first, then those that are spilled, a block at a time; of those in memory the first `most`. */
export function* recordsOf(
  intake: IntakeContext,
  filter: RecordsFilter,
  isCurrent: () => boolean,
  most?: number,
): Generator<RecordView> {
  const { core } = intake;
  const all: RecordState[] = ["pending", "waiting", "leased", "failed"];
  for (const state of filter.state === undefined ? all : [filter.state]) {
    const noted = listRecords(core, new Set([state]), most);
    const places = state === "pending" ? placesSpilled(core) : [];
    for (let index = 0; index < noted.count; index++) {
      if (!isCurrent()) return; // cleared or closed meanwhile: nothing of it is left
      if (!isUnchanged(core, noted, index, CODES.get(state) as number)) continue;
      const record = noted.handles[index] as number;
      if (matches(core, record, { rule: filter.rule, host: filter.host })) {
        yield liveView(intake, record);
      }
    }
    for (const place of places) {
      if (!isCurrent()) return;
      const views: RecordView[] = [];
      probeSpilled(core, place, (record) => {
        if (matches(core, record, filter)) views.push(liveView(intake, record));
      });
      yield* views;
    }
  }
}

/** Done records, by their histories: finished ones, and those that come again. */
export function* historiesOf(
  intake: IntakeContext,
  archive: RecordArchive,
  where: Where,
  isCurrent: () => boolean,
): Generator<RecordView> {
  const { core } = intake;
  for (const { lo, hi, history } of archive.histories()) {
    if (!isCurrent()) return;
    const value = seenFind(core.seen, lo, hi);
    if (value === 0 || stateOfValue(core, value) !== "done" || !isAt(history, where)) continue;
    const view = isFinishedValue(value) ? finishedRecord(value) : liveView(intake, value);
    yield withHistory(view, history);
  }
}

/** Every open epoch but forever; names are noted first, since epochs may come and go between two of them. */
export function* epochsOf(core: Core, isCurrent: () => boolean): Generator<EpochView> {
  const { epochs, store } = core;
  const names: string[] = [];
  for (let epoch = epochNext(epochs, 0); epoch !== 0; epoch = epochNext(epochs, epoch)) {
    names.push(epochName(store, epoch));
  }
  for (const name of names) {
    if (!isCurrent()) return;
    const epoch = epochFind(epochs, name);
    if (epoch !== 0) yield epochView(core, epoch);
  }
}

function epochView(core: Core, epoch: number): EpochView {
  const { epochs, seen, store } = core;
  const counts = { pending: 0, waiting: 0, leased: 0, done: 0, failed: 0 };
  epochEach(epochs, epoch, (lo, hi) => {
    const value = seenFind(seen, lo, hi);
    const state = value === 0 ? goneState(seen) : stateOfValue(core, value);
    if (state !== "removed") counts[state]++;
  });
  return { name: epochName(store, epoch), identities: epochMembers(store, epoch), ...counts };
}

/** What a bloom alone holds is done; an exact answer of nothing is that it was forgotten by itself. */
function goneState({ bloom }: Core["seen"]): RecordState {
  return bloom === undefined ? "removed" : "done";
}

function stateOfValue(core: Core, value: number): RecordState {
  if (isFinishedValue(value)) return finishedView(value).isRemoved ? "removed" : "done";
  return isSpilledValue(value) ? "pending" : stateOf(core, value);
}

/** The fingerprint of the request in hand, under a key that stands in for its URL's. */
type Printer = (key: string | undefined, policy: NormalPolicy) => string;

/** Canonical form, rule, verdict it would get, state, which clock holds it, when it can go. */
export function explain(
  intake: IntakeContext,
  request: PlainRequest,
  now: { status: FrontierStatus; nowMs: number; isDiskShut: boolean; fingerprint: Printer },
): Explanation {
  const { core, rows } = intake;
  const { isDiskShut, nowMs } = now;
  const input: RequestInput = typeof request === "string" ? { url: request } : request;
  const looked = findIdentity(intake, request, nowMs);
  if (looked.status !== BATCH_OK) {
    const code = predictVerdict(intake, input, { looked, known: 0, isDiskShut, nowMs });
    return { url: input.url, verdict: verdictOf(code) };
  }
  const host = rowHostText(rows, 0);
  const { epoch, override, rule } = looked;
  const policy = rule?.key ?? intake.key;
  const canonical = rowKeyText(rows, 0);
  const known = looked.hasIdentity ? seenValueOf(core, looked) : 0;
  const base = {
    url: input.url,
    canonical,
    ...(override === null || epoch === null
      ? {}
      : { fingerprint: now.fingerprint(override, policy) }),
    host,
    domain: registrableDomain(host),
    ...(rule === undefined ? {} : { rule: rule.id }),
    epoch: (override === null ? null : epoch) ?? FOREVER,
    verdict: verdictOf(predictVerdict(intake, input, { looked, known, isDiskShut, nowMs })),
  };
  if (known === 0) return base;
  if (isFinishedValue(known)) {
    if (core.seen.bloom !== undefined) return base;
    return { ...base, state: finishedView(known).isRemoved ? "removed" : "done" };
  }
  return { ...base, state: stateOf(core, known), ...holdOf(core, known, now) };
}

/** What the seen-set holds of an identity; a record's handle where it lives. */
function seenValueOf(core: Core, { lo, hi }: Identity): number {
  const value = seenFind(core.seen, lo, hi);
  return value === 0 || isFinishedValue(value) ? value : recordOfValue(core, value, lo, hi);
}

function stateOf(core: Core, record: number): RecordState {
  return STATES[recordState(core.store, record)] as RecordState;
}

/** What keeps a live record from going, and until when where a clock does. */
function holdOf(
  core: Core,
  record: number,
  { status, nowMs }: { status: FrontierStatus; nowMs: number },
): Pick<Explanation, "heldBy" | "dueAt"> {
  const state = recordState(core.store, record);
  if (state === RECORD_LEASED)
    return { heldBy: "lease", dueAt: timelineKeyOf(core.deadlines, record) };
  if (state === RECORD_FAILED) return {};
  if (state === RECORD_RESTING) {
    const dueAt = heapKeyOf(core.resting, record);
    return dueAt === NEVER_MS ? {} : { heldBy: "every", dueAt };
  }
  const host = hostOf(core, record);
  if (host === 0) return freeUnless(core, status, nowMs); // a host that was never visited
  const clockMs = hostHold(core, host);
  if (state === RECORD_WAITING) {
    return { heldBy: "notBefore", dueAt: Math.max(heapKeyOf(core.waiting, record), clockMs) };
  }
  if (hostFlag(core.store, host, HOST_HELD)) return { heldBy: "hold" };
  if (clockMs > nowMs) {
    const isBlock = float(core.store, host, HOST_BLOCK_UNTIL_WORD) === clockMs;
    return { heldBy: isBlock ? "block" : "delay", dueAt: clockMs };
  }
  const limit = hostLimit(core, host, ruleOf(core, record));
  if (word(core.store, host, HOST_LEASED_WORD) >= limit) return { heldBy: "limit" };
  const rule = ruleOf(core, record);
  const groupMs = groupClock(core, host, rule);
  if (groupMs > nowMs) return { heldBy: "group", dueAt: groupMs };
  if (isGroupFull(core, host, rule)) return { heldBy: "group" };
  return freeUnless(core, status, nowMs);
}

/** What keeps a record back whose host may go. */
function freeUnless(
  core: Core,
  status: FrontierStatus,
  nowMs: number,
): Pick<Explanation, "heldBy" | "dueAt"> {
  if (status === "paused" || status === "draining") return { heldBy: "paused" };
  if (core.counters.leased >= core.limits.maxLeases) return { heldBy: "maxLeases" };
  return { dueAt: nowMs };
}

function liveView({ core, failures }: IntakeContext, record: number): RecordView {
  const { store } = core;
  const state = stateOf(core, record);
  const failure = state === "failed" ? failures.of(core, record) : undefined;
  const parent = recordParent(store, record);
  const extras = recordExtras(core, record);
  const data = recordData(core, record, extras);
  return {
    state,
    attempts: attemptsMade(core, record, state),
    depth: recordDepth(store, record),
    url: recordUrl(core.scratch, record),
    host: recordHost(core, record),
    rule: ruleOf(core, record).id,
    priority: recordPriority(store, record),
    deliveries: recordDeliveries(store, record),
    ...(extras.u === undefined ? {} : { hostKey: extras.u }),
    ...(data === undefined ? {} : { data }),
    ...untilOf(core, record, state),
    ...(parent === 0 ? {} : { parent: parentFingerprint(store, parent) }),
    ...(failure === undefined ? {} : { failure }),
  };
}

/** Attempts begun: a record that is on its way has its next one before it. */
function attemptsMade(core: Core, record: number, state: RecordState): number {
  const attempt = recordAttempt(core.store, record);
  return state === "pending" || state === "waiting" ? attempt - 1 : attempt;
}

function untilOf(core: Core, record: number, state: RecordState): { untilMs?: number } {
  if (state === "waiting") return { untilMs: heapKeyOf(core.waiting, record) };
  if (state === "done") {
    const untilMs = heapKeyOf(core.resting, record);
    return untilMs === NEVER_MS ? {} : { untilMs };
  }
  if (state === "leased") return { untilMs: timelineKeyOf(core.deadlines, record) };
  return {};
}

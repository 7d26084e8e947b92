/**
 * The calls that edit records already admitted: update, requeue, remove, forget. Each checks its arguments,
 * makes sure that the journal can hold it, brings the frontier to the present, acts, and closes the call.
 */
import type { PlainRequest } from "../../base/request-types.ts";
import { argument } from "../../base/argument-checks.ts";
import { INTEGER } from "../../base/fields.ts";
import { misuse } from "../../base/errors.ts";
import type { Core } from "../../frontier/core.ts";
import { forgetAll, forgetEpoch, forgetForPut } from "../../frontier/epochs/row-epochs.ts";
import { FOREVER } from "../../frontier/epochs/epoch-policy.ts";
import { step } from "../../frontier/leases/leases.ts";
import { isFinishedValue } from "../../frontier/records/finished-word.ts";
import { needRoom } from "../../frontier/records/memory-reserve.ts";
import {
  liveRecord,
  removeRecords,
  requeueFailed,
  updateRecord,
} from "../../frontier/records/edit-records.ts";
import { RECORD_LEASED, recordState } from "../../structures/records/record.ts";
import { seenFind } from "../../structures/seen/seen-set.ts";
import { readForget, readRemove, readRequeue } from "../queries/record-filter.ts";
import { findIdentity } from "../queries/find-identity.ts";
import type { Lifecycle } from "../lifecycle/lifecycle.ts";
import { reasonOf } from "../records/failure-notes.ts";
import type { RecordArchive } from "../records/record-archive.ts";
import { setVisited } from "../intake/intake-context.ts";
import { readRequest, TIME } from "../intake/request-fields.ts";
import { needArchive, requeueDone } from "../records/record-history.ts";
import type {
  ForgetFilter,
  Frontier,
  RemoveFilter,
  RequestLike,
  RequeueFilter,
} from "../types/frontier-types.ts";
import { lifecycleOf } from "./lifecycles.ts";

/** Room that a steering call needs in the journal at most. */
export const STEERING_BYTES = 65_536;

const readChange = argument<{ priority?: number; notBefore?: number }>("change", {
  priority: INTEGER,
  notBefore: TIME,
});

/** A pending or waiting record, in place. */
export function update(
  lifecycle: Lifecycle,
  request: RequestLike,
  change: { priority?: number; notBefore?: number | Date },
): boolean {
  const input = readRequest(request);
  const { priority, notBefore: dueMs } = readChange(change);
  return steer(lifecycle, (core, nowMs) => {
    const { hasIdentity, lo, hi } = findIdentity(lifecycle.intake, input, nowMs);
    const record = hasIdentity ? liveRecord(core, lo, hi) : 0;
    return record !== 0 && updateRecord(core, record, { priority, dueMs }, nowMs);
  });
}

/** `archive`: whole records, if they are kept; done records can come back only from there. */
export function requeue(
  lifecycle: Lifecycle,
  archive: RecordArchive | undefined,
  filter: RequeueFilter,
): number {
  const { state, rule, host, reason } = readRequeue(filter);
  if (state === "done" && reason !== undefined) {
    throw misuse("ARGUMENT_INVALID", "filter.reason", reason, "none with state 'done'");
  }
  const histories = state === "done" ? needArchive(archive) : undefined;
  const where = { rule, host };
  return steer(lifecycle, (core, nowMs) => {
    if (histories !== undefined) return requeueDone(lifecycle.intake, histories, where, nowMs);
    if (reason === undefined) return requeueFailed(core, where, nowMs);
    const kept = reasonOf(reason);
    const { failures } = lifecycle.intake;
    const isWanted = (record: number): boolean => failures.of(core, record)?.reason === kept;
    return requeueFailed(core, { ...where, isWanted }, nowMs);
  });
}

export function remove(lifecycle: Lifecycle, filter: RemoveFilter): number {
  const { host, rule, pattern } = readRemove(filter);
  return steer(lifecycle, (core, nowMs) => removeRecords(core, { host, rule, pattern }, nowMs));
}

/** As `remove`, for the records of one politeness unit: `host` also takes those whose URLs have a host of that name. */
export function removeUnit(frontier: Frontier, unit: string): number {
  const lifecycle = lifecycleOf(frontier);
  if (lifecycle === undefined) return frontier.remove({ host: unit });
  return steer(lifecycle, (core, nowMs) => removeRecords(core, { unit }, nowMs));
}

/** `refresh`: notifies the workers that what was seen may come again. */
export function forget(lifecycle: Lifecycle, filter: ForgetFilter, refresh: () => void): number {
  const { epoch, request } = readForget(filter);
  const { core } = lifecycle.need();
  if (request !== undefined) {
    if (epoch !== undefined) throw misuse("ARGUMENT_INVALID", "filter.epoch", epoch, EPOCH_ALONE);
    return forgetOne(lifecycle, readRequest(request));
  }
  if (epoch !== undefined && core.seen.mode === "bloom") {
    const expected = "no epoch: with seen.mode 'bloom', forget() forgets everything or nothing";
    throw misuse("OPTION_INVALID", "filter.epoch", epoch, expected);
  }
  return steer(lifecycle, (open, nowMs) => {
    const count = epoch === undefined ? forgetAll(open) : forgetEpoch(open, epoch, nowMs);
    if (epoch === undefined || epoch === FOREVER) setVisited(lifecycle.intake, undefined);
    refresh();
    return count;
  });
}

/** What stands beside one URL that is to be forgotten. */
export const EPOCH_ALONE = "none beside filter.request";

/** One identity and its record; a leased one stays, and so does one that may be in a bloom alone. */
function forgetOne(lifecycle: Lifecycle, request: PlainRequest): number {
  return steer(lifecycle, (core, nowMs) => {
    const { hasIdentity, lo, hi } = findIdentity(lifecycle.intake, request, nowMs);
    const value = hasIdentity && core.seen.mode !== "bloom" ? seenFind(core.seen, lo, hi) : 0;
    if (value === 0) return 0;
    const known = isFinishedValue(value) ? value : liveRecord(core, lo, hi);
    if (!isFinishedValue(known) && recordState(core.store, known) === RECORD_LEASED) return 0;
    needRoom(core);
    forgetForPut(core, known, { lo, hi, nowMs });
    return 1;
  });
}

/** One steering call: nothing is changed where the journal can not hold it. */
function steer<T>(lifecycle: Lifecycle, act: (core: Core, nowMs: number) => T): T {
  const { core, nowMs } = lifecycle.need();
  lifecycle.durable?.need(STEERING_BYTES);
  step(core, nowMs);
  const answer = act(core, nowMs);
  lifecycle.end(nowMs);
  return answer;
}

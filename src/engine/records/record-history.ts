/**
 * Record history: what `records: 'full'` adds to the answers of a frontier, and done records asked for again.
 *
 *   requeue({ state: 'done' }) ─▶ each history that is done ─▶ its identity is new again (counted as forgotten) ─▶ admitted
 *
 *   I1  The seen-set decides what state an identity is in; a history of an identity that it does not hold is skipped.
 */
import { FrontierError, memoryFull } from "../../base/errors.ts";
import { givenOf } from "../../base/plain-copy.ts";
import { askedPriority, ruleOfId } from "../../frontier/core.ts";
import { hasReserve, hasRoomFor } from "../../frontier/records/memory-reserve.ts";
import { forgetDone } from "../../frontier/epochs/row-epochs.ts";
import { comeBackNow } from "../../frontier/epochs/recrawl.ts";
import { finishedView, isFinishedValue } from "../../frontier/records/finished-word.ts";
import { VERDICT_DEFERRED } from "../../frontier/admission/verdicts.ts";
import { parentCreate, parentRelease } from "../../structures/records/record.ts";
import { seenFind } from "../../structures/seen/seen-set.ts";
import { NO_EXTRAS, unpackExtras } from "../intake/request-extras.ts";
import type { IntakeContext } from "../intake/intake-context.ts";
import { pushList } from "../intake/push-requests.ts";
import type { RecordArchive, RecordHistory } from "./record-archive.ts";
import type { RecordState, RecordView, RequestInput } from "../types/frontier-types.ts";

/** The part of a filter that a history answers. */
export interface Where {
  readonly rule?: string | undefined;
  readonly host?: string | undefined;
}

/** A view with what its history adds. */
export function withHistory(view: RecordView, history: RecordHistory | undefined): RecordView {
  if (history === undefined) return view;
  const { url, host, rule, priority, deliveries, parent, admittedAt, extras } = history;
  const trail: Array<{ state: RecordState; atMs: number }> = [];
  for (let at = 0; at + 1 < history.trail.length; at += 2) {
    trail.push({ state: history.trail[at] as RecordState, atMs: history.trail[at + 1] as number });
  }
  const lastOf = (states: readonly string[]): number | undefined =>
    trail.findLast(({ state }) => states.includes(state))?.atMs;
  const leasedAt = lastOf(["leased"]);
  const finishedAt = ["done", "failed", "removed"].includes(view.state)
    ? lastOf(["done", "failed", "removed"])
    : undefined;
  const { u: hostKey, d: data } = extras === undefined ? NO_EXTRAS : unpackExtras(extras);
  return {
    ...{ url, host, rule, priority, deliveries },
    ...givenOf({ hostKey, parent }),
    ...view,
    ...(data === undefined ? {} : { data }),
    times: givenOf({ admittedAt, leasedAt, finishedAt }),
    trail,
  };
}

/** Done records that match stand in line again, with all attempts before them; how many. */
export function requeueDone(
  intake: IntakeContext,
  archive: RecordArchive,
  where: Where,
  nowMs: number,
): number {
  const { core } = intake;
  const asked = { ...intake, accept: undefined }; // the hook was asked when they came
  let count = 0;
  for (const { lo, hi, history } of archive.histories()) {
    if (!isAt(history, where)) continue;
    if (comeBackNow(core, lo, hi, nowMs)) {
      count++;
      continue;
    }
    if (!isDone(seenFind(core.seen, lo, hi))) continue;
    // Once it is forgotten, its push must not be refused: a large request needs its own room beside the reserve.
    if (!hasReserve(core) || !hasRoomFor(core, historyBytes(history))) {
      if (count === 0) throw memoryFull();
      return count;
    }
    if (core.seen.mode !== "bloom") forgetDone(core, lo, hi);
    if (pushAgain(asked, history, nowMs)) count++;
  }
  return count;
}

/** Bytes of the request that a history is pushed as, at most. */
function historyBytes({ url, extras }: RecordHistory): number {
  return 2 * (url.length + (extras?.length ?? 0));
}

/** Throws for a frontier without histories, which done records need. */
export function needArchive(archive: RecordArchive | undefined): RecordArchive {
  if (archive !== undefined) return archive;
  const message = `filter.state: "done" (expected: a frontier opened with records: 'full')`;
  throw new FrontierError("UNSUPPORTED", message);
}

function pushAgain(intake: IntakeContext, history: RecordHistory, nowMs: number): boolean {
  const { store } = intake.core;
  const { m, b, h, n, k, u, d } = history.extras === undefined ? {} : unpackExtras(history.extras);
  const policy = ruleOfId(intake.core, history.rule)?.policy;
  const priority = askedPriority(policy, history.priority, history.depth);
  const request: RequestInput = givenOf({
    ...{ url: history.url, depth: history.depth, priority, key: k, hostKey: u },
    ...{ method: m, headers: h, body: b, data: d, handler: n },
  });
  const parent = history.parent === undefined ? 0 : parentCreate(store, history.parent);
  const context = { nowMs, isOutside: false, isAgain: true, depth: undefined, parent };
  const [code] = pushList(intake, [request], context);
  if (parent !== 0) parentRelease(store, parent);
  return (code as number) <= VERDICT_DEFERRED;
}

function isDone(value: number): boolean {
  return value !== 0 && isFinishedValue(value) && !finishedView(value).isRemoved;
}

/** Whether a history is of this rule and host. */
export function isAt(history: RecordHistory, { rule, host }: Where): boolean {
  if (rule !== undefined && rule !== history.rule) return false;
  return host === undefined || host.toLowerCase() === history.host;
}

/**
 * Epochs of the naive model: the epoch of a request, records that come again by themselves, and what is forgotten with an epoch.
 *
 *   forever                for good            calendar, version, of    until the name changes
 *   every, adaptive        a done record comes again by itself a period after its visit; a push after that time takes its place
 *   a request's own epoch  before all of them; never again by itself
 */
import type { SyncPolicy, SyncRequest } from "./frontier-surface.ts";
import { findRecord } from "./model-admit.ts";
import type { Laws } from "./model-laws.ts";
import { activeRules, matchRule, ruleOf } from "./model-rules.ts";
import {
  becomePending,
  type Model,
  type ModelRecord,
  type ModelRule,
  takePlace,
} from "./model-state.ts";

/** The name of a request's epoch; undefined: the user's function returned none. */
export function epochOf(
  model: Model,
  { epoch = "forever" }: SyncPolicy,
  request: SyncRequest,
): string | undefined {
  const { laws } = model;
  const own = laws.ownEpoch(request);
  if (own !== undefined) return own;
  if (epoch === "forever" || "every" in epoch || "adaptive" in epoch) return "forever";
  if ("version" in epoch) return epoch.version;
  const timeMs = laws.timeOfEpoch(request, model.now());
  if ("of" in epoch) return epoch.of(timeMs) || undefined;
  if (laws.isTimeless(epoch.undated, request)) return "forever";
  return periodName(laws, epoch.calendar, timeMs);
}

/** In UTC, as ISO 8601 writes it. */
function periodName(laws: Laws, unit: "hour" | "day" | "week" | "month", timeMs: number): string {
  const text = new Date(timeMs).toISOString();
  if (unit === "hour") return laws.nameOfHour(text);
  if (unit === "day") return text.slice(0, 10);
  if (unit === "month") return text.slice(0, 7);
  const day = 86_400_000;
  let thursday = Math.floor(timeMs / day);
  while (new Date(thursday * day).getUTCDay() !== 1) thursday -= 1;
  thursday += 3;
  const year = new Date(thursday * day).getUTCFullYear();
  const week = Math.floor((thursday - Date.UTC(year, 0, 1) / day) / 7) + 1;
  return `${year}-W${String(week).padStart(2, "0")}`;
}

/** A done record: sets when it comes again by itself, if its rule crawls again and its identity is still its own. */
export function rest(model: Model, record: ModelRecord, changed: boolean | undefined): void {
  const { laws } = model;
  const { epoch = "forever" } = ruleOf(model, record).policy;
  record.againAt = 0;
  if (!laws.comesAgain(record) || !ownsItsIdentity(model, record) || epoch === "forever") return;
  if ("every" in epoch) record.againAt = laws.comesAgainAt(model.now(), epoch.every);
  if (!("adaptive" in epoch)) return;
  record.periodMs = Math.round(
    nextPeriod(laws, epoch.adaptive, { last: record.periodMs, changed }),
  );
  record.againAt = model.now() + record.periodMs;
}

/**
 * Begins in the middle of the scale; longer by e^(½ · (1 − 1/e)) after a visit without a change, shorter by e^(½ · 1/e) after one with a
 * change.
 */
function nextPeriod(
  laws: Laws,
  bounds: { min: number; max: number },
  visit: { last: number; changed: boolean | undefined },
): number {
  const last = visit.last === 0 ? Math.sqrt(bounds.min * bounds.max) : visit.last;
  return laws.boundedPeriod(last * Math.exp(laws.periodStep(visit.changed)), bounds);
}

/** The time of a resting record has come: it is pending again if its present rule crawls again. */
export function wakeResting(model: Model, record: ModelRecord): void {
  record.againAt = 0;
  const rule = standingRule(model, record);
  if (rule === undefined || !isRecrawled(rule.policy)) return;
  record.attempts = 0;
  record.deliveries = model.laws.deliveriesOfRevisit(record.deliveries);
  becomePending(record, takePlace(model));
  record.isAgain = true;
}

/** Its own rule, or the one that would replace a rule that has gone. */
function standingRule(model: Model, record: ModelRecord): ModelRule | undefined {
  const rule = ruleOf(model, record);
  if (!rule.isGone) return rule;
  const same = activeRules(model).find(({ id }) => id === rule.id);
  return same ?? matchRule(model, new URL(record.url));
}

/** Whether a push replaces the known record of its identity instead of being a duplicate of it. */
export function mayReplace(
  { laws }: Model,
  from: { policy: SyncPolicy; request: SyncRequest; known: ModelRecord },
): boolean {
  const { policy, request, known } = from;
  const isResting = known.state === "done" && (known.againAt > 0 || known.isKept);
  if (isResting && request.dedup === "record") return true;
  if (!isRecrawled(policy) || request.epoch !== undefined) return false;
  if (request.dedup !== undefined && request.dedup !== "check") return false;
  if (known.state === "done") return laws.doesPushReplaceDone(isResting);
  return laws.doesPushReplace(known);
}

/** The old record stays counted: done, or forgotten where it had failed. */
export function makeWay(known: ModelRecord): void {
  if (known.state === "failed") known.state = "forgotten";
  if (known.state === "pending") known.state = "done";
  known.identity = undefined;
  known.againAt = 0;
  known.isKept = false;
}

/** A new generation of all epochs; returns how many records it took. */
export function forgetAll(model: Model): number {
  return forgetRecords(model, () => true);
}

/** The same for one epoch; for `forever`, every record that no other epoch holds. */
export function forgetEpoch(model: Model, name: string): number {
  const owners = new Set(model.records.filter((record) => ownsItsIdentity(model, record)));
  if (name === "forever") {
    return forgetRecords(model, (r) => model.laws.isOfForever(r, owners.has(r)));
  }
  const count = forgetRecords(model, (r) => model.laws.isOfEpoch(r, name, owners.has(r)));
  for (const record of model.records) if (record.epoch === name) record.identity = undefined;
  return count;
}

function forgetRecords(model: Model, isOf: (record: ModelRecord) => boolean): number {
  let count = 0;
  for (const record of model.records.filter(isOf)) {
    if (record.state === "done" || record.state === "failed") {
      record.state = "forgotten";
      count += 1;
    }
    // A new generation: unfinished records go on without identity.
    if (model.laws.losesIdentity(record)) record.identity = undefined;
    record.againAt = 0;
  }
  return count;
}

function isRecrawled({ epoch = "forever" }: SyncPolicy): boolean {
  return epoch !== "forever" && ("every" in epoch || "adaptive" in epoch);
}

/** Whether a record is the one that its identity names. */
export function ownsItsIdentity(model: Model, record: ModelRecord): boolean {
  return record.identity !== undefined && findRecord(model, record.identity) === record;
}

/** The period of a record that replaces another one, under a rule with periods. */
export function keptPeriod(
  { epoch = "forever" }: SyncPolicy,
  request: SyncRequest,
  replaced: ModelRecord | undefined,
): number {
  if (replaced === undefined || request.epoch !== undefined) return 0;
  return epoch !== "forever" && "adaptive" in epoch ? replaced.periodMs : 0;
}

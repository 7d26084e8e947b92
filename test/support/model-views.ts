/**
 * The naive model's answers about itself. peek and nextDueAt have no logic of their own: they
 * let an independent copy run and read the result.
 */
import type {
  SyncFrontier,
  SyncRecordView,
  SyncReport,
  SyncRequestView,
  VisitState,
} from "./frontier-surface.ts";
import { handOut, settle } from "./model-leases.ts";
import { chooseNext, effectivePriority } from "./model-order.ts";
import { ruleOf } from "./model-rules.ts";
import {
  countState,
  type Model,
  type ModelRecord,
  type ModelRule,
  modelAt,
} from "./model-state.ts";

/** Exactly what pollMany(max) would hand out now. */
export function peekModel(model: Model, max: number): SyncRequestView[] {
  const copy = model.laws.modelToPeekAt(model);
  const views: SyncRequestView[] = [];
  while (views.length < max) {
    const next = chooseNext(copy);
    if (next === undefined) break;
    handOut(copy, next);
    views.push({ url: next.url, priority: effectivePriority(copy, next), depth: next.depth });
  }
  return views;
}

/**
 * The first moment at which a poll succeeds, now or later, if only the clock moves on: a copy is woken at each moment that a clock names
 * until it can hand something out.
 */
export function nextDueModel(model: Model): number | undefined {
  let at = model.now();
  const copy: Model = { ...modelAt(model, at), now: () => at };
  while (chooseNext(copy) === undefined) {
    const next = nextMoment(copy);
    if (next === undefined) return undefined;
    at = next;
    settle(copy);
  }
  return at;
}

function nextMoment(model: Model): number | undefined {
  const clocks = [model.brokenUntil];
  for (const record of model.records) {
    if (record.state === "waiting") clocks.push(record.dueAt);
    if (record.state === "done" && record.againAt > 0) clocks.push(record.againAt);
    const endMs = model.laws.endToWaitFor(record);
    if (endMs !== undefined) clocks.push(endMs);
  }
  for (const host of model.hosts.values()) clocks.push(host.readyAt, host.blockedUntil);
  clocks.push(...model.groups.values());
  const later = clocks.filter((at) => at > model.now());
  return later.length === 0 ? undefined : Math.min(...later);
}

export function reportModel(model: Model, status: SyncFrontier["status"]): SyncReport {
  const identities = new Set(model.records.map((r) => r.identity));
  identities.delete(undefined);
  return {
    status,
    ...model.counters,
    pending: countState(model, "pending"),
    waiting: countState(model, "waiting"),
    leased: countState(model, "leased"),
    done: countState(model, "done"),
    failed: countState(model, "failed"),
    forgotten: countState(model, "forgotten"),
    removed: countState(model, "removed"),
    seen: identities.size,
    rules: Object.fromEntries(model.rules.map((rule) => [rule.id, countsOf(model, rule)])),
  };
}

function countsOf(model: Model, { id, served }: ModelRule): SyncReport["rules"][string] {
  const mine = model.records.filter((r) => ruleOf(model, r).id === id);
  const count = (state: string): number => mine.filter((r) => r.state === state).length;
  return { pending: count("pending"), leased: count("leased"), failed: count("failed"), served };
}

/** undefined for records that are no longer known: forgotten ones. */
export function viewRecord(record: ModelRecord | undefined): SyncRecordView | undefined {
  if (record === undefined || record.state === "forgotten") return undefined;
  const { url, state, deliveries, depth } = record;
  // The attempt in progress counts here.
  const attempts = record.attempts + (record.lease === undefined ? 0 : 1);
  return { url, state, attempts, deliveries, depth };
}

export function listRecords(
  model: Model,
  filter: { state?: VisitState; host?: string },
): SyncRecordView[] {
  return model.records
    .filter((r) => r.state !== "removed")
    .filter((r) => filter.state === undefined || r.state === filter.state)
    .filter((r) => filter.host === undefined || [r.host, new URL(r.url).host].includes(filter.host))
    .flatMap((r) => viewRecord(r) ?? []);
}

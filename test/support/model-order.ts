/**
 * Which record goes next, as simply as possible: by comparing all of them.
 *
 *   1. Only pending records whose host may go now. Without politeness a host has no delay and no
 *      limit of its own, but a block, a hold or a setting made by hand still counts. All its groups agree.
 *   0. The rule whose share is due, of those that have such a record (model-rules.ts).
 *   2. The best effective priority among those.
 *   3. Under politeness: the host that was leased least recently; hosts that were never leased come
 *      first, in order of joining.
 *   4. startLast: start records after all others, FIFO among themselves . Then FIFO:
 *      lowest sequence, LIFO: highest.
 */
import type { SyncPolicy } from "./frontier-surface.ts";
import { groupsMayGo } from "./model-groups.ts";
import type { Laws } from "./model-laws.ts";
import { chooseRule, ruleOf } from "./model-rules.ts";
import {
  countState,
  hostOf,
  isPolite,
  limitOf,
  type Model,
  type ModelRecord,
} from "./model-state.ts";

export function chooseNext(model: Model): ModelRecord | undefined {
  if (model.status !== "running" || model.now() < model.brokenUntil) return undefined;
  if (countState(model, "leased") >= (model.options.maxLeases ?? Number.POSITIVE_INFINITY)) {
    return undefined;
  }
  const pending = model.records.filter((r) => r.state === "pending");
  let candidates = pending.filter((r) => recordMayGo(model, r));
  const rule = chooseRule(model, new Set(candidates.map((r) => ruleOf(model, r))));
  if (rule === undefined) return undefined;
  candidates = candidates.filter((r) => r.rule === rule.serial);
  const { laws } = model;
  const { policy } = rule;
  const competitors = laws.competitors(candidates, pending);
  const best = Math.max(...competitors.map((r) => effectivePriority(model, r)));
  candidates = candidates.filter((r) => effectivePriority(model, r) === best);
  if (isPolite(policy)) {
    const hosts = candidates.map((r) => hostOf(model, r.host)).sort(laws.compareTurns);
    candidates = candidates.filter((r) => r.host === hosts[0]?.key);
  }
  return candidates.sort((a, b) => byPlace(laws, policy, [a, b]))[0];
}

/** (request ?? rule ?? 0) − depth × depthPriority, plus the retries' changes, clamped. */
export function effectivePriority(_model: Model, record: ModelRecord): number {
  const raw = record.asked - record.depth * record.depthPriority + record.shift;
  return Math.min(Math.max(raw, Number.MIN_SAFE_INTEGER), Number.MAX_SAFE_INTEGER);
}

function recordMayGo(model: Model, record: ModelRecord): boolean {
  const { laws } = model;
  const now = model.now();
  const host = hostOf(model, record.host);
  const { policy } = ruleOf(model, record);
  if (host.isHeld || laws.isHostFull(host.leased, limitOf(host, policy))) return false;
  if (!groupsMayGo(model, host, policy)) return false;
  if (!laws.waitsForHost(host, policy)) return true;
  return laws.hasDelayPassed(host.readyAt, now) && now >= host.blockedUntil;
}

function byPlace(laws: Laws, policy: SyncPolicy, [a, b]: [ModelRecord, ModelRecord]): number {
  const byStart = laws.compareStarts(policy, a, b);
  if (byStart !== 0) return byStart;
  if (policy.startLast && a.start) return a.sequence - b.sequence;
  return laws.isNewestFirst(policy) ? b.sequence - a.sequence : a.sequence - b.sequence;
}

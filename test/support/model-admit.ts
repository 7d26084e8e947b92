/**
 * Admission in the naive model: one request in, one verdict out.
 *
 *   parse → depth → epoch → duplicate? → budget → accept hook → capacity (outside pushes only) → record
 *
 * The first step that objects determines the verdict, and only an admitted request is remembered.
 */
import type { SyncPolicy, SyncRequest, SyncVerdict } from "./frontier-surface.ts";
import { epochOf, keptPeriod, makeWay, mayReplace } from "./model-epochs.ts";
import { decideTurns } from "./model-hosts.ts";
import { effectivePriority } from "./model-order.ts";
import { matchRule, ruleOf } from "./model-rules.ts";
import {
  countState,
  DEFAULT_MAX_URL_BYTES,
  hostOf,
  isUpcoming,
  type Model,
  type ModelRecord,
  type ModelRule,
  modelAt,
} from "./model-state.ts";

/** Whether capacity applies: children and redirects of a lease come from inside. */
export type Source = "outside" | "inside";

export function admit(model: Model, request: SyncRequest, source: Source): SyncVerdict {
  const verdict = decide(model, request, source);
  model.counters.pushed += 1;
  const total = verdict.status as "accepted" | "deferred" | "duplicate" | "rejected" | "full";
  model.counters[total] += 1;
  return verdict;
}

function decide(model: Model, request: SyncRequest, source: Source): SyncVerdict {
  const parsed = parse(model, request.url);
  if (typeof parsed === "string") return rejected(parsed);
  const rule = matchRule(model, new URL(parsed.url));
  if (rule === undefined) return rejected("no-rule");
  const { laws } = model;
  const { policy } = rule;
  const { maxDepth = Number.POSITIVE_INFINITY } = policy;
  const depth = request.depth ?? 0;
  if (laws.isTooDeep(depth, maxDepth)) return rejected("too-deep");

  const epoch = epochOf(model, policy, request);
  if (epoch === undefined) return rejected("hook");
  let identity = laws.isRemembered(request) ? identityOf(request, epoch) : undefined;
  const known = identity === undefined ? undefined : findRecord(model, identity);
  const replaced = known && mayReplace(model, { policy, request, known }) ? known : undefined;
  if (known !== undefined && replaced === undefined) {
    if (laws.doesSightingCount(known)) sight(model, known, depth);
    if (laws.isDuplicate(request, model.options)) return { status: "duplicate", admitted: false };
    // A live record keeps its identity; a second one of the same request has none.
    if (isLive(known)) identity = undefined;
  }
  return record(
    model,
    { ...request, url: parsed.url, depth },
    { identity, epoch, replaced, host: request.hostKey ?? parsed.host, source, rule },
  );
}

/** A shallower sighting lowers the depth, and raises the priority by the rule's present `depthPriority`. */
function sight(model: Model, known: ModelRecord, depth: number): void {
  const before = known.depth;
  known.depth = model.laws.depthAfterSighting(before, depth);
  const { depthPriority = 0 } = ruleOf(model, known).policy;
  known.shift += (before - known.depth) * (depthPriority - known.depthPriority);
}

function record(
  model: Model,
  request: SyncRequest & { depth: number },
  from: {
    identity: string | undefined;
    epoch: string;
    replaced: ModelRecord | undefined;
    host: string;
    source: Source;
    rule: ModelRule;
  },
): SyncVerdict {
  const { policy } = from.rule;
  const created: ModelRecord = {
    identity: from.identity,
    epoch: from.epoch,
    host: from.host,
    hostKey: request.hostKey,
    url: request.url,
    method: (request.method ?? "GET").toUpperCase(),
    state: "pending",
    rule: from.rule.serial,
    asked: request.priority ?? policy.priority ?? 0,
    shift: 0,
    depthPriority: policy.depthPriority ?? 0,
    depth: request.depth,
    sequence: model.nextSequence,
    start: request.start ?? false,
    dueAt: request.notBefore ?? 0,
    attempts: 0,
    maxAttempts: request.maxAttempts,
    deliveries: 0,
    data: request.data,
    reason: undefined,
    failedOrder: 0,
    isOnce: request.epoch !== undefined,
    againAt: 0,
    isAgain: false,
    periodMs: keptPeriod(policy, request, from.replaced),
    lease: undefined,
    isKept: false,
  };
  if (!passesHook(model, created)) return rejected("hook");
  if (!hasBudget(model, policy, from.host)) return rejected("budget");
  const { laws } = model;
  const held = countState(model, "pending") + countState(model, "waiting");
  const capacity = model.options.capacity ?? Number.POSITIVE_INFINITY;
  if (laws.isBoundByCapacity(from.source) && laws.isFull(held, capacity)) {
    return { status: "full", admitted: false };
  }
  if (from.replaced !== undefined) makeWay(from.replaced);
  model.nextSequence += 1;
  model.records.push(created);
  const host = hostOf(model, from.host);
  host.joined ??= created.sequence;
  if (isBudgeted(policy)) host.admitted += 1;
  if (created.dueAt <= model.now()) return { status: "accepted", admitted: true };
  created.state = "waiting";
  return { status: "deferred", admitted: true };
}

/** Only admissions under a rule with a budget are counted. */
function isBudgeted({ politeness }: SyncPolicy): boolean {
  const { urls, bytes } = politeness?.budget ?? {};
  return urls !== undefined || bytes !== undefined;
}

/** Whether a host has budget left. */
function hasBudget(model: Model, policy: SyncPolicy, host: string): boolean {
  const { urls, bytes } = policy.politeness?.budget ?? {};
  const spent = model.laws.hostWithBudget(model, host);
  if (model.laws.isBudgetSpent(spent?.admitted ?? 0, urls ?? Number.POSITIVE_INFINITY))
    return false;
  return (spent?.bytes ?? 0) < (bytes ?? Number.POSITIVE_INFINITY);
}

/** Calls the `accept` hook, which may also return another priority or other data. */
function passesHook(model: Model, created: ModelRecord): boolean {
  const { accept } = model.options;
  if (accept === undefined) return true;
  const priority = effectivePriority(model, created);
  const answer = accept({ url: created.url, priority, depth: created.depth });
  if (typeof answer === "boolean") return answer;
  created.asked = answer.priority ?? created.asked;
  created.data = answer.data ?? created.data;
  return true;
}

/**
 * A URL that nobody has leased becomes finished, or due again: what was known is forgotten, and the request admitted in its place. The
 * hook and the capacity are for what is new.
 */
export function putRecord(
  model: Model,
  given: SyncRequest,
  options: { dueAt?: number; data?: unknown },
): { status: string; reason?: string } {
  const { dueAt, data } = options;
  const request: SyncRequest = { ...given };
  if (data !== undefined) request.data = data;
  if (dueAt !== undefined) request.notBefore = dueAt;
  const identity = putIdentity(model, request);
  if (identity === null) return { status: "rejected", reason: "no-identity" };
  const known = identity === undefined ? undefined : findRecord(model, identity);
  if (known?.lease !== undefined) return { status: "leased" };
  if (known !== undefined) {
    const isLive = known.state !== "removed" && (known.state !== "done" || known.isKept);
    if (isLive || known.againAt > 0) {
      request.data ??= known.data;
      if (known.hostKey !== undefined) request.hostKey ??= known.hostKey;
    }
    request.depth ??= known.depth;
    const copy = modelAt(model, model.now());
    copy.options = { ...copy.options, accept: undefined as never };
    // One that was pushed with dedup 'record' has taken the identity from those before it.
    for (const each of copy.records) if (each.identity === identity) each.identity = undefined;
    const foreseen = decide(copy, request, "inside");
    if (!foreseen.admitted) return answerOf(foreseen);
    if (known.state !== "removed") known.state = "forgotten";
    for (const each of model.records) if (each.identity === identity) each.identity = undefined;
    known.againAt = 0;
  }
  const { accept } = model.options;
  if (known !== undefined) model.options = { ...model.options, accept: undefined as never };
  const isInside = known !== undefined || dueAt === undefined;
  const verdict = admit(model, request, isInside ? "inside" : "outside");
  if (known !== undefined) model.options = { ...model.options, accept: accept as never };
  if (!verdict.admitted) return answerOf(verdict);
  const made = model.records.at(-1) as ModelRecord;
  if (dueAt !== undefined) return { status: made.state };
  // Its host is a new one of its domain, as that of a page that is to be visited.
  decideTurns(model);
  Object.assign(made, { state: "done", attempts: 1, isKept: true });
  return { status: "done" };
}

function answerOf({ status, reason }: SyncVerdict): { status: string; reason?: string } {
  return reason === undefined ? { status } : { status, reason };
}

/** undefined: it will be rejected; null: it has no identity. */
function putIdentity(model: Model, request: SyncRequest): string | undefined | null {
  const parsed = parse(model, request.url);
  if (typeof parsed === "string") return undefined;
  const { policy = {} } = matchRule(model, new URL(parsed.url)) ?? {};
  const epoch = epochOf(model, policy, request);
  if (epoch === undefined) return undefined;
  return request.dedup === "skip" ? null : identityOf(request, epoch);
}

/** The record that holds an identity: the youngest one created with it. */
export function findRecord(model: Model, identity: string): ModelRecord | undefined {
  return model.records.findLast((r) => r.identity === identity);
}

function isLive(record: ModelRecord): boolean {
  return isUpcoming(record) || record.state === "leased" || record.state === "failed";
}

/** Epoch, method and URL without its fragment, parameters sorted: enough for the URLs of our programs. */
export function identityOf(request: SyncRequest, epoch: string): string | undefined {
  try {
    const url = new URL(request.url);
    url.hash = "";
    url.searchParams.sort();
    return `${epoch} ${(request.method ?? "GET").toUpperCase()} ${url.href}`;
  } catch {
    return undefined;
  }
}

function parse(model: Model, raw: string): { url: string; host: string } | string {
  const bytesMax = model.options.maxUrlBytes ?? DEFAULT_MAX_URL_BYTES;
  if (Buffer.byteLength(raw) > bytesMax) return "too-long";
  let url: URL;
  try {
    url = new URL(raw);
  } catch {
    return "invalid-url";
  }
  if (url.protocol !== "http:" && url.protocol !== "https:") return "scheme";
  url.hash = "";
  const { policy = {} } = matchRule(model, url) ?? {};
  return { url: url.href, host: hostKeyOf(policy, url) };
}

function hostKeyOf(policy: SyncPolicy, url: URL): string {
  const by = policy.politeness?.by ?? "host";
  if (typeof by === "function") return by(url.href);
  // The hosts of our programs end in two-label registrable domains.
  return by === "domain" ? url.hostname.split(".").slice(-2).join(".") : url.host;
}

function rejected(reason: string): SyncVerdict {
  return { status: "rejected", reason, admitted: false };
}

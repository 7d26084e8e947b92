/**
 * The naive frontier: the synchronous surface of `Frontier` over plain arrays, written to be read. It is the specification in executable
 * form: memory only, no jitter. Every call first lets the clock do its part (`settle`), then does its own.
 *
 *   model-state    what there is            model-order   which record goes next
 *   model-admit    request → verdict        model-leases  hand-out, ends of a lease, expiry, due
 *   model-hosts    politeness, breaker      model-views   peek, nextDueAt, report, records
 *   model-groups   clocks above hosts       model-epochs  how long one sighting blocks the next
 *   model-redirect  what a redirected request takes along
 *   model-laws     the rules that mutants break, as small functions
 *
 *   I1  accepted + deferred = pending + waiting + leased + done + failed + forgotten + removed.
 *   I2  A record has a lease exactly while its state is leased.
 *   I4  peek(n) is what pollMany(n) then returns.
 */
import { FrontierError } from "../../src/base/errors.ts";
import type {
  SyncDoneResult,
  SyncFrontier,
  SyncLease,
  SyncOptions,
  SyncPushResult,
  SyncRequest,
  SyncVerdict,
} from "./frontier-surface.ts";
import { admit, findRecord, identityOf, putRecord } from "./model-admit.ts";
import { epochOf, forgetAll, forgetEpoch } from "./model-epochs.ts";
import { owedGroups, setAddress } from "./model-groups.ts";
import {
  finishDone,
  finishFailed,
  finishRelease,
  finishRetry,
  handOut,
  leaseOf,
  settle,
} from "./model-leases.ts";
import { type Laws, LAWS } from "./model-laws.ts";
import { activeRules, adoptAll, matchRule, setModelRules } from "./model-rules.ts";
import { goingOn } from "./model-redirect.ts";
import { chooseNext, effectivePriority } from "./model-order.ts";
import {
  becomePending,
  createCounters,
  createModel,
  delayOf,
  hostOf,
  isUpcoming,
  limitOf,
  type Model,
  type ModelRecord,
  takePlace,
} from "./model-state.ts";
import { listRecords, nextDueModel, peekModel, reportModel, viewRecord } from "./model-views.ts";

const CLOSED: SyncVerdict = { status: "closed", admitted: false };
const LATE: SyncVerdict = { status: "rejected", reason: "late", admitted: false };

/** With other laws than its own, it is a mutant: the programs must tell it from the model. */
export function createModelFrontier(options: SyncOptions, laws: Laws = LAWS): SyncFrontier {
  const model = createModel(options, laws);
  setModelRules(model, options.rules ?? [{ id: "default" }]);
  const at = (): Model => {
    if (model.status === "stopped") throw new FrontierError("FRONTIER_CLOSED", "frontier: closed");
    settle(model);
    return model;
  };
  const isOpen = (): boolean => model.status !== "stopped" && at() === model;
  const pollMany = (max: number): SyncLease[] => {
    const leases: SyncLease[] = [];
    while (isOpen() && leases.length < max) {
      const next = chooseNext(model);
      if (next === undefined) break;
      handOut(model, next);
      leases.push(createLease(model, next, isOpen));
    }
    return leases;
  };
  return {
    get status() {
      return statusOf(model);
    },
    push: (request) => (isOpen() ? admit(model, asRequest(request), "outside") : CLOSED),
    pushMany(requests, defaults = {}) {
      const verdicts = [...requests].map((request) =>
        isOpen() ? admit(model, { ...defaults, ...asRequest(request) }, "outside") : CLOSED,
      );
      return pushResult(verdicts);
    },
    put: (request, options = {}) =>
      isOpen() ? putRecord(model, asRequest(request), options) : { status: "closed" },
    poll: () => pollMany(1)[0],
    pollMany,
    peek: (max = 1) => peekModel(at(), max),
    done: (leases) => [...leases].filter((lease) => !lease.done().late).length,
    record: (request) => viewRecord(lookUp(at(), request)),
    explain: (request) => ({ state: viewRecord(lookUp(at(), request))?.state }),
    records: (filter) => listRecords(at(), filter),
    nextDueAt: () => nextDueModel(at()),
    report: () => reportModel(at(), statusOf(model)),
    ...steering(at),
    pause() {
      at().status = "paused";
    },
    resume() {
      at().status = "running";
      model.brokenUntil = 0;
    },
    async drain() {
      at().status = "draining";
    },
    async close() {
      for (const record of at().records) if (record.lease) finishRelease(model, record);
      model.status = "stopped";
    },
  };
}

type Steering = Pick<
  SyncFrontier,
  "host" | "update" | "requeue" | "remove" | "forget" | "clear" | "setRules"
>;

function steering(at: () => Model): Steering {
  return {
    host: (key) => createHost(at, key),
    update(request, change) {
      const record = lookUp(at(), request);
      if (record === undefined || !isUpcoming(record)) return false;
      record.sequence = at().laws.placeAfterUpdate(at(), record);
      if (change.priority !== undefined) {
        record.shift += change.priority - effectivePriority(at(), record);
      }
      if (change.notBefore === undefined) return true;
      if (change.notBefore > at().now()) {
        record.state = "waiting";
        record.dueAt = change.notBefore;
        record.isAgain = false; // pushed for another time: no longer a revisit
      } else if (record.state === "waiting") {
        becomePending(record, takePlace(at()));
      }
      return true;
    },
    requeue(filter) {
      const failed = at().records.filter((r) => r.state === "failed" && isOf(r, filter.host));
      for (const record of failed.sort((a, b) => a.failedOrder - b.failedOrder)) {
        record.attempts = at().laws.attemptsAfterRequeue(record.attempts);
        becomePending(record, takePlace(at()));
      }
      adoptAll(at());
      return failed.length;
    },
    remove(filter) {
      const pattern = new RegExp(filter.pattern ?? "", "u");
      const found = at().records.filter(
        (r) => isToCome(r) && isOf(r, filter.host) && pattern.test(r.url),
      );
      for (const record of found) Object.assign(record, { state: "removed", againAt: 0 });
      return found.length;
    },
    forget({ epoch } = {}) {
      return epoch === undefined ? forgetAll(at()) : forgetEpoch(at(), epoch);
    },
    setRules(rules) {
      setModelRules(at(), rules);
    },
    clear() {
      resetRules(at());
      for (const record of at().records) record.lease = undefined;
      at().records = [];
      at().hosts = owedHosts(at());
      at().groups = owedGroups(at());
      at().counters = createCounters();
      at().fresh.clear();
      at().freshTurns = 0;
    },
  };
}

/** Counts and shares start from zero; removed rules do not come back. */
function resetRules(model: Model): void {
  model.rules = model.rules.filter((rule) => !rule.isGone || rule.serial === 0);
  for (const rule of model.rules) Object.assign(rule, { pass: 0, served: 0, wasEligible: false });
  model.currentPass = 0;
}

function createLease(model: Model, record: ModelRecord, isOpen: () => boolean): SyncLease {
  const { serial } = leaseOf(record);
  const isLive = (): boolean => isOpen() && model.laws.isPresentLease(record, serial);
  const isLate = (): boolean => {
    if (isLive()) return false;
    model.counters.lateResults += 1;
    return true;
  };
  const { url, method, depth, data, deliveries } = record;
  const { host } = new URL(url);
  let { deadlineMs } = leaseOf(record);
  return {
    ...{ url, method, depth, host, data, deliveries },
    priority: effectivePriority(model, record),
    attempt: record.attempts + 1,
    get deadlineMs() {
      return deadlineMs;
    },
    done(result: SyncDoneResult = {}) {
      if (isLate()) return { ...pushResult([]), late: true };
      finishDone(model, record, result.outcome);
      const verdicts = (result.found ?? []).map((found) => {
        const child = onPage(asRequest(found), url);
        return admit(model, { ...child, depth: model.laws.depthOfChild(depth, child) }, "inside");
      });
      return { ...pushResult(verdicts), late: false };
    },
    retry(options = {}) {
      if (isLate()) return "late";
      return finishRetry(model, record, options) ? "requeued" : "failed";
    },
    fail(reason, outcome) {
      if (isLate()) return false;
      finishFailed(model, record, { reason, outcome });
      return true;
    },
    release() {
      if (isLate()) return false;
      finishRelease(model, record);
      return true;
    },
    redirect(target, { status = 302, ...change } = {}) {
      if (isLate()) return isOpen() ? LATE : CLOSED;
      const page = onPage({ url: target }, url);
      const request = { ...goingOn(model, record, page.url, status), ...change };
      const arrived = { ...request, ...page, depth: model.laws.depthOfRedirect(depth) };
      return admit(model, arrived, "inside");
    },
    extend(ms) {
      if (isLate()) return false;
      leaseOf(record).deadlineMs += ms;
      deadlineMs = leaseOf(record).deadlineMs;
      return true;
    },
  };
}

/** A request of a page: a URL without a scheme is resolved against the page's. */
function onPage<R extends { url: string }>(request: R, base: string): R {
  const { url } = request;
  if (/^[a-z][a-z0-9+.-]*:/i.test(url) || !URL.canParse(url, base)) return request;
  return { ...request, url: new URL(url, base).href };
}

/** What survives clear(): running clocks, holds and settings, in the order of turns. */
function owedHosts(model: Model): Model["hosts"] {
  const owed = [...model.hosts.values()].filter((host) => {
    const clockMs = Math.max(host.readyAt, host.blockedUntil);
    return host.joined !== undefined && (model.laws.outlivesClear(host) || clockMs > model.now());
  });
  const turnOf = (host: (typeof owed)[number]): number =>
    host.turn ?? (host.joined ?? 0) - Number.MAX_SAFE_INTEGER;
  owed.sort((a, b) => turnOf(a) - turnOf(b));
  for (const host of owed) {
    Object.assign(host, { leased: 0, turn: undefined, isDecided: false, admitted: 0, bytes: 0 });
    host.joined = model.nextSequence++;
  }
  return new Map(owed.map((host) => [host.key, host]));
}

function createHost(at: () => Model, key: string): ReturnType<SyncFrontier["host"]> {
  const host = (): ReturnType<typeof hostOf> => hostOf(at(), key);
  /** A host that is steered before its first record joins then. */
  const joined = (): ReturnType<typeof hostOf> => {
    host().joined ??= at().nextSequence++;
    return host();
  };
  return {
    get delayMs() {
      const delays = activeRules(at()).map(({ policy }) => delayOf(host(), policy));
      return host().delayMs ?? Math.max(0, ...delays);
    },
    set delayMs(ms) {
      joined().delayMs = ms;
      Object.assign(host(), { isSet: true, isDelaySet: true, isSteered: true });
    },
    get limit() {
      const limits = activeRules(at()).map(({ policy }) => limitOf(host(), policy));
      return host().limit ?? Math.min(...limits);
    },
    set limit(count) {
      joined().limit = count;
      Object.assign(host(), { isSet: true, isSteered: true });
    },
    get address(): string {
      return host().address as string;
    },
    set address(address) {
      joined();
      setAddress(at(), key, address);
    },
    blockUntil(atMs) {
      joined().isSteered = true;
      host().blockedUntil = atMs; // by hand: also an earlier time
    },
    hold() {
      Object.assign(joined(), { isHeld: true, isSteered: true });
    },
    unhold() {
      Object.assign(joined(), { isHeld: false, isSteered: true });
    },
  };
}

function pushResult(verdicts: SyncVerdict[]): SyncPushResult {
  const count = (status: string): number => verdicts.filter((v) => v.status === status).length;
  return {
    size: verdicts.length,
    accepted: count("accepted"),
    deferred: count("deferred"),
    duplicate: count("duplicate"),
    rejected: count("rejected"),
    full: count("full"),
    verdict(index) {
      const verdict = verdicts[index];
      if (verdict === undefined) throw new FrontierError("ARGUMENT_INVALID", `index: ${index}`);
      return verdict;
    },
  };
}

function lookUp(model: Model, request: string | SyncRequest): ModelRecord | undefined {
  const asked = asRequest(request);
  if (!URL.canParse(asked.url)) return undefined;
  const url = new URL(asked.url);
  url.hash = "";
  const { policy = {} } = matchRule(model, url) ?? {};
  const epoch = epochOf(model, policy, asked);
  const identity = epoch === undefined ? undefined : identityOf(asked, epoch);
  return identity === undefined ? undefined : findRecord(model, identity);
}

/** Pending, or coming again by itself: what remove reaches. */
function isToCome(record: ModelRecord): boolean {
  return isUpcoming(record) || (record.state === "done" && (record.againAt > 0 || record.isKept));
}

function asRequest(request: string | SyncRequest): SyncRequest {
  return typeof request === "string" ? { url: request } : request;
}

function isOf(record: ModelRecord, host: string | undefined): boolean {
  return host === undefined || new URL(record.url).host === host || record.host === host;
}

function statusOf(model: Model): string {
  return model.status === "running" && model.now() < model.brokenUntil ? "paused" : model.status;
}

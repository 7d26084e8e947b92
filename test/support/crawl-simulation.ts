/**
 * A whole crawl of a synthetic web on a virtual clock, watched by the trace checker.
 *
 *   fill      poll until nothing is due or `window` visits run; each visit gets its fate and end
 *   wait      the clock goes to the next end of a visit or to nextDueAt, whichever comes first
 *   finish    all visits that end now; a dead worker's lease just expires, a late one answers later
 *
 * The crawl ends when the web is exhausted or after `handOutsMax`.
 */
import type { createVirtualClock } from "../../src/base/clock.ts";
import { HOST_IDLE_COUNT_MAX } from "../../src/structures/hosts/host-table.ts";
import { checkConservation } from "./duel.ts";
import type {
  SyncFrontier,
  SyncGroup,
  SyncLease,
  SyncPolicy,
  SyncRequest,
} from "./frontier-surface.ts";
import type { GroupShape } from "./trace-groups.ts";
import { createHeap, firstKey, heapPop, heapPush, type MinHeap } from "./min-heap.ts";
import type { Fate, Web } from "./synthetic-web.ts";
import {
  createTraceChecker,
  type End,
  type TraceChecker,
  traceAdmitted,
  traceBlocked,
  traceEnded,
  traceHandedOut,
  traceNothingDue,
  traceRefused,
} from "./trace-checker.ts";

export interface Crawl {
  web: Web;
  frontier: SyncFrontier;
  clock: ReturnType<typeof createVirtualClock>;
  delayMs: number;
  perHost: number;
  /** Most visits at once. */
  window: number;
  handOutsMax?: number;
  /** Clocks above hosts: of this many servers, named by a function, and of this many addresses. */
  servers?: Omit<GroupShape, "groupOf">;
  addresses?: Omit<GroupShape, "groupOf">;
  /** When a page may be visited again: after this long by itself, or in the next hour of the clock when a link leads there. */
  again?: { everyMs: number } | "hourly";
  /** Idle hosts that the frontier remembers. */
  idleHosts?: number;
  /** Called from time to time, between two rounds. */
  onCheck?: (checker: TraceChecker) => void;
}

export interface CrawlResult {
  checker: TraceChecker;
  /** True when the web was exhausted. */
  isComplete: boolean;
  virtualMs: number;
  /** Late results that were delivered. */
  late: number;
}

interface Visit {
  lease: SyncLease;
  host: number;
  page: number;
  fate: Fate;
}

interface Run {
  crawl: Crawl;
  checker: TraceChecker;
  ends: MinHeap;
  visits: Array<Visit | undefined>;
  free: number[];
  active: number;
  late: number;
  /** The hour in which the roots were last pushed. */
  hour: number;
}

/** Most hours of an hourly crawl, each an epoch. */
const HOURS_MAX = 300;
const HOUR_MS = 3_600_000;

const RETRY_AFTER_MS = 30_000;
const SEED_BATCH = 10_000;
/** Rounds between two runs of the slow conservation check. */
const ROUNDS_PER_CHECK = 1_000;

/** The policy with which the simulated frontier must be opened, so that the checker's assumptions hold. */
export function crawlPolicy(
  crawl: Pick<Crawl, "addresses" | "again" | "delayMs" | "perHost" | "servers">,
): SyncPolicy {
  const { addresses, again, delayMs, perHost, servers } = crawl;
  const groups: SyncGroup[] = [];
  if (servers !== undefined) {
    const by = (host: string): string => `server ${Number(/\d+/.exec(host)) % servers.count}`;
    groups.push({ by, limit: servers.limit, delayMs: servers.delayMs });
  }
  if (addresses !== undefined) {
    groups.push({ by: "address", limit: addresses.limit, delayMs: addresses.delayMs });
  }
  const politeness = { delayMs, perHost, ...(groups.length > 0 ? { groups } : {}) };
  const policy: SyncPolicy = { politeness, retryPriority: 0, maxAttempts: 1_000 };
  if (again === undefined) return policy;
  return { ...policy, epoch: again === "hourly" ? { calendar: "hour" } : { every: again.everyMs } };
}

/** A host's group of each kind, as the policy above has it. */
function shapesOf({ addresses, servers }: Crawl): GroupShape[] {
  const shapes = [servers, addresses].filter((shape) => shape !== undefined);
  return shapes.map((shape) => ({ ...shape, groupOf: (host) => host % shape.count }));
}

export const CRAWL_LIMITS = { leaseMs: 60_000, maxDeliveries: 1_000 } as const;

export function runCrawl(crawl: Crawl): CrawlResult {
  const { again, web, delayMs, perHost, clock, frontier } = crawl;
  const { idleHosts = HOST_IDLE_COUNT_MAX } = crawl;
  const checker = createTraceChecker({
    ...{ hosts: web.hosts, delayMs, perHost, idleHosts, groups: shapesOf(crawl) },
    items: again === "hourly" ? web.items * HOURS_MAX : web.items,
    ...(typeof again === "object" ? { everyMs: again.everyMs } : {}),
  });
  const run: Run = {
    crawl,
    checker,
    ends: createHeap(),
    visits: [],
    free: [],
    active: 0,
    late: 0,
    hour: 0,
  };
  const startMs = clock.now();
  seed(run);
  const handOutsMax = crawl.handOutsMax ?? Number.POSITIVE_INFINITY;
  let isComplete = false;
  for (let round = 0; checker.handOuts < handOutsMax; round++) {
    fill(run);
    const nextMs = nextMoment(run) ?? nextHour(run);
    isComplete = nextMs === undefined;
    if (nextMs === undefined) break;
    clock.advance(nextMs - clock.now());
    finishDue(run);
    if (hourOf(run) > run.hour) seed(run);
    if (round % ROUNDS_PER_CHECK !== 0) continue;
    checkConservation(frontier.report());
    crawl.onCheck?.(checker);
  }
  checkConservation(frontier.report());
  return { checker, isComplete, virtualMs: clock.now() - startMs, late: run.late };
}

function seed(run: Run): void {
  const { addresses, web, frontier } = run.crawl;
  run.hour = hourOf(run);
  for (let host = 0; addresses !== undefined && host < web.hosts; host++) {
    const { host: key } = new URL(web.urlOf(host, 0));
    frontier.host(key).address = `10.0.0.${host % addresses.count}`;
  }
  for (let from = 0; from < web.hosts; from += SEED_BATCH) {
    const count = Math.min(SEED_BATCH, web.hosts - from);
    const roots = Array.from({ length: count }, (_, i) => web.urlOf(from + i, 0));
    const result = frontier.pushMany(dated(run, roots));
    roots.forEach((url, index) => void admitted(run, url, result.verdict(index).status));
  }
}

function admitted(run: Run, url: string, status: string): void {
  const { web, clock } = run.crawl;
  const { host, page } = web.place(url);
  const event = { host, item: itemOf(run, host, page, hourOf(run)), nowMs: clock.now() };
  if (status === "duplicate") traceRefused(run.checker, event);
  else if (status === "accepted") traceAdmitted(run.checker, event);
  else throw new Error(`${url}: ${status}`);
}

/** Links with the hour in which they were found, where it belongs to their identity: their leases return it. */
function dated(run: Run, urls: string[]): Array<string | SyncRequest> {
  const hour = hourOf(run);
  return run.crawl.again === "hourly" ? urls.map((url) => ({ url, data: hour })) : urls;
}

function hourOf({ crawl: { again, clock } }: Run): number {
  return again === "hourly" ? Math.floor(clock.now() / HOUR_MS) : 0;
}

function fill(run: Run): void {
  const { frontier, clock, web, window } = run.crawl;
  while (run.active < window) {
    const leases = frontier.pollMany(Math.min(window - run.active, 256));
    if (leases.length === 0) {
      traceNothingDue(run.checker, clock.now());
      return;
    }
    for (const lease of leases) {
      const { host, page } = web.place(lease.url);
      const nowMs = clock.now();
      const event = { host, item: itemOf(run, host, page, lease.data), nowMs };
      traceHandedOut(run.checker, event, lease.deliveries === 1);
      start(run, { lease, host, page, fate: fateOf(run, lease, host, page) });
    }
  }
}

function fateOf(run: Run, lease: SyncLease, host: number, page: number): Fate {
  const fate = run.crawl.web.fateOf(host, page, lease.deliveries);
  // With several visits at once the checker cannot determine what a release restores.
  return fate === "release" && run.crawl.perHost > 1 ? "done" : fate;
}

function start(run: Run, visit: Visit): void {
  const { web, clock } = run.crawl;
  const slot = run.free.pop() ?? run.visits.length;
  run.visits[slot] = visit;
  run.active += 1;
  const isLost = visit.fate === "die" || visit.fate === "late";
  const endMs = isLost
    ? visit.lease.deadlineMs
    : clock.now() + web.latencyMs(visit.host, visit.page);
  heapPush(run.ends, endMs, slot, slot);
}

/** The next moment at which something happens; undefined: none. */
function nextMoment(run: Run): number | undefined {
  const { frontier, clock, window } = run.crawl;
  const endMs = firstKey(run.ends);
  if (run.active >= window) return endMs;
  const dueMs = frontier.nextDueAt();
  if (dueMs !== undefined && dueMs <= clock.now()) {
    throw new Error(`nextDueAt is ${dueMs} at ${clock.now()}, but poll gave nothing`);
  }
  if (endMs === undefined || dueMs === undefined) return endMs ?? dueMs;
  return Math.min(endMs, dueMs);
}

/** The next hour, where each new one starts the crawl again. */
function nextHour(run: Run): number | undefined {
  return run.crawl.again === "hourly" ? (hourOf(run) + 1) * HOUR_MS : undefined;
}

function finishDue(run: Run): void {
  const nowMs = run.crawl.clock.now();
  for (let key = firstKey(run.ends); key !== undefined && key <= nowMs; key = firstKey(run.ends)) {
    const slot = run.ends.values[0] as number;
    heapPop(run.ends);
    const visit = run.visits[slot];
    if (visit === undefined) throw new Error(`no visit in slot ${slot}`);
    run.visits[slot] = undefined;
    run.free.push(slot);
    run.active -= 1;
    const { host, page, lease } = visit;
    const event = { host, item: itemOf(run, host, page, lease.data), nowMs };
    traceEnded(run.checker, event, finish(run, visit));
  }
}

function finish(run: Run, { lease, host, page, fate }: Visit): End {
  const { web, clock } = run.crawl;
  switch (fate) {
    case "done": {
      const found = web.linksOf(host, page);
      const result = lease.done({ found: dated(run, found) });
      if (result.late) throw new Error(`${lease.url} was late at ${clock.now()}`);
      found.forEach((url, index) => void admitted(run, url, result.verdict(index).status));
      return "done";
    }
    case "retry":
      lease.retry();
      return "retry";
    case "busy":
      traceBlocked(run.checker, host, clock.now() + RETRY_AFTER_MS);
      lease.retry({ outcome: { status: 429, retryAfterMs: RETRY_AFTER_MS } });
      return "retry";
    case "fail":
      lease.fail("gone");
      return "fail";
    case "release":
      lease.release();
      return "release";
    case "late":
      if (!lease.done({ found: web.linksOf(host, page) }).late) throw new Error("not late");
      run.late += 1;
      return "expire";
    case "die":
      return "expire";
  }
}

/** The number of a page in an epoch. */
function itemOf({ crawl: { web } }: Run, host: number, page: number, hour: unknown = 0): number {
  const at = typeof hour === "number" ? hour : 0;
  if (at >= HOURS_MAX) throw new Error(`the clock stands at hour ${at}`);
  return at * web.items + (web.offsets[host] as number) + page;
}

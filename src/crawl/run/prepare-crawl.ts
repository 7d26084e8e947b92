/**
 * Prepares a crawl: makes and registers modules, sets the scope's rule, builds the robots gate, pushes the seeds; and makes the context
 * of every visit.
 */
import { createPausedHosts } from "../threads/paused-hosts.ts";
import { noteCrawlLog } from "../report/crawl-log.ts";
import type { Frontier, Rule } from "../../index.ts";
import type { SharedFrontier } from "../shared/shared-frontier.ts";
import type { SitemapTimes } from "../robots/sitemap-times.ts";
import { createCookies } from "../http/cookie-jar.ts";
import { createDownloader } from "../http/downloader.ts";
import { createInflateRoom } from "../http/decoding/inflate-room.ts";
import type { Emitter } from "../report/emitter.ts";
import type { FaultHub } from "../report/fault-stream.ts";
import { misuse } from "../../base/errors.ts";
import {
  createBodyFolder,
  createItemFile,
  fileBeside,
  lineFileBeside,
  openLineFile,
} from "../files.ts";
import { compilePatterns } from "../page/link-patterns.ts";
import { createCrawlGate } from "../robots/robots-gate.ts";
import { loadPolicyHook } from "../policy/policy-hook.ts";
import { inTurn } from "../robots/host-turn.ts";
import { registerModules, signingOf } from "./load-modules.ts";
import { withByteBudget } from "./byte-budget.ts";
import { withHostBlock } from "./host-block.ts";
import {
  type Download,
  downloadBy,
  type DownloadRequest,
  type ModuleRegistry,
} from "../module-registry.ts";
import type { CrawlEvents, Monitor } from "./crawl-monitor.ts";
import { type CrawlOptions, type CrawlSettings, downloaderOptions, pick } from "./crawl-options.ts";
import { createLastPlaces } from "../traps/last-places.ts";
import { createTrapWatch } from "../traps/trap-watch.ts";
import { createUrlBudgets } from "../traps/url-budgets.ts";
import { createRobots } from "../robots/robots-txt.ts";
import { openRobotsCacheFile, type RobotsCacheFile } from "../robots/robots-cache-file.ts";
import { scopeOf } from "./crawl-scope.ts";
import type { VisitContext, VisitLimits } from "./visit-context.ts";

export type WatchedFamilies = Pick<VisitContext, "traps" | "budgets" | "isNew" | "places">;

/** What decides by families of URLs, as the options ask. */
export function watchFamilies(frontier: Frontier, given: CrawlOptions): WatchedFamilies {
  const isNew = (url: string): boolean => frontier.record(url) === undefined;
  const { traps: wanted = false, maxPathUrls: paths = {}, maxQueryUrls: perQuery } = given;
  const hasBudgets = Object.keys(paths).length > 0 || perQuery !== undefined;
  const file = hasBudgets ? lineFileBeside(given, "budgets.txt") : undefined;
  const budgets = hasBudgets ? createUrlBudgets({ paths, perQuery, isNew, file }) : undefined;
  const { exceptRules } = typeof wanted === "object" ? wanted : {};
  const ruleOf = (url: string): string | undefined => frontier.explain(url).rule;
  // What failed, or was removed, shows nothing.
  const isKnown = (url: string): boolean => {
    const state = frontier.record(url)?.state;
    return state !== undefined && state !== "failed" && state !== "removed";
  };
  const isPending = (url: string): boolean => frontier.record(url)?.state === "pending";
  const domainOf = (host: string): string => frontier.explain(`http://${host}/`).domain ?? host;
  const traps =
    wanted === false
      ? undefined
      : createTrapWatch({ exceptRules, ruleOf, isKnown, isPending, isNew, domainOf });
  return { isNew, places: traps && createLastPlaces(frontier), traps, budgets };
}

interface CrawlPreparation {
  readonly frontier: Frontier;
  /** The adapter behind `frontier`, if the frontier is elsewhere. */
  readonly shared: SharedFrontier | undefined;
  readonly settings: CrawlSettings;
  readonly modules: ModuleRegistry;
  readonly faults: FaultHub;
  readonly events: Emitter<CrawlEvents>;
  readonly monitor: Monitor;
  readonly validators: VisitContext["validators"];
  readonly sitemapTimes: SitemapTimes;
  readonly families: WatchedFamilies;
  /** Visits are given up when it fires. */
  readonly signal: AbortSignal;
  readonly onNoDownloader: () => void;
}

export async function prepareCrawl(parts: CrawlPreparation): Promise<VisitContext> {
  const { frontier, settings, modules, faults, events, monitor } = parts;
  const { given } = settings;
  // Where threads visit, each of them writes items; here modules are made to see that they can be.
  const { items: _, ...withoutItems } = given;
  // robots.txt is asked for by this thread, and has its archive here.
  const room = createInflateRoom();
  const signing = await signingOf(given);
  await registerModules(modules, settings.threads > 0 ? withoutItems : given, () =>
    createDownloader({
      userAgent: settings.userAgent,
      connections: settings.perHost,
      clock: settings.clock,
      ...downloaderOptions(given),
      ...signing,
      room,
    }),
  );
  frontier.on("error", ({ stage, cause, url }) => {
    if (stage === "done") return; // an analyzer's own errors, already reported
    const what = `${stage}: ${String(cause)}`;
    faults.report({ type: "scheduler", what, cause, ...(url === undefined ? {} : { url }) });
  });
  monitor.watch(frontier);
  await takeScope(parts);
  const hostKeyOf = hostKeys(parts);
  const robots =
    settings.robots === undefined ? undefined : gateOf(parts, settings.robots, hostKeyOf);
  const gate = boundedGate(parts, robots, hostKeyOf);
  if (given.pauseSickHosts === true) pauseSickHosts(parts, hostKeyOf);
  frontier.pushMany(settings.seeds);
  const policyHook = await loadPolicyHook(given.policy);
  keepLog(parts);
  return {
    clock: settings.clock,
    modules,
    faults,
    counters: monitor.counters,
    gate,
    isPaused: (url) => frontier.host(hostKeyOf(url)).blockedUntil > settings.clock.now(),
    paused: createPausedHosts(),
    validators: parts.validators,
    sitemapTimes: parts.sitemapTimes,
    ...parts.families,
    policyHook,
    userAgent: settings.userAgent,
    cookies: settings.cookies
      ? createCookies({ clock: settings.clock, domainOf: (url) => frontier.explain(url).domain })
      : undefined,
    limits: {
      ...pick(settings, ["maxRedirects", "maxLinks", "maxRetryAfterMs", "trapFilter", "types"]),
      ...patternsOf(settings),
      sitemapOnly: given.sitemapOnly ?? false,
      auth: authOf(settings),
      sampleItems: given.items !== undefined || given.pipelines !== undefined,
    },
    room,
    signal: parts.signal,
    onNoDownloader: parts.onNoDownloader,
    patterns: compilePatterns(patternsOf(settings)),
    bodies: given.saveBodies === undefined ? undefined : createBodyFolder(given.saveBodies, true),
    onEnding: (visit) => monitor.health.visit(visit),
    onVisit(visit) {
      if (visit.outcome === "done") parts.sitemapTimes.visited(visit.url, visit.atMs);
      monitor.visit(visit);
    },
    onPage: (page) => monitor.page(page),
    onItem: (item, url) => events.emit("item", { item, url }),
  };
}

function pauseSickHosts(
  { frontier, monitor }: CrawlPreparation,
  hostKeyOf: ReturnType<typeof hostKeys>,
): void {
  monitor.health.onSick = (url, until) => {
    const host = frontier.host(hostKeyOf(url));
    if (host.blockedUntil < until) host.blockUntil(until);
  };
}

/** The gate of robots.txt, after the crawl's own bounds for a host. */
function boundedGate(
  { frontier, settings }: CrawlPreparation,
  robots: ReturnType<typeof gateOf> | undefined,
  hostKeyOf: ReturnType<typeof hostKeys>,
): VisitContext["gate"] {
  const { maxHostBytes } = settings.given;
  const bounded =
    maxHostBytes === undefined
      ? robots
      : withByteBudget(robots, { frontier, maxHostBytes, hostKeyOf });
  // On this thread a lease begins when it is handed out; in a worker thread it may wait in a ring first.
  return settings.threads === 0
    ? bounded
    : withHostBlock(bounded, { frontier, clock: settings.clock, hostKeyOf });
}

/** The rules of the scope, where the crawl makes them. */
async function takeScope({ frontier, shared, settings, events }: CrawlPreparation): Promise<void> {
  const { given, scope, seeds } = settings;
  if (given.frontier !== undefined || given.rules !== undefined) return;
  if (isUnscoped(frontier, settings)) {
    const expected =
      "domains, or 'any' for the whole web: no scope was chosen for what this directory holds";
    throw misuse("OPTION_INVALID", "options.scope", undefined, expected);
  }
  const isKept = given.directory !== undefined || shared !== undefined;
  let made: ReturnType<typeof scopeOf> | undefined;
  const make = (): { rules: Rule[] } | undefined => {
    made = scopeOf(frontier, scope, seeds, isKept);
    return made.rules && { rules: made.rules };
  };
  if (shared !== undefined) await shared.changeRules(make);
  else {
    const { rules } = make() ?? {};
    if (rules !== undefined) frontier.setRules(rules);
  }
  if (made?.change !== undefined) events.emit("scope", made.change);
}

/**
 * Whether a continued frontier has no rules: an import or a program filled it without a scope.
 */
function isUnscoped(frontier: Frontier, { scope, seeds }: CrawlSettings): boolean {
  if (scope !== undefined || seeds.length > 0 || frontier.rules() !== undefined) return false;
  const { pending, waiting, leased, done, failed } = frontier.report();
  return pending + waiting + leased + done + failed > 0;
}

type Patterns = Pick<VisitLimits, "include" | "exclude">;

/** Those that are given; of a directory that goes on without any, those that it had. */
function patternsOf({ given }: CrawlSettings): Patterns {
  const { include, exclude } = given;
  const path = fileBeside(given, "patterns.json");
  if (path === undefined) return { include, exclude };
  const file = openLineFile(path);
  const [line = ""] = file.takeLines();
  const noted = (line === "" ? {} : JSON.parse(line)) as Patterns;
  if (include === undefined && exclude === undefined) {
    return { include: noted.include, exclude: noted.exclude };
  }
  file.rewrite([JSON.stringify({ include, exclude })]);
  return { include, exclude };
}

/** A line of the file for each visit. */
function keepLog({ settings, events, faults }: CrawlPreparation): void {
  const { log } = settings.given;
  if (log === undefined) return;
  const file = createItemFile({ path: log });
  noteCrawlLog(settings.given, log);
  const [write] = file.processors;
  events.on("visit", (visit) => {
    try {
      write?.(visit, visit);
    } catch (cause) {
      faults.report({ type: "scheduler", what: `log: ${String(cause)}`, cause });
    }
  });
  events.on("finished", () => void file.close?.());
}

/** For the origins of the seeds alone: a page elsewhere must not learn it. */
function authOf({ given, seeds }: CrawlSettings): VisitLimits["auth"] {
  if (given.auth === undefined) return undefined;
  const { username, password } = given.auth;
  const value = `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}`;
  const urls = seeds.map((seed) => new URL(typeof seed === "string" ? seed : seed.url));
  return { origins: [...new Set(urls.map(({ origin }) => origin))], value };
}

/** The politeness unit of a URL. */
function hostKeys({ frontier, settings }: CrawlPreparation): (url: string) => string {
  const by = settings.given.defaults?.politeness?.by ?? "host";
  return (url) => {
    if (typeof by === "function") return by(url);
    const { host } = new URL(url);
    return by === "host" ? host : (frontier.explain(url).domain ?? host);
  };
}

function gateOf(
  { frontier, settings, modules, faults, monitor, signal }: CrawlPreparation,
  wanted: NonNullable<CrawlSettings["robots"]>,
  hostKeyOf: (url: string) => string,
): VisitContext["gate"] {
  const { clock, userAgent, delayMs, sitemaps } = settings;
  const turns = { frontier, clock, delayMs, hostKeyOf, signal, blocks: new Map() };
  const fetch = (request: DownloadRequest): Promise<Download> =>
    downloadBy(modules, { ...request, signal });
  monitor.robots = createRobots({
    ...wanted,
    notes: robotsCacheFor(settings, wanted.expiryMs, (cause) => {
      // They only save requests: without them each origin is asked again.
      faults.report({ type: "scheduler", what: `robots: ${String(cause)}`, cause });
    }),
    userAgent,
    clock,
    fetch,
    maxRetryAfterMs: settings.maxRetryAfterMs,
    onFault: (url, cause) => {
      faults.report({ type: "downloader", what: cause.message, url, cause });
    },
    fetchElsewhere: (request, origin) =>
      inTurn(turns, { url: request.url, leaseUrl: `${origin}/` }, () => fetch(request)),
  });
  return createCrawlGate({
    frontier,
    robots: monitor.robots,
    clock,
    delayMs,
    withSitemaps: sitemaps,
    isSitemapOnly: settings.given.sitemapOnly ?? false,
    hostKeyOf,
  });
}

/** In a directory they outlive the process, as validators do. */
function robotsCacheFor(
  { clock, given }: CrawlSettings,
  expiryMs: number,
  onFault: (cause: unknown) => void,
): RobotsCacheFile | undefined {
  const path = fileBeside(given, "robots.jsonl");
  if (path === undefined) return undefined;
  try {
    const notes = openRobotsCacheFile({ clock, expiryMs, open: () => openLineFile(path) });
    return {
      take: (origin) => notes.take(origin),
      keep(origin, note) {
        try {
          notes.keep(origin, note);
        } catch (cause) {
          onFault(cause);
        }
      },
    };
  } catch (cause) {
    onFault(cause);
    return undefined;
  }
}

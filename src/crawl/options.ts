/** Options of a crawl: what can be said, and the checked form with every default filled in. */
import type { Clock } from "../base/clock.ts";
import { createSystemClock } from "../base/clock.ts";
import { misuse } from "../base/errors.ts";
import type { Frontier, FrontierOptions, RequestLike, Rule, RulePolicy } from "../index.ts";
import type { Lookup } from "./connect.ts";
import { type DownloaderOptions, USER_AGENT } from "./download.ts";
import type { Analyzer, Downloader, Pipeline } from "./modules.ts";
import { bareDomain, checkCrawlOptions } from "./option-checks.ts";
import { withinScope } from "./scope.ts";

export interface CrawlOptions {
  /** Where to begin. Not needed where a directory or a frontier already holds work. */
  seeds?: string | Iterable<RequestLike>;
  /** Where the frontier lives on disk; left out: in memory. */
  directory?: string;
  name?: string;
  /** A frontier of yours: it is used as it is, and left open. */
  frontier?: Frontier;
  rules?: Rule[];
  /** Policy of pages that no rule says otherwise; on top of the polite defaults. */
  defaults?: RulePolicy;
  /** Anything else of `openFrontier`. */
  frontierOptions?: FrontierOptions;
  /** Worker threads that visit, each module in each of them; 0, the default: this thread. */
  threads?: number;
  /** Visits at once; default 32. */
  concurrency?: number;
  /** Slow start: visits at once grow evenly from one to `concurrency` over this time; default none. */
  rampMs?: number;
  /** Least time between two visits of a host; default 1,000. */
  delayMs?: number;
  /** Visits of one host at once; default 1. */
  perHost?: number;
  /** Links further away than this are not followed; default 100, which only a trap reaches. */
  maxDepth?: number;
  /** Ends after so many pages. */
  maxPages?: number;
  /** Most URLs of one host; default 100,000. */
  maxHostUrls?: number;
  /** Most bytes of one host. */
  maxHostBytes?: number;
  /**
   * Domains that belong to the crawl; default the registrable domains of the seeds, beside what a directory's own rules take; "any": the
   * whole web. With `rules`, these take nothing outside of it.
   */
  scope?: readonly string[] | "any";
  /** Permit loopback, private and link-local addresses. */
  allowPrivate?: boolean;
  /** Product name of robots.txt and User-Agent. */
  userAgent?: string;
  /** An address or URL where you can be reached; becomes part of the User-Agent. */
  contact?: string;
  headers?: Record<string, string>;
  /** Keep cookies in memory and send them where they belong, for this crawl; default false. */
  cookies?: boolean;
  proxy?: string;
  lookup?: Lookup;
  dial?: { address: string; port: number };
  /** Offer HTTP/2 where TLS is; default true. */
  http2?: boolean;
  /** Certificates to trust, as PEM, in place of the system's. */
  ca?: string;
  /** Keep to robots.txt; default true. */
  robots?:
    | boolean
    | { expiryMs?: number; retryMs?: number; attempts?: number; maxCrawlDelayMs?: number };
  /** Visit the sitemaps that robots.txt names; default true. */
  sitemaps?: boolean;
  maxRedirects?: number;
  maxBytes?: number;
  maxLinks?: number;
  /** Longest Retry-After that is kept; default an hour. */
  maxRetryAfterMs?: number;
  timeouts?: { connectMs?: number; headersMs?: number; bodyMs?: number; totalMs?: number };
  /** Content types that are read; others are counted and left. Default HTML and XHTML. */
  types?: readonly string[] | "any";
  /** Leave links that look like a trap; default true. */
  trapFilter?: boolean;
  /** A file that items are appended to as JSON lines. */
  items?: string | { path: string; rotateBytes?: number };
  downloaders?: ReadonlyArray<Downloader | string | URL>;
  /** Modules of your own, or paths of ES modules that export `analyze`. */
  analyzers?: ReadonlyArray<Analyzer | string | URL>;
  pipelines?: ReadonlyArray<Pipeline | string | URL>;
  /** How often `progress` is told; default every second. */
  progressMs?: number;
  signal?: AbortSignal;
  clock?: Clock;
}

export interface CrawlSettings {
  readonly given: CrawlOptions;
  readonly clock: Clock;
  readonly seeds: RequestLike[];
  readonly threads: number;
  readonly concurrency: number;
  readonly rampMs: number | undefined;
  readonly delayMs: number;
  readonly perHost: number;
  readonly maxPages: number;
  readonly scope: readonly string[] | "any" | undefined;
  readonly userAgent: string;
  readonly cookies: boolean;
  readonly robots:
    | { expiryMs: number; retryMs: number; attempts: number; maxCrawlDelayMs: number }
    | undefined;
  readonly sitemaps: boolean;
  readonly maxRedirects: number;
  readonly maxLinks: number;
  readonly maxRetryAfterMs: number;
  readonly types: readonly string[] | undefined;
  readonly trapFilter: boolean;
  readonly progressMs: number;
  readonly frontier: FrontierOptions;
}

const DAY_MS = 86_400_000;
const LEASE_MS = 300_000;
const HTML = ["text/html", "application/xhtml+xml", ""];
/** Checks every option by name and fills in the polite defaults; throws OPTION_INVALID. */
export function normalizeCrawl(options: CrawlOptions): CrawlSettings {
  checkCrawlOptions(options);
  const { threads = 0, delayMs = 1_000, perHost = 1, scope: given, robots = true } = options;
  if (threads > 0) checkSendable(options);
  const scope = typeof given === "object" ? given.map(bareDomain) : given;
  const wanted = robots === true ? {} : robots;
  return {
    given: options,
    clock: options.clock ?? createSystemClock(),
    seeds: seedsOf(options.seeds),
    threads,
    concurrency: options.concurrency ?? 32,
    rampMs: options.rampMs,
    delayMs,
    perHost,
    maxPages: options.maxPages ?? Number.POSITIVE_INFINITY,
    scope,
    userAgent: agentOf(options),
    cookies: options.cookies ?? false,
    robots:
      wanted === false
        ? undefined
        : {
            expiryMs: wanted.expiryMs ?? DAY_MS,
            retryMs: wanted.retryMs ?? 5_000,
            attempts: wanted.attempts ?? 3,
            maxCrawlDelayMs: wanted.maxCrawlDelayMs ?? 300_000,
          },
    sitemaps: options.sitemaps ?? true,
    maxRedirects: options.maxRedirects ?? 10,
    maxLinks: options.maxLinks ?? 100_000,
    maxRetryAfterMs: options.maxRetryAfterMs ?? 3_600_000,
    types:
      options.types === "any"
        ? undefined
        : (options.types?.map((type) => type.toLowerCase()) ?? HTML),
    trapFilter: options.trapFilter ?? true,
    progressMs: options.progressMs ?? 1_000,
    frontier: frontierOptions(options, { delayMs, perHost, scope }),
  };
}

function frontierOptions(
  options: CrawlOptions,
  { delayMs, perHost, scope }: Pick<CrawlSettings, "delayMs" | "perHost" | "scope">,
): FrontierOptions {
  const { maxHostBytes } = options;
  const politeness = {
    delayMs,
    perHost,
    hostBackoff: { after: 10, baseMs: Math.max(2 * delayMs, 1), maxMs: 600_000 },
    budget: {
      urls: options.maxHostUrls ?? 100_000,
      ...(maxHostBytes === undefined ? {} : { bytes: maxHostBytes }),
    },
    ...options.defaults?.politeness,
  };
  const defaults: RulePolicy = {
    maxDepth: options.maxDepth ?? 100,
    backoff: { baseMs: delayMs, factor: 2, maxMs: 600_000, jitter: 0.1 },
    ...options.defaults,
    politeness,
  };
  return {
    ...(options.clock === undefined ? {} : { clock: options.clock }),
    // A lease that ran out while its download goes on would let a second one begin beside it.
    leaseMs: Math.max(LEASE_MS, 2 * (options.timeouts?.totalMs ?? 0)),
    ...options.frontierOptions,
    ...(options.name === undefined ? {} : { name: options.name }),
    ...(options.directory === undefined ? {} : { directory: options.directory }),
    ...(options.rules === undefined ? {} : { rules: withinScope(options.rules, scope) }),
    defaults,
  };
}

function seedsOf(seeds: CrawlOptions["seeds"] = []): RequestLike[] {
  return typeof seeds === "string" ? [seeds] : [...seeds];
}

function agentOf({ userAgent = USER_AGENT, contact }: CrawlOptions): string {
  if (contact === undefined) return userAgent;
  const product = userAgent.replace(/\s*\(.*\)$/, "");
  return `${product} (+${contact})`;
}

/** Modules and resolvers are functions, which no thread can be sent: paths of ES modules can. */
function checkSendable(options: CrawlOptions): void {
  for (const name of ["downloaders", "analyzers", "pipelines"] as const) {
    const object = options[name]?.find(
      (each) => typeof each !== "string" && !(each instanceof URL),
    );
    if (object === undefined) continue;
    const expected = "paths of ES modules where there are threads";
    throw misuse("OPTION_INVALID", `options.${name}`, object, expected);
  }
  for (const name of ["lookup", "clock"] as const) {
    if (options[name] === undefined) continue;
    throw misuse(
      "OPTION_INVALID",
      `options.${name}`,
      options[name],
      "none where there are threads",
    );
  }
}

/** What the built-in downloader takes of a crawl's options. */
export function downloaderOptions(options: CrawlOptions): DownloaderOptions {
  return {
    ...pick(options, ["allowPrivate", "lookup", "dial", "proxy", "maxBytes", "headers"]),
    ...pick(options, ["http2", "ca"]),
    ...options.timeouts,
  };
}

/** Those fields of an object that are there. */
export function pick<T extends object, K extends keyof T>(
  from: T,
  names: readonly K[],
): Pick<T, K> {
  const some = names.filter((name) => from[name] !== undefined);
  return Object.fromEntries(some.map((name) => [name, from[name]])) as Pick<T, K>;
}

/** Options of a crawl: what can be said, and the checked form with every default filled in. */
import type { Clock } from "../../base/clock.ts";
import { createSystemClock } from "../../base/clock.ts";
import { misuse } from "../../base/errors.ts";
import type { Frontier, FrontierOptions, RequestLike, Rule, RulePolicy } from "../../index.ts";
import type { Lookup } from "../http/guarded-connector.ts";
import { type DownloaderOptions, USER_AGENT } from "../http/downloader.ts";
import type { Analyzer, Downloader, Pipeline } from "../module-registry.ts";
import { bareDomain, checkCrawlOptions } from "./check-options.ts";
import { type Seed, withinScope } from "./crawl-scope.ts";

/**
 * Options of `crawl`. A wrong or unknown one throws `OPTION_INVALID` at once.
 *
 * @example
 * await crawl({
 *   seeds: "https://example.org/",
 *   directory: "crawl-data", // continues after a crash
 *   items: "items.jsonl",
 *   maxPages: 1_000,
 *   delayMs: 2_000,
 * }).finished;
 */
export interface CrawlOptions {
  /**
   * Where to begin. Not needed where a directory or a frontier holds work.
   * @defaultValue none
   */
  seeds?: string | URL | Iterable<RequestLike>;
  /**
   * Where the frontier is on disk.
   * @defaultValue none: in memory
   */
  directory?: string;
  /**
   * Name of the frontier in its directory.
   * @defaultValue "default"
   */
  name?: string;
  /**
   * A frontier of yours, used as it is and left open.
   * @defaultValue none
   */
  frontier?: Frontier;
  /**
   * Rules, as `openFrontier` takes them.
   * @defaultValue one that takes the scope
   */
  rules?: Rule[];
  /**
   * Policy of pages for which their rule says nothing else, on top of the polite defaults.
   * @defaultValue polite
   */
  defaults?: RulePolicy;
  /**
   * Any other option of `openFrontier`.
   * @defaultValue none
   */
  frontierOptions?: FrontierOptions;
  /**
   * Worker threads that visit, each with its own modules; 0: this thread.
   * @defaultValue 0
   */
  threads?: number;
  /**
   * Visits at once.
   * @defaultValue 32
   */
  concurrency?: number;
  /**
   * Slow start: visits at once grow evenly from one to `concurrency` over this time in milliseconds.
   * @defaultValue none
   */
  rampMs?: number;
  /**
   * Least time between two visits of a host in milliseconds.
   * @defaultValue 1,000
   */
  delayMs?: number;
  /**
   * Visits of one host at once.
   * @defaultValue 1
   */
  perHost?: number;
  /**
   * Links further away than this are not followed. Only a trap reaches the default.
   * @defaultValue 100
   */
  maxDepth?: number;
  /**
   * Ends after so many pages; never exceeded.
   * @defaultValue no limit
   */
  maxPages?: number;
  /**
   * Most URLs of one host.
   * @defaultValue 100,000
   */
  maxHostUrls?: number;
  /**
   * Most bytes of one host.
   * @defaultValue no limit
   */
  maxHostBytes?: number;
  /**
   * Domains that belong to the crawl, or `"any"` for the whole web. With `rules`, these take nothing outside of it.
   * @defaultValue the registrable domains of the seeds, and what a directory's own rules take
   */
  scope?: readonly string[] | "any";
  /**
   * Permits loopback, private and link-local addresses.
   * @defaultValue false
   */
  allowPrivate?: boolean;
  /**
   * User-Agent, and product name in robots.txt.
   * @defaultValue "Outrider/0.1"
   */
  userAgent?: string;
  /**
   * A URL or address where you can be reached; becomes part of the User-Agent.
   * @defaultValue none
   */
  contact?: string;
  /**
   * Headers of every request.
   * @defaultValue none
   */
  headers?: Record<string, string>;
  /**
   * Keeps cookies in memory, for this crawl, and sends them where they belong.
   * @defaultValue false
   */
  cookies?: boolean;
  /**
   * An HTTP proxy for every request.
   * @defaultValue none
   */
  proxy?: string;
  /**
   * Takes the place of the system's resolver.
   * @defaultValue the system's
   */
  lookup?: Lookup;
  /**
   * Dials this for every host, for a synthetic web or a gateway.
   * @defaultValue none
   */
  dial?: {
    /** IP address. */
    address: string;
    /** Port. */
    port: number;
  };
  /**
   * Offers HTTP/2 where TLS is.
   * @defaultValue true
   */
  http2?: boolean;
  /**
   * Certificates to trust as PEM, in place of the system's.
   * @defaultValue the system's and NODE_EXTRA_CA_CERTS
   */
  ca?: string;
  /**
   * Keeps to robots.txt; false ignores it.
   * @defaultValue true
   */
  robots?:
    | boolean
    | {
        /**
         * How long a robots.txt holds in milliseconds.
         * @defaultValue a day
         */
        expiryMs?: number;
        /**
         * Wait before it is asked for again after a failure, in milliseconds.
         * @defaultValue 5,000
         */
        retryMs?: number;
        /**
         * Attempts before the host counts as unreachable.
         * @defaultValue 3
         */
        attempts?: number;
        /**
         * Longest `Crawl-delay` that is kept, in milliseconds.
         * @defaultValue 300,000
         */
        maxCrawlDelayMs?: number;
      };
  /**
   * Visits the sitemaps that robots.txt names.
   * @defaultValue true
   */
  sitemaps?: boolean;
  /**
   * Redirects in a row; then the page fails with reason `redirects`.
   * @defaultValue 10
   */
  maxRedirects?: number;
  /**
   * Longest body in bytes; a longer one is cut there, or refused where it is compressed.
   * @defaultValue 10 MiB
   */
  maxBytes?: number;
  /**
   * Most links of a page; the others are counted as `rejected["too-many"]`.
   * @defaultValue 100,000
   */
  maxLinks?: number;
  /**
   * Longest Retry-After that is kept, in milliseconds.
   * @defaultValue an hour
   */
  maxRetryAfterMs?: number;
  /**
   * Bounds of a download in milliseconds; then it is tried again.
   * @defaultValue see below
   */
  timeouts?: {
    /**
     * To connect, TLS included, in milliseconds.
     * @defaultValue 10,000
     */
    connectMs?: number;
    /**
     * To the first byte, in milliseconds.
     * @defaultValue 20,000
     */
    headersMs?: number;
    /**
     * Between two bytes of the body, in milliseconds.
     * @defaultValue 20,000
     */
    bodyMs?: number;
    /**
     * The whole download, in milliseconds.
     * @defaultValue 60,000
     */
    totalMs?: number;
  };
  /**
   * Content types that are read; others are counted and left.
   * @defaultValue HTML and XHTML
   */
  types?: readonly string[] | "any";
  /**
   * Leaves links that look like a trap.
   * @defaultValue true
   */
  trapFilter?: boolean;
  /**
   * A file that items are appended to as JSON lines.
   * @defaultValue none
   */
  items?:
    | string
    | {
        /** The file. */
        path: string;
        /**
         * A file longer than this is put aside.
         * @defaultValue 256 MiB
         */
        rotateBytes?: number;
      };
  /**
   * A WARC file, `*.warc.gz`, that every request and response is appended to. Only `types` are read whole: archives of
   * everything need `types: "any"`. With `threads` each thread has a file of its own (`crawl-t1.warc.gz`).
   * @defaultValue none
   */
  warc?:
    | string
    | {
        /** The file. */
        path: string;
        /**
         * A file longer than this is followed by another one (`crawl-0001.warc.gz`).
         * @defaultValue 1 GiB
         */
        rotateBytes?: number;
      };
  /**
   * Modules of your own, or paths of ES modules that export `download`.
   * @defaultValue undici
   */
  downloaders?: ReadonlyArray<Downloader | string | URL>;
  /**
   * Modules of your own, or paths of ES modules that export `analyze`.
   * @defaultValue links, no items
   */
  analyzers?: ReadonlyArray<Analyzer | string | URL>;
  /**
   * Modules of your own, or paths of ES modules that export `process`.
   * @defaultValue the file `items`
   */
  pipelines?: ReadonlyArray<Pipeline | string | URL>;
  /**
   * How often `progress` is emitted in milliseconds; 0: never.
   * @defaultValue 1,000
   */
  progressMs?: number;
  /**
   * Stops the crawl.
   * @defaultValue none
   */
  signal?: AbortSignal;
  /**
   * The source of time.
   * @defaultValue the machine's clock
   */
  clock?: Clock;
}

export interface CrawlSettings {
  readonly given: CrawlOptions;
  readonly clock: Clock;
  readonly seeds: Seed[];
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

function seedsOf(seeds: CrawlOptions["seeds"] = []): Seed[] {
  const list = typeof seeds === "string" || seeds instanceof URL ? [seeds] : [...seeds];
  return list.map((seed) => (seed instanceof URL ? seed.href : seed));
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
    const expected = "the path of an ES module: threads cannot share an object";
    throw misuse("OPTION_INVALID", `options.${name}`, object, expected);
  }
  for (const name of ["lookup", "clock"] as const) {
    if (options[name] === undefined) continue;
    throw misuse(
      "OPTION_INVALID",
      `options.${name}`,
      options[name],
      "no such option together with threads",
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

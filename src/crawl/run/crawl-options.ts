/** Options of a crawl: as the user writes them, and their checked form with every default filled in. */
import type { Clock } from "../../base/clock.ts";
import type {
  AsyncFrontier,
  Frontier,
  FrontierOptions,
  RequestLike,
  Rule,
  RulePolicy,
} from "../../index.ts";
import type { Lookup } from "../http/guarded-connector.ts";
import type { DownloaderOptions } from "../http/downloader-options.ts";
import type { Analyzer, Downloader, Pipeline } from "../module-registry.ts";
import type { PolicyHook } from "../policy/policy-hook.ts";
import type { ScopeWord, Seed } from "./crawl-scope.ts";

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
export interface CrawlOptions<Item = unknown> {
  /**
   * Where to begin. Not needed where a directory or a frontier holds work.
   * @defaultValue none
   */
  seeds?: string | URL | Iterable<RequestLike> | undefined;
  /**
   * Where the frontier is on disk.
   * @defaultValue none: in memory
   */
  directory?: string | undefined;
  /**
   * Name of the frontier in its directory.
   * @defaultValue "default"
   */
  name?: string | undefined;
  /**
   * A frontier of yours, used as it is and left open: in this thread, in another one, or on Redis.
   * @defaultValue none
   */
  frontier?: Frontier | AsyncFrontier | undefined;
  /**
   * Opens the frontier, with the options that the crawl makes of its own, in place of `openFrontier`; the crawl closes it:
   * `open: (options) => openRedisFrontier({ ...options, redis, name })`.
   * @defaultValue `openFrontier`
   */
  open?: ((options: OpeningOptions) => Promise<Frontier | AsyncFrontier>) | undefined;
  /**
   * Rules, as `openFrontier` takes them.
   * @defaultValue one that takes the scope
   */
  rules?: Rule[] | undefined;
  /**
   * Policy where a rule leaves a field out, on top of the polite defaults.
   * @defaultValue polite
   */
  defaults?: RulePolicy | undefined;
  /**
   * Any other option of `openFrontier`.
   * @defaultValue none
   */
  frontierOptions?: FrontierOptions | undefined;
  /**
   * Worker threads that visit, each with its own modules; 0: this thread.
   * @defaultValue 0
   */
  threads?: number | undefined;
  /**
   * Visits at once.
   * @defaultValue 32
   */
  concurrency?: number | undefined;
  /**
   * Slow start: visits at once grow evenly from one to `concurrency` over this time in milliseconds.
   * @defaultValue none
   */
  rampMs?: number | undefined;
  /**
   * Least time between two visits of a host in milliseconds.
   * @defaultValue 1,000
   */
  delayMs?: number | undefined;
  /**
   * Visits of one host at once.
   * @defaultValue 1
   */
  perHost?: number | undefined;
  /**
   * Links further away than this are not followed. Only a trap reaches the default.
   * @defaultValue 100
   */
  maxDepth?: number | undefined;
  /**
   * Ends after so many pages; never exceeded.
   * @defaultValue no limit
   */
  maxPages?: number | undefined;
  /**
   * Ends after so many milliseconds; what is left stays pending.
   * @defaultValue no limit
   */
  maxTimeMs?: number | undefined;
  /**
   * Most URLs of one host.
   * @defaultValue 100,000
   */
  maxHostUrls?: number | undefined;
  /**
   * Most bytes of one host.
   * @defaultValue no limit
   */
  maxHostBytes?: number | undefined;
  /**
   * What belongs to the crawl. A list holds domains, each with all below it, or hosts with their port, or URLs, each with all that begins
   * like it; a list with URLs holds nothing else. `"same-domain"`: the registrable domains of the seeds, `"same-host"`: their hosts,
   * `"path-prefix"`: what lies in the folders of the seeds, `"any"`: the whole web. With `rules`, these take nothing outside of the
   * domains.
   * @defaultValue "same-domain", and what a directory's own rules take
   */
  scope?: readonly string[] | ScopeWord | undefined;
  /**
   * Of links in scope, only those that match one of these are followed; seeds are visited in any case. A pattern is a glob, or
   * a regular expression after `regex:`. See `docs/guides/command-line.md`.
   * @defaultValue none; in a directory those of the last crawl
   */
  include?: readonly string[] | undefined;
  /**
   * Links that match one of these are not followed.
   * @defaultValue none; in a directory those of the last crawl
   */
  exclude?: readonly string[] | undefined;
  /**
   * Permits loopback, private and link-local addresses.
   * @defaultValue false
   */
  allowPrivate?: boolean | undefined;
  /**
   * User-Agent, and product name in robots.txt.
   * @defaultValue "Outrider/0.1"
   */
  userAgent?: string | undefined;
  /**
   * A URL or address where you can be reached; becomes part of the User-Agent.
   * @defaultValue none
   */
  contact?: string | undefined;
  /**
   * Headers of every request.
   * @defaultValue none
   */
  headers?: Record<string, string> | undefined;
  /**
   * Name and password (RFC 7617) for the origins of the seeds, and for no others.
   * @defaultValue none
   */
  auth?:
    | {
        /** Name; no colon. */
        username: string;
        /** Password. */
        password: string;
      }
    | undefined;
  /**
   * An identity file (`outrider identity new`): every request is signed by it, as Web Bot Auth asks.
   * @defaultValue none
   */
  identity?: string | undefined;
  /**
   * Keeps cookies in memory, for this crawl, and sends them where they belong.
   * @defaultValue false
   */
  cookies?: boolean | undefined;
  /**
   * An HTTP proxy for every request.
   * @defaultValue none
   */
  proxy?: string | undefined;
  /**
   * Takes the place of the system's resolver.
   * @defaultValue the system's
   */
  lookup?: Lookup | undefined;
  /**
   * Dials this for every host, for a synthetic web or a gateway.
   * @defaultValue none
   */
  dial?:
    | {
        /** IP address. */
        address: string;
        /** Port. */
        port: number;
      }
    | undefined;
  /**
   * Offers HTTP/2 where TLS is.
   * @defaultValue true
   */
  http2?: boolean | undefined;
  /**
   * Certificates to trust as PEM, in place of the system's.
   * @defaultValue the system's and NODE_EXTRA_CA_CERTS
   */
  ca?: string | undefined;
  /**
   * Obeys robots.txt; false ignores it.
   * @defaultValue true
   */
  robots?:
    | boolean
    | {
        /**
         * How long a robots.txt holds in milliseconds.
         * @defaultValue a day
         */
        expiryMs?: number | undefined;
        /**
         * Wait before it is asked for again after a failure, in milliseconds.
         * @defaultValue 5,000
         */
        retryMs?: number | undefined;
        /**
         * Attempts before the host counts as unreachable.
         * @defaultValue 3
         */
        attempts?: number | undefined;
        /**
         * Longest `Crawl-delay` that is obeyed, in milliseconds.
         * @defaultValue 300,000
         */
        maxCrawlDelayMs?: number | undefined;
      }
    | undefined;
  /**
   * Visits the sitemaps that robots.txt names.
   * @defaultValue true
   */
  sitemaps?: boolean | undefined;
  /**
   * Visits what sitemaps list, and follows no links. Those that robots.txt of a seed's origin names, and `/sitemap.xml`; a seed that ends in
   * `.xml` or `.xml.gz` is a sitemap itself.
   * @defaultValue false
   */
  sitemapOnly?: boolean | undefined;
  /**
   * Redirects in a row; then the page fails with reason `redirects`.
   * @defaultValue 10
   */
  maxRedirects?: number | undefined;
  /**
   * Longest body in bytes; a longer one is cut there, or refused where it is compressed.
   * @defaultValue 10 MiB
   */
  maxBytes?: number | undefined;
  /**
   * Most links of a page; the others are counted as `rejected["too-many"]`.
   * @defaultValue 100,000
   */
  maxLinks?: number | undefined;
  /**
   * Longest Retry-After that is obeyed, in milliseconds.
   * @defaultValue an hour
   */
  maxRetryAfterMs?: number | undefined;
  /**
   * Bounds of a download in milliseconds; then it is tried again.
   * @defaultValue see below
   */
  timeouts?:
    | {
        /**
         * To connect, TLS included, in milliseconds.
         * @defaultValue 10,000
         */
        connectMs?: number | undefined;
        /**
         * To the first byte, in milliseconds.
         * @defaultValue 20,000
         */
        headersMs?: number | undefined;
        /**
         * Between two bytes of the body, in milliseconds.
         * @defaultValue 20,000
         */
        bodyMs?: number | undefined;
        /**
         * The whole download, in milliseconds.
         * @defaultValue 60,000
         */
        totalMs?: number | undefined;
      }
    | undefined;
  /**
   * Content types that are read; others are counted and not read.
   * @defaultValue HTML and XHTML
   */
  types?: readonly string[] | "any" | undefined;
  /**
   * Decides on pages whose use is declared (`Content-Usage`, `Content-Signal`, `X-Robots-Tag`, meta robots): a function, or the path of
   * an ES module that exports `decide`. It can keep links from being followed, and items and bodies from being kept.
   * @defaultValue none: declarations are attached and counted
   */
  policy?: PolicyHook | string | URL | undefined;
  /**
   * Does not follow links with the form of a trap.
   * @defaultValue true
   */
  trapFilter?: boolean | undefined;
  /**
   * Recognises traps by what visits of them show: the same text under many URLs, families of pages that only lead on to themselves, filters that
   * multiply. Their URLs are set aside behind all others, and visited at last as long as that shows that the family ends; then they fail as `trap`.
   * `CrawlSummary.traps` reports each with what was seen. `exceptRules` names rules whose URLs are never set aside. Not with `threads`.
   * @defaultValue false
   */
  traps?:
    | boolean
    | {
        /**
         * Ids of rules.
         * @defaultValue none
         */
        exceptRules?: readonly string[] | undefined;
      }
    | undefined;
  /**
   * Most URLs of a host below a path, by prefix: `{ "/search/": 1_000 }`. Links beyond it are not followed, and counted as
   * `rejected.budget`. Not with `threads`.
   * @defaultValue no limit
   */
  maxPathUrls?: Readonly<Record<string, number>> | undefined;
  /**
   * Most URLs of a path whose query has the same names, whatever their values. Links beyond it are not followed, and counted as
   * `rejected.budget`. Not with `threads`.
   * @defaultValue no limit
   */
  maxQueryUrls?: number | undefined;
  /**
   * Pauses a host whose visits fail, are slow or come back empty, for 30 seconds at first and up to ten minutes: other hosts go before it, and
   * it is tried again later. `CrawlSummary.sickest` shows such hosts in any case.
   * @defaultValue false
   */
  pauseSickHosts?: boolean | undefined;
  /**
   * A file that each visit is appended to as one line of JSON, as `CrawlEvents.visit` has it.
   * @defaultValue none
   */
  log?: string | undefined;
  /**
   * A folder that the bodies of pages are written to, with `index.jsonl`: a line for each, with URL and file.
   * @defaultValue none
   */
  saveBodies?: string | undefined;
  /**
   * A file that items are appended to, as JSON lines, or as CSV where it ends in `.csv`.
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
        rotateBytes?: number | undefined;
      }
    | undefined;
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
        rotateBytes?: number | undefined;
      }
    | undefined;
  /**
   * Modules of your own, or paths of ES modules that export `download`.
   * @defaultValue undici
   */
  downloaders?: ReadonlyArray<Downloader | string | URL> | undefined;
  /**
   * Modules of your own, or paths of ES modules that export `analyze`.
   * @defaultValue links, no items
   */
  analyzers?: ReadonlyArray<Analyzer<Item> | string | URL> | undefined;
  /**
   * Modules of your own, or paths of ES modules that export `process`.
   * @defaultValue the file `items`
   */
  pipelines?: ReadonlyArray<Pipeline<Item> | string | URL> | undefined;
  /**
   * How often `progress` is emitted in milliseconds; 0: never.
   * @defaultValue 1,000
   */
  progressMs?: number | undefined;
  /**
   * Stops the crawl.
   * @defaultValue none
   */
  signal?: AbortSignal | undefined;
  /**
   * The source of time.
   * @defaultValue the machine's clock
   */
  clock?: Clock | undefined;
}

/**
 * What a crawl opens its frontier with.
 *
 * @example
 * const open = (options) => openRedisFrontier({ ...options, redis: "redis://10.0.0.5", name: "news" });
 * await crawl({ seeds: "https://example.org/", open }).finished;
 */
export type OpeningOptions = Pick<FrontierOptions, "clock" | "defaults" | "leaseMs" | "rules">;

/** Where no option differs. */
export const CRAWL_DEFAULTS = {
  ...{ threads: 0, concurrency: 32, delayMs: 1_000, perHost: 1 },
  ...{ maxPages: Number.POSITIVE_INFINITY, maxRedirects: 10, maxLinks: 100_000 },
  ...{ cookies: false, sitemaps: true, trapFilter: true },
  ...{ maxRetryAfterMs: 3_600_000, progressMs: 1_000 },
};

export interface CrawlSettings extends Readonly<typeof CRAWL_DEFAULTS> {
  readonly given: CrawlOptions;
  readonly clock: Clock;
  readonly seeds: Seed[];
  readonly scope: readonly string[] | "any" | undefined;
  readonly userAgent: string;
  readonly robots:
    | { expiryMs: number; retryMs: number; attempts: number; maxCrawlDelayMs: number }
    | undefined;
  readonly types: readonly string[] | undefined;
  readonly frontier: FrontierOptions;
}

/** What the built-in downloader takes of a crawl's options. */
export function downloaderOptions(options: CrawlOptions): DownloaderOptions {
  return {
    ...pick(options, ["allowPrivate", "lookup", "dial", "proxy", "maxBytes", "headers"]),
    ...pick(options, ["http2", "ca"]),
    ...options.timeouts,
  };
}

/** The fields of an object that have a value. */
type Defined<T> = { [K in keyof T]: Exclude<T[K], undefined> };

/** Those fields of an object that are there. */
export function pick<T extends object, K extends keyof T>(
  from: T,
  names: readonly K[],
): Defined<Pick<T, K>> {
  const some = names.filter((name) => from[name] !== undefined);
  return Object.fromEntries(some.map((name) => [name, from[name]])) as Defined<Pick<T, K>>;
}

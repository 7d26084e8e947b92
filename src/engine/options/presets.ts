/**
 * Presets: the five schedulers that this one descends from, each as options of the one engine. A preset returns plain options and nothing
 * else; what is passed in overrides it, `defaults` field by field.
 *
 *   preset       key                          epoch                        order              attempts
 *   webmagic     the URL as it is, POST free  forever                      priority, fifo     1, retries at priority 0
 *   vscrawler    the URL as it is             forever, dated ones by day   fifo               3, priority kept
 *   scrapy       w3lib, method and body       forever                      priority, lifo     3, priority −1
 *   gopcp        the URL as it is             forever                      fifo               1
 *   neocrawler   the URL without fragment     every interval               shares, fifo       4, priority kept
 */
import { givenOf } from "../../base/plain-copy.ts";
import type { FrontierOptions, Rule, RulePolicy } from "../types/frontier-types.ts";

/**
 * Options of `presets.gopcp`: those of `openFrontier`, and two of its own.
 *
 * @example
 * await openFrontier(presets.gopcp({ domains: ["example.org"], maxDepth: 3 }));
 */
export interface GopcpOptions extends FrontierOptions {
  /**
   * Registrable domains that are accepted.
   * @defaultValue all
   */
  domains?: string[] | undefined;
  /**
   * Deepest page that is accepted.
   * @defaultValue no limit
   */
  maxDepth?: number | undefined;
}

/**
 * Options of `presets.neocrawler`: those of `openFrontier`, and one of its own.
 *
 * @example
 * await openFrontier(presets.neocrawler({ interval: "6h", directory: "crawl-data" }));
 */
export interface NeocrawlerOptions extends FrontierOptions {
  /**
   * Time after its last visit at which a page is due again: milliseconds, or text such as `"1h"`.
   * @defaultValue "1d"
   */
  interval?: string | number | undefined;
}

/** Option sets of the five ancestors; see `presets`. */
export interface Presets {
  /** Behaves like WebMagic's schedulers. */
  webmagic(options?: FrontierOptions): FrontierOptions;
  /** Behaves like VSCrawler's SeedManager. */
  vscrawler(options?: FrontierOptions): FrontierOptions;
  /** Behaves like Scrapy's scheduler with queuelib. */
  scrapy(options?: FrontierOptions): FrontierOptions;
  /** Behaves like the scheduler of gopcp.v2's web crawler. */
  gopcp(options?: GopcpOptions): FrontierOptions;
  /** Behaves like NEOCrawler's central scheduler. */
  neocrawler(options?: NeocrawlerOptions): FrontierOptions;
}

/** Requests that gopcp.v2's request pool holds: 1,000 buffers of 50. */
const GOPCP_CAPACITY = 50_000;
/** What Scrapy adds to the priority of what a redirect leads to. */
const SCRAPY_REDIRECT = 2;
/** What Scrapy has under way for one host at once. */
const SCRAPY_PER_HOST = 8;
/** What NEOCrawler keeps scheduled at once. */
const NEOCRAWLER_LIMIT = 200;

/**
 * Option sets for people who come from another crawler: `openFrontier(presets.scrapy())` starts with the behaviour of that crawler. Each
 * call returns new plain data. `openFrontier` checks it. A preset keeps a frontier in memory unless you pass a `directory`.
 */
export const presets: Presets = Object.freeze({
  webmagic: (options: FrontierOptions = {}) =>
    over(options, {
      key: { profile: "url", exemptMethods: ["POST"] },
      epoch: "forever",
      order: "fifo",
      maxAttempts: 1,
      backoff: { baseMs: 1_000, factor: 1 },
      retryPriority: { set: 0 },
    }),
  vscrawler: (options: FrontierOptions = {}) =>
    over(
      { idleTimeoutMs: 60_000, ...givenOf(options) },
      {
        key: { profile: "url" },
        epoch: { calendar: "day", zone: "UTC", undated: "forever" },
        order: "fifo",
        maxAttempts: 3,
        retryPriority: 0,
      },
    ),
  scrapy: (options: FrontierOptions = {}) =>
    over(options, {
      key: { profile: "w3lib" },
      epoch: "forever",
      order: "lifo",
      startLast: true,
      maxAttempts: 3,
      retryPriority: -1,
      redirectPriority: SCRAPY_REDIRECT,
      politeness: { perHost: SCRAPY_PER_HOST },
    }),
  gopcp: ({ domains, maxDepth, ...options }: GopcpOptions = {}) => {
    const scope: Rule[] =
      domains === undefined ? [] : [{ id: "accepted", match: { domains: [...domains] } }];
    const rules = options.rules ?? scope;
    return over(
      {
        capacity: GOPCP_CAPACITY,
        ...givenOf(options),
        ...(rules.length === 0 ? {} : { rules }),
      },
      {
        key: { profile: "url" },
        epoch: "forever",
        order: "fifo",
        maxAttempts: 1,
        ...(maxDepth === undefined ? {} : { maxDepth }),
      },
    );
  },
  neocrawler: ({ interval = "1d", ...options }: NeocrawlerOptions = {}) =>
    over(
      { maxLeases: NEOCRAWLER_LIMIT, ...givenOf(options) },
      {
        key: { profile: "url", fragment: "drop" },
        epoch: { every: interval },
        order: "fifo",
        maxAttempts: 4,
        retryPriority: 0,
      },
    ),
});

/** The caller's options over a preset's policy. */
function over(options: FrontierOptions, policy: RulePolicy): FrontierOptions {
  const defaults = givenOf(options.defaults ?? {});
  const { order: _, ...rest } = policy;
  // A traversal that the caller asks for has an order of its own.
  const own = defaults.traversal === undefined ? policy : rest;
  const key = { ...policy.key, ...givenOf(defaults.key ?? {}) };
  const politeness = { ...policy.politeness, ...givenOf(defaults.politeness ?? {}) };
  return {
    ...options,
    defaults: {
      ...own,
      ...defaults,
      key,
      ...(Object.keys(politeness).length === 0 ? {} : { politeness }),
    },
  };
}

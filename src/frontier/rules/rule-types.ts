/** Rules and their policies, as types, with the words that they take; rule-policy.ts checks them and fills in the defaults. */
import type { KeyPolicy } from "../../url/keys/key-policy.ts";
import type { EpochPolicy } from "../epochs/epoch-policy.ts";

/**
 * How a host is spared. Without any of it URLs go out by priority alone, with no host in turn.
 *
 * @example
 * await openFrontier({
 *   defaults: {
 *     politeness: {
 *       delayMs: 1_000, // between two visits of a host
 *       perHost: 1, // one visit of it at a time
 *       adaptive: { factor: 2, minMs: 500, maxMs: 30_000 }, // twice what its last answer took
 *       budget: { urls: 10_000 }, // not more of its URLs than these
 *     },
 *   },
 * });
 */
export interface Politeness {
  /**
   * Least time between two visits of a host in milliseconds, counted from each hand-out and each end.
   * @defaultValue 0
   */
  delayMs?: number | undefined;
  /**
   * Most leases of a host at once.
   * @defaultValue 1 where there is politeness, else no limit
   */
  perHost?: number | undefined;
  /**
   * What counts as one host: the URL's host, its registrable domain, or a name that a function makes of the URL.
   * @defaultValue "host"
   */
  by?: "host" | "domain" | ((url: string) => string) | undefined;
  /**
   * Clocks above the host, at most 8, each kind once. All must agree before a URL goes out.
   * @defaultValue none
   */
  groups?:
    | Array<{
        /** What hosts are grouped by. A function gets the host and returns the group's name. */
        by: "domain" | "address" | ((host: string) => string);
        /**
         * Least time between two visits of the group in milliseconds.
         * @defaultValue 0
         */
        delayMs?: number | undefined;
        /**
         * Most leases of the group at once.
         * @defaultValue no limit
         */
        limit?: number | undefined;
      }>
    | undefined;
  /**
   * Delay by latency, in place of `delayMs` from a host's first `Outcome.latencyMs` on: `factor` × the last
   * latency, within bounds.
   * @defaultValue none
   */
  adaptive?:
    | {
        /** Times the last `Outcome.latencyMs`. */
        factor: number;
        /** Least delay in milliseconds. */
        minMs: number;
        /** Largest delay in milliseconds. */
        maxMs: number;
      }
    | undefined;
  /**
   * Pauses a host after failures in a row, twice as long each time.
   * @defaultValue none
   */
  hostBackoff?:
    | {
        /** Failures in a row before the first pause. */
        after: number;
        /** First pause in milliseconds. */
        baseMs: number;
        /** Longest pause in milliseconds. */
        maxMs: number;
        /**
         * Failures in a row after which the host's pending URLs fail.
         * @defaultValue never
         */
        giveUpAfter?: number | undefined;
      }
    | undefined;
  /**
   * Bounds of a host over the whole crawl. What exceeds them is rejected with reason `budget`.
   * @defaultValue none
   */
  budget?:
    | {
        /**
         * Most admitted URLs of a host.
         * @defaultValue no limit
         */
        urls?: number | undefined;
        /**
         * Most bytes of bodies of a host, as outcomes report them.
         * @defaultValue no limit
         */
        bytes?: number | undefined;
      }
    | undefined;
}

/** The two ways through a site; `RulePolicy.traversal` and the command line take one of them. */
export const TRAVERSALS = ["breadth-first", "depth-first"] as const;

/** One of the two ways through a site. */
export type Traversal = (typeof TRAVERSALS)[number];

/**
 * How URLs of a rule are treated. As `defaults` it holds for every rule; a field of a rule replaces that of `defaults` as a whole.
 *
 * @example
 * await openFrontier({
 *   defaults: {
 *     depthPriority: 1, // breadth first: each level of depth takes 1 from the priority
 *     maxDepth: 8,
 *     maxAttempts: 5,
 *     backoff: { baseMs: 1_000, factor: 2, maxMs: 60_000, jitter: 0.2 }, // waits of 1, 2, 4 … 60 s
 *   },
 * });
 */
export interface RulePolicy {
  /**
   * What makes two requests the same. Must be equal to the stored one of a directory (`PROFILE_MISMATCH`).
   * @defaultValue the canonical URL, method and body
   */
  key?: KeyPolicy | undefined;
  /**
   * How long one sighting blocks the next.
   * @defaultValue "forever"
   */
  epoch?: EpochPolicy | undefined;
  /**
   * First in, first out, or last in, first out, among equal priorities.
   * @defaultValue "fifo", or by `traversal`
   */
  order?: "fifo" | "lifo" | undefined;
  /**
   * Serves start requests after all others of their priority; among themselves first in, first out.
   * @defaultValue false
   */
  startLast?: boolean | undefined;
  /**
   * Priority of requests that have none of their own.
   * @defaultValue 0
   */
  priority?: number | undefined;
  /**
   * Which way the crawl goes through a site. `"breadth-first"`: pages near the seeds first, as `depthPriority: 1` and
   * `order: "fifo"`. `"depth-first"`: the links of the last page first, as `depthPriority: -1` and `order: "lifo"`.
   * Either of these two that is given stands over it.
   * @defaultValue by priority and order alone
   */
  traversal?: Traversal | undefined;
  /**
   * Times the depth of a page, taken from its priority: positive goes breadth-first, negative depth-first. Scrapy's
   * `DEPTH_PRIORITY` has the same sign. `traversal` is the same by name.
   * @defaultValue 0, or by `traversal`
   */
  depthPriority?: number | undefined;
  /**
   * Deepest page that is admitted; deeper ones are rejected with reason `too-deep`.
   * @defaultValue no limit
   */
  maxDepth?: number | undefined;
  /**
   * Whether links of its pages are admitted; else they are rejected with reason `no-follow`.
   * @defaultValue true
   */
  follow?: boolean | undefined;
  /**
   * Attempts before a record fails.
   * @defaultValue 3
   */
  maxAttempts?: number | undefined;
  /**
   * Wait before another attempt: `baseMs` × `factor` ^ (attempt − 1), at most `maxMs`.
   * @defaultValue none: at once
   */
  backoff?:
    | {
        /** Wait after the first attempt in milliseconds. */
        baseMs: number;
        /**
         * At least 1.
         * @defaultValue 2
         */
        factor?: number | undefined;
        /**
         * Longest wait in milliseconds.
         * @defaultValue a day
         */
        maxMs?: number | undefined;
        /**
         * Random spread of the wait, as a share of it: ± 0 to 1.
         * @defaultValue 0
         */
        jitter?: number | undefined;
      }
    | undefined;
  /**
   * Added to the priority for each retry, or what it is set to.
   * @defaultValue -1
   */
  retryPriority?:
    | number
    | {
        /** The priority of every further attempt. */
        set: number;
      }
    | undefined;
  /**
   * Added to the priority of a request that continues at another URL, or what it is set to.
   * @defaultValue 0
   */
  redirectPriority?:
    | number
    | {
        /** The priority after a redirect. */
        set: number;
      }
    | undefined;
  /**
   * When hosts that were never leased get their first turn; only with politeness, without which hosts have no turns.
   * `"first"`: before all others. A number: that share of the hand-outs, at most, goes to new hosts of one registrable
   * domain while other hosts may go, so that a trap of ever new subdomains keeps no host waiting. `"share"` is 0.1.
   * New hosts of a domain that brings fewer still go first. `crawl()` uses `"share"`.
   * @defaultValue "first"
   */
  freshHosts?: "first" | "share" | number | undefined;
  /**
   * How hosts are spared.
   * @defaultValue none
   */
  politeness?: Politeness | undefined;
}

/**
 * Which URLs it takes, and how they are treated. Of several rules that fit a URL the most specific one takes it.
 *
 * `setRules` and `openFrontier` check a whole set first and reject with `RULE_INVALID`, by rule and field.
 *
 * @example
 * await openFrontier({
 *   rules: [
 *     { id: "news", match: { domains: ["example.org"], pattern: "/news/" }, maxDepth: 2 },
 *     { id: "rest", match: { domains: ["example.org"] }, priority: -10 }, // everything else, later
 *   ],
 * });
 */
export interface Rule extends RulePolicy {
  /** Name of the rule, each once in a set. Records stay with it when a set is replaced. */
  id: string;
  /**
   * False: the rule is checked and left out.
   * @defaultValue true
   */
  active?: boolean | undefined;
  /**
   * What a URL must fit, all parts that are given.
   * @defaultValue everything
   */
  match?:
    | {
        /**
         * Exact hosts; one without a port takes every port.
         * @defaultValue any
         */
        hosts?: string[] | undefined;
        /**
         * Domains and everything below them.
         * @defaultValue any
         */
        domains?: string[] | undefined;
        /**
         * ECMAScript regular expression, unanchored, on the URL without its fragment. It is code: take it from people
         * you trust.
         * @defaultValue any
         */
        pattern?: string | undefined;
        /**
         * Schemes such as `"https"`.
         * @defaultValue any
         */
        schemes?: string[] | undefined;
      }
    | undefined;
  /**
   * Its part of the output while several rules have work.
   * @defaultValue equal parts
   */
  share?:
    | {
        /**
         * Divides the rate: rate = (100 + weight) / priority. So a larger number gets less, unlike a request's
         * `priority`: a rule with 2 has half the turns of one with 1. (NEOCrawler's sign.)
         * @defaultValue 1
         */
        priority?: number | undefined;
        /**
         * Adds to the rate: a rule with 100 has twice the turns of one with 0.
         * @defaultValue 0
         */
        weight?: number | undefined;
      }
    | undefined;
  /**
   * URLs and templates (`https://x.example/[1-3]`) that are pushed when the rule first appears.
   * @defaultValue none
   */
  seeds?: string[] | undefined;
  /**
   * Pushes the seeds again after this: milliseconds, or text such as `"1d"`. Such a frontier is never finished by
   * itself.
   * @defaultValue once
   */
  every?: string | number | undefined;
}

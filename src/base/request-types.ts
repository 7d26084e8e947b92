/** Types of requests and leases. They are the same on the owner's thread, on a caller's thread and in a worker. */
import type { Outcome } from "./argument-checks.ts";

/** A URL, or a request with more than a URL. `Data` is the type of its `data`. */
export type RequestLike<Data = unknown> = string | URL | RequestInput<Data>;

/** A request after it was read: a URL object has become a string. */
export type PlainRequest = string | RequestInput;

/**
 * A request to push. Its fields are fixed once it is admitted; if an identity is pushed twice, the first request's `data` wins.
 *
 * A wrong field leads to the verdict `rejected` with reason `invalid-request`. A call that takes a single request throws
 * `REQUEST_INVALID` instead.
 *
 * @example
 * frontier.push({
 *   url: "https://example.org/search",
 *   method: "POST",
 *   body: "q=outrider",
 *   priority: 10, // before those with less
 *   notBefore: Date.now() + 60_000, // not within the next minute
 *   data: { category: "books" }, // comes back as lease.data
 * });
 */
export interface RequestInput<Data = unknown> {
  /** Absolute URL with scheme `http` or `https`. */
  url: string;
  /**
   * HTTP method. Part of the identity, unless the key policy excludes it.
   * @defaultValue "GET"
   */
  method?: string | undefined;
  /**
   * Body of the request. Part of the identity.
   * @defaultValue none
   */
  body?: string | Uint8Array | undefined;
  /**
   * Headers to send. Only those that the key policy names are part of the identity.
   * @defaultValue none
   */
  headers?: Record<string, string> | undefined;
  /**
   * Any safe integer. Larger goes first.
   * @defaultValue the rule's `priority`, 0
   */
  priority?: number | undefined;
  /**
   * Distance from a seed. The engine sets it for links that a lease found.
   * @defaultValue 0
   */
  depth?: number | undefined;
  /**
   * Time before which the request is not handed out, in milliseconds since 1970 or as a date. The verdict is then
   * `deferred`.
   * @defaultValue now
   */
  notBefore?: number | Date | undefined;
  /**
   * Name of the identity's epoch, in place of the rule's policy. Such a request is not recrawled on its own.
   * @defaultValue by the rule
   */
  epoch?: string | undefined;
  /**
   * Replaces the URL in the identity.
   * @defaultValue the canonical URL
   */
  key?: string | undefined;
  /**
   * Politeness key in place of the URL's host: a queue of your own. Delay, limit and blocks of `host(key)` are this
   * key's. 1 to 4,096 bytes of UTF-8; upper and lower case differ.
   * @defaultValue what the rule's `politeness.by` makes of the URL
   */
  hostKey?: string | undefined;
  /**
   * `"check"`: an identity that was seen before is a duplicate. `"record"`: never a duplicate, but remembered. `"skip"`: neither
   * checked nor remembered.
   * @defaultValue "check"
   */
  dedup?: "check" | "record" | "skip" | undefined;
  /**
   * Marks a start request. Under a rule with `startLast` it is served after found requests of equal priority.
   * @defaultValue false
   */
  start?: boolean | undefined;
  /**
   * Name of the handler for this request.
   * @defaultValue none
   */
  handler?: string | undefined;
  /**
   * Attempts before the record fails.
   * @defaultValue the rule's `maxAttempts`, 3
   */
  maxAttempts?: number | undefined;
  /**
   * Keeps the request out of every file. It is lost with the process; `resumed.lost` counts it.
   * @defaultValue false
   */
  volatile?: boolean | undefined;
  /**
   * Anything that msgpack can carry. It returns equal from memory, disk and worker threads: plain objects, lists,
   * sets, dates, bytes, typed arrays, strings, numbers, 64-bit integers. Functions, symbols, maps, class instances
   * and cycles are rejected as `unserializable`.
   * @defaultValue none
   */
  data?: Data | undefined;
}

/**
 * Fields of the request that a redirect changes; the others stay.
 *
 * @example
 * lease.redirect("/login", { status: 303, priority: 5 });
 * lease.done();
 */
export interface RedirectChange<Data = unknown>
  extends Omit<Partial<RequestInput<Data>>, "url" | "depth"> {
  /**
   * HTTP status of the redirect. 301 and 302 turn a POST into a GET without body. 303 does so for every method but HEAD. Other statuses
   * keep method and body.
   * @defaultValue 302
   */
  status?: number | undefined;
}

/**
 * The result of a visit, for `done`.
 *
 * @example
 * const found = resolveLinks(lease.url, hrefs);
 * lease.done({ found, outcome: { status: 200, latencyMs: 87, changed: true } });
 */
export interface LeaseResult<Data = unknown> {
  /**
   * Links of the page. Relative links are resolved against the lease's URL; for a page with a `<base>` call
   * `resolveLinks` first.
   * @defaultValue none
   */
  found?: Iterable<RequestLike<Data>> | undefined;
  /**
   * Errors on the page. Each is reported as an event `error` with kind `user`.
   * @defaultValue none
   */
  errors?: unknown[] | undefined;
  /**
   * The result of the visit, for the host's politeness.
   * @defaultValue nothing
   */
  outcome?: Outcome | undefined;
}

/** The request that a lease hands out, and the state of its hand-out. */
export interface LeaseFields<Data = unknown> {
  /** The URL to visit. */
  readonly url: string;
  /** HTTP method, `"GET"` unless the request had another. */
  readonly method: string;
  /** Body of the request. */
  readonly body?: Uint8Array | undefined;
  /** Headers of the request. */
  readonly headers?: Record<string, string> | undefined;
  /** Effective priority: the request's or the rule's, minus depth × `depthPriority`, changed by retries. */
  readonly priority: number;
  /** Distance from a seed; a seed has 0. */
  readonly depth: number;
  /** Number of this attempt, starting at 1. */
  readonly attempt: number;
  /** How often this record was handed out, this time included. */
  readonly deliveries: number;
  /** Host in lower case with its port, as in `URL.host`. */
  readonly host: string;
  /** The request's own politeness key, where it had one. */
  readonly hostKey?: string | undefined;
  /** Id of the rule that the request falls under. */
  readonly rule: string;
  /** Fingerprint of the page on which it was found. */
  readonly parent?: string | undefined;
  /** Name of the handler that the request asked for. */
  readonly handler?: string | undefined;
  /** Number of redirects in a row that led to this request. */
  readonly redirects: number;
  /** The request's `data`. Unpacked when it is first read. */
  readonly data: Data;
  /** The 128-bit id of the identity, as 32 hex digits. Computed when it is first read. */
  readonly fingerprint: string;
  /** When the lease ends, in milliseconds since 1970. */
  readonly deadlineMs: number;
}

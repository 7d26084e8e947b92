/** What goes into a frontier and comes out of it, as types: the same on the owner's thread, on a caller's and in a worker. */
import type { Outcome } from "./argument-checks.ts";

/** A URL, or a request with more than a URL. `Data` is the type of its `data`. */
export type RequestLike<Data = unknown> = string | URL | RequestInput<Data>;

/** The same once it was read: a URL is text. */
export type PlainRequest = string | RequestInput;

/**
 * What is pushed. Its fields are fixed once it is admitted; of two pushes of one identity the first one's data win.
 *
 * A wrong field is answered by the verdict `rejected` with reason `invalid-request`, or throws `REQUEST_INVALID`
 * where one request was given alone.
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
   * HTTP method. It is part of the identity, unless the key policy says otherwise.
   * @defaultValue "GET"
   */
  method?: string | undefined;
  /**
   * Body of the request. It is part of the identity.
   * @defaultValue none
   */
  body?: string | Uint8Array | undefined;
  /**
   * Headers to send. Only those that the key policy names are part of the identity.
   * @defaultValue none
   */
  headers?: Record<string, string> | undefined;
  /**
   * Any safe integer; larger goes first.
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
   * Names the epoch of the identity, in place of the rule's policy. Such a request does not come again by itself.
   * @defaultValue by the rule
   */
  epoch?: string | undefined;
  /**
   * Takes the place of the URL in the identity.
   * @defaultValue the canonical URL
   */
  key?: string | undefined;
  /**
   * `"check"`: a known identity is a duplicate. `"record"`: never a duplicate, but remembered. `"skip"`: neither
   * checked nor remembered.
   * @defaultValue "check"
   */
  dedup?: "check" | "record" | "skip" | undefined;
  /**
   * Marks a start request. A rule with `startLast` serves it after found ones of equal priority.
   * @defaultValue false
   */
  start?: boolean | undefined;
  /**
   * Name of the handler that is to work on it.
   * @defaultValue none
   */
  handler?: string | undefined;
  /**
   * Attempts before the record fails, in place of the rule's.
   * @defaultValue the rule's `maxAttempts`, 3
   */
  maxAttempts?: number | undefined;
  /**
   * Keeps the request out of every file. It is lost with the process; `resumed.lost` counts it.
   * @defaultValue false
   */
  volatile?: boolean | undefined;
  /**
   * Anything msgpack can carry. It comes back equal from memory, disk and worker threads: plain objects, lists,
   * sets, dates, bytes, typed arrays, strings, numbers, 64-bit integers. Functions, symbols, maps, class instances
   * and cycles are rejected as `unserializable`.
   * @defaultValue none
   */
  data?: Data | undefined;
}

/**
 * Fields of the request that a redirect changes; the others stay as they were.
 *
 * @example
 * lease.redirect("/login", { status: 303, priority: 5 });
 * lease.done();
 */
export interface RedirectChange<Data = unknown>
  extends Omit<Partial<RequestInput<Data>>, "url" | "depth"> {
  /**
   * HTTP status of the answer. At 301 and 302 a POST becomes a GET without body, at 303 every method but HEAD does;
   * at others method and body stay.
   * @defaultValue 302
   */
  status?: number | undefined;
}

/**
 * What `done` takes along.
 *
 * @example
 * const found = resolveLinks(lease.url, hrefs);
 * lease.done({ found, outcome: { status: 200, latencyMs: 87, changed: true } });
 */
export interface LeaseResult<Data = unknown> {
  /**
   * Links of the page. Relative ones are resolved against the lease's URL; a page with a `<base>` has its own
   * (`resolveLinks`).
   * @defaultValue none
   */
  found?: Iterable<RequestLike<Data>> | undefined;
  /**
   * What went wrong on the page. Each is reported by the event `error` with kind `user`.
   * @defaultValue none
   */
  errors?: unknown[] | undefined;
  /**
   * What the visit showed of the host.
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
  /** Effective priority: the request's or the rule's, less depth × `depthPriority`, changed by retries. */
  readonly priority: number;
  /** Distance from a seed; a seed has 0. */
  readonly depth: number;
  /** Number of this attempt, from 1. */
  readonly attempt: number;
  /** Hand-outs of this record so far, this one included. */
  readonly deliveries: number;
  /** Lower-case host with its port, as `URL.host`. */
  readonly host: string;
  /** Id of the rule that it is under. */
  readonly rule: string;
  /** Fingerprint of the page that it was found on. */
  readonly parent?: string | undefined;
  /** Name of the handler that the request asked for. */
  readonly handler?: string | undefined;
  /** Redirects in a row that led here. */
  readonly redirects: number;
  /** The request's `data`. Unpacked when it is first read. */
  readonly data: Data;
  /** The 128-bit id of the identity, as 32 hex digits. Computed when it is first read. */
  readonly fingerprint: string;
  /** When the lease ends, in milliseconds since 1970. */
  readonly deadlineMs: number;
}

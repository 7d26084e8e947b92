/** What is pushed and what is leased, as types. */
import type { Outcome } from "../../frontier/rules/rule-policy.ts";
import type { Verdict } from "../../frontier/admission/verdicts.ts";

/** A URL, or a request with more than a URL. */
export type RequestLike = string | RequestInput;

/**
 * What is pushed. Its fields are fixed once it is admitted; of two pushes of one identity the first one's data win.
 *
 * A wrong field is answered by the verdict `rejected` with reason `invalid-request`, or throws `REQUEST_INVALID`
 * where one request was given alone.
 */
export interface RequestInput {
  /** Absolute URL with scheme `http` or `https`. */
  url: string;
  /**
   * HTTP method. It is part of the identity, unless the key policy says otherwise.
   * @defaultValue "GET"
   */
  method?: string;
  /**
   * Body of the request. It is part of the identity.
   * @defaultValue none
   */
  body?: string | Uint8Array;
  /**
   * Headers to send. Only those that the key policy names are part of the identity.
   * @defaultValue none
   */
  headers?: Record<string, string>;
  /**
   * Any safe integer; larger goes first.
   * @defaultValue the rule's `priority`, 0
   */
  priority?: number;
  /**
   * Distance from a seed. The engine sets it for links that a lease found.
   * @defaultValue 0
   */
  depth?: number;
  /**
   * Time before which the request is not handed out, in milliseconds since 1970 or as a date. The verdict is then
   * `deferred`.
   * @defaultValue now
   */
  notBefore?: number | Date;
  /**
   * Names the epoch of the identity, in place of the rule's policy. Such a request does not come again by itself.
   * @defaultValue by the rule
   */
  epoch?: string;
  /**
   * Takes the place of the URL in the identity.
   * @defaultValue the canonical URL
   */
  key?: string;
  /**
   * `"check"`: a known identity is a duplicate. `"record"`: never a duplicate, but remembered. `"skip"`: neither
   * checked nor remembered.
   * @defaultValue "check"
   */
  dedup?: "check" | "record" | "skip";
  /**
   * Marks a start request. A rule with `startLast` serves it after found ones of equal priority.
   * @defaultValue false
   */
  start?: boolean;
  /**
   * Name of the handler that is to work on it.
   * @defaultValue none
   */
  handler?: string;
  /**
   * Attempts before the record fails, in place of the rule's.
   * @defaultValue the rule's `maxAttempts`, 3
   */
  maxAttempts?: number;
  /**
   * Keeps the request out of every file. It is lost with the process; `resumed.lost` counts it.
   * @defaultValue false
   */
  volatile?: boolean;
  /**
   * Anything msgpack can carry. It comes back equal from memory, disk and worker threads: plain objects, lists,
   * sets, dates, bytes, typed arrays, strings, numbers, 64-bit integers. Functions, symbols, maps, class instances
   * and cycles are rejected as `unserializable`.
   * @defaultValue none
   */
  data?: unknown;
}

/** Fields of the request that a redirect changes; the others stay as they were. */
export interface RedirectChange extends Omit<Partial<RequestInput>, "url" | "depth"> {
  /**
   * HTTP status of the answer. At 301 and 302 a POST becomes a GET without body, at 303 every method but HEAD does;
   * at others method and body stay.
   * @defaultValue 302
   */
  status?: number;
}

/** What became of a batch: counts, and the verdict of each request. */
export interface PushResult {
  /** Requests in the batch. */
  readonly size: number;
  /** Requests that are pending now. */
  readonly accepted: number;
  /** Requests that wait for their `notBefore`. */
  readonly deferred: number;
  /** Requests whose identity was known. */
  readonly duplicate: number;
  /** Requests that were refused; their verdicts have the reason. */
  readonly rejected: number;
  /** Requests for which there was no room: push them again later. */
  readonly full: number;
  /** The verdict of a request by its index in the batch. Throws `ARGUMENT_INVALID` for an index outside of it. */
  verdict(index: number): Verdict;
}

/** What `done` did: the result of pushing the links, and whether the lease was late. */
export interface DoneResult extends PushResult {
  /** Whether the deadline had passed: nothing was changed. */
  readonly late: boolean;
}

/**
 * The right to work on one URL until a deadline. End it with `done`, `retry`, `fail` or `release`.
 *
 * A lease whose deadline has passed is late: its methods change nothing and return so. Owner's thread only. `using lease = frontier.poll()` releases it at the
 * end of the block, unless it has ended by then.
 */
export interface Lease extends Disposable {
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
  readonly data: unknown;
  /** The 128-bit id of the identity, as 32 hex digits. Computed when it is first read. */
  readonly fingerprint: string;
  /** When the lease ends, in milliseconds since 1970. */
  readonly deadlineMs: number;
  /**
   * Finishes the page and admits its links, in one step: after a crash both are there, or neither.
   *
   * The links are one level deeper. Costs the push of the links. Returns `late: true` and changes nothing where the
   * deadline has passed. Throws `DISK_FULL` or a related code where the disk fails: nothing has changed then, and
   * the lease is still live.
   */
  done(result?: {
    /**
     * Links of the page, relative to nothing: resolve them first (`resolveLinks`).
     * @defaultValue none
     */
    found?: Iterable<RequestLike>;
    /**
     * What went wrong on the page. Each is reported by the event `error` with kind `user`.
     * @defaultValue none
     */
    errors?: unknown[];
    /**
     * What the visit showed of the host.
     * @defaultValue nothing
     */
    outcome?: Outcome;
  }): DoneResult;
  /**
   * Returns the URL for another attempt: `"requeued"`, or `"failed"` where it was the last one, or `"late"`.
   *
   * It gets a new place behind others of its priority, and the priority changes by the rule's `retryPriority`.
   */
  retry(options?: {
    /**
     * Wait before the next attempt, in milliseconds.
     * @defaultValue the rule's `backoff`
     */
    delayMs?: number;
    /**
     * Priority of the next attempt, in place of `retryPriority`.
     * @defaultValue by the rule
     */
    priority?: number;
    /**
     * Counted in `report().reasons` and kept with the event.
     * @defaultValue none
     */
    reason?: string;
    /**
     * What the visit showed of the host.
     * @defaultValue nothing
     */
    outcome?: Outcome;
  }): "requeued" | "failed" | "late";
  /**
   * Gives the URL up: it stays in state `failed` until it is requeued or forgotten. Returns false where the
   * deadline has passed.
   */
  fail(reason?: string, outcome?: Outcome): boolean;
  /**
   * Returns the URL to its place, as if it had never been handed out; no attempt is counted. Returns false where
   * the deadline has passed.
   */
  release(): boolean;
  /** `release` where the lease is live. One that has ended is left alone and not counted as late. */
  [Symbol.dispose](): void;
  /**
   * Continues the request at another URL: pushes that URL with this lease as parent, at the same depth. The lease
   * itself still needs its `done`.
   *
   * Data, handler, priority, headers, own `maxAttempts` and epoch, `start` and `volatile` go along; method and body
   * as the status demands; `change` overrides fields. Throws `ARGUMENT_INVALID` or `REQUEST_INVALID` for a wrong
   * field. Costs a push.
   *
   * @example
   * lease.redirect(answer.headers.location, { status: answer.status });
   * lease.done();
   */
  redirect(url: string, change?: RedirectChange): Verdict;
  /** Moves the deadline to so many milliseconds from now. Returns false where it has passed already. */
  extend(ms: number): boolean;
}

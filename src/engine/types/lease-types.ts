/** What is pushed and what is leased, as types. */
import type { RetryOptions } from "../../base/argument-checks.ts";
import type { LeaseFields, LeaseResult, RedirectChange } from "../../base/request-types.ts";
import type { Outcome } from "../../frontier/rules/rule-policy.ts";
import type { Verdict } from "../../frontier/admission/verdicts.ts";

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

/**
 * What is known of a URL, for `put`.
 *
 * @example
 * frontier.put("https://example.org/", { dueAt: Date.now() + 86_400_000, data: { etag: "a1" } });
 */
export interface PutOptions<Data = unknown> {
  /**
   * When the URL is due again, in milliseconds since 1970 or as a date. A time that has passed makes it pending.
   * @defaultValue never: it is finished
   */
  dueAt?: number | Date | undefined;
  /**
   * Its data from now on, in place of the request's.
   * @defaultValue those it has
   */
  data?: Data | undefined;
}

/**
 * Which leases `pollMany` hands out.
 *
 * @example
 * frontier.pollMany(10, { host: "example.org", leaseMs: 600_000 });
 */
export interface PollOptions {
  /**
   * Leases of this host alone (`lease.hostKey`, else `lease.host`), as many as are pending: its delay, limit, block and hold are ignored.
   * Its rule must be polite.
   * @defaultValue any host that may go
   */
  host?: string | undefined;
  /**
   * How long these leases last, in milliseconds.
   * @defaultValue the frontier's `leaseMs`
   */
  leaseMs?: number | undefined;
}

/** What `put` did. */
export interface PutResult {
  /**
   * `done`, `pending`, `waiting`: the state in which the URL is now. `leased`: a lease of it is out, and nothing was
   * changed. `rejected`, `full`, `closed`: refused, and nothing was changed.
   */
  readonly status: "done" | "pending" | "waiting" | "leased" | "rejected" | "full" | "closed";
  /** Why it was refused: a verdict's reason, or `no-identity` for a request that is never remembered. */
  readonly reason?: string;
}

/** What `done` did: the result of pushing the links, and whether the lease was late. */
export interface DoneResult extends PushResult {
  /** Whether the deadline had passed: nothing was changed. */
  readonly late: boolean;
}

/**
 * The right to work on one URL until a deadline. End it with `done`, `retry`, `fail` or `release`.
 *
 * A lease whose deadline has passed is late: its methods change nothing and report that. Owner's thread only. `using lease =
 * frontier.poll()` releases it at the end of the block, unless it has ended by then. `Data` is the type of its request's `data`.
 */
export interface Lease<Data = unknown> extends LeaseFields<Data>, Disposable {
  /**
   * Finishes the page and admits its links, in one step: after a crash both are there, or neither.
   *
   * The links are one level deeper. Costs the push of the links. Returns `late: true` and changes nothing where the
   * deadline has passed. Throws `DISK_FULL` or a related code where the disk fails: nothing has changed then, and
   * the lease is still live, unless its `details.isApplied` is true.
   */
  done(result?: LeaseResult<Data>): DoneResult;
  /**
   * Returns the URL for another attempt: `"requeued"`, or `"failed"` where it was the last one, or `"late"`.
   *
   * It gets a new place behind others of its priority, and the priority changes by the rule's `retryPriority`.
   */
  retry(options?: RetryOptions): "requeued" | "failed" | "late";
  /**
   * Ends the URL for good: it stays in state `failed` until it is requeued or forgotten. Returns false where the deadline has passed.
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
  redirect(url: string, change?: RedirectChange<Data>): Verdict;
  /** Moves the deadline by so many milliseconds, later than it was. Returns false where it has passed already. */
  extend(ms: number): boolean;
}

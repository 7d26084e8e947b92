/**
 * settle: one call that ends a lease as an answer of HTTP asks for.
 *
 *   2xx, 304                      done, with the links
 *   other 3xx with a Location     redirect to it, and done
 *   408 425 429 500 502 503 504   retry; what Retry-After asks for holds the host
 *   anything else                 fail
 */
import { createSystemClock } from "../../base/clock.ts";
import { RETRY_STATUSES, retryAfterMs } from "../../base/time/duration.ts";
import type { LeaseResult, RedirectChange } from "../../base/request-types.ts";
import type { AsyncLease } from "../types/async-frontier.ts";
import type { Outcome, RetryOptions } from "../types/frontier-types.ts";

/** What `settle` reads of an answer: a `Response` of `fetch`, or an object with plain headers in lower case. */
export interface Answer {
  /** HTTP status. */
  readonly status: number;
  /** `Headers`, or plain ones, names in lower case. */
  readonly headers:
    | { get(name: string): string | null }
    | Readonly<Record<string, string | string[] | undefined>>;
}

/** How `settle` has ended a lease; `failed` also where no attempt was left. */
export type Settled = "done" | "redirected" | "retried" | "failed" | "late";

/** What `settle` needs of a lease: that of a frontier, and that of a worker. */
export interface SettledLease {
  /** As `Lease.done`. */
  done(result?: LeaseResult): { readonly late: boolean } | unknown;
  /** As `Lease.retry`. */
  retry(options?: RetryOptions): unknown;
  /** As `Lease.fail`. */
  fail(reason?: string, outcome?: Outcome): unknown;
  /** As `Lease.redirect`. */
  redirect(url: string, change?: RedirectChange): unknown;
}

/** A server that asks for more is asked again after this. */
const RETRY_AFTER_MS_MAX = 3_600_000;
const NOT_MODIFIED = 304;

/**
 * Ends a lease by an HTTP answer: 2xx finishes the page with `result`, a redirect continues at its
 * `Location`, 408, 425, 429 and faults of the server are tried again, anything else fails with `status <number>`.
 *
 * Costs one call of the lease, two for a redirect. Returns `late` when the deadline has passed, and throws what the
 * lease's call throws. The `Retry-After` of an answer that is tried again blocks the host, for an hour at most. With a
 * lease of an `AsyncFrontier` it returns a promise; in a worker it returns what was requested, since the owner decides later.
 *
 * @example
 * const response = await fetch(lease.url, { redirect: "manual" });
 * settle(lease, response, { found: await visit(lease.url) });
 */
export function settle(lease: AsyncLease, answer: Answer, result?: LeaseResult): Promise<Settled>;
export function settle(lease: SettledLease, answer: Answer, result?: LeaseResult): Settled;
export function settle(
  lease: SettledLease | AsyncLease,
  answer: Answer,
  result: LeaseResult = {},
): Settled | Promise<Settled> {
  const { status } = answer;
  const own = lease as SettledLease;
  const mayWait = RETRY_STATUSES.includes(status);
  const outcome: Outcome = { status, ...(mayWait ? waitOf(answer) : {}), ...result.outcome };
  if (mayWait) {
    return then(own.retry({ reason: `status ${status}`, outcome }), (answer) => {
      return answer === "late" || answer === "failed" ? answer : "retried";
    });
  }
  const location = headerOf(answer, "location");
  const isRedirect = status >= 300 && status < 400 && status !== NOT_MODIFIED;
  if (isRedirect && location !== undefined) {
    return then(own.redirect(location, { status }), () =>
      then(own.done({ ...result, outcome }), (answer) => (isLate(answer) ? "late" : "redirected")),
    );
  }
  if ((status >= 200 && status < 300) || status === NOT_MODIFIED) {
    return then(own.done({ ...result, outcome }), (answer) => (isLate(answer) ? "late" : "done"));
  }
  return then(own.fail(`status ${status}`, outcome), (answer) =>
    answer === false ? "late" : "failed",
  );
}

function waitOf(answer: Answer): Outcome {
  const names = ["retry-after", "date"] as const;
  const headers = Object.fromEntries(names.map((name) => [name, headerOf(answer, name)]));
  const waitMs = retryAfterMs(headers, createSystemClock().now());
  return waitMs === undefined ? {} : { retryAfterMs: Math.min(waitMs, RETRY_AFTER_MS_MAX) };
}

function headerOf({ headers }: Answer, name: string): string | undefined {
  const { get } = headers as { get?: unknown };
  const value =
    typeof get === "function"
      ? (headers as { get(name: string): string | null }).get(name)
      : (headers as Record<string, string | string[] | undefined>)[name];
  return (Array.isArray(value) ? value[0] : value) ?? undefined;
}

function isLate(answer: unknown): boolean {
  return (answer as { late?: boolean } | undefined)?.late === true;
}

/** What comes of a value, or of the promise of one. */
function then<T>(value: unknown, next: (value: unknown) => T | Promise<T>): T | Promise<T> {
  return value instanceof Promise ? value.then(next) : next(value);
}

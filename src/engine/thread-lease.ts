/** ThreadLease: a lease of a frontier that another thread owns. */
import type { Outcome } from "../frontier/policy.ts";
import type { Line } from "./thread-line.ts";
import {
  type LeaseMethod,
  type PlainLease,
  type PlainResult,
  resultOf,
} from "./thread-protocol.ts";
import type { DoneResult, Lease, RedirectChange, Verdict } from "./types.ts";

/** What a lease's method says that the owner no longer knows of. */
const LATE: Record<LeaseMethod, unknown> = {
  done: undefined,
  retry: "late",
  fail: false,
  release: false,
  redirect: { status: "rejected", reason: "late", admitted: false },
  extend: false,
};
const LATE_DONE: PlainResult = {
  counts: { size: 0, accepted: 0, deferred: 0, duplicate: 0, rejected: 0, full: 0, late: true },
  verdicts: [],
  which: new Uint8Array(0),
};

/** A lease of another thread's frontier: its fields, and its methods as promises. */
export class ThreadLease {
  declare readonly url: string;
  declare readonly method: string;
  declare readonly body?: Uint8Array | undefined;
  declare readonly headers?: Record<string, string> | undefined;
  declare readonly priority: number;
  declare readonly depth: number;
  declare readonly attempt: number;
  declare readonly deliveries: number;
  declare readonly host: string;
  declare readonly rule: string;
  declare readonly parent?: string | undefined;
  declare readonly handler?: string | undefined;
  declare readonly redirects: number;
  declare readonly data: unknown;
  declare readonly fingerprint: string;
  declare deadlineMs: number;
  /** @internal */ declare readonly number: number;
  readonly #line: Line;

  /** @internal */
  constructor(line: Line, plain: PlainLease) {
    Object.assign(this, plain);
    this.#line = line;
  }

  async done(result: Parameters<Lease["done"]>[0] = {}): Promise<DoneResult> {
    const { found } = result;
    const sent = found === undefined ? result : { ...result, found: [...found] };
    const answer = (await this.#call("done", [sent])) as PlainResult | undefined;
    return resultOf(answer ?? LATE_DONE) as DoneResult;
  }

  retry(options: Parameters<Lease["retry"]>[0] = {}): Promise<"requeued" | "failed" | "late"> {
    return this.#call("retry", [options]) as Promise<"requeued" | "failed" | "late">;
  }

  fail(reason?: string, outcome?: Outcome): Promise<boolean> {
    return this.#call("fail", [reason, outcome]) as Promise<boolean>;
  }

  release(): Promise<boolean> {
    return this.#call("release", []) as Promise<boolean>;
  }

  redirect(url: string, change?: RedirectChange): Promise<Verdict> {
    return this.#call("redirect", [url, change]) as Promise<Verdict>;
  }

  extend(ms: number): Promise<boolean> {
    return this.#call("extend", [ms]) as Promise<boolean>;
  }

  async #call(method: LeaseMethod, args: readonly unknown[]): Promise<unknown> {
    const answer = await this.#line.call({ on: "lease", key: this.number, method, args });
    const { isGone, value, deadlineMs } = answer as {
      isGone?: boolean;
      value: unknown;
      deadlineMs: number;
    };
    if (isGone === true) return LATE[method];
    this.deadlineMs = deadlineMs;
    return value;
  }
}

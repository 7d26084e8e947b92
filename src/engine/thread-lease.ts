/** ThreadLease: a lease of a frontier that another thread owns. */
import type { Outcome } from "../frontier/policy.ts";
import { VERDICT_CLOSED, VERDICT_LATE, verdictOf } from "../frontier/verdict.ts";
import { DONE_LATE } from "./push-result.ts";
import type { Line } from "./thread-line.ts";
import { sendableCauses, sendableFound } from "./thread-send.ts";
import {
  type LeaseMethod,
  ownVerdict,
  type PlainLease,
  type PlainResult,
  plainResult,
  resultOf,
} from "./thread-protocol.ts";
import type { DoneResult, Lease, RedirectChange, RequestLike, Verdict } from "./types.ts";

/** What a lease's method says that the owner no longer knows of. */
const LATE: Record<LeaseMethod, unknown> = {
  done: undefined,
  retry: "late",
  fail: false,
  release: false,
  redirect: verdictOf(VERDICT_LATE),
  extend: false,
};
const LATE_DONE: PlainResult = plainResult(DONE_LATE);

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

  /** The number that a line's owner knows it by; undefined: it is another's. @internal */
  numberOn(line: Line): number | undefined {
    return line === this.#line ? this.number : undefined;
  }

  async done(result: Parameters<Lease["done"]>[0] = {}): Promise<DoneResult> {
    const sent = withList(result);
    const answer = (await this.#call("done", [sent], () => [sendable(sent)])) as
      | PlainResult
      | undefined;
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

  async redirect(url: string, change?: RedirectChange): Promise<Verdict> {
    return ownVerdict((await this.#call("redirect", [url, change])) as Verdict);
  }

  extend(ms: number): Promise<boolean> {
    return this.#call("extend", [ms]) as Promise<boolean>;
  }

  async #call(
    method: LeaseMethod,
    args: readonly unknown[],
    mended?: () => readonly unknown[],
  ): Promise<unknown> {
    const answer = await this.#line.call({ on: "lease", key: this.number, method, args }, mended);
    const { isGone, isClosed, value, deadlineMs } = answer as LeaseAnswer;
    if (isClosed === true && method === "redirect") return verdictOf(VERDICT_CLOSED);
    if (isGone === true) return LATE[method];
    this.deadlineMs = deadlineMs;
    return value;
  }
}

/** What the owner says of a lease's method. */
interface LeaseAnswer {
  /** It knows of the lease no more; or is closed. */
  readonly isGone?: boolean;
  readonly isClosed?: boolean;
  readonly value: unknown;
  readonly deadlineMs: number;
}

type Done = Parameters<Lease["done"]>[0];

/** The result with its links as a list; what is none is the owner's to refuse. */
function withList(result: Done): Done {
  const found: unknown = result?.found;
  if (typeof found !== "object" || found === null || !(Symbol.iterator in found)) return result;
  return { ...result, found: [...(found as Iterable<RequestLike>)] };
}

function sendable(result: Done): unknown {
  const { found, errors } = result ?? {};
  return {
    ...result,
    ...(Array.isArray(found) ? { found: sendableFound(found) } : {}),
    ...(Array.isArray(errors) ? { errors: sendableCauses(errors) } : {}),
  };
}

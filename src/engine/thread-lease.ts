/** ThreadLease: a lease of a frontier that another thread owns. */
import { readDone } from "../base/arguments.ts";
import type { Outcome } from "../frontier/policy.ts";
import type { Line } from "./thread-line.ts";
import { sendableCauses, sendableFound } from "./thread-send.ts";
import {
  type LeaseMethod,
  ownVerdict,
  type PlainLease,
  type PlainResult,
  resultOf,
} from "./thread-protocol.ts";
import type { DoneResult, Lease, RedirectChange, Verdict } from "./types.ts";

/** A lease of a frontier on its own thread, with promises. */
export class ThreadLease {
  /** As `Lease.url`. */
  declare readonly url: string;
  /** As `Lease.method`. */
  declare readonly method: string;
  /** As `Lease.body`. */
  declare readonly body?: Uint8Array | undefined;
  /** As `Lease.headers`. */
  declare readonly headers?: Record<string, string> | undefined;
  /** As `Lease.priority`. */
  declare readonly priority: number;
  /** As `Lease.depth`. */
  declare readonly depth: number;
  /** As `Lease.attempt`. */
  declare readonly attempt: number;
  /** As `Lease.deliveries`. */
  declare readonly deliveries: number;
  /** As `Lease.host`. */
  declare readonly host: string;
  /** As `Lease.rule`. */
  declare readonly rule: string;
  /** As `Lease.parent`. */
  declare readonly parent?: string | undefined;
  /** As `Lease.handler`. */
  declare readonly handler?: string | undefined;
  /** As `Lease.redirects`. */
  declare readonly redirects: number;
  /** As `Lease.data`. */
  declare readonly data: unknown;
  /** As `Lease.fingerprint`; it comes with the lease. */
  declare readonly fingerprint: string;
  /** As `Lease.deadlineMs`. */
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

  /** As `Lease.done`, with a promise. Costs a message to the owner's thread and back. */
  async done(result: Parameters<Lease["done"]>[0] = {}): Promise<DoneResult> {
    const read = readDone(result);
    const { found, errors } = read;
    const answer = await this.#call("done", [read], () => [
      {
        ...read,
        ...(found === undefined ? {} : { found: sendableFound(found) }),
        ...(errors === undefined ? {} : { errors: sendableCauses(errors) }),
      },
    ]);
    return resultOf(answer as PlainResult) as DoneResult;
  }

  /** As `Lease.retry`, with a promise. */
  retry(options: Parameters<Lease["retry"]>[0] = {}): Promise<"requeued" | "failed" | "late"> {
    return this.#call("retry", [options]) as Promise<"requeued" | "failed" | "late">;
  }

  /** As `Lease.fail`, with a promise. */
  fail(reason?: string, outcome?: Outcome): Promise<boolean> {
    return this.#call("fail", [reason, outcome]) as Promise<boolean>;
  }

  /** As `Lease.release`, with a promise. */
  release(): Promise<boolean> {
    return this.#call("release", []) as Promise<boolean>;
  }

  /** `release` where the lease is live; resolves when the owner has done it. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#call("dispose", []);
  }

  /** As `Lease.redirect`, with a promise. */
  async redirect(url: string, change?: RedirectChange): Promise<Verdict> {
    return ownVerdict((await this.#call("redirect", [url, change])) as Verdict);
  }

  /** As `Lease.extend`, with a promise. */
  extend(ms: number): Promise<boolean> {
    return this.#call("extend", [ms]) as Promise<boolean>;
  }

  async #call(
    method: LeaseMethod,
    args: readonly unknown[],
    mended?: () => readonly unknown[],
  ): Promise<unknown> {
    const answer = await this.#line.call({ on: "lease", key: this.number, method, args }, mended);
    const { value, deadlineMs } = answer as LeaseAnswer;
    if (deadlineMs !== undefined) this.deadlineMs = deadlineMs;
    return value;
  }
}

/** What the owner says of a lease's method. */
interface LeaseAnswer {
  readonly value: unknown;
  /** undefined: it knows of the lease no more. */
  readonly deadlineMs?: number;
}

/** WorkerLease: a lease in a worker's thread. The owner decides later, so what it does returns nothing. */
import type { Outcome, RetryOptions } from "../../base/arguments.ts";
import type { LeaseFields, LeaseResult, RedirectChange } from "../../base/request-types.ts";
import { hostOfUrl } from "../../url/host-of-url.ts";
import type { LeaseExtras } from "../protocol/lease-message.ts";
import { unpack } from "../protocol/pack.ts";

/** What becomes of one link: the owner will decide, known already, no URL or too deep, no room now. */
export type PushAnswer = "queued" | "duplicate" | "rejected" | "full";

/** What a lease asks its thread's desk to do. */
export interface RemoteDesk {
  done(lease: WorkerLease, result: LeaseResult | undefined): void;
  retry(lease: WorkerLease, options: RetryOptions | undefined): void;
  fail(lease: WorkerLease, reason: string | undefined, outcome: Outcome | undefined): void;
  release(lease: WorkerLease): void;
  redirect(lease: WorkerLease, url: string, change: RedirectChange | undefined): void;
  extend(lease: WorkerLease, ms: number): void;
  ruleName(number: number): string;
  fingerprint(lease: WorkerLease): string;
}

const NO_EXTRAS: LeaseExtras = Object.freeze({});

/** Filled from the row of a block when it begins (lease-message.ts). */
export class WorkerLease implements LeaseFields, Disposable {
  url = "";
  priority = 0;
  depth = 0;
  attempt = 0;
  deliveries = 0;
  deadlineMs = 0;
  /** @internal */ id = 0;
  /** @internal */ isSettled = false;
  /** @internal */ ruleNumber = 0;
  /** @internal */ parentAt = 0;
  /** @internal */ block: Buffer | undefined = undefined;
  /** @internal */ packed: Uint8Array | undefined = undefined;
  /** What was pushed for it so far. @internal */ found: object | undefined = undefined;
  /** @internal */ unpacked: LeaseExtras | undefined = undefined;
  /** @internal */ readonly desk: RemoteDesk;

  constructor(desk: RemoteDesk) {
    this.desk = desk;
  }

  /** @internal */
  get extras(): LeaseExtras {
    const { packed } = this;
    if (packed === undefined) return NO_EXTRAS;
    this.unpacked ??= unpack(packed) as LeaseExtras;
    return this.unpacked;
  }

  /** Fingerprint of the page it was found on. */
  get parent(): string | undefined {
    return this.parentAt === 0
      ? undefined
      : this.block?.hexSlice(this.parentAt, this.parentAt + 16);
  }

  get method(): string {
    return this.extras.m ?? "GET";
  }

  get body(): Uint8Array | undefined {
    return this.extras.b;
  }

  get headers(): Record<string, string> | undefined {
    return this.extras.h;
  }

  get handler(): string | undefined {
    return this.extras.n;
  }

  /** Redirects that led here. */
  get redirects(): number {
    return this.extras.r ?? 0;
  }

  get data(): unknown {
    return this.extras.d;
  }

  get host(): string {
    return hostOfUrl(this.url);
  }

  get rule(): string {
    return this.desk.ruleName(this.ruleNumber);
  }

  get fingerprint(): string {
    return this.extras.f ?? this.desk.fingerprint(this);
  }

  /** Finished, with the links that were pushed and found; the owner admits them in the same step. */
  done(result?: LeaseResult): void {
    this.desk.done(this, result);
  }

  retry(options?: RetryOptions): void {
    this.desk.retry(this, options);
  }

  fail(reason?: string, outcome?: Outcome): void {
    this.desk.fail(this, reason, outcome);
  }

  /** Back to its place, no attempt counted. */
  release(): void {
    this.desk.release(this);
  }

  /** `release`, where nothing else was said of the lease. */
  [Symbol.dispose](): void {
    this.desk.release(this);
  }

  /** A push with this lease as parent, at the same depth; the request goes along but for what `change` says. */
  redirect(url: string, change?: RedirectChange): void {
    this.desk.redirect(this, url, change);
  }

  extend(ms: number): void {
    this.desk.extend(this, ms);
  }
}

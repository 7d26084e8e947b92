/** WorkerLease: a lease in a worker's thread. The owner decides later, so its methods return nothing. */
import type { Outcome, RetryOptions } from "../../base/argument-checks.ts";
import type { LeaseFields, LeaseResult, RedirectChange } from "../../base/request-types.ts";
import { INSPECT, type Inspect, plainLease, shownLease } from "../../base/plain-copy.ts";
import { hostOfUrl } from "../../url/parsing/host-of-url.ts";
import type { LeaseExtras } from "../protocol/lease-message.ts";
import { unpack } from "../protocol/message-values.ts";

/** `queued`: the owner decides. `duplicate`: known. `rejected`: no URL, or too deep. `full`: no room now. */
export type PushAnswer = "queued" | "duplicate" | "rejected" | "full";

/**
 * `sent`: it is on its way. `full`: the ring is full, and nothing was sent. `rejected`: the lease has ended, or the
 * frontier is closed.
 */
export type SendAnswer = "sent" | "full" | "rejected";

/** The calls of a lease to its thread's seat client. */
export interface LeaseActions {
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

/**
 * A lease in a worker's thread, filled from the row of a block when it begins (lease-message.ts). The owner decides later, so its
 * methods return nothing.
 */
export class WorkerLease<Data = unknown> implements LeaseFields<Data>, Disposable {
  /** As `Lease.url`. */
  url = "";
  /** As `Lease.priority`. */
  priority = 0;
  /** As `Lease.depth`. */
  depth = 0;
  /** As `Lease.attempt`. */
  attempt = 0;
  /** As `Lease.deliveries`. */
  deliveries = 0;
  /** As `Lease.deadlineMs`, in milliseconds since 1970. */
  deadlineMs = 0;
  /** @internal */ id = 0;
  /** @internal */ isSettled = false;
  /** @internal */ ruleNumber = 0;
  /** @internal */ parentAt = 0;
  /** @internal */ block: Buffer | undefined = undefined;
  /** @internal */ packed: Uint8Array | undefined = undefined;
  /** Links pushed for it so far. @internal */ found: object | undefined = undefined;
  /** @internal */ unpacked: LeaseExtras | undefined = undefined;
  /** @internal */ readonly seatClient: LeaseActions;

  /** Called by the pool or by a port. */
  constructor(seatClient: LeaseActions) {
    this.seatClient = seatClient;
  }

  /** @internal */
  get extras(): LeaseExtras {
    const { packed } = this;
    if (packed === undefined) return NO_EXTRAS;
    this.unpacked ??= unpack(packed) as LeaseExtras;
    return this.unpacked;
  }

  /** As `Lease.parent`. */
  get parent(): string | undefined {
    return this.parentAt === 0
      ? undefined
      : this.block?.hexSlice(this.parentAt, this.parentAt + 16);
  }

  /** As `Lease.method`. */
  get method(): string {
    return this.extras.m ?? "GET";
  }

  /** As `Lease.body`. */
  get body(): Uint8Array | undefined {
    return this.extras.b;
  }

  /** As `Lease.headers`. */
  get headers(): Record<string, string> | undefined {
    return this.extras.h;
  }

  /** As `Lease.handler`. */
  get handler(): string | undefined {
    return this.extras.n;
  }

  /** As `Lease.hostKey`. */
  get hostKey(): string | undefined {
    return this.extras.u;
  }

  /** As `Lease.redirects`. */
  get redirects(): number {
    return this.extras.r ?? 0;
  }

  /** As `Lease.data`. */
  get data(): Data {
    return this.extras.d as Data;
  }

  /** As `Lease.host`, without the scheme's own port. */
  get host(): string {
    return hostOfUrl(this.url);
  }

  /** As `Lease.rule`. */
  get rule(): string {
    return this.seatClient.ruleName(this.ruleNumber);
  }

  /** As `Lease.fingerprint`. */
  get fingerprint(): string {
    return this.extras.f ?? this.seatClient.fingerprint(this);
  }

  /** Finishes the page, with the links that were pushed and found. The owner admits them in the same step. */
  done(result?: LeaseResult<Data>): void {
    this.seatClient.done(this, result);
  }

  /** Another attempt, by the rule's policy. */
  retry(options?: RetryOptions): void {
    this.seatClient.retry(this, options);
  }

  /** Ends the lease as failed, without another attempt. */
  fail(reason?: string, outcome?: Outcome): void {
    this.seatClient.fail(this, reason, outcome);
  }

  /** Returns the URL to its place; no attempt is counted. */
  release(): void {
    this.seatClient.release(this);
  }

  /** `release`, unless the lease has ended. */
  [Symbol.dispose](): void {
    this.seatClient.release(this);
  }

  /** As `Lease.redirect`; the owner decides about the URL. */
  redirect(url: string, change?: RedirectChange<Data>): void {
    this.seatClient.redirect(this, url, change);
  }

  /** Moves the deadline by this many milliseconds, later than it was. */
  extend(ms: number): void {
    this.seatClient.extend(this, ms);
  }

  /** What `console.log` shows. @internal */
  [INSPECT](depth: number, options: object, inspect: Inspect): string {
    return shownLease(this, depth, { options, inspect });
  }

  /** What a log of JSON shows. @internal */
  toJSON(): object {
    return plainLease(this);
  }
}

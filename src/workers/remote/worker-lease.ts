/** WorkerLease: a lease in a worker's thread. The owner decides later, so what it does returns nothing. */
import type { Outcome } from "../../base/arguments.ts";
import { hostOfUrl } from "../../url/host-of-url.ts";
import type { LeaseExtras } from "../protocol/lease-message.ts";
import { unpack } from "../protocol/pack.ts";

export type RequestLike = string | WorkerRequest;

/** What becomes of one link: the owner will decide, known already, no URL or too deep, no room now. */
export type PushAnswer = "queued" | "duplicate" | "rejected" | "full";

/** What the handler of a lease learned. */
export type WorkerOutcome = Outcome;

export interface WorkerResult {
  found?: Iterable<RequestLike>;
  errors?: unknown[];
  outcome?: WorkerOutcome;
}

export interface WorkerRetry {
  delayMs?: number;
  priority?: number;
  reason?: string;
  outcome?: WorkerOutcome;
}

/** A request's fields but its `url`, as the owner takes them; `data` is anything msgpack can carry. */
interface WorkerRequestFields {
  method?: string;
  body?: string | Uint8Array;
  headers?: Record<string, string>;
  priority?: number;
  notBefore?: number | Date;
  epoch?: string;
  key?: string;
  dedup?: "check" | "record" | "skip";
  start?: boolean;
  handler?: string;
  maxAttempts?: number;
  volatile?: boolean;
  data?: unknown;
}

/** A link that is more than its URL. */
export interface WorkerRequest extends WorkerRequestFields {
  url: string;
  /** Of a page's links the owner sets it: one more than the page's. */
  depth?: number;
}

/** What a redirect changes of the request that it goes on with: the fields of one, but `url` and `depth`, and the answer's status. */
export interface WorkerRedirect extends WorkerRequestFields {
  status?: number;
}

/** What a lease asks its thread's desk to do. */
export interface RemoteDesk {
  done(lease: WorkerLease, result: WorkerResult | undefined): void;
  retry(lease: WorkerLease, options: WorkerRetry | undefined): void;
  fail(lease: WorkerLease, reason: string | undefined, outcome: WorkerOutcome | undefined): void;
  release(lease: WorkerLease): void;
  redirect(lease: WorkerLease, url: string, change: WorkerRedirect | undefined): void;
  extend(lease: WorkerLease, ms: number): void;
  ruleName(number: number): string;
  fingerprint(lease: WorkerLease): string;
}

const NO_EXTRAS: LeaseExtras = Object.freeze({});

/** Filled from the row of a block when it begins (lease-message.ts). */
export class WorkerLease implements Disposable {
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
  done(result?: WorkerResult): void {
    this.desk.done(this, result);
  }

  retry(options?: WorkerRetry): void {
    this.desk.retry(this, options);
  }

  fail(reason?: string, outcome?: WorkerOutcome): void {
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
  redirect(url: string, change?: WorkerRedirect): void {
    this.desk.redirect(this, url, change);
  }

  extend(ms: number): void {
    this.desk.extend(this, ms);
  }
}

/** WorkerLease: a lease in a worker's thread. The owner decides later, so what it does returns nothing. */
import type { LeaseExtras, LeaseFields } from "../protocol/lease-message.ts";
import { unpack } from "../protocol/pack.ts";

export type RequestLike = string | { url: string };

/** What becomes of one link: the owner will decide, known already, no URL or too deep, no room now. */
export type PushAnswer = "queued" | "duplicate" | "rejected" | "full";

export interface WorkerOutcome {
  status?: number;
  latencyMs?: number;
  retryAfterMs?: number;
  bytes?: number;
  address?: string;
  changed?: boolean;
}

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

/** What a lease asks its thread's desk to do. */
export interface RemoteDesk {
  done(lease: WorkerLease, result: WorkerResult | undefined): void;
  retry(lease: WorkerLease, options: WorkerRetry | undefined): void;
  fail(lease: WorkerLease, reason: string | undefined, outcome: WorkerOutcome | undefined): void;
  release(lease: WorkerLease): void;
  redirect(lease: WorkerLease, url: string): void;
  extend(lease: WorkerLease, ms: number): void;
  ruleName(number: number): string;
  fingerprint(lease: WorkerLease): string;
}

const NO_EXTRAS: LeaseExtras = Object.freeze({});

export class WorkerLease {
  readonly url: string;
  readonly priority: number;
  readonly depth: number;
  readonly attempt: number;
  readonly deliveries: number;
  readonly deadlineMs: number;
  /** Fingerprint of the page it was found on. */
  readonly parent: string | undefined;
  /** @internal */ readonly id: number;
  /** @internal */ isSettled = false;
  readonly #desk: RemoteDesk;
  readonly #rule: number;
  readonly #packed: Uint8Array | undefined;
  #extras: LeaseExtras | undefined;

  constructor(desk: RemoteDesk, fields: LeaseFields) {
    this.url = fields.url;
    this.priority = fields.priority;
    this.depth = fields.depth;
    this.attempt = fields.attempt;
    this.deliveries = fields.deliveries;
    this.deadlineMs = fields.deadlineMs;
    this.parent = fields.parent;
    this.id = fields.id;
    this.#desk = desk;
    this.#rule = fields.rule;
    this.#packed = fields.extras;
  }

  /** @internal */
  get extras(): LeaseExtras {
    const packed = this.#packed;
    this.#extras ??= packed === undefined ? NO_EXTRAS : (unpack(packed) as LeaseExtras);
    return this.#extras;
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

  get data(): unknown {
    return this.extras.d;
  }

  get host(): string {
    const start = this.url.indexOf("//") + 2;
    const path = this.url.slice(start).search(/[/?#]/);
    const authority = path < 0 ? this.url.slice(start) : this.url.slice(start, start + path);
    return authority.slice(authority.lastIndexOf("@") + 1);
  }

  get rule(): string {
    return this.#desk.ruleName(this.#rule);
  }

  get fingerprint(): string {
    return this.extras.f ?? this.#desk.fingerprint(this);
  }

  /** Finished, with the links that were pushed and found; the owner admits them in the same step. */
  done(result?: WorkerResult): void {
    this.#desk.done(this, result);
  }

  retry(options?: WorkerRetry): void {
    this.#desk.retry(this, options);
  }

  fail(reason?: string, outcome?: WorkerOutcome): void {
    this.#desk.fail(this, reason, outcome);
  }

  /** Back to its place, no attempt counted. */
  release(): void {
    this.#desk.release(this);
  }

  /** A push with this lease as parent, at the same depth. */
  redirect(url: string): void {
    this.#desk.redirect(this, url);
  }

  extend(ms: number): void {
    this.#desk.extend(this, ms);
  }
}

/**
 * RecordLease: what a user works with. Fields were read at hand-out, so that they stay true after the record is gone;
 * whatever is rarely read (host, fingerprint, parent) is made when asked for.
 */
import type { HandOut } from "../frontier/schedule.ts";
import { hostOfUrl } from "../frontier/walk.ts";
import type { Outcome } from "../frontier/policy.ts";
import type { Verdict } from "../frontier/verdict.ts";
import type { Extras } from "./codec.ts";
import type { DoneResult, Lease, RequestLike } from "./types.ts";

/** What a lease asks its frontier to do. */
export interface LeaseDesk {
  done(lease: RecordLease, result: DoneRequest): DoneResult;
  retry(lease: RecordLease, options: RetryOptions): "requeued" | "failed" | "late";
  fail(lease: RecordLease, reason: string | undefined, outcome: Outcome | undefined): boolean;
  release(lease: RecordLease): boolean;
  redirect(lease: RecordLease, url: string): Verdict;
  extend(lease: RecordLease, ms: number): boolean;
  fingerprint(url: string, extras: Extras): string;
}

export interface DoneRequest {
  found?: Iterable<RequestLike>;
  errors?: unknown[];
  outcome?: Outcome;
}

export interface RetryOptions {
  delayMs?: number;
  priority?: number;
  reason?: string;
  outcome?: Outcome;
}

/** What is read of a record at its hand-out. */
export interface LeaseParts {
  handOut: HandOut;
  url: string;
  priority: number;
  depth: number;
  attempt: number;
  deliveries: number;
  rule: string;
  parent: string | undefined;
  extras: Extras;
  data: unknown;
  deadlineMs: number;
}

const NO_RESULT: DoneRequest = Object.freeze({});
const NO_OPTIONS: RetryOptions = Object.freeze({});

export class RecordLease implements Lease, HandOut {
  readonly url: string;
  readonly priority: number;
  readonly depth: number;
  readonly attempt: number;
  readonly deliveries: number;
  readonly rule: string;
  readonly data: unknown;
  /** @internal */ readonly record: number;
  /** @internal */ readonly sequence: number;
  /** @internal */ readonly turnBefore: number;
  /** @internal */ readonly readyAtBefore: number;
  /** @internal */ readonly readyAtSet: number;
  /** @internal */ readonly extras: Extras;
  /** @internal */ deadline: number;
  /** @internal */ readonly parentPrint: string | undefined;
  /** @internal */ readonly desk: LeaseDesk;

  constructor(desk: LeaseDesk, parts: LeaseParts) {
    this.url = parts.url;
    this.priority = parts.priority;
    this.depth = parts.depth;
    this.attempt = parts.attempt;
    this.deliveries = parts.deliveries;
    this.rule = parts.rule;
    this.data = parts.data;
    this.record = parts.handOut.record;
    this.sequence = parts.handOut.sequence;
    this.turnBefore = parts.handOut.turnBefore;
    this.readyAtBefore = parts.handOut.readyAtBefore;
    this.readyAtSet = parts.handOut.readyAtSet;
    this.extras = parts.extras;
    this.deadline = parts.deadlineMs;
    this.parentPrint = parts.parent;
    this.desk = desk;
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

  get host(): string {
    return hostOfUrl(this.url);
  }

  get parent(): string | undefined {
    return this.parentPrint;
  }

  get fingerprint(): string {
    return this.desk.fingerprint(this.url, this.extras);
  }

  get deadlineMs(): number {
    return this.deadline;
  }

  done(result: DoneRequest = NO_RESULT): DoneResult {
    return this.desk.done(this, result);
  }

  retry(options: RetryOptions = NO_OPTIONS): "requeued" | "failed" | "late" {
    return this.desk.retry(this, options);
  }

  fail(reason?: string, outcome?: Outcome): boolean {
    return this.desk.fail(this, reason, outcome);
  }

  release(): boolean {
    return this.desk.release(this);
  }

  redirect(url: string): Verdict {
    return this.desk.redirect(this, url);
  }

  extend(ms: number): boolean {
    return this.desk.extend(this, ms);
  }
}

/**
 * RecordLease: the lease that a user gets. Fields are read at hand-out, so that they stay valid after the record is gone; those that are
 * rarely read (host, fingerprint, parent) are made on demand.
 */
import type { GroupHold, HandOut } from "../../frontier/scheduling/hand-out.ts";
import type { NormalPolicy } from "../../url/keys/key-policy.ts";
import { INSPECT, type Inspect, plainLease, shownLease } from "../../base/plain-copy.ts";
import { hostOfUrl } from "../../url/parsing/host-of-url.ts";
import type { Outcome } from "../../frontier/rules/rule-policy.ts";
import type { Verdict } from "../../frontier/admission/verdicts.ts";
import { type Extras, NO_EXTRAS } from "../intake/request-extras.ts";
import type {
  DoneResult,
  Lease,
  LeaseResult,
  RedirectChange,
  RetryOptions,
} from "../types/frontier-types.ts";

/** What a lease asks its frontier to do. */
export interface LeaseActions {
  done(lease: RecordLease, result: LeaseResult): DoneResult;
  retry(lease: RecordLease, options: RetryOptions): "requeued" | "failed" | "late";
  fail(lease: RecordLease, reason: string | undefined, outcome: Outcome | undefined): boolean;
  release(lease: RecordLease): boolean;
  dispose(lease: RecordLease): void;
  redirect(lease: RecordLease, url: string, change: RedirectChange | undefined): Verdict;
  extend(lease: RecordLease, ms: number): boolean;
  fingerprint(lease: RecordLease): string;
}

/** What `done()` without an argument means. */
export const NO_RESULT: LeaseResult = Object.freeze({});
const NO_OPTIONS: RetryOptions = Object.freeze({});

/** Filled in two steps by the lease service: the hand-out writes its fields, then the record's are read. */
export class RecordLease implements Lease, HandOut {
  url = "";
  priority = 0;
  depth = 0;
  attempt = 0;
  deliveries = 0;
  rule = "";
  data: unknown = undefined;
  /** @internal */ record = 0;
  /** @internal */ sequence = 0;
  /** @internal */ givenMs = 0;
  /** @internal */ turnBefore = 0;
  /** @internal */ readyAtBefore = 0;
  /** @internal */ readyAtSet = 0;
  /** @internal */ holds: GroupHold[] | undefined;
  /** @internal */ extras: Extras = NO_EXTRAS;
  /** @internal */ deadline = 0;
  /** The key policy of its rule. @internal */ key: NormalPolicy | undefined = undefined;
  /** The fingerprint of the page it was found on, in four words as they stand in memory. @internal */
  hasParent = false;
  /** @internal */ parent0 = 0;
  /** @internal */ parent1 = 0;
  /** @internal */ parent2 = 0;
  /** @internal */ parent3 = 0;
  /** @internal */ readonly leases: LeaseActions;

  constructor(leases: LeaseActions) {
    this.leases = leases;
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

  get hostKey(): string | undefined {
    return this.extras.u;
  }

  get redirects(): number {
    return this.extras.r ?? 0;
  }

  get host(): string {
    return hostOfUrl(this.url);
  }

  get parent(): string | undefined {
    return this.hasParent ? printText(this) : undefined;
  }

  get fingerprint(): string {
    return this.leases.fingerprint(this);
  }

  get deadlineMs(): number {
    return this.deadline;
  }

  done(result: LeaseResult = NO_RESULT): DoneResult {
    return this.leases.done(this, result);
  }

  retry(options: RetryOptions = NO_OPTIONS): "requeued" | "failed" | "late" {
    return this.leases.retry(this, options);
  }

  fail(reason?: string, outcome?: Outcome): boolean {
    return this.leases.fail(this, reason, outcome);
  }

  release(): boolean {
    return this.leases.release(this);
  }

  [Symbol.dispose](): void {
    this.leases.dispose(this);
  }

  redirect(url: string, change?: RedirectChange): Verdict {
    return this.leases.redirect(this, url, change);
  }

  extend(ms: number): boolean {
    return this.leases.extend(this, ms);
  }

  /** What `console.log` shows. */
  [INSPECT](depth: number, options: object, inspect: Inspect): string {
    return shownLease(this, depth, { options, inspect });
  }

  /** What a log of JSON shows. @internal */
  toJSON(): object {
    return plainLease(this);
  }
}

/** Takes note of the page that it was found on, whose fingerprint stands at a byte offset of the region. @hot */
export function storeFingerprint(lease: RecordLease, i32: Int32Array, offset: number): void {
  const word = offset >>> 2;
  lease.hasParent = true;
  lease.parent0 = i32[word] as number;
  lease.parent1 = i32[word + 1] as number;
  lease.parent2 = i32[word + 2] as number;
  lease.parent3 = i32[word + 3] as number;
}

const printWords = new Int32Array(4);
const printBytes = Buffer.from(printWords.buffer);

function printText({ parent0, parent1, parent2, parent3 }: RecordLease): string {
  printWords[0] = parent0;
  printWords[1] = parent1;
  printWords[2] = parent2;
  printWords[3] = parent3;
  return printBytes.hexSlice(0, 16);
}

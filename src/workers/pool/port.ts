/** What the owner's side of the workers needs of a frontier: the engine hands it in. */
import type { Clock } from "../../base/clock.ts";
import type { NormalPolicy } from "../../url/policy.ts";

/** A lease of the frontier, as its user has it. */
export interface OwnedLease {
  readonly url: string;
  readonly method: string;
  readonly body?: Uint8Array | undefined;
  readonly headers?: Record<string, string> | undefined;
  readonly priority: number;
  readonly depth: number;
  readonly attempt: number;
  readonly deliveries: number;
  readonly rule: string;
  readonly parent?: string | undefined;
  readonly handler?: string | undefined;
  readonly data: unknown;
  readonly fingerprint: string;
  readonly deadlineMs: number;
  done(result?: never): { readonly late: boolean };
  retry(options?: never): string;
  fail(reason?: string, outcome?: never): boolean;
  release(): boolean;
  redirect(url: string): unknown;
  extend(ms: number): boolean;
}

/** What workers need to decide about links: the key policy, the tables' secret, how deep links may be. */
export interface EdgeFacts {
  readonly policy: NormalPolicy;
  readonly secret: readonly number[];
  readonly maxDepth: number;
}

export interface Fault {
  readonly kind: "handler";
  readonly stage: string;
  readonly cause: unknown;
  readonly url?: string;
}

export interface OwnerPort {
  readonly name: string;
  readonly clock: Clock;
  readonly kernel: object;
  readonly maxUrlBytes: number;
  pollMany(max: number): OwnedLease[];
  /** Finishes leases that found nothing. */
  done(leases: readonly OwnedLease[]): void;
  pushMany(requests: readonly unknown[]): unknown;
  /** Whether a record has more than a URL: its extras must be looked at. */
  isPlain(lease: OwnedLease): boolean;
  /** Nothing left for now, as `take` sees it. */
  isFinished(): boolean;
  isClosed(): boolean;
  /** Calls back when polling makes sense again, the frontier is finished or closed. */
  onChange(wake: () => void): () => void;
  fault(fault: Fault): void;
  /** Links that workers dropped: duplicates, then invalid, scheme, too long, too deep. */
  countDropped(dropped: ArrayLike<number>): void;
  /** The key policy of all rules, as plain data; undefined: there is no such. */
  keyPolicy(): NormalPolicy | undefined;
  /** Undefined: the owner must see every link. Asked again before every fill. */
  edge(): EdgeFacts | undefined;
}

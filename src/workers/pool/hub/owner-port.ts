/** The interface to a frontier that the owner's side of the workers needs; the engine implements it. */
import type { Clock } from "../../../base/clock.ts";
import type { NormalPolicy } from "../../../url/keys/key-policy.ts";
import type { LinkFacts } from "../../protocol/link-facts-message.ts";

/** A lease of the frontier, as users get it. */
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
  /** Whether it was found on a page, and that page's fingerprint in four words. */
  readonly hasParent: boolean;
  readonly parent0: number;
  readonly parent1: number;
  readonly parent2: number;
  readonly parent3: number;
  readonly handler?: string | undefined;
  readonly hostKey?: string | undefined;
  readonly redirects: number;
  readonly data: unknown;
  readonly fingerprint: string;
  readonly deadlineMs: number;
  done(result?: never): { readonly late: boolean };
  retry(options?: never): string;
  fail(reason?: string, outcome?: never): boolean;
  release(): boolean;
  redirect(url: string, change?: never): unknown;
  extend(ms: number): boolean;
}

/** Results that report done and nothing but links: for each, its lease and the offset of its message. */
export interface ResultBatch {
  readonly leases: OwnedLease[];
  readonly messages: Buffer[];
  readonly starts: number[];
}

interface Fault {
  readonly kind: "handler" | "listener";
  readonly stage: string;
  readonly cause: unknown;
  readonly url?: string;
}

/** Verdicts on pushed requests. */
export interface Pushed {
  readonly size: number;
  readonly full: number;
  verdict(index: number): { readonly reason?: string };
}

export interface OwnerPort {
  readonly name: string;
  readonly clock: Clock;
  readonly kernel: object;
  readonly maxUrlBytes: number;
  pollMany(max: number): OwnedLease[];
  /** Most links that one result may bring. */
  readonly maxFound: number;
  /** Whether results may be applied many at a time: there is no listener to each link. */
  canApplyResults(): boolean;
  /**
   * Applies results that report done, with the links found, in one step. Returns true at the index of each that came too late. Throws
   * when it cannot, and has then changed nothing.
   */
  applyResults(resultBatch: ResultBatch): readonly boolean[];
  /** The requests of a list that can be pushed, and why each of the others cannot. */
  sift(list: readonly unknown[]): {
    readonly good: readonly unknown[];
    readonly bad: ReadonlyArray<{ readonly cause: unknown }>;
  };
  pushMany(requests: readonly unknown[]): Pushed;
  /** Whether a record has nothing but a URL. Other records have extras, which must be read. */
  isPlain(lease: OwnedLease): boolean;
  /** True when nothing is left for now, as `take` sees it. */
  isFinished(): boolean;
  isClosed(): boolean;
  /** Calls `wake` when polling is worth another try, and when the frontier is finished or closed. */
  onChange(wake: () => void): () => void;
  fault(fault: Fault): void;
  /** Links that workers dropped: duplicates, then refusals in the order of the message. */
  countDropped(dropped: ArrayLike<number>): void;
  /** The key policy of all rules, as plain data; undefined when there is no such policy. */
  keyPolicy(): NormalPolicy | undefined;
  /** The facts by which workers may decide; undefined: the owner must see every link. Read again every turn. */
  linkFacts(): LinkFacts | undefined;
}

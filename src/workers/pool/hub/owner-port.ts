/** What the owner's side of the workers needs of a frontier: the engine hands it in. */
import type { Clock } from "../../../base/clock.ts";
import type { NormalPolicy } from "../../../url/keys/key-policy.ts";
import type { LinkFacts } from "../../protocol/link-facts-message.ts";

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
  /** Whether it was found on a page, and that one's fingerprint in four words. */
  readonly hasParent: boolean;
  readonly parent0: number;
  readonly parent1: number;
  readonly parent2: number;
  readonly parent3: number;
  readonly handler?: string | undefined;
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

/** Results that say done and nothing more than their links: a lease, and where its message stands, of each. */
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

/** What became of pushed requests. */
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
  /** Whether results may be applied many at a time: nobody wants to see each link. */
  canApplyResults(): boolean;
  /**
   * Applies results that say done, with the links found, in one step; true at the index of each that came too late.
   * Throws where it can not, and has changed nothing then.
   */
  applyResults(resultBatch: ResultBatch): readonly boolean[];
  pushMany(requests: readonly unknown[]): Pushed;
  /** Whether a record has more than a URL: its extras must be looked at. */
  isPlain(lease: OwnedLease): boolean;
  /** Nothing left for now, as `take` sees it. */
  isFinished(): boolean;
  isClosed(): boolean;
  /** Calls back when polling makes sense again, the frontier is finished or closed. */
  onChange(wake: () => void): () => void;
  fault(fault: Fault): void;
  /** Links that workers dropped: duplicates, then refusals in the order of the message. */
  countDropped(dropped: ArrayLike<number>): void;
  /** The key policy of all rules, as plain data; undefined: there is no such. */
  keyPolicy(): NormalPolicy | undefined;
  /** What workers may decide; undefined: the owner must see every link. Asked again every turn. */
  linkFacts(): LinkFacts | undefined;
}

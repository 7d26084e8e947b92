/**
 * The public surface as types: what a user's editor shows. Meanings stand beside each member; what a frontier tells stands in told.ts.
 */
import type { Clock } from "../base/clock.ts";
import type { RetryOptions } from "../base/arguments.ts";
import type { ListenOptions } from "../base/listening.ts";
import type {
  LeaseFields,
  LeaseResult,
  RedirectChange,
  RequestInput,
  RequestLike,
} from "../base/request-types.ts";
import type { EpochPolicy } from "../frontier/epoch-policy.ts";
import type { Outcome, Politeness, Rule, RulePolicy } from "../frontier/policy.ts";
import type { RecordState } from "../frontier/record-state.ts";
import type { Verdict } from "../frontier/verdict.ts";
import type { KeyPolicy } from "../url/policy.ts";
import type { CrewHandle } from "../workers/protocol/crew.ts";
import type {
  EpochView,
  Explanation,
  FrontierEvents,
  FrontierFault,
  FrontierStatus,
  HostView,
  RecordView,
  RecoveryProgress,
  Report,
  RequestView,
  Resumed,
  SnapshotInfo,
} from "./told.ts";

export type {
  Clock,
  EpochPolicy,
  EpochView,
  Explanation,
  FrontierEvents,
  FrontierFault,
  FrontierStatus,
  HostView,
  KeyPolicy,
  LeaseFields,
  LeaseResult,
  ListenOptions,
  Outcome,
  Politeness,
  RecordState,
  RecordView,
  RecoveryProgress,
  RedirectChange,
  Report,
  RequestInput,
  RequestLike,
  RequestView,
  Resumed,
  RetryOptions,
  Rule,
  RulePolicy,
  SnapshotInfo,
  Verdict,
};

/** The result of a batch. */
export interface PushResult {
  readonly size: number;
  readonly accepted: number;
  readonly deferred: number;
  readonly duplicate: number;
  readonly rejected: number;
  readonly full: number;
  verdict(index: number): Verdict;
}

export interface DoneResult extends PushResult {
  /** The lease had run out: nothing was changed. */
  readonly late: boolean;
}

/**
 * A request that is handed out. `using lease = frontier.poll()` releases it at the end of the block, unless it has ended by then.
 */
export interface Lease extends LeaseFields, Disposable {
  /** Finished and its children admitted, together. */
  done(result?: LeaseResult): DoneResult;
  retry(options?: RetryOptions): "requeued" | "failed" | "late";
  /** False: late. */
  fail(reason?: string, outcome?: Outcome): boolean;
  /** Back to its place, no attempt counted. */
  release(): boolean;
  /** `release` where the lease is live. One that has ended is left alone and not counted as late. */
  [Symbol.dispose](): void;
  /**
   * A push with this lease as parent, at the same depth; the lease itself goes on and wants its `done`. The request goes along: data, handler,
   * priority, headers, own `maxAttempts` and epoch, `start`, `volatile`, no identity where it has none; method and body as the status
   * has it. `change` says otherwise, field by field. ARGUMENT_INVALID and REQUEST_INVALID name a wrong one. Costs a push and, with anything to
   * take along, about a microsecond.
   *
   * ```js
   * lease.redirect(answer.headers.location, { status: answer.status });
   * lease.done();
   * ```
   */
  redirect(url: string, change?: RedirectChange): Verdict;
  extend(ms: number): boolean;
}

/** What another thread attaches to: plain data that can be sent to it. */
export type FrontierHandle = CrewHandle;

export interface FrontierOptions {
  name?: string;
  /** Where the frontier's files live; one process at a time per directory and name. None: memory alone. */
  directory?: string;
  /**
   * A file that `snapshot({ path })` wrote: begin with what it holds. With a directory the file becomes its first generation;
   * OPTION_INVALID where a frontier is in it already.
   */
  from?: string;
  /**
   * Opens what the directory holds, changes nothing of it and takes no lock: also beside the process that works on it, as of what that had
   * written by now. The frontier is a copy: what is pushed to it or polled from it is gone when it is closed. OPTION_INVALID without a
   * directory, and with `from` or `records: 'full'`; DISK_GONE where no frontier of that name is in it.
   */
  readOnly?: boolean;
  clock?: Clock;
  /** None: one rule, `default`, that takes everything. An empty list takes nothing. */
  rules?: Rule[];
  defaults?: RulePolicy;
  seen?: {
    mode?: "exact" | "tiered" | "bloom";
    capacity?: number;
    falsePositiveRate?: number;
    /** Mode `tiered` keeps to it from 8 MiB on, beside the identities of records in memory; less is taken, and exceeded. */
    memoryBytes?: number;
  };
  /** Most pending records from outside pushes; then the verdict is full. */
  capacity?: number;
  /** Most children of one done(); default 100,000. */
  maxFound?: number;
  memoryBytes?: number;
  /** When the journal is replaced by a snapshot, and how many generations stay; default 64 MiB, 2. */
  snapshots?: { everyMs?: number; everyBytes?: number; keep?: number };
  /**
   * 'full': the whole story of every URL, on disk beside the path of a push (url, data, parent, times, trail): `record()` tells it,
   * `requeue({ state: 'done' })` and `records({ state: 'done' })` go by it. Needs a directory (OPTION_INVALID) and the package
   * lmdb (UNSUPPORTED). Costs about 20 µs a transition, in slices between the calls.
   */
  records?: "state" | "full";
  /** When what was said is on the disk; default { everyMs: 100 } with a directory. */
  durability?: "sync" | { everyMs: number } | "none";
  leaseMs?: number;
  maxLeases?: number;
  /** Hand-outs after which a record that comes back fails; default 10. */
  maxDeliveries?: number;
  maxUrlBytes?: number;
  /** Never finished by itself. */
  keepOpen?: boolean;
  idleTimeoutMs?: number;
  /** Asked when everything is done; true: not finished yet. */
  // biome-ignore lint/suspicious/noConfusingVoidType: most hooks answer nothing.
  onIdle?: () => boolean | void;
  /** Synchronous hook for requests that would be admitted; `explain` asks it too. */
  accept?: (request: RequestView) => boolean | { priority?: number; data?: unknown };
  breaker?: { failures: number; withinMs: number; pauseMs: number };
  /** Told while a directory is read at opening. */
  onProgress?: (progress: RecoveryProgress) => void;
  /** Seed of jitter and of everything random; default unpredictable. */
  seed?: number;
}

export interface Frontier extends AsyncIterable<Lease>, AsyncDisposable {
  readonly name: string;
  readonly status: FrontierStatus;
  push(request: RequestLike): Verdict;
  pushMany(requests: Iterable<RequestLike>, defaults?: Partial<RequestInput>): PushResult;
  pushFrom(
    source: AsyncIterable<RequestLike> | Iterable<RequestLike>,
    options?: { batch?: number; signal?: AbortSignal },
  ): Promise<PushResult>;
  poll(): Lease | undefined;
  pollMany(max: number): Lease[];
  take(options?: { max?: number; timeoutMs?: number; signal?: AbortSignal }): Promise<Lease[]>;
  peek(max?: number): RequestView[];
  [Symbol.asyncIterator](): AsyncIterator<Lease>;
  done(leases: Iterable<Lease>): number;
  record(request: RequestLike): RecordView | undefined;
  records(filter?: { state?: RecordState; rule?: string; host?: string }): Iterable<RecordView>;
  explain(request: RequestLike): Explanation;
  /**
   * The epochs that are open but `forever`, the latest made first: what each holds, to see which can be forgotten. Costs a look at the
   * seen-set for each identity, epoch by epoch as they are asked for; an epoch that goes meanwhile is left out.
   *
   * ```js
   * for (const { name, pending } of frontier.epochs()) if (name < "2026-11-01" && pending === 0) frontier.forget({ epoch: name });
   * ```
   */
  epochs(): Iterable<EpochView>;
  /**
   * Now, where a poll gives a lease; else when one will, if nobody calls meanwhile: what waits for its time, its host, the groups above that and
   * the leases that run out are all reckoned with. No poll before it gives one. It may be early, never late, where more than 64 clocks pass
   * before it or more than 16 hosts wait for one of them, while records move to the rules of a new set, and where seeds come
   * again that turn out to be known. Where no clock brings a lease about, as when the last ones out run out for good, it is the first clock to
   * pass: a loop that sets its clock by it ends when nothing waits. undefined: nothing waits for a clock. Costs a look at the next lease and at
   * the clocks that pass before it.
   */
  nextDueAt(): number | undefined;
  report(): Report;
  on<E extends keyof FrontierEvents>(
    event: E,
    listener: (payload: FrontierEvents[E]) => void,
    options?: ListenOptions,
  ): () => void;
  host(key: string): HostView;
  update(request: RequestLike, change: { priority?: number; notBefore?: number | Date }): boolean;
  requeue(filter: { state?: "failed" | "done"; rule?: string; host?: string }): number;
  remove(filter: { host?: string; rule?: string; pattern?: string }): number;
  /** What was seen is new again, of one epoch or all; what is on its way goes on. How many finished or failed records are forgotten with it. */
  forget(filter?: { epoch?: string }): number;
  clear(): void;
  state: Record<string, unknown>;
  /** No hand-outs until `resume`, also where it drains; pushes and results go on. What each call answers in each status: docs/guides/embedding.md. */
  pause(): void;
  /** Hand-outs go on, whatever had stopped them by hand or by the breaker; drains that were asked for resolve. */
  resume(): void;
  /** No hand-outs until `resume`; resolves when no lease is out, or nothing waits for that any more: `resume`, `close`. */
  drain(): Promise<void>;
  flush(): Promise<void>;
  /**
   * Another set of rules, checked whole before anything changes (RULE_INVALID). Admissions follow it at once; what is
   * pending under a rule that has gone finds a new one in slices, which end with `rulesApplied`.
   */
  setRules(rules: Rule[], version?: number | string): void;
  /** A copy of the rules in force, given or restored; undefined: none were, and one takes everything. Costs a look at each. */
  rules(): Rule[] | undefined;
  /**
   * With a directory: replaces its journal by a snapshot now; resolves when that is durable. In memory: writes a file at
   * `path`, from which `openFrontier({ from: path })` goes on; it is the frontier at one moment
   * between the call and its end. Both are written beside the calls, in slices of about 2 ms. ARGUMENT_INVALID without the one that is needed, DISK_FULL and its siblings for a disk that refuses.
   *
   * ```js
   * await frontier.snapshot({ path: "crawl.msgpack" });
   * ```
   */
  snapshot(options?: { path?: string }): Promise<SnapshotInfo>;
  /** For `attach` in other threads: give it to a Worker as workerData, or post it. */
  share(): FrontierHandle;
  /**
   * Takes in what threads have published, then nothing more; resolves when all is durable and the lock given back. Rejects with what
   * the disk said where it refuses the last words: the frontier is open as before then.
   */
  close(options?: { discard?: boolean }): Promise<void>;
}

/**
 * Room `src/engine/types`: the public types of requests, leases, options, the frontier and its report, with their
 * meanings. No code.
 */

/**
 * The public surface as types: what a user's editor shows. Each member has its meaning beside it; views, events and the report have files
 * of their own.
 */
import type { ListenOptions } from "../../base/listen-options.ts";
import type { RequestInput, RequestLike } from "../../base/request-types.ts";
import type { Rule } from "../../frontier/rules/rule-policy.ts";
import type { Verdict } from "../../frontier/admission/verdicts.ts";
import type { CrewHandle } from "../../workers/protocol/shared-memory.ts";
import type { FrontierEvents, FrontierStatus, SnapshotInfo } from "./event-types.ts";
import type { Report } from "./report-types.ts";
import type { EpochView, Explanation, HostView, RecordView, RequestView } from "./view-types.ts";
import type { ForgetFilter, RecordsFilter, RemoveFilter, RequeueFilter } from "./filter-types.ts";
import type { Lease, PollOptions, PushResult, PutOptions, PutResult } from "./lease-types.ts";

export type * from "./event-types.ts";
export type * from "./filter-types.ts";
export type * from "./frontier-options.ts";
export type * from "./lease-types.ts";
export type * from "./report-types.ts";
export type * from "./view-types.ts";
export type { RetryOptions } from "../../base/argument-checks.ts";
export type { Clock } from "../../base/clock.ts";
export type { ListenOptions } from "../../base/listen-options.ts";
export type {
  LeaseFields,
  LeaseResult,
  RedirectChange,
  RequestInput,
  RequestLike,
} from "../../base/request-types.ts";
export type { EpochPolicy } from "../../frontier/epochs/epoch-policy.ts";
export type { Outcome, Politeness, Rule, RulePolicy } from "../../frontier/rules/rule-policy.ts";
export type { RecordState } from "../../frontier/records/record-state.ts";
export type { Verdict } from "../../frontier/admission/verdicts.ts";
export type { KeyPolicy } from "../../url/keys/key-policy.ts";

/** What another thread attaches to. Structured clone carries it. */
export type FrontierHandle = CrewHandle;

/**
 * Decides which URL is visited next. Made by `openFrontier`; its methods belong to the thread that opened it. `Data` is
 * the type of the `data` that its requests carry, which is not checked at run time.
 *
 * Expected outcomes are return values. Misuse throws a `FrontierError` before anything changes. After `close()`: a
 * push returns `closed`, `poll` returns undefined, `take` returns [], lease methods are late, and everything else
 * throws `FRONTIER_CLOSED`.
 */
export interface Frontier<Data = unknown> extends AsyncIterable<Lease<Data>>, AsyncDisposable {
  /** Its name, from the options. */
  readonly name: string;
  /** Its status now. */
  readonly status: FrontierStatus;
  /**
   * Pushes one request; `fields` are used for those that it does not set. Costs about 1 µs; never throws for a URL that is refused.
   * Throws `REQUEST_INVALID` for a wrong field.
   *
   * @example
   * frontier.push("https://example.org/", { priority: 10 });
   */
  push(request: RequestLike<Data>, fields?: Partial<RequestInput<Data>>): Verdict;
  /**
   * Pushes a batch, which is faster than single pushes. `defaults` holds fields for all of them. Costs about 0.35 µs a URL for strings.
   * Returns counts and a verdict each; throws `REQUEST_INVALID` for wrong `defaults`.
   */
  pushMany(
    requests: Iterable<RequestLike<Data>>,
    defaults?: Partial<RequestInput<Data>>,
  ): PushResult;
  /**
   * Pushes everything from an iterable, in slices, and waits while there is no room. Costs what `pushMany` costs. Rejects with what the
   * source throws, after its earlier requests were pushed. Where the frontier closes meanwhile, the source's next request ends it and is
   * reported as `closed`, so that none is lost; `signal` ends it at once.
   */
  pushFrom(
    source: AsyncIterable<RequestLike<Data>> | Iterable<RequestLike<Data>>,
    options?: {
      /**
       * Requests of a slice.
       * @defaultValue 1,000
       */
      batch?: number | undefined;
      /**
       * Ends it: it rejects with the signal's reason.
       * @defaultValue none
       */
      signal?: AbortSignal | undefined;
    },
  ): Promise<PushResult>;
  /**
   * Makes a URL that is not leased finished, or due again at `dueAt`, whatever it was; one that was unknown is
   * admitted first. Data, headers, handler, `hostKey` and depth that are not given stay as they were. Answers `leased`
   * and changes nothing while a lease of it is out: end that first.
   *
   * In the counts a known URL is forgotten and admitted anew. A finished one keeps its data: on disk with
   * `records: "full"`, else in memory and in snapshots, for as long as it is not forgotten. Costs two pushes. Throws
   * `REQUEST_INVALID` for a wrong field, and `UNSUPPORTED` in mode `bloom`.
   *
   * @example
   * frontier.put("https://example.org/", { data: { status: 200 } }); // finished
   */
  put(request: RequestLike<Data>, options?: PutOptions<Data>): PutResult;
  /** The next URL that is due, as a lease; undefined: none is due now. Costs about 0.5 µs. */
  poll(): Lease<Data> | undefined;
  /**
   * Up to `max` leases, in order; `options` choose a host, or a lease time. [] when none is due now. Costs about 0.3 µs
   * a lease, with options about 1 µs. Throws `ARGUMENT_INVALID` for a wrong option.
   */
  pollMany(max: number, options?: PollOptions): Lease<Data>[];
  /**
   * As `pollMany`, but waits for work. Resolves with [] when the frontier is finished or closed, or the time is
   * over. Costs a promise beside `pollMany`.
   */
  take(options?: {
    /**
     * Most leases.
     * @defaultValue 1
     */
    max?: number | undefined;
    /**
     * Longest wait in milliseconds.
     * @defaultValue no limit
     */
    timeoutMs?: number | undefined;
    /**
     * Ends the wait: it rejects with the signal's reason.
     * @defaultValue none
     */
    signal?: AbortSignal | undefined;
  }): Promise<Lease<Data>[]>;
  /**
   * What `pollMany(max)` would return now, without handing it out; at most 1,000, [] when none is due. Costs a copy
   * of each.
   */
  peek(max?: number): RequestView<Data>[];
  /** Returns leases one by one and waits for work, until the frontier is finished or closed. Costs a `take` for each. */
  [Symbol.asyncIterator](): AsyncIterator<Lease<Data>>;
  /** Finishes many leases without links, in one call. Returns how many were not late. Costs about 1 µs each. */
  done(leases: Iterable<Lease>): number;
  /**
   * What is known of a URL; undefined: never admitted. Mode `bloom` answers for live ones alone. Costs about 1 µs,
   * and a read where it is on disk.
   */
  record(request: RequestLike): RecordView<Data> | undefined;
  /**
   * Records by state, rule and host. Done ones need `records: "full"`; without, those are returned that `put` finished
   * or that come again, and it throws `UNSUPPORTED` where there are none. Costs a read of each record that is passed.
   */
  records(filter?: RecordsFilter): Iterable<RecordView<Data>>;
  /**
   * Why a URL is, or is not, handed out: canonical form, rule, verdict, state, and the clock that holds it. Changes
   * nothing. Never throws for a URL: one that cannot be crawled has a verdict with the reason. Costs about 5 µs.
   */
  explain(request: RequestLike): Explanation;
  /**
   * Every open epoch other than `forever`, the latest first, with its counts: shows which can be forgotten; returns
   * none where there are no others. Costs a look-up in the seen-set for each identity.
   *
   * @example
   * for (const { name, pending } of frontier.epochs()) {
   *   if (name < "2026-11-01" && pending === 0) frontier.forget({ epoch: name });
   * }
   */
  epochs(): Iterable<EpochView>;
  /**
   * The earliest time at which `poll()` can succeed, in milliseconds since 1970; undefined: nothing waits for a
   * clock. May be early, never late. Costs a check of the next lease and of the clocks that end before it.
   */
  nextDueAt(): number | undefined;
  /**
   * Counters and gauges, as plain data; its `toString()` is for people. Costs a few microseconds and a read of each rule.
   */
  report(): Report;
  /**
   * Listens to an event; returns a function that ends that. Events are batched and cost nothing while
   * no listener is there. A listener that throws is reported by `error`; an unknown event throws `ARGUMENT_INVALID`.
   */
  on<E extends keyof FrontierEvents>(
    event: E,
    listener: (payload: FrontierEvents<Data>[E]) => void,
    options?: ListenOptions,
  ): () => void;
  /**
   * A host by its key (`lease.hostKey`, else `lease.host`), to read or to change. Costs one look-up; throws `ARGUMENT_INVALID` for what
   * is no host.
   */
  host(key: string): HostView;
  /** Changes a pending record in place, its sequence kept. Returns false where there is none. Costs about 1 µs. */
  update(
    request: RequestLike,
    change: {
      /**
       * The effective priority, depth included.
       * @defaultValue unchanged
       */
      priority?: number | undefined;
      /**
       * Time before which it is not handed out, in milliseconds since 1970 or as a date.
       * @defaultValue unchanged
       */
      notBefore?: number | Date | undefined;
    },
  ): boolean;
  /**
   * Makes failed or done records pending again, all attempts before them. Returns how many. Done ones need
   * `records: "full"`. Throws `ARGUMENT_INVALID` for a filter without a field: every failed record is `{ all: true }`.
   * Costs a read of each record of that state.
   *
   * @example
   * frontier.requeue({ reason: "HTTP 503" });
   */
  requeue(filter: RequeueFilter): number;
  /**
   * Takes pending records out, for traps: they stay seen. Returns how many. Throws `ARGUMENT_INVALID` for a filter
   * without a field: every pending record is `{ all: true }`. Costs a read of each pending record of the host or rule.
   */
  remove(filter: RemoveFilter): number;
  /**
   * Makes seen URLs new again, those of one epoch or all; live records continue. Returns how many finished or
   * failed records are forgotten. Costs a pass over the seen-set, with `request` about 2 µs.
   */
  forget(filter?: ForgetFilter): number;
  /**
   * Forgets every URL: pending, seen, finished and failed. Leases that are out become late. Costs about as much as
   * opening one. Throws `DISK_FULL` or a related code where the disk fails.
   */
  clear(): void;
  /** An object of yours, kept in journal and snapshots. Anything msgpack can carry; written with each flush. */
  state: Record<string, unknown>;
  /**
   * Hands nothing out until `resume`. Pushes and results continue. `docs/guides/embedding.md` lists what each call
   * does in each status. Costs nothing.
   */
  pause(): void;
  /** Ends a pause, a drain and the breaker's pause. Drains that are under way resolve. Costs nothing. */
  resume(): void;
  /** Hands nothing out until `resume`. Resolves when no lease is out, and at `resume` or `close`. Costs nothing but the wait. */
  drain(): Promise<void>;
  /** Resolves when every change so far is on the disk. Costs one write and one sync. Rejects with `DISK_FULL` or a related code. */
  flush(): Promise<void>;
  /**
   * Replaces the rules. The set is checked first: it throws `RULE_INVALID` with rule and field, and nothing has
   * changed. Costs about 2 µs a rule. New pushes follow the new set at once; pending records whose rule is gone move in slices, which end with the event
   * `rulesApplied`.
   */
  setRules(rules: Rule[], version?: number | string): void;
  /** A copy of the rules in force; undefined: there are none, and one takes everything. Costs a copy of each. */
  rules(): Rule[] | undefined;
  /**
   * With a directory: writes a snapshot now, which is partial where little has changed since the last whole one. In memory: writes a file at
   * `path`, which `openFrontier({ from: path })` continues from. Resolves when it is durable.
   *
   * Costs a flush where it is partial, and a copy of the live records where it is whole, written beside other calls in slices of about 2 ms.
   * It is the frontier at one moment between the call and its end. Rejects with `ARGUMENT_INVALID` without a directory and a path, and with `DISK_FULL` or a related
   * code.
   *
   * @example
   * await frontier.snapshot({ path: "crawl.msgpack" });
   */
  snapshot(options?: {
    /**
     * File to write, for a frontier in memory.
     * @defaultValue its directory
     */
    path?: string | undefined;
    /**
     * With a directory: writes everything, and replaces the journal, however little has changed.
     * @defaultValue false
     */
    whole?: boolean | undefined;
  }): Promise<SnapshotInfo>;
  /** Returns a handle for `attach` in other threads: pass it as `workerData`, or post it. Costs the shared memory, once. */
  share(): FrontierHandle;
  /**
   * Applies what threads have published, flushes, and releases the lock. Leases that are out are pending again. Costs one flush. Rejects
   * when the disk fails: the frontier is open then as before.
   */
  close(options?: {
    /**
     * Deletes what is stored in place of flushing it.
     * @defaultValue false
     */
    discard?: boolean | undefined;
  }): Promise<void>;
}

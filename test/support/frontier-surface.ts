/**
 * SyncFrontier: the part of the public surface that the model, the programs and the simulation
 * use, as plain shapes. The naive model and the engine both fit it, so that one driver can hold
 * them side by side.
 */
import type { Clock } from "../../src/base/clock.ts";

export type VisitState = "waiting" | "pending" | "leased" | "done" | "failed";
export type Dedup = "check" | "record" | "skip";

export interface SyncRequest {
  url: string;
  method?: string;
  priority?: number;
  depth?: number;
  notBefore?: number;
  dedup?: Dedup;
  start?: boolean;
  maxAttempts?: number;
  epoch?: string;
  hostKey?: string;
  data?: unknown;
}

export interface SyncPutOptions {
  dueAt?: number;
  data?: unknown;
}

export interface SyncPutResult {
  readonly status: string;
  readonly reason?: string;
}

export interface SyncVerdict {
  readonly status: string;
  readonly reason?: string;
  readonly admitted: boolean;
}

export interface SyncPushResult {
  readonly size: number;
  readonly accepted: number;
  readonly deferred: number;
  readonly duplicate: number;
  readonly rejected: number;
  readonly full: number;
  verdict(index: number): SyncVerdict;
}

export interface SyncOutcome {
  status?: number;
  latencyMs?: number;
  retryAfterMs?: number;
  bytes?: number;
  address?: string;
  changed?: boolean;
}

export interface SyncDoneResult {
  found?: Array<string | SyncRequest>;
  outcome?: SyncOutcome;
}

export interface SyncRetryOptions {
  delayMs?: number;
  priority?: number;
  reason?: string;
  outcome?: SyncOutcome;
}

/** The fields that a redirect changes of its request. */
export type SyncRedirect = Partial<Omit<SyncRequest, "url" | "depth">> & { status?: number };

export interface SyncLease {
  readonly url: string;
  readonly method: string;
  readonly priority: number;
  readonly depth: number;
  readonly attempt: number;
  readonly deliveries: number;
  readonly host: string;
  readonly data: unknown;
  readonly deadlineMs: number;
  done(result?: SyncDoneResult): SyncPushResult & { late: boolean };
  retry(options?: SyncRetryOptions): "requeued" | "failed" | "late";
  fail(reason?: string, outcome?: SyncOutcome): boolean;
  release(): boolean;
  redirect(url: string, change?: SyncRedirect): SyncVerdict;
  extend(ms: number): boolean;
}

export interface SyncRequestView {
  readonly url: string;
  readonly priority: number;
  readonly depth: number;
}

export interface SyncRecordView {
  readonly url?: string;
  readonly state: string;
  readonly attempts: number;
  readonly deliveries: number;
  readonly depth: number;
}

export interface SyncHost {
  delayMs: number;
  limit: number;
  address?: string;
  blockUntil(at: number): void;
  hold(): void;
  unhold(): void;
}

/** The compared part of report(): totals and gauges. `rejected` may be a number or one per reason. */
export interface SyncReport {
  readonly status: string;
  readonly pushed: number;
  readonly accepted: number;
  readonly deferred: number;
  readonly duplicate: number;
  readonly rejected: number | Readonly<Record<string, number>>;
  readonly full: number;
  readonly retried: number;
  readonly expired: number;
  readonly lateResults: number;
  readonly pending: number;
  readonly waiting: number;
  readonly leased: number;
  readonly done: number;
  readonly failed: number;
  readonly forgotten: number;
  readonly removed: number;
  readonly seen: number;
  readonly rules: Readonly<
    Record<string, { pending: number; leased: number; failed: number; served: number }>
  >;
}

export interface SyncFrontier {
  readonly status: string;
  push(request: string | SyncRequest): SyncVerdict;
  pushMany(
    requests: Iterable<string | SyncRequest>,
    defaults?: Partial<SyncRequest>,
  ): SyncPushResult;
  put(request: string | SyncRequest, options?: SyncPutOptions): SyncPutResult;
  poll(): SyncLease | undefined;
  pollMany(max: number): SyncLease[];
  peek(max?: number): SyncRequestView[];
  done(leases: Iterable<SyncLease>): number;
  record(request: string | SyncRequest): SyncRecordView | undefined;
  records(filter: { state?: VisitState; host?: string }): Iterable<SyncRecordView>;
  explain(request: string | SyncRequest): { readonly state?: string | undefined };
  nextDueAt(): number | undefined;
  report(): SyncReport;
  host(key: string): SyncHost;
  update(request: string | SyncRequest, change: { priority?: number; notBefore?: number }): boolean;
  requeue(filter: { state?: "failed"; host?: string }): number;
  remove(filter: { host?: string; pattern?: string }): number;
  forget(filter?: { epoch?: string }): number;
  clear(): void;
  setRules(rules: SyncRule[]): void;
  pause(): void;
  resume(): void;
  drain(): Promise<void>;
  close(): Promise<void>;
}

export type SyncEpoch =
  | "forever"
  | { calendar: "hour" | "day" | "week" | "month"; undated?: "forever" }
  | { every: number }
  | { version: string }
  | { of: (timeMs: number) => string }
  | { adaptive: { min: number; max: number } };

export interface SyncGroup {
  by: "domain" | "address" | ((host: string) => string);
  delayMs?: number;
  limit?: number;
}

export interface SyncPoliteness {
  delayMs?: number;
  perHost?: number;
  by?: "host" | "domain" | ((url: string) => string);
  groups?: SyncGroup[];
  adaptive?: { factor: number; minMs: number; maxMs: number };
  hostBackoff?: { after: number; baseMs: number; maxMs: number; giveUpAfter?: number };
  budget?: { urls?: number; bytes?: number };
}

export interface SyncPolicy {
  epoch?: SyncEpoch;
  order?: "fifo" | "lifo";
  startLast?: boolean;
  priority?: number;
  depthPriority?: number;
  maxDepth?: number;
  maxAttempts?: number;
  backoff?: { baseMs: number; factor?: number; maxMs?: number; jitter?: number };
  retryPriority?: number | { set: number };
  redirectPriority?: number | { set: number };
  freshHosts?: "first" | "share" | number;
  politeness?: SyncPoliteness;
}

export interface SyncRule extends SyncPolicy {
  id: string;
  match?: { hosts?: string[]; domains?: string[]; pattern?: string; schemes?: string[] };
  share?: { priority?: number; weight?: number };
}

export interface SyncOptions {
  clock: Clock;
  defaults?: SyncPolicy;
  rules?: SyncRule[];
  capacity?: number;
  leaseMs?: number;
  maxLeases?: number;
  maxDeliveries?: number;
  maxUrlBytes?: number;
  accept?: (request: SyncRequestView) => boolean | { priority?: number; data?: unknown };
  breaker?: { failures: number; withinMs: number; pauseMs: number };
}

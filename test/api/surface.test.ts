/**
 * The contract of the public surface, as types that ours must be assignable to (checked by the compiler) and as
 * the names that are exported. What is not built yet stands in LATER and must say so by name.
 */
import { describe, expect, it } from "vitest";
import * as crawl from "../../src/crawl.ts";
import * as outrider from "../../src/index.ts";
import * as testing from "../../src/testing.ts";
import type { WorkerLease } from "../../src/worker.ts";
import { attach } from "../../src/worker.ts";
import * as tools from "../../src/tools.ts";
import type * as Ours from "../../src/index.ts";

type RequestLike = string | RequestInput;
interface RequestInput {
  url: string;
  method?: string;
  body?: string | Uint8Array;
  headers?: Record<string, string>;
  priority?: number;
  depth?: number;
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
interface Verdict {
  readonly status: "accepted" | "deferred" | "duplicate" | "rejected" | "full" | "closed";
  readonly reason?: string;
  readonly admitted: boolean;
}
interface PushResult {
  readonly size: number;
  readonly accepted: number;
  readonly deferred: number;
  readonly duplicate: number;
  readonly rejected: number;
  readonly full: number;
  verdict(index: number): Verdict;
}
interface Outcome {
  status?: number;
  latencyMs?: number;
  retryAfterMs?: number;
  bytes?: number;
  address?: string;
  changed?: boolean;
}
interface Lease extends Disposable {
  readonly url: string;
  readonly method: string;
  readonly body?: Uint8Array | undefined;
  readonly headers?: Record<string, string> | undefined;
  readonly priority: number;
  readonly depth: number;
  readonly attempt: number;
  readonly deliveries: number;
  readonly host: string;
  readonly rule: string;
  readonly parent?: string | undefined;
  readonly handler?: string | undefined;
  readonly data: unknown;
  readonly fingerprint: string;
  readonly deadlineMs: number;
  done(result?: {
    found?: Iterable<RequestLike>;
    errors?: unknown[];
    outcome?: Outcome;
  }): PushResult & { late: boolean };
  retry(options?: {
    delayMs?: number;
    priority?: number;
    reason?: string;
    outcome?: Outcome;
  }): "requeued" | "failed" | "late";
  fail(reason?: string, outcome?: Outcome): boolean;
  release(): boolean;
  redirect(url: string): Verdict;
  extend(ms: number): boolean;
}
interface Host {
  delayMs: number;
  limit: number;
  address?: string;
  blockUntil(at: number | Date): void;
  hold(): void;
  unhold(): void;
}
interface Frontier extends AsyncIterable<Lease>, AsyncDisposable {
  readonly name: string;
  readonly status: "opening" | "running" | "paused" | "draining" | "stopping" | "stopped";
  push(request: RequestLike): Verdict;
  pushMany(requests: Iterable<RequestLike>, defaults?: Partial<RequestInput>): PushResult;
  pushFrom(
    source: AsyncIterable<RequestLike> | Iterable<RequestLike>,
    options?: { batch?: number; signal?: AbortSignal },
  ): Promise<PushResult>;
  poll(): Lease | undefined;
  pollMany(max: number): Lease[];
  take(options?: { max?: number; timeoutMs?: number; signal?: AbortSignal }): Promise<Lease[]>;
  peek(max?: number): Ours.RequestView[];
  [Symbol.asyncIterator](): AsyncIterator<Lease>;
  record(request: RequestLike): Ours.RecordView | undefined;
  records(filter: {
    state?: Ours.RecordState;
    rule?: string;
    host?: string;
  }): Iterable<Ours.RecordView>;
  explain(request: RequestLike): Ours.Explanation;
  nextDueAt(): number | undefined;
  report(): Ours.Report;
  on<E extends keyof Ours.FrontierEvents>(
    event: E,
    listener: (payload: Ours.FrontierEvents[E]) => void,
  ): () => void;
  setRules(rules: Ours.Rule[], version?: number | string): void;
  host(key: string): Host;
  update(request: RequestLike, change: { priority?: number; notBefore?: number | Date }): boolean;
  requeue(filter: { state?: "failed" | "done"; rule?: string; host?: string }): number;
  remove(filter: { host?: string; rule?: string; pattern?: string }): number;
  forget(filter?: { epoch?: string }): number;
  clear(): void;
  state: Record<string, unknown>;
  pause(): void;
  resume(): void;
  drain(): Promise<void>;
  flush(): Promise<void>;
  snapshot(): Promise<Ours.SnapshotInfo>;
  share(): Ours.FrontierHandle;
  close(options?: { discard?: boolean }): Promise<void>;
}
interface FrontierOptions {
  name?: string;
  directory?: string;
  clock?: Ours.Clock;
  rules?: Ours.Rule[];
  defaults?: Ours.RulePolicy;
  seen?: {
    mode?: "exact" | "tiered" | "bloom";
    capacity?: number;
    falsePositiveRate?: number;
    memoryBytes?: number;
  };
  capacity?: number;
  maxFound?: number;
  memoryBytes?: number;
  durability?: "sync" | { everyMs: number } | "none";
  snapshots?: { everyMs?: number; everyBytes?: number; keep?: number };
  records?: "state" | "full";
  leaseMs?: number;
  maxLeases?: number;
  maxDeliveries?: number;
  maxUrlBytes?: number;
  keepOpen?: boolean;
  idleTimeoutMs?: number;
  // biome-ignore lint/suspicious/noConfusingVoidType: the contract's own words.
  onIdle?: () => boolean | void;
  accept?: (request: Ours.RequestView) => boolean | { priority?: number; data?: unknown };
  breaker?: { failures: number; withinMs: number; pauseMs: number };
}
interface Functions {
  openFrontier(options?: FrontierOptions): Promise<Frontier>;
  canonicalize(url: string, policy?: Ours.KeyPolicy): string | undefined;
  fingerprint(request: RequestLike, policy?: Ours.KeyPolicy): string;
  expandSeed(template: string): Iterable<string>;
  resolveLinks(baseUrl: string, hrefs: Iterable<string>): string[];
  createVirtualClock(startMs?: number): Ours.Clock & { advance(ms: number): void };
}

/** What a worker's lease takes is what a lease takes; the owner decides later, so it answers nothing. */
type Said = "done" | "retry" | "fail" | "release" | "redirect" | "extend";
type Same<A, B> = [A, B] extends [B, A] ? true : never;
const workerTakes: {
  [M in Said]: Same<Parameters<Ours.Lease[M]>, Parameters<WorkerLease[M]>>;
} = { done: true, retry: true, fail: true, release: true, redirect: true, extend: true };
const workerAnswers: { [M in Said]: Same<ReturnType<WorkerLease[M]>, void> } = workerTakes;
const asyncAnswers: {
  [M in Said]: Same<ReturnType<Ours.AsyncLease[M]>, Promise<ReturnType<Ours.Lease[M]>>>;
} = workerTakes;

/** The compiler refuses this file where ours can not stand in for the contract's. */
const contract: Functions = outrider;

describe("the public surface", () => {
  it("exports what the contract names, and FrontierError with its code", () => {
    const { openFrontier, canonicalize, fingerprint, expandSeed, resolveLinks } = contract;
    for (const one of [openFrontier, canonicalize, fingerprint, expandSeed, resolveLinks]) {
      expect(typeof one).toBe("function");
    }
    const error = new outrider.FrontierError("FRONTIER_CLOSED", "text");
    expect([error.code, error instanceof Error]).toEqual(["FRONTIER_CLOSED", true]);
  });

  it("keeps what works on a directory in outrider/tools, and what serves tests in outrider/testing", () => {
    const moved = ["exportFrontier", "importFrontier", "storedOptions", "verifyDirectory"];
    const web = ["openSyntheticWeb", "openSyntheticWebThread"];
    expect(Object.keys(tools)).toEqual([...moved, "FrontierError"].sort());
    expect(Object.keys(testing)).toEqual([...web, "createVirtualClock"].sort());
    const elsewhere = [...Object.keys(outrider), ...Object.keys(crawl)];
    expect(elsewhere.filter((name) => [...moved, ...web].includes(name))).toEqual([]);
    expect(testing.createVirtualClock).toBe(outrider.createVirtualClock);
    expect(tools.FrontierError).toBe(outrider.FrontierError);
  });

  it("answers nothing in a worker, whose owner decides later", async () => {
    expect([workerAnswers, asyncAnswers]).toEqual([workerTakes, workerTakes]);
    const frontier = await contract.openFrontier({ keepOpen: true });
    const port = attach(frontier.share() as Ours.FrontierHandle);
    const said: Array<(lease: WorkerLease) => unknown> = [
      (lease) => lease.extend(1_000),
      (lease) => lease.redirect("http://a.test/moved"),
      (lease) => lease.done({ found: ["http://a.test/found"] }),
      (lease) => lease.retry({ delayMs: 1e9 }),
      (lease) => lease.fail("gone"),
      (lease) => lease.release(),
    ];
    frontier.pushMany(["http://a.test/", "http://b.test/"]);
    const [first] = (await port.take()) as [WorkerLease];
    const answers = said.slice(0, 3).map((say) => say(first));
    for (const say of said.slice(3)) answers.push(say((await port.take())[0] as WorkerLease));
    expect(answers).toEqual(said.map(() => undefined));
    await port.close();
    await frontier.close();
  });

  it("has every method", async () => {
    const frontier = await contract.openFrontier({ onIdle: () => {} });
    frontier.setRules([{ id: "all" }], 2);
    frontier.state.mine = 1;
    await frontier.close();
    expect(frontier.status).toBe("stopped");
  });
});

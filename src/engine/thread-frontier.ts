/**
 * ThreadFrontier: a frontier whose owner is a thread of its own, so that no call of it holds this thread's event loop. It has
 * the methods of a Frontier; each gives a promise.
 *
 *   this thread: call ── message ──▶ owner's thread: Frontier (thread-owner.ts)
 *        promise ◀── answer ───────┘        └─ share() ─▶ attach(handle) in workers: rings, no message
 *
 * Calls are made in the order in which they were sent. A push costs a message: send lists. What has functions in it (hooks,
 * a clock, rules with functions) can not be sent, and is refused by name.
 */
import type { Worker } from "node:worker_threads";
import { type FrontierError, misuse } from "../base/errors.ts";
import { ThreadLease } from "./thread-lease.ts";
import type { Line } from "./thread-line.ts";
import { type PlainLease, type PlainResult, resultOf } from "./thread-protocol.ts";
import type {
  Explanation,
  Frontier,
  FrontierEvents,
  FrontierHandle,
  FrontierStatus,
  HostView,
  PushResult,
  RecordState,
  EpochView,
  RecordView,
  Report,
  RequestInput,
  RequestLike,
  RequestView,
  Rule,
  SnapshotInfo,
  Verdict,
} from "./types.ts";

/** Requests of one message of pushFrom. */
const BATCH = 1_000;

export type Listener = (payload: never) => void;

/** What opening one has made (open-thread.ts). */
export interface ThreadParts {
  readonly line: Line;
  readonly worker: Worker;
  readonly listeners: Map<string, Set<Listener>>;
  /** Handles given out: told of it when the owner dies. */
  readonly handles: FrontierHandle[];
}

/**
 * A frontier that a thread of its own owns; made by `openFrontierThread`. Same names and meanings as `Frontier`, with
 * promises. Cost: a message there and back for each call, some 30 µs; the work is done elsewhere.
 */
export class ThreadFrontier {
  readonly name: string;
  readonly #line: Line;
  readonly #worker: Worker;
  readonly #listeners: Map<string, Set<Listener>>;
  readonly #handles: FrontierHandle[];
  #sources = 0;

  /** @internal */
  constructor(name: string, { line, worker, listeners, handles }: ThreadParts) {
    this.name = name;
    this.#line = line;
    this.#worker = worker;
    this.#listeners = listeners;
    this.#handles = handles;
  }

  status(): Promise<FrontierStatus> {
    return this.#call("status");
  }

  push(request: RequestLike): Promise<Verdict> {
    return this.#call("push", request);
  }

  async pushMany(
    requests: Iterable<RequestLike>,
    defaults?: Partial<RequestInput>,
  ): Promise<PushResult> {
    return resultOf(await this.#call<PlainResult>("pushMany", listOf(requests), defaults));
  }

  /** In batches, each sent when the one before was taken. */
  async pushFrom(
    source: AsyncIterable<RequestLike> | Iterable<RequestLike>,
    options: { batch?: number; signal?: AbortSignal } = {},
  ): Promise<PushResult> {
    const { signal, ...sent } = options;
    signal?.throwIfAborted();
    const key = ++this.#sources;
    const of = (method: string, args: readonly unknown[]): Promise<unknown> =>
      this.#line.call({ on: "source", key, method, args });
    const result = of("open", [sent]) as Promise<PlainResult>;
    result.catch(() => undefined);
    try {
      let list: RequestLike[] = [];
      for await (const request of source) {
        list.push(request);
        if (list.length < (options.batch ?? BATCH)) continue;
        await of("feed", [list]);
        signal?.throwIfAborted();
        list = [];
      }
      if (list.length > 0) await of("feed", [list]);
    } finally {
      await of("feed", [undefined]).catch(() => undefined);
    }
    return resultOf(await result);
  }

  async poll(): Promise<ThreadLease | undefined> {
    return (await this.pollMany(1))[0];
  }

  async pollMany(max: number): Promise<ThreadLease[]> {
    return this.#leases(await this.#call<PlainLease[]>("pollMany", max));
  }

  /** Waits for work; [] when finished, closed or timed out. */
  async take(
    options: { max?: number; timeoutMs?: number; signal?: AbortSignal } = {},
  ): Promise<ThreadLease[]> {
    const { signal, ...sent } = options;
    signal?.throwIfAborted();
    const id = this.#line.nextId;
    const onAbort = (): void => void this.#call("cancel", id).catch(() => undefined);
    signal?.addEventListener("abort", onAbort);
    try {
      return this.#leases(await this.#call<PlainLease[]>("take", sent));
    } catch (cause) {
      signal?.throwIfAborted();
      throw cause;
    } finally {
      signal?.removeEventListener("abort", onAbort);
    }
  }

  peek(max?: number): Promise<RequestView[]> {
    return this.#call("peek", max);
  }

  /** Leases until the frontier is finished. */
  async *[Symbol.asyncIterator](): AsyncIterator<ThreadLease> {
    for (;;) {
      const [lease] = await this.take({ max: 1 });
      if (lease === undefined) return;
      yield lease;
    }
  }

  done(leases: Iterable<ThreadLease>): Promise<number> {
    return this.#call(
      "done",
      Array.from(leases, ({ number }) => number),
    );
  }

  record(request: RequestLike): Promise<RecordView | undefined> {
    return this.#call("record", request);
  }

  records(filter: { state?: RecordState; rule?: string; host?: string }): Promise<RecordView[]> {
    return this.#call("records", filter);
  }

  explain(request: RequestLike): Promise<Explanation> {
    return this.#call("explain", request);
  }

  epochs(): Promise<EpochView[]> {
    return this.#call("epochs");
  }

  nextDueAt(): Promise<number | undefined> {
    return this.#call("nextDueAt");
  }

  async report(): Promise<Report> {
    const { report, text } = await this.#call<{ report: Report; text: string }>("report");
    return Object.defineProperty({ ...report }, "toString", { value: () => text });
  }

  /** Listeners are told a message after the call that caused it. */
  on<E extends keyof FrontierEvents>(
    event: E,
    listener: (payload: FrontierEvents[E]) => void,
  ): () => void {
    const all = this.#listeners.get(event) ?? new Set();
    this.#listeners.set(event, all);
    all.add(listener as Listener);
    if (all.size === 1) void this.#call("listen", event, true).catch(() => undefined);
    return () => {
      if (!all.delete(listener as Listener) || all.size > 0) return;
      void this.#call("listen", event, false).catch(() => undefined);
    };
  }

  setRules(rules: Rule[], version?: number | string): Promise<void> {
    return this.#call("setRules", rules, version);
  }

  rules(): Promise<Rule[] | undefined> {
    return this.#call("rules");
  }

  /** A host by its key: `view` it, `set` its delay, limit or address, or steer it. */
  host(key: string): ThreadHost {
    const of = <T>(method: string, ...args: unknown[]): Promise<T> =>
      this.#line.call({ on: "host", key, method, args }) as Promise<T>;
    return {
      view: () => of("view"),
      set: (change) => of("set", change),
      blockUntil: (at) => of("blockUntil", at),
      hold: () => of("hold"),
      unhold: () => of("unhold"),
    };
  }

  update(...args: Parameters<Frontier["update"]>): Promise<boolean> {
    return this.#call("update", ...args);
  }

  requeue(...args: Parameters<Frontier["requeue"]>): Promise<number> {
    return this.#call("requeue", ...args);
  }

  remove(...args: Parameters<Frontier["remove"]>): Promise<number> {
    return this.#call("remove", ...args);
  }

  forget(...args: Parameters<Frontier["forget"]>): Promise<number> {
    return this.#call("forget", ...args);
  }

  clear(): Promise<void> {
    return this.#call("clear");
  }

  /** The user's own state, kept in snapshots. */
  state(): Promise<Record<string, unknown>> {
    return this.#call("state");
  }

  setState(state: Record<string, unknown>): Promise<void> {
    return this.#call("setState", state);
  }

  pause(): Promise<void> {
    return this.#call("pause");
  }

  resume(): Promise<void> {
    return this.#call("resume");
  }

  drain(): Promise<void> {
    return this.#call("drain");
  }

  flush(): Promise<void> {
    return this.#call("flush");
  }

  snapshot(...args: Parameters<Frontier["snapshot"]>): Promise<SnapshotInfo> {
    return this.#call("snapshot", ...args);
  }

  /** For `attach()` in any thread: leases and results go through shared memory, past this one. */
  async share(): Promise<FrontierHandle> {
    const handle = await this.#call<FrontierHandle>("share");
    // One memory, however often it is asked for.
    if (this.#handles.length === 0) this.#handles.push(handle);
    return handle;
  }

  /**
   * Flushes, ends the owner's thread. Later calls throw FRONTIER_CLOSED; what waits is answered before. Where the thread dies
   * meanwhile, it is not known what was flushed: this throws so too.
   */
  async close(options?: { discard?: boolean }): Promise<void> {
    if (this.#line.hasEnded) return;
    try {
      await this.#call("close", options);
    } catch (cause) {
      if ((cause as FrontierError).code !== "FRONTIER_CLOSED" || this.#line.isBereft) throw cause;
    }
    await this.#worker.terminate();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  #call<T>(method: string, ...args: unknown[]): Promise<T> {
    return this.#line.call({ on: "frontier", key: 0, method, args }) as Promise<T>;
  }

  #leases(plain: readonly PlainLease[]): ThreadLease[] {
    return plain.map((one) => new ThreadLease(this.#line, one));
  }
}

/** A host of another thread's frontier. */
export interface ThreadHost {
  view(): Promise<Omit<HostView, "blockUntil" | "hold" | "unhold">>;
  set(change: { delayMs?: number; limit?: number; address?: string }): Promise<void>;
  blockUntil(at: number | Date): Promise<void>;
  hold(): Promise<void>;
  unhold(): Promise<void>;
}

function listOf(requests: Iterable<RequestLike>): RequestLike[] {
  if (typeof requests === "string")
    throw misuse("ARGUMENT_INVALID", "requests", requests, "a list");
  return [...requests];
}

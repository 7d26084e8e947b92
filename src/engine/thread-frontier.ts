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
import { readClose, readList, readTake } from "../base/arguments.ts";
import type { Worker } from "node:worker_threads";
import { misuse } from "../base/errors.ts";
import { isMadeBy } from "../base/kinds.ts";
import { EventHub } from "./events.ts";
import { checkHostKey, readHostChange } from "./host-view.ts";
import { iterate } from "./iterate.ts";
import { TIME } from "./request-fields.ts";
import { ThreadLease } from "./thread-lease.ts";
import type { Line } from "./thread-line.ts";
import {
  ownVerdict,
  type PlainLease,
  type PlainResult,
  resultOf,
  type Told,
} from "./thread-protocol.ts";
import { sendableRequest, sendableRequests } from "./thread-send.ts";
import { pushFromHere } from "./thread-source.ts";
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

/** The event that listeners are being told of. */
export interface Hearing {
  told: Told | undefined;
}

/** What opening one has made (open-thread.ts). */
interface ThreadParts {
  readonly line: Line;
  readonly worker: Worker;
  /** Who listens on this thread. */
  readonly events: EventHub;
  /** Handles given out: told of it when the owner dies. */
  readonly handles: FrontierHandle[];
  readonly hearing: Hearing;
}

/**
 * A frontier that a thread of its own owns; made by `openFrontierThread`. Same names and meanings as `Frontier`, with
 * promises. Cost: a message there and back for each call, some 30 µs; the work is done elsewhere.
 */
export class ThreadFrontier {
  readonly name: string;
  readonly #line: Line;
  readonly #worker: Worker;
  readonly #events: EventHub;
  readonly #handles: FrontierHandle[];
  readonly #hearing: Hearing;
  #sources = 0;
  #listeners = 0;
  #closing: Promise<void> | undefined;

  /** @internal */
  constructor(name: string, { line, worker, events, handles, hearing }: ThreadParts) {
    this.name = name;
    this.#line = line;
    this.#worker = worker;
    this.#events = events;
    this.#handles = handles;
    this.#hearing = hearing;
  }

  status(): Promise<FrontierStatus> {
    return this.#call("status");
  }

  async push(request: RequestLike): Promise<Verdict> {
    return ownVerdict(await this.#ask<Verdict>("push", request));
  }

  async pushMany(
    requests: Iterable<RequestLike>,
    defaults?: Partial<RequestInput>,
  ): Promise<PushResult> {
    const list = readList(requests, "requests", "a list of URLs or requests");
    const call = { on: "frontier", key: 0, method: "pushMany", args: [list, defaults] } as const;
    const answer = await this.#line.call(call, () => [sendableRequests(list, defaults)]);
    return resultOf(answer as PlainResult);
  }

  /** In batches, each sent when the one before was taken. */
  async pushFrom(
    source: AsyncIterable<RequestLike> | Iterable<RequestLike>,
    options: { batch?: number; signal?: AbortSignal } = {},
  ): Promise<PushResult> {
    return pushFromHere({ line: this.#line, key: ++this.#sources }, source, options);
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
    const { max, waitMs, signal } = readTake(options);
    signal?.throwIfAborted();
    const sent = waitMs === undefined ? { max } : { max, timeoutMs: waitMs };
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
  [Symbol.asyncIterator](): AsyncGenerator<ThreadLease, void, undefined> {
    return iterate((signal) => this.take({ signal }));
  }

  async done(leases: Iterable<ThreadLease>): Promise<number> {
    const list = readList(leases, "leases", "a list of leases");
    const numbers = list.map((lease, index) => {
      if (isMadeBy(lease, ThreadLease)) return lease.numberOn(this.#line);
      throw misuse("ARGUMENT_INVALID", `leases[${index}]`, lease, "a lease");
    });
    return this.#call("done", numbers);
  }

  record(request: RequestLike): Promise<RecordView | undefined> {
    return this.#ask("record", request);
  }

  records(filter: { state?: RecordState; rule?: string; host?: string }): Promise<RecordView[]> {
    return this.#call("records", filter);
  }

  async explain(request: RequestLike): Promise<Explanation> {
    const told = await this.#ask<Explanation>("explain", request);
    return { ...told, verdict: ownVerdict(told.verdict) };
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

  /** Listeners are told a message after the call that caused it, of calls that come after this one; whoever leaves hears no more. */
  on<E extends keyof FrontierEvents>(
    event: E,
    listener: (payload: FrontierEvents[E]) => void,
  ): () => void {
    if (!EventHub.isEvent(event)) {
      throw misuse("ARGUMENT_INVALID", "event", event, "the name of an event");
    }
    if (typeof listener !== "function") {
      throw misuse("ARGUMENT_INVALID", "listener", listener, "a function");
    }
    this.#line.need();
    const number = ++this.#listeners;
    void this.#call("listen", event, number).catch(() => undefined);
    const off = this.#events.on(event, (payload: FrontierEvents[E]) => {
      // What was under way as it came is not for it, however long that takes to come.
      const { told } = this.#hearing;
      if (told?.payload === payload && told.since < number) return;
      return listener(payload);
    });
    return () => {
      const had = this.#events.has(event);
      off();
      if (!had || this.#events.has(event)) return;
      void this.#call("listen", event, undefined).catch(() => undefined);
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
    checkHostKey(key);
    this.#line.need();
    const of = <T>(method: string, ...args: unknown[]): Promise<T> =>
      this.#line.call({ on: "host", key, method, args }) as Promise<T>;
    return {
      view: () => of("view"),
      set: async (change) => of("set", readHostChange(change)),
      blockUntil: async (at) => of("blockUntil", TIME(at, "at", "ARGUMENT_INVALID")),
      hold: () => of("hold"),
      unhold: () => of("unhold"),
    };
  }

  update(
    request: RequestLike,
    change: { priority?: number; notBefore?: number | Date },
  ): Promise<boolean> {
    const call = { on: "frontier", key: 0, method: "update", args: [request, change] } as const;
    const mended = (): unknown[] => [sendableRequest(request), change];
    return this.#line.call(call, mended) as Promise<boolean>;
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
   * Flushes, ends the owner's thread. From now on calls are answered as by any closed frontier; what waits is answered before. Where the
   * thread dies meanwhile, it is not known what was flushed: this throws so too. Where the disk refuses, it is open as before.
   */
  async close(options: { discard?: boolean } = {}): Promise<void> {
    const discard = readClose(options);
    if (this.#line.hasEnded) return;
    this.#closing ??= this.#close(discard);
    await this.#closing;
  }

  async #close(discard: boolean): Promise<void> {
    try {
      await this.#line.close({ discard });
    } catch (cause) {
      this.#closing = undefined;
      throw cause;
    }
    await this.#worker.terminate();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  #call<T>(method: string, ...args: unknown[]): Promise<T> {
    return this.#line.call({ on: "frontier", key: 0, method, args }) as Promise<T>;
  }

  /** A call about a request, which may hold what can not be sent. */
  #ask<T>(method: string, request: RequestLike): Promise<T> {
    const call = { on: "frontier", key: 0, method, args: [request] } as const;
    return this.#line.call(call, () => [sendableRequest(request)]) as Promise<T>;
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

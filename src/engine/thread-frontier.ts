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
import { type ListenOptions, readListening } from "../base/listening.ts";
import { checkEvent, type EventHub } from "./events.ts";
import { checkHostKey, readHostChange } from "./host-view.ts";
import { iterate } from "./iterate.ts";
import { timeMs } from "./request-fields.ts";
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
 * A frontier on a thread of its own, made by `openFrontierThread`. It has the names and meanings of `Frontier`,
 * with promises. Each call costs a message there and back, about 30 µs.
 */
export class ThreadFrontier {
  /** Its name, from the options. */
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

  /** As `Frontier.status`. */
  status(): Promise<FrontierStatus> {
    return this.#call("status");
  }

  /** As `Frontier.push`. Each call costs a message to the owner's thread and back, so push lists. */
  async push(request: RequestLike): Promise<Verdict> {
    return ownVerdict(await this.#ask<Verdict>("push", request));
  }

  /**
   * As `Frontier.pushMany`. The whole list is one message, for which that thread needs memory; `pushFrom` sends
   * slices.
   */
  async pushMany(
    requests: Iterable<RequestLike>,
    defaults?: Partial<RequestInput>,
  ): Promise<PushResult> {
    const list = readList(requests, "requests", "a list of URLs or requests");
    const call = { on: "frontier", key: 0, method: "pushMany", args: [list, defaults] } as const;
    const answer = await this.#line.call(call, () => [sendableRequests(list, defaults)]);
    return resultOf(answer as PlainResult);
  }

  /** As `Frontier.pushFrom`. Each slice is sent when the one before has been taken. */
  async pushFrom(
    source: AsyncIterable<RequestLike> | Iterable<RequestLike>,
    options: {
      /**
       * Requests of a slice.
       * @defaultValue 1,000
       */
      batch?: number;
      /**
       * Ends it: it rejects with the signal's reason.
       * @defaultValue none
       */
      signal?: AbortSignal;
    } = {},
  ): Promise<PushResult> {
    return pushFromHere({ line: this.#line, key: ++this.#sources }, source, options);
  }

  /** As `Frontier.poll`. */
  async poll(): Promise<ThreadLease | undefined> {
    return (await this.pollMany(1))[0];
  }

  /** As `Frontier.pollMany`. */
  async pollMany(max: number): Promise<ThreadLease[]> {
    return this.#leases(await this.#call<PlainLease[]>("pollMany", max));
  }

  /** As `Frontier.take`. */
  async take(
    options: {
      /**
       * Most leases.
       * @defaultValue 1
       */
      max?: number;
      /**
       * Longest wait in milliseconds.
       * @defaultValue no limit
       */
      timeoutMs?: number;
      /**
       * Ends the wait: it rejects with the signal's reason.
       * @defaultValue none
       */
      signal?: AbortSignal;
    } = {},
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

  /** As `Frontier.peek`. */
  peek(max?: number): Promise<RequestView[]> {
    return this.#call("peek", max);
  }

  /** Leases one by one, until the frontier is finished. */
  [Symbol.asyncIterator](): AsyncGenerator<ThreadLease, void, undefined> {
    return iterate((signal) => this.take({ signal }));
  }

  /** As `Frontier.done`. */
  async done(leases: Iterable<ThreadLease>): Promise<number> {
    const list = readList(leases, "leases", "a list of leases");
    const numbers = list.map((lease, index) => {
      if (isMadeBy(lease, ThreadLease)) return lease.numberOn(this.#line);
      throw misuse("ARGUMENT_INVALID", `leases[${index}]`, lease, "a lease");
    });
    return this.#call("done", numbers);
  }

  /** As `Frontier.record`. */
  record(request: RequestLike): Promise<RecordView | undefined> {
    return this.#ask("record", request);
  }

  /** As `Frontier.records`, as a list. */
  records(filter: {
    /**
     * Records in this state.
     * @defaultValue any live one
     */
    state?: RecordState;
    /**
     * Records under this rule.
     * @defaultValue any
     */
    rule?: string;
    /**
     * Records of this host.
     * @defaultValue any
     */
    host?: string;
  }): Promise<RecordView[]> {
    return this.#call("records", filter);
  }

  /** As `Frontier.explain`. */
  async explain(request: RequestLike): Promise<Explanation> {
    const told = await this.#ask<Explanation>("explain", request);
    return { ...told, verdict: ownVerdict(told.verdict) };
  }

  /** As `Frontier.epochs`, as a list. */
  epochs(): Promise<EpochView[]> {
    return this.#call("epochs");
  }

  /** As `Frontier.nextDueAt`. */
  nextDueAt(): Promise<number | undefined> {
    return this.#call("nextDueAt");
  }

  /** As `Frontier.report`. */
  async report(): Promise<Report> {
    const { report, text } = await this.#call<{ report: Report; text: string }>("report");
    return Object.defineProperty({ ...report }, "toString", { value: () => text });
  }

  /** Listens to an event, of calls that come after this one; returns a function that ends that. */
  on<E extends keyof FrontierEvents>(
    event: E,
    listener: (payload: FrontierEvents[E]) => void,
    options?: ListenOptions,
  ): () => void {
    checkEvent(event);
    const listen = readListening(listener, options);
    this.#line.need();
    return listen((own) => this.#listen(event, own));
  }

  #listen(event: keyof FrontierEvents, listener: (payload: never) => unknown): () => void {
    const number = ++this.#listeners;
    void this.#call("listen", event, number).catch(() => undefined);
    const off = this.#events.on(event, (payload) => {
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

  /** As `Frontier.setRules`. Rules with functions cannot be sent and are refused. */
  setRules(rules: Rule[], version?: number | string): Promise<void> {
    return this.#call("setRules", rules, version);
  }

  /** As `Frontier.rules`. */
  rules(): Promise<Rule[] | undefined> {
    return this.#call("rules");
  }

  /** A host by its key, to look at or to steer. */
  host(key: string): ThreadHost {
    checkHostKey(key);
    this.#line.need();
    const of = <T>(method: string, ...args: unknown[]): Promise<T> =>
      this.#line.call({ on: "host", key, method, args }) as Promise<T>;
    return {
      view: () => of("view"),
      set: async (change) => of("set", readHostChange(change)),
      blockUntil: async (at) => of("blockUntil", timeMs(at, "at", "ARGUMENT_INVALID")),
      hold: () => of("hold"),
      unhold: () => of("unhold"),
    };
  }

  /** As `Frontier.update`. */
  update(
    request: RequestLike,
    change: {
      /**
       * The effective priority, depth included.
       * @defaultValue unchanged
       */
      priority?: number;
      /**
       * Time before which it is not handed out.
       * @defaultValue unchanged
       */
      notBefore?: number | Date;
    },
  ): Promise<boolean> {
    const call = { on: "frontier", key: 0, method: "update", args: [request, change] } as const;
    const mended = (): unknown[] => [sendableRequest(request), change];
    return this.#line.call(call, mended) as Promise<boolean>;
  }

  /** As `Frontier.requeue`. */
  requeue(...args: Parameters<Frontier["requeue"]>): Promise<number> {
    return this.#call("requeue", ...args);
  }

  /** As `Frontier.remove`. */
  remove(...args: Parameters<Frontier["remove"]>): Promise<number> {
    return this.#call("remove", ...args);
  }

  /** As `Frontier.forget`. */
  forget(...args: Parameters<Frontier["forget"]>): Promise<number> {
    return this.#call("forget", ...args);
  }

  /** As `Frontier.clear`. */
  clear(): Promise<void> {
    return this.#call("clear");
  }

  /** A copy of the user's own state. */
  state(): Promise<Record<string, unknown>> {
    return this.#call("state");
  }

  /** Replaces the user's own state. */
  setState(state: Record<string, unknown>): Promise<void> {
    return this.#call("setState", state);
  }

  /** As `Frontier.pause`. */
  pause(): Promise<void> {
    return this.#call("pause");
  }

  /** As `Frontier.resume`. */
  resume(): Promise<void> {
    return this.#call("resume");
  }

  /** As `Frontier.drain`. */
  drain(): Promise<void> {
    return this.#call("drain");
  }

  /** As `Frontier.flush`. */
  flush(): Promise<void> {
    return this.#call("flush");
  }

  /** As `Frontier.snapshot`. */
  snapshot(...args: Parameters<Frontier["snapshot"]>): Promise<SnapshotInfo> {
    return this.#call("snapshot", ...args);
  }

  /** As `Frontier.share`. Threads that attach to it exchange leases and results with the owner directly. */
  async share(): Promise<FrontierHandle> {
    const handle = await this.#call<FrontierHandle>("share");
    // One memory, however often it is asked for.
    if (this.#handles.length === 0) this.#handles.push(handle);
    return handle;
  }

  /**
   * Flushes and ends the owner's thread. Earlier calls are answered first; later ones are answered as by a closed
   * frontier. Rejects when the thread dies, since what was flushed is unknown, and when the disk fails: the
   * frontier stays open then.
   */
  async close(
    options: {
      /**
       * Deletes what is stored in place of flushing it.
       * @defaultValue false
       */
      discard?: boolean;
    } = {},
  ): Promise<void> {
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

  /** Closes it, for `await using`. */
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

/** A host of a frontier on its own thread. */
export interface ThreadHost {
  /** What is known of it. */
  view(): Promise<Omit<HostView, "blockUntil" | "hold" | "unhold">>;
  /** Overrides the rules for it. */
  set(change: {
    /**
     * Least time between two visits in milliseconds.
     * @defaultValue unchanged
     */
    delayMs?: number;
    /**
     * Most leases at once.
     * @defaultValue unchanged
     */
    limit?: number;
    /**
     * Its address.
     * @defaultValue unchanged
     */
    address?: string;
  }): Promise<void>;
  /** As `HostView.blockUntil`. */
  blockUntil(at: number | Date): Promise<void>;
  /** As `HostView.hold`. */
  hold(): Promise<void>;
  /** As `HostView.unhold`. */
  unhold(): Promise<void>;
}

/**
 * Room `src/workers/pool`: a pool of worker threads over one frontier, on Piscina: starts, resizes and ends them. The
 * rings belong to workers/pool/hub. May touch base, layout and hub.
 */

/**
 * WorkerPool: worker threads that visit the leases of a frontier. Piscina starts the threads (pool-threads.ts); each
 * runs one long task, `attend`, at its own seat; leases and results go through the seat's rings.
 *
 *   run() ─▶ a member per thread: reserve a seat ─▶ piscina.run(attend) ─▶ ended
 *                  ▲                                                       ├ stopped: its thread idles, or is ended when fewer are wanted
 *                  └─────────────────────────────── again ─────────────────┼ worn: its thread is ended first
 *                                                                          └ died: its leases are returned first
 *
 *   I1  A seat is cleared after its thread has ended, so that no thread writes into what the next one reads.
 *   I2  A thread that dies before it takes its seat ends the run: its handler module does not load. A thread of an earlier
 *       run may have died of what it did there, so as many deaths are excused as there are such threads.
 *   I3  A thread on the way to its seat that is no longer wanted is the first to be kept when more are wanted again, so that
 *       repeated resizing starts no surplus threads. If it has read the command to stop, its place is filled when it leaves.
 */
import type { Worker } from "node:worker_threads";
import { readSignal } from "../../base/argument-checks.ts";
import { after } from "../../base/clock.ts";
import { type ListenOptions, readListening } from "../../base/listen-options.ts";
import { FrontierError, misuse } from "../../base/errors.ts";
import { SHARED_SEATS, SEAT_THREAD_WORD } from "../../layout/threads/worker-seats.ts";
import { LEFT } from "./hub/dead-workers.ts";
import type { WorkerHub } from "./hub/worker-hub.ts";
import {
  type PoolSettings,
  readPoolOptions,
  type SharedFrontier,
  type WorkerPoolOptions,
} from "./pool-options.ts";
import { PastWork, type PoolReport, reportOf } from "./pool-report.ts";
import { hubOf } from "./hub-registry.ts";
import type { PoolMessage, Seat } from "./hub/worker-seat.ts";
import { PoolThreads } from "./pool-threads.ts";

/** Events of a pool, with the payload of each. */
export interface PoolEvents {
  /** A value that a handler has sent, in the order of its thread. */
  message: PoolMessage;
}

type MessageListener = (message: PoolMessage) => void;

interface Member {
  seat: Seat;
  readonly controller: AbortController;
  /** Asked to leave: not replaced. */
  isLeaving: boolean;
  /** Its thread is ended afterwards, though the pool goes on. */
  isRetired: boolean;
  /** The thread, once it must be ended from outside. */
  thread: Worker | undefined;
  readonly gone: Promise<void>;
}

/** How long workers may take to end their visits after an abort. */
const ABORT_MS = 1_000;

/**
 * A pool of worker threads over a frontier. Owner's thread only.
 * @example
 * const pool = new WorkerPool({ frontier, handler: new URL("./visit.js", import.meta.url), threads: 4 });
 * await pool.run();
 * await pool.close();
 */
export class WorkerPool {
  readonly #settings: PoolSettings;
  readonly #hub: WorkerHub;
  readonly #shared: PoolThreads;
  readonly #members = new Set<Member>();
  readonly #past = new PastWork();
  readonly #listeners = new Set<MessageListener>();
  #threads: number;
  #restarts = 0;
  /** Threads of earlier runs that may turn out to be dead (I2). */
  #doubtful = 0;
  #recycled = 0;
  /** Set while run() is in progress; ending: no thread is started any more. */
  #run: { readonly fail: (cause: unknown) => void; isEnding: boolean } | undefined;
  #isClosed = false;

  /** Checks the options; starts no thread. Throws `OPTION_INVALID`. */
  constructor(options: WorkerPoolOptions) {
    const settings = readPoolOptions(options);
    this.#settings = settings;
    this.#threads = settings.threads;
    this.#hub = hubFor(settings.frontier);
    const { resourceLimits, workerData } = settings;
    const onFault = (cause: unknown): void => this.#faulted(cause);
    const isKept = (id: number): boolean => {
      const those = [...this.#members].filter(({ isRetired }) => isRetired);
      return !those.some(({ seat }) => threadWord(seat) === id + 1);
    };
    this.#shared = new PoolThreads({ resourceLimits, workerData, isKept, onFault });
    // A thread that hangs is ended; its leases that had begun lose an attempt.
    this.#hub.onStuck = (index) => {
      for (const member of this.#members) if (member.seat.index === index) this.#abort(member);
    };
  }

  /** Works until the frontier is finished or closed. Rejects with the signal's reason, or when no worker can start. */
  async run(
    options: {
      /**
       * Ends the run: it rejects with the signal's reason, and leases return.
       * @defaultValue none
       */
      signal?: AbortSignal | undefined;
    } = {},
  ): Promise<void> {
    const { signal } = readSignal(options);
    this.#need();
    if (this.#run !== undefined) throw stateInvalid("running", "one run at a time");
    signal?.throwIfAborted();
    let fail: (cause: unknown) => void = () => undefined;
    const failed = new Promise<never>((_, reject) => {
      fail = reject;
    });
    failed.catch(() => undefined);
    const onAbort = (): void => fail(signal?.reason);
    signal?.addEventListener("abort", onAbort);
    this.#run = { fail, isEnding: false };
    this.#past.begin();
    this.#hub.startSlowly(this.#settings.rampMs, this.#visits);
    try {
      this.#doubtful = this.#shared.ids.length;
      for (let count = 0; count < this.#threads; count++) this.#start();
      await Promise.race([this.#hub.finished(), failed]);
      await this.#stopAll(false);
    } catch (cause) {
      await this.#stopAll(true);
      throw cause;
    } finally {
      signal?.removeEventListener("abort", onAbort);
      this.#run = undefined;
      this.#hub.startSlowly(undefined, 0);
    }
  }

  /** Changes the number of threads. Threads that leave finish their visits. Throws `ARGUMENT_INVALID` for a number out of range. */
  resize(threads: number): void {
    this.#need();
    if (!Number.isSafeInteger(threads) || threads < 1 || threads > SHARED_SEATS) {
      const expected = `a whole number from 1 to ${SHARED_SEATS}`;
      throw misuse("ARGUMENT_INVALID", "threads", threads, expected);
    }
    this.#threads = threads;
    this.#hub.raiseSlowStart(this.#visits);
    if (this.#mayStart) this.#staff();
  }

  /**
   * Listens to the values that handlers send with `context.send`; returns a function that ends it. The listener is called
   * before the `done` of the page is applied. The frontier's event `error` reports its errors. Without a listener values
   * are dropped.
   *
   * @example
   * const pool = new WorkerPool({ frontier, handler: new URL("./visit.js", import.meta.url) });
   * pool.on("message", ({ value, url }) => console.log(url, value));
   */
  on<E extends keyof PoolEvents>(
    event: E,
    listener: (payload: PoolEvents[E]) => void,
    options?: ListenOptions,
  ): () => void {
    if (event !== "message") throw misuse("ARGUMENT_INVALID", "event", event, "'message'");
    const add = readListening(listener, options);
    return add((own) => {
      const listener: MessageListener = (message) => void own(message as never);
      this.#listeners.add(listener);
      return () => this.#listeners.delete(listener);
    });
  }

  /** Counters of the pool and of each worker, as plain data. */
  report(): PoolReport {
    const workers = [...this.#members].map(({ seat }) => reportOf(seat));
    const sums = this.#past.with(workers);
    return {
      threads: this.#threads,
      isRunning: this.#run !== undefined,
      restarts: this.#restarts,
      recycled: this.#recycled,
      ...sums,
      handling: workers.reduce((all, { handling }) => all + handling, 0),
      workers: this.#run === undefined ? this.#past.workers : workers,
    };
  }

  /** Ends all threads. A run in progress rejects; unfinished leases return to the frontier. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#run?.fail(new FrontierError("STATE_INVALID", "pool: closed (expected: run() to end)"));
    await Promise.all([...this.#members].map(({ gone }) => gone));
    await this.#shared.close();
  }

  /** Closes it, for `await using`. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /** Ids of live threads, including those that wait for the next run. @internal */
  get threadIds(): number[] {
    return this.#shared.ids;
  }

  /** Most handlers at work at one time. */
  get #visits(): number {
    return this.#threads * this.#settings.concurrency;
  }

  get #mayStart(): boolean {
    return this.#run?.isEnding === false;
  }

  #need(): void {
    if (this.#isClosed) throw stateInvalid("closed", "a pool that is open");
  }

  /** Brings the members to the wanted number: stops those that are too many, and keeps or starts those that are missing. */
  #staff(): void {
    const members = [...this.#members];
    const leaving = members.filter(({ isLeaving }) => isLeaving);
    const staying = members.filter(({ isLeaving }) => !isLeaving);
    for (const member of staying.slice(this.#threads)) {
      member.isLeaving = true;
      member.isRetired = true;
      this.#hub.stop(member.seat);
    }
    let missing = this.#threads - staying.length;
    for (const member of leaving) {
      if (missing <= 0 || hasSat(member)) continue;
      member.isLeaving = false; // I3
      member.isRetired = this.#settings.recycleAfter !== undefined;
      this.#hub.cancelStop(member.seat);
      missing--;
    }
    try {
      for (; missing > 0; missing--) this.#start();
    } catch (cause) {
      if (leaving.length === 0) throw cause;
      // No seat is free: the place is filled when a leaving thread has left.
    }
  }

  #restaff(): void {
    try {
      if (this.#mayStart) this.#staff();
    } catch (cause) {
      this.#fail(cause);
    }
  }

  /** Ends the run: no thread is started any more. */
  #fail(cause: unknown): void {
    if (this.#run === undefined) return;
    this.#run.isEnding = true;
    this.#run.fail(cause);
  }

  /** A thread without a task has failed. If a thread is on the way to its seat, it was that one. */
  #faulted(cause: unknown): void {
    if (this.#run === undefined) return;
    if ([...this.#members].every(hasSat)) this.#emitFault(cause);
    else this.#fail(cause);
  }

  #emitFault(cause: unknown): void {
    this.#hub.port.fault({ kind: "handler", stage: "worker", cause });
  }

  #start(): void {
    const seat = this.#hub.reserve();
    seat.onSent = (message) => {
      for (const listener of [...this.#listeners]) listener(message);
    };
    const controller = new AbortController();
    const { handler, concurrency, timeoutMs, recycleAfter } = this.#settings;
    const task = {
      handle: this.#hub.handle,
      seat: seat.index,
      handler,
      concurrency,
      timeoutMs,
      recycleAfter,
    };
    const ended = this.#shared.run(task, controller.signal) as Promise<boolean>;
    const member: Member = {
      seat,
      controller,
      isLeaving: false,
      // A thread's leases are counted from its start, so the next run needs new threads.
      isRetired: recycleAfter !== undefined,
      thread: undefined,
      gone: ended.then(
        (isWorn) => this.#left(member, isWorn),
        (cause: unknown) => this.#died(member, cause),
      ),
    };
    this.#members.add(member);
  }

  async #left(member: Member, isWorn: boolean): Promise<void> {
    if (member.isRetired) await this.#shared.end(this.#threadOf(member));
    const settled = this.#remove(member, LEFT);
    if (isWorn && !member.isLeaving && this.#mayStart) this.#recycled++;
    this.#restaff();
    await settled;
  }

  async #died(member: Member, cause: unknown): Promise<void> {
    const hadSat = hasSat(member);
    await this.#shared.end(member.thread ?? this.#threadOf(member)); // I1: waits for its end
    const settled = this.#remove(member, causeText(cause));
    if (!member.isLeaving && this.#mayStart) {
      if (hadSat) {
        this.#restarts++;
        this.#emitFault(cause);
      } else if (this.#doubtful-- <= 0) this.#fail(cause);
    }
    this.#restaff();
    await settled;
  }

  /** Resolves when its worker's results are applied and its leases are back. */
  #remove(member: Member, reason: string): Promise<void> {
    this.#past.add(member.seat);
    this.#members.delete(member);
    return this.#hub.workerDied(member.seat, reason);
  }

  async #stopAll(isAborted: boolean): Promise<void> {
    if (this.#run !== undefined) this.#run.isEnding = true;
    const members = [...this.#members];
    for (const member of members) {
      member.isLeaving = true;
      this.#hub.stop(member.seat);
      if (isAborted) this.#hub.cancelAll(member.seat);
    }
    const all = Promise.all(members.map(({ gone }) => gone));
    let cancel: (() => void) | undefined;
    const late = new Promise<void>((resolve) => {
      cancel = after(ABORT_MS, resolve);
    });
    await Promise.race([all, late]);
    cancel?.();
    for (const member of members) if (this.#members.has(member)) this.#abort(member);
    await all;
  }

  /** Piscina drops the thread at once; `#died` waits for its end. */
  #abort(member: Member): void {
    member.thread ??= this.#threadOf(member);
    member.controller.abort();
  }

  #threadOf({ seat }: Member): Worker | undefined {
    return this.#shared.at(threadWord(seat) - 1);
  }
}

function hasSat({ seat }: Member): boolean {
  return threadWord(seat) !== 0;
}

/** The thread at a seat, noted before anything could write over the word; else by the word. */
function threadWord({ thread, words }: Seat): number {
  return thread || (words[SEAT_THREAD_WORD] as number);
}

/** For a frontier on another thread `share` returns a promise, and the hub is there. */
function hubFor(frontier: SharedFrontier): WorkerHub {
  const shared = frontier.share();
  const hub = hubOf(frontier);
  if (hub !== undefined) return hub;
  void Promise.resolve(shared).catch(() => undefined);
  const expected =
    "what openFrontier() returned; use attach(handle) with a frontier on its own thread";
  throw misuse("OPTION_INVALID", "frontier", frontier, expected);
}

function causeText(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}

function stateInvalid(state: string, expected: string): FrontierError {
  return new FrontierError("STATE_INVALID", `pool: ${state} (expected: ${expected})`);
}

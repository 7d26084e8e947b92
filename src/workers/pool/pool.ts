/**
 * WorkerPool: worker threads that visit what a frontier hands out. Piscina starts, ends and replaces the threads; each
 * runs one long task, `attend`, at its own seat; leases and results go through the seat's rings.
 *
 *   run() ─▶ a member per thread: reserve a seat ─▶ piscina.run(attend) ─▶ ended
 *                  ▲                                                       ├ stopped: gone
 *                  └─────────────────────────────── again ─────────────────┼ worn: its thread is ended first
 *                                                                          └ died: its leases are given back first
 *
 *   I1  A seat is cleared after its thread is gone, so that nobody writes into what the next one reads.
 *   I2  A thread that dies before it sat down ends the run: its handler module does not load.
 */
import { Piscina } from "piscina";
import type { Worker } from "node:worker_threads";
import { after } from "../../base/clock.ts";
import { FrontierError, misuse } from "../../base/errors.ts";
import {
  CREW_SEATS,
  SEAT_ACCEPTED_WORD,
  SEAT_CALLED_WORD,
  SEAT_COMPLETED_WORD,
  SEAT_HANDLING_WORD,
  SEAT_REFUSED_WORD,
  SEAT_THREAD_WORD,
} from "../../layout/crew.ts";
import { LEFT } from "./graves.ts";
import type { Hub } from "./hub.ts";
import { type PoolSettings, readPoolOptions, type WorkerPoolOptions } from "./options.ts";
import { hubOf } from "./registry.ts";
import type { Seat } from "./seat.ts";

/** What one worker of the pool has done. */
export interface WorkerReport {
  readonly worker: number;
  readonly thread: number;
  /** Leases taken. */
  readonly called: number;
  /** Leases whose handler was found. */
  readonly accepted: number;
  /** Handlers that returned. */
  readonly completed: number;
  /** Handlers at work. */
  readonly handling: number;
  /** Leases handed to it whose results are still to come. */
  readonly leased: number;
  /** Links that it dropped by itself: known already, or no URLs. */
  readonly dropped: number;
}

export interface PoolReport {
  readonly threads: number;
  readonly isRunning: boolean;
  /** Threads that died and were replaced. */
  readonly restarts: number;
  /** Threads that had done their share and were replaced. */
  readonly recycled: number;
  readonly called: number;
  readonly accepted: number;
  readonly completed: number;
  readonly handling: number;
  readonly dropped: number;
  readonly workers: readonly WorkerReport[];
}

interface Member {
  seat: Seat;
  readonly controller: AbortController;
  /** Asked to go: not replaced. */
  isLeaving: boolean;
  /** The thread, once it must be ended from outside. */
  thread: Worker | undefined;
  readonly gone: Promise<void>;
}

const ATTEND = new URL("../../../dist/workers/remote/attend.js", import.meta.url).href;
/** How long workers have to end what they do after an abort. */
const ABORT_MS = 1_000;
const COUNTERS = [
  SEAT_CALLED_WORD,
  SEAT_ACCEPTED_WORD,
  SEAT_COMPLETED_WORD,
  SEAT_HANDLING_WORD,
  SEAT_REFUSED_WORD,
] as const;

/**
 * A pool of worker threads over a frontier. Owner's thread only.
 * @example
 * const pool = new WorkerPool({ frontier, handler: new URL("./visit.js", import.meta.url), threads: 4 });
 * await pool.run();
 * await pool.close();
 */
export class WorkerPool {
  readonly #settings: PoolSettings;
  readonly #hub: Hub;
  readonly #piscina: Piscina;
  readonly #members = new Set<Member>();
  /** Counters of threads that are gone. */
  readonly #past: number[] = [0, 0, 0, 0, 0];
  #threads: number;
  #restarts = 0;
  #recycled = 0;
  #run: { fail: (cause: unknown) => void } | undefined;
  #isClosed = false;

  constructor(options: WorkerPoolOptions) {
    const settings = readPoolOptions(options);
    this.#settings = settings;
    this.#threads = settings.threads;
    settings.frontier.share();
    this.#hub = hubOf(settings.frontier) as Hub;
    this.#piscina = new Piscina({
      filename: ATTEND,
      name: "attend",
      minThreads: 0,
      maxThreads: CREW_SEATS,
      concurrentTasksPerWorker: 1,
      atomics: "disabled",
      recordTiming: false,
      ...(settings.resourceLimits === undefined ? {} : { resourceLimits: settings.resourceLimits }),
      ...(settings.workerData === undefined ? {} : { workerData: settings.workerData }),
    });
    this.#piscina.on("error", (cause: unknown) => this.#run?.fail(cause));
    this.#hub.onStuck = (seat) => this.#kill(seat);
  }

  /** Works until the frontier is finished or closed. Rejects with the signal's reason, or when no worker can start. */
  async run(options: { signal?: AbortSignal } = {}): Promise<void> {
    const { signal } = options;
    if (signal !== undefined && !(signal instanceof AbortSignal)) {
      throw misuse("ARGUMENT_INVALID", "options.signal", signal, "an AbortSignal");
    }
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
    this.#run = { fail };
    this.#hub.climb(this.#settings.rampMs, this.#visits);
    try {
      for (let count = 0; count < this.#threads; count++) this.#start();
      await Promise.race([this.#hub.finished(), failed]);
      await this.#stopAll(false);
    } catch (cause) {
      await this.#stopAll(true);
      throw cause;
    } finally {
      signal?.removeEventListener("abort", onAbort);
      this.#run = undefined;
      this.#hub.climb(undefined, 0);
    }
  }

  /** More threads, or fewer: those that go end what they have begun. */
  resize(threads: number): void {
    this.#need();
    if (!Number.isSafeInteger(threads) || threads < 1 || threads > CREW_SEATS) {
      const expected = `a whole number of 1 to ${CREW_SEATS}`;
      throw misuse("ARGUMENT_INVALID", "threads", threads, expected);
    }
    this.#threads = threads;
    this.#hub.climbTo(this.#visits);
    if (this.#run === undefined) return;
    const staying = [...this.#members].filter((member) => !member.isLeaving);
    for (let count = staying.length; count < threads; count++) this.#start();
    for (const member of staying.slice(threads)) {
      member.isLeaving = true;
      this.#hub.stop(member.seat);
    }
  }

  /** Counters of the pool and of each worker, as plain data. */
  report(): PoolReport {
    const workers = [...this.#members].map(({ seat }) => reportOf(seat));
    const sum = (field: "called" | "accepted" | "completed" | "dropped", at: number): number =>
      workers.reduce((all, one) => all + one[field], this.#past[at] as number);
    return {
      threads: this.#threads,
      isRunning: this.#run !== undefined,
      restarts: this.#restarts,
      recycled: this.#recycled,
      called: sum("called", 0),
      accepted: sum("accepted", 1),
      completed: sum("completed", 2),
      handling: workers.reduce((all, { handling }) => all + handling, 0),
      dropped: sum("dropped", 4),
      workers,
    };
  }

  /** Ends all threads. A run under way rejects; leases not finished return to the frontier. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#run?.fail(new FrontierError("STATE_INVALID", "pool: closed (expected: run() to end)"));
    await Promise.all([...this.#members].map(({ gone }) => gone));
    await this.#piscina.destroy();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /** Handlers that can be at work at one time. */
  get #visits(): number {
    return this.#threads * this.#settings.concurrency;
  }

  #need(): void {
    if (this.#isClosed) throw stateInvalid("closed", "a pool that is open");
  }

  #start(): void {
    const seat = this.#hub.reserve();
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
    const ended = this.#piscina.run(task, { signal: controller.signal }) as Promise<boolean>;
    const member: Member = {
      seat,
      controller,
      isLeaving: false,
      thread: undefined,
      gone: ended.then(
        (isWorn) => this.#left(member, isWorn),
        (cause: unknown) => this.#died(member, cause),
      ),
    };
    this.#members.add(member);
  }

  async #left(member: Member, isWorn: boolean): Promise<void> {
    const thread = this.#threadOf(member);
    if (isWorn) await thread?.terminate();
    const settled = this.#remove(member, LEFT);
    if (isWorn && !member.isLeaving && this.#run !== undefined) {
      this.#recycled++;
      this.#start();
    }
    await settled;
  }

  async #died(member: Member, cause: unknown): Promise<void> {
    const hadSat = member.seat.words[SEAT_THREAD_WORD] !== 0;
    await (member.thread ?? this.#threadOf(member))?.terminate(); // I1: resolves when it is gone
    const settled = this.#remove(member, causeText(cause));
    if (!member.isLeaving && this.#run !== undefined) {
      if (hadSat) {
        this.#restarts++;
        this.#hub.port.fault({ kind: "handler", stage: "worker", cause });
        this.#start();
      } else this.#run.fail(cause);
    }
    await settled;
  }

  /** Resolves when what its worker had said is applied and its leases are back. */
  #remove(member: Member, reason: string): Promise<void> {
    COUNTERS.forEach((word, at) => {
      this.#past[at] = (this.#past[at] as number) + (member.seat.words[word] as number);
    });
    this.#members.delete(member);
    return this.#hub.bury(member.seat, reason);
  }

  async #stopAll(isAborted: boolean): Promise<void> {
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
    for (const member of members) this.#abort(member);
    await all;
  }

  /** Ends a thread that hangs; what it had begun loses an attempt. */
  #kill(index: number): void {
    for (const member of this.#members) if (member.seat.index === index) this.#abort(member);
  }

  /** Piscina lets go of the thread at once; we wait for its end. */
  #abort(member: Member): void {
    member.thread ??= this.#threadOf(member);
    member.controller.abort();
  }

  #threadOf({ seat }: Member): Worker | undefined {
    const id = (seat.words[SEAT_THREAD_WORD] as number) - 1;
    return this.#piscina.threads.find(({ threadId }) => threadId === id);
  }
}

function reportOf({ index, words, entries }: Seat): WorkerReport {
  const [called = 0, accepted = 0, completed = 0, handling = 0, dropped = 0] = COUNTERS.map(
    (word) => words[word] as number,
  );
  const thread = (words[SEAT_THREAD_WORD] as number) - 1;
  return {
    worker: index,
    thread,
    called,
    accepted,
    completed,
    handling,
    leased: entries.size,
    dropped,
  };
}

function causeText(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}

function stateInvalid(state: string, expected: string): FrontierError {
  return new FrontierError("STATE_INVALID", `pool: ${state} (expected: ${expected})`);
}

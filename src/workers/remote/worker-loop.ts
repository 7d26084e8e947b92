/**
 * Room `src/workers/remote`: the worker's side: takes leases from its seat, runs the handler, filters links, sends
 * results. Decides what needs no state of the frontier; may not see src/frontier.
 */

/**
 * WorkerLoop: the work of a pool's thread while it has its seat.
 *
 *   pump: pull ─▶ begin leases while handlers are free ─▶ flush ─▶ nothing to begin?
 *            ▲                                                     no handler at work: spin, sleep for a moment, then wait
 *            └── a handler ended · the owner unparked · a turn ──   else: wait, the event loop lives
 *
 * A handler that returns is done; one that throws is retried. When a handler's time is over, its signal is aborted and it has
 * SETTLE_MS to end: until then its lease, and so its host, stays taken; its result is ignored. While the inbound ring is full no lease
 * begins. After BURST leases or BURST_MS in a row results are published, lanes are read and the event loop gets its turn: a slow
 * handler that never waits delays neither the results of others nor more urgent leases.
 */
import { threadId } from "node:worker_threads";
import { after, createSystemClock } from "../../base/clock.ts";
import { shown } from "../../base/errors.ts";
import {
  SEAT_ACCEPTED_WORD,
  SEAT_COMPLETED_WORD,
  SEAT_HANDLING_WORD,
  SEAT_PARK_WORD,
} from "../../layout/threads/worker-seats.ts";
import { MESSAGE_FAULT, MESSAGE_RETRY } from "../../layout/threads/worker-messages.ts";
import { PARK_SPINS, parkBegin, parkEnd, parkWait } from "../../memory/parking.ts";
import type { CrewHandle } from "../protocol/shared-memory.ts";
import { createWaiting, endWaiting, type Waiting, waitFor } from "../protocol/async-wait.ts";
import { SeatClient } from "./seat-client.ts";
import { type Handler, HandlerVisit } from "./handler-visit.ts";
import type { WorkerLease } from "./worker-lease.ts";

export interface WorkerTask {
  readonly handle: CrewHandle;
  readonly seat: number;
  /** Address of the handler module. */
  readonly handler: string;
  readonly concurrency: number;
  readonly timeoutMs: number | undefined;
  /** Leases after which the thread is replaced. */
  readonly recycleAfter: number | undefined;
}

/** Longest sleep before the event loop has its turn; then it waits without sleeping. */
const SLEEP_MS = 2;
/** How long a handler may take to end once its time is over; after that, its host is free for others while the handler goes on. */
const SETTLE_MS = 1_000;
const BURST = 256;
const BURST_MS = 2;

/** Runs until the owner stops it or the thread has done its share. Returns true when the thread is to be replaced. */
export async function attend(task: WorkerTask): Promise<boolean> {
  const module = (await import(task.handler)) as Record<string, unknown>;
  return await new WorkerLoop(task, module).run();
}

class WorkerLoop {
  readonly #task: WorkerTask;
  readonly #module: Record<string, unknown>;
  readonly #default: Handler | undefined;
  readonly #seatClient: SeatClient;
  readonly #waiting: Waiting;
  readonly #clock = createSystemClock();
  readonly #active = new Map<number, HandlerVisit>();
  #begun = 0;
  #burst = 0;
  #burstEndMs = 0;
  #isPumping = false;
  #isDue = false;
  #isTurning = false;
  #resolve: ((isWorn: boolean) => void) | undefined;

  constructor(task: WorkerTask, module: Record<string, unknown>) {
    this.#task = task;
    this.#module = module;
    this.#default = exported(module, "default");
    this.#seatClient = new SeatClient(task.handle, task.seat, threadId);
    this.#seatClient.inbox.onCancel = (id) => this.#drop(id, "deadline");
    this.#waiting = createWaiting(this.#seatClient.seat, SEAT_PARK_WORD, () => this.#pump());
  }

  run(): Promise<boolean> {
    return new Promise((resolve) => {
      this.#resolve = resolve;
      this.#pump();
    });
  }

  #pump(): void {
    if (this.#resolve === undefined || this.#isPumping) return;
    this.#isPumping = true;
    const seatClient = this.#seatClient;
    seatClient.flush();
    seatClient.inbox.pull();
    const isWorn = this.#isWorn;
    const isLeaving = seatClient.isStopped || isWorn;
    while (!isLeaving && this.#mayBegin()) {
      if (this.#isBurstOver()) break;
      const lease = seatClient.next();
      if (lease === undefined) break;
      this.#burst++;
      this.#begin(lease);
    }
    this.#isPumping = false;
    seatClient.flush();
    seatClient.inbox.publishTaken();
    if (isLeaving && this.#active.size === 0 && !seatClient.holdsWords) this.#leave(isWorn);
    else if (this.#burst > 0) this.#turn();
    else this.#wait();
  }

  get #isWorn(): boolean {
    return this.#begun >= (this.#task.recycleAfter ?? Number.POSITIVE_INFINITY);
  }

  /** Whether a lease may begin: a handler is free, and there is room for its result. */
  #mayBegin(): boolean {
    const isFree = this.#active.size < this.#task.concurrency;
    return isFree && this.#seatClient.sender.kept.length === 0 && !this.#isWorn;
  }

  #isBurstOver(): boolean {
    const nowMs = this.#clock.monotonic();
    if (this.#burst === 0) this.#burstEndMs = nowMs + BURST_MS;
    return this.#burst >= BURST || nowMs >= this.#burstEndMs;
  }

  /** Runs after handlers that end at once: their results are sent in one batch. */
  #soon(): void {
    if (this.#isDue || this.#isPumping) return;
    this.#isDue = true;
    queueMicrotask(() => {
      this.#isDue = false;
      this.#pump();
    });
  }

  /** Runs after a turn of the event loop. */
  #turn(): void {
    if (this.#isTurning) return;
    this.#isTurning = true;
    setImmediate(() => {
      this.#isTurning = false;
      this.#burst = 0;
      this.#pump();
    });
  }

  /** Nothing can begin: waits for the owner. Sleeps only when no handler is at work, and only for a moment. */
  #wait(): void {
    const seatClient = this.#seatClient;
    const hasWork = (): boolean => {
      if (seatClient.inbox.hasMessages() || (seatClient.isStopped && this.#active.size === 0))
        return true;
      // The last flush may have found the room for which the leases here were waiting.
      if (seatClient.inbox.hasLease() && this.#mayBegin() && !seatClient.isStopped) return true;
      return seatClient.sender.kept.length > 0 && seatClient.hasRoom();
    };
    if (this.#active.size === 0 && !this.#waiting.isUnderWay) {
      for (let spin = 0; spin < PARK_SPINS; spin++)
        if (hasWork()) {
          this.#soon();
          return;
        }
      parkBegin(seatClient.seat, SEAT_PARK_WORD);
      if (!hasWork()) parkWait(seatClient.seat, SEAT_PARK_WORD, SLEEP_MS);
      else parkEnd(seatClient.seat, SEAT_PARK_WORD);
      if (hasWork()) {
        this.#soon();
        return;
      }
    }
    waitFor(this.#waiting, hasWork);
  }

  #begin(lease: WorkerLease): void {
    const handler = lease.packed === undefined ? this.#default : this.#handlerOf(lease);
    if (handler === undefined) {
      const expected = "a function that the handler module exports";
      const text = `handler: ${lease.handler ?? "default"} (expected: ${expected})`;
      this.#sendFault(lease, "no handler", new Error(text));
      lease.release();
      return;
    }
    const { seat } = this.#seatClient;
    seat[SEAT_ACCEPTED_WORD] = (seat[SEAT_ACCEPTED_WORD] as number) + 1;
    this.#begun++;
    const visit = new HandlerVisit(this.#seatClient, lease, this.#task.seat);
    seat[SEAT_HANDLING_WORD] = this.#active.size + 1;
    let result: Promise<unknown> | undefined;
    try {
      const returned = handler(lease, visit);
      // Its `then` may be anything; a promise is followed as it is.
      if (isThenable(returned)) result = Promise.resolve(returned);
    } catch (cause) {
      seat[SEAT_HANDLING_WORD] = this.#active.size;
      this.#end(lease, cause, true);
      return;
    }
    if (result !== undefined) this.#await(visit, result);
    else {
      seat[SEAT_HANDLING_WORD] = this.#active.size;
      this.#end(lease, undefined, false);
    }
  }

  /** Follows a handler that takes its time. */
  #await(visit: HandlerVisit, result: Promise<unknown>): void {
    const { lease } = visit;
    this.#active.set(lease.id, visit);
    const { timeoutMs } = this.#task;
    if (timeoutMs !== undefined) {
      visit.untime = after(timeoutMs, () => this.#hurry(visit));
    }
    result.then(
      () => this.#ended(visit, undefined, false),
      (cause: unknown) => this.#ended(visit, cause, true),
    );
  }

  /** The handler's time is over: its signal is aborted, and its lease is retried once it has ended, or after SETTLE_MS. */
  #hurry(visit: HandlerVisit): void {
    visit.isOverdue = true;
    visit.untime = after(SETTLE_MS, () => this.#ended(visit, undefined, false));
    if (!visit.lease.isSettled) {
      this.#seatClient.forget(visit.lease);
      visit.isUnsettled = true;
    }
    visit.abort("timeout");
  }

  #handlerOf(lease: WorkerLease): Handler | undefined {
    return lease.handler === undefined ? this.#default : exported(this.#module, lease.handler);
  }

  #ended(visit: HandlerVisit, cause: unknown, hasThrown: boolean): void {
    const { lease } = visit;
    if (this.#active.get(lease.id) !== visit) return; // its slot was freed for others
    this.#free(visit);
    if (!visit.isOverdue) this.#end(lease, cause, hasThrown);
    else if (visit.isUnsettled)
      this.#seatClient.sendFault(MESSAGE_RETRY, lease.id, { reason: "timeout" });
    this.#soon();
  }

  #end(lease: WorkerLease, cause: unknown, hasThrown: boolean): void {
    if (hasThrown) {
      this.#sendFault(lease, lease.handler ?? "default", cause);
      lease.retry({ reason: textsOf(cause).message });
    } else {
      const { seat } = this.#seatClient;
      seat[SEAT_COMPLETED_WORD] = (seat[SEAT_COMPLETED_WORD] as number) + 1;
      lease.done();
    }
  }

  /** Takes a lease from its handler, whose later work is ignored. */
  #drop(id: number, reason: string): void {
    const visit = this.#active.get(id);
    if (visit === undefined) return;
    this.#seatClient.forget(visit.lease);
    this.#free(visit);
    visit.abort(reason);
    this.#soon();
  }

  #free(visit: HandlerVisit): void {
    visit.untime?.();
    this.#active.delete(visit.lease.id);
    this.#seatClient.seat[SEAT_HANDLING_WORD] = this.#active.size;
  }

  #sendFault(lease: WorkerLease, stage: string, cause: unknown): void {
    this.#seatClient.sendFault(MESSAGE_FAULT, lease.id, { stage, ...textsOf(cause) });
  }

  #leave(isWorn: boolean): void {
    const resolve = this.#resolve;
    this.#resolve = undefined;
    endWaiting(this.#waiting);
    this.#seatClient.leave();
    // Work that handlers left to the end of this turn is done before the thread may be ended.
    setImmediate(() => resolve?.(isWorn));
  }
}

function exported(module: Record<string, unknown>, name: string): Handler | undefined {
  const found = Object.hasOwn(module, name) ? module[name] : undefined;
  return typeof found === "function" ? (found as Handler) : undefined;
}

function isThenable(value: unknown): boolean {
  return typeof value === "object" && value !== null && "then" in value;
}

/** Texts of whatever was thrown: objects without a prototype, errors whose fields are no text or throw. */
function textsOf(cause: unknown): { name: string; message: string; stack?: string } {
  try {
    if (!(cause instanceof Error)) return { name: "Error", message: textOf(cause) };
    const { name, message, stack } = cause;
    return { name: textOf(name), message: textOf(message), stack: textOf(stack) };
  } catch {
    return { name: "Error", message: shown(cause) };
  }
}

function textOf(value: unknown): string {
  try {
    return String(value);
  } catch {
    return shown(value);
  }
}

/**
 * WorkerPort: a seat for a thread that Piscina did not start. It polls as the owner does, from the leases that the owner
 * has handed to it.
 */
import { MessageChannel, threadId } from "node:worker_threads";
import { countOf, readTake } from "../../base/argument-checks.ts";
import { after } from "../../base/clock.ts";
import { misuse } from "../../base/errors.ts";
import type { RequestInput, RequestLike } from "../../base/request-types.ts";
import { SEAT_PARK_WORD } from "../../layout/threads/worker-seats.ts";
import { type CrewHandle, seatWords } from "../protocol/shared-memory.ts";
import { nextBeat, HEARTBEAT_WAITS, leaveSeat } from "../protocol/seat-protocol.ts";
import { createWaiting, endWaiting, type Waiting, waitFor } from "../protocol/async-wait.ts";
import type { Pushed } from "./found-links.ts";
import { SeatClient } from "./seat-client.ts";
import { type TakenSeat, takeSeat } from "./take-seat.ts";
import type { PushAnswer, WorkerLease } from "./worker-lease.ts";

interface Waiter {
  readonly max: number;
  readonly resolve: (leases: WorkerLease[]) => void;
  readonly release: () => void;
}

/**
 * Attaches this thread to a frontier of another thread; `handle` is what `frontier.share()` returned there. Throws
 * `ARGUMENT_INVALID` for another value, `STATE_INVALID` where 64 threads are attached. Costs no message: it takes a place in the
 * shared memory.
 *
 * @example
 * // in the worker
 * const port = attach(workerData);
 */
export function attach(handle: CrewHandle): WorkerPort {
  if (!(handle?.memory instanceof SharedArrayBuffer)) {
    throw misuse("ARGUMENT_INVALID", "handle", handle, "what frontier.share() returned");
  }
  const sitting = takeSeat(handle);
  try {
    return new WorkerPort(handle, sitting);
  } catch (cause) {
    leaveSeat(seatWords(handle.memory, sitting.seat));
    throw cause;
  }
}

/** A thread's place at a frontier of another thread. Made by `attach`. */
export class WorkerPort {
  readonly #seatClient: SeatClient;
  readonly #waiting: Waiting;
  readonly #waiters: Waiter[] = [];
  readonly #closings: Array<() => void> = [];
  #isClosing = false;
  /** Keeps the thread's event loop alive while a caller waits. */
  readonly #hold = new MessageChannel().port1;

  /** @internal */
  constructor(handle: CrewHandle, { seat, asked }: TakenSeat) {
    const words = seatWords(handle.memory, seat);
    this.#beat(words, asked);
    for (let wait = 1; wait < HEARTBEAT_WAITS; wait++) this.#beat(words, nextBeat(words));
    this.#seatClient = new SeatClient(handle, seat, threadId);
    this.#waiting = createWaiting(this.#seatClient.seat, SEAT_PARK_WORD, () => this.#wake());
    this.#hold.on("message", () => undefined);
    this.#hold.unref();
    this.#rest();
  }

  /** Up to `max` leases that are here already. Never waits. */
  pollMany(max: number): WorkerLease[] {
    const most = countOf(max, "max");
    const leases: WorkerLease[] = [];
    if (this.#seatClient.isClosed || this.#isClosing) return leases;
    this.#seatClient.inbox.pull();
    while (leases.length < most) {
      const lease = this.#seatClient.next();
      if (lease === undefined) break;
      leases.push(lease);
    }
    this.#seatClient.flush();
    this.#seatClient.inbox.publishTaken();
    return leases;
  }

  /** Waits for leases. Resolves with [] when the frontier is finished or closed, or the time is over. */
  async take(
    options: {
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
    } = {},
  ): Promise<WorkerLease[]> {
    const { max, waitMs, signal } = readTake(options);
    signal?.throwIfAborted();
    const leases = this.pollMany(max);
    const isOver = this.#seatClient.isClosed || this.#isClosing || waitMs === 0;
    if (leases.length > 0 || isOver) return leases;
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        const at = this.#waiters.indexOf(waiter);
        if (at >= 0) this.#waiters.splice(at, 1);
        waiter.release();
        if (this.#waiters.length === 0) this.#hold.unref();
      };
      const cancel =
        waitMs === undefined
          ? undefined
          : after(waitMs, () => {
              leave();
              resolve([]);
            });
      const onAbort = (): void => {
        leave();
        reject(signal?.reason);
      };
      signal?.addEventListener("abort", onAbort);
      const release = (): void => {
        cancel?.();
        signal?.removeEventListener("abort", onAbort);
      };
      const waiter: Waiter = { max, resolve, release };
      this.#waiters.push(waiter);
      this.#hold.ref();
      this.#wake();
    });
  }

  /**
   * Pushes URLs that belong to no page, as the owner's `pushMany` would; `fields` supply what a request does not set.
   * Returns an answer for each.
   */
  push(request: RequestLike, fields?: Partial<RequestInput>): PushAnswer;
  push(requests: Iterable<RequestLike>, fields?: Partial<RequestInput>): PushAnswer[];
  push(given: Pushed, fields?: Partial<RequestInput>): PushAnswer | PushAnswer[] {
    return this.#seatClient.pushOutsideVisit(given, this.#isClosing, fields);
  }

  /** Leaves the seat. Published messages count; other leases return to the owner. Resolves when everything has been sent. */
  close(): Promise<void> {
    this.#isClosing = true;
    for (const waiter of this.#waiters.splice(0)) {
      waiter.release();
      waiter.resolve([]);
    }
    return new Promise((resolve) => {
      this.#closings.push(resolve);
      this.#hold.ref();
      this.#wake();
    });
  }

  /** Answers the owner's heartbeat checks for as long as this thread sits here. */
  #beat(words: Int32Array, asked: Promise<unknown>): void {
    void asked.then(() => {
      if (!this.#seatClient.isClosed) this.#beat(words, nextBeat(words));
    });
  }

  #leaveIfEmpty(): boolean {
    if (!this.#isClosing || this.#seatClient.holdsWords) return false;
    endWaiting(this.#waiting);
    this.#seatClient.leave();
    this.#hold.close();
    for (const resolve of this.#closings.splice(0)) resolve();
    return true;
  }

  #wake(): void {
    this.#seatClient.flush();
    if (this.#leaveIfEmpty()) return;
    while (this.#waiters.length > 0) {
      const waiter = this.#waiters[0] as Waiter;
      const leases = this.pollMany(waiter.max);
      if (leases.length === 0 && !this.#seatClient.isOver) break;
      this.#waiters.shift();
      waiter.release();
      waiter.resolve(leases);
    }
    if (this.#waiters.length === 0 && !this.#isClosing) this.#hold.unref();
    this.#rest();
  }

  /** Waits for the owner while only the owner can bring progress. */
  #rest(): void {
    const seatClient = this.#seatClient;
    waitFor(this.#waiting, () => {
      if (this.#waiters.length > 0 && (seatClient.inbox.hasMessages() || seatClient.isOver))
        return true;
      return seatClient.sender.kept.length > 0 && seatClient.hasRoom();
    });
  }
}

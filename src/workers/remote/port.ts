/**
 * Port: a thread that Piscina did not start, at a seat of the crew. It polls like the owner does, from what the owner
 * has laid out for it.
 */
import { MessageChannel, threadId } from "node:worker_threads";
import { countOf, readTake } from "../../base/arguments.ts";
import { after } from "../../base/clock.ts";
import { misuse } from "../../base/errors.ts";
import type { RequestLike } from "../../base/request-types.ts";
import { SEAT_PARK_WORD } from "../../layout/crew.ts";
import { type CrewHandle, seatWords } from "../protocol/crew.ts";
import { beatMore, PULSE_WAITS, standUp } from "../protocol/seating.ts";
import { createWaiting, endWaiting, type Waiting, waitFor } from "../protocol/waiting.ts";
import { Desk } from "./desk.ts";
import { type Sitting, takeSeat } from "./sit.ts";
import type { PushAnswer, WorkerLease } from "./worker-lease.ts";

interface Waiter {
  readonly max: number;
  readonly resolve: (leases: WorkerLease[]) => void;
  readonly release: () => void;
}

/**
 * Sits down at a frontier of another thread: `handle` is what `frontier.share()` gave there.
 * @example
 * // in the worker: const port = attach(workerData);
 */
export function attach(handle: CrewHandle): WorkerPort {
  if (!(handle?.memory instanceof SharedArrayBuffer)) {
    throw misuse("ARGUMENT_INVALID", "handle", handle, "what frontier.share() gave");
  }
  const sitting = takeSeat(handle);
  try {
    return new WorkerPort(handle, sitting);
  } catch (cause) {
    standUp(seatWords(handle.memory, sitting.seat));
    throw cause;
  }
}

export class WorkerPort {
  readonly #desk: Desk;
  readonly #waiting: Waiting;
  readonly #waiters: Waiter[] = [];
  readonly #closings: Array<() => void> = [];
  #isClosing = false;
  /** Holds the thread's event loop while somebody waits. */
  readonly #hold = new MessageChannel().port1;

  /** @internal */
  constructor(handle: CrewHandle, { seat, asked }: Sitting) {
    const words = seatWords(handle.memory, seat);
    this.#beat(words, asked);
    for (let wait = 1; wait < PULSE_WAITS; wait++) this.#beat(words, beatMore(words));
    this.#desk = new Desk(handle, seat, threadId);
    this.#waiting = createWaiting(this.#desk.seat, SEAT_PARK_WORD, () => this.#wake());
    this.#hold.on("message", () => undefined);
    this.#hold.unref();
    this.#rest();
  }

  /** At most `max` of the leases that are here; never waits. */
  pollMany(max: number): WorkerLease[] {
    const most = countOf(max, "max");
    const leases: WorkerLease[] = [];
    if (this.#desk.isClosed || this.#isClosing) return leases;
    this.#desk.inbox.pull();
    while (leases.length < most) {
      const lease = this.#desk.next();
      if (lease === undefined) break;
      leases.push(lease);
    }
    this.#desk.flush();
    this.#desk.inbox.tellTaken();
    return leases;
  }

  /** Waits for leases; [] when the frontier is finished or closed, or the time is over. */
  async take(
    options: { max?: number; timeoutMs?: number; signal?: AbortSignal } = {},
  ): Promise<WorkerLease[]> {
    const { max, waitMs, signal } = readTake(options);
    signal?.throwIfAborted();
    const leases = this.pollMany(max);
    const isOver = this.#desk.isClosed || this.#isClosing || waitMs === 0;
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

  /** URLs of nobody's page, as the owner's pushMany would take them; an answer per URL. */
  push(request: RequestLike): PushAnswer;
  push(requests: Iterable<RequestLike>): PushAnswer[];
  push(given: RequestLike | Iterable<RequestLike>): PushAnswer | PushAnswer[] {
    return this.#desk.pushOutside(given, this.#isClosing);
  }

  /**
   * Gives the seat up: what was said counts, leases not settled go back to the owner. Resolves when all of it has
   * gone over; nothing is taken from now on.
   */
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

  /** The owner hears by this that the thread lives, for as long as it sits here. */
  #beat(words: Int32Array, asked: Promise<unknown>): void {
    void asked.then(() => {
      if (!this.#desk.isClosed) this.#beat(words, beatMore(words));
    });
  }

  #leaveIfEmpty(): boolean {
    if (!this.#isClosing || this.#desk.holdsWords) return false;
    endWaiting(this.#waiting);
    this.#desk.leave();
    this.#hold.close();
    for (const resolve of this.#closings.splice(0)) resolve();
    return true;
  }

  #wake(): void {
    this.#desk.flush();
    if (this.#leaveIfEmpty()) return;
    while (this.#waiters.length > 0) {
      const waiter = this.#waiters[0] as Waiter;
      const leases = this.pollMany(waiter.max);
      if (leases.length === 0 && !this.#desk.isOver) break;
      this.#waiters.shift();
      waiter.release();
      waiter.resolve(leases);
    }
    if (this.#waiters.length === 0 && !this.#isClosing) this.#hold.unref();
    this.#rest();
  }

  /** Waits for the owner while there is something that it alone can bring about. */
  #rest(): void {
    const desk = this.#desk;
    waitFor(this.#waiting, () => {
      if (this.#waiters.length > 0 && (desk.inbox.hasMail() || desk.isOver)) return true;
      return desk.sender.kept.length > 0 && desk.hasRoom();
    });
  }
}

/** HandlerVisit: one handler at work on a lease, and the context passed to it. */
import type { RequestLike } from "../../base/request-types.ts";
import type { SeatClient } from "./seat-client.ts";
import type { PushAnswer, WorkerLease } from "./worker-lease.ts";

/** Passed to a handler beside its lease. */
export interface HandlerContext {
  /** Aborted when the lease ends, when `timeoutMs` is over, and when the pool stops. */
  readonly signal: AbortSignal;
  /** Number of the worker. */
  readonly workerId: number;
  /**
   * Pushes links of this page. They are canonicalised, hashed and filtered on this thread, and admitted with this
   * lease's `done`.
   */
  push(link: RequestLike): PushAnswer;
  push(links: Iterable<RequestLike>): PushAnswer[];
}

/** A function of a handler module. Returning finishes the lease, throwing retries it. */
export type Handler = (lease: WorkerLease, context: HandlerContext) => unknown;

/** Creates the signal on first access. */
export class HandlerVisit implements HandlerContext {
  readonly lease: WorkerLease;
  readonly workerId: number;
  untime: (() => void) | undefined;
  /** Its time is over; and whether it had not settled its lease by then. */
  isOverdue = false;
  isUnsettled = false;
  readonly #seatClient: SeatClient;
  #controller: AbortController | undefined;

  constructor(seatClient: SeatClient, lease: WorkerLease, workerId: number) {
    this.#seatClient = seatClient;
    this.lease = lease;
    this.workerId = workerId;
  }

  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    return this.#controller.signal;
  }

  push(link: RequestLike): PushAnswer;
  push(links: Iterable<RequestLike>): PushAnswer[];
  push(given: RequestLike | Iterable<RequestLike>): PushAnswer | PushAnswer[] {
    return this.#seatClient.push(this.lease, given);
  }

  abort(reason: string): void {
    this.#controller ??= new AbortController();
    this.#controller.abort(new Error(reason));
  }
}

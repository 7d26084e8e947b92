/** Visit: one handler at work on a lease, and what it is given for that. */
import type { RequestLike } from "../../base/request-types.ts";
import type { Desk } from "./desk.ts";
import type { PushAnswer, WorkerLease } from "./worker-lease.ts";

/** What a handler gets beside its lease. */
export interface HandlerContext {
  /** Aborted when the lease has run out, the time is over or the pool stops. */
  readonly signal: AbortSignal;
  readonly workerId: number;
  /** Links of this page: canonicalised, hashed and filtered here, admitted with this lease's done. */
  push(link: RequestLike): PushAnswer;
  push(links: Iterable<RequestLike>): PushAnswer[];
}

export type Handler = (lease: WorkerLease, context: HandlerContext) => unknown;

/** The signal is made when somebody looks at it. */
export class Visit implements HandlerContext {
  readonly lease: WorkerLease;
  readonly workerId: number;
  untime: (() => void) | undefined;
  /** Its time is over; and whether it had not settled its lease by then. */
  isOverdue = false;
  isUnsettled = false;
  readonly #desk: Desk;
  #controller: AbortController | undefined;

  constructor(desk: Desk, lease: WorkerLease, workerId: number) {
    this.#desk = desk;
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
    return this.#desk.push(this.lease, given);
  }

  abort(reason: string): void {
    this.#controller ??= new AbortController();
    this.#controller.abort(new Error(reason));
  }
}

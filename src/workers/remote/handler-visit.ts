/** HandlerVisit: one handler at work on a lease, and the context passed to it. */
import type { RequestInput, RequestLike } from "../../base/request-types.ts";
import type { Pushed } from "./found-links.ts";
import type { SeatClient } from "./seat-client.ts";
import type { PushAnswer, SendAnswer, WorkerLease } from "./worker-lease.ts";

/** Passed to a handler beside its lease. */
export interface HandlerContext<Data = unknown> {
  /** Aborted when the lease ends, when `timeoutMs` is over, and when the pool stops. */
  readonly signal: AbortSignal;
  /** Number of the worker. */
  readonly workerId: number;
  /**
   * Pushes links of this page. Relative ones are resolved against its URL, and `fields` supply what a request does not
   * set. Links are canonicalised, hashed and filtered on this thread, and admitted with this lease's `done`.
   */
  push(link: RequestLike<Data>, fields?: Partial<RequestInput<Data>>): PushAnswer;
  push(links: Iterable<RequestLike<Data>>, fields?: Partial<RequestInput<Data>>): PushAnswer[];
  /**
   * Sends a value to the owner, where the pool emits it as the event `message`: an item, progress, anything that msgpack
   * can carry. Throws `ARGUMENT_INVALID` for any other value.
   *
   * Values of one thread arrive in the order in which they were sent, and before the `done` of their page is applied.
   * They go through the thread's ring of 512 KiB and are stored nowhere else: `"full"` means that the owner has not read
   * for a while; wait and send again. A page that is visited twice sends twice. Values sent before a thread dies arrive.
   */
  send(value: unknown): SendAnswer;
}

/**
 * A function of a handler module. Returning finishes the lease, throwing retries it. `Data` is the type of the `data`
 * that its requests carry.
 */
export type Handler<Data = unknown> = (
  lease: WorkerLease<Data>,
  context: HandlerContext<Data>,
) => unknown;

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

  push(link: RequestLike, fields?: Partial<RequestInput>): PushAnswer;
  push(links: Iterable<RequestLike>, fields?: Partial<RequestInput>): PushAnswer[];
  push(given: Pushed, fields?: Partial<RequestInput>): PushAnswer | PushAnswer[] {
    return this.#seatClient.push(this.lease, given, fields);
  }

  send(value: unknown): SendAnswer {
    return this.#seatClient.send(this.lease, value);
  }

  abort(reason: string): void {
    this.#controller ??= new AbortController();
    this.#controller.abort(new Error(reason));
  }
}

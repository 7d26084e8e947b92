/**
 * CallHandler: makes the calls that come from another thread, and answers each in plain data. The owner's
 * thread has one (owner-thread.ts); the caller's has one too, at a frontier that is closed, for what it is asked after the end
 * (closed-frontier.ts).
 *
 *   I1  A lease that was settled, or whose time is over, is forgotten. A later call on it is made on a spent one:
 *       its arguments are checked, and it is late, as for a caller who still holds the lease itself.
 *   I2  A source that is fed here is read to its end, or dropped when the frontier closes: no call waits for ever.
 */
import { createSystemClock } from "../../base/clock.ts";
import { type Crossing, FRONTIER_METHODS, HOST_METHODS, LEASE_METHODS } from "./thread-methods.ts";
import {
  type Call,
  plainCause,
  type PlainItems,
  type PlainLease,
  plainLease,
  plainResult,
  type EventMessage,
} from "./thread-messages.ts";
import type {
  Frontier,
  FrontierEvents,
  FrontierFault,
  Lease,
  RequestLike,
} from "../types/frontier-types.ts";

/** Hand-outs between two searches for leases that ran out and were never settled. */
const SWEEP_COUNT = 4_096;
/** Items of an iterable that go in one message. */
const ITEMS_COUNT = 256;
/** A lease is remembered for so long after its end. */
const LATE_MS = 60_000;

type Method = (...args: unknown[]) => unknown;

/** Requests that are fed into a pushFrom batch by batch. */
interface Source {
  readonly batches: Batch[];
  readonly aborting: AbortController;
  wake: (() => void) | undefined;
}

interface Batch {
  /** undefined: there are no more. */
  readonly list: readonly RequestLike[] | undefined;
  /** Called with whether the pushFrom has read it. */
  readonly taken: (isTaken: boolean) => void;
}

/** An event that has a listener on the other thread. */
interface Listening {
  /** The number of the last one who came to listen. */
  since: number;
  off: () => void;
}

interface CallHandlerParts {
  readonly frontier: Frontier;
  /** A lease that is late in every call. */
  readonly spent: Lease;
  readonly send: (message: EventMessage) => void;
}

export class CallHandler {
  readonly #frontier: Frontier;
  readonly #send: (message: EventMessage) => void;
  readonly #clock = createSystemClock();
  readonly #leases = new Map<number, Lease>();
  /** The last lease that was forgotten (I1). */
  #spent: Lease;
  readonly #sources = new Map<number, Source>();
  readonly #takes = new Map<number, AbortController>();
  readonly #items = new Map<number, Iterator<unknown>>();
  readonly #listening = new Map<string, Listening>();
  #count = 0;

  constructor({ frontier, spent, send }: CallHandlerParts) {
    this.#frontier = frontier;
    this.#spent = spent;
    this.#send = send;
  }

  /** The result of the call, or a promise of it; throws what it throws. */
  handle(call: Call): unknown {
    if (call.on === "lease") return this.#ofLease(call);
    if (call.on === "host") return this.#ofHost(call);
    if (call.on === "source") return this.#ofSource(call);
    if (call.on === "items") return this.#ofItems(call);
    return this.#ofFrontier(call);
  }

  #ofFrontier(call: Call): unknown {
    const { method, args } = call;
    const frontier = this.#frontier;
    switch (method) {
      case "take":
        return this.#take(call);
      case "cancel":
        return this.#takes.get(args[0] as number)?.abort();
      case "done":
        return this.#doneMany(args[0] as number[]);
      case "setState":
        frontier.state = args[0] as Record<string, unknown>;
        return undefined;
      case "listen":
        return this.#listen(args[0] as keyof FrontierEvents, args[1] as number | undefined);
      case "close":
        return frontier.close(args[0] as object).then(() => this.#releaseSource());
      default:
        return this.#answer(FRONTIER_METHODS, call, frontier);
    }
  }

  /** The result of a member of an object, packed as the list has it. */
  #answer(table: Readonly<Record<string, Crossing>>, { method, args }: Call, of: object): unknown {
    const member = (of as Record<string, unknown>)[method];
    const answer = typeof member === "function" ? (member as Method).apply(of, [...args]) : member;
    const pack = table[method]?.pack;
    return pack === undefined ? answer : pack(answer as never, this.#lend);
  }

  async #take({ id, args }: Call): Promise<unknown> {
    const controller = new AbortController();
    this.#takes.set(id, controller);
    try {
      const options = { ...(args[0] as object), signal: controller.signal };
      return (await this.#frontier.take(options)).map(this.#lend);
    } finally {
      this.#takes.delete(id);
    }
  }

  readonly #lend = (lease: Lease): PlainLease => {
    this.#count++;
    if (this.#count % SWEEP_COUNT === 0) this.#sweep();
    this.#leases.set(this.#count, lease);
    return plainLease(lease, this.#count);
  };

  #sweep(): void {
    const nowMs = this.#clock.now();
    for (const [number, lease] of this.#leases) {
      if (lease.deadlineMs + LATE_MS < nowMs) this.#forget(number);
    }
  }

  #forget(number: number): void {
    this.#spent = this.#leases.get(number) ?? this.#spent;
    this.#leases.delete(number);
  }

  #doneMany(numbers: ReadonlyArray<number | undefined>): number {
    const leases = numbers.map((number) => this.#leases.get(number as number) ?? this.#spent);
    const count = this.#frontier.done(leases);
    // Where the disk refuses, nothing comes here: they live on.
    for (const number of numbers) this.#forget(number as number);
    return count;
  }

  #ofLease(call: Call): unknown {
    const number = call.key as number;
    const { method } = call;
    const own = this.#leases.get(number);
    const lease = own ?? this.#spent;
    if (method === "dispose") lease[Symbol.dispose]();
    const value = method === "dispose" ? undefined : this.#answer(LEASE_METHODS, call, lease);
    if (own === undefined) return { value };
    if (method !== "redirect" && method !== "extend") this.#forget(number);
    return { value, deadlineMs: own.deadlineMs };
  }

  #ofHost(call: Call): unknown {
    const { key, method, args } = call;
    const host = this.#frontier.host(key as string);
    if (method === "set") Object.assign(host, args[0]);
    if (method === "set") return undefined;
    if (method !== "view") return this.#answer(HOST_METHODS, call, host);
    const { blockUntil: _, hold: __, unhold: ___, ...facts } = host;
    return facts;
  }

  /** The next items of an iterable; `more` of one that is over, or was left, returns none. */
  #ofItems({ key, method, args }: Call): PlainItems {
    const number = key as number;
    if (method === "records")
      this.#items.set(number, each(this.#frontier.records(args[0] as object)));
    if (method === "epochs") this.#items.set(number, each(this.#frontier.epochs()));
    const iterator = this.#items.get(number);
    const items: unknown[] = [];
    let isLast = iterator === undefined || method === "leave";
    while (iterator !== undefined && !isLast && items.length < ITEMS_COUNT) {
      const { done, value } = iterator.next();
      if (done === true) isLast = true;
      else items.push(value);
    }
    if (isLast) this.#items.delete(number);
    return { items, isLast };
  }

  /**
   * open: a pushFrom begins, and is answered when it ends; feed: one batch more, answered when it was read, true, or never will be;
   * abort: it ends.
   */
  #ofSource({ key, method, args }: Call): unknown {
    const number = key as number;
    if (method === "open") {
      const source: Source = { batches: [], aborting: new AbortController(), wake: undefined };
      const { signal } = source.aborting;
      const result = this.#frontier.pushFrom(fedBy(source), { ...(args[0] as object), signal });
      this.#sources.set(number, source);
      return result.then(plainResult).finally(() => {
        this.#sources.delete(number);
        for (const { taken } of source.batches.splice(0)) taken(false);
      });
    }
    const source = this.#sources.get(number);
    if (source === undefined) return false;
    if (method === "abort") return source.aborting.abort();
    return new Promise<boolean>((taken) => {
      feed(source, { list: args[0] as RequestLike[] | undefined, taken });
    });
  }

  /** The frontier is closed: no source is waited for (I2). */
  #releaseSource(): void {
    for (const source of this.#sources.values()) {
      feed(source, { list: undefined, taken: () => undefined });
    }
  }

  /** `since`: the number of the last listener, undefined: none is left. */
  #listen(event: keyof FrontierEvents, since: number | undefined): void {
    const before = this.#listening.get(event);
    if (since === undefined) {
      before?.off();
      this.#listening.delete(event);
    } else if (before !== undefined) before.since = since;
    else {
      const listening: Listening = { since, off: () => undefined };
      this.#listening.set(event, listening);
      const listener = (payload: unknown): void => {
        const plain = event === "error" ? plainFault(payload) : payload;
        this.#send({ event, payload: plain, since: listening.since });
      };
      listening.off = this.#frontier.on(event, listener);
    }
  }
}

function each<T>(items: Iterable<T>): Iterator<T> {
  return items[Symbol.iterator]();
}

function feed(source: Source, batch: Batch): void {
  source.batches.push(batch);
  source.wake?.();
}

async function* fedBy(source: Source): AsyncIterable<RequestLike> {
  for (;;) {
    const batch = source.batches.shift();
    if (batch === undefined) {
      await new Promise<void>((resolve) => {
        source.wake = resolve;
      });
      continue;
    }
    try {
      if (batch.list !== undefined) yield* batch.list;
    } finally {
      batch.taken(true); // also where the pushFrom ends amid it
    }
    if (batch.list === undefined) return;
  }
}

function plainFault(payload: unknown): unknown {
  const fault = payload as FrontierFault;
  return { ...fault, cause: plainCause(fault.cause) };
}

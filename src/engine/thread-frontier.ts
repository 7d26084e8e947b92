/**
 * The frontier that `openFrontierThread` returns: its owner is a thread of its own, so that no call of it holds this thread's event loop.
 *
 *   this thread: call ── message ──▶ owner's thread: Frontier (thread-owner.ts)
 *        promise ◀── answer ───────┘        └─ share() ─▶ attach(handle) in workers: rings, no message
 *
 * Calls are made in the order in which they were sent. Its methods are made from one list (thread-methods.ts); here stand those that do
 * something on this thread as well. What has functions in it (hooks, a clock, rules with functions) can not be sent, and is refused by name.
 */
import { readClose, readList, readTake, type TakeOptions } from "../base/arguments.ts";
import type { Worker } from "node:worker_threads";
import { misuse } from "../base/errors.ts";
import { isMadeBy } from "../base/kinds.ts";
import { readListening } from "../base/listening.ts";
import type { AsyncFrontier, AsyncHost, AsyncLease } from "./async-frontier.ts";
import { checkEvent, type EventHub } from "./events.ts";
import { checkHostKey } from "./host-view.ts";
import { iterate } from "./iterate.ts";
import { ThreadLease, threadLease } from "./thread-lease.ts";
import type { Line } from "./thread-line.ts";
import { FRONTIER_METHODS, HOST_METHODS, methodsOf } from "./thread-methods.ts";
import type { PlainItems, PlainLease, Told } from "./thread-protocol.ts";
import { pushFromHere } from "./thread-source.ts";
import type { EpochView, FrontierEvents, FrontierHandle, RecordView } from "./types.ts";

/** The event that listeners are being told of. */
export interface Hearing {
  told: Told | undefined;
}

/** What opening one has made (open-thread.ts). */
export interface ThreadParts {
  readonly line: Line;
  readonly worker: Worker;
  /** Who listens on this thread. */
  readonly events: EventHub;
  /** Handles given out: told of it when the owner dies. */
  readonly handles: FrontierHandle[];
  readonly hearing: Hearing;
}

type Methods = Pick<AsyncFrontier, Exclude<keyof typeof FRONTIER_METHODS, "done">>;

export function threadFrontier(name: string, parts: ThreadParts): AsyncFrontier {
  const { line, worker, handles } = parts;
  const own = (plain: PlainLease): AsyncLease => threadLease(line, plain);
  const all = methodsOf(FRONTIER_METHODS, (method, args, crossing) =>
    line.cross({ on: "frontier", key: 0, method, args }, crossing, own),
  );
  const methods = all as unknown as Methods;
  const listen = createListen(parts);
  let sourceCount = 0;
  let itemsCount = 0;
  let closing: Promise<void> | undefined;

  const take: AsyncFrontier["take"] = (options = {}) => takeFrom(line, methods, options);
  const itemsOf = <T>(method: string, args: readonly unknown[]): AsyncIterable<T> => ({
    [Symbol.asyncIterator]: () => items<T>(line, { key: ++itemsCount, method, args }),
  });
  const close = async (options: { discard?: boolean } = {}): Promise<void> => {
    const discard = readClose(options);
    if (line.hasEnded) return;
    closing ??= line.close({ discard }).then(
      () => worker.terminate().then(() => undefined),
      (cause) => {
        closing = undefined; // the disk refused: it is open as before
        throw cause;
      },
    );
    await closing;
  };
  return {
    ...methods,
    name,
    poll: async () => (await methods.pollMany(1))[0],
    take,
    pushFrom: async (source, options = {}) =>
      pushFromHere({ line, key: ++sourceCount }, source, options),
    done: async (leases) => (all.done as AsyncFrontier["done"])(numbersOf(line, leases) as never),
    records: (...args) => itemsOf<RecordView>("records", args),
    epochs: () => itemsOf<EpochView>("epochs", []),
    host: (key) => hostOf(line, key),
    on(event, listener, options) {
      checkEvent(event);
      const add = readListening(listener, options);
      line.need();
      return add((own) => listen(event, own));
    },
    share: async () => {
      const handle = await methods.share();
      // One memory, however often it is asked for.
      if (handles.length === 0) handles.push(handle);
      return handle;
    },
    close,
    [Symbol.asyncIterator]: () => iterate((signal) => take({ signal })),
    [Symbol.asyncDispose]: () => close(),
  };
}

/** The signal stays here: where it aborts, the owner is told that nobody waits any more. */
async function takeFrom(line: Line, methods: Methods, given: TakeOptions): Promise<AsyncLease[]> {
  const { max, waitMs, signal } = readTake(given);
  signal?.throwIfAborted();
  const cancel = { on: "frontier", key: 0, method: "cancel", args: [line.nextId] } as const;
  const onAbort = (): void => void line.call(cancel).catch(() => undefined);
  signal?.addEventListener("abort", onAbort);
  try {
    return await methods.take(waitMs === undefined ? { max } : { max, timeoutMs: waitMs });
  } catch (cause) {
    signal?.throwIfAborted();
    throw cause;
  } finally {
    signal?.removeEventListener("abort", onAbort);
  }
}

function numbersOf(line: Line, leases: Iterable<AsyncLease>): Array<number | undefined> {
  const list = readList(leases, "leases", "a list of leases");
  return list.map((lease, index) => {
    if (isMadeBy(lease, ThreadLease)) return lease.numberOn(line);
    throw misuse("ARGUMENT_INVALID", `leases[${index}]`, lease, "a lease");
  });
}

/** What an iterable of the owner's gives, some hundred at a time. */
async function* items<T>(
  line: Line,
  what: { key: number; method: string; args: readonly unknown[] },
): AsyncGenerator<T, void, undefined> {
  let isLast = false;
  try {
    while (!isLast) {
      const next = (await line.call({ on: "items", ...what })) as PlainItems;
      isLast = next.isLast;
      yield* next.items as readonly T[];
      what = { ...what, method: "more", args: [] };
    }
  } finally {
    const leave = { on: "items", key: what.key, method: "leave", args: [] } as const;
    if (!isLast) void line.call(leave).catch(() => undefined);
  }
}

function hostOf(line: Line, key: string): AsyncHost {
  checkHostKey(key);
  line.need();
  return methodsOf(HOST_METHODS, (method, args, crossing) =>
    line.cross({ on: "host", key, method, args }, crossing),
  ) as unknown as AsyncHost;
}

type Listen = (event: keyof FrontierEvents, listener: (payload: never) => unknown) => () => void;

/** Listeners are told a message after the call that caused it, of calls that come after them. */
function createListen({ line, events, hearing }: ThreadParts): Listen {
  let count = 0;
  const tell = (...args: readonly unknown[]): void => {
    void line.call({ on: "frontier", key: 0, method: "listen", args }).catch(() => undefined);
  };
  return (event, listener) => {
    const number = ++count;
    tell(event, number);
    const off = events.on(event, (payload) => {
      // What was under way as it came is not for it, however long that takes to come.
      const { told } = hearing;
      if (told?.payload === payload && told.since < number) return;
      return listener(payload);
    });
    return () => {
      const had = events.has(event);
      off();
      if (had && !events.has(event)) tell(event, undefined);
    };
  };
}

/**
 * The frontier that `openFrontierThread` returns: its owner is a thread of its own, so that no call of it blocks this thread's event
 * loop.
 *
 *   this thread: call ── message ──▶ owner's thread: Frontier (owner-thread.ts)
 *        promise ◀── answer ───────┘        └─ share() ─▶ attach(handle) in workers: rings, no message
 *
 * Calls are made in the order in which they were sent. Its methods are made from one list (thread-methods.ts); this file has those that
 * also do something on this thread. What has functions in it (hooks, a clock, rules with functions) can not be sent, and is refused by
 * name.
 */
import { readClose, readList, readTake, type TakeOptions } from "../../base/argument-checks.ts";
import type { Worker } from "node:worker_threads";
import { misuse } from "../../base/errors.ts";
import { isMadeBy } from "../../base/type-guards.ts";
import { readListening } from "../../base/listen-options.ts";
import type { AsyncFrontier, AsyncHost, AsyncLease } from "../types/async-frontier.ts";
import { checkEvent, type EventHub } from "../event-hub.ts";
import { checkHostKey } from "../queries/host-view.ts";
import { iterate } from "../leases/iterate-leases.ts";
import { ThreadLease, threadLease } from "./thread-lease.ts";
import type { CallChannel } from "./call-channel.ts";
import { FRONTIER_METHODS, HOST_METHODS, methodsOf } from "./thread-methods.ts";
import type { PlainItems, PlainLease, EventMessage } from "./thread-messages.ts";
import { pushFromThread } from "./thread-push-from.ts";
import type {
  EpochView,
  FrontierEvents,
  FrontierHandle,
  RecordView,
} from "../types/frontier-types.ts";

/** The event that listeners are being called with. */
export interface EventInDelivery {
  message: EventMessage | undefined;
}

/** What opening one has made (open-frontier-thread.ts). */
export interface ThreadParts {
  readonly channel: CallChannel;
  readonly worker: Worker;
  /** Who listens on this thread. */
  readonly events: EventHub;
  /** Handles given out: notified when the owner dies. */
  readonly handles: FrontierHandle[];
  readonly inDelivery: EventInDelivery;
}

type Methods = Pick<AsyncFrontier, Exclude<keyof typeof FRONTIER_METHODS, "done">>;

export function threadFrontier(name: string, parts: ThreadParts): AsyncFrontier {
  const { channel, worker, handles } = parts;
  const own = (plain: PlainLease): AsyncLease => threadLease(channel, plain);
  const all = methodsOf(FRONTIER_METHODS, (method, args, crossing) =>
    channel.cross({ on: "frontier", key: 0, method, args }, crossing, own),
  );
  const methods = all as unknown as Methods;
  const listen = createListen(parts);
  let sourceCount = 0;
  let itemsCount = 0;
  let closing: Promise<void> | undefined;

  const take: AsyncFrontier["take"] = (options = {}) => takeFrom(channel, methods, options);
  const itemsOf = <T>(method: string, args: readonly unknown[]): AsyncIterable<T> => ({
    [Symbol.asyncIterator]: () => items<T>(channel, { key: ++itemsCount, method, args }),
  });
  const close = async (options: { discard?: boolean | undefined } = {}): Promise<void> => {
    const discard = readClose(options);
    if (channel.hasEnded) return;
    closing ??= channel.close({ discard }).then(
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
      pushFromThread({ channel, key: ++sourceCount }, source, options),
    done: async (leases) =>
      (all.done as AsyncFrontier["done"])(numbersOf(channel, leases) as never),
    records: (...args) => itemsOf<RecordView>("records", args),
    epochs: () => itemsOf<EpochView>("epochs", []),
    host: (key) => hostOf(channel, key),
    on(event, listener, options) {
      checkEvent(event);
      const add = readListening(listener, options);
      channel.need();
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

/** The signal stays here: where it aborts, the owner is notified that the caller waits no longer. */
async function takeFrom(
  channel: CallChannel,
  methods: Methods,
  given: TakeOptions,
): Promise<AsyncLease[]> {
  const { max, waitMs, signal } = readTake(given);
  signal?.throwIfAborted();
  const cancel = { on: "frontier", key: 0, method: "cancel", args: [channel.nextId] } as const;
  const onAbort = (): void => void channel.call(cancel).catch(() => undefined);
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

function numbersOf(channel: CallChannel, leases: Iterable<AsyncLease>): Array<number | undefined> {
  const list = readList(leases, "leases", "a list of leases");
  return list.map((lease, index) => {
    if (isMadeBy(lease, ThreadLease)) return lease.numberOn(channel);
    throw misuse("ARGUMENT_INVALID", `leases[${index}]`, lease, "a lease");
  });
}

/** The items of an iterable of the owner's, some hundred at a time. */
async function* items<T>(
  channel: CallChannel,
  what: { key: number; method: string; args: readonly unknown[] },
): AsyncGenerator<T, void, undefined> {
  let isLast = false;
  try {
    while (!isLast) {
      const next = (await channel.call({ on: "items", ...what })) as PlainItems;
      isLast = next.isLast;
      yield* next.items as readonly T[];
      what = { ...what, method: "more", args: [] };
    }
  } finally {
    const leave = { on: "items", key: what.key, method: "leave", args: [] } as const;
    if (!isLast) void channel.call(leave).catch(() => undefined);
  }
}

function hostOf(channel: CallChannel, key: string): AsyncHost {
  checkHostKey(key);
  channel.need();
  return methodsOf(HOST_METHODS, (method, args, crossing) =>
    channel.cross({ on: "host", key, method, args }, crossing),
  ) as unknown as AsyncHost;
}

type Listen = (event: keyof FrontierEvents, listener: (payload: never) => unknown) => () => void;

/** Listeners are called by a message after the call that caused it, for calls that come after them. */
function createListen({ channel, events, inDelivery }: ThreadParts): Listen {
  let count = 0;
  const announce = (...args: readonly unknown[]): void => {
    void channel.call({ on: "frontier", key: 0, method: "listen", args }).catch(() => undefined);
  };
  return (event, listener) => {
    const number = ++count;
    announce(event, number);
    const off = events.on(event, (payload) => {
      // What was under way as it came is not for it, however long that takes to come.
      const { message } = inDelivery;
      if (message?.payload === payload && message.since < number) return;
      return listener(payload);
    });
    return () => {
      const had = events.has(event);
      off();
      if (had && !events.has(event)) announce(event, undefined);
    };
  };
}

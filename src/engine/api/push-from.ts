/** pushFrom: a source of any length pushed in slices, waiting where the frontier is full. */
import { readPushFromFields } from "../../base/argument-checks.ts";
import { misuse } from "../../base/errors.ts";
import { hasFunction } from "../../base/type-guards.ts";
import {
  VERDICT_CLOSED,
  VERDICT_FULL,
  VERDICT_FULL_MEMORY,
  VERDICTS,
} from "../../frontier/admission/verdicts.ts";
import type { Lifecycle } from "../lifecycle/lifecycle.ts";
import { pushResult } from "../intake/push-result.ts";
import { nextTurn } from "../next-turn.ts";
import type { Frontier, PushResult, RequestLike } from "../types/frontier-types.ts";

/** Requests of one slice: under a millisecond of work at the speed of a batch. */
const BATCH = 1_000;

/** Verdict codes of all slices so far. */
interface Codes {
  bytes: Uint8Array;
  count: number;
}

export interface PushFromOptions {
  batch?: number | undefined;
  signal?: AbortSignal | undefined;
}

export async function pushFrom(
  frontier: Frontier,
  lifecycle: Lifecycle,
  source: AsyncIterable<RequestLike> | Iterable<RequestLike>,
  options: PushFromOptions,
): Promise<PushResult> {
  const { batch, signal } = readPushFrom(source, options);
  lifecycle.need();
  const codes: Codes = { bytes: new Uint8Array(BATCH), count: 0 };
  const abort = abortOf(signal);
  lifecycle.sources++;
  try {
    const work = { codes, abort, signal };
    for await (const slice of slicesOf(source, batch, abort)) {
      await pushSlice(frontier, lifecycle, { ...work, slice });
      if (lifecycle.isClosed) break;
      await nextTurn();
    }
  } finally {
    abort.leave();
    lifecycle.sources--;
    lifecycle.end(lifecycle.clock.now());
  }
  return pushResult(codes.bytes.subarray(0, codes.count));
}

/** What pushFrom was asked for. */
export function readPushFrom(
  source: unknown,
  options: PushFromOptions,
): { batch: number; signal: AbortSignal | undefined } {
  const { batch = BATCH, signal } = readPushFromFields(options);
  if (!isSource(source)) {
    throw misuse("ARGUMENT_INVALID", "source", source, "an iterable or async iterable of requests");
  }
  return { batch, signal };
}

/**
 * Slices of a source: full ones while it has requests ready, and shorter ones as soon as it must be awaited, so that a source that never
 * ends (a queue, a socket) is not held back by the size of a slice.
 */
export async function* slicesOf(
  source: AsyncIterable<RequestLike> | Iterable<RequestLike>,
  batch: number,
  abort: Abort,
): AsyncGenerator<RequestLike[], void, undefined> {
  const iterator =
    Symbol.asyncIterator in source ? source[Symbol.asyncIterator]() : source[Symbol.iterator]();
  if (!hasFunction(iterator, "next")) {
    throw misuse("ARGUMENT_INVALID", "source", source, "an iterable whose iterator has `next`");
  }
  let isOver = false;
  let slice: RequestLike[] = [];
  try {
    while (!isOver) {
      slice = [];
      let next = await abort.race(iterator.next());
      const turn = new Promise<undefined>((resolve) => setImmediate(resolve, undefined));
      for (;;) {
        if (next.done) isOver = true;
        else slice.push(next.value);
        if (isOver || slice.length === batch) break;
        const asked = iterator.next();
        const answer = asked instanceof Promise ? await Promise.race([asked, turn]) : asked;
        if (answer === undefined) {
          if (slice.length > 0) yield slice.splice(0);
          next = await abort.race(asked);
        } else next = answer;
      }
      if (slice.length > 0) yield slice;
    }
    isOver = true;
  } catch (cause) {
    if (slice.length > 0) yield slice.splice(0); // the source had given them before it broke
    throw cause;
  } finally {
    if (!isOver) void Promise.resolve(iterator.return?.()).catch(() => undefined);
  }
}

interface Abort {
  /** A step, or what the signal rejects it with meanwhile; one step at a time. */
  readonly race: <T>(step: T | Promise<T>) => T | Promise<T>;
  readonly leave: () => void;
}

/** What ends the steps of a pushFrom. A signal outlives them: it rejects the one that is under way, and keeps nothing of the others. */
export function abortOf(signal: AbortSignal | undefined): Abort {
  if (signal === undefined) return { race: (step) => step, leave: () => undefined };
  signal.throwIfAborted();
  let reject: (reason: unknown) => void = () => undefined;
  const onAbort = (): void => reject(signal.reason);
  signal.addEventListener("abort", onAbort);
  const race = <T>(step: T | Promise<T>): Promise<T> => {
    if (signal.aborted) return Promise.race([step, Promise.reject(signal.reason)]);
    return new Promise<T>((resolve, rejectStep) => {
      reject = rejectStep;
      Promise.resolve(step).then(resolve, rejectStep);
    });
  };
  return { race, leave: () => signal.removeEventListener("abort", onAbort) };
}

interface Work {
  slice: RequestLike[];
  codes: Codes;
  abort: Abort;
  signal: AbortSignal | undefined;
}

/** Pushes a slice as far as there is room, one more to learn that there is none, and waits for more. */
async function pushSlice(frontier: Frontier, lifecycle: Lifecycle, work: Work): Promise<void> {
  const { slice, codes, abort, signal } = work;
  const places = keep(codes, slice.length);
  let left = slice.map((_, index) => index);
  while (left.length > 0 && !lifecycle.isClosed) {
    signal?.throwIfAborted();
    const some = left.splice(0, Math.max(lifecycle.roomCount, 1));
    const result = frontier.pushMany(some.map((index) => slice[index] as RequestLike));
    let full = 0;
    const again = some.filter((index, at) => {
      const code = VERDICTS.indexOf(result.verdict(at));
      codes.bytes[places + index] = code;
      const isFull = code === VERDICT_FULL || code === VERDICT_FULL_MEMORY;
      if (isFull) full = code;
      return isFull;
    });
    if (again.length === 0 || lifecycle.isClosed) continue;
    left = [...again, ...left];
    const { promise, leave } = lifecycle.room(full === VERDICT_FULL_MEMORY);
    try {
      await abort.race(promise);
    } finally {
      leave();
    }
  }
}

function keep(codes: Codes, count: number): number {
  const start = codes.count;
  codes.count += count;
  if (codes.count > codes.bytes.length) {
    const bytes = new Uint8Array(Math.max(codes.count, codes.bytes.length * 2));
    bytes.set(codes.bytes);
    codes.bytes = bytes;
  }
  codes.bytes.fill(VERDICT_CLOSED, start, codes.count);
  return start;
}

function isSource(source: unknown): boolean {
  return hasFunction(source, Symbol.asyncIterator) || hasFunction(source, Symbol.iterator);
}

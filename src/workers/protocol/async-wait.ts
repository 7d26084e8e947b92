/**
 * Asynchronous wait: a thread whose event loop must live waits on its parking word by Atomics.waitAsync.
 *
 *   I1  One wait is under way at most. Who is told to wait again while it is, only says PARKED again: a second one on
 *       the same word would take the notify that was meant for the first.
 */
import { PARK_PARKED, parkBegin, parkEnd, unpark } from "../../memory/parking.ts";

export interface Waiting {
  readonly words: Int32Array;
  readonly at: number;
  readonly wake: () => void;
  isUnderWay: boolean;
  isClosed: boolean;
}

export function createWaiting(words: Int32Array, at: number, wake: () => void): Waiting {
  return { words, at, wake, isUnderWay: false, isClosed: false };
}

/** Calls `wake` once somebody unparks, soon where `hasWork` says that there is something already. */
export function waitFor(waiting: Waiting, hasWork: () => boolean): void {
  const { words, at } = waiting;
  if (waiting.isClosed) return;
  parkBegin(words, at);
  if (hasWork()) {
    parkEnd(words, at);
    setImmediate(waiting.wake);
    return;
  }
  if (waiting.isUnderWay) return;
  const { async, value } = Atomics.waitAsync(words, at, PARK_PARKED); // pairs with unpark
  if (!async) {
    setImmediate(waiting.wake);
    return;
  }
  waiting.isUnderWay = true;
  void value.then(() => {
    waiting.isUnderWay = false;
    if (!waiting.isClosed) waiting.wake();
  });
}

/** No more waits; one that is under way ends without a word. */
export function endWaiting(waiting: Waiting): void {
  waiting.isClosed = true;
  unpark(waiting.words, waiting.at);
}

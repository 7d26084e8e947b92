/**
 * Asynchronous wait: a thread with an event loop waits on its parking word by Atomics.waitAsync.
 *
 *   I1  There is at most one wait at a time. A call during a wait only stores PARKED again: a second wait on the same
 *       word would take the notification meant for the first.
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

/** Calls `wake` after an unpark, or soon when `hasWork` returns true. */
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

/** Ends waiting; a wait in progress ends without a call of `wake`. */
export function endWaiting(waiting: Waiting): void {
  waiting.isClosed = true;
  unpark(waiting.words, waiting.at);
}

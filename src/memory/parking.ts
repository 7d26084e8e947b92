/**
 * Parking: a thread without work sleeps on one word, and the thread that hands it work wakes it.
 *
 *   waiter                                      waker
 *     parkBegin: word = PARKED                    publish the work
 *     checks for work once more                   unpark: word = PARKED?
 *       some ─▶ parkEnd: word = AWAKE               yes ─▶ word = AWAKE by exchange, one notify
 *       none ─▶ parkWait, while PARKED              no  ─▶ nothing: no system call
 *
 *   word       written by                   meaning
 *   park       waiter (store)               PARK_PARKED before its last check, PARK_AWAKE after
 *              any waker (atomic exchange)  PARK_AWAKE: exactly one waker notifies
 *
 *   I1  No wake-up is lost: the waiter stores, then checks; the waker publishes, then checks. Both are sequentially consistent, so
 *       at least one sees the other; and a waiter sleeps only while the word is still PARKED.
 *   I2  A thread that is awake costs its wakers one load.
 *
 * The owner's thread must not sleep: it waits on the same word with Atomics.waitAsync (workers/protocol/async-wait.ts).
 */

export const PARK_AWAKE = 0;
export const PARK_PARKED = 1;

/** How often a waiter checks before it parks: about two microseconds, less than a wake-up costs. */
export const PARK_SPINS = 200;

/** Marks this thread as about to sleep; it must check for work once more before parkWait. Waiter only. */
export function parkBegin(words: Int32Array, at: number): void {
  Atomics.store(words, at, PARK_PARKED); // pairs with the load in unpark
}

/** Marks this thread as awake. Waiter only. */
export function parkEnd(words: Int32Array, at: number): void {
  Atomics.store(words, at, PARK_AWAKE);
}

/** Sleeps until another thread unparks it or the time is over; returns at once if it was already unparked. Waiter only. */
export function parkWait(words: Int32Array, at: number, timeoutMs: number): void {
  Atomics.wait(words, at, PARK_PARKED, timeoutMs); // pairs with the notify in unpark
  Atomics.store(words, at, PARK_AWAKE);
}

/** Wakes the waiter if it is parked, and returns whether it was. The caller must have published the work before. @hot */
export function unpark(words: Int32Array, at: number): boolean {
  if (Atomics.load(words, at) !== PARK_PARKED) return false; // pairs with parkBegin
  if (Atomics.exchange(words, at, PARK_AWAKE) !== PARK_PARKED) return false;
  Atomics.notify(words, at, 1); // pairs with the wait in parkWait
  return true;
}

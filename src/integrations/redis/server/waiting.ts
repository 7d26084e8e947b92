/** Waits and random numbers of the frontier on Redis, by the clock and the generator of `base`. */
import { after, createSystemClock } from "../../../base/clock.ts";
import { entropyWords } from "../../../base/random.ts";

/** The machine's clock. */
export const MACHINE = Object.freeze(createSystemClock());

/** Resolves after so many milliseconds. */
export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => void after(ms, resolve));
}

/** What ends each wait at once. */
export type Waits = Set<(cause: unknown) => void>;

/** What a promise rejects with whose answer did not come in time. */
export const TOO_LATE: Error = new Error("no answer in time");

/**
 * Settles as `answer` does, or rejects with `TOO_LATE` after so many milliseconds, or as one of `waits` is ended; an answer that comes
 * later is dropped.
 */
export function withinMs<T>(ms: number, answer: Promise<T>, waits: Waits = new Set()): Promise<T> {
  return new Promise((resolve, reject) => {
    const leave = (): void => {
      cancel();
      waits.delete(end);
    };
    const end = (cause: unknown): void => {
      leave();
      reject(cause);
    };
    const cancel = after(Math.max(ms, 0), () => end(TOO_LATE));
    waits.add(end);
    answer.then(resolve, reject).finally(leave);
  });
}

/** Bytes from the platform, unpredictable. */
export function randomBytes(words: number): Buffer {
  const { buffer } = entropyWords(words);
  return Buffer.from(buffer);
}

/** A number in [0, 1). */
export function chance(): number {
  return (entropyWords(1)[0] as number) / 2 ** 32;
}

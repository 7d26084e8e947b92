/** Waits and chance of the frontier on Redis, over the clock and the random numbers of the base. */
import { after, createSystemClock } from "../../../base/clock.ts";
import { entropyWords } from "../../../base/random.ts";

/** The machine's clock. */
export const MACHINE = Object.freeze(createSystemClock());

/** Resolves after so many milliseconds. */
export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => void after(ms, resolve));
}

/** What a promise rejects with whose answer did not come in time. */
export const TOO_LATE: Error = new Error("no answer in time");

/** Settles as `answer` does, or rejects with `TOO_LATE` after so many milliseconds; an answer that comes later is dropped. */
export function withinMs<T>(ms: number, answer: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const cancel = after(Math.max(ms, 0), () => reject(TOO_LATE));
    answer.then(resolve, reject).finally(cancel);
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

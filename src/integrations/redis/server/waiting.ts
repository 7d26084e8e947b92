/** Waits and chance of the frontier on Redis, over the clock and the random numbers of the base. */
import { after, createSystemClock } from "../../../base/clock.ts";
import { entropyWords } from "../../../base/random.ts";

/** The machine's clock. */
export const MACHINE = Object.freeze(createSystemClock());

/** Resolves after so many milliseconds. */
export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => void after(ms, resolve));
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

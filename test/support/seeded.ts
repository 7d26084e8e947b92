/** Seeds of random tests: SEED= repeats one, STRESS_SECONDS= makes the programs longer. */
import { createRandom, entropyWords, type Random } from "../../src/base/random.ts";

/** Runs a program; when it fails, the message says with which seed. */
export function seeded(program: (random: Random, seed: number) => void, seed = freshSeed()): void {
  try {
    program(createRandom(seed), seed);
  } catch (error) {
    throw new Error(`SEED=${seed}: ${(error as Error).message}`, { cause: error });
  }
}

export function freshSeed(): number {
  return process.env.SEED ? Number(process.env.SEED) >>> 0 : (entropyWords(1)[0] as number);
}

/** A number of commands that is right for CI, times a factor where time was granted. */
export function commandsOf(count: number): number {
  return count * Math.max(1, Math.floor(Number(process.env.STRESS_SECONDS ?? 0) / 10));
}

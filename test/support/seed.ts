/** Seeds of random tests: printed with the test's name, and taken from SEED= when it is set. */
import { entropyWords } from "../../src/base/random.ts";

/** The seed of one random test. A failure is repeated with `SEED=<seed> npx vitest run <file>`. */
export function testSeed(label: string): number {
  const given = process.env.SEED;
  const seed = given === undefined ? (entropyWords(1)[0] as number) : Number(given) >>> 0;
  console.log(`${label}: SEED=${seed}`);
  return seed;
}

/** How many rounds a random test runs: `base` in CI, more where STRESS_SECONDS is set. */
export function stressRounds(base: number, perSecond: number): number {
  const seconds = Number(process.env.STRESS_SECONDS ?? 0);
  return Math.max(base, Math.floor(seconds * perSecond));
}

/** Seconds that a long test may take beyond its CI size; 0: the CI size alone. */
export function stressSeconds(): number {
  return Math.max(Number(process.env.STRESS_SECONDS ?? 0), 0);
}

/**
 * Seeds of random tests, printed with the test's name.
 *
 *   (nothing)           the test's own seed: the same commit has the same result every time
 *   SEED=fresh          a new one: exploring
 *   STRESS_SECONDS=60   a new one as well: extra time is for exploration
 *   SEED=17             this one: a failure again
 */
import { appendFileSync } from "node:fs";
import { type Random, createRandom, entropyWords } from "../../src/base/random.ts";
import { sized } from "./size.ts";

/** The seed of one random test. A failure is repeated with `SEED=<seed> npx vitest run <file>`. */
export function testSeed(label: string): number {
  const seed = chooseSeed(label, process.env.SEED);
  console.log(`${label}: SEED=${seed}`);
  return seed;
}

/** A stream from the test's seed. */
export function testRandom(label: string): Random {
  return createRandom(testSeed(label));
}

function chooseSeed(label: string, given: string | undefined): number {
  if (given === "fresh" || (given === undefined && stressSeconds() > 0)) {
    return entropyWords(1)[0] as number;
  }
  return given === undefined ? labelSeed(label) : Number(given) >>> 0;
}

/** FNV-1a of the label. */
function labelSeed(label: string): number {
  let seed = 0x811c9dc5;
  for (let at = 0; at < label.length; at++) {
    seed = Math.imul(seed ^ label.charCodeAt(at), 0x01000193) >>> 0;
  }
  return seed;
}

/** Appends a line to the file that `PROGRESS=` names: long runs report how far they are. */
export function progress(line: string): void {
  const file = process.env.PROGRESS;
  if (file !== undefined) appendFileSync(file, `${line}\n`);
}

/** How many rounds a random test runs: `base` in CI, more where STRESS_SECONDS is set, `quick` of them in `npm test`. */
export function stressRounds(
  base: number,
  perSecond: number,
  quick: number = Math.ceil(base / 5),
): number {
  const seconds = Number(process.env.STRESS_SECONDS ?? 0);
  return Math.max(sized(base, quick), Math.floor(seconds * perSecond));
}

/** Seconds that a long test may take beyond its CI size; 0: only the CI size. */
export function stressSeconds(): number {
  return Math.max(Number(process.env.STRESS_SECONDS ?? 0), 0);
}

/**
 * Returns a function that is true while the time granted by STRESS_SECONDS, counted from this call on, lasts. Without any it is false at
 * once: then only the CI size is run.
 */
export function stressTime(): () => boolean {
  const end = performance.now() + stressSeconds() * 1_000;
  return () => performance.now() < end;
}

/** How long a test may take that needs `ciMs` at most in CI: granted seconds count eightfold, as machines are busy. */
export function stressTimeoutMs(ciMs: number): number {
  return ciMs + stressSeconds() * 8_000;
}

/** Commands of a random program: `count` in CI, more where STRESS_SECONDS is set, a fifth in `npm test`. */
export function commandsOf(count: number): number {
  return sized(count, Math.ceil(count / 5)) * Math.max(1, Math.floor(stressSeconds() / 10));
}

/** Runs a program; when it fails, the message has the seed. */
export function seeded(seed: number, program: (random: Random) => void): void {
  try {
    program(createRandom(seed >>> 0));
  } catch (error) {
    throw new Error(`SEED=${seed >>> 0}: ${(error as Error).message}`, { cause: error });
  }
}

/** Seeds and hashes for tests: uniform 64-bit hashes as pairs of words lo, hi. */
import { type Random, createRandom } from "../../src/base/random.ts";

/** SEED= from outside, or a fresh one; printed, so that a failure can be repeated. */
export function testSeed(name: string): number {
  const seed = Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 31));
  console.log(`${name}: SEED=${seed}`);
  return seed;
}

export function testRandom(name: string): Random {
  return createRandom(testSeed(name));
}

/** Fills `words` with the next bits of the stream. */
export function fillWords(words: Uint32Array, random: Random): Uint32Array {
  for (let i = 0; i < words.length; i++) words[i] = random.word();
  return words;
}

export function randomHashes(count: number, random: Random): Uint32Array {
  return fillWords(new Uint32Array(count * 2), random);
}

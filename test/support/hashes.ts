/** Seeds and hashes for tests: uniform 64-bit hashes as pairs of words lo, hi. */
import type { Random } from "../../src/base/random.ts";

/** Fills `words` with the next bits of the stream. */
export function fillWords(words: Uint32Array, random: Random): Uint32Array {
  for (let i = 0; i < words.length; i++) words[i] = random.word();
  return words;
}

export function randomHashes(count: number, random: Random): Uint32Array {
  return fillWords(new Uint32Array(count * 2), random);
}

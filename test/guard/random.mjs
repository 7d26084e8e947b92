/** Random numbers from a seed (mulberry32), of this folder alone: its programs stay the same whatever becomes of the package. */
export function createRandom(seed) {
  let state = seed >>> 0;
  const word = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return (mixed ^ (mixed >>> 14)) >>> 0;
  };
  const below = (limit) => word() % limit;
  return {
    word,
    below,
    /** One of a list. */
    pick: (list) => list[below(list.length)],
    /** True once in so many times. */
    once: (times) => below(times) === 0,
    between: (least, most) => least + below(most - least + 1),
  };
}

/** The seed of a program from the seed of a run, the program's kind and its number. */
export function seedOf(seed, kind, number) {
  let mixed = (seed ^ Math.imul(number + 1, 0x9e3779b1)) >>> 0;
  for (const letter of kind) mixed = Math.imul(mixed ^ letter.charCodeAt(0), 0x01000193) >>> 0;
  return mixed;
}

let entropy = 0;

/**
 * From now on what the machine would choose (secrets of hashes, names of locks) follows from the operation: both sides draw the same in
 * the same operation, however often they draw. Some orders go by a secret.
 */
export function fixEntropy() {
  globalThis.crypto.getRandomValues = (words) => {
    const random = createRandom(entropy);
    for (let at = 0; at < words.length; at++) words[at] = random.word();
    return words;
  };
}

/** Another operation begins. */
export function stirEntropy(seed, operation) {
  entropy = seedOf(seed, "entropy", operation);
}

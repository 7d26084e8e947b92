/**
 * The bloom a careful JavaScript programmer writes by hand: one bit array, k probes by double hashing of two 32-bit
 * hashes of the string's characters.
 *
 * Approximation: no false negatives; at n members, false positives (1 − e^(−kn/m))^k.
 */
export interface TypedBloom {
  add(text: string): void;
  has(text: string): boolean;
}

export function createTypedBloom(members: number, rate: number): TypedBloom {
  const bits = 2 ** Math.ceil(Math.log2((-members * Math.log(rate)) / Math.LN2 ** 2));
  const probes = Math.max(1, Math.round((bits / members) * Math.LN2));
  // A power of two makes the array roomier than asked for: fewer probes would do, and are taken.
  const taken = Math.min(probes, Math.ceil(-Math.log2(rate)));
  const mask = bits - 1;
  const words = new Uint32Array(bits / 32);
  return {
    add(text) {
      let at = firstHash(text);
      const step = secondHash(at, text.length);
      for (let i = 0; i < taken; i++, at = (at + step) | 0) {
        const bit = at & mask;
        words[bit >>> 5] = (words[bit >>> 5] as number) | (1 << (bit & 31));
      }
    },
    has(text) {
      let at = firstHash(text);
      const step = secondHash(at, text.length);
      for (let i = 0; i < taken; i++, at = (at + step) | 0) {
        const bit = at & mask;
        if (((words[bit >>> 5] as number) & (1 << (bit & 31))) === 0) return false;
      }
      return true;
    },
  };
}

/** FNV-1a over the characters, then mixed: its low bits alone are poor. */
function firstHash(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return hash ^ (hash >>> 16);
}

/** An odd step that depends on all of the first hash. */
function secondHash(first: number, length: number): number {
  let hash = Math.imul((first ^ 0x9e3779b9) + length, 0x27d4eb2f);
  hash ^= hash >>> 15;
  return Math.imul(hash, 0x2c1b3c6d) | 1;
}

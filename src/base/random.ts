/**
 * Random numbers. `createRandom(seed)` is a reproducible stream (xoshiro128**, its state filled by splitmix32). `entropyWords` and
 * `randomUuid` are the only sources of unpredictable bits.
 */

export interface Random {
  /** The next 32 bits, 0 … 2³² − 1. */
  word(): number;
  /** A number in [0, 1) with 32 bits. */
  unit(): number;
  /** An integer in [0, bound). */
  below(bound: number): number;
}

export function createRandom(seed: number): Random {
  let s = seed >>> 0;
  const fill = (): number => {
    s = (s + 0x9e3779b9) >>> 0;
    let z = s;
    z = Math.imul(z ^ (z >>> 16), 0x85ebca6b);
    z = Math.imul(z ^ (z >>> 13), 0xc2b2ae35);
    return (z ^ (z >>> 16)) >>> 0;
  };
  let a = fill();
  let b = fill();
  let c = fill();
  let d = fill();
  const word = (): number => {
    const scaled = Math.imul(b, 5);
    const result = Math.imul((scaled << 7) | (scaled >>> 25), 9) >>> 0;
    const shifted = b << 9;
    c ^= a;
    d ^= b;
    b ^= c;
    a ^= d;
    c ^= shifted;
    d = (d << 11) | (d >>> 21);
    return result;
  };
  return {
    word,
    unit: () => word() / 4_294_967_296,
    below: (bound) => Math.floor((word() / 4_294_967_296) * bound),
  };
}

/** Unpredictable words from the platform, for secrets and default seeds. */
export function entropyWords(count: number): Uint32Array {
  return globalThis.crypto.getRandomValues(new Uint32Array(count));
}

/** A random UUID (RFC 9562, version 4) from the platform. */
/** 32 letters and digits, 190 bits of the platform's entropy: a secret for people to copy. */
export function randomToken(): string {
  const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  const bytes = new Uint8Array(32);
  globalThis.crypto.getRandomValues(bytes);
  return Array.from(bytes, (byte) => letters[byte & 63]).join("");
}

export function randomUuid(): string {
  return globalThis.crypto.randomUUID();
}

/**
 * BLAKE2b (RFC 7693) without a key and with a 16-byte digest: the readable twin of
 * `fingerprint128` in assembly/seen/fingerprint.ts.
 *
 *   h ← IV, h[0] ^= parameters
 *   per 128-byte block:  v ← h ‖ IV, v[12] ^= bytes read so far, v[14] inverted for the last block,
 *                        12 rounds of 4 columns then 4 diagonals, h ^= v[0…7] ^ v[8…15]
 *   digest = first 16 bytes of h
 */
import {
  FINGERPRINT_BLOCK_BYTES,
  FINGERPRINT_BYTES,
  FINGERPRINT_ROUNDS,
} from "../../../src/layout/seen/fingerprint.ts";

const IV: readonly bigint[] = [
  0x6a09e667f3bcc908n,
  0xbb67ae8584caa73bn,
  0x3c6ef372fe94f82bn,
  0xa54ff53a5f1d36f1n,
  0x510e527fade682d1n,
  0x9b05688c2b3e6c1fn,
  0x1f83d9abfb41bd6bn,
  0x5be0cd19137e2179n,
];

/**
 * The order of the message words, one hexadecimal digit per word; ten orders, then again from the
 * first.
 */
const SIGMA: readonly string[] = [
  "0123456789abcdef",
  "ea489fd61c02b753",
  "b8c052fdae367194",
  "7931dcbe265a40f8",
  "905724afe1bc683d",
  "2c6a0b834d75fe19",
  "c51fed4a0763928b",
  "db7ec13950f4862a",
  "6fe9b308c2d714a5",
  "a2847615fb9e3cd0",
];

/** The places that one mixing step touches: four columns, then four diagonals. */
const STEPS: readonly (readonly [a: number, b: number, c: number, d: number])[] = [
  [0, 4, 8, 12],
  [1, 5, 9, 13],
  [2, 6, 10, 14],
  [3, 7, 11, 15],
  [0, 5, 10, 15],
  [1, 6, 11, 12],
  [2, 7, 8, 13],
  [3, 4, 9, 14],
];

/** The 16-byte BLAKE2b digest of `bytes`. */
export function blake2b128(bytes: Uint8Array): Uint8Array {
  const h = [...IV];
  h[0] = (IV[0] as bigint) ^ BigInt(0x01010000 | FINGERPRINT_BYTES);
  const blocks = Math.max(1, Math.ceil(bytes.length / FINGERPRINT_BLOCK_BYTES));
  for (let block = 0; block < blocks; block++) {
    const start = block * FINGERPRINT_BLOCK_BYTES;
    const end = Math.min(start + FINGERPRINT_BLOCK_BYTES, bytes.length);
    compress(h, wordsOf(bytes.subarray(start, end)), end, block === blocks - 1);
  }
  const digest = new Uint8Array(FINGERPRINT_BYTES);
  for (let i = 0; i < FINGERPRINT_BYTES; i++) {
    digest[i] = Number(((h[i >> 3] as bigint) >> BigInt(8 * (i & 7))) & 255n);
  }
  return digest;
}

function compress(h: bigint[], message: readonly bigint[], total: number, isLast: boolean): void {
  const v = [...h, ...IV];
  v[12] = (v[12] as bigint) ^ BigInt(total);
  if (isLast) v[14] = BigInt.asUintN(64, ~(v[14] as bigint));
  for (let round = 0; round < FINGERPRINT_ROUNDS; round++) {
    const order = SIGMA[round % SIGMA.length] as string;
    for (const [index, step] of STEPS.entries()) {
      const x = message[Number.parseInt(order[2 * index] as string, 16)] as bigint;
      const y = message[Number.parseInt(order[2 * index + 1] as string, 16)] as bigint;
      mix(v, step, x, y);
    }
  }
  for (let i = 0; i < 8; i++) {
    h[i] = (h[i] as bigint) ^ (v[i] as bigint) ^ (v[i + 8] as bigint);
  }
}

function mix(v: bigint[], step: readonly [number, number, number, number], x: bigint, y: bigint) {
  const [ia, ib, ic, id] = step;
  let a = v[ia] as bigint;
  let b = v[ib] as bigint;
  let c = v[ic] as bigint;
  let d = v[id] as bigint;
  a = BigInt.asUintN(64, a + b + x);
  d = rotateRight(d ^ a, 32n);
  c = BigInt.asUintN(64, c + d);
  b = rotateRight(b ^ c, 24n);
  a = BigInt.asUintN(64, a + b + y);
  d = rotateRight(d ^ a, 16n);
  c = BigInt.asUintN(64, c + d);
  b = rotateRight(b ^ c, 63n);
  v[ia] = a;
  v[ib] = b;
  v[ic] = c;
  v[id] = d;
}

function rotateRight(x: bigint, bits: bigint): bigint {
  return (x >> bits) | BigInt.asUintN(64, x << (64n - bits));
}

/** A block as 16 little-endian words, zero where the bytes have ended. */
function wordsOf(block: Uint8Array): bigint[] {
  const words = new Array<bigint>(16).fill(0n);
  for (const [i, byte] of block.entries()) {
    words[i >> 3] = (words[i >> 3] as bigint) | (BigInt(byte) << BigInt(8 * (i & 7)));
  }
  return words;
}

/**
 * SipHash, the readable twin of `sipHash` in assembly/seen/fingerprint.ts, for any number of rounds.
 *
 *   v0 v1 v2 v3 ← key ^ "somepseudorandomlygeneratedbytes"
 *   per 8-byte word m:  v3 ^= m, `wordRounds` rounds, v0 ^= m     (the last word holds the length)
 *   end:                v2 ^= 255, `finalRounds` rounds, v0 ^ v1 ^ v2 ^ v3
 */
import { HASH_FINAL_ROUNDS, HASH_WORD_ROUNDS } from "../../../src/layout/seen/fingerprint.ts";

export interface SipHashRounds {
  readonly wordRounds: number;
  readonly finalRounds: number;
}

const TABLE_ROUNDS: SipHashRounds = {
  wordRounds: HASH_WORD_ROUNDS,
  finalRounds: HASH_FINAL_ROUNDS,
};

type State = [v0: bigint, v1: bigint, v2: bigint, v3: bigint];

/** The 64-bit hash of `bytes` under a 16-byte secret; SipHash-1-3, as in the tables, by default. */
export function sipHash(bytes: Uint8Array, secret: Uint8Array, rounds = TABLE_ROUNDS): bigint {
  const k0 = wordAt(secret, 0);
  const k1 = wordAt(secret, 8);
  const state: State = [
    k0 ^ 0x736f6d6570736575n,
    k1 ^ 0x646f72616e646f6dn,
    k0 ^ 0x6c7967656e657261n,
    k1 ^ 0x7465646279746573n,
  ];
  const whole = bytes.length - (bytes.length % 8);
  for (let at = 0; at <= whole; at += 8) {
    const isLast = at === whole;
    const word = wordAt(bytes, at) | (isLast ? BigInt(bytes.length % 256) << 56n : 0n);
    state[3] ^= word;
    for (let round = 0; round < rounds.wordRounds; round++) mix(state);
    state[0] ^= word;
  }
  state[2] ^= 0xffn;
  for (let round = 0; round < rounds.finalRounds; round++) mix(state);
  return state[0] ^ state[1] ^ state[2] ^ state[3];
}

/** One round: two half rounds on pairs, then two on crossed pairs. */
function mix(state: State): void {
  let [v0, v1, v2, v3] = state;
  v0 = BigInt.asUintN(64, v0 + v1);
  v2 = BigInt.asUintN(64, v2 + v3);
  v1 = rotate(v1, 13n) ^ v0;
  v3 = rotate(v3, 16n) ^ v2;
  v0 = BigInt.asUintN(64, rotate(v0, 32n) + v3);
  v2 = BigInt.asUintN(64, v2 + v1);
  v3 = rotate(v3, 21n) ^ v0;
  v1 = rotate(v1, 17n) ^ v2;
  v2 = rotate(v2, 32n);
  state[0] = v0;
  state[1] = v1;
  state[2] = v2;
  state[3] = v3;
}

function rotate(x: bigint, bits: bigint): bigint {
  return BigInt.asUintN(64, x << bits) | (x >> (64n - bits));
}

/** Up to 8 bytes from `at` as a little-endian word, zero past the end. */
function wordAt(bytes: Uint8Array, at: number): bigint {
  let word = 0n;
  for (let i = Math.min(at + 8, bytes.length) - 1; i >= at; i--) {
    word = (word << 8n) | BigInt(bytes[i] as number);
  }
  return word;
}

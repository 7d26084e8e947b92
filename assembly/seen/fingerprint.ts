/**
 * The two hashes: the keyed 64-bit hash of the tables and the public 128-bit fingerprint.
 *
 *   key bytes ──SipHash-1-3(secret)──▶ u64 in hashes[i]       tables, records, host index
 *   identity bytes ──BLAKE2b-128────▶ 16 bytes               names a request between machines
 *
 * Nothing is written but the results: all state is in locals and in globals of the instance, so
 * that several threads may hash over one shared memory.
 *
 *   I1  Not one byte outside [offset, offset + length) is read.
 *   I2  Both equal their twins in test/support/hash-twins for every input.
 */
import {
  BATCH_COUNT_WORD,
  BATCH_HASHES_OFFSET_WORD,
  BATCH_HOST_HASHES_OFFSET_WORD,
  BATCH_OK,
  BATCH_ROWS_OFFSET_WORD,
  BATCH_ROW_BYTES,
  BATCH_SECRET_OFFSET_WORD,
  ROW_HOST_LENGTH_WORD,
  ROW_HOST_START_WORD,
  ROW_HREF_OFFSET_WORD,
  ROW_KEY_LENGTH_WORD,
  ROW_KEY_OFFSET_WORD,
  ROW_STATUS_WORD,
} from "../../src/layout/calls/url-batch";
import {
  FINGERPRINT_BLOCK_BYTES,
  FINGERPRINT_BYTES,
  FINGERPRINT_ROUNDS,
  HASH_FINAL_ROUNDS,
} from "../../src/layout/seen/fingerprint";

/** SipHash-1-3 of `length` bytes under the secret (k0, k1). @hot */
export function sipHash(offset: usize, length: u32, k0: u64, k1: u64): u64 {
  let v0 = k0 ^ (((<u64>0x736f6d65) << 32) | 0x70736575);
  let v1 = k1 ^ (((<u64>0x646f7261) << 32) | 0x6e646f6d);
  let v2 = k0 ^ (((<u64>0x6c796765) << 32) | 0x6e657261);
  let v3 = k1 ^ (((<u64>0x74656462) << 32) | 0x79746573);
  const end = offset + (length & ~7);
  const rest = length < 8 ? lastWord(offset, length) : restOfLong(offset, length);
  const last = rest | ((<u64>length) << 56);
  for (let at = offset; ; at += 8) {
    const isLast = at === end;
    const word = isLast ? last : load<u64>(at);
    v3 ^= word;
    v0 += v1;
    v2 += v3;
    v1 = rotl(v1, 13) ^ v0;
    v3 = rotl(v3, 16) ^ v2;
    v0 = rotl(v0, 32) + v3;
    v2 += v1;
    v3 = rotl(v3, 21) ^ v0;
    v1 = rotl(v1, 17) ^ v2;
    v2 = rotl(v2, 32);
    v0 ^= word;
    if (isLast) break;
  }
  v2 ^= 0xff;
  for (let round = 0; round < HASH_FINAL_ROUNDS; round++) {
    v0 += v1;
    v2 += v3;
    v1 = rotl(v1, 13) ^ v0;
    v3 = rotl(v3, 16) ^ v2;
    v0 = rotl(v0, 32) + v3;
    v2 += v1;
    v3 = rotl(v3, 21) ^ v0;
    v1 = rotl(v1, 17) ^ v2;
    v2 = rotl(v2, 32);
  }
  return v0 ^ v1 ^ v2 ^ v3;
}

/**
 * The last `length % 8` bytes as a little-endian word: one overlapping load where there are 8
 * bytes.
 */
function lastWord(offset: usize, length: u32): u64 {
  const rest = length & 7;
  if (rest === 0) return 0;
  if (length >= 8) return load<u64>(offset + length - 8) >> ((8 - rest) << 3);
  return shortWord(offset, rest);
}

/** The same of at least 8 bytes, without a branch; two shifts, since by 64 there is none. */
function restOfLong(offset: usize, length: u32): u64 {
  return (load<u64>(offset + length - 8) >> 8) >> (56 - ((<u64>(length & 7)) << 3));
}

/** 1 to 7 bytes as a little-endian word. */
function shortWord(offset: usize, length: u32): u64 {
  if (length >= 4) {
    const high = <u64>load<u32>(offset + length - 4);
    return <u64>load<u32>(offset) | (high << ((length - 4) << 3));
  }
  const middle = (<u64>load<u8>(offset + (length >> 1))) << ((length >> 1) << 3);
  const high = (<u64>load<u8>(offset + length - 1)) << ((length - 1) << 3);
  return <u64>load<u8>(offset) | middle | high;
}

/** Keyed hash of one run of bytes, written to `outOffset` as 8 bytes. */
export function hashOne(offset: usize, length: u32, secretOffset: usize, outOffset: usize): void {
  const k0 = load<u64>(secretOffset);
  const k1 = load<u64>(secretOffset, 8);
  store<u64>(outOffset, sipHash(offset, length, k0, k1));
}

/**
 * Hashes key and host of every row that is still BATCH_OK; the others' hashes stay as they are.
 * @hot
 */
export function hashBatch(batch: usize): void {
  const count = load<u32>(batch, BATCH_COUNT_WORD << 2);
  const hashes: usize = load<u32>(batch, BATCH_HASHES_OFFSET_WORD << 2);
  const hostHashes: usize = load<u32>(batch, BATCH_HOST_HASHES_OFFSET_WORD << 2);
  const secret: usize = load<u32>(batch, BATCH_SECRET_OFFSET_WORD << 2);
  const k0 = load<u64>(secret);
  const k1 = load<u64>(secret, 8);
  let row: usize = load<u32>(batch, BATCH_ROWS_OFFSET_WORD << 2);
  let host: usize = 0;
  let hostLength: u32 = 0;
  let hostHash: u64 = sipHash(0, 0, k0, k1);
  for (let i: u32 = 0; i < count; i++, row += BATCH_ROW_BYTES) {
    if (load<u32>(row, ROW_STATUS_WORD << 2) !== BATCH_OK) continue;
    const key: usize = load<u32>(row, ROW_KEY_OFFSET_WORD << 2);
    const keyLength = load<u32>(row, ROW_KEY_LENGTH_WORD << 2);
    store<u64>(hashes + (i << 3), sipHash(key, keyLength, k0, k1));
    const href: usize = load<u32>(row, ROW_HREF_OFFSET_WORD << 2);
    const nextHost = href + load<u32>(row, ROW_HOST_START_WORD << 2);
    const nextLength = load<u32>(row, ROW_HOST_LENGTH_WORD << 2);
    if (!equalBytes(nextHost, nextLength, host, hostLength)) {
      host = nextHost;
      hostLength = nextLength;
      hostHash = sipHash(host, hostLength, k0, k1);
    }
    store<u64>(hostHashes + (i << 3), hostHash);
  }
}

/** True if both runs hold the same bytes. */
function equalBytes(a: usize, aLength: u32, b: usize, bLength: u32): bool {
  if (aLength !== bLength) return false;
  const words = aLength & ~7;
  for (let at: u32 = 0; at < words; at += 8) {
    if (load<u64>(a + at) !== load<u64>(b + at)) return false;
  }
  return lastWord(a, aLength) === lastWord(b, bLength);
}

// BLAKE2b's eight state words: globals belong to the instance, not to the shared memory.
let h0: u64 = 0;
let h1: u64 = 0;
let h2: u64 = 0;
let h3: u64 = 0;
let h4: u64 = 0;
let h5: u64 = 0;
let h6: u64 = 0;
let h7: u64 = 0;

// The initial words: the same as SHA-512's.
const IV0: u64 = ((<u64>0x6a09e667) << 32) | 0xf3bcc908;
const IV1: u64 = ((<u64>0xbb67ae85) << 32) | 0x84caa73b;
const IV2: u64 = ((<u64>0x3c6ef372) << 32) | 0xfe94f82b;
const IV3: u64 = ((<u64>0xa54ff53a) << 32) | 0x5f1d36f1;
const IV4: u64 = ((<u64>0x510e527f) << 32) | 0xade682d1;
const IV5: u64 = ((<u64>0x9b05688c) << 32) | 0x2b3e6c1f;
const IV6: u64 = ((<u64>0x1f83d9ab) << 32) | 0xfb41bd6b;
const IV7: u64 = ((<u64>0x5be0cd19) << 32) | 0x137e2179;

/** Which message word goes where, 16 bytes per round; rounds 10 and 11 repeat rounds 0 and 1. */
// biome-ignore format: one round per line.
const SIGMA = memory.data<u8>([
   0,  1,  2,  3,  4,  5,  6,  7,  8,  9, 10, 11, 12, 13, 14, 15,
  14, 10,  4,  8,  9, 15, 13,  6,  1, 12,  0,  2, 11,  7,  5,  3,
  11,  8, 12,  0,  5,  2, 15, 13, 10, 14,  3,  6,  7,  1,  9,  4,
   7,  9,  3,  1, 13, 12, 11, 14,  2,  6,  5, 10,  4,  0, 15,  8,
   9,  0,  5,  7,  2,  4, 10, 15, 14,  1, 11, 12,  6,  8,  3, 13,
   2, 12,  6, 10,  0, 11,  8,  3,  4, 13,  7,  5, 15, 14,  1,  9,
  12,  5,  1, 15, 14, 13,  4, 10,  0,  7,  6,  3,  9,  2,  8, 11,
  13, 11,  7, 14, 12,  1,  3,  9,  5,  0, 15,  4,  8,  6,  2, 10,
   6, 15, 14,  9, 11,  3,  0,  8, 12,  2, 13,  7,  1,  4, 10,  5,
  10,  2,  8,  4,  7,  6,  1,  5, 15, 11,  9, 14,  3, 12, 13,  0,
   0,  1,  2,  3,  4,  5,  6,  7,  8,  9, 10, 11, 12, 13, 14, 15,
  14, 10,  4,  8,  9, 15, 13,  6,  1, 12,  0,  2, 11,  7,  5,  3,
]);

/** BLAKE2b with a 16-byte digest of `length` bytes, written to `outOffset`. */
export function fingerprint128(offset: usize, length: u32, outOffset: usize): void {
  // Parameter block: digest length, no key, fan-out 1, depth 1.
  h0 = IV0 ^ (0x01010000 | FINGERPRINT_BYTES);
  h1 = IV1;
  h2 = IV2;
  h3 = IV3;
  h4 = IV4;
  h5 = IV5;
  h6 = IV6;
  h7 = IV7;
  let done: u32 = 0;
  while (length - done > <u32>FINGERPRINT_BLOCK_BYTES) {
    compress(offset + done, FINGERPRINT_BLOCK_BYTES, done + FINGERPRINT_BLOCK_BYTES, 0);
    done += FINGERPRINT_BLOCK_BYTES;
  }
  compress(offset + done, length - done, length, ~0);
  store<u64>(outOffset, h0);
  store<u64>(outOffset, h1, 8);
}

/** Mixes a block of `size` bytes into the state; `total` bytes have been read with it. */
function compress(block: usize, size: u32, total: u64, last: u64): void {
  let a0 = pair(h0, h1);
  let a1 = pair(h2, h3);
  let b0 = pair(h4, h5);
  let b1 = pair(h6, h7);
  let c0 = pair(IV0, IV1);
  let c1 = pair(IV2, IV3);
  let d0 = pair(IV4 ^ total, IV5);
  let d1 = pair(IV6 ^ last, IV7);
  for (let round = 0; round < FINGERPRINT_ROUNDS; round++) {
    const sigma = SIGMA + (round << 4);
    a0 = i64x2.add(i64x2.add(a0, b0), words(block, size, sigma));
    a1 = i64x2.add(i64x2.add(a1, b1), words(block, size, sigma + 4));
    d0 = rotate32(v128.xor(d0, a0));
    d1 = rotate32(v128.xor(d1, a1));
    c0 = i64x2.add(c0, d0);
    c1 = i64x2.add(c1, d1);
    b0 = rotate24(v128.xor(b0, c0));
    b1 = rotate24(v128.xor(b1, c1));
    a0 = i64x2.add(i64x2.add(a0, b0), words(block, size, sigma + 1));
    a1 = i64x2.add(i64x2.add(a1, b1), words(block, size, sigma + 5));
    d0 = rotate16(v128.xor(d0, a0));
    d1 = rotate16(v128.xor(d1, a1));
    c0 = i64x2.add(c0, d0);
    c1 = i64x2.add(c1, d1);
    b0 = rotate63(v128.xor(b0, c0));
    b1 = rotate63(v128.xor(b1, c1));
    // The diagonals become columns: b turns by one, c by two, d by three.
    let e0 = v128.shuffle<i64>(b0, b1, 1, 2);
    let e1 = v128.shuffle<i64>(b1, b0, 1, 2);
    let f0 = v128.shuffle<i64>(d1, d0, 1, 2);
    let f1 = v128.shuffle<i64>(d0, d1, 1, 2);
    a0 = i64x2.add(i64x2.add(a0, e0), words(block, size, sigma + 8));
    a1 = i64x2.add(i64x2.add(a1, e1), words(block, size, sigma + 12));
    f0 = rotate32(v128.xor(f0, a0));
    f1 = rotate32(v128.xor(f1, a1));
    c1 = i64x2.add(c1, f0);
    c0 = i64x2.add(c0, f1);
    e0 = rotate24(v128.xor(e0, c1));
    e1 = rotate24(v128.xor(e1, c0));
    a0 = i64x2.add(i64x2.add(a0, e0), words(block, size, sigma + 9));
    a1 = i64x2.add(i64x2.add(a1, e1), words(block, size, sigma + 13));
    f0 = rotate16(v128.xor(f0, a0));
    f1 = rotate16(v128.xor(f1, a1));
    c1 = i64x2.add(c1, f0);
    c0 = i64x2.add(c0, f1);
    e0 = rotate63(v128.xor(e0, c1));
    e1 = rotate63(v128.xor(e1, c0));
    b0 = v128.shuffle<i64>(e1, e0, 1, 2);
    b1 = v128.shuffle<i64>(e0, e1, 1, 2);
    d0 = v128.shuffle<i64>(f0, f1, 1, 2);
    d1 = v128.shuffle<i64>(f1, f0, 1, 2);
  }
  a0 = v128.xor(a0, c0);
  a1 = v128.xor(a1, c1);
  b0 = v128.xor(b0, d0);
  b1 = v128.xor(b1, d1);
  h0 ^= i64x2.extract_lane(a0, 0);
  h1 ^= i64x2.extract_lane(a0, 1);
  h2 ^= i64x2.extract_lane(a1, 0);
  h3 ^= i64x2.extract_lane(a1, 1);
  h4 ^= i64x2.extract_lane(b0, 0);
  h5 ^= i64x2.extract_lane(b0, 1);
  h6 ^= i64x2.extract_lane(b1, 0);
  h7 ^= i64x2.extract_lane(b1, 1);
}

function pair(low: u64, high: u64): v128 {
  return i64x2.replace_lane(i64x2.splat(low), 1, high);
}

/** The two message words that sigma[0] and sigma[2] name: those of columns 2k and 2k + 1. */
function words(block: usize, size: u32, sigma: usize): v128 {
  const low = word(block, size, (<u32>load<u8>(sigma)) << 3);
  const high = word(block, size, (<u32>load<u8>(sigma, 2)) << 3);
  return pair(low, high);
}

/** Eight bytes of a block at byte `at`, zero where the block has ended. */
function word(block: usize, size: u32, at: u32): u64 {
  if (at + 8 <= size) return load<u64>(block + at);
  if (at >= size) return 0;
  if (at === 0) return shortWord(block, size);
  return load<u64>(block + size - 8) >> ((at + 8 - size) << 3);
}

function rotate32(x: v128): v128 {
  return v128.shuffle<i32>(x, x, 1, 0, 3, 2);
}

function rotate24(x: v128): v128 {
  return v128.shuffle<i8>(x, x, 3, 4, 5, 6, 7, 0, 1, 2, 11, 12, 13, 14, 15, 8, 9, 10);
}

function rotate16(x: v128): v128 {
  return v128.shuffle<i8>(x, x, 2, 3, 4, 5, 6, 7, 0, 1, 10, 11, 12, 13, 14, 15, 8, 9);
}

function rotate63(x: v128): v128 {
  return v128.or(i64x2.shl(x, 1), i64x2.shr_u(x, 63));
}

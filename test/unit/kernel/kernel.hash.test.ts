import { blake2b } from "@noble/hashes/blake2.js";
import { describe, expect, test } from "vitest";
import { createRandom, type Random } from "../../../src/base/random.ts";
import { blake2b128 } from "../../support/hash-twins/blake2b.ts";
import { sipHash } from "../../support/hash-twins/sip-hash.ts";
import type { Kernel } from "../../../src/kernel/kernel.ts";
import { regionTake } from "../../../src/memory/region.ts";
import { openTestKernel, type TestFlavour } from "../../support/kernels.ts";
import { testSeed } from "../../support/seed.ts";
import { BLAKE2B_128, SIP_HASH_1_3, SIP_HASH_2_4 } from "./hash-vectors.ts";

const FLAVOURS: readonly TestFlavour[] = ["release", "debug"];
const INPUT_PAGES = 4;

interface Hasher {
  sip(bytes: Uint8Array, secret: Uint8Array): bigint;
  blake(bytes: Uint8Array): string;
}

/** Hashes in the kernel; the input stands at every alignment and touches the end of its run. */
function openHasher(kernel: Kernel): Hasher {
  const input = regionTake(kernel.region, INPUT_PAGES);
  const secretOffset = regionTake(kernel.region, 1);
  const outOffset = secretOffset + 64;
  const put = (bytes: Uint8Array): number => {
    const offset = input + INPUT_PAGES * 65536 - bytes.length;
    kernel.region.views.u8.fill(0xa5, offset - 16, offset);
    kernel.region.views.u8.set(bytes, offset);
    return offset;
  };
  return {
    sip(bytes, secret) {
      const { u8, buffer } = kernel.region.views;
      u8.set(secret, secretOffset);
      kernel.exports.hashOne(put(bytes), bytes.length, secretOffset, outOffset);
      return buffer.readBigUInt64LE(outOffset);
    },
    blake(bytes) {
      kernel.exports.fingerprint128(put(bytes), bytes.length, outOffset);
      return kernel.region.views.buffer.toString("hex", outOffset, outOffset + 16);
    },
  };
}

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex");
const ascending = (length: number): Uint8Array => Uint8Array.from({ length }, (_, i) => i & 255);
const randomBytes = (random: Random, length: number): Uint8Array =>
  Uint8Array.from({ length }, () => random.word() & 255);

describe("the readable twins", () => {
  test("SipHash gives the published 2-4 and 1-3 vectors", () => {
    const secret = ascending(16);
    const rounds24 = { wordRounds: 2, finalRounds: 4 };
    for (let length = 0; length < 64; length++) {
      const bytes = ascending(length);
      const digits = (x: bigint): string => x.toString(16).padStart(16, "0");
      expect(digits(sipHash(bytes, secret, rounds24))).toBe(SIP_HASH_2_4[length]);
      expect(digits(sipHash(bytes, secret))).toBe(SIP_HASH_1_3[length]);
    }
  });

  test("BLAKE2b-128 gives the published vectors", () => {
    for (const [text, digest] of BLAKE2B_128) {
      expect(hex(blake2b128(Buffer.from(text)))).toBe(digest);
    }
  });

  test("BLAKE2b-128 equals an independent implementation at every length from 0 to 300", () => {
    const random = createRandom(testSeed("kernel.hash"));
    for (let length = 0; length <= 300; length++) {
      const bytes = randomBytes(random, length);
      expect(hex(blake2b128(bytes))).toBe(hex(blake2b(bytes, { dkLen: 16 })));
    }
  });
});

describe.each(FLAVOURS)("the hashes of the %s kernel", (flavour) => {
  const hasher = openHasher(openTestKernel(flavour));

  test("SipHash-1-3 gives the published vectors", () => {
    const secret = ascending(16);
    for (let length = 0; length < 64; length++) {
      const hash = hasher.sip(ascending(length), secret);
      expect(hash.toString(16).padStart(16, "0")).toBe(SIP_HASH_1_3[length]);
    }
  });

  test("SipHash-1-3 equals its twin at every length from 0 to 300 and at long ones", () => {
    const random = createRandom(testSeed("kernel.hash"));
    for (const length of [...Array(301).keys(), 1000, 4096, 65_535, 65_541]) {
      const bytes = randomBytes(random, length);
      const secret = randomBytes(random, 16);
      expect(hasher.sip(bytes, secret)).toBe(sipHash(bytes, secret));
    }
  });

  test("fingerprint128 equals its twin at every length from 0 to 300 and at long ones", () => {
    const random = createRandom(testSeed("kernel.hash"));
    for (const length of [...Array(301).keys(), 384, 512, 1000, 8192, 65_541]) {
      const bytes = randomBytes(random, length);
      expect(hasher.blake(bytes)).toBe(hex(blake2b128(bytes)));
    }
  });
});

describe("avalanche", () => {
  const hasher = openHasher(openTestKernel());

  /** How often each of `width` output bits flips when one input bit does, as a share. */
  function flipShares(width: number, hash: (bytes: Uint8Array) => bigint): number[] {
    const random = createRandom(testSeed("kernel.hash"));
    const flips = new Array<number>(width).fill(0);
    const trials = 4000;
    for (let trial = 0; trial < trials; trial++) {
      const bytes = randomBytes(random, 8 + random.below(80));
      const before = hash(bytes);
      const bit = random.below(bytes.length * 8);
      bytes[bit >> 3] = (bytes[bit >> 3] as number) ^ (1 << (bit & 7));
      let changed = before ^ hash(bytes);
      for (let i = 0; changed !== 0n; i++, changed >>= 1n) {
        if (changed & 1n) flips[i] = (flips[i] as number) + 1;
      }
    }
    return flips.map((count) => count / trials);
  }

  test("each bit of the keyed hash flips half of the time", () => {
    const secret = ascending(16);
    for (const share of flipShares(64, (bytes) => hasher.sip(bytes, secret))) {
      expect(Math.abs(share - 0.5)).toBeLessThan(0.05);
    }
  });

  test("each bit of the fingerprint flips half of the time", () => {
    for (const share of flipShares(128, (bytes) => BigInt(`0x${hasher.blake(bytes)}`))) {
      expect(Math.abs(share - 0.5)).toBeLessThan(0.05);
    }
  });

  test("another secret gives another hash in half of the bits", () => {
    const bytes = Buffer.from("https://example.com/");
    const random = createRandom(testSeed("kernel.hash"));
    let flips = 0;
    for (let trial = 0; trial < 1000; trial++) {
      const secret = randomBytes(random, 16);
      const before = hasher.sip(bytes, secret);
      const bit = random.below(128);
      secret[bit >> 3] = (secret[bit >> 3] as number) ^ (1 << (bit & 7));
      flips += (before ^ hasher.sip(bytes, secret)).toString(2).replaceAll("0", "").length;
    }
    expect(Math.abs(flips / 64_000 - 0.5)).toBeLessThan(0.02);
  });
});

/**
 * Random key policies over random URLs: the kernel's batch, its single call, the readable twin and what the package
 * shows to the outside must say the same, down to the hashes and fingerprints.
 */
import { describe, expect, it } from "vitest";
import { canonicalize, canonicalizeMany, fingerprint } from "../../src/engine/api/url-functions.ts";
import { blake2b128 } from "../support/hash-twins/blake2b.ts";
import { sipHash } from "../support/hash-twins/sip-hash.ts";
import { BATCH_OK, ROW_STATUS_WORD } from "../../src/layout/calls/url-batch.ts";
import { batchBase, batchKey, batchLoad, batchParse } from "../../src/url/batch/url-batch.ts";
import type { UrlBatch } from "../../src/url/batch/batch-memory.ts";
import { identityBytes, keyOverride } from "../../src/url/keys/identity-bytes.ts";
import { parseUrl } from "../../src/url/parsing/canonical-parser.ts";
import { visitUrl } from "../../src/url/keys/dedup-key.ts";
import { canonicalizePlain } from "../support/plain-url.ts";
import { normalizePolicy } from "../../src/url/keys/key-policy.ts";
import { fuzzUrl } from "../support/fuzz.ts";
import { anyKeyPolicy, anyRequest, paramUrl } from "../support/key-policies.ts";
import { stressRounds, testRandom } from "../support/seed.ts";
import { BASES, checkUrls, newBatch, rowWord } from "../support/url-check.ts";

const SECRET = Uint8Array.from({ length: 16 }, (_, i) => i * 17);

function openBatch(): UrlBatch {
  const batch = newBatch("release");
  batch.area.kernel.region.views.u8.set(SECRET, batch.area.secret);
  return batch;
}

/** The hashes of a batch against those of the keys that the twin makes. */
function checkHashes(batch: UrlBatch, keys: readonly (string | undefined)[]): void {
  const { area } = batch;
  area.kernel.exports.hashBatch(area.header);
  for (let row = 0; row < batch.count; row++) {
    const key = keys[batch.start + row];
    expect(rowWord(batch, row, ROW_STATUS_WORD) === BATCH_OK).toBe(key !== undefined);
    if (key === undefined) continue;
    const hash = area.kernel.region.views.buffer.readBigUInt64LE(area.hashes + row * 8);
    if (hash !== sipHash(Buffer.from(key, "utf8"), SECRET)) expect.fail(`hash of ${key}`);
  }
}

describe("any key policy", () => {
  it("gives one key on every way through the kernel and in the twin", () => {
    const random = testRandom("key-policies ways");
    const batch = openBatch();
    const rounds = stressRounds(400, 60);
    for (let round = 0; round < rounds; round++) {
      const policy = normalizePolicy(anyKeyPolicy(random));
      const urls = Array.from({ length: 40 }, () => paramUrl(random));
      const base = random.below(3) === 0 ? BASES[random.below(BASES.length)] : undefined;
      if (base !== undefined) urls.push("?b=1&a=2#f", "../x;sid=1?utm_x=2&a", fuzzUrl(random));
      checkUrls(batch, urls, { policy, base, single: round % 3 === 0 });
    }
  });

  it("of profile url is visited as a URL with the parameters of its key", () => {
    const random = testRandom("key-policies visits");
    for (let round = 0; round < stressRounds(150, 30); round++) {
      const { keepParams = ["a"], fragment = "keep" } = anyKeyPolicy(random);
      const policy = normalizePolicy({ profile: "url", visit: "canonical", keepParams, fragment });
      const like = normalizePolicy({ keepParams, fragment, sortQuery: false });
      for (let i = 0; i < 40; i++) {
        const url = paramUrl(random).trimEnd();
        // A tab is part of a pushed name, and no part of a parsed one.
        if ([...url].some((character) => character < " ")) continue;
        const parsed = parseUrl(url, undefined, 8192);
        if (typeof parsed === "number") continue;
        const visit = visitUrl(parsed, policy);
        const about = JSON.stringify({ url, keepParams, fragment }).slice(0, 500);
        expect(parseUrl(visit, undefined, 8192), about).toMatchObject({ href: visit });
        expect(canonicalizePlain(visit, like), about).toBe(canonicalizePlain(url, like));
      }
    }
  });

  it("returns the hash of that key, and every function of the package makes the same key", () => {
    const random = testRandom("key-policies outside");
    const batch = openBatch();
    batchBase(batch, undefined);
    const rounds = stressRounds(150, 30);
    for (let round = 0; round < rounds; round++) {
      const given = anyKeyPolicy(random);
      const policy = normalizePolicy(given);
      const urls = Array.from({ length: 40 }, () => paramUrl(random));
      const keys = urls.map((url) => canonicalizePlain(url, policy));
      expect(canonicalizeMany(urls, given)).toEqual(keys);
      expect(urls.map((url) => canonicalize(url, given))).toEqual(keys);
      for (let start = 0; start < urls.length; start += batch.count) {
        batchLoad(batch, urls, start);
        const parsed = batchParse(batch);
        batchKey(parsed, policy);
        checkHashes(batch, keys);
      }
    }
  });

  it("gives fingerprints over the bytes that the document names", () => {
    const random = testRandom("key-policies fingerprints");
    for (let round = 0; round < stressRounds(150, 30); round++) {
      const given = anyKeyPolicy(random);
      if (random.below(8) === 0) given.keyOf = ({ url, method }) => `${url.length}${method}`;
      const policy = normalizePolicy(given);
      for (let i = 0; i < 20; i++) {
        const request = anyRequest(random);
        const own = keyOverride(request, policy) as string | undefined; // these ones do not fail
        const key = own ?? canonicalizePlain(request.url, policy) ?? request.url.toWellFormed();
        const wanted = Buffer.from(blake2b128(identityBytes(key, request, policy))).toString("hex");
        const found = fingerprint(request, given);
        expect([request, given, found]).toEqual([request, given, wanted]);
      }
    }
  });
});

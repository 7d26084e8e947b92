/** A million hostile URLs in one run: the kernel's path against the oracle, with every policy and base. */
import { expect, it } from "vitest";
import { createRandom } from "../../src/base/random.ts";
import type { NormalPolicy } from "../../src/url/keys/key-policy.ts";
import { fuzzUrl } from "../support/fuzz.ts";
import { stressRounds, testSeed } from "../support/seed.ts";
import { BASES, checkUrls, newBatch, POLICIES } from "../support/url-check.ts";

const FUZZ_BATCH = 500;

it("equals the oracle on 10\u2076 fuzzed URLs", { timeout: 600_000 }, () => {
  const random = createRandom(testSeed("url-kernel million"));
  const batch = newBatch();
  let checked = 0;
  for (let round = 0; round < stressRounds(2_000, 60); round++) {
    const urls = Array.from({ length: FUZZ_BATCH }, () => fuzzUrl(random));
    const policy = POLICIES[round % POLICIES.length] as NormalPolicy;
    checkUrls(batch, urls, { base: BASES[round % BASES.length], policy });
    checked += urls.length;
  }
  expect(checked).toBeGreaterThanOrEqual(1_000_000);
});

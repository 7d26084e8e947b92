import { readFileSync } from "node:fs";
import { beforeAll, describe, expect, it } from "vitest";
import { createRandom } from "../../src/base/random.ts";
import { BATCH_ROW_WORDS } from "../../src/layout/batch.ts";
import { batchBase, batchKey, batchLoad, batchParse, closeUrlBatch } from "../../src/url/batch.ts";
import type { UrlBatch } from "../../src/url/batch-area.ts";
import { batchStrings } from "../../src/url/batch-strings.ts";
import type { NormalPolicy } from "../../src/url/policy.ts";
import { linkCorpus } from "../support/corpus.ts";
import { asciiEverywhere, fuzzUrl } from "../support/fuzz.ts";
import { stressRounds, testSeed } from "../support/seed.ts";
import { sharedFile } from "../support/shared.ts";
import { checkUrls, kernelShare, newBatch, POLICIES, rowWord } from "../support/url-check.ts";

const BASES = [
  undefined,
  "http://user:pa%20ss@Host.example:8080/a/b;c/../d?q=1&p=2#frag",
  "https://h.example",
  "https://[::1]/x",
  "http://1.2.3.4/%7e/?",
  "http://b\u00fccher.example/\u00e4/b",
  "not a url",
];
const FUZZ_BATCH = 512;

const released = newBatch("release");
const debug = newBatch("debug");

function fuzzed(rounds: number, seed: number, visit: (urls: string[], round: number) => void) {
  const random = createRandom(seed);
  for (let round = 0; round < rounds; round++) {
    visit(
      Array.from({ length: FUZZ_BATCH }, () => fuzzUrl(random)),
      round,
    );
  }
}

/** The rows of a batch as plain numbers, offsets relative to the header. */
function rowsOf(batch: UrlBatch): number[] {
  const words: number[] = [];
  for (let row = 0; row < batch.count; row++) {
    for (let word = 0; word < BATCH_ROW_WORDS; word++) words.push(rowWord(batch, row, word));
  }
  return words;
}

describe("the kernel's URL path", () => {
  it("equals the oracle on fuzzed URLs, with every policy, base and shape of call", () => {
    const seed = testSeed("url-kernel fuzz");
    fuzzed(stressRounds(200, 40), seed, (urls, round) => {
      checkUrls(released, urls, {
        base: BASES[round % BASES.length],
        policy: POLICIES[round % POLICIES.length] as NormalPolicy,
        single: round % 8 === 3,
      });
    });
  });

  it("equals the oracle with every ASCII byte in every place", () => {
    const template = "https://u:p@Ab.c1:81/a/../%2e%41;s=1/.b?x=1&a=%7e&#f%";
    const texts = [...asciiEverywhere(template), ...asciiEverywhere("../a?b#c")];
    for (const [i, base] of BASES.entries()) {
      checkUrls(released, texts, { base, policy: POLICIES[i % 3] as NormalPolicy });
    }
    const plain = [...asciiEverywhere("http://example.com/a/long/path.html?and=query&of=it#frag")];
    for (const policy of POLICIES) checkUrls(released, plain, { policy });
  });
});

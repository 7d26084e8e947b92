import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { createRandom } from "../../src/base/random.ts";
import { BATCH_ROW_WORDS, ROW_HREF_OFFSET_WORD } from "../../src/layout/calls/url-batch.ts";
import { batchBase, batchKey, batchLoad, batchParse } from "../../src/url/batch/url-batch.ts";
import type { UrlBatch } from "../../src/url/batch/batch-memory.ts";
import { batchStrings } from "../../src/url/batch/batch-strings.ts";
import type { NormalPolicy } from "../../src/url/keys/key-policy.ts";
import { linkCorpus } from "../support/corpus.ts";
import { asciiEverywhere, fuzzUrl } from "../support/fuzz.ts";
import { stressRounds, testSeed } from "../support/seed.ts";
import { sharedFile, WPT_URLS } from "../support/shared.ts";
import { skipUnless } from "../support/skip.ts";
import {
  BASES,
  checkUrls,
  kernelShare,
  newBatch,
  POLICIES,
  rowWord,
} from "../support/url-check.ts";

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

  it("equals the oracle on every http(s) case of the web-platform-tests", () => {
    const cases = wptCases();
    expect(cases.length).toBeGreaterThan(500);
    for (const { input, base } of cases) checkUrls(released, [input], { base, single: true });
  });

  it("loses no row when text is full, URLs are long, or the batch is small", () => {
    const seed = testSeed("url-kernel narrow");
    const narrow = [
      newBatch("release", { capacity: 3, maxUrlBytes: 300, inputBytes: 300, textBytes: 1200 }),
      newBatch("release", { capacity: 64, maxUrlBytes: 100, textBytes: 1024 }),
      newBatch("release", { capacity: 1, maxUrlBytes: 200_000 }),
    ];
    fuzzed(8, seed, (urls, round) => {
      const long = ["a", "%", "/../", "&b", "\u00fc", " ", "#"].map(
        (piece) => `http://host/${round % 2 ? "?" : ""}${piece.repeat(65_536 / piece.length)}`,
      );
      for (const batch of narrow) {
        const policy = POLICIES[(round * 2) % POLICIES.length] as NormalPolicy;
        checkUrls(batch, urls.slice(0, 128).concat(long), { base: BASES[round % 4], policy });
      }
    });
  });

  it("is the same in the debug kernel and in the release kernel, word for word", () => {
    const seed = testSeed("url-kernel debug");
    fuzzed(stressRounds(30, 4), seed, (urls, round) => {
      const policy = POLICIES[round % POLICIES.length] as NormalPolicy;
      for (let start = 0; start < urls.length; start += released.count) {
        for (const batch of [debug, released]) {
          batchBase(batch, BASES[round % BASES.length]);
          batchLoad(batch, urls, start);
          const parsed = batchParse(batch);
          batchKey(parsed, policy);
        }
        expect(rowsOf(debug)).toEqual(rowsOf(released));
        expect(batchStrings(debug, "key")).toEqual(batchStrings(released, "key"));
      }
    });
  });

  it("gives a key that is its own key, and an href that parses to itself in place", () => {
    const seed = testSeed("url-kernel idempotence");
    fuzzed(stressRounds(20, 4), seed, (urls, round) => {
      const policy = POLICIES[round % 7] as NormalPolicy;
      batchBase(released, undefined);
      const keys = keysOf(urls, policy).filter((key) => key !== undefined);
      expect(keysOf(keys, policy)).toEqual(keys);
      for (let row = 0; row < released.count; row++) {
        const key = keys[released.start + row] as string;
        if (/^https?:..[^/]*[@[]/.test(key)) continue; // user info and IPv6 are always written
        const offset = rowWord(released, row, ROW_HREF_OFFSET_WORD);
        const inInput = offset >= released.area.input && offset < released.area.text;
        expect(inInput, key).toBe(true);
      }
    });
  });

  it("finishes 95 % of link text without the oracle", () => {
    const links = linkCorpus(5_000, 1);
    const share = links.map(({ base, href }) => kernelShare(released, [href], base));
    const linkShare = share.reduce((sum, each) => sum + each, 0) / links.length;
    console.log(`kernel share of link text: ${(100 * linkShare).toFixed(2)} %`);
    expect(linkShare).toBeGreaterThanOrEqual(0.95);
  });

  it("finishes 97 % of URLs from the wild without the oracle", (context) => {
    const path = sharedFile("data/urls-kasztp.txt");
    skipUnless(context, path !== undefined, "no data/urls-kasztp.txt in OUTRIDER_SHARED");
    const urls = readFileSync(path, "utf8")
      .split("\n")
      .filter((line) => line !== "");
    const urlShare = kernelShare(released, urls);
    console.log(`kernel share of URLs from the wild: ${(100 * urlShare).toFixed(2)} %`);
    expect(urlShare).toBeGreaterThanOrEqual(0.97);
    for (const policy of POLICIES) checkUrls(released, urls.slice(0, 5_000), { policy });
    checkUrls(released, urls, {});
  });
});

function keysOf(urls: readonly string[], policy: NormalPolicy): (string | undefined)[] {
  const keys: (string | undefined)[] = [];
  for (let start = 0; start < urls.length; start += released.count) {
    batchLoad(released, urls, start);
    const parsed = batchParse(released);
    batchKey(parsed, policy);
    batchStrings(released, "key", keys);
  }
  return keys;
}

/** The cases whose base is none or http(s); the input may be anything. */
function wptCases(): { input: string; base: string | undefined }[] {
  const list = JSON.parse(readFileSync(WPT_URLS, "utf8")) as {
    input: string;
    base: string | null;
  }[];
  return list.map(({ input, base }) => {
    return { input, base: base !== null && /^https?:/.test(base) ? base : undefined };
  });
}

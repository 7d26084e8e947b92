/**
 * URLs built to stand in the way of a kernel that looks at many bytes at a time: something special at every distance
 * from the host and from the end, and every query of a few bytes over what names are told apart by.
 */
import { describe, it } from "vitest";
import { createRandom } from "../../src/base/random.ts";
import type { NormalPolicy } from "../../src/url/keys/key-policy.ts";
import { stressRounds, testSeed } from "../support/seed.ts";
import { checkUrls, newBatch, POLICIES } from "../support/url-check.ts";

const batch = newBatch("release");
const SPECIAL = [
  "?",
  "#",
  "%",
  "%2e",
  "&",
  "/.",
  "/..",
  "/%2E",
  ";",
  " ",
  '"',
  "'",
  "`",
  "\\",
  "\u007f",
  "\u00e9",
];
/** Around a block of 16 bytes, and around the 64 that path and query are looked at in one go. */
const LENGTHS = [
  0, 1, 2, 14, 15, 16, 17, 31, 32, 33, 47, 48, 49, 62, 63, 64, 65, 66, 127, 128, 129, 193,
];

describe("the kernel's URL path", () => {
  it("equals the oracle with something special at every distance from both ends", () => {
    const urls: string[] = [];
    for (const length of LENGTHS) {
      for (let at = 0; at <= length; at++) {
        const special = SPECIAL[(at + length) % SPECIAL.length] as string;
        const other = SPECIAL[(at * 7 + length) % SPECIAL.length] as string;
        const [before, behind] = ["a".repeat(at), "b".repeat(length - at)];
        urls.push(`http://host.example/${before}${special}${behind}`);
        urls.push(`https://h.example/${before}?${behind}${special}`);
        urls.push(`https://h.example/${special}${before}${other}${behind}`);
        // What follows in the batch begins where this one ends: none may see the other's bytes.
        urls.push(`http://h/${before}${behind}`, `http://h.example${special}/x`);
      }
    }
    for (const policy of [POLICIES[0], POLICIES[2]])
      checkUrls(batch, urls, { policy: policy as NormalPolicy });
  });

  it("equals the oracle on every query of up to six bytes of names, across the edges of blocks", () => {
    const bytes = ["a", "b", "=", "&"];
    let texts = [""];
    const urls: string[] = [];
    for (let length = 1; length <= 6; length++) {
      texts = texts.flatMap((text) => bytes.map((byte) => text + byte));
      for (const [i, text] of texts.entries()) {
        const pad = "x".repeat((i * 5 + length) % 16);
        urls.push(`http://h.example/${pad}?${text}`, `http://h.example/?${pad}&${text}`);
      }
    }
    checkUrls(batch, urls, {});
  });

  it("equals the oracle on long queries of names that nearly rise", () => {
    const random = createRandom(testSeed("url-shapes names"));
    const names = ["a", "aa", "ab", "b", "", "%61", "a%", "=", "!", "~", "A", "a+", "z;y", "0"];
    const pick = (): string => names[random.below(names.length)] as string;
    for (let round = 0; round < stressRounds(12, 6); round++) {
      const urls = Array.from({ length: 256 }, () => {
        const pieces = Array.from({ length: random.below(70) }, () => {
          const name = pick();
          return random.below(3) === 0 ? name : `${name}=${pick()}`;
        });
        if (random.below(2) === 0) pieces.sort();
        return `https://h.example/${"p".repeat(random.below(40))}?${pieces.join("&")}`;
      });
      checkUrls(batch, urls, { policy: POLICIES[round % POLICIES.length] as NormalPolicy });
    }
  });
});

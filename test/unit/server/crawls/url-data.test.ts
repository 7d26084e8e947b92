/** Plain URLs by their text, and by the bytes in which they came. */
import { describe, expect, it } from "vitest";
import {
  hostEndOf,
  hostStartOf,
  isPlainUrl,
  plainHostEnd,
} from "../../../../src/server/crawls/url-data.ts";
import { testRandom } from "../../../support/seed.ts";

const PIECES = [
  ...["http://", "https://", "http:/", "HTTP://", "httpss://", "ftp://"],
  ...["a", "b-c", "example", "com", "c0m", "-", ".", "..", "/", "//", "/.", "/..", "/a.b"],
  ...[
    "\u0161",
    "/\u012e",
    "?",
    "?q=1",
    "&",
    "%7E",
    "~",
    "#",
    ":",
    ":80",
    "@",
    "é",
    "\0",
    " ",
    "\\",
    '"',
    "A",
    "[",
    "{",
  ],
];

/** From ( to ; are digits and ()*+,-./: too. */
const PLAIN =
  /^https?:\/\/[a-z0-9-]+(?:\.[a-z0-9-]+)*\.[a-z]+\/[!$&(-;=@-Z_a-z~]*(?:\?[!$%&(-;=?-Z_a-z~]*)?$/;

describe("a plain URL", () => {
  it("is the same by its bytes as by its text, and so is its host's end", () => {
    const random = testRandom("plain URLs");
    let plain = 0;
    for (let round = 0; round < 6_000; round++) {
      const start = random.unit() < 0.7 ? ["http://a.example.com", "https://b-c.org/"] : [];
      const count = 1 + random.below(5);
      const rest = Array.from({ length: count }, () => PIECES[random.below(PIECES.length)]);
      const url = [start[random.below(2)] ?? "", ...rest].join("");
      const before = "x".repeat(random.below(3));
      const bytes = Buffer.from(`${before}${url}/a.com/`, "utf8");
      const end = before.length + Buffer.byteLength(url);
      const found = plainHostEnd(bytes, before.length, end);
      const isPlain = PLAIN.test(url) && !url.includes("/.");
      const expected = isPlain ? url.indexOf("/", hostStartOf(url)) : 0;
      expect([url, found === 0 ? 0 : found - before.length]).toEqual([url, expected]);
      expect(hostEndOf({ url })).toBe(expected);
      expect(isPlainUrl(url)).toBe(isPlain);
      if (expected === 0) continue;
      plain++;
      expect(url.slice(hostStartOf(url), expected)).toBe(new URL(url).host);
    }
    expect(plain).toBeGreaterThan(300);
  });
});

/**
 * `(a+)+$` on a URL of 34 letters never returned: a caller's pattern ran over the URLs of strangers as it was given.
 *
 * Now the platform runs it where every way through it is few steps, and a search of our own elsewhere. Here it is held to that for a
 * hundred patterns that backtrack without end or for hours, and a hundred from everyday rules.
 */
import { afterEach, describe, expect, it } from "vitest";
import { compilePatterns } from "../../src/crawl/page/link-patterns.ts";
import { compileUrlPattern, type UrlPattern } from "../../src/base/pattern/url-pattern.ts";
import { createVirtualClock, type Frontier, openFrontier } from "../../src/index.ts";

function patternOf(source: string): UrlPattern {
  const pattern = compileUrlPattern(source, "u");
  if (typeof pattern === "string") throw new Error(pattern);
  return pattern;
}

/** A repeated piece, and what is repeated of it; each combination is ambiguous in more ways than a URL has letters. */
const PIECES = ["a", "[a-z]", "\\w", "[^/]", "(?:a|b)", "."];
const EXPONENTIAL = PIECES.flatMap((piece) => [
  `(${piece}+)+$`,
  `(${piece}*)*$`,
  `(?:${piece}+)*?!$`,
  `(${piece}|${piece})*$`,
  `(${piece}|${piece}${piece})+$`,
  `(${piece}?){3,}$`,
  `(?:(?:${piece}+)?)+!$`,
  `^(?:${piece}+${piece}+)+$`,
  `(?=(?:${piece}+)+$)!`,
  `(?<!^(?:${piece}+)+)!$`,
  `^(?!(?:${piece}+)+$)`,
]);
const POLYNOMIAL = PIECES.flatMap((piece) => [
  `${piece}*${piece}*${piece}*${piece}*!$`,
  `^${piece}*${piece}+${piece}*${piece}+!`,
  `(?:${piece}{0,40}){30}!$`,
  `${`${piece}?`.repeat(30)}${piece}{30}!$`,
  `${piece}*x${piece}*y${piece}*z!`,
]);
const REFERENCES = [
  "(a+)+\\1$",
  "(a*)*b\\1",
  "(.*)\\1(.*)\\2(.*)\\3!",
  ".*(/[^/]+)/[^/]+\\1/[^/]+\\1/!",
];
const BAD = [...EXPONENTIAL, ...POLYNOMIAL, ...REFERENCES];
const TRAPS = ["a".repeat(8_000), `${"a".repeat(8_000)}?`, "/a".repeat(4_000), "ab".repeat(4_000)];

const WORDS = ["news", "shop", "tag", "login", "print", "calendar", "product", "archive"];
const GOOD = [
  ...WORDS.flatMap((word) => [
    ...[
      `/${word}/`,
      `^https?://[^/]+/${word}/`,
      `/${word}/\\d+`,
      `[?&]${word}=`,
      `/${word}(?:/|$)`,
    ],
    ...[
      `\\b${word}\\b`,
      `^(?!.*${word}).*$`,
      `/${word}/[^/]+/?$`,
      `(?<!/)${word}`,
      `${word}.*page`,
    ],
    `^https?://(?:www\\.)?a\\.test/(?:[^/]+/)*${word}`,
  ]),
  ...["pdf", "jpe?g", "(?:png|gif)", "zip", "css", "js"].flatMap((end) => [
    `\\.${end}$`,
    `\\.${end}(?:\\?|$)`,
  ]),
  ...[
    "(\\w+\\.)+test/",
    "(/[^/]+)*$",
    "^https?://(?:[\\w-]+\\.)*b\\.test/",
    ".*",
    "",
    "^",
    "$",
    ".",
  ],
];
const PATHS = WORDS.flatMap((word, n) => [
  ...[
    `/${word}/`,
    `/${word}/${n}`,
    `/${word}`,
    `/x/${word}/a.pdf?${word}=2`,
    `/${word}er/photo.jpg`,
  ],
  ...[`/a/${word}.html?x=1&page=${n}`, `/a.pngs/${word}/b/`, `/${n}/b/c/d.zip?v=1`],
]);
const URLS = PATHS.flatMap((path) => [`https://www.a.test${path}`, `http://b.test${path}`]);

const opened: Frontier[] = [];
afterEach(async () => {
  for (const frontier of opened.splice(0)) await frontier.close();
});

async function openWith(options: Parameters<typeof openFrontier>[0]): Promise<Frontier> {
  const frontier = await openFrontier({ clock: createVirtualClock(), ...options });
  opened.push(frontier);
  return frontier;
}

describe("a pattern that backtracks without end", () => {
  it("is never run by the platform on a URL that was made for it, and answers", () => {
    expect(BAD.length).toBeGreaterThanOrEqual(100);
    for (const source of BAD) {
      const pattern = patternOf(source);
      expect(`${source} ${pattern.nativeLengthMax < 200}`).toBe(`${source} true`);
      for (const trap of TRAPS) expect(typeof pattern.test(trap)).toBe("boolean");
    }
  });

  it("answers what it means", () => {
    expect(patternOf("(a+)+$").test(`/${"a".repeat(34)}`)).toBe(true);
    expect(patternOf("(a+)+$").test(`/${"a".repeat(34)}!`)).toBe(false);
    expect(patternOf("^(?!(?:a+)+$)").test("a".repeat(5_000))).toBe(false);
    expect(patternOf("(?:a?){40}b$").test(`${"a".repeat(5_000)}b`)).toBe(true);
    expect(patternOf("(/[^/]+)\\1\\1").test(`${"/x".repeat(100)}/a/a/a`)).toBe(true);
    // Where the steps run out, it does not match.
    expect(patternOf("(.*)\\1(.*)\\2(.*)\\3!").test("a".repeat(8_000))).toBe(false);
  });

  it("is one of everyday rules: the answers are the platform's, for short URLs and long ones", () => {
    expect(new Set(GOOD).size).toBeGreaterThanOrEqual(100);
    const long = URLS.map((url) => `${url}${url.includes("?") ? "&" : "?"}q=${"v".repeat(300)}`);
    for (const source of GOOD) {
      const pattern = patternOf(source);
      const expression = new RegExp(source, "u");
      for (const url of [...URLS, ...long]) {
        if (pattern.test(url) !== expression.test(url)) expect.fail(`${source} on ${url}`);
      }
    }
  });

  it("is run by the platform on ordinary URLs where it is an ordinary pattern: as fast as before", () => {
    for (const source of ["/news/", "\\.(?:jpg|png|gif|pdf)$", "^https?://[^/]+/a/\\d+/"]) {
      expect(patternOf(source).nativeLengthMax).toBeGreaterThan(100);
    }
  });

  it("is refused where it counts too far, and the error names the part", async () => {
    const source = "^x(?:(?:a{100}){100}b){100}";
    const frontier = await openWith({});
    const expected = "counts that make at most 20000 states, not `(?:a{100}){100}`";
    const rule = { id: "r", match: { pattern: source } };
    expect(() => frontier.setRules([rule])).toThrow(expected);
    expect(() => frontier.remove({ pattern: source })).toThrow(expected);
    expect(() => compilePatterns({ exclude: [`regex:${source}`] })).toThrow(expected);
    const looks = "(?=a)".repeat(21);
    expect(() => frontier.remove({ pattern: looks })).toThrow("at most 20 look-arounds, not 21");
  });
});

describe("(a+)+$ on a URL of 34 letters", () => {
  const url = `http://a.test/${"a".repeat(34)}!`;

  it("answers in remove", async () => {
    const frontier = await openWith({});
    frontier.pushMany([url, `http://b.test/${"a".repeat(34)}`]);
    expect(frontier.remove({ pattern: "(a+)+$" })).toBe(1);
    expect(frontier.poll()?.url).toBe(url);
  });

  it("answers in a rule", async () => {
    const rules = [{ id: "bad", match: { pattern: "/(a+)+$" } }, { id: "rest" }];
    const frontier = await openWith({ rules });
    frontier.push({ url, data: 1 });
    frontier.pushMany([`${url}2`, "http://a.test/aaa"]);
    expect(
      frontier
        .pollMany(3)
        .map((lease) => lease.rule)
        .sort(),
    ).toEqual(["bad", "rest", "rest"]);
  });

  it("answers in include and exclude", () => {
    const patterns = compilePatterns({ exclude: ["regex:(a+)+$", `/${"**a".repeat(12)}`] });
    expect(patterns?.refusal(`http://a.test/${"a".repeat(34)}`)).toBe("exclude regex:(a+)+$");
    expect(patterns?.refusal(`http://a.test/${"b".repeat(8_000)}`)).toBe(undefined);
  });
});

import robotsParser from "robots-parser";
import { describe, expect, it } from "vitest";
import { createRandom } from "../../../../src/base/random.ts";
import { readRobots } from "../../../../src/crawl/robots/robots-rules.ts";
import { testSeed } from "../../../support/seed.ts";

const US = "Outrider/0.1 (+http://x)";
const at = "http://x.example";

/** Of these paths, those that are allowed. */
function allowed(lines: readonly string[], paths: readonly string[]): string[] {
  const { isAllowed } = readRobots(["User-agent: *", ...lines].join("\n"), US);
  return paths.filter((path) => isAllowed(at + path));
}

describe("rules of robots.txt", () => {
  it("the longest pattern decides, and of two alike the one that allows (RFC 9309, 5.2)", () => {
    const lines = ["Allow: /page", "Disallow: /page-not"];
    expect(allowed(lines, ["/page", "/page-not", "/other"])).toEqual(["/page", "/other"]);
    expect(allowed(["Disallow: /p", ...lines], ["/page", "/page-not", "/pot"])).toEqual(["/page"]);
    expect(allowed(["Disallow: /page", "Allow: /page"], ["/page"])).toEqual(["/page"]);
    expect(allowed(["Disallow:"], ["/page"])).toEqual(["/page"]);
  });

  it.each([
    ["/*.html$", ["/a.html", "/.html", "/x/a.html"], ["/a.html?x", "/a.htm"]],
    ["/a*b*c", ["/abc", "/axbxcx", "/abbc"], ["/acb", "/xabc"]],
    ["/a*", ["/a", "/ab"], ["/b"]],
    ["/a**$", ["/a", "/ab"], ["/b"]],
    ["*", ["/", "/x"], []],
    ["/$", ["/"], ["/x", "/?x"]],
    ["/a$b", ["/a$b", "/a$bc"], ["/a"]],
    ["/a*a$", ["/aa", "/axa"], ["/a", "/aab"]],
    ["a", [], ["/a"]],
  ])("%s takes what it says", (pattern, taken, left) => {
    expect(allowed([`Disallow: ${pattern}`], [...taken, ...left])).toEqual(left);
  });

  it("a letter is the same however it is spelled, and what is not a letter of it is not (RFC 9309, 2.2.2)", () => {
    expect(allowed(["Disallow: /private"], ["/%70rivate", "/p%72IVATE", "/priv"])).toEqual([
      "/p%72IVATE",
      "/priv",
    ]);
    expect(allowed(["Disallow: /%62az"], ["/baz", "/%62az", "/%42az"])).toEqual(["/%42az"]);
    expect(allowed(["Disallow: /a%2fb"], ["/a/b", "/a%2Fb"])).toEqual(["/a/b"]);
    expect(allowed(["Disallow: /日本"], ["/%e6%97%a5%e6%9c%ac", "/"])).toEqual(["/"]);
    expect(allowed(["Disallow: /{x}"], ["/%7Bx%7D", "/?{x}"])).toEqual(["/?{x}"]);
  });

  it("other records end no group, groups of one name are one, and ours goes before that of everybody", () => {
    const text = `User-agent: other\nSitemap: http://x/s\nHost: x\nUser-agent: OUTRIDER/9\nDisallow: /a
User-agent: *\nDisallow: /b\nCrawl-delay: 9\n\nUser-agent: outrider # us\nDisallow: /c\nCrawl-delay: 2`;
    const { isAllowed, crawlDelaySeconds, sitemaps } = readRobots(text, US);
    expect(["/a", "/b", "/c"].filter((path) => isAllowed(at + path))).toEqual(["/b"]);
    expect([crawlDelaySeconds, sitemaps]).toEqual([2, ["http://x/s"]]);
    // Named without a rule: nothing is forbidden to us.
    expect(readRobots("User-agent: outrider\n\nUser-agent: *\nCrawl-delay: 1", US)).toMatchObject({
      crawlDelaySeconds: 1,
    });
  });

  it.each([
    ["MyBot (+https://me)", "mybot", true],
    ["MyBot\t1.0", "MyBot/2 x", true],
    [" mybot/1 (a/b)", "MyBot", true],
    ["MyBot (+https://me)", "mybot (+https:", true],
    ["MyBot-News", "mybot", false],
  ])("%j is called by its product alone, %j: %s (RFC 9309, 2.2.1)", (agent, named, isUs) => {
    const { isAllowed } = readRobots(`User-agent: ${named}\nDisallow: /`, agent);
    expect(isAllowed(`${at}/x`)).toBe(!isUs);
  });

  it("a file that was made to multiply is read like any other, and so is a path against it", () => {
    // Each of these took minutes where a name, a rule or a star is looked at for every other.
    const names = Array.from({ length: 20_000 }, (_, n) => `User-agent: a${n}`);
    const files = [
      ["User-agent: *", ...names, ...Array<string>(15_000).fill("Disallow: /no")],
      [
        "User-agent: *",
        `Disallow: /${"*".repeat(250_000)}no`,
        `Disallow: /${"*a".repeat(100_000)}`,
      ],
      [
        "User-agent: *",
        ...Array.from({ length: 30_000 }, (_, n) => `Disallow: /*${n}x`),
        "Disallow: /*no",
      ],
    ];
    const paths = Array.from({ length: 20 }, (_, n) => `/${"a".repeat(4_000)}${n}`);
    for (const lines of files) {
      const { isAllowed } = readRobots(lines.join("\n"), US);
      expect(isAllowed(`${at}/no`)).toBe(false);
      for (const path of paths) isAllowed(at + path);
    }
  });

  it("is of one mind with robots-parser wherever that reads what the standard says", () => {
    const random = createRandom(testSeed("robots-rules"));
    const pick = <T>(list: readonly T[]): T => list[random.below(list.length)] as T;
    const some = (letters: string, most: number): string =>
      Array.from({ length: random.below(most + 1) }, () => pick([...letters])).join("");
    type Judge = { isAllowed(url: string, agent: string): boolean | undefined };
    const parse = robotsParser as unknown as (url: string, text: string) => Judge;
    for (let round = 0; round < 500; round++) {
      const lines = ["User-agent: *"];
      for (let rule = random.below(8); rule >= 0; rule--) {
        if (random.below(6) === 0) lines.push(`User-agent: ${pick(["outrider", "other", "*"])}`);
        lines.push(`${pick(["Allow", "Disallow"])}: /${some("ab/*?", 6)}${pick(["", "", "$"])}`);
      }
      const text = lines.join("\n");
      const ours = readRobots(text, US);
      const theirs = parse(`${at}/robots.txt`, text);
      for (let n = 0; n < 20; n++) {
        // It takes a query of nothing for none.
        const url = `${at}/${some("ab/?", 8)}x`;
        expect([text, url, ours.isAllowed(url)]).toEqual([text, url, theirs.isAllowed(url, US)]);
      }
    }
  });
});

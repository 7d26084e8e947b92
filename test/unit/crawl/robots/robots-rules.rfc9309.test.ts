import { describe, expect, it } from "vitest";
import { parseRobots } from "../../../../src/crawl/robots/robots-rules.ts";

const at = "https://www.example.com";

/** The file of RFC 9309, 5.1. */
const SIMPLE = `User-Agent: *
Disallow: *.gif$
Disallow: /example/
Allow: /publications/

User-Agent: foobot
Disallow:/
Allow:/example/page.html
Allow:/example/allowed.gif

User-Agent: barbot
User-Agent: bazbot
Disallow: /example/page.html

User-Agent: quxbot
`;
const PATHS = ["/", "/a.gif", "/a.gif?x", "/example/", "/example/page.html", "/publications/x"];

describe("robots.txt by RFC 9309", () => {
  it.each([
    ["everybody", ["/", "/a.gif?x", "/publications/x"]],
    ["foobot", ["/example/page.html"]],
    ["barbot", ["/", "/a.gif", "/a.gif?x", "/example/", "/publications/x"]],
    ["bazbot", ["/", "/a.gif", "/a.gif?x", "/example/", "/publications/x"]],
    ["quxbot", PATHS],
  ])("5.1: %s may visit %j", (agent, allowed) => {
    const { isAllowed } = parseRobots(SIMPLE);
    expect(PATHS.filter((path) => isAllowed(agent, at + path))).toEqual(allowed);
    expect(isAllowed("foobot", `${at}/example/allowed.gif`)).toBe(true);
  });

  it("5.2: the longest match decides", () => {
    const text = `User-Agent: foobot\nAllow: /example/page/\nDisallow: /example/page/disallowed.gif`;
    const { explain } = parseRobots(text);
    expect(explain("foobot", `${at}/example/page/disallow.gif`)).toEqual({
      isAllowed: true,
      line: 2,
      rule: "Allow: /example/page/",
      agent: "foobot",
    });
    expect(explain("foobot", `${at}/example/page/disallowed.gif`)).toMatchObject({
      isAllowed: false,
      line: 3,
    });
  });

  it.each([
    ["/foo/bar?baz=quz", "/foo/bar?baz=quz"],
    ["/foo/bar?baz=https://foo.bar", "/foo/bar?baz=https%3A%2F%2Ffoo.bar"],
    ["/foo/bar?baz=https%3A%2F%2Ffoo.bar", "/foo/bar?baz=https://foo.bar"],
    ["/foo/bar/ツ", "/foo/bar/%E3%83%84"],
    ["/foo/bar/%E3%83%84", "/foo/bar/%E3%83%84"],
    ["/foo/bar/%62%61%7A", "/foo/bar/baz"],
    ["/foo/bar/baz", "/foo/bar/%62%61%7A"],
    ["/path/file-with-a-%2A.html", "/path/file-with-a-*.html"],
    ["/path/foo-%24", "/path/foo-$"],
  ])("2.2.2 and 2.2.3: Disallow: %s takes %s", (pattern, path) => {
    const { isAllowed } = parseRobots(`User-agent: *\nDisallow: ${pattern}`);
    expect(isAllowed("a", at + path)).toBe(false);
    expect(isAllowed("a", `${at}/foo/other`)).toBe(true);
  });

  it("2.2.2: an Allow takes what a URL spells in octets, and Google's parser agrees that it does not the other way round", () => {
    const taken = (pattern: string, path: string): boolean =>
      parseRobots(`User-agent: *\nDisallow: /\nAllow: ${pattern}`).isAllowed("a", at + path);
    expect(taken("/~user", "/%7Euser")).toBe(true);
    expect(taken("/?a=https://b", "/?a=https%3A%2F%2Fb")).toBe(true);
    expect(taken("/*=https%3A", "/?a=https%3Ab")).toBe(true);
    expect(taken("/%7Euser", "/~user")).toBe(false);
    expect(taken("/a%2Fb", "/a/b")).toBe(false);
  });

  it("names groups, sitemaps and delays, and the line of every rule, whatever ends a line", () => {
    for (const end of ["\n", "\r", "\r\n"]) {
      const lines = [
        ...["# robots", "User-Agent: a/2", "User-agent: *", "Crawl-delay: 4", "", "Allow: /x"],
        ...["Site-map: /s.xml", "User-agent: b", "Crawl-delay: 2", "User-agent: c", "Disallow:"],
      ];
      const file = parseRobots(Buffer.from(lines.join(end)));
      expect(file.groups).toEqual([
        {
          ...{ agents: ["a/2", "*"], line: 2 },
          rules: [{ line: 6, isAllow: true, pattern: "/x" }],
        },
        { agents: ["b", "c"], line: 8, rules: [{ line: 11, isAllow: false, pattern: "" }] },
      ]);
      expect(file.sitemaps).toEqual(["/s.xml"]);
      const delays = ["a", "other", "b", "c"].map((agent) => file.crawlDelaySeconds(agent));
      expect(delays).toEqual([4, 4, 2, undefined]);
      expect(file.explain("other", `${at}/x`)).toMatchObject({ line: 6, agent: "*" });
      expect(file.explain("b", `${at}/x`)).toEqual({
        ...{ isAllowed: true, line: undefined, rule: undefined, agent: "b" },
      });
    }
  });

  it.each([
    ["\ufeff", true],
    ["\ufffd", true],
    ["\u00ef\u00bb\u00bf", true],
    ["\u00ef\u00bb", true],
    ["\u00ef", true],
    ["\u00ef\u0011\u00bf", false],
  ])("2.2: after %j a file begins: %s", (mark, isRead) => {
    const { isAllowed, groups } = parseRobots(`${mark}User-Agent: foo\nDisallow: /`);
    expect(isAllowed("foo", at)).toBe(!isRead);
    expect(groups).toHaveLength(Number(isRead));
    const inside = parseRobots("User-Agent: foo\n\ufeffDisallow: /\nDisallow: /x\0y");
    expect(["/", "/x"].map((path) => inside.isAllowed("foo", at + path))).toEqual([true, false]);
  });
});

import { describe, expect, it } from "vitest";
import { compilePatterns } from "../../../../src/crawl/page/link-patterns.ts";

const SITE = "https://x.test";

describe("patterns for links", () => {
  it.each([
    ["*.pdf", ["/a.pdf", "/a/b/c.pdf", "/c.pdf?x=1", "/c.pdf#top"], ["/a.pdf/b", "/a.html"]],
    ["/docs/*", ["/docs/", "/docs/a"], ["/docs/a/b", "/docs", "/x/docs/a"]],
    ["/docs/**", ["/docs/", "/docs/a/b"], ["/docs", "/x/docs/a"]],
    ["/{a,b}/c", ["/a/c", "/b/c"], ["/c/c", "/ab/c", "/a,b/c"]],
    ["*?print=*", ["/a?print=1", "/b/a?print=1"], ["/a?p=1", "/a/print=1"]],
    ["https://x.test/a.b", ["/a.b"], ["/a.b/", "/axb"]],
    ["a(b", ["/a(b", "/d/a(b"], ["/ab"]],
    ["{a", ["/a"], ["/b"]],
    ["regex:/v\\d+/", ["/v1/", "/a/v12/b"], ["/v/"]],
  ])("%s takes what it says and nothing else", (pattern, right, wrong) => {
    const patterns = compilePatterns({ include: [pattern] });
    const left = (path: string) => patterns?.refusal(`${SITE}${path}`);
    expect(right.filter((path) => left(path) !== undefined)).toEqual([]);
    expect(wrong.filter((path) => left(path) === undefined)).toEqual([]);
  });

  it("what is excluded is left out though it is included, and the pattern is named", () => {
    const patterns = compilePatterns({ include: ["/docs/**"], exclude: ["*.pdf", "regex:old"] });
    expect(patterns?.refusal(`${SITE}/docs/a.pdf`)).toBe("exclude *.pdf");
    expect(patterns?.refusal(`${SITE}/docs/old/a`)).toBe("exclude regex:old");
    expect(patterns?.refusal(`${SITE}/else`)).toBe("include");
    expect(patterns?.refusal(`${SITE}/docs/a`)).toBe(undefined);
    expect(patterns?.refusal("no URL")).toBe(undefined);
    expect(compilePatterns({})).toBe(undefined);
  });

  it("an expression that is none is refused by its place", () => {
    expect(() => compilePatterns({ exclude: ["*.pdf", "regex:("] })).toThrow("options.exclude[1]");
    expect(() => compilePatterns({ include: [""] })).toThrow("options.include[0]");
  });

  it("many stars cost no more than a look each", () => {
    const patterns = compilePatterns({ exclude: [`/${"**a".repeat(6)}`] });
    expect(patterns?.refusal(`${SITE}/${"b".repeat(8_000)}`)).toBe(undefined);
  });
});

import { describe, expect, it } from "vitest";
import { isDeadLink } from "../../../../src/url/parsing/page-links.ts";
import { resolveLinksPlain } from "../../../support/plain-url.ts";

describe("isDeadLink", () => {
  it("drops what is blank, # and javascript, in every spelling", () => {
    for (const href of [
      "",
      " \n\t",
      "#",
      " # ",
      "javascript:void(0)",
      " JavaScript: x",
      "javascript;",
      "void(0)",
      "VOID (0);",
      "\u0000javascript:",
    ])
      expect([href, isDeadLink(href)]).toEqual([href, true]);
  });

  it("keeps links that only look alike", () => {
    for (const href of ["#top", "javascript.html", "/javascript:x", "void", "avoid(1)", "?", "."])
      expect([href, isDeadLink(href)]).toEqual([href, false]);
  });

  it("takes time that grows with the length of what a page wrote, not with its square", () => {
    const blanks = " \n".repeat(500_000); // the square of which would take hours
    for (const href of [`${blanks}x`, `#${blanks}x`, `${blanks}javascript${blanks}`])
      expect(isDeadLink(href)).toBe(false);
    for (const href of [blanks, `${blanks}#${blanks}`, `${blanks}javascript${blanks}:`])
      expect(isDeadLink(href)).toBe(true);
  });
});

describe("resolveLinksPlain", () => {
  it("resolves links in order and drops those that lead nowhere", () => {
    const links = [
      "b",
      "",
      "#",
      "/C?b&a",
      "javascript:x",
      "java\nscript:x",
      "mailto:a@b",
      "tel:1",
      "data:,x",
      "http://[",
      "//H/",
      "../d#e",
      "#top",
      "b",
    ];
    expect(resolveLinksPlain("http://x/a/a", links)).toEqual([
      "http://x/a/b",
      "http://x/C?b&a",
      "http://h/",
      "http://x/d#e",
      "http://x/a/a#top",
      "http://x/a/b",
    ]);
  });

  it("keeps absolute links where the base is no URL, and passes over what is no text", () => {
    const links = ["b", "http://y", 5, null, "#"] as string[];
    expect(resolveLinksPlain("nonsense", links)).toEqual(["http://y/"]);
  });
});

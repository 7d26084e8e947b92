import { describe, expect, it } from "vitest";
import { createRandom } from "../../../../src/base/random.ts";
import {
  canonicalize,
  canonicalizeMany,
  resolveLinks,
} from "../../../../src/engine/api/url-functions.ts";
import { normalizePolicy, TRACKING_PARAMS } from "../../../../src/url/keys/key-policy.ts";
import { linkCorpus } from "../../../support/corpus.ts";
import { fuzzUrl } from "../../../support/fuzz.ts";
import { testSeed } from "../../../support/seed.ts";
import { canonicalizePlain, resolveLinksPlain } from "../../../support/plain-url.ts";

const ODD_URLS = [
  "",
  "\0",
  "http://a\0b/",
  "http://h/\ud800",
  "http://h/\udc00?\ud83d\ude00",
  "http://b\u00fccher.example/",
  `http://h/${"a".repeat(65_536)}`,
  `http://h/${"\u4e2d".repeat(3_000)}`,
  `http://h/?${"b&a&".repeat(100)}`,
  "javascript:void(0)",
  "mailto:a@b",
  "HTTP://H:80/../x?b=1&a=2#f",
];

describe("canonicalize", () => {
  it("gives the dedup key's URL and undefined for what no crawler can visit", () => {
    expect(canonicalize("HTTP://Example.com:80/a/../b?z=1&a=2#top")).toBe(
      "http://example.com/b?a=2&z=1",
    );
    expect(canonicalize("http://u@h/?utm_source=x&id=1", { dropParams: ["utm_*"] })).toBe(
      "http://u@h/?id=1",
    );
    expect(canonicalize("ftp://h/")).toBeUndefined();
    expect(canonicalize("no url")).toBeUndefined();
    expect(canonicalize(7 as unknown as string)).toBeUndefined();
  });

  it("refuses a policy that is none", () => {
    expect(() => canonicalize("http://h/", { fragment: "x" as "keep" })).toThrow("policy.fragment");
    expect(() => canonicalizeMany([], { sortQuery: 1 as unknown as boolean })).toThrow(
      "policy.sortQuery",
    );
  });

  it("agrees with the oracle one by one and in a list, whatever comes before and after", () => {
    const random = createRandom(testSeed("canonicalize"));
    const urls = [...ODD_URLS, ...Array.from({ length: 3_000 }, () => fuzzUrl(random))];
    for (const policy of [undefined, { dropParams: [...TRACKING_PARAMS] }, { profile: "w3lib" }]) {
      const given = policy as Parameters<typeof canonicalize>[1];
      const wanted = urls.map((url) => canonicalizePlain(url, normalizePolicy(given)));
      expect(canonicalizeMany(urls, given)).toEqual(wanted);
      expect(urls.map((url) => canonicalize(url, given))).toEqual(wanted);
    }
  });

  it("gives nothing for entries of a list that are no strings", () => {
    const list = ["http://a", null, 5, {}, "http://b"] as unknown as string[];
    const keys = ["http://a/", undefined, undefined, undefined, "http://b/"];
    expect(canonicalizeMany(list)).toEqual(keys);
  });
});

describe("resolveLinks", () => {
  it("resolves links in order and drops blank ones, # and javascript:", () => {
    const links = ["b", " ", "#", "", "javascript:go()", "#x", "//o.org", "?q", "mailto:a", "/c"];
    expect(resolveLinks("https://e.org/a/", links)).toEqual([
      "https://e.org/a/b",
      "https://e.org/a/#x",
      "https://o.org/",
      "https://e.org/a/?q",
      "https://e.org/c",
    ]);
  });

  it("agrees with the oracle on link text and hostile text, with good and bad bases", () => {
    for (const { base, href } of linkCorpus(2_000, 7)) {
      expect(resolveLinks(base, [href])).toEqual(resolveLinksPlain(base, [href]));
    }
    const random = createRandom(testSeed("resolveLinks"));
    for (let round = 0; round < 100; round++) {
      const base = round % 3 === 0 ? fuzzUrl(random) : "http://h.example/a/b?c#d";
      const links = Array.from({ length: 300 }, () => fuzzUrl(random));
      expect(resolveLinks(base, links)).toEqual(resolveLinksPlain(base, links));
    }
  });

  it("takes any iterable and passes over what is no string", () => {
    const links = new Set<unknown>(["x", undefined, 3, "y"]) as Set<string>;
    expect(resolveLinks("http://h/", links)).toEqual(["http://h/x", "http://h/y"]);
  });
});

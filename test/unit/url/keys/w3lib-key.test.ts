import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { canonicalize, canonicalizeMany } from "../../../../src/engine/api/url-functions.ts";
import { type ParsedUrl, parseUrl } from "../../../../src/url/parsing/canonical-parser.ts";
import { keyOfHref } from "../../../../src/url/keys/dedup-key.ts";
import { type KeyPolicy, normalizePolicy } from "../../../../src/url/keys/key-policy.ts";
import { canonicalizePlain } from "../../../support/plain-url.ts";

function key(url: string, policy: KeyPolicy = {}): string | undefined {
  return canonicalizePlain(url, normalizePolicy({ profile: "w3lib", ...policy }));
}

/** Pushed URL, key: the rules of docs/formats/canonical-url.md §4, one by one. */
const TABLE: ReadonlyArray<readonly [rule: string, pushed: string, key: string]> = [
  ["controls and spaces at the ends go", "\u0001 http://x/a \n", "http://x/a"],
  ["tabs and newlines go everywhere", "ht\ttp://x/a\nb", "http://x/ab"],
  ["the scheme is lower-case", "HTTPS://x/", "https://x/"],
  ["the host is lower-case, the user info not", "http://Us:Pw@HOST/A", "http://Us:Pw@host/A"],
  ["colons at the host's end go", "http://x:/a", "http://x/a"],
  ["the default port stays", "http://x:80/", "http://x:80/"],
  ["www. stays", "http://www.x/", "http://www.x/"],
  ["a trailing slash stays", "http://x/a/", "http://x/a/"],
  ["dot segments stay", "http://x/a/./../b", "http://x/a/./../b"],
  ["an empty path becomes /", "http://x", "http://x/"],
  ["an empty path becomes / before a query", "http://x?a=1", "http://x/?a=1"],
  ["IDNA hosts become ASCII", "http://B\u00fccher.de:81/", "http://xn--bcher-kva.de:81/"],
  [
    "unsafe characters of a path are encoded",
    'http://x/a b"<>^`{}\\',
    "http://x/a%20b%22%3C%3E%5E%60%7B%7D%5C",
  ],
  ["| is safe in a path", "http://x/a|b", "http://x/a|b"],
  ["non-ASCII is UTF-8", "http://x/r\u00e9s", "http://x/r%C3%A9s"],
  ["triples get upper-case digits", "http://x/%c3%a9%20", "http://x/%C3%A9%20"],
  ["safe triples are decoded in a path", "http://x/%7e%61%3b%40%2b%25", "http://x/~a;@+%"],
  ["%2F and %3F stay escaped", "http://x/a%2fb%3fc", "http://x/a%2Fb%3Fc"],
  ["# stays escaped in a path", "http://x/a%23b", "http://x/a%23b"],
  ["bytes that are no UTF-8 stay bytes", "http://x/%a3%FF", "http://x/%A3%FF"],
  ["a lone % stays", "http://x/100%/%zz", "http://x/100%/%zz"],
  ["parameters after ; are quoted only", "http://x/a;b%c3 c;d?e", "http://x/a;b%c3%20c;d?e="],
  ["an empty ; goes", "http://x/a;", "http://x/a"],
  [
    "arguments are sorted by name, then value",
    "http://x/?c=3&b=5&b=2&a=50",
    "http://x/?a=50&b=2&b=5&c=3",
  ],
  ["arguments split at & and ;", "http://x/?b=1;a=2&c", "http://x/?a=2&b=1&c="],
  ["empty pieces at & go", "http://x/?&a=1&&", "http://x/?a=1"],
  ["empty pieces at ; stay", "http://x/?a=1;", "http://x/?=&a=1"],
  ["only empty pieces: no query", "http://x/?&&", "http://x/"],
  ["an empty query goes", "http://x/?", "http://x/"],
  ["blank values stay, with =", "http://x/?b=&a", "http://x/?a=&b="],
  ["spaces become +", "http://x/?a=b c&d=e+f&g=h%20i", "http://x/?a=b+c&d=e+f&g=h+i"],
  ["a plus of a name is a space, too", "http://x/?a+b=1", "http://x/?a+b=1"],
  ["a plus in a triple stays one", "http://x/?a=%2b", "http://x/?a=%2B"],
  [
    "all but letters, digits and _.-~ is encoded in a query",
    "http://x/?a=/:@!$'()*,~_.-",
    "http://x/?a=%2F%3A%40%21%24%27%28%29%2A%2C~_.-",
  ],
  ["the value begins at the first =", "http://x/?a=b=c", "http://x/?a=b%3Dc"],
  ["a second ? belongs to the query", "http://x/?a?b=1", "http://x/?a%3Fb=1"],
  ["query bytes that are no UTF-8 stay bytes", "http://x/?q=b%a3", "http://x/?q=b%A3"],
  ["a lone % of a query is encoded", "http://x/?a=%&b=%zz", "http://x/?a=%25&b=%25zz"],
  [
    "sorting looks at decoded bytes",
    "http://x/?%62=1&a=2&%C3%A9=3&z=4",
    "http://x/?a=2&b=1&z=4&%C3%A9=3",
  ],
  ["the fragment goes", "http://x/a#b", "http://x/a"],
  ["session ids stay", "http://x/a;jsessionid=1?sid=2", "http://x/a;jsessionid=1?sid=2"],
  ["what the Standard repairs is not repaired", "http:/x/a\\b", "http:/x/a%5Cb"],
  ["a backslash is part of the host", "http://X\\\u00e9/a", "http://x\\%C3%A9/a"],
];

describe("profile w3lib", () => {
  for (const [rule, pushed, expected] of TABLE) {
    it(rule, () => {
      expect(key(pushed)).toBe(expected);
    });
  }

  it("is the same rule by rule for one URL and for many, from the outside", () => {
    const policy: KeyPolicy = { profile: "w3lib" };
    const keys = TABLE.map(([, , expected]) => expected);
    const pushed = TABLE.map(([, url]) => url);
    expect(pushed.map((url) => canonicalize(url, policy))).toEqual(keys);
    expect(canonicalizeMany(pushed, policy)).toEqual(keys);
  });

  it("gives the keys that w3lib gave, with fragments and without", () => {
    // Hostile URLs and link text; those that later versions of w3lib read otherwise are not among them.
    const path = new URL("../../../golden/w3lib-keys.jsonl", import.meta.url);
    const [, ...rows] = readFileSync(path, "utf8")
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as [url: string, dropped: string, kept?: string]);
    expect(rows.length).toBe(400);
    const urls = rows.map(([url]) => url);
    const dropped = rows.map((row) => row[1]);
    const kept = rows.map((row) => row[2] ?? row[1]);
    for (const [fragment, keys] of [["drop", dropped] as const, ["keep", kept] as const]) {
      const policy: KeyPolicy = { profile: "w3lib", fragment };
      expect(urls.map((url) => key(url, policy))).toEqual(keys);
      expect(urls.map((url) => canonicalize(url, policy))).toEqual(keys);
      expect(canonicalizeMany(urls, policy)).toEqual(keys);
    }
  });

  it("keeps the fragment where asked", () => {
    const policy: KeyPolicy = { fragment: "keep" };
    expect(key("http://x/a#b \u00e9#%c3", policy)).toBe("http://x/a#b%20%C3%A9#%c3");
    expect(key("http://x/a#", policy)).toBe("http://x/a");
  });

  it("still takes crawlable URLs only", () => {
    expect(key("ftp://x/")).toBeUndefined();
    expect(key("http://a b/")).toBeUndefined();
  });

  it("starts from the resolved link where there is a base", () => {
    const base = parseUrl("http://x/a/b", undefined, 8192) as ParsedUrl;
    const link = parseUrl("../C?b&a", base, 8192) as ParsedUrl;
    expect(keyOfHref(link, normalizePolicy({ profile: "w3lib" }))).toBe("http://x/C?a=&b=");
  });

  it("has the seed example of equal URLs", () => {
    expect(key("http://x/q?id=111&cat=222")).toBe(key("http://x/q?cat=222&id=111"));
  });
});

import { describe, expect, it } from "vitest";
import { createRandom, type Random } from "../../../../src/base/random.ts";
import { type ParsedUrl, parseUrl } from "../../../../src/url/parsing/canonical-parser.ts";
import { keyOfHref, matchesAny, visitUrl } from "../../../../src/url/keys/dedup-key.ts";
import {
  type KeyPolicy,
  normalizePolicy,
  TRACKING_PARAMS,
} from "../../../../src/url/keys/key-policy.ts";
import { linkCorpus, urlCorpus } from "../../../support/corpus.ts";
import { fuzzUrl } from "../../../support/fuzz.ts";
import { stressRounds, testSeed } from "../../../support/seed.ts";
import { canonicalizePlain } from "../../../support/plain-url.ts";

function key(url: string, policy: KeyPolicy = {}): string | undefined {
  return canonicalizePlain(url, normalizePolicy(policy));
}

describe("keyOfHref, profile canonical", () => {
  it("drops fragments, keeps user info, sorts parameters, normalises percent-encoding", () => {
    expect(key("http://u:%70@x/a#b")).toBe("http://u:p@x/a");
    expect(key("http://x?id=111&cat=222")).toBe(key("http://x/?cat=222&id=111"));
    expect(key("http://x/?b=2&a=2&a=10&A=1&a&a=")).toBe("http://x/?A=1&a&a=&a=10&a=2&b=2");
    expect(key("http://x/%7e%41%c3%a9%2f%zz%%32e?%7e=%3d")).toBe(
      "http://x/~A%C3%A9%2F%25zz%252e?~=%3D",
    );
    expect(key("http://x/a?")).toBe("http://x/a");
    expect(key("http://x/a?&&")).toBe("http://x/a");
    expect(key("http://x/a?&b&&a&")).toBe("http://x/a?a&b");
    expect(key("http://x/?%61=2&a=1&a%3D=0")).toBe("http://x/?a=1&a=2&a%3D=0");
    expect(key("http://x/?a?b#c?d")).toBe("http://x/?a?b");
  });

  it("sorts by bytes of name, then of value, and keeps equal names and values in place", () => {
    expect(key("http://x/?a=&a&a=")).toBe("http://x/?a=&a&a=");
    expect(key("http://x/?ab=1&a=2&a!=3")).toBe("http://x/?a=2&a!=3&ab=1");
    expect(key("http://x/?%C3%A9=1&z=1&Z=1&~=1")).toBe("http://x/?%C3%A9=1&Z=1&z=1&~=1");
  });

  it("keeps fragments where asked, but never an empty one", () => {
    expect(key("http://x/?b&a#%7e%", { fragment: "keep" })).toBe("http://x/?a&b#~%25");
    expect(key("http://x/#", { fragment: "keep" })).toBe("http://x/");
  });

  it("drops user info where asked", () => {
    expect(key("https://u:p@x:8/y", { userInfo: "drop" })).toBe("https://x:8/y");
    expect(key("https://x/y@z", { userInfo: "drop" })).toBe("https://x/y@z");
  });

  it("leaves the order of parameters with sortQuery false, and an empty query goes", () => {
    expect(key("http://x/?b&&a", { sortQuery: false })).toBe("http://x/?b&&a");
    expect(key("http://x/?", { sortQuery: false })).toBe("http://x/");
    expect(key("http://x/?b&&a&c", { sortQuery: false, dropParams: ["c"] })).toBe("http://x/?b&a");
  });

  it("keeps only the named parameters, in the list's order", () => {
    const url = "http://x/?c=3&b=2&a=1&b=1&B=0";
    expect(key(url, { keepParams: ["b", "a"] })).toBe("http://x/?b=1&b=2&a=1");
    expect(key(url, { keepParams: ["b", "a"], sortQuery: false })).toBe("http://x/?b=2&b=1&a=1");
    expect(key(url, { keepParams: ["z"] })).toBe("http://x/");
    expect(key(url, { keepParams: [] })).toBe("http://x/");
    expect(key(url, { keepParams: "none" })).toBe("http://x/");
    expect(key("http://x/?%C3%BC=1&a%20b=2", { keepParams: ["a b", "\u00fc"] })).toBe(
      "http://x/?a%20b=2&%C3%BC=1",
    );
    expect(key(url, { keepParams: ["a", "b"], dropParams: ["A"] })).toBe("http://x/?b=1&b=2");
  });

  it("of profile url keeps the listed parameters as they were pushed, in the list's order", () => {
    const pushed = "http://X/%7ea?c=3&b=2&%61=+&b=1&B=0#f?a=9";
    const keep = (keepParams: string[] | "none", more: KeyPolicy = {}) =>
      key(pushed, { profile: "url", keepParams, ...more });
    expect(keep(["b", "a"])).toBe("http://X/%7ea?b=2&b=1&%61=+#f?a=9");
    expect(keep(["b", "a"], { fragment: "drop" })).toBe("http://X/%7ea?b=2&b=1&%61=+");
    expect(keep("none")).toBe("http://X/%7ea#f?a=9");
    expect(keep(["z"])).toBe("http://X/%7ea#f?a=9");
    expect(key("http://x/#?a=1", { profile: "url", keepParams: ["b"] })).toBe("http://x/#?a=1");
  });

  it("drops parameters by pattern, in query and path, whatever their case", () => {
    const dropParams = ["utm_*", "\u00fc", "SID", "*_x_*"];
    expect(key("http://x/?UTM_source=1&utm=2&%c3%bc=3&sid&a_x_=4&id=5", { dropParams })).toBe(
      "http://x/?id=5&utm=2",
    );
    expect(key("http://x/a;sid=1;b;Sid/c;utm_x;d?sid", { dropParams })).toBe("http://x/a;b/c;d");
    expect(key("http://x/;sid=1", { dropParams })).toBe("http://x/");
    expect(key("http://x/a;sid=1", {})).toBe("http://x/a;sid=1");
    expect(key("http://x/?a=1", { dropParams: ["*"] })).toBe("http://x/");
  });

  it("leaves a segment whole that would become a dot segment", () => {
    expect(key("http://x/a/..;sid=1/b", { dropParams: ["sid"] })).toBe("http://x/a/..;sid=1/b");
    expect(key("http://x/a/.;sid/b", { dropParams: ["sid"] })).toBe("http://x/a/.;sid/b");
    expect(key("http://x/a/..;b;sid", { dropParams: ["sid"] })).toBe("http://x/a/..;b");
  });

  it("knows the trackers and sessions that people drop", () => {
    const dropParams = [...TRACKING_PARAMS];
    const url = "http://x/p;jsessionid=9?utm_source=a&gclid=b&fbclid=c&PHPSESSID=d&sid=e&id=f";
    expect(key(url, { dropParams })).toBe("http://x/p?id=f");
    expect(key("http://x/?side=1&inside=2&utm=3", { dropParams })).toBe(
      "http://x/?inside=2&side=1&utm=3",
    );
  });

  it("has no key where it grows over the limit", () => {
    const url = `http://x/?${"%".repeat(3000)}`;
    expect(key(url)).toBeUndefined();
    expect(keyOfHref(parseUrl(url, undefined, 8192) as ParsedUrl, normalizePolicy({}), 9100)).toBe(
      `http://x/?${"%25".repeat(3000)}`,
    );
  });
});

describe("keyOfHref, profile url", () => {
  it("is the pushed string, or the resolved one where there was a base", () => {
    const policy: KeyPolicy = { profile: "url" };
    expect(key(" HTTP://X:80/?b&a#\u00e9\ud800", policy)).toBe(" HTTP://X:80/?b&a#\u00e9\ufffd");
    expect(key("http://[", policy)).toBeUndefined();
    expect(key("http://X/a#b#c", { ...policy, fragment: "drop" })).toBe("http://X/a");
    const base = parseUrl("http://x/a/", undefined, 8192) as ParsedUrl;
    const link = parseUrl("B#c", base, 8192) as ParsedUrl;
    expect(keyOfHref(link, normalizePolicy(policy))).toBe("http://x/a/B#c");
  });

  it("measures the key in UTF-8 bytes", () => {
    const link = parseUrl("http://x/\u00e9", undefined, 8192) as ParsedUrl;
    expect(keyOfHref(link, normalizePolicy({ profile: "url" }), 11)).toBe("http://x/\u00e9");
    expect(keyOfHref(link, normalizePolicy({ profile: "url" }), 10)).toBeUndefined();
  });
});

describe("visitUrl", () => {
  it("is the serialisation, with its fragment only where the policy keeps it", () => {
    const link = parseUrl("http://X/?b&a#f", undefined, 8192) as ParsedUrl;
    expect(visitUrl(link, normalizePolicy({}))).toBe("http://x/?b&a");
    expect(visitUrl(link, normalizePolicy({ fragment: "keep" }))).toBe("http://x/?b&a#f");
    const empty = parseUrl("http://x/#", undefined, 8192) as ParsedUrl;
    expect(visitUrl(empty, normalizePolicy({ fragment: "keep" }))).toBe("http://x/");
  });

  it("that is canonical under profile url is the serialisation of what the key keeps", () => {
    const visited = (pushed: string, policy: KeyPolicy) =>
      visitUrl(
        parseUrl(pushed, undefined, 8192) as ParsedUrl,
        normalizePolicy({ profile: "url", visit: "canonical", ...policy }),
      );
    const pushed = " HTTP://X:80/\u00fc?c=3&b=\u00e9&%61=+&b=1&B=0#f?a=9";
    const keepParams = ["b", "a"];
    expect(visited(pushed, { keepParams })).toBe("http://x/%C3%BC?b=%C3%A9&b=1&%61=+#f?a=9");
    expect(visited(pushed, { keepParams, fragment: "drop" })).toBe(
      "http://x/%C3%BC?b=%C3%A9&b=1&%61=+",
    );
    expect(visited(pushed, { keepParams: "none" })).toBe("http://x/%C3%BC#f?a=9");
    expect(visited(pushed, { keepParams: ["z"], fragment: "drop" })).toBe("http://x/%C3%BC");
    expect(visited(pushed, {})).toBe("http://x/%C3%BC?c=3&b=%C3%A9&%61=+&b=1&B=0#f?a=9");
    expect(visited(pushed, { keepParams, visit: "pushed", fragment: "drop" })).toBe(
      "http://x/%C3%BC?c=3&b=%C3%A9&%61=+&b=1&B=0",
    );
    // The page of `/ ` stays that of `/%20`, though the key ends in a space; a tab in a name is part of it.
    expect(visited("http://x/ ?c", { keepParams })).toBe("http://x/%20");
    expect(visited("http://x/?a\t=1&b=\t2", { keepParams })).toBe("http://x/?b=2");
    expect(visited("http://x/?", { keepParams })).toBe("http://x/");
    expect(visited("http://x/?b#", { keepParams })).toBe("http://x/?b");
  });
});

describe("matchesAny", () => {
  it("takes * for any run, also an empty one, anywhere", () => {
    const cases: Array<[string, string, boolean]> = [
      ["utm_source", "utm_*", true],
      ["utm_", "utm_*", true],
      ["utm", "utm_*", false],
      ["UTM_X", "utm_*", true],
      ["abcabd", "*abd", true],
      ["abab", "a*b*b", true],
      ["ab", "a*b*b", false],
      ["", "*", true],
      ["", "", true],
      ["a", "", false],
      ["a", "a**", true],
      ["xay", "a", false],
    ];
    for (const [name, pattern, expected] of cases)
      expect([name, pattern, matchesAny(name, [pattern])]).toEqual([name, pattern, expected]);
  });

  it("takes patterns of many stars without stalling", () => {
    expect(matchesAny("a".repeat(8000), [`${"*a".repeat(400)}b`])).toBe(false);
  });
});

/** A policy of profile canonical, lists included. */
function anyPolicy(random: Random): KeyPolicy {
  const policy: KeyPolicy = {};
  if (random.below(2) === 0) policy.fragment = "keep";
  if (random.below(2) === 0) policy.userInfo = "drop";
  if (random.below(3) === 0) policy.sortQuery = false;
  if (random.below(3) === 0) policy.keepParams = ["b", "a", "\u00fc"];
  if (random.below(3) === 0) policy.dropParams = ["utm_*", "sid", "x", "a*", "jsessionid"];
  return policy;
}

describe("keys under fuzz", () => {
  it("are the keys of themselves under every policy (I1)", () => {
    const random = createRandom(testSeed("key fuzz"));
    const rounds = stressRounds(30_000, 5_000);
    let keys = 0;
    for (let i = 0; i < rounds; i++) {
      const text = fuzzUrl(random);
      const policy = normalizePolicy(anyPolicy(random));
      const once = canonicalizePlain(text, policy);
      if (once === undefined) continue;
      keys++;
      const twice = canonicalizePlain(once, policy);
      if (twice !== once) expect.fail(`${JSON.stringify(text)}: ${once} then ${twice}`);
      const parsed = parseUrl(once, undefined, 8192);
      if (typeof parsed === "number" || parsed.href !== once) expect.fail(`I2: ${once}`);
    }
    expect(keys).toBeGreaterThan(rounds / 20);
  });

  it("never throw under the other profiles", () => {
    const random = createRandom(testSeed("other profiles"));
    const policies = [
      normalizePolicy({ profile: "url" }),
      normalizePolicy({ profile: "w3lib" }),
      normalizePolicy({ profile: "w3lib", fragment: "keep" }),
    ];
    const keys = policies.map(() => 0);
    for (let i = 0; i < 10_000; i++) {
      const text = fuzzUrl(random);
      for (const [at, policy] of policies.entries())
        if (canonicalizePlain(text, policy) !== undefined) (keys[at] as number)++;
    }
    // What is no URL has no key under any profile, and most of the texts are near to one.
    expect(new Set(keys).size).toBe(1);
    expect(keys[0]).toBeGreaterThan(500);
  });
});

describe("the corpora", () => {
  it("urlCorpus gives distinct URLs that are their own key, the same for one seed", () => {
    const urls = urlCorpus(20_000, 7);
    const policy = normalizePolicy({});
    for (const url of urls) if (canonicalizePlain(url, policy) !== url) expect.fail(url);
    expect(new Set(urls).size).toBe(urls.length);
    expect(urlCorpus(100, 7)).toEqual(urlCorpus(100, 7));
    const hosts = new Map<string, number>();
    for (const url of urls) hosts.set(new URL(url).host, (hosts.get(new URL(url).host) ?? 0) + 1);
    expect(Math.max(...hosts.values())).toBeGreaterThan(1000);
    expect(hosts.size).toBeGreaterThan(600);
    const bytes = urls.reduce((sum, url) => sum + url.length, 0) / urls.length;
    expect(bytes).toBeGreaterThan(50);
    expect(bytes).toBeLessThan(80);
  });

  it("linkCorpus gives links that need transforming and resolve", () => {
    const policy = normalizePolicy({});
    let unchanged = 0;
    for (const { base, href } of linkCorpus(5_000, 7)) {
      const link = parseUrl(href, parseUrl(base, undefined, 8192) as ParsedUrl, 8192);
      if (typeof link === "number") expect.fail(`${href} against ${base}`);
      if (keyOfHref(link as ParsedUrl, policy) === href) unchanged++;
    }
    expect(unchanged).toBeLessThan(500);
  });
});

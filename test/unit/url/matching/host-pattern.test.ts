/** Hosts and domains as rules name them: the short way for plain names against the parser of URLs. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { normalDomain, normalHost } from "../../../../src/url/matching/host-pattern.ts";
import { testSeed } from "../../../support/seed.ts";

const label = fc.oneof(
  fc.stringMatching(/^[a-z0-9_-]{1,12}$/),
  fc.stringMatching(/^[A-Za-z0-9]{1,6}$/),
  fc.constantFrom("xn--bcher-kva", "xn--", "0x1f", "0x", "127", "08", "bücher", "a b", "", "%41"),
  fc.stringMatching(/^[a-z]{60,64}$/),
);

/** What the platform's parser makes of a name; undefined: it refuses it, or sees more than a host in it. */
function parsedName(name: string): string | undefined {
  if (/[\s/?#@\\*:]/.test(name)) return undefined;
  try {
    const { hostname } = new URL(`http://${name}/`);
    return hostname.endsWith(".") ? hostname.slice(0, -1) || undefined : hostname;
  } catch {
    return undefined;
  }
}

describe("a host that a rule names", () => {
  it("is what the URL parser makes of it, plain or not", () => {
    const names = fc.array(label, { minLength: 1, maxLength: 4 }).map((labels) => labels.join("."));
    fc.assert(
      fc.property(names, (name) => {
        // Labels that claim to be IDNA and are not: the platforms do not agree (decision 0006).
        if (/(^|\.)xn--/i.test(name)) return;
        expect(normalHost(name)).toBe(parsedName(name));
        expect(normalDomain(name)).toBe(parsedName(name.replace(/^\./, "")));
      }),
      { seed: testSeed("host pattern"), numRuns: 3_000 },
    );
  });

  it.each([
    ["www.example.com", "www.example.com"],
    ["WWW.Example.COM.", "www.example.com"],
    ["a_b.test", "a_b.test"],
    ["127.1", "127.0.0.1"],
    ["a.0x7f", undefined],
    ["[::1]", "[::1]"],
    ["example.com:443", "example.com"],
    ["example.com:8443", "example.com:8443"],
    ["ex ample.com", undefined],
    ["", undefined],
  ])("%s is %s", (given, host) => {
    expect(normalHost(given)).toBe(host);
  });
});

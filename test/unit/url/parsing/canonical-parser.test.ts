import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { describe, expect, it } from "vitest";
import { createRandom } from "../../../../src/base/random.ts";
import {
  BATCH_INVALID,
  BATCH_SCHEME,
  BATCH_TOO_LONG,
} from "../../../../src/layout/calls/url-batch.ts";
import {
  CANONICAL_VERSION,
  describeHref,
  type ParsedUrl,
  parseUrl,
} from "../../../../src/url/parsing/canonical-parser.ts";
import { TR46_VERSION } from "../../../../src/url/parsing/idna-host.ts";
import { asciiEverywhere, fuzzUrl } from "../../../support/fuzz.ts";
import { stressRounds, testSeed } from "../../../support/seed.ts";
import { WPT_URLS } from "../../../support/shared.ts";

const LIMIT = 8192;

function parsed(url: string, base?: string): ParsedUrl | number {
  const parsedBase = base === undefined ? undefined : parseUrl(base, undefined, LIMIT);
  if (typeof parsedBase === "number") throw new Error(`bad base ${base}`);
  return parseUrl(url, parsedBase, LIMIT);
}

function href(url: string, base?: string): string | number {
  const result = parsed(url, base);
  return typeof result === "number" ? result : result.href;
}

describe("parseUrl", () => {
  it("gives the serialisations of the document's table", () => {
    const backslashes = "  HTTP://EXAMPLE.com:80/a/./b/../c\\d";
    expect(href(backslashes)).toBe("http://example.com/a/c/d");
    expect(href("?q=1#f", "https://e.org/x/y?z")).toBe("https://e.org/x/y?q=1#f");
    expect(href("//b.org", "https://e.org/x")).toBe("https://b.org/");
    expect(href("https:x", "https://e.org/a/b")).toBe("https://e.org/a/x");
    expect(href("https:x", "http://e.org/a/b")).toBe("https://x/");
    expect(href("http://B\u00fccher.example/\u00e4^")).toBe(
      "http://xn--bcher-kva.example/%C3%A4%5E",
    );
    expect(href("http://XN--a.b/")).toBe("http://xn--a.b/");
    expect(href("http://0x7f.1/")).toBe("http://127.0.0.1/");
    expect(href("http://1.2.3.4.evil.com")).toBe("http://1.2.3.4.evil.com/");
  });

  it("answers what is no URL with invalid-url", () => {
    const texts = [
      "",
      " ",
      "x",
      "/x",
      "//x",
      "#",
      "http://",
      "http:///",
      "http://a b/",
      "http://%2F/",
      "http://%",
      "http://x:99999/",
      "http://x:a/",
      "http://1.2.3.4.5/",
      "http://a.1/",
      "http://xn--a.1/",
      "http://u@/",
      "http://:80/",
      "http://\u00ad/",
      "http://[::1/",
      "http://[g]/",
      "http://a[::1]/",
      "http://a\u0000b/",
      "http://\ufffd/",
      "http://\ud800/",
      "http://xn--\u00e9/",
    ];
    for (const text of texts) expect([text, href(text)]).toEqual([text, BATCH_INVALID]);
  });

  it("answers every other scheme with scheme, whatever follows and whatever the base", () => {
    for (const text of ["mailto:a@b", "ftp://[", "javascript:", "\tDATA:x", "jav\nascript:x", "h:"])
      for (const base of [undefined, "http://x/"])
        expect([text, href(text, base)]).toEqual([text, BATCH_SCHEME]);
    expect(href("1x:y", "http://e/")).toBe("http://e/1x:y");
  });

  it("measures the raw text first, in UTF-8 bytes, and the serialisation after it", () => {
    const url = "http://x/";
    expect(href(url + "a".repeat(LIMIT - url.length))).toHaveLength(LIMIT);
    expect(href(url + "a".repeat(LIMIT - url.length + 1))).toBe(BATCH_TOO_LONG);
    expect(href(`ftp:${"a".repeat(LIMIT)}`)).toBe(BATCH_TOO_LONG);
    expect(href(`${url}#${"a".repeat(LIMIT)}`)).toBe(BATCH_TOO_LONG);
    // Three bytes a character as it comes, nine as it is written.
    expect(href(url + "\u20ac".repeat(909))).toHaveLength(9 + 909 * 9);
    expect(href(url + "\u20ac".repeat(910))).toBe(BATCH_TOO_LONG);
    expect(href(" ".repeat(LIMIT) + url)).toBe(BATCH_TOO_LONG);
    expect(href("a".repeat(100), `http://x/${"b".repeat(LIMIT - 100)}/`)).toBe(BATCH_TOO_LONG);
  });

  it("reads lone surrogates as U+FFFD", () => {
    expect(href("http://x/\ud800?\udc00#\ud83d\ude00\ud800")).toBe(
      "http://x/%EF%BF%BD?%EF%BF%BD#%F0%9F%98%80%EF%BF%BD",
    );
  });

  it("never checks an ASCII host, and checks others by tr46 alone", () => {
    expect(href("http://xn--pokxncvks/")).toBe("http://xn--pokxncvks/");
    expect(href("http://%78n--8i7caa.net/")).toBe("http://xn--8i7caa.net/");
    expect(href("http://xn--pokxncvks.\u00e9/")).toBe(BATCH_INVALID);
    expect(href("http://xn--bcher-kva.\u00e9/")).toBe("http://xn--bcher-kva.xn--9ca/");
    expect(href("http://fa\u00df.de/")).toBe("http://xn--fa-hia.de/");
    expect(href("http://\uff11.\uff12.3.4/")).toBe("http://1.2.3.4/");
    expect(href("http://a\u3002b\uff0ec/")).toBe("http://a.b.c/");
    expect(href("http://\uff05\uff14\uff11/")).toBe(BATCH_INVALID);
    expect(href("http://u:p@b\u00fc.de:8080/x")).toBe("http://u:p@xn--b-eha.de:8080/x");
  });

  it("resolves every dot segment, also where an older platform does not", () => {
    expect(href("http://x/a/.b/..")).toBe("http://x/a/");
    expect(href("http://x/.^.;x/b/a/../../c")).toBe("http://x/.%5E.;x/c");
    expect(href("http://x/.b/%2E.")).toBe("http://x/");
    expect(href("http://x/a//..")).toBe("http://x/a/");
    expect(href("http://x/a/./.%2e/..?/..#/..")).toBe("http://x/?/..#/..");
    expect(href(".b/..", "http://x/y/z")).toBe("http://x/y/");
    expect(href("http://x/.../%2e%2e%2e/.a/..a/%2f")).toBe("http://x/.../%2e%2e%2e/.a/..a/%2f");
  });

  it("refuses hosts with marks younger than Unicode 15, on every platform", () => {
    expect(href("http://a\u0897/")).toBe(BATCH_INVALID);
    expect(href("http://\u{11382}\u{113c9}/")).toBe(BATCH_INVALID);
    // Punycode of U+0061 U+0897 in a host that is judged because of its other label.
    expect(href("http://xn--a-nnd.\u00e9/")).toBe(BATCH_INVALID);
    expect(href("http://a\u0301/")).toBe("http://xn--1ca/");
  });

  it("refuses non-ASCII hosts of more than 1,024 units, which would take long to judge", () => {
    expect(href(`http://\u00e9.${"a".repeat(1022)}/`)).toBe(`http://xn--9ca.${"a".repeat(1022)}/`);
    expect(href(`http://\u00e9.${"a".repeat(1023)}/`)).toBe(BATCH_INVALID);
    expect(href(`http://${"a".repeat(2000)}/`)).toBe(`http://${"a".repeat(2000)}/`);
  });

  it("lets a base lend any host it has, without the platform judging it", () => {
    expect(href("../y?z", "http://u:p@xn--pokxncvks:81/a/b/c")).toBe(
      "http://u:p@xn--pokxncvks:81/a/y?z",
    );
    expect(href("//b/c", "https://xn--pokxncvks/")).toBe("https://b/c");
    expect(href("", "http://[::1]:8/a?b#c")).toBe("http://[::1]:8/a?b");
    expect(href("\\\\b\\c", "https://a/x")).toBe("https://b/c");
    expect(href("https:\\x", "https://a/b/c")).toBe("https://a/x");
  });

  it("names every range of the serialisation", () => {
    const result = parsed("https://u:p@Host.example:8443/a;b?c#d?e") as ParsedUrl;
    const { href: text, hostStart, portStart, pathStart, queryStart, fragmentStart } = result;
    expect(text.slice(hostStart, hostStart + result.hostLength)).toBe("host.example:8443");
    expect(text.slice(portStart, pathStart)).toBe(":8443");
    expect(text.slice(pathStart, queryStart)).toBe("/a;b");
    expect(text.slice(queryStart, fragmentStart)).toBe("?c");
    expect(text.slice(fragmentStart)).toBe("#d?e");
    expect(result).toMatchObject({ https: true, userinfo: true, address: false });
    expect(parsed("http://[::1]/#?")).toMatchObject({
      hostStart: 7,
      hostLength: 5,
      portStart: 12,
      pathStart: 12,
      queryStart: 13,
      fragmentStart: 13,
      https: false,
      userinfo: false,
      address: true,
    });
    expect(parsed("http://[::1]:81/")).toMatchObject({ portStart: 12, pathStart: 15 });
    expect(parsed("http://1.2.3.4./")).toMatchObject({ address: true });
    expect(parsed("http://1.2.3.4.a/")).toMatchObject({ address: false });
    expect(parsed("http://x/@:y")).toMatchObject({ hostStart: 7, portStart: 8, userinfo: false });
  });

  it("keeps what was pushed for the profiles that start from it", () => {
    expect(parsed("HTTP://X\ud800#")).toBe(BATCH_INVALID);
    expect(parsed(" HTTP://X/\ud800")).toMatchObject({ pushed: " HTTP://X/\ufffd" });
    expect(parsed("y", "http://x/a")).toMatchObject({ pushed: "http://x/y" });
  });

  it("is built on the tr46 that its profile id names", () => {
    const require = createRequire(import.meta.url);
    expect(require("tr46/package.json").version).toBe(TR46_VERSION);
    expect(CANONICAL_VERSION).toBe(`1+tr46-${TR46_VERSION}`);
  });
});

/** All that must hold of any answer. */
function check(text: string, base: ParsedUrl | undefined, limit = LIMIT): void {
  const result = parseUrl(text, base, limit);
  if (typeof result === "number") {
    if (![BATCH_INVALID, BATCH_SCHEME, BATCH_TOO_LONG].includes(result)) expect.fail(text);
    return;
  }
  const again = parseUrl(result.href, undefined, limit);
  if (typeof again === "number" || again.href !== result.href)
    expect.fail(`${JSON.stringify(text)} gives ${result.href}, which gives ${String(again)}`);
  if (/[^\x21-\x7e]/.test(result.href)) expect.fail(`not ASCII: ${JSON.stringify(text)}`);
  const described = describeHref(result.href, result.pushed);
  expect(described).toEqual(result);
}

describe("parseUrl under fuzz", () => {
  const bases = ["http://e.org/a/b?c#d", "https://u@xn--a.b:1/", "http://[::1]/x/"].map(
    (text) => parseUrl(text, undefined, LIMIT) as ParsedUrl,
  );

  it("gives what parses to itself, for hostile text", () => {
    const random = createRandom(testSeed("parseUrl fuzz"));
    const rounds = stressRounds(30_000, 8_000);
    for (let i = 0; i < rounds; i++) check(fuzzUrl(random), bases[random.below(4)]);
  });

  it("gives what parses to itself, for every ASCII byte in every place", () => {
    for (const text of ["https://u:p@a.b:81/c;d?e=f#g", "../a?b#c"])
      for (const mutant of asciiEverywhere(text)) check(mutant, bases[0]);
  });

  it("takes hostile text of megabytes without stalling", () => {
    for (const piece of [" ", "%", "\u00fc", "a.", "@", ":", "/..", "xn--a.", "\\", "0x."])
      for (const head of ["http://", "http://x/", "http://x/?", "", "x "])
        check(head + piece.repeat(100_000) + head, bases[0], 1e6);
  });

  it("gives the same bytes on every Node version", () => {
    const random = createRandom(20_26);
    const digest = createHash("sha256");
    for (let i = 0; i < 20_000; i++) {
      const result = parseUrl(fuzzUrl(random), bases[random.below(4)], LIMIT);
      digest.update(typeof result === "number" ? String(result) : result.href).update("\n");
    }
    expect(digest.digest("hex")).toBe(GOLDEN_DIGEST);
  });
});

/** Changes with fuzz.ts and with the profile's bytes, and with nothing else. */
const GOLDEN_DIGEST = "a8d39eafab89a0d17340312050b233336e2f151017e1b2268ac8068504f38644";

interface WptCase {
  input: string;
  base: string | null;
  href?: string;
  failure?: boolean;
}

describe("parseUrl against web-platform-tests", () => {
  const cases: WptCase[] = JSON.parse(readFileSync(WPT_URLS, "utf8"));

  it("gives every expected serialisation, failure or scheme", () => {
    let checked = 0;
    for (const { input, base, href: expected, failure } of cases) {
      const parsedBase = base === null ? undefined : parseUrl(base, undefined, 1e6);
      if (typeof parsedBase === "number") continue;
      const result = parseUrl(input, parsedBase, 1e6);
      const isWeb = expected !== undefined && /^https?:/.test(expected);
      const shown = typeof result === "number" ? "verdict" : result.href;
      expect([input, base, shown]).toEqual([input, base, isWeb ? expected : "verdict"]);
      if (!failure && !isWeb) expect([input, result]).toEqual([input, BATCH_SCHEME]);
      checked++;
    }
    expect(checked).toBeGreaterThan(700);
  });
});

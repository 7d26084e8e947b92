import { describe, expect, it } from "vitest";
import { FrontierError } from "../../../../src/base/errors.ts";
import { createVirtualClock } from "../../../../src/index.ts";
import { crawl } from "../../../../src/crawl/run/crawl.ts";
import { checkCrawlOptions } from "../../../../src/crawl/run/check-options.ts";
import type { CrawlOptions } from "../../../../src/crawl/run/crawl-options.ts";

/** Of which not even its kind can be asked. */
function revoked(target: object): unknown {
  const { proxy, revoke } = Proxy.revocable(target, {});
  revoke();
  return proxy;
}

/** Of no use to any option; `true`, `{}` and lists are right for some. */
const NEVER: readonly unknown[] = [
  ...[null, Number.NaN, 7n, Symbol("x"), -1],
  ...[revoked({}), revoked([])],
];
const PEM = "-----BEGIN CERTIFICATE-----\nMAA=\n-----END CERTIFICATE-----\n";
const MODULE = { download() {}, analyze() {}, processors: [] };

/** Of each option: what is right, what is wrong, and by which name the wrong ones are told where that is not the option's own. */
interface Row {
  readonly right: readonly unknown[];
  readonly wrong: ReadonlyArray<unknown>;
  /** Wrong within: the value, and the name that is told. */
  readonly within?: ReadonlyArray<readonly [unknown, string]>;
}

const flag: Row = { right: [true, false], wrong: ["yes", "", 1, {}, []] };
const amount: Row = { right: [0, 1.5], wrong: ["1", true, Number.POSITIVE_INFINITY] };
const whole = (least: number): Row => ({
  right: [least, least + 1],
  wrong: [least - 1, 1.5, "1", true, 2 ** 53],
});
const list: Row = {
  right: [[], ["/a.mjs"], [new URL("file:///a.mjs")], [MODULE]],
  wrong: ["/a.mjs", MODULE, true],
  within: [
    [[""], "[0]"],
    [["/a.mjs", {}], "[1]"],
    [[null], "[0]"],
  ],
};

const ROWS: { readonly [K in keyof Required<CrawlOptions>]: Row } = {
  seeds: {
    right: ["http://x.test/", [], ["http://x.test/", { url: "http://x.test/" }], new Set(["x"])],
    wrong: [7, true, {}, () => {}],
    within: [
      [[1], "[0]"],
      [["http://x.test/", { uri: "x" }], "[1]"],
    ],
  },
  directory: { right: ["somewhere"], wrong: ["", true, {}, []] },
  name: { right: ["a"], wrong: ["", "a".repeat(201), {}, []] },
  frontier: { right: [], wrong: [{}, true, "x", () => {}] },
  open: { right: [() => {}], wrong: [{}, true, "x"] },
  rules: { right: [[]], wrong: [{}, "x", true] },
  defaults: { right: [{}], wrong: [[], "x", true] },
  frontierOptions: { right: [{}], wrong: [[], "x", true] },
  threads: { right: [0, 64], wrong: [65, 1.5, "1", true] },
  concurrency: whole(1),
  rampMs: whole(1),
  delayMs: amount,
  perHost: whole(1),
  maxDepth: whole(0),
  maxPages: whole(1),
  maxHostUrls: whole(1),
  maxHostBytes: whole(0),
  scope: {
    right: [
      "any",
      "same-domain",
      "same-host",
      "path-prefix",
      ["x.test:80"],
      ["http://x.test/docs/"],
      ["x.test"],
      ["*.x.test"],
      [".x.test", "m\u00fcller.test"],
    ],
    wrong: ["x.test", [], true],
    within: [
      [["*."], "[0]"],
      [["x.test", 7], "[1]"],
      [["x y"], "[0]"],
      [["x.test/path"], "[0]"],
      [["x.test:port"], "[0]"],
      [["http://x.test/?q"], "[0]"],
      [["http://x.test/docs/", "x.test"], "[1]"],
      [["a.*.test"], "[0]"],
    ],
  },
  allowPrivate: flag,
  userAgent: { right: ["mine/1.0"], wrong: ["", " ", "a\nb: c", "\u4e2d", true] },
  contact: { right: ["", "me@x.test"], wrong: ["a\r\nb: c", true] },
  headers: {
    right: [{}, { "x-one": "1" }],
    wrong: ["x", [], true],
    within: [
      [{ "x-one": "a\nb" }, ".x-one"],
      [{ "x-one": 1 }, ".x-one"],
    ],
  },
  cookies: flag,
  proxy: { right: ["http://127.0.0.1:1"], wrong: ["x", "socks5://127.0.0.1:1", true, {}] },
  lookup: { right: [() => {}], wrong: ["x", {}, true] },
  dial: {
    right: [{ address: "127.0.0.1", port: 80 }],
    wrong: ["127.0.0.1:80", true, []],
    within: [
      [{}, ".address"],
      [{ address: "127.0.0.1" }, ".port"],
      [{ address: "127.0.0.1", port: 65_536 }, ".port"],
      [{ address: "127.0.0.1", port: 80, host: "x" }, ".host"],
    ],
  },
  http2: flag,
  ca: { right: [PEM], wrong: ["", "cert.pem", true, {}] },
  robots: {
    right: [true, false, {}, { expiryMs: 0, retryMs: 0.5, attempts: 1, maxCrawlDelayMs: 0 }],
    wrong: ["yes", "", 1, []],
    within: [
      [{ expiryMs: "1d" }, ".expiryMs"],
      [{ attempts: 0 }, ".attempts"],
      [{ expiry: 1 }, ".expiry"],
    ],
  },
  sitemaps: flag,
  sitemapOnly: flag,
  log: { right: ["log.jsonl"], wrong: ["", true, {}, []] },
  saveBodies: { right: ["bodies"], wrong: ["", true, {}, []] },
  include: { right: [[], ["*.html", "regex:^a"]], wrong: ["*.html", [""], [1], {}] },
  exclude: { right: [[], ["*.html", "regex:^a"]], wrong: ["*.html", [""], [1], {}] },
  maxTimeMs: whole(1),
  auth: {
    right: [{ username: "u", password: "" }],
    wrong: ["u:p", true, []],
    within: [
      [{ username: "a:b", password: "" }, ".username"],
      [{ username: "a" }, ".password"],
      [{ username: "a", password: "b", realm: "c" }, ".realm"],
    ],
  },
  maxRedirects: whole(0),
  maxBytes: whole(1),
  maxLinks: whole(0),
  maxRetryAfterMs: amount,
  timeouts: {
    right: [{}, { connectMs: 1, headersMs: 1, bodyMs: 1, totalMs: 1 }],
    wrong: [1, "1s", true, []],
    within: [
      [{ totalMs: 0 }, ".totalMs"],
      [{ connectMs: "1s" }, ".connectMs"],
      [{ total: 1 }, ".total"],
    ],
  },
  types: { right: ["any", [], ["text/html"]], wrong: ["text/html", [1], true, {}] },
  policy: { right: [() => {}, "decide.mjs", new URL("file:///d.mjs")], wrong: ["", 1, {}, true] },
  trapFilter: flag,
  traps: {
    right: [true, false, {}, { exceptRules: ["news"] }],
    wrong: ["yes", 1, { exceptRules: "news" }, { exceptRules: [7] }, { rules: [] }],
  },
  maxPathUrls: {
    right: [{}, { "/search/": 0, "/a": 7 }],
    wrong: [{ search: 1 }, { "/a": -1 }, { "/a": 1.5 }, { "/a": "1" }, 7],
  },
  maxQueryUrls: whole(0),
  pauseSickHosts: flag,
  identity: { right: ["identity.json"], wrong: ["", {}, true, 7] },
  warc: {
    right: ["a.warc.gz", { path: "a/b.warc.gz" }, { path: "b.warc.gz", rotateBytes: 1 }],
    wrong: ["", "a.warc", ".warc.gz", 7, [], true],
    within: [
      [{}, ".path"],
      [{ path: "a.gz" }, ".path"],
      [{ path: "a.warc.gz", rotateBytes: 0 }, ".rotateBytes"],
    ],
  },
  items: {
    right: ["a.jsonl", { path: "a.jsonl", rotateBytes: 1 }],
    wrong: ["", true, []],
    within: [
      [{}, ".path"],
      [{ path: "a", rotateBytes: 0 }, ".rotateBytes"],
      [{ path: "a", rotate: 1 }, ".rotate"],
    ],
  },
  downloaders: list,
  analyzers: list,
  pipelines: list,
  progressMs: amount,
  signal: { right: [new AbortController().signal], wrong: [{}, true, "x"] },
  clock: { right: [createVirtualClock()], wrong: [{}, true, Date] },
};

function refusal(options: unknown): FrontierError | undefined {
  try {
    checkCrawlOptions(options);
  } catch (cause) {
    return cause as FrontierError;
  }
  return undefined;
}

describe("options of a crawl", () => {
  it.each(Object.entries(ROWS))("%s is taken, or refused by its name", (name, row) => {
    for (const value of [undefined, ...row.right])
      expect(refusal({ [name]: value })).toBe(undefined);
    const wrong = [...NEVER, ...row.wrong].map((value) => [value, ""] as const);
    for (const [value, within] of [...wrong, ...(row.within ?? [])]) {
      const error = refusal({ [name]: value });
      expect(error, `${name}: ${error}`).toBeInstanceOf(FrontierError);
      const details = error?.details as { name: string; expected: string };
      expect([error?.code, details.name]).toEqual(["OPTION_INVALID", `options.${name}${within}`]);
      expect(details.expected.length).toBeGreaterThan(0);
      expect(error?.message).toContain(`options.${name}${within}: `);
    }
  });

  it("that are none, or not known, are refused at once, before anything is opened", () => {
    for (const odd of [undefined, null, 7, "http://x.test/", [], revoked({}), revoked([])]) {
      expect(() => crawl(odd as never)).toThrow("options: ");
    }
    expect(() => crawl({ allowPrivat: true } as never)).toThrow("options.allowPrivat: ");
    expect(() => crawl({ allowPrivate: "no" } as never)).toThrow('options.allowPrivate: "no"');
    const unreadable = Object.defineProperty({}, "seeds", {
      enumerable: true,
      get() {
        throw new RangeError("no");
      },
    });
    expect(() => crawl(unreadable as never)).toThrow("options: unreadable");
    expect(() => crawl(JSON.parse('{"__proto__":1}') as never)).toThrow("options.__proto__");
  });
});

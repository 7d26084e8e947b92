/** Rules through the public surface: matching, scope, shares, hot swap, seeds. */
import { afterEach, describe, expect, it } from "vitest";
import { createVirtualClock } from "../../../../src/base/clock.ts";
import { FrontierError } from "../../../../src/base/errors.ts";
import { openFrontier } from "../../../../src/engine/api/open-frontier.ts";
import type {
  Frontier,
  FrontierOptions,
  Rule,
} from "../../../../src/engine/types/frontier-types.ts";
import type { KeyPolicy } from "../../../../src/url/keys/key-policy.ts";
import { verifyFrontier } from "../../../../src/engine/api/verify-frontier.ts";
import { openBench } from "../../../support/bench-frontier.ts";

const open: Frontier[] = [];

async function opened(options: FrontierOptions): Promise<Frontier> {
  const frontier = await openFrontier({ clock: createVirtualClock(1_000), ...options });
  open.push(frontier);
  return frontier;
}

afterEach(async () => {
  for (const frontier of open.splice(0)) {
    verifyFrontier(frontier);
    await frontier.close();
  }
});

describe("a URL's rule", () => {
  const rules: Rule[] = [
    { id: "any-page", match: { pattern: "/page/" } },
    { id: "domain", match: { domains: ["example.com"] } },
    { id: "deep", match: { domains: ["a.example.com"] } },
    { id: "host", match: { hosts: ["www.example.com"] } },
    { id: "news", match: { domains: ["example.com"], pattern: "/news/" } },
    { id: "port", match: { hosts: ["www.example.com:8080"] } },
    { id: "secure", match: { hosts: ["secure.test"], schemes: ["https"] } },
    { id: "anchored", match: { pattern: "^https?://only\\.test/a" } },
    { id: "off", active: false, match: { hosts: ["off.test"] } },
    { id: "idn", match: { domains: ["bücher.example"] } },
  ];
  const table: Array<[string, string | undefined]> = [
    ["http://www.example.com/page/1", "host"],
    ["http://www.example.com:8080/", "port"],
    ["http://www.example.com:8081/", "host"],
    ["http://a.example.com/news/", "deep"],
    ["http://x.a.example.com/", "deep"],
    ["http://b.example.com/news/1", "news"],
    ["http://b.example.com/other", "domain"],
    ["http://example.com/", "domain"],
    ["http://notexample.com/", undefined],
    ["http://notexample.com/page/1", "any-page"],
    ["https://secure.test/", "secure"],
    ["http://secure.test/", undefined],
    ["http://only.test/abc", "anchored"],
    ["http://only.test/b", undefined],
    ["http://else.test/?u=http://only.test/a", undefined],
    ["http://off.test/", undefined],
    ["http://shop.xn--bcher-kva.example/", "idn"],
    ["http://127.0.0.1/page/", "any-page"],
  ];

  it("asks a pattern only on the hosts of its rule: no other site can make it backtrack", async () => {
    const frontier = await opened({
      rules: [
        { id: "own", match: { hosts: ["own.test"], pattern: "/(a+)+$" } },
        { id: "below", match: { domains: ["below.test"], pattern: "/(a+)+$" } },
        { id: "anchored", match: { pattern: "^https?://anchored\\.test/(a+)+$" } },
        { id: "rest" },
      ],
    });
    // Asked about this one, any of them would take longer than the sun lasts.
    const trap = `/${"a".repeat(64)}!`;
    const urls = ["x.test", "own.test.x.test", "xbelow.test"].map(
      (host) => `http://${host}${trap}`,
    );
    expect(frontier.pushMany(urls).accepted).toBe(3);
    expect(frontier.pollMany(3).map(({ rule }) => rule)).toEqual(["rest", "rest", "rest"]);
    expect(frontier.explain("http://anchored.test/aaa").rule).toBe("anchored");
  });

  it("is that of the longer pattern as it was given, however the platform would write it", async () => {
    const frontier = await opened({
      rules: [
        { id: "slashes", match: { pattern: "/n/x/" } }, // 5 characters, 8 with its slashes escaped
        { id: "longer", match: { pattern: "n.x.12" } },
      ],
    });
    expect(frontier.explain("http://a.test/n/x/12").rule).toBe("longer");
  });

  it("is the most specific that fits: host, longest domain, longest pattern, order", async () => {
    const frontier = await opened({ rules });
    const verdicts = frontier.pushMany(table.map(([url]) => url));
    for (const [index, [url, rule]] of table.entries()) {
      const { status, reason } = verdicts.verdict(index);
      const want = rule === undefined ? "rejected no-rule" : "accepted undefined";
      expect(`${url} ${status} ${reason}`).toBe(`${url} ${want}`);
      expect(`${url} ${frontier.record(url)?.rule}`).toBe(`${url} ${rule}`);
      expect(frontier.explain(url).rule).toBe(rule);
      expect(frontier.push({ url, data: 1 }).reason).toBe(rule ? undefined : "no-rule");
    }
  });

  it("says how deep, whether links are followed, and under which key", async () => {
    const frontier = await opened({
      defaults: { maxDepth: 1 },
      rules: [
        { id: "a", match: { hosts: ["a.test"] }, maxDepth: 2, follow: false },
        { id: "b", match: { hosts: ["b.test"] }, key: { keepParams: ["id"] } },
      ],
    });
    const deep = ["http://a.test/", "http://b.test/"].map((url) => ({ url, depth: 2 }));
    expect(deep.map((one) => frontier.push(one).reason)).toEqual([undefined, "too-deep"]);
    const plain = ["http://b.test/p?id=1&s=2", "http://a.test/p?id=1&s=2"];
    expect(frontier.pushMany(plain).accepted).toBe(2);
    expect(frontier.push("http://b.test/p?id=1&s=3").status).toBe("duplicate");
    expect(frontier.push("http://a.test/p?id=1&s=3").status).toBe("accepted");
    const lease = frontier.pollMany(9).find(({ rule }) => rule === "a");
    expect(lease?.done({ found: ["http://a.test/new"] }).verdict(0).reason).toBe("no-follow");
  });
});

describe("a rule's key", () => {
  const key: KeyPolicy = { profile: "url", keepParams: ["id"] };
  const own: Rule = { id: "own", match: { hosts: ["a.test"] }, key };
  const urls = ["http://a.test/?id=1&x=1", "http://a.test/?x=2&id=1", "http://a.test/?id=2"];

  it.each<[string, Rule[]]>([
    ["of the only rule", [own]],
    ["of one of several", [own, { id: "rest" }]],
  ])("of profile url keeps the listed parameters, %s", async (_, rules) => {
    const frontier = await opened({ rules });
    expect(frontier.pushMany([...urls, "http://b.test/"]).accepted).toBe(rules.length + 1);
    expect(frontier.push("http://a.test/?y&id=2").status).toBe("duplicate");
    expect(frontier.poll()?.url).toBe(urls[0]);
  });
});

describe("shares", () => {
  it("serve rules by (100 + weight) / priority", async () => {
    const frontier = await opened({
      rules: [
        { id: "first", match: { hosts: ["a.test"] }, share: { priority: 1, weight: 10 } },
        { id: "third", match: { hosts: ["b.test"] }, share: { priority: 3, weight: 10 } },
      ],
    });
    const paths = Array.from({ length: 20_000 }, (_, n) => n);
    frontier.pushMany(paths.map((n) => `http://a.test/${n}`));
    frontier.pushMany(paths.map((n) => `http://b.test/${n}`));
    const leases = frontier.pollMany(16_000);
    const first = leases.filter(({ rule }) => rule === "first").length;
    expect(first).toBe(12_000);
    expect(frontier.report().rules.third?.served).toBe(4_000);
    const order = leases.filter(({ rule }) => rule === "first").map(({ url }) => url);
    expect(order).toEqual(paths.slice(0, 12_000).map((n) => `http://a.test/${n}`));
  });

  it("are peeked at without a trace", async () => {
    const ids = ["a", "b", "c"];
    const frontier = await opened({
      rules: ids.map((id, n) => ({
        id,
        match: { hosts: [`${id}.test`] },
        share: { weight: n * 50 },
      })),
    });
    for (const id of ids) frontier.pushMany([1, 2, 3, 4].map((n) => `http://${id}.test/${n}`));
    for (let n = 0; n < 12; n++) {
      const seen = frontier.peek(3).map(({ url }) => url);
      expect(frontier.peek(3).map(({ url }) => url)).toEqual(seen);
      expect(frontier.poll()?.url).toBe(seen[0]);
    }
  });
});

describe("setRules", () => {
  it("is checked whole, by rule and field, before anything changes", async () => {
    const frontier = await opened({ rules: [{ id: "a" }] });
    const wrong: Array<[object, string]> = [
      [{ id: "" }, "rules[1].id"],
      [{ id: "a" }, "rule 'a'.id"],
      [{ id: "b", pattern: "x" }, "rule 'b'.pattern"],
      [{ id: "b", match: { host: ["x"] } }, "rule 'b'.match.host"],
      [{ id: "b", match: { hosts: "x" } }, "rule 'b'.match.hosts"],
      [{ id: "b", match: { hosts: ["x y"] } }, "rule 'b'.match.hosts[0]"],
      [{ id: "b", match: { domains: ["*.x"] } }, "rule 'b'.match.domains[0]"],
      [{ id: "b", match: { pattern: "(" } }, "rule 'b'.match.pattern"],
      [{ id: "b", match: { schemes: ["ftp"] } }, "rule 'b'.match.schemes[0]"],
      [{ id: "b", share: { priority: 0 } }, "rule 'b'.share.priority"],
      [{ id: "b", share: { weight: -100 } }, "rule 'b'.share.weight"],
      [{ id: "b", seeds: ["http://x/[1-99999999999]"] }, "rule 'b'.seeds[0]"],
      [{ id: "b", every: "soon" }, "rule 'b'.every"],
      [{ id: "b", active: 1 }, "rule 'b'.active"],
      [{ id: "b", maxDepth: -1 }, "rule 'b'.maxDepth"],
      [{ id: "b", politeness: { perHost: 0 } }, "rule 'b'.politeness.perHost"],
      [{ id: "b", key: { profile: "x" } }, "rule 'b'.key.profile"],
      [{ id: "b", active: false, order: "x" }, "rule 'b'.order"],
    ];
    for (const [rule, name] of wrong) {
      const error = thrownBy(() => frontier.setRules([{ id: "a", maxDepth: 0 }, rule as Rule]));
      expect(error.code).toBe("RULE_INVALID");
      expect(error.message.slice(0, name.length + 1)).toBe(`${name}:`);
      expect(error.message).toMatch(/\(expected: .+\)$/);
    }
    expect(frontier.push({ url: "http://x.test/", depth: 3 }).admitted).toBe(true);
  });

  it("moves what is pending to new rules, at its place, and fails what none takes", async () => {
    const frontier = await opened({ rules: [{ id: "old" }] });
    const told: Array<{ unmatched: string[]; unmatchedCount: number; version: number | string }> =
      [];
    frontier.on("rulesApplied", (event) => told.push(event));
    frontier.pushMany(["http://a.test/1", "http://b.test/1", "http://c.test/1", "http://a.test/2"]);
    frontier.push({ url: "http://a.test/later", notBefore: 5_000 });
    const held = frontier.poll();
    frontier.push("http://a.test/3");
    frontier.setRules(
      [
        { id: "a", match: { hosts: ["a.test"] } },
        { id: "b", match: { hosts: ["b.test"] } },
      ],
      "v2",
    );
    await Promise.resolve();
    expect(told).toEqual([
      { version: "v2", unmatched: ["http://c.test/1"], unmatchedCount: 1, moved: 5 },
    ]);
    expect(frontier.record("http://c.test/1")?.state).toBe("failed");
    expect(frontier.push("http://c.test/9").reason).toBe("no-rule");
    expect(held?.rule).toBe("old");
    expect(held?.release()).toBe(true);
    expect(frontier.record("http://a.test/later")?.rule).toBe("a");
    const leases = frontier.pollMany(9).map(({ url, rule }) => `${rule} ${url}`);
    expect(leases).toEqual([
      "a http://a.test/1",
      "b http://b.test/1",
      "a http://a.test/2",
      "a http://a.test/3",
    ]);
    frontier.setRules([{ id: "c" }]);
    expect(frontier.requeue({ state: "failed" })).toBe(1);
    expect(frontier.poll()).toMatchObject({ url: "http://c.test/1", rule: "c", attempt: 1 });
  });

  it("lets politeness come and go for what is pending", async () => {
    const clock = createVirtualClock();
    const frontier = await opened({ clock, rules: [{ id: "r" }] });
    frontier.pushMany(["http://a.test/1", "http://a.test/2", "http://b.test/1", "http://b.test/2"]);
    frontier.setRules([{ id: "r", politeness: { delayMs: 100, by: "domain" } }]);
    const polite = frontier.pollMany(9);
    expect(polite.map(({ url }) => url)).toEqual(["http://a.test/1", "http://b.test/1"]);
    frontier.done(polite);
    expect(frontier.pollMany(9)).toEqual([]);
    frontier.setRules([{ id: "r" }]);
    expect(frontier.pollMany(9).map(({ url }) => url)).toEqual([
      "http://a.test/2",
      "http://b.test/2",
    ]);
  });

  it("takes an empty set for what it is, and goes on with the next", async () => {
    const frontier = await opened({ rules: [] });
    expect(frontier.push("http://a.test/").reason).toBe("no-rule");
    frontier.setRules([{ id: "a" }]);
    expect(frontier.push("http://a.test/").admitted).toBe(true);
    frontier.setRules([]);
    expect(frontier.report()).toMatchObject({ pending: 0, failed: 1 });
    expect(frontier.poll()).toBeUndefined();
  });

  it("sweeps many records in slices, and hands out meanwhile", async () => {
    const clock = createVirtualClock();
    const frontier = await opened({ clock, rules: [{ id: "one" }] });
    const urls = Array.from({ length: 20_000 }, (_, n) => `http://h${n % 100}.test/${n}`);
    frontier.pushMany(urls);
    let applied = 0;
    frontier.on("rulesApplied", () => applied++);
    frontier.setRules([{ id: "two" }]);
    expect(applied).toBe(0);
    const early = frontier.pollMany(100);
    expect(early.length).toBe(100);
    expect(new Set(early.map(({ rule }) => rule))).toEqual(new Set(["two"]));
    verifyFrontier(frontier);
    clock.advance(0);
    await Promise.resolve();
    expect(applied).toBe(1);
    expect(frontier.report().rules).toMatchObject({ two: { pending: 19_900, leased: 100 } });
    expect(Object.keys(frontier.report().rules)).toEqual(["two"]);
  });
});

describe("seeds", () => {
  it("of a hundred rules are there at once, of thousands in slices, each once, in the order of the rules", () => {
    const rulesOf = (count: number): Rule[] =>
      Array.from({ length: count }, (_, n) => ({
        ...{ id: `r${n}`, match: { hosts: [`h${n}.test`] } },
        ...{ seeds: [`http://h${n}.test/`], every: "1h" },
      }));
    const few = openBench({ rules: rulesOf(80) });
    expect(few.frontier.report()).toMatchObject({ pending: 80, pushed: 80 });
    const { frontier, clock, check } = openBench({ rules: rulesOf(3_000) });
    expect(frontier.report().pending).toBeGreaterThan(50);
    let slices = 0;
    for (; frontier.report().pending < 3_000; slices++) {
      expect(clock.turn()).toBe(true);
      expect(slices).toBeLessThan(100);
    }
    expect(slices).toBeGreaterThan(5); // none of them takes all
    expect(frontier.report()).toMatchObject({ pending: 3_000, pushed: 3_000 });
    frontier.done(frontier.pollMany(9_999));
    clock.advance(3_600_000);
    for (let turn = 0; turn < 100; turn++) clock.turn();
    expect(frontier.report()).toMatchObject({ pending: 3_000, pushed: 6_000, duplicate: 0 });
    check();
  });

  it("are pushed when their rule appears, once", async () => {
    const frontier = await opened({
      rules: [{ id: "a", seeds: ["http://a.test/[1-3]", "http://a.test/p_#.html#1#300#1"] }],
    });
    expect(frontier.report().pending).toBe(303);
    frontier.setRules([
      { id: "a", seeds: ["http://a.test/[1-3]"] },
      { id: "b", seeds: ["http://b.test/"] },
    ]);
    expect(frontier.report()).toMatchObject({ pending: 304, duplicate: 0 });
  });

  it("come again every T, whatever became of them, and never twice at once", async () => {
    const clock = createVirtualClock();
    const frontier = await opened({
      clock,
      rules: [{ id: "a", seeds: ["http://a.test/[1-3]"], every: "1h" }],
    });
    const [one, two] = frontier.pollMany(2);
    one?.done();
    two?.fail();
    expect(frontier.report()).toMatchObject({ pending: 1, done: 1, failed: 1 });
    clock.advance(3_599_999);
    expect(frontier.report().pending).toBe(1);
    clock.advance(1);
    expect(frontier.report()).toMatchObject({ pending: 3, failed: 0 });
    expect(frontier.status).toBe("running");
    let isTaken = false;
    const taken = frontier.take({ max: 9 }).then((leases) => (isTaken = leases.length === 3));
    await taken;
    expect(isTaken).toBe(true);
  });

  it("wait for room where capacity is short", async () => {
    const clock = createVirtualClock();
    const frontier = await opened({
      clock,
      capacity: 200,
      rules: [{ id: "a", seeds: ["http://a.test/[1-300]"] }],
    });
    expect(frontier.report()).toMatchObject({ pending: 200, full: 0 });
    frontier.done(frontier.pollMany(150));
    clock.advance(0);
    expect(frontier.report()).toMatchObject({ pending: 150, accepted: 300 });
  });
});

function thrownBy(call: () => void): FrontierError {
  try {
    call();
  } catch (error) {
    expect(error).toBeInstanceOf(FrontierError);
    return error as FrontierError;
  }
  throw new Error("nothing was thrown");
}

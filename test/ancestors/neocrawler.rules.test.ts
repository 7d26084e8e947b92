/** N: the central scheduler of NEOCrawler, as far as rules go, row by row, and the faults it has. */
import { describe, expect, it } from "vitest";
import { FrontierError } from "../../src/base/errors.ts";
import type { Rule } from "../../src/engine/types/frontier-types.ts";
import { openBench } from "../support/bench-frontier.ts";

const urlsOf = (leases: Iterable<{ url: string }>): string[] => [...leases].map(({ url }) => url);
const pages = (host: string, count: number): string[] =>
  Array.from({ length: count }, (_, n) => `http://${host}/${n}`);
const ruleOn = (host: string, more: Partial<Rule> = {}): Rule => ({
  id: host,
  match: { hosts: [host] },
  ...more,
});

describe("NEOCrawler's rules", () => {
  it("N1: a rule document says where it applies, how it keys, shares, seeds and repeats", () => {
    const { frontier, check } = openBench({
      rules: [
        {
          id: "example.com:list",
          match: { domains: ["example.com"], pattern: "/list/" },
          key: { keepParams: ["id"] },
          share: { priority: 1, weight: 10 },
          order: "lifo",
          seeds: ["http://example.com/list/1"],
          every: "1d",
          active: true,
        },
      ],
    });
    expect(frontier.poll()).toMatchObject({ rule: "example.com:list" });
    check();
  });

  it("N2: the most specific rule takes a link, and a link without a rule is refused", () => {
    const { frontier } = openBench({
      rules: [
        { id: "list", match: { domains: ["x.com"], pattern: "/list" } },
        { id: "detail", match: { domains: ["x.com"], pattern: "/list/detail" } },
      ],
    });
    const links = ["http://www.x.com/list/detail/1", "http://x.com/list/2", "http://x.com/about"];
    expect(links.map((url) => frontier.push(url).reason)).toEqual([
      undefined,
      undefined,
      "no-rule",
    ]);
    expect(links.map((url) => frontier.explain(url).rule)).toEqual(["detail", "list", undefined]);
  });

  it("N3: each rule has its own queue", () => {
    const { frontier } = openBench({ rules: [ruleOn("a.com"), ruleOn("b.com")] });
    frontier.pushMany([...pages("a.com", 3), ...pages("b.com", 2)]);
    const { rules } = frontier.report();
    expect([rules["a.com"]?.pending, rules["b.com"]?.pending]).toEqual([3, 2]);
    expect(frontier.remove({ rule: "a.com" })).toBe(3);
    expect([...frontier.records({ rule: "b.com" })].length).toBe(2);
  });

  it("N4: over 100,000 hand-outs each rule gets (100 + weight) / priority of them", () => {
    const { frontier } = openBench({
      rules: [
        ruleOn("a.com", { share: { priority: 1, weight: 10 } }),
        ruleOn("b.com", { share: { priority: 3, weight: 10 } }),
      ],
    });
    frontier.pushMany([...pages("a.com", 75_100), ...pages("b.com", 25_100)]);
    for (let n = 0; n < 100; n++) frontier.done(frontier.pollMany(1_000));
    const { rules } = frontier.report();
    expect(Math.abs((rules["a.com"]?.served ?? 0) - 75_000)).toBeLessThanOrEqual(1);
    expect(Math.abs((rules["b.com"]?.served ?? 0) - 25_000)).toBeLessThanOrEqual(1);
  });

  it("N5: what one rule leaves of its share goes to the others", () => {
    const { frontier } = openBench({
      rules: [ruleOn("detail.com", { share: { weight: 900 } }), ruleOn("list.com")],
    });
    frontier.pushMany([...pages("detail.com", 10), ...pages("list.com", 300)]);
    const leases = frontier.pollMany(200);
    expect(leases.filter(({ rule }) => rule === "detail.com").length).toBe(10);
    expect(leases.filter(({ rule }) => rule === "list.com").length).toBe(190);
    // Absence saves nothing up: whoever comes back has ten for each of the others', and no more.
    frontier.pushMany(pages("detail.com", 300).slice(10));
    const later = frontier.pollMany(110).filter(({ rule }) => rule === "detail.com").length;
    expect(Math.abs(later - 100)).toBeLessThanOrEqual(1);
  });

  it("N6: first in first out, or last in first out, per rule", () => {
    const { frontier } = openBench({
      rules: [ruleOn("a.com"), ruleOn("b.com", { order: "lifo" })],
    });
    frontier.pushMany([...pages("a.com", 3), ...pages("b.com", 3)]);
    const leases = frontier.pollMany(6);
    const of = (rule: string): string[] => urlsOf(leases.filter((lease) => lease.rule === rule));
    expect(of("a.com")).toEqual(pages("a.com", 3));
    expect(of("b.com")).toEqual(pages("b.com", 3).reverse());
  });

  it("N8: seeds come when the rule appears and every T after it, whatever became of them", () => {
    const { frontier, clock } = openBench({
      rules: [ruleOn("a.com", { seeds: ["http://a.com/"], every: 60_000 })],
    });
    for (let round = 0; round < 3; round++) {
      const lease = frontier.poll();
      expect(lease?.url).toBe("http://a.com/");
      lease?.done();
      expect(frontier.poll()).toBeUndefined();
      clock.advance(60_000);
    }
  });

  it("N9: a seed template stands for its whole range", () => {
    const { frontier } = openBench({
      rules: [{ id: "a", seeds: ["http://www.sovxin.com/t_xiuxianyule_#.html#1#300#1"] }],
    });
    const urls = urlsOf(frontier.pollMany(999));
    expect(urls.length).toBe(300);
    expect([urls[0], urls[299]]).toEqual([
      "http://www.sovxin.com/t_xiuxianyule_1.html",
      "http://www.sovxin.com/t_xiuxianyule_300.html",
    ]);
  });

  it("N15: a rule keeps only some parameters in the key, or none", () => {
    const { frontier } = openBench({
      rules: [
        ruleOn("a.com", { key: { keepParams: ["id"] } }),
        ruleOn("b.com", { key: { keepParams: "none" } }),
      ],
    });
    const statuses = [
      "a.com/?id=1&s=1",
      "a.com/?s=2&id=1",
      "a.com/?id=2",
      "b.com/?x",
      "b.com/?y",
    ].map((url) => frontier.push(`http://${url}`).status);
    expect(statuses).toEqual(["accepted", "duplicate", "accepted", "accepted", "duplicate"]);
  });

  it("N16: what is pending under a removed rule is matched again, and the rest is reported", async () => {
    const { frontier, check } = openBench({ rules: [{ id: "old" }] });
    const told: string[][] = [];
    frontier.on("rulesApplied", ({ unmatched }) => told.push(unmatched));
    frontier.pushMany(["http://a.com/1", "http://b.com/1"]);
    frontier.setRules([ruleOn("a.com")]);
    await Promise.resolve();
    expect(told).toEqual([["http://b.com/1"]]);
    expect(frontier.poll()).toMatchObject({ url: "http://a.com/1", rule: "a.com" });
    expect(frontier.report()).toMatchObject({ pending: 0, failed: 1 });
    check();
  });

  it("N17: a new set holds from the next call on; what is out keeps what it has", () => {
    const { frontier, check } = openBench({ rules: [ruleOn("a.com", { maxAttempts: 2 })] });
    frontier.pushMany(pages("a.com", 2));
    const lease = frontier.poll();
    frontier.setRules(
      [
        { id: "new", maxAttempts: 1 },
        { id: "off", active: false },
      ],
      2,
    );
    expect(frontier.push("http://b.com/").admitted).toBe(true);
    expect(lease?.rule).toBe("a.com");
    expect(lease?.retry()).toBe("requeued");
    expect(frontier.pollMany(9).map(({ rule }) => rule)).toEqual(["new", "new", "new"]);
    check();
  });

  it("N22: the report counts rule by rule", () => {
    const { frontier } = openBench({ rules: [ruleOn("a.com"), ruleOn("b.com")] });
    frontier.pushMany([...pages("a.com", 4), ...pages("b.com", 1)]);
    const [first, second, third] = frontier.pollMany(3);
    first?.done();
    second?.done();
    third?.fail();
    const counts = { leased: 0, failed: 0 };
    expect(frontier.report().rules).toMatchObject({
      "a.com": { ...counts, pending: 2, done: 1, failed: 1, served: 2 },
      "b.com": { ...counts, pending: 0, done: 1, served: 1 },
    });
  });

  it("N-B1: a hundred reloads leave one timer and one rate", () => {
    const { frontier, clock } = openBench({ rules: [] });
    const rule = ruleOn("a.com", { seeds: ["http://a.com/[1-10]"], every: 1_000 });
    expect(clock.armed).toBe(0);
    for (let n = 0; n < 100; n++) frontier.setRules([rule], n);
    expect(clock.armed).toBe(1);
    for (let round = 0; round < 5; round++) {
      expect(frontier.report().pushed).toBe(10 * (round + 1)); // each seed once, whoever asks
      const leases = frontier.pollMany(99);
      expect(leases.length).toBe(10);
      frontier.done(leases);
      // Reloads between the rounds move none of them.
      for (let n = 0; n < 50; n++) {
        frontier.setRules([rule]);
        clock.advance(20);
      }
      expect(clock.armed).toBe(1);
    }
  });

  it("N-B2: a frontier that began without rules takes those that come later", () => {
    const { frontier } = openBench({ rules: [] });
    expect(frontier.push("http://a.com/").reason).toBe("no-rule");
    frontier.setRules([{ id: "late", seeds: ["http://a.com/"] }]);
    expect(frontier.poll()?.url).toBe("http://a.com/");
  });

  it("N-B3: any change is a new version", async () => {
    const { frontier } = openBench({ rules: [ruleOn("a.com")] });
    const versions: Array<number | string> = [];
    frontier.on("rulesApplied", ({ version }) => versions.push(version));
    for (const rules of [[ruleOn("a.com"), ruleOn("b.com")], [ruleOn("b.com")], []]) {
      frontier.setRules(rules);
      await Promise.resolve();
    }
    expect(versions).toEqual([1, 2, 3]);
  });

  it("N-B5: seeds that come again heed capacity and what is on its way", () => {
    const { frontier, clock } = openBench({
      capacity: 200,
      rules: [ruleOn("a.com", { seeds: ["http://a.com/[1-300]"], every: 1_000 })],
    });
    const held = frontier.pollMany(50);
    for (let round = 0; round < 4; round++) {
      clock.advance(1_000);
      const { pending, waiting } = frontier.report();
      expect(pending + waiting).toBeLessThanOrEqual(200);
    }
    const again = urlsOf(frontier.pollMany(999));
    expect(again.filter((url) => held.some((lease) => lease.url === url))).toEqual([]);
  });

  it("N-B8: domains are those of the public suffix list, and a rule's domain is what it says", () => {
    const { frontier } = openBench({
      rules: [ruleOn("x", { match: { domains: ["baidu.com", "foo.co.uk"] } })],
    });
    const hosts = ["a.b.baidu.com", "foo.co.uk", "w.foo.co.uk", "bar.co.uk", "xbaidu.com"];
    expect(hosts.map((host) => frontier.push(`http://${host}/`).admitted)).toEqual([
      true,
      true,
      true,
      false,
      false,
    ]);
    expect(frontier.explain("http://a.b.baidu.com/").domain).toBe("baidu.com");
    expect(frontier.explain("http://w.foo.co.uk/").domain).toBe("foo.co.uk");
  });

  it("N-B9: a share without bound is refused by rule and field, and nothing changes", () => {
    const { frontier } = openBench({ rules: [ruleOn("a.com")] });
    for (const priority of [0, -1, Number.NaN, Number.POSITIVE_INFINITY]) {
      let error: unknown;
      try {
        frontier.setRules([ruleOn("b.com"), ruleOn("c.com", { share: { priority } })]);
      } catch (cause) {
        error = cause;
      }
      expect(error).toBeInstanceOf(FrontierError);
      expect((error as FrontierError).code).toBe("RULE_INVALID");
      expect((error as FrontierError).message).toMatch(/^rule 'c.com'.share.priority: /);
    }
    expect(frontier.push("http://a.com/").admitted).toBe(true);
  });

  it("N-B11: a link asks the patterns of its own host alone, each compiled once", () => {
    let tests = 0;
    let compiled = 0;
    const { RegExp: Native } = globalThis;
    const { test } = Native.prototype;
    const isOurs = (source: string): boolean =>
      /^\/p\d+\/$/.exec(source.replaceAll("\\/", "/")) !== null;
    const rules = Array.from({ length: 10_000 }, (_, n) => ({
      id: `r${n}`,
      match: { domains: [`site${n}.com`], pattern: `/p${n}/` },
    }));
    globalThis.RegExp = new Proxy(Native, {
      construct(target, given: [string, string]) {
        if (isOurs(String(given[0]))) compiled++;
        return new target(...given);
      },
    });
    Native.prototype.test = function counted(text) {
      if (isOurs(this.source)) tests++;
      return test.call(this, text);
    };
    try {
      const { frontier } = openBench({ rules });
      expect(compiled).toBe(10_000);
      const urls = Array.from(
        { length: 300 },
        (_, n) => `http://www.site${n % 30}.com/p${n % 30}/${n}`,
      );
      expect(frontier.pushMany(urls).accepted).toBe(300);
      expect(frontier.push("http://www.site7.com/p8/").reason).toBe("no-rule");
      expect(frontier.push("http://www.elsewhere.com/p7/").reason).toBe("no-rule");
    } finally {
      Native.prototype.test = test;
      globalThis.RegExp = Native;
    }
    expect([compiled, tests]).toEqual([10_000, 301]);
  });
});

describe("scope by rules", () => {
  it("G9: depth is the lease's to say, and a rule's limit is the last depth that counts", () => {
    const { frontier } = openBench({ rules: [{ id: "a", maxDepth: 1 }] });
    frontier.push("http://a.com/");
    const first = frontier.poll();
    expect(first?.done({ found: [{ url: "http://a.com/1", depth: 9 }] }).accepted).toBe(1);
    const second = frontier.poll();
    expect(second?.depth).toBe(1);
    expect(second?.done({ found: ["http://a.com/2"] }).verdict(0).reason).toBe("too-deep");
  });

  it("G23: the accepted domains can be changed while it runs", () => {
    const { frontier } = openBench({ rules: [{ id: "in", match: { domains: ["a.com"] } }] });
    expect(frontier.push("http://b.com/").reason).toBe("no-rule");
    frontier.setRules([{ id: "in", match: { domains: ["a.com", "b.com"] } }]);
    expect(frontier.push("http://b.com/").admitted).toBe(true);
  });

  it("S21: a domain takes itself and what is below it", () => {
    const { frontier } = openBench({ rules: [{ id: "in", match: { domains: ["a.com"] } }] });
    const hosts = ["a.com", "www.a.com", "ba.com", "a.com.evil.org"];
    const taken = hosts.map((host) => frontier.push(`http://${host}/`).admitted);
    expect(taken).toEqual([true, true, false, false]);
  });

  it("W28: a rule that does not follow counts what was found and takes none of it", () => {
    const { frontier } = openBench({ rules: [{ id: "a", follow: false }] });
    frontier.push("http://a.com/");
    const result = frontier.poll()?.done({ found: ["http://a.com/1", "http://a.com/2"] });
    expect(result).toMatchObject({ size: 2, accepted: 0, rejected: 2 });
    expect(frontier.report().rejected).toEqual({ "no-follow": 2 });
  });

  it("W29: ranges in seeds count both ends, and an empty range gives nothing", () => {
    const { frontier } = openBench({
      rules: [{ id: "a", seeds: ["http://a.com/[1-3]", "http://a.com/[9-7]"] }],
    });
    expect(urlsOf(frontier.pollMany(9))).toEqual([1, 2, 3].map((n) => `http://a.com/${n}`));
  });
});

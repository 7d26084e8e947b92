/**
 * The meanings of the public API, sentence by sentence, through the public surface alone: Hosts and Shares. Each title is a sentence of
 * the contract.
 */
import { describe, expect, it } from "vitest";
import type { Frontier, FrontierOptions } from "../../../src/index.ts";
import { open } from "../../support/meanings.ts";

const polite = (politeness: object): FrontierOptions => ({ defaults: { politeness } });
const hosts = (leases: Iterable<{ host: string }>): string =>
  Array.from(leases, ({ host }) => host[0]).join("");
/** Three URLs of a, two of b, one of c, in this order. */
const URLS = ["a/1", "a/2", "b/1", "a/3", "c/1", "b/2"].map(
  (one) => `http://${one[0]}.example${one.slice(1)}`,
);

describe("Hosts", () => {
  it("without politeness, or with delayMs 0 and nothing else, there is no rotation", async () => {
    const none = [{}, polite({}), polite({ delayMs: 0 }), polite({ by: "domain" })];
    for (const options of [...none, polite({ budget: { urls: 9 } })]) {
      const { frontier } = await open(options);
      frontier.pushMany(URLS);
      expect(hosts(frontier.pollMany(9))).toBe("aabacb");
    }
    const { frontier } = await open({ defaults: { order: "lifo" } });
    frontier.pushMany(URLS);
    expect(hosts(frontier.pollMany(9))).toBe("bcabaa");
  });

  it("perHost, groups, adaptive or hostBackoff alone bring it", async () => {
    const groups = [{ by: "domain" as const, limit: 99 }];
    const adaptive = { factor: 0, minMs: 0, maxMs: 0 };
    const hostBackoff = { after: 9, baseMs: 1, maxMs: 1 };
    for (const politeness of [{ perHost: 1 }, { groups }, { adaptive }, { hostBackoff }]) {
      const { frontier } = await open(polite(politeness));
      frontier.pushMany(URLS);
      expect(hosts(frontier.pollMany(9)), JSON.stringify(politeness)).toBe("abc");
    }
  });

  it("least recently leased first, then order of joining", async () => {
    const { frontier } = await open(polite({ perHost: 9 }));
    frontier.pushMany(URLS);
    expect(hosts(frontier.pollMany(2))).toBe("ab");
    frontier.push("http://d.example/1");
    // c joined before d, neither was ever leased; then a before b.
    expect(hosts(frontier.pollMany(9))).toBe("cdaba");
  });

  it("among the hosts that hold a record of the best priority of those that may go", async () => {
    const { frontier, clock } = await open(polite({ delayMs: 100 }));
    frontier.push({ url: "http://a.example/high1", priority: 2 });
    frontier.push({ url: "http://a.example/high2", priority: 2 });
    frontier.push({ url: "http://b.example/mid", priority: 1 });
    frontier.push({ url: "http://c.example/low" });
    const first = frontier.pollMany(9);
    expect(hosts(first)).toBe("abc");
    for (const lease of first) lease.done();
    frontier.push({ url: "http://b.example/high", priority: 2 });
    clock.advance(100);
    expect(hosts(frontier.pollMany(9))).toBe("ab");
  });

  it("a host may go when leased < perHost (default 1) and now ≥ readyAt", async () => {
    const { frontier, clock } = await open(polite({ delayMs: 100 }));
    frontier.pushMany(URLS.slice(0, 2));
    const lease = frontier.poll();
    clock.advance(500);
    expect(frontier.poll()).toBeUndefined(); // one at a time
    lease?.done();
    clock.advance(99);
    expect(frontier.poll()).toBeUndefined();
    clock.advance(1);
    expect(frontier.poll()?.url).toBe(URLS[1]);
    const two = await open(polite({ delayMs: 100, perHost: 2 }));
    two.frontier.pushMany(["a/1", "a/2", "a/3"].map((one) => `http://a.example/${one}`));
    expect(two.frontier.pollMany(9)).toHaveLength(1);
    two.clock.advance(100);
    expect(two.frontier.pollMany(9)).toHaveLength(1);
    two.clock.advance(100);
    expect(two.frontier.pollMany(9)).toHaveLength(0);
  });

  it("handing out and end of visit each set readyAt = now + delay", async () => {
    const ends = {
      done: (frontier: Frontier) => frontier.poll()?.done(),
      retry: (frontier: Frontier) => frontier.poll()?.retry(),
      fail: (frontier: Frontier) => frontier.poll()?.fail(),
      batch: (frontier: Frontier) => frontier.done(frontier.pollMany(1)),
    };
    for (const [name, end] of Object.entries(ends)) {
      const { frontier, clock } = await open(polite({ delayMs: 100, perHost: 2 }));
      frontier.pushMany(URLS.slice(0, 2));
      const held = frontier.poll();
      expect(frontier.host("a.example").readyAt).toBe(clock.now() + 100);
      clock.advance(100);
      const before = clock.now();
      end(frontier);
      expect(frontier.host("a.example").readyAt, name).toBe(before + 100);
      clock.advance(30);
      held?.done();
      expect(frontier.host("a.example").readyAt, name).toBe(before + 130);
    }
  });

  it("release restores it", async () => {
    const { frontier, clock } = await open(polite({ delayMs: 100 }));
    frontier.pushMany(URLS);
    const lease = frontier.poll();
    clock.advance(10);
    expect(lease?.release()).toBe(true);
    expect(hosts(frontier.pollMany(9))).toBe("abc");
  });

  it("host is the lower-case URL.host", async () => {
    const { frontier } = await open(polite({ delayMs: 100 }));
    const urls = ["HTTP://A.Example:80/1", "http://a.example:8080/2", "https://a.example/3"];
    frontier.pushMany([...urls, "http://[::1]:81/4", "http://BÜCHER.example/5"]);
    const leases = frontier.pollMany(9);
    expect(leases.map(({ host }) => host)).toEqual([
      "a.example",
      "a.example:8080",
      "[::1]:81",
      "xn--bcher-kva.example",
    ]);
    for (const { host, url } of leases) expect(host).toBe(new URL(url).host);
    expect([...frontier.records({ host: "A.EXAMPLE" })]).toHaveLength(2);
  });

  it("by: 'domain' and by: a function make other units; lease.host stays the URL's", async () => {
    const { frontier } = await open(polite({ delayMs: 100, by: "domain" }));
    frontier.pushMany(["http://x.a.co.uk/1", "http://y.a.co.uk/2", "http://y.b.co.uk/3"]);
    expect(frontier.pollMany(9).map(({ host }) => host)).toEqual(["x.a.co.uk", "y.b.co.uk"]);
    const own = await open(polite({ delayMs: 100, by: () => "one" }));
    own.frontier.pushMany(URLS);
    expect(own.frontier.pollMany(9).map(({ host }) => host)).toEqual(["a.example"]);
    expect(own.frontier.peek(9)).toEqual([]);
  });

  it("blockUntil, hold, unhold, delayMs and limit steer one host", async () => {
    const { frontier, clock } = await open();
    frontier.pushMany(URLS);
    const a = frontier.host("a.example");
    a.blockUntil(clock.now() + 50);
    frontier.host("b.example").hold();
    expect(frontier.nextDueAt()).toBe(clock.now());
    expect(hosts(frontier.peek(9))).toBe("c");
    clock.advance(50);
    expect(hosts(frontier.peek(9))).toBe("aaac");
    a.delayMs = 10;
    a.limit = 2;
    const leases = frontier.pollMany(9);
    expect(hosts(leases)).toBe("ac");
    clock.advance(10);
    expect(hosts(frontier.pollMany(9))).toBe("a");
    clock.advance(10);
    expect(frontier.poll()).toBeUndefined();
    frontier.host("b.example").unhold();
    expect(hosts(frontier.pollMany(9))).toBe("bb");
    expect([a.delayMs, a.limit, a.leased]).toEqual([10, 2, 2]);
    a.blockUntil(new Date(clock.now() + 1_000));
    expect(a.readyAt).toBe(clock.now() + 1_000);
  });

  it("retryAfterMs of an outcome blocks its host", async () => {
    const { frontier, clock } = await open(polite({ delayMs: 1 }));
    frontier.pushMany(URLS);
    const [a] = frontier.pollMany(3);
    a?.retry({ delayMs: 0, outcome: { status: 429, retryAfterMs: 5_000 } });
    clock.advance(4_999);
    expect(hosts(frontier.peek(9))).not.toContain("a");
    clock.advance(1);
    expect(hosts(frontier.peek(9))).toContain("a");
  });

  it("a budget of URLs of a host is the verdict 'budget'", async () => {
    const { frontier } = await open(polite({ budget: { urls: 2 } }));
    const result = frontier.pushMany(URLS);
    expect(Array.from(URLS, (_, index) => result.verdict(index).reason)).toEqual([
      ...[undefined, undefined, undefined],
      "budget",
      ...[undefined, undefined],
    ]);
    expect(frontier.report().rejected).toEqual({ budget: 1 });
  });
});

describe("Shares", () => {
  const rule = (id: string, share: object): object => ({
    id,
    match: { hosts: [`${id}.example`] },
    share,
  });
  const fill = (frontier: Frontier, ids: string, count: number): void => {
    for (const id of ids) {
      frontier.pushMany(Array.from({ length: count }, (_, n) => `http://${id}.example/${n}`));
    }
  };

  it("the eligible rule with the lowest pass goes, pass += 1 / rate, ties by rule order", async () => {
    const rules = [rule("a", { weight: 100 }), rule("b", { priority: 2, weight: 100 })];
    const { frontier } = await open({ rules: rules as never });
    fill(frontier, "ba", 20);
    expect(hosts(frontier.pollMany(9))).toBe("abaabaaba");
    const shares = frontier.report().rules;
    expect([shares.a?.served, shares.b?.served]).toEqual([6, 3]);
  });

  it("rate = (100 + weight) / priority", async () => {
    const rules = [rule("a", { priority: 1, weight: 10 }), rule("b", { priority: 3, weight: 10 })];
    const { frontier } = await open({ rules: rules as never });
    fill(frontier, "ab", 4_000);
    const served = hosts(frontier.pollMany(4_000));
    expect(served.replaceAll("b", "")).toHaveLength(3_000);
  });

  it("a rule that becomes eligible starts at the current pass", async () => {
    const rules = [rule("a", {}), rule("b", {})];
    const { frontier } = await open({ rules: rules as never });
    fill(frontier, "a", 200);
    frontier.pollMany(100);
    fill(frontier, "b", 100);
    // It has no claim on what it missed: they alternate from here on.
    const served = hosts(frontier.pollMany(10));
    expect(served.replaceAll("b", "")).toHaveLength(5);
  });

  it("what one rule leaves is the others'", async () => {
    const { frontier } = await open({ rules: [rule("a", {}), rule("b", {})] as never });
    fill(frontier, "a", 1);
    fill(frontier, "b", 5);
    expect(hosts(frontier.pollMany(9))).toBe("abbbbb");
  });

  it("specificity of a match: exact host, longest domain, longest pattern, array order", async () => {
    const { frontier } = await open({
      rules: [
        { id: "any" },
        { id: "short", match: { pattern: "/p" } },
        { id: "long", match: { pattern: "/path" } },
        { id: "domain", match: { domains: ["example.com"] } },
        { id: "subdomain", match: { domains: ["sub.example.com"] } },
        { id: "host", match: { hosts: ["www.sub.example.com"] } },
        { id: "host2", match: { hosts: ["www.sub.example.com"] } },
        { id: "hostpath", match: { hosts: ["www.sub.example.com"], pattern: "/deep" } },
      ],
    });
    const ruleOf = (url: string): string | undefined => frontier.explain(url).rule;
    expect(ruleOf("http://other.example/x")).toBe("any");
    expect(ruleOf("http://other.example/p")).toBe("short");
    expect(ruleOf("http://other.example/path")).toBe("long");
    expect(ruleOf("http://example.com/path")).toBe("domain");
    expect(ruleOf("http://a.example.com/path")).toBe("domain");
    expect(ruleOf("http://sub.example.com/path")).toBe("subdomain");
    expect(ruleOf("http://www.sub.example.com/path")).toBe("host");
    expect(ruleOf("http://www.sub.example.com/deep")).toBe("hostpath");
  });
});

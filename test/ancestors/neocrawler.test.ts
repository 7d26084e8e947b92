/** N: what NEOCrawler's central scheduler does, row by row, and the faults it has. */
import { describe, expect, it } from "vitest";
import { presets } from "../../src/engine/options/presets.ts";
import type { FrontierOptions, Lease, Rule } from "../../src/engine/types/frontier-types.ts";
import { resolveLinks } from "../../src/engine/api/url-functions.ts";
import { expandSeed } from "../../src/url/parsing/seed-templates.ts";
import { openBench, thrownBy } from "../support/bench-frontier.ts";

const HOUR = 3_600_000;
const rule = (id: string, pattern: string, more: Partial<Rule> = {}): Rule => ({
  id,
  match: { domains: ["a.com"], pattern },
  ...more,
});
const DETAIL = rule("a.com:detail", "/detail/", { share: { priority: 1, weight: 10 } });
const LIST = rule("a.com:list", "/list/", { share: { priority: 3, weight: 10 } });

const openNeo = (options: Parameters<typeof presets.neocrawler>[0] = {}) =>
  openBench(presets.neocrawler(options));
const pages = (kind: string, count: number): string[] =>
  Array.from({ length: count }, (_, index) => `http://a.com/${kind}/${index}`);

describe("NEOCrawler", () => {
  it("N1: a rule has an id, a pattern, a share, seeds and a schedule, and can be inactive", () => {
    const { frontier } = openNeo({ rules: [DETAIL, { ...LIST, active: false }] });
    expect(frontier.push("http://a.com/detail/1").status).toBe("accepted");
    expect(frontier.push("http://a.com/list/1").reason).toBe("no-rule");
    expect(frontier.poll()?.rule).toBe("a.com:detail");
  });

  it("N2: the longest pattern of a domain wins, and what no rule takes is refused", () => {
    const rules = [rule("short", "/d"), rule("long", "/detail/"), rule("other", "/list/")];
    const { frontier } = openNeo({ rules });
    frontier.pushMany(["http://www.a.com/detail/1", "http://a.com/d", "http://a.com/list/"]);
    const taken = new Map(frontier.pollMany(9).map((lease) => [lease.url, lease.rule]));
    expect([...taken.values()].sort()).toEqual(["long", "other", "short"]);
    expect(taken.get("http://www.a.com/detail/1")).toBe("long");
    expect(frontier.push("http://a.com/else").reason).toBe("no-rule");
  });

  it("N3: each rule has its own line, in the order of pushing", () => {
    const { frontier } = openNeo({ rules: [DETAIL, LIST] });
    frontier.pushMany([...pages("list", 5), ...pages("detail", 5)]);
    const leases = frontier.pollMany(10);
    const of = (id: string) => leases.filter((lease) => lease.rule === id).map(({ url }) => url);
    expect(of("a.com:list")).toEqual(pages("list", 5));
    expect(of("a.com:detail")).toEqual(pages("detail", 5));
    expect(frontier.report().rules["a.com:list"]).toMatchObject({ leased: 5, served: 5 });
  });

  it("N4: a rule's share of 20,000 polls is its rate, (100 + weight) / priority", () => {
    const { frontier } = openNeo({ rules: [DETAIL, LIST], defaults: { epoch: "forever" } });
    const counts = new Map<string, number>();
    let next = 0;
    for (let turn = 0; turn < 200; turn++) {
      frontier.pushMany(pages("detail", 200).map((url) => `${url}-${next}`));
      frontier.pushMany(pages("list", 200).map((url) => `${url}-${next++}`));
      const leases = frontier.pollMany(100);
      for (const lease of leases) counts.set(lease.rule, (counts.get(lease.rule) ?? 0) + 1);
      frontier.done(leases);
    }
    const share = (counts.get("a.com:detail") ?? 0) / 20_000;
    expect(share).toBeCloseTo(110 / (110 + 110 / 3), 2);
  });

  it("N5: what one rule leaves goes to the others, up to the limit", () => {
    const { frontier } = openNeo({ rules: [DETAIL, LIST] });
    frontier.pushMany([...pages("detail", 10), ...pages("list", 300)]);
    const leases = frontier.pollMany(1_000);
    const count = (id: string) => leases.filter((lease) => lease.rule === id).length;
    expect([count("a.com:detail"), count("a.com:list")]).toEqual([10, 190]);
  });

  it("N6: first or last in first out, as each rule says", () => {
    const rules: Rule[] = [
      { ...DETAIL, order: "lifo" },
      { ...LIST, order: "fifo" },
    ];
    const { frontier } = openNeo({ rules });
    frontier.pushMany([...pages("detail", 3), ...pages("list", 3)]);
    const leases = frontier.pollMany(6);
    const of = (id: string) => leases.filter((lease) => lease.rule === id).map(({ url }) => url);
    expect(of("a.com:detail")).toEqual(pages("detail", 3).reverse());
    expect(of("a.com:list")).toEqual(pages("list", 3));
  });

  it("N7: the settings are options with the defaults that they had", () => {
    expect(presets.neocrawler()).toMatchObject({ maxLeases: 200, defaults: { maxAttempts: 4 } });
    const defaults = openNeo();
    defaults.frontier.pushMany(pages("x", 300));
    expect(defaults.frontier.pollMany(300).length).toBe(200); // schedule_quantity_limitation
    expect(defaults.frontier.host("a.com").delayMs).toBe(0); // request delay
    const { frontier } = openNeo({ maxLeases: 3 });
    frontier.pushMany(pages("x", 10));
    expect(frontier.pollMany(10).length).toBe(3);
  });

  it("N8: seeds are pushed at the start and every T after it", () => {
    const seeds = ["http://a.com/list/[1-3]"];
    const { frontier, clock } = openNeo({ rules: [{ ...LIST, seeds, every: "1h" }] });
    const first = frontier.pollMany(9);
    expect(first.length).toBe(3);
    frontier.done(first);
    clock.advance(HOUR - 1);
    expect(frontier.poll()).toBe(undefined);
    clock.advance(1);
    expect(frontier.pollMany(9).length).toBe(3);
  });

  it("N9: a template with its range gives all of it, both ends included", () => {
    const urls = [...expandSeed("http://www.sovxin.com/t_xiuxianyule_#.html#1#300#1")];
    expect([urls.length, urls[0], urls[299]]).toEqual([
      300,
      "http://www.sovxin.com/t_xiuxianyule_1.html",
      "http://www.sovxin.com/t_xiuxianyule_300.html",
    ]);
  });

  it("N12: what is due again is handed out: pending and failed go, leased after its deadline, done after T", () => {
    const { frontier, clock } = openNeo({ interval: "1h", leaseMs: 60_000 });
    frontier.pushMany(pages("x", 2));
    const [first, second] = frontier.pollMany(2) as [Lease, Lease];
    expect(frontier.poll()).toBe(undefined);
    first.done();
    clock.advance(60_000);
    expect(frontier.poll()?.url).toBe(second.url); // its lease had run out
    clock.advance(HOUR - 60_000);
    const due = frontier.pollMany(9).map(({ url }) => url);
    expect(due).toContain(first.url);
  });

  it("N12: each state when scheduling: hit and failed go, under way waits for its deadline, done for T, unknown never", () => {
    const open = () => openNeo({ interval: "1h", leaseMs: 60_000, defaults: { maxAttempts: 1 } });
    const url = "http://a.com/x";
    // What brings it there, when it goes after that, and how the scheduler comes to it.
    type Bench = ReturnType<typeof open>;
    const cases: Array<[state: string, (bench: Bench) => void, afterMs: number | undefined]> = [
      ["hit", ({ frontier }) => void frontier.push(url), 0],
      [
        "crawled_failure",
        ({ frontier }) => {
          frontier.push(url);
          frontier.poll()?.fail();
          expect(frontier.poll()).toBe(undefined);
          expect(frontier.requeue({ state: "failed" })).toBe(1);
        },
        0,
      ],
      [
        "crawling",
        ({ frontier }) => {
          frontier.push({ url, maxAttempts: 2 });
          frontier.poll();
        },
        60_000,
      ],
      [
        "crawled_finish",
        ({ frontier }) => {
          frontier.push(url);
          frontier.poll()?.done();
        },
        HOUR,
      ],
      ["unknown", () => undefined, undefined],
    ];
    for (const [state, bring, afterMs] of cases) {
      const bench = open();
      bring(bench);
      const { frontier, clock, check } = bench;
      if (afterMs === undefined) {
        clock.advance(10 * HOUR);
        expect([state, frontier.poll()]).toEqual([state, undefined]);
        continue;
      }
      if (afterMs > 0) {
        clock.advance(afterMs - 1);
        expect([state, frontier.poll()]).toEqual([state, undefined]);
        clock.advance(1);
      }
      expect([state, frontier.poll()?.url]).toEqual([state, url]);
      check();
    }
  });

  it("N13: found again, it is taken when failed at once, when done after T, else never twice", () => {
    const { frontier, clock } = openNeo({ interval: "1h", defaults: { maxAttempts: 1 } });
    const url = "http://a.com/x";
    const push = (): string => frontier.push(url).status;
    expect([push(), push()]).toEqual(["accepted", "duplicate"]); // hit
    const lease = frontier.poll() as Lease;
    expect(push()).toBe("duplicate"); // crawling
    lease.fail();
    expect(push()).toBe("accepted"); // crawled_failure
    frontier.poll()?.done();
    clock.advance(HOUR - 1);
    expect(push()).toBe("duplicate"); // crawled_finish
    clock.advance(1);
    expect(push()).toBe("accepted");
  });

  it("N14: a new version makes finished pages new at once, and the old ones stay known", () => {
    const branch = (version: number): Rule[] => [{ ...LIST, epoch: { version } }];
    const { frontier } = openNeo({ rules: branch(1) });
    const url = "http://a.com/list/1";
    frontier.push(url);
    frontier.poll()?.done();
    expect(frontier.push(url).status).toBe("duplicate");
    frontier.setRules(branch(2));
    expect(frontier.push(url).status).toBe("accepted");
    frontier.setRules(branch(1));
    expect(frontier.push(url).status).toBe("duplicate");
  });

  it("N14: a re-seed round opens a new epoch for branch pages: they are crawled again, their details are not", () => {
    const { frontier, clock } = openNeo({
      rules: [
        {
          ...LIST,
          seeds: ["http://a.com/list/0"],
          every: HOUR,
          epoch: { of: (timeMs) => `round ${Math.floor((timeMs - 1_000_000) / HOUR)}` },
        },
        { ...DETAIL, epoch: "forever" },
      ],
    });
    const found = ["http://a.com/list/1", "http://a.com/detail/1"];
    for (const admitted of [2, 1, 1]) {
      const seed = frontier.poll() as Lease;
      expect(seed.url).toBe("http://a.com/list/0");
      expect(seed.done({ found })).toMatchObject({ accepted: admitted, duplicate: 2 - admitted });
      const rest = frontier.pollMany(9);
      expect(rest.map(({ url }) => url).sort()).toEqual([...found].sort().slice(2 - admitted));
      frontier.done(rest);
      expect(frontier.poll()).toBe(undefined);
      clock.advance(HOUR);
    }
  });

  it("N15: only the named parameters count, in their order, or none at all", () => {
    const accepted = (keepParams: string[] | "none", ...urls: string[]): number => {
      const { frontier } = openNeo({ defaults: { key: { keepParams } } });
      return frontier.pushMany(urls).accepted;
    };
    const base = "http://a.com/show";
    expect(accepted(["id", "p"], `${base}?p=1&id=7&s=x`, `${base}?id=7&p=1`, `${base}?id=8`)).toBe(
      2,
    );
    expect(accepted("none", `${base}?a=1`, `${base}?b=2`, base)).toBe(1);
  });

  it("N16: pending pages of a removed rule move to another one, and the rest is reported", () => {
    const { frontier } = openNeo({ rules: [DETAIL, LIST] });
    const told: string[] = [];
    frontier.on("rulesApplied", ({ unmatched }) => told.push(...unmatched));
    frontier.pushMany([...pages("detail", 2), ...pages("list", 2)]);
    frontier.setRules([rule("a.com:all", "/detail/")]);
    expect(frontier.pollMany(9).map((lease) => lease.rule)).toEqual(["a.com:all", "a.com:all"]);
    expect(told.sort()).toEqual(pages("list", 2));
    expect(frontier.report().failed).toBe(2);
  });

  it("N17: a swap holds from the next call on, and what is out keeps its rule", () => {
    const { frontier } = openNeo({ rules: [DETAIL, LIST] });
    frontier.push("http://a.com/detail/1");
    const lease = frontier.poll() as Lease;
    frontier.setRules([LIST], 2);
    expect(frontier.push("http://a.com/detail/2").reason).toBe("no-rule");
    expect([lease.rule, lease.done().late]).toEqual(["a.com:detail", false]);
  });

  it("N19: as many attempts as the rule says, then the failed ones can be listed", () => {
    const { frontier } = openNeo({ defaults: { maxAttempts: 3 } });
    frontier.push("http://a.com/x");
    let attempts = 0;
    for (let lease = frontier.poll(); lease !== undefined; lease = frontier.poll()) {
      attempts++;
      lease.retry();
    }
    expect(attempts).toBe(3);
    expect([...frontier.records({ state: "failed" })].length).toBe(1);
  });

  it("N20: the failed ones of one rule are put back", () => {
    const { frontier } = openNeo({ rules: [DETAIL, LIST] });
    frontier.pushMany([...pages("detail", 3), ...pages("list", 3)]);
    for (const lease of frontier.pollMany(6)) lease.fail();
    expect(frontier.requeue({ state: "failed", rule: "a.com:list" })).toBe(3);
    expect(new Set(frontier.pollMany(9).map((lease) => lease.rule))).toEqual(
      new Set(["a.com:list"]),
    );
  });

  it("N21: rules take turns by their shares, and keep their own order", () => {
    const even = [
      { ...DETAIL, share: {} },
      { ...LIST, share: {} },
    ];
    const { frontier } = openNeo({ rules: even });
    frontier.pushMany([...pages("list", 3), ...pages("detail", 3)]);
    const kinds = frontier.pollMany(6).map((lease) => lease.rule);
    expect(kinds.slice(0, 2).sort()).toEqual(["a.com:detail", "a.com:list"]);
    expect(kinds.filter((id) => id === "a.com:list").length).toBe(3);
  });

  it("N22: the report has every rule's counts", () => {
    const { frontier } = openNeo({ rules: [DETAIL, LIST] });
    frontier.pushMany([...pages("detail", 2), ...pages("list", 3)]);
    frontier.done(frontier.pollMany(2));
    const { rules, pending } = frontier.report();
    expect(pending).toBe(3);
    const served = Object.values(rules).reduce((sum, each) => sum + each.served, 0);
    expect(served).toBe(2);
  });

  it("N23: links that lead nowhere are dropped, and a page's links are unique", () => {
    const { frontier } = openNeo();
    frontier.push("http://a.com/x");
    const hrefs = ["#", "javascript:void(0)", "/y", "/y", "/x"];
    const found = resolveLinks("http://a.com/x", hrefs);
    expect(frontier.poll()?.done({ found }).accepted).toBe(1);
  });

  it("N25: starts, retries, failures and ends are events", () => {
    const { frontier } = openNeo();
    const told: string[] = [];
    for (const event of ["accepted", "leased", "retried", "failed", "done"] as const) {
      frontier.on(event, () => told.push(event));
    }
    frontier.on("empty", () => told.push("empty"));
    frontier.push("http://a.com/x");
    frontier.poll()?.retry();
    frontier.poll()?.done();
    expect(told).toEqual(["accepted", "leased", "retried", "leased", "done"]);
    told.length = 0;
    frontier.push("http://a.com/y");
    frontier.poll()?.fail("crawled_failure");
    frontier.poll(); // no_queue
    expect(told).toEqual(["accepted", "leased", "failed", "empty"]);
  });

  it("N26: too many failures pause it for a while, and say so", () => {
    const breaker = { failures: 3, withinMs: 1_000, pauseMs: 5_000 };
    const { frontier, clock } = openNeo({ breaker });
    const reasons: unknown[] = [];
    frontier.on("status", ({ to, reason }) => reasons.push([to, reason]));
    frontier.pushMany(pages("x", 5));
    for (const lease of frontier.pollMany(3)) lease.fail();
    expect(frontier.poll()).toBe(undefined);
    expect(reasons).toEqual([["paused", "breaker"]]);
    clock.advance(5_000);
    expect(frontier.poll()?.url).toBe("http://a.com/x/3");
  });

  it("N-B1: a hundred reloads leave one schedule of seeds", () => {
    const rules = [{ ...LIST, seeds: ["http://a.com/list/1"], every: "1h" }];
    const { frontier, clock } = openNeo({ rules });
    for (let count = 0; count < 100; count++) frontier.setRules(rules, count);
    expect(clock.armed).toBe(1);
    for (let round = 0; round < 4; round++) {
      const { pushed } = frontier.report();
      const leases = frontier.pollMany(9);
      expect(leases.length).toBe(1);
      frontier.done(leases);
      clock.advance(HOUR);
      // One loop pushes one seed a round: those that others would push are duplicates, and counted all the same.
      expect(frontier.report().pushed - pushed).toBe(1);
      expect(clock.armed).toBe(1);
    }
  });

  it("N-B2: no rules at all is normal, and rules that come later hold", () => {
    const { frontier } = openNeo({ rules: [DETAIL] });
    frontier.setRules([]);
    frontier.setRules([LIST]);
    expect(frontier.push("http://a.com/list/1").status).toBe("accepted");
    expect(frontier.push("http://a.com/detail/1").reason).toBe("no-rule");
  });

  it("N-B3: a rule that is taken out takes nothing more", () => {
    const { frontier } = openNeo({ rules: [DETAIL, LIST] });
    frontier.setRules([LIST]);
    expect(frontier.push("http://a.com/detail/1").admitted).toBe(false);
  });

  it("N-B4: a branch page of a higher version is crawled again, by the public calls alone", () => {
    const { frontier } = openNeo({ rules: [{ ...LIST, epoch: { version: "a" } }] });
    frontier.push("http://a.com/list/1");
    frontier.poll()?.done();
    frontier.setRules([{ ...LIST, epoch: { version: "b" } }]);
    frontier.push("http://a.com/list/1");
    expect(frontier.poll()?.url).toBe("http://a.com/list/1");
  });

  it("N-B5: seeds heed the limits like anything else", () => {
    const seeds = ["http://a.com/list/[1-300]"];
    const { frontier } = openNeo({ rules: [{ ...LIST, seeds }] });
    expect(frontier.pollMany(1_000).length).toBe(200);
  });

  it("N-B7: what is not due is kept until it is", () => {
    const { frontier, clock } = openNeo();
    frontier.push({ url: "http://a.com/x", notBefore: clock.now() + HOUR });
    expect(frontier.poll()).toBe(undefined);
    clock.advance(HOUR);
    expect(frontier.poll()?.url).toBe("http://a.com/x");
  });

  it("N-B8: domains are registrable ones", () => {
    const rules = [{ id: "uk", match: { domains: ["foo.co.uk"] } }];
    const { frontier } = openNeo({ rules });
    expect(frontier.push("http://a.b.foo.co.uk/").status).toBe("accepted");
    expect(frontier.push("http://bar.co.uk/").reason).toBe("no-rule");
  });

  it("N-B9: a share that makes no sense is refused by name", () => {
    const rules: FrontierOptions["rules"] = [{ ...LIST, share: { priority: 0 } }];
    expect((thrownBy(() => openNeo({ rules })) as Error).message).toContain("share.priority");
  });

  it("N-B10: a page found under another spelling is the same page, never lost", () => {
    const { frontier } = openNeo({ defaults: { key: { profile: "canonical" } } });
    expect(frontier.push("HTTP://A.com:80/x?b=2&a=1#top").status).toBe("accepted");
    expect(frontier.push("http://a.com/x?a=1&b=2").status).toBe("duplicate");
    expect(frontier.record("http://a.com/x?a=1&b=2")?.state).toBe("pending");
  });

  it("N-B11: a thousand rules are matched by what they name, each to its own", () => {
    const rules = Array.from({ length: 1_000 }, (_, index) => ({
      id: `r${index}`,
      match: { domains: [`d${index}.com`], pattern: `/p${index}/` },
    }));
    const { frontier } = openNeo({ rules });
    frontier.pushMany(rules.map((_, index) => `http://www.d${index}.com/p${index}/`));
    expect(frontier.report().accepted).toBe(1_000);
    for (const lease of frontier.pollMany(200)) {
      expect(lease.url).toContain(`/p${lease.rule.slice(1)}/`);
    }
  });

  it("N-B12: one deadline decides, the limit is exact, and a retry holds no place", () => {
    const { frontier, clock } = openNeo({ maxLeases: 2, leaseMs: 1_000, rules: [DETAIL, LIST] });
    frontier.pushMany([...pages("detail", 3), ...pages("list", 3)]);
    const leases = frontier.pollMany(9) as [Lease, Lease];
    expect(leases.length).toBe(2);
    leases[0].retry({ delayMs: 500 });
    expect(frontier.pollMany(9).length).toBe(1);
    clock.advance(1_000);
    expect(leases[1].done().late).toBe(true);
    expect(frontier.pollMany(9).length).toBe(2);
  });
});

import { describe, expect, it } from "vitest";
import { createRandom } from "../../../../src/base/random.ts";
import type {
  Frontier,
  Lease,
  Politeness,
  Rule,
} from "../../../../src/engine/types/frontier-types.ts";
import { coreOf } from "../../../../src/engine/api/verify-frontier.ts";
import { openBench, thrownBy } from "../../../support/bench-frontier.ts";
import { testSeed } from "../../../support/seed.ts";
import { sized } from "../../../support/size.ts";

type Groups = NonNullable<Politeness["groups"]>;

function openGroups(groups: Groups, more: Politeness = {}) {
  return openBench({ defaults: { politeness: { ...more, groups } } });
}

const hostsOf = (leases: Iterable<Lease>): string[] => Array.from(leases, ({ host }) => host);

describe("clocks above the host", () => {
  it("let no more out of one domain than its group allows, and others meanwhile", () => {
    const { frontier, check } = openGroups([{ by: "domain", limit: 2 }]);
    const hosts = ["a.x.com", "b.x.com", "c.x.com", "d.x.com", "y.com"];
    frontier.pushMany(hosts.map((host) => `http://${host}/1`));
    const leases = frontier.pollMany(9);
    expect(hostsOf(leases)).toEqual(["a.x.com", "b.x.com", "y.com"]);
    check();
    expect(frontier.nextDueAt()).toBe(leases[0]?.deadlineMs);
    expect(frontier.explain("http://c.x.com/1").heldBy).toBe("group");
    leases[1]?.done();
    expect(hostsOf(frontier.pollMany(9))).toEqual(["c.x.com"]);
    check();
  });

  it("keep the group's delay between any two of its hosts, and tell when it is over", () => {
    const { frontier, clock, check } = openGroups([{ by: "domain", delayMs: 100 }]);
    frontier.pushMany(["http://a.x.com/1", "http://b.x.com/1", "http://y.com/1", "http://y.com/2"]);
    expect(hostsOf(frontier.pollMany(9))).toEqual(["a.x.com", "y.com"]);
    expect(frontier.explain("http://b.x.com/1")).toMatchObject({
      heldBy: "group",
      dueAt: clock.now() + 100,
    });
    expect(frontier.nextDueAt()).toBe(clock.now() + 100);
    clock.advance(99);
    expect(frontier.poll()).toBe(undefined);
    check();
    clock.advance(1);
    expect(hostsOf(frontier.pollMany(9))).toEqual(["b.x.com"]);
    check();
  });

  it("come back with a release, as if the lease had never been", () => {
    const { frontier, check } = openGroups([{ by: "domain", delayMs: 100, limit: 1 }]);
    frontier.pushMany(["http://a.x.com/1", "http://b.x.com/1"]);
    const first = frontier.poll() as Lease;
    expect(frontier.poll()).toBe(undefined);
    first.release();
    check();
    expect(frontier.peek(9).map(({ host }) => host)).toEqual(["a.x.com"]);
    check();
    expect(frontier.poll()?.host).toBe("a.x.com");
    check();
  });

  it("by address hold only hosts whose address is known, from outcomes or by hand", () => {
    const { frontier, check } = openGroups([{ by: "address", limit: 1 }], { perHost: 9 });
    const urls = ["a", "b", "c"].flatMap((name) => [1, 2, 3].map((n) => `http://${name}.com/${n}`));
    frontier.pushMany(urls);
    const first = frontier.pollMany(3);
    expect(hostsOf(first)).toEqual(["a.com", "b.com", "c.com"]);
    frontier.host("a.com").address = "192.0.2.7";
    expect(frontier.host("a.com").address).toBe("192.0.2.7");
    expect(frontier.host("c.com").address).toBe(undefined);
    check();
    first[1]?.done({ outcome: { address: "192.0.2.7" } });
    check();
    // a and b share a server that has a lease of a's out; c is unknown and blocked by nothing.
    expect(hostsOf(frontier.pollMany(9))).toEqual(["c.com", "c.com"]);
    frontier.host("a.com").address = "192.0.2.8";
    check();
    expect(hostsOf(frontier.pollMany(9))).toEqual(["b.com"]);
    frontier.host("a.com").address = "";
    expect(hostsOf(frontier.pollMany(9))).toEqual(["a.com", "a.com"]);
    check();
  });

  it("all have to agree, and the best host of each goes first", () => {
    const own = (host: string): string => host.slice(0, 1);
    const { frontier, check } = openGroups([
      { by: "domain", limit: 1 },
      { by: own, limit: 1 },
    ]);
    frontier.push({ url: "http://a1.x.com/", priority: 1 });
    frontier.push({ url: "http://a2.y.com/", priority: 9 });
    frontier.push({ url: "http://b1.y.com/", priority: 8 });
    frontier.push({ url: "http://b2.x.com/", priority: 0 });
    const leases = frontier.pollMany(9);
    expect(hostsOf(leases)).toEqual(["a2.y.com", "b2.x.com"]);
    check();
    leases[0]?.done();
    expect(hostsOf(frontier.pollMany(9))).toEqual([]);
    leases[1]?.done();
    expect(hostsOf(frontier.pollMany(9))).toEqual(["b1.y.com", "a1.x.com"]);
    check();
  });

  it("of an own function that fails are the host's own; one that calls back in harms nothing", () => {
    const errors: unknown[] = [];
    const { frontier, check } = openGroups([
      {
        by: (host) => {
          errors.push((thrownBy(() => frontier.push("http://evil.com/")) as { code: string }).code);
          if (host === "b.com") throw new Error("no");
          return host === "c.com" ? (5 as unknown as string) : "all";
        },
        limit: 1,
      },
    ]);
    frontier.pushMany(["http://a.com/", "http://b.com/", "http://c.com/", "http://d.com/"]);
    expect(hostsOf(frontier.pollMany(9))).toEqual(["a.com", "b.com", "c.com"]);
    expect(new Set(errors)).toEqual(new Set(["STATE_INVALID"]));
    check();
  });

  it.each<[unknown, string]>([
    [{}, "groups"],
    [[{ by: "network" }], "groups[0].by"],
    [[{ by: "domain", delay: 5 }], "groups[0].delay"],
    [[{ by: "domain" }, { by: "domain" }], "groups[1].by"],
    [[{ by: "domain", limit: 0 }], "groups[0].limit"],
    [[{ by: "domain", delayMs: -1 }], "groups[0].delayMs"],
  ])("%j are refused by the name %s", (groups, field) => {
    const error = thrownBy(() => openGroups(groups as Groups)) as Error;
    expect(error).toMatchObject({ code: "OPTION_INVALID" });
    expect(error.message).toContain(`politeness.${field}:`);
  });

  it("are never broken, and nothing stands still, through random visits of many hosts", () => {
    const random = createRandom(testSeed("groups"));
    for (let round = 0; round < sized(12, 4); round++) {
      const limit = 1 + random.below(3);
      const delayMs = random.below(2) * 10;
      const { frontier, clock, check } = openBench({
        leaseMs: 60,
        defaults: {
          maxAttempts: 2,
          politeness: {
            delayMs: random.below(2) * 7,
            perHost: 1 + random.below(2),
            ...(random.below(2) === 0
              ? {}
              : { hostBackoff: { after: 2, baseMs: 5, maxMs: 50, giveUpAfter: 6 } }),
            groups: [
              { by: "domain", limit, delayMs },
              { by: "address", limit: 2, delayMs: random.below(2) * 5 },
              { by: (host) => host.slice(0, 1), limit: 4 },
            ],
          },
        },
      });
      const leases: Lease[] = [];
      const lastAt = new Map<string, number>();
      for (let step = 0; step < 700; step++) {
        const host = `${"abc"[random.below(3)]}${random.below(4)}.d${random.below(3)}.com`;
        const choice = random.below(12);
        if (choice < 5) frontier.push({ url: `http://${host}/${step}`, priority: random.below(3) });
        else if (choice < 8) {
          for (const lease of frontier.pollMany(1 + random.below(4))) {
            const domain = lease.host.slice(lease.host.indexOf(".") + 1);
            const gapMs = clock.now() - (lastAt.get(domain) ?? Number.NEGATIVE_INFINITY);
            expect(gapMs).toBeGreaterThanOrEqual(delayMs);
            lastAt.set(domain, clock.now());
            leases.push(lease);
          }
          const live = leases.filter(({ deadlineMs }) => deadlineMs > clock.now());
          const counts = new Map<string, number>();
          for (const { host: one } of live) {
            const domain = one.slice(one.indexOf(".") + 1);
            counts.set(domain, (counts.get(domain) ?? 0) + 1);
          }
          for (const count of counts.values()) expect(count).toBeLessThanOrEqual(limit);
        } else if (choice < 11) {
          const lease = leases.splice(random.below(leases.length + 1), 1)[0];
          const address = `10.0.0.${random.below(3)}`;
          const how = random.below(8);
          if (lease === undefined) frontier.host(host).address = address;
          if (how === 0) lastAt.clear(); // what is released is as if it had never been
          end(lease, how, address);
          if (random.below(20) === 0) frontier.host(host).hold();
          if (random.below(10) === 0) frontier.host(host).unhold();
          if (random.below(20) === 0) frontier.host(host).blockUntil(clock.now() + 20);
        } else clock.advance(random.below(12));
        check();
      }
      workOff(frontier, clock);
      check();
      expect(frontier.report()).toMatchObject({ pending: 0, waiting: 0 });
    }
  });
});

describe("groups by functions that every set of rules brings anew", () => {
  const rulesBy = (by: (host: string) => string, more: Partial<Groups[number]> = {}): Rule[] => [
    { id: "r", politeness: { perHost: 9, groups: [{ by, limit: 2, delayMs: 100, ...more }] } },
  ];
  const fresh = (): Rule[] => rulesBy((host) => host.slice(0, 1));

  it("keep their clocks and leases through thousands of swaps, and stay as few as one set names", () => {
    const { frontier, clock, check } = openBench({ rules: fresh(), keepOpen: true });
    const hosts = ["a1", "a2", "a3", "a4", "b1"].map((name) => `${name}.com`);
    frontier.pushMany(hosts.flatMap((host) => [1, 2].map((n) => `http://${host}/${n}`)));
    const out = frontier.pollMany(9);
    expect(hostsOf(out)).toEqual(["a1.com", "b1.com"]);
    const swapMany = (): void => {
      for (let swap = 0; swap < 1_000; swap++) {
        frontier.setRules(fresh());
        if (swap % 3 === 0) clock.turn(); // one slice of the sweep
        if (swap % 100 === 0) check();
        expect(frontier.poll()).toBe(undefined);
      }
    };
    swapMany(); // the clocks of both groups
    clock.advance(100);
    expect(hostsOf(frontier.pollMany(9))).toEqual(["a2.com", "b1.com"]);
    clock.advance(100);
    swapMany(); // two leases are out in both
    const { offHeapBytes } = frontier.report().memory;
    swapMany();
    expect(frontier.report().memory.offHeapBytes).toBe(offHeapBytes);
    expect(coreOf(frontier).groupKinds.length).toBe(1);
    expect(frontier.explain("http://a3.com/1").heldBy).toBe("group");
    out[0]?.done();
    clock.advance(100);
    expect(hostsOf(frontier.pollMany(9))).toEqual(["a3.com"]);
    check();
  });

  it("ask hosts again, whose leases count where the new function puts them", () => {
    const { frontier, clock, check } = openBench({ rules: fresh(), keepOpen: true });
    const hosts = ["ax.com", "ay.com", "bx.com", "by.com"];
    frontier.pushMany(hosts.flatMap((host) => [1, 2].map((n) => `http://${host}/${n}`)));
    expect(hostsOf(frontier.pollMany(9))).toEqual(["ax.com", "bx.com"]);
    clock.advance(100);
    // Now by the second letter: both leases are of group x, whose limit is one; y is free.
    frontier.setRules(rulesBy((host) => host.slice(1, 2), { limit: 1 }));
    check();
    expect(hostsOf(frontier.pollMany(9))).toEqual(["ay.com"]);
    expect(frontier.poll()).toBe(undefined);
    check();
    // And back, by a function that is new again: groups a and b have two leases and one.
    frontier.setRules(fresh());
    clock.advance(100);
    expect(hostsOf(frontier.pollMany(9))).toEqual(["by.com"]);
    check();
  });

  it("let go what stands under a rule that has gone, before the sweep has come to it", () => {
    const { frontier, clock, check } = openBench({ rules: fresh(), keepOpen: true });
    const many = (host: string): string[] =>
      Array.from({ length: 600 }, (_, n) => `http://${host}/${n}`);
    const held = ["ha.com", "hz.com"];
    for (const host of held) frontier.host(host).hold();
    frontier.pushMany([...many("ha.com"), "http://ax.com/1", "http://ax.com/2", ...many("hz.com")]);
    expect(hostsOf(frontier.pollMany(9))).toEqual(["ax.com"]);
    clock.advance(100);
    // Its host has a lease out, so it is asked at once; its other record is left under the old rule meanwhile.
    frontier.setRules(rulesBy((host) => host.slice(1, 2)));
    expect(frontier.report().rules.r?.pending).toBe(1_201);
    expect(hostsOf(frontier.pollMany(9))).toEqual(["ax.com"]);
    check();
  });

  it("give their places to new ones alone: those that a set still names keep theirs", () => {
    const first = (host: string): string => host.slice(0, 1);
    const second = (host: string): string => host.slice(1, 2);
    const rule = (id: string, by: (host: string) => string): Rule => {
      const groups = [{ by, limit: 1 }];
      return { id, match: { hosts: [`${id}.com`, `${id}z.com`] }, politeness: { groups } };
    };
    const rules = [rule("ax", first), rule("bx", second)];
    const { frontier, check } = openBench({ rules, keepOpen: true });
    frontier.pushMany(["http://ax.com/", "http://axz.com/", "http://bx.com/", "http://bxz.com/"]);
    // By `first` ax.com fills group a; by `second` it fills group x of the others too.
    expect(hostsOf(frontier.pollMany(9))).toEqual(["ax.com"]);
    frontier.setRules([rule("ax", (host) => host.slice(0, 1)), rule("bx", second)]);
    check();
    expect(frontier.pollMany(9)).toEqual([]);
    frontier.setRules([rule("ax", first), rule("bx", (host) => host)]);
    check();
    expect(hostsOf(frontier.pollMany(9))).toEqual(["bx.com", "bxz.com"]);
    check();
  });
});

/** Lets everything go, until nothing is pending, in a bounded number of turns: nothing stands still. */
function workOff(frontier: Frontier, clock: { now(): number; advance(ms: number): void }): void {
  for (const name of ["a", "b", "c"]) {
    for (let n = 0; n < 12; n++) frontier.host(`${name}${n % 4}.d${n % 3}.com`).unhold();
  }
  for (let turn = 0; turn < 20_000; turn++) {
    const { pending, waiting } = frontier.report();
    if (pending + waiting === 0) return;
    frontier.done(frontier.pollMany(9));
    const dueAt = frontier.nextDueAt();
    if (dueAt !== undefined) clock.advance(Math.max(dueAt - clock.now(), 0));
  }
}

function end(lease: Lease | undefined, how: number, address: string): void {
  if (how === 0) lease?.release();
  else if (how === 1) lease?.fail("x", { status: 500 });
  else if (how === 2) lease?.retry({ delayMs: 3 });
  else lease?.done({ outcome: { address } });
}

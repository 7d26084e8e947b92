/**
 * The meanings of the public API, sentence by sentence, through the public surface alone: Rules, epochs, presets. Each title is a
 * sentence of the contract.
 */
import { describe, expect, it } from "vitest";
import {
  type EpochPolicy,
  type Frontier,
  type FrontierOptions,
  type Lease,
  presets,
  type RulePolicy,
} from "../../../src/index.ts";
import { open as openAt } from "../../support/meanings.ts";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
/** A Sunday, half an hour before midnight in UTC. */
const START = Date.parse("2026-11-22T23:30:00Z");
const A = "http://a.example/1";
const B = "http://b.example/1";

const open = (options?: FrontierOptions) => openAt(options, START);

const urls = (leases: Iterable<{ url: string }>): string[] => Array.from(leases, ({ url }) => url);

/** Turns of the event loop and of the clock until the change of rules has reached every record. */
async function applied(frontier: Frontier, clock: { advance(ms: number): void }): Promise<object> {
  let told: object | undefined;
  const off = frontier.on("rulesApplied", (event) => {
    told = event;
  });
  for (let turn = 0; told === undefined; turn++) {
    expect(turn).toBeLessThan(10_000);
    clock.advance(1);
    await Promise.resolve();
  }
  off();
  return told;
}

describe("Rules", () => {
  it("setRules validates all, then admissions follow the new set at once", async () => {
    const { frontier } = await open({ rules: [{ id: "a", match: { hosts: ["a.example"] } }] });
    const wrong = [
      { id: "b", match: { hosts: ["b.example"] } },
      { id: "c", priority: 0.5 },
    ];
    expect(() => frontier.setRules(wrong)).toThrow(/rule 'c'.priority: 0\.5/);
    expect([frontier.push(A).status, frontier.push(B).reason]).toEqual(["accepted", "no-rule"]);
    frontier.setRules(wrong.slice(0, 1), "v2");
    expect(frontier.push(B).status).toBe("accepted");
    expect(frontier.push("http://a.example/2").reason).toBe("no-rule");
    expect(frontier.explain(B).rule).toBe("b");
  });

  it("a rule with the same id takes the new policy", async () => {
    const { frontier } = await open({ rules: [{ id: "r" }] });
    frontier.pushMany([A, B]);
    const lease = frontier.poll() as Lease;
    frontier.setRules([{ id: "r", maxAttempts: 1, order: "lifo", maxDepth: 0, follow: false }]);
    expect(lease.done({ found: ["http://a.example/2"] }).rejected).toBe(1);
    expect(frontier.push({ url: "http://a.example/3", depth: 1 }).reason).toBe("too-deep");
    frontier.push("http://a.example/4");
    const [last, first] = frontier.pollMany(2);
    expect(urls([last as Lease, first as Lease])).toEqual(["http://a.example/4", B]);
    expect(first?.retry()).toBe("failed");
    frontier.setRules([{ id: "r", politeness: { delayMs: 50 } }]);
    last?.done(); // leases keep what they have: no delay follows
    frontier.pushMany(["http://a.example/5", "http://a.example/6"]);
    frontier.poll()?.done();
    expect(frontier.explain("http://a.example/6").heldBy).toBe("delay");
  });

  it("pending records of vanished rules are matched again in a sliced sweep that ends with rulesApplied", async () => {
    const { frontier, clock } = await open({ rules: [{ id: "old" }] });
    const all = Array.from({ length: 3_000 }, (_, n) => `http://${"abc"[n % 3]}.example/${n}`);
    frontier.pushMany(all);
    frontier.setRules([{ id: "a", match: { hosts: ["a.example", "b.example"] } }], "next");
    const told = await applied(frontier, clock);
    expect(told).toMatchObject({ version: "next", moved: 3_000, unmatchedCount: 1_000 });
    const gone = all.filter((url) => url.includes("//c."));
    expect([...(told as { unmatched: string[] }).unmatched].sort()).toEqual([...gone].sort());
    expect(frontier.report()).toMatchObject({ pending: 2_000, failed: 1_000 });
    const [failed] = frontier.records({ state: "failed" });
    expect(failed?.url).toBe(gone[0]);
    expect(frontier.report().reasons.failed).toEqual({ "no-rule": 1_000 });
    const leases = frontier.pollMany(3_000);
    expect(urls(leases)).toEqual(all.filter((url) => !url.includes("//c.")));
    expect(new Set(leases.map(({ rule }) => rule))).toEqual(new Set(["a"]));
  });

  it("… or lazily: what is handed out meanwhile is under the set that stands", async () => {
    const { frontier } = await open({ rules: [{ id: "old" }] });
    frontier.pushMany(Array.from({ length: 5_000 }, (_, n) => `http://a.example/${n}`));
    frontier.setRules([{ id: "new", priority: 3 }]);
    const leases = frontier.pollMany(5_000);
    expect(leases.length).toBe(5_000);
    expect(leases.every(({ rule }) => rule === "new")).toBe(true);
    expect(leases.map(({ url }) => Number(url.slice(17)))).toEqual(leases.map((_, n) => n));
  });

  it("keys are never recomputed; leases keep what they have", async () => {
    const { frontier } = await open({ rules: [{ id: "one" }] });
    frontier.push("http://a.example/?id=1&s=1");
    const lease = frontier.poll() as Lease;
    frontier.push("http://a.example/?id=2&s=1");
    frontier.setRules([{ id: "two", key: { keepParams: ["id"] }, maxAttempts: 1 }]);
    expect(lease.rule).toBe("one");
    expect(frontier.push("http://a.example/?id=1&s=1").status).toBe("accepted"); // another key now
    expect(frontier.push("http://a.example/?id=1&s=2").status).toBe("duplicate");
    expect(lease.done().late).toBe(false);
    frontier.setRules([{ id: "one" }]);
    expect(frontier.push("http://a.example/?id=1&s=1").status).toBe("duplicate");
    expect(frontier.push("http://a.example/?id=2&s=1").status).toBe("duplicate");
  });

  it("an address is known from Outcome.address or host().address; an unknown one never blocks", async () => {
    const groups = [{ by: "address" as const, limit: 1 }];
    const { frontier } = await open({ defaults: { politeness: { perHost: 9, groups } } });
    const hosts = ["a", "b", "c", "d"];
    frontier.pushMany(hosts.flatMap((host) => [1, 2].map((n) => `http://${host}.example/${n}`)));
    const first = frontier.pollMany(4);
    expect(first.map(({ host }) => host[0]).join("")).toBe("abcd");
    frontier.host("a.example").address = "192.0.2.1";
    first[1]?.done({ outcome: { address: "192.0.2.1" } });
    expect(
      frontier
        .pollMany(9)
        .map(({ host }) => host[0])
        .join(""),
    ).toBe("cd");
    first[0]?.done();
    expect(
      frontier
        .pollMany(9)
        .map(({ host }) => host[0])
        .join(""),
    ).toBe("a");
  });

  it("seeds: templates, at depth 0, once, or again with every; an inactive rule has none", async () => {
    const { frontier, clock } = await open({
      rules: [
        { id: "once", seeds: ["http://a.example/[1-2]"] },
        { id: "again", match: { hosts: ["b.example"] }, seeds: [B], every: "15m" },
        { id: "off", active: false, seeds: ["http://c.example/"] },
      ],
    });
    const first = frontier.pollMany(9);
    expect(urls(first).sort()).toEqual([A, "http://a.example/2", B]);
    expect(first.every(({ depth }) => depth === 0)).toBe(true);
    frontier.done(first);
    for (let round = 0; round < 3; round++) {
      clock.advance(15 * 60_000 - 1);
      expect(frontier.poll()).toBe(undefined);
      clock.advance(1);
      const [lease] = frontier.pollMany(9);
      expect(lease?.url).toBe(B);
      lease?.done();
    }
  });

  it("match: hosts, domains, an unanchored pattern and schemes, all that are given must fit", async () => {
    const { frontier } = await open({
      rules: [
        {
          id: "all",
          match: { domains: ["a.example"], pattern: "/x\\d$", schemes: ["https"] },
        },
        { id: "port", match: { hosts: ["b.example:81"] } },
      ],
    });
    const rules = [
      ["https://w.a.example/x1", "all"],
      ["https://a.example/y/x2#f", "all"],
      ["http://a.example/x1", undefined],
      ["https://a.example/x1y", undefined],
      ["https://ba.example/x1", undefined],
      ["http://b.example:81/", "port"],
      ["http://b.example/", undefined],
    ] as const;
    for (const [url, rule] of rules) expect([url, frontier.explain(url).rule]).toEqual([url, rule]);
  });
});

describe("Epochs", () => {
  const epochOf = async (epoch: EpochPolicy, notBefore?: number): Promise<string | undefined> => {
    const { frontier } = await open({ defaults: { epoch } });
    return frontier.explain(notBefore === undefined ? A : { url: A, notBefore }).epoch;
  };

  it("calendar epochs use notBefore if given, else now", async () => {
    const { frontier, clock } = await open({ defaults: { epoch: { calendar: "day" } } });
    expect(frontier.push(A).status).toBe("accepted");
    expect(frontier.push(A).status).toBe("duplicate");
    expect(frontier.push({ url: A, notBefore: START + HOUR }).status).toBe("deferred");
    clock.advance(HOUR);
    expect(frontier.push(A).status).toBe("duplicate"); // that day's is there already
    clock.advance(DAY);
    expect(frontier.push(A).status).toBe("accepted");
  });

  it("hour, day, week and month, in their zone", async () => {
    expect(await epochOf({ calendar: "day" })).toBe("2026-11-22");
    expect(await epochOf({ calendar: "day", zone: "Asia/Tokyo" })).toBe("2026-11-23");
    const weeks = [START, START + HOUR, START + 7 * DAY].map((at) =>
      epochOf({ calendar: "week" }, at),
    );
    const [sunday, monday, next] = await Promise.all(weeks);
    expect(sunday).not.toBe(monday);
    expect(monday).toBe(next);
    const months = [START, START + 8 * DAY, START + 9 * DAY];
    const [november, last, december] = await Promise.all(
      months.map((at) => epochOf({ calendar: "month" }, at)),
    );
    expect([november === last, last === december]).toEqual([true, false]);
    const hours = [START, START + HOUR / 2 - 1, START + HOUR / 2];
    const [one, same, other] = await Promise.all(
      hours.map((at) => epochOf({ calendar: "hour" }, at)),
    );
    expect([one === same, same === other]).toEqual([true, false]);
  });

  it("with undated: 'forever' only dated requests are segmented", async () => {
    const epoch = { calendar: "day", undated: "forever" } as const;
    const { frontier, clock } = await open({ defaults: { epoch } });
    frontier.push(A);
    frontier.push({ url: A, notBefore: START + DAY });
    clock.advance(10 * DAY);
    expect(frontier.push(A).status).toBe("duplicate");
    expect(frontier.push({ url: A, notBefore: START + DAY }).status).toBe("duplicate");
    expect(frontier.push({ url: A, notBefore: clock.now() + DAY }).status).toBe("deferred");
  });

  it("every(T) since last finish; version; fn(time); a request's own epoch", async () => {
    const every = await open({ defaults: { epoch: { every: "2h" } } });
    every.frontier.push(A);
    every.clock.advance(5 * HOUR);
    // Since the last finish, and there is none yet.
    expect(every.frontier.push(A).status).toBe("duplicate");
    every.frontier.poll()?.done();
    every.clock.advance(2 * HOUR - 1);
    expect(every.frontier.push(A).status).toBe("duplicate");
    every.clock.advance(1);
    expect(every.frontier.poll()?.url).toBe(A); // by itself

    const version = await open({ rules: [{ id: "r", epoch: { version: 1 } }] });
    expect(version.frontier.push(A).status).toBe("accepted");
    version.frontier.setRules([{ id: "r", epoch: { version: 2 } }]);
    expect(version.frontier.push(A).status).toBe("accepted");
    expect(version.frontier.push({ url: A, epoch: "1" }).status).toBe("duplicate");
    expect(version.frontier.forget({ epoch: "1" })).toBe(0); // its record is pending still
    expect(version.frontier.push({ url: A, epoch: "1" }).status).toBe("accepted");

    const of = (timeMs: number): string => `third ${Math.floor(timeMs / (8 * HOUR))}`;
    expect(await epochOf({ of })).toBe(of(START));
    expect(await epochOf({ of }, START + DAY)).toBe(of(START + DAY));
  });

  it("adaptive: the period shrinks where outcome.changed says so and grows where not, within its bounds", async () => {
    const epoch = { adaptive: { min: "1h", max: "8h" } };
    const { frontier, clock } = await open({ defaults: { epoch } });
    const periodAfter = (changed: boolean, index: number): number => {
      // Links to it are found now and then, when it is due: they say nothing of how it changes.
      if (index % 3 === 0) expect(frontier.push(A).status).toBe("accepted");
      frontier.poll()?.done({ outcome: { changed } });
      const dueMs = (frontier.nextDueAt() as number) - clock.now();
      clock.advance(dueMs);
      return dueMs;
    };
    const still = Array.from({ length: 12 }, (_, index) => periodAfter(false, index));
    const busy = Array.from({ length: 12 }, (_, index) => periodAfter(true, index));
    expect([...still, ...busy].every((ms) => ms >= HOUR && ms <= 8 * HOUR)).toBe(true);
    expect(still.at(-1)).toBeGreaterThan(still[0] as number);
    expect(busy.at(-1)).toBeLessThan(still.at(-1) as number);
    expect([...busy].sort((a, b) => b - a)).toEqual(busy);
  });
});

describe("presets", () => {
  it("give options that what is passed in stands over, each with the key, epoch, order and attempts of its ancestor", async () => {
    const policies: Record<string, RulePolicy> = {
      webmagic: { key: { profile: "url", exemptMethods: ["POST"] }, epoch: "forever" },
      vscrawler: { key: { profile: "url" }, order: "fifo", maxAttempts: 3, retryPriority: 0 },
      scrapy: { key: { profile: "w3lib" }, order: "lifo", startLast: true, retryPriority: -1 },
      gopcp: { key: { profile: "url" }, order: "fifo", maxAttempts: 1 },
      neocrawler: { epoch: { every: "1d" }, maxAttempts: 4, retryPriority: 0 },
    };
    for (const [name, policy] of Object.entries(policies)) {
      const preset = presets[name as keyof typeof presets];
      expect(preset().defaults).toMatchObject(policy);
      expect(preset({ capacity: 3, defaults: { maxAttempts: 9 } })).toMatchObject({
        ...{ capacity: 3, defaults: { ...policy, maxAttempts: 9 } },
      });
      const { frontier } = await open(preset());
      expect(frontier.push(A).status).toBe("accepted");
      expect(frontier.push(A).status).toBe("duplicate");
      expect(frontier.poll()?.url).toBe(A);
    }
  });
});

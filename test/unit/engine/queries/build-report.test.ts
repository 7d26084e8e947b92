import { describe, expect, it } from "vitest";
import { openBench } from "../../../support/bench-frontier.ts";

describe("report().waitingUntil", () => {
  it("is there when everything left waits for a clock, a record's or a host's", () => {
    const politeness = { delayMs: 1_000 };
    const { frontier, clock, check } = openBench({ defaults: { politeness } });
    const until = (): number | undefined => frontier.report().waitingUntil;
    expect(until()).toBeUndefined();
    frontier.push({ url: "http://b.com/", notBefore: clock.now() + 5_000 });
    expect(until()).toBe(clock.now() + 5_000);
    frontier.pushMany(["http://a.com/1", "http://a.com/2"]);
    expect(until()).toBeUndefined();
    const lease = frontier.poll();
    expect(until()).toBeUndefined();
    lease?.done();
    expect(until()).toBe(clock.now() + 1_000);
    expect(String(frontier.report())).toContain("until ");
    clock.advance(1_000);
    expect(until()).toBeUndefined();
    check();
  });
});

describe("report().lanes", () => {
  it("counts what is pending by what it is: a look that moves records of a steered host to its queue changes nothing", () => {
    const rules = [
      { id: "polite", match: { hosts: ["p.com"] }, politeness: { delayMs: 10 } },
      { id: "plain" },
    ];
    const { frontier, check } = openBench({ rules });
    frontier.pushMany(["http://a.com/1", "http://b.com/1", "http://p.com/1"]);
    frontier.push({ url: "http://a.com/2", priority: 3 });
    frontier.host("a.com").blockUntil(0);
    expect(frontier.report().lanes).toBe(3); // p.com's own, and 0 and 3 of the plain rule
    frontier.peek(9);
    expect(frontier.report().lanes).toBe(3);
    frontier.host("a.com").hold();
    frontier.peek(9);
    expect(frontier.report().lanes).toBe(3);
    frontier.poll();
    frontier.poll();
    expect(frontier.report().lanes).toBe(2); // what a.com has, held
    check();
  });
});

describe("report().latency", () => {
  const none = { count: 0, mean: 0, p50: 0, p90: 0, p99: 0, max: 0 };

  it("counts a lease from its hand-out to done, retry or fail, and a fetch as its result reported it", () => {
    const { frontier, clock, check } = openBench({ leaseMs: 10_000 });
    expect(frontier.report().latency).toEqual({ leases: none, fetches: none });
    frontier.pushMany(["http://a.com/1", "http://a.com/2", "http://a.com/3"]);
    const [one, two, three] = frontier.pollMany(3);
    clock.advance(40);
    one?.done({ outcome: { status: 200, latencyMs: 12.5 } });
    clock.advance(20);
    two?.retry({ outcome: { latencyMs: 7.5 } });
    three?.fail("gone");
    const { leases, fetches } = frontier.report().latency;
    expect(leases).toMatchObject({ count: 3, max: 60, p99: 60 });
    expect(leases.mean).toBeCloseTo((40 + 60 + 60) / 3, 3);
    expect(fetches).toMatchObject({ count: 2, mean: 10, max: 12.5 });
    expect(String(frontier.report())).toMatch(/^leases {5}3 ended, after p50 60 ms, p99 60 ms, /m);
    check();
  });

  it("counts what is finished in bulk, each from its own hand-out", () => {
    const { frontier, clock, check } = openBench();
    frontier.pushMany(Array.from({ length: 300 }, (_, at) => `http://a.com/${at}`));
    const early = frontier.pollMany(100);
    clock.advance(900);
    const late = frontier.pollMany(200);
    clock.advance(100);
    expect(frontier.done([...early, ...late])).toBe(300);
    expect(frontier.report().latency.leases).toMatchObject({ count: 300, mean: 400, max: 1_000 });
    check();
  });

  it("leaves out what was released, ran out or came too late, and no extension makes a lease look younger", () => {
    const { frontier, clock, check } = openBench({ leaseMs: 1_000 });
    frontier.pushMany(["http://a.com/1", "http://a.com/2", "http://a.com/3"]);
    const [one, two, three] = frontier.pollMany(3);
    expect([one?.extend(5_000), two?.extend(100), three?.extend(100)]).toEqual([true, true, true]);
    expect(one?.extend(500)).toBe(true);
    expect(two?.release()).toBe(true);
    clock.advance(1_200);
    expect(three?.done().late).toBe(true);
    expect(frontier.report().latency.leases).toEqual(none);
    clock.advance(4_000);
    one?.done();
    expect(frontier.report().latency.leases).toMatchObject({ count: 1, max: 5_200 });
    frontier.poll()?.done();
    expect(frontier.report().latency.leases).toMatchObject({ count: 2, max: 5_200, mean: 2_600 });
    check();
  });

  it("begins anew with clear", () => {
    const { frontier, clock } = openBench();
    frontier.push("http://a.com/1");
    const lease = frontier.poll();
    clock.advance(5);
    lease?.done({ outcome: { latencyMs: 1 } });
    expect(frontier.report().latency.leases.count).toBe(1);
    frontier.clear();
    expect(frontier.report().latency).toEqual({ leases: none, fetches: none });
  });
});

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

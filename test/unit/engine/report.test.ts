import { describe, expect, it } from "vitest";
import { openBench } from "../../support/bench-frontier.ts";

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

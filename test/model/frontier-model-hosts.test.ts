/** The naive model against the public contract: hosts, politeness and the breaker. */
import type { SyncLease } from "../support/frontier-surface.ts";
import { describe, expect, it } from "vitest";
import { A1, A2, B1, C1, openModel, take, urls } from "../support/open-model.ts";

describe("hosts", () => {
  it("do not rotate without politeness", () => {
    const { frontier } = openModel({ defaults: { politeness: { delayMs: 0 } } });
    frontier.pushMany([A1, A2, B1]);
    expect(urls(frontier.pollMany(9))).toEqual([A1, A2, B1]);
  });

  it("go least recently leased first, new ones by joining, one lease at a time", () => {
    const { frontier } = openModel({ defaults: { politeness: { perHost: 1 } } });
    frontier.pushMany([A1, A2, B1, C1]);
    const [a, b, c] = frontier.pollMany(9);
    expect(urls([a, b, c] as SyncLease[])).toEqual([A1, B1, C1]);
    b?.done({ found: ["http://b.test/2"] });
    a?.done();
    expect(urls(frontier.pollMany(9))).toEqual([A2, "http://b.test/2"]);
  });

  it("wait for the delay after the hand-out and after the end of a visit", () => {
    const { frontier, clock } = openModel({ defaults: { politeness: { delayMs: 10 } } });
    frontier.pushMany([A1, A2]);
    const lease = take(frontier);
    clock.advance(7);
    lease.done();
    expect(frontier.nextDueAt()).toBe(1_017);
    clock.advance(9);
    expect(frontier.poll()).toBeUndefined();
    clock.advance(1);
    expect(take(frontier).url).toBe(A2);
  });

  it("get readyAt and turn back on release", () => {
    const { frontier } = openModel({ defaults: { politeness: { delayMs: 10 } } });
    frontier.pushMany([A1, B1]);
    take(frontier).release();
    expect(urls(frontier.pollMany(9))).toEqual([A1, B1]);
  });

  it("with the best priority go first, among those that may go", () => {
    const { frontier } = openModel({ defaults: { politeness: { delayMs: 10 } } });
    frontier.pushMany([A1, A2], { priority: 9 });
    frontier.push({ url: B1, priority: 1 });
    expect(urls(frontier.pollMany(9))).toEqual([A1, B1]);
  });

  it("are blocked by Retry-After, never for a shorter time than before, and by hand until the given time", () => {
    const { frontier } = openModel({ defaults: { politeness: { perHost: 1 } } });
    frontier.pushMany([A1, A2]);
    take(frontier).done({ outcome: { retryAfterMs: 50 } });
    expect(frontier.poll()).toBeUndefined();
    frontier.push({ url: A1, dedup: "skip" });
    frontier.host("a.test").blockUntil(1_050);
    expect(frontier.nextDueAt()).toBe(1_050);
    frontier.host("a.test").blockUntil(1_020);
    expect(frontier.nextDueAt()).toBe(1_020);
  });

  it("back off after failures in a row and give up", () => {
    const hostBackoff = { after: 2, baseMs: 10, maxMs: 100, giveUpAfter: 3 };
    const { frontier, clock } = openModel({ defaults: { politeness: { hostBackoff } } });
    frontier.pushMany(["1", "2", "3", "4", "5"].map((page) => `http://a.test/${page}`));
    take(frontier).fail();
    take(frontier).done({ outcome: { status: 503 } });
    expect(frontier.nextDueAt()).toBe(1_010);
    clock.advance(10);
    expect(take(frontier).retry()).toBe("failed");
    expect(frontier.report()).toMatchObject({ failed: 4, done: 1, pending: 0 });
  });

  it("take the delay from the last latency, within bounds", () => {
    const adaptive = { factor: 2, minMs: 5, maxMs: 50 };
    const { frontier, clock } = openModel({ defaults: { politeness: { adaptive } } });
    const delays = [1, 10, 100].map((latencyMs) => {
      clock.advance(100);
      frontier.push({ url: A1, dedup: "skip" });
      frontier.pollMany(1)[0]?.done({ outcome: { latencyMs } });
      return frontier.host("a.test").delayMs;
    });
    expect(delays).toEqual([5, 20, 50]);
  });
});

describe("the breaker", () => {
  it("pauses after failures within the window and resumes by itself", () => {
    const { frontier, clock } = openModel({ breaker: { failures: 2, withinMs: 10, pauseMs: 100 } });
    frontier.pushMany([A1, A2, B1, C1]);
    take(frontier).fail();
    clock.advance(10);
    take(frontier).fail();
    expect(frontier.status).toBe("running");
    clock.advance(9);
    take(frontier).fail();
    expect(frontier.status).toBe("paused");
    expect(frontier.nextDueAt()).toBe(1_119);
    clock.advance(100);
    expect(take(frontier).url).toBe(C1);
  });
});

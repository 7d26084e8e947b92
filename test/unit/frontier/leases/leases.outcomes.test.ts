import { describe, expect, it } from "vitest";
import type { Lease } from "../../../../src/engine/types/frontier-types.ts";
import { openBench } from "../../../support/bench-frontier.ts";

const politeness = {
  delayMs: 100,
  hostBackoff: { after: 3, baseMs: 10_000, maxMs: 60_000 },
};
const urls = (count: number): string[] =>
  Array.from({ length: count }, (_, index) => `http://a.test/${index}`);

describe("what a failed visit says of its host", () => {
  it("nothing where the host was not asked: neither its clock nor its failures know of it", () => {
    const { frontier, clock, check } = openBench({ defaults: { politeness } });
    frontier.pushMany(urls(20));
    frontier.poll()?.done();
    const { readyAt } = frontier.host("a.test");
    clock.advance(100);
    for (let n = 0; n < 18; n++) {
      const lease = frontier.poll() as Lease;
      expect(lease.fail("robots", { visited: false })).toBe(true);
      expect(frontier.host("a.test")).toMatchObject({ readyAt, failures: 0, leased: 0 });
      check();
    }
    expect(frontier.poll()).toBeDefined();
    expect(frontier.report()).toMatchObject({ failed: 18, done: 1, leased: 1 });
  });

  it("an answer that a page is not there is no failure of its host, and ends a row of them", () => {
    const { frontier, clock, check } = openBench({ defaults: { politeness } });
    frontier.pushMany(urls(20));
    const failNext = (status?: number): number => {
      const lease = frontier.poll() as Lease;
      lease.fail("reason", status === undefined ? {} : { status });
      check();
      clock.advance(100);
      return frontier.host("a.test").failures;
    };
    for (const status of [404, 410, 403, 400, 451]) expect(failNext(status)).toBe(0);
    expect([failNext(), failNext(503), failNext(404)]).toEqual([1, 2, 0]);
    expect([failNext(429), failNext(500), failNext(0)]).toEqual([1, 2, 3]);
    expect(frontier.poll()).toBe(undefined); // three in a row
    expect(frontier.nextDueAt()).toBe(clock.now() - 100 + 10_000);
  });

  it("tells how much of its budget a host has used up", () => {
    const budget = { urls: 10, bytes: 1_000 };
    const { frontier } = openBench({ defaults: { politeness: { ...politeness, budget } } });
    expect(frontier.host("a.test")).toMatchObject({ admitted: 0, bytes: 0 });
    frontier.pushMany(urls(4));
    frontier.poll()?.done({ outcome: { bytes: 700 } });
    expect(frontier.host("a.test")).toMatchObject({ admitted: 4, bytes: 700 });
  });

  it("takes true and false alone for visited", () => {
    const { frontier } = openBench();
    frontier.push("http://a.test/");
    const lease = frontier.poll() as Lease;
    expect(() => lease.fail("x", { visited: 1 } as never)).toThrow("outcome.visited: 1");
  });
});

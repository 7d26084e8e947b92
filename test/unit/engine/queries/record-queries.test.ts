import { describe, expect, it } from "vitest";
import { openBench } from "../../../support/bench-frontier.ts";

const A = "http://a.com/1";
const B = "http://a.com/2";

describe("explain", () => {
  it("names what holds a record, and until when where a clock does", () => {
    const politeness = { delayMs: 1_000, perHost: 1 };
    const { frontier, clock, check } = openBench({ maxLeases: 2, defaults: { politeness } });
    const now = clock.now();
    const held = (url: string): unknown => {
      check();
      const { heldBy, dueAt } = frontier.explain(url);
      return dueAt === undefined ? heldBy : [heldBy, dueAt - now];
    };
    frontier.pushMany([A, B, "http://b.com/1", "http://c.com/1"]);
    frontier.push({ url: "http://d.com/1", notBefore: now + 50 });
    expect(held(A)).toEqual([undefined, 0]);
    expect(held("http://d.com/1")).toEqual(["notBefore", 50]);
    const first = frontier.poll();
    expect(held(A)).toEqual(["lease", 300_000]);
    expect(held(B)).toEqual(["delay", 1_000]);
    clock.advance(1_000);
    expect(held(B)).toBe("limit");
    first?.done();
    frontier.host("b.com").blockUntil(now + 9_000);
    expect(held("http://b.com/1")).toEqual(["block", 9_000]);
    frontier.host("b.com").hold();
    expect(held("http://b.com/1")).toBe("hold");
    frontier.pause();
    expect(held("http://c.com/1")).toBe("paused");
    frontier.resume();
    frontier.pollMany(2);
    frontier.push("http://e.com/1");
    expect(held("http://e.com/1")).toBe("maxLeases");
  });

  it("gives the verdict that a push then gets", () => {
    const { frontier } = openBench({ capacity: 2, defaults: { maxDepth: 3 } });
    frontier.push(A);
    const requests = [
      A,
      { url: A, dedup: "record" as const },
      { url: B, depth: 4 },
      { url: B, data: () => 1 },
      { url: B, notBefore: 9e12 },
      "x:y",
    ];
    for (const request of requests) {
      const { verdict } = frontier.explain(request);
      expect(frontier.push(request)).toBe(verdict);
    }
    expect(frontier.explain("http://z.com").verdict).toBe(frontier.push("http://z.com"));
  });

  it.each<["host" | "domain" | ((url: string) => string)]>([["host"], ["domain"], [() => "one"]])(
    "knows of a budget that is used up, by %s",
    (by) => {
      const politeness = { by, budget: { urls: 1, bytes: 10 } };
      const { frontier } = openBench({ defaults: { politeness } });
      for (const url of [A, B, A, "http://b.com/1", "http://b.com/2"]) {
        const { verdict } = frontier.explain(url);
        expect(frontier.push(url)).toBe(verdict);
      }
      frontier.poll()?.done({ outcome: { bytes: 10 } });
      expect(frontier.explain(B).verdict).toMatchObject({ status: "rejected", reason: "budget" });
      expect(frontier.explain(A).verdict.status).toBe("duplicate");
    },
  );
});

describe("peek", () => {
  it.each([{}, { delayMs: 10, perHost: 2 }])(
    "is what pollMany then gives, under %o",
    (politeness) => {
      const { frontier, clock, check } = openBench({ defaults: { politeness } });
      const list = Array.from({ length: 30 }, (_, index) => `http://h${index % 5}.com/${index}`);
      frontier.pushMany(list);
      frontier.host("h1.com").hold();
      frontier.host("h2.com").delayMs = 5;
      frontier.host("h3.com").limit = 1;
      frontier.host("h4.com").blockUntil(clock.now() + 7);
      for (let round = 0; round < 6; round++) {
        const before = JSON.stringify({ ...frontier.report(), memory: 0, rates: 0 });
        const seen = frontier.peek(9).map(({ url, deliveries }) => [url, deliveries]);
        expect(JSON.stringify({ ...frontier.report(), memory: 0, rates: 0 })).toBe(before);
        check();
        const leases = frontier.pollMany(9);
        expect(leases.map(({ url, deliveries }) => [url, deliveries])).toEqual(seen);
        frontier.done(leases.slice(1));
        clock.advance(5);
        check();
      }
    },
  );
});

describe("forget", () => {
  it("starts a new generation: pending ones go on without identity", () => {
    const { frontier, check } = openBench();
    frontier.pushMany([A, B]);
    frontier.poll()?.done();
    expect(frontier.forget()).toBe(1);
    check();
    expect(frontier.record(B)).toBeUndefined();
    expect(frontier.pushMany([A, B]).accepted).toBe(2);
    for (const lease of frontier.pollMany(3)) lease.done();
    check();
    expect(frontier.record(B)?.state).toBe("done");
    expect(frontier.report().pending).toBe(0);
  });
});

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { hasDue, leaseKey, liveCount, pollFor } from "../../../../src/engine/api/work-left.ts";
import { createVirtualClock, type Frontier, openFrontier } from "../../../../src/index.ts";
import { runDuel } from "../../../support/duel.ts";
import { engine } from "../../../support/engine.ts";
import type { SyncFrontier } from "../../../support/frontier-surface.ts";
import { createModelFrontier } from "../../../support/model-frontier.ts";
import { optionArbitrary } from "../../../support/option-sets.ts";
import { commandsOf, SMALL } from "../../../support/programs.ts";
import { testSeed } from "../../../support/seed.ts";

const commandList = fc.array(commandsOf(SMALL), { maxLength: 60, size: "max" });

describe("what is left", () => {
  it("is what peek and the report say, after every command of random programs", async () => {
    let due = 0;
    const verify = (sync: SyncFrontier): void => {
      const frontier = sync as unknown as Frontier;
      const isDue = frontier.peek(1).length > 0;
      expect(hasDue(frontier)).toBe(isDue);
      if (isDue) due += 1;
      expect(hasDue(frontier), "asked again").toBe(isDue);
      const { pending, waiting, leased } = frontier.report();
      expect(liveCount(frontier)).toBe(pending + waiting + leased);
    };
    const programs = fc.asyncProperty(optionArbitrary, commandList, (spec, commands) =>
      runDuel({ spec, commands, trusted: createModelFrontier, suspect: engine.open, verify }),
    );
    await fc.assert(programs, { seed: testSeed("work left"), numRuns: 100 });
    expect(due).toBeGreaterThan(100);
  });

  it("holds nothing back: a pause, the bound of leases", async () => {
    const frontier = await openFrontier({ maxLeases: 1 });
    frontier.pushMany(["http://a.test/", "http://b.test/"]);
    expect(hasDue(frontier)).toBe(true);
    frontier.pause();
    expect(hasDue(frontier)).toBe(false);
    frontier.resume();
    const lease = frontier.poll();
    expect(hasDue(frontier)).toBe(false);
    lease?.done();
    expect(hasDue(frontier)).toBe(true);
    expect(liveCount(frontier)).toBe(1);
    await frontier.close();
    expect(() => hasDue(frontier)).toThrow("closed (expected: an open frontier");
  });

  it.each([
    ["held", (frontier: Frontier) => frontier.host("a.test").hold()],
    ["blocked", (frontier: Frontier) => frontier.host("a.test").blockUntil(Date.now() + 1e6)],
  ])("is not due on a host that is %s, without politeness too", async (_, steer) => {
    const frontier = await openFrontier();
    frontier.pushMany(["http://a.test/1", "http://a.test/2"]);
    steer(frontier);
    expect(hasDue(frontier)).toBe(false);
    frontier.push("http://b.test/");
    expect(hasDue(frontier)).toBe(true);
    expect(frontier.poll()?.url).toBe("http://b.test/");
    expect(hasDue(frontier)).toBe(false);
    await frontier.close();
  });

  it("is not known of a frontier elsewhere", () => {
    expect(hasDue({} as Frontier)).toBe(undefined);
    expect(liveCount({} as Frontier)).toBe(undefined);
  });
});

describe("a lease for a time of its own", () => {
  it("lasts that long, and never less than the frontier's own leases", async () => {
    const clock = createVirtualClock(1_000);
    const frontier = await openFrontier({ clock, leaseMs: 500 });
    frontier.pushMany(["http://a.test/", "http://b.test/", "http://c.test/"]);
    expect(pollFor(frontier, 9_000)?.deadlineMs).toBe(10_000);
    expect(pollFor(frontier, 100)?.deadlineMs).toBe(1_500);
    expect(frontier.poll()?.deadlineMs, "the frontier's own stays as it was").toBe(1_500);
    expect(pollFor(frontier, 9_000), "nothing is left").toBeUndefined();
    clock.advance(500);
    expect(frontier.report().leased, "the longer one is out").toBe(1);
    await frontier.close();
  });

  it("counts from the hand-out in the report, extended or not", async () => {
    const clock = createVirtualClock(1_000);
    const frontier = await openFrontier({ clock, leaseMs: 500 });
    frontier.push("http://a.test/");
    const lease = pollFor(frontier, 9_000);
    lease?.extend(2_000);
    clock.advance(64);
    lease?.done();
    const { max, count } = frontier.report().latency.leases;
    expect({ max, count }).toEqual({ max: 64, count: 1 });
    await frontier.close();
  });

  it("has the key that its request named", async () => {
    const frontier = await openFrontier();
    frontier.pushMany([
      { url: "http://a.test/", key: "own" },
      { url: "http://b.test/", key: "länger als dreißig Zeichen, und mehr", data: { deep: [1] } },
      "http://c.test/",
    ]);
    const keys = frontier.pollMany(3).map(leaseKey);
    expect(keys).toEqual(["own", "länger als dreißig Zeichen, und mehr", undefined]);
    expect(leaseKey({ extras: { k: "of elsewhere" } })).toBeUndefined();
    await frontier.close();
  });
});

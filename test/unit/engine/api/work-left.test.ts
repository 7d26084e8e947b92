import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { hasDue, liveCount } from "../../../../src/engine/api/work-left.ts";
import { type Frontier, openFrontier } from "../../../../src/index.ts";
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

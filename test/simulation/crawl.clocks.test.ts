/**
 * Simulated crawls on the engine with pages that come again and hosts that share servers and addresses: no page is visited twice
 * within its epoch, none that is new in its epoch is refused, and no group gets more visits at once, or sooner, than it allows.
 * `SEED=` repeats a run, `STRESS_SECONDS=` lengthens it.
 */
import { describe, expect, it } from "vitest";
import { createVirtualClock } from "../../src/base/clock.ts";
import { CRAWL_LIMITS, type Crawl, crawlPolicy, runCrawl } from "../support/crawl-simulation.ts";
import { engine } from "../support/engine.ts";
import { stressRounds, stressTimeoutMs, testSeed } from "../support/seed.ts";
import { createWeb } from "../support/synthetic-web.ts";
import { countItems } from "../support/trace-checker.ts";

const HAND_OUTS = stressRounds(8_000, 2_000);

type Shape = Omit<Crawl, "web" | "frontier" | "clock">;

/** Names of crawls, their clocks, and the size of the web. */
const CRAWLS: Array<[string, Shape, { hosts: number; largest: number }]> = [
  [
    "with servers and addresses above its hosts",
    {
      ...{ delayMs: 250, perHost: 1, window: 300 },
      servers: { count: 12, limit: 3, delayMs: 40 },
      addresses: { count: 5, limit: 4, delayMs: 15 },
    },
    { hosts: 160, largest: 600 },
  ],
  [
    "in which every page comes again after twenty minutes",
    {
      ...{ delayMs: 5_000, perHost: 1, window: 60, handOutsMax: HAND_OUTS },
      again: { everyMs: 1_200_000 },
    },
    { hosts: 60, largest: 60 },
  ],
  [
    "in which every hour is an epoch",
    { ...{ delayMs: 10_000, perHost: 1, window: 60, handOutsMax: HAND_OUTS }, again: "hourly" },
    { hosts: 60, largest: 60 },
  ],
  [
    "in which pages come again and hosts share servers",
    {
      ...{ delayMs: 4_000, perHost: 1, window: 60, handOutsMax: HAND_OUTS },
      servers: { count: 7, limit: 2, delayMs: 300 },
      again: { everyMs: 900_000 },
    },
    { hosts: 60, largest: 60 },
  ],
];

describe("a simulated crawl", () => {
  it.each(CRAWLS)(
    "%s breaks no rule",
    async (name, shape, size) => {
      const web = createWeb({ seed: testSeed(`crawl ${name}`), ...size, mishaps: 8 });
      const clock = createVirtualClock(1_000);
      const frontier = await engine.open({
        ...{ clock, ...CRAWL_LIMITS },
        defaults: crawlPolicy(shape),
      });
      const { checker, isComplete, virtualMs } = runCrawl({ web, frontier, clock, ...shape });
      engine.verify(frontier);
      expect(checker.examples).toEqual([]);
      expect(isComplete).toBe(shape.again === undefined);
      for (const { shape: group, most } of checker.groups) expect(most).toBe(group.limit);
      const { pending, leased, over } = countItems(checker);
      expect(frontier.report()).toMatchObject({ pending, leased });
      // Each reachable page was visited; those that come again, several times.
      const visits = checker.handOuts / web.items;
      if (shape.again === undefined) expect(over).toBeGreaterThan(web.items * 0.5);
      else expect(visits).toBeGreaterThan(3);
      await frontier.close();
      const hours = (virtualMs / 3_600_000).toFixed(1);
      console.info(`${checker.handOuts} hand-outs in ${hours} virtual hours`);
    },
    stressTimeoutMs(1_200_000),
  );
});

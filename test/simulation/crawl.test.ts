/**
 * A simulated crawl on the engine: a synthetic web with Zipf sizes, a virtual clock, and the trace
 * checker over every hand-out. `SIMULATION=full` takes 10⁶ hosts and days of virtual time;
 * `SEED=` repeats a run.
 */
import { describe, expect, it } from "vitest";
import { createVirtualClock } from "../../src/base/clock.ts";
import {
  CRAWL_LIMITS,
  type CrawlResult,
  crawlPolicy,
  runCrawl,
} from "../support/crawl-simulation.ts";
import { loadEngine } from "../support/engine.ts";
import type { SyncFrontier } from "../support/frontier-surface.ts";
import { stressSeconds, testSeed } from "../support/seed.ts";
import { createWeb, type Web } from "../support/synthetic-web.ts";
import { countItems } from "../support/trace-checker.ts";

const isFull = process.env.SIMULATION === "full" || stressSeconds() >= 600;
const engine = await loadEngine();

interface Shape {
  hosts: number;
  largest: number;
  delayMs: number;
  perHost: number;
  window: number;
  mishaps: number;
}

/** Many hosts at once; few hosts, so that politeness is what holds; several visits per host. */
const SHAPES: Shape[] = [
  isFull
    ? { hosts: 1e6, largest: 1e6, delayMs: 1_000, perHost: 1, window: 4_000, mishaps: 1 }
    : { hosts: 4e4, largest: 4e3, delayMs: 1_000, perHost: 1, window: 2_000, mishaps: 1 },
  { hosts: 300, largest: 1e4, delayMs: 250, perHost: 1, window: 500, mishaps: 10 },
  { hosts: 300, largest: 5e3, delayMs: 100, perHost: 4, window: 700, mishaps: 5 },
];

describe.skipIf(engine === undefined)("a simulated crawl", () => {
  for (const shape of SHAPES) {
    const { hosts, perHost, delayMs } = shape;
    it(`of ${hosts} hosts, ${perHost} at once every ${delayMs} ms, breaks no rule`, async () => {
      const web = createWeb({ ...shape, seed: testSeed("crawl") });
      await crawl(web, shape);
    }, 3_600_000);
  }
});

async function crawl(web: Web, shape: Shape): Promise<void> {
  if (engine === undefined) throw new Error("no engine");
  const clock = createVirtualClock(1_000);
  const frontier = await engine.open({ clock, ...CRAWL_LIMITS, defaults: crawlPolicy(shape) });
  const result = runCrawl({ web, frontier, clock, ...shape });
  engine.verify(frontier);
  checkResult(web, frontier, result);
  await frontier.close();
  const { handOuts, longestWaitMs } = result.checker;
  const hours = (result.virtualMs / 3_600_000).toFixed(1);
  console.info(`${handOuts} hand-outs in ${hours} virtual hours, longest wait ${longestWaitMs} ms`);
}

/** Nothing forbidden happened, every page of the web was worked off once, the totals agree. */
function checkResult(web: Web, frontier: SyncFrontier, result: CrawlResult): void {
  const { checker } = result;
  expect(checker.examples).toEqual([]);
  expect(result.isComplete).toBe(true);
  const { pending, leased, over } = countItems(checker);
  const report = frontier.report();
  expect(report).toMatchObject({ pending, leased, lateResults: result.late, waiting: 0 });
  expect(report.done + report.failed).toBe(over);
  expect(pending + leased).toBe(0);
  // A page is missed only where the only page that links to it failed.
  expect(over).toBeGreaterThan(web.items * 0.5);
}

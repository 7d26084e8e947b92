/**
 * A simulated crawl on the engine: a synthetic web with Zipf sizes, a virtual clock, and the trace checker over every
 * hand-out. `SEED=` repeats a run.
 *
 *   SIMULATION=full            10⁶ hosts, the largest with 10⁶ pages: 1.5 · 10⁷ hand-outs over days of virtual time
 *   SIMULATION_HOSTS=100000    this many hosts, and pages of the largest host, in the first crawl
 *   OUTRIDER_VERIFY=0          without the asserts in hot loops: three times as fast
 */
import { describe, expect, it } from "vitest";
import { createVirtualClock } from "../../src/base/clock.ts";
import {
  CRAWL_LIMITS,
  type CrawlResult,
  crawlPolicy,
  runCrawl,
} from "../support/crawl-simulation.ts";
import { LocalFrontier } from "../../src/engine/api/local-frontier.ts";
import { normalizeOptions } from "../../src/engine/options/normalize-options.ts";
import { verifyFrontier } from "../../src/engine/api/verify-frontier.ts";
import { HOST_IDLE_COUNT_MAX } from "../../src/structures/hosts/host-table.ts";
import type { SyncFrontier } from "../support/frontier-surface.ts";
import { stressSeconds, stressTimeoutMs, testSeed } from "../support/seed.ts";
import { sized } from "../support/size.ts";
import { createWeb, type Web } from "../support/synthetic-web.ts";
import { countItems, type TraceChecker } from "../support/trace-checker.ts";

const isFull = process.env.SIMULATION === "full" || stressSeconds() >= 600;

interface Shape {
  hosts: number;
  largest: number;
  delayMs: number;
  perHost: number;
  window: number;
  mishaps: number;
  /** Idle hosts that the frontier remembers. */
  idleHosts?: number;
}

/** A size from the environment. */
function sizeOf(name: string, usual: number, full: number): number {
  return Number(process.env[name] ?? (isFull ? full : usual));
}

const MANY = sizeOf("SIMULATION_HOSTS", sized(4e4, 1e4), 1e6);

/** Many hosts at once, more than are remembered while idle; few hosts, so that politeness is the limit; several visits per host. */
const SHAPES: Shape[] = [
  {
    hosts: MANY,
    largest: Math.max(4e3, MANY * (MANY >= 1e6 ? 1 : 0.1)),
    delayMs: 1_000,
    perHost: 1,
    window: MANY >= 1e6 ? 4_000 : 2_000,
    mishaps: 1,
    idleHosts: MANY >= 1e6 ? HOST_IDLE_COUNT_MAX : MANY / 16,
  },
  { hosts: 300, largest: 1e4, delayMs: 250, perHost: 1, window: 500, mishaps: 10 },
  { hosts: 300, largest: 5e3, delayMs: 100, perHost: 4, window: 700, mishaps: 5 },
];

describe("a simulated crawl", () => {
  for (const shape of SHAPES) {
    const { hosts, perHost, delayMs } = shape;
    it(
      `of ${hosts} hosts, ${perHost} at once every ${delayMs} ms, breaks no rule`,
      async () => {
        const web = createWeb({ ...shape, seed: testSeed("crawl") });
        await crawl(web, shape);
      },
      stressTimeoutMs(1_200_000),
    );
  }
});

async function crawl(web: Web, shape: Shape): Promise<void> {
  const clock = createVirtualClock(1_000);
  const { idleHosts: hostIdleCountMax = HOST_IDLE_COUNT_MAX } = shape;
  const settings = normalizeOptions({ clock, ...CRAWL_LIMITS, defaults: crawlPolicy(shape) });
  const memory = new LocalFrontier({ ...settings, hostIdleCountMax });
  const frontier = memory as unknown as SyncFrontier; // the surface that the driver uses
  const result = runCrawl({ web, frontier, clock, ...shape, onCheck: createTeller(clock.now) });
  verifyFrontier(memory);
  checkResult(web, frontier, result);
  await frontier.close();
  tell("end", result.checker, result.virtualMs);
}

const TOLD_EVERY = 1_000_000;

/** Prints the progress of a long crawl. */
function createTeller(now: () => number): (checker: TraceChecker) => void {
  const startMs = now();
  let next = TOLD_EVERY;
  return (checker) => {
    if (checker.handOuts < next) return;
    next = checker.handOuts + TOLD_EVERY;
    tell("so far", checker, now() - startMs);
  };
}

function tell(when: string, checker: TraceChecker, virtualMs: number): void {
  const { handOuts, longestWaitMs, returned, violations } = checker;
  const hours = (virtualMs / 3_600_000).toFixed(1);
  const bad = [...violations.values()].reduce((sum, count) => sum + count, 0);
  console.info(
    `${when}: ${handOuts} hand-outs in ${hours} virtual hours, ${bad} violations, longest wait of a due host ` +
      `${longestWaitMs} ms, ${returned} hosts came back that may have been forgotten`,
  );
}

/** Checks that no rule was broken, every page of the web was worked off once, and the totals agree. */
function checkResult(web: Web, frontier: SyncFrontier, result: CrawlResult): void {
  const { checker } = result;
  expect(checker.examples).toEqual([]);
  expect(result.isComplete).toBe(true);
  const { pending, leased, over } = countItems(checker);
  const report = frontier.report();
  expect(report).toMatchObject({ pending, leased, lateResults: result.late, waiting: 0 });
  expect(report.done + report.failed).toBe(over);
  expect(pending + leased).toBe(0);
  // A page is missed only when the one page that links to it failed.
  expect(over).toBeGreaterThan(web.items * 0.5);
}

/** The trace checker must pass a good trace and catch each kind of bad one; a whole crawl on a frontier with one fault must not pass. */
import { describe, expect, it } from "vitest";
import { createVirtualClock } from "../../src/base/clock.ts";
import {
  type Crawl,
  type CrawlResult,
  CRAWL_LIMITS,
  crawlPolicy,
  runCrawl,
} from "../support/crawl-simulation.ts";
import { createModelFrontier } from "../support/model-frontier.ts";
import { type Mutant, openMutant } from "../support/model-mutants.ts";
import type { Open } from "../support/duel.ts";
import { createWeb } from "../support/synthetic-web.ts";
import {
  countItems,
  createTraceChecker,
  type TraceChecker,
  traceAdmitted,
  traceBlocked,
  traceEnded,
  traceHandedOut,
  traceNothingDue,
  type Violation,
} from "../support/trace-checker.ts";

type Clocks = Pick<Crawl, "addresses" | "again" | "servers">;

/** Clocks above the hosts' own clocks, for small crawls. */
const CLOCKS = {
  servers: { servers: { count: 3, limit: 2, delayMs: 150 } },
  addresses: { addresses: { count: 2, limit: 1, delayMs: 100 } },
  every: { again: { everyMs: 120_000 } },
  hourly: { again: "hourly" },
} satisfies Record<string, Clocks>;

type Step = (checker: TraceChecker) => void;

/** Items 0–9 belong to host 0, items 10–19 to host 1, and so on. */
const at = (item: number, nowMs: number): { host: number; item: number; nowMs: number } => ({
  host: Math.floor(item / 10),
  item,
  nowMs,
});
const admit =
  (item: number, nowMs = 0): Step =>
  (checker) =>
    traceAdmitted(checker, at(item, nowMs));
const out = (item: number, nowMs: number, isFirst = true): Step => {
  return (checker) => traceHandedOut(checker, at(item, nowMs), isFirst);
};
const end = (item: number, nowMs: number, how: "done" | "retry" | "release"): Step => {
  return (checker) => traceEnded(checker, at(item, nowMs), how);
};

const GOOD: Step[] = [
  ...[admit(0), admit(1), admit(10), admit(20)],
  ...[out(0, 0), out(10, 0), out(20, 0)],
  ...[end(10, 30, "retry"), end(0, 50, "release"), end(20, 60, "done")],
  ...[out(0, 60, false), end(0, 90, "done"), out(10, 130, false), out(1, 190)],
  (checker) => traceNothingDue(checker, 500),
];

const BAD: Array<[Violation, string, Step[]]> = [
  ["parallel", "two visits at once", [admit(0), admit(1), out(0, 0), out(1, 200)]],
  [
    "gap",
    "a hand-out 99 ms after the end of a visit",
    [admit(0), admit(1), out(0, 0), end(0, 150, "done"), out(1, 249)],
  ],
  [
    "gap",
    "a hand-out 99 ms after the last one",
    [admit(0), admit(1), out(0, 0), end(0, 0, "done"), out(1, 99)],
  ],
  ["blocked", "a blocked host", [admit(0), (c) => traceBlocked(c, 0, 900), out(0, 899)]],
  [
    "fairness",
    "a host twice while another waits",
    [admit(0), admit(1), admit(10), out(0, 0), end(0, 0, "done"), out(1, 100)],
  ],
  ["fairness", "hosts out of the order of joining", [admit(0), admit(10), out(10, 0)]],
  [
    "order",
    "the younger item first",
    [admit(0), admit(1), out(1, 0), end(1, 0, "done"), out(0, 100)],
  ],
  ["identity", "an item twice at once", [admit(0), out(0, 0), out(0, 200, false)]],
  ["identity", "an item admitted again", [admit(0), admit(0)]],
  ["identity", "an end of what was not out", [admit(0), end(0, 0, "done")]],
  ["progress", "nothing given while a host is due", [admit(0), (c) => traceNothingDue(c, 0)]],
];

describe("the trace checker", () => {
  it("passes a good trace and measures how long a due host waited", () => {
    const checker = play(GOOD);
    expect(checker.examples).toEqual([]);
    expect(checker.longestWaitMs).toBe(10);
    expect(countItems(checker)).toEqual({ pending: 0, leased: 2, over: 2 });
  });

  it("lets a host go first only when it may have been forgotten meanwhile", () => {
    const visit = (item: number, nowMs: number): Step[] => {
      return [out(item, nowMs), end(item, nowMs, "done")];
    };
    const steps = [
      ...[admit(20), admit(21), admit(0), admit(10)],
      ...[...visit(20, 0), ...visit(0, 1), ...visit(10, 2)], // host 2 has more
      ...[admit(1, 200), admit(11, 200)],
    ];
    const early = [...steps, out(1, 300)];
    expect(play(early).examples).toEqual(["fairness: host 0 before host 2 at 300"]);
    expect(play(early, 1).examples).toEqual([]); // another host has fallen idle after it
    expect(play(early, 1).returned).toBe(1);
    const other = [...steps, out(11, 300)];
    expect(play(other, 1).examples).toEqual(["fairness: host 1 before host 2 at 300"]);
  });

  for (const [violation, what, steps] of BAD) {
    it(`catches ${what} (${violation})`, () => {
      expect([...play(steps).violations.keys()]).toContain(violation);
    });
  }
});

describe("a crawl of a small web on the model", () => {
  it("passes without a violation and to its end", () => {
    const result = crawlSmall(createModelFrontier);
    expect(result.checker.examples).toEqual([]);
    expect(result.isComplete).toBe(true);
  });

  for (const [violation, mutant] of brokenModels()) {
    it(`is refused when ${mutant.fault} (${violation})`, () => {
      const result = crawlSmall(openMutant(mutant));
      expect([...result.checker.violations.keys()]).toContain(violation);
    });
  }
});

describe("a crawl of a small web with groups and epochs on the model", () => {
  for (const [name, shape] of Object.entries(CLOCKS)) {
    it(`passes without a violation (${name})`, () => {
      expect(crawlSmall(createModelFrontier, shape).checker.examples).toEqual([]);
    });
  }

  for (const [violation, shape, mutant] of brokenClocks()) {
    it(`is refused when ${mutant.fault} (${violation}, ${shape})`, () => {
      const result = crawlSmall(openMutant(mutant), CLOCKS[shape]);
      expect([...result.checker.violations.keys()]).toContain(violation);
    });
  }
});

function brokenClocks(): Array<[Violation, keyof typeof CLOCKS, Mutant]> {
  const limit: Mutant = {
    fault: "a group's limit is one too high",
    laws: { isGroupFull: (leased, max) => leased > max },
  };
  const early: Mutant = {
    fault: "a group's clock is not asked",
    laws: { hasGroupDelayPassed: () => true },
  };
  const held: Mutant = {
    fault: "a hand-out does not set a group's clock",
    laws: { groupReadyAfterHandOut: (readyAt) => readyAt },
  };
  const stuck: Mutant = {
    fault: "a release counts as a visit to a group",
    laws: { groupReadyAfterRelease: ({ readyBefore }) => readyBefore + 60_000 },
  };
  const again: Mutant = {
    fault: "a page comes again too soon",
    laws: { comesAgainAt: (now, everyMs) => now + everyMs / 2 },
  };
  const never: Mutant = {
    fault: "a page does not come again",
    laws: { comesAgainAt: () => 0 },
  };
  const minutes: Mutant = {
    fault: "an hour is ten minutes",
    laws: { nameOfHour: (isoTime) => isoTime.slice(0, 15) },
  };
  const days: Mutant = {
    fault: "an hour is a day",
    laws: { nameOfHour: (isoTime) => isoTime.slice(0, 10) },
  };
  return [
    ["group-parallel", "servers", limit],
    ["group-parallel", "addresses", limit],
    ["group-gap", "servers", early],
    ["group-gap", "servers", held],
    ["progress", "servers", stuck],
    ["epoch", "every", again],
    ["progress", "every", never],
    ["identity", "hourly", minutes],
    ["lost", "hourly", days],
  ];
}

function brokenModels(): Array<[Violation, Mutant]> {
  const early: Mutant = {
    fault: "a host goes 1 ms early",
    laws: { hasDelayPassed: (readyAt, now) => now + 1 >= readyAt },
  };
  const undelayed: Mutant = {
    fault: "an end starts no delay",
    laws: { readyAfterVisit: ({ readyAt }) => readyAt },
  };
  const unblocked: Mutant = {
    fault: "Retry-After is ignored",
    laws: { endOfRetryAfter: () => Number.NEGATIVE_INFINITY },
  };
  const limit: Mutant = {
    fault: "the limit is one too high",
    laws: { isHostFull: (leased, max) => leased > max },
  };
  const byName: Mutant = {
    fault: "hosts go by name",
    laws: { compareTurns: (a, b) => (a.key < b.key ? -1 : 1) },
  };
  const reversed: Mutant = {
    fault: "FIFO is LIFO",
    laws: { isNewestFirst: ({ order }) => order !== "lifo" },
  };
  return [
    ["gap", early],
    ["gap", undelayed],
    ["blocked", unblocked],
    ["parallel", limit],
    ["fairness", byName],
    ["order", reversed],
  ];
}

function crawlSmall(open: Open, clocks: Clocks = {}): CrawlResult {
  // Half an hour before the end of an hour; slow where hours must pass.
  const clock = createVirtualClock(1_800_000);
  const delayMs = clocks.again === "hourly" ? 120_000 : 400;
  const shape = { delayMs, perHost: 1, window: 8, ...clocks };
  const frontier = open({ clock, ...CRAWL_LIMITS, defaults: crawlPolicy(shape) });
  if (frontier instanceof Promise) throw new Error("the model opens at once");
  const isPlain = Object.keys(clocks).length === 0;
  const web = createWeb({ seed: 7, hosts: 12, largest: isPlain ? 150 : 40, mishaps: 8 });
  return runCrawl({ web, frontier, clock, ...shape, handOutsMax: isPlain ? 2_000 : 600 });
}

function play(steps: Step[], idleHosts?: number): TraceChecker {
  const trace = { hosts: 3, items: 30, delayMs: 100, perHost: 1 };
  const checker = createTraceChecker(idleHosts === undefined ? trace : { ...trace, idleHosts });
  for (const step of steps) step(checker);
  return checker;
}

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createCountdown, forecastText, shareOf } from "../../bench/commands/forecast.ts";
import {
  floorSeconds,
  type Offer,
  type Plan,
  planOf,
  secondsOf,
} from "../../bench/commands/plan.ts";
import { caseResults, createPace, entriesOf } from "../../bench/commands/suite.ts";
import type { BenchCase } from "../../bench/harness/case.ts";
import {
  costOf,
  type Estimates,
  mergeEstimates,
  readEstimates,
} from "../../bench/harness/estimates.ts";
import type { SuiteObject } from "../../bench/harness/result-file.ts";
import { ROUNDS_MIN } from "../../bench/harness/statistics.ts";
import { testSeed } from "../support/seed.ts";

/** One case: its first size, others, and what stands in where there is no time for any. */
const caseArbitrary = fc.record({
  costs: fc.array(fc.double({ min: 0.01, max: 60, noNaN: true }), { minLength: 1, maxLength: 4 }),
  setup: fc.double({ min: 0, max: 10, noNaN: true }),
  spare: fc.option(fc.double({ min: 0.01, max: 3, noNaN: true })),
  roundsMax: fc.integer({ min: 1, max: 15 }),
  isPicture: fc.boolean(),
  worth: fc.integer({ min: 1, max: 5 }),
});

const offersArbitrary = fc.array(caseArbitrary, { minLength: 1, maxLength: 40 }).map((list) =>
  list.flatMap(({ costs, setup, spare, roundsMax, isPicture, worth }, at): Offer[] => {
    const shared = { name: `case ${at}`, setup, isPicture, worth };
    const sizes = costs.map((round, i): Offer => {
      return { ...shared, size: `${i}`, round, roundsMax, kind: i === 0 ? "first" : "also" };
    });
    if (spare === null) return sizes;
    return [...sizes, { ...shared, size: "least", round: spare, roundsMax: 1, kind: "spare" }];
  }),
);

function sum({ taken }: Plan): number {
  return taken.reduce((all, { offer, rounds }) => all + secondsOf(offer, rounds), 0);
}

function namesOf(offers: readonly Offer[]): Set<string> {
  return new Set(offers.map(({ name }) => name));
}

describe("a plan of the suite's time", () => {
  it("spends no more than there is, and gives every case a round (I1, I2)", () => {
    const budgets = fc.double({ min: 0, max: 5_000, noNaN: true });
    fc.assert(
      fc.property(offersArbitrary, budgets, (offers, budget) => {
        const plan = planOf(offers, budget);
        expect(plan.seconds).toBeCloseTo(sum(plan), 6);
        expect(plan.isShort).toBe(floorSeconds(offers) > budget);
        if (!plan.isShort) expect(sum(plan)).toBeLessThanOrEqual(budget + 1e-6);
        expect(namesOf(plan.taken.map(({ offer }) => offer))).toEqual(namesOf(offers));
        for (const { offer, rounds } of plan.taken) {
          expect(rounds).toBeGreaterThanOrEqual(1);
          expect(rounds).toBeLessThanOrEqual(offer.roundsMax);
        }
      }),
      { seed: testSeed("plan, sums") },
    );
  });

  it("leaves nothing undone that would fit, and is the same each time (I3)", () => {
    const budgets = fc.double({ min: 0, max: 5_000, noNaN: true });
    fc.assert(
      fc.property(offersArbitrary, budgets, (offers, budget) => {
        const plan = planOf(offers, budget);
        expect(planOf(offers, budget)).toEqual(plan);
        if (plan.isShort) return;
        const room = budget - sum(plan);
        for (const { offer, rounds } of plan.taken)
          if (rounds >= ROUNDS_MIN && rounds < offer.roundsMax && offer.kind !== "spare")
            expect(offer.round).toBeGreaterThan(room - 1e-6);
        // With all the time there is, every size has all its rounds and nothing stands in for another.
        const whole = planOf(offers, 1e9);
        expect(whole.left).toEqual([]);
        for (const { offer, rounds } of whole.taken) expect(rounds).toBe(offer.roundsMax);
        expect(whole.taken.some(({ offer }) => offer.kind === "spare")).toBe(false);
      }),
      { seed: testSeed("plan, whole") },
    );
  });

  it("gives no case a second round before every other had a chance at the size it is about", () => {
    fc.assert(
      fc.property(offersArbitrary, fc.double({ min: 0, max: 1, noNaN: true }), (mixed, share) => {
        const offers = mixed.filter(({ kind }) => kind !== "also");
        const first = offers.filter(({ kind }) => kind === "first");
        const all = first.reduce((cost, offer) => cost + secondsOf(offer, 1), 0);
        const budget = floorSeconds(offers) + share * all;
        const { taken } = planOf(offers, budget);
        const singly = taken.reduce((cost, { offer }) => cost + secondsOf(offer, 1), 0);
        for (const offer of first.filter((each) => !taken.some((one) => one.offer === each))) {
          const spare = taken.find((one) => one.offer.name === offer.name)?.offer as Offer;
          const step = secondsOf(offer, 1) - secondsOf(spare, 1);
          expect(singly + step).toBeGreaterThan(budget - 1e-6);
        }
      }),
      { seed: testSeed("plan, chances") },
    );
  });
});

describe("the pace of a suite", () => {
  it("makes the rest smaller on a slow machine, and ends a size before it eats what is reserved", () => {
    let nowMs = 0;
    const pace = createPace(600_000, () => nowMs);
    expect(pace.left()).toBe(600);
    pace.took(80, 280);
    nowMs = 280_000;
    expect(pace.left()).toBeCloseTo(320 / 3);
    const { softMs, hardMs } = pace.frame(100, 20);
    expect(hardMs).toBe(600_000 - 60_000);
    expect(softMs).toBeLessThanOrEqual(hardMs);
    expect(pace.frame(10, 1_000)).toEqual({ softMs: nowMs, hardMs: nowMs });
  });
});

describe("a case of a suite", () => {
  it("tells of every size once, whether there is time for it or not", async () => {
    const sizes = { smoke: [{ urls: 1 }], real: [{ urls: 10 }, { urls: 100 }] };
    const bench: BenchCase = {
      ...{ name: "fake", suite: "kernel", about: "nothing", unit: "URL", process: "shared" },
      ...{ pairs: [["ours", "theirs"]], sizes: { ...sizes, suite: sizes.real } },
      setup: () => ({ run: () => ({ times: { time: 1 } }), checksum: () => "" }),
    };
    const estimates: Estimates = { fake: { "urls=10": { ours: 40, theirs: 40 } } };
    for (const seconds of [0, 1, 20, 100, 10_000]) {
      const left = entriesOf({ cases: [bench], large: false, rounds: 2 }, estimates);
      const pace = createPace(performance.now() + seconds * 1e3);
      const told: string[] = [];
      for await (const { params, rounds, missing } of caseResults(bench, left, pace)) {
        told.push(`${params.urls}`);
        expect([rounds > 0, Object.keys(missing).length > 0]).toContain(true);
      }
      expect(new Set(told).size, `${seconds} s: ${told}`).toBe(told.length);
      for (const { urls } of sizes.real) expect(told).toContain(`${urls}`);
    }
  });

  it("stands in for none with a size that it takes anyway", () => {
    const bench: BenchCase = {
      ...{ name: "fake", suite: "kernel", about: "nothing", unit: "URL", process: "shared" },
      ...{ pairs: [["ours", "theirs"]], sizes: { smoke: [{ urls: 1 }], real: [{ urls: 1 }] } },
      setup: () => ({ run: () => ({ times: {} }), checksum: () => "" }),
    };
    const entries = entriesOf({ cases: [bench], large: false, rounds: undefined }, {});
    expect(entries.map(({ kind }) => kind)).toEqual(["first"]);
  });
});

describe("estimates", () => {
  const bench: BenchCase = {
    ...{ name: "fake", suite: "kernel", about: "nothing", unit: "URL", process: "fresh" },
    ...{ pairs: [["ours", "theirs"]], sizes: { smoke: [], real: [] } },
    setup: () => ({ run: () => ({ times: {} }), checksum: () => "" }),
  };
  const known: Estimates = { fake: { "urls=1000": { ours: 1, theirs: 4 } } };

  it("of a size that nobody measured come from the nearest one that somebody did", () => {
    expect(costOf(known, bench, { urls: 1000 }).sides).toEqual({ ours: 1, theirs: 4 });
    expect(costOf(known, bench, { urls: 4000 }).sides).toEqual({ ours: 4, theirs: 16 });
    expect(costOf({}, bench, { urls: 1000 }).sides).toEqual({ ours: 5, theirs: 5 });
    const other: BenchCase = { ...bench, pairs: [["ours", "new"]] };
    expect(costOf(known, other, { urls: 1000 }).sides).toEqual({ ours: 1, new: 4 });
  });

  it("keep what a suite did not reach", () => {
    const run = { params: { urls: 2000 }, seconds: { ours: 3 } };
    const suite = { cases: [{ case: "fake", runs: [run, { params: {}, seconds: {} }] }] };
    const merged = mergeEstimates(known, suite as unknown as SuiteObject);
    expect(merged).toEqual({ fake: { ...known.fake, "urls=2000": { ours: 3 } } });
  });

  it("are none where the file is of another kind, or missing", () => {
    const folder = mkdtempSync(join(tmpdir(), "estimates-"));
    expect(readEstimates(folder)).toEqual({});
    writeFileSync(join(folder, "estimates.json"), '{"schema":"else","cases":{"fake":{}}}');
    expect(readEstimates(folder)).toEqual({});
    rmSync(folder, { recursive: true });
  });
});

describe("named cases", () => {
  const bench: BenchCase = {
    ...{ name: "fake", suite: "core", about: "", question: "", unit: "", process: "fresh" },
    ...{ pairs: [["ours", "theirs"]], sizes: { smoke: [], real: [] } },
    setup: () => ({ run: () => ({ times: {} }), checksum: () => "" }),
  };
  const estimates: Estimates = { fake: { "urls=1000": { ours: 10, theirs: 40 } } };
  const small = { bench, params: { urls: 1000 }, rounds: 3 };

  it("say before they begin how long they are thought to take, the A/A row in it", () => {
    expect(forecastText(small, estimates)).toBe(
      "fake: urls 1,000: 3 rounds of 2 sides, about 3 min 0 s",
    );
    expect(forecastText({ ...small, rounds: 1 }, estimates)).toContain(
      "1 round of 2 sides, about 50 s",
    );
    expect(forecastText({ ...small, params: { urls: 2000 } }, estimates)).toContain(
      "about 6 min 0 s, guessed: no suite has measured this size",
    );
  });

  it("say what is left: as was thought at first, then at the pace so far, never less than nothing", () => {
    let nowMs = 0;
    const left = createCountdown(100, () => nowMs);
    expect(left(0)).toBe("about 100 s left");
    nowMs = 5_000;
    expect(left(0.05)).toBe("about 95 s left");
    nowMs = 20_000;
    expect(left(0.5)).toBe("about 20 s left");
    expect(left(1)).toBe("about 0 s left");
    nowMs = 900_000;
    expect(left(0.01)).toBe("about 0 s left");
  });

  it("share a budget by what each size takes, and begin one round of each whatever is left of it", () => {
    const large = { ...small, params: { urls: 3000 } };
    const time = { endMs: 400_000, estimates };
    expect(shareOf([small, large], { ...time, endMs: undefined }, 0)).toBeUndefined();
    expect(shareOf([small, large], time, 0)).toEqual({
      softMs: 100_000,
      hardMs: Number.POSITIVE_INFINITY,
      roundsLeast: 1,
    });
    expect(shareOf([large], time, 300_000)?.softMs).toBe(400_000);
    expect(shareOf([large], time, 500_000)?.softMs).toBe(500_000);
  });
});

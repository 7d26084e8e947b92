import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { affordable, boutsOf, frameOf, planText } from "../../bench/commands/compare-plan.ts";
import { rowsOf, summaryText } from "../../bench/commands/compare-rows.ts";
import { changeOf, findingsOf } from "../../bench/commands/regression.ts";
import { createPace } from "../../bench/commands/suite.ts";
import type { BenchCase } from "../../bench/harness/case.ts";
import { obey } from "../../bench/harness/child.ts";
import { type RunObject, SUITE_SCHEMA, type SuiteObject } from "../../bench/harness/result-file.ts";
import type { CaseResult, Comparison, Observation } from "../../bench/harness/run-case.ts";
import { chanceOf, isBeyondChance, type Ratio, ratioOf } from "../../bench/harness/statistics.ts";
import { createRandom } from "../../src/base/random.ts";

const RUN = fileURLToPath(new URL("../../bench/run.mjs", import.meta.url));

/** Log-ratios of five rounds: a median, and how many times more or less the outer ones are. */
function around(median: number, spread: number): number[] {
  return [-1, -0.5, 0, 0.5, 1].map((at) => Math.log(median) + at * Math.log(spread));
}

function suiteOf(logs: readonly number[], bytes: number, doubt: string | null = null): SuiteObject {
  const plain = logs.map((log) => ({ times: { push: Math.exp(log) } }));
  const outrider = logs.map(() => ({ times: { push: 1 }, facts: { "table bytes/URL": bytes } }));
  const timesOf = (list: readonly { times: { push: number } }[]): number[] =>
    list.map(({ times }) => times.push);
  const ratio = ratioOf(timesOf(outrider), timesOf(plain));
  const run: RunObject = {
    params: { urls: 1_000 },
    rounds: 5,
    doubt,
    ratio: [{ subject: "outrider", peer: "plain", phase: "push", ratio, verdict: "faster" }],
    same: [],
    checksum: {},
    observations: { outrider, plain },
    missing: {},
  };
  return {
    ...{ schema: SUITE_SCHEMA, at: "2026-01-01T00:00:00.000Z", commit: "0123456789ab" },
    ...{ dirty: false, node: "20", v8: "11", flags: [], cpu: "", cores: 2, memoryBytes: 1 },
    ...{ load: [0, 0, 0], seconds: 1, budgetSeconds: 1, limits: null, failed: [] },
    cases: [
      {
        ...{ case: "frontier", suite: "core", about: "", question: "", unit: "URL" },
        ...{ target: null, size: "suite", seconds: 1, runs: [run] },
      },
    ],
  };
}

function changes(before: SuiteObject, after: SuiteObject): string[] {
  return findingsOf(before, after).map(({ change }) => change);
}

describe("results against those of before", () => {
  it("are better or worse only where chance does not put them so far apart", () => {
    expect(changeOf(around(4, 1.02), around(5, 1.02), 1)).toBe("better");
    expect(changeOf(around(5, 1.02), around(4, 1.02), 1)).toBe("worse");
    expect(changeOf(around(5, 1.3), around(4, 1.3), 1)).toBe("inconclusive");
    expect(changeOf(around(5, 1.001), around(4.9, 1.001), 1)).toBe("same");
    // Three rounds whose intervals do not meet: a tenth of all pairs that are alike look so.
    const [low, high] = [around(4, 1.05), around(4.8, 1.05)].map((logs) => logs.slice(1, 4));
    expect(changeOf(high as number[], low as number[], 1)).toBe("worse");
    expect(changeOf(high as number[], low as number[], 50)).toBe("inconclusive");
  });

  it("are inconclusive where either run was noisy, or another machine, however far apart", () => {
    const [fast, slow] = [around(10, 1.01), around(1, 1.01)];
    expect(changes(suiteOf(fast, 10), suiteOf(slow, 10))).toEqual(["worse", "same"]);
    const unsure = ["inconclusive", "same"];
    expect(changes(suiteOf(fast, 10, "noisy"), suiteOf(slow, 10))).toEqual(unsure);
    expect(changes(suiteOf(fast, 10), suiteOf(slow, 10, "noisy"))).toEqual(unsure);
    for (const other of [{ cpu: "another" }, { cores: 4 }, { node: "22.1.0" }])
      expect(changes(suiteOf(fast, 10), { ...suiteOf(slow, 10), ...other })).toEqual(unsure);
    expect(changes(suiteOf(fast, 10), { ...suiteOf(slow, 10), node: "20.9.0" })).toEqual([
      "worse",
      "same",
    ]);
  });

  it("are red by chance in no more than one check of a hundred where nothing changed, and red where it did (I2)", () => {
    const draw = noise(7);
    /** A check of 50 ratios whose rounds scatter by so much, some of them far; true: it would be red. */
    const isRed = (scatter: number, change: number): boolean =>
      Array.from({ length: 50 }, (_, row) => {
        const rounds = 3 + (row % 4);
        const series = (shift: number): number[] =>
          Array.from({ length: rounds }, () => shift + draw() * scatter);
        return changeOf(series(0), series(row === 2 ? change : 0), 50);
      }).includes("worse");
    for (const scatter of [0.005, 0.03, 0.1, 0.4]) {
      const red = Array.from({ length: 300 }, () => isRed(scatter, 0)).filter(Boolean).length;
      expect([scatter, red <= 3]).toEqual([scatter, true]);
    }
    const seen = Array.from({ length: 100 }, () => isRed(0.005, -0.25)).filter(Boolean).length;
    expect(seen).toBeGreaterThan(90);
  });

  it("count bytes whatever the noise, and leave out what only one of them has", () => {
    const value = around(4, 1.1);
    expect(changes(suiteOf(value, 10, "noisy"), suiteOf(value, 12))).toEqual([
      "inconclusive",
      "worse",
    ]);
    expect(changes(suiteOf(value, 10), suiteOf(value, 8))).toEqual(["same", "better"]);
    const other = suiteOf(value, 8);
    const renamed = { ...other, cases: other.cases.map((each) => ({ ...each, case: "new" })) };
    expect(findingsOf(suiteOf(value, 10), renamed)).toEqual([]);
  });
});

describe("the chance that a check goes by", () => {
  it("is Student's: as tables have it, for one to thirty degrees of freedom", () => {
    const table: readonly (readonly [t: number, degrees: number, chance: number])[] = [
      [12.706, 1, 0.05],
      [4.303, 2, 0.05],
      [3.182, 3, 0.05],
      [8.61, 4, 0.001],
      [6.869, 5, 0.001],
      [2.228, 10, 0.05],
      [3.646, 30, 0.001],
    ];
    for (const [t, degrees, chance] of table)
      expect([degrees, chanceOf(t, degrees) / chance]).toEqual([degrees, expect.closeTo(1, 2)]);
  });

  it("lies in the rounds' scatter, and in nothing where there is one round or none", () => {
    expect(isBeyondChance([0, 0], around(1.2, 1.01), 10)).toBe(true);
    expect(isBeyondChance([0, 0], around(1.2, 1.5), 10)).toBe(false);
    expect(isBeyondChance([1], [2], 1)).toBe(false);
    expect([isBeyondChance([1, 1], [2, 2], 1), isBeyondChance([1, 1], [1, 1], 1)]).toEqual([
      true,
      false,
    ]);
  });
});

/** Numbers about zero as a noisy machine makes them: mostly near, some ten times as far. */
function noise(seed: number): () => number {
  const random = createRandom(seed);
  const one = (): number => random.unit();
  return () => {
    const near = Math.sqrt(-2 * Math.log(1 - one())) * Math.cos(2 * Math.PI * one());
    return one() < 0.02 ? 10 * near : near;
  };
}

function fake(name: string): BenchCase {
  return {
    ...{ name, suite: "kernel", about: "nothing", unit: "URL", process: "fresh" },
    pairs: [["ours", "theirs"]],
    sizes: { smoke: [{ urls: 1 }], real: [{ urls: 10 }, { urls: 100 }], large: [{ urls: 1_000 }] },
    setup: () => ({ run: () => ({ times: { time: 1 } }), checksum: () => "" }),
  };
}

/** A comparison whose phases have these log-ratios, round by round; the first version against itself is off by so much. */
function compared(phases: Record<string, number[]>, again = 1): CaseResult {
  const rounds = 5;
  const entries = Object.entries(phases);
  const timesOf = (version: "head" | "base"): Observation[] =>
    Array.from({ length: rounds }, (_, round) => {
      const times = entries.map(([phase, logs]) => {
        return [phase, version === "head" ? 1 : Math.exp(logs[round] as number)] as const;
      });
      return { measured: { times: Object.fromEntries(times) }, checksum: "" };
    });
  const level = Array.from({ length: rounds }, () => 1);
  const ratios = (of: (logs: readonly number[]) => Ratio): Comparison[] =>
    entries.map(([phase, logs]) => ({ subject: "head", peer: "base", phase, ratio: of(logs) }));
  return {
    params: { urls: 10 },
    rounds,
    observations: { head: timesOf("head"), base: timesOf("base") },
    comparisons: ratios((logs) => ratioOf(level, logs.map(Math.exp))),
    same: ratios(() =>
      ratioOf(
        level,
        level.map((time) => time * again),
      ),
    ),
    missing: {},
    seconds: {},
  };
}

describe("a comparison of versions", () => {
  const cases = [fake("one"), fake("two")];
  const known = { one: { "urls=10": { ours: 2 } }, two: { "urls=10": { ours: 6 } } };
  const sizesOf = (params?: string, isSmoke = false): unknown[] =>
    boutsOf({ cases, isSmoke, params }, known).map((bout) => bout.params.urls);

  it("takes each case at the size that it is about, or at the one that is named", () => {
    expect(sizesOf()).toEqual([10, 10]);
    expect(sizesOf("urls=100")).toEqual([100, 100]);
    expect(sizesOf("urls=1000")).toEqual([1_000, 1_000]);
    expect(sizesOf("urls=7")).toEqual([]);
    expect(sizesOf(undefined, true)).toEqual([1, 1]);
  });

  it("says before it begins what has its rounds in the time, and what would have them all", () => {
    const bouts = boutsOf({ cases, isSmoke: false, params: undefined }, known);
    expect(planText(bouts, { rounds: 5, budgetSeconds: 300 })).toBe(
      "compare: one (urls 10), two (urls 10): 5 rounds of 3 processes in 300 s",
    );
    const short = planText(bouts, { rounds: undefined, budgetSeconds: 60 });
    expect(short).toBe(
      "compare: one (urls 10): 5 to 9 rounds of 3 processes in 60 s\n" +
        "compare: no time for two; --budget 120 has some for all, names take fewer",
    );
  });

  it("begins nothing that could hardly have a verdict: five rounds, the quickest first (I4)", () => {
    const all = boutsOf({ cases, isSmoke: false, params: undefined }, known).reverse();
    // Rounds of 6 and of 18 seconds.
    const namesFor = (budgetSeconds: number, rounds?: number, mustRun?: boolean): string[][] => {
      const { bouts, left } = affordable(all, { rounds, budgetSeconds }, mustRun);
      return [bouts, left].map((list) => list.map(({ bench }) => bench.name));
    };
    expect(all.map(({ roundSeconds }) => roundSeconds)).toEqual([18, 6]);
    expect(namesFor(120)).toEqual([["one", "two"], []]);
    expect(namesFor(119)).toEqual([["one"], ["two"]]);
    expect(namesFor(1)).toEqual([["one"], ["two"]]);
    expect(namesFor(1, 9, false)).toEqual([[], ["one", "two"]]);
    expect(namesFor(24, 1)).toEqual([["one", "two"], []]);
  });

  it("plans anew at the pace of the rounds before, and shares out what is left over (I3)", () => {
    const bouts = boutsOf({ cases, isSmoke: false, params: undefined }, known);
    let nowMs = 0;
    const pace = createPace(300_000, () => nowMs);
    const clock = { pace, rounds: 9, budgetSeconds: 300, startMs: 0 };
    // 30 and 90 seconds have five rounds each; a quarter of the 180 that remain is the first one's.
    expect(frameOf(bouts, clock, nowMs)).toEqual({
      softMs: 75_000,
      hardMs: 300_000,
      roundsLeast: 5,
    });
    // Its rounds were thought to take 30 seconds and took 150: a pace of 17/5, and no five rounds of 18 seconds in the rest.
    pace.took(30, 150);
    nowMs = 150_000;
    expect(pace.left()).toBeCloseTo(150 / 3.4);
    const rest = affordable(bouts.slice(1), { rounds: 9, budgetSeconds: pace.left() }, false);
    expect(rest.bouts).toEqual([]);
    expect(frameOf(bouts, clock, 400_000).hardMs).toBe(400_000);
  });

  it("tells at the end what changed first, what did not, why there is no verdict, and what would help", () => {
    const all = boutsOf({ cases, isSmoke: false, params: undefined }, known);
    const [one, two] = cases as [BenchCase, BenchCase];
    const rows = [
      ...rowsOf(one, compared({ still: around(1, 1.005), slow: around(0.8, 1.01) }), 2),
      ...rowsOf(two, compared({ odd: around(1.1, 1.2) }), 2),
      ...rowsOf({ ...two, name: "three" }, compared({ far: around(2, 1.01) }, 1.5), 2),
    ];
    expect(rows.map(({ phase, verdict }) => `${phase} ${verdict}`)).toEqual([
      "still same",
      "slow worse",
      "odd inconclusive",
      "far inconclusive",
    ]);
    const flags = { rounds: undefined, budgetSeconds: 60 };
    const about = { rows, failed: ["four (it ended with 1)"], left: all.slice(1), all, flags };
    const text = summaryText({ ...about, seconds: 59.6 });
    const lines = text.trim().split("\n");
    expect(lines[0]).toBe("compare: 3 of 2 cases in 60 s, head against base, over 1 is faster");
    expect(lines[1]).toMatch(/^ +worse +one, slow +0\.80 \[/);
    expect(lines[2]).toMatch(/^ +inconclusive +two, odd +1\.10 \[/);
    expect(lines[3]).toMatch(/^ +inconclusive +three, far +2\.00 \[.*noisy \(A\/A of far\)$/);
    expect(lines[4]).toMatch(/^ +same +one, still +1\.00 \[/);
    expect(lines[5]).toBe("    1 worse, 0 better, 2 inconclusive, 1 same");
    expect(lines[6]).toMatch(/^ +without verdict: three \(load .* again when it is calm\)$/);
    expect(lines[7]).toBe("    not compared: four (it ended with 1)");
    expect(lines[8]).toBe("    no time for: two (name them, or --budget 120 for all)");
  });

  it("loads a child's suite and does nothing where it names no case, which instructions subtract", async () => {
    await expect(obey('{"suite":"rules"}')).resolves.toBeUndefined();
    await expect(obey('{"suite":"rules","bench":"three"}')).rejects.toThrow("case: three");
    await expect(obey('{"suite":"none"}')).rejects.toThrow("cases/none");
  });

  it("refuses what is no revision", async () => {
    const call = promisify(execFile)(process.execPath, [RUN, "--no-build", "compare", "--", "-x"]);
    await expect(call).rejects.toMatchObject({ code: 2 });
  });
});

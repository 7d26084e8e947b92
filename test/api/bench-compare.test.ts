import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { affordable, boutsOf, frameOf, planText } from "../../bench/commands/compare.ts";
import { changeOf, findingsOf } from "../../bench/commands/regression.ts";
import type { BenchCase } from "../../bench/harness/case.ts";
import { obey } from "../../bench/harness/child.ts";
import { type RunObject, SUITE_SCHEMA, type SuiteObject } from "../../bench/harness/result-file.ts";
import { chanceOf, isBeyondChance, ratioOf } from "../../bench/harness/statistics.ts";
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

  it("says before it begins how long it takes, and that it has fewer rounds where that is too long", () => {
    const bouts = boutsOf({ cases, isSmoke: false, params: undefined }, known);
    const enough = planText(bouts, { rounds: 5, budgetSeconds: 300 });
    expect(enough).toBe(
      "compare: one (urls 10), two (urls 10): up to 5 rounds of 3 processes, about 120 s",
    );
    const short = planText(bouts, { rounds: undefined, budgetSeconds: 60 });
    expect(short).toContain("about 120 s of 60: fewer rounds");
  });

  it("begins nothing that could have no verdict: what there is no time for is left out, but one", () => {
    const all = boutsOf({ cases, isSmoke: false, params: undefined }, known);
    // Rounds of 6 and of 18 seconds, of which it takes three.
    const seconds = all.map(({ roundSeconds }) => roundSeconds);
    const namesFor = (budgetSeconds: number, rounds?: number): string[][] => {
      const { bouts, left } = affordable(all, { rounds, budgetSeconds });
      return [bouts, left].map((list) => list.map(({ bench }) => bench.name));
    };
    expect(seconds).toEqual([6, 18]);
    expect(namesFor(72)).toEqual([["one", "two"], []]);
    expect(namesFor(71)).toEqual([["one"], ["two"]]);
    expect(namesFor(1)).toEqual([["one"], ["two"]]);
    expect(namesFor(24, 1)).toEqual([["one", "two"], []]);
  });

  it("gives each case its share of the time that is left, and never more than is left", () => {
    const bouts = boutsOf({ cases, isSmoke: false, params: undefined }, known);
    expect(frameOf(bouts, 1_000, 41_000)).toEqual({ softMs: 11_000, hardMs: 21_000 });
    expect(frameOf(bouts.slice(1), 11_000, 41_000)).toEqual({ softMs: 41_000, hardMs: 41_000 });
    expect(frameOf(bouts, 50_000, 41_000)).toEqual({ softMs: 50_000, hardMs: 41_000 });
  });

  it("loads a child's cases and does nothing where it has no order, which instructions subtract", async () => {
    await expect(obey(cases, "")).resolves.toBeUndefined();
    await expect(obey(cases, '{"bench":"three"}')).rejects.toThrow("case: three");
  });

  it("refuses what is no revision", async () => {
    const call = promisify(execFile)(process.execPath, [RUN, "--no-build", "compare", "--", "-x"]);
    await expect(call).rejects.toMatchObject({ code: 2 });
  });
});

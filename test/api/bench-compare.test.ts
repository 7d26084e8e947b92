import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { boutsOf, frameOf, planText } from "../../bench/commands/compare.ts";
import { changeOf, findingsOf } from "../../bench/commands/regression.ts";
import type { BenchCase } from "../../bench/harness/case.ts";
import { obey } from "../../bench/harness/child.ts";
import { type RunObject, SUITE_SCHEMA, type SuiteObject } from "../../bench/harness/result-file.ts";
import type { Ratio } from "../../bench/harness/statistics.ts";

const RUN = fileURLToPath(new URL("../../bench/run.mjs", import.meta.url));

function ratio(median: number, spread: number): Ratio {
  return { median, low: median / spread, high: median * spread, rounds: 5 };
}

function suiteOf(value: Ratio, bytes: number, doubt: string | null = null): SuiteObject {
  const run: RunObject = {
    params: { urls: 1_000 },
    rounds: 5,
    doubt,
    ratio: [{ subject: "outrider", peer: "plain", phase: "push", ratio: value, verdict: "faster" }],
    same: [],
    checksum: {},
    observations: { outrider: [{ times: { push: 1 }, facts: { "table bytes/URL": bytes } }] },
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
  it("are better or worse only where the intervals do not meet", () => {
    expect(changeOf(ratio(4, 1.05), ratio(5, 1.05))).toBe("better");
    expect(changeOf(ratio(5, 1.05), ratio(4, 1.05))).toBe("worse");
    expect(changeOf(ratio(5, 1.3), ratio(4, 1.3))).toBe("inconclusive");
    expect(changeOf(ratio(5, 1.001), ratio(4.9, 1.001))).toBe("same");
  });

  it("are inconclusive where either run was noisy, however far apart", () => {
    const [fast, slow] = [ratio(10, 1.01), ratio(1, 1.01)];
    expect(changes(suiteOf(fast, 10), suiteOf(slow, 10))).toEqual(["worse", "same"]);
    expect(changes(suiteOf(fast, 10, "noisy"), suiteOf(slow, 10))).toEqual([
      "inconclusive",
      "same",
    ]);
    expect(changes(suiteOf(fast, 10), suiteOf(slow, 10, "noisy"))).toEqual([
      "inconclusive",
      "same",
    ]);
  });

  it("count bytes whatever the noise, and leave out what only one of them has", () => {
    const value = ratio(4, 1.1);
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

import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { suitesOf } from "../../bench/commands/report.ts";
import type { Measured } from "../../bench/harness/case.ts";
import { createHistogram, percentilesOf, recordNs } from "../../bench/harness/histogram.ts";
import { type RunObject, SUITE_SCHEMA, type SuiteObject } from "../../bench/harness/result-file.ts";
import { ratioOf, verdictOf } from "../../bench/harness/statistics.ts";
import { htmlOf } from "../../bench/report/html.ts";
import { latencyAt } from "../../bench/report/scaling.ts";
import { resultsBlock, withBlock } from "../../bench/report/summary.ts";
import { isCalm, type KeptRun, keptRuns } from "../../bench/report/targets.ts";
import { README_ROWS_MAX, verdictBlock } from "../../bench/report/verdicts.ts";
import { calmSights, sightsOf } from "../support/browser.ts";

const README = fileURLToPath(new URL("../../README.md", import.meta.url));
const RESULTS = fileURLToPath(new URL("../../bench/results", import.meta.url));

const histogram = createHistogram();
for (let ns = 1_000; ns < 2_000_000; ns += 1_000) recordNs(histogram, ns);

/** A run of two sides, the first `times` as fast. */
function runOf(phase: string, times: number, doubt: string | null = null): RunObject {
  const measured = (ns: number): Measured => ({
    times: { [phase]: ns },
    facts: { "resident bytes/URL": ns / 5, "URL bytes": 60, lost: 0, "peak RSS MB": 90 },
    latencies: { call: percentilesOf(histogram) },
  });
  const [ours, others] = [[500, 510, 505], [500, 510, 505].map((ns) => ns * times)];
  const ratio = ratioOf(ours, others);
  return {
    params: { pending: 1_000_000, urls: 50_000 },
    rounds: 3,
    doubt,
    ratio: [{ subject: "outrider", peer: "plain", phase, ratio, verdict: verdictOf(ratio) }],
    same: [{ subject: "outrider", peer: "outrider", phase, ratio: ratioOf(ours, ours) }],
    checksum: {},
    observations: { outrider: ours.map(measured), plain: others.map(measured) },
    missing: { "<crawlee>": "not installed & not wanted" },
  };
}

function suiteOf(runs: Record<string, RunObject[]>): SuiteObject {
  return {
    ...{ schema: SUITE_SCHEMA, at: "2026-01-02T03:04:05.000Z", commit: "0123456789ab" },
    ...{ dirty: false, node: "20.0.0", v8: "11", flags: [], cpu: "a processor", cores: 2 },
    ...{ memoryBytes: 1, load: [0.1, 0, 0], seconds: 540, budgetSeconds: 570 },
    limits: { latency: [{ bytes: 1e6, ns: 5 }, ...[{ bytes: 1e9, ns: 100 }]], copyBytesPerNs: 8 },
    cases: Object.entries(runs).map(([name, list]) => ({
      ...{ case: name, suite: name.startsWith("peers") ? "peers" : "core", about: "about" },
      ...{ question: "What?", unit: "URL", target: null, size: "suite", seconds: 1, runs: list },
    })),
    failed: [{ case: "swap", reason: "broke" }],
  };
}

const SUITE = suiteOf({
  frontier: [runOf("push", 8)],
  scaling: [runOf("push", 8), runOf("push", 9)],
  "peers-memory": [runOf("push", 4)],
  "peers-durable": [runOf("push", 2, "no verdict: the machine was noisy")],
});

/** A run of the case `frontier` at 10⁶, as a suite of its own keeps it. */
function keptOf(
  change: Partial<RunObject> = {},
  load = 1,
  at = "2026-01-03T00:00:00.000Z",
): KeptRun {
  return {
    ...{ file: "x.json", name: "frontier", at },
    machine: { ...SUITE, commit: "fedcba987654", load: [load, 0, 0] },
    run: { ...runOf("push", 10), ...change },
  };
}

describe("README's numbers", () => {
  it("agree with the runs that were kept", () => {
    const readme = readFileSync(README, "utf8");
    const generated = withBlock(readme, verdictBlock(keptRuns(RESULTS)));
    expect(generated, "npm run bench -- report").toBe(readme);
  });

  it("are at most eight rows, each with a verdict and with its run", () => {
    const block = verdictBlock(keptRuns(RESULTS));
    const rows = block.split("\n").filter((line) => /^\| (?!what|---)/.test(line));
    expect(rows.length).toBeGreaterThan(0);
    expect(rows.length).toBeLessThanOrEqual(README_ROWS_MAX);
    for (const row of rows) {
      const [verdict, run] = row.split(" | ").slice(-2);
      expect(verdict).toMatch(/^(faster|slower|counted)$/);
      expect(block).toContain(`\n- Run ${run?.[0]}: \`npm run bench -- `);
    }
  });

  it("come from the newest calm run that has a verdict, and from no other", () => {
    const old = keptOf({}, 1, "2026-01-02T00:00:00.000Z");
    const noisy = keptOf({ ...runOf("push", 20), doubt: "noisy" });
    const loaded = keptOf(runOf("push", 30), 3);
    const few = keptOf({ ...runOf("push", 40), rounds: 2 });
    expect([old, loaded].map(isCalm)).toEqual([true, false]);
    const row = (runs: KeptRun[]): string | undefined =>
      verdictBlock(runs)
        .split("\n")
        .find((line) => line.startsWith("| push"));
    expect(row([old, noisy, loaded, few])).toMatch(/\| 10\.0 \[10\.0, 10\.0\] \| faster \| a \|$/);
    expect(row([noisy, loaded, few])).toBeUndefined();
    expect(row([keptOf(runOf("push", 0.5))])).toContain("| slower |");
    const [level] = runOf("push", 1).ratio;
    expect(level?.verdict).toBe("inconclusive");
    expect(row([keptOf(runOf("push", 1))])).toBeUndefined();
    expect(verdictBlock([])).toBe("No run that was kept has a verdict yet.");
  });

  it("carry the commit, machine and command of their runs", () => {
    const block = verdictBlock([keptOf()]);
    const line = "commit fedcba987654, 2 cores of a processor, Node 20.0.0, load 1";
    expect(block).toContain(`- Run a: \`npm run bench -- frontier\`, 2026-01-03, ${line}`);
  });
});

describe("the README of the results", () => {
  const path = `${RESULTS}/README.md`;

  it("agrees with the newest kept suite and the larger runs", () => {
    const page = readFileSync(path, "utf8");
    const generated = withBlock(page, resultsBlock(suitesOf(RESULTS).at(-1), keptRuns(RESULTS)));
    expect(generated, "npm run bench -- report").toBe(page);
  });

  it("names commit, machine and command, and says what has no verdict", () => {
    const block = resultsBlock(SUITE);
    for (const word of ["0123456789ab", "2 cores of a processor", "`npm run bench`", "Node 20.0.0"])
      expect(block).toContain(word);
    expect(block).toMatch(/\| push \| plain JavaScript \| 10⁶ pending \| 8\.00 \[[^|]*\] \|/);
    const noisy = suiteOf({ frontier: [runOf("push", 8, "noisy")] });
    expect(resultsBlock(noisy)).toMatch(/8\.00 \[[^|]*\], no verdict/);
  });

  it("names the run of what is too large for the suite, and only a calm one", () => {
    const kept = (load: number): KeptRun => ({
      ...keptOf({ ...runOf("time", 10), params: { urls: 10_000_000 } }, load),
      name: "dedup",
    });
    const row = "| 10⁷ URLs | 10.0 × [10.0, 10.0] | 2026-01-03, fedcba987654 |";
    expect(resultsBlock(SUITE, [kept(1)])).toContain(row);
    expect(resultsBlock(SUITE, [kept(3)])).not.toContain("10⁷ URLs");
  });

  it("shows peers that the suite's machine did not have from the newest calm run that had them", () => {
    const run = runOf("push", 4);
    const wide = { ...run, observations: { ...run.observations, webmagic: [] } };
    const kept = (load: number): KeptRun => ({ ...keptOf(wide, load), name: "peers-memory" });
    expect(resultsBlock(SUITE, [kept(1)])).toContain("\n| webmagic |");
    expect(resultsBlock(SUITE, [kept(3)])).not.toContain("\n| webmagic |");
    expect(resultsBlock(SUITE, [{ ...kept(1), run }])).not.toContain("`npm run bench -- peers");
  });
});

describe("a generated block", () => {
  it("stands between its marks and changes nothing else", () => {
    const page =
      "before\n<!-- measured:begin x -->\nwhat stood there\n<!-- measured:end -->\nafter\n";
    const changed = withBlock(page, "new");
    expect(changed.startsWith("before\n<!-- measured:begin")).toBe(true);
    expect(changed.endsWith("\nnew\n<!-- measured:end -->\nafter\n")).toBe(true);
    expect(changed).not.toContain("what stood there");
    expect(withBlock(changed, "new")).toBe(changed);
    expect(() => withBlock("no marks", "new")).toThrow("no marks");
  });
});

describe("the page of a suite", () => {
  const html = htmlOf(SUITE);

  it("is one file that loads nothing", () => {
    expect(html).not.toMatch(/<(script|link|img|iframe)|https?:|url\(|@import/);
    expect(html).toContain("prefers-color-scheme: dark");
    expect(html).toContain('name="viewport"');
  });

  it("draws every ratio, a curve for every histogram, and what was not measured", () => {
    const ratios = SUITE.cases.flatMap(({ runs }) => runs.flatMap((run) => run.ratio));
    const level = SUITE.cases.flatMap(({ runs }) => runs.flatMap((run) => run.same));
    expect(html.match(/<circle class="dot/g)).toHaveLength(ratios.length + level.length);
    expect(html.match(/class="dot doubtful"/g)).toHaveLength(2);
    expect(html.match(/latency by percentile/g)).toHaveLength(5);
    expect(html).toContain("not installed &#38; not wanted");
    expect(html).toContain("&#60;crawlee&#62;");
    expect(html).toContain("failed: broke");
  });

  it("draws a lease against threads, beside what the cores alone would give", () => {
    const run = runOf("lease", 2);
    const [some] = run.observations.outrider ?? [];
    const sides = ["2 threads", "task", "1 thread", "4 threads"];
    const observations = Object.fromEntries(sides.map((side) => [side, [some as Measured]]));
    const html = htmlOf(suiteOf({ pool: [{ ...run, observations }] }));
    const figure = html.slice(html.indexOf("A lease by number of worker threads"));
    for (const label of ["outrider", "cores alone", "one load", ">1<", ">2<", ">4<"])
      expect(figure.slice(0, figure.indexOf("</figure>"))).toContain(label);
    expect(html).not.toMatch(/NaN|Infinity|undefined/);
    const single = suiteOf({
      pool: [{ ...run, observations: { "1 thread": [some as Measured] } }],
    });
    expect(htmlOf(single)).not.toContain("A lease by number");
  });

  it("opens on a phone, light and dark: nothing cut off, a table's row a block with its heads", async (context) => {
    const newest = suitesOf(RESULTS).at(-1) ?? SUITE;
    expect(htmlOf(newest)).toContain('<td data-of="times as fast">');
    const sights = await sightsOf(htmlOf(newest), context);
    expect(sights).toEqual(calmSights(sights));
  });

  it("has no table without rows, says what was not reached once, and counts rounds in words", () => {
    const nothing = { ratio: [], same: [], observations: {}, rounds: 0, doubt: "0 rounds" };
    const missing = { outrider: "no time", lmdb: "no time", colly: "no compiler" };
    const run = { ...runOf("push", 2), ...nothing, missing };
    const once = { ...runOf("push", 2), rounds: 1, doubt: "one round", missing: {} };
    const text = htmlOf(suiteOf({ "peers-memory": [run, once] }));
    expect(text).toContain("Not measured: outrider, lmdb (no time); colly (no compiler).");
    expect(text).toContain("0 of 1 runs have a verdict");
    expect(text).toContain(" 1 more sizes were not reached");
    expect(text).toContain("· 1 round<");
    expect(text).not.toMatch(/0 rounds|<table><tr class="head">(<th>[^<]*<\/th>)*<\/tr><\/table>/);
  });

  it("holds no number that is not one", () => {
    expect(html).not.toMatch(/NaN|Infinity|undefined/);
  });

  it("finds the latency of a size between those that were measured", () => {
    const limits = SUITE.limits as NonNullable<SuiteObject["limits"]>;
    expect(latencyAt(limits, 10)).toBe(5);
    expect(latencyAt(limits, 1e12)).toBe(100);
    expect(latencyAt(limits, 31_622_776.6)).toBeCloseTo(52.5);
  });
});

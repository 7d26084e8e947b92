import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, it, vi } from "vitest";
import { plainCanonical } from "../../bench/cases/kernel/pipeline.ts";
import { planOf, secondsOf } from "../../bench/commands/plan.ts";
import { entriesOf } from "../../bench/commands/suite.ts";
import { sidesOf, type BenchCase, type Params } from "../../bench/harness/case.ts";
import { readEstimates } from "../../bench/harness/estimates.ts";
import { observeInChild } from "../../bench/harness/child.ts";
import {
  LeftOut,
  type Observation,
  runCase,
  type TimeFrame,
} from "../../bench/harness/run-case.ts";
import { isQuiet, ratioOf, verdictOf } from "../../bench/harness/statistics.ts";
import { linkChunk, urlChunk } from "../../bench/harness/urls.ts";
import { CASES } from "../../bench/cases/index.ts";
import { main } from "../../bench/main.ts";
import { numberOf, readTargets } from "../../bench/report/targets.ts";
import { canonicalizeMany } from "../../src/engine/api/url-functions.ts";
import { packageRoot } from "../support/package.ts";
import { leaveOut } from "../support/skip.ts";

const RUN = fileURLToPath(new URL("../../bench/run.mjs", import.meta.url));
/** The budget of a suite without its grace and what is around the cases. */
const SUITE_SECONDS = 550;
const RESULTS = fileURLToPath(new URL("../../bench/results", import.meta.url));

interface Written {
  readonly schema: string;
  readonly case: string;
  readonly runs: {
    rounds: number;
    params: Params;
    observations: Record<string, unknown>;
    ratio: { subject: string; peer: string }[];
    missing: Record<string, string>;
  }[];
}

/** What a run printed and how it ended. */
async function bench(...words: string[]): Promise<{ output: string; code: number }> {
  const call = promisify(execFile)(process.execPath, [RUN, "--no-build", ...words], {
    maxBuffer: 64 * 2 ** 20,
  });
  try {
    return { output: (await call).stdout, code: 0 };
  } catch (error) {
    const { stderr, code } = error as { stderr: string; code: number };
    return { output: stderr, code };
  }
}

/** The sides that a case cannot have on this machine or at this size, with the reason. */
function missingOf(each: BenchCase, params: Params): Record<string, string> {
  const reasons = sidesOf(each).map((side) => [side, each.missing?.(side, params)] as const);
  return Object.fromEntries(
    reasons.filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
}

/** By side, the first round in which something happens to it. */
type Rounds = Record<string, number>;

/** Observes from a list of checksums by side, which take too long or fail from a round on; every time is the length of the side's name. */
function runFake(
  checksums: Record<string, string>,
  rounds: number,
  { tooLong = {}, fails = {}, time }: { tooLong?: Rounds; fails?: Rounds; time?: TimeFrame } = {},
): ReturnType<typeof runCase> {
  const fake: BenchCase = {
    name: "fake",
    suite: "kernel",
    about: "nothing",
    unit: "URL",
    process: "fresh",
    pairs: [["four", "sixteen letters!"]],
    sizes: { smoke: [], real: [] },
    isGuest: (side) => side === "sixteen letters!",
    setup: () => ({ run: () => ({ times: {} }), checksum: () => "" }),
  };
  const asked: Record<string, number> = {};
  const observeFresh = async (side: string): Promise<Observation> => {
    asked[side] = (asked[side] ?? 0) + 1;
    if (asked[side] === tooLong[side]) throw new LeftOut("not over after 9 s");
    const last = tooLong[side] ?? fails[side] ?? Number.POSITIVE_INFINITY;
    if (asked[side] === fails[side]) throw new Error("ended with 1");
    if (asked[side] > last) throw new Error("asked again");
    return { measured: { times: { time: side.length } }, checksum: checksums[side] as string };
  };
  const limits = time === undefined ? {} : { time };
  return runCase({ bench: fake, params: {}, rounds, observeFresh, progress: () => {}, ...limits });
}

describe("benchmarks", () => {
  it("run every case at its smoke size: each side that this machine has, and the sides of each pair answer the same", async (context) => {
    const { output, code } = await bench("--smoke", "--json");
    expect(code, output).toBe(0);
    const files = output
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as Written);
    expect(files.map((file) => file.case)).toEqual(CASES.map(({ name }) => name));
    // As they were measured: what a machine has is looked for from where the built cases stand.
    const { CASES: built } = (await import(`${packageRoot}build/bench/cases/index.js`)) as {
      CASES: readonly BenchCase[];
    };
    for (const [index, { schema, runs }] of files.entries()) {
      const each = built[index] as BenchCase;
      expect(schema).toBe("outrider-bench-1");
      expect(runs.map(({ params }) => params)).toEqual(each.sizes.smoke);
      for (const run of runs) {
        // A side is missing where the case declares it so, and for no other reason: one that fails is a fault.
        const declared = missingOf(each, run.params);
        expect(run.missing, each.name).toEqual(declared);
        const measured = sidesOf(each).filter((side) => declared[side] === undefined);
        expect(Object.keys(run.observations).toSorted(), each.name).toEqual(measured.toSorted());
        const compared = new Set(run.ratio.map(({ subject, peer }) => `${subject} ${peer}`));
        for (const pair of each.pairs)
          expect(compared.has(pair.join(" ")), `${each.name}: ${pair.join(" against ")}`).toBe(
            pair.every((side) => measured.includes(side)),
          );
        for (const [side, why] of Object.entries(declared))
          await leaveOut(context, `${each.name}, ${side}: ${why}`);
      }
    }
  });

  it("observe in a process of their own where the heap matters", async () => {
    const words = ["scale-finished", "--smoke", "--rounds", "2", "--json"];
    const { output, code } = await bench(...words);
    expect(code, output).toBe(0);
    const [run] = (JSON.parse(output) as Written).runs;
    expect(run).toMatchObject({ rounds: 2, missing: {} });
  });

  it("name what is wrong with a word they do not know", async () => {
    const odd = await bench("canonical", "--smoke", "--params", "urls=7");
    expect([odd.code, odd.output.includes("--params: urls=7 (expected: of urls ")]).toEqual([
      2,
      true,
    ]);
    const said: string[] = [];
    const spy = vi.spyOn(console, "error").mockImplementation((text) => said.push(String(text)));
    for (const words of [["kernal"], ["canonical", "--rounds", "0"], ["--speed"]])
      expect(await main(words)).toBe(2);
    spy.mockRestore();
    expect(said.join("\n")).toContain("kernal (expected: kernel, core, ");
    expect(said).toHaveLength(3);
  });

  it("say with --help every command and flag there is, and where to find it with a wrong one", async () => {
    const { output, code } = await bench("--help");
    expect(code, output).toBe(0);
    const source = readFileSync(
      fileURLToPath(new URL("../../bench/main.ts", import.meta.url)),
      "utf8",
    );
    const flags = [...source.matchAll(/^ {6}(\w+): \{ type: /gm)].map(([, flag]) => `--${flag}`);
    expect(flags).toContain("--smoke");
    const commands = [...source.matchAll(/command === "(\w+)"/g)].map(([, command]) => command);
    for (const word of [...flags, ...commands, "--no-write", "--no-build"])
      expect(output).toMatch(new RegExp(`^ {2}.*${word}\\b`, "m"));
    const odd = await bench("--speed");
    expect(odd.code).toBe(2);
    expect(odd.output).toContain("Unknown option '--speed'\nnpm run bench -- --help");
  });

  it("take the large sizes of a named case with --large, and tell of them without", async () => {
    const wanted = ["crawl", "--params", "pages=7"];
    const [without, withLarge] = [await bench(...wanted), await bench(...wanted, "--large")];
    expect([without.code, withLarge.code]).toEqual([2, 2]);
    expect(without.output).toContain("with --large also pages 100,000, concurrency 64");
    expect(withLarge.output).toContain(" | pages 100,000, concurrency 64 | pages 1,000,000");
    const { output, code } = await bench("crawl", "--list");
    expect([code, output.includes("with --large: pages 100,000")]).toEqual([0, true]);
  });

  it("have time for every case at its first size, and a tenth to spare", () => {
    // With every side that there is, also where one of them is not installed.
    const cases = CASES.map((each): BenchCase => ({ ...each, missing: () => undefined }));
    const estimates = readEstimates(RESULTS);
    expect(Object.keys(estimates).length).toBeGreaterThan(0);
    const entries = entriesOf({ cases, large: false, rounds: undefined }, estimates);
    // A tenth of the suite's time is left to cases that are not written yet and to slower days.
    const plan = planOf(entries, SUITE_SECONDS * 0.9);
    expect([plan.isShort, plan.seconds <= SUITE_SECONDS * 0.9]).toEqual([false, true]);
    const taken = plan.taken.map(({ offer }) => `${offer.name} ${offer.kind}`);
    const dearest = entries
      .map((entry) => `${secondsOf(entry, 1).toFixed(0).padStart(4)} s ${entry.name} ${entry.size}`)
      .toSorted()
      .slice(-8)
      .join("\n");
    const help = `give the dearest a smaller size in its sizes.suite:\n${dearest}`;
    for (const { name } of CASES) expect(taken, help).toContain(`${name} first`);
  });

  it("have every case and side that a target names", () => {
    const rows = readTargets(RESULTS).sections.flatMap((section) => section.rows);
    for (const { id, of = [] } of rows)
      for (const source of of) {
        const found = CASES.find(({ name }) => name === source.case) as BenchCase;
        expect(found, `${id}: ${source.case}`).toBeDefined();
        const [side, peer] = numberOf(source);
        expect(sidesOf(found), `${id}: ${source.case}`).toContain(side);
        if ((source.ratio ?? source.cost) !== undefined)
          expect(found.pairs, `${id}: ${side} / ${peer}`).toContainEqual([side, peer]);
      }
  });

  it("refuse a pair whose checksums differ: no side can win by doing less", async () => {
    await expect(runFake({ four: "10 new", "sixteen letters!": "9 new" }, 3)).rejects.toThrow(
      "four answers 10 new, sixteen letters! answers 9 new",
    );
  });

  it("leave out a side that takes longer than it may, say so, and do not run it again", async () => {
    const sides = { four: "x", "sixteen letters!": "x" };
    for (const round of [1, 2]) {
      const result = await runFake(sides, 4, { tooLong: { "sixteen letters!": round } });
      expect(result.missing).toEqual({ "sixteen letters!": "not over after 9 s" });
      expect([result.rounds, result.comparisons]).toEqual([4, []]);
      expect(Object.keys(result.observations)).toEqual(["four"]);
      expect(result.observations.four).toHaveLength(4);
      expect(result.same[0]?.ratio).toMatchObject({ median: 1, rounds: 4 });
    }
  });

  it("go on without a program of others that fails, and say so; one of ours fails the case", async () => {
    const sides = { four: "x", "sixteen letters!": "x" };
    const result = await runFake(sides, 4, { fails: { "sixteen letters!": 2 } });
    expect(result.missing).toEqual({ "sixteen letters!": "it failed: ended with 1" });
    expect([result.rounds, result.observations.four?.length]).toEqual([4, 4]);
    expect(Object.keys(result.observations)).toEqual(["four"]);
    await expect(runFake(sides, 4, { fails: { four: 2 } })).rejects.toThrow("ended with 1");
  });

  it("have as many rounds as they must by the last moment, and more only in their share of the time", async () => {
    const sides = { four: "x", "sixteen letters!": "x" };
    const roundsBy = async (time: TimeFrame): Promise<number> =>
      (await runFake(sides, 9, { time })).rounds;
    const never = Number.POSITIVE_INFINITY;
    expect(await roundsBy({ softMs: never, hardMs: never })).toBe(9);
    expect(await roundsBy({ softMs: 0, hardMs: never })).toBe(3);
    expect(await roundsBy({ softMs: 0, hardMs: never, roundsLeast: 5 })).toBe(5);
    expect(await roundsBy({ softMs: 0, hardMs: 0, roundsLeast: 5 })).toBe(0);
  });

  it("end a process that takes longer than it may, with all that it started", async () => {
    const home = mkdtempSync(join(tmpdir(), "outrider-bench-long-"));
    writeFileSync(join(home, "child.js"), "setInterval(() => {}, 1000);");
    const order = { suite: "kernel", bench: "fake", side: "four", params: {} };
    const answer = observeInChild(order, { home, limitSeconds: 0.2 });
    await expect(answer).rejects.toThrow(new LeftOut("not over after 0.2 s"));
    rmSync(home, { recursive: true, force: true });
  });

  it("show the peer's time over the subject's, and the subject against itself", async () => {
    const result = await runFake({ four: "x", "sixteen letters!": "x" }, 4);
    expect(result.comparisons).toHaveLength(1);
    expect(result.comparisons[0]?.ratio.median).toBeCloseTo(4);
    expect(result.same[0]?.ratio).toMatchObject({ median: 1, low: 1, high: 1, rounds: 4 });
  });
});

describe("paired ratios", () => {
  it("are medians of log-ratios whose interval is the same each time", () => {
    const ours = [10, 20, 40, 80, 160];
    const others = [20, 41, 78, 160, 3_000];
    const ratio = ratioOf(ours, others);
    expect(ratio.median).toBeCloseTo(2);
    expect(ratio.low).toBeLessThanOrEqual(2);
    expect(ratio.high).toBeGreaterThanOrEqual(2);
    expect(ratioOf(ours, others)).toEqual(ratio);
    expect(verdictOf(ratio)).toBe("faster");
    expect(verdictOf(ratioOf(others, ours))).toBe("slower");
  });

  it("have no verdict across 1, nor from two rounds", () => {
    expect(verdictOf(ratioOf([1, 1, 1, 1], [0.9, 1.1, 0.9, 1.1]))).toBe("inconclusive");
    expect(verdictOf(ratioOf([1, 1], [2, 2]))).toBe("inconclusive");
  });

  it("call a machine noisy when a side differs from itself, or could differ by anything", () => {
    expect(isQuiet(ratioOf([1, 1, 1], [1.01, 0.99, 1]))).toBe(true);
    expect(isQuiet(ratioOf([1, 1, 1], [1.2, 1.2, 1.2]))).toBe(false);
    expect(isQuiet(ratioOf([1, 1, 1], [0.2, 1, 5]))).toBe(false);
  });
});

describe("URLs of benchmarks", () => {
  const count = 20_000;
  const shape = { hosts: 500 };

  it("are distinct and canonical (I1)", () => {
    const urls = urlChunk(0, count, shape);
    expect(new Set(urls).size).toBe(count);
    expect(canonicalizeMany(urls)).toEqual(urls);
    expect(urls.map(plainCanonical)).toEqual(urls);
  });

  it("come back from every other spelling, by the kernel and by the plain way (I2)", () => {
    const urls = urlChunk(0, count, shape);
    const links = linkChunk(0, count, shape);
    const changed = links.filter((link, i) => link !== urls[i]).length;
    expect(changed / count).toBeGreaterThan(0.8);
    expect(canonicalizeMany(links)).toEqual(urls);
    expect(links.map(plainCanonical)).toEqual(urls);
  });
});

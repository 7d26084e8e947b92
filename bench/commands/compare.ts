/**
 * Two versions against each other, in alternating fresh processes, within a time that is said before.
 *
 *   build/bench-versions/<base>   the revision ┐ built once each (versions.ts);
 *   build/bench-versions/<head>   HEAD         ┘ the benchmarks are those of here
 *
 *   round 1   head  base  head′        head′ / head is the A/A row: where it is not level there is no verdict
 *   round 2   head′ base  head
 *
 *   npm run bench -- compare <revision> [cases] [--budget <seconds>] [--rounds N] [--params …] [--smoke] [--json] [--strict]
 *
 * Only the first side of each case runs, which is ours, at the size that the case is about; --params names another. A ratio over 1: HEAD
 * is faster. Exit code 1 with --strict when something got worse; 2 when a version can not be built.
 *
 *   I1  Both versions run the same benchmarks over the same URLs, and must answer with the same checksums.
 *   I2  It is better or worse only beyond what chance would produce among all phases (isBeyondChance).
 *   I3  It ends: each size has its share of the time that is left, at the pace so far; what was not reached is said by name.
 *   I4  Nothing is begun that could hardly have a verdict: the quickest run first, and where the time that is left has not ROUNDS_LEAST
 *       rounds for the next one, that and all slower ones are left out (compare-plan.ts).
 */
import { execFileSync } from "node:child_process";
import type { BenchCase } from "../harness/case.ts";
import { observeInChild } from "../harness/child.ts";
import { readEstimates } from "../harness/estimates.ts";
import { ROOT } from "../harness/machine.ts";
import { type CaseResult, runCase, type TimeFrame } from "../harness/run-case.ts";
import { resultText } from "../harness/table.ts";
import {
  affordable,
  type Bout,
  boutsOf,
  type CompareFlags,
  frameOf,
  planText,
  ROUNDS_MOST,
} from "./compare-plan.ts";
import { type Row, rowsOf, summaryText, VERSIONS } from "./compare-rows.ts";
import { progress } from "./named.ts";
import { RESULTS } from "./report.ts";
import { createPace, type Pace } from "./suite.ts";
import { commitOf, isBuilt, versionHome } from "./versions.ts";

/** Returns the exit code. */
export async function compare(flags: CompareFlags): Promise<number> {
  const commits = { head: commitOf("HEAD"), base: commitOf(flags.revision) };
  if (commits.base === undefined || commits.head === undefined) {
    console.error(`compare: ${flags.revision} (expected: a revision of this repository)`);
    return 2;
  }
  const all = boutsOf(flags, readEstimates(RESULTS));
  if (all.length === 0) {
    console.error(`--params: ${flags.params} (expected: a size of a case that was named)`);
    return 2;
  }
  const stop = (): void => process.exit(130);
  process.once("SIGINT", stop).once("SIGTERM", stop);
  const homes: Record<string, string> = {};
  try {
    for (const version of VERSIONS) {
      const commit = commits[version] as string;
      const state = isBuilt(commit) ? "was built before" : "building it, which takes a minute";
      console.error(`compare: ${version} is ${commit.slice(0, 12)}: ${state}`);
      homes[version] = versionHome(commit);
    }
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    return 2;
  }
  if (isDirty()) console.error("compare: changes that are not committed are no part of head");
  console.error(planText(all, flags));
  const rows = await runBouts(all, homes, flags);
  return flags.strict && rows.some(({ verdict }) => verdict === "worse") ? 1 : 0;
}

/** Runs the cases that there is time for, the quickest first, prints each and all, and returns every phase. */
async function runBouts(
  all: readonly Bout[],
  homes: Readonly<Record<string, string>>,
  flags: CompareFlags,
): Promise<Row[]> {
  const { json, budgetSeconds, rounds = ROUNDS_MOST } = flags;
  const startMs = performance.now();
  const pace = createPace(startMs + budgetSeconds * 1e3);
  const rows: Row[] = [];
  const failed: string[] = [];
  let rest = [...all].sort((a, b) => a.roundSeconds - b.roundSeconds);
  for (let done = 0; rest.length > 0; done++) {
    const { bouts } = affordable(rest, { rounds, budgetSeconds: pace.left() }, done === 0);
    const [bout] = bouts;
    if (bout === undefined) break;
    rest = rest.slice(1);
    try {
      const time = frameOf(bouts, { pace, rounds, budgetSeconds, startMs });
      const result = await timed(bout, pace, () => runBout(bout, homes, { time, rounds }));
      const own = rowsOf(bout.bench, result, done + bouts.length);
      tell(bout.bench, result, { json, own });
      rows.push(...own);
      if (own.length === 0) failed.push(`${bout.bench.name} (no round ended in time)`);
    } catch (error) {
      failed.push(`${bout.bench.name} (${error instanceof Error ? error.message : error})`);
    }
    progress("");
  }
  const seconds = (performance.now() - startMs) / 1e3;
  const text = summaryText({ rows, failed, left: rest, all, seconds, flags });
  if (!json) console.log(text);
  else console.log(JSON.stringify({ summary: true, failed, left: rest.map(nameOf), seconds }));
  return rows;
}

function nameOf({ bench }: Bout): string {
  return bench.name;
}

/** Tells the pace how long it took for its rounds. */
async function timed(
  { roundSeconds }: Bout,
  pace: Pace,
  work: () => Promise<CaseResult>,
): Promise<CaseResult> {
  const startMs = performance.now();
  const result = await work();
  pace.took(roundSeconds * result.rounds, (performance.now() - startMs) / 1e3);
  return result;
}

function runBout(
  { bench, side, params }: Bout,
  homes: Readonly<Record<string, string>>,
  { time, rounds }: { time: TimeFrame; rounds: number },
): Promise<CaseResult> {
  const pairs = [VERSIONS];
  const versus = { ...bench, pairs, isSameWork: true, missing: () => undefined };
  return runCase({
    bench: { ...versus, process: "fresh" },
    ...{ params, rounds, time, isLevelled: true },
    observeFresh: (version) =>
      observeInChild(
        { suite: bench.suite, bench: bench.name, side, params },
        { home: homes[version] as string, untilMs: time.hardMs },
      ),
    progress: tellRounds(),
  });
}

/** Redrawn in place on a terminal; elsewhere a line a round. */
function tellRounds(): (text: string) => void {
  let last = "";
  return (text) => {
    progress(text);
    const round = text.slice(0, text.lastIndexOf(":"));
    if (!process.stderr.isTTY && round !== last) console.error(round);
    last = round;
  };
}

function tell(
  bench: BenchCase,
  result: CaseResult,
  { json, own }: { json: boolean; own: readonly Row[] },
): void {
  progress("");
  if (json) for (const each of own) console.log(JSON.stringify(each));
  else {
    console.log(`\n${bench.name}: head against base, over 1 is faster`);
    console.log(resultText(bench, result));
  }
}

function isDirty(): boolean {
  const words = ["status", "--porcelain", "--untracked-files=no"];
  return execFileSync("git", words, { cwd: ROOT, encoding: "utf8" }).trim() !== "";
}

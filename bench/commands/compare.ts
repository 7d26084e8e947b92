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
 *   I2  It is better or worse only where chance would not tell any of all the phases apart (isBeyondChance).
 *   I3  It ends: each size has its share of the budget, by what it took the last time; what was not reached is said by name.
 *   I4  Nothing is begun that could have no verdict: where the budget has not ROUNDS_MIN rounds for all, it is the quickest that run.
 */
import { execFileSync } from "node:child_process";
import { type BenchCase, type Params, ROUNDS } from "../harness/case.ts";
import { observeInChild } from "../harness/child.ts";
import { costOf, type Estimates, readEstimates } from "../harness/estimates.ts";
import { ROOT } from "../harness/machine.ts";
import { type CaseResult, paramText, runCase, type TimeFrame } from "../harness/run-case.ts";
import { isBeyondChance, ROUNDS_MIN, verdictOf } from "../harness/statistics.ts";
import { doubtOf, resultText } from "../harness/table.ts";
import { matches, progress } from "./named.ts";
import { RESULTS } from "./report.ts";
import { suiteSizes } from "./suite.ts";
import { commitOf, isBuilt, versionHome } from "./versions.ts";

export interface CompareFlags {
  readonly cases: readonly BenchCase[];
  readonly revision: string;
  readonly isSmoke: boolean;
  readonly params: string | undefined;
  readonly rounds: number | undefined;
  /** Seconds for all cases together, builds apart. */
  readonly budgetSeconds: number;
  readonly json: boolean;
  readonly strict: boolean;
}

/** A case at a size, with what a round of it is thought to take. */
export interface Bout {
  readonly bench: BenchCase;
  readonly side: string;
  readonly params: Params;
  readonly roundSeconds: number;
}

const VERSIONS = ["head", "base"] as const;
/** One of each version, and the first once more. */
const SEATS = VERSIONS.length + 1;
/** A size may take so many times its share, where the others leave room. */
const OVERRUN = 2;

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
  const { bouts, left } = affordable(all, flags);
  console.error(planText(bouts, flags));
  if (left.length > 0) console.error(leftText(left, flags));
  const worse = await runBouts(bouts, homes, flags);
  return flags.strict && worse > 0 ? 1 : 0;
}

/** What is compared, in the order of the cases; each at one size unless --params names more. */
export function boutsOf(
  { cases, isSmoke, params: wanted }: Pick<CompareFlags, "cases" | "isSmoke" | "params">,
  estimates: Estimates,
): Bout[] {
  return cases.flatMap((bench) => {
    const [side] = bench.pairs[0] ?? [];
    if (side === undefined) return [];
    const { smoke, real, large = [] } = bench.sizes;
    const usual = isSmoke ? smoke : suiteSizes(bench, false);
    const all = isSmoke ? smoke : [...usual, ...real, ...large];
    const asked = all.filter((params) => matches(params, wanted));
    const sizes = wanted === undefined ? usual.slice(0, 1) : asked.slice(0, 1);
    return sizes.flatMap((params) => {
      if (bench.missing?.(side, params) !== undefined) return [];
      const { setup, sides } = costOf(estimates, bench, params);
      const roundSeconds = SEATS * (setup + (sides[side] ?? 0));
      return [{ bench, side, params, roundSeconds }];
    });
  });
}

interface Affordable {
  readonly bouts: Bout[];
  readonly left: Bout[];
}

/** What there is time enough for, in the order of the cases, one at least; the rest is left out. */
export function affordable(
  all: readonly Bout[],
  { rounds = ROUNDS_MIN, budgetSeconds }: Pick<CompareFlags, "rounds" | "budgetSeconds">,
): Affordable {
  const quickest = [...all].sort((a, b) => a.roundSeconds - b.roundSeconds);
  const taken = new Set<Bout>();
  let seconds = 0;
  for (const bout of quickest) {
    seconds += bout.roundSeconds * Math.min(rounds, ROUNDS_MIN);
    if (taken.size > 0 && seconds > budgetSeconds) break;
    taken.add(bout);
  }
  return {
    bouts: all.filter((bout) => taken.has(bout)),
    left: all.filter((bout) => !taken.has(bout)),
  };
}

/** What does not run, and what to do about it. */
function leftText(left: readonly Bout[], { budgetSeconds }: CompareFlags): string {
  const names = left.map(({ bench }) => bench.name).join(", ");
  return `compare: left out, with no time for ${ROUNDS_MIN} rounds in ${budgetSeconds} s: ${names}; name them, or give more by --budget`;
}

/** What will run, and how long that takes, before it begins. */
export function planText(
  bouts: readonly Bout[],
  { rounds = ROUNDS.fresh, budgetSeconds }: Pick<CompareFlags, "rounds" | "budgetSeconds">,
): string {
  const seconds = bouts.reduce((sum, { roundSeconds }) => sum + roundSeconds * rounds, 0);
  const sizes = bouts.map(({ bench, params }) => `${bench.name} (${paramText(params)})`);
  const about = `compare: ${sizes.join(", ")}: up to ${rounds} rounds of ${SEATS} processes`;
  if (seconds <= budgetSeconds) return `${about}, about ${Math.ceil(seconds)} s`;
  const how = "fewer rounds, so that it ends; --budget <seconds> gives more";
  return `${about} would take about ${Math.ceil(seconds)} s of ${budgetSeconds}: ${how}`;
}

/** How many phases got worse. */
async function runBouts(
  bouts: readonly Bout[],
  homes: Readonly<Record<string, string>>,
  flags: CompareFlags,
): Promise<number> {
  const endMs = performance.now() + flags.budgetSeconds * 1e3;
  let worse = 0;
  for (const [index, bout] of bouts.entries()) {
    const { bench, params } = bout;
    const time = frameOf(bouts.slice(index), performance.now(), endMs);
    let reason: string | undefined;
    try {
      const result = await runBout(bout, homes, { time, rounds: flags.rounds ?? ROUNDS.fresh });
      const rows = bouts.length * PHASES;
      if (result.rounds > 0) worse += tell(bench, result, { json: flags.json, rows });
      else reason = `no time was left of --budget ${flags.budgetSeconds}`;
    } catch (error) {
      reason = error instanceof Error ? error.message : String(error);
    }
    progress("");
    if (reason !== undefined)
      console.error(`${bench.name}, ${paramText(params)}: not compared (${reason})`);
  }
  return worse;
}

/** The first of these has its share of the time that is left, by what each is thought to take, and may overrun it where that leaves room. */
export function frameOf(bouts: readonly Bout[], nowMs: number, endMs: number): TimeFrame {
  const all = bouts.reduce((sum, { roundSeconds }) => sum + roundSeconds, 0);
  const shareMs = (Math.max(0, endMs - nowMs) * (bouts[0]?.roundSeconds ?? 0)) / all;
  return { softMs: nowMs + shareMs, hardMs: Math.min(endMs, nowMs + shareMs * OVERRUN) };
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
        { bench: bench.name, side, params },
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

const WORDS = { faster: "better", slower: "worse", inconclusive: "inconclusive" } as const;
/** A case has about so many. */
const PHASES = 3;

interface Telling {
  readonly json: boolean;
  /** How many phases are compared in all. */
  readonly rows: number;
}

function tell(bench: BenchCase, result: CaseResult, { json, rows: many }: Telling): number {
  const doubt = doubtOf(result);
  const rows = result.comparisons.map(({ phase, ratio }) => {
    const isSure = doubt === undefined && isBeyondChance([0, 0], logsOf(result, phase), many);
    const verdict = isSure ? WORDS[verdictOf(ratio)] : "inconclusive";
    return { case: bench.name, params: result.params, phase, ratio, verdict };
  });
  progress("");
  if (json) for (const each of rows) console.log(JSON.stringify(each));
  else {
    console.log(`\n${bench.name}: head against base, over 1 is faster`);
    console.log(resultText(bench, result));
    for (const { phase, ratio, verdict } of rows) {
      const isNear = doubt === undefined && WORDS[verdictOf(ratio)] !== verdict;
      const why = isNear ? `, since chance does that too among ${many} phases` : "";
      console.log(`    ${phase}: ${verdict}${why}`);
    }
  }
  return rows.filter(({ verdict }) => verdict === "worse").length;
}

/** Of base to head, by round. */
function logsOf({ observations }: CaseResult, phase: string): number[] {
  const [head, base] = VERSIONS.map((version) =>
    (observations[version] ?? []).map(({ measured }) => measured.times[phase] as number),
  );
  return (head ?? []).map((time, round) => Math.log((base?.[round] as number) / time));
}

function isDirty(): boolean {
  const words = ["status", "--porcelain", "--untracked-files=no"];
  return execFileSync("git", words, { cwd: ROOT, encoding: "utf8" }).trim() !== "";
}

/**
 * The suite: every case at the sizes that fit into ten minutes, in one object, one page and one table.
 *
 *   limits of the machine ─▶ case × size, each with its share of the time left ─▶ JSON ─▶ HTML, README's table
 *
 *   share = time left × weight / weights left. At least ROUNDS_MIN rounds are wanted, and more while the share lasts; what a case
 *   leaves over goes to those after it.
 *
 *   I1  No round begins that would not end within the budget, judged by the longest so far: on a slow machine a case
 *       has fewer rounds, and then no verdict; what was not reached is listed as not measured.
 *   I2  A case that fails does not stop the others; the exit code is 1 then.
 */
import { type BenchCase, type Params, roundsOf, sidesOf } from "../harness/case.ts";
import { CHILD_FLAGS, observeInChild } from "../harness/child.ts";
import { measureLimits } from "../harness/limits.ts";
import { machineOf, ROOT } from "../harness/machine.ts";
import {
  type CaseObject,
  caseObjectOf,
  SUITE_SCHEMA,
  type SuiteObject,
} from "../harness/result-file.ts";
import { type CaseResult, runCase, type TimeFrame } from "../harness/run-case.ts";
import { headText, resultText } from "../harness/table.ts";
import { progress } from "./named.ts";
import { publish } from "./report.ts";

export interface SuiteFlags {
  readonly cases: readonly BenchCase[];
  readonly budgetSeconds: number;
  readonly large: boolean;
  readonly json: boolean;
  readonly write: boolean;
}

interface Entry {
  readonly bench: BenchCase;
  readonly params: Params;
}

/** Returns the exit code. */
export async function runSuite(flags: SuiteFlags): Promise<number> {
  const startedAt = new Date();
  const endMs = performance.now() + flags.budgetSeconds * 1e3;
  const machine = machineOf(ROOT, CHILD_FLAGS);
  const limits = measureLimits();
  const entries = flags.cases.flatMap((bench) =>
    suiteSizes(bench, flags.large).map((params): Entry => ({ bench, params })),
  );
  const cases: CaseObject[] = [];
  const failed: { case: string; reason: string }[] = [];
  let at = 0;
  for (const bench of flags.cases) {
    const caseStart = new Date();
    const results: CaseResult[] = [];
    if (!flags.json) console.log(headText(bench));
    for (; entries[at]?.bench === bench; at++) {
      const entry = entries[at] as Entry;
      try {
        const time = flags.large ? undefined : frameOf(entries.slice(at), endMs);
        const result = await observed(entry, time);
        results.push(result);
        if (!flags.json) console.log(resultText(bench, result));
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error);
        failed.push({ case: bench.name, reason });
        console.error(`\n${bench.name}: ${reason}`);
      }
    }
    if (results.length > 0)
      cases.push(caseObjectOf({ bench, size: "suite", startedAt: caseStart, results }));
  }
  const suite: SuiteObject = {
    schema: SUITE_SCHEMA,
    at: startedAt.toISOString(),
    ...machine,
    seconds: Math.round((Date.now() - startedAt.getTime()) / 1000),
    budgetSeconds: flags.budgetSeconds,
    limits,
    cases,
    failed,
  };
  if (flags.json) console.log(JSON.stringify(suite));
  if (flags.write) publish(suite);
  return failed.length === 0 ? 0 : 1;
}

export function suiteSizes({ sizes }: BenchCase, isLarge: boolean): readonly Params[] {
  const usual = sizes.suite ?? sizes.real.slice(0, 1);
  return isLarge ? [...usual, ...(sizes.large ?? [])] : usual;
}

/** What a case may take for its first rounds, in shares: some are heavy, and others leave time over. */
const SHARES_MAX = 4;

/** The time of the first of the entries that are left. */
export function frameOf(left: readonly Entry[], endMs: number): TimeFrame {
  const weightOf = ({ bench }: Entry): number => bench.weight ?? 1;
  const weights = left.reduce((sum, entry) => sum + weightOf(entry), 0);
  const nowMs = performance.now();
  const shareMs = (Math.max(0, endMs - nowMs) * weightOf(left[0] as Entry)) / weights;
  return { softMs: nowMs + shareMs, hardMs: Math.min(endMs, nowMs + SHARES_MAX * shareMs) };
}

/** What is at work when time is up may go on a little: a run that ends is worth more. */
const GRACE_MS = 15_000;

function endOf(time: TimeFrame | undefined): number | undefined {
  return time === undefined ? undefined : time.hardMs + GRACE_MS;
}

async function observed({ bench, params }: Entry, time?: TimeFrame): Promise<CaseResult> {
  const result = await runCase({
    bench,
    params,
    rounds: roundsOf(bench, params),
    observeFresh: (side) =>
      observeInChild({ bench: bench.name, side, params }, { untilMs: endOf(time) }),
    progress,
    ...(time === undefined ? {} : { time }),
  });
  progress("");
  if (result.rounds > 0) return result;
  const missing = sidesOf(bench).map((side) => [side, "no time was left in this run"]);
  return { ...result, missing: { ...Object.fromEntries(missing), ...result.missing } };
}

/**
 * What a comparison says of each phase, and of all.
 *
 *   better, worse   further from level than chance would put any of all the phases that are compared (isBeyondChance)
 *   same            the whole interval lies within MARGIN of level
 *   inconclusive    neither: the change, if there is one, is somewhere in the interval; or the machine was noisy, which is said
 */
import { loadavg, cpus } from "node:os";
import type { BenchCase, Params } from "../harness/case.ts";
import type { CaseResult } from "../harness/run-case.ts";
import { isBeyondChance, type Ratio, verdictOf } from "../harness/statistics.ts";
import { columns, doubtOf } from "../harness/table.ts";
import { ratioText } from "../report/numbers.ts";
import { type Bout, type CompareFlags, ROUNDS_MOST, secondsFor } from "./compare-plan.ts";

export const VERSIONS = ["head", "base"] as const;
/** A case has about so many. */
const PHASES = 3;
/** Two times that are closer than this are the same to a reader. */
const MARGIN = 1.05;

export type Verdict = "worse" | "better" | "inconclusive" | "same";

export interface Row {
  readonly case: string;
  readonly params: Params;
  readonly phase: string;
  readonly ratio: Ratio;
  readonly verdict: Verdict;
  /** Why there is no verdict, where it is not the interval. */
  readonly doubt?: string;
}

/** Every phase of a case, of so many that are compared. */
export function rowsOf({ name }: BenchCase, result: CaseResult, cases: number): Row[] {
  const doubt = result.rounds > 0 ? doubtOf(result) : undefined;
  return result.comparisons.map(({ phase, ratio }) => {
    const verdict =
      doubt === undefined ? judged(ratio, logsOf(result, phase), cases * PHASES) : "inconclusive";
    const row = { case: name, params: result.params, phase, ratio, verdict };
    return doubt === undefined ? row : { ...row, doubt };
  });
}

function judged(ratio: Ratio, logs: readonly number[], phases: number): Verdict {
  const word = verdictOf(ratio);
  if (word !== "inconclusive" && isBeyondChance([0, 0], logs, phases))
    return word === "faster" ? "better" : "worse";
  return ratio.low * MARGIN > 1 && ratio.high < MARGIN ? "same" : "inconclusive";
}

/** Of base to head, by round. */
function logsOf({ observations }: CaseResult, phase: string): number[] {
  const [head, base] = VERSIONS.map((version) =>
    (observations[version] ?? []).map(({ measured }) => measured.times[phase] as number),
  );
  return (head ?? []).map((time, round) => Math.log((base?.[round] as number) / time));
}

export interface Summary {
  readonly rows: readonly Row[];
  /** Cases that ran and say nothing, with why. */
  readonly failed: readonly string[];
  readonly left: readonly Bout[];
  readonly all: readonly Bout[];
  readonly seconds: number;
  readonly flags: Pick<CompareFlags, "rounds" | "budgetSeconds">;
}

const ORDER: readonly Verdict[] = ["worse", "better", "inconclusive", "same"];

/** The table at the end: what changed stands first, and what to do where little could be said. */
export function summaryText({ rows, failed, left, all, seconds, flags }: Summary): string {
  const sorted = ORDER.flatMap((word) => rows.filter(({ verdict }) => verdict === word));
  const cells = sorted.map((row) => [
    row.verdict,
    `${row.case}, ${row.phase}`,
    ratioText(row.ratio),
    row.doubt ?? "",
  ]);
  const counts = ORDER.map((word) => `${cells.filter(([each]) => each === word).length} ${word}`);
  const cases = new Set(rows.map((row) => row.case)).size;
  const lines = [
    `\ncompare: ${cases} of ${all.length} cases in ${Math.round(seconds)} s, head against base, over 1 is faster`,
    ...columns(cells),
    `    ${counts.join(", ")}`,
  ];
  const noisy = new Set(rows.filter(({ doubt }) => doubt !== undefined).map((row) => row.case));
  if (noisy.size > 0) {
    const load = (loadavg()[0] ?? 0).toFixed(1);
    lines.push(
      `    without verdict: ${[...noisy].join(", ")} (load ${load} on ${cpus().length} cores; again when it is calm)`,
    );
  }
  if (failed.length > 0) lines.push(`    not compared: ${failed.join(", ")}`);
  if (left.length > 0) {
    const names = left.map(({ bench }) => bench.name).join(", ");
    // At the pace of this run.
    const { rounds = ROUNDS_MOST } = flags;
    const budget = secondsFor(all, rounds);
    lines.push(`    no time for: ${names} (name them, or --budget ${budget} for all)`);
  }
  return lines.join("\n");
}

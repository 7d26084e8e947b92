/**
 * What a run leaves behind, as JSON.
 *
 *   one case    results/<time>-<commit>-<case>.json     { schema, at, …machine, case, …, runs }
 *   a suite     results/<date>-<commit>.json            { schema, at, …machine, limits, cases: [ … ], failed }
 *   runs        [ { params, rounds, doubt, ratio, same, checksum, observations, missing } ]
 *
 * Every observation is kept, so that a later reader can compute another statistic. Histograms are in the HDR
 * exchange format beside their percentiles.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { BenchCase, Measured, Params } from "./case.ts";
import type { Limits } from "./limits.ts";
import type { Machine } from "./machine.ts";
import type { CaseResult, Comparison } from "./run-case.ts";
import { type Ratio, type Verdict, verdictOf } from "./statistics.ts";
import { doubtOf } from "./table.ts";

export const RESULT_SCHEMA = "outrider-bench-1";
export const SUITE_SCHEMA = "outrider-bench-suite-1";

export interface ResultFile {
  readonly bench: BenchCase;
  readonly size: "smoke" | "real" | "suite";
  readonly startedAt: Date;
  readonly machine: Machine;
  readonly results: readonly CaseResult[];
}

export interface RatioObject {
  readonly subject: string;
  readonly peer: string;
  readonly phase: string;
  readonly ratio: Ratio;
  readonly verdict: Verdict;
}

export interface RunObject {
  readonly params: Params;
  readonly rounds: number;
  /** Why its ratios have no verdict; null where they have. */
  readonly doubt: string | null;
  readonly ratio: readonly RatioObject[];
  readonly same: readonly Comparison[];
  readonly checksum: Readonly<Record<string, string>>;
  readonly observations: Readonly<Record<string, readonly Measured[]>>;
  readonly missing: Readonly<Record<string, string>>;
  /** How long an observation of each side took as a whole; missing in results before 2026-11-22 04:00. */
  readonly seconds?: Readonly<Record<string, number>>;
}

export interface CaseObject {
  readonly case: string;
  readonly suite: string;
  readonly about: string;
  readonly question: string;
  readonly unit: string;
  readonly target: string | null;
  readonly size: string;
  readonly seconds: number;
  readonly runs: readonly RunObject[];
}

export interface SuiteObject extends Machine {
  readonly schema: typeof SUITE_SCHEMA;
  readonly at: string;
  readonly seconds: number;
  readonly budgetSeconds: number;
  readonly limits: Limits | null;
  readonly cases: readonly CaseObject[];
  /** Cases that broke, with what they said. */
  readonly failed: readonly { readonly case: string; readonly reason: string }[];
}

export function caseObjectOf(file: Omit<ResultFile, "machine">): CaseObject {
  const { bench, size, startedAt, results } = file;
  return {
    case: bench.name,
    suite: bench.suite,
    about: bench.about,
    question: bench.question ?? bench.about,
    unit: bench.unit,
    target: bench.target ?? null,
    size,
    seconds: Math.round((Date.now() - startedAt.getTime()) / 1000),
    runs: results.map(runObjectOf),
  };
}

function runObjectOf(result: CaseResult): RunObject {
  const sides = Object.entries(result.observations);
  return {
    params: result.params,
    rounds: result.rounds,
    doubt: doubtOf(result) ?? null,
    ratio: result.comparisons.map((each) => ({ ...each, verdict: verdictOf(each.ratio) })),
    same: result.same,
    checksum: Object.fromEntries(sides.map(([side, list]) => [side, list[0]?.checksum ?? ""])),
    observations: Object.fromEntries(
      sides.map(([side, list]) => [side, list.map(({ measured }) => measured)]),
    ),
    missing: result.missing,
    seconds: result.seconds,
  };
}

export function resultOf(file: ResultFile): Record<string, unknown> {
  const at = file.startedAt.toISOString();
  return { schema: RESULT_SCHEMA, at, ...file.machine, ...caseObjectOf(file) };
}

/** Writes the object and returns the file's path. */
export function writeResult(folder: string, file: ResultFile): string {
  const date = file.startedAt.toISOString().slice(0, 19).replaceAll(":", "");
  const name = `${date}-${file.machine.commit}${markOf(file.machine)}-${file.bench.name}.json`;
  return writeJson(folder, name, resultOf(file));
}

/** `<date>-<commit>`, the name of a suite's files without their ending. */
export function suiteName({ at, commit, dirty }: SuiteObject): string {
  return `${at.slice(0, 10)}-${commit}${markOf({ dirty })}`;
}

/** Writes a suite and returns its path; a second run of a day and commit takes the place of the first. */
export function writeSuite(folder: string, suite: SuiteObject): string {
  return writeJson(folder, `${suiteName(suite)}.json`, suite);
}

function markOf({ dirty }: { dirty: boolean }): string {
  return dirty ? "-dirty" : "";
}

function writeJson(folder: string, name: string, value: unknown): string {
  mkdirSync(folder, { recursive: true });
  const path = join(folder, name);
  writeFileSync(path, `${JSON.stringify(value, undefined, 1)}\n`);
  return path;
}

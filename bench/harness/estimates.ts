/**
 * What an observation took the last time, so that a run can be planned before it begins.
 *
 *   results/estimates.json   { schema, at, commit, cases: { <case>: { <size>: { <side>: seconds, "setup": seconds } } } }
 *
 *   <size>    its params as --params takes them: "urls=1000000"
 *   setup     once for a size, where all sides share a process
 *
 * Every suite that is kept writes what it measured over what stood there; sizes that it did not reach keep what they had.
 *
 *   I1  A size that was never measured is guessed from the nearest one of its case, by the largest number among its params.
 */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type BenchCase, type Params, sidesOf } from "./case.ts";
import type { SuiteObject } from "./result-file.ts";
import { SETUP } from "./run-case.ts";

export const ESTIMATES_SCHEMA = "outrider-bench-estimates-1";
const FILE = "estimates.json";
export type SizeSeconds = Readonly<Record<string, number>>;
export type Estimates = Readonly<Record<string, Readonly<Record<string, SizeSeconds>>>>;

/** Seconds of one size: its setup, and one observation of each side. */
export interface Cost {
  readonly setup: number;
  readonly sides: Readonly<Record<string, number>>;
}

/** Estimate for an observation that was never made. */
const UNKNOWN_SECONDS = 5;
/** A process that starts, loads the package and ends, however little it does. */
const LEAST_SECONDS = 0.25;

export function readEstimates(folder: string): Estimates {
  const path = join(folder, FILE);
  if (!existsSync(path)) return {};
  const { schema, cases } = JSON.parse(readFileSync(path, "utf8")) as {
    schema: string;
    cases: Estimates;
  };
  return schema === ESTIMATES_SCHEMA ? cases : {};
}

/** Writes what a suite took over what stood there, and returns the file's path. */
export function writeEstimates(folder: string, suite: SuiteObject): string {
  const cases = mergeEstimates(readEstimates(folder), suite);
  const path = join(folder, FILE);
  const { at, commit } = suite;
  const text = JSON.stringify({ schema: ESTIMATES_SCHEMA, at, commit, cases }, undefined, 1);
  writeFileSync(path, `${text}\n`);
  return path;
}

/** The newest seconds of every case, size and side, in the order of their names. */
export function mergeEstimates(before: Estimates, suite: SuiteObject): Estimates {
  const cases: Record<string, Record<string, SizeSeconds>> = {};
  for (const [name, sizes] of Object.entries(before)) cases[name] = { ...sizes };
  for (const { case: name, runs } of suite.cases) {
    const sizes = cases[name] ?? {};
    for (const { params, seconds } of runs) {
      if (seconds === undefined || Object.keys(seconds).length === 0) continue;
      sizes[sizeKey(params)] = { ...sizes[sizeKey(params)], ...seconds };
    }
    if (Object.keys(sizes).length > 0) cases[name] = sizes;
  }
  const names = Object.keys(cases).sort();
  return Object.fromEntries(names.map((name) => [name, cases[name] ?? {}]));
}

export function sizeKey(params: Params): string {
  return Object.entries(params)
    .map(([name, value]) => `${name}=${value}`)
    .join(",");
}

/** What one size of a case is thought to cost here. */
export function costOf(estimates: Estimates, bench: BenchCase, params: Params): Cost {
  const { seconds, times } = nearest(estimates[bench.name] ?? {}, params);
  const guess = (value: number | undefined): number =>
    Math.max(LEAST_SECONDS, (value ?? typical(seconds)) * times);
  const sides = sidesOf(bench).filter((side) => bench.missing?.(side, params) === undefined);
  return {
    setup: bench.process === "shared" ? (seconds[SETUP] ?? 0) * times : 0,
    sides: Object.fromEntries(sides.map((side) => [side, guess(seconds[side])])),
  };
}

/** A side that was never seen is thought to be like the slowest that was. */
function typical(seconds: SizeSeconds): number {
  const known = Object.entries(seconds).filter(([side]) => side !== SETUP);
  return known.length === 0 ? UNKNOWN_SECONDS : Math.max(...known.map(([, value]) => value));
}

function nearest(
  sizes: Readonly<Record<string, SizeSeconds>>,
  params: Params,
): { seconds: SizeSeconds; times: number } {
  const exact = sizes[sizeKey(params)];
  if (exact !== undefined) return { seconds: exact, times: 1 };
  const wanted = largest(Object.values(params));
  const others = Object.entries(sizes).map(([key, seconds]) => {
    const values = key.split(",").map((each) => Number(each.split("=")[1]));
    return { seconds, times: wanted / largest(values) };
  });
  const far = (times: number): number => Math.abs(Math.log(times));
  const [best] = others.sort((a, b) => far(a.times) - far(b.times));
  return best ?? { seconds: {}, times: 1 };
}

function largest(values: readonly (number | string)[]): number {
  return Math.max(1, ...values.map(Number).filter((value) => Number.isFinite(value)));
}

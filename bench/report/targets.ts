/**
 * TARGETS.md: every target against what was measured last.
 *
 *   results/targets.json   id, target, where its number comes from, why it is missed      by hand
 *   results/*.json         every run that was kept                                        by the benchmark
 *                     └──▶ results/TARGETS.md
 *
 * A number is taken from the newest run that has it and began on a calm machine (load no more than its cores), and only where there
 * is none from the newest that did not. Its letter names the run. Words on a verdict:
 *
 *   met, missed       by the median; `within its interval` where the interval lies on both sides of the target
 *   without verdict   fewer than three rounds, or the A/A row was not level; what is counted and not timed needs neither
 *   not run           no result has it
 *
 *   I1  The file says what the results say: test/api/bench-targets.test.ts compares.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Params } from "../harness/case.ts";
import type { Machine } from "../harness/machine.ts";
import { type CaseObject, type RunObject, SUITE_SCHEMA } from "../harness/result-file.ts";
import { RESULT_SCHEMA, type SuiteObject } from "../harness/result-file.ts";
import { ROUNDS_MIN } from "../harness/statistics.ts";
import { nsText, rateText, sizeText, threeFigures, timesText } from "./numbers.ts";
import { sideNumbers } from "./peers.ts";

/** Where one number of a row comes from, and its bounds. */
export interface Source {
  readonly case: string;
  /** Parameters that identify the run; without any, the newest run that has the number. */
  readonly params?: Params;
  /** What it is, where a row has more than one. */
  readonly label?: string;
  readonly ratio?: readonly [subject: string, peer: string, phase: string];
  /** The subject's time over the peer's: what size costs, say. */
  readonly cost?: readonly [subject: string, peer: string, phase: string];
  /** Operations a second, or time for one. */
  readonly rate?: readonly [side: string, phase: string];
  readonly time?: readonly [side: string, phase: string];
  readonly fact?: readonly [side: string, name: string];
  readonly unit?: string;
  /** A fact that is taken off, such as the URL's own bytes. */
  readonly minus?: string;
  /** A fact that is counted and not timed. */
  readonly isCounted?: boolean;
  readonly latency?: readonly [side: string, name: string, which: "p50" | "p99" | "p999" | "max"];
  /** The time at `params` over that at these. */
  readonly growth?: readonly [side: string, phase: string];
  readonly from?: Params;
  /** In the unit that is shown, latencies in nanoseconds. */
  readonly atLeast?: number;
  readonly atMost?: number;
}

/** What a source names: a side first, then its peer or the phase or fact. */
export function numberOf(source: Source): readonly string[] {
  const { ratio, cost, rate, time, fact, latency, growth } = source;
  return ratio ?? cost ?? rate ?? time ?? fact ?? latency ?? growth ?? [];
}

export interface TargetRow {
  readonly id: string;
  readonly what: string;
  readonly target: string;
  readonly of?: readonly Source[];
  /** What a command that is no benchmark shows, and its verdict. */
  readonly shown?: string;
  readonly verdict?: string;
  /** Numbers of before that still say something. */
  readonly earlier?: string;
  readonly why?: string;
}

export interface TargetFile {
  readonly intro: readonly string[];
  readonly sections: readonly {
    readonly title: string;
    readonly rows: readonly TargetRow[];
    readonly after?: readonly string[];
  }[];
}

/** A run with the machine that it was made on. */
export interface KeptRun {
  /** The name of its file. */
  readonly file: string;
  /** The name of its case. */
  readonly name: string;
  readonly at: string;
  readonly machine: Pick<Machine, "commit" | "dirty" | "cores" | "load" | "node" | "cpu">;
  readonly run: RunObject;
}

/** Whether a run began with no more under way than there are cores. */
export function isCalm({ machine: { load, cores } }: KeptRun): boolean {
  return (load[0] ?? 0) <= cores;
}

/** Begins with a date, as every result does. */
export const RESULT_FILE = /^\d.*\.json$/;

/** Every run of clean trees in a folder of results. */
export function keptRuns(folder: string): KeptRun[] {
  const names = readdirSync(folder).filter((name) => RESULT_FILE.test(name));
  return names.flatMap((path) => {
    const file = JSON.parse(readFileSync(join(folder, path), "utf8")) as ResultFileObject;
    if (file.dirty) return [];
    if (file.schema !== SUITE_SCHEMA && file.schema !== RESULT_SCHEMA) return [];
    const cases = "cases" in file ? file.cases : [file];
    return cases.flatMap((each) =>
      each.runs
        .filter(({ rounds }) => rounds > 0)
        .map((run) => ({ file: path, name: each.case, at: file.at, machine: file, run })),
    );
  });
}

interface CaseFile extends Machine, CaseObject {
  readonly schema: typeof RESULT_SCHEMA;
  readonly at: string;
}

export type ResultFileObject = SuiteObject | CaseFile;

export function readTargets(folder: string): TargetFile {
  return JSON.parse(readFileSync(join(folder, "targets.json"), "utf8")) as TargetFile;
}

export function targetsText({ intro, sections }: TargetFile, runs: readonly KeptRun[]): string {
  const notes = createNotes();
  const tables = sections.flatMap(({ title, rows, after = [] }) => [
    ...["", `## ${title}`, ""],
    ...[
      "| what | target | measured | verdict | why, and before |",
      "| --- | --- | --- | --- | --- |",
    ],
    ...rows.map((row) => rowText(row, runs, notes)),
    ...after.flatMap((text) => ["", text]),
  ]);
  const head = ["# The targets, row by row", "", ...intro.flatMap((text) => [text, ""])];
  return `${[...head, ...notes.lines(), ...tables].join("\n")}\n`;
}

/** The runs that are named, in the order of their first mention. */
interface Notes {
  of(run: KeptRun): string;
  lines(): string[];
}

function createNotes(): Notes {
  const letters = new Map<string, string>();
  return {
    of(kept) {
      const { commit, load, cores, node, cpu } = kept.machine;
      const time = kept.at.slice(0, 16).replace("T", " ");
      const calm = isCalm(kept) ? "" : ", **not calm**";
      const machine = `${cores} cores of ${cpu}, Node ${node}`;
      const line = `${time}, commit ${commit}, load ${load[0]}${calm}, ${machine}`;
      const letter = letters.get(line) ?? String.fromCharCode(97 + letters.size);
      letters.set(line, letter);
      return `<sup>${letter}</sup>`;
    },
    lines: () => [...letters].map(([line, letter]) => `- <sup>${letter}</sup> ${line}`),
  };
}

function rowText(row: TargetRow, runs: readonly KeptRun[], notes: Notes): string {
  const found = (row.of ?? []).map((source) => ({ source, reading: readingOf(source, runs) }));
  let size = "";
  const told = found.map(({ source: { label, params }, reading }) => {
    const name = label === undefined ? "" : `${label} `;
    if (reading === undefined) return `${name}not run`;
    const own = paramsText(reading.kept.run.params);
    const told = params !== undefined || own === size ? "" : ` at ${own}`;
    size = own;
    return `${name}${reading.text}${told}${notes.of(reading.kept)}`;
  });
  const measured = [...told, ...(row.shown === undefined ? [] : [row.shown])].join("; ");
  const verdict = [verdictText(found), row.verdict].filter((word) => word !== undefined).join("; ");
  const before = row.earlier === undefined ? [] : [`Before: ${row.earlier}`];
  const why = [...(row.why === undefined ? [] : [row.why]), ...before].join(". ");
  return `| ${[row.what, row.target, measured, verdict || "–", why].join(" | ")} |`;
}

export interface Reading {
  readonly kept: KeptRun;
  readonly text: string;
  /** Undefined where there is no bound. */
  readonly verdict?: string;
}

/** Every word once, with what it is said of where there is more than one; undefined where there is no bound. */
function verdictText(
  found: readonly { source: Source; reading: Reading | undefined }[],
): string | undefined {
  const labels = new Map<string, string[]>();
  for (const { source, reading } of found) {
    if ((source.atLeast ?? source.atMost) === undefined) continue;
    const word = reading === undefined ? "not run" : (reading.verdict as string);
    labels.set(word, [...(labels.get(word) ?? []), source.label ?? ""]);
  }
  if (labels.size <= 1) return [...labels.keys()][0];
  return [...labels].map(([word, list]) => `${word}: ${list.join(", ")}`).join("; ");
}

/** The number of a source from the run that counts; undefined where none has it. */
export function readingOf(source: Source, runs: readonly KeptRun[]): Reading | undefined {
  const fitting = runs
    .filter(({ name, run }) => name === source.case && hasParams(run.params, source.params))
    .sort((a, b) => Number(isCalm(b)) - Number(isCalm(a)) || b.at.localeCompare(a.at));
  for (const kept of fitting) {
    const value = numberFor(source, kept, runs);
    if (value === undefined) continue;
    const verdict = boundText(source, kept, value);
    return { kept, text: value.text, ...(verdict === undefined ? {} : { verdict }) };
  }
  return undefined;
}

function hasParams(params: Params, wanted: Params | undefined): boolean {
  return Object.entries(wanted ?? {}).every(([name, value]) => params[name] === value);
}

/** Sizes as a reader wants them, the first two at most. */
function paramsText(params: Params): string {
  const text = (value: number | string): string =>
    typeof value === "number" ? sizeText(value) : value;
  return Object.entries(params)
    .slice(0, 2)
    .map(([name, value]) => `${text(value)} ${name}`)
    .join(", ");
}

interface Value {
  readonly value: number;
  /** Where it has an interval. */
  readonly low?: number;
  readonly high?: number;
  readonly text: string;
}

function numberFor(source: Source, kept: KeptRun, runs: readonly KeptRun[]): Value | undefined {
  const { run } = kept;
  if (source.ratio !== undefined) return ratioValue(run, source.ratio, false);
  if (source.cost !== undefined) return ratioValue(run, source.cost, true);
  if (source.rate !== undefined) {
    const ns = sideNumbers(run, source.rate[0]).time(source.rate[1]);
    return ns === undefined ? undefined : { value: 1e9 / ns, text: `${rateText(ns)}/s` };
  }
  if (source.time !== undefined) {
    const ns = sideNumbers(run, source.time[0]).time(source.time[1]);
    return ns === undefined ? undefined : { value: ns, text: nsText(ns) };
  }
  if (source.fact !== undefined) return factValue(run, source);
  if (source.latency !== undefined) return latencyValue(run, source.latency);
  return source.growth === undefined ? undefined : growthValue(source, kept, runs);
}

function ratioValue(
  run: RunObject,
  [subject, peer, phase]: readonly [string, string, string],
  isCost: boolean,
): Value | undefined {
  const found = run.ratio.find(
    (each) => each.subject === subject && each.peer === peer && each.phase === phase,
  );
  if (found === undefined) return undefined;
  const { median, low, high } = found.ratio;
  const [value, least, most] = isCost ? [1 / median, 1 / high, 1 / low] : [median, low, high];
  const spread = run.rounds === 1 ? ", one round" : ` [${timesText(least)}, ${timesText(most)}]`;
  return { value, low: least, high: most, text: `${timesText(value)} ×${spread}` };
}

function factValue(run: RunObject, { fact, minus, unit = "" }: Source): Value | undefined {
  const [side, name] = fact as readonly [string, string];
  const numbers = sideNumbers(run, side);
  const whole = numbers.fact(name);
  const part = minus === undefined ? 0 : numbers.fact(minus);
  if (whole === undefined || part === undefined) return undefined;
  const value = whole - part;
  const figure = Math.abs(value) >= 1e4 ? Math.round(value).toLocaleString("en-US") : undefined;
  const sum = minus === undefined ? "" : ` (${threeFigures(whole)} − ${threeFigures(part)})`;
  return { value, text: `${figure ?? threeFigures(value)}${unit}${sum}` };
}

function latencyValue(
  run: RunObject,
  [side, name, which]: NonNullable<Source["latency"]>,
): Value | undefined {
  const percentiles = run.observations[side]?.at(-1)?.latencies?.[name];
  if (percentiles === undefined) return undefined;
  return { value: percentiles[which], text: nsText(percentiles[which]) };
}

/** Both times are of one suite: what they were taken on must be the same. */
function growthValue(
  { case: name, growth, from }: Source,
  { at, run }: KeptRun,
  runs: readonly KeptRun[],
): Value | undefined {
  const [side, phase] = growth as readonly [string, string];
  const small = runs.find(
    (each) => each.name === name && each.at === at && hasParams(each.run.params, from),
  );
  const after = sideNumbers(run, side).time(phase);
  const before = small === undefined ? undefined : sideNumbers(small.run, side).time(phase);
  if (after === undefined || before === undefined) return undefined;
  const value = after / before;
  return { value, text: `${timesText(value)} × (${nsText(after)} against ${nsText(before)})` };
}

/** A verdict and how sure it is. */
function boundText(source: Source, { run }: KeptRun, value: Value): string | undefined {
  const { atLeast, atMost, isCounted } = source;
  const bound = atLeast ?? atMost;
  if (bound === undefined) return undefined;
  const isMet = atLeast !== undefined ? value.value >= bound : value.value <= bound;
  const isSplit = (value.low ?? bound) < bound && (value.high ?? bound) > bound;
  const isSure = isCounted === true || (run.doubt === null && run.rounds >= ROUNDS_MIN);
  const word = isMet ? "met" : "missed";
  return `${word}${isSplit ? ", within its interval" : ""}${isSure ? "" : ", without verdict"}`;
}

/** The table of peers: what each took, what it held, what it lost. */
import { medianOf } from "../harness/statistics.ts";
import { amount } from "../harness/table.ts";
import type { RunObject, SuiteObject } from "../harness/result-file.ts";
import { rateText } from "./numbers.ts";

/** Medians of what the observations of a side say. */
export interface SideNumbers {
  time(phase: string): number | undefined;
  fact(name: string): number | undefined;
}

export function sideNumbers(run: RunObject, side: string): SideNumbers {
  const list = run.observations[side] ?? [];
  const median = (values: (number | undefined)[]): number | undefined => {
    const known = values.filter((value) => value !== undefined);
    return known.length === 0 ? undefined : medianOf(known);
  };
  return {
    time: (phase) => median(list.map(({ times }) => times[phase])),
    fact: (name) => median(list.map(({ facts }) => facts?.[name])),
  };
}

const MEMORY_FACTS = ["longest call", "longest pause", "lost", "doubled"];

/** Rows of a run of `peers-memory` or `peers-durable`, the head first. */
export function peerRows(run: RunObject, isDurable: boolean): string[][] {
  const head = isDurable
    ? ["frontier", "push/s", "resume", "lost", "doubled", "peak RSS"]
    : [...["frontier", "push/s", "poll/s", "done/s", "bytes/URL", "peak RSS"], ...MEMORY_FACTS];
  const rows = Object.keys(run.observations).map((side) => {
    const { time, fact } = sideNumbers(run, side);
    const rate = (phase: string): string => {
      const ns = time(phase);
      return ns === undefined ? "–" : rateText(ns);
    };
    const told = (name: string, unit = ""): string => {
      const value = fact(name);
      return value === undefined ? "–" : `${amount(Math.round(value))}${unit}`;
    };
    if (!isDurable) {
      const bytes = told("resident bytes/URL");
      const memory = [bytes.startsWith("-") ? "–" : bytes, told("peak RSS MB", " MB")];
      const waits = [told("longest push call ms", " ms"), told("longest GC ms", " ms")];
      const rest = [...memory, ...waits, told("lost"), told("doubled")];
      return [side, rate("push"), rate("poll"), rate("done"), ...rest];
    }
    const counts = [told("lost"), told("doubled"), told("peak RSS MB", " MB")];
    return [side, rate("push"), told("resume ms", " ms"), ...counts];
  });
  return withoutEmpty([head, ...rows]);
}

/** A column without any value is left out. */
function withoutEmpty(rows: readonly string[][]): string[][] {
  const [head = [], ...body] = rows;
  const isKept = head.map((_, at) => body.some((cells) => cells[at] !== "–"));
  return rows.map((cells) => cells.filter((_, at) => isKept[at]));
}

/** Sides that did not run, those with one reason together: `a, b (why); c (why)`; empty: all ran. */
export function missingWords({ missing }: RunObject): string {
  const sides = new Map<string, string[]>();
  for (const [side, why] of Object.entries(missing))
    sides.set(why, [...(sides.get(why) ?? []), side]);
  return [...sides].map(([why, names]) => `${names.join(", ")} (${why})`).join("; ");
}

/** The largest run of a case that has observations. */
export function largestRun(suite: SuiteObject, name: string): RunObject | undefined {
  const runs = suite.cases.find((each) => each.case === name)?.runs ?? [];
  return runs.filter((run) => Object.keys(run.observations).length > 0).at(-1);
}

/**
 * Size: cost of an operation and bytes of a URL against how many there are, threads against one, and the machine's limits
 * drawn in.
 *
 *   one load     a dependent load in as much memory as the frontier takes at that size
 *   copied twice the URL's bytes into the frontier and out again, at the speed of a copy
 *   cores alone  the time on one thread divided by as many cores as there are threads for
 */
import type { Limits } from "../harness/limits.ts";
import type { CaseObject, RunObject, SuiteObject } from "../harness/result-file.ts";
import { nsText, sizeText, threeFigures } from "./numbers.ts";
import { sideNumbers } from "./peers.ts";
import { tableOf, tag } from "./page.ts";
import { type Line, plot } from "./svg.ts";

export function scalingSection(suite: SuiteObject): string[] {
  const found = suite.cases.find((each) => each.case === "scaling");
  const runs = found?.runs.filter(({ observations }) => "outrider" in observations) ?? [];
  const out = [tag("h2", "What size costs")];
  if (runs.length > 0) {
    out.push(...costCharts(found as CaseObject, runs, suite.limits), sizeTable(runs));
  }
  out.push(...threadSection(suite));
  return out.length > 1 ? out : [];
}

function sizeOf(run: RunObject): number {
  return Number(run.params.pending);
}

function costCharts(
  found: CaseObject,
  runs: readonly RunObject[],
  limits: Limits | null,
): string[] {
  const x = runs.map((run) => ({ at: Math.log10(sizeOf(run)), label: sizeText(sizeOf(run)) }));
  const charts = ["push", "poll + done"].map((phase) => {
    const lines: Line[] = ["outrider", "plain"].map((side) => ({
      label: side,
      kind: side === "outrider" ? "ours" : "other",
      points: runs.flatMap((run): [number, number][] => {
        const ns = sideNumbers(run, side).time(phase);
        return ns === undefined ? [] : [[Math.log10(sizeOf(run)), ns]];
      }),
    }));
    lines.push(...(limits === null ? [] : limitLines(runs, limits)));
    const shown = lines.filter(({ points }) => points.length > 0);
    const chart = plot(shown, { title: `${phase} against size`, x, yLabel: nsText });
    const caption = `${phase}: time for each URL (lower is better) against URLs pending`;
    return `<figure><figcaption>${caption}</figcaption>${chart}</figure>`;
  });
  return [
    tag("p", found.about, "about"),
    tag("p", LIMIT_WORDS, "soft"),
    '<div class="plots">',
    ...charts,
    "</div>",
  ];
}

const LIMIT_WORDS =
  "Dashed, limits of this machine: `one load` is a read from a random place in as much memory as the frontier takes at that size, where each read waits for " +
  "the one before: what one question “seen before?” asked alone has to wait for. A batch asks many at once and overlaps their waits, so it may come below. " +
  "`copied twice` is the bytes of the URL moved in and out at the speed of a plain copy, which nothing that keeps them gets below.";

function limitLines(runs: readonly RunObject[], limits: Limits): Line[] {
  const loads: [number, number][] = [];
  const copies: [number, number][] = [];
  for (const run of runs) {
    const { fact } = sideNumbers(run, "outrider");
    const bytes = (fact("resident bytes/URL") ?? 0) * sizeOf(run);
    loads.push([Math.log10(sizeOf(run)), latencyAt(limits, bytes)]);
    copies.push([Math.log10(sizeOf(run)), (2 * (fact("URL bytes") ?? 0)) / limits.copyBytesPerNs]);
  }
  return [
    { label: "one load", kind: "limit", points: loads },
    { label: "copied twice", kind: "limit", points: copies },
  ];
}

/** Between the sizes that were measured, by the logarithm of the size. */
export function latencyAt({ latency }: Limits, bytes: number): number {
  const above = latency.findIndex((each) => each.bytes >= bytes);
  const high = latency[above] ?? latency.at(-1);
  const low = latency[above - 1];
  if (high === undefined) return 0;
  if (above < 0 || low === undefined) return high.ns;
  const share = Math.log(bytes / low.bytes) / Math.log(high.bytes / low.bytes);
  return low.ns + (high.ns - low.ns) * share;
}

function sizeTable(runs: readonly RunObject[]): string {
  const rows = runs.map((run) => {
    const { time, fact } = sideNumbers(run, "outrider");
    const figure = (value: number | undefined): string =>
      value === undefined ? "–" : threeFigures(value);
    return [
      sizeText(sizeOf(run)),
      `${figure(time("push"))} ns`,
      `${figure(time("poll + done"))} ns`,
      figure(fact("resident bytes/URL")),
      figure(fact("URL bytes")),
      figure(fact("JS heap bytes/URL")),
    ];
  });
  const head = [
    "pending",
    "push",
    "poll + done",
    "resident bytes",
    "of these URL",
    "JS heap bytes",
  ];
  return tableOf([head, ...rows]);
}

/** A lease by number of threads, and the other numbers of each side. */
function threadSection(suite: SuiteObject): string[] {
  const runs = suite.cases.find((each) => each.case === "pool")?.runs ?? [];
  const run = runs.findLast(({ observations }) => Object.keys(observations).length > 0);
  if (run === undefined) return [];
  const rows = Object.keys(run.observations).map((side) => {
    const { fact } = sideNumbers(run, side);
    const told = (name: string): string => {
      const value = fact(name);
      return value === undefined ? "–" : Math.round(value).toLocaleString("en-US");
    };
    return [side, told("leases/s"), told("links/s")];
  });
  const note = `on ${suite.cores} cores, which the owner's thread shares with the workers`;
  return [
    tag("h3", "Threads"),
    tag("p", note, "about"),
    tag("p", THREAD_WORDS, "soft"),
    threadChart(run, suite),
    tableOf([["workers", "leases/s", "links/s"], ...rows]),
  ];
}

const THREAD_WORDS =
  "`N threads` are workers of the pool; `task` is a Piscina task for each URL, `port` a message for each, `port batch` messages of many. The chart has " +
  "the time that a page takes, all threads together: lower is better. `cores alone` is one thread's time divided by the cores there are, the best that more threads could give.";

/** Sides are named "1 thread", "2 threads"; others are no points of the line. */
const THREADS = /^(\d+) threads?$/;

/** Time of a lease against threads, beside what perfect scaling would reach while there are cores, and a load from memory. */
function threadChart(run: RunObject, { cores, limits }: SuiteObject): string {
  const points = Object.keys(run.observations)
    .flatMap((side): [number, number][] => {
      const count = Number(THREADS.exec(side)?.[1]);
      const ns = sideNumbers(run, side).time("lease");
      return Number.isNaN(count) || ns === undefined ? [] : [[count, ns]];
    })
    .sort(([a], [b]) => a - b);
  const [first] = points;
  if (first === undefined || points.length < 2) return "";
  const one = first[1] * Math.min(first[0], cores);
  const at = (count: number): number => Math.log2(count);
  const line = (ns: (count: number) => number): [number, number][] =>
    points.map(([count]) => [at(count), ns(count)]);
  const lines: Line[] = [
    { label: "outrider", kind: "ours", points: points.map(([count, ns]) => [at(count), ns]) },
    { label: "cores alone", kind: "limit", points: line((count) => one / Math.min(count, cores)) },
  ];
  const memory = limits?.latency.at(-1);
  if (memory !== undefined)
    lines.push({ label: "one load", kind: "limit", points: line(() => memory.ns) });
  const x = points.map(([count]) => ({ at: at(count), label: String(count) }));
  const chart = plot(lines, { title: "time of a lease against threads", x, yLabel: nsText });
  const caption =
    "A lease by number of worker threads (lower is better); a load is from 1 GB of memory";
  return `<div class="plots"><figure><figcaption>${caption}</figcaption>${chart}</figure></div>`;
}

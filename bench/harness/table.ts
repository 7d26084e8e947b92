/**
 * A run as text for a terminal: ratios with their intervals first, then times, latencies and facts.
 */
import type { BenchCase, Measured } from "./case.ts";
import type { Percentiles } from "./histogram.ts";
import { type CaseResult, type Observation, paramText } from "./run-case.ts";
import { isQuiet, medianOf, ROUNDS_MIN, verdictOf } from "./statistics.ts";

/** Whether the A/A rows of a run let its ratios count; a reason where not. */
export function doubtOf(result: CaseResult): string | undefined {
  if (result.rounds === 1) return "no verdict: one round only shows that it runs";
  if (result.rounds < ROUNDS_MIN)
    return `no verdict: ${result.rounds} rounds only show that it runs`;
  const loud = result.same.filter(({ ratio }) => !isQuiet(ratio));
  if (loud.length === 0) return undefined;
  return `no verdict: the machine was noisy (A/A of ${loud.map(({ phase }) => phase).join(", ")})`;
}

export function headText(bench: BenchCase): string {
  const target = bench.target === undefined ? "" : `\n  target: ${bench.target}`;
  return `\n${bench.name}: ${bench.about}${target}`;
}

export function resultText(bench: BenchCase, result: CaseResult): string {
  const lines = [`\n  ${paramText(result.params)}`];
  const doubt = doubtOf(result);
  const rows = result.comparisons.map(({ subject, peer, phase, ratio }) => [
    `${subject} / ${peer}`,
    phase,
    `${times(ratio.median)} ×`,
    `[${times(ratio.low)}, ${times(ratio.high)}]`,
    doubt === undefined ? verdictOf(ratio) : "no verdict",
  ]);
  for (const { subject, phase, ratio } of result.same) {
    rows.push([
      `A/A ${subject}`,
      phase,
      `${times(ratio.median)} ×`,
      `[${times(ratio.low)}, ${times(ratio.high)}]`,
      isQuiet(ratio) ? "≈ 1" : "noisy",
    ]);
  }
  lines.push(...columns(rows));
  lines.push(...columns(timeRows(bench, result)));
  lines.push(...columns(latencyRows(result)));
  lines.push(...columns(factRows(result)));
  for (const [side, reason] of Object.entries(result.missing)) {
    lines.push(`    ${side}: not measured (${reason})`);
  }
  if (doubt !== undefined) lines.push(`    ${doubt}`);
  return lines.join("\n");
}

function timeRows(bench: BenchCase, result: CaseResult): string[][] {
  return eachSide(result, (side, list) => {
    const phases = Object.keys(list[0]?.measured.times ?? {});
    return phases.map((phase) => {
      const ns = medianOf(list.map(({ measured }) => measured.times[phase] as number));
      return [side, phase, `${amount(ns)} ns/${bench.unit}`, `${amount(1e9 / ns)}/s`];
    });
  });
}

function latencyRows(result: CaseResult): string[][] {
  return eachSide(result, (side, list) => {
    const last = list.at(-1)?.measured.latencies ?? {};
    return Object.entries(last).map(([name, percentiles]) => [
      side,
      name,
      ...percentileTexts(percentiles),
    ]);
  });
}

function percentileTexts({ p50, p90, p99, p999, max, count }: Percentiles): string[] {
  return [
    `p50 ${duration(p50)}`,
    `p90 ${duration(p90)}`,
    `p99 ${duration(p99)}`,
    `p99.9 ${duration(p999)}`,
    `max ${duration(max)}`,
    `of ${amount(count)}`,
  ];
}

function factRows(result: CaseResult): string[][] {
  return eachSide(result, (side, list) => {
    const names = Object.keys(list[0]?.measured.facts ?? {});
    return names.map((name) => [side, name, amount(medianOf(factsOf(list, name)))]);
  });
}

function factsOf(list: readonly Observation[], name: string): number[] {
  return list.map(({ measured }: { measured: Measured }) => measured.facts?.[name] ?? Number.NaN);
}

function eachSide(
  result: CaseResult,
  rowsOf: (side: string, list: readonly Observation[]) => string[][],
): string[][] {
  return Object.entries(result.observations).flatMap(([side, list]) => rowsOf(side, list));
}

/** Rows in columns as wide as their widest cell. */
export function columns(rows: readonly (readonly string[])[]): string[] {
  const widths: number[] = [];
  for (const row of rows) {
    row.forEach((cell, at) => {
      widths[at] = Math.max(widths[at] ?? 0, cell.length);
    });
  }
  return rows.map((row) => {
    const cells = row.map((cell, at) => cell.padEnd(widths[at] as number));
    return `    ${cells.join("  ").trimEnd()}`;
  });
}

function times(ratio: number): string {
  return ratio >= 100 ? ratio.toFixed(0) : ratio.toFixed(ratio >= 10 ? 1 : 2);
}

export function amount(value: number): string {
  if (Number.isNaN(value)) return "–";
  const digits = Math.abs(value) >= 1000 ? 0 : Math.abs(value) >= 10 ? 1 : 3;
  return value.toLocaleString("en-US", { maximumFractionDigits: digits });
}

function duration(ns: number): string {
  if (ns < 1e3) return `${ns.toFixed(0)} ns`;
  if (ns < 1e6) return `${(ns / 1e3).toFixed(1)} µs`;
  return `${(ns / 1e6).toFixed(2)} ms`;
}

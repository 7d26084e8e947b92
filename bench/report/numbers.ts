/** Numbers as a reader wants them: three figures, units that fit, ratios with their intervals. */
import type { Ratio } from "../harness/statistics.ts";
import { amount } from "../harness/table.ts";

/** Of one round there is no interval. */
export function ratioText({ median, low, high, rounds }: Ratio): string {
  if (rounds === 1) return `${timesText(median)}, one round`;
  return `${timesText(median)} [${timesText(low)}, ${timesText(high)}]`;
}

export function timesText(ratio: number): string {
  if (ratio >= 100) return ratio.toFixed(0);
  return ratio.toFixed(ratio >= 10 ? 1 : ratio >= 0.1 ? 2 : 3);
}

export function nsText(ns: number): string {
  if (ns < 1e3) return `${threeFigures(ns)} ns`;
  if (ns < 1e6) return `${threeFigures(ns / 1e3)} µs`;
  return ns < 1e9 ? `${threeFigures(ns / 1e6)} ms` : `${threeFigures(ns / 1e9)} s`;
}

/** Operations a second of a time each. */
export function rateText(ns: number): string {
  const rate = 1e9 / ns;
  if (rate >= 1e6) return `${threeFigures(rate / 1e6)} million`;
  return amount(Number(rate.toPrecision(3)));
}

export function sizeText(count: number): string {
  const power = Math.log10(count);
  if (Number.isInteger(power) && power > 3) return `10${superscript(power)}`;
  return count.toLocaleString("en-US");
}

export function threeFigures(value: number): string {
  if (value >= 1000) return value.toFixed(0);
  return String(Number(value.toPrecision(3)));
}

function superscript(value: number): string {
  return [...String(value)].map((digit) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[Number(digit)]).join("");
}

/** A Markdown table, the head first; the first `left` columns hold words, the others numbers. */
export function markdown([head = [], ...rows]: readonly (readonly string[])[], left = 1): string[] {
  const line = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;
  const rule = head.map((_, at) => (at < left ? "---" : "---:"));
  return [line(head), line(rule), ...rows.map(line)];
}

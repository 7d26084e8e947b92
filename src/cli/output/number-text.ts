/** Numbers and tables as people read them. */
import { lineText } from "./terminal-text.ts";

export function whole(value: number): string {
  return Math.round(value).toLocaleString("en");
}

/** As short as an axis needs it: 950, 1.2k, 34k, 5M. */
export function short(value: number): string {
  const [left, unit] = scaled(value, 1000, ["", "k", "M", "G", "T"]);
  const digits = left < 10 && left % 1 !== 0 ? 1 : 0;
  return `${Number(left.toFixed(digits))}${unit}`;
}

export function bytes(value: number): string {
  const [left, unit] = scaled(value, 1024, ["B", "KiB", "MiB", "GiB", "TiB"]);
  return `${left < 10 && unit !== "B" ? left.toFixed(1) : Math.round(left)} ${unit}`;
}

/** A number in the largest unit of which there is one. */
function scaled(value: number, step: number, units: readonly string[]): [number, string] {
  let at = 0;
  let left = value;
  for (; Math.abs(left) >= step && at < units.length - 1; at++) left /= step;
  return [left, units[at] as string];
}

export function duration(ms: number): string {
  return ms < 10_000 ? `${(ms / 1000).toFixed(1)} s` : clockTime(ms);
}

/** As a clock has it, 00:06 or 1:00:06: always of one form, where it is redrawn in place. */
export function clockTime(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  const two = (value: number): string => String(value).padStart(2, "0");
  const hours = Math.floor(seconds / 3600);
  const rest = `${two(Math.floor((seconds % 3600) / 60))}:${two(seconds % 60)}`;
  return hours === 0 ? rest : `${hours}:${rest}`;
}

/** A duration in words: 34 s, 2 min 5 s, 1 h 3 min. */
export function durationWords(ms: number): string {
  if (ms < 10_000) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${seconds % 60} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

export function sum(values: readonly number[]): number {
  return values.reduce((total, each) => total + each, 0);
}

export function share(part: number, all: number): string {
  return all === 0 ? "0 %" : `${Math.round((100 * part) / all)} %`;
}

/**
 * Rows of name and value, the values below each other; with `columns`, broken between words, but not at a U+00A0, which is written as a
 * blank.
 */
export function table(
  rows: ReadonlyArray<readonly [string, string]>,
  columns: number = Number.POSITIVE_INFINITY,
): string {
  const width = Math.max(0, ...rows.map(([name]) => name.length)) + 2;
  const indent = " ".repeat(width);
  return rows
    .map(([name, value]) => {
      const [first = "", ...rest] = broken(lineText(value), Math.max(columns - width, 20));
      return [`${name.padEnd(width)}${first}`, ...rest.map((line) => `${indent}${line}`)]
        .map((line) => `${line.replaceAll("\u00a0", " ")}\n`)
        .join("");
    })
    .join("");
}

/** A text in lines of at most so many letters, but for words that are longer. */
export function broken(text: string, columns: number): string[] {
  if (text.length <= columns) return [text];
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    if (line !== "" && line.length + 1 + word.length > columns) {
      lines.push(line);
      line = word;
    } else line = line === "" ? word : `${line} ${word}`;
  }
  return [...lines, line];
}

/** Words that stay in one line of a table. */
export function together(text: string): string {
  return text.replaceAll(" ", "\u00a0");
}

/** `1 page`, `2 pages`. */
export function counted(count: number, noun: string): string {
  return `${whole(count)} ${noun}${count === 1 ? "" : "s"}`;
}

const SPARKS = "▁▂▃▄▅▆▇█";

/** Values as a row of small bars, the largest at full height. */
export function sparkline(values: readonly number[]): string {
  const most = Math.max(...values, 1e-9);
  return values
    .map((value) => SPARKS[Math.min(Math.floor((value / most) * 7.99), 7)] ?? " ")
    .join("");
}

/** Cuts a line to the columns of a terminal. */
export function cutTo(line: string, columns: number): string {
  const letters = [...line];
  return letters.length <= columns
    ? line
    : `${letters.slice(0, Math.max(columns - 1, 0)).join("")}…`;
}

/** A moment, UTC, to the second. */
export function momentText(atMs: number): string {
  const format = { dateStyle: "short", timeStyle: "medium", timeZone: "UTC" } as const;
  return `${new Intl.DateTimeFormat("sv-SE", format).format(atMs)} UTC`;
}

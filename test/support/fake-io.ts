/** An Io of strings: what a command writes, and signals on demand. */
import type { Io } from "../../src/cli/io.ts";
import { screenText, terminalText } from "../../src/cli/output/terminal-text.ts";

export interface FakeIo extends Io {
  readonly text: { out: string; err: string };
  readonly exits: number[];
  interrupt(): void;
}

export function createFakeIo(
  terminal: { columns: number; hasColor?: boolean } | undefined,
): FakeIo {
  const text = { out: "", err: "" };
  const exits: number[] = [];
  const listeners = new Set<() => void>();
  return {
    text,
    exits,
    out(part) {
      text.out += terminalText(part);
    },
    err(part) {
      text.err += terminalText(part);
    },
    draw(parts) {
      text.err += screenText(parts);
    },
    isTerminal: terminal !== undefined,
    columns: () => terminal?.columns ?? 80,
    outColumns: () => terminal?.columns,
    hasColor: terminal?.hasColor ?? false,
    onInterrupt(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    exit: (code) => void exits.push(code),
    interrupt() {
      for (const listener of listeners) listener();
    },
  };
}

/** The escape letter as one that can be seen. */
const ESCAPE = "␛";

/**
 * What a terminal of so many columns shows after these bytes, scrolled back to the beginning: lines without their trailing
 * blanks. Knows the few sequences that our view uses; `wraps` counts lines that were too long for it.
 */
export function terminalOf(
  bytes: string,
  columns: number = Number.POSITIVE_INFINITY,
): { lines: string[]; wraps: number; isCursorShown: boolean } {
  const grid: string[][] = [[]];
  let row = 0;
  let column = 0;
  let wraps = 0;
  let isCursorShown = true;
  const rowOf = (at: number): string[] => {
    while (grid.length <= at) grid.push([]);
    return grid[at] as string[];
  };
  const put = (letter: string): void => {
    if (column >= columns) {
      wraps++;
      row++;
      column = 0;
    }
    const cells = rowOf(row);
    while (cells.length < column) cells.push(" ");
    cells[column++] = letter;
  };
  const parts = bytes.replaceAll("\x1b", ESCAPE).split(/(␛\[\??[\d;]*[A-Za-z]|\n|\r)/);
  for (const part of parts) {
    const up = /^␛\[(\d+)A$/.exec(part);
    if (up !== null) row = Math.max(row - Number(up[1]), 0);
    else if (part === "␛[J") {
      rowOf(row).splice(column);
      grid.splice(row + 1);
    } else if (part === "␛[K") rowOf(row).splice(column);
    else if (part === "␛[?25l") isCursorShown = false;
    else if (part === "␛[?25h") isCursorShown = true;
    else if (part === "\r") column = 0;
    else if (part === "\n") {
      row++;
      column = 0;
      rowOf(row);
    } else if (!part.startsWith(ESCAPE)) for (const letter of part) put(letter);
  }
  const lines = grid.map((cells) => cells.join("").trimEnd());
  while (lines.at(-1) === "") lines.pop();
  return { lines, wraps, isCursorShown };
}

export function screenOf(bytes: string): string[] {
  return terminalOf(bytes).lines;
}

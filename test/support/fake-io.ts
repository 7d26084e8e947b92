/** An Io of strings: what a command writes, and signals on demand. */
import type { Io } from "../../src/cli/io.ts";

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
      text.out += part;
    },
    err(part) {
      text.err += part;
    },
    isTerminal: terminal !== undefined,
    columns: () => terminal?.columns ?? 80,
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

/** What a terminal shows after these bytes: lines, with the few sequences that our view uses. */
export function screenOf(bytes: string): string[] {
  const lines: string[] = [""];
  let row = 0;
  const parts = bytes
    .replaceAll("\x1b", ESCAPE)
    .split(/(␛\[\??\d*[A-Za-z]|\n|\r)/)
    .filter((part) => part !== "");
  for (const part of parts) {
    const up = /^␛\[(\d+)A$/.exec(part);
    if (up !== null) row = Math.max(row - Number(up[1]), 0);
    else if (part === "␛[J") lines.splice(row, lines.length - row, "");
    else if (part === "\n") {
      row++;
      lines[row] ??= "";
    } else if (!part.startsWith(ESCAPE) && part !== "\r") lines[row] = (lines[row] ?? "") + part;
  }
  return lines.filter((line, index) => line !== "" || index < lines.length - 1);
}

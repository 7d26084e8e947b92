/**
 * The input and output of a command: two streams, their terminal, and signals. Tests pass in their own.
 *
 * The reader of standard output may end first (`outrider export dir | head`). This counts as a request to stop: a command with a listener
 * ends in order, any other at once, and neither prints anything about it. Any other failure to write standard output ends the command
 * with that error. A failure to write standard error is ignored.
 *
 * All text goes out through output/terminal-text.ts, so that no text from a server, a file or an argument can control the terminal.
 */
import { type ScreenPart, screenText, terminalText } from "./output/terminal-text.ts";

export interface Io {
  /** Writes to standard output: the result. */
  out(text: string): void;
  /** Resolves when `out` has room again. */
  drained?(): Promise<void>;
  /** Writes to standard error: progress and errors. */
  err(text: string): void;
  /** Draws on the terminal of `err`. */
  draw(parts: readonly ScreenPart[]): void;
  /** Whether `err` is a terminal that can be redrawn. */
  readonly isTerminal: boolean;
  /** Width of the terminal now. */
  columns(): number;
  /** Width of the terminal that `out` goes to; undefined: it goes to a file or another program. */
  outColumns(): number | undefined;
  readonly hasColor: boolean;
  /** Calls `listener` at each request to stop; returns a function that removes it. */
  onInterrupt(listener: () => void): () => void;
  /** Ends the process at once. */
  exit(code: number): void;
}

const COLUMNS = 80;

type Streams = Pick<NodeJS.Process, "stdout" | "stderr" | "env">;

export function processIo({ stdout, stderr, env }: Streams = process): Io {
  const stopListeners = new Set<() => void>();
  let isLeft = false;
  stdout.on("error", (error) => {
    if (!hasLeft(error)) {
      stderr.write(terminalText(`outrider: standard output: ${error.message}\n`));
      process.exit(EXIT_FAULT);
    }
    if (isLeft) return; // each later write fails in the same way
    isLeft = true;
    if (stopListeners.size === 0) process.exit(EXIT_INTERRUPTED);
    for (const listener of stopListeners) listener();
  });
  stderr.on("error", () => undefined);
  return {
    out: (text) => void stdout.write(terminalText(text)),
    drained: async () => {
      if (stdout.writableNeedDrain && !isLeft)
        await new Promise((resolve) => stdout.once("drain", resolve));
    },
    err: (text) => void stderr.write(terminalText(text)),
    draw: (parts) => void stderr.write(screenText(parts)),
    isTerminal: stderr.isTTY === true && env.TERM !== "dumb",
    columns: () => stderr.columns || COLUMNS,
    outColumns: () => (stdout.isTTY === true ? stdout.columns || COLUMNS : undefined),
    hasColor: stderr.isTTY === true && env.TERM !== "dumb" && (env.NO_COLOR ?? "") === "",
    onInterrupt(listener) {
      process.on("SIGINT", listener);
      process.on("SIGTERM", listener);
      stopListeners.add(listener);
      return () => {
        stopListeners.delete(listener);
        process.off("SIGINT", listener);
        process.off("SIGTERM", listener);
      };
    },
    exit: (code) => process.exit(code),
  };
}

/** Ends the process when standard output has taken everything. */
export function exitWhenWritten(code: number): void {
  process.stdout.write("", () => process.exit(code));
}

function hasLeft(error: NodeJS.ErrnoException): boolean {
  return error.code === "EPIPE" || error.code === "ERR_STREAM_DESTROYED";
}

/** Exit codes. */
export const EXIT_OK = 0;
/** The command was aborted: by a fault that is not a page's. */
export const EXIT_FAULT = 1;
/** A wrong command line, or a feature that this version lacks. */
export const EXIT_USAGE = 2;
/** Finished, and no page could be read; or what `--fail-on` names has happened. */
export const EXIT_FAILED = 3;
/** Ended by Ctrl-C or SIGTERM, or because the reader of standard output has ended. */
export const EXIT_INTERRUPTED = 130;

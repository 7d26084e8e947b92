/**
 * What a command sees of the world: two streams, their terminal, and signals. Tests hand in their own.
 *
 * Who reads the answer may leave (`outrider export dir | head`): that is one more wish to stop. A command that hears wishes ends in
 * order, any other at once; neither says anything of it. An answer that cannot be written otherwise ends the command with that word;
 * progress and complaints that cannot be written end nothing.
 *
 * All text goes out through output/terminal-text.ts, so that no text from a server, a file or an argument can control the terminal.
 */
import { type ScreenPart, screenText, terminalText } from "./output/terminal-text.ts";

export interface Io {
  /** The answer. */
  out(text: string): void;
  /** Resolves when what was told to `out` has room again. */
  drained?(): Promise<void>;
  /** Progress and complaints. */
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
  /** Told of each wish to stop; returns its cancellation. */
  onInterrupt(listener: () => void): () => void;
  /** Ends the process at once. */
  exit(code: number): void;
}

const COLUMNS = 80;

type Streams = Pick<NodeJS.Process, "stdout" | "stderr" | "env">;

export function processIo({ stdout, stderr, env }: Streams = process): Io {
  const wishes = new Set<() => void>();
  let isLeft = false;
  stdout.on("error", (error) => {
    if (!hasLeft(error)) {
      stderr.write(terminalText(`outrider: standard output: ${error.message}\n`));
      process.exit(EXIT_FAULT);
    }
    if (isLeft) return; // each later write says so again
    isLeft = true;
    if (wishes.size === 0) process.exit(EXIT_INTERRUPTED);
    for (const wish of wishes) wish();
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
      wishes.add(listener);
      return () => {
        wishes.delete(listener);
        process.off("SIGINT", listener);
        process.off("SIGTERM", listener);
      };
    },
    exit: (code) => process.exit(code),
  };
}

function hasLeft(error: NodeJS.ErrnoException): boolean {
  return error.code === "EPIPE" || error.code === "ERR_STREAM_DESTROYED";
}

/** What the shell is told. */
export const EXIT_OK = 0;
/** The work broke off: a fault that is not a page's. */
export const EXIT_FAULT = 1;
/** The command was not understood, or asks for what there is not. */
export const EXIT_USAGE = 2;
/** Finished, and no page could be read; or what `--fail-on` names has happened. */
export const EXIT_FAILED = 3;
/** Ended by Ctrl-C or SIGTERM, or since nobody reads the answer any more. */
export const EXIT_INTERRUPTED = 130;

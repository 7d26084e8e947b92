#!/usr/bin/env node
/** The program: runs the command of the process's arguments, and ends with its exit code. */

import { EXIT_FAULT, EXIT_USAGE, exitWhenWritten, processIo } from "./io.ts";

void main();

async function main(): Promise<void> {
  const io = processIo();
  // Node would write the stack as it is, with whatever a page or a server put into its message.
  process.on("uncaughtException", (cause) => {
    io.err(`${cause instanceof Error ? (cause.stack ?? cause.message) : String(cause)}\n`);
    process.exit(EXIT_FAULT);
  });
  try {
    const { runCommand } = await import("./run-command.ts");
    process.exitCode = await runCommand(process.argv.slice(2), io);
    // A frontier whose disk refuses the last writes stays open, and would keep the process alive.
    if (process.exitCode === EXIT_FAULT) exitWhenWritten(EXIT_FAULT);
  } catch (cause) {
    // Optional packages of the crawler can be left out of an installation; commands are of no use then.
    if ((cause as NodeJS.ErrnoException).code !== "ERR_MODULE_NOT_FOUND") throw cause;
    io.err(`outrider: ${(cause as Error).message}\nto do: npm install undici htmlparser2\n`);
    process.exitCode = EXIT_USAGE;
  }
}

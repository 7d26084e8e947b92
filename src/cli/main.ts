#!/usr/bin/env node
/** The program: the world into a command, its answer into an exit code. */

import { EXIT_FAULT, EXIT_USAGE, processIo } from "./io.ts";

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
  } catch (cause) {
    // Optional packages of the crawler can be left out of an installation; commands are of no use then.
    if ((cause as NodeJS.ErrnoException).code !== "ERR_MODULE_NOT_FOUND") throw cause;
    io.err(`outrider: ${(cause as Error).message}\nto do: npm install undici htmlparser2\n`);
    process.exitCode = EXIT_USAGE;
  }
}

#!/usr/bin/env node
/** The program: the world into a command, its answer into an exit code. */
import { EXIT_USAGE, processIo } from "./io.ts";

void main();

async function main(): Promise<void> {
  const io = processIo();
  try {
    const { runCommand } = await import("./run.ts");
    process.exitCode = await runCommand(process.argv.slice(2), io);
  } catch (cause) {
    // Optional packages of the crawler can be left out of an installation; commands are of no use then.
    if ((cause as NodeJS.ErrnoException).code !== "ERR_MODULE_NOT_FOUND") throw cause;
    io.err(`outrider: ${(cause as Error).message}\n`);
    io.err("to do: npm install undici htmlparser2\n");
    process.exitCode = EXIT_USAGE;
  }
}

#!/usr/bin/env node
/** The program: the world into a command, its answer into an exit code. */

/** EXIT_USAGE of io.ts: what cannot be loaded cannot be asked. */
const EXIT_USAGE = 2;

void main();

async function main(): Promise<void> {
  try {
    const { runProgram } = await import("./run-command.ts");
    process.exitCode = await runProgram(process.argv.slice(2));
  } catch (cause) {
    // Optional packages of the crawler can be left out of an installation; commands are of no use then.
    if ((cause as NodeJS.ErrnoException).code !== "ERR_MODULE_NOT_FOUND") throw cause;
    process.stderr.write(`outrider: ${(cause as Error).message}\n`);
    process.stderr.write("to do: npm install undici htmlparser2\n");
    process.exitCode = EXIT_USAGE;
  }
}

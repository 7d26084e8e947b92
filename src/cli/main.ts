#!/usr/bin/env node
/** The program `outrider`: hands the process over to `runCommand` and its answer to the shell. */
import { processIo } from "./io.ts";
import { runCommand } from "./run.ts";

process.exitCode = await runCommand(process.argv.slice(2), processIo());

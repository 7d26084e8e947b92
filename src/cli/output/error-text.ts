/**
 * The message of a command that fails: code, value, expectation, and what to do.
 *
 *   outrider: OPTION_INVALID: --concurrency: 0 (expected: a whole number from 1)
 *   see: outrider crawl --help
 */
import { FrontierError } from "../../index.ts";
import { type Flag, UsageError } from "../flags.ts";
import { EXIT_FAULT, EXIT_USAGE } from "../io.ts";

/** Codes of FrontierError that indicate a wrong request of the command. */
const MISUSE: readonly string[] = [
  "OPTION_INVALID",
  "RULE_INVALID",
  "UNSUPPORTED",
  "ARGUMENT_INVALID",
  "REQUEST_INVALID",
];

const ADVICE: Readonly<Record<string, string>> = Object.freeze({
  FRONTIER_LOCKED:
    "another process uses this directory: wait until it ends, or use another directory",
  SNAPSHOT_CORRUPT: "outrider verify <dir> names every damaged file; nothing was deleted",
  FORMAT_UNSUPPORTED: "use the version that wrote it, or another directory",
  PROFILE_MISMATCH:
    "omit --preset and --options to open it as its own program did, or give its key policy",
  DISK_FULL: "free some space, then run the same command again: it continues where it stopped",
  DISK_READONLY: "make the directory writable, or use another one",
  DISK_GONE: "check that the disk is mounted, then run the same command again",
  DISK_FAILED: "check the disk, then run the same command again",
  FILES_EXHAUSTED: "raise the limit of open files: ulimit -n 4096",
  KERNEL_MISSING: "install the package again: npm install outrider",
  MEMORY_FULL: "use --dir <path>: what does not fit in memory then goes to disk",
});

/** Advice for an import, which may create its directory. */
const IMPORT_ADVICE: Readonly<Record<string, string>> = Object.freeze({
  PROFILE_MISMATCH:
    "give --preset scrapy with a requests.seen; otherwise omit --preset and --options",
});

/** Flags of options whose flag has another name. */
const FLAG_OF: Readonly<Record<string, string>> = Object.freeze({
  directory: "dir",
  maxDepth: "depth",
  delayMs: "delay",
  rampMs: "ramp",
  downloaders: "downloader",
  analyzers: "analyzer",
  pipelines: "pipeline",
  httpPort: "http",
  crawlsMax: "max-crawls",
});

/** The text for standard error, and the exit code. `flags`: those of the command. Total. */
export function errorTextOf(cause: unknown, command: string, flags: readonly Flag[]) {
  const message = cause instanceof Error ? cause.message : String(cause);
  if (cause instanceof UsageError) {
    return { text: `outrider: ${message}\n${seeHelp(command)}`, exit: EXIT_USAGE };
  }
  if (!(cause instanceof FrontierError)) {
    return { text: `outrider: ${message}\n`, exit: EXIT_FAULT };
  }
  const { code } = cause;
  const isMisuse = MISUSE.includes(code);
  const advice = (command === "import" ? IMPORT_ADVICE[code] : undefined) ?? ADVICE[code];
  const hint = advice === undefined ? (isMisuse ? seeHelp(command) : "") : `to do: ${advice}\n`;
  const text = `outrider: ${code}: ${inFlags(message, flags)}\n${hint}`;
  return { text, exit: isMisuse ? EXIT_USAGE : EXIT_FAULT };
}

function seeHelp(command: string): string {
  return `see: outrider ${command} --help\n`;
}

/** Turns `options.maxDepth: …` into `--depth: …` for the user; an option without a flag was in the file of --options. */
function inFlags(message: string, flags: readonly Flag[]): string {
  const named = message.replace(/^options\.([A-Za-z]+)/, (whole, name: string) => {
    const flag = FLAG_OF[name] ?? name.replaceAll(/[A-Z]/g, (each) => `-${each.toLowerCase()}`);
    const has = (wanted: string): boolean => flags.some((one) => one.name === wanted);
    if (has(flag)) return `--${flag}`;
    return has("options") ? `--options: ${whole}` : whole;
  });
  // Of a flag that was not given.
  return named.replace(/^(--[a-z-]+): undefined /, "$1: missing ");
}

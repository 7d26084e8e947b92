/**
 * Room `src/cli`: the command line: flags in, a command, an exit code out. No logic: the public entries do the work.
 */

/**
 * The commands, their help, and how their errors are reported.
 *
 *   exit   means
 *   0      done: finished, or ended at the page limit that was asked for
 *   1      aborted: the frontier, the disk or a module failed
 *   2      a wrong command line, or a feature that this version lacks
 *   3      finished, and no page could be read; with --fail-on also where something failed
 *   130    ended by Ctrl-C or SIGTERM, or because the reader of standard output has ended
 */
import { BENCH_FLAGS, benchCommand } from "./commands/bench-command.ts";
import { completionScript, SHELLS } from "./shell-completion.ts";
import { errorTextOf } from "./output/error-text.ts";
import { crawlCommand } from "./commands/crawl/crawl-command.ts";
import { CRAWL_FLAGS } from "./commands/crawl/crawl-flags.ts";
import {
  FAILED_FLAGS,
  failedCommand,
  VISITED_FLAGS,
  visitedCommand,
} from "./commands/answer-commands.ts";
import { DEMO_FLAGS, demoCommand } from "./commands/demo-command.ts";
import { EXPLAIN_FLAGS, explainCommand } from "./commands/explain-command.ts";
import { type Flag, type Parsed, parseFlags, UsageError } from "./flags.ts";
import {
  COMPACT_FLAGS,
  compactCommand,
  PEEK_FLAGS,
  peekCommand,
  REQUEUE_FLAGS,
  requeueCommand,
  STATS_FLAGS,
  statsCommand,
  VERIFY_FLAGS,
  verifyCommand,
} from "./commands/frontier-commands.ts";
import { EXIT_OK, EXIT_USAGE, type Io } from "./io.ts";
import {
  EXPORT_FLAGS,
  exportCommand,
  IMPORT_FLAGS,
  importCommand,
} from "./commands/transfer-commands.ts";
import { IDENTITY_FLAGS, identityCommand } from "./commands/identity-command.ts";
import { SERVE_FLAGS, serveCommand } from "./commands/serve-command.ts";
import { didYouMean } from "../base/did-you-mean.ts";
import { VERSION } from "./version.ts";

interface Command {
  readonly words: string;
  readonly text: string;
  readonly flags: readonly Flag[];
  run(args: Parsed, io: Io, line: readonly string[]): Promise<number>;
}

const COMMANDS: Readonly<Record<string, Command>> = Object.freeze({
  crawl: {
    words: "<url…>",
    text: "crawl from these URLs, politely",
    flags: CRAWL_FLAGS,
    run: crawlCommand,
  },
  demo: {
    words: "",
    text: "crawl a synthetic web on loopback, without internet",
    flags: DEMO_FLAGS,
    run: demoCommand,
  },
  explain: {
    words: "<url…>",
    text: "why a URL is crawled or not: rule, verdict, robots.txt, clocks",
    flags: EXPLAIN_FLAGS,
    run: explainCommand,
  },
  identity: {
    words: "<what> <file>",
    text: "new: a key that signs requests; directory: what publishes it",
    flags: IDENTITY_FLAGS,
    run: identityCommand,
  },
  stats: {
    words: "<dir>",
    text: "the report of a frontier in a directory, or on Redis",
    flags: STATS_FLAGS,
    run: statsCommand,
  },
  peek: {
    words: "<dir>",
    text: "what would be visited next",
    flags: PEEK_FLAGS,
    run: peekCommand,
  },
  failed: {
    words: "<dir>",
    text: "which URLs failed, why, and where they were found",
    flags: FAILED_FLAGS,
    run: failedCommand,
  },
  visited: {
    words: "<dir>",
    text: "what was visited, when, and how it ended",
    flags: VISITED_FLAGS,
    run: visitedCommand,
  },
  export: {
    words: "<dir>",
    text: "all of it, or some of its records, as JSON lines",
    flags: EXPORT_FLAGS,
    run: exportCommand,
  },
  import: {
    words: "<dir> <file>",
    text: "what was exported, or URLs and JSON lines to push",
    flags: IMPORT_FLAGS,
    run: importCommand,
  },
  requeue: {
    words: "<dir>",
    text: "failed ones again",
    flags: REQUEUE_FLAGS,
    run: requeueCommand,
  },
  verify: {
    words: "<dir>",
    text: "read all of it and check every sum",
    flags: VERIFY_FLAGS,
    run: verifyCommand,
  },
  compact: {
    words: "<dir>",
    text: "write a snapshot now",
    flags: COMPACT_FLAGS,
    run: compactCommand,
  },
  serve: {
    words: "",
    text: "a frontier for crawlers in other languages, by URLFrontier's protocol",
    flags: SERVE_FLAGS,
    run: serveCommand,
  },
  bench: {
    words: "",
    text: "how fast a frontier in memory is on this machine",
    flags: BENCH_FLAGS,
    run: benchCommand,
  },
  completion: {
    words: `<${SHELLS}>`,
    text: "a script that completes commands and flags",
    flags: [],
    run: async ({ words }, io) => {
      const commands = Object.entries(COMMANDS).map(([name, rest]) => ({ name, ...rest }));
      io.out(completionScript(words[0] ?? "", commands));
      return EXIT_OK;
    },
  },
});

/** Runs one command line; the exit code. Never throws. */
export async function runCommand(argv: readonly string[], io: Io): Promise<number> {
  const [name = "", ...line] = argv;
  if (name === "help" && line[0] !== undefined) return runCommand([line[0], "--help"], io);
  if (name === "" || name === "--help" || name === "-h" || name === "help") {
    io.out(overview());
    return name === "" ? EXIT_USAGE : EXIT_OK;
  }
  if (name === "--version" || name === "-v") {
    io.out(`${VERSION}\n`);
    return EXIT_OK;
  }
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (command === undefined) {
    const meant = didYouMean(name, Object.keys(COMMANDS));
    const help = meant === "" ? `\n${overview()}` : "see: outrider --help\n";
    io.err(`outrider: unknown command: ${name}${meant}\n${help}`);
    return EXIT_USAGE;
  }
  if (line.includes("--help") || line.includes("-h")) {
    io.out(helpOf(name, command));
    return EXIT_OK;
  }
  try {
    const args = parseFlags(line, command.flags);
    refuseMore(command, args);
    return await command.run(args, io, line);
  } catch (cause) {
    const { text, exit } = errorTextOf(cause, name, command.flags);
    io.err(text);
    return exit;
  }
}

/** Refuses words that the command does not use: one may be meant as an export's file, which would go to the terminal instead. */
function refuseMore({ words }: Command, { words: given }: Parsed): void {
  if (words.endsWith("…>")) return;
  const named = words.split(" ").filter((word) => word !== "");
  const more = given[named.length];
  if (more === undefined) return;
  throw new UsageError(`${more}: unexpected argument (expected: ${words || "flags only"})`);
}

function overview(): string {
  const rows = Object.entries(COMMANDS).map(([name, { words, text }]) =>
    row(`${name} ${words}`.trim(), text),
  );
  return `outrider ${VERSION}: a crawl frontier, and a crawler on top of it

${rows.join("")}
outrider <command> --help     the flags of a command
outrider --version            ${VERSION}

exit codes: 0 done, 1 broke off, 2 not understood, 3 no page could be read, 130 ended by Ctrl-C
`;
}

function helpOf(name: string, { words, text, flags }: Command): string {
  const rows = flags.map((flag) => row(flagWords(flag), flag.text));
  return `outrider ${`${name} ${words}`.trim()}: ${text}\n\n${rows.join("")}`;
}

function flagWords({ name, value = "", short }: Flag): string {
  return `--${name} ${value}`.trim() + (short === undefined ? "" : `, -${short}`);
}

function row(left: string, right: string): string {
  return `  ${left.padEnd(26)}  ${right}\n`;
}

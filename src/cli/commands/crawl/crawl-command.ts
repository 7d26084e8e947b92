/**
 * Room `src/cli/commands/crawl`: `outrider crawl` and what the demo shares with it: flags, rules file, progress, live page, summary.
 * Public entries only.
 */

/** `outrider crawl`: flags into options of crawl(), and the rules file watched. */
import { accessSync, constants, existsSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import type { ScopeChange } from "../../../crawl.ts";
import { canonicalize } from "../../../index.ts";
import { storedOptions } from "../../../tools.ts";
import { dryRun } from "./dry-run.ts";
import { type Parsed, parseFlags, UsageError } from "../../flags.ts";
import {
  CRAWL_FLAGS,
  crawlOptionsOf,
  HIDDEN,
  lineOfConfig,
  SCOPE_FLAGS,
  seedsOfFile,
} from "./crawl-flags.ts";
import { linesOfFile } from "../transfer-files.ts";
import type { Io } from "../../io.ts";
import { scopeText } from "../../output/outcome-text.ts";
import { readRules, watchRules } from "./rules-file.ts";
import { runCrawl } from "./run-crawl.ts";
import { uiOf } from "./crawl-page.ts";

export async function crawlCommand(
  given: Parsed,
  io: Io,
  line: readonly string[],
): Promise<number> {
  const config = given.text("config");
  // Flags of the line come last: the last value of a flag counts.
  const all = config === undefined ? line : [...lineOfConfig(config), ...line];
  const args = config === undefined ? given : parseFlags(all, CRAWL_FLAGS);
  const failOn = args.choice("fail-on", ["errors", "failed"]);
  const logFormat = args.choice("log-format", ["json", "text"]);
  const file = args.text("seeds");
  if (file !== undefined && file !== "-" && !existsSync(file)) {
    throw new UsageError(`--seeds: ${file}: no such file`);
  }
  const listed = file === undefined ? [] : await seedsOfFile(linesOfFile(file));
  const seeds = [...args.words, ...listed].map(urlOf);
  const directory = args.text("dir");
  const isKept = directory !== undefined || args.has("redis");
  if (seeds.length === 0 && !isKept) throw new UsageError("crawl: no URL");
  const rulesPath = args.text("rules");
  const options = crawlOptionsOf(args, seeds);
  const word = SCOPE_FLAGS.find((name) => args.has(name));
  if (word !== undefined && seeds.length === 0) {
    throw new UsageError(`--${word}: no URL to take it from (expected: URLs, or --scope <domain>)`);
  }
  if (options.auth !== undefined && seeds.length === 0) {
    throw new UsageError("--auth: no URL that it is for (expected: a URL beside it)");
  }
  const isDry = args.has("dry-run");
  const bad = isDry ? undefined : seeds.find((seed) => canonicalize(seed) === undefined);
  if (bad !== undefined) throw new UsageError(`crawl: ${bad}: not an http or https URL`);
  if (directory !== undefined) checkDirectory(directory, seeds);
  for (const name of ["output", "items", "log"]) {
    const path = args.text(name);
    if (path !== undefined) checkPlace(`--${name}`, path, dirname(resolve(path)));
  }
  const bodies = args.text("save-bodies");
  if (bodies !== undefined) checkPlace("--save-bodies", bodies, resolve(bodies));
  if (isDry) return dryRun(io, options, args.has("json"));
  return runCrawl(io, options, {
    title: titleOf(seeds, directory ?? args.text("name")),
    settings: settingsOf(line),
    failOn,
    logFormat,
    isQuiet: args.has("quiet"),
    isVerbose: args.has("verbose"),
    isJson: args.has("json"),
    isLive: !args.has("no-progress"),
    report: args.text("report"),
    ui: uiOf(args),
    goOn: !isKept
      ? "what is pending ends with this process: --dir <path> keeps it"
      : `to go on where it was${hiddenNote(line)}:\n  ${settingsOf(line)}`,
    onFailed: directory === undefined ? undefined : failedNote(directory),
    onStart: (run, say) => {
      run.on("scope", (change) => say(scopeWords(change)));
      if (rulesPath === undefined) return () => {};
      return watchRules(rulesPath, () => {
        try {
          const { rules, version } = readRules(rulesPath);
          run.setRules(rules, version);
          say(`rules: ${rules.length} from ${rulesPath} are in force`);
        } catch (cause) {
          say(`rules: the old ones stay: ${(cause as Error).message}`);
        }
      });
    },
  });
}

/** How the scope of a continued directory has changed. */
function scopeWords({ domains, joined, left }: ScopeChange): string {
  if (domains === "any") return "scope: the whole web from now on";
  const [joins, leaves] = [scopeText(joined), left.map((each) => scopeText([each])).join(", ")];
  const here = domains.filter((domain) => !joined.includes(domain));
  if (left.length === 0) {
    const before = here.length === 0 ? "the rules that stand there" : scopeText(here);
    return `scope: ${joins} beside ${before}`;
  }
  const named = domains.map((domain) => domain.replace(/^=/, "")).join(" ");
  return `scope: ${named} alone; what is pending elsewhere fails: ${leaves}`;
}

/** A word as a URL: what has no scheme is a host, or a host and a path. */
function urlOf(word: string): string {
  const hasScheme = word.includes("://") || /^[a-z][a-z\d+.-]*:(?!\d)/i.test(word);
  return hasScheme || !/^[\p{L}\p{N}[]/u.test(word) ? word : `https://${word}`;
}

/** Checks a directory's name before anything is created. */
function checkDirectory(directory: string, seeds: readonly string[]): void {
  checkPlace("--dir", directory, resolve(directory));
  if (seeds.length > 0) return;
  if (existsSync(directory) && storedOptions(directory) !== undefined) return;
  throw new UsageError(`crawl: ${directory}: no frontier to continue, and no URL`);
}

/** Checks that a folder exists or could be created. */
function checkPlace(flag: string, given: string, folder: string): void {
  let path = folder;
  while (!existsSync(path) && path !== dirname(path)) path = dirname(path);
  const refusal = (why: string): UsageError => new UsageError(`${flag}: ${given}: ${path} ${why}`);
  if (!statSync(path).isDirectory()) throw refusal("is not a directory");
  try {
    accessSync(path, constants.W_OK | constants.X_OK);
  } catch {
    throw refusal("is not writable");
  }
}

const TITLE_SEEDS = 5;

function titleOf(seeds: readonly string[], directory: string | undefined): string {
  const more = seeds.length > TITLE_SEEDS ? [`and ${seeds.length - TITLE_SEEDS} more`] : [];
  if (seeds.length === 0) return directory ?? "";
  return [...seeds.slice(0, TITLE_SEEDS), ...more].join(" ");
}

/** The command line without its secrets: for the report, and as the command that continues the crawl. */
function settingsOf(line: readonly string[]): string {
  return ["outrider", "crawl", ...withoutSecrets(line)].map(quote).join(" ");
}

/** How to see what failed, and to try it again: no later run does so by itself. */
function failedNote(directory: string): string {
  const [list, again] = ["failed", "requeue"].map((name) => `outrider ${name} ${quote(directory)}`);
  return `what failed, and why; to try it again, and then this command:\n  ${list}\n  ${again}`;
}

/** Passwords and headers, also those in a URL, are written to no screen and no report. */
function withoutSecrets(line: readonly string[]): string[] {
  const isSecret = (flag: string | undefined): boolean => flag === "--auth" || flag === "--header";
  return line.map((word, at) => {
    if (isSecret(line[at - 1])) return hidden(word);
    const [flag, value] = [word.slice(0, word.indexOf("=")), word.slice(word.indexOf("=") + 1)];
    if (isSecret(flag)) return `${flag}=${hidden(value)}`;
    return word.replace(/(:\/\/[^/@:]*):[^/@]*@/, `$1:${HIDDEN}@`);
  });
}

/** Printed below the command: what has to be added before it can run. */
function hiddenNote(line: readonly string[]): string {
  return settingsOf(line).includes(HIDDEN) ? ` (put what is hidden in place of ${HIDDEN})` : "";
}

/** Its name stays. */
function hidden(text: string): string {
  const colon = text.indexOf(":");
  return colon < 0 ? HIDDEN : `${text.slice(0, colon)}:${HIDDEN}`;
}

function quote(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

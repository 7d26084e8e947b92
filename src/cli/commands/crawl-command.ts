/**
 * Room `src/cli/commands`: one file for each command or family of commands: flags to options, answer to text or JSON.
 * Public entries only.
 */

/** `outrider crawl`: flags into options of crawl(), and the rules file watched. */
import { accessSync, constants, existsSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import type { CrawlOptions, ScopeChange } from "../../crawl.ts";
import { canonicalize } from "../../index.ts";
import { storedOptions } from "../../tools.ts";
import { dryRun } from "./dry-run.ts";
import { type Flag, type Parsed, UsageError } from "../flags.ts";
import type { Io } from "../io.ts";
import { readRules, watchRules } from "./rules-file.ts";
import { runCrawl } from "./run-crawl.ts";

export const CRAWL_FLAGS: readonly Flag[] = [
  { name: "dir", value: "<path>", text: "keep the frontier there; the same command goes on later" },
  { name: "threads", value: "<n>", kind: "whole", text: "worker threads that visit (0: this one)" },
  { name: "concurrency", value: "<n>", kind: "whole", text: "visits at once (32)" },
  {
    name: "ramp",
    value: "<ms>",
    kind: "whole",
    text: "slow start: from one visit to all of them over so long",
  },
  { name: "depth", value: "<n>", kind: "whole", text: "follow links no further than this (100)" },
  { name: "max-pages", value: "<n>", kind: "whole", text: "end after so many pages" },
  {
    name: "delay",
    value: "<ms>",
    kind: "whole",
    text: "least time between visits of a host (1000)",
  },
  { name: "per-host", value: "<n>", kind: "whole", text: "visits of one host at once (1)" },
  { name: "max-host-urls", value: "<n>", kind: "whole", text: "most URLs of one host (100000)" },
  { name: "max-host-bytes", value: "<n>", kind: "whole", text: "most bytes of one host" },
  { name: "max-bytes", value: "<n>", kind: "whole", text: "most bytes of a page (10485760)" },
  {
    name: "timeout",
    value: "<ms>",
    kind: "whole",
    text: "most time for a page, from connecting to its last byte (60000)",
  },
  { name: "rules", value: "<file>", text: "rules as JSON; watched, a change takes effect at once" },
  {
    name: "scope",
    value: "<domain>…",
    kind: "list",
    text: "domains to stay in (the seeds' own); any: the whole web",
  },
  { name: "allow-private", text: "permit loopback and private addresses" },
  { name: "no-robots", text: "do not ask for robots.txt" },
  { name: "no-sitemaps", text: "do not visit the sitemaps that robots.txt names" },
  { name: "user-agent", value: "<text>", text: "who we are" },
  { name: "contact", value: "<text>", text: "where we can be reached; part of the User-Agent" },
  { name: "identity", value: "<file>", text: "sign every request (outrider identity new)" },
  { name: "cookies", text: "keep and send cookies, for this crawl alone" },
  { name: "proxy", value: "<url>", text: "an HTTP proxy" },
  { name: "items", value: "<file>", text: "append items as JSON lines" },
  { name: "analyzer", value: "<file>", kind: "list", text: "ES modules that export analyze(page)" },
  {
    name: "pipeline",
    value: "<file>",
    kind: "list",
    text: "ES modules that export process(item, source)",
  },
  { name: "report", value: "<file.html>", text: "write a page with plots at the end" },
  { name: "json", text: "the last line of standard output is the summary as JSON" },
  { name: "no-progress", text: "plain lines instead of a view that is redrawn" },
  { name: "dry-run", text: "say what would be done, and visit nothing" },
];

export async function crawlCommand(args: Parsed, io: Io, line: readonly string[]): Promise<number> {
  const seeds = args.words.map(urlOf);
  const directory = args.text("dir");
  if (seeds.length === 0 && directory === undefined) throw new UsageError("crawl: no URL");
  const rulesPath = args.text("rules");
  const options = optionsOf(args, seeds);
  const isDry = args.has("dry-run");
  const bad = isDry ? undefined : seeds.find((seed) => canonicalize(seed) === undefined);
  if (bad !== undefined) throw new UsageError(`crawl: ${bad}: not an http or https URL`);
  if (directory !== undefined) checkDirectory(directory, seeds);
  const items = args.text("items");
  if (items !== undefined) checkPlace("--items", items, dirname(resolve(items)));
  if (isDry) return dryRun(io, options, args.has("json"));
  return runCrawl(io, options, {
    title: seeds.join(" "),
    isJson: args.has("json"),
    isLive: !args.has("no-progress"),
    report: args.text("report"),
    goOn:
      directory === undefined
        ? "what is pending ends with this process: --dir <path> keeps it"
        : `to go on where it was:\n  ${["outrider", "crawl", ...line].map(quote).join(" ")}`,
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

/** What became of the scope of a directory that goes on. */
function scopeWords({ domains, joined, left }: ScopeChange): string {
  if (domains === "any") return "scope: the whole web from now on";
  const here = domains.filter((domain) => !joined.includes(domain));
  if (left.length === 0) {
    const before = here.length === 0 ? "the rules that stand there" : here.join(" ");
    return `scope: ${joined.join(" ")} beside ${before}`;
  }
  return `scope: ${domains.join(" ")} alone; what is pending elsewhere fails: ${left.join(", ")}`;
}

/** A word as a URL: what has no scheme is a host, or a host and a path. */
function urlOf(word: string): string {
  const hasScheme = word.includes("://") || /^[a-z][a-z\d+.-]*:(?!\d)/i.test(word);
  return hasScheme || !/^[\p{L}\p{N}[]/u.test(word) ? word : `https://${word}`;
}

/** What a directory's name can be wrong about, before anything is made. */
function checkDirectory(directory: string, seeds: readonly string[]): void {
  checkPlace("--dir", directory, resolve(directory));
  if (seeds.length > 0) return;
  if (existsSync(directory) && storedOptions(directory) !== undefined) return;
  throw new UsageError(`crawl: ${directory}: no frontier to continue, and no URL`);
}

/** Whether a folder is there or could be made. */
function checkPlace(flag: string, given: string, folder: string): void {
  let path = folder;
  while (!existsSync(path) && path !== dirname(path)) path = dirname(path);
  const told = (why: string): UsageError => new UsageError(`${flag}: ${given}: ${path} ${why}`);
  if (!statSync(path).isDirectory()) throw told("is not a directory");
  try {
    accessSync(path, constants.W_OK | constants.X_OK);
  } catch {
    throw told("is not writable");
  }
}

function optionsOf(args: Parsed, seeds: string[]): CrawlOptions {
  const rulesPath = args.text("rules");
  const scope = args.list("scope");
  const given: Record<string, unknown> = {
    directory: args.text("dir"),
    threads: args.whole("threads"),
    concurrency: args.whole("concurrency"),
    rampMs: args.whole("ramp"),
    maxDepth: args.whole("depth"),
    maxPages: args.whole("max-pages"),
    delayMs: args.whole("delay"),
    perHost: args.whole("per-host"),
    maxHostUrls: args.whole("max-host-urls"),
    maxHostBytes: args.whole("max-host-bytes"),
    maxBytes: args.whole("max-bytes"),
    timeouts: timeoutsOf(args.whole("timeout")),
    rules: rulesPath === undefined ? undefined : readRules(rulesPath).rules,
    scope: scope?.includes("any") ? "any" : scope,
    userAgent: args.text("user-agent"),
    contact: args.text("contact"),
    identity: args.text("identity"),
    proxy: args.text("proxy"),
    items: args.text("items"),
    analyzers: args.list("analyzer"),
    pipelines: args.list("pipeline"),
  };
  return {
    seeds,
    allowPrivate: args.has("allow-private"),
    cookies: args.has("cookies"),
    robots: !args.has("no-robots"),
    sitemaps: !args.has("no-sitemaps"),
    ...(Object.fromEntries(
      Object.entries(given).filter(([, value]) => value !== undefined),
    ) as CrawlOptions),
  };
}

function timeoutsOf(totalMs: number | undefined): CrawlOptions["timeouts"] {
  if (totalMs === 0) throw new UsageError("--timeout: 0 (expected: a whole number of at least 1)");
  return totalMs === undefined ? undefined : { totalMs };
}

function quote(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

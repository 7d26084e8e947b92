/** `outrider crawl`: flags into options of crawl(), and the rules file watched. */
import { accessSync, constants, existsSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { isIP } from "node:net";
import { type CrawlOptions, crawl, isPublicAddress } from "../crawl.ts";
import { canonicalize, openFrontier, type Rule, storedOptions } from "../index.ts";
import { type Flag, type Parsed, UsageError } from "./flags.ts";
import { EXIT_OK, type Io } from "./io.ts";
import { readRules, watchRules } from "./rules-file.ts";
import { runCrawl } from "./run-crawl.ts";
import { table } from "./text.ts";
import { refusedWords } from "./words.ts";

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
  if (args.has("dry-run")) return dryRun(args, io, options);
  const bad = seeds.find((seed) => canonicalize(seed) === undefined);
  if (bad !== undefined) throw new UsageError(`crawl: ${bad}: no http or https URL`);
  if (directory !== undefined) checkDirectory(directory, seeds);
  const items = args.text("items");
  if (items !== undefined) checkPlace("--items", items, dirname(resolve(items)));
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
  throw new UsageError(`crawl: ${directory}: no frontier there to go on with, and no URL`);
}

/** Whether a folder is there or could be made. */
function checkPlace(flag: string, given: string, folder: string): void {
  let path = folder;
  while (!existsSync(path) && path !== dirname(path)) path = dirname(path);
  const told = (why: string): UsageError => new UsageError(`${flag}: ${given}: ${path} ${why}`);
  if (!statSync(path).isDirectory()) throw told("is no directory");
  try {
    accessSync(path, constants.W_OK | constants.X_OK);
  } catch {
    throw told("may not be written to");
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
    rules: rulesPath === undefined ? undefined : readRules(rulesPath).rules,
    scope: scope?.includes("any") ? "any" : scope,
    userAgent: args.text("user-agent"),
    contact: args.text("contact"),
    proxy: args.text("proxy"),
    items: args.text("items"),
    analyzers: args.list("analyzer"),
    pipelines: args.list("pipeline"),
  };
  return {
    seeds,
    allowPrivate: args.has("allow-private"),
    robots: !args.has("no-robots"),
    sitemaps: !args.has("no-sitemaps"),
    ...(Object.fromEntries(
      Object.entries(given).filter(([, value]) => value !== undefined),
    ) as CrawlOptions),
  };
}

/** Says what the seeds are taken for; opens no socket and no directory. */
async function dryRun(args: Parsed, io: Io, options: CrawlOptions): Promise<number> {
  const { directory, ...rest } = options;
  // Checks every option as the crawl would, with nothing to visit.
  await crawl({ ...rest, seeds: [] });
  const { scope } = rest;
  const inScope: Rule[] | undefined =
    scope === undefined || scope === "any"
      ? undefined
      : [{ id: "scope", match: { domains: [...scope] } }];
  const rules = rest.rules ?? inScope;
  await using frontier = await openFrontier(rules === undefined ? {} : { rules });
  const seeds = [...(options.seeds as string[])].map((url) => {
    const { canonical, domain, rule, verdict } = frontier.explain(url);
    return { url, canonical, domain, rule, verdict: verdict.status, reason: verdict.reason };
  });
  const saidOf = ({ url, domain, verdict, reason }: (typeof seeds)[number]): string => {
    if (reason !== undefined) return `${url}: ${verdict}, ${refusedWords(reason)}`;
    const isPrivate = isIP(domain ?? "") !== 0 && !isPublicAddress(domain ?? "");
    if (!isPrivate || options.allowPrivate) return `${url}: ${verdict}`;
    return `${url}: ${verdict}, but its address is private: --allow-private permits it`;
  };
  const plan = {
    dryRun: true,
    seeds,
    scope: options.scope ?? [
      ...new Set(seeds.map(({ domain }) => domain).filter((domain) => domain !== undefined)),
    ],
    delayMs: options.delayMs ?? 1_000,
    perHost: options.perHost ?? 1,
    robots: options.robots,
    allowPrivate: options.allowPrivate,
    ...(directory === undefined ? {} : { directory }),
  };
  if (args.has("json")) io.out(`${JSON.stringify(plan)}\n`);
  else {
    io.out(
      table(
        [
          ...seeds.map((seed) => ["seed", saidOf(seed)] as const),
          ["scope", plan.scope === "any" ? "the whole web" : plan.scope.join(" ")],
          ["manners", `${plan.perHost} at a time per host, ${plan.delayMs} ms between two`],
          ["robots.txt", plan.robots ? "kept" : "not asked"],
          ["private", plan.allowPrivate ? "permitted" : "refused"],
          ["directory", directory ?? "none: nothing outlives the process"],
        ],
        io.outColumns(),
      ),
    );
    io.out("nothing was visited\n");
  }
  return EXIT_OK;
}

function quote(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

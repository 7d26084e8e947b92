/** The flags of `outrider crawl`, and the options of crawl() that they stand for. */
import type { CrawlOptions } from "../../../crawl.ts";
import { type Flag, jsonOfFile, type Parsed, UsageError } from "../../flags.ts";
import { UI_FLAGS } from "./crawl-page.ts";
import { readRules } from "./rules-file.ts";

/** Stands for a secret where the command line is shown. */
export const HIDDEN = "…";

/** A frontier that several processes share. */
const SHARED_FLAGS: readonly Flag[] = [
  {
    name: "redis",
    value: "<url>",
    text: "keep it on this Redis server: processes of one --name crawl together",
  },
  { name: "name", value: "<text>", text: "with --redis: which frontier there (default)" },
  {
    name: "partitions",
    value: "<n>",
    text: "with --redis: partitions of a new frontier (16)",
  },
  {
    name: "lease",
    value: "<time>",
    text: "with --redis: how long a process may hold a URL (5m)",
  },
];

export const CRAWL_FLAGS: readonly Flag[] = [
  { name: "seeds", value: "<file>", text: "URLs to begin with, one a line; - is standard input" },
  {
    name: "config",
    value: "<file>",
    text: "flags as JSON, by name; flags of the command line override them",
  },
  { name: "dir", value: "<path>", text: "keep the frontier there; the same command goes on later" },
  ...SHARED_FLAGS,
  { name: "threads", value: "<n>", text: "worker threads that visit (0: this one)" },
  { name: "concurrency", value: "<n>", text: "visits at once (32)" },
  { name: "ramp", value: "<ms>", text: "slow start: from one visit to all of them over so long" },
  { name: "depth", value: "<n>", text: "follow links no further than this (100)" },
  { name: "traversal", value: "<breadth-first|depth-first>", text: "the way through a site" },
  { name: "max-pages", value: "<n>", text: "end after so many pages" },
  { name: "max-time", value: "<time>", text: "end after so long: 90s, 15m, 2h, or milliseconds" },
  { name: "delay", value: "<ms>", text: "least time between visits of a host (1000)" },
  { name: "per-host", value: "<n>", text: "visits of one host at once (1)" },
  { name: "max-host-urls", value: "<n>", text: "most URLs of one host (100000)" },
  { name: "max-host-bytes", value: "<n>", text: "most bytes of one host" },
  { name: "max-bytes", value: "<n>", text: "most bytes of a page (10485760)" },
  {
    name: "timeout",
    value: "<ms>",
    text: "most time for a page, from connecting to its last byte (60000)",
  },
  { name: "rules", value: "<file>", text: "rules as JSON; watched, a change takes effect at once" },
  {
    name: "scope",
    value: "<domain>…",
    kind: "list",
    text: "stay in these domains, or below these URLs; any: the whole web",
  },
  { name: "same-host", text: "stay on the hosts of the URLs" },
  { name: "same-domain", text: "stay in the registrable domains of the URLs (the default)" },
  { name: "path-prefix", text: "stay in the folders of the URLs" },
  {
    name: "include",
    value: "<pattern>",
    text: "follow only links like /docs/**, *.html or regex:<expression>",
  },
  {
    name: "exclude",
    value: "<pattern>",
    text: "follow no links like that; both may be given several times",
  },
  { name: "sitemap-only", text: "visit what sitemaps list, and follow no links" },
  { name: "traps", text: "leave families of URLs that visits show to be endless" },
  {
    name: "max-path-urls",
    value: "<path=n>",
    text: "most URLs of a host below a path; may be repeated",
  },
  { name: "max-query-urls", value: "<n>", text: "most URLs of a path by query" },
  { name: "allow-private", text: "permit loopback and private addresses" },
  { name: "pause-sick-hosts", text: "pause hosts that fail, are slow or answer nothing" },
  { name: "no-robots", text: "ignore robots.txt" },
  { name: "no-sitemaps", text: "do not visit the sitemaps that robots.txt names" },
  { name: "header", value: "<name: value>", text: "send it with every request" },
  { name: "auth", value: "<name:password>", text: "for the origins of the URLs, and no others" },
  { name: "user-agent", value: "<text>", text: "who we are" },
  { name: "contact", value: "<text>", text: "where we can be reached; part of the User-Agent" },
  { name: "identity", value: "<file>", text: "sign every request (outrider identity new)" },
  { name: "cookies", text: "keep and send cookies, for this crawl alone" },
  { name: "proxy", value: "<url>", text: "an HTTP proxy" },
  {
    name: "output",
    value: "<file>",
    text: "append items (.jsonl, .csv), or all exchanges (.warc.gz)",
  },
  { name: "items", value: "<file>", text: "append items, beside a WARC file too" },
  {
    name: "save-bodies",
    value: "<dir>",
    text: "write bodies there, and index.jsonl with their URLs",
  },
  { name: "log", value: "<file.jsonl>", text: "append a line for each visit" },
  { name: "analyzer", value: "<file>", kind: "list", text: "ES modules that export analyze(page)" },
  {
    name: "pipeline",
    value: "<file>",
    kind: "list",
    text: "ES modules that export process(item, source)",
  },
  { name: "policy", value: "<file>", text: "ES module that exports decide(policy, page)" },
  ...UI_FLAGS,
  { name: "report", value: "<file.html>", text: "write a page with plots at the end" },
  {
    name: "fail-on",
    value: "<errors|failed>",
    text: "exit with 3 if there were errors, or URLs that failed",
  },
  { name: "log-format", value: "<json|text>", text: "progress as lines of JSON" },
  { name: "quiet", short: "q", text: "no progress, and no report at the end" },
  { name: "verbose", short: "v", text: "a line for each visit" },
  { name: "json", text: "the last line of standard output is the summary as JSON" },
  { name: "no-progress", text: "plain lines instead of a view that is redrawn" },
  { name: "dry-run", text: "print what would be done, and visit nothing" },
];

/** Options from the flags. Throws UsageError for a flag that has no valid option. */
export function crawlOptionsOf(args: Parsed, seeds: string[]): CrawlOptions {
  const rulesPath = args.text("rules");
  const traversal = args.choice("traversal", ["breadth-first", "depth-first"]);
  return {
    seeds,
    allowPrivate: args.has("allow-private"),
    cookies: args.has("cookies"),
    pauseSickHosts: args.has("pause-sick-hosts"),
    robots: !args.has("no-robots"),
    sitemaps: !args.has("no-sitemaps"),
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
    maxPathUrls: pathUrlsOf(args.all("max-path-urls")),
    maxQueryUrls: args.whole("max-query-urls"),
    traps: args.has("traps"),
    maxBytes: args.whole("max-bytes"),
    timeouts: timeoutsOf(args.whole("timeout")),
    rules: rulesPath === undefined ? undefined : readRules(rulesPath).rules,
    scope: scopeOf(args),
    include: args.all("include"),
    exclude: args.all("exclude"),
    maxTimeMs: timeOf(args, "max-time"),
    open: openerOf(args, seeds),
    sitemapOnly: args.has("sitemap-only"),
    headers: headersOf(args.all("header")),
    auth: authOf(args.text("auth")),
    log: args.text("log"),
    saveBodies: args.text("save-bodies"),
    defaults: traversal && { traversal },
    userAgent: args.text("user-agent"),
    contact: args.text("contact"),
    identity: args.text("identity"),
    proxy: args.text("proxy"),
    ...outputOf(args),
    analyzers: args.list("analyzer"),
    pipelines: args.list("pipeline"),
    policy: args.text("policy"),
  };
}

function pathUrlsOf(given: readonly string[] | undefined): CrawlOptions["maxPathUrls"] {
  if (given === undefined || given.length === 0) return undefined;
  const entries = given.map((text): [string, number] => {
    const [, path, count] = /^(\/.*)=(\d{1,15})$/.exec(text) ?? [];
    if (path !== undefined && count !== undefined) return [path, Number(count)];
    throw new UsageError(`--max-path-urls: ${text} (expected: a path and a number, /search/=1000)`);
  });
  return Object.fromEntries(entries);
}

/** Items or an archive, by the file's ending. An archive is of everything that is answered, not of pages alone. */
function outputOf(args: Parsed): Pick<CrawlOptions, "items" | "warc" | "types"> {
  const output = args.text("output");
  const items = args.text("items");
  const isArchive = output?.endsWith(".warc.gz") === true;
  return isArchive ? { warc: output, types: "any", items } : { items: output ?? items };
}

export const SCOPE_FLAGS = ["same-host", "same-domain", "path-prefix"] as const;

/** The scope from its flags, of which at most one may be given. */
function scopeOf(args: Parsed): CrawlOptions["scope"] {
  const list = args.list("scope");
  const words = SCOPE_FLAGS.filter((name) => args.has(name));
  if (words.length + Number(list !== undefined) > 1) {
    const flags = [...words, ...(list === undefined ? [] : ["scope"])].map((name) => `--${name}`);
    throw new UsageError(`${flags.join(", ")}: one scope too many (expected: one of them)`);
  }
  return words[0] ?? (list?.includes("any") ? "any" : list);
}

const UNIT_MS: Readonly<Record<string, number>> = {
  "": 1,
  ms: 1,
  s: 1e3,
  m: 6e4,
  h: 36e5,
  d: 864e5,
};

function timeOf(args: Parsed, name: string): number | undefined {
  const text = args.text(name);
  if (text === undefined) return undefined;
  const [, count = "", unit = ""] = /^(\d+)(ms|s|m|h|d)?$/.exec(text) ?? [];
  const ms = Number(count) * (UNIT_MS[unit] ?? 0);
  if (count !== "" && ms > 0 && Number.isSafeInteger(ms)) return ms;
  throw new UsageError(`--${name}: ${text} (expected: a time such as 90s, 15m or 2h)`);
}

/** What needs the frontier in this process. */
const ALONE = ["dir", "threads", "traps", "max-path-urls", "max-query-urls", "dry-run"];

/** Opens the frontier on Redis that --redis and --name are about. Without a URL it must be there. */
function openerOf(args: Parsed, seeds: readonly string[]): CrawlOptions["open"] {
  const redis = args.text("redis");
  if (redis === undefined) {
    const alone = ["name", "partitions", "lease"].find((name) => args.has(name));
    if (alone === undefined) return undefined;
    throw new UsageError(`--${alone}: only with --redis`);
  }
  const refused = ALONE.find((name) => args.has(name));
  if (refused !== undefined) throw new UsageError(`--${refused}: not with --redis`);
  const leaseMs = timeOf(args, "lease");
  const partitions = args.whole("partitions");
  const name = args.text("name") ?? "default";
  return async (options) => {
    const { openRedisFrontier } = await import("../../../redis.ts");
    const own = { redis, name, partitions, mustExist: seeds.length === 0 };
    const lease = leaseMs === undefined ? {} : { leaseMs };
    return await openRedisFrontier({ ...options, ...own, ...lease });
  };
}

function headersOf(lines: string[] | undefined): Record<string, string> | undefined {
  if (lines === undefined) return undefined;
  return Object.fromEntries(
    lines.map((line) => {
      const colon = line.indexOf(":");
      if (colon < 1) throw new UsageError(`--header: ${line} (expected: <name: value>)`);
      const name = line.slice(0, colon).trim();
      return [name, notHidden(`--header: ${name}`, line.slice(colon + 1).trim())];
    }),
  );
}

function authOf(text: string | undefined): CrawlOptions["auth"] {
  if (text === undefined) return undefined;
  const colon = text.indexOf(":");
  // The value is a secret: no message contains it.
  if (colon < 1) throw new UsageError("--auth: … (expected: <name:password>)");
  return {
    username: text.slice(0, colon),
    password: notHidden("--auth", text.slice(colon + 1)),
  };
}

/** Refuses a command line that was copied from a report without its secrets. */
function notHidden(flag: string, value: string): string {
  if (value !== HIDDEN) return value;
  throw new UsageError(`${flag}: ${HIDDEN} (expected: what was hidden when the command was shown)`);
}

function timeoutsOf(totalMs: number | undefined): CrawlOptions["timeouts"] {
  if (totalMs === 0) throw new UsageError("--timeout: 0 (expected: a whole number of at least 1)");
  return totalMs === undefined ? undefined : { totalMs };
}

/**
 * A line of flags from a file of JSON: `{ "depth": 3, "exclude": ["*.pdf"], "urls": ["https://example.org/"] }`. Names are those of the
 * flags; `true` is a switch, a list is a flag more than once, and `urls` are the words of the line.
 */
export function lineOfConfig(path: string): string[] {
  const given = jsonOfFile("config", path);
  if (typeof given !== "object" || given === null || Array.isArray(given)) {
    throw new UsageError(`--config: ${path}: expected an object of flags`);
  }
  const words: string[] = [];
  const flags: string[] = [];
  for (const [name, value] of Object.entries(given)) {
    for (const each of Array.isArray(value) ? (value as unknown[]) : [value]) {
      const isSwitch = typeof each === "boolean";
      if (!isSwitch && typeof each !== "string" && typeof each !== "number") {
        throw new UsageError(
          `--config: ${path}: ${name} (expected: a text, a number, true or false)`,
        );
      }
      if (name === "config") throw new UsageError(`--config: ${path}: config (expected: no other)`);
      if (name === "urls") words.push(String(each));
      else if (!isSwitch) flags.push(`--${name}=${each}`);
      else if (each) flags.push(`--${name}`);
    }
  }
  return [...words, ...flags];
}

/** The URLs of a file, one a line, without blank lines and lines that begin with `#`. */
export async function seedsOfFile(lines: AsyncIterable<string>): Promise<string[]> {
  const urls: string[] = [];
  for await (const line of lines) {
    const text = line.trim();
    if (text !== "" && !text.startsWith("#")) urls.push(text);
  }
  return urls;
}

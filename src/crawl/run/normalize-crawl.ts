/**
 * The checked form of a crawl's options, with every default filled in: polite unless an option turns that off.
 *
 *   options ─▶ each by its name ─▶ together (threads, seeds, scope) ─▶ CrawlSettings
 */
import { createSystemClock } from "../../base/clock.ts";
import { misuse } from "../../base/errors.ts";
import { givenOf } from "../../base/plain-copy.ts";
import { canonicalize, type FrontierOptions, type RulePolicy } from "../../index.ts";
import { storedOptions } from "../../tools.ts";
import { USER_AGENT } from "../http/downloader.ts";
import { compilePatterns } from "../page/link-patterns.ts";
import { ROBOTS_DEFAULTS } from "../robots/robots-txt.ts";
import { SITEMAP_HANDLER } from "../robots/sitemap.ts";
import { bareDomain, checkCrawlOptions } from "./check-options.ts";
import { CRAWL_DEFAULTS, type CrawlOptions, type CrawlSettings, pick } from "./crawl-options.ts";
import { hostsOf, foldersOf, type Seed, withinScope } from "./crawl-scope.ts";

const LEASE_MS = 300_000;
const HTML = ["text/html", "application/xhtml+xml", ""];
/** Checks every option by name and fills in the polite defaults; throws OPTION_INVALID. */
export function normalizeCrawl(options: CrawlOptions, isPlan = false): CrawlSettings {
  checkCrawlOptions(options);
  const names = Object.keys(CRAWL_DEFAULTS) as Array<keyof typeof CRAWL_DEFAULTS>;
  const chosen = { ...CRAWL_DEFAULTS, ...pick(options, names) };
  const { threads, delayMs, perHost } = chosen;
  if (threads > 0) checkSendable(options);
  const seeds = seedsOf(options.seeds);
  if (!isPlan) checkWork(options, seeds);
  compilePatterns(options);
  const scope = scopeFrom(options, seeds);
  const { robots = true } = options;
  return {
    ...chosen,
    given: options,
    clock: options.clock ?? createSystemClock(),
    seeds: options.sitemapOnly === true ? sitemapsOf(seeds) : seeds,
    scope,
    userAgent: agentOf(options),
    robots: robots
      ? { ...ROBOTS_DEFAULTS, ...(robots === true ? {} : givenOf(robots)) }
      : undefined,
    types:
      options.types === "any"
        ? undefined
        : (options.types?.map((type) => type.toLowerCase()) ?? HTML),
    frontier: frontierOptions(options, { delayMs, perHost, scope }),
  };
}

function frontierOptions(
  options: CrawlOptions,
  { delayMs, perHost, scope }: Pick<CrawlSettings, "delayMs" | "perHost" | "scope">,
): FrontierOptions {
  const politeness = {
    delayMs,
    perHost,
    hostBackoff: { after: 10, baseMs: Math.max(2 * delayMs, 1), maxMs: 600_000 },
    budget: { urls: options.maxHostUrls ?? 100_000, bytes: options.maxHostBytes },
    ...givenOf(options.defaults?.politeness ?? {}),
  };
  const defaults: RulePolicy = {
    maxDepth: options.maxDepth ?? 100,
    freshHosts: "share",
    backoff: { baseMs: delayMs, factor: 2, maxMs: 600_000, jitter: 0.1 },
    ...givenOf(options.defaults ?? {}),
    politeness,
  };
  return {
    ...(options.clock === undefined ? {} : { clock: options.clock }),
    // A lease that ran out while its download goes on would let a second one begin beside it.
    leaseMs: Math.max(LEASE_MS, 2 * (options.timeouts?.totalMs ?? 0)),
    ...givenOf(options.frontierOptions ?? {}),
    ...givenOf({ name: options.name, directory: options.directory }),
    ...(options.rules === undefined ? {} : { rules: withinScope(options.rules, scope) }),
    defaults,
  };
}

/** The words for a scope refer to the seeds. With seeds, the default is `"same-domain"`. */
function scopeFrom(
  { scope, rules, frontier }: CrawlOptions,
  seeds: readonly Seed[],
): CrawlSettings["scope"] {
  if (scope === undefined || scope === "any") return scope;
  if (scope === "same-domain") {
    if (seeds.length > 0) return undefined;
    throw misuse("OPTION_INVALID", "options.scope", scope, "domains where there are no seeds");
  }
  const entries =
    scope === "same-host"
      ? hostsOf(seeds)
      : scope === "path-prefix"
        ? foldersOf(seeds)
        : scope.map((entry) => (entry.includes("://") ? new URL(entry).href : bareDomain(entry)));
  if (entries.length === 0) {
    throw misuse("OPTION_INVALID", "options.scope", scope, "domains where there are no seeds");
  }
  const special = entries.find((entry) => /[=/:]/.test(entry));
  if (special !== undefined && (rules !== undefined || frontier !== undefined)) {
    const expected = "domains where there are rules or a frontier";
    throw misuse("OPTION_INVALID", "options.scope", special, expected);
  }
  return entries;
}

/** A crawl needs a seed, or a directory or frontier that holds work. A seed that is no URL is refused before anything is opened. */
function checkWork(options: CrawlOptions, seeds: readonly Seed[]): void {
  for (const seed of seeds) {
    const url = typeof seed === "string" ? seed : seed.url;
    if (canonicalize(url) !== undefined) continue;
    throw misuse("OPTION_INVALID", "options.seeds", url, "http and https URLs");
  }
  const { frontier, open, directory, rules, frontierOptions = {} } = options;
  if (seeds.length > 0 || frontier !== undefined || open !== undefined) return;
  const { directory: other, from, rules: others } = frontierOptions;
  if (from !== undefined || other !== undefined) return;
  if ([...(rules ?? []), ...(others ?? [])].some((rule) => (rule?.seeds ?? []).length > 0)) return;
  if (directory !== undefined && storedOptions(directory, options.name) !== undefined) return;
  const expected = "at least one URL, or a directory or frontier that holds work";
  throw misuse("OPTION_INVALID", "options.seeds", options.seeds, expected);
}

/** What a crawl of sitemaps begins with: those that the seeds are, or the usual ones of their origins. */
function sitemapsOf(seeds: readonly Seed[]): Seed[] {
  const urls = seeds.map((seed) => {
    const url = new URL(typeof seed === "string" ? seed : seed.url);
    return /\.xml(\.gz)?$/.test(url.pathname) ? url.href : `${url.origin}/sitemap.xml`;
  });
  return [...new Set(urls)].map((url) => ({ url, handler: SITEMAP_HANDLER }));
}

function seedsOf(seeds: CrawlOptions["seeds"] = []): Seed[] {
  const list = typeof seeds === "string" || seeds instanceof URL ? [seeds] : [...seeds];
  return list.map((seed) => (seed instanceof URL ? seed.href : seed));
}

function agentOf({ userAgent = USER_AGENT, contact }: CrawlOptions): string {
  if (contact === undefined) return userAgent;
  const product = userAgent.replace(/\s*\(.*\)$/, "");
  return `${product} (+${contact})`;
}

/** Modules and resolvers are functions, which no thread can be sent: paths of ES modules can. */
function checkSendable(options: CrawlOptions): void {
  for (const name of ["downloaders", "analyzers", "pipelines"] as const) {
    const object = options[name]?.find(
      (each) => typeof each !== "string" && !(each instanceof URL),
    );
    if (object === undefined) continue;
    const expected = "the path of an ES module: threads cannot share an object";
    throw misuse("OPTION_INVALID", `options.${name}`, object, expected);
  }
  if (typeof options.policy === "function") {
    const expected = "the path of an ES module: threads cannot share a function";
    throw misuse("OPTION_INVALID", "options.policy", options.policy, expected);
  }
  for (const name of ["traps", "maxPathUrls", "maxQueryUrls"] as const) {
    if (options[name] === undefined || options[name] === false) continue;
    const expected = "no such option together with threads, each of which sees a part of the links";
    throw misuse("OPTION_INVALID", `options.${name}`, options[name], expected);
  }
  for (const name of ["lookup", "clock"] as const) {
    if (options[name] === undefined) continue;
    const expected = "no such option together with threads";
    throw misuse("OPTION_INVALID", `options.${name}`, options[name], expected);
  }
}

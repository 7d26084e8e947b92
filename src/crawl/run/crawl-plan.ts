/**
 * What a crawl would do: every option is checked, and the seeds are explained under the rules that would be in force. Nothing is
 * requested or written; a directory is read as a copy.
 *
 *   options ─▶ checked by a crawl of nothing ─▶ frontier of them, or a copy of the directory's ─▶ crawl-scope.ts ─▶ each seed explained
 */
import { givenOf } from "../../base/plain-copy.ts";
import { type Frontier, openFrontier, type Verdict } from "../../index.ts";
import { storedOptions } from "../../tools.ts";
import { startCrawl } from "./crawl.ts";
import type { CrawlOptions, CrawlSettings } from "./crawl-options.ts";
import { normalizeCrawl } from "./normalize-crawl.ts";
import { ownEntries, scopeOf } from "./crawl-scope.ts";

/** A seed, and what a crawl would do with it. */
export interface PlannedSeed {
  /** The seed. */
  readonly url: string;
  /** Its canonical form. */
  readonly canonical?: string;
  /** Registrable domain of its host. */
  readonly domain?: string;
  /** Id of the rule that takes it. */
  readonly rule?: string;
  /** The verdict that it would get. */
  readonly verdict: Verdict["status"];
  /** Why it would be refused. */
  readonly reason?: string;
}

/** What a crawl would begin with. */
export interface CrawlPlan {
  /** Each seed, and what would become of it. */
  readonly seeds: PlannedSeed[];
  /**
   * Where the crawl would stay, as the option `scope` names it, and `=example.org` for one host alone; empty: its rules decide; `"any"`: the
   * whole web.
   */
  readonly scope: readonly string[] | "any";
  /** Least time between two visits of a host in milliseconds. */
  readonly delayMs: number;
  /** Visits of one host at once. */
  readonly perHost: number;
  /** Whether robots.txt is obeyed. */
  readonly robots: boolean;
  /** Whether private addresses are permitted. */
  readonly allowPrivate: boolean;
  /** Where the frontier lives on disk. */
  readonly directory?: string;
}

/**
 * Describes what a crawl with the same options would begin with. Opens no socket, writes nothing and takes no lock.
 * Costs as much as opening the directory. Throws `OPTION_INVALID` as `crawl()` does.
 *
 * @example
 * const { seeds, scope } = await planCrawl({ seeds: "https://example.org/" });
 * console.log(scope, seeds.filter(({ verdict }) => verdict !== "accepted"));
 */
export async function planCrawl(options: Omit<CrawlOptions, "frontier">): Promise<CrawlPlan> {
  const settings = normalizeCrawl(options, true);
  const { directory } = options;
  await startCrawl(ofNothing(settings)).finished;
  await using frontier = await openLooked(settings);
  if (options.rules === undefined) {
    const { rules } = scopeOf(frontier, settings.scope, settings.seeds);
    if (rules !== undefined) frontier.setRules(rules);
  }
  const seeds = settings.seeds.map((seed): PlannedSeed => {
    const { canonical, domain, rule, verdict } = frontier.explain(seed);
    const url = typeof seed === "string" ? seed : seed.url;
    const { status, reason } = verdict;
    return givenOf({ url, canonical, domain, rule, verdict: status, reason });
  });
  const { delayMs, perHost, robots } = settings;
  return {
    seeds,
    scope: plannedScope(frontier, settings),
    ...{ delayMs, perHost, robots: robots !== undefined },
    allowPrivate: options.allowPrivate ?? false,
    ...(directory === undefined ? {} : { directory }),
  };
}

/** Modules are loaded and rules are taken, in memory. */
function ofNothing(settings: CrawlSettings): CrawlSettings {
  const {
    directory: _,
    open: _______,
    items: __,
    log: ___,
    saveBodies: ____,
    warc: ______,
    ...given
  } = settings.given;
  const { directory: _____, ...frontier } = settings.frontier;
  return { ...settings, given, frontier, seeds: [], scope: undefined };
}

/** A frontier with the contents that the crawl's would have; it keeps nothing. */
function openLooked({ given, frontier }: CrawlSettings): Promise<Frontier> {
  const { directory: _, ...inMemory } = frontier;
  const { directory, name } = given;
  const stored = directory === undefined ? undefined : storedOptions(directory, name);
  if (stored === undefined) return openFrontier({ ...inMemory, records: "state" });
  return openFrontier({
    ...stored.options,
    ...givenOf({ rules: frontier.rules, name }),
    ...{ records: "state", directory: directory as string, readOnly: true },
  });
}

function plannedScope(
  frontier: Frontier,
  { given, scope }: CrawlSettings,
): readonly string[] | "any" {
  if (given.rules !== undefined) return scope ?? [];
  const rules = frontier.rules();
  if (rules === undefined) return "any";
  return ownEntries(rules) ?? [];
}

/**
 * What a crawl would do: every option is checked as it would be, the seeds are judged under the rules that would be in force, and nothing
 * is asked or written. Of a directory a copy is looked at.
 *
 *   options ─▶ checked by a crawl of nothing ─▶ frontier of them, or a copy of the directory's ─▶ scope.ts ─▶ each seed explained
 */
import { type Frontier, openFrontier, type Verdict } from "../index.ts";
import { storedOptions } from "../tools.ts";
import { crawl } from "./crawl.ts";
import { type CrawlOptions, type CrawlSettings, normalizeCrawl } from "./options.ts";
import { ownScope, scopeOf } from "./scope.ts";

/** A seed as a crawl would take it. */
export interface PlannedSeed {
  readonly url: string;
  readonly canonical?: string;
  /** The domain that its host is registered under. */
  readonly domain?: string;
  readonly rule?: string;
  readonly verdict: Verdict["status"];
  readonly reason?: string;
}

/** Plain data. */
export interface CrawlPlan {
  readonly seeds: PlannedSeed[];
  /** Domains that the crawl would stay in; none: its rules say it; "any": the whole web. */
  readonly scope: readonly string[] | "any";
  readonly delayMs: number;
  readonly perHost: number;
  readonly robots: boolean;
  readonly allowPrivate: boolean;
  readonly directory?: string;
}

/**
 * Says what a crawl of the same options would begin with: no socket is opened, nothing is written, a directory's lock is not taken. Costs
 * what opening the directory costs.
 *
 * Options that are wrong throw OPTION_INVALID, as they do at `crawl()`.
 *
 * @example
 * const { scope, seeds } = await planCrawl({ seeds: "https://blog.example.org/" });
 * console.log(scope, seeds[0]?.verdict); // [ 'example.org' ] accepted
 */
export async function planCrawl(options: Omit<CrawlOptions, "frontier">): Promise<CrawlPlan> {
  const settings = normalizeCrawl(options);
  const { directory, items: _, ...rest } = options;
  await crawl({ ...rest, seeds: [] }).finished;
  await using frontier = await openLooked(settings);
  if (options.rules === undefined) {
    const { rules } = scopeOf(frontier, settings.scope, settings.seeds);
    if (rules !== undefined) frontier.setRules(rules);
  }
  const seeds = settings.seeds.map((seed): PlannedSeed => {
    const { canonical, domain, rule, verdict } = frontier.explain(seed);
    const url = typeof seed === "string" ? seed : seed.url;
    const known = { canonical, domain, rule, verdict: verdict.status, reason: verdict.reason };
    return { url, ...(present(known) as Omit<PlannedSeed, "url">) };
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

/** A frontier that knows what the crawl's would, and keeps nothing. */
function openLooked({ given, frontier }: CrawlSettings): Promise<Frontier> {
  const { directory: _, ...inMemory } = frontier;
  const { directory, name } = given;
  const stored = directory === undefined ? undefined : storedOptions(directory, name);
  if (stored === undefined) return openFrontier({ ...inMemory, records: "state" });
  return openFrontier({
    ...stored.options,
    ...(frontier.rules === undefined ? {} : { rules: frontier.rules }),
    ...(name === undefined ? {} : { name }),
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
  const own = ownScope(rules);
  return own === undefined ? [] : (own.match?.domains ?? "any");
}

function present(fields: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

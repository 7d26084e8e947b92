/**
 * `outrider crawl --dry-run`: what the seeds would be taken for. Every option is checked as the crawl would; no socket is opened, and of
 * a directory a copy is looked at.
 */
import { existsSync } from "node:fs";
import { isIP } from "node:net";
import { type CrawlOptions, crawl, isPublicAddress, withinScope } from "../crawl.ts";
import { type Frontier, openFrontier, type Rule, storedOptions } from "../index.ts";
import type { Parsed } from "./flags.ts";
import { EXIT_OK, type Io } from "./io.ts";
import { table } from "./text.ts";
import { refusedWords } from "./words.ts";

export async function dryRun(args: Parsed, io: Io, options: CrawlOptions): Promise<number> {
  const { directory, items: _, ...rest } = options;
  // Checks every option as the crawl would, with nothing to visit.
  await crawl({ ...rest, seeds: [] });
  await using frontier = await openLooked(options);
  const stored = frontier.rules();
  const isNamed = rest.scope !== undefined && rest.scope !== "any";
  const mayJoin = directory !== undefined && rest.rules === undefined && !isNamed;
  const ownRule = stored?.find(isScope)?.id ?? "scope";
  const seeds = [...(options.seeds as string[])].map((url) => {
    const { canonical, domain, rule, verdict } = frontier.explain(url);
    const joins = mayJoin && verdict.reason === "no-rule";
    const { status, reason } = joins ? { status: "accepted", reason: undefined } : verdict;
    return { url, canonical, domain, rule: joins ? ownRule : rule, verdict: status, reason };
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
    scope: plannedScope(options, stored, seeds),
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
          [
            "scope",
            plan.scope === "any" ? "the whole web" : plan.scope.join(" ") || "as the rules say",
          ],
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

/** A frontier that knows what the crawl's would, and keeps nothing. */
function openLooked({ directory, scope, rules }: CrawlOptions): Promise<Frontier> {
  const isThere = directory !== undefined && existsSync(directory);
  const stored = isThere ? storedOptions(directory) : undefined;
  const isNamed = scope !== undefined && scope !== "any";
  const inScope: Rule[] | undefined = isNamed
    ? [{ id: "scope", match: { domains: [...scope] } }]
    : undefined;
  const own = rules === undefined ? inScope : withinScope(rules, scope);
  const given = own === undefined ? {} : { rules: own };
  if (stored === undefined) return openFrontier(given);
  return openFrontier({
    ...stored.options,
    ...given,
    ...{ records: "state", directory: directory as string, readOnly: true },
  });
}

/** Whether a crawl has made it. */
function isScope({ id }: Rule): boolean {
  return /^scope(-\d+)?$/.test(id);
}

/** Domains that the crawl would stay in; none where rules say it. */
function plannedScope(
  { scope, rules }: CrawlOptions,
  stored: Rule[] | undefined,
  seeds: ReadonlyArray<{ domain: string | undefined; rule: string | undefined }>,
): readonly string[] | "any" {
  if (scope !== undefined) return scope;
  if (rules !== undefined) return [];
  const own = stored?.find(isScope);
  if (own !== undefined && own.match?.domains === undefined) return "any";
  const joining = seeds.filter(({ rule }) => stored === undefined || rule === (own?.id ?? "scope"));
  const domains = joining.map(({ domain }) => domain).filter((domain) => domain !== undefined);
  return [...new Set([...(own?.match?.domains ?? []), ...domains])];
}

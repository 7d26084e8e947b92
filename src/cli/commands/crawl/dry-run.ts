/** `outrider crawl --dry-run`: the plan with which the crawl would begin, as text or as one line of JSON. */
import { isIP } from "node:net";
import { type CrawlOptions, isPublicAddress, planCrawl, type PlannedSeed } from "../../../crawl.ts";
import { EXIT_OK, type Io } from "../../io.ts";
import { table } from "../../output/number-text.ts";
import { refusedText, scopeText } from "../../output/outcome-text.ts";

export async function dryRun(io: Io, options: CrawlOptions, isJson: boolean): Promise<number> {
  const plan = await planCrawl(options);
  if (isJson) {
    io.out(`${JSON.stringify({ dryRun: true, ...plan })}\n`);
    return EXIT_OK;
  }
  const { scope, allowPrivate, directory } = plan;
  const patterns = [
    ...(options.include === undefined ? [] : [`those like ${options.include.join(" ")} alone`]),
    ...(options.exclude === undefined ? [] : [`none like ${options.exclude.join(" ")}`]),
  ];
  io.out(
    table(
      [
        ...plan.seeds.map((seed) => ["seed", wordsOf(seed, allowPrivate)] as const),
        ["scope", scopeText(scope) || "as the rules say"],
        ...patterns.map((words) => ["links", words] as const),
        ["manners", `${plan.perHost} at a time per host, ${plan.delayMs} ms between two`],
        ["robots.txt", plan.robots ? "kept" : "not asked"],
        ["private", allowPrivate ? "permitted" : "refused"],
        ["directory", directory ?? "none: nothing outlives the process"],
      ],
      io.outColumns(),
    ),
  );
  io.out("nothing was visited\n");
  return EXIT_OK;
}

function wordsOf({ url, domain = "", verdict, reason }: PlannedSeed, isAllowed: boolean): string {
  if (reason !== undefined) return `${url}: ${verdict}, ${refusedText(reason)}`;
  const isRefused = !isAllowed && isIP(domain) !== 0 && !isPublicAddress(domain);
  if (!isRefused) return `${url}: ${verdict}`;
  return `${url}: ${verdict}, but its address is private: --allow-private permits it`;
}

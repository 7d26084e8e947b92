/** `outrider crawl --dry-run`: the plan with which the crawl would begin, as text or as one line of JSON. */
import { isIP } from "node:net";
import { type CrawlOptions, isPublicAddress, planCrawl, type PlannedSeed } from "../../crawl.ts";
import { EXIT_OK, type Io } from "../io.ts";
import { table } from "../output/number-text.ts";
import { refusedText } from "../output/outcome-text.ts";

export async function dryRun(io: Io, options: CrawlOptions, isJson: boolean): Promise<number> {
  const plan = await planCrawl(options);
  if (isJson) {
    io.out(`${JSON.stringify({ dryRun: true, ...plan })}\n`);
    return EXIT_OK;
  }
  const { scope, allowPrivate, directory } = plan;
  io.out(
    table(
      [
        ...plan.seeds.map((seed) => ["seed", wordsOf(seed, allowPrivate)] as const),
        ["scope", scope === "any" ? "the whole web" : scope.join(" ") || "as the rules say"],
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

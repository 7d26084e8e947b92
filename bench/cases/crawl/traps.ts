/**
 * traps: what a site with traps costs a crawl that recognises them, beside one without.
 *
 *   site in memory (trap-webs.ts; trap-shapes/, -families/, -sites/, -software/ and -places/, drawn from `seed`) ─▶ crawl({ traps: true }) · crawl({ traps: false }), both ended at `most` visits
 *
 * Facts: the share of good pages that were visited, and the visits of traps. A visit counts as a millisecond: nothing is measured in time.
 * Ratio: visits for each good page.
 *
 * Estimate: a family is judged by its tenth empty visit and a variable by its eighth, and up to six more show whether it ends, so that a trap costs
 * 13 to 35 visits; good pages that look like none of these are all visited, and of those that do, all whose family ends.
 */
import { crawl } from "../../../src/crawl.ts";
import { type BenchCase, type Job, numberOf, type Params } from "../../harness/case.ts";
import { type FamilyPool, openFamilySite } from "./trap-families/site.ts";
import { openPlaceSite } from "./trap-places/site.ts";
import { openMixedSite, type Pool } from "./trap-shapes/site.ts";
import { openHeldOutSite } from "./trap-sites/site.ts";
import { openSoftwareSite } from "./trap-software/site.ts";
import { openTrapSite, type TrapSet, type TrapSite } from "./trap-webs.ts";

export const traps: BenchCase = {
  name: "traps",
  suite: "crawl",
  about: "visits for each good page of a site with traps, a visit counted as a millisecond",
  question: "What do traps cost?",
  unit: "good page",
  process: "shared",
  pairs: [["recognised", "followed"]],
  isSameWork: false,
  target: "≥ 95 % of the good pages with ≤ 5 % of the visits, and 30 for each trap",
  sizes: {
    smoke: [{ web: "tuning", good: 100, most: 300 }],
    real: [
      { web: "fresh", good: 2_000, most: 6_000 },
      { web: "held", good: 2_000, most: 6_000 },
      { web: "tuning", good: 2_000, most: 6_000 },
      ...[1, 2, 3].flatMap((seed) => [
        { web: "tuned", good: 900, most: 3_000, seed },
        { web: "unseen", good: 900, most: 3_000, seed },
        { web: "drawn", good: 900, most: 3_000, seed },
        { web: "looked", good: 400, most: 2_100, seed },
        { web: "counted", good: 400, most: 2_100, seed },
        { web: "free", good: 400, most: 2_100, seed },
        { web: "sites", good: 400, most: 2_100, seed },
        { web: "sites-free", good: 400, most: 2_100, seed },
        { web: "software", good: 400, most: 2_100, seed },
        { web: "software-free", good: 400, most: 2_100, seed },
        { web: "places", good: 400, most: 2_100, seed },
        { web: "places-free", good: 400, most: 2_100, seed },
      ]),
    ],
    suite: [{ web: "fresh", good: 1_000, most: 3_000 }],
  },
  rounds: 3,
  setup,
};

type HeldOut = `${"sites" | "software" | "places"}${"" | "-free"}`;
type MixedPool = Exclude<Pool, "none">;
const SEEDS: Readonly<Record<TrapSet, number>> = { tuning: 1, held: 2_026, fresh: 40_404 };

function setup(side: string, params: Params): Job {
  const good = numberOf(params, "good");
  const web = params.web as TrapSet | MixedPool | FamilyPool | HeldOut;
  const open = (): TrapSite => {
    if (web === "fresh" || web === "held" || web === "tuning") {
      return openTrapSite(web, SEEDS[web], good);
    }
    const seed = numberOf(params, "seed");
    if (web === "sites" || web === "sites-free")
      return openHeldOutSite(seed, good, web === "sites");
    if (web === "software" || web === "software-free")
      return openSoftwareSite(seed, good, web === "software");
    if (web === "places" || web === "places-free")
      return openPlaceSite(seed, good, web === "places");
    return web === "looked" || web === "counted" || web === "free"
      ? openFamilySite(web, seed, good)
      : openMixedSite(web, seed, { goodCount: good });
  };
  let told = "";
  return {
    async run() {
      const site = open();
      const run = crawl({
        ...{ seeds: site.seed, downloaders: [site], delayMs: 0, perHost: 8, concurrency: 8 },
        ...{ robots: false, progressMs: 0, maxPages: numberOf(params, "most") },
        traps: side === "recognised",
      });
      const summary = await run.finished;
      if (process.env.TRAPS_SHOWN !== undefined) console.log(summary.pages, summary.traps);
      told = `${site.good()} ${site.trapped()}`;
      return {
        times: { "visits, 1 ms each": (1e6 * (site.good() + site.trapped())) / site.good() },
        facts: {
          "share of good pages": site.good() / site.goodCount,
          "visits of traps": site.trapped(),
          "visits of traps allowed": 0.05 * (site.good() + site.trapped()) + 30 * site.trapCount,
        },
      };
    },
    checksum: () => told,
  };
}

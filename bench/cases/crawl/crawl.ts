/**
 * crawl: pages per second on one host of the synthetic web, served by a thread of the same process on the same cores.
 *
 *   web (thread) ◀── loopback ── outrider      crawl(), visits on this thread
 *                                2 threads     crawl({ threads: 2 })
 *                                crawlee       CheerioCrawler, autoscaling held at the same concurrency
 *                                scrapy        a spider in a process of its own
 *
 * Equal for all: concurrency, no delay, robots.txt kept, links followed within the host, redirects followed, the title read. All must
 * have seen the same pages with the same titles, which the checksum holds them to. Beyond PEER_PAGES_MAX pages only Outrider runs: there its
 * heap after a collection, at a tenth of the pages and at the end, shows whether memory is flat.
 *
 * Estimate: serving a page 150 µs, downloading it with undici 250 µs, reading it 100 µs, the frontier 15 µs for ten links: 500 µs on two
 * cores that serve as well, 2,500 pages/s. CheerioCrawler is said to do some 200 pages/s a core at such sizes.
 */
import { crawl as startCrawl, openSyntheticWebThread, type WebPlan } from "../../../src/crawl.ts";
import { createWebPlan } from "../../../src/crawl/web-plan.ts";
import { type BenchCase, type Job, nowNs, numberOf, type Params } from "../../harness/case.ts";
import { packageMissing } from "../../peers/installed.ts";
import type { Course, Crawled } from "../../peers/crawler.ts";
import { runCheerio } from "../../peers/crawlee/crawl.ts";
import { runScrapy } from "../../peers/scrapy/crawl.ts";
import { scrapyPeer } from "../../peers/scrapy/adapter.ts";

const PEER_PAGES_MAX = 20_000;

export const crawl: BenchCase = {
  name: "crawl",
  suite: "crawl",
  about: "pages per second on the synthetic web, robots.txt kept, no delay, the same concurrency",
  question: "How fast does it crawl?",
  unit: "page",
  process: "fresh",
  pairs: [
    ["outrider", "crawlee"],
    ["outrider", "scrapy"],
    ["outrider", "2 threads"],
  ],
  target: "≥ 5 × CheerioCrawler, ≥ 3 × Scrapy; memory flat over 10⁶ pages",
  sizes: {
    smoke: [{ pages: 40, concurrency: 8 }],
    real: [{ pages: 5_000, concurrency: 64 }],
    suite: [{ pages: 1_000, concurrency: 64 }],
    large: [{ pages: 1_000_000, concurrency: 64 }],
  },
  rounds: 3,
  missing,
  setup,
};

function missing(side: string, params: Params): string | undefined {
  const isLong = numberOf(params, "pages") > PEER_PAGES_MAX;
  if (side === "outrider" || side === "2 threads") return undefined;
  if (isLong) return `measured up to ${PEER_PAGES_MAX} pages`;
  return side === "scrapy" ? scrapyPeer.missing() : packageMissing("@crawlee/cheerio");
}

async function setup(side: string, params: Params): Promise<Job> {
  const pages = numberOf(params, "pages");
  const concurrency = numberOf(params, "concurrency");
  const shape = { hosts: 1, pages, mishaps: 0, traps: false };
  const web = await openSyntheticWebThread({ ...shape, seed: plainSeed(pages), keepLog: false });
  // By its address: not every crawler can be told where to dial.
  const course = { seed: `http://127.0.0.1:${web.port}/`, concurrency };
  let answer: Crawled | undefined;
  return {
    async run() {
      const begin = nowNs();
      answer = await RUN[side]?.(course);
      const seconds = answer?.seconds;
      const spent = seconds === undefined ? nowNs() - begin : seconds * 1e9;
      const count = answer?.titles.size ?? 0;
      const facts = { ...answer?.facts, "pages/s": (count * 1e9) / spent };
      return { times: { page: spent / Math.max(count, 1) }, facts };
    },
    checksum: () => checksumOf(answer),
    close: () => web.close(),
  };
}

const RUN: Readonly<Record<string, (course: Course) => Promise<Crawled>>> = {
  outrider: (course) => runOutrider(course, 0),
  "2 threads": (course) => runOutrider(course, 2),
  crawlee: runCheerio,
  scrapy: runScrapy,
};

async function runOutrider({ seed, concurrency }: Course, threads: number): Promise<Crawled> {
  const titles = new Map<string, string>();
  const facts: Record<string, number> = {};
  const run = startCrawl({
    seeds: seed,
    allowPrivate: true,
    delayMs: 0,
    perHost: concurrency,
    concurrency,
    threads,
    sitemaps: false,
    maxHostUrls: 100_000_000,
    progressMs: 0,
  });
  run.on("page", ({ url, title }) => {
    titles.set(new URL(url).pathname, title);
    // Powers of two alone: a collection in between would be paid by the time.
    if ((titles.size & (titles.size - 1)) === 0 && titles.size >= 16_384) {
      facts[`heap MB at ${titles.size}`] = run.report().memory.heapBytes / 1e6;
    }
  });
  const { memory } = await run;
  facts["resident MB"] = memory.residentBytes / 1e6;
  facts["off heap MB"] = memory.offHeapBytes / 1e6;
  return { titles, facts };
}

/** How many pages, and a sum of their paths and titles. */
function checksumOf(answer: Crawled | undefined): string {
  const list = [...(answer?.titles ?? [])].map(([path, title]) => `${path} ${title}`).sort();
  let sum = 0;
  for (const each of list) {
    for (let at = 0; at < each.length; at++) {
      sum = (Math.imul(sum, 31) + each.charCodeAt(at)) | 0;
    }
  }
  return `${list.length} pages, ${sum >>> 0}`;
}

/** The first web whose host answers at once, in UTF-8: what every crawler reads alike. */
function plainSeed(pages: number): number {
  const isPlain = (plan: WebPlan): boolean =>
    plan.latencyMsOf(0) === 0 && plan.charsetOf(0) === "utf-8";
  for (let seed = 1; ; seed++) {
    if (isPlain(createWebPlan({ seed, hosts: 1, pages, mishaps: 0, traps: false }))) return seed;
  }
}

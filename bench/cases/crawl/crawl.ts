/**
 * crawl: pages per second on one host of the synthetic web, served by a process of its own on the same cores.
 *
 *   web (process) ◀── loopback ── outrider      crawl(), visits on this thread
 *                                 2 threads     crawl({ threads: 2 })
 *                                 crawlee       CheerioCrawler, autoscaling held at the same concurrency
 *                                 scrapy        a spider in a process of its own
 *
 * Equal for all: concurrency, no delay, robots.txt kept, links followed within the host, redirects followed, the title read. All must
 * have seen the same pages with the same titles, which the checksum holds them to.
 *
 * Beyond PEER_PAGES_MAX pages only Outrider runs: there the memory after a collection, at each power of two of pages, shows whether it is flat,
 * so nothing here keeps anything of a page but a sum. What must grow is the frontier's own, and stands beside it: pending URLs and the seen-set lie
 * off the heap, so `resident` less `off heap` is the crawler. Beyond THREAD_PAGES_MAX one side shows it.
 *
 * Estimate: serving a page 150 µs, downloading it with undici 250 µs, reading it 100 µs, the frontier 15 µs for ten links: 500 µs on two
 * cores that serve as well, 2,500 pages/s. CheerioCrawler is said to do some 200 pages/s a core at such sizes.
 */
import { type Crawl, crawl as startCrawl } from "../../../src/crawl.ts";
import type { WebPlan } from "../../../src/testing.ts";
import { createWebPlan } from "../../../src/crawl/synthetic-web/web-plan.ts";
import { type BenchCase, type Job, nowNs, numberOf, type Params } from "../../harness/case.ts";
import { type Memory, memoryNow } from "../../harness/machine.ts";
import { packageMissing } from "../../peers/installed.ts";
import type { Course, Crawled } from "../../peers/crawler.ts";
import { runCheerio } from "../../peers/crawlee/crawl.ts";
import { runScrapy } from "../../peers/scrapy/crawl.ts";
import { scrapyPeer } from "../../peers/scrapy/adapter.ts";
import { openWebProcess } from "./web.ts";

const PEER_PAGES_MAX = 20_000;
const THREAD_PAGES_MAX = 100_000;
const MEMORY_PAGES_LEAST = 16_384;

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
    large: [
      { pages: 100_000, concurrency: 64 },
      { pages: 1_000_000, concurrency: 64 },
    ],
  },
  // What is beyond the peers shows whether memory is flat, which one round does.
  rounds: (params) => (isBeyondPeers(params) ? 1 : 3),
  missing,
  isGuest: (side) => side === "crawlee" || side === "scrapy",
  setup,
};

function missing(side: string, params: Params): string | undefined {
  if (side === "outrider") return undefined;
  if (side === "2 threads") {
    const isBeyond = numberOf(params, "pages") > THREAD_PAGES_MAX;
    return isBeyond ? `measured up to ${THREAD_PAGES_MAX} pages` : undefined;
  }
  if (isBeyondPeers(params)) return `measured up to ${PEER_PAGES_MAX} pages`;
  return side === "scrapy" ? scrapyPeer.missing() : packageMissing("@crawlee/cheerio");
}

function isBeyondPeers(params: Params): boolean {
  return numberOf(params, "pages") > PEER_PAGES_MAX;
}

async function setup(side: string, params: Params): Promise<Job> {
  const pages = numberOf(params, "pages");
  const concurrency = numberOf(params, "concurrency");
  const shape = { hosts: 1, pages, mishaps: 0, traps: false };
  const web = await openWebProcess({ ...shape, seed: plainSeed(pages), keepLog: false });
  // By its address: not every crawler has an option for the address that it dials.
  const course = { seed: `http://127.0.0.1:${web.port}/`, concurrency };
  let answer: Answer | undefined;
  return {
    async run() {
      const begin = nowNs();
      answer = await RUN[side]?.(course);
      const seconds = answer?.seconds;
      const spent = seconds === undefined ? nowNs() - begin : seconds * 1e9;
      const count = answer?.count ?? 0;
      const facts = { ...answer?.facts, "pages/s": (count * 1e9) / spent };
      return { times: { page: spent / Math.max(count, 1) }, facts };
    },
    checksum: () => checksumOf(answer),
    close: () => web.close(),
  };
}

/** Pages as they came, and a sum over their paths and titles in whatever order. */
interface Answer {
  readonly count: number;
  readonly sum: number;
  readonly facts?: Readonly<Record<string, number>>;
  /** Where it is not the time of the call. */
  readonly seconds?: number;
}

const RUN: Readonly<Record<string, (course: Course) => Promise<Answer>>> = {
  outrider: (course) => runOutrider(course, 0),
  "2 threads": (course) => runOutrider(course, 2),
  crawlee: async (course) => summed(await runCheerio(course)),
  scrapy: async (course) => summed(await runScrapy(course)),
};

async function runOutrider({ seed, concurrency }: Course, threads: number): Promise<Answer> {
  const facts: Record<string, number> = {};
  let count = 0;
  let sum = 0;
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
    count++;
    sum = (sum + pageSum(new URL(url).pathname, title)) >>> 0;
    // Few enough that the collections cost the time nothing.
    if ((count & (count - 1)) === 0 && count >= MEMORY_PAGES_LEAST)
      Object.assign(facts, memoryFacts(run, ` at ${count}`));
  });
  const { memory } = await run.finished;
  const end = { ...memoryNow(), offHeapBytes: memory.offHeapBytes };
  return { count, sum, facts: { ...facts, ...megabytes(end, "") } };
}

/** What the process holds, and how much of it is the frontier's. */
function memoryFacts({ frontier }: Crawl, when: string): Record<string, number> {
  const report = frontier?.report();
  if (report === undefined) return {};
  const { offHeapBytes } = report.memory;
  return {
    [`pending${when}`]: report.pending,
    ...megabytes({ ...memoryNow(), offHeapBytes }, when),
  };
}

function megabytes(sizes: Memory & { offHeapBytes: number }, when: string): Record<string, number> {
  return {
    [`heap MB${when}`]: sizes.heapBytes / 1e6,
    [`off heap MB${when}`]: sizes.offHeapBytes / 1e6,
    [`resident MB${when}`]: sizes.residentBytes / 1e6,
  };
}

function summed({ titles, facts, seconds }: Crawled): Answer {
  let sum = 0;
  for (const [path, title] of titles) sum = (sum + pageSum(path, title)) >>> 0;
  return {
    count: titles.size,
    sum,
    ...(facts === undefined ? {} : { facts }),
    ...(seconds === undefined ? {} : { seconds }),
  };
}

function pageSum(path: string, title: string): number {
  let sum = 0x811c9dc5;
  for (const text of [path, " ", title]) {
    for (let at = 0; at < text.length; at++) {
      sum = Math.imul(sum ^ text.charCodeAt(at), 0x01000193);
    }
  }
  return sum >>> 0;
}

/** How many pages, and a sum of their paths and titles. */
function checksumOf(answer: Answer | undefined): string {
  return `${answer?.count ?? 0} pages, ${answer?.sum ?? 0}`;
}

/** The first web whose host answers at once, in UTF-8: what every crawler reads alike. */
function plainSeed(pages: number): number {
  const isPlain = (plan: WebPlan): boolean =>
    plan.latencyMsOf(0) === 0 && plan.charsetOf(0) === "utf-8";
  for (let seed = 1; ; seed++) {
    if (isPlain(createWebPlan({ seed, hosts: 1, pages, mishaps: 0, traps: false }))) return seed;
  }
}

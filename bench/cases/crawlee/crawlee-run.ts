/**
 * crawlee-run: a whole BasicCrawler of Crawlee's, whose handler does nothing: what is left is the crawler, and its queue.
 *
 *   requests, added before ─▶ AutoscaledPool ─▶ isEmpty, fetchNextRequest ─▶ handler ─▶ markRequestHandled ─▶ isFinished
 *
 * Estimate, quiet: the crawler's own work some 150 µs a request, the array 1 µs, ours 26 µs (an instance of Request 20 µs, peek 1 µs, poll and done 2 µs, the
 * id 1 µs): 0.85 × the array's rate, the same at every size. Memory storage 12 ms a request at 20,000, more with more.
 */
import { type BenchCase, type Job, nowNs, numberOf, type Params } from "../../harness/case.ts";
import { loadPackage } from "../../peers/installed.ts";
import { missing, REAL_SIZES } from "./crawlee-queue.ts";
import { addAll, drainAll, loadCore, openManager } from "./managers.ts";

interface Basic {
  BasicCrawler: new (
    options: object,
    config: object,
  ) => { run(): Promise<{ requestsFinished: number }> };
}

const CONCURRENCY = 64;

export const crawleeRun: BenchCase = {
  name: "crawlee-run",
  suite: "crawlee",
  about: "a BasicCrawler of Crawlee's with an empty handler, by its queue",
  question: "What does the queue cost a crawler of Crawlee's?",
  unit: "request",
  process: "fresh",
  pairs: [
    ["outrider", "array"],
    ["outrider", "memory"],
    ["outrider", "on disk"],
    ["on disk", "memory on disk"],
  ],
  target:
    "≥ 0.8 × the array's at 2·10⁴; at 10⁶ ≥ 0.8 × the own rate at 2·10⁴; ≥ 5 × memory storage",
  sizes: {
    smoke: [{ requests: 40, handled: 10 }],
    ...REAL_SIZES,
  },
  rounds: 1,
  missing,
  isGuest: (side) => side === "memory" || side === "memory on disk" || side === "array",
  setup,
};

async function setup(side: string, params: Params): Promise<Job> {
  const requests = numberOf(params, "requests");
  const handled = numberOf(params, "handled");
  const { Configuration } = loadCore();
  const { log } = loadCore() as unknown as { log: { setLevel(level: number): void } };
  log.setLevel(0);
  const { BasicCrawler } = loadPackage("@crawlee/basic") as Basic;
  const opened = await openManager(side);
  const { manager } = opened;
  await addAll(manager, 0, handled);
  await drainAll(manager);
  await addAll(manager, handled, requests);
  const options = {
    requestQueue: manager,
    useSessionPool: false,
    minConcurrency: CONCURRENCY,
    maxConcurrency: CONCURRENCY,
    requestHandler: () => {},
  };
  const config = new Configuration({ persistStorage: false, purgeOnStart: false });
  const crawler = new BasicCrawler(options, config);
  let finished = 0;
  return {
    async run() {
      const begin = nowNs();
      finished = (await crawler.run()).requestsFinished;
      const spent = nowNs() - begin;
      return { times: { request: spent / requests }, facts: opened.facts() };
    },
    checksum: () => String(finished),
    close: () => opened.close(),
  };
}

/**
 * pool: the whole loop. Leases out, a handler that finds ten links a page, results back, until nothing is left.
 *
 *   frontier ─▶ lanes ─▶ handler ─▶ 10 links, 8 known ─▶ edge ─▶ inbound ring ─▶ frontier       outrider 1, 2, 4 threads
 *   frontier ─▶ piscina.run(url) ─▶ handler ─▶ 10 links, cloned ─▶ done({ found })              task
 *   frontier ─▶ postMessage of a page, or of 64 ─▶ handler ─▶ links, cloned ─▶ done({ found })    port, port batch (2 threads)
 *
 * Peers do an eighth of the pages, of the warm-up too: three rounds of half a million take two minutes so and have a verdict, where they
 * took five. It is to their advantage: a frontier that has seen fewer URLs fits in faster caches.
 *
 * Checksum: links to a page, and whether all pages were done, the same for all.
 *
 * Before the clock starts each side works off a quarter as many pages on the same threads: three isolates compile their code in
 * the first half second, which is a second of processor time and no part of what a lease costs.
 *
 * Estimate, 2 threads: a lease costs the owner 1.5 µs (poll 0.9, row 0.2, done 0.4) and 0.4 µs for each of its 2 new links, the
 * worker 10 × 0.25 µs for links and 1 µs for the lease: 2.3 and 3.5 µs on three threads and two cores: 350,000
 * leases/s, 3.5 million links/s. A task: 30–37 µs a URL: 30,000/s. A message there and one back cost the owner 3 µs and a turn, the
 * clone of ten links 3 more: 100,000/s by the page, 200,000 in batches, where ten links are done() at 0.4 µs each.
 * Loop delay: what a timer of 1 ms was late on the owner's thread; slices are ≤ 2 ms, so p99 ≤ 3 ms on an idle machine.
 */
import { once } from "node:events";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { Worker } from "node:worker_threads";
import { Piscina } from "piscina";
import { type Frontier, type Lease, openFrontier } from "../../../src/index.ts";
import { WorkerPool } from "../../../src/pool.ts";
import { type BenchCase, type Job, nowNs, numberOf, type Params } from "../../harness/case.ts";
import { KNOWN } from "./pool-visit.ts";

export const pool: BenchCase = {
  name: "pool",
  suite: "workers",
  about:
    "leases per second through worker threads, ten links a page, against one Piscina task per URL",
  unit: "lease",
  process: "fresh",
  pairs: [
    ["2 threads", "task"],
    ["2 threads", "port"],
    ["2 threads", "port batch"],
    ["2 threads", "1 thread"],
    ["2 threads", "4 threads"],
  ],
  target: "≥ 7 × a task per URL; ≥ 300,000 leases/s and ≥ 3 million links/s with 2 threads",
  sizes: {
    smoke: [{ pages: 1_024 }],
    real: [{ pages: 524_288 }],
    suite: [{ pages: 131_072 }],
  },
  rounds: 3,
  setup,
};

const VISIT = new URL("./pool-visit.js", import.meta.url);
/** The pool reads a default export; this repository has none. */
const HANDLER = `data:text/javascript,export{visit as default}from${JSON.stringify(VISIT.href)}`;

/** Pages of one message, and leases that a thread has at one time, as the pool lays out at most. */
const BATCH = 64;
const WINDOW = 256;
/** Peers do that part of the pages. */
const PART = 8;

async function setup(side: string, params: Params): Promise<Job> {
  const pages =
    numberOf(params, "pages") / (side.endsWith("threads") || side === "1 thread" ? 1 : PART);
  const warm = Math.max(KNOWN, pages >> 2);
  const frontier = await openFrontier();
  const seeds = Array.from(
    { length: pages + warm },
    (_, at) => `http://host${at % 64}.test/a/b/page/${at}`,
  );
  frontier.share(); // before the seeds, as a crawl would
  const loop = await openLoop(side, frontier);
  frontier.pushMany(seeds.slice(0, warm));
  await loop.work();
  frontier.pushMany(seeds.slice(warm));
  const before = frontier.report();
  return {
    async run() {
      const delay = monitorEventLoopDelay({ resolution: 1 });
      delay.enable();
      const run = await timed(loop);
      delay.disable();
      const after = frontier.report();
      const done = after.done - before.done;
      const seconds = run.spent / 1e9;
      const facts = {
        "leases/s": done / seconds,
        "links/s": (after.pushed - before.pushed) / seconds,
        "owner busy": run.busy,
        "loop delay p50 ms": delay.percentile(50) / 1e6,
        "loop delay p99 ms": delay.percentile(99) / 1e6,
        "loop delay max ms": delay.max / 1e6,
      };
      return { times: { lease: run.spent / done }, facts };
    },
    checksum: () => {
      const { done, pending, pushed } = frontier.report();
      const links = (pushed - seeds.length) / done;
      return `${links} links a page, ${pending} pages left, all done: ${done >= seeds.length}`;
    },
    async close() {
      await loop.close();
      await frontier.close();
    },
  };
}

/** Threads that work until the frontier is finished, as often as they are asked to. */
interface Loop {
  readonly work: () => Promise<void>;
  readonly close: () => Promise<void>;
}

function openLoop(side: string, frontier: Frontier): Loop | Promise<Loop> {
  if (side === "task") return tasks(frontier);
  if (side === "port") return ports(frontier, 1);
  return side === "port batch" ? ports(frontier, BATCH) : threads(frontier, Number(side[0]));
}

interface Run {
  readonly spent: number;
  readonly busy: number;
}

async function timed({ work }: Loop): Promise<Run> {
  const busy = performance.eventLoopUtilization();
  const start = nowNs();
  await work();
  const spent = nowNs() - start;
  return { spent, busy: performance.eventLoopUtilization(busy).utilization };
}

function threads(frontier: Frontier, count: number): Loop {
  const pool = new WorkerPool({ frontier, handler: HANDLER, threads: count, concurrency: 64 });
  return { work: () => pool.run(), close: () => pool.close() };
}

function tasks(frontier: Frontier): Loop {
  const piscina = new Piscina({ filename: VISIT.href, name: "task", minThreads: 2, maxThreads: 2 });
  const one = async (lease: Lease): Promise<void> => {
    const { url, depth } = lease;
    lease.done({ found: (await piscina.run({ url, depth })) as string[] });
  };
  const work = async (): Promise<void> => {
    for (let leases = frontier.pollMany(256); leases.length > 0; leases = frontier.pollMany(256)) {
      await Promise.all(leases.map(one));
    }
  };
  return { work, close: () => piscina.destroy() };
}

/** Two threads of our own and a message for each `batch` pages, there and back. */
async function ports(frontier: Frontier, batch: number): Promise<Loop> {
  const file = new URL("./port-visit.js", import.meta.url);
  const seats = [0, 1].map(() => ({ worker: new Worker(file), waiting: [] as Lease[][] }));
  await Promise.all(seats.map(({ worker }) => once(worker, "online")));
  let ended = (): void => undefined;
  const feed = (): void => {
    for (const { worker, waiting } of seats) {
      while (waiting.length * batch < WINDOW) {
        const leases = frontier.pollMany(batch);
        if (leases.length === 0) break;
        waiting.push(leases);
        worker.postMessage(leases.map(({ url, depth }) => ({ url, depth })));
      }
    }
    if (seats.every(({ waiting }) => waiting.length === 0)) ended();
  };
  for (const { worker, waiting } of seats) {
    worker.on("message", (found: string[][]) => {
      const leases = waiting.shift() ?? [];
      for (const [at, lease] of leases.entries()) lease.done({ found: found[at] ?? [] });
      feed();
    });
  }
  const work = (): Promise<void> =>
    new Promise((resolve) => {
      ended = resolve;
      feed();
    });
  const close = async (): Promise<void> => {
    await Promise.all(seats.map(({ worker }) => worker.terminate()));
  };
  return { work, close };
}

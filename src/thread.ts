/**
 * The entry of every thread that the library starts: what a thread is for decides what it loads.
 *
 *   job     started by                      loads
 *   attend  the worker pool (thread.cts)    workers/remote: a seat's leases to a handler
 *   visit   the same, for a crawl           crawl/threads/visit-thread: the handler of a crawl's pages
 *   owner   openFrontierThread              engine: a frontier, its calls taken from a port
 *   web     openSyntheticWebThread          crawl: the synthetic web's listener
 *
 * The other jobs are loaded when they are asked for, so that a worker loads neither the frontier nor the crawler.
 */
import { workerData } from "node:worker_threads";
import type { HandlerContext, WorkerLease } from "./worker.ts";
import { attend } from "./workers/remote/worker-loop.ts";

/** The handler of a crawl's pool, of pages and of sitemaps. */
async function visit(lease: WorkerLease, context: HandlerContext): Promise<void> {
  const { visitInThread } = await import("./crawl/threads/visit-thread.ts");
  await visitInThread(lease, context);
}

export { attend, visit as default, visit as sitemap };

/** Threads that begin with their job, and not with a task of a pool. */
async function begin(job: unknown): Promise<void> {
  if (job === "owner") {
    const { own } = await import("./engine/owner-thread/owner-thread.ts");
    await own(workerData.port, workerData.options);
  } else if (job === "web") {
    const { serveWeb } = await import("./crawl/synthetic-web/web-thread.ts");
    await serveWeb(workerData.options);
  }
}

// A failure to begin ends the thread, and so reaches the thread that started it.
void begin((workerData as { outriderJob?: unknown } | null)?.outriderJob);

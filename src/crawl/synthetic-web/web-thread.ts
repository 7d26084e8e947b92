/**
 * The synthetic web on a thread of its own, so that a crawl of it is not slowed by serving it.
 *
 *   asker ── options, as workerData ─▶ thread: openSyntheticWeb ── { port } ─▶ asker
 *         ── { delayMs } ─▶                                      ── manners ─▶
 *
 * This file is both sides; the thread's begins in thread.ts.
 */
import { once } from "node:events";
import { parentPort, Worker } from "node:worker_threads";
import { packageFile } from "../../base/package-files.ts";
import { createWebPlan, type WebPlan } from "./web-plan.ts";
import { openSyntheticWeb, shapeOf, type SyntheticWebOptions } from "./web-server.ts";

/** How polite a crawler was, by the web's own log. */
export interface WebManners {
  /** Requests that it answered. */
  readonly requests: number;
  /** Requests that came too soon after the one before on the same host. */
  readonly violations: number;
  /** The most requests that one host had at once. */
  readonly parallelMax: number;
}

/** A synthetic web on a thread of its own. */
export interface SyntheticWebThread {
  /** Every host, page and link of it. */
  readonly plan: WebPlan;
  /** Its port. */
  readonly port: number;
  /** The first page of h0, which leads to every other. */
  readonly seed: string;
  /** Where every host of this web is dialled. */
  readonly dial: {
    /** IP address. */
    readonly address: string;
    /** Port. */
    readonly port: number;
  };
  /** How polite its visitors were, by this delay in milliseconds. */
  manners(delayMs: number): Promise<WebManners>;
  /** Stops listening and ends the thread. */
  close(): Promise<void>;
}

/**
 * Starts a synthetic web on another thread. Costs a thread and a listener. Rejects where the listener cannot be
 * opened.
 *
 * @example
 * const web = await openSyntheticWebThread({ seed: 7, hosts: 100 });
 * await web.close();
 */
export async function openSyntheticWebThread(
  options: SyntheticWebOptions = {},
): Promise<SyntheticWebThread> {
  const plan = createWebPlan(shapeOf(options));
  const worker = new Worker(packageFile("thread.js"), {
    workerData: { outriderJob: "web", options },
  });
  const [{ port }] = (await once(worker, "message")) as [{ port: number }];
  return {
    plan,
    port,
    seed: `http://${plan.hostName(0)}/`,
    dial: { address: "127.0.0.1", port },
    async manners(delayMs) {
      worker.postMessage({ delayMs });
      const [manners] = (await once(worker, "message")) as [WebManners];
      return manners;
    },
    async close() {
      await worker.terminate();
    },
  };
}

/** What the thread does: opens the web, answers what it is asked. */
export async function serveWeb(options: SyntheticWebOptions): Promise<void> {
  const web = await openSyntheticWeb(options);
  parentPort?.on("message", ({ delayMs }: { delayMs: number }) => {
    const { log } = web;
    parentPort?.postMessage({
      requests: log.entries.length,
      violations: log.violations(delayMs).length,
      parallelMax: log.parallelMax(),
    });
  });
  parentPort?.postMessage({ port: web.port });
}

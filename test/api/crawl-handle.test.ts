/** `crawl()` returns a handle at once; `await handle.finished` is the summary. */
import { afterEach, describe, expect, it } from "vitest";
import { crawl, type Crawl, type CrawlOptions } from "../../src/crawl.ts";
import { FrontierError, openFrontier } from "../../src/index.ts";

const runs: Crawl[] = [];
afterEach(async () => {
  for (const run of runs.splice(0)) await run.stop({ now: true }).catch(() => undefined);
});

/** A crawl of pages that a function makes. */
function start(options: CrawlOptions = {}): Crawl {
  const downloader = {
    name: "here",
    async download({ url }: { url: string }) {
      const body = Buffer.from(`<a href="${url}x">next</a>`);
      return { url, status: 200, headers: { "content-type": "text/html" }, body };
    },
  };
  const run = crawl({
    ...{ seeds: "http://a.test/", delayMs: 0, robots: false, progressMs: 0, maxDepth: 2 },
    downloaders: [downloader],
    ...options,
  } as CrawlOptions);
  runs.push(run);
  return run;
}

describe("the handle of a crawl", () => {
  it("is no promise: awaiting it gives the handle while the crawl goes on", async () => {
    const run = start();
    const statuses: string[] = [];
    run.on("status", ({ to }) => statuses.push(to));
    expect("then" in run).toBe(false);
    expect(await run).toBe(run);
    const summary = await run.finished;
    expect(summary).toMatchObject({ status: "stopped", reason: "finished", pages: 3 });
    expect(statuses.at(-1)).toBe("stopped");
    expect(await run.finished).toBe(summary);
    expect(run.report()).toBe(summary);
  });

  it("stops: what is left is pending, and the summary says so", async () => {
    const run = start({ maxDepth: 1_000_000 });
    run.on("page", () => void run.stop(), { once: true });
    const summary = await run.finished;
    expect(summary).toMatchObject({ reason: "stopped", pending: 1 });
    expect(await run.stop()).toBe(summary);
  });

  it("is stopped at the end of the block that it is used in", async () => {
    let finished: Promise<unknown>;
    {
      await using run = start({ maxDepth: 1_000_000 });
      finished = run.finished;
      await new Promise<void>((resolve) => run.on("page", () => resolve(), { once: true }));
    }
    expect(await finished).toMatchObject({ status: "stopped", reason: "stopped" });
  });

  it("rejects `finished` where no frontier can be opened, and stop does too", async () => {
    const run = start({ rules: [{ id: "" }] });
    await expect(run.finished).rejects.toMatchObject({ code: "RULE_INVALID" });
    await expect(run.stop()).rejects.toMatchObject({ code: "RULE_INVALID" });
    expect(run.status).toBe("stopped");
    await run[Symbol.asyncDispose]();
  });

  it("reports what an async listener rejects with, and ends nothing for it", async () => {
    const run = start();
    const causes: unknown[] = [];
    const fail = async (): Promise<void> => {
      throw new Error("late");
    };
    run.on("page", fail);
    run.on("error", fail); // not reported to itself
    run.on("error", ({ cause }) => causes.push((cause as Error).message));
    expect(await run.finished).toMatchObject({ reason: "finished", pages: 3 });
    expect(causes).toEqual(["late", "late", "late"]);
  });

  it("begins no visit where it is paused before it runs, until it is resumed", async () => {
    const run = start();
    run.pause();
    await new Promise<void>((resolve) => {
      run.on("status", ({ to }) => to === "paused" && resolve());
    });
    expect(run.report()).toMatchObject({ status: "paused", pages: 0, pending: 1 });
    run.resume();
    expect(await run.finished).toMatchObject({ reason: "finished", pages: 3 });
    const other = start();
    other.pause();
    other.resume();
    expect(await other.finished).toMatchObject({ reason: "finished", pages: 3 });
  });

  it("stops at once beside a module that never returns, whose lease goes back", async () => {
    await using frontier = await openFrontier();
    const analyze = (): Promise<void> => new Promise(() => undefined);
    const run = start({ frontier, analyzers: [{ analyze }] });
    await new Promise<void>((resolve) => {
      run.on("status", ({ to }) => to === "running" && setImmediate(resolve));
    });
    const summary = await run.stop({ now: true });
    expect(summary).toMatchObject({ reason: "stopped", pages: 0, pending: 1 });
    expect(frontier.report()).toMatchObject({ pending: 1, leased: 0 });
  });

  it("closes all modules and streams where one of them cannot be closed", async () => {
    const closed: string[] = [];
    const process = (item: unknown): unknown => item;
    const run = start({
      pipelines: [
        { processors: [process], close: () => Promise.reject(new Error("no close")) },
        {
          processors: [process],
          close: async () => {
            await new Promise((resolve) => setImmediate(resolve));
            closed.push("second");
          },
        },
      ],
    });
    const faults = run.errors();
    await expect(run.finished).rejects.toThrow("no close");
    expect([closed, run.status]).toEqual([["second"], "stopped"]);
    for await (const fault of faults) expect(fault).toBeUndefined(); // it ends
    expect(run.report()).toMatchObject({ status: "stopped", pages: 3 });
  });

  it("rejects `finished` where the frontier refuses how a visit ended", async () => {
    await using frontier = await openFrontier();
    const refuse = (): never => {
      throw new FrontierError("DISK_FULL", "disk: ENOSPC (expected: room on disk)");
    };
    const take = frontier.take.bind(frontier);
    frontier.take = async (options) => {
      const leases = await take(options);
      for (const lease of leases) lease.done = lease.retry = refuse;
      return leases;
    };
    const run = start({ frontier });
    await expect(run.finished).rejects.toMatchObject({ code: "DISK_FULL" });
    expect(run.status).toBe("stopped");
  });

  it("leaves a frontier open that was given to it", async () => {
    await using frontier = await openFrontier({ defaults: { maxDepth: 0 } });
    frontier.push("http://a.test/");
    const run = start({ frontier, seeds: [] });
    expect(await run.finished).toMatchObject({ pages: 1 });
    expect(frontier.status).toBe("running");
  });
});

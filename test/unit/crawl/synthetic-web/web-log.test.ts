import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { describe, expect, it } from "vitest";
import { crawl } from "../../../../src/crawl/run/crawl.ts";
import { createWebLog } from "../../../../src/crawl/synthetic-web/web-log.ts";
import { openSyntheticWeb } from "../../../../src/testing.ts";

const TRAPS = "traps.outrider.test";

describe("the log of the synthetic web", () => {
  it("counts what a host is asked at once, and what comes too soon", () => {
    let nowMs = 0;
    const log = createWebLog(() => nowMs);
    const asked = { host: "a", path: "/", agent: "" };
    const first = log.begin(asked);
    nowMs = 5;
    const second = log.begin(asked);
    log.begin({ ...asked, host: "b" });
    log.end(first);
    log.end(first); // told twice
    log.end(second);
    log.begin(asked);
    expect(log.parallelMax()).toBe(2);
    expect(log.violations(10)).toHaveLength(2);
  });

  it("a request that its client gave up has ended when the client asks anew", async () => {
    await using web = await openSyntheticWeb({ hosts: 1, pages: 1 });
    const flag = new SharedArrayBuffer(4);
    const worker = new Worker(new URL("../../../support/leaving-client.mjs", import.meta.url), {
      workerData: { port: web.port, host: TRAPS, flag },
    });
    await once(worker, "message");
    worker.postMessage("go");
    // Nothing is served meanwhile: the end of one connection and a request on the other come together.
    Atomics.wait(new Int32Array(flag), 0, 0, 30_000);
    await once(worker, "message");
    await worker.terminate();
    expect(web.log.entries.map(({ path }) => path)).toEqual(["/base", "/hang", "/refreshed"]);
    expect(web.log.parallelMax()).toBe(1);
  });

  it("a crawler whose visits are given up and cut still has one request of a host at a time", async () => {
    await using web = await openSyntheticWeb({ hosts: 1, pages: 1 });
    const paths = ["/hang", "/huge", "/base", "/cut", "/refreshed", "/links", "/image.png", "/far"];
    const summary = await crawl({
      seeds: paths.map((path) => `http://${TRAPS}${path}`),
      dial: web.dial,
      allowPrivate: true,
      delayMs: 0,
      maxDepth: 0,
      maxBytes: 64 * 1024,
      defaults: { maxAttempts: 1 },
      robots: false,
      timeouts: { bodyMs: 6_000 }, // only /hang takes longer, however busy the machine is
    }).finished;
    expect(summary).toMatchObject({ pending: 0, truncated: 2, failures: { timeout: 1, reset: 1 } });
    expect(web.log.entries).toHaveLength(paths.length);
    expect(web.log.parallelMax()).toBe(1);
  });
});

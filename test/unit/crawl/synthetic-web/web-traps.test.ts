import { describe, expect, it } from "vitest";
import { crawl } from "../../../../src/crawl/run/crawl.ts";
import { openSyntheticWeb } from "../../../../src/testing.ts";

describe("the host of traps", () => {
  it("is crawled to an end: every trap bounded and reported, every real page found", async () => {
    await using web = await openSyntheticWeb({ seed: 1, hosts: 1, pages: 1 });
    const pages: string[] = [];
    const faults: Record<string, string> = {};
    const run = crawl({
      seeds: "http://traps.outrider.test/",
      dial: web.dial,
      allowPrivate: true,
      delayMs: 0,
      perHost: 8,
      maxDepth: 6,
      maxBytes: 1024 * 1024,
      maxLinks: 50,
      maxRedirects: 5,
      timeouts: { bodyMs: 6_000 }, // only /hang takes longer, however busy the machine is
      defaults: { maxAttempts: 1 },
    });
    run.on("page", ({ url }) => pages.push(new URL(url).pathname));
    run.on("error", ({ url, cause }) => {
      faults[new URL(url ?? "x:").pathname] = (cause as { fault: string }).fault;
    });
    const summary = await run.finished;
    const asked = web.log.entries.map(({ path }) => path);
    const count = (prefix: string): number =>
      asked.filter((path) => path.startsWith(prefix)).length;

    expect(summary).toMatchObject({ reason: "finished", pending: 0, truncated: 2 });
    expect(asked.length).toBeLessThan(600);
    const [deep, many] = [expect.any(Number), expect.any(Number)];
    expect(summary.rejected).toEqual({ "too-deep": deep, "too-many": many });
    expect(count("/calendar/")).toBe(6);
    expect(count("/deep/")).toBeLessThanOrEqual(4);
    expect(summary.trapped).toBeGreaterThan(0);
    expect(count("/chain/")).toBe(6);
    expect([count("/loop/"), count("/self")]).toEqual([2, 1]);
    expect(faults).toEqual({
      "/bomb/gzip": "too-large",
      "/bomb/br": "too-large",
      "/hang": "timeout",
      "/cut": "reset",
      "/wide": "protocol",
    });
    const found = [
      "/based/deep/page",
      "/canonical-form",
      "/refreshed",
      "/end-of-start",
      "/base",
      "/idn",
    ];
    expect(found.filter((path) => !pages.includes(path))).toEqual([]);
    expect(count("/never/")).toBe(0);
    expect(pages).toContain("/named/%E6%97%A5%E6%9C%AC");
    expect(web.log.entries.some(({ host }) => host === "xn--bcher-kva.outrider.test")).toBe(true);
  });

  it("an endless family of pages ends at the budget of its host", async () => {
    await using web = await openSyntheticWeb({ seed: 1, hosts: 1, pages: 1 });
    const summary = await crawl({
      seeds: "http://traps.outrider.test/links",
      dial: web.dial,
      allowPrivate: true,
      delayMs: 0,
      maxHostUrls: 50,
    }).finished;
    expect(summary).toMatchObject({ reason: "finished", pages: 50, pending: 0 });
    expect(summary.rejected.budget).toBeGreaterThan(50);
    expect(web.log.entries).toHaveLength(51);
  });
});

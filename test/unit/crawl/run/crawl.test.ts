import { describe, expect, it } from "vitest";
import { crawl } from "../../../../src/crawl/run/crawl.ts";
import { openSyntheticWeb, type SyntheticWeb } from "../../../../src/testing.ts";
import { testSeed } from "../../../support/seed.ts";
import { walkWeb } from "../../../support/web-walk.ts";

const QUICK = { allowPrivate: true, delayMs: 0, robots: { retryMs: 10 } } as const;

/** Answers of the web's log: how often each URL got each status, robots.txt and sitemaps apart. */
function visits(web: SyntheticWeb): Map<string, number[]> {
  const answers = new Map<string, number[]>();
  for (const { host, path, status } of web.log.entries) {
    if (path === "/robots.txt" || path.startsWith("/sitemap")) continue;
    const url = `http://${host}${path}`;
    answers.set(url, [...(answers.get(url) ?? []), status]);
  }
  return answers;
}

describe("crawl()", () => {
  it("visits every reachable page of a web exactly once, and nothing that robots.txt forbids", async () => {
    const seed = testSeed("crawl");
    await using web = await openSyntheticWeb({ seed, hosts: 60, pages: 700, traps: false });
    const walk = walkWeb(web.plan);
    const summary = await crawl({ ...QUICK, seeds: web.seed, dial: web.dial }).finished;
    const answers = visits(web);
    const good = [...answers].filter(([, statuses]) => statuses.includes(200));
    expect(new Set(good.map(([url]) => url))).toEqual(walk.pages);
    expect(
      good.filter(([, statuses]) => statuses.filter((each) => each === 200).length > 1),
    ).toEqual([]);
    for (const url of walk.redirects) expect(answers.get(url)).toHaveLength(1);
    for (const url of walk.gone) expect(answers.get(url)).toEqual([404]);
    for (const url of walk.broken) expect(answers.get(url)).toHaveLength(3);
    const known = walk.pages.size + walk.redirects.size + walk.gone.size + walk.broken.size;
    expect(answers.size).toBe(known);
    expect(summary).toMatchObject({
      status: "stopped",
      reason: "finished",
      pages: walk.pages.size,
      pending: 0,
    });
    expect(summary.redirects).toBe(walk.redirects.size);
  });

  it("asks for robots.txt once per host, and says who it is in every request", async () => {
    await using web = await openSyntheticWeb({ seed: 3, hosts: 40, pages: 80, traps: false });
    const walk = walkWeb(web.plan);
    const contact = "mailto:crawl@outrider.test";
    const summary = await crawl({ ...QUICK, seeds: web.seed, dial: web.dial, contact }).finished;
    const asked = web.log.entries.filter(({ path }) => path === "/robots.txt");
    for (const host of walk.hosts) {
      const name = web.plan.hostName(host);
      const count = web.plan.robotsOf(host) === "broken" ? 3 : 1;
      expect([name, asked.filter((each) => each.host === name).length]).toEqual([name, count]);
    }
    expect(summary.robotsFetched).toBe(asked.length);
    expect(new Set(web.log.entries.map(({ agent }) => agent))).toEqual(
      new Set([`Outrider/0.1 (+${contact})`]),
    );
  });

  it("names no page in the default User-Agent: only an operator has one to name", async () => {
    await using web = await openSyntheticWeb({ seed: 3, hosts: 1, pages: 1, traps: false });
    await crawl({ ...QUICK, seeds: web.seed, dial: web.dial }).finished;
    expect(new Set(web.log.entries.map(({ agent }) => agent))).toEqual(new Set(["Outrider/0.1"]));
  });

  it("keeps the delay and one visit at a time per host, judged from the server's own log", async () => {
    await using web = await openSyntheticWeb({ seed: 5, hosts: 12, pages: 40, traps: false });
    await crawl({ ...QUICK, seeds: web.seed, dial: web.dial, delayMs: 25, concurrency: 64 })
      .finished;
    expect(web.log.violations(25)).toEqual([]);
    expect(web.log.parallelMax()).toBe(1);
    // An hour was not kept by anybody: the check sees what there is.
    expect(web.log.violations(3_600_000).length).toBeGreaterThan(20);
  });

  it("never downloads more pages than maxPages, and leaves the rest pending", async () => {
    await using web = await openSyntheticWeb({ seed: 5, hosts: 10, pages: 300, traps: false });
    const summary = await crawl({ ...QUICK, seeds: web.seed, dial: web.dial, maxPages: 37 })
      .finished;
    const pages = [...visits(web).values()].filter((statuses) => statuses.includes(200));
    expect(pages).toHaveLength(37);
    expect(summary).toMatchObject({ pages: 37, reason: "max-pages" });
    expect(summary.pending).toBeGreaterThan(0);
  });

  it("stays in the seeds' domains by default", async () => {
    await using web = await openSyntheticWeb({ seed: 5, hosts: 3, pages: 12, traps: false });
    const summary = await crawl({ ...QUICK, seeds: web.seed, dial: web.dial }).finished;
    expect(summary.rejected).toEqual({ "no-rule": expect.any(Number) });
    const hosts = new Set(web.log.entries.map(({ host }) => host));
    expect([...hosts].filter((host) => !host.endsWith(".outrider.test"))).toEqual([]);
    const wide = await crawl({ ...QUICK, seeds: web.seed, dial: web.dial, scope: "any" }).finished;
    expect(wide.rejected).toEqual({});
    expect(web.log.entries.some(({ host }) => host === "elsewhere.invalid")).toBe(true);
  });

  it("refuses a private address by default, and says so as a fault of the downloader", async () => {
    await using web = await openSyntheticWeb({ seed: 5, hosts: 1, pages: 1, traps: false });
    const faults: string[] = [];
    const run = crawl({
      seeds: `http://127.0.0.1:${web.port}/`,
      delayMs: 0,
      robots: { retryMs: 1 },
    });
    run.on("error", ({ message }) => faults.push(message));
    // Asked once: an address that is refused is refused again, and why is told.
    // The guard is the reason, and no robots.txt is blamed.
    expect(await run.finished).toMatchObject({ failures: { address: 1 }, disallowed: 0, pages: 0 });
    expect(run.report().robotsFetched).toBe(1);
    expect(web.log.entries).toEqual([]);
    const direct = crawl({ seeds: `http://127.0.0.1:${web.port}/`, delayMs: 0, robots: false });
    direct.on("error", ({ message }) => faults.push(message));
    expect(await direct.finished).toMatchObject({ pages: 0, failures: { address: 1 } });
    expect(web.log.entries).toEqual([]);
    const refused =
      "crawler error: downloader: 127.0.0.1: 127.0.0.1 (expected: a public address; allowPrivate permits others)";
    expect(faults).toEqual([refused, refused]);
  });

  it("stops on request: visits under way end, what is left stays, and nothing runs on", async () => {
    await using web = await openSyntheticWeb({ seed: 5, hosts: 10, pages: 500, traps: false });
    const run = crawl({ ...QUICK, seeds: web.seed, dial: web.dial, concurrency: 8 });
    let count = 0;
    run.on("page", () => {
      if (++count === 20) void run.stop();
    });
    const summary = await run.finished;
    expect(summary.reason).toBe("stopped");
    expect(summary.pages).toBeGreaterThanOrEqual(20);
    expect(summary.pages).toBeLessThan(40);
    expect(run.status).toBe("stopped");
    expect(web.log.entries.filter(({ endMs }) => endMs === undefined)).toEqual([]);
  });

  it("stops at once with { now: true }: what was under way goes back to its place", async () => {
    await using web = await openSyntheticWeb({ seed: 5, hosts: 1, pages: 1, traps: true });
    const seeds = ["http://traps.outrider.test/hang", "http://traps.outrider.test/base"];
    const run = crawl({ ...QUICK, seeds, dial: web.dial, perHost: 2, robots: false });
    run.on("page", () => void run.stop({ now: true }));
    const summary = await run.finished;
    expect(summary).toMatchObject({ reason: "stopped", failed: 0 });
    expect(summary.pending).toBeGreaterThanOrEqual(1);
  });

  it("a frontier of the user's is used as it is and left open", async () => {
    const { openFrontier } = await import("../../../../src/index.ts");
    await using web = await openSyntheticWeb({ seed: 5, hosts: 2, pages: 10, traps: false });
    await using frontier = await openFrontier();
    const summary = await crawl({ ...QUICK, seeds: web.seed, dial: web.dial, frontier }).finished;
    expect(summary.pages).toBe(walkWeb(web.plan).pages.size);
    expect(frontier.status).toBe("running");
  });

  it("an option that does not exist, or is wrong, is refused by name", () => {
    const wrong = (options: object): string => {
      try {
        crawl(options as never);
        return "accepted";
      } catch (cause) {
        return (cause as Error).message;
      }
    };
    expect(wrong({ speed: 1 })).toContain("options.speed");
    expect(wrong({ concurrency: 0 })).toContain("options.concurrency: 0");
    expect(wrong({ delayMs: -1 })).toContain("options.delayMs: -1");
    expect(wrong({ seeds: 7 })).toContain("options.seeds: 7");
    expect(wrong({ contact: "a\r\nx: y" })).toContain("options.contact");
    expect(wrong({ threads: -1 })).toContain("options.threads: -1");
    const analyzers = [{ analyze: () => undefined }];
    expect(wrong({ threads: 2, analyzers })).toContain("options.analyzers");
    expect(wrong({ threads: 2, lookup: () => {} })).toContain("options.lookup");
  });
});

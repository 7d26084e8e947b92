/** Crawls on worker threads, on the built package, since threads load files that Node reads by itself. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, it } from "vitest";
import type { Visit } from "../../src/crawl/report/visit-statistics.ts";
import type { crawl as crawlOfSource } from "../../src/crawl/run/crawl.ts";
import { openSyntheticWeb } from "../../src/testing.ts";
import { packageRoot } from "../support/package.ts";

const { crawl } = (await import(`${packageRoot}dist/crawl.js`)) as { crawl: typeof crawlOfSource };

const TRAPS = "http://traps.outrider.test";
const BASE = { allowPrivate: true, delayMs: 0, threads: 2, concurrency: 8 } as const;

/** A site with eight busy pages, and the status that each of its pages is answered with. */
async function openPages(
  statusOf: (path: string) => number,
): Promise<AsyncDisposable & { url: string }> {
  const server = createServer(({ url = "" }, response) => {
    response.writeHead(statusOf(url), { "content-type": "text/html" });
    response.end(Array.from({ length: 8 }, (_, at) => `<a href="/busy${at}">`).join(""));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
    },
  };
}

describe("a crawl on worker threads", () => {
  it("asks again conditionally, whichever thread visited before, and counts what has not changed", async () => {
    const shape = { seed: 4, hosts: 1, pages: 12, traps: false, mishaps: 0 };
    await using web = await openSyntheticWeb(shape);
    const run = crawl({
      ...BASE,
      seeds: web.seed,
      dial: web.dial,
      perHost: 4,
      sitemaps: false,
      progressMs: 20,
      defaults: { epoch: { every: 50 } },
    });
    const seen = new Set<string>();
    run.on("page", ({ url }) => void seen.add(url));
    run.on("progress", () => {
      // Pages that are due again may come before the last new ones.
      if (seen.size >= 12 && run.report().notModified >= 40) void run.stop();
    });
    const { pages, notModified, statuses } = await run.finished;
    // Each page whole once; from then on 304, from the validators that the other thread may have learned.
    expect(pages).toBe(12);
    expect(notModified).toBeGreaterThanOrEqual(40);
    expect(statuses[304]).toBe(notModified);
  });

  it("bounds every trap as on one thread: chains, circles, depth, markup, charset, IDN", async () => {
    await using web = await openSyntheticWeb({ seed: 1, hosts: 1, pages: 1 });
    const titles: string[] = [];
    const run = crawl({
      ...BASE,
      seeds: `${TRAPS}/`,
      dial: web.dial,
      perHost: 8,
      maxDepth: 6,
      maxBytes: 1024 * 1024,
      maxLinks: 50,
      maxRedirects: 5,
      timeouts: { bodyMs: 6_000 }, // only /hang takes longer, however busy the machine is
      defaults: { maxAttempts: 1 },
    });
    run.on("page", ({ title }) => titles.push(title));
    const summary = await run.finished;
    const asked = web.log.entries.map(({ path }) => path);
    const count = (prefix: string): number =>
      asked.filter((path) => path.startsWith(prefix)).length;
    expect(summary).toMatchObject({ reason: "finished", pending: 0, truncated: 2 });
    expect(summary.failures).toMatchObject({ redirects: 1, timeout: 1, "too-large": 2 });
    expect([count("/chain/"), count("/loop/"), count("/self")]).toEqual([6, 2, 1]);
    expect([count("/calendar/"), count("/session/"), count("/never/")]).toEqual([6, 6, 0]);
    expect(count("/deep/")).toBeLessThanOrEqual(4);
    for (const path of ["/named/%E6%97%A5%E6%9C%AC", "/%C3%BCmlaut?q=%C3%9F&r=1", "/refreshed"]) {
      expect(asked).toContain(path);
    }
    expect(titles).toContain("日本");
    expect(titles).toHaveLength(summary.pages);
  });

  it("takes a page of 100,000 links through its rings, and ends a host whose bytes are used up", async () => {
    await using web = await openSyntheticWeb({ hosts: 1, pages: 1 });
    const wide = { ...BASE, seeds: `${TRAPS}/links`, dial: web.dial, robots: false } as const;
    const summary = await crawl({ ...wide, maxPages: 1, maxHostUrls: 1_000_000 }).finished;
    expect(summary).toMatchObject({ pages: 1, pending: 100_000, reason: "max-pages" });
    const bounded = await crawl({ ...wide, seeds: `${TRAPS}/huge`, maxHostBytes: 1_000 }).finished;
    expect(bounded).toMatchObject({ pages: 1, pending: 0, rejected: { budget: 1 } });
  });

  it("asks for no sitemap of a host whose bytes are used up", async () => {
    const size = 10_000;
    const asked: string[] = [];
    const server = createServer(({ url = "", headers }, response) => {
      asked.push(url);
      const at = `http://${headers.host}`;
      const maps = Array.from({ length: 9 }, (_, n) => `Sitemap: ${at}/${n}.xml\n`);
      if (url === "/robots.txt") response.end(maps.join(""));
      else response.end((url.endsWith(".xml") ? "<urlset></urlset>" : "").padEnd(size));
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    const seeds = `http://127.0.0.1:${port}/`;
    const bounds = { perHost: 1, maxHostBytes: 4 * size };
    const summary = await crawl({ ...BASE, ...bounds, seeds }).finished;
    server.closeAllConnections();
    server.close();
    expect(asked.filter((path) => path !== "/robots.txt")).toHaveLength(4);
    expect(summary).toMatchObject({ pending: 0, failures: { budget: 6 } });
  });

  it("sends a cookie that one thread was given with what the other asks", async () => {
    const asked: string[] = [];
    const server = createServer(({ url = "", headers }, response) => {
      asked.push(`${url} ${headers.cookie ?? "-"}`);
      if (url === "/") response.setHeader("set-cookie", "id=7");
      const links = Array.from({ length: 40 }, (_, at) => `<a href=/${at}>`).join("");
      response.setHeader("content-type", "text/html").end(url === "/" ? links : "");
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    const seeds = `http://127.0.0.1:${port}/`;
    const options = { ...BASE, perHost: 8, robots: false, cookies: true, seeds };
    const { pages } = await crawl(options).finished;
    server.closeAllConnections();
    server.close();
    expect([pages, asked[0]]).toEqual([41, "/ -"]);
    expect(asked.slice(1).filter((each) => !each.endsWith(" id=7"))).toEqual([]);
  });

  it("comes through a door whose cookie is given out at another page", async () => {
    const asked: string[] = [];
    const server = createServer(({ url = "", headers }, response) => {
      asked.push(`${url} ${headers.cookie ?? "-"}`);
      const isSeen = headers.cookie === "seen=1";
      if (url === "/give") response.writeHead(302, { location: "/", "set-cookie": "seen=1" }).end();
      else if (isSeen) response.setHeader("content-type", "text/html").end("<a href=/in>");
      else response.writeHead(302, { location: "/give" }).end();
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    const seeds = `http://127.0.0.1:${port}/`;
    const { pages } = await crawl({ ...BASE, robots: false, cookies: true, seeds }).finished;
    server.closeAllConnections();
    server.close();
    expect(pages).toBe(2);
    expect(asked).toEqual(["/ -", "/give -", "/ seen=1", "/in seen=1"]);
  });

  it("reports every page, fault and count, also those of the last moment", async () => {
    const shape = { seed: 6, hosts: 30, pages: 200, traps: false };
    await using web = await openSyntheticWeb(shape);
    let pages = 0;
    const faults: string[] = [];
    const run = crawl({ ...BASE, seeds: web.seed, dial: web.dial, robots: { retryMs: 10 } });
    run.on("page", () => pages++);
    run.on("error", ({ message }) => faults.push(message));
    const summary = await run.finished;
    const answers = web.log.entries.filter(
      ({ path, status }) => path !== "/robots.txt" && status > 0,
    );
    const { statuses, errors } = summary;
    const given: Record<string, number> = {};
    for (const { status } of answers) given[status] = (given[status] ?? 0) + 1;
    expect(statuses, faults.join("\n")).toEqual(given);
    expect(pages).toBe(summary.pages);
    expect(faults).toHaveLength(errors.downloader ?? 0);
    expect(summary.hostPages.reduce((sum, each) => sum + each, 0)).toBeGreaterThan(0);
  });

  it.each([0, 2])(
    "tells of each visit how it ended, the last attempt too (%i threads)",
    async (threads) => {
      await using site = await openPages((path) =>
        path === "/" ? 200 : path === "/gone" ? 404 : 503,
      );
      const visits: Visit[] = [];
      const run = crawl({
        ...{
          ...BASE,
          threads,
          perHost: 8,
          robots: false,
          seeds: [`${site.url}/`, `${site.url}/gone`],
        },
        defaults: {
          maxAttempts: 3,
          backoff: { baseMs: 1, factor: 1, maxMs: 1, jitter: 0 },
          politeness: { hostBackoff: { after: 100, baseMs: 1, maxMs: 1 } },
        },
      });
      run.on("visit", (visit) => visits.push(visit));
      expect(await run.finished).toMatchObject({ failed: 9, retried: 16 });
      const endsOf = new Map<string, string[]>();
      // Messages of two threads may come in another order than their visits ended.
      for (const { url, outcome } of visits.toSorted((a, b) => a.atMs - b.atMs)) {
        const path = new URL(url).pathname;
        endsOf.set(path, [...(endsOf.get(path) ?? []), outcome]);
      }
      const busy = Array.from({ length: 8 }, (_, at) => [
        `/busy${at}`,
        ["retried", "retried", "failed"],
      ]);
      const all = [["/", ["done"]], ["/gone", ["failed"]], ...busy];
      expect(Object.fromEntries(endsOf)).toEqual(Object.fromEntries(all));
    },
  );

  it("gives what was granted to a thread that died to others: the last page of a budget comes", async () => {
    const { reason, pages } = await crawl({
      ...BASE,
      seeds: "http://a.test/",
      robots: false,
      sitemaps: false,
      perHost: 4,
      maxPages: 2,
      downloaders: [new URL("../support/dying-downloader.mjs", import.meta.url)],
      // The one that is held beside the deadly one may lose an attempt whenever that takes their thread along.
      rules: [
        { id: "last", match: { pattern: "/last$" }, maxAttempts: 50 },
        { id: "others", maxAttempts: 2 },
      ],
    }).finished;
    expect({ reason, pages }).toEqual({ reason: "max-pages", pages: 2 });
  });
});

describe("a sitemap that is read again", () => {
  it.each([0, 2])("with %s threads brings back a page that has changed since", async (threads) => {
    const asked: string[] = [];
    let changedAt = Date.now() - 3_600_000;
    const server = createServer(({ url = "" }, response) => {
      asked.push(url);
      const readings = asked.filter((each) => each === "/sitemap.xml").length;
      // The page has been visited by then: the next reading comes when nothing else is left.
      if (url === "/sitemap.xml" && readings > 1 && asked.includes("/1")) changedAt = Date.now();
      const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
      const lastmod = `<lastmod>${new Date(changedAt).toISOString()}</lastmod>`;
      const entry = `<url><loc>${origin}/1</loc>${lastmod}</url>`;
      const isSitemap = url === "/sitemap.xml";
      response.setHeader("content-type", isSitemap ? "application/xml" : "text/html");
      response.end(isSitemap ? `<urlset>${entry}</urlset>` : "a page");
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const seeds = [`http://127.0.0.1:${(server.address() as AddressInfo).port}/sitemap.xml`];
    const run = crawl({
      ...{ allowPrivate: true, delayMs: 0, robots: false, threads },
      rules: [{ id: "site", seeds, every: 200 }],
    });
    let pages = 0;
    run.on("page", () => {
      if (++pages === 2) void run.stop();
    });
    const { renewed, sitemaps } = await run.finished;
    expect([renewed > 0, sitemaps > 1]).toEqual([true, true]);
    expect(asked.filter((each) => each === "/1").length).toBeGreaterThanOrEqual(2);
    server.close();
  });
});

import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { crawl } from "../../../../src/crawl/run/crawl.ts";
import { openSyntheticWeb } from "../../../../src/testing.ts";

const TRAPS = "http://traps.outrider.test";
const QUICK = { allowPrivate: true, delayMs: 0, robots: { retryMs: 10 } } as const;

interface Site extends AsyncDisposable {
  readonly url: string;
  /** Paths in the order of asking, robots.txt apart. */
  readonly asked: string[];
  readonly times: number[];
}

type Answer = (path: string, request: IncomingMessage, response: ServerResponse) => void;

/** A site of one host that answers as told; robots.txt is not there unless `answer` is asked for it. */
async function openSite(answer: Answer, hasRobots = false): Promise<Site> {
  const asked: string[] = [];
  const times: number[] = [];
  const server = createServer((request, response) => {
    const path = request.url ?? "";
    if (path === "/robots.txt" && !hasRobots) return void response.writeHead(404).end();
    asked.push(path);
    times.push(performance.now());
    answer(path, request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    times,
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

const html = (response: ServerResponse, body: string): unknown =>
  response.writeHead(200, { "content-type": "text/html" }).end(body);
const links = (paths: readonly string[]): string =>
  paths.map((path) => `<a href="${path}">`).join("");
const numbered = (prefix: string, count: number): string[] =>
  Array.from({ length: count }, (_, index) => `${prefix}${index}`);

describe("bounds of a crawl", () => {
  it.each([true, false])(
    "the bytes of a host are a bound, also on what was pending (robots.txt kept: %s)",
    async (isKept) => {
      const size = 10_000;
      await using site = await openSite((path, _, response) => {
        const body = path === "/" ? links(numbered("/p/", 30)) : links([`${path}/more`]);
        html(response, body.padEnd(size));
      });
      const summary = await crawl({
        ...QUICK,
        ...(isKept ? {} : { robots: false }),
        seeds: `${site.url}/`,
        maxHostBytes: 5 * size,
      }).finished;
      expect(site.asked).toHaveLength(5);
      expect(summary).toMatchObject({
        pages: 5,
        bytes: 5 * size,
        pending: 0,
        failures: { budget: expect.any(Number) },
      });
      const { budget: failed = 0 } = summary.failures;
      const { budget: refused = 0 } = summary.rejected;
      // 30 links of the first page and one of each other: visited, pending at the end, or refused.
      expect(4 + failed + refused).toBe(30 + 4);
    },
  );

  it("sitemaps use the bytes of a host up too, and are refused then", async () => {
    const size = 10_000;
    await using site = await openSite((path, request, response) => {
      const at = `http://${request.headers.host}`;
      const maps = numbered(`Sitemap: ${at}/`, 9).map((line) => `${line}.xml\n`);
      if (path === "/robots.txt") response.end(maps.join(""));
      else if (path.endsWith(".xml")) response.end("<urlset></urlset>".padEnd(size));
      else html(response, "".padEnd(size));
    }, true);
    const seeds = `${site.url}/`;
    const summary = await crawl({ ...QUICK, seeds, maxHostBytes: 4 * size }).finished;
    expect(site.asked.filter((path) => path !== "/robots.txt")).toHaveLength(4);
    expect(summary).toMatchObject({ pages: 1, sitemaps: 3, pending: 0 });
    expect(summary.failures).toEqual({ budget: 6 });
  });

  it("a page of 10 MB is read to its end where it may be, and cut where it may not", async () => {
    await using web = await openSyntheticWeb({ hosts: 1, pages: 1 });
    const base = { ...QUICK, seeds: `${TRAPS}/huge`, dial: web.dial, robots: false } as const;
    const whole = await crawl({ ...base, maxBytes: 11 * 1024 * 1024 }).finished;
    expect(whole).toMatchObject({ pages: 3, truncated: 0 });
    expect(whole.bytes).toBeGreaterThan(10 * 1024 * 1024);
    const cut = await crawl({ ...base, maxBytes: 1024 * 1024 }).finished;
    expect(cut).toMatchObject({ pages: 2, truncated: 1 });
    expect(web.log.entries.map(({ path }) => path).sort()).toEqual(
      ["/huge", "/end-of-start", "/far", "/huge", "/end-of-start"].sort(),
    );
  });

  it("a page of 100,000 links is worked on, and all of them are pending", async () => {
    await using web = await openSyntheticWeb({ hosts: 1, pages: 1 });
    const summary = await crawl({
      ...QUICK,
      seeds: `${TRAPS}/links`,
      dial: web.dial,
      robots: false,
      maxPages: 1,
      maxHostUrls: 1_000_000,
    }).finished;
    expect(summary).toMatchObject({ pages: 1, pending: 100_000, reason: "max-pages" });
  });

  it("calendars, session ids and endless folders end where they are told to, and it is told", async () => {
    await using web = await openSyntheticWeb({ hosts: 1, pages: 1 });
    const traps = ["/calendar/2026/11", "/session/1", "/deep/a/"];
    const base = { ...QUICK, seeds: traps.map((path) => TRAPS + path), dial: web.dial } as const;
    const deep = await crawl({ ...base, maxDepth: 20, trapFilter: false }).finished;
    expect(deep).toMatchObject({ pages: 63, pending: 0, rejected: { "too-deep": 3 } });
    const filtered = await crawl({ ...base, maxDepth: 20 }).finished;
    expect(filtered).toMatchObject({ pages: 2 * 21 + 4, pending: 0, trapped: 1 });
    const few = await crawl({ ...base, maxHostUrls: 10, trapFilter: false }).finished;
    expect(few).toMatchObject({ pages: 10, pending: 0, rejected: { budget: 3 } });
  });

  it("a chain of redirects ends at its bound, a circle and a redirect to itself by themselves", async () => {
    await using web = await openSyntheticWeb({ hosts: 1, pages: 1 });
    const seeds = ["/chain/0", "/loop/a", "/self"].map((path) => TRAPS + path);
    const summary = await crawl({ ...QUICK, seeds, dial: web.dial, maxRedirects: 4 }).finished;
    expect(summary).toMatchObject({ pages: 0, redirects: 5 + 2 + 1, pending: 0 });
    expect(summary.failures).toEqual({ redirects: 1 });
  });
});

describe("what a site says", () => {
  it("pages that robots.txt forbids cost their host no pause, and are no failures of it", async () => {
    const forbidden = 500;
    await using site = await openSite((path, _, response) => {
      if (path === "/robots.txt") response.end("User-agent: *\nDisallow: /no/\n");
      else html(response, links([...numbered("/no/", forbidden), "/yes"]));
    }, true);
    // At a pause each they would take minutes; with back-off after ten failures, days.
    const summary = await crawl({ ...QUICK, seeds: `${site.url}/`, delayMs: 400 }).finished;
    expect(site.asked).toEqual(["/robots.txt", "/", "/yes"]);
    expect(summary).toMatchObject({ pages: 2, disallowed: forbidden, pending: 0 });
    for (const at of [1, 2]) {
      expect((site.times[at] as number) - (site.times[at - 1] as number)).toBeGreaterThan(390);
    }
  });

  it("Retry-After leaves the whole host alone, in seconds and as a date, also of a server that tells no time", async () => {
    const held = async (path: string): Promise<void> => {
      let told = false;
      await using site = await openSite((_, __, response) => {
        if (told) return void html(response, "");
        told = true;
        const now = Date.now();
        const after = path === "/seconds" ? "1" : new Date(now + 2_000).toUTCString();
        const stamp = path === "/timeless" ? {} : { date: new Date(now).toUTCString() };
        response.sendDate = false;
        response.writeHead(429, { "retry-after": after, ...stamp }).end();
      });
      const seeds = [site.url + path, `${site.url}/other`];
      const summary = await crawl({ ...QUICK, seeds, concurrency: 8 }).finished;
      expect(summary).toMatchObject({ pages: 2, retried: 1, statuses: { 200: 2, 429: 1 } });
      // A date has whole seconds: two seconds ahead is at least one.
      expect((site.times[1] as number) - (site.times[0] as number)).toBeGreaterThan(990);
    };
    await Promise.all(["/seconds", "/date", "/timeless"].map(held));
  });

  it("Retry-After holds up a redirect's next request alone, and is nothing where no wait is meant", async () => {
    await using site = await openSite((path, _, response) => {
      const later = { "retry-after": "3600" };
      if (path === "/moved")
        response.writeHead(307, { "retry-after": "1", location: "/next" }).end();
      else if (path === "/gone") response.writeHead(404, later).end();
      else if (path === "/plain") response.writeHead(200, later).end();
      else html(response, "");
    });
    const seeds = ["/moved", "/gone", "/plain", "/other"].map((path) => site.url + path);
    await crawl({ ...QUICK, seeds, concurrency: 1 }).finished;
    expect(site.asked.toSorted()).toEqual(["/gone", "/moved", "/next", "/other", "/plain"]);
    const timeOf = (path: string): number => site.times[site.asked.indexOf(path)] as number;
    expect(timeOf("/next") - timeOf("/moved")).toBeGreaterThan(950);
  });

  it("links that were left are in the summary, as too long and as too many", async () => {
    await using site = await openSite((_, __, response) =>
      html(response, `<a href="/${"x".repeat(20_000)}">${links(numbered("/", 5))}`),
    );
    const { rejected } = await crawl({ ...QUICK, seeds: site.url, maxLinks: 4, maxPages: 1 })
      .finished;
    expect(rejected).toEqual({ "too-long": 1, "too-many": 2 });
  });

  it("robots.txt that lies at another host is asked for when it is that host's turn", async () => {
    const delayMs = 300;
    const times: Record<string, number[]> = { a: [], b: [] };
    const server = createServer((request, response) => {
      const host = String(request.headers.host).charAt(0);
      times[host]?.push(performance.now());
      if (request.url !== "/robots.txt") return void html(response, links(["/1", "/2"]));
      if (host === "b") return void response.end("User-agent: *\nDisallow: /2\n");
      response.writeHead(301, { location: "http://b.test/robots.txt" }).end();
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const dial = { address: "127.0.0.1", port: (server.address() as AddressInfo).port };
    const seeds = ["http://b.test/", "http://a.test/"];
    const summary = await crawl({ ...QUICK, seeds, dial, delayMs }).finished;
    expect(summary).toMatchObject({ pages: 4, disallowed: 2, robotsFetched: 2, pending: 0 });
    expect([times.a?.length, times.b?.length]).toEqual([3, 4]);
    for (const list of Object.values(times))
      for (let at = 1; at < list.length; at++)
        expect((list[at] as number) - (list[at - 1] as number)).toBeGreaterThan(delayMs - 5);
    server.closeAllConnections();
    server.close();
  });

  it("robots.txt: 4xx allows all, 5xx allows nothing, a delay and rules for us are kept", async () => {
    for (const status of [404, 403, 500, 429]) {
      await using site = await openSite((path, _, response) => {
        if (path === "/robots.txt") response.writeHead(status).end();
        else html(response, "");
      }, true);
      const robots = { retryMs: 5, attempts: 2 };
      const summary = await crawl({ ...QUICK, seeds: `${site.url}/`, robots }).finished;
      const isAllowed = status < 500 && status !== 429;
      const asked = isAllowed ? ["/robots.txt", "/"] : ["/robots.txt", "/robots.txt"];
      expect([status, site.asked]).toEqual([status, asked]);
      expect([status, summary.disallowed]).toEqual([status, isAllowed ? 0 : 1]);
      expect(summary.failures).toEqual(isAllowed ? {} : { "robots-unreachable": 1 });
    }
    await using site = await openSite((path, _, response) => {
      const text =
        "User-agent: *\nDisallow: /\n\nUser-agent: Outrider\nDisallow: /no\nCrawl-delay: 0.3\n";
      if (path === "/robots.txt") response.writeHead(200).end(text);
      else html(response, links(["/no/1", "/yes"]));
    }, true);
    const summary = await crawl({ ...QUICK, seeds: `${site.url}/` }).finished;
    expect(site.asked).toEqual(["/robots.txt", "/", "/yes"]);
    expect(summary).toMatchObject({ pages: 2, disallowed: 1, failures: { robots: 1 } });
    for (const at of [1, 2]) {
      expect((site.times[at] as number) - (site.times[at - 1] as number)).toBeGreaterThan(290);
    }
  });

  it("sitemaps, an index of packed and plain ones, are seeds that know when they changed", async () => {
    const index = (origin: string): string =>
      `<sitemapindex><sitemap><loc>${origin}/a.xml.gz</loc></sitemap>
       <sitemap><loc>${origin}/b.txt</loc></sitemap></sitemapindex>`;
    const origin = (request: IncomingMessage): string => `http://${request.headers.host}`;
    await using site = await openSite((path, request, response) => {
      const at = origin(request);
      const pages = `<urlset><url><loc>${at}/1?a=1&amp;b=2</loc><lastmod>2026-11-01</lastmod></url></urlset>`;
      if (path === "/robots.txt") response.end(`Sitemap: ${at}/index.xml\n`);
      else if (path === "/index.xml") response.end(index(at));
      else if (path === "/a.xml.gz") response.end(gzipSync(pages));
      else if (path === "/b.txt") response.end(`${at}/2\n# no URL\n${at}/3\n`);
      else html(response, "");
    }, true);
    const data: Record<string, unknown> = {};
    const summary = await crawl({
      ...QUICK,
      seeds: `${site.url}/`,
      analyzers: [
        {
          analyze(page) {
            data[page.url.slice(site.url.length)] = page.data;
          },
        },
      ],
    }).finished;
    expect(summary).toMatchObject({ pages: 4, sitemaps: 3, pending: 0 });
    expect(data).toEqual({
      "/": undefined,
      "/1?a=1&b=2": { lastmod: "2026-11-01" },
      "/2": undefined,
      "/3": undefined,
    });
  });

  it("links are what markup, charset and IDN make of them; what cannot be visited is left", async () => {
    await using web = await openSyntheticWeb({ hosts: 1, pages: 1 });
    const seeds = ["/kinds", "/charset", "/idn", "/base", "/refresh", "/canonical", "/nofollow"];
    const summary = await crawl({
      ...QUICK,
      seeds: seeds.map((path) => TRAPS + path),
      dial: web.dial,
      robots: false,
    }).finished;
    const asked = web.log.entries.map(({ host, path }) => `${host.split(".")[0]}${path}`);
    expect(asked.sort()).toEqual(
      [
        ...seeds.map((path) => `traps${path}`),
        "traps/image.png",
        "traps/paper.pdf",
        "traps/x", // stands as markup in the text of the data: link
        "traps/named/%E6%97%A5%E6%9C%AC",
        "traps/%C3%BCmlaut?q=%C3%9F&r=1",
        "xn--bcher-kva/",
        "traps/based/deep/page",
        "traps/refreshed",
        "traps/canonical-form",
      ].sort(),
    );
    expect(summary).toMatchObject({ pending: 0, failures: { "status 404": 2 } });
  });
});

describe("a name server that lies", () => {
  it("leads to no address that is not permitted: nothing is asked there", async () => {
    await using web = await openSyntheticWeb({ hosts: 1, pages: 1 });
    let count = 0;
    const faults: string[] = [];
    const run = crawl({
      seeds: [1, 2, 3].map((n) => `http://rebound.test:${web.port}/${n}`),
      delayMs: 0,
      robots: false,
      defaults: { maxAttempts: 1 },
      // Public the first time it is asked, loopback ever after.
      lookup: (_, __, answer) =>
        answer(null, [{ address: count++ === 0 ? "192.0.2.1" : "127.0.0.1", family: 4 }]),
    });
    run.on("error", ({ message }) => faults.push(message));
    expect(await run.finished).toMatchObject({ pages: 0, failures: { address: 3 } });
    expect(faults).toHaveLength(3);
    expect(web.log.entries).toEqual([]);
  });
});

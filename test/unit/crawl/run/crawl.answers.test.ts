/** What a crawl keeps and says of single URLs, where it may go, and what it begins with. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import type { Download, Downloader } from "../../../../src/crawl/module-registry.ts";
import { explainUrl } from "../../../../src/crawl/report/explain-url.ts";
import type { Visit } from "../../../../src/crawl/report/visit-statistics.ts";
import { crawl } from "../../../../src/crawl/run/crawl.ts";
import type { CrawlOptions } from "../../../../src/crawl/run/crawl-options.ts";
import { createVirtualClock, openFrontier } from "../../../../src/index.ts";

const HOME = "http://site.example/";
const folder = mkdtempSync(join(tmpdir(), "outrider-answers-"));
afterAll(() => rmSync(folder, { recursive: true }));

type Site = Record<string, string | { location: string }> & { asked?: never };

/** A downloader of a web in memory by URL, and the requests that it was asked for. */
function webOf(pages: Site): Downloader & {
  asked: string[];
  headers: Array<Record<string, string> | undefined>;
} {
  const asked: string[] = [];
  const headers: Array<Record<string, string> | undefined> = [];
  return {
    asked,
    headers,
    async download(request): Promise<Download> {
      const { url } = request;
      asked.push(url);
      headers.push(request.headers);
      const page = pages[url] ?? pages[new URL(url).pathname];
      const told = { url, bytes: 1, latencyMs: 7, headers: { "content-type": "text/html" } };
      if (typeof page === "object") {
        return { ...told, status: 301, headers: page, body: Buffer.alloc(0) };
      }
      return { ...told, status: page === undefined ? 404 : 200, body: Buffer.from(page ?? "") };
    },
  };
}

const links = (...paths: string[]): string =>
  paths.map((path) => `<a href="${path}">x</a>`).join("");

async function run(web: Downloader, options: CrawlOptions = {}) {
  return crawl({ seeds: HOME, delayMs: 0, robots: false, downloaders: [web], ...options }).finished;
}

describe("a feed", () => {
  const feed = `<rss><channel><item><link>/1</link></item><item><link>/2</link></item></channel></rss>`;
  const web = (type: string): Downloader & { asked: string[] } => {
    const plain = webOf({ "/": links("/feed"), "/feed": feed, "/1": "one", "/2": "two" });
    return {
      ...plain,
      async download(request) {
        const answer = await plain.download(request);
        const isFeed = request.url.endsWith("/feed");
        const headers = { "content-type": isFeed ? type : "text/html" };
        // As the built-in one, which leaves the body of what is not accepted unread.
        const isTaken = request.accepts?.(answer.status, headers) !== false;
        return { ...answer, headers, body: isTaken ? answer.body : Buffer.alloc(0) };
      },
    };
  };

  it("among the seeds leads to its entries; one that pages link to is a page of another type", async () => {
    const asSeed = web("application/rss+xml");
    const found = await run(asSeed, { seeds: `${HOME}feed` });
    expect(asSeed.asked.sort()).toEqual([`${HOME}1`, `${HOME}2`, `${HOME}feed`]);
    expect([found.pages, found.sitemaps]).toEqual([2, 1]);
    const asLink = web("application/atom+xml");
    expect((await run(asLink)).sitemaps).toBe(0);
    expect(asLink.asked.sort()).toEqual([HOME, `${HOME}feed`]);
  });

  it("that its server calls text is read where the seed says what it is", async () => {
    const asText = web("text/xml");
    const seeds = [{ url: `${HOME}feed`, handler: "sitemap" }];
    expect((await run(asText, { seeds })).pages).toBe(2);
  });
});

describe("items", () => {
  const analyzers = [{ analyze: () => ({ items: [{ n: 1 }] }) }];

  it("of a step that threw once are stored by the next attempt, and counted once", async () => {
    const stored: unknown[] = [];
    let calls = 0;
    const processors = [
      (item: unknown) => {
        if (++calls === 1) throw new Error("the database is away");
        return item;
      },
      (item: unknown) => void stored.push(item),
    ];
    const summary = await run(webOf({ "/": "" }), { analyzers, pipelines: [{ processors }] });
    expect(summary).toMatchObject({ pages: 1, items: 1, retried: 1, errors: { pipeline: 1 } });
    expect(stored).toEqual([{ n: 1 }]);
  });

  it("that no step could store, or that were dropped, are none", async () => {
    const refuse = (): never => {
      throw new Error("no");
    };
    const rows = [
      { processors: [refuse], items: 0, pages: 0 },
      { processors: [() => null], items: 0, pages: 1 },
      { processors: [refuse], failFast: false, items: 0, pages: 1 },
      { processors: [refuse, () => undefined], failFast: false, items: 1, pages: 1 },
    ];
    for (const { items, pages, ...pipeline } of rows) {
      const told: unknown[] = [];
      const handle = crawl({
        ...{ seeds: HOME, delayMs: 0, robots: false, downloaders: [webOf({ "/": "" })], analyzers },
        pipelines: [pipeline],
      });
      handle.on("item", (item) => told.push(item));
      expect(await handle.finished).toMatchObject({ items, pages });
      expect(told).toHaveLength(items);
    }
  });
});

describe("what a crawl begins with", () => {
  it.each([
    [{}, "options.seeds"],
    [{ seeds: [] }, "options.seeds"],
    [{ seeds: ["not a url"] }, 'options.seeds: "not a url"'],
    [{ seeds: ["ftp://x.test/"] }, "options.seeds"],
    [{ directory: join(folder, "nothing") }, "options.seeds"],
    [{ scope: "same-host", directory: join(folder, "nothing") }, "options.seeds"],
  ])("%j is refused at once", (options, name) => {
    expect(() => crawl(options as CrawlOptions)).toThrow(name);
  });

  it("a directory whose scope nobody chose is refused, and goes on once one is named", async () => {
    const directory = join(folder, "imported");
    const frontier = await openFrontier({ directory });
    frontier.pushMany(["http://a.example/", "http://b.example/"]);
    await frontier.close();
    const web = webOf({ "/": links("http://else.example/") });
    await expect(run(web, { seeds: [], directory })).rejects.toThrow(
      "no scope was chosen for what",
    );
    expect(web.asked).toEqual([]);
    const scope = ["a.example", "b.example"];
    expect(await run(web, { seeds: [], directory, scope })).toMatchObject({ pages: 2, pending: 0 });
    expect(web.asked).toHaveLength(2);
  });

  it("a directory that may go anywhere is known to", async () => {
    const directory = join(folder, "anywhere");
    const web = webOf({ "/": links("http://else.example/", "http://third.example/") });
    await run(web, { directory, scope: "any", maxPages: 1 });
    expect(await run(web, { seeds: [], directory })).toMatchObject({ pages: 2, pending: 0 });
  });
});

describe("where a crawl goes", () => {
  const pages = {
    "/docs/": links("/docs/a", "/else", "http://www.site.example/docs/b", "http://o.example/"),
    "/docs/a": "",
    "/docs/b": "",
    "/else": "",
  };
  it.each([
    [undefined, ["/docs/a", "/else", "http://www.site.example/docs/b"]],
    ["same-domain", ["/docs/a", "/else", "http://www.site.example/docs/b"]],
    ["same-host", ["/docs/a", "/else"]],
    ["path-prefix", ["/docs/a"]],
    [["http://site.example/docs/"], ["/docs/a"]],
    [["site.example:80"], ["/docs/a", "/else"]],
    [["site.example:8080"], []],
    ["any", ["/docs/a", "/else", "http://www.site.example/docs/b", "http://o.example/"]],
  ])("%j", async (scope, expected) => {
    const web = webOf(pages);
    const seeds = `${HOME}docs/`;
    await run(web, { seeds, ...(scope === undefined ? {} : { scope }) } as CrawlOptions);
    const found = web.asked.filter((url) => url !== seeds);
    expect(found.sort()).toEqual(expected.map((path) => new URL(path, HOME).href).sort());
  });

  it("hosts and folders are kept by a directory, and other seeds join them", async () => {
    for (const scope of ["same-host", "path-prefix"] as const) {
      const directory = join(folder, scope);
      const web = webOf(pages);
      const seeds = `${HOME}docs/`;
      await run(web, { seeds, scope, directory, maxPages: 1 });
      const summary = await run(web, { directory, seeds: "http://join.example/else" });
      expect(web.asked).toContain("http://join.example/else");
      expect(web.asked).toContain(`${HOME}docs/a`);
      expect(web.asked).not.toContain("http://www.site.example/docs/b");
      expect(summary.pending).toBe(0);
    }
  });

  it("follows what include takes and exclude leaves; seeds go in any case, and a directory keeps it", async () => {
    const directory = join(folder, "patterns");
    const web = webOf({
      "/": links("/docs/a", "/docs/b.pdf", "/else", "/docs/moved"),
      "/docs/a": links("/else2", "/docs/c"),
      "/docs/moved": { location: "/else3" },
      "/docs/c": links("/docs/d.pdf"),
    });
    const include = ["/docs/**"];
    const first = await run(web, { directory, include, exclude: ["*.pdf"], maxPages: 2 });
    const second = await run(web, { seeds: [], directory });
    expect(web.asked.sort()).toEqual(
      ["", "docs/a", "docs/c", "docs/moved"].map((path) => HOME + path),
    );
    const left = (first.rejected.excluded ?? 0) + (second.rejected.excluded ?? 0);
    expect(left).toBe(5);
    expect(explainUrl(directory, `${HOME}docs/b.pdf`).leftOutBy).toBe("exclude *.pdf");
    expect(explainUrl(directory, `${HOME}docs/a`).leftOutBy).toBe(undefined);
  });

  it("with sitemapOnly visits what sitemaps list, and follows nothing", async () => {
    const web = webOf({
      "/robots.txt": `Sitemap: ${HOME}more.xml`,
      "/sitemap.xml": `<urlset><url><loc>${HOME}a</loc></url></urlset>`,
      "/more.xml": `<urlset><url><loc>${HOME}b</loc></url></urlset>`,
      "/a": links("/c"),
      "/b": links("/c"),
      "/c": "",
    });
    const robots = { retryMs: 1 };
    expect(await run(web, { sitemapOnly: true, robots })).toMatchObject({ pages: 2, sitemaps: 2 });
    expect(web.asked.sort()).toEqual(
      ["a", "b", "more.xml", "robots.txt", "sitemap.xml"].map((path) => HOME + path),
    );
  });

  it("sends name and password to the seeds' origins alone", async () => {
    const web = webOf({ "/": links("http://other.example/") });
    const auth = { username: "me", password: "pass:word" };
    await run(web, { auth, scope: "any" });
    const value = `Basic ${Buffer.from("me:pass:word").toString("base64")}`;
    expect(web.headers.map((each) => each?.authorization)).toEqual([value, undefined]);
  });

  it("ends after maxTimeMs, by the crawl's clock", async () => {
    const clock = createVirtualClock();
    const never: Downloader = {
      download: ({ signal }) =>
        new Promise((_, reject) => {
          signal?.addEventListener("abort", () => reject(new Error("given up")));
        }),
    };
    const handle = crawl({
      ...{ seeds: HOME, robots: false, downloaders: [never], clock, maxTimeMs: 60_000 },
      progressMs: 0,
    });
    await new Promise<void>((resolve) => {
      handle.on("status", ({ to }) => {
        if (to === "running") setImmediate(resolve);
      });
    });
    clock.advance(59_999);
    expect(handle.status).toBe("running");
    clock.advance(1);
    expect(handle.status).toBe("draining");
    expect(await handle.stop({ now: true }).then(({ reason }) => reason)).toBe("max-time");
  });
});

describe("what a crawl says of single URLs", () => {
  it("tells each visit with its outcome, keeps failures with their reasons, and writes both down", async () => {
    const log = join(folder, "visits.jsonl");
    const saveBodies = join(folder, "bodies");
    const web = webOf({ "/": links("/a", "/gone"), "/a": "text of a" });
    const visits: Visit[] = [];
    const handle = crawl({
      ...{ seeds: HOME, delayMs: 0, robots: false, downloaders: [web], log, saveBodies },
    });
    handle.on("visit", (visit) => visits.push(visit));
    const summary = await handle.finished;
    const lines = readFileSync(log, "utf8").trimEnd().split("\n");
    expect(lines.map((line) => JSON.parse(line))).toEqual(visits);
    expect(visits.map(({ url, outcome, status, depth }) => [url, outcome, status, depth])).toEqual([
      [HOME, "done", 200, 0],
      [`${HOME}a`, "done", 200, 1],
      [`${HOME}gone`, "failed", 404, 1],
    ]);
    expect(visits[2]).toMatchObject({ reason: "status 404", bytes: 1, latencyMs: 7 });
    expect(visits[2]?.parent).toMatch(/^[\da-f]{32}$/);
    expect(summary.failing).toEqual([
      { url: `${HOME}gone`, reason: "status 404", status: 404, depth: 1, foundOn: HOME },
    ]);
    expect(summary.statusDepths).toEqual({ 200: [1, 1], 404: [0, 1] });
    expect(summary.slowest.map(({ latencyMs }) => latencyMs)).toEqual([7, 7, 7]);
    expect(summary.slowestHosts).toEqual([{ host: "site.example", latencyMs: 7, answers: 3 }]);
    const index = readFileSync(join(saveBodies, "index.jsonl"), "utf8").trimEnd().split("\n");
    const saved = index.map((line) => JSON.parse(line) as { url: string; file: string });
    expect(saved.map(({ url }) => url)).toEqual([HOME, `${HOME}a`]);
    expect(readFileSync(join(saveBodies, saved[1]?.file as string), "utf8")).toBe("text of a");
    expect(readdirSync(saveBodies)).toHaveLength(3);
  });

  it("says the line of robots.txt that decides", async () => {
    const directory = join(folder, "robots");
    const web = webOf({
      "/robots.txt": "User-agent: *\nDisallow: /private\nAllow: /private/open",
      "/": links("/private/a"),
    });
    await run(web, { directory, robots: { retryMs: 1 } });
    const about = (path: string) => explainUrl(directory, HOME + path);
    expect(about("private/a")).toEqual({ robots: "disallowed", robotsLine: "Disallow: /private" });
    expect(about("private/open")).toEqual({
      robots: "allowed",
      robotsLine: "Allow: /private/open",
    });
    expect(about("b")).toEqual({ robots: "allowed" });
    expect(explainUrl(directory, "http://never.example/")).toEqual({ robots: "unknown" });
  });
});

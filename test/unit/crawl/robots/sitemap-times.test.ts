import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { readLastmod } from "../../../../src/base/time/lastmod.ts";
import { openLineFile } from "../../../../src/crawl/files.ts";
import type { Download, Downloader } from "../../../../src/crawl/module-registry.ts";
import { createSitemapTimes } from "../../../../src/crawl/robots/sitemap-times.ts";
import { crawl } from "../../../../src/crawl/run/crawl.ts";
import {
  createVirtualClock,
  type Frontier,
  openFrontier,
  type RequestInput,
} from "../../../../src/index.ts";

const folder = mkdtempSync(join(tmpdir(), "outrider-sitemap-times-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const START_MS = Date.UTC(2026, 10, 1, 12);
const HOUR_MS = 3_600_000;
const iso = (ms: number): string => new Date(ms).toISOString();
const MAP = "http://site.example/sitemap.xml";

async function rig(countMax?: number, path?: string) {
  const clock = createVirtualClock(START_MS);
  const frontier = await openFrontier({ clock, keepOpen: true });
  let due = 0;
  const file = path === undefined ? undefined : openLineFile(path);
  const open = (lines = file) =>
    createSitemapTimes({
      ...{ clock, frontier, file: lines, onDue: () => void due++ },
      ...(countMax === undefined ? {} : { countMax }),
    });
  let times = open();
  return {
    clock,
    frontier,
    get times() {
      return times;
    },
    get due() {
      return due;
    },
    reopen(lines: ReturnType<typeof openLineFile>) {
      times = open(lines);
    },
    /** Reads a sitemap, visits what comes of it, and returns those that came again. */
    async read(found: RequestInput[], data?: unknown): Promise<number> {
      const before = due;
      frontier.pushMany(await times.take({ url: MAP, data, found }));
      visitAll(frontier, (url) => times.visited(url, clock.now()));
      return due - before;
    },
  };
}

function visitAll(frontier: Frontier, visited: (url: string) => void): void {
  for (let lease = frontier.poll(); lease !== undefined; lease = frontier.poll()) {
    visited(lease.url);
    lease.done();
  }
}

const page = (n: number, lastmod?: string): RequestInput => ({
  url: `http://site.example/${n}`,
  ...(lastmod === undefined ? {} : { data: { lastmod } }),
});

describe("the date of an entry", () => {
  it("is read in the forms of sitemaps and feeds, and means the whole of its day, month or year", () => {
    const rows: Array<[string, string, string]> = [
      ["2026", "2026-01-01T00:00:00.000Z", "2026-12-31T23:59:59.999Z"],
      ["2026-02", "2026-02-01T00:00:00.000Z", "2026-02-28T23:59:59.999Z"],
      ["2026-11-26", "2026-11-26T00:00:00.000Z", "2026-11-26T23:59:59.999Z"],
      [" 2026-11-26T10:20Z ", "2026-11-26T10:20:00.000Z", "2026-11-26T10:20:00.000Z"],
      ["2026-11-26T10:20:30.5+01:00", "2026-11-26T09:20:30.500Z", "2026-11-26T09:20:30.500Z"],
      ["2026-11-26 10:20:30", "2026-11-26T10:20:30.000Z", "2026-11-26T10:20:30.000Z"],
      ["Thu, 26 Nov 2026 10:20:30 GMT", "2026-11-26T10:20:30.000Z", "2026-11-26T10:20:30.000Z"],
      ["Thu, 26 Nov 26 10:20:30 GMT", "2026-11-26T10:20:30.000Z", "2026-11-26T10:20:30.000Z"],
      ["26 Nov 99 10:20 GMT", "1999-11-26T10:20:00.000Z", "1999-11-26T10:20:00.000Z"],
      ["26 Nov 2026 10:20 +0200", "2026-11-26T08:20:00.000Z", "2026-11-26T08:20:00.000Z"],
    ];
    for (const [text, from, until] of rows) {
      const read = readLastmod(text);
      expect([text, iso(read?.from ?? 0), iso(read?.until ?? 0)]).toEqual([text, from, until]);
    }
  });

  it("is none where it is garbage, or older than the web", () => {
    const none = ["", "yesterday", "foo 1", "0000-00-00", "0000", "0001-01-01", "1970-01-01"];
    const more = ["2026-13-01", "2026-11-26T99:99Z", "99999999", "+2026-01-01", "x".repeat(1e6)];
    for (const text of [...none, ...more, 7, null, undefined, {}]) {
      expect([text, readLastmod(text)]).toEqual([text, undefined]);
    }
  });
});

describe("a sitemap", () => {
  it("brings back the pages whose lastmod is newer than their last visit, and no others", async () => {
    const sitemap = await rig();
    const before = iso(START_MS - HOUR_MS);
    const at = (changed: number[], when: string): RequestInput[] =>
      [1, 2, 3, 4].map((n) => page(n, n === 4 ? undefined : changed.includes(n) ? when : before));
    expect(await sitemap.read(at([], ""))).toBe(0);
    expect(sitemap.frontier.report().done).toBe(4);
    sitemap.clock.advance(2 * HOUR_MS);
    expect(await sitemap.read(at([], ""))).toBe(0);
    const changed = iso(START_MS + HOUR_MS);
    expect(await sitemap.read(at([2, 3], changed))).toBe(2);
    expect(await sitemap.read(at([2, 3], changed))).toBe(0);
    // It was visited after this change, which the sitemap lists late.
    expect(await sitemap.read(at([1], iso(START_MS - 1)))).toBe(0);
  });

  it("leaves a page alone that something else has visited since", async () => {
    const sitemap = await rig();
    await sitemap.read([page(1, iso(START_MS - HOUR_MS))]);
    sitemap.clock.advance(2 * HOUR_MS);
    sitemap.times.visited(page(1).url, sitemap.clock.now());
    expect(await sitemap.read([page(1, iso(START_MS + HOUR_MS))])).toBe(0);
  });

  it("with a day instead of a time brings a page back once when the day changes", async () => {
    const sitemap = await rig();
    await sitemap.read([page(1, "2026-10-30")]);
    sitemap.clock.advance(HOUR_MS);
    const came: number[] = [];
    for (let hour = 0; hour < 5; hour++) {
      came.push(await sitemap.read([page(1, "2026-11-01")]));
      sitemap.clock.advance(HOUR_MS);
    }
    expect(came).toEqual([1, 0, 0, 0, 0]);
  });

  it("that lies about its dates brings each page back at most once a reading, and by no date that is none", async () => {
    const sitemap = await rig();
    const lies = [
      ["2999-01-01", "0000-01-01", "garbage", "1970-01-01", iso(START_MS + 49 * HOUR_MS)],
      ["9999-12-31T23:59:59Z", "Thu, 01 Jan 0000 00:00:00 GMT", "\0", "-1", "1e308"],
    ].flat();
    for (let reading = 0; reading < 5; reading++) {
      const found = lies.map((lie, n) => page(n, lie));
      expect(await sitemap.read([...found, ...found])).toBe(0);
    }
    // What says nothing hides no date that does.
    sitemap.clock.advance(50 * HOUR_MS);
    const honest = lies.map((_, n) => page(n, iso(START_MS + 49.5 * HOUR_MS)));
    expect(await sitemap.read(honest)).toBe(lies.length);
    // Always as old as its reading: it cannot be told from a page that changes.
    for (let reading = 0; reading < 5; reading++) {
      sitemap.clock.advance(HOUR_MS);
      const now = sitemap.clock.now();
      const found = [page(99, iso(now)), page(99, iso(now + 1)), page(99, iso(now + HOUR_MS))];
      expect(await sitemap.read(found)).toBeLessThanOrEqual(1);
    }
  });

  it("keeps the data that a program gave a page, and puts the date beside it", async () => {
    const { clock, frontier, times } = await rig();
    const list = { ...page(7, iso(START_MS + HOUR_MS)) };
    frontier.put({ url: list.url, data: { mine: 1 } });
    await times.take({ url: MAP, data: undefined, found: [page(7, iso(START_MS - 1))] });
    clock.advance(2 * HOUR_MS);
    await times.take({ url: MAP, data: undefined, found: [list] });
    expect(frontier.poll()?.data).toEqual({ mine: 1, lastmod: iso(START_MS + HOUR_MS) });
  });

  it("remembers a bounded number of pages; those that were dropped rest", async () => {
    const sitemap = await rig(10);
    const all = (lastmod: string): RequestInput[] =>
      Array.from({ length: 40 }, (_, n) => page(n, lastmod));
    await sitemap.read(all(iso(START_MS - HOUR_MS)));
    const path = join(folder, "bounded.jsonl");
    sitemap.reopen(openLineFile(path));
    sitemap.clock.advance(HOUR_MS);
    const changed = all(iso(sitemap.clock.now()));
    sitemap.clock.advance(HOUR_MS);
    await sitemap.read(changed);
    sitemap.clock.advance(HOUR_MS);
    expect(await sitemap.read(changed)).toBe(0);
    sitemap.times.flushed(Number.POSITIVE_INFINITY);
    expect(openLineFile(path).takeLines().length).toBeLessThanOrEqual(40);
  });

  it("outlives the process, and what is no line of ours is passed over", async () => {
    const path = join(folder, "kept.jsonl");
    const sitemap = await rig(undefined, path);
    await sitemap.read([page(1, iso(START_MS - HOUR_MS))]);
    sitemap.times.flushed(Number.POSITIVE_INFINITY);
    openLineFile(path).append(["no json", "[1]", '["x","y",1]', "{}"]);
    sitemap.clock.advance(HOUR_MS);
    sitemap.reopen(openLineFile(path));
    sitemap.clock.advance(HOUR_MS);
    expect(await sitemap.read([page(1, iso(START_MS - HOUR_MS))])).toBe(0);
    expect(await sitemap.read([page(1, iso(START_MS + 90 * 60_000))])).toBe(1);
  });
});

/** A site in memory: what a URL answers depends on how often it was asked for. */
function site(answer: (path: string, count: number) => string | undefined): Downloader & {
  readonly asked: Map<string, number>;
} {
  const asked = new Map<string, number>();
  return {
    asked,
    async download({ url }): Promise<Download> {
      const path = new URL(url).pathname;
      const count = (asked.get(path) ?? 0) + 1;
      asked.set(path, count);
      const text = answer(path, count);
      const type = path.endsWith(".xml") ? "application/xml" : "text/html";
      const headers = { "content-type": type };
      const body = Buffer.from(text ?? "");
      return {
        ...{ url, bytes: body.length, latencyMs: 1, headers, body },
        status: text === undefined ? 404 : 200,
      };
    },
  };
}

const index = (...children: Array<[path: string, lastmod?: string | undefined]>): string =>
  `<sitemapindex>${children.map(([path, lastmod]) => `<sitemap><loc>http://site.example${path}</loc>${dated(lastmod)}</sitemap>`).join("")}</sitemapindex>`;
const urlset = (...pages: Array<[path: string, lastmod?: string | undefined]>): string =>
  `<urlset>${pages.map(([path, lastmod]) => `<url><loc>http://site.example${path}</loc>${dated(lastmod)}</url>`).join("")}</urlset>`;
const dated = (lastmod?: string): string =>
  lastmod === undefined ? "" : `<lastmod>${lastmod}</lastmod>`;

/** Crawls until the rule's seeds have come `rounds` times and everything rests. */
async function rounds(web: Downloader, count: number, directory?: string, startMs = START_MS) {
  const clock = createVirtualClock(startMs);
  const run = crawl({
    ...{ clock, delayMs: 0, robots: false, downloaders: [web], progressMs: 0 },
    rules: [{ id: "news", seeds: [MAP], every: "1h" }],
    ...(directory === undefined ? {} : { directory }),
  });
  const isIdle = (): boolean => {
    const { pending, leased } = run.frontier?.report() ?? {};
    return pending === 0 && leased === 0;
  };
  let idle = 0;
  for (let turn = 0, left = count; left > 0 && turn < 100_000; turn++) {
    await new Promise((resolve) => setImmediate(resolve));
    idle = isIdle() ? idle + 1 : 0;
    if (idle < 20) continue;
    idle = 0;
    left--;
    if (left > 0) clock.advance(HOUR_MS);
  }
  return { summary: await run.stop(), endMs: clock.now() };
}

describe("a crawl whose rule pushes a sitemap again", () => {
  it("visits what has changed, and a child of an index only where that has changed", async () => {
    const web = site((path, count) => {
      const first = iso(START_MS - HOUR_MS);
      const second = iso(START_MS + HOUR_MS / 2);
      if (path === "/sitemap.xml")
        return index(["/a.xml", first], ["/b.xml", count === 1 ? first : second]);
      if (path === "/a.xml") return urlset(["/1", first], ["/2", first]);
      if (path === "/b.xml")
        return urlset(["/3", first], ["/4", count === 1 ? first : second], ["/new", second]);
      return "<p>page";
    });
    const { summary } = await rounds(web, 4);
    expect(Object.fromEntries(web.asked)).toEqual({
      "/sitemap.xml": 4,
      "/a.xml": 1,
      "/b.xml": 2,
      "/1": 1,
      "/2": 1,
      "/3": 1,
      "/4": 2,
      "/new": 1,
    });
    expect(summary.renewed).toBe(2);
  });

  it("ends where sitemaps name each other in a circle, with dates that always grow and without", async () => {
    for (const isDated of [true, false]) {
      let grows = START_MS;
      const next = (): string | undefined => (isDated ? iso(grows++) : undefined);
      const web = site((path) => {
        if (path === "/sitemap.xml") return index(["/a.xml", next()], ["/b.xml", next()]);
        if (path === "/a.xml") return index(["/b.xml", next()], ["/sitemap.xml", next()]);
        if (path === "/b.xml") return index(["/a.xml", next()], ["/a.xml", next()]);
        return undefined;
      });
      await rounds(web, 3);
      for (const [path, count] of web.asked) expect([path, count <= 6]).toEqual([path, true]);
    }
  });

  it("goes on where it was in its directory", async () => {
    const directory = join(folder, "goes-on");
    const web = site((path, count) => {
      if (path !== "/sitemap.xml") return "<p>page";
      const changed = iso(START_MS + (count < 4 ? -HOUR_MS : 2.5 * HOUR_MS));
      return urlset(["/1", changed], ["/2", iso(START_MS - HOUR_MS)]);
    });
    const first = await rounds(web, 2, directory);
    const second = await rounds(web, 2, directory, first.endMs + HOUR_MS);
    await rounds(web, 2, directory, second.endMs + HOUR_MS);
    expect(web.asked.get("/2")).toBe(1);
    expect(web.asked.get("/1")).toBe(2);
    expect(web.asked.get("/sitemap.xml")).toBeGreaterThanOrEqual(5);
  });
});

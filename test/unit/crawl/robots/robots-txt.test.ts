import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { createVirtualClock } from "../../../../src/base/clock.ts";
import { DownloadError } from "../../../../src/crawl/http/download-error.ts";
import type { Download } from "../../../../src/crawl/module-registry.ts";
import { createRobots, type Robots } from "../../../../src/crawl/robots/robots-txt.ts";
import { isSitemapBody, readSitemap } from "../../../../src/crawl/robots/sitemap.ts";

type Answers = Record<string, { status: number; body?: string; location?: string } | "down">;

function robotsOf(answers: Answers): {
  robots: Robots;
  asked: string[];
  clock: ReturnType<typeof createVirtualClock>;
} {
  const clock = createVirtualClock(1_000);
  const asked: string[] = [];
  const robots = createRobots({
    userAgent: "Outrider/0.1 (+http://x)",
    clock,
    expiryMs: 1_000,
    retryMs: 10,
    attempts: 3,
    maxCrawlDelayMs: 60_000,
    fetch({ url }) {
      asked.push(url);
      const answer = answers[url];
      if (answer === undefined || answer === "down") return Promise.reject(new Error("down"));
      const { status, body = "", location } = answer;
      const headers = location === undefined ? {} : { location };
      const download: Download = {
        url,
        status,
        headers,
        body: Buffer.from(body),
        bytes: 0,
        latencyMs: 1,
      };
      return Promise.resolve(download);
    },
  });
  return { robots, asked, clock };
}

const at = "http://x.example";
const file = `${at}/robots.txt`;

describe("robots.txt", () => {
  it("keeps the rules for us, the delay and the sitemaps", async () => {
    const body = `User-agent: *\nDisallow: /all\n\nUser-agent: outrider\nDisallow: /no*.html$
Allow: /no-but.html\nCrawl-delay: 2.5\nSitemap: ${at}/s.xml\nSitemap: /relative\n`;
    const { robots } = robotsOf({ [file]: { status: 200, body } });
    const rules = await robots.fetch(at);
    expect(rules).toMatchObject({ state: "rules", crawlDelayMs: 2_500, sitemaps: [`${at}/s.xml`] });
    expect(rules.isAllowed(`${at}/all`)).toBe(true);
    expect(rules.isAllowed(`${at}/no-one.html`)).toBe(false);
    expect(rules.isAllowed(`${at}/no-but.html`)).toBe(true);
    expect(rules.isAllowed(`${at}/no.html?x`)).toBe(true);
  });

  it.each([400, 401, 403, 404, 410, 451])("status %i allows everything", async (status) => {
    const { robots } = robotsOf({ [file]: { status } });
    const rules = await robots.fetch(at);
    expect([rules.state, rules.isAllowed(`${at}/x`)]).toEqual(["allow-all", true]);
  });

  it.each([500, 503, 429, "down"] as const)(
    "%s allows nothing, is asked again, then given up",
    async (status) => {
      const answer = status === "down" ? status : { status };
      const { robots, clock, asked } = robotsOf({ [file]: answer });
      const states: string[] = [];
      for (let round = 0; round < 3; round++) {
        const rules = await robots.fetch(at);
        states.push(rules.state);
        expect(rules.isAllowed(`${at}/x`)).toBe(false);
        expect(robots.known(at)).toBe(rules);
        clock.advance(round < 2 ? 10 : 999);
      }
      expect(states).toEqual(["unreachable", "unreachable", "disallow-all"]);
      expect(robots.known(at)?.state).toBe("disallow-all");
      clock.advance(1);
      expect(robots.known(at)).toBeUndefined();
      expect(asked).toHaveLength(3);
    },
  );

  it.each(["address", "no-host"] as const)("%s is given up at once, and told", async (name) => {
    const fault = new DownloadError(name, "no");
    const told: unknown[] = [];
    const robots = createRobots({
      ...{ userAgent: "x", clock: createVirtualClock(1_000), expiryMs: 1_000, retryMs: 10 },
      ...{ attempts: 3, maxCrawlDelayMs: 60_000, fetch: () => Promise.reject(fault) },
      onFault: (url, cause) => told.push([url, cause]),
    });
    expect(await robots.fetch(at)).toMatchObject({ state: "disallow-all", fault: name });
    expect(told).toEqual([[file, fault]]);
  });

  it("that is redirected to an address which is refused says nothing of its own host's", async () => {
    const clock = createVirtualClock(1_000);
    const robots = createRobots({
      ...{ userAgent: "x", clock, expiryMs: 1_000, retryMs: 10, attempts: 3, maxCrawlDelayMs: 1 },
      async fetch({ url }) {
        if (url !== file) throw new DownloadError("address", "no");
        const headers = { location: "http://127.0.0.1/robots.txt" };
        return { url, status: 302, headers, body: Buffer.alloc(0), bytes: 0, latencyMs: 1 };
      },
    });
    const rules = await robots.fetch(at);
    expect(rules.state).toBe("disallow-all");
    expect(rules.fault).toBeUndefined();
  });

  it("follows five redirects, also to other hosts, and no more", async () => {
    const chain = (count: number): Answers => {
      const answers: Answers = {};
      const name = (hop: number): string =>
        hop === 0 ? file : `http://r${hop}.example/robots.txt`;
      for (let hop = 0; hop < count; hop++)
        answers[name(hop)] = { status: 301, location: name(hop + 1) };
      answers[name(count)] = { status: 200, body: "User-agent: *\nDisallow: /" };
      return answers;
    };
    const good = await robotsOf(chain(5)).robots.fetch(at);
    expect([good.state, good.isAllowed(`${at}/x`)]).toEqual(["rules", false]);
    expect((await robotsOf(chain(6)).robots.fetch(at)).state).toBe("allow-all");
    const loop = robotsOf({ [file]: { status: 302, location: file } });
    expect((await loop.robots.fetch(at)).state).toBe("allow-all");
    const odd = robotsOf({ [file]: { status: 302, location: "ftp://x/" } });
    expect((await odd.robots.fetch(at)).state).toBe("allow-all");
  });

  it("is fetched once for many who ask at once, and again when it has expired", async () => {
    const { robots, clock, asked } = robotsOf({ [file]: { status: 404 } });
    await Promise.all([robots.fetch(at), robots.fetch(at), robots.fetch(at)]);
    expect(asked).toHaveLength(1);
    clock.advance(999);
    expect(robots.known(at)).toBeDefined();
    clock.advance(1);
    expect(robots.known(at)).toBeUndefined();
  });

  it("remembers no more than 32 MiB of rules, the newest of them", async () => {
    const body = `User-agent: *\nDisallow: /no\n#${"x".repeat(500 * 1024)}`;
    const origins = Array.from({ length: 100 }, (_, n) => `http://h${n}.test`);
    const { robots } = robotsOf(
      Object.fromEntries(origins.map((each) => [`${each}/robots.txt`, { status: 200, body }])),
    );
    for (const each of origins) await robots.fetch(each);
    const known = origins.map((each) => robots.known(each) !== undefined);
    const count = Math.floor((32 * 1024 * 1024) / body.length);
    expect(known).toEqual(origins.map((_, n) => n >= origins.length - count));
  });

  it.each([
    ["stars", `User-agent: *\n${`Disallow: /${"*a".repeat(8_000)}\n`.repeat(15)}`, 8 * 120_000],
    ["octets", `User-agent: *\n${"Disallow: /%7e*\n".repeat(10_000)}`, 440 * 10_000],
    ["sitemaps", `Sitemap: http://h/\n`.repeat(12_500), 32 * 12_500],
  ])("counts what many %s take", async (_, body, atLeast) => {
    const { robots } = robotsOf({ [file]: { status: 200, body } });
    const { heldBytes } = await robots.fetch(at);
    expect(heldBytes - body.length).toBeGreaterThan(atLeast);
  });

  it("takes no rule from a line that the bound cuts: it would forbid more than the whole line", async () => {
    const whole = "User-agent: *\nDisallow: /a\nDisallow: /";
    const answer = { url: file, status: 200, headers: {}, bytes: 0, latencyMs: 1 };
    const robots = (body: string, isTruncated: boolean): Robots =>
      createRobots({
        ...{ userAgent: "x", clock: createVirtualClock(1_000), expiryMs: 1_000, retryMs: 10 },
        ...{ attempts: 3, maxCrawlDelayMs: 60_000 },
        fetch: async () => ({ ...answer, body: Buffer.from(body), isTruncated }),
      });
    const allows = async (body: string, isTruncated: boolean): Promise<boolean[]> => {
      const rules = await robots(body, isTruncated).fetch(at);
      return [rules.isAllowed(`${at}/a`), rules.isAllowed(`${at}/b`)];
    };
    expect(await allows(whole, true)).toEqual([false, true]);
    expect(await allows(whole, false)).toEqual([false, false]);
    expect(await allows(`${whole}\r`, true)).toEqual([false, false]);
    expect(await allows("Disallow: /", true)).toEqual([true, true]);
  });

  it("nothing that a file holds makes it throw", async () => {
    for (const body of [
      "User-agent: __proto__\nDisallow: /x",
      "\0\xff",
      "User-agent: *\nCrawl-delay: x",
    ]) {
      const rules = await robotsOf({ [file]: { status: 200, body } }).robots.fetch(at);
      expect(typeof rules.isAllowed(`${at}/x`)).toBe("boolean");
    }
  });
});

const BASE = "http://a/sitemap.xml";

describe("readSitemap", () => {
  const pages = `<?xml version="1.0"?><urlset><url><loc> http://a/1?x=1&amp;y=2 </loc>
    <lastmod>2026-01-02</lastmod></url><url><loc><![CDATA[http://a/2]]></loc></url><url></url></urlset>`;

  it("reads pages with lastmod, an index, plain text and what is packed", async () => {
    const expected = [
      { url: "http://a/1?x=1&y=2", data: { lastmod: "2026-01-02" } },
      { url: "http://a/2" },
    ];
    expect(await readSitemap(Buffer.from(pages), BASE)).toEqual(expected);
    expect(await readSitemap(gzipSync(pages), BASE)).toEqual(expected);
    const index = "<sitemapindex><sitemap><loc>http://a/s.xml</loc></sitemap></sitemapindex>";
    expect(await readSitemap(Buffer.from(index), BASE)).toEqual([
      { url: "http://a/s.xml", handler: "sitemap" },
    ]);
    expect(await readSitemap(Buffer.from("http://a/1\r\n\n# no\nhttps://b/2"), BASE)).toEqual([
      { url: "http://a/1" },
      { url: "https://b/2" },
    ]);
  });

  it("takes the date of a news sitemap's article where it has no other", async () => {
    const news = (date: string, rest: string): string =>
      `<url><loc>http://a/${rest.length}</loc>${rest}<news:news><news:publication><news:name>A</news:name></news:publication>
      <news:publication_date>${date}</news:publication_date></news:news></url>`;
    const text = `<urlset>${news("2026-11-26T10:00Z", "")}${news("2026-11-26", "<lastmod>2026-11-27</lastmod>")}</urlset>`;
    expect(await readSitemap(Buffer.from(text), BASE)).toEqual([
      { url: "http://a/0", data: { lastmod: "2026-11-26T10:00Z" } },
      { url: "http://a/29", data: { lastmod: "2026-11-27" } },
    ]);
  });

  it("reads each encoding that XML may have: by its mark, the header or its declaration", async () => {
    const expected = [{ url: "http://a/caf%C3%A9" }];
    const feed = (encoding: string): string =>
      `<?xml version="1.0"${encoding}?><rss><channel><item><link>/café</link></item></channel></rss>`;
    const latin = (text: string): Buffer => Buffer.from(text, "latin1");
    const declared = latin(feed(` encoding='ISO-8859-1'`));
    expect(await readSitemap(declared, BASE)).toEqual(expected);
    expect(await readSitemap(gzipSync(declared), BASE)).toEqual(expected);
    const type = "application/rss+xml; charset=windows-1252";
    expect(await readSitemap(latin(feed("")), BASE, type)).toEqual(expected);
    const marked = Buffer.from(`\ufeff${feed(' encoding="UTF-16"')}`, "utf16le");
    expect(isSitemapBody(marked)).toBe(true);
    expect(await readSitemap(marked, BASE)).toEqual(expected);
    const lying = Buffer.from(feed(' encoding="UTF-16"'));
    expect(await readSitemap(lying, BASE)).toEqual(expected);
    const unknown = Buffer.from(feed(' encoding="x-none"'));
    expect(await readSitemap(unknown, BASE)).toEqual(expected);
  });

  it("reads 50,000 entries at most, and no bomb", async () => {
    const many = `http://a/x\n`.repeat(60_000);
    expect(await readSitemap(Buffer.from(many), BASE)).toHaveLength(50_000);
    const bomb = gzipSync(Buffer.alloc(60 * 1024 * 1024));
    await expect(readSitemap(bomb, BASE)).rejects.toMatchObject({ fault: "too-large" });
    expect(await readSitemap(Buffer.from("<broken"), BASE)).toEqual([]);
    expect(await readSitemap(Buffer.alloc(0), BASE)).toEqual([]);
  });
});

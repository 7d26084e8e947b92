/** An option of a crawl that is undefined is not there, for the types (this package is checked with exactOptionalPropertyTypes) and for what happens. */
import { expect, it } from "vitest";
import type { CrawlOptions } from "../../../../src/crawl.ts";
import { normalizeCrawl } from "../../../../src/crawl/run/normalize-crawl.ts";
import { readText } from "../../../support/package.ts";

const none = undefined;

/** Every option but the seeds. */
const options: Omit<CrawlOptions, "seeds"> = {
  ...{ directory: none, name: none, frontier: none, open: none, rules: none },
  ...{ frontierOptions: none, threads: none, concurrency: none, rampMs: none, delayMs: none },
  ...{ perHost: none, maxDepth: none, maxPages: none, maxTimeMs: none, maxHostUrls: none },
  ...{ maxHostBytes: none, scope: none, include: none, exclude: none, allowPrivate: none },
  ...{ userAgent: none, contact: none, headers: none, auth: none, identity: none, cookies: none },
  ...{ proxy: none, lookup: none, dial: none, http2: none, ca: none, robots: none },
  ...{ sitemaps: none, sitemapOnly: none, maxRedirects: none, maxBytes: none, maxLinks: none },
  ...{ maxRetryAfterMs: none, timeouts: none, types: none, trapFilter: none, log: none },
  ...{ traps: none, maxPathUrls: none, maxQueryUrls: none },
  ...{ pauseSickHosts: none, defaults: none },
  ...{ saveBodies: none, items: none, warc: none, downloaders: none, analyzers: none },
  ...{ pipelines: none, policy: none, progressMs: none, signal: none, clock: none },
};

it("options that are undefined are those of a crawl without any", () => {
  const seeds = "https://a.example/";
  const plainOf = (given: CrawlOptions): string => {
    const { given: _, clock: __, frontier, ...settings } = normalizeCrawl(given);
    const { clock: ___, ...inner } = frontier;
    return JSON.stringify([settings, inner]);
  };
  expect(plainOf({ seeds, ...options })).toBe(plainOf({ seeds }));
  const robots = { expiryMs: none, retryMs: none, attempts: none, maxCrawlDelayMs: none };
  const timeouts = { connectMs: none, headersMs: none, bodyMs: none, totalMs: none };
  expect(plainOf({ seeds, robots, timeouts })).toBe(plainOf({ seeds, robots: {}, timeouts: {} }));
});

it("a default that is undefined takes no politeness away", () => {
  const politeness = { delayMs: none, perHost: none, hostBackoff: none, budget: none };
  const defaults = { maxDepth: none, backoff: none, politeness };
  const seeds = "https://a.example/";
  const given = normalizeCrawl({ seeds, defaults, frontierOptions: { leaseMs: none } });
  const plain = normalizeCrawl({ seeds });
  expect(given.frontier.defaults).toEqual(plain.frontier.defaults);
  expect(given.frontier.leaseMs).toBe(plain.frontier.leaseMs);
});

it("no option is left out of that", () => {
  const text = readText("src/crawl/run/crawl-options.ts");
  const type = text.slice(text.indexOf("interface CrawlOptions"), text.indexOf("\n}\n"));
  const names = [...type.matchAll(/^ {2}(\w+)\?:/gm)].map(([, name]) => name);
  expect(names.filter((name) => name !== "seeds" && !(String(name) in options))).toEqual([]);
  expect(names.length).toBeGreaterThan(40);
});

import { describe, expect, it } from "vitest";
import { bars, columns, curve, escapeHtml, stack } from "../../../../src/cli/output/svg-plot.ts";
import { reportHtml } from "../../../../src/cli/output/report-html.ts";
import type { CrawlSample, CrawlSummary } from "../../../../src/crawl.ts";
import { calmSights, sightsOf } from "../../../support/browser.ts";

const EVIL = '<script>alert("x")</script>';

/** A crawl with something in every corner: long names, many depths, words from outside. */
function summaryOf(change: Partial<CrawlSummary> = {}): CrawlSummary {
  const counts = { id: "a", called: 1, accepted: 1, completed: 1, handling: 0 };
  return {
    status: "stopped",
    reason: "finished",
    pages: 1_234_567,
    bytes: 98_765_432_100,
    items: 12,
    redirects: 504,
    notModified: 3,
    sitemaps: 4,
    disallowed: 15,
    failed: 1_706,
    failures: { robots: 1_549, "status 404": 85, timeout: 3, [EVIL]: 1 },
    retried: 211,
    truncated: 1,
    trapped: 1,
    duplicate: 20_457,
    rejected: { "no-rule": 1_963, "too-deep": 2, [EVIL]: 1 },
    pending: 7,
    hosts: 2_002,
    robotsFetched: 2_046,
    statuses: { 200: 12_075, 301: 122, 404: 85, 503: 75, 999: 1 },
    errors: { downloader: 63, analyzer: 0, pipeline: 0, scheduler: 0, dropped: 0 },
    elapsedMs: 3_725_000,
    pagesPerSecond: 331.4,
    latencyMs: { p50: 12.3, p90: 69.8, p99: 1_152.2, p999: 30_400.4, max: 31_400.3 },
    latencies: Array.from({ length: 16 }, (_, at) => 2 ** at),
    depths: Array.from({ length: 101 }, (_, at) => Math.round(9_000 / (1 + (at - 4) ** 2))),
    failing: [
      {
        url: `http://x.test/${EVIL}`,
        reason: "status 404",
        depth: 2,
        foundOn: `http://x.test/?${EVIL}`,
      },
      { url: `http://x.test/${"long/".repeat(60)}`, reason: "timeout", depth: 1 },
    ],
    slowest: [{ url: "http://slow.test/a", latencyMs: 31_400.3, status: 200 }],
    slowestHosts: [{ host: "slow.test", latencyMs: 900.5, answers: 4 }],
    sickest: [
      {
        host: EVIL,
        score: 12,
        visits: 9,
        failures: 8,
        slow: 1,
        empty: 2,
        pauses: 1,
        pausedUntil: 9e11,
      },
    ],
    statusDepths: { 200: [1, 50, 700], 404: [0, 0, 85] },
    hostPages: [700, 800, 300, 120, 40, 9, 7, 5, 4, 3, 0, 1],
    busiest: [
      { host: `a-very-long-${"long-".repeat(20)}name.example.org:8080`, pages: 2_049 },
      { host: "b.example", pages: 7 },
    ],
    modules: { downloader: [counts], analyzer: [], pipeline: [] },
    memory: { heapBytes: 45e6, offHeapBytes: 4e6, residentBytes: 470e6 },
    ...change,
  } as CrawlSummary;
}

const SAMPLES: CrawlSample[] = Array.from({ length: 500 }, (_, at) => ({
  elapsedMs: at * 7_450,
  pages: at * 2_469 + Math.round(900 * Math.sin(at / 9)),
  bytes: at,
  pending: Math.round(40_000 * Math.sin((at / 500) * Math.PI)),
  leased: 1,
  failed: 0,
  errors: 0,
  duplicate: 0,
  accepted: 0,
  residentBytes: 90e6 + at * 1e5,
}));

describe("the report as a page", () => {
  it("stands alone, holds its plots, and escapes what came from outside", () => {
    const html = reportHtml({ title: EVIL, summary: summaryOf(), samples: SAMPLES });
    expect(html).not.toContain("<script");
    expect(html).not.toMatch(/(src|href)=|@import|url\(/);
    for (const name of [
      "Pages per second",
      "Pending URLs",
      "Resident memory",
      "Latency to the first byte",
      "Depth",
      "Hosts by size",
      "Busiest hosts",
      "What became of the links",
      "Answers by status",
    ]) {
      expect(html).toContain(`<h2>${name}`);
    }
    expect(html).toContain("prefers-color-scheme: dark");
    expect(html).not.toMatch(/NaN|undefined|Infinity/);
  });

  it("says how it ended in words, and in words why links and requests came to nothing", () => {
    const html = (reason: CrawlSummary["reason"]): string =>
      reportHtml({ title: "t", summary: summaryOf(reason ? { reason } : {}), samples: SAMPLES });
    expect(html("finished")).toContain("nothing is left · 1 h 2 min");
    expect(html("max-pages")).toContain("Ended at the page limit");
    expect(html("fault")).toContain("Broke off");
    expect(html("stopped")).toContain("Stopped");
    expect(html("finished")).toContain("forbidden by robots.txt</td><td>1,549");
    expect(html("finished")).toContain("outside the scope");
    expect(html("finished")).not.toContain("no-rule");
  });

  it("says which URLs failed, why, and on which page; what took long; answers by depth; and the settings", () => {
    const settings = "outrider crawl http://x.test/ --depth 3";
    const html = reportHtml({ title: "t", summary: summaryOf(), samples: SAMPLES, settings });
    expect(html).toContain("<h2>URLs that failed, the last 2 of 1,638</h2>");
    expect(html).toContain(`http://x.test/${escapeHtml(EVIL)}<br><small>found on http://x.test/?`);
    expect(html).toContain("</small></td><td>404 not found</td>");
    expect(html).toMatch(/long\/<\/td><td>timed out<\/td>/); // a seed was found nowhere
    expect(html).toMatch(/<td>http:\/\/slow\.test\/a<\/td><td>31 s<\/td>/);
    expect(html).toMatch(/<td>slow\.test<\/td><td>90[01]/);
    expect(html).toContain("<td>404 not found</td><td>0 · 0 · 85</td>");
    expect(html).toContain(settings);
  });

  it("has no part about hosts where there is one", () => {
    const html = (hosts: number): string =>
      reportHtml({ title: "t", summary: summaryOf({ hosts }), samples: SAMPLES });
    for (const part of ["Hosts by size", "Busiest hosts", "Slowest hosts"]) {
      expect([html(1).includes(part), html(2).includes(part)]).toEqual([false, true]);
    }
  });

  it("a crawl of nothing, and a plot of nothing, of one point and of zeros, are no broken picture", () => {
    const how = { shown: String, what: "nothing" };
    expect(curve([], how)).toContain("too little");
    expect(curve([[1, 1]], how)).toContain("too little");
    for (const drawn of [
      curve(
        [
          [0, 0],
          [0, 0],
        ],
        how,
      ),
      columns([["a", 0]], how),
      columns([["a", 1e-9]], how),
      bars([["a", 0]], String),
      stack([{ name: "a", value: 0, note: "" }], String),
    ]) {
      expect(drawn).not.toMatch(/NaN|undefined|Infinity/);
    }
    const empty = { latencies: [], depths: [], hostPages: [], busiest: [], statuses: {} };
    const zeros = { rejected: {}, failures: {}, duplicate: 0, trapped: 0, pages: 0, elapsedMs: 0 };
    const nothing = summaryOf({ ...empty, ...zeros, pagesPerSecond: 0 });
    const html = reportHtml({ title: "nothing", summary: nothing, samples: [] });
    expect(html).not.toMatch(/NaN|undefined|Infinity/);
  });

  it("opens in a browser: no word of error, no overlap, nothing cut off, contrast of 4.5", async (context) => {
    const html = reportHtml({
      title: "https://example.org",
      summary: summaryOf(),
      samples: SAMPLES,
    });
    expect(html.match(/<h2>/g)).toHaveLength(17);
    const sights = await sightsOf(html, context);
    expect(sights).toEqual(calmSights(sights));
  });
});

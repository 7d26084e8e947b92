import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { bars, columns, curve, stack } from "../../../src/cli/plot.ts";
import { reportHtml } from "../../../src/cli/report-html.ts";
import type { CrawlSample, CrawlSummary } from "../../../src/crawl.ts";

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

/** A Chromium of this machine, by the names that distributions give it. */
function chromium(): string | undefined {
  const folders = (process.env.PATH ?? "").split(delimiter);
  const names = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
  return folders.flatMap((each) => names.map((name) => join(each, name))).find(existsSync);
}

const BROWSER_FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

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
    const executablePath = chromium();
    if (executablePath === undefined) {
      console.log("SKIPPED: no chromium on this machine's PATH to open the report in");
      return context.skip();
    }
    const { chromium: launcher } = await import("playwright-core");
    const folder = mkdtempSync(join(tmpdir(), "outrider-report-"));
    const path = join(folder, "report.html");
    const summary = summaryOf();
    writeFileSync(path, reportHtml({ title: "https://example.org", summary, samples: SAMPLES }));
    const browser = await launcher.launch({ executablePath, args: BROWSER_FLAGS });
    try {
      for (const [colorScheme, width] of [
        ["light", 1100],
        ["dark", 1100],
        ["light", 320],
      ] as const) {
        const tab = await browser.newPage({ colorScheme, viewport: { width, height: 800 } });
        const words: string[] = [];
        tab.on("console", (message) => words.push(message.text()));
        tab.on("pageerror", (cause) => words.push(String(cause)));
        tab.on("request", (request) => {
          if (!request.url().startsWith("file:")) words.push(request.url());
        });
        await tab.goto(pathToFileURL(path).href);
        expect(words).toEqual([]);
        expect(await tab.locator("section h2").count()).toBe(12);
        expect({ colorScheme, width, faults: await faultsOf(tab) }).toEqual({
          colorScheme,
          width,
          faults: [],
        });
        await tab.close();
      }
    } finally {
      await browser.close();
      rmSync(folder, { recursive: true, force: true });
    }
  });
});

/** What a reader would stumble over: the page measures itself. */
function faultsOf(tab: Page): Promise<string[]> {
  return tab.evaluate(`(() => {
    const faults = [];
    if (document.documentElement.scrollWidth > innerWidth) faults.push("scrolls sideways");
    const boxOf = (node) => {
      const range = document.createRange();
      range.selectNodeContents(node);
      return range.getBoundingClientRect();
    };
    const luminance = (color) => {
      const parts = color.match(/[\\d.]+/g).slice(0, 3).map((each) => {
        const part = each / 255;
        return part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
      });
      return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2];
    };
    const groundOf = (node) => {
      for (let at = node; at; at = at.parentElement) {
        const color = getComputedStyle(at).backgroundColor;
        if (!/, 0\\)$/.test(color)) return color;
      }
      return "rgb(255, 255, 255)";
    };
    for (const plot of document.querySelectorAll(".plot")) {
      if (plot.getBoundingClientRect().height > 400) faults.push("a plot that fills the screen");
    }
    for (const axis of document.querySelectorAll(".x, .y")) {
      const boxes = [...axis.children].map((each) => [each.textContent, boxOf(each)]);
      boxes.forEach(([name, a], at) => {
        for (const [other, b] of boxes.slice(at + 1)) {
          const isApart = a.right <= b.left || b.right <= a.left || a.bottom <= b.top || b.bottom <= a.top;
          if (!isApart) faults.push("overlap: " + name + " and " + other);
        }
      });
    }
    const seen = "h1, h2, p, dt, dd, td, .x span, .y span, .value, .name, .keys span, footer";
    for (const node of document.querySelectorAll(seen)) {
      if (node.textContent.trim() === "") continue;
      const frame = (node.closest(".card, .tile") ?? document.body).getBoundingClientRect();
      const box = node.classList.contains("name") ? node.getBoundingClientRect() : boxOf(node);
      const text = node.textContent.slice(0, 30);
      if (box.left < frame.left || box.right > frame.right) faults.push("cut off: " + text);
      const [a, b] = [getComputedStyle(node).color, groundOf(node)].map(luminance);
      const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
      if (contrast < 4.5) faults.push("contrast " + contrast.toFixed(2) + ": " + text);
    }
    return faults;
  })()`);
}

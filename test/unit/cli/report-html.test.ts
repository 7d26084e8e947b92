import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { existsSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { describe, expect, it } from "vitest";
import { lines } from "../../../src/cli/plot.ts";
import { reportHtml } from "../../../src/cli/report-html.ts";
import { crawl } from "../../../src/crawl/crawl.ts";
import { openSyntheticWeb } from "../../../src/crawl/web-server.ts";

async function page(title: string): Promise<string> {
  await using web = await openSyntheticWeb({ seed: 2, hosts: 4, pages: 40, traps: false });
  const run = crawl({
    seeds: web.seed,
    dial: web.dial,
    allowPrivate: true,
    delayMs: 1,
    robots: { retryMs: 1 },
    progressMs: 10,
  });
  const summary = await run;
  return reportHtml({ title, summary, samples: run.samples() });
}

/** A Chromium of this machine, by the names that distributions give it. */
function chromium(): string | undefined {
  const folders = (process.env.PATH ?? "").split(delimiter);
  const names = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
  return folders.flatMap((each) => names.map((name) => join(each, name))).find(existsSync);
}

describe("the report as a page", () => {
  it("stands alone, holds its plots, and escapes what came from outside", async () => {
    const html = await page('<script>alert("x")</script>');
    expect(html).not.toContain("<script");
    expect(html).not.toMatch(/(src|href)=|@import|url\(/);
    expect(html.match(/<svg /g)?.length).toBe(6);
    expect(html).toContain("prefers-color-scheme: dark");
    expect(html).not.toMatch(/NaN|undefined|Infinity/);
  });

  it("a plot of nothing, of one point and of zeros is no broken picture", () => {
    expect(lines([], String)).toContain("too little");
    expect(lines([[1, 1]], String)).toContain("too little");
    expect(
      lines(
        [
          [0, 0],
          [0, 0],
        ],
        String,
      ),
    ).not.toContain("NaN");
  });

  it("opens in a browser without a word of error", async (context) => {
    const executablePath = chromium();
    if (executablePath === undefined) {
      console.log("SKIPPED: no chromium on this machine's PATH to open the report in");
      return context.skip();
    }
    const { chromium: launcher } = await import("playwright-core");
    const folder = mkdtempSync(join(tmpdir(), "outrider-report-"));
    const browser = await launcher.launch({ executablePath, args: ["--no-sandbox"] });
    try {
      const path = join(folder, "report.html");
      writeFileSync(path, await page("report"));
      for (const colorScheme of ["light", "dark"] as const) {
        const tab = await browser.newPage({ colorScheme });
        const words: string[] = [];
        tab.on("console", (message) => words.push(message.text()));
        tab.on("pageerror", (cause) => words.push(String(cause)));
        tab.on("request", (request) => {
          if (!request.url().startsWith("file:")) words.push(request.url());
        });
        await tab.goto(pathToFileURL(path).href);
        expect(await tab.locator("svg").count()).toBe(6);
        const isWider = "document.documentElement.scrollWidth > innerWidth";
        expect(await tab.evaluate(isWider)).toBe(false);
        expect(words).toEqual([]);
      }
    } finally {
      await browser.close();
      rmSync(folder, { recursive: true, force: true });
    }
  });
});

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { openLineFile } from "../../../../src/crawl/files.ts";
import type { Download, Downloader } from "../../../../src/crawl/module-registry.ts";
import { crawl } from "../../../../src/crawl/run/crawl.ts";
import { createUrlBudgets } from "../../../../src/crawl/traps/url-budgets.ts";

const folder = mkdtempSync(join(tmpdir(), "outrider-budgets-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function open(path?: string) {
  const file = path === undefined ? undefined : openLineFile(path);
  const isNew = (url: string): boolean => !url.includes("known");
  return createUrlBudgets({ paths: { "/search/": 3 }, perQuery: 2, isNew, file });
}

const admitted = (budgets: ReturnType<typeof open>, urls: string[]): number =>
  urls.filter((url) => budgets.admits(url)).length;
const many = (of: (n: number) => string): string[] => Array.from({ length: 10 }, (_, n) => of(n));

describe("budgets of URLs", () => {
  it("hold for each host by path prefix, and for each path by the names of its query", () => {
    const budgets = open();
    expect(
      admitted(
        budgets,
        many((n) => `http://a.example/search/${n}`),
      ),
    ).toBe(3);
    expect(
      admitted(
        budgets,
        many((n) => `http://b.example/search/${n}`),
      ),
    ).toBe(3);
    expect(
      admitted(
        budgets,
        many((n) => `http://a.example/search/known-${n}`),
      ),
    ).toBe(10);
    expect(
      admitted(
        budgets,
        many((n) => `http://a.example/page/${n}`),
      ),
    ).toBe(10);
    expect(
      admitted(
        budgets,
        many((n) => `http://a.example/list?b=${n}&a=1`),
      ),
    ).toBe(2);
    expect(
      admitted(
        budgets,
        many((n) => `http://a.example/list?a=${n}&b=1&b=2`),
      ),
    ).toBe(0);
    expect(
      admitted(
        budgets,
        many((n) => `http://a.example/list?a=${n}`),
      ),
    ).toBe(2);
    expect(
      admitted(
        budgets,
        many((n) => `http://a.example/other?a=${n}`),
      ),
    ).toBe(2);
    expect(admitted(budgets, ["", "no url", "http://"])).toBe(3);
  });

  it("outlive the process, and what is no line of ours is passed over", () => {
    const path = join(folder, "budgets.txt");
    const first = open(path);
    expect(first.admits("http://a.example/search/1")).toBe(true);
    expect(first.admits("http://a.example/search/2")).toBe(true);
    first.flushed();
    first.flushed();
    openLineFile(path).append(["x y", "-1 5", "1e9 5", "3", "4 -2", "5 1.5"]);
    const again = open(path);
    expect(
      admitted(
        again,
        many((n) => `http://a.example/search/more-${n}`),
      ),
    ).toBe(1);
  });

  it("never count too little, however many groups there are", () => {
    const budgets = open();
    for (let n = 0; n < 50_000; n++) budgets.admits(`http://h${n}.example/list?a=1`);
    for (let n = 0; n < 200; n++)
      expect(
        admitted(
          budgets,
          many((k) => `http://h${n}.example/list?a=x${k}`),
        ),
      ).toBeLessThan(2);
  });

  it("of a crawl are told as rejected, and goes on in its directory", async () => {
    const site: Downloader = {
      async download({ url }): Promise<Download> {
        const links = many((n) => `<a href="/search/${n}">s</a><a href="/list?page=${n}">l</a>`);
        const body = Buffer.from(links.join(""));
        const headers = { "content-type": "text/html" };
        return { url, status: 200, headers, body, bytes: body.length, latencyMs: 1 };
      },
    };
    const directory = join(folder, "crawl");
    const run = async (seeds: string) =>
      crawl({
        ...{ seeds, directory, downloaders: [site], delayMs: 0, robots: false, progressMs: 0 },
        ...{ maxPathUrls: { "/search/": 4 }, maxQueryUrls: 3 },
      }).finished;
    const first = await run("http://site.example/");
    expect(first.pages).toBe(8);
    expect(first.rejected.budget).toBeGreaterThan(0);
    expect((await run("http://site.example/second")).pages).toBe(1);
  });
});

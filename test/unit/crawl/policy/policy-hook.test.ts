/** What is said of the use of pages, through a whole crawl: attached, logged, counted, explained, and decided on by a hook. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import {
  crawl,
  type CrawlOptions,
  type Download,
  type Downloader,
  explainUrl,
  type ItemSource,
  type PolicyHook,
  type Visit,
  type VisitedPage,
} from "../../../../src/crawl.ts";
import { checkDecision } from "../../../../src/crawl/policy/policy-hook.ts";

const HOME = "http://site.example/";
const ROBOTS = `User-agent: *
Disallow: /closed
Content-Signal: ai-train=no
Content-Usage: /docs/ train-ai=n
`;

type Answer = { body: string; headers?: Record<string, string> };

/** A downloader of a web in memory, robots.txt included. */
function webOf(pages: Record<string, Answer>): Downloader {
  return {
    download({ url }): Promise<Download> {
      const { pathname } = new URL(url);
      const page = pathname === "/robots.txt" ? { body: ROBOTS } : pages[pathname];
      const headers = { "content-type": "text/html", ...page?.headers };
      const body = Buffer.from(page?.body ?? "");
      const status = page === undefined ? 404 : 200;
      return Promise.resolve({ url, status, headers, body, bytes: body.length, latencyMs: 1 });
    },
  };
}

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), "outrider-policy-"));
  onTestFinished(() => rmSync(path, { recursive: true }));
  return path;
}

const SITE: Record<string, Answer> = {
  "/": { body: '<a href="/docs/a">a</a> <a href="/news">n</a> <a href="/closed/x">x</a>' },
  "/docs/a": {
    body: '<meta name="robots" content="noindex"><a href="/behind">b</a>',
    headers: { "content-usage": "search=y" },
  },
  "/news": { body: '<a href="/behind">b</a>', headers: { "x-robots-tag": "nofollow" } },
  "/behind": { body: "<title>behind</title>" },
};

async function run(options: CrawlOptions) {
  const pages: VisitedPage[] = [];
  const sources: ItemSource[] = [];
  const handle = crawl({
    ...{ seeds: HOME, delayMs: 0, downloaders: [webOf(SITE)], sitemaps: false },
    pipelines: [{ processors: [(_, source) => void sources.push(source)] }],
    analyzers: [{ analyze: async (page) => ({ items: [{ said: await page.policy() }] }) }],
    ...options,
  });
  handle.on("page", (page) => pages.push(page));
  const summary = await handle.finished;
  const paths = pages.map(({ url }) => new URL(url).pathname).sort();
  return { summary, pages, paths, sources };
}

describe("a crawl", () => {
  it("attaches what is said to pages, items and the log, counts and explains it, and leaves nothing out for it", async () => {
    const directory = folder();
    const log = join(directory, "visits.jsonl");
    const { summary, pages, paths, sources } = await run({ directory, log });
    // What is not followed is so by the page's own nofollow, as before.
    expect(paths).toEqual(["/", "/behind", "/docs/a", "/news"]);
    expect(summary.policies).toEqual({
      ...{ "ai-train=no": 4, "train-ai=disallow": 1, "search=allow": 1, noindex: 1, nofollow: 1 },
    });
    const docs = pages.find(({ url }) => url.endsWith("/docs/a"))?.policy;
    expect(docs).toEqual({
      usage: { "train-ai": "disallow", search: "allow" },
      signals: { "ai-train": "no" },
      ...{ isNoIndex: true, isNoFollow: false },
      statements: [
        { source: "robots.txt", kind: "content-signal", text: "ai-train=no", line: 3 },
        { source: "robots.txt", kind: "content-usage", text: "train-ai=n", line: 4 },
        { source: "header", kind: "content-usage", text: "search=y" },
        { source: "meta", kind: "robots", text: "noindex" },
      ],
    });
    expect(sources.find(({ url }) => url.endsWith("/docs/a"))?.policy).toEqual(docs);
    const lines = readFileSync(log, "utf8").trimEnd().split("\n");
    const visits = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(visits.find(({ url }) => url === `${HOME}docs/a`)).toMatchObject({ policy: docs });
    expect(visits.every((visit) => !("decision" in visit))).toBe(true);
    const said = docs?.statements.filter(({ source }) => source === "robots.txt");
    expect(explainUrl(directory, `${HOME}docs/a`).statements).toEqual(said);
    expect(explainUrl(directory, `${HOME}closed/x`)).toEqual({
      ...{ robots: "disallowed", robotsLine: "Disallow: /closed" },
    });
  });

  it("follows no links and keeps nothing of pages that a hook decides against, and logs why", async () => {
    const directory = folder();
    const log = join(directory, "visits.jsonl");
    const bodies = join(directory, "bodies");
    const asked: string[] = [];
    const policy: PolicyHook = ({ usage, isNoIndex }, { url }) => {
      asked.push(new URL(url).pathname);
      if (usage["train-ai"] !== "disallow") return undefined;
      return { follow: false, keep: !isNoIndex, reason: "ours is for training" };
    };
    const { paths, sources } = await run({ log, policy, saveBodies: bodies });
    expect(paths).toEqual(["/", "/docs/a", "/news"]);
    expect(asked.sort()).toEqual(paths);
    expect(sources.map(({ url }) => url).sort()).toEqual([HOME, `${HOME}news`]);
    expect(readdirSync(bodies)).toHaveLength(3);
    const lines = readFileSync(log, "utf8").trimEnd().split("\n");
    const visits = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(visits.find(({ url }) => url === `${HOME}docs/a`)?.decision).toEqual({
      ...{ follow: false, keep: false, reason: "ours is for training" },
    });
    expect(visits.find(({ url }) => url === HOME)?.decision).toEqual({ follow: true, keep: true });
  });

  it("fails a page whose decision is none, and uses nothing of it", async () => {
    for (const policy of [
      () => {
        throw new Error("no decision");
      },
      () => ({ follow: "no" }) as never,
    ]) {
      const { summary, sources } = await run({ policy });
      expect(summary).toMatchObject({ pages: 0, failures: { policy: 1 }, errors: { analyzer: 1 } });
      expect(sources).toEqual([]);
    }
  });

  it("takes a decision from a module, on worker threads too", async () => {
    const server = createServer(({ url = "" }, response) => {
      const page = url === "/robots.txt" ? { body: ROBOTS } : SITE[url];
      response.writeHead(page === undefined ? 404 : 200, {
        "content-type": "text/html",
        ...page?.headers,
      });
      response.end(page?.body);
    });
    await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void server.close());
    const module = join(folder(), "decide.mjs");
    writeFileSync(
      module,
      "export const decide = ({ usage }) => ({ follow: usage['train-ai'] !== 'disallow' });",
    );
    const { port } = server.address() as AddressInfo;
    const options = { seeds: `http://127.0.0.1:${port}/`, allowPrivate: true, delayMs: 0 };
    for (const threads of [0, 1]) {
      const visits: Visit[] = [];
      const handle = crawl({ ...options, threads, policy: module });
      handle.on("visit", (visit) => void visits.push(visit));
      const { pages, policies } = await handle.finished;
      expect([pages, policies]).toEqual([
        3,
        { "ai-train=no": 3, "train-ai=disallow": 1, "search=allow": 1, noindex: 1, nofollow: 1 },
      ]);
      const docs = visits.find(({ url }) => url.endsWith("/docs/a"));
      expect(docs?.decision).toEqual({ follow: false, keep: true });
    }
    const bare = join(folder(), "bare.mjs");
    writeFileSync(bare, "export const other = 1;");
    await expect(crawl({ ...options, policy: bare }).finished).rejects.toThrow("decide");
    expect(() => crawl({ ...options, threads: 1, policy: () => undefined })).toThrow(
      "options.policy",
    );
    expect(() => crawl({ ...options, policy: 1 as never })).toThrow("options.policy");
  });
});

it("a decision is checked field by field", () => {
  expect(checkDecision(undefined)).toEqual({ follow: true, keep: true });
  expect(checkDecision({ keep: false, reason: "x" })).toEqual({
    ...{ follow: true, keep: false, reason: "x" },
  });
  for (const wrong of [1, "no", { follow: 0 }, { keep: "x" }]) {
    expect(() => checkDecision(wrong)).toThrow("policy: ");
  }
});

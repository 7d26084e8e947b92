/** Crawlee's own crawlers on our frontier, over the synthetic web: the same pages as on their queue, over kills, and no host too soon. */
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { Agent, createServer, get, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it, onTestFinished } from "vitest";
import { FrontierRequestManager } from "../../src/crawlee.ts";
import { openSyntheticWeb, type SyntheticWeb } from "../../src/testing.ts";
import { createRandom } from "../../src/base/random.ts";
import { testSeed } from "../support/seed.ts";
import { sized } from "../support/size.ts";
import { type CrawlingContext, loadCrawlee, memoryOnly, toLoopback } from "./crawlee-module.ts";

const crawlee = await loadCrawlee();
const KINDS = ["CheerioCrawler", "HttpCrawler", "BasicCrawler"] as const;
const CHILD = fileURLToPath(new URL("crawl-child.mjs", import.meta.url));

async function openWeb(shape: object): Promise<SyntheticWeb> {
  const web = await openSyntheticWeb({ mishaps: 0, traps: false, ...shape });
  onTestFinished(() => web.close());
  return web;
}

/** Links of a page by hand, for crawlers that do not parse. */
function linksOf(body: unknown, base: string): string[] {
  const found = String(body).matchAll(/href="([^"]+)"/g);
  return [...found].flatMap(([, href]) => {
    const url = URL.canParse(href as string, base) ? new URL(href as string, base) : undefined;
    return url?.hostname.endsWith(".outrider.test") ? [url.href] : [];
  });
}

type Kind = (typeof KINDS)[number];
async function crawlWith(kind: Kind, web: SyntheticWeb, queue: object): Promise<string[]> {
  const pages = new Set<string>();
  const handler = async (context: CrawlingContext): Promise<void> => {
    const { request } = context;
    pages.add(request.url);
    let { body } = context;
    if (kind === "BasicCrawler") body = (await download(request.url)).body;
    if (kind === "CheerioCrawler") await context.enqueueLinks({ strategy: "same-domain" });
    else await context.addRequests(linksOf(body, request.url));
  };
  const http = kind === "BasicCrawler" ? {} : { preNavigationHooks: [toLoopback] };
  const options = { maxRequestRetries: 0, minConcurrency: 8, requestHandler: handler };
  const crawler = new crawlee[kind]({ ...options, ...http, ...queue }, memoryOnly(crawlee));
  await crawler.run([web.seedWithPort]);
  return [...pages].sort();
}

const agent = new Agent({ keepAlive: true });

interface Page {
  readonly status: number;
  readonly retryAfter: number;
  readonly body: string;
}
function download(url: string): Promise<Page> {
  const { host, port, pathname, search } = new URL(url);
  const options = { host: "127.0.0.1", port, path: pathname + search, headers: { host }, agent };
  return new Promise((resolve, reject) => {
    get(options, (response) => {
      let body = "";
      response.setEncoding("utf8").on("data", (chunk) => {
        body += chunk;
      });
      const retryAfter = Number(response.headers["retry-after"]);
      response.on("end", () => resolve({ status: response.statusCode ?? 0, retryAfter, body }));
    }).on("error", reject);
  });
}

describe("crawlers of Crawlee's on our frontier", () => {
  it.each(KINDS)("%s sees the same pages with and without us", async (kind) => {
    const seed = testSeed("crawlee");
    const web = await openWeb({ hosts: 4, pages: 90, seed });
    const manager = await FrontierRequestManager.open();
    onTestFinished(() => manager.close());
    const ours = await crawlWith(kind, web, { requestQueue: manager });
    const theirs = await crawlWith(kind, web, {});
    expect(ours.length).toBeGreaterThan(50);
    expect(ours).toEqual(theirs);
    expect([await manager.isFinished(), await manager.isEmpty()]).toEqual([true, true]);
  });

  it("two crawlers of one process share a frontier and visit each page once", async () => {
    const web = await openWeb({ hosts: 3, pages: 90, seed: testSeed("crawlee") });
    const manager = await FrontierRequestManager.open();
    onTestFinished(() => manager.close());
    const queue = { requestQueue: manager };
    const both = await Promise.all([
      crawlWith("CheerioCrawler", web, queue),
      crawlWith("CheerioCrawler", web, queue),
    ]);
    const all = both.flat();
    expect(new Set(all).size).toBe(all.length);
    expect(all.length).toBe(await manager.handledCount());
  });

  it("a request handler that fails is tried again, then given up, as on their queue", async () => {
    const tries: Array<[string, number]> = [];
    const failed: CrawlingContext["request"][] = [];
    const manager = await FrontierRequestManager.open();
    onTestFinished(() => manager.close());
    const crawler = new crawlee.BasicCrawler(
      {
        requestQueue: manager,
        maxRequestRetries: 2,
        requestHandler: ({ request }: CrawlingContext) => {
          tries.push([request.url, request.retryCount ?? -1]);
          throw new Error("no");
        },
        failedRequestHandler: ({ request }: CrawlingContext) => failed.push(request),
      },
      memoryOnly(crawlee),
    );
    const requests = ["http://a.test/1", { url: "http://a.test/2", noRetry: true }];
    const { requestsFailed } = await crawler.run(requests);
    expect(requestsFailed).toBe(2);
    const of = (url: string) => tries.filter(([tried]) => tried === url).map(([, count]) => count);
    expect([of("http://a.test/1"), of("http://a.test/2")]).toEqual([[0, 1, 2], [0]]);
    expect(failed.map(({ errorMessages }) => errorMessages?.length).sort()).toEqual([1, 3]);
  });

  it("a crawl that is killed again and again continues, and no page is handled twice or lost", async () => {
    const seed = testSeed("crawlee");
    const random = createRandom(seed);
    const web = await openWeb({ hosts: 4, pages: 80, seed });
    const folder = mkdtempSync(join(tmpdir(), "outrider-crawlee-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const log = join(folder, "handled.txt");
    const argv = [CHILD, join(folder, "queue"), web.seedWithPort, log];
    let kills = 0;
    for (let isOver = false; !isOver; ) {
      const most = kills < 3 ? 3 + random.below(15) : Number.POSITIVE_INFINITY;
      isOver = await runChild(argv, most);
      kills += isOver ? 0 : 1;
    }
    const pages = new Set(await crawlWith("CheerioCrawler", web, {}));
    const handled = readFileSync(log, "utf8").trimEnd().split("\n");
    expect(kills).toBeGreaterThan(2);
    expect(new Set(handled)).toEqual(pages);
    // What was in progress at a kill, or handled in its last moment, may come again.
    expect(handled.length).toBeLessThanOrEqual(pages.size + kills * 10);
  });

  it("the example runs to its end", async () => {
    const web = await openWeb({ hosts: 1, pages: 5, seed: testSeed("crawlee") });
    const folder = mkdtempSync(fileURLToPath(new URL("node_modules/.example-", import.meta.url)));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const entry = new URL("../../build/plain/crawlee.js", import.meta.url).href;
    const example = new URL("../../examples/crawlee/crawl.mjs", import.meta.url);
    const file = join(folder, "crawl.mjs");
    writeFileSync(file, readFileSync(example, "utf8").replace("outrider/crawlee", entry));
    const seed = `http://127.0.0.1:${web.port}/`;
    const child = spawn(process.execPath, [file, join(folder, "data"), seed]);
    let text = "";
    child.stdout.on("data", (chunk) => {
      text += chunk;
    });
    expect(await new Promise((resolve) => child.on("exit", resolve))).toBe(0);
    expect(text).toMatch(/totalRequestCount: \d+, handledRequestCount: \d+/);
  });

  it("10,000 hosts that answer 429 are asked again no sooner than they allow", async () => {
    const hosts = sized(10_000, 200);
    const asked = new Map<string, number[]>();
    const server = await listen(asked);
    const manager = await FrontierRequestManager.open({
      defaults: { politeness: { delayMs: 100 } },
    });
    onTestFinished(() => manager.close());
    const { port } = server.address() as AddressInfo;
    const crawler = new crawlee.BasicCrawler(
      {
        requestQueue: manager,
        minConcurrency: 100,
        maxConcurrency: 100,
        useSessionPool: false,
        requestHandler: async ({ request }: CrawlingContext) => {
          const { status, retryAfter } = await download(request.url);
          if (status !== 429) return;
          manager.recordDomainDelay(request.url, retryAfter * 1_000);
          throw new Error("too soon");
        },
      },
      memoryOnly(crawlee),
    );
    const pages = Array.from({ length: hosts }, (_, at) => `http://h${at}.test:${port}/`);
    const { requestsFinished } = await crawler.run(pages.flatMap((url) => [url, `${url}2`]));
    expect(requestsFinished).toBe(2 * hosts);
    const gaps = [...asked.values()].map((times) => (times[1] as number) - (times[0] as number));
    expect(gaps).toHaveLength(hosts);
    expect(gaps.filter((gap) => gap < 1_000)).toEqual([]);
    const least = [...asked.values()].map((times) => (times[2] as number) - (times[1] as number));
    expect(least.filter((gap) => gap < 100)).toEqual([]);
  }, 600_000);
});

/** A server whose hosts answer their first request with a 429, and note when each came. */
async function listen(asked: Map<string, number[]>): Promise<Server> {
  const server = createServer((request, response) => {
    const host = request.headers.host ?? "";
    const times = asked.get(host);
    if (times === undefined) asked.set(host, [performance.now()]);
    else times.push(performance.now());
    response.writeHead(times === undefined ? 429 : 200, {
      "content-type": "text/html",
      "retry-after": "1",
    });
    response.end("<p>page</p>");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(
    () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  );
  return server;
}

/** Pages that a child may handle while its kill is on the way. */
const AFTER_MOST = 4;

/** Runs the child until it is over, or until it has handled so many pages: then it is killed. */
function runChild(argv: string[], most: number): Promise<boolean> {
  return new Promise((resolve, reject) => {
    // A kill that comes late finds it at work still, or waiting, and never at its end.
    const all = [...argv, String(most + AFTER_MOST)];
    const child = spawn(process.execPath, all, { stdio: ["ignore", "pipe", "inherit"] });
    let handled = 0;
    child.stdout.on("data", (chunk: Buffer) => {
      handled += String(chunk).split("\n").length - 1;
      if (handled >= most) child.kill("SIGKILL");
    });
    child.on("error", reject);
    child.on("exit", (code, signal) => {
      if (code === 0) resolve(true);
      else if (signal === "SIGKILL") resolve(false);
      else reject(new Error(`child: exit ${code} (expected: 0, or a kill)`));
    });
  });
}

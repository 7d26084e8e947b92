/** The Go scheduler's stages, as modules of crawl(). */
import { afterEach, describe, expect, it } from "vitest";
import { type Crawl, crawl } from "../../src/crawl/run/crawl.ts";
import type { CrawlFault } from "../../src/crawl/report/fault-stream.ts";
import {
  type Analyzer,
  createModuleRegistry,
  type Download,
  type Downloader,
  type ModuleCounts,
} from "../../src/crawl/module-registry.ts";
import type { CrawlOptions } from "../../src/crawl/run/crawl-options.ts";
import { createVirtualClock, openFrontier } from "../../src/index.ts";

const HOME = "http://site.example/";
const runs: Crawl[] = [];
afterEach(async () => {
  for (const run of runs.splice(0)) await run.stop({ now: true });
});

/** A downloader of a web in memory: path → body; what is not there is 404. */
function webOf(pages: Record<string, string>): Downloader & { asked: string[] } {
  const asked: string[] = [];
  return {
    asked,
    async download({ url }): Promise<Download> {
      asked.push(url);
      const { pathname } = new URL(url);
      const body = pages[pathname];
      const status = body === undefined ? 404 : 200;
      const headers = { "content-type": "text/html" };
      return { url, status, headers, body: Buffer.from(body ?? ""), bytes: 1, latencyMs: 1 };
    },
  };
}

function start(options: CrawlOptions): { run: Crawl; faults: CrawlFault[] } {
  const run = crawl({ seeds: HOME, delayMs: 0, robots: false, ...options });
  const faults: CrawlFault[] = [];
  run.on("error", (fault) => faults.push(fault));
  runs.push(run);
  return { run, faults };
}

const link = (path: string): string => `<a href="${path}">x</a>`;

describe("gopcp.v2's scheduler, its modules", () => {
  it("G4: the first request's primary domain is accepted, and start returns at once", async () => {
    const web = webOf({
      "/": link("http://www.site.example/a") + link("http://other.example/"),
      "/a": "",
    });
    const { run } = start({ downloaders: [web] });
    expect(run.status).toBe("opening");
    expect(web.asked).toEqual([]);
    await run.finished;
    expect(web.asked).toEqual([HOME, "http://www.site.example/a"]);
  });

  it("G12: request, download, analysis, requests and items, each through its stage", async () => {
    const steps: string[] = [];
    const web = webOf({ "/": "", "/b": "" });
    const download: Downloader["download"] = (request) => {
      steps.push(`download ${request.url}`);
      return web.download(request);
    };
    const { run } = start({
      downloaders: [{ download }],
      analyzers: [
        {
          analyze({ url }) {
            steps.push(`analyze ${url}`);
            return { found: [`${HOME}b`], items: [{ url }] };
          },
        },
      ],
      pipelines: [
        { processors: [(item) => void steps.push(`item ${(item as { url: string }).url}`)] },
      ],
    });
    expect(await run.finished).toMatchObject({ pages: 2, items: 2, duplicate: 1 });
    const each = (url: string): string[] => [`download ${url}`, `analyze ${url}`, `item ${url}`];
    expect(steps).toEqual([...each(HOME), ...each(`${HOME}b`)]);
  });

  it("G13: a flood of errors that nobody reads holds 1,000, counts what it drops, and stalls nothing", async () => {
    const { run } = start({
      downloaders: [webOf({ "/": "" })],
      analyzers: [
        { analyze: () => ({ errors: Array.from({ length: 5_000 }, (_, n) => `e${n}`) }) },
      ],
    });
    const stream = run.errors();
    expect(await run.finished).toMatchObject({
      pages: 1,
      errors: { analyzer: 5_000, dropped: 4_000 },
    });
    const messages: string[] = [];
    for await (const { message } of stream) messages.push(message);
    expect([messages.length, messages.at(-1), stream.dropped]).toEqual([
      1_000,
      "crawler error: analyzer: e4999",
      4_000,
    ]);
  });

  it("G14: an error names the stage that failed, and the text begins with it", async () => {
    const broken = webOf({});
    broken.download = () => Promise.reject(new Error("no wire"));
    const first = start({ downloaders: [broken], defaults: { maxAttempts: 1 } });
    await first.run.finished;
    const throwing = (): never => {
      throw new Error("bad page");
    };
    const second = start({ downloaders: [webOf({ "/": "" })], analyzers: [{ analyze: throwing }] });
    await second.run.finished;
    const third = start({
      downloaders: [webOf({ "/": "" })],
      analyzers: [{ analyze: () => ({ items: [1] }) }],
      pipelines: [{ processors: [throwing] }],
      defaults: { maxAttempts: 1 },
    });
    await third.run.finished;
    const told = [...first.faults, ...second.faults, ...third.faults];
    expect(told.map(({ type, message }) => [type, message])).toEqual([
      ["downloader", "crawler error: downloader: no wire"],
      ["analyzer", "crawler error: analyzer: bad page"],
      ["pipeline", "crawler error: pipeline: bad page"],
    ]);
    expect(told.map(({ url, module }) => [url, module?.split("-")[0]])).toEqual([
      [HOME, "downloader"],
      [HOME, "analyzer"],
      [HOME, "pipeline"],
    ]);
  });

  it("G15: without a downloader the request goes back and is worked on when there is one", async () => {
    const { run, faults } = start({ downloaders: [] });
    await expect.poll(() => run.status).toBe("paused");
    expect(faults.map(({ type }) => type)).toEqual(["scheduler"]);
    const web = webOf({ "/": "" });
    run.modules.register("downloader", web);
    expect(await run.finished).toMatchObject({ pages: 1, failed: 0, retried: 0 });
    expect(web.asked).toEqual([HOME]);
  });

  it("G-B1: a downloader that is taken away and put back loses nothing", async () => {
    const web = webOf({ "/": link("/a") + link("/b"), "/a": "", "/b": "" });
    const { run } = start({ downloaders: [web], concurrency: 1 });
    run.on("page", ({ url }) => {
      if (url === HOME) run.modules.unregister("downloader", "downloader-1");
    });
    await expect.poll(() => run.status).toBe("paused");
    expect(run.report()).toMatchObject({ pages: 1, pending: 2 });
    run.modules.register("downloader", web);
    expect(await run.finished).toMatchObject({ pages: 3, pending: 0, failed: 0 });
    expect(web.asked).toEqual([HOME, `${HOME}a`, `${HOME}b`]);
  });

  it("G16: a value of the wrong kind is reported, and the others are processed", async () => {
    const { run, faults } = start({
      downloaders: [webOf({ "/": "", "/a": "" })],
      analyzers: [
        {
          analyze: ({ url }) =>
            url === HOME ? { found: [7, `${HOME}a`, { url: 1 }] as never } : {},
        },
      ],
    });
    expect(await run.finished).toMatchObject({ pages: 2 });
    expect(faults.map(({ type }) => type)).toEqual(["scheduler", "scheduler"]);
    expect(faults.every(({ message }) => message.includes("found["))).toBe(true);
  });

  it("G17: data and errors of one analysis are both used, and null is passed over", async () => {
    const { run, faults } = start({
      downloaders: [webOf({ "/": "", "/a": "" })],
      analyzers: [
        {
          analyze: ({ url }) =>
            url === HOME
              ? { found: [`${HOME}a`], items: [null, { n: 1 }, undefined], errors: [null, "half"] }
              : undefined,
        },
      ],
    });
    expect(await run.finished).toMatchObject({ pages: 2, items: 1 });
    expect(faults.map(({ message }) => message)).toEqual(["crawler error: analyzer: half"]);
  });

  it("G18: the least loaded module is chosen, by called + 2 · accepted + 4 · completed + 16 · handling", () => {
    const registry = createModuleRegistry();
    const module: Downloader = { download: () => Promise.reject(new Error("never")) };
    for (const id of ["b", "a"]) registry.register("downloader", module, id);
    const picked = Array.from({ length: 4 }, () => {
      const chosen = registry.choose("downloader");
      chosen?.accepted();
      chosen?.ended(true);
      return chosen?.id;
    });
    expect(picked).toEqual(["b", "a", "b", "a"]);
    registry.choose("downloader")?.accepted(); // b handles one for ever
    const next = registry.choose("downloader");
    next?.accepted();
    next?.ended(false);
    expect([next?.id, registry.choose("downloader")?.id]).toEqual(["a", "a"]);
    const counts: ModuleCounts[] = [
      { id: "a", called: 4, accepted: 3, completed: 2, handling: 0 },
      { id: "b", called: 3, accepted: 3, completed: 2, handling: 1 },
    ];
    expect(registry.counts().downloader).toEqual(counts);
    expect(() => registry.register("downloader", module, "a")).toThrow("a name that no other");
    expect(() => registry.register("downloader", {} as never)).toThrow("download()");
    expect(registry.unregister("downloader", "c")).toBe(false);
  });

  it("G-B11: an idle module wins over a busy one, though its score is 0", () => {
    const registry = createModuleRegistry();
    const module: Downloader = { download: () => Promise.reject(new Error("never")) };
    registry.register("downloader", module, "busy");
    registry.choose("downloader")?.accepted();
    registry.register("downloader", module, "idle");
    expect(registry.choose("downloader")?.id).toBe("idle");
  });

  it("G19: a crawl is over when nothing is pending and no module is at work, not before", async () => {
    const web = webOf({ "/": "", "/late": "" });
    let answer = (): void => {};
    const asked = new Promise<void>((resolve) => {
      const wait = (): Promise<void> => {
        resolve();
        return new Promise((go) => {
          answer = go;
        });
      };
      const analyze: Analyzer["analyze"] = async ({ url }) => {
        if (url !== HOME) return { items: [url] };
        await wait();
        return { found: [`${HOME}late`], items: [url] };
      };
      start({ downloaders: [web], analyzers: [{ analyze }] });
    });
    await asked;
    const [run] = runs as [Crawl];
    const told: string[] = [];
    void run.finished.then(() => told.push("over"));
    // Whoever else waits for work at its frontier is not sent home either.
    const other = new AbortController();
    const { signal } = other;
    const waiting = run.frontier?.take({ signal }).then(
      () => told.push("home"),
      () => undefined,
    );
    for (let turn = 0; turn < 50; turn++) await new Promise(setImmediate);
    const before = [...told, run.status, run.frontier?.report().pending];
    other.abort();
    await waiting;
    answer();
    expect(before).toEqual(["running", 0]);
    // What the module at work had still to find is visited: it was not over, and nobody had gone home.
    expect(await run.finished).toMatchObject({ reason: "finished", pages: 2, items: 2 });
  });

  it("G20: the summary lists modules sorted by id, and equal states have equal texts", async () => {
    const { run } = start({
      downloaders: [webOf({ "/": link("/a"), "/a": "" }), webOf({ "/": link("/a"), "/a": "" })],
    });
    const summary = await run.finished;
    // Each of them the least loaded once.
    expect(summary.modules.downloader.map(({ called, completed }) => [called, completed])).toEqual([
      [1, 1],
      [1, 1],
    ]);
    expect(summary).toMatchObject({ status: "stopped", pages: 2, pending: 0 });
    expect(summary.modules.downloader.map(({ id }) => id)).toEqual([
      "downloader-1",
      "downloader-2",
    ]);
    expect(JSON.parse(String(summary))).toEqual({ ...summary });
    expect(run.report()).toEqual(summary);
  });

  it("G21: the summary is emitted only when something other than the time has changed", async () => {
    const clock = createVirtualClock(1_000);
    let answer = (): void => {};
    const slow = webOf({ "/": "" });
    const download = slow.download.bind(slow);
    const downloader = {
      download: async (request: Parameters<typeof download>[0]) => {
        await new Promise<void>((resolve) => {
          answer = resolve;
        });
        return download(request);
      },
    };
    const { run } = start({ downloaders: [downloader], clock, progressMs: 100 });
    const told: string[] = [];
    run.on("summary", (summary) => told.push(`${summary.pages} pages, ${summary.status}`));
    while (run.frontier?.report().leased !== 1) await new Promise(setImmediate);
    clock.advance(100);
    const before = told.length;
    for (let turn = 0; turn < 20; turn++) clock.advance(100);
    expect(told.length).toBe(before);
    answer();
    await run.finished;
    expect(told.at(-1)).toBe("1 pages, stopping");
  });

  it("G22: processors run in order; fail-fast ends the item's way, else it goes on as it was", async () => {
    const seen: unknown[] = [];
    const processors = [
      (item: unknown) => ({ ...(item as object), first: true }),
      () => {
        throw new Error("second");
      },
      (item: unknown) => void seen.push(item),
    ];
    const analyzers = [{ analyze: () => ({ items: [{ n: 1 }] }) }];
    const web = () => webOf({ "/": "" });
    const slow = start({
      downloaders: [web()],
      analyzers,
      pipelines: [{ processors, failFast: false }],
    });
    expect(await slow.run.finished).toMatchObject({ pages: 1, items: 1, errors: { pipeline: 1 } });
    expect(seen).toEqual([{ n: 1, first: true }]);
    const pipelines = [{ processors, failFast: true }];
    const fast = start({
      downloaders: [web()],
      analyzers,
      pipelines,
      defaults: { maxAttempts: 2 },
    });
    expect(await fast.run.finished).toMatchObject({
      pages: 0,
      items: 0,
      failed: 1,
      errors: { pipeline: 2 },
    });
    expect(seen).toHaveLength(1);
  });
});

describe("NEOCrawler's rules, while a crawl runs", () => {
  it("N17: another set is in force at once, and a wrong one changes nothing", async () => {
    await using frontier = await openFrontier({
      rules: [{ id: "a", match: { domains: ["site.example"] } }],
    });
    const web = webOf({
      "/": link("http://new.example/") + link("/a"),
      "/a": link("http://new.example/"),
    });
    const { run } = start({ downloaders: [web], frontier, concurrency: 1, scope: "any" });
    run.on("page", ({ url }) => {
      if (url !== HOME) return;
      expect(() => run.setRules([{ id: "" }])).toThrow("rules[0].id");
      run.setRules([{ id: "all" }]);
    });
    expect(await run.finished).toMatchObject({ rejected: { "no-rule": 1 }, pages: 4 });
    expect(web.asked).toEqual([HOME, `${HOME}a`, "http://new.example/", "http://new.example/a"]);
  });
});

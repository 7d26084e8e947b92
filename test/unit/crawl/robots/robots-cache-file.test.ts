import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { createVirtualClock } from "../../../../src/base/clock.ts";
import { crawl } from "../../../../src/crawl/run/crawl.ts";
import { createRobots } from "../../../../src/crawl/robots/robots-txt.ts";
import { openLineFile } from "../../../../src/crawl/files.ts";
import { createCrawlGate } from "../../../../src/crawl/robots/robots-gate.ts";
import type { Download, Downloader } from "../../../../src/crawl/module-registry.ts";
import type { CrawlOptions } from "../../../../src/crawl/run/crawl-options.ts";
import {
  openRobotsCacheFile,
  type CachedRobots,
  type RobotsCacheFile,
} from "../../../../src/crawl/robots/robots-cache-file.ts";
import { openFrontier } from "../../../../src/index.ts";
import { readText } from "../../../support/package.ts";

const folder = mkdtempSync(join(tmpdir(), "outrider-robots-notes-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const START = 1_793_491_201_000;
const DAY = 86_400_000;

function open(
  path: string,
  { atMs = START, expiryMs = DAY, bytesMax = 1e6 } = {},
): RobotsCacheFile & { clock: ReturnType<typeof createVirtualClock> } {
  const clock = createVirtualClock(atMs);
  const notes = openRobotsCacheFile({ clock, expiryMs, bytesMax, open: () => openLineFile(path) });
  return { ...notes, clock };
}

const countOf = (path: string): number => readFileSync(path, "utf8").split("\n").length - 1;

describe("notes of robots.txt", () => {
  const golden = readText("test/golden/robots-1.jsonl");
  const told: ReadonlyArray<readonly [string, CachedRobots]> = [
    [
      "http://site.example",
      { atMs: START - 1_000, text: "User-agent: *\nDisallow: /private\nCrawl-delay: 2\n" },
    ],
    ["http://none.example", { atMs: START - 500, text: undefined }],
    ["https://xn--bcher-kva.example:8443", { atMs: START, text: '# caf\u00e9 "and" more\n' }],
  ];

  it("are the golden ones, byte for byte, as the document shows them, and read as they were meant", () => {
    const path = join(folder, "golden.jsonl");
    const notes = open(path);
    for (const [origin, note] of told) notes.keep(origin, note);
    expect(readFileSync(path, "utf8")).toBe(golden);
    const document = readText("docs/formats/robots.md");
    for (const line of golden.split("\n").slice(0, 2)) expect(document).toContain(`    ${line}\n`);
    writeFileSync(path, golden);
    const again = open(path);
    for (const [origin, note] of told) expect(again.take(origin)).toEqual(note);
    expect(again.take("http://site.example")).toBe(undefined);
    expect(readFileSync(path, "utf8")).toBe(golden);
  });

  it("hold until they expire, by the word of who reads them, and none from the future (I1)", () => {
    const path = join(folder, "expiry.jsonl");
    open(path).keep("http://a.test", { atMs: START, text: "" });
    const taken = (options: { atMs?: number; expiryMs?: number }): boolean => {
      writeFileSync(path, `["http://a.test",${START},""]\n`);
      return open(path, options).take("http://a.test") !== undefined;
    };
    expect(taken({ atMs: START + DAY - 1 })).toBe(true);
    expect(taken({ atMs: START + DAY })).toBe(false);
    expect(taken({ atMs: START + 10, expiryMs: 10 })).toBe(false);
    expect(taken({ atMs: START - 1 })).toBe(false);
    writeFileSync(path, `["http://a.test",${START},""]\n`);
    const late = open(path);
    late.clock.advance(DAY);
    expect(late.take("http://a.test")).toBe(undefined);
  });

  it("are the last ones of each origin; what is no line of theirs is passed over and gone", () => {
    const path = join(folder, "odd.jsonl");
    const odd = ["", "7", "{}", '["http://a.test"]', '["http://a.test","x",""]', "[1,2,3]", "[[["];
    const old = `["http://a.test",${START - 2},"old"]`;
    const fresh = `["http://a.test",${START - 1},null]`;
    writeFileSync(path, [...odd, old, fresh, '["http://b.test",1,'].join("\n"));
    const notes = open(path);
    expect(readFileSync(path, "utf8")).toBe(`${fresh}\n`);
    expect(notes.take("http://b.test")).toBe(undefined);
    expect(notes.take("http://a.test")).toEqual({ atMs: START - 1, text: undefined });
  });

  it("are bounded, the oldest gone first, while they are written and when they are read (I3)", () => {
    const path = join(folder, "bounded.jsonl");
    const notes = open(path, { bytesMax: 2_000 });
    let most = 0;
    for (let at = 0; at < 500; at++) {
      notes.keep(`http://h${at}.test`, { atMs: START, text: "x".repeat(50) });
      most = Math.max(most, readFileSync(path).length);
    }
    expect(most).toBeLessThan(2 * 2_000 + 100);
    const again = open(path, { bytesMax: 2_000 });
    expect(countOf(path)).toBeLessThan(25);
    expect(again.take("http://h499.test")).toBeDefined();
    expect(again.take("http://h400.test")).toBe(undefined);
  });
});

/** Two hosts of two pages; one has rules, one none. `asked`: URLs, in order. */
function site(asked: string[], robotsStatus = 200): Downloader {
  return {
    async download({ url }) {
      asked.push(url);
      const { pathname, hostname } = new URL(url);
      const isRobots = pathname === "/robots.txt";
      const status = isRobots && hostname === "b.test" ? 404 : isRobots ? robotsStatus : 200;
      const text = isRobots ? "User-agent: *\nDisallow: /shut\n" : "<a href=/shut><a href=/more>";
      const headers: Download["headers"] = { "content-type": "text/html" };
      return { url, status, headers, body: Buffer.from(text), bytes: text.length, latencyMs: 1 };
    },
  };
}

describe("a crawl that goes on in its directory", () => {
  const seeds = ["http://a.test/", "http://b.test/"];
  const run = async (options: CrawlOptions, robotsStatus?: number): Promise<string[]> => {
    const asked: string[] = [];
    const downloaders = [site(asked, robotsStatus)];
    await crawl({ seeds, delayMs: 0, progressMs: 0, ...options, downloaders }).finished;
    return asked;
  };

  it("asks for no robots.txt again, and keeps to what it said", async () => {
    const directory = join(folder, "goes-on");
    const first = await run({ directory, maxPages: 2 });
    expect(first.filter((url) => url.endsWith("/robots.txt"))).toHaveLength(2);
    const rest = await run({ directory });
    const both = [...first, ...rest].filter((url) => !url.endsWith("/robots.txt"));
    expect(both.toSorted()).toEqual([
      "http://a.test/",
      "http://a.test/more",
      "http://b.test/",
      "http://b.test/more",
      "http://b.test/shut",
    ]);
    expect(rest).toHaveLength(both.length - 2);
  });

  it("asks again what has expired by what it is told now, and what nobody could tell", async () => {
    const directory = join(folder, "again");
    await run({ directory, maxPages: 1 });
    const expired = await run({ directory, robots: { expiryMs: 0 } });
    expect(expired).toContain("http://a.test/robots.txt");
    const shut = { directory: join(folder, "shut"), robots: { attempts: 1 } };
    const refused = await run(shut, 503);
    expect(refused).not.toContain("http://a.test/");
    const later = await run({ ...shut, seeds: ["http://a.test/new", "http://b.test/new"] });
    expect(later).toContain("http://a.test/robots.txt");
    expect(later).toContain("http://a.test/new");
    expect(later).not.toContain("http://b.test/robots.txt");
  });
});

describe("the gate", () => {
  it("lets a noted host go at once, but for a delay that its host did not know", async () => {
    const clock = createVirtualClock(START);
    const path = join(folder, "gate.jsonl");
    const notes = open(path);
    notes.keep("http://quick.test", { atMs: START, text: "" });
    notes.keep("http://slow.test", { atMs: START, text: "User-agent: *\nCrawl-delay: 9\n" });
    await using frontier = await openFrontier({
      clock,
      defaults: { politeness: { delayMs: 1_000 } },
    });
    const robots = createRobots({
      ...{ userAgent: "x", clock, expiryMs: DAY, retryMs: 1, attempts: 1, maxCrawlDelayMs: DAY },
      notes: open(path),
      fetch: () => Promise.reject(new Error("nobody is asked")),
    });
    const gate = createCrawlGate({
      ...{ frontier, robots, clock, delayMs: 1_000, withSitemaps: false },
      hostKeyOf: (url) => new URL(url).host,
    });
    const ask = (url: string) => gate.ask({ url, rule: "default", isSitemap: false });
    expect(await ask("http://quick.test/")).toBe("allowed");
    expect(await ask("http://slow.test/")).toBe("later");
    expect(frontier.host("slow.test").delayMs).toBe(9_000);
    expect(await ask("http://slow.test/")).toBe("allowed");
    expect(robots.fetched).toBe(0);
  });
});

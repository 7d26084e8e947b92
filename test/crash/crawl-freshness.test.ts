/** What a crawl knows of the age of its pages, over kill -9: validators of conditional requests, and the dates of sitemaps. */
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { createRandom } from "../../src/base/random.ts";
import type { CrawlOptions } from "../../src/crawl.ts";
import { fingerprint } from "../../src/index.ts";
import { packageRoot } from "../support/package.ts";
import { testSeed } from "../support/seed.ts";

const PAGES = 40;
const DEADLINE_MS = 240_000;
const MODIFIED = "Sun, 01 Nov 2026 00:00:00 GMT";
const paths = Array.from({ length: PAGES }, (_, n) => `/p${n}`);

interface Asked {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
}

async function serve(answer: (asked: Asked, response: ServerResponse) => void) {
  const asked: Asked[] = [];
  const server = createServer(({ url = "", headers }, response) => {
    const one = { path: url, headers };
    asked.push(one);
    answer(one, response);
  });
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { asked, origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), "outrider-crawl-freshness-"));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

async function until(isSo: () => boolean, what: string): Promise<void> {
  for (const from = Date.now(); !isSo(); ) {
    if (Date.now() - from > DEADLINE_MS) throw new Error(`waited too long: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}

/** A crawl in a process of its own, until it is killed. */
function crawling(given: CrawlOptions): { kill(): Promise<void> } {
  const words = [`${packageRoot}test/archives/crawl-child.mjs`, JSON.stringify(given)];
  const child: ChildProcess = spawn(process.execPath, words, { stdio: "ignore" });
  const ended = new Promise((resolve) => child.on("close", resolve));
  const kill = async (): Promise<void> => {
    child.kill("SIGKILL");
    await ended;
  };
  onTestFinished(kill);
  return { kill };
}

/** Whole lines of a file of notes beside the frontier. */
function linesOf(directory: string, ending: string): unknown[][] {
  const name = existsSync(directory)
    ? readdirSync(directory).find((each) => each.endsWith(ending))
    : undefined;
  if (name === undefined) return [];
  const lines = readFileSync(join(directory, name), "utf8").split("\n").slice(0, -1);
  return lines.map((line) => JSON.parse(line) as unknown[]);
}

describe("a crawl that is killed", () => {
  it("asks conditionally for each page whose validators were durable, and visits all pages", async () => {
    const random = createRandom(testSeed("crawl freshness"));
    const tagOf = (path: string): string => `"${path}"`;
    const site = await serve(({ path, headers }, response) => {
      const fresh = { etag: tagOf(path), "last-modified": MODIFIED, "content-type": "text/html" };
      const isKnown = headers["if-none-match"] === tagOf(path);
      response.writeHead(isKnown ? 304 : 200, fresh);
      // Each page links to the next ones: a page that is not read whole in time hides the others.
      const at = path === "/" ? 0 : Number(path.slice(2)) + 1;
      response.end(
        isKnown
          ? ""
          : paths
              .slice(at, at + 2)
              .map((each) => `<a href="${each}">`)
              .join(""),
      );
    });
    const directory = join(folder(), "crawl");
    const options: CrawlOptions = {
      ...{ seeds: `${site.origin}/`, directory, allowPrivate: true, robots: false, delayMs: 5 },
      defaults: { epoch: { every: 400 } },
    };
    const durable = (): Set<string> =>
      new Set(
        linesOf(directory, ".validators.jsonl").map(([url]) =>
          String(url).slice(site.origin.length),
        ),
      );
    let known = new Set<string>();
    for (const round of [0, 1, 2, 3]) {
      const from = site.asked.length;
      const run = crawling(options);
      const least = Math.min(known.size + 1 + random.below(PAGES / 2), PAGES + 1);
      const firsts = (): Map<string, Asked> => {
        const found = new Map<string, Asked>();
        for (const one of site.asked.slice(from))
          if (!found.has(one.path)) found.set(one.path, one);
        return found;
      };
      const isLast = round === 3;
      await until(
        () => (isLast ? firsts().size === PAGES + 1 : durable().size >= least),
        `round ${round}, ${least} durable`,
      );
      // All that was durable at the last kill has come again.
      await until(() => [...known].every((path) => firsts().has(path)), "known pages come again");
      await run.kill();
      for (const [path, { headers }] of firsts()) {
        const sent = [headers["if-none-match"], headers["if-modified-since"]];
        const expected = known.has(path) ? [tagOf(path), MODIFIED] : [undefined, undefined];
        expect([round, path, ...sent]).toEqual([round, path, ...expected]);
      }
      known = durable();
    }
    expect([...known].sort()).toEqual(["/", ...paths].sort());
  });

  it("visits again what a sitemap dates anew, once, and lets all others rest", async () => {
    const old = new Date(Date.now() - 86_400_000).toISOString();
    const dates = new Map(paths.map((path) => [path, old]));
    const site = await serve(({ path }, response) => {
      if (path !== "/sitemap.xml") {
        response.setHeader("content-type", "text/html");
        return void response.end("page");
      }
      const entries = [...dates].map(
        ([each, date]) => `<url><loc>${site.origin}${each}</loc><lastmod>${date}</lastmod></url>`,
      );
      response.setHeader("content-type", "application/xml");
      response.end(`<urlset>${entries.join("")}</urlset>`);
    });
    const directory = join(folder(), "crawl");
    const options: CrawlOptions = {
      ...{ directory, allowPrivate: true, robots: false, delayMs: 0 },
      rules: [{ id: "news", seeds: [`${site.origin}/sitemap.xml`], every: 300 }],
    };
    const visits = (path: string): number => site.asked.filter((each) => each.path === path).length;
    /** The date of each page that is durable. */
    const durable = (): Map<unknown, unknown> =>
      new Map(linesOf(directory, ".lastmod.jsonl").map(([key, lastmod]) => [key, lastmod]));
    const keyOf = (path: string): string => fingerprint(site.origin + path).slice(0, 16);
    const isNoted = (path: string): boolean =>
      durable().get(keyOf(path)) === Date.parse(dates.get(path) ?? "");
    /** Crawls until this is so and the sitemap was read so often, and kills. */
    const round = async (readings: number, isSo: () => boolean): Promise<void> => {
      const from = visits("/sitemap.xml");
      const run = crawling(options);
      await until(
        () => visits("/sitemap.xml") - from >= readings && isSo(),
        JSON.stringify([readings, paths.map(visits), [...durable()].length]),
      );
      await run.kill();
    };
    const seen = (): boolean => paths.every((path) => visits(path) > 0 && isNoted(path));
    await round(2, seen);
    await round(2, seen);
    expect(paths.map(visits)).toEqual(paths.map(() => 1));
    const changed = ["/p3", "/p7", "/p39"];
    for (const path of changed) dates.set(path, new Date().toISOString());
    await round(2, () => changed.every((path) => visits(path) > 1 && isNoted(path)));
    await round(3, () => true);
    expect(paths.map(visits)).toEqual(paths.map((path) => (changed.includes(path) ? 2 : 1)));
  });
});

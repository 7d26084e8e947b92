/** Sites in memory that a crawl with `traps` finds whole, and traps whose pages read a little differently each time. */
import { expect, it } from "vitest";
import { createRandom, type Random } from "../../../../src/base/random.ts";
import type { Downloader } from "../../../../src/crawl/module-registry.ts";
import { crawl } from "../../../../src/crawl/run/crawl.ts";
import {
  letters,
  link,
  numbersTo,
  pick,
  wordsFrom,
} from "../../../../bench/cases/crawl/trap-shapes/shape.ts";

const GOOD = 120;
const words = wordsFrom(30);
const chance = createRandom(30);
const sentences = (name: string, count: number): string =>
  numbersTo(count)
    .map((n) => `${words(`${name} ${n}`, 9)}.`)
    .join(" ");
const some = <T>(count: number, draw: (random: Random) => T): T[] =>
  numbersTo(count).map(() => draw(chance));
const links = (paths: readonly string[]): string => paths.map((path) => link(path)).join("");

/** Articles in a tree; each page has the links of `entries` as well. */
function article(path: string, entries: string): string | undefined {
  const n = path === "/" ? 0 : Number(/^\/article-(\d+)$/.exec(path)?.[1] ?? GOOD);
  if (n >= GOOD) return undefined;
  const children = numbersTo(4)
    .map((child) => 4 * n + 1 + child)
    .filter((child) => child < GOOD);
  const own = links(children.map((child) => `/article-${child}`));
  return `<p>${sentences(`article ${n}`, 9)}</p>${own}${entries}`;
}

/** Pages of a site that were visited: paths without a query, and all the others. */
async function visits(page: (url: URL) => string | undefined) {
  const [plain, others] = [new Set<string>(), [] as string[]];
  const site: Downloader = {
    async download({ url }) {
      const parsed = new URL(url);
      const text = page(parsed);
      if (article(parsed.pathname + parsed.search, "") === undefined) others.push(url);
      else plain.add(url);
      const [body, headers] = [Buffer.from(text ?? ""), { "content-type": "text/html" }];
      const status = text === undefined ? 404 : 200;
      return { url, status, headers, body, bytes: body.length, latencyMs: 1 };
    },
  };
  const run = crawl({
    ...{ seeds: "http://a.example/", downloaders: [site], traps: true, maxPages: 1_500 },
    ...{ delayMs: 0, perHost: 4, robots: false, progressMs: 0 },
  });
  await run.finished;
  return { good: plain.size, others: new Set(others).size };
}

it("pages that say in changing sentences that there is no such page are left", async () => {
  const apologies = numbersTo(30).map((n) => sentences(`sorry ${n}`, 1));
  const folders = ["old", "pages", "news", "go"];
  const name = (): string => `${letters(chance, 8)}.html`;
  const missing = (): string => `/${pick(chance, folders)}/${letters(chance, 7)}/${name()}`;
  const { good, others } = await visits(
    ({ pathname }) =>
      article(pathname, pathname.endsWith("7") ? link(missing()) : "") ??
      `<h1>Not found</h1><p>${some(5, (random) => pick(random, apologies)).join(" ")}</p>
       ${links(some(3, missing))}
       ${links(some(3, (random) => `/article-${1 + random.below(GOOD - 1)}`))}`,
  );
  expect([good, others < 300]).toEqual([GOOD, true]);
});

it("a page with another advertisement and saying under each value of a name is that page", async () => {
  const from = (path: string): string => `${path}?from=${letters(chance, 9)}`;
  const { good, others } = await visits(({ pathname, search }) => {
    const page = article(pathname, search === "" ? links([from(pathname), from(pathname)]) : "");
    if (page === undefined || search === "") return page;
    const ad = sentences(`ad ${chance.below(500)}`, 2);
    const saying = sentences(`saying ${chance.below(400)}`, 1);
    return `<p>${ad}</p>${page}<p>${saying}</p>${link(from(pathname))}`;
  });
  expect([good, others < 36]).toEqual([GOOD, true]);
});

it("albums with a picture a page, and no words, are visited whole", async () => {
  const { others } = await visits(({ pathname }) => {
    const [, kind, at = ""] = pathname.split("/");
    if (kind === "") return links(numbersTo(20).map((n) => `/album/${n}`));
    const n = Number(at);
    if (kind === "album")
      return numbersTo(12)
        .map((by) => link(`/picture/${12 * n + by}`, `<img src="/small/${12 * n + by}.jpg">`))
        .join("");
    return `<img src="/images/${n}.jpg">${link(`/picture/${n}`, "again")}`;
  });
  expect(others).toBe(20 + 20 * 12);
});

it("lists whose pages lead to one another, with a word on each, are visited whole", async () => {
  const { others } = await visits(({ pathname }) => {
    if (pathname === "/") return links(numbersTo(20).map((n) => `/word/${20 * n}`));
    const n = Number(pathname.split("/")[2]);
    const list = numbersTo(20).map((by) => link(`/word/${n - (n % 20) + by}`, "."));
    return `${letters(createRandom(n), 8)} ${list.join("")}`;
  });
  expect(others).toBe(400);
});

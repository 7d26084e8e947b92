/** Families whose pages all show something: those that have an end are visited whole, others are left. */
import { expect, it } from "vitest";
import type { Downloader } from "../../../../src/crawl/module-registry.ts";
import { crawl } from "../../../../src/crawl/run/crawl.ts";
import { createRandom } from "../../../../src/base/random.ts";
import {
  letters,
  link,
  numbersTo,
  wordsFrom,
} from "../../../../bench/cases/crawl/trap-shapes/shape.ts";

const GOOD = 120;
const words = wordsFrom(31);
const text = (name: string, count: number): string => `<p>${words(name, count)}</p>`;
const links = (paths: readonly string[]): string => paths.map((path) => link(path)).join("");

/** Articles in a list, or undefined: the path is none of one. */
function article(path: string): string | undefined {
  if (path === "/") return links(numbersTo(GOOD).map((n) => `/news/article-${letterOf(n)}`));
  const n = numbersTo(GOOD).find((each) => path === `/news/article-${letterOf(each)}`);
  if (n === undefined) return undefined;
  return text(`article ${n}`, 60) + links([`/news/article-${letterOf((n * 7 + 1) % GOOD)}`]);
}

const letterOf = (n: number): string => letters(createRandom(900 + n), 6);

/** The paths that a crawl visits of a site, each once. */
async function visited(page: (path: string) => string | undefined): Promise<Set<string>> {
  const paths = new Set<string>();
  const site: Downloader = {
    async download({ url }) {
      const { pathname, search } = new URL(url);
      paths.add(pathname + search);
      const shown = page(pathname + search);
      const [body, headers] = [Buffer.from(shown ?? ""), { "content-type": "text/html" }];
      const status = shown === undefined ? 404 : 200;
      return { url, status, headers, body, bytes: body.length, latencyMs: 1 };
    },
  };
  await crawl({
    ...{ seeds: "http://a.example/", downloaders: [site], traps: true, maxPages: 900 },
    ...{ delayMs: 0, perHost: 4, robots: false, progressMs: 0 },
  }).finished;
  return paths;
}

const goodOf = (paths: ReadonlySet<string>): number =>
  [...paths].filter((path) => article(path) !== undefined).length;

it("pages of new words that lead on to ever new ones are left", async () => {
  const next = (path: string): string[] =>
    numbersTo(4).map((by) => `/maze/${words(`${path} ${by}`, 2).replace(" ", "-")}`);
  const paths = await visited((path) => {
    const good = article(path);
    if (good !== undefined) return good + links(next(path).slice(0, 1));
    return path.startsWith("/maze/") ? text(path, 80) + links(next(path)) : undefined;
  });
  expect([goodOf(paths), paths.size - goodOf(paths) < 60]).toEqual([GOOD + 1, true]);
});

it("a tree of such pages is visited to its leaves, whatever their order", async () => {
  for (const count of [9, 40]) {
    const paths = await visited((path) => {
      const n = path === "/" ? 0 : Number(path.slice("/person/".length));
      const children = numbersTo(3).map((by) => 3 * n + 1 + by);
      const own = children.filter((child) => child < 240).map((child) => `/person/${child}`);
      return text(`person ${n}`, count) + links(own);
    });
    expect(paths.size).toBe(240);
  }
});

it("links to the pages themselves, with a part that means nothing, make no growth", async () => {
  const paths = await visited((path) => {
    const [own = ""] = path.split("?");
    const n = own === "/" ? -1 : numbersTo(GOOD).findIndex((at) => own === `/post/${letterOf(at)}`);
    if (n < 0 && own !== "/") return undefined;
    const next = [2 * n + 2, 2 * n + 3]
      .filter((at) => at < GOOD)
      .map((at) => `/post/${letterOf(at)}`);
    const views = ["list", "grid", "wide", letters(createRandom(n + 7), 4)];
    return text(`post ${n}`, 60) + links([...next, ...views.map((view) => `${own}?view=${view}`)]);
  });
  const pages = [...paths].filter((path) => !path.includes("?"));
  expect([pages.length, paths.size - pages.length < 60]).toEqual([GOOD + 1, true]);
});

it("versions of a manual are visited whole, though most of their pages are alike", async () => {
  const versions = ["v1.0", "v1.1", "v2.0", "v2.1", "stable"];
  const names = numbersTo(40).map((n) => `/${letterOf(n)}.html`);
  const paths = await visited((path) => {
    const [, version = "", name = ""] = path.split("/");
    if (version === "") return links(versions.map((each) => `/${each}/`));
    if (name === "") return links(names.map((each) => `/${version}${each}`));
    const at = versions.indexOf(version);
    const changed = numbersTo(at + 1).filter(
      (by) => createRandom(names.indexOf(`/${name}`) * 7 + by).below(3) === 0,
    );
    const others = links(versions.map((each) => `/${each}/${name}`));
    return text(name, 80) + text(`${name} ${changed.at(-1) ?? 0}`, 25) + others;
  });
  expect(paths.size).toBe(1 + versions.length + versions.length * names.length);
});

it("a page is visited in few of the ways in which its path can be written", async () => {
  const chance = createRandom(5);
  const plainOf = (path: string): string => path.toLowerCase().replace(/\/{2,}/g, "/");
  const written = (path: string): string => {
    const way = chance.below(3);
    if (way === 0) return path.replace("/article", "//article");
    return way === 1 ? path.replace(/[a-z]+$/, (name) => name.toUpperCase()) : path;
  };
  const paths = await visited((path) =>
    article(plainOf(path))?.replaceAll(
      /href="([^"]+)"/g,
      (_, to: string) => `href="${written(to)}"><a href="${written(to)}"`,
    ),
  );
  const pages = new Set([...paths].map(plainOf));
  expect([pages.size, paths.size - pages.size < 40]).toEqual([GOOD + 1, true]);
});

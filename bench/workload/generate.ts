/**
 * URLs of a workload, each a function of its recipe alone.
 *
 *   uniform   all different, every host equally often
 *   zipf      all different, hosts by Zipf's law
 *   crawl     links as a crawl meets them: the synthetic web of src/crawl walked breadth first, page by page, every link of a page
 *             told as it stands there, with `menu` links to the first pages of its host beside them
 *   real      the lines of a list of the user's (BENCH_URLS, or shared/data beside the repository), in canonical form, its
 *             duplicates kept
 *
 *   crawl:   queue of pages ──▶ links of the next page ──▶ URL of each; a page seen for the first time joins the queue
 *
 *   I1  The same recipe makes the same URLs on every machine. `real` depends on its file.
 *   I2  In `crawl` a page has one URL, so that a duplicate is one byte for byte.
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { canonicalize } from "../../src/index.ts";
import {
  createWebPlan,
  type WebLink,
  type WebPlan,
} from "../../src/crawl/synthetic-web/web-plan.ts";
import { ROOT } from "../harness/machine.ts";
import { urlChunk, urlOnHost } from "../harness/urls.ts";

export interface Recipe {
  readonly kind: "uniform" | "zipf" | "crawl" | "real";
  readonly urls: number;
  readonly hosts: number;
  /** crawl: seed of the web, and links to the first pages of its own host on every page. */
  readonly seed?: number;
  readonly menu?: number;
}

export interface UrlSource {
  /** The next `max` URLs; fewer where there are no more. */
  next(max: number): string[];
  /** How many different ones it has given so far. */
  distinct(): number;
}

export const REAL_FILE = join(ROOT, "..", "shared", "data", "urls-kasztp.txt");

export function openSource(recipe: Recipe): UrlSource {
  if (recipe.kind === "crawl") return crawlSource(recipe);
  if (recipe.kind === "real") return realSource();
  const shape = { hosts: recipe.hosts, isUniform: recipe.kind === "uniform" };
  let given = 0;
  return {
    next(max) {
      const count = Math.min(max, recipe.urls - given);
      const urls = urlChunk(given, count, shape);
      given += count;
      return urls;
    },
    distinct: () => given,
  };
}

/** Path of the list of real URLs; undefined where there is none. */
export function realFile(): string | undefined {
  const path = process.env.BENCH_URLS ?? REAL_FILE;
  return existsSync(path) ? path : undefined;
}

function realSource(): UrlSource {
  const path = realFile();
  if (path === undefined) throw new Error(`no list of URLs (expected: ${REAL_FILE} or BENCH_URLS)`);
  const lines = readFileSync(path, "utf8").replace("\ufeff", "").split(/\r?\n/);
  const urls = lines.map((line) => canonicalize(line.trim())).filter((url) => url !== undefined);
  const seen = new Set<string>();
  let at = 0;
  return {
    next(max) {
      const some = urls.slice(at, at + max);
      at += some.length;
      for (const url of some) seen.add(url);
      return some;
    },
    distinct: () => seen.size,
  };
}

/** Pages of a web for so many links: it must not end before they are written. */
const PAGES_PER_LINK = 0.5;

function crawlSource({ urls, hosts, seed = 1, menu = 0 }: Recipe): UrlSource {
  const pages = Math.max(hosts, Math.ceil(urls * PAGES_PER_LINK));
  const plan = createWebPlan({ seed, hosts, pages, mishaps: 0, traps: false });
  const ids = pageIds(plan);
  const seen = new Uint8Array(ids.count);
  const queue: number[] = [ids.of(0, "/")];
  seen[queue[0] as number] = 1;
  let [head, distinct] = [0, 0];
  const ready: number[] = [];
  const tell = (id: number): void => {
    ready.push(id);
    if (seen[id] === 1) return;
    seen[id] = 1;
    queue.push(id);
  };
  const told = new Uint8Array(ids.count);
  return {
    next(max) {
      for (let id = queue[head]; ready.length < max && id !== undefined; id = queue[++head])
        for (const link of ids.linksOf(id, menu)) tell(link);
      return ready.splice(0, max).map((id) => {
        if (told[id] === 0) distinct++;
        told[id] = 1;
        return ids.urlOf(id);
      });
    },
    distinct: () => distinct,
  };
}

interface PageIds {
  readonly count: number;
  of(host: number, path: string): number;
  linksOf(id: number, menu: number): number[];
  urlOf(id: number): string;
}

/** A number for everything that a link can lead to: pages of all hosts, then their redirects, then private ones. */
function pageIds(plan: WebPlan): PageIds {
  const { hosts } = plan.shape;
  const first = new Float64Array(hosts + 1);
  for (let host = 0; host < hosts; host++)
    first[host + 1] = (first[host] as number) + plan.sizeOf(host);
  const pages = first[hosts] as number;
  const startOf = (host: number): number => first[host] as number;
  const of = (host: number, path: string): number => {
    if (path === "/") return startOf(host);
    if (path.startsWith("/private/")) return 2 * pages + host;
    return startOf(host) + Number(path.slice(path.lastIndexOf("/") + 1)) + isRedirect(path) * pages;
  };
  const hostOf = (page: number): number => {
    let [low, high] = [0, hosts - 1];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (startOf(middle) <= page) low = middle;
      else high = middle - 1;
    }
    return low;
  };
  const twice = ({ host, path, isTwice }: WebLink): number[] => {
    const id = of(host, path);
    return isTwice ? [id, id] : [id];
  };
  return {
    count: 2 * pages + hosts,
    of,
    linksOf(id, menu) {
      if (id >= 2 * pages) return [];
      if (id >= pages) return [id - pages];
      const host = hostOf(id);
      const page = id - startOf(host);
      const links = plan.linksOf(host, page).flatMap(twice);
      for (let item = 0; item < Math.min(menu, plan.sizeOf(host)); item++)
        links.push(startOf(host) + item);
      return links;
    },
    urlOf: (id) => urlOnHost(id, id >= 2 * pages ? id - 2 * pages : hostOf(id % pages)),
  };
}

function isRedirect(path: string): 0 | 1 {
  return path.startsWith("/go/") ? 1 : 0;
}

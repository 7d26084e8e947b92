/**
 * How a site of parts is drawn and served: its good pages, its traps, and what was visited of both.
 *
 *   goodParts ─▶ pages by path      trapParts ─▶ traps      serveParts ─▶ a page stands in the frame that `around` puts about it
 */
import type { Random } from "../../../../src/base/random.ts";
import type { Download } from "../../../../src/crawl.ts";
import { drawn, numbersTo, wordsFrom } from "../trap-shapes/shape.ts";
import type { TrapSite } from "../trap-webs.ts";
import {
  type Answer,
  type Good,
  type GoodFamily,
  links,
  type Site,
  type Trap,
  type TrapFamily,
  upTo,
} from "./family.ts";

const ORIGIN = "http://site.example";

type Named<T> = ReadonlyArray<readonly [name: string, part: T]>;
type Pool<T> = Readonly<Record<string, T>>;

export interface ServedSite extends TrapSite {
  readonly visitsOf: ReadonlyMap<string, number>;
  readonly goodOf: () => Array<readonly [name: string, visited: number, count: number]>;
}

interface Served {
  readonly site: Site;
  readonly goods: Named<Good>;
  readonly traps: Named<Trap>;
  /** What answers of traps draw from. */
  readonly chance: Random;
  /** A page with this text: its frame, and links into traps. */
  readonly around: (text: string, path: string, isTrap: boolean) => string;
}

interface Wanted {
  readonly pool: Pool<GoodFamily>;
  readonly count: number;
  readonly most?: number;
  /** Parts have unequal sizes, none of them less than this. They are equal without it. */
  readonly least?: number;
}

/** A site of two to `most` good parts, with so many pages or a few less. */
export function goodParts(
  random: Random,
  words: number,
  { pool, count, most = 4, least }: Wanted,
): { site: Site; goods: Named<Good> } {
  const [places, paths] = [new Map<string, () => string>(), [] as string[]];
  const goodAt = (path: string): string | undefined => places.get(path)?.();
  const site: Site = { random, words: wordsFrom(words), goodPaths: () => paths, goodAt };
  const names = drawn(random, Object.keys(pool), upTo(random, 2, most));
  const sizes = sizesOf(random, { count, parts: names.length, least });
  const goods = names.map((name, n) => [name, pool[name]?.(site, sizes[n] ?? 0) as Good] as const);
  for (const [, good] of goods)
    for (const [n, url] of good.urls.entries())
      if (!places.has(url)) places.set(url, () => good.page(n));
  paths.push(...places.keys());
  return { site, goods };
}

function sizesOf(
  random: Random,
  { count, parts, least }: { count: number; parts: number; least: number | undefined },
): number[] {
  const equal = Math.floor(count / parts);
  if (least === undefined) return numbersTo(parts).map(() => equal);
  const shares = numbersTo(parts).map(() => 1 + random.below(20));
  const [sum, each] = [shares.reduce((a, b) => a + b, 0), Math.min(least, equal)];
  return shares.map((share) => each + Math.floor(((count - each * parts) * share) / sum));
}

/** Three to six traps. */
export function trapParts(site: Site, pool: Pool<TrapFamily>): Named<Trap> {
  const names = drawn(site.random, Object.keys(pool), upTo(site.random, 3, 6));
  return names.map((name) => [name, pool[name]?.(site) as Trap] as const);
}

export function serveParts({ site, goods, traps, chance, around }: Served): ServedSite {
  const [visited, visitsOf] = [new Set<string>(), new Map<string, number>()];
  const known = new Set(site.goodPaths());
  const home = links(goods.flatMap(([, good]) => good.entries));
  const answerOf = (url: URL): Answer | undefined => {
    const path = url.pathname + url.search;
    if (path === "/") return around(`<h1>Home</h1>${home}`, path, false);
    if (known.has(path)) {
      visited.add(path);
      return around(site.goodAt(path) ?? "", path, false);
    }
    for (const [name, trap] of traps) {
      const answer = trap.answer(new URL(url), chance);
      if (answer === undefined) continue;
      visitsOf.set(name, (visitsOf.get(name) ?? 0) + 1);
      return typeof answer === "string" ? around(answer, path, true) : answer;
    }
    visitsOf.set("none", (visitsOf.get("none") ?? 0) + 1);
    return undefined;
  };
  return {
    ...{ seed: `${ORIGIN}/`, goodCount: known.size, trapCount: traps.length, visitsOf },
    good: () => visited.size,
    goodOf: () =>
      goods.map(([name, { urls }]) => {
        const all = [...new Set(urls)];
        return [name, all.filter((url) => visited.has(url)).length, all.length] as const;
      }),
    trapped: () => [...visitsOf.values()].reduce((a, b) => a + b, 0),
    download: async ({ url }): Promise<Download> => answered(url, answerOf(new URL(url))),
  };
}

function answered(url: string, answer: Answer | undefined): Download {
  const isText = typeof answer === "string";
  const body = Buffer.from(isText ? answer : "");
  const status = isText ? 200 : (answer?.status ?? 404);
  const location = isText ? undefined : answer?.location;
  const headers = { "content-type": "text/html", ...(location && { location: ORIGIN + location }) };
  return { url, status, headers, body, bytes: body.length, latencyMs: 1 };
}

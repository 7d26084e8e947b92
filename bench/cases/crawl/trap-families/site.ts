/**
 * A site of families, drawn from a seed.
 *
 *   good     two to four parts of `good.ts`          traps    three to six of `looked.ts` or `held.ts`
 *   frame    menu and footer on each page, links to some good pages on each or on good ones only, at times words that change with each visit
 *   entries  on each good page, on one of ten, or at home; pages of traps have them too, or not
 */
import { createRandom } from "../../../../src/base/random.ts";
import type { Download } from "../../../../src/crawl.ts";
import { drawn, hashOf, link, numbersTo, pick, wordsFrom } from "../trap-shapes/shape.ts";
import type { TrapSite } from "../trap-webs.ts";
import { type Answer, type Good, links, type Site, some, type Trap, upTo } from "./family.ts";
import { GOOD_FAMILIES } from "./good.ts";
import { HELD_FAMILIES } from "./held.ts";
import { LOOKED_FAMILIES } from "./looked.ts";

const ORIGIN = "http://site.example";
const POOLS = { looked: LOOKED_FAMILIES, counted: HELD_FAMILIES, free: {} };
export type FamilyPool = keyof typeof POOLS;

export interface FamilySite extends TrapSite {
  readonly visitsOf: ReadonlyMap<string, number>;
  readonly goodOf: () => Array<readonly [name: string, visited: number, count: number]>;
}

interface Frame {
  readonly menu: string;
  readonly footer: string;
  readonly recent: number;
  readonly isOnTraps: boolean;
  readonly changing: number;
  readonly entriesOn: number;
  readonly entriesOnTraps: boolean;
}

function frameOf({ random, words }: Site): Frame {
  return {
    menu: words("menu", upTo(random, 0, 30)),
    footer: words("footer", upTo(random, 0, 50)),
    recent: random.below(4),
    isOnTraps: random.below(2) === 0,
    changing: pick(random, [0, 0, 0, 2, 5]),
    entriesOn: pick(random, [1, 1, 10, Number.POSITIVE_INFINITY]),
    entriesOnTraps: random.below(2) === 0,
  };
}

interface Parts {
  readonly goods: ReadonlyArray<readonly [string, Good]>;
  readonly traps: ReadonlyArray<readonly [string, Trap]>;
  readonly frame: Frame;
}

export function openFamilySite(pool: FamilyPool, seed: number, goodCount: number): FamilySite {
  const random = createRandom(seed * 31 + pool.length);
  const [places, paths] = [new Map<string, () => string>(), [] as string[]];
  const goodAt = (path: string): string | undefined => places.get(path)?.();
  const site: Site = { random, words: wordsFrom(seed), goodPaths: () => paths, goodAt };
  const goodNames = drawn(random, Object.keys(GOOD_FAMILIES), upTo(random, 2, 4));
  const size = Math.floor(goodCount / goodNames.length);
  const goods = goodNames.map((name) => [name, GOOD_FAMILIES[name]?.(site, size) as Good] as const);
  for (const [, good] of goods)
    for (const [n, url] of good.urls.entries())
      if (!places.has(url)) places.set(url, () => good.page(n));
  paths.push(...places.keys());
  const names = drawn(random, Object.keys(POOLS[pool]), upTo(random, 3, 6));
  const families: Readonly<Record<string, (site: Site) => Trap>> = POOLS[pool];
  const traps = names.map((name) => [name, families[name]?.(site) as Trap] as const);
  return served({ goods, traps, frame: frameOf(site) }, site, seed);
}

function served({ goods, traps, frame }: Parts, site: Site, seed: number): FamilySite {
  const [visited, visitsOf] = [new Set<string>(), new Map<string, number>()];
  const known = new Set(site.goodPaths());
  const chance = createRandom(seed + 77);
  const around = (text: string, path: string, isTrap: boolean): string => {
    const at = createRandom(seed * 7_919 + hashOf(path));
    const hasEntries = isTrap
      ? frame.entriesOnTraps && frame.entriesOn === 1
      : path === "/" || at.below(1_000) < 1_000 / frame.entriesOn;
    const into = hasEntries ? traps.flatMap(([, trap]) => trap.entries(at, path)) : [];
    const recent = isTrap && !frame.isOnTraps ? [] : some(site, at, frame.recent);
    const changing = numbersTo(frame.changing).map(() => site.words(`w ${chance.below(4_000)}`, 1));
    const [head, foot] = [`<p>${frame.menu}</p>${link("/", "home")}`, `<p>${frame.footer}</p>`];
    return `${head}${text}${links([...recent, ...into])}<p>${changing.join(" ")}</p>${foot}`;
  };
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

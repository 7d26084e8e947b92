/**
 * A held-out site, drawn from a seed. Other shapes than those the recognition was worked on with (good.ts, traps.ts), and another frame.
 *
 *   good     two to four parts                       traps    three to six
 *   frame    menu, footer, crumbs of the path, and one of: nothing that changes · the time and a count · a saying of thirty · words by chance
 *   entries  on each good page, on one of five, or in the menu of every page, those of traps as well
 */
import { createRandom, type Random } from "../../../../src/base/random.ts";
import type { Download } from "../../../../src/crawl.ts";
import {
  type Answer,
  type Good,
  links,
  type Site,
  some,
  type Trap,
  upTo,
} from "../trap-families/family.ts";
import { drawn, hashOf, link, numbersTo, pick, wordsFrom } from "../trap-shapes/shape.ts";
import type { TrapSite } from "../trap-webs.ts";
import { GOOD_PARTS } from "./good.ts";
import { TRAP_PARTS } from "./traps.ts";

const ORIGIN = "http://site.example";

export interface HeldOutSite extends TrapSite {
  readonly visitsOf: ReadonlyMap<string, number>;
  readonly goodOf: () => Array<readonly [name: string, visited: number, count: number]>;
}

interface Frame {
  readonly menu: string;
  readonly footer: string;
  readonly hasCrumbs: boolean;
  readonly recent: number;
  readonly changing: number;
  readonly entriesOn: number;
  readonly entriesOnTraps: boolean;
}

function frameOf({ random, words }: Site): Frame {
  return {
    menu: words("menu", upTo(random, 3, 40)),
    footer: words("footer", upTo(random, 3, 60)),
    hasCrumbs: random.below(2) === 0,
    recent: random.below(5),
    changing: random.below(4),
    entriesOn: pick(random, [1, 1, 5]),
    entriesOnTraps: random.below(2) === 0,
  };
}

/** What a frame shows anew with each visit. */
function changingText(kind: number, words: Site["words"], chance: Random): string {
  if (kind === 0) return "";
  if (kind === 1) {
    const time = `${chance.below(24)}:${10 + chance.below(50)}`;
    return `It is ${time}, ${chance.below(500)} are here, ${chance.below(90_000)} were today`;
  }
  if (kind === 2) return words(`saying ${chance.below(30)}`, 9);
  return numbersTo(3 + chance.below(3))
    .map(() => words(`by chance ${chance.below(3_000)}`, 1))
    .join(" ");
}

/** `hasTraps` false: a site of good parts alone. */
export function openHeldOutSite(seed: number, goodCount: number, hasTraps = true): HeldOutSite {
  const random = createRandom(seed * 131 + 7);
  const [places, paths] = [new Map<string, () => string>(), [] as string[]];
  const goodAt = (path: string): string | undefined => places.get(path)?.();
  const site: Site = { random, words: wordsFrom(seed + 5_000), goodPaths: () => paths, goodAt };
  const goodNames = drawn(random, Object.keys(GOOD_PARTS), upTo(random, 2, 4));
  const size = Math.floor(goodCount / goodNames.length);
  const goods = goodNames.map((name) => [name, GOOD_PARTS[name]?.(site, size) as Good] as const);
  for (const [, good] of goods)
    for (const [n, url] of good.urls.entries())
      if (!places.has(url)) places.set(url, () => good.page(n));
  paths.push(...places.keys());
  const names = hasTraps ? drawn(random, Object.keys(TRAP_PARTS), upTo(random, 3, 6)) : [];
  const traps = names.map((name) => [name, TRAP_PARTS[name]?.(site) as Trap] as const);
  return served({ goods, traps, frame: frameOf(site) }, site, seed);
}

interface Parts {
  readonly goods: ReadonlyArray<readonly [string, Good]>;
  readonly traps: ReadonlyArray<readonly [string, Trap]>;
  readonly frame: Frame;
}

function served({ goods, traps, frame }: Parts, site: Site, seed: number): HeldOutSite {
  const [visited, visitsOf] = [new Set<string>(), new Map<string, number>()];
  const known = new Set(site.goodPaths());
  const chance = createRandom(seed + 991);
  const around = (text: string, path: string, isTrap: boolean): string => {
    const at = createRandom(seed * 6_151 + hashOf(path));
    const hasEntries = isTrap
      ? frame.entriesOnTraps
      : path === "/" || at.below(frame.entriesOn) === 0;
    const into = hasEntries ? traps.flatMap(([, trap]) => trap.entries(at, path)) : [];
    const crumbs = frame.hasCrumbs ? path.split(/[/?]/).join(" › ") : "";
    const head = `<p>${frame.menu}</p>${link("/", "home")}<p>${crumbs}</p>`;
    const changing = changingText(frame.changing, site.words, chance);
    const around = links([...some(site, at, frame.recent), ...into]);
    return `${head}${text}${around}<p>${changing}</p><p>${frame.footer}</p>`;
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

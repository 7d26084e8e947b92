/** A site of three good shapes and five traps, drawn from a seed; a downloader that computes each answer. */
import { createRandom } from "../../../../src/base/random.ts";
import type { Download } from "../../../../src/crawl.ts";
import type { TrapSite } from "../trap-webs.ts";
import { DRAWN_SHAPES } from "./drawn.ts";
import { GOOD_SHAPES } from "./good.ts";
import { HELD_SHAPES } from "./held.ts";
import { type Draw, drawn, hashOf, link, type Part, type Shape, wordsFrom } from "./shape.ts";
import { TUNED_SHAPES } from "./tuned.ts";

const ORIGIN = "http://site.example";
const [GOOD_PARTS, TRAPS] = [3, 5];

const POOLS = {
  ...{ tuned: TUNED_SHAPES, unseen: HELD_SHAPES, drawn: DRAWN_SHAPES },
  none: [] as readonly Shape[],
};
export type Pool = keyof typeof POOLS;

export interface MixedSite extends TrapSite {
  /** Visits by name of a trap. */
  readonly visitsOf: ReadonlyMap<string, number>;
  /** Good pages visited and there, by name of their shape. */
  readonly goodOf: () => Array<readonly [name: string, visited: number, count: number]>;
}

/** `only` names the traps of the site; otherwise five are drawn. */
export function openMixedSite(
  pool: Pool,
  seed: number,
  { goodCount, only }: { readonly goodCount: number; readonly only?: readonly string[] },
): MixedSite {
  const random = createRandom(seed);
  const visited = new Set<string>();
  const visitsOf = new Map<string, number>();
  const goodParts: Part[] = [];
  const goodPaths: string[] = [];
  const goodAt = (path: string): string | undefined => {
    const url = new URL(path, ORIGIN);
    for (const part of goodParts) {
      const page = part.page(url);
      if (page !== undefined) return page;
    }
    return undefined;
  };
  const size = Math.floor(goodCount / GOOD_PARTS);
  const draw: Draw = { random, words: wordsFrom(seed), size, goodAt, goodPaths: () => goodPaths };
  const goodShapes = drawn(random, GOOD_SHAPES, GOOD_PARTS);
  for (const shape of goodShapes) goodParts.push(shape.make(draw));
  goodPaths.push(...goodParts.flatMap(({ good }) => good));
  const all: readonly Shape[] = POOLS[pool];
  const shapes =
    only === undefined ? drawn(random, all, TRAPS) : all.filter(({ name }) => only.includes(name));
  const traps = shapes.map((shape) => ({ name: shape.name, ...shape.make(draw) }));
  const known = new Set(goodPaths);
  const home = goodParts.flatMap((part) => part.entries(random, "/")).map((to) => link(to));
  const intoTraps = (path: string): string => {
    const own = createRandom(seed * 7_919 + known.size + hashOf(path));
    return traps.flatMap((trap) => trap.entries(own, path).map((to) => link(to))).join("");
  };
  // On every second site, pages of traps have the links of all other pages.
  const hasTemplate = random.below(2) === 0;
  const answerOf = (url: URL): string | undefined => {
    const path = url.pathname + url.search;
    if (path === "/") return `<h1>Home</h1>${home.join("")}${intoTraps(path)}`;
    if (known.has(path)) {
      visited.add(path);
      return `${goodAt(path)}${intoTraps(path)}`;
    }
    for (const { name, page } of traps) {
      const text = page(new URL(url));
      if (text === undefined) continue;
      visitsOf.set(name, (visitsOf.get(name) ?? 0) + 1);
      return hasTemplate ? `${text}${link("/", "home")}${intoTraps(path)}` : text;
    }
    return undefined;
  };
  return {
    ...{ seed: `${ORIGIN}/`, goodCount: known.size, trapCount: traps.length, visitsOf },
    good: () => visited.size,
    goodOf: () =>
      goodParts.map(({ good }, at) => {
        const count = new Set(good).size;
        const seen = new Set(good.filter((path) => visited.has(path))).size;
        return [goodShapes[at]?.name ?? "", seen, count] as const;
      }),
    trapped: () => [...visitsOf.values()].reduce((a, b) => a + b, 0),
    async download({ url }): Promise<Download> {
      const text = answerOf(new URL(url));
      const body = Buffer.from(text ?? "");
      const status = text === undefined ? 404 : 200;
      const headers = { "content-type": "text/html" };
      return { url, status, headers, body, bytes: body.length, latencyMs: 1 };
    },
  };
}

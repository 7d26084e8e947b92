/**
 * A site of families, drawn from a seed.
 *
 *   good     two to four parts of `good.ts`          traps    three to six of `looked.ts` or `held.ts`
 *   frame    menu and footer on each page, links to some good pages on each or on good ones only, at times words that change with each visit
 *   entries  on each good page, on one of ten, or at home; pages of traps have them too, or not
 */
import { createRandom } from "../../../../src/base/random.ts";
import { hashOf, link, numbersTo, pick } from "../trap-shapes/shape.ts";
import { links, type Site, some, upTo } from "./family.ts";
import { GOOD_FAMILIES } from "./good.ts";
import { HELD_FAMILIES } from "./held.ts";
import { LOOKED_FAMILIES } from "./looked.ts";
import { goodParts, type ServedSite, serveParts, trapParts } from "./serve-parts.ts";

const POOLS = { looked: LOOKED_FAMILIES, counted: HELD_FAMILIES, free: {} };
export type FamilyPool = keyof typeof POOLS;

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

export function openFamilySite(pool: FamilyPool, seed: number, goodCount: number): ServedSite {
  const random = createRandom(seed * 31 + pool.length);
  const wanted = { pool: GOOD_FAMILIES, count: goodCount };
  const { site, goods } = goodParts(random, seed, wanted);
  const traps = trapParts(site, POOLS[pool]);
  const frame = frameOf(site);
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
  return serveParts({ site, goods, traps, chance, around });
}

/**
 * A held-out site, drawn from a seed. Other shapes than those the recognition was worked on with (good.ts, traps.ts), and another frame.
 *
 *   good     two to four parts                       traps    three to six
 *   frame    menu, footer, crumbs of the path, and one of: nothing that changes · the time and a count · a saying of thirty · words by chance
 *   entries  on each good page, on one of five, or in the menu of every page, those of traps as well
 */
import { createRandom, type Random } from "../../../../src/base/random.ts";
import { links, type Site, some, upTo } from "../trap-families/family.ts";
import { goodParts, type ServedSite, serveParts, trapParts } from "../trap-families/serve-parts.ts";
import { hashOf, link, numbersTo, pick } from "../trap-shapes/shape.ts";
import { GOOD_PARTS } from "./good.ts";
import { TRAP_PARTS } from "./traps.ts";

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
export function openHeldOutSite(seed: number, goodCount: number, hasTraps = true): ServedSite {
  const random = createRandom(seed * 131 + 7);
  const wanted = { pool: GOOD_PARTS, count: goodCount };
  const { site, goods } = goodParts(random, seed + 5_000, wanted);
  const traps = hasTraps ? trapParts(site, TRAP_PARTS) : [];
  const frame = frameOf(site);
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
  return serveParts({ site, goods, traps, chance, around });
}

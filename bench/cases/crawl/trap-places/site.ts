/**
 * A held-out site after institutions and shops, drawn from a seed without sight of the recognition.
 *
 *   good     two to four parts of `good.ts`, of unequal sizes   traps    three to five of `traps.ts`
 *   frame    a long notice or none, a menu, a list at the side (of the site, the page or the visit),
 *            the address of the page, a counter of visits or the time of the server
 *   entries  on each good page, on one of two or of six; among the text, or in a bar of tools
 */
import { createRandom } from "../../../../src/base/random.ts";
import { links, type Site, some, upTo } from "../trap-families/family.ts";
import { goodParts, type ServedSite, serveParts } from "../trap-families/serve-parts.ts";
import { drawn, hashOf, link, pick } from "../trap-shapes/shape.ts";
import { PLACE_GOOD } from "./good.ts";
import { PLACE_TRAPS } from "./traps.ts";

function frameOf({ random, words }: Site, entries: readonly string[]) {
  const menu = links(entries.slice(0, upTo(random, 1, 5)), words("menu", 1));
  return {
    head: `<header>${words("notice", pick(random, [0, 7, 120]))}</header><nav>${menu}</nav>`,
    foot: `<footer>${words("hours and address", upTo(random, 3, 40))}</footer>`,
    side: pick(random, ["site", "page", "visit"] as const),
    sideCount: random.below(9),
    changing: pick(random, ["none", "counter", "time", "readers"] as const),
    hasAddress: random.below(2) === 0,
    hasTools: random.below(2) === 0,
    entriesOn: pick(random, [1, 2, 6]),
    entriesOnTraps: random.below(2) === 0,
  };
}

/** `hasTraps` false: a site of good parts alone. */
export function openPlaceSite(seed: number, goodCount: number, hasTraps = true): ServedSite {
  const random = createRandom(seed * 6_133 + 271);
  const wanted = { pool: PLACE_GOOD, count: goodCount, most: 4, least: 15 };
  const { site, goods } = goodParts(random, seed + 170_000, wanted);
  const chosen = drawn(random, hasTraps ? Object.entries(PLACE_TRAPS) : [], upTo(random, 3, 5));
  const traps = chosen.map(([name, make]) => [name, make(site)] as const);
  const menu = goods.flatMap(([, { entries }]) => entries.slice(0, 2));
  const frame = frameOf(site, menu);
  const chance = createRandom(seed * 29 + 3);
  let visits = 40_000;
  const changingText = (): string => {
    visits++;
    const time = new Date(Date.UTC(2_026, 10, 30) + visits * 7_919).toISOString();
    const readers = `Reading: ${site.words(`reader ${chance.below(90)}`, 3)}`;
    return { none: "", counter: `Visit ${visits}`, time, readers }[frame.changing];
  };
  const around = (text: string, path: string, isTrap: boolean): string => {
    const at = createRandom(seed * 2_053 + hashOf(path));
    const isEntry = path === "/" || at.below(frame.entriesOn) === 0;
    const has = isTrap ? frame.entriesOnTraps : isEntry;
    const into = links(has ? traps.flatMap(([, trap]) => trap.entries(at, path)) : [], "go");
    const from = { site: createRandom(seed), page: at, visit: chance }[frame.side];
    const side = some(site, from, frame.sideCount).map((to) => link(to, site.words(`to ${to}`, 2)));
    const address = frame.hasAddress ? `<p>Address of this page: ${path}</p>` : "";
    const tools = frame.hasTools ? `<menu>${into}</menu>` : "";
    const main = `<main>${text}${frame.hasTools ? "" : into}</main>${address}`;
    const foot = `<aside>${side.join("")}</aside><p>${changingText()}</p>${frame.foot}`;
    return frame.head + tools + main + foot;
  };
  return serveParts({ site, goods, traps, chance, around });
}

/**
 * A held-out site after real software, drawn from a seed without sight of the recognition.
 *
 *   good     two to five parts of `good.ts`, of unequal sizes   traps    three to six of `traps.ts`
 *   frame    a menu, crumbs, items at the side (of the site, the page or the visit), a footer, and
 *            nothing that changes · who is here · how long it took · a text of the day
 *   entries  on each good page, on one of three or of eight; on pages of traps, or not
 */
import { createRandom, type Random } from "../../../../src/base/random.ts";
import { links, type Site, some, upTo } from "../trap-families/family.ts";
import { goodParts, type ServedSite, serveParts, trapParts } from "../trap-families/serve-parts.ts";
import { hashOf, link, numbersTo, pick } from "../trap-shapes/shape.ts";
import { SOFTWARE_GOOD } from "./good.ts";
import { named } from "./lists.ts";
import { SOFTWARE_TRAPS } from "./traps.ts";

interface Frame {
  readonly name: string;
  readonly menu: string;
  readonly footer: string;
  readonly crumbs: "none" | "links" | "text";
  readonly side: "site" | "page" | "visit";
  readonly sideCount: number;
  readonly isSideFirst: boolean;
  readonly changing: "none" | "members" | "duration" | "text";
  readonly entriesOn: number;
  readonly entriesOnTraps: boolean;
}

function frameOf({ random, words }: Site, entries: readonly string[]): Frame {
  const menu = entries.slice(0, upTo(random, 0, 7));
  return {
    name: words("name", 2),
    menu: named(menu, (n) => words(`menu ${n}`, 1)) + words("menu", upTo(random, 0, 25)),
    footer: words("footer", upTo(random, 4, 70)),
    crumbs: pick(random, ["none", "links", "text"]),
    side: pick(random, ["site", "page", "visit"]),
    sideCount: random.below(7),
    isSideFirst: random.below(2) === 0,
    changing: pick(random, ["none", "members", "duration", "text"]),
    entriesOn: pick(random, [1, 1, 3, 8]),
    entriesOnTraps: random.below(2) === 0,
  };
}

/** What a frame shows anew with each visit. */
function changingText({ changing }: Frame, words: Site["words"], chance: Random): string {
  if (changing === "none") return "";
  if (changing === "duration")
    return `Page generated in ${chance.below(900)} ms with ${8 + chance.below(40)} queries`;
  if (changing === "text") return words(`text of the day ${chance.below(50)}`, 14);
  const members = numbersTo(1 + chance.below(6)).map(() => words(`member ${chance.below(800)}`, 1));
  return `Online: ${members.join(", ")} and ${chance.below(300)} guests`;
}

function crumbsOf({ crumbs, name }: Frame, path: string): string {
  if (crumbs === "none") return "";
  const parts = path.split(/[/?&=]/).filter((part) => part !== "");
  return crumbs === "text" ? parts.join(" » ") : `${link("/", name)} » ${parts.at(-1) ?? ""}`;
}

/** `hasTraps` false: a site of good parts alone. */
export function openSoftwareSite(seed: number, goodCount: number, hasTraps = true): ServedSite {
  const random = createRandom(seed * 8_191 + 17);
  const wanted = { pool: SOFTWARE_GOOD, count: goodCount, most: 5, least: 15 };
  const { site, goods } = goodParts(random, seed + 90_000, wanted);
  const traps = hasTraps ? trapParts(site, SOFTWARE_TRAPS) : [];
  const frame = frameOf(
    site,
    goods.flatMap(([, { entries }]) => entries.slice(0, 3)),
  );
  const chance = createRandom(seed * 13 + 5);
  const around = (text: string, path: string, isTrap: boolean): string => {
    const at = createRandom(seed * 4_099 + hashOf(path));
    const hasEntries = isTrap
      ? frame.entriesOnTraps
      : path === "/" || at.below(frame.entriesOn) === 0;
    const into = hasEntries ? traps.flatMap(([, trap]) => trap.entries(at, path)) : [];
    const from = { site: createRandom(seed), page: at, visit: chance }[frame.side];
    const recent = some(site, from, frame.sideCount);
    const side = `<aside>${named(recent, (n) => site.words(`of ${recent[n]}`, 3))}</aside>`;
    const head = `<title>${frame.name}</title><nav>${link("/", "home")}${frame.menu}</nav>`;
    const body = `<p>${crumbsOf(frame, path)}</p><main>${text}${links(into)}</main>`;
    const changing = changingText(frame, site.words, chance);
    const foot = `<p>${changing}</p><footer>${frame.footer}</footer>`;
    return head + (frame.isSideFirst ? side + body : body + side) + foot;
  };
  return serveParts({ site, goods, traps, chance, around });
}

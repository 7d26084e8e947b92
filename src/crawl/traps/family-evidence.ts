/**
 * What visits show of the families that their URLs are of.
 *
 *   visit ─▶ each family of its URL ─▶ empty: + 1, no page: + ½, in the words of a trap: + 3 ─▶ FAMILY_SCORE: a trap
 *                                   └▶ useful: − 1, of a wide family − 2
 *
 *   bare      no words that the site had not shown: such families are visited behind others, the barer the later
 *   repeats   what another page of the family had shown first; of two families with the same pages the one that repeats itself more is the copy
 *   found     new links into the family: while there are more than visits, a page of known words alone is empty
 *
 *   I1  What an earlier visit is counted as later makes no trap: only a visit does.
 */
import { areAlike } from "./shown-texts.ts";
import {
  ALIKE_BITS,
  COMPARED_MIN,
  type Evidence,
  evidenceOf,
  FAMILY_SCORE,
  type Family,
  countVisit,
  type VisitWithLinks,
  LINKS_MAX,
  ORPHANS,
  type Tables,
  scoreOfTrap,
  scoreOfVariable,
  type Visit,
} from "./trap-evidence.ts";
import type { VisitedText } from "./trap-types.ts";
import { shapeOf, type UrlShape } from "./url-shape.ts";

const KEPT = 8;
/** A wide family with more kinds of URLs multiplies. */
const KINDS_MAX = 3;
/** So many empty visits does a useful one undo. */
const [RICH_SCORE, WIDE_RICH_SCORE, TRAP_RICH_SCORE] = [1, 2, 4];
/** An empty visit, in the very words of a page of a trap. */
const TRAP_TEXT_SCORE = 3;
/** A URL without a page, where there may be others with one. */
const MISSING_SCORE = 0.5;
/** From so many visits on, the share of empty ones decides whether a link into the family counts. */
const KNOWN_VISITS = 8;
/** A family is doubtful from so many visits on, if at least this share of them showed nothing. Others go first from less on, in steps. */
const [DOUBT_VISITS, DOUBT_SHARE, LATER_SHARE, DOUBT_STEPS] = [6, 0.5, 0.12, 8];
/** Visits from which the share of repeats counts. */
const REPEAT_VISITS = 6;
/** A folder's pages show something where hardly any of so many did not. */
const [CHILD_VISITS, CHILD_BARE] = [3, 0.25];
/** URLs that combine several parts, and lead on to others, are to show so much that is new. */
const MIXED_SHARE = 0.5;
/** So many visits, each with so many new URLs; one that is not like that undoes several. */
const [ENDLESS_VISITS, ENDLESS_LINKS, ENDLESS_UNDONE] = [24, 2, 4];
/** So many of the newest links are looked through for URLs that come again; so many do not come by chance. */
const [NEWEST_MAX, AGAIN_MIN] = [200, 3];
/** Beside so many new links for each visit numbers are nothing new. */
const MORE_LINKS = 1.5;
/** So many links into a family for each visit multiply; where such a share of them showed nothing, a page is to have so many new shingles. */
const [EXPLOSIVE_LINKS, EXPLOSIVE_BARE, EXPLOSIVE_SHINGLES] = [3, 0.2, 12];

/** What a visit shows of a family; whether one of its newest pages has the same text, and whether it was empty. */
export function learnFamily(
  tables: Tables,
  name: string,
  visit: VisitWithLinks,
): { isSame: boolean; isEmpty: boolean } {
  const { text, fresh } = visit;
  const family = familyOf(tables, name, text.url);
  const isOrphan = name.endsWith(ORPHANS);
  const inside = isOrphan ? fresh : fresh.filter((shape) => shape.families.includes(name));
  if (inside.length > 1) family.branching++;
  const isEndless = !isOrphan && leadsOnEndlessly(family, name, visit);
  const isNovel = !isEndless && visit.isNovel && !isTooLittle(family, visit, inside.length);
  if (!isNovel && !visit.isAgain && !visit.isOriginal) family.bare++;
  family.found += inside.length;
  const leadsOn = inside.length > 0;
  const isStale =
    family.found > family.visits && visit.shingles.size >= COMPARED_MIN && visit.newCount <= 1;
  const leadsOut =
    visit.leadsDown ||
    (inside.length < fresh.length && isOutside(tables, name, fresh)) ||
    (!isOrphan && leadsToOtherKind(family, name, [visit.shape, ...inside]));
  const others = family.texts.filter(({ url }) => url !== text.url);
  const isSame = others.some(({ masked }) => masked === text.masked);
  if (family.texts.push(text) > KEPT) family.texts.shift();
  const isMixed = visit.shape.isMixed || name.endsWith("**") || name.endsWith("*‥*");
  const isKnown =
    isMixed || others.some(({ similarity }) => areAlike(similarity, text.similarity, ALIKE_BITS));
  const showsNothing = isSame || visit.copyOf !== undefined || (leadsOn && isKnown) || isStale;
  const isEmpty =
    isEndless || (!isNovel && !leadsOut && !visit.isAgain && !visit.isOriginal && showsNothing);
  const isOfTrap = isEmptyText(visit) && tables.trapTexts.get(text.masked) === true;
  // The first page has none to be compared with, and one without new links does not show whether the family ends.
  if (!isOfTrap && (family.visits === 0 || (!isEmpty && !leadsOut && !isNovel))) {
    family.visits++;
    return { isSame, isEmpty };
  }
  if (isEmpty) family.kind = isSame ? "same-text" : text.url.includes("?") ? "filters" : "grows";
  const most = scoreOfTrap(family);
  const weight = isEndless ? most : isEmpty && isOfTrap ? TRAP_TEXT_SCORE : 1;
  countVisit(family, !isEmpty, { most, undone: undoneOf(name, family), weight });
  if (family.isActive) tables.hasTraps = true;
  if (isEmpty && family.isActive && isEmptyText(visit)) tables.trapTexts.set(text.masked, true);
  if (isBare(family, LATER_SHARE)) tables.hasDoubts = true;
  return { isSame, isEmpty };
}

/** Whether new URLs of a wide family are of another kind than the page, where there are few kinds in it: lists, and what they list. */
function leadsToOtherKind(
  { kinds }: Family,
  name: string,
  [page, ...linked]: readonly UrlShape[],
): boolean {
  const own = page?.families[0] as string;
  if (name === own || kinds.size > KINDS_MAX) return false;
  kinds.add(own);
  for (const { families } of linked) if (kinds.size <= KINDS_MAX) kinds.add(families[0] as string);
  return kinds.size <= KINDS_MAX && linked.some(({ families }) => families[0] !== own);
}

/**
 * Whether it leads on and on, whatever it shows: of so many visits each led to several new URLs, and none to one that another had led to. Pages that
 * are written by people meet again, and a tree has leaves.
 */
function leadsOnEndlessly(family: Family, name: string, { grown, crossed }: VisitWithLinks) {
  const isIn = ({ families }: UrlShape): boolean => families.includes(name);
  const inside = grown.filter(isIn);
  const isOn = inside.length >= ENDLESS_LINKS && !crossed.some(isIn);
  family.endless = isOn ? family.endless + 1 : Math.max(family.endless - ENDLESS_UNDONE, 0);
  family.newest.push(...inside);
  family.newest.splice(0, family.newest.length - NEWEST_MAX);
  if (!isOn || family.endless < ENDLESS_VISITS) return false;
  if (!areRepeated(family.newest)) return true;
  family.endless = 0;
  return false;
}

/** Whether several URLs come again under another value of one part: that is what is new about them. */
function areRepeated(shapes: readonly UrlShape[]): boolean {
  const firstOf = new Map<string, string>();
  const again = new Map<string, Set<string>>();
  for (const { self, variables } of shapes)
    for (const { name, rest } of variables) {
      const key = `${name} ${rest}`;
      const first = firstOf.get(key) ?? self;
      firstOf.set(key, first);
      if (first === self) continue;
      const rests = again.get(name) ?? new Set();
      if (rests.add(rest).size >= AGAIN_MIN) return true;
      again.set(name, rests);
    }
  return false;
}

/** Whether families that multiply show less than they should. */
function isTooLittle(
  family: Family,
  { shape, newCount, newShare, isText }: Visit,
  inside: number,
): boolean {
  if (inside > 0 && shape.isMixed && newShare < MIXED_SHARE) return true;
  const isMore = family.visits >= FAMILY_SCORE && family.found >= MORE_LINKS * family.visits;
  if (!isText && inside > 1 && isMore) return true;
  return isExplosive(family) && newCount < EXPLOSIVE_SHINGLES;
}

function isExplosive({ visits, found, branching, bare }: Family): boolean {
  const isGrowing =
    visits >= FAMILY_SCORE && found >= EXPLOSIVE_LINKS * visits && branching >= visits / 2;
  return isGrowing && bare >= EXPLOSIVE_BARE * visits;
}

/** Pages of a wide family are of many kinds: it takes more empty ones. A trap is hardly visited: each visit counts for many. */
function undoneOf(name: string, { isActive }: Family): number {
  if (isActive) return TRAP_RICH_SCORE;
  return name.endsWith("*") ? WIDE_RICH_SCORE : RICH_SCORE;
}

function familyOf({ families }: Tables, name: string, url: string): Family {
  const family = families.get(name) ?? {
    ...evidenceOf(name, "grows", url),
    texts: [],
    bare: 0,
    repeats: 0,
    branching: 0,
    ...{ found: 0, endless: 0, newest: [] },
    kinds: new Set<string>(),
  };
  families.set(name, family);
  return family;
}

/** Whether a new URL is of no family whose visits are mostly empty. */
function isOutside(tables: Tables, name: string, fresh: readonly UrlShape[]): boolean {
  return fresh.some(
    (shape) =>
      !shape.families.includes(name) && !isPoor(tables, shape) && !isDoubtful(tables, shape),
  );
}

interface Missed {
  readonly url: string;
  readonly fresh: readonly UrlShape[];
  /** Whether it led to no URL at all. */
  readonly isNothing: boolean;
}

export function learnMissed(tables: Tables, name: string, { url, fresh, isNothing }: Missed): void {
  const family = familyOf(tables, name, url);
  family.bare++;
  const weight = isNothing ? MISSING_SCORE : 1;
  const isUseful = isOutside(tables, name, fresh);
  if (!isUseful && !isNothing) family.kind = "grows";
  const most = scoreOfTrap(family);
  countVisit(family, isUseful, { most, undone: undoneOf(name, family), weight });
  if (family.isActive) tables.hasTraps = true;
  if (isBare(family, LATER_SHARE)) tables.hasDoubts = true;
}

/** Whether the text is long enough to be compared, and has nothing new. */
function isEmptyText({ shingles, isNovel }: Visit): boolean {
  return !isNovel && shingles.size >= COMPARED_MIN;
}

/** Whether, of two URLs with one text, this one is the page and the other one its copy. */
export function isOriginalOf(tables: Tables, shape: UrlShape, url: string, other: string): boolean {
  const otherShape = shapeOf(other);
  if (otherShape === undefined) return false;
  const [own, others] = [repeatShare(tables, shape), repeatShare(tables, otherShape)];
  if (own !== others) return own < others;
  return isPlainer(shape, url, other);
}

/** Whether a URL has fewer parts than another one. */
function isPlainer(shape: UrlShape, url: string, other: string): boolean {
  const names = shapeOf(other)?.names.length ?? 0;
  if (shape.names.length !== names) return shape.names.length < names;
  return url.split(/[/;]/).length < other.split(/[/;]/).length;
}

/** How often visits like that of a URL showed again what others of their kind had shown. */
function repeatShare({ families }: Tables, shape: UrlShape): number {
  let share = 0;
  for (const name of shape.families) {
    const family = families.get(name);
    if (family !== undefined && family.visits >= REPEAT_VISITS)
      share = Math.max(share, family.repeats / family.visits);
  }
  return share;
}

export function countRepeat(tables: Tables, shape: UrlShape, original: string): void {
  const families = shapeOf(original)?.families ?? [];
  for (const name of shape.families) {
    const family = families.includes(name) ? tables.families.get(name) : undefined;
    if (family !== undefined) family.repeats++;
  }
}

/** Counts an earlier visit as empty, after all. */
export function countEmpty(tables: Tables, shape: UrlShape, url: string): void {
  const { families } = tables;
  for (const name of shapeOf(url)?.families ?? []) {
    const family = shape.families.includes(name) ? undefined : families.get(name);
    if (family === undefined || family.isActive) continue;
    family.empty++;
    family.score = Math.min(family.score + 1 + RICH_SCORE, scoreOfTrap(family) - 1);
    family.bare++;
    if (isBare(family, LATER_SHARE)) tables.hasDoubts = true;
  }
}

/** Whether links lead to what is below its own path, and shows something. */
export function hasChildren(tables: Tables, { url, links }: VisitedText): boolean {
  const folder = url.endsWith("/") ? url : `${url}/`;
  let count = 0;
  for (const link of links) {
    if (count++ >= LINKS_MAX) break;
    const child = link.startsWith(folder) ? tables.shapeOf(link) : undefined;
    if (child !== undefined && isRich(tables, child)) return true;
  }
  return false;
}

/** Whether visits of its kind have mostly shown text of their own, and less than `share` of them none. */
export function isRich(tables: Tables, shape: UrlShape, share = CHILD_BARE): boolean {
  const { families } = tables;
  if (isPoor(tables, shape) || isDoubtful(tables, shape)) return false;
  return shape.families.some((name) => {
    const family = families.get(name);
    return (
      family !== undefined && family.visits >= CHILD_VISITS && family.bare < share * family.visits
    );
  });
}

/** The share of visits of its kind that showed nothing of their own, in steps. */
export function doubtOf(tables: Tables, shape: UrlShape): number {
  if (isDoubtful(tables, shape)) return 1;
  let doubt = 0;
  for (const name of shape.families) {
    const family = tables.families.get(name);
    if (family === undefined || family.visits < DOUBT_VISITS) continue;
    const share = family.bare / family.visits;
    if (share >= LATER_SHARE)
      doubt = Math.max(doubt, Math.floor(DOUBT_STEPS * share) / DOUBT_STEPS);
  }
  return doubt;
}

/** Whether visits of its kind have hardly shown any text, or hardly any but that of other pages. */
export function isDoubtful(
  { families, variables }: Tables,
  shape: UrlShape,
  share = DOUBT_SHARE,
): boolean {
  for (const { name, isGuess, isSpelling } of shape.variables)
    if (!isGuess && !isSpelling && isSuspect(variables.get(name))) return true;
  return shape.families.some((name) => isBare(families.get(name), share));
}

function isBare(family: Family | undefined, share: number): boolean {
  return (
    family !== undefined && family.visits >= DOUBT_VISITS && family.bare >= share * family.visits
  );
}

function isSuspect(variable: Evidence | undefined): boolean {
  return variable !== undefined && variable.score >= scoreOfVariable(variable) / 2;
}

/** Whether other visits of its kind were mostly empty. */
export function isPoor({ families, variables }: Tables, shape: UrlShape): boolean {
  for (const { name, isSpelling } of shape.variables)
    if (!isSpelling && isSuspect(variables.get(name))) return true;
  for (const name of shape.families) {
    const family = families.get(name);
    if (family !== undefined && family.visits >= KNOWN_VISITS)
      return family.empty > family.visits / 2;
  }
  return false;
}

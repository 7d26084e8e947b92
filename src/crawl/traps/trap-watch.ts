/**
 * TrapWatch: recognises endless families of URLs by what visits of them showed, and leaves their links.
 *
 *   visit ─▶ text, new links ─▶ family: an empty visit, or a useful one ─▶ 10 more of those than these undo, and one for six of these: a trap (family-evidence.ts)
 *                            └▶ variable: the same text without it, or another ─▶ 8 times the same, hardly another: it means nothing
 *
 *   empty          no words in a row that the site had not shown (shown-texts.ts), no new URL but of its family and of those whose visits are
 *                  mostly empty, and one of
 *                    the text of a page of the family, without the words of its URL
 *                    new links into the family, and a text much like one of it; of URLs that combine several parts, any text
 *                    known words alone, while more links into the family were found than visited
 *                  Or 24 pages, whatever they show, led to several new URLs of the family each, and to none that another page had led to.
 *                  A folder that leads to pages below it that show something is useful. A page under a variable that means nothing is not
 *                  held against families that the page without it is of.
 *   same text      word for word, or three quarters of the words that the other page was the first to show, and none that is new
 *                  A page under a name of a query counts as the same as the one without it where it shows nothing new and has two new links or
 *                  more, all with that name: a filter
 *
 *   link, or pending URL ─ variable that means nothing, page known without it ─▶ left ┐
 *                        ├ the same, page not known without it ─▶ that one instead ───┤
 *                        └ family that is a trap ───────────────────────────────────▶ left ┴─ the 200th, 400th, 800th … is visited all the same
 *
 *   left ─▶ set aside behind all others; then visited as long as these visits show that its family ends (last-visits.ts)
 *
 *   I1  Reversible: these count as any visit, and useful ones end a trap. A family or variable that is useful again
 *       is followed again.
 *   I2  Bounded, whatever sites do: FAMILY_MAX families with at most KEPT texts each, GROUP_MAX pages without a variable, the table of shown texts.
 *   I3  Seeds, and URLs of the rules that are named, are never left.
 *
 * Crash: nothing here survives the process; the next one learns it anew.
 */
import { BoundedMap } from "./bounded-map.ts";
import {
  countRepeat,
  countEmpty,
  doubtOf,
  hasChildren,
  isDoubtful,
  isPoor,
  isOriginalOf,
  isRich,
  learnFamily,
  learnMissed,
} from "./family-evidence.ts";
import { LastVisits } from "./last-visits.ts";
import { Probes } from "./probes.ts";
import { areAlike, type Novelty, ShownTexts } from "./shown-texts.ts";
import {
  ALIKE_BITS,
  COMPARED_MIN,
  type Evidence,
  evidenceOf,
  HALF_ALIKE_BITS,
  countVisit,
  LINKS_MAX,
  ORPHANS,
  type PageText,
  reportOf,
  type Tables,
  scoreOfVariable,
  type Visit,
  type VisitWithLinks,
} from "./trap-evidence.ts";
import type { TrapWatch, VisitedText } from "./trap-types.ts";
import {
  type HostParts,
  type NameSet,
  shapeOf,
  shapesOf,
  type UrlShape,
  urlWithout,
  type Variable,
} from "./url-shape.ts";

export type { TrapReport, TrapWatch, VisitedText } from "./trap-types.ts";

const FAMILY_MAX = 2_000;
const VARIABLE_MAX = 2_000;
const GROUP_MAX = 50_000;
const HOSTS_MAX = 2_000;
const ORPHANS_MAX = 50_000;
const SETS_MAX = 16;
const NO_SETS: readonly NameSet[] = [];
const NONE: readonly string[] = [];
const SAME = { isSame: true, isEmpty: false };
const REPORT_MAX = 20;
const TRAP_TEXTS_MAX = 1_000;
/** So many pages were the same without a variable: those that were not seen without it are taken to be. */
const PLAIN_MIN = 6;
const PARTS_MAX = 4;
/** From so many new links under a name on, a page that shows nothing new multiplies. */
const BRANCHES_MIN = 2;
/** A page shows something where so many of its shingles are new, and such a share of them; in a long frame it takes more. */
const [NOVEL_MIN, NOVEL_MANY] = [5, 10];
const NOVEL_SHARE = 0.1;
/** So many first shown shingles identify a page, and such a share of them is found on it again. */
const MARKS_MIN = 4;
const MARKS_SHARE = 0.75;
/** So much of a page may be new where the rest is a page that was seen: it is the same one; or may be. */
const [BESIDE_SHARE, BESIDE_SHARE_MAX] = [0.3, 0.6];

/** What the watch asks of the frontier. */
export interface TrapWatchOptions {
  /** Rules whose URLs are never left. */
  readonly exceptRules?: readonly string[] | undefined;
  readonly ruleOf?: (url: string) => string | undefined;
  readonly isKnown?: (url: string) => boolean;
  /** Whether a URL waits for its visit. */
  readonly isPending?: (url: string) => boolean;
  /** Whether it never had a URL: one that failed is not known, and not new. */
  readonly isNew?: (url: string) => boolean;
  /** The registrable domain of a host. Hosts of one may be mirrors of each other. */
  readonly domainOf?: (host: string) => string;
}

export function createTrapWatch(options: TrapWatchOptions = {}): TrapWatch {
  const { exceptRules = [], ruleOf = () => undefined, isKnown = () => false } = options;
  const { isNew = (url) => !isKnown(url), domainOf = (host) => host } = options;
  const { isPending = () => false } = options;
  const tables = createTables({ isKnown, isPending, domainOf });
  const probes = new Probes();
  const last = new LastVisits();
  const except = new Set(exceptRules);
  const isExcepted = (url: string, rule?: string): boolean =>
    except.size > 0 && except.has(rule ?? ruleOf(url) ?? "");
  return {
    linkOf(url, hasPlain = false) {
      const trap = leftFor(tables, url, false);
      if (trap === undefined || isExcepted(url)) return "follow";
      if (!isNew(url)) return "leave";
      if (probes.isProbe(trap, url)) return "follow";
      return !hasPlain && last.setAside(trap) ? "aside" : "leave";
    },
    leaseOf({ url, rule, isRedirected = false, isAside = () => false }) {
      const trap = leftFor(tables, url, isRedirected);
      if (trap === undefined || isExcepted(url, rule)) return "visit";
      if (!isAside()) {
        if (probes.isProbe(trap, url)) return "visit";
        return last.setAside(trap) ? "aside" : "leave";
      }
      return last.take(trap, kindOf(tables, trap, url), url);
    },
    plainOf(url) {
      let plain: string | undefined;
      for (let parts = 0; parts < PARTS_MAX; parts++) {
        const next = isExcepted(url) ? undefined : plainer(tables, plain ?? url);
        if (next === undefined) break;
        if (probes.isProbe(next.evidence, url)) return undefined;
        plain = next.plain;
      }
      return plain;
    },
    doubtOf(url) {
      if (!tables.hasDoubts) return 0;
      const shape = tables.shapeOf(url);
      return shape === undefined || isExcepted(url) ? 0 : doubtOf(tables, shape);
    },
    missed: (url, target, isNew) => learnMiss(tables, { url, target, isNew }),
    visited(page) {
      probes.visited(page.url);
      const trap = last.trapOf(page.url);
      const leadsOn = trap !== undefined && leadsInto(tables, trap, page);
      const { isCopy, isBarren } = learn(tables, page);
      const leadsAway = isBarren && trap?.shape.endsWith(ORPHANS) === true;
      if (leadsOn || leadsAway) last.ended(page.url, "leads on");
      else last.ended(page.url, isCopy ? "empty" : "useful");
    },
    nextEnd: () => last.nextEnd(),
    ended: (url, isVisited) => last.ended(url, isVisited ? "empty" : "no visit"),
    report() {
      const { variables, families } = tables;
      const all = [...variables.values(), ...families.values()].filter((each) => each.wasActive);
      all.sort((a, b) => b.left - a.left);
      return all.slice(0, REPORT_MAX).map(reportOf);
    },
  };
}

/** The kind of a URL: its narrowest family; of orphans, which are of all kinds, the widest one. */
function kindOf(tables: Tables, { shape }: Evidence, url: string): string {
  const { families = NONE } = tables.shapeOf(url) ?? {};
  const at = shape.endsWith(ORPHANS) ? families.length - 2 : 0;
  return families[Math.max(at, 0)] ?? "";
}

/** The trap for which a URL is left. */
function leftFor(tables: Tables, url: string, isRedirected: boolean): Evidence | undefined {
  const shape = tables.hasTraps ? tables.shapeOf(url) : undefined;
  return shape && trapOf(tables, shape, url, isRedirected);
}

/** What a visit shows of all families that it is of; whether its page is a copy of another one, or shows nothing but leads on. */
function learn(tables: Tables, page: VisitedText): { isCopy: boolean; isBarren: boolean } {
  const shape = tables.shapeOf(page.url);
  if (shape === undefined) return { isCopy: true, isBarren: false };
  const { url, digest } = page;
  const { main } = hostParts(tables, shape.host);
  const novelty = tables.shown.take(main, digest.shingles(), url);
  const numbers = tables.shown.take(`${main} numbers`, digest.numbers()).count;
  const { marks, copyOf } = novelty;
  addSet(tables, shape);
  const similarity = digest.similarity();
  const text = { url, content: digest.content(), masked: digest.masked(), similarity, marks };
  const isAgain = tables.groups.get(shape.self)?.url === url;
  const shingles = digest.shingles();
  const isText =
    isNovel(novelty, shingles.size) ||
    novelty.isPart ||
    (shingles.size < COMPARED_MIN &&
      tables.shown.take(`${main} images`, digest.images()).count > 0) ||
    isOwn(tables, shape, novelty);
  const isNew = isText || isNovel({ count: numbers, share: 1 }, shingles.size);
  const original = copyOf === undefined || copyOf === url ? undefined : copyOf;
  const visit: Visit = {
    shape,
    text,
    isAgain,
    shingles,
    ...{ isNovel: isNew, isText },
    copyOf: original,
    newCount: novelty.count,
    newShare: novelty.share,
  };
  const linked = sortedLinks(tables, shape, page);
  const { fresh } = linked;
  const plainFamilies = new Set<string>();
  for (const variable of shape.variables)
    for (const name of learnVariable(tables, variable, { ...visit, fresh }))
      plainFamilies.add(name);
  remember(tables.groups, shape.self, visit);
  // Written in another way, it is no copy that a family is to blame for.
  const isRespelled = plainFamilies.has(shape.families[0] as string);
  const isRepeat = original !== undefined && !isRespelled;
  const isFirst = !isNew && isRepeat && isOriginalOf(tables, shape, url, original);
  if (isRepeat) countRepeat(tables, shape, original);
  // The page was visited by a longer URL before: that visit was the one too many.
  if (isFirst) countEmpty(tables, shape, original);
  const leadsDown = !isNew && hasChildren(tables, page);
  const judged = { ...visit, ...linked, leadsDown, isOriginal: isFirst };
  let isCopy = original !== undefined;
  let isEmpty = !isNew && !leadsDown && shingles.size >= COMPARED_MIN;
  for (const name of shape.families) {
    const learned = plainFamilies.has(name) ? SAME : learnFamily(tables, name, judged);
    if (learned.isSame) isCopy = true;
    if (learned.isEmpty) isEmpty = true;
  }
  const isBarren = isEmpty && fresh.length > 0;
  addOrphans(tables, page, isBarren);
  return { isCopy, isBarren };
}

/** Keeps the new URLs that a page which shows nothing leads to; another one takes its own out. */
function addOrphans({ orphans }: Tables, { links, isNew }: VisitedText, isBarren: boolean): void {
  let count = 0;
  for (const link of links) {
    if (count++ >= LINKS_MAX) break;
    if (!isBarren) orphans.delete(link);
    else if (isNew(link)) orphans.set(link, true);
  }
}

/** Whether a page has new links into a trap. */
function leadsInto(tables: Tables, trap: Evidence, { links, isNew }: VisitedText): boolean {
  let count = 0;
  for (const link of links) {
    if (count++ >= LINKS_MAX) break;
    const shape = isNew(link) ? tables.shapeOf(link) : undefined;
    if (shape !== undefined && trapOf(tables, shape, link, false) === trap) return true;
  }
  return false;
}

/** Whether a page was shown before only by one of a kind that is worth nothing, as a part of it. */
function isOwn(tables: Tables, shape: UrlShape, { firstOn, copyOf }: Novelty): boolean {
  const first = firstOn === undefined || copyOf !== undefined ? undefined : shapeOf(firstOn);
  if (first === undefined || isDoubtful(tables, shape) || isPoor(tables, shape)) return false;
  return isDoubtful(tables, first) || isPoor(tables, first);
}

interface Miss {
  readonly url: string;
  readonly target: string | undefined;
  readonly isNew: VisitedText["isNew"];
}

/** The same of a visit without a page. */
function learnMiss(tables: Tables, { url, target, isNew }: Miss): void {
  const shape = tables.shapeOf(url);
  if (shape === undefined) return;
  const to = target === undefined || !isNew(target) ? undefined : tables.shapeOf(target);
  const isTrap = to !== undefined && trapOf(tables, to, url, true) !== undefined;
  const fresh = to === undefined || isTrap ? [] : [to];
  for (const name of shape.families)
    learnMissed(tables, name, { url, fresh, isNothing: target === undefined });
}

/** A URL that was redirected to may be the only one that shows the page: the one without its part led here. */
function trapOf(
  tables: Tables,
  shape: UrlShape,
  url: string,
  isRedirected: boolean,
): Evidence | undefined {
  for (const variable of shape.variables) {
    const evidence = tables.variables.get(variable.name);
    if (evidence?.isActive !== true) continue;
    const page = variable.isGuess === true ? undefined : pageWithout(tables.groups, variable);
    if (page !== undefined && page.url !== url && !variable.isPlain) return evidence;
    const without = isRedirected ? undefined : urlWithout(url, variable);
    if (without !== undefined && without !== url && tables.isKnown(without)) return evidence;
  }
  return shape.families.map((name) => tables.families.get(name)).find(isInForce);
}

/** Orphans are of all kinds: it takes a half of them that show nothing. */
function isInForce(family: Evidence | undefined): boolean {
  if (family?.isActive !== true) return false;
  return !family.shape.endsWith(ORPHANS) || family.empty >= family.visits / 2;
}

function isNovel({ count, share }: Pick<Novelty, "count" | "share">, size: number): boolean {
  const isMany = count >= NOVEL_MANY || count >= NOVEL_SHARE * size;
  return count >= NOVEL_MIN && share >= NOVEL_SHARE && isMany;
}

function createTables(options: Pick<Tables, "isKnown" | "isPending" | "domainOf">): Tables {
  const shapeOfUrl = shapesOf((host) => hostParts(tables, host));
  const tables: Tables = {
    ...options,
    hosts: new BoundedMap(HOSTS_MAX),
    mains: new BoundedMap(HOSTS_MAX),
    shapeOf(url) {
      const shape = shapeOfUrl(url);
      if (shape === undefined || tables.orphans.get(url) === undefined) return shape;
      if (isRich(tables, shape, 1)) return shape;
      return { ...shape, families: [...shape.families, shape.host + ORPHANS] };
    },
    orphans: new BoundedMap(ORPHANS_MAX),
    families: new BoundedMap(FAMILY_MAX),
    variables: new BoundedMap(VARIABLE_MAX),
    groups: new BoundedMap(GROUP_MAX),
    shown: new ShownTexts(),
    trapTexts: new BoundedMap(TRAP_TEXTS_MAX),
    hasTraps: false,
    hasDoubts: false,
  };
  return tables;
}

/** The first host of a domain is the one that others could be mirrors of. */
function hostParts({ hosts, mains, domainOf }: Tables, host: string): HostParts {
  const known = hosts.get(host);
  if (known !== undefined) return known;
  const domain = domainOf(host);
  const parts = { sets: NO_SETS, main: mains.get(domain) ?? host };
  mains.set(domain, parts.main);
  hosts.set(host, parts);
  return parts;
}

/** Keeps the names of a query, to be found in longer ones. */
function addSet(tables: Tables, { host, names }: UrlShape): void {
  if (names.length < 2) return;
  const parts = hostParts(tables, host);
  const isKnown = parts.sets.some((set) => set.join("&") === names.join("&"));
  if (isKnown || parts.sets.length >= SETS_MAX) return;
  tables.hosts.set(host, { ...parts, sets: [...parts.sets, names] });
}

/** A URL without one more part that means nothing. */
function plainer({ variables, hasTraps, shapeOf }: Tables, url: string) {
  if (!hasTraps) return undefined;
  for (const variable of shapeOf(url)?.variables ?? []) {
    const evidence = variables.get(variable.name);
    if (evidence?.isActive !== true || evidence.plain < PLAIN_MIN || variable.isGuess) continue;
    const plain = urlWithout(url, variable);
    if (plain !== undefined) return { evidence, plain };
  }
  return undefined;
}

/** Whether a URL is the page itself with a query, or has a part that means nothing. */
function isVariant({ variables }: Tables, page: UrlShape, linked: UrlShape): boolean {
  if (page.names.length === 0 && page.self === `${linked.self.split("?")[0]}?`) return true;
  return linked.variables.some(
    ({ name, isSpelling }) => !isSpelling && variables.get(name)?.isActive === true,
  );
}

/** New URLs of a page; what is left as a trap is no reason to visit the pages that lead to it. And those that other pages have led to. */
function sortedLinks(tables: Tables, page: UrlShape, { links, isNew }: VisitedText) {
  const fresh: UrlShape[] = [];
  const grown: UrlShape[] = [];
  const crossed: UrlShape[] = [];
  let count = 0;
  for (const link of links) {
    if (count++ >= LINKS_MAX) break;
    const isFound = isNew(link);
    const linked = isFound || tables.isPending(link) ? tables.shapeOf(link) : undefined;
    if (linked === undefined) continue;
    if (isFound && trapOf(tables, linked, link, false) === undefined) fresh.push(linked);
    if (isVariant(tables, page, linked)) continue;
    (isFound ? grown : crossed).push(linked);
  }
  return { fresh, grown, crossed };
}

/** Families of the page without the variable, where that is the same one: they are not to blame. */
function learnVariable(
  tables: Tables,
  given: Variable,
  visit: Visit & Pick<VisitWithLinks, "fresh">,
): readonly string[] {
  const { groups, variables } = tables;
  const { name, rest, isGuess = false, isSpelling = false } = given;
  const newestKey = `${name} ${rest}`;
  const before = pageWithout(groups, given);
  if (before === undefined || before.url === visit.text.url) {
    const isUnsure = Array.isArray(given.part) && variables.get(name)?.isActive !== true;
    if (!isGuess) remember(groups, isUnsure ? newestKey : rest, visit);
    return NONE;
  }
  const plain = urlWithout(visit.text.url, given);
  if (isGuess && before.url !== plain) return NONE;
  const variable = variables.get(name) ?? evidenceOf(name, "same-text", visit.text.url);
  variables.set(name, variable);
  const newest = groups.get(newestKey);
  const isPlain = before.url === plain;
  const isOfQuery = typeof given.part === "string" || Array.isArray(given.part);
  const isAsBefore = isSameText(before, visit, isOfQuery);
  const isCopy = (isPlain || isSpelling) && isAsBefore === true;
  const isEmpty = isPlain && isFilter(given, visit);
  const isSame =
    isEmpty ||
    isAsBefore ||
    (newest === undefined ? isAsBefore : isSameText(newest, visit, isOfQuery));
  if (isSame === undefined) return NONE;
  if (!isSame) groups.set(newestKey, visit.text);
  if (isCopy || isEmpty) variable.plain++;
  const most = scoreOfVariable(variable);
  countVisit(variable, !isSame, { most, undone: most });
  if (variable.isActive) tables.hasTraps = true;
  if (variable.score >= most / 2) tables.hasDoubts = true;
  if (!isCopy) return NONE;
  return isSpelling ? visit.shape.families : (tables.shapeOf(before.url)?.families ?? NONE);
}

/** Whether a page under a name of a query shows nothing new, and leads to no new URL without that name. */
function isFilter(
  { part }: Variable,
  { isNovel, fresh }: Pick<VisitWithLinks, "isNovel" | "fresh">,
): boolean {
  if (typeof part !== "string" || isNovel || fresh.length < BRANCHES_MIN) return false;
  return fresh.every(({ names }) => names.includes(part));
}

/** The page without a variable, or else the first one with it. */
function pageWithout(groups: Tables["groups"], { name, rest }: Variable): PageText | undefined {
  return groups.get(rest) ?? groups.get(`${name} ${rest}`);
}

/** Another visit of the same text shows nothing first: what the one before had shown is kept. */
function remember(groups: Tables["groups"], key: string, visit: Visit): void {
  const before = groups.get(key);
  if (before === undefined || isSameText(before, visit) !== true) groups.set(key, visit.text);
}

/** Whether a page is one that was seen: word for word, or by what only that one had shown. undefined: neither shows anything of its own. */
function isSameText(
  before: PageText,
  { text, shingles, isNovel, newShare }: Visit,
  mayAdd = false,
): boolean | undefined {
  // Of hardly any words, it may show an image that no other page has.
  if (before.content === text.content) return !isNovel || shingles.size >= COMPARED_MIN;
  const found = before.marks.filter((mark) => shingles.has(mark)).length;
  const isFound = found >= MARKS_SHARE * before.marks.length;
  if (isNovel) {
    // A whole page with an advertisement or a saying beside it is that page; with more it may be another one.
    const isWhole = mayAdd && before.marks.length >= MARKS_MIN && isFound;
    if (!isWhole || newShare > BESIDE_SHARE_MAX) return false;
    return newShare <= BESIDE_SHARE ? true : undefined;
  }
  if (shingles.size < COMPARED_MIN) return undefined;
  if (before.masked === text.masked) return true;
  if (before.marks.length < MARKS_MIN) return undefined;
  if (!areAlike(before.similarity, text.similarity, HALF_ALIKE_BITS)) return false;
  const isAlike = areAlike(before.similarity, text.similarity, ALIKE_BITS);
  return isFound || !isAlike ? isFound : undefined;
}

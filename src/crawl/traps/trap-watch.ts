/**
 * TrapWatch: recognises endless families of URLs by what visits of them showed, and leaves their links.
 *
 *   visit ─▶ text, new links ─▶ family: a visit that gave nothing, or something ─▶ 12 more of those than these would undo: a trap
 *                            └▶ variable: the same text without it, or another ─▶ 8 times the same, hardly another: it means nothing
 *
 *   gave nothing   no words in a row that the site had not shown (shown-texts.ts), no new URL outside of its family but of families that give
 *                  nothing, and one of
 *                    the text of a page of the family, without the words of its URL
 *                    new links into the family, and a text much like one of it; of URLs that combine several parts, any text
 *   same text      word for word, or three quarters of the words that the other page was the first to show, and none that is new
 *
 *   link, or pending URL ─ variable that means nothing, page known without it ─▶ left ┐
 *                        ├ the same, page not known without it ─▶ that one instead ───┤
 *                        └ family that is a trap ───────────────────────────────────▶ left ┴─ the 50th, 100th, 200th … is visited all the same
 *
 *   I1  Reversible: what these show counts as any visit, and those that give something end a trap. A family or variable that gives something again
 *       is followed again.
 *   I2  Bounded, whatever sites do: FAMILY_MAX families with at most KEPT texts each, GROUP_MAX pages without a variable, the table of shown texts.
 *   I3  Seeds, and URLs of the rules that are named, are never left.
 *
 * Crash: nothing here survives the process; the next one learns it anew.
 */
import type { Similarity } from "../page/text-digest.ts";
import { BoundedMap } from "./bounded-map.ts";
import { areAlike, type Novelty, ShownTexts } from "./shown-texts.ts";
import type { TrapReport, TrapWatch, VisitedText } from "./trap-types.ts";
import {
  type NameSet,
  shapeOf,
  shapesOf,
  type UrlShape,
  urlWithout,
  type Variable,
} from "./url-shape.ts";

export type { TrapReport, TrapWatch, VisitedText } from "./trap-types.ts";

interface Evidence {
  readonly shape: string;
  kind: TrapReport["kind"];
  example: string;
  visits: number;
  empty: number;
  score: number;
  left: number;
  /** So many left links, and the next one is visited: a trap that stays one is looked at ever more rarely. */
  probeAt: number;
  isActive: boolean;
  wasActive: boolean;
  /** Of a variable: pages that were the same without it. */
  plain: number;
}

interface Family extends Evidence {
  /** Visits that showed no words that the site had not shown. */
  bare: number;
  /** The newest texts. */
  readonly texts: PageText[];
}

interface PageText {
  readonly url: string;
  readonly content: string;
  /** Without the words of its URL. */
  readonly masked: string;
  readonly similarity: Similarity | undefined;
  /** Fours that the site showed here first. */
  readonly marks: readonly number[];
}

const FAMILY_MAX = 2_000;
const VARIABLE_MAX = 2_000;
const GROUP_MAX = 50_000;
const KEPT = 8;
const HOSTS_MAX = 2_000;
const SETS_MAX = 16;
const NO_SETS: readonly NameSet[] = [];
const REPORT_MAX = 20;
const PROBE_FIRST = 50;
const PROBE_MAX = 1_000;
/** Visits that gave nothing, and what one that gave something undoes of them. */
const FAMILY_SCORE = 12;
const RICH_SCORE = 4;
/** A visit that gave nothing, in the very words of a page of a trap. */
const TRAP_TEXT_SCORE = 3;
/** A variable is believed sooner: the very same words. One page that differs undoes all. */
const VARIABLE_SCORE = 8;
/** Unrelated texts differ in 32 ± 4 of 64 bits; in so many where they share some three quarters, or a half. */
const [ALIKE_BITS, HALF_ALIKE_BITS] = [14, 22];
/** So many pages were the same without a variable: those that were not seen without it are taken to be. */
const PLAIN_MIN = 6;
const PARTS_MAX = 4;
/** A page shows something where so many of its fours are new, and such a share of them; in a long frame it takes more. */
const [NOVEL_MIN, NOVEL_MANY] = [6, 10];
const NOVEL_SHARE = 0.1;
/** Fours of a text that is compared without the words of its URL. */
const COMPARED_MIN = 12;
/** So many first shown fours tell a page, and such a share of them is found on it again. */
const MARKS_MIN = 4;
const MARKS_SHARE = 0.75;
/** Of a family with so many visits, the share of those that gave nothing tells whether a link to it is worth something. */
const KNOWN_VISITS = 8;
/** A family is doubtful from so many visits on, if at least this share of them showed nothing. */
const [DOUBT_VISITS, DOUBT_SHARE] = [6, 0.5];
/** A URL without a page, where there may be others with one. */
const MISSING_SCORE = 0.5;
/** Links that are looked at: of more a sample of this page is enough. */
const LINKS_MAX = 500;

/** What is known of a crawl's families. */
interface Tables {
  readonly families: BoundedMap<string, Family>;
  readonly variables: BoundedMap<string, Evidence>;
  /** The page without a variable. */
  readonly groups: BoundedMap<string, PageText>;
  readonly shown: ShownTexts;
  /** By host, names that came together. */
  readonly setsOf: BoundedMap<string, readonly NameSet[]>;
  readonly shapeOf: (url: string) => UrlShape | undefined;
  /** Masked texts of pages of traps. */
  readonly trapTexts: BoundedMap<string, true>;
  readonly isKnown: (url: string) => boolean;
  /** Whether there was a trap at all: before the first one no link is looked at. */
  hasTraps: boolean;
  /** The same of what is doubtful. */
  hasDoubts: boolean;
}

/** What the watch asks of the frontier. */
export interface TrapWatchOptions {
  /** Rules whose URLs are never left. */
  readonly exceptRules?: readonly string[] | undefined;
  readonly ruleOf?: (url: string) => string | undefined;
  readonly isKnown?: (url: string) => boolean;
}

export function createTrapWatch(options: TrapWatchOptions = {}): TrapWatch {
  const { exceptRules = [], ruleOf = () => undefined, isKnown = () => false } = options;
  const setsOf = new BoundedMap<string, readonly NameSet[]>(HOSTS_MAX);
  const tables: Tables = {
    setsOf,
    shapeOf: shapesOf((host) => setsOf.get(host) ?? NO_SETS),
    families: new BoundedMap(FAMILY_MAX),
    variables: new BoundedMap(VARIABLE_MAX),
    groups: new BoundedMap(GROUP_MAX),
    shown: new ShownTexts(),
    trapTexts: new BoundedMap(PROBE_MAX),
    isKnown,
    hasTraps: false,
    hasDoubts: false,
  };
  const probes = new BoundedMap<string, true>(PROBE_MAX);
  const except = new Set(exceptRules);
  const isExcepted = (url: string, rule?: string): boolean =>
    except.size > 0 && except.has(rule ?? ruleOf(url) ?? "");
  const isProbe = (trap: Evidence, url: string): boolean => {
    if (probes.get(url) === true) return true;
    if (++trap.left < trap.probeAt) return false;
    trap.probeAt *= 2;
    probes.set(url, true);
    return true;
  };
  return {
    isLeft(url, rule, isRedirected = false) {
      const shape = tables.hasTraps ? tables.shapeOf(url) : undefined;
      const trap = shape === undefined ? undefined : trapOf(tables, shape, url, isRedirected);
      return trap !== undefined && !isExcepted(url, rule) && !isProbe(trap, url);
    },
    plainOf(url) {
      let plain: string | undefined;
      for (let parts = 0; parts < PARTS_MAX; parts++) {
        const next = isExcepted(url) ? undefined : plainer(tables, plain ?? url);
        if (next === undefined) break;
        if (isProbe(next.evidence, url)) return undefined;
        plain = next.plain;
      }
      return plain;
    },
    isDoubtful(url) {
      if (!tables.hasDoubts) return false;
      const shape = tables.shapeOf(url);
      return shape !== undefined && isDoubtful(tables, shape) && !isExcepted(url);
    },
    missed: (url, target, isNew) => learnMiss(tables, { url, target, isNew }),
    visited(page) {
      probes.delete(page.url);
      learn(tables, page);
    },
    report() {
      const { variables, families } = tables;
      const all = [...variables.values(), ...families.values()].filter((each) => each.wasActive);
      all.sort((a, b) => b.left - a.left);
      return all.slice(0, REPORT_MAX).map(reportOf);
    },
  };
}

/** What a visit shows of all families that it is of. */
function learn(tables: Tables, page: VisitedText): void {
  const shape = tables.shapeOf(page.url);
  if (shape === undefined) return;
  const { url, digest } = page;
  const novelty = tables.shown.take(shape.host, digest.fours(), url);
  const numbers = tables.shown.take(`${shape.host} numbers`, digest.numbers()).count;
  const { marks, copyOf } = novelty;
  addSet(tables, shape);
  const similarity = digest.similarity();
  const text = { url, content: digest.content(), masked: digest.masked(), similarity, marks };
  const isAgain = tables.groups.get(shape.self)?.url === url;
  const fours = digest.fours();
  const isNew = isNovel(novelty, fours.size) || isNovel({ count: numbers, share: 1 }, fours.size);
  const original = copyOf === undefined || copyOf === url ? undefined : copyOf;
  const visit: Visit = { shape, text, isAgain, fours, isNovel: isNew, copyOf: original };
  const fresh = freshLinks(tables, page);
  for (const variable of shape.variables) learnVariable(tables, variable, visit);
  remember(tables.groups, shape.self, visit);
  const isFirst = !isNew && original !== undefined && isPlainer(shape, url, original);
  // The page was visited by a longer URL before: that visit was the one too many.
  if (isFirst) debit(tables, shape, original);
  const judged = { ...visit, fresh, isOriginal: isFirst };
  for (const name of shape.families) learnFamily(tables, name, judged);
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

function reportOf(evidence: Evidence): TrapReport {
  const { shape, kind, example, visits, empty, left, isActive } = evidence;
  return { shape, kind, example, visits, empty, left, active: isActive };
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
    const page = variable.isGuess === true ? undefined : tables.groups.get(variable.rest);
    if (page !== undefined && page.url !== url) return evidence;
    const without = isRedirected ? undefined : urlWithout(url, variable);
    if (without !== undefined && without !== url && tables.isKnown(without)) return evidence;
  }
  return shape.families.map((name) => tables.families.get(name)).find((each) => each?.isActive);
}

/** A visit, and what its page showed. */
interface Visit {
  readonly shape: UrlShape;
  readonly text: PageText;
  readonly fours: ReadonlySet<number>;
  /** Whether it showed words that the site had not shown. */
  readonly isNovel: boolean;
  /** Whether the same URL was visited before. */
  readonly isAgain: boolean;
  /** The page that had shown most of it. */
  readonly copyOf: string | undefined;
}

function isNovel({ count, share }: Pick<Novelty, "count" | "share">, size: number): boolean {
  const isMany = count >= NOVEL_MANY || count >= NOVEL_SHARE * size;
  return count >= NOVEL_MIN && share >= NOVEL_SHARE && isMany;
}

/** Keeps the names of a query, to be looked for in longer ones. */
function addSet({ setsOf }: Tables, { host, names }: UrlShape): void {
  if (names.length < 2) return;
  const known = setsOf.get(host) ?? NO_SETS;
  const isKnown = known.some((set) => set.join("&") === names.join("&"));
  if (!isKnown && known.length < SETS_MAX) setsOf.set(host, [...known, names]);
}

/** Whether a URL has fewer parts than another one. */
function isPlainer(shape: UrlShape, url: string, other: string): boolean {
  const names = shapeOf(other)?.names.length ?? 0;
  if (shape.names.length !== names) return shape.names.length < names;
  return url.split(/[/;]/).length < other.split(/[/;]/).length;
}

/** Counts a visit as one that gave nothing, after all. */
function debit(tables: Tables, shape: UrlShape, url: string): void {
  const { families } = tables;
  for (const name of shapeOf(url)?.families ?? []) {
    const family = shape.families.includes(name) ? undefined : families.get(name);
    if (family === undefined || family.isActive) continue;
    family.score = Math.min(family.score + 1, FAMILY_SCORE - 1);
    family.empty++;
    family.bare++;
    if (isBare(family)) tables.hasDoubts = true;
  }
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

/** New URLs of a page; what is left as a trap is no reason to visit the pages that lead to it. */
function freshLinks(tables: Tables, { links, isNew }: VisitedText): UrlShape[] {
  const fresh: UrlShape[] = [];
  let count = 0;
  for (const link of links) {
    if (count++ >= LINKS_MAX) break;
    if (!isNew(link)) continue;
    const linked = tables.shapeOf(link);
    if (linked !== undefined && trapOf(tables, linked, link, false) === undefined)
      fresh.push(linked);
  }
  return fresh;
}

/** Whether visits of its kind have hardly shown any text, or hardly any but that of other pages. */
function isDoubtful({ families, variables }: Tables, shape: UrlShape): boolean {
  for (const { name, isGuess } of shape.variables)
    if (isGuess !== true && (variables.get(name)?.score ?? 0) >= VARIABLE_SCORE / 2) return true;
  return shape.families.some((name) => isBare(families.get(name)));
}

function isBare(family: Family | undefined): boolean {
  return (
    family !== undefined &&
    family.visits >= DOUBT_VISITS &&
    family.bare >= DOUBT_SHARE * family.visits
  );
}

/** Whether other visits of its kind gave mostly nothing. */
function isPoor({ families, variables }: Tables, shape: UrlShape): boolean {
  for (const { name } of shape.variables)
    if ((variables.get(name)?.score ?? 0) >= VARIABLE_SCORE / 2) return true;
  for (const name of shape.families) {
    const family = families.get(name);
    if (family !== undefined && family.visits >= KNOWN_VISITS)
      return family.empty > family.visits / 2;
  }
  return false;
}

function learnVariable(tables: Tables, given: Variable, visit: Visit): void {
  const { groups, variables } = tables;
  const { name, rest } = given;
  const before = groups.get(rest);
  if (before === undefined || before.url === visit.text.url) {
    if (given.isGuess !== true) remember(groups, rest, visit);
    return;
  }
  if (given.isGuess === true && before.url !== urlWithout(visit.text.url, given)) return;
  const variable = variables.get(name) ?? evidenceOf(name, "same-text", visit.text.url);
  variables.set(name, variable);
  const isSame = isSameText(before, visit);
  if (isSame === undefined) return;
  if (!isSame) groups.set(rest, visit.text);
  else if (before.url === urlWithout(visit.text.url, given)) variable.plain++;
  judge(variable, !isSame, { most: VARIABLE_SCORE, undone: VARIABLE_SCORE });
  if (variable.isActive) tables.hasTraps = true;
  if (variable.score >= VARIABLE_SCORE / 2) tables.hasDoubts = true;
}

/** Another visit of the same text shows nothing first: what the one before had shown is kept. */
function remember(groups: Tables["groups"], key: string, visit: Visit): void {
  const before = groups.get(key);
  if (before === undefined || isSameText(before, visit) !== true) groups.set(key, visit.text);
}

/** Whether a page is one that was seen: word for word, or by what only that one had shown. undefined: neither shows anything of its own. */
function isSameText(before: PageText, { text, fours, isNovel }: Visit): boolean | undefined {
  if (before.content === text.content) return true;
  if (isNovel) return false;
  if (fours.size < COMPARED_MIN) return undefined;
  if (before.masked === text.masked) return true;
  if (before.marks.length < MARKS_MIN) return undefined;
  if (!areAlike(before.similarity, text.similarity, HALF_ALIKE_BITS)) return false;
  const found = before.marks.filter((four) => fours.has(four)).length;
  return found >= MARKS_SHARE * before.marks.length;
}

interface JudgedVisit extends Visit {
  readonly fresh: readonly UrlShape[];
  /** Whether a longer URL had shown the page. */
  readonly isOriginal: boolean;
}

function learnFamily(tables: Tables, name: string, visit: JudgedVisit): void {
  const { text, fresh, isNovel } = visit;
  const family = familyOf(tables, name, text.url);
  if (!isNovel && !visit.isAgain && !visit.isOriginal) family.bare++;
  const inside = fresh.filter((shape) => shape.families.includes(name));
  const leadsOn = inside.length > 0;
  const leadsOut = inside.length < fresh.length && isOutside(tables, name, fresh);
  const others = family.texts.filter(({ url }) => url !== text.url);
  const isSame = others.some(({ masked }) => masked === text.masked);
  if (family.texts.push(text) > KEPT) family.texts.shift();
  const isMixed = visit.shape.isMixed || name.endsWith("**") || name.endsWith("*‥*");
  const isKnown =
    isMixed || others.some(({ similarity }) => areAlike(similarity, text.similarity, ALIKE_BITS));
  const showsNothing = isSame || visit.copyOf !== undefined || (leadsOn && isKnown);
  const isEmpty = !isNovel && !leadsOut && !visit.isAgain && !visit.isOriginal && showsNothing;
  const isOfTrap = isEmptyText(visit) && tables.trapTexts.get(text.masked) === true;
  // The first page has none to be compared with, and one without new links does not show whether the family ends.
  if (!isOfTrap && (family.visits === 0 || (!isEmpty && !leadsOut && !isNovel))) {
    family.visits++;
    return;
  }
  if (isEmpty) family.kind = isSame ? "same-text" : text.url.includes("?") ? "filters" : "grows";
  const weight = isEmpty && isOfTrap ? TRAP_TEXT_SCORE : 1;
  judge(family, !isEmpty, { most: FAMILY_SCORE, undone: RICH_SCORE, weight });
  if (family.isActive) tables.hasTraps = true;
  if (isEmpty && family.isActive && isEmptyText(visit)) tables.trapTexts.set(text.masked, true);
  if (isBare(family)) tables.hasDoubts = true;
}

function familyOf({ families }: Tables, name: string, url: string): Family {
  const family = families.get(name) ?? { ...evidenceOf(name, "grows", url), texts: [], bare: 0 };
  families.set(name, family);
  return family;
}

/** Whether a new URL is of no family that is known to be worth nothing. */
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

function learnMissed(tables: Tables, name: string, { url, fresh, isNothing }: Missed): void {
  const family = familyOf(tables, name, url);
  family.bare++;
  const weight = isNothing ? MISSING_SCORE : 1;
  const gives = isOutside(tables, name, fresh);
  if (!gives && !isNothing) family.kind = "grows";
  judge(family, gives, { most: FAMILY_SCORE, undone: RICH_SCORE, weight });
  if (family.isActive) tables.hasTraps = true;
  if (isBare(family)) tables.hasDoubts = true;
}

/** Whether there is text enough to tell one page from another, and nothing new in it. */
function isEmptyText({ fours, isNovel }: Visit): boolean {
  return !isNovel && fours.size >= COMPARED_MIN;
}

function evidenceOf(shape: string, kind: TrapReport["kind"], example: string): Evidence {
  const none = { visits: 0, empty: 0, score: 0, left: 0, probeAt: PROBE_FIRST };
  return { shape, kind, example, ...none, isActive: false, wasActive: false, plain: 0 };
}

interface Weights {
  /** The score of a trap. */
  readonly most: number;
  /** What a visit that gave something undoes. */
  readonly undone: number;
  readonly weight?: number;
}

function judge(
  evidence: Evidence,
  gaveSomething: boolean,
  { most, undone, weight = 1 }: Weights,
): void {
  evidence.visits++;
  if (!gaveSomething) evidence.empty++;
  evidence.score = gaveSomething
    ? Math.max(evidence.score - undone, 0)
    : Math.min(evidence.score + weight, most);
  if (evidence.score >= most) evidence.isActive = evidence.wasActive = true;
  else if (evidence.score < most / 2) evidence.isActive = false;
  if (gaveSomething) evidence.probeAt = evidence.left + PROBE_FIRST;
}

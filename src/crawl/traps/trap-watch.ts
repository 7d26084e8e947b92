/**
 * TrapWatch: recognises endless families of URLs by what visits of them showed, and leaves their links.
 *
 *   visit ─▶ text, new links ─▶ family: a visit that gave nothing, or something ─▶ 20 more of those than these would undo: a trap
 *                            └▶ variable: the same text without it, or another ─▶ 8 times the same, hardly another: it means nothing
 *
 *   a visit gave nothing   no new URL outside of its family, and one of
 *                            the text of a page of the family, word for word
 *                            a text much like one of them, and new links into the family: it only leads on to itself
 *                            of a query with several names, or folders below folders, and new links into the family: no words in a row that it had not shown
 *
 *   link, or pending URL ─ variable that means nothing, page known without it ─▶ left ┐
 *                        └ family that is a trap ───────────────────────────────────▶ left ┴─ the 50th, 100th, 200th … is visited all the same
 *
 *   I1  Reversible: what these show counts as any visit, and two that gave something in a row end a trap. A family or variable that gives something again is followed again.
 *   I2  Bounded, whatever sites do: FAMILY_MAX families with at most KEPT texts and SAMPLE_MAX fours each, GROUP_MAX pages without a variable.
 *   I3  Seeds, and URLs of the rules that are named, are never left.
 *
 * Crash: nothing here survives the process; the next one learns it anew.
 */
import { distance, type Similarity, type TextDigest } from "../page/text-digest.ts";
import { BoundedMap } from "./bounded-map.ts";
import { shapeOf, type UrlShape, type Variable } from "./url-shape.ts";

/** A family of URLs that is left, and why. */
export interface TrapReport {
  /** The family: `#` stands for numbers, `*` and `**` for anything. A variable is its site and name. */
  readonly shape: string;
  /** What was seen: the same text under many URLs, a family that only leads on to itself, filters that multiply. */
  readonly kind: "same-text" | "grows" | "filters";
  /** A URL of it that was visited. */
  readonly example: string;
  /** Visits of it. */
  readonly visits: number;
  /** Those that gave nothing. */
  readonly empty: number;
  /** Links and pending URLs that were left. */
  readonly left: number;
  /** Whether it is left now; false: visits gave something again. */
  readonly active: boolean;
}

export interface TrapWatch {
  /** Whether a URL is left now. */
  isLeft(url: string, rule?: string): boolean;
  /** A page was visited. */
  visited(page: VisitedText): void;
  /** Those that were recognised, the most left first; at most REPORT_MAX. */
  report(): TrapReport[];
}

export interface VisitedText {
  readonly url: string;
  readonly digest: TextDigest;
  /** Its links, resolved. */
  readonly links: Iterable<string>;
  /** Whether a URL is unknown to the frontier. */
  readonly isNew: (url: string) => boolean;
}

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
}

interface Family extends Evidence {
  /** The newest texts. */
  readonly texts: Array<{ url: string; content: string; similarity: Similarity | undefined }>;
  readonly sample: Set<number>;
}

const FAMILY_MAX = 2_000;
const VARIABLE_MAX = 2_000;
const GROUP_MAX = 50_000;
const KEPT = 8;
const SAMPLE_MAX = 2_048;
const REPORT_MAX = 20;
const PROBE_FIRST = 50;
const PROBE_MAX = 1_000;
/** Visits that gave nothing, and what one that gave something undoes of them. */
const FAMILY_SCORE = 20;
const RICH_SCORE = 6;
/** A variable is believed sooner: the very same words. One page that differs undoes all. */
const VARIABLE_SCORE = 8;
/** Unrelated texts differ in 32 ± 4 of 64 bits; in so many where they share some three quarters. */
const ALIKE_BITS = 14;
const NOVEL_SHARE = 0.1;
/** Links that are looked at: of more a sample of this page is enough. */
const LINKS_MAX = 500;

/** What is known of a crawl's families. */
interface Tables {
  readonly families: BoundedMap<string, Family>;
  readonly variables: BoundedMap<string, Evidence>;
  /** Text of the page without a variable. */
  readonly groups: BoundedMap<string, { readonly url: string; readonly content: string }>;
}

export function createTrapWatch(
  exceptRules: readonly string[] = [],
  ruleOf: (url: string) => string | undefined = () => undefined,
): TrapWatch {
  const tables: Tables = {
    families: new BoundedMap(FAMILY_MAX),
    variables: new BoundedMap(VARIABLE_MAX),
    groups: new BoundedMap(GROUP_MAX),
  };
  const probes = new BoundedMap<string, true>(PROBE_MAX);
  const except = new Set(exceptRules);
  return {
    isLeft(url, rule) {
      const shape = shapeOf(url);
      const trap = shape === undefined ? undefined : trapOf(tables, shape, url);
      if (trap === undefined || probes.get(url) === true) return false;
      if (except.size > 0 && except.has(rule ?? ruleOf(url) ?? "")) return false;
      if (++trap.left < trap.probeAt) return true;
      trap.probeAt *= 2;
      probes.set(url, true);
      return false;
    },
    visited(page) {
      const shape = shapeOf(page.url);
      if (shape === undefined) return;
      probes.delete(page.url);
      const content = page.digest.content();
      const fresh = freshLinks(tables, page);
      for (const variable of shape.variables) learnVariable(tables, variable, page.url, content);
      tables.groups.set(shape.self, { url: page.url, content });
      for (const name of shape.families) learnFamily(tables, name, { ...page, shape, fresh });
    },
    report() {
      const { variables, families } = tables;
      const all = [...variables.values(), ...families.values()].filter((each) => each.wasActive);
      all.sort((a, b) => b.left - a.left);
      return all.slice(0, REPORT_MAX).map(reportOf);
    },
  };
}

function reportOf(evidence: Evidence): TrapReport {
  const { shape, kind, example, visits, empty, left, isActive } = evidence;
  return { shape, kind, example, visits, empty, left, active: isActive };
}

function trapOf(tables: Tables, shape: UrlShape, url: string): Evidence | undefined {
  for (const { name, rest } of shape.variables) {
    const variable = tables.variables.get(name);
    if (variable?.isActive !== true) continue;
    const page = tables.groups.get(rest);
    if (page !== undefined && page.url !== url) return variable;
  }
  return shape.families.map((name) => tables.families.get(name)).find((each) => each?.isActive);
}

/** New URLs of a page; what is left as a trap is no reason to visit the pages that lead to it. */
function freshLinks(tables: Tables, { links, isNew }: VisitedText): UrlShape[] {
  const fresh: UrlShape[] = [];
  let count = 0;
  for (const link of links) {
    if (count++ >= LINKS_MAX) break;
    if (!isNew(link)) continue;
    const linked = shapeOf(link);
    if (linked !== undefined && trapOf(tables, linked, link) === undefined) fresh.push(linked);
  }
  return fresh;
}

function learnVariable(
  { groups, variables }: Tables,
  { name, rest }: Variable,
  url: string,
  content: string,
): void {
  const before = groups.get(rest);
  groups.set(rest, { url, content });
  if (before === undefined || before.url === url) return;
  const variable = variables.get(name) ?? evidenceOf(name, "same-text", url);
  variables.set(name, variable);
  judge(variable, before.content === content, { most: VARIABLE_SCORE, undone: VARIABLE_SCORE });
}

interface JudgedPage extends VisitedText {
  readonly shape: UrlShape;
  readonly fresh: readonly UrlShape[];
}

function learnFamily({ families }: Tables, name: string, page: JudgedPage): void {
  const family: Family = families.get(name) ?? {
    ...evidenceOf(name, "grows", page.url),
    ...{ texts: [], sample: new Set() },
  };
  families.set(name, family);
  const inside = page.fresh.filter((shape) => shape.families.includes(name)).length;
  const leadsOut = inside < page.fresh.length;
  const leadsOn = inside > 0;
  const content = page.digest.content();
  const similarity = page.digest.similarity();
  const others = family.texts.filter(({ url }) => url !== page.url);
  const isSame = others.some((text) => text.content === content);
  const isAlike = isSame || others.some((text) => areAlike(text.similarity, similarity));
  const isFiltered = page.shape.names.length > 1 || name.endsWith("**");
  const isKnown = isFiltered && noveltyOf(family, page.digest.sample()) < NOVEL_SHARE;
  if (family.texts.push({ url: page.url, content, similarity }) > KEPT) family.texts.shift();
  const isEmpty = !leadsOut && (isSame || (leadsOn && (isAlike || isKnown)));
  // The first page has none to be compared with, and one without new links does not tell whether the family ends.
  if (family.visits === 0 || (!isEmpty && !leadsOut && isAlike)) {
    family.visits++;
    return;
  }
  if (isEmpty) family.kind = isSame ? "same-text" : isAlike ? "grows" : "filters";
  judge(family, isEmpty, { most: FAMILY_SCORE, undone: RICH_SCORE });
}

function evidenceOf(shape: string, kind: TrapReport["kind"], example: string): Evidence {
  const none = { visits: 0, empty: 0, score: 0, left: 0, probeAt: PROBE_FIRST };
  return { shape, kind, example, ...none, isActive: false, wasActive: false };
}

function judge(
  evidence: Evidence,
  isEmpty: boolean,
  { most, undone }: { readonly most: number; readonly undone: number },
): void {
  evidence.visits++;
  if (isEmpty) evidence.empty++;
  evidence.score = isEmpty
    ? Math.min(evidence.score + 1, most)
    : Math.max(evidence.score - undone, 0);
  if (evidence.score >= most) evidence.isActive = evidence.wasActive = true;
  else if (evidence.score < most / 2) evidence.isActive = false;
  if (!isEmpty) evidence.probeAt = evidence.left + PROBE_FIRST;
}

/** Two pages without enough text to compare show as little. */
function areAlike(a: Similarity | undefined, b: Similarity | undefined): boolean {
  if (a === undefined || b === undefined) return a === b;
  return distance(a, b) <= ALIKE_BITS;
}

/** The share of a page's fours that its family had not shown; they are known from then on. */
function noveltyOf({ sample: known }: Family, sample: readonly number[]): number {
  let novel = 0;
  for (const four of sample) {
    if (known.has(four)) continue;
    novel++;
    if (known.size < SAMPLE_MAX) known.add(four);
  }
  return sample.length === 0 ? 1 : novel / sample.length;
}

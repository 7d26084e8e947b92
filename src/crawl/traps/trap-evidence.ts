/**
 * What is known of families of URLs and of parts of URLs, and how one more visit changes it.
 *
 *   I1  A trap is one whose score reached the most; it ends where the score fell below the half of that.
 */
import type { Similarity } from "../page/text-digest.ts";
import type { BoundedMap } from "./bounded-map.ts";
import type { ShownTexts } from "./shown-texts.ts";
import type { TrapReport } from "./trap-types.ts";
import type { HostParts, UrlShape } from "./url-shape.ts";

/** Empty visits that make a family a trap. */
export const FAMILY_SCORE = 10;
/** A variable is believed sooner: the very same words. One page that differs undoes all. */
export const VARIABLE_SCORE = 8;
/** Unrelated texts differ in 32 ± 4 of 64 bits; in so many where they share some three quarters, or a half. */
export const [ALIKE_BITS, HALF_ALIKE_BITS] = [14, 22];
/** Ends the name of the family of a site's orphans. */
export const ORPHANS = " **";
/** Shingles of a text that is compared without the words of its URL. */
export const COMPARED_MIN = 12;
/** So many links of a page are read. */
export const LINKS_MAX = 500;
const PROBE_FIRST = 200;
/** So many useful visits of a family ask for one more empty visit, and at most so many more. */
const [USEFUL_FOR_ONE, USEFUL_MAX] = [6, 30];
const DIFFERENT_WEIGHT = 16;

export interface Evidence {
  readonly shape: string;
  kind: TrapReport["kind"];
  example: string;
  visits: number;
  empty: number;
  score: number;
  left: number;
  /** So many left links, and the next one is visited: ever more rarely while it stays a trap. */
  probeAt: number;
  isActive: boolean;
  wasActive: boolean;
  /** Of a variable: pages that were the same without it. */
  plain: number;
}

export interface Family extends Evidence {
  /** Visits that showed no words that the site had not shown. */
  bare: number;
  /** Visits that showed what another page of it had shown first. */
  repeats: number;
  /** Visits with several new links into it. */
  branching: number;
  /** New links into it. */
  found: number;
  /** Visits in a row, nearly, that led to several new URLs of it and to none that another page had led to. */
  endless: number;
  /** Those new URLs, the newest. */
  readonly newest: UrlShape[];
  /** Of a wide family: the narrowest ones in it, up to one more than are few. */
  readonly kinds: Set<string>;
  /** The newest texts. */
  readonly texts: PageText[];
}

export interface PageText {
  readonly url: string;
  readonly content: string;
  /** Without the words of its URL. */
  readonly masked: string;
  readonly similarity: Similarity | undefined;
  /** Shingles that the site showed here first. */
  readonly marks: readonly number[];
}

/** What is known of a crawl's families. */
export interface Tables {
  readonly families: BoundedMap<string, Family>;
  readonly variables: BoundedMap<string, Evidence>;
  /** By a URL without a variable, its page; by the variable's name and that URL, the newest page with the variable and another text. */
  readonly groups: BoundedMap<string, PageText>;
  readonly shown: ShownTexts;
  readonly hosts: BoundedMap<string, HostParts>;
  /** By registrable domain, its first host. */
  readonly mains: BoundedMap<string, string>;
  readonly shapeOf: (url: string) => UrlShape | undefined;
  /** URLs to which only pages that show nothing have led. */
  readonly orphans: BoundedMap<string, true>;
  /** Masked texts of pages of traps. */
  readonly trapTexts: BoundedMap<string, true>;
  readonly isKnown: (url: string) => boolean;
  readonly isPending: (url: string) => boolean;
  readonly domainOf: (host: string) => string;
  /** Whether there was a trap at all: before the first one no link is checked. */
  hasTraps: boolean;
  /** The same of what is doubtful. */
  hasDoubts: boolean;
}

/** A visit, and what its page showed. */
export interface Visit {
  readonly shape: UrlShape;
  readonly text: PageText;
  readonly shingles: ReadonlySet<number>;
  /** Whether it showed words, or numbers, that the site had not shown. */
  readonly isNovel: boolean;
  /** Whether more than numbers. */
  readonly isText: boolean;
  /** Whether the same URL was visited before. */
  readonly isAgain: boolean;
  readonly newCount: number;
  readonly newShare: number;
  /** The page that had shown most of it. */
  readonly copyOf: string | undefined;
}

export interface VisitWithLinks extends Visit {
  readonly fresh: readonly UrlShape[];
  /** The same with those of traps. */
  readonly grown: readonly UrlShape[];
  /** Other pages have led to these, and they wait. */
  readonly crossed: readonly UrlShape[];
  /** Whether it is a folder of pages of kinds that show something. */
  readonly leadsDown: boolean;
  /** Whether a longer URL had shown the page. */
  readonly isOriginal: boolean;
}

export function evidenceOf(shape: string, kind: TrapReport["kind"], example: string): Evidence {
  const none = { visits: 0, empty: 0, score: 0, left: 0, probeAt: PROBE_FIRST };
  return { shape, kind, example, ...none, isActive: false, wasActive: false, plain: 0 };
}

/** The score of a family that is a trap: what has shown something takes more empty visits. */
export function scoreOfTrap({ visits, empty }: Evidence): number {
  return FAMILY_SCORE + Math.min((visits - empty) / USEFUL_FOR_ONE, USEFUL_MAX);
}

/** The same of a variable. One page that differs undoes all: the more did, the longer a run of the same ones could be chance. */
export function scoreOfVariable({ visits, empty }: Evidence): number {
  const useful = visits === 0 ? 0 : (visits - empty) / visits;
  return VARIABLE_SCORE * (1 + DIFFERENT_WEIGHT * useful);
}

interface Weights {
  /** The score of a trap. */
  readonly most: number;
  /** What a useful visit undoes. */
  readonly undone: number;
  readonly weight?: number;
}

export function countVisit(
  evidence: Evidence,
  isUseful: boolean,
  { most, undone, weight = 1 }: Weights,
): void {
  evidence.visits++;
  if (!isUseful) evidence.empty++;
  evidence.score = isUseful
    ? Math.max(evidence.score - undone, 0)
    : Math.min(evidence.score + weight, most);
  if (evidence.score >= most) evidence.isActive = evidence.wasActive = true;
  else if (evidence.score < most / 2) evidence.isActive = false;
  if (isUseful) evidence.probeAt = evidence.left + PROBE_FIRST;
}

export function reportOf(evidence: Evidence): TrapReport {
  const { shape, kind, example, visits, empty, left, isActive } = evidence;
  return { shape, kind, example, visits, empty, left, active: isActive };
}

/**
 * Room `src/url/matching`: which rule takes a URL, by host, domain, pattern and scheme. Decides nothing about admission.
 * May touch url/batch and url/parsing.
 */

/**
 * Matcher: finds the rule of a URL by host, domain, pattern and scheme, without checking rules of other hosts.
 *
 *   host ─▶ hosts with port, hosts ─▶ domains, longest first ─▶ rules without either     = the plan of this host:
 *           within each: longest pattern first, then array order                           rules to try, in order
 *
 *   cost    a known host: one lookup in the kernel's memo (match-rows.ts); a new host: one lookup per label and one for its
 *   plan
 *   pattern tested only if a plan has one, on the URL without its fragment; compiled once. If a pattern's text shows the only host on which
 *   it can
 *           match (`^https?://www\.example\.com/…`), it is only in the plans of that host. Any other pattern without hosts and domains is
 *           tested in order for every URL that no earlier rule took.
 *
 *   index   the lists by host, domain and anchor. Made for the first host, or in parts before that (indexRules), because a set of very many
 *   rules
 *           is applied in one call
 *
 *   I1  The plan of a host lists every rule that can match on it, most specific first; the first that matches is the result.
 *   I2  Hosts that meet the same entries share a plan, so the number of plans is bounded by the rules.
 *   I3  No plan is made before every rule is in the index.
 */
import type { UrlPattern } from "../../base/pattern/url-pattern.ts";
import { hostOfPattern } from "./host-pattern.ts";
import { clearHostMemo, type HostMemo } from "./host-memo.ts";
import { type Rows, rowHostText, rowIsHttps, rowPageText } from "../batch/row-fields.ts";

export const SCHEME_HTTP = 1;
export const SCHEME_HTTPS = 2;
export const SCHEMES_ALL = SCHEME_HTTP | SCHEME_HTTPS;

/** The conditions of a rule; an empty list is no condition. */
export interface RuleMatch {
  /** Place of the rule in its set. */
  readonly order: number;
  readonly hosts: readonly string[];
  readonly domains: readonly string[];
  readonly pattern: UrlPattern | undefined;
  /** The pattern's source as the user wrote it; "": none. */
  readonly patternText: string;
  /** The schemes that match, as SCHEME_* bits. */
  readonly schemes: number;
}

/** In place of a rule's order: no rule matches. */
export const NO_RULE = -1;

type Plan = readonly RuleMatch[];
/** Rules by entry; most entries have one rule. */
type Lists = Map<string, RuleMatch | RuleMatch[]>;

export interface Matcher {
  /** The order of the rule that takes every URL and precedes all others, or NO_RULE. */
  readonly all: number;
  /** The set in its order, and how many of its rules are indexed. */
  readonly matches: readonly RuleMatch[];
  indexed: number;
  readonly hosts: Lists;
  readonly domains: Lists;
  /** Rules without hosts and domains whose pattern shows its host. */
  readonly anchored: Lists;
  /** Rules without hosts, domains and known host: candidates on every host. */
  others: RuleMatch[];
  /** Lists with several rules, to be sorted once all are indexed. */
  readonly many: RuleMatch[][];
  readonly plans: Plan[];
  /** Names of met entries → index of the plan. */
  readonly planIndexes: Map<string, number>;
  readonly memo: HostMemo;
}

/** `memo` may come from an earlier matcher that no longer needs it. */
export function createMatcher(matches: readonly RuleMatch[], memo: HostMemo): Matcher {
  clearHostMemo(memo);
  return {
    all: allOf(matches),
    matches,
    indexed: 0,
    hosts: new Map(),
    domains: new Map(),
    anchored: new Map(),
    others: [],
    many: [],
    plans: [],
    planIndexes: new Map(),
    memo,
  };
}

/** Indexes at most `most` more rules; returns true once all are indexed. */
export function indexRules(matcher: Matcher, most: number): boolean {
  const { matches, many } = matcher;
  if (matcher.indexed === matches.length) return true;
  const end = Math.min(matcher.indexed + most, matches.length);
  for (let at = matcher.indexed; at < end; at++) indexRule(matcher, matches[at] as RuleMatch);
  matcher.indexed = end;
  if (end < matches.length) return false;
  for (const list of many) list.sort(bySpecificity);
  matcher.others = untilFree(matcher.others.sort(bySpecificity));
  return true;
}

function indexRule({ hosts, domains, anchored, many, others }: Matcher, match: RuleMatch): void {
  const { pattern } = match;
  for (let at = 0; at < match.hosts.length; at++) {
    listIn(hosts, match.hosts[at] as string, match, many);
  }
  for (let at = 0; at < match.domains.length; at++) {
    listIn(domains, match.domains[at] as string, match, many);
  }
  if (match.hosts.length + match.domains.length > 0) return;
  const host = pattern === undefined ? undefined : hostOfPattern(pattern.source);
  if (host === undefined) others.push(match);
  else listIn(anchored, host, match, many);
}

/** Any rule with a host or pattern precedes a rule without conditions. */
function allOf(matches: readonly RuleMatch[]): number {
  const first = matches[0];
  if (first === undefined || !isFree(first)) return NO_RULE;
  for (const { domains, hosts, pattern } of matches) {
    if (pattern !== undefined || hosts.length + domains.length > 0) return NO_RULE;
  }
  return first.order;
}

/** The order of the rule that takes a parsed row, or NO_RULE. */
export function matchRow(matcher: Matcher, rows: Rows, row: number): number {
  return matchPlan(matcher, planOf(matcher, rowHostText(rows, row)), rows, row);
}

/** The order of the rule that takes every URL of a plan, NO_RULE if none takes any; undefined if it depends on the URL. */
export function soleOfPlan({ plans }: Matcher, index: number): number | undefined {
  const first = (plans[index] as Plan)[0];
  if (first === undefined) return NO_RULE;
  return isFree(first) ? first.order : undefined;
}

/** The order of the plan's rule that takes a parsed row, or NO_RULE. */
export function matchPlan(matcher: Matcher, index: number, rows: Rows, row: number): number {
  const plan = matcher.plans[index] as Plan;
  const scheme = rowIsHttps(rows, row) ? SCHEME_HTTPS : SCHEME_HTTP;
  let text: string | undefined;
  for (let at = 0; at < plan.length; at++) {
    const { order, pattern, schemes } = plan[at] as RuleMatch;
    if ((schemes & scheme) === 0) continue;
    if (pattern === undefined) return order;
    text ??= rowPageText(rows, row);
    if (pattern.test(text)) return order;
  }
  return NO_RULE;
}

/** The same for a serialised URL and its host. */
export function matchUrl(matcher: Matcher, url: string, host: string): number {
  const plan = matcher.plans[planOf(matcher, host)] as Plan;
  const scheme = url.startsWith("https:") ? SCHEME_HTTPS : SCHEME_HTTP;
  const hash = url.indexOf("#");
  const page = hash < 0 ? url : url.slice(0, hash);
  for (const { order, pattern, schemes } of plan) {
    if ((schemes & scheme) !== 0 && (pattern === undefined || pattern.test(page))) return order;
  }
  return NO_RULE;
}

/**
 * The order of the rule that takes every URL of a host by the host alone, found without a plan: the first rule of the most specific entry
 * that the host meets; undefined where it takes more to decide.
 */
export function soleOfHost(matcher: Matcher, host: string): number | undefined {
  indexRules(matcher, Number.POSITIVE_INFINITY);
  const { hosts, domains } = matcher;
  const bare = bareName(host);
  let own = bare === host ? undefined : hosts.get(host);
  own ??= hosts.size > 0 ? hosts.get(bare) : undefined;
  let name = domains.size > 0 ? bare : "";
  for (; own === undefined && name !== ""; name = parentOf(name)) own = domains.get(name);
  if (own === undefined) return undefined;
  const first = Array.isArray(own) ? (own[0] as RuleMatch) : own;
  return isFree(first) ? first.order : undefined;
}

/** The index of a host's plan. O(labels). */
export function planOf(matcher: Matcher, host: string): number {
  indexRules(matcher, Number.POSITIVE_INFINITY);
  const { hosts, domains, anchored, planIndexes, plans } = matcher;
  const lists: Plan[] = [];
  const met: Met = { lists, name: "" };
  const bare = bareName(host);
  if (hosts.size > 0) {
    if (bare !== host) meet(met, hosts, "h", host);
    meet(met, hosts, "h", bare);
  }
  if (domains.size > 0) {
    meet(met, domains, "d", bare);
    for (let parent = parentOf(bare); parent !== ""; parent = parentOf(parent)) {
      meet(met, domains, "d", parent);
    }
  }
  let { name } = met;
  const own = bare === host ? anchored.get(bare) : undefined;
  if (own !== undefined) name += `a${bare}`;
  const known = planIndexes.get(name);
  if (known !== undefined) return known;
  const rest =
    own === undefined ? matcher.others : [...listOf(own), ...matcher.others].sort(bySpecificity);
  const index = plans.length;
  const first = lists[0];
  if (first === undefined) plans.push(rest);
  // Rules after one that takes everything are never tried. Most hosts meet one such rule and share its list.
  else plans.push(isFirstFree(first) ? first : untilFree([...lists.flat(), ...rest]));
  planIndexes.set(name, index);
  return index;
}

/** The entries of rules that a host meets: their candidates, and a name for the combination. */
interface Met {
  readonly lists: Plan[];
  name: string;
}

function meet(met: Met, from: Lists, kind: string, entry: string): void {
  const own = from.get(entry);
  if (own === undefined) return;
  met.lists.push(listOf(own));
  met.name += `${kind}${entry} `;
}

function listOf(own: RuleMatch | RuleMatch[]): RuleMatch[] {
  return Array.isArray(own) ? own : [own];
}

/** The domain above a name, "" where there is none, as of an address. */
function parentOf(name: string): string {
  const dot = name.indexOf(".");
  const last = name.charCodeAt(name.length - 1);
  const isDigit = last >= 48 && last <= 57;
  if (dot < 0 || name.startsWith("[") || (isDigit && /\.[0-9]+$/.test(name))) return "";
  return name.slice(dot + 1);
}

/** A host without its port and without the final dot of a rooted name. */
function bareName(host: string): string {
  const colon = host.indexOf(":", host.startsWith("[") ? host.indexOf("]") : 0);
  const name = colon < 0 ? host : host.slice(0, colon);
  return name.endsWith(".") ? name.slice(0, -1) : name;
}

/** The plan up to the first rule that takes everything: later rules are never tried. */
function untilFree(plan: RuleMatch[]): RuleMatch[] {
  const free = plan.findIndex(isFree);
  return free < 0 ? plan : plan.slice(0, free + 1);
}

function isFirstFree([first]: Plan): boolean {
  return first !== undefined && isFree(first);
}

function isFree({ pattern, schemes }: RuleMatch): boolean {
  return pattern === undefined && schemes === SCHEMES_ALL;
}

function bySpecificity(a: RuleMatch, b: RuleMatch): number {
  return b.patternText.length - a.patternText.length || a.order - b.order;
}

/** Adds a rule to an entry's list; lists that now hold two rules are added to `many`, to be sorted. */
function listIn(lists: Lists, entry: string, match: RuleMatch, many: RuleMatch[][]): void {
  const before = lists.get(entry);
  if (before === undefined) lists.set(entry, match);
  else if (Array.isArray(before)) before.push(match);
  else {
    const list = [before, match];
    lists.set(entry, list);
    many.push(list);
  }
}

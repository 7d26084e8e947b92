/**
 * Matcher: the rule of a URL, by host, domain, pattern and scheme, without a look at rules of other hosts.
 *
 *   host ─▶ hosts with port, hosts ─▶ domains, longest first ─▶ rules without either     = the plan of this host:
 *           within each: longest pattern first, then array order                           rules to try, in order
 *
 *   cost    a known host: one look at the memo, in the kernel (frontier/match-rows.ts); a new one: one look per label and one for
 *           its plan
 *   pattern only where a plan names one, on the URL without its fragment, compiled once. A pattern that shows the one host
 *           it can match (`^https?://www\.example\.com/…`) stands in the plans of that host alone; any other without
 *           hosts and domains is tried in order for every URL that nothing before it took: one test each.
 *
 *   I1  The plan of a host lists every rule that can match on it, most specific first; the first that fits is the answer.
 *   I2  Plans are shared between hosts that meet the same entries, so that their number is bounded by the rules.
 */
import { hostOfPattern } from "./host-pattern.ts";
import { clearHostMemo, type HostMemo } from "./host-memo.ts";
import { type Rows, rowHostText, rowIsHttps, rowPageText } from "./rows.ts";

export const SCHEME_HTTP = 1;
export const SCHEME_HTTPS = 2;
export const SCHEMES_ALL = SCHEME_HTTP | SCHEME_HTTPS;

/** What a URL must have to be a rule's; an empty list asks for nothing. */
export interface RuleMatch {
  /** Place of the rule in its set. */
  readonly order: number;
  readonly hosts: readonly string[];
  readonly domains: readonly string[];
  readonly pattern: RegExp | undefined;
  /** Of its text as it was given. */
  readonly patternLength: number;
  /** SCHEME_* that fit. */
  readonly schemes: number;
}

/** Names of a rule's place: no rule fits. */
export const NO_RULE = -1;

type Plan = readonly RuleMatch[];

export interface Matcher {
  /** The place of a rule that takes every URL before any other is asked, or NO_RULE. */
  readonly all: number;
  readonly hosts: Map<string, RuleMatch[]>;
  readonly domains: Map<string, RuleMatch[]>;
  /** Rules without hosts and domains whose pattern names its host. */
  readonly anchored: Map<string, RuleMatch[]>;
  readonly others: Plan;
  readonly plans: Plan[];
  /** Entries met → index of the plan. */
  readonly planIndexes: Map<string, number>;
  readonly memo: HostMemo;
}

/** `memo`: one that an earlier matcher no longer needs. */
export function createMatcher(matches: Iterable<RuleMatch>, memo: HostMemo): Matcher {
  clearHostMemo(memo);
  const hosts = new Map<string, RuleMatch[]>();
  const domains = new Map<string, RuleMatch[]>();
  const anchored = new Map<string, RuleMatch[]>();
  const others: RuleMatch[] = [];
  const many: RuleMatch[][] = [others];
  for (const match of matches) {
    const { pattern } = match;
    for (const host of match.hosts) listIn(hosts, host, match, many);
    for (const domain of match.domains) listIn(domains, domain, match, many);
    if (match.hosts.length + match.domains.length > 0) continue;
    const host = pattern === undefined ? undefined : hostOfPattern(pattern.source);
    if (host === undefined) others.push(match);
    else listIn(anchored, host, match, many);
  }
  for (const list of many) list.sort(bySpecificity);
  const first = others[0];
  const isAll =
    first !== undefined && isFree(first) && hosts.size + domains.size + anchored.size === 0;
  return {
    all: isAll ? first.order : NO_RULE,
    hosts,
    domains,
    anchored,
    others: untilFree(others),
    plans: [],
    planIndexes: new Map(),
    memo,
  };
}

/** The place of the rule that takes a parsed row, or NO_RULE. */
export function matchRow(matcher: Matcher, rows: Rows, row: number): number {
  return matchPlan(matcher, planOf(matcher, rowHostText(rows, row)), rows, row);
}

/** The place of the rule that takes every URL under a plan, NO_RULE where none takes any; undefined: it depends. */
export function soleOfPlan({ plans }: Matcher, index: number): number | undefined {
  const first = (plans[index] as Plan)[0];
  if (first === undefined) return NO_RULE;
  return isFree(first) ? first.order : undefined;
}

/** The place of the rule of a plan that takes a parsed row, or NO_RULE. */
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

/** The plan of a host, by its index. O(labels). */
export function planOf(matcher: Matcher, host: string): number {
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
    // An address has no domains above it.
    const isName = !bare.startsWith("[") && !/\.[0-9]+$/.test(bare);
    for (let dot = bare.indexOf("."); isName && dot >= 0; dot = bare.indexOf(".", dot + 1)) {
      meet(met, domains, "d", bare.slice(dot + 1));
    }
  }
  let { name } = met;
  const own = bare === host ? anchored.get(bare) : undefined;
  if (own !== undefined) name += `a${bare}`;
  const known = planIndexes.get(name);
  if (known !== undefined) return known;
  const rest = own === undefined ? matcher.others : [...own, ...matcher.others].sort(bySpecificity);
  const index = plans.length;
  const first = lists[0];
  if (first === undefined) plans.push(rest);
  // What stands behind a rule that takes everything is never asked: most hosts meet one such, and share its list.
  else plans.push(isFirstFree(first) ? first : untilFree([...lists.flat(), ...rest]));
  planIndexes.set(name, index);
  return index;
}

/** What a host meets among the entries of the rules: their candidates, and a name for all of it. */
interface Met {
  readonly lists: Plan[];
  name: string;
}

function meet(met: Met, from: Map<string, RuleMatch[]>, kind: string, entry: string): void {
  const list = from.get(entry);
  if (list === undefined) return;
  met.lists.push(list);
  met.name += `${kind}${entry} `;
}

/** A host without its port, and without the dot that a rooted name ends in. */
function bareName(host: string): string {
  const colon = host.indexOf(":", host.startsWith("[") ? host.indexOf("]") : 0);
  const name = colon < 0 ? host : host.slice(0, colon);
  return name.endsWith(".") ? name.slice(0, -1) : name;
}

/** What stands behind a rule that takes everything is never asked. */
function untilFree(plan: readonly RuleMatch[]): Plan {
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
  return b.patternLength - a.patternLength || a.order - b.order;
}

/** Lists a rule under an entry; `many` are the lists that hold several, and want sorting. */
function listIn(
  lists: Map<string, RuleMatch[]>,
  entry: string,
  match: RuleMatch,
  many: RuleMatch[][],
): void {
  const list = lists.get(entry);
  if (list === undefined) {
    lists.set(entry, [match]);
    return;
  }
  if (list.push(match) === 2) many.push(list);
}

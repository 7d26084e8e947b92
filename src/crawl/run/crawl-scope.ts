/**
 * Which hosts belong to a crawl: domains that were named, or those of the seeds, each with all below it. A frontier that has
 * no rules gets one that matches just them, so that the rest is refused (`no-rule`) before anything else is asked.
 *
 *   said        new frontier            one that goes on under rules of its own
 *   nothing     the seeds' domains      its rules, and the domains of seeds that none of them takes
 *   domains     those                   those alone
 *   "any"       all                     its other rules, and one for all the rest
 *
 *   I1  Without being told to, nothing that belonged to a crawl ceases to.
 */
import type { Frontier, RequestLike, Rule } from "../../index.ts";

/** Name of the rule that a crawl makes; `scope-2` and so on where another took the place of one: what stood under that is matched again. */
const SCOPE_RULE = "scope";
const SCOPE_RULES = /^scope(?:-(\d+))?$/;

/** How the scope of a crawl that continues has changed. */
export interface ScopeChange {
  /** Domains that belong to it now; `"any"`: all. */
  readonly domains: readonly string[] | "any";
  /** Domains that did not belong to it before. */
  readonly joined: readonly string[];
  /** Domains and rules that belonged to it before and no longer do. */
  readonly left: readonly string[];
}

interface Scope {
  /** The whole set to take; undefined: what is in force stays. */
  readonly rules: Rule[] | undefined;
  readonly change: ScopeChange | undefined;
}

/** A seed once it was read: a URL is text. */
export type Seed = Exclude<RequestLike, URL>;

/** What the scope asks for, by the rules that are in force. */
export function scopeOf(
  frontier: Pick<Frontier, "rules" | "explain">,
  scope: readonly string[] | "any" | undefined,
  seeds: readonly Seed[],
): Scope {
  const stored = frontier.rules();
  if (stored === undefined) {
    const domains = scope ?? domainsOf(frontier, seeds);
    const isAll = domains === "any" || domains.length === 0;
    return { rules: isAll ? undefined : [ruleFor(SCOPE_RULE, domains)], change: undefined };
  }
  const own = ownScope(stored);
  const others = stored.filter((rule) => rule !== own);
  const id = own?.id ?? freeName(1, stored);
  const before = own?.match?.domains ?? [];
  const isAll = own !== undefined && before.length === 0;
  if (scope === "any") {
    if (isAll) return SAME;
    const change = { domains: scope, joined: [], left: [] };
    return { rules: [...others, { id }], change };
  }
  if (scope !== undefined) return narrowedTo(scope, { id, before, isAll, others, stored });
  const joined = domainsOf(frontier, seeds, "no-rule");
  if (joined.length === 0) return SAME;
  const domains = [...before, ...joined];
  return { rules: [...others, ruleFor(id, domains)], change: { domains, joined, left: [] } };
}

const SAME: Scope = Object.freeze({ rules: undefined, change: undefined });

interface Standing {
  readonly id: string;
  readonly before: readonly string[];
  readonly isAll: boolean;
  readonly others: readonly Rule[];
  /** All that are in force. */
  readonly stored: readonly Rule[];
}

/** The rule that a crawl has made, among those in force. */
export function ownScope(rules: readonly Rule[]): Rule | undefined {
  return rules.find(isOwn);
}

/** Whether a crawl has made a rule: one of the user's that goes by such a name says more than domains. */
function isOwn({ id, match = {}, ...rest }: Rule): boolean {
  const { domains: _, ...more } = match;
  return SCOPE_RULES.test(id) && Object.keys({ ...more, ...rest }).length === 0;
}

/** The first name of a scope's rule, from a number on, that no rule has. */
function freeName(from: number, rules: readonly Rule[]): string {
  let name = "";
  for (let number = from; name === "" || rules.some(({ id }) => id === name); number++) {
    name = number === 1 ? SCOPE_RULE : `${SCOPE_RULE}-${number}`;
  }
  return name;
}

function narrowedTo(domains: readonly string[], standing: Standing): Scope {
  const { id, before, isAll, others, stored } = standing;
  const joined = isAll ? [] : domains.filter((domain) => !before.includes(domain));
  const left = [
    ...before.filter((domain) => !domains.includes(domain)),
    ...(isAll ? ["the whole web"] : []),
    ...others.map(({ id }) => `rule ${id}`),
  ];
  if (joined.length + left.length === 0) return SAME;
  const next = Number(SCOPE_RULES.exec(id)?.[1] ?? 1) + 1;
  const name = left.length === 0 ? id : freeName(next, stored);
  return { rules: [ruleFor(name, domains)], change: { domains, joined, left } };
}

/**
 * Returns rules restricted to domains. Rules that would take nothing are left out; without domains all stay. Costs a copy of each rule.
 *
 * @example
 * const rules = withinScope([{ id: "news" }], ["example.org"]);
 * rules[0].match; // { domains: ["example.org"] }
 */
export function withinScope(
  rules: readonly Rule[],
  scope: readonly string[] | "any" | undefined,
): Rule[] {
  // What is no list of rules is told by who takes it.
  if (scope === undefined || scope === "any" || !Array.isArray(rules)) return rules as Rule[];
  if (scope.length === 0) return [];
  const within = (host: string): boolean => scope.some((domain) => isUnder(host, domain));
  return rules.flatMap((rule) => {
    const { hosts = [], domains = [] } = (rule as Rule | null)?.match ?? {};
    if (!isTexts(hosts) || !isTexts(domains)) return [rule];
    if (hosts.length + domains.length === 0) {
      return [{ ...rule, match: { ...rule?.match, domains: [...scope] } }];
    }
    const kept = {
      hosts: hosts.filter(within),
      domains: [
        ...domains.filter(within),
        ...scope.filter((each) =>
          domains.some((domain) => isUnder(each, domain) && !isUnder(domain, each)),
        ),
      ],
    };
    if (kept.hosts.length + kept.domains.length === 0) return [];
    return [{ ...rule, match: { ...rule.match, ...kept } }];
  });
}

function isTexts(given: unknown): given is string[] {
  return Array.isArray(given) && given.every((each) => typeof each === "string");
}

function isUnder(host: string, domain: string): boolean {
  const [below, above] = [bareOf(host), bareOf(domain)];
  return below === above || below.endsWith(`.${above}`);
}

/** A host without its port, a domain without the dot that may stand before it. */
function bareOf(host: string): string {
  return host.toLowerCase().replace(/^\.|:\d+$/g, "");
}

function ruleFor(id: string, domains: readonly string[]): Rule {
  return { id, match: { domains: [...domains] } };
}

/** Of seeds, or of those that are refused for this reason. Of a seed its URL alone says where it is. */
function domainsOf(
  frontier: Pick<Frontier, "explain">,
  seeds: readonly Seed[],
  reason?: string,
): string[] {
  const domains = new Set<string>();
  for (const seed of seeds) {
    const url = typeof seed === "string" ? seed : seed?.url;
    const { domain, verdict } = frontier.explain({ url });
    if (domain === undefined) continue;
    if (reason === undefined || verdict.reason === reason) domains.add(domain);
  }
  return [...domains];
}

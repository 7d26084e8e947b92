/**
 * Which hosts belong to a crawl: domains that were named, or those of the seeds, each with all below it. A frontier that has
 * no rules gets one that matches just them, so that the rest is refused (`no-rule`) before anything else is asked.
 *
 *   option      new frontier            one that goes on under rules of its own
 *   nothing     the seeds' domains      its rules, and the domains of seeds that none of them takes
 *   domains     those                   those alone
 *   "any"       all                     its other rules, and one for all the rest
 *
 *   I1  What belonged to a crawl belongs to it until an option excludes it.
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

/** A scope by one word. */
export type ScopeWord = "any" | "same-domain" | "same-host" | "path-prefix";

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
  /** The frontier outlives the crawl, so the scope "any" is stored as a rule. */
  isKept = false,
): Scope {
  const stored = frontier.rules();
  if (stored === undefined) {
    const domains = scope ?? domainsOf(frontier, seeds);
    const isAll = domains === "any" || domains.length === 0;
    const isChosen = scope === "any" && isKept;
    const all = isChosen ? [{ id: SCOPE_RULE }] : undefined;
    return { rules: isAll ? all : [ruleFor(SCOPE_RULE, domains)], change: undefined };
  }
  const own = stored.find(isOwn);
  const others = stored.filter((rule) => rule !== own);
  const id = own?.id ?? freeName(1, stored);
  const before = entriesOf(own);
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
  if (![undefined, HOSTS_ALONE].includes(own?.match?.pattern)) {
    // Folders of hosts stay what they are; what joins them stands under a rule of its own.
    const rules = [...stored, ruleFor(freeName(2, stored), joined)];
    return { rules, change: { domains, joined, left: [] } };
  }
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

/** What the rules that a crawl has made take, as `scope` names it, and `=host` for one host alone; undefined: it has made none. */
export function ownEntries(rules: readonly Rule[]): readonly string[] | "any" | undefined {
  const own = rules.filter(isOwn).map(entriesOf);
  if (own.length === 0) return undefined;
  return own.some((entries) => entries.length === 0) ? "any" : own.flat();
}

/** Whether a crawl has made a rule: a user's rule of that name has other fields beside the domains. */
function isOwn({ id, match = {}, ...rest }: Rule): boolean {
  const { domains: _, hosts = [], pattern = "", ...more } = match;
  if ((hosts.length > 0 || pattern !== "") && !pattern.startsWith(FOLDERS_START)) return false;
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
  // A value that is no list of rules is reported where it is used.
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

/** How the pattern of a rule begins that takes URLs by their beginning, and the one by which a rule of hosts alone is known as ours. */
const FOLDERS_START = "^(?:";
const HOSTS_ALONE = "^(?:)";

/** Of a list of folders, or of domains and hosts. */
function ruleFor(id: string, entries: readonly string[]): Rule {
  const folders = entries.filter((entry) => entry.includes("://"));
  if (folders.length > 0) {
    const hosts = [...new Set(folders.map((folder) => new URL(folder).host))];
    return { id, match: { hosts, pattern: `${FOLDERS_START}${folders.map(literal).join("|")})` } };
  }
  const hosts = entries.filter(isHost).map((entry) => entry.replace(/^=/, ""));
  const domains = entries.filter((entry) => !isHost(entry));
  return {
    id,
    match: {
      ...(hosts.length === 0 ? {} : { hosts, pattern: HOSTS_ALONE }),
      ...(domains.length === 0 ? {} : { domains }),
    },
  };
}

/** One host alone, as `same-host` makes it, or one that is named with its port. */
function isHost(entry: string): boolean {
  return entry.startsWith("=") || /:\d+$/.test(entry);
}

/** What the rule of a scope was made of. */
function entriesOf(rule: Rule | undefined): string[] {
  const { domains = [], hosts = [], pattern } = rule?.match ?? {};
  if (pattern === undefined || pattern === HOSTS_ALONE) {
    return [...domains, ...hosts.map((host) => (/:\d+$/.test(host) ? host : `=${host}`))];
  }
  const folders = pattern.slice(FOLDERS_START.length, -1).split("|");
  return folders.map((folder) => folder.replaceAll(/\\(.)/g, "$1"));
}

function literal(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
}

/** The hosts of seeds, each for itself. */
export function hostsOf(seeds: readonly Seed[]): string[] {
  return [...new Set(urlsOf(seeds).map(({ host }) => `=${host}`))];
}

/** The folders that seeds lie in. */
export function foldersOf(seeds: readonly Seed[]): string[] {
  return [...new Set(urlsOf(seeds).map((url) => new URL(".", url).href))];
}

/** A plan may hold seeds that are not URLs. */
function urlsOf(seeds: readonly Seed[]): URL[] {
  const texts = seeds.map((seed) => (typeof seed === "string" ? seed : seed.url));
  return texts.filter((text) => URL.canParse(text)).map((text) => new URL(text));
}

/** The domains of the seeds, or of those that are refused for this reason. Only a seed's URL decides its domain. */
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

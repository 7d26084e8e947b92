/**
 * Rules as a user gives them, checked whole before anything changes, with every default filled in. Only active ones are
 * kept, in their order. What is wrong is RULE_INVALID and names the rule, the field, the value and what was expected.
 *
 *   field      default         meaning
 *   match      everything      hosts or domains (either), pattern, schemes: all that are given must fit
 *   share      1, 0            rate = (100 + weight) / priority
 *   seeds      none            templates (url/seed.ts), pushed when the rule first appears
 *   every      never           … and again each time so long has passed
 *   the rest   `defaults`      a field that a rule gives replaces that of `defaults` whole
 */
import { DURATION_EXPECTED, durationMs } from "../base/duration.ts";
import { FrontierError, misuse } from "../base/errors.ts";
import { normalDomain, normalHost } from "../url/host-pattern.ts";
import { type RuleMatch, SCHEME_HTTP, SCHEME_HTTPS, SCHEMES_ALL } from "../url/matcher.ts";
import { type NormalPolicy, normalizePolicy } from "../url/policy.ts";
import { expandSeed } from "../url/seed.ts";
import { checkEpochMode } from "./epoch-policy.ts";
import {
  checkObject,
  flag,
  type FrontierPolicy,
  normalizeRulePolicy,
  POLICY_FIELDS,
  type Rule,
  type RulePolicy,
} from "./policy.ts";

/** Most rules of a set, and most entries of one of a rule's lists. */
export const RULES_MAX = 100_000;
const LIST_MAX = 100_000;
const ID_LENGTH_MAX = 200;
const PATTERN_LENGTH_MAX = 10_000;
/** A re-seed period below this would be a loop. */
const EVERY_MS_MIN = 1;

type SeenMode = "exact" | "tiered" | "bloom";

/** A checked set: the active rules in their order, and where each id stands. */
export interface RuleList {
  readonly specs: readonly RuleSpec[];
  /** Place among `specs` by id; NOT_ACTIVE: it is there, and not active. */
  readonly orders: ReadonlyMap<string, number>;
}

export interface RuleSpec {
  readonly id: string;
  readonly policy: FrontierPolicy;
  readonly key: NormalPolicy;
  readonly rate: number;
  readonly match: RuleMatch;
  readonly seeds: readonly string[];
  readonly everyMs: number | undefined;
}

const NOT_ACTIVE = -1;

const NOTHING: readonly string[] = Object.freeze([]);
const NO_FIELDS = Object.freeze({});
/** The rate of a rule that says nothing of its share. */
const USUAL_RATE = 100;

const RULE_FIELDS = ["id", "active", "match", "share", "seeds", "every", ...POLICY_FIELDS];
const MATCH_FIELDS = ["hosts", "domains", "pattern", "schemes"];

/** What the entries of a list must be, and how they are kept. */
interface Entry {
  readonly expected: string;
  readonly read: (text: string) => string | undefined;
}

const HOST: Entry = {
  expected: "a host such as 'www.example.com', with or without a port",
  read: normalHost,
};
const DOMAIN: Entry = {
  expected: "a domain such as 'example.com', for itself and all below it",
  read: normalDomain,
};
const SCHEME: Entry = {
  expected: "'http' or 'https'",
  read: (text) => (text === "http" || text === "https" ? text : undefined),
};
const SEED: Entry = {
  expected: "a URL or a seed template such as 'http://x/[1-3]'",
  read: templateOf,
};

/** The one rule of a frontier that was given none: it takes everything. */
export function defaultRule(policy: FrontierPolicy, key: NormalPolicy): RuleList {
  const id = "default";
  const match = matchOf(NO_FIELDS, 0);
  const spec = { id, policy, key, rate: USUAL_RATE, match, seeds: NOTHING, everyMs: undefined };
  return { specs: [spec], orders: new Map([[id, 0]]) };
}

/** Checks a whole set; throws RULE_INVALID at the first field that is wrong. */
export function normalizeRules(given: unknown, defaults: RulePolicy, mode: SeenMode): RuleList {
  if (!Array.isArray(given)) throw misuse("RULE_INVALID", "rules", given, "a list of rules");
  if (given.length > RULES_MAX) {
    throw misuse("RULE_INVALID", "rules", `${given.length} rules`, `at most ${RULES_MAX}`);
  }
  const orders = new Map<string, number>();
  const specs: RuleSpec[] = [];
  const setting: Setting = { defaults, mode, usual: undefined, keys: new Map() };
  for (let index = 0; index < given.length; index++) {
    const id = idOf(given[index], index);
    const spec = specOf(id, given[index] as Rule, setting, specs.length);
    const known = orders.size;
    orders.set(id, spec === undefined ? NOT_ACTIVE : specs.length);
    if (orders.size === known) {
      throw misuse("RULE_INVALID", `rule '${id}'.id`, id, "an id of its own");
    }
    if (spec !== undefined) specs.push(spec);
  }
  return { specs, orders };
}

function idOf(rule: unknown, index: number): string {
  if (typeof rule !== "object" || rule === null || Array.isArray(rule)) {
    throw misuse("RULE_INVALID", `rules[${index}]`, rule, "an object");
  }
  const { id } = rule as { id: unknown };
  if (typeof id === "string" && id !== "" && id.length <= ID_LENGTH_MAX) return id;
  const expected = `a text of 1 to ${ID_LENGTH_MAX} characters`;
  throw misuse("RULE_INVALID", `rules[${index}].id`, id, expected);
}

/** What the rules of a set have in common. */
interface Setting {
  readonly defaults: RulePolicy;
  readonly mode: SeenMode;
  /** Rules that give no policy of their own share this one, which then stays in the caches. */
  usual: Terms | undefined;
  /** Key policies by what they say, so that a batch is keyed at once where it can be. */
  readonly keys: Map<string, NormalPolicy>;
}

interface Terms {
  readonly policy: FrontierPolicy;
  readonly key: NormalPolicy;
}

/**
 * One rule; undefined: it is not active, but checked all the same. The names of fields begin behind the rule's, which is put
 * before them only where one is wrong: sets of very many rules are taken in one call.
 */
function specOf(id: string, rule: Rule, setting: Setting, order: number): RuleSpec | undefined {
  try {
    checkObject(rule, "", RULE_FIELDS);
    const { policy, key } = termsOf(rule, setting);
    const { share, match, seeds, every, active = true } = rule;
    const spec: RuleSpec = {
      id,
      policy,
      key,
      rate: share === undefined ? USUAL_RATE : rateOf(share, ".share"),
      match: matchOf(match ?? NO_FIELDS, order),
      seeds: seeds === undefined ? NOTHING : eachOf(seeds, ".seeds", SEED),
      everyMs: every === undefined ? undefined : everyOf(every, ".every"),
    };
    return flag(active, ".active") ? spec : undefined;
  } catch (cause) {
    throw named(id, cause);
  }
}

/** Whatever the checks of one rule throw, says which rule. */
function named(id: string, cause: unknown): FrontierError {
  if (!(cause instanceof FrontierError)) {
    const message = `rule '${id}': unreadable (expected: plain data)`;
    return new FrontierError("RULE_INVALID", message, { cause });
  }
  const details = cause.details as { readonly name: string };
  const name = `rule '${id}'${details.name}`;
  const message = `rule '${id}'${cause.message}`;
  return new FrontierError("RULE_INVALID", message, { rule: id, ...details, name });
}

/** The policy of a rule, filled in from the defaults, and its key policy. */
function termsOf(rule: Rule, setting: Setting): Terms {
  let own: RulePolicy | undefined;
  for (let at = 0; at < POLICY_FIELDS.length; at++) {
    const field = POLICY_FIELDS[at] as keyof RulePolicy;
    const value: unknown = rule[field];
    if (value !== undefined) own = { ...(own ?? setting.defaults), [field]: value };
  }
  if (own === undefined && setting.usual !== undefined) return setting.usual;
  const policy = normalizeRulePolicy(own ?? setting.defaults, "");
  checkEpochMode(policy.epoch, setting.mode, ".epoch");
  const key = shared(setting.keys, normalizePolicy(policy.key ?? {}, ".key"));
  const terms = { policy, key };
  if (own === undefined) setting.usual = terms;
  return terms;
}

function rateOf(share: NonNullable<Rule["share"]>, path: string): number {
  checkObject(share, path, ["priority", "weight"]);
  const { priority = 1, weight = 0 } = share;
  // 0 would make a rate without bound, and starve everybody.
  if (!(Number.isFinite(priority) && priority > 0)) {
    throw misuse("RULE_INVALID", `${path}.priority`, priority, "a number above 0");
  }
  if (!(Number.isFinite(weight) && weight > -100)) {
    throw misuse("RULE_INVALID", `${path}.weight`, weight, "a number above -100");
  }
  const rate = (100 + weight) / priority;
  if (Number.isFinite(rate) && rate >= 1e-9 && rate <= 1e12) return rate;
  const expected = "(100 + weight) / priority between 1e-9 and 1e12";
  throw misuse("RULE_INVALID", path, { priority, weight }, expected);
}

function matchOf(match: NonNullable<Rule["match"]>, order: number): RuleMatch {
  checkObject(match, ".match", MATCH_FIELDS);
  const { hosts, domains, pattern, schemes } = match;
  return {
    order,
    hosts: hosts === undefined ? NOTHING : eachOf(hosts, ".match.hosts", HOST),
    domains: domains === undefined ? NOTHING : eachOf(domains, ".match.domains", DOMAIN),
    pattern: pattern === undefined ? undefined : patternOf(pattern, ".match.pattern"),
    patternLength: pattern?.length ?? 0,
    schemes: schemes === undefined ? SCHEMES_ALL : schemesOf(schemes, ".match.schemes"),
  };
}

function schemesOf(given: unknown, path: string): number {
  const schemes = eachOf(given, path, SCHEME);
  if (schemes.length === 0) return SCHEMES_ALL;
  return schemes.reduce((all, s) => all | (s === "https" ? SCHEME_HTTPS : SCHEME_HTTP), 0);
}

function patternOf(pattern: unknown, path: string): RegExp {
  if (typeof pattern === "string" && pattern !== "" && pattern.length <= PATTERN_LENGTH_MAX) {
    const compiled = compiledOf(pattern, "u") ?? compiledOf(pattern, "");
    if (compiled !== undefined) return compiled;
  }
  throw misuse("RULE_INVALID", path, pattern, "the source of an ECMAScript pattern");
}

function compiledOf(pattern: string, flags: string): RegExp | undefined {
  try {
    return new RegExp(pattern, flags);
  } catch {
    return undefined;
  }
}

function templateOf(template: string): string | undefined {
  if (template === "") return undefined;
  try {
    expandSeed(template);
    return template;
  } catch {
    return undefined;
  }
}

function everyOf(every: unknown, path: string): number {
  const ms = durationMs(every);
  if (ms !== undefined && ms >= EVERY_MS_MIN) return ms;
  throw misuse("RULE_INVALID", path, every, `more than 0 ${DURATION_EXPECTED}`);
}

/** The entries of a list, each once, as `read` writes them. */
function eachOf(given: unknown, path: string, { expected, read }: Entry): readonly string[] {
  if (!Array.isArray(given) || given.length > LIST_MAX) {
    throw misuse("RULE_INVALID", path, given, `a list of at most ${LIST_MAX}`);
  }
  const texts: string[] = [];
  for (let index = 0; index < given.length; index++) {
    const text: unknown = given[index];
    const entry = typeof text === "string" ? read(text) : undefined;
    if (entry === undefined) throw misuse("RULE_INVALID", `${path}[${index}]`, text, expected);
    texts.push(entry);
  }
  return texts.length < 2 ? texts : [...new Set(texts)];
}

/** Equal key policies become one object. A function is its own key: two of them may never be taken for one. */
function shared(keys: Map<string, NormalPolicy>, key: NormalPolicy): NormalPolicy {
  if (key.keyOf !== undefined) return key;
  const text = JSON.stringify(key);
  const known = keys.get(text);
  if (known === undefined) keys.set(text, key);
  return known ?? key;
}

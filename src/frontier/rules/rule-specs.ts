/**
 * Rules as a user writes them, checked as a whole before anything changes, with every default filled in. Only active ones are kept, in
 * their order. What is wrong is RULE_INVALID and names the rule, the field, the value and what was expected.
 *
 *   field      default         meaning
 *   match      everything      hosts or domains (either), pattern, schemes: all that are given must fit
 *   share      1, 0            rate = (100 + weight) / priority
 *   seeds      none            templates (url/parsing/seed-templates.ts), pushed when the rule first appears
 *   every      never           … and again each time so long has passed
 *   the rest   `defaults`      a field of a rule replaces that of `defaults` as a whole
 *
 * Sets of very many rules are checked in one call, mostly by code that has not run often: a field is read because the rule
 * has it, and what is the same in many rules is one object.
 */
import { DURATION_EXPECTED, durationMs } from "../../base/time/duration.ts";
import { FrontierError, misuse } from "../../base/errors.ts";
import { checkNames, type Field, kind, shape, TRUTH } from "../../base/fields.ts";
import { compileUrlPattern, type UrlPattern } from "../../base/pattern/url-pattern.ts";
import { isList, isObject } from "../../base/type-guards.ts";
import { isRecord } from "../../base/serializable.ts";
import { normalDomain, normalHost } from "../../url/matching/host-pattern.ts";
import {
  type RuleMatch,
  SCHEME_HTTP,
  SCHEME_HTTPS,
  SCHEMES_ALL,
} from "../../url/matching/rule-matcher.ts";
import type { NormalPolicy } from "../../url/keys/key-policy.ts";
import { expandSeed } from "../../url/parsing/seed-templates.ts";
import { type FrontierPolicy, POLICY_FIELDS, type Rule, type RulePolicy } from "./rule-policy.ts";
import { createSetting, type Setting, termsOf, usualTerms } from "./rule-terms.ts";

/** Most rules of a set, and most entries of one of a rule's lists. */
const RULES_MAX = 100_000;
const LIST_MAX = 100_000;
const ID_LENGTH_MAX = 200;
const PATTERN_LENGTH_MAX = 10_000;
/** A re-seed period below this would be a loop. */
const EVERY_MS_MIN = 1;

/** A checked set: the active rules in their order, and where each id stands. */
export interface RuleList {
  readonly specs: readonly RuleSpec[];
  /** Place among `specs` by id; NOT_ACTIVE: it is there, and not active. */
  readonly orders: ReadonlyMap<string, number>;
}

export interface RuleSpec extends RuleMatch {
  readonly id: string;
  readonly policy: FrontierPolicy;
  readonly key: NormalPolicy;
  readonly rate: number;
  readonly seeds: readonly string[];
  readonly everyMs: number | undefined;
  /** Its share and its own policy as they were given, copied; undefined: they were not. */
  readonly share: Rule["share"];
  readonly own: RulePolicy | undefined;
}

const NOT_ACTIVE = -1;

const NOTHING: readonly string[] = Object.freeze([]);
const NO_FIELDS: NonNullable<Rule["match"]> = Object.freeze({});
/** The rate of a rule that sets no share. */
const USUAL_RATE = 100;

const PLAIN_FIELDS = ["id", "match", "seeds", "every", "active", "share"];
const RULE_FIELDS = [...PLAIN_FIELDS, ...POLICY_FIELDS];
/** The place named where a name is not known; the rule's own name comes before. */
const OF_RULE = { name: "", code: "RULE_INVALID" } as const;
const OF_MATCH = { name: ".match", code: "RULE_INVALID" } as const;
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
  const lists = { hosts: NOTHING, domains: NOTHING, seeds: NOTHING };
  const match = { order: 0, pattern: undefined, patternText: "", schemes: SCHEMES_ALL };
  const rest = { rate: USUAL_RATE, everyMs: undefined, share: undefined, own: undefined };
  const spec = { id, policy, key, ...match, ...lists, ...rest };
  return { specs: [spec], orders: new Map([[id, 0]]) };
}

/** The active rules of a set, as a caller would pass them again. Their lists and objects are the set's own: to be read alone. */
export function givenRules(specs: readonly RuleSpec[]): Rule[] {
  return specs.map((spec) => {
    const { id, seeds, everyMs, share, own } = spec;
    return {
      id,
      match: givenMatch(spec),
      ...(seeds.length > 0 ? { seeds: seeds as string[] } : {}),
      ...(everyMs === undefined ? {} : { every: everyMs }),
      ...(share === undefined ? {} : { share }),
      ...own,
    };
  });
}

function givenMatch(match: RuleMatch): NonNullable<Rule["match"]> {
  const { hosts, domains, patternText, schemes } = match;
  return {
    ...(hosts.length > 0 ? { hosts: hosts as string[] } : {}),
    ...(domains.length > 0 ? { domains: domains as string[] } : {}),
    ...(patternText === "" ? {} : { pattern: patternText }),
    ...(schemes === SCHEMES_ALL ? {} : { schemes: [schemes === SCHEME_HTTP ? "http" : "https"] }),
  };
}

/** Checks a whole set; throws RULE_INVALID at the first field that is wrong. */
export function normalizeRules(
  given: unknown,
  defaults: RulePolicy,
  mode: Setting["mode"],
): RuleList {
  if (!isList(given)) throw misuse("RULE_INVALID", "rules", given, "a list of rules");
  if (given.length > RULES_MAX) {
    throw misuse("RULE_INVALID", "rules", `${given.length} rules`, `at most ${RULES_MAX}`);
  }
  const orders = new Map<string, number>();
  const specs: RuleSpec[] = [];
  const setting = createSetting(defaults, mode);
  for (let index = 0; index < given.length; index++) {
    const id = idOf(given[index], index);
    const spec = specOf(id, given[index] as Rule, setting, specs.length);
    const known = orders.size;
    orders.set(id, spec === undefined ? NOT_ACTIVE : specs.length);
    if (orders.size === known) {
      throw misuse("RULE_INVALID", `rule '${id}'.id`, id, "an id that no other rule has");
    }
    if (spec !== undefined) specs.push(spec);
  }
  return { specs, orders };
}

function idOf(rule: unknown, index: number): string {
  if (!isObject(rule)) {
    throw misuse("RULE_INVALID", `rules[${index}]`, rule, "an object");
  }
  const { id } = rule as { id: unknown };
  if (typeof id === "string" && id !== "" && id.length <= ID_LENGTH_MAX) return id;
  const expected = `a string of 1 to ${ID_LENGTH_MAX} characters`;
  throw misuse("RULE_INVALID", `rules[${index}].id`, id, expected);
}

/**
 * One rule; undefined: it is not active, but checked all the same. The names of fields begin behind the rule's, which is put
 * before them only where one is wrong: sets of very many rules are taken in one call.
 */
function specOf(id: string, rule: Rule, setting: Setting, order: number): RuleSpec | undefined {
  try {
    const last = checkNames(rule, RULE_FIELDS, OF_RULE);
    const isPlain = last < PLAIN_FIELDS.length && isRecord(rule);
    const { policy, key, own } = isPlain ? usualTerms(setting) : termsOf(rule, setting);
    const { match = NO_FIELDS, seeds, every, active = true, share } = rule;
    if (!isObject(match)) throw misuse("RULE_INVALID", ".match", match, "an object");
    checkNames(match, MATCH_FIELDS, OF_MATCH);
    const { hosts, domains, pattern, schemes } = match;
    const spec: RuleSpec = {
      id,
      order,
      hosts: hosts === undefined ? NOTHING : eachOf(hosts, ".match.hosts", HOST),
      domains: domains === undefined ? NOTHING : eachOf(domains, ".match.domains", DOMAIN),
      pattern: pattern === undefined ? undefined : patternOf(pattern, ".match.pattern"),
      patternText: pattern ?? "",
      schemes: schemes === undefined ? SCHEMES_ALL : schemesOf(schemes),
      policy,
      key,
      rate: share === undefined ? USUAL_RATE : rateOf(share, ".share"),
      seeds: seeds === undefined ? NOTHING : eachOf(seeds, ".seeds", SEED),
      everyMs: every === undefined ? undefined : everyOf(every, ".every"),
      share: share === undefined ? undefined : { ...share },
      own,
    };
    return TRUTH(active, ".active", "RULE_INVALID") ? spec : undefined;
  } catch (cause) {
    throw named(id, cause);
  }
}

/** Whatever the checks of one rule throw, with the name of the rule. */
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

const readShare = shape<NonNullable<Rule["share"]>>({
  // 0 would make a rate without bound, and starve everybody.
  priority: above(0),
  weight: above(-100),
});

function above(least: number): Field<number> {
  return kind(
    `a number above ${least}`,
    (value) => Number.isFinite(value) && (value as number) > least,
  );
}

function rateOf(share: NonNullable<Rule["share"]>, path: string): number {
  const { priority = 1, weight = 0 } = readShare(share, path, "RULE_INVALID");
  const rate = (100 + weight) / priority;
  if (Number.isFinite(rate) && rate >= 1e-9 && rate <= 1e12) return rate;
  const expected = "weight and priority with (100 + weight) / priority between 1e-9 and 1e12";
  throw misuse("RULE_INVALID", path, { priority, weight }, expected);
}

function schemesOf(given: unknown): number {
  const schemes = eachOf(given, ".match.schemes", SCHEME);
  if (schemes.length === 0) return SCHEMES_ALL;
  return schemes.reduce((all, s) => all | (s === "https" ? SCHEME_HTTPS : SCHEME_HTTP), 0);
}

function patternOf(pattern: unknown, path: string): UrlPattern {
  if (typeof pattern === "string" && pattern !== "" && pattern.length <= PATTERN_LENGTH_MAX) {
    const compiled = compiledOf(pattern, "u") ?? compiledOf(pattern, "");
    if (typeof compiled === "string") throw misuse("RULE_INVALID", path, pattern, compiled);
    if (compiled !== undefined) return compiled;
  }
  throw misuse("RULE_INVALID", path, pattern, "the source of an ECMAScript pattern");
}

/** A string is why a pattern is refused; undefined: it is none. */
function compiledOf(pattern: string, flags: string): UrlPattern | string | undefined {
  try {
    return compileUrlPattern(pattern, flags);
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
function eachOf(given: unknown, path: string, entry: Entry): readonly string[] {
  if (!isList(given) || given.length > LIST_MAX) {
    throw misuse("RULE_INVALID", path, given, `a list of at most ${LIST_MAX}`);
  }
  if (given.length === 1) return [entryOf(given, 0, path, entry)]; // nearly every list
  const texts: string[] = [];
  for (let index = 0; index < given.length; index++) {
    texts.push(entryOf(given, index, path, entry));
  }
  return texts.length < 2 ? texts : [...new Set(texts)];
}

function entryOf(given: readonly unknown[], index: number, path: string, entry: Entry): string {
  const text = given[index];
  const read = typeof text === "string" ? entry.read(text) : undefined;
  if (read !== undefined) return read;
  throw misuse("RULE_INVALID", `${path}[${index}]`, text, entry.expected);
}

/** Sets that come without a version are counted. */
export function nextVersion(version: number | string): number {
  return typeof version === "number" ? version + 1 : 1;
}

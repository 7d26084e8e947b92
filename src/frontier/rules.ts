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

export interface RuleSpec {
  readonly id: string;
  readonly policy: FrontierPolicy;
  readonly key: NormalPolicy;
  readonly rate: number;
  readonly match: RuleMatch;
  readonly seeds: readonly string[];
  readonly everyMs: number | undefined;
}

const MATCH_ALL: RuleMatch = { hosts: [], domains: [], pattern: undefined, schemes: SCHEMES_ALL };

const RULE_FIELDS = ["id", "active", "match", "share", "seeds", "every", ...POLICY_FIELDS];

/** The one rule of a frontier that was given none: it takes everything. */
export function defaultRule(policy: FrontierPolicy, key: NormalPolicy): RuleSpec {
  return {
    id: "default",
    policy,
    key,
    rate: 100,
    match: MATCH_ALL,
    seeds: [],
    everyMs: undefined,
  };
}

/** Checks a whole set; throws RULE_INVALID at the first field that is wrong. */
export function normalizeRules(given: unknown, defaults: RulePolicy, mode: SeenMode): RuleSpec[] {
  if (!Array.isArray(given)) throw misuse("RULE_INVALID", "rules", given, "a list of rules");
  if (given.length > RULES_MAX) {
    throw misuse("RULE_INVALID", "rules", `${given.length} rules`, `at most ${RULES_MAX}`);
  }
  const ids = new Set<string>();
  const keys = new Map<unknown, NormalPolicy>();
  const specs: RuleSpec[] = [];
  // Rules that give no policy of their own share one object, which then stays in the caches.
  const usual = new Map<"policy", FrontierPolicy>();
  for (let index = 0; index < given.length; index++) {
    const id = idOf(given[index], index);
    if (ids.has(id)) throw misuse("RULE_INVALID", `rule '${id}'.id`, id, "an id of its own");
    ids.add(id);
    const spec = named(id, () => specOf(id, given[index] as Rule, { defaults, mode, usual }));
    if (spec !== undefined) specs.push({ ...spec, key: shared(keys, spec.key) });
  }
  return specs;
}

function idOf(rule: unknown, index: number): string {
  const name = `rules[${index}]`;
  if (typeof rule !== "object" || rule === null || Array.isArray(rule)) {
    throw misuse("RULE_INVALID", name, rule, "an object");
  }
  const { id } = rule as { id: unknown };
  if (typeof id === "string" && id !== "" && id.length <= ID_LENGTH_MAX) return id;
  throw misuse("RULE_INVALID", `${name}.id`, id, `a text of 1 to ${ID_LENGTH_MAX} characters`);
}

/** Whatever the checks of one rule throw, says which rule. */
function named<T>(id: string, check: () => T): T {
  try {
    return check();
  } catch (cause) {
    if (cause instanceof FrontierError) {
      if (cause.code === "UNSUPPORTED") throw cause;
      const details = typeof cause.details === "object" ? cause.details : {};
      throw new FrontierError("RULE_INVALID", cause.message, { rule: id, ...details });
    }
    throw new FrontierError("RULE_INVALID", `rule '${id}': unreadable (expected: plain data)`, {
      cause,
    });
  }
}

/** What the rules of a set have in common. */
interface Setting {
  readonly defaults: RulePolicy;
  readonly mode: SeenMode;
  /** The policy of rules that give none, once it is known. */
  readonly usual: Map<"policy", FrontierPolicy>;
}

/** One rule; undefined: it is not active, but checked all the same. */
function specOf(id: string, rule: Rule, { defaults, mode, usual }: Setting): RuleSpec | undefined {
  const path = `rule '${id}'`;
  checkObject(rule, path, RULE_FIELDS);
  const own: Record<string, unknown> = { ...defaults };
  for (const field of POLICY_FIELDS) {
    const value: unknown = rule[field as keyof RulePolicy];
    if (value !== undefined) own[field] = value;
  }
  const isUsual = POLICY_FIELDS.every((field) => rule[field as keyof RulePolicy] === undefined);
  const known = isUsual ? usual.get("policy") : undefined;
  const policy = known ?? normalizeRulePolicy(own as RulePolicy, path);
  if (isUsual) usual.set("policy", policy);
  checkEpochMode(policy.epoch, mode, `${path}.epoch`);
  const spec: RuleSpec = {
    id,
    policy,
    key: normalizePolicy(policy.key ?? {}, `${path}.key`),
    rate: rateOf(rule.share, `${path}.share`),
    match: matchOf(rule.match, `${path}.match`),
    seeds: seedsOf(rule.seeds, `${path}.seeds`),
    everyMs: everyOf(rule.every, `${path}.every`),
  };
  return flag(rule.active ?? true, `${path}.active`) ? spec : undefined;
}

function rateOf(share: Rule["share"], path: string): number {
  if (share === undefined) return 100;
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

function matchOf(match: Rule["match"], path: string): RuleMatch {
  if (match === undefined) return MATCH_ALL;
  checkObject(match, path, ["hosts", "domains", "pattern", "schemes"]);
  return {
    hosts: eachOf(match.hosts, `${path}.hosts`, {
      expected: "a host such as 'www.example.com', with or without a port",
      read: normalHost,
    }),
    domains: eachOf(match.domains, `${path}.domains`, {
      expected: "a domain such as 'example.com', for itself and all below it",
      read: normalDomain,
    }),
    pattern: patternOf(match.pattern, `${path}.pattern`),
    schemes: schemesOf(match.schemes, `${path}.schemes`),
  };
}

function schemesOf(given: unknown, path: string): number {
  const schemes = eachOf(given, path, {
    expected: "'http' or 'https'",
    read: (text) => (text === "http" || text === "https" ? text : undefined),
  });
  if (schemes.length === 0) return SCHEMES_ALL;
  return schemes.reduce((all, s) => all | (s === "https" ? SCHEME_HTTPS : SCHEME_HTTP), 0);
}

function patternOf(pattern: unknown, path: string): RegExp | undefined {
  if (pattern === undefined) return undefined;
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

function seedsOf(seeds: unknown, path: string): string[] {
  return eachOf(seeds, path, {
    expected: "a URL or a seed template such as 'http://x/[1-3]'",
    read: (template) => {
      if (template === "") return undefined;
      try {
        expandSeed(template);
        return template;
      } catch {
        return undefined;
      }
    },
  });
}

function everyOf(every: unknown, path: string): number | undefined {
  if (every === undefined) return undefined;
  const ms = durationMs(every);
  if (ms !== undefined && ms >= EVERY_MS_MIN) return ms;
  throw misuse("RULE_INVALID", path, every, `more than 0 ${DURATION_EXPECTED}`);
}

/** The entries of a list, each once, as `read` writes them. */
function eachOf(
  given: unknown,
  path: string,
  entry: { expected: string; read: (text: string) => string | undefined },
): string[] {
  if (given === undefined) return [];
  if (!Array.isArray(given) || given.length > LIST_MAX) {
    throw misuse("RULE_INVALID", path, given, `a list of at most ${LIST_MAX}`);
  }
  const texts = given.map((text: unknown, index) => {
    const read = typeof text === "string" ? entry.read(text) : undefined;
    if (read !== undefined) return read;
    throw misuse("RULE_INVALID", `${path}[${index}]`, text, entry.expected);
  });
  return [...new Set(texts)];
}

/** Equal key policies become one object, so that a batch is keyed at once where it can be. */
function shared(keys: Map<unknown, NormalPolicy>, key: NormalPolicy): NormalPolicy {
  // A function is its own key: two of them may never be taken for one.
  const name = key.keyOf ?? JSON.stringify(key);
  if (key.keyOf !== undefined) return key;
  const known = keys.get(name);
  if (known !== undefined) return known;
  keys.set(name, key);
  return key;
}

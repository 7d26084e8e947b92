/**
 * RuleSet: the rules of a frontier as every process reads them, from one text in the server.
 *
 *   text     { label, rules or null, defaults, numbers }: JSON, one for each partition, all alike
 *   number   names a rule in records; an id keeps its number for good, one for each kind of politeness, so that a rule that comes back finds its own
 *   terms    what scripts need of a rule, msgpack in the field of its number
 */
import { FrontierError } from "../../../base/errors.ts";
import { hasFunction, isList, isObject } from "../../../base/type-guards.ts";
import type { FrontierPolicy, Rule, RulePolicy } from "../../../frontier/rules/rule-policy.ts";
import { normalizeRulePolicy } from "../../../frontier/rules/rule-policy.ts";
import {
  defaultRule,
  givenRules,
  normalizeRules,
  type RuleList,
  type RuleSpec,
} from "../../../frontier/rules/rule-specs.ts";
import { type NormalPolicy, normalizePolicy } from "../../../url/keys/key-policy.ts";
import { packed } from "../server/packing.ts";

/** In place of a rule's number: none takes it. */
export const NO_RULE_NUMBER = 65_535;
/** Numbers that scripts poll: what begins with a byte of 253 or more is no rule (lua/lib-lease.lua). */
const RULE_NUMBERS_MAX = 253 * 256;

export interface RuleSet {
  readonly version: number;
  readonly label: string | number;
  readonly list: RuleList;
  /** As they were given; undefined: one rule takes everything. */
  readonly rules: Rule[] | undefined;
  readonly defaults: RulePolicy;
  readonly policy: FrontierPolicy;
  /** The key of requests that no rule takes. */
  readonly key: NormalPolicy;
  readonly numbers: ReadonlyMap<string, number>;
  readonly ids: readonly string[];
  /** The rule of a number; undefined: it is not active any more. */
  readonly specs: readonly (RuleSpec | undefined)[];
  readonly text: string;
}

/** The rules to take, of those in force; undefined: they stay. It may be called several times. */
export type RuleChange = (
  stored: Rule[] | undefined,
) => { readonly rules: Rule[] | undefined } | undefined;

interface Parts {
  readonly version: number;
  readonly label: string | number;
  readonly rules: Rule[] | undefined;
  readonly defaults: RulePolicy;
  /** Numbers of all ids so far. */
  readonly numbers: Readonly<Record<string, number>>;
}

/** Checks a set and numbers new ids. Throws OPTION_INVALID, RULE_INVALID, UNSUPPORTED. */
export function createRuleSet({ version, label, rules, defaults, numbers }: Parts): RuleSet {
  const policy = normalizeRulePolicy(defaults, "options.defaults");
  const key = normalizePolicy(policy.key ?? {}, "options.defaults.key");
  refuseFunctions(defaults, "defaults");
  refuseFunctions(rules ?? [], "rules");
  refusePolicy(policy, "defaults");
  const list =
    rules === undefined ? defaultRule(policy, key) : normalizeRules(rules, defaults, "exact");
  const all = new Map(Object.entries(numbers));
  const specs: Array<RuleSpec | undefined> = [];
  for (const spec of list.specs) {
    refusePolicy(spec.policy, `rule '${spec.id}'`);
    const name = numberName(spec);
    let number = all.get(name);
    if (number === undefined) {
      number = all.size;
      if (number >= RULE_NUMBERS_MAX) throw tooMany(number);
      all.set(name, number);
    }
    specs[number] = spec;
  }
  const kept = rules === undefined ? null : givenRules(list.specs);
  const stored = { label, rules: kept, defaults, numbers: Object.fromEntries(all) };
  return {
    ...{ version, label, list, rules: kept ?? undefined, defaults, policy, key },
    ...{
      numbers: all,
      ids: [...all.keys()].map((name) => name.split("\n")[0] ?? ""),
      specs,
      text: jsonOf(stored),
    },
  };
}

/** JSON has no Infinity, which `maxDepth` and others may be; this number is read as such. */
function jsonOf(stored: object): string {
  const endless = "\u0000Infinity";
  const text = JSON.stringify(stored, (_, value) => (value === Infinity ? endless : value));
  return text.replaceAll(JSON.stringify(endless), "1e999");
}

/** A set as it is stored. */
export function readRuleSet(text: string, version: number): RuleSet {
  const { label, rules, defaults, numbers } = JSON.parse(text);
  return createRuleSet({ version, label, rules: rules ?? undefined, defaults, numbers });
}

/** Fields of the rules in the server, with their values. */
export function termFields({ list, numbers }: RuleSet): Array<string | Buffer> {
  return list.specs.flatMap((spec) => {
    const field = Buffer.alloc(2);
    field.writeUInt16BE(numbers.get(numberName(spec)) as number);
    return [field, packed(termsOf(spec))];
  });
}

/** What has a number: a rule whose hosts stand in other queues from now on is another one, and its records move. */
function numberName({ id, policy: { isPolite, by, isLifo, startLast } }: RuleSpec): string {
  const order = isLifo ? "lifo" : "fifo";
  const queues = startLast ? ` start last ${order}` : "";
  if (isPolite) return `${id}\n${String(by)}${queues}`;
  return queues === "" && !isLifo ? id : `${id}\n${order}${queues}`;
}

/** The number of an active rule. */
export function numberOf({ numbers }: RuleSet, spec: RuleSpec): number {
  return numbers.get(numberName(spec)) as number;
}

function termsOf({ policy, rate, order }: RuleSpec): Record<string, number | undefined> {
  const { adaptive, backoff, epoch, hostBackoff } = policy;
  return {
    polite: policy.isPolite ? 1 : 0,
    lifo: policy.isLifo ? 1 : 0,
    delay: policy.delayMs,
    perHost: policy.perHost,
    attempts: policy.maxAttempts,
    ...{ backoffBase: backoff.baseMs, backoffFactor: backoff.factor, backoffMax: backoff.maxMs },
    ...{ jitter: backoff.jitter, retryAdd: policy.retryAdd, retrySet: policy.retrySet },
    adaptFactor: adaptive?.factor,
    ...{ adaptMin: adaptive?.minMs, adaptMax: adaptive?.maxMs },
    ...{
      failAfter: hostBackoff?.after,
      failBase: hostBackoff?.baseMs,
      failMax: hostBackoff?.maxMs,
    },
    giveUp: finite(hostBackoff?.giveUpAfter),
    ...{ budgetUrls: finite(policy.budgetUrls), budgetBytes: finite(policy.budgetBytes) },
    depthPriority: policy.depthPriority,
    freshGap: policy.freshGap > 0 ? policy.freshGap : undefined,
    ...{ rate, order },
    every: epoch.kind === "again" ? epoch.minMs : undefined,
  };
}

function finite(value: number | undefined): number | undefined {
  return value === undefined || !Number.isFinite(value) ? undefined : value;
}

/** Refuses what needs the data of all partitions in one place, or code in the server. */
function refusePolicy({ groups, epoch }: FrontierPolicy, name: string): void {
  if (groups.length > 0) throw unsupported(`${name}.politeness.groups`, "no clocks above the host");
  if (epoch.kind === "of") throw unsupported(`${name}.epoch.of`, "an epoch without a function");
  if (epoch.kind === "again" && epoch.minMs < epoch.maxMs) {
    throw unsupported(`${name}.epoch.adaptive`, "{ every }, or another epoch");
  }
}

/** Rules are text in the server: a function would be lost. */
function refuseFunctions(value: unknown, path: string): void {
  if (typeof value === "function")
    throw unsupported(path, "no function: all processes share the rules as text");
  if (isList(value))
    for (const [at, each] of value.entries()) refuseFunctions(each, `${path}[${at}]`);
  else if (isObject(value) && !hasFunction(value, "then")) {
    for (const [name, each] of Object.entries(value)) refuseFunctions(each, `${path}.${name}`);
  }
}

export function unsupported(name: string, expected: string): FrontierError {
  return new FrontierError("UNSUPPORTED", `${name}: given (expected with Redis: ${expected})`);
}

function tooMany(count: number): FrontierError {
  return new FrontierError(
    "RULE_INVALID",
    `rules: ${count + 1} ids (expected: at most ${RULE_NUMBERS_MAX} over the frontier's life)`,
  );
}

/**
 * Rule terms: the policy of each rule of a set, filled in from the defaults, and its key policy. Rules with the same settings share one
 * object, which then stays in the caches, and is checked once.
 *
 *   rule without a policy               the usual terms: those of the defaults
 *   the same as one of the latest       those
 *   anything else                       terms of its own
 *
 *   I1  Terms are shared where nothing distinguishes them: every value is the same, and every function that very one.
 */
import { plainCopy } from "../../base/plain-copy.ts";
import { type NormalPolicy, normalizePolicy } from "../../url/keys/key-policy.ts";
import { checkEpochMode } from "../epochs/epoch-policy.ts";
import {
  type FrontierPolicy,
  normalizeRulePolicy,
  POLICY_FIELDS,
  type Rule,
  type RulePolicy,
} from "./rule-policy.ts";

type SeenMode = "exact" | "tiered" | "bloom";

/** What the rules of a set have in common. */
export interface Setting {
  readonly defaults: RulePolicy;
  readonly mode: SeenMode;
  /** Rules without a policy of their own share this one, which then stays in the caches. */
  usual: Terms | undefined;
  /** The latest of the others: rules that follow each other are mostly alike. */
  readonly latest: Terms[];
  /** Key policies by their settings, so that a batch is keyed at once where it can be. */
  readonly keys: Map<string, NormalPolicy>;
}

interface Terms {
  readonly own: RulePolicy | undefined;
  readonly policy: FrontierPolicy;
  readonly key: NormalPolicy;
}

/** How many of the latest are looked at. */
const LATEST_MAX = 4;

export function createSetting(defaults: RulePolicy, mode: SeenMode): Setting {
  return { defaults, mode, usual: undefined, latest: [], keys: new Map() };
}

/** The policy of rules that have none, and its key policy. */
export function usualTerms(setting: Setting): Terms {
  setting.usual ??= makeTerms(undefined, setting);
  return setting.usual;
}

/** The policy of a rule, filled in from the defaults, and its key policy. */
export function termsOf(rule: Rule, setting: Setting): Terms {
  const own = ownOf(rule);
  if (own === undefined) return usualTerms(setting);
  const { latest } = setting;
  for (let at = 0; at < latest.length; at++) {
    const terms = latest[at] as Terms;
    if (isSame(terms.own, own)) return terms;
  }
  const terms = makeTerms(own, setting);
  if (latest.length === LATEST_MAX) latest.pop();
  latest.unshift(terms);
  return terms;
}

/** The policy fields of a rule, copied: what is checked is what is kept. */
function ownOf(rule: Rule): RulePolicy | undefined {
  let own: Record<string, unknown> | undefined;
  for (let at = 0; at < POLICY_FIELDS.length; at++) {
    const field = POLICY_FIELDS[at] as keyof RulePolicy;
    const value: unknown = rule[field];
    if (value === undefined) continue;
    own ??= {};
    own[field] = plainCopy(value);
  }
  return own;
}

function makeTerms(own: RulePolicy | undefined, { defaults, keys, mode }: Setting): Terms {
  const policy = normalizeRulePolicy({ ...defaults, ...own }, "");
  checkEpochMode(policy.epoch, mode, ".epoch");
  return { own, policy, key: shared(keys, normalizePolicy(policy.key ?? {}, ".key")) };
}

/** Whether two copies are the same to the last value. */
function isSame(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  const names = Object.keys(a);
  if (names.length !== Object.keys(b).length) return false;
  return names.every(
    (name) =>
      Object.hasOwn(b, name) &&
      isSame((a as Record<string, unknown>)[name], (b as Record<string, unknown>)[name]),
  );
}

/** Equal key policies become one object. A function is its own key: two of them may never be taken for one. */
function shared(keys: Map<string, NormalPolicy>, key: NormalPolicy): NormalPolicy {
  if (key.keyOf !== undefined) return key;
  const text = JSON.stringify(key);
  const known = keys.get(text);
  if (known === undefined) keys.set(text, key);
  return known ?? key;
}

/**
 * Rule policies (rule-types.ts) in their checked form, with every default filled in that the core reads.
 */
import { misuse } from "../base/errors.ts";
import { isList, isObject } from "../base/kinds.ts";
import type { KeyPolicy } from "../url/policy.ts";
import { type EpochRule, normalizeEpoch } from "./epoch-policy.ts";
import type { Politeness, RulePolicy } from "./rule-types.ts";

export type { Outcome } from "../base/arguments.ts";
export type { Politeness, Rule, RulePolicy } from "./rule-types.ts";

/** What a group is named by. */
export type GroupBy = "domain" | "address" | ((host: string) => string);

export interface GroupTerm {
  readonly by: GroupBy;
  /** The number of its kind, once a set of rules has brought it (group-kinds.ts). */
  kind: number;
  readonly delayMs: number;
  readonly limit: number;
}

export interface FrontierPolicy {
  readonly key: KeyPolicy | undefined;
  readonly epoch: EpochRule;
  readonly isLifo: boolean;
  readonly startLast: boolean;
  readonly priority: number;
  readonly depthPriority: number;
  readonly maxDepth: number;
  readonly follow: boolean;
  readonly maxAttempts: number;
  readonly backoff: { baseMs: number; factor: number; maxMs: number; jitter: number };
  readonly retryAdd: number;
  /** Retry sets the priority to this instead of adding, unless undefined. */
  readonly retrySet: number | undefined;
  readonly redirectAdd: number;
  /** A redirect sets the priority to this instead of adding, unless undefined. */
  readonly redirectSet: number | undefined;
  readonly isPolite: boolean;
  readonly delayMs: number;
  readonly perHost: number;
  readonly by: "host" | "domain" | ((url: string) => string);
  /** Clocks above the host: each must agree. */
  readonly groups: readonly GroupTerm[];
  readonly adaptive: { factor: number; minMs: number; maxMs: number } | undefined;
  readonly hostBackoff:
    | { after: number; baseMs: number; maxMs: number; giveUpAfter: number }
    | undefined;
  readonly budgetUrls: number;
  readonly budgetBytes: number;
}

export const POLICY_FIELDS = [
  "key",
  "epoch",
  "order",
  "startLast",
  "priority",
  "depthPriority",
  "maxDepth",
  "follow",
  "maxAttempts",
  "backoff",
  "retryPriority",
  "redirectPriority",
  "politeness",
];
const POLITENESS_FIELDS = [
  "delayMs",
  "perHost",
  "by",
  "groups",
  "adaptive",
  "hostBackoff",
  "budget",
];

/** Checks a policy and fills in the defaults; throws OPTION_INVALID naming the field. */
export function normalizeRulePolicy(policy: RulePolicy, path: string): FrontierPolicy {
  checkObject(policy, path, POLICY_FIELDS);
  const polite = policy.politeness ?? {};
  const at = `${path}.politeness`;
  checkObject(polite, at, POLITENESS_FIELDS);
  const groups = groupsOf(polite.groups, `${at}.groups`);
  const retry = shiftOf(policy.retryPriority ?? -1, `${path}.retryPriority`);
  const redirect = shiftOf(policy.redirectPriority ?? 0, `${path}.redirectPriority`);
  const { adaptive, hostBackoff, budget } = polite;
  if (adaptive !== undefined) checkAdaptive(adaptive, `${at}.adaptive`);
  if (hostBackoff !== undefined) checkHostBackoff(hostBackoff, `${at}.hostBackoff`);
  if (budget !== undefined) checkObject(budget, `${at}.budget`, ["urls", "bytes"]);
  const delayMs = milliseconds(polite.delayMs ?? 0, `${at}.delayMs`);
  const by = polite.by ?? "host";
  if (by !== "host" && by !== "domain" && typeof by !== "function") {
    throw misuse("OPTION_INVALID", `${at}.by`, by, "'host', 'domain' or a function");
  }
  return {
    key: policy.key,
    epoch: normalizeEpoch(policy.epoch, `${path}.epoch`),
    isLifo: oneOf(policy.order ?? "fifo", `${path}.order`, ["fifo", "lifo"]) === "lifo",
    startLast: flag(policy.startLast ?? false, `${path}.startLast`),
    priority: integer(policy.priority ?? 0, `${path}.priority`),
    depthPriority: integer(policy.depthPriority ?? 0, `${path}.depthPriority`),
    maxDepth: count(policy.maxDepth ?? Number.POSITIVE_INFINITY, `${path}.maxDepth`, 0),
    follow: flag(policy.follow ?? true, `${path}.follow`),
    maxAttempts: count(policy.maxAttempts ?? 3, `${path}.maxAttempts`, 1),
    backoff: backoffOf(policy.backoff, `${path}.backoff`),
    retryAdd: retry.add,
    retrySet: retry.set,
    redirectAdd: redirect.add,
    redirectSet: redirect.set,
    isPolite:
      delayMs > 0 ||
      polite.perHost !== undefined ||
      adaptive !== undefined ||
      hostBackoff !== undefined ||
      groups.length > 0,
    delayMs,
    perHost: count(polite.perHost ?? 1, `${at}.perHost`, 1),
    by,
    groups,
    adaptive,
    hostBackoff:
      hostBackoff === undefined
        ? undefined
        : { giveUpAfter: Number.POSITIVE_INFINITY, ...hostBackoff },
    budgetUrls: count(budget?.urls ?? Number.POSITIVE_INFINITY, `${at}.budget.urls`, 0),
    budgetBytes: count(budget?.bytes ?? Number.POSITIVE_INFINITY, `${at}.budget.bytes`, 0),
  };
}

/** A change of priority: added, or set where `set` is a number. */
function shiftOf(
  shift: number | { set: number },
  path: string,
): { add: number; set: number | undefined } {
  if (typeof shift !== "object") return { add: integer(shift, path), set: undefined };
  checkObject(shift, path, ["set"]);
  if (shift.set === undefined) return { add: integer(shift, path), set: undefined };
  return { add: 0, set: integer(shift.set, `${path}.set`) };
}

/** Most clocks above one host. */
const GROUPS_MAX = 8;

function groupsOf(groups: Politeness["groups"], path: string): GroupTerm[] {
  if (groups === undefined) return [];
  if (!isList(groups) || groups.length > GROUPS_MAX) {
    throw misuse("OPTION_INVALID", path, groups, `a list of at most ${GROUPS_MAX} groups`);
  }
  return groups.map((group, index) => {
    const at = `${path}[${index}]`;
    checkObject(group, at, ["by", "delayMs", "limit"]);
    const { by, delayMs, limit } = group;
    if (by !== "domain" && by !== "address" && typeof by !== "function") {
      throw misuse("OPTION_INVALID", `${at}.by`, by, "'domain', 'address' or a function");
    }
    if (groups.findIndex((other) => other.by === by) !== index) {
      throw misuse("OPTION_INVALID", `${at}.by`, by, "each kind of group once");
    }
    return {
      by,
      kind: -1,
      delayMs: milliseconds(delayMs ?? 0, `${at}.delayMs`),
      limit: count(limit ?? Number.POSITIVE_INFINITY, `${at}.limit`, 1),
    };
  });
}

function backoffOf(backoff: RulePolicy["backoff"], path: string): FrontierPolicy["backoff"] {
  if (backoff === undefined) return { baseMs: 0, factor: 1, maxMs: 0, jitter: 0 };
  checkObject(backoff, path, ["baseMs", "factor", "maxMs", "jitter"]);
  const baseMs = milliseconds(backoff.baseMs, `${path}.baseMs`);
  const factor = backoff.factor ?? 2;
  if (!(Number.isFinite(factor) && factor >= 1)) {
    throw misuse("OPTION_INVALID", `${path}.factor`, factor, "a number of at least 1");
  }
  // A day: longer waits between attempts of one page are a recrawl policy, not a back-off.
  const maxMs = milliseconds(backoff.maxMs ?? Math.max(baseMs, 86_400_000), `${path}.maxMs`);
  const jitter = backoff.jitter ?? 0;
  if (!(typeof jitter === "number" && jitter >= 0 && jitter <= 1)) {
    throw misuse("OPTION_INVALID", `${path}.jitter`, jitter, "a number from 0 to 1");
  }
  return { baseMs, factor, maxMs, jitter };
}

function checkAdaptive(adaptive: NonNullable<Politeness["adaptive"]>, path: string): void {
  checkObject(adaptive, path, ["factor", "minMs", "maxMs"]);
  if (!(Number.isFinite(adaptive.factor) && adaptive.factor >= 0)) {
    throw misuse("OPTION_INVALID", `${path}.factor`, adaptive.factor, "a number of at least 0");
  }
  const minMs = milliseconds(adaptive.minMs, `${path}.minMs`);
  if (milliseconds(adaptive.maxMs, `${path}.maxMs`) < minMs) {
    throw misuse("OPTION_INVALID", `${path}.maxMs`, adaptive.maxMs, `at least minMs (${minMs})`);
  }
}

function checkHostBackoff(backoff: NonNullable<Politeness["hostBackoff"]>, path: string): void {
  checkObject(backoff, path, ["after", "baseMs", "maxMs", "giveUpAfter"]);
  count(backoff.after, `${path}.after`, 1);
  const baseMs = milliseconds(backoff.baseMs, `${path}.baseMs`);
  if (milliseconds(backoff.maxMs, `${path}.maxMs`) < baseMs) {
    throw misuse("OPTION_INVALID", `${path}.maxMs`, backoff.maxMs, `at least baseMs (${baseMs})`);
  }
  if (backoff.giveUpAfter !== undefined) count(backoff.giveUpAfter, `${path}.giveUpAfter`, 1);
}

/**
 * Throws unless `value` is a plain object with none but the known fields. The place of the last one of them that it has; −1: it
 * has none.
 */
export function checkObject(value: unknown, path: string, fields: readonly string[]): number {
  if (!isObject(value)) {
    throw misuse("OPTION_INVALID", path, value, "an object");
  }
  const names = Object.keys(value);
  let last = -1;
  for (let index = 0; index < names.length; index++) {
    const field = names[index] as string;
    const at = fields.indexOf(field);
    if (at < 0) {
      throw misuse("OPTION_INVALID", `${path}.${field}`, "unknown", `one of ${fields.join(", ")}`);
    }
    if ((value as Record<string, unknown>)[field] === null) {
      throw misuse("OPTION_INVALID", `${path}.${field}`, null, "a value or none");
    }
    if (at > last) last = at;
  }
  return last;
}

export function milliseconds(value: unknown, path: string): number {
  if (typeof value === "number" && Number.isFinite(value) && value >= 0) return value;
  throw misuse("OPTION_INVALID", path, value, "milliseconds, a finite number of at least 0");
}

export function integer(value: unknown, path: string): number {
  if (Number.isSafeInteger(value)) return value as number;
  throw misuse("OPTION_INVALID", path, value, "a safe integer");
}

/** A whole number of at least `least`; Infinity means no limit. */
export function count(value: unknown, path: string, least: number): number {
  const isCount = value === Number.POSITIVE_INFINITY || Number.isSafeInteger(value);
  if (isCount && (value as number) >= least) return value as number;
  throw misuse("OPTION_INVALID", path, value, `a whole number of at least ${least}, or Infinity`);
}

export function flag(value: unknown, path: string): boolean {
  if (typeof value === "boolean") return value;
  throw misuse("OPTION_INVALID", path, value, "true or false");
}

function oneOf(value: unknown, path: string, allowed: readonly string[]): string {
  if (typeof value === "string" && allowed.includes(value)) return value;
  throw misuse("OPTION_INVALID", path, value, allowed.map((one) => `'${one}'`).join(" or "));
}

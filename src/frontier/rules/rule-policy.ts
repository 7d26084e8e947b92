/**
 * Rule policies (rule-types.ts) in their checked form, with every default filled in that the core reads.
 */
import { type FrontierErrorCode, misuse } from "../../base/errors.ts";
import {
  ANYTHING,
  atLeast,
  between,
  count,
  type Field,
  type Fields,
  INTEGER,
  kind,
  MILLISECONDS,
  oneOf,
  shape,
  TRUTH,
} from "../../base/fields.ts";
import { isList, isObject } from "../../base/type-guards.ts";
import type { KeyPolicy } from "../../url/keys/key-policy.ts";
import { type EpochPolicy, type EpochRule, normalizeEpoch } from "../epochs/epoch-policy.ts";
import { type Politeness, type RulePolicy, TRAVERSALS } from "./rule-types.ts";

export type { Outcome } from "../../base/argument-checks.ts";
export { type Politeness, type Rule, type RulePolicy, TRAVERSALS } from "./rule-types.ts";
export type { Traversal } from "./rule-types.ts";

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
  /** Hand-outs from one new host of a registrable domain to its next; 0: new hosts go first, however many they are. */
  readonly freshGap: number;
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

const NUMBER_FROM = (least: number): Field<number> =>
  atLeast(least, `a number of at least ${least}`);
const SHIFT: Field<number | { set: number }> = (value, name, code) =>
  isObject(value) && Object.keys(value).length > 0
    ? shape<{ set: number }>({ set: INTEGER }, { needed: ["set"] })(value, name, code)
    : INTEGER(value, name, code);

/** The share of `freshHosts: "share"`: a site with many subdomains is found soon, and a trap of them takes a tenth. */
const FRESH_SHARE = 0.1;
/** Most clocks above one host. */
const GROUPS_MAX = 8;

const POLITENESS = shape<Politeness>({
  delayMs: MILLISECONDS,
  perHost: count(1),
  by: kind(
    "'host', 'domain' or a function",
    (value) => value === "host" || value === "domain" || typeof value === "function",
  ),
  groups: groupsOf,
  adaptive: between({ factor: NUMBER_FROM(0), minMs: MILLISECONDS, maxMs: MILLISECONDS }, [
    "minMs",
    "maxMs",
    "factor",
  ]),
  hostBackoff: between<NonNullable<Politeness["hostBackoff"]>>(
    { after: count(1), baseMs: MILLISECONDS, maxMs: MILLISECONDS, giveUpAfter: count(1) },
    ["baseMs", "maxMs", "after"],
  ),
  budget: shape<NonNullable<Politeness["budget"]>>({ urls: count(0), bytes: count(0) }),
});

const POLICY: Fields<RulePolicy> = {
  // Looked into by normalizePolicy and normalizeEpoch.
  key: kind("an object", isObject),
  epoch: ANYTHING as Field<EpochPolicy>,
  order: oneOf("fifo", "lifo"),
  traversal: oneOf(...TRAVERSALS),
  startLast: TRUTH,
  priority: INTEGER,
  depthPriority: INTEGER,
  maxDepth: count(0),
  follow: TRUTH,
  maxAttempts: count(1),
  backoff: shape<NonNullable<RulePolicy["backoff"]>>(
    {
      baseMs: MILLISECONDS,
      factor: NUMBER_FROM(1),
      maxMs: MILLISECONDS,
      jitter: kind(
        "a number from 0 to 1",
        (value) => Number(value) >= 0 && Number(value) <= 1 && typeof value === "number",
      ),
    },
    { needed: ["baseMs"] },
  ),
  retryPriority: SHIFT,
  redirectPriority: SHIFT,
  freshHosts: kind(
    "'first', 'share' or a number above 0, at most 1",
    (value) =>
      value === "first" ||
      value === "share" ||
      (typeof value === "number" && value > 0 && value <= 1),
  ),
  politeness: POLITENESS,
};

export const POLICY_FIELDS = Object.keys(POLICY);
const readPolicy = shape<RulePolicy>(POLICY);

/** Checks a policy and fills in the defaults; throws OPTION_INVALID naming the field. */
export function normalizeRulePolicy(given: RulePolicy, path: string): FrontierPolicy {
  const policy = readPolicy(given, path, "OPTION_INVALID");
  const polite = policy.politeness ?? {};
  const { adaptive, hostBackoff, budget, delayMs = 0 } = polite;
  const { order, depthPriority } = { ...wayOf(policy.traversal), ...policy };
  const groups = (polite.groups ?? []) as GroupTerm[];
  const retry = shiftOf(policy.retryPriority ?? -1);
  const redirect = shiftOf(policy.redirectPriority ?? 0);
  return {
    key: policy.key,
    epoch: normalizeEpoch(policy.epoch, `${path}.epoch`),
    isLifo: order === "lifo",
    startLast: policy.startLast ?? false,
    priority: policy.priority ?? 0,
    depthPriority: depthPriority ?? 0,
    maxDepth: policy.maxDepth ?? Number.POSITIVE_INFINITY,
    follow: policy.follow ?? true,
    maxAttempts: policy.maxAttempts ?? 3,
    backoff: backoffOf(policy.backoff),
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
    freshGap: freshGapOf(policy.freshHosts),
    delayMs,
    perHost: polite.perHost ?? 1,
    by: polite.by ?? "host",
    groups,
    adaptive,
    hostBackoff:
      hostBackoff === undefined
        ? undefined
        : { ...hostBackoff, giveUpAfter: hostBackoff.giveUpAfter ?? Number.POSITIVE_INFINITY },
    budgetUrls: budget?.urls ?? Number.POSITIVE_INFINITY,
    budgetBytes: budget?.bytes ?? Number.POSITIVE_INFINITY,
  };
}

function freshGapOf(freshHosts: RulePolicy["freshHosts"] = "first"): number {
  if (freshHosts === "first") return 0;
  return 1 / (freshHosts === "share" ? FRESH_SHARE : freshHosts);
}

/** What a traversal stands for. */
function wayOf(traversal: RulePolicy["traversal"]): Pick<RulePolicy, "order" | "depthPriority"> {
  if (traversal === undefined) return {};
  return traversal === "breadth-first"
    ? { order: "fifo", depthPriority: 1 }
    : { order: "lifo", depthPriority: -1 };
}

/** A change of priority: added, or set where `set` is a number. */
function shiftOf(shift: number | { set: number }): { add: number; set: number | undefined } {
  return typeof shift === "object" ? { add: 0, set: shift.set } : { add: shift, set: undefined };
}

const readGroup = shape<NonNullable<Politeness["groups"]>[number]>(
  {
    by: kind(
      "'domain', 'address' or a function",
      (value) => value === "domain" || value === "address" || typeof value === "function",
    ),
    delayMs: MILLISECONDS,
    limit: count(1),
  },
  { needed: ["by"] },
);

/** Each with its defaults filled in. */
function groupsOf(value: unknown, path: string, code: FrontierErrorCode): GroupTerm[] {
  if (!isList(value) || value.length > GROUPS_MAX) {
    throw misuse(code, path, value, `a list of at most ${GROUPS_MAX} groups`);
  }
  const kinds = new Set<unknown>();
  return Array.from(value, (each, index) => {
    const {
      by,
      delayMs = 0,
      limit = Number.POSITIVE_INFINITY,
    } = readGroup(each, `${path}[${index}]`, code);
    if (kinds.has(by)) throw misuse(code, `${path}[${index}].by`, by, "each kind of group once");
    kinds.add(by);
    return { by, kind: -1, delayMs, limit };
  });
}

function backoffOf(backoff: RulePolicy["backoff"]): FrontierPolicy["backoff"] {
  if (backoff === undefined) return { baseMs: 0, factor: 1, maxMs: 0, jitter: 0 };
  const { baseMs, factor = 2, jitter = 0 } = backoff;
  // A day: longer waits between attempts of one page are a recrawl policy, not a back-off.
  return { baseMs, factor, maxMs: backoff.maxMs ?? Math.max(baseMs, 86_400_000), jitter };
}

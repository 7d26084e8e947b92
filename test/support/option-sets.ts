/** Random option sets for two frontiers side by side, as plain data; `buildOptions` and `buildRules` put functions in. */
import fc from "fast-check";
import type { Clock } from "../../src/base/clock.ts";
import type {
  SyncEpoch,
  SyncGroup,
  SyncOptions,
  SyncPoliteness,
  SyncPolicy,
  SyncRequestView,
  SyncRule,
} from "./frontier-surface.ts";

type EpochSpec = Exclude<SyncEpoch, { of: unknown }> | { of: "slot" };
type GroupSpec = Omit<SyncGroup, "by"> & { by: "domain" | "address" | "own" | "fresh" };
type PolitenessSpec = Omit<SyncPoliteness, "by" | "groups"> & {
  by?: "host" | "domain" | "key";
  groups?: GroupSpec[];
};
type PolicySpec = Omit<SyncPolicy, "politeness" | "epoch"> & { epoch?: EpochSpec };

/** A rule as data. */
export type RuleSpec = Omit<SyncRule, "politeness" | "epoch"> &
  PolicySpec & { politeness?: PolitenessSpec };

/** Options as data; words such as `by: 'key'` and `accept` represent functions that `buildOptions` puts in. */
export interface OptionSpec {
  policy: PolicySpec;
  politeness?: PolitenessSpec;
  limits: Pick<SyncOptions, "capacity" | "leaseMs" | "maxLeases" | "maxDeliveries" | "breaker">;
  accept?: boolean;
  rules?: RuleSpec[];
}

export function buildOptions(spec: OptionSpec, clock: Clock): SyncOptions {
  const { policy, politeness, rules } = spec;
  const defaults = buildPolicy(politeness === undefined ? policy : { ...policy, politeness });
  const options: SyncOptions = { clock, leaseMs: 1_000, ...spec.limits, defaults };
  if (rules !== undefined) options.rules = buildRules(rules);
  return spec.accept ? { ...options, accept } : options;
}

/** The rules described by a list of data. */
export function buildRules(rules: readonly RuleSpec[]): SyncRule[] {
  return rules.map(({ id, match, share, ...policy }) => ({
    ...{ id, ...(match === undefined ? {} : { match }), ...(share === undefined ? {} : { share }) },
    ...buildPolicy(policy),
  }));
}

function buildPolicy(spec: PolicySpec & { politeness?: PolitenessSpec }): SyncPolicy {
  const { politeness, epoch, ...policy } = spec;
  const built: SyncPolicy = { ...policy };
  if (epoch !== undefined) {
    built.epoch = typeof epoch === "object" && "of" in epoch ? { of: slotOf } : epoch;
  }
  if (politeness === undefined) return built;
  const { by, groups, ...rest } = politeness;
  built.politeness = { ...rest, by: by === "key" ? keyOfUrl : (by ?? "host") };
  if (groups === undefined) return built;
  built.politeness.groups = groups.map((one) => {
    if (one.by === "fresh") return { ...one, by: (host) => unitOfHost(host) };
    return one.by === "own" ? { ...one, by: unitOfHost } : (one as SyncGroup);
  });
  return built;
}

/** Epochs of 20 ms that repeat after three; now and then none. */
function slotOf(timeMs: number): string {
  const slot = Math.floor(timeMs / 20) % 7;
  return slot === 6 ? "" : `slot-${slot % 3}`;
}

/** Two groups of hosts. */
function unitOfHost(host: string): string {
  return `half-${host.length % 2}`;
}

/** Own politeness keys: two of them, whatever the host. */
function keyOfUrl(url: string): string {
  return `unit-${new URL(url).host.charCodeAt(0) % 2}`;
}

function accept(request: SyncRequestView): boolean | { priority?: number; data?: unknown } {
  if (request.url.endsWith("/5")) return false;
  return request.url.endsWith("/4") ? { priority: request.priority + 2, data: "hooked" } : true;
}

const optional = { noNullPrototype: true } as const;
/** Each field is present in one of three cases: too many limits at once leave nothing to order. */
function spread<T>(fields: { [K in keyof T]: fc.Arbitrary<T[K]> }): fc.Arbitrary<Partial<T>> {
  const entries = Object.entries<fc.Arbitrary<unknown>>(fields).map(([name, arbitrary]) =>
    fc.oneof(
      { weight: 2, arbitrary: fc.constant([]) },
      { weight: 1, arbitrary: arbitrary.map((value) => [[name, value]]) },
    ),
  );
  return fc.tuple(...entries).map((present) => Object.fromEntries(present.flat()));
}

const policy = spread<Required<OptionSpec["policy"]>>({
  order: fc.constantFrom("fifo", "lifo"),
  startLast: fc.boolean(),
  priority: fc.integer({ min: -2, max: 2 }),
  depthPriority: fc.constantFrom(0, 1, -2),
  maxDepth: fc.integer({ min: 0, max: 3 }),
  maxAttempts: fc.integer({ min: 1, max: 4 }),
  backoff: fc.constantFrom(
    { baseMs: 4, jitter: 0 },
    { baseMs: 3, factor: 3, maxMs: 20, jitter: 0 },
  ),
  retryPriority: fc.constantFrom<number | { set: number }>(0, -1, -5, 2, { set: 0 }, { set: -3 }),
  redirectPriority: fc.constantFrom<number | { set: number }>(0, 2, -1, { set: 1 }),
  freshHosts: fc.constantFrom<"first" | "share" | number>("first", "share", 1, 0.5, 0.3),
  epoch: fc.constantFrom<EpochSpec>(
    { calendar: "hour" },
    { calendar: "week", undated: "forever" },
    { every: 12 },
    { every: 40 },
    { version: "v1" },
    { version: "v2" },
    { of: "slot" },
    { adaptive: { min: 6, max: 20 } },
    { adaptive: { min: 8, max: 10 } },
  ),
});

const group = fc.record(
  {
    by: fc.constantFrom<GroupSpec["by"]>("domain", "address", "own", "fresh"),
    delayMs: fc.constantFrom(0, 4, 9),
    limit: fc.integer({ min: 1, max: 3 }),
  },
  { requiredKeys: ["by"], noNullPrototype: true },
);

const politeness = spread<Required<NonNullable<OptionSpec["politeness"]>>>({
  delayMs: fc.constantFrom(0, 5, 10),
  perHost: fc.integer({ min: 1, max: 3 }),
  by: fc.constantFrom("host", "domain", "key"),
  groups: fc.uniqueArray(group, { minLength: 1, maxLength: 3, selector: ({ by }) => by }),
  adaptive: fc.constant({ factor: 2, minMs: 3, maxMs: 15 }),
  hostBackoff: fc.constantFrom(
    { after: 1, baseMs: 6, maxMs: 20 },
    { after: 2, baseMs: 4, maxMs: 100, giveUpAfter: 3 },
  ),
  budget: fc.constantFrom({ urls: 5 }, { bytes: 100 }, { urls: 9, bytes: 200 }),
});

const limits = spread<Required<OptionSpec["limits"]>>({
  capacity: fc.constantFrom(1, 3, 8),
  leaseMs: fc.constantFrom(5, 12, 1_000),
  maxLeases: fc.constantFrom(1, 2, 5),
  maxDeliveries: fc.constantFrom(1, 2, 4),
  breaker: fc.constant({ failures: 3, withinMs: 40, pauseMs: 25 }),
});

export const optionArbitrary: fc.Arbitrary<OptionSpec> = fc.record(
  { policy, politeness, limits, accept: fc.boolean() },
  { requiredKeys: ["policy", "limits"], ...optional },
);

/** Sets of up to four rules over some hosts; most of them take all remaining URLs. */
export function rulesOf(hosts: readonly string[]): fc.Arbitrary<RuleSpec[]> {
  const match = spread<Required<NonNullable<SyncRule["match"]>>>({
    hosts: fc.subarray([...hosts], { minLength: 1 }),
    domains: fc.subarray(["com", "site0.com", "site1.com", "a.site0.com"], { minLength: 1 }),
    pattern: fc.constantFrom("/[0-3]$", "^http://a", "q\\?", "^https?://a\\.site0\\.com/"),
    schemes: fc.constantFrom(["http"], ["https"], ["http", "https"]),
  });
  const share = spread<Required<NonNullable<SyncRule["share"]>>>({
    priority: fc.constantFrom(1, 2, 3, 0.5),
    weight: fc.constantFrom(0, 10, 50, -50),
  });
  const polite = politeness.map(({ by: _, ...rest }) => ({ politeness: rest }));
  const rule = fc
    .tuple(match, share, policy, fc.option(polite, { nil: {}, freq: 2 }))
    .map(([where, portion, own, rest]) => ({
      ...{ match: where, share: portion, ...withoutShares(own), ...rest },
    }));
  const rules = fc.array(rule, { maxLength: 3 });
  const ids = fc.shuffledSubarray(["a", "b", "c", "d"], { minLength: 4 });
  return fc.tuple(rules, ids, fc.boolean()).map(([list, names, isOpen]) => {
    const all = isOpen ? [...list, {}] : list;
    return all.map((one, at) => ({ ...one, id: names[at] as string }));
  });
}

/** Hosts keep their first turns when rules are swapped in the engine; the model does not say when a sweep comes to them. */
function withoutShares({ freshHosts: _, ...policy }: PolicySpec): PolicySpec {
  return policy;
}

/** Options with several rules from the start; units are hosts, since a swap may not make new ones. */
export function ruleOptionsOf(hosts: readonly string[]): fc.Arbitrary<OptionSpec> {
  const whole = fc.tuple(optionArbitrary, rulesOf(hosts));
  return whole.map(([{ politeness: polite, ...spec }, rules]) => {
    const { by: _, ...rest } = polite ?? {};
    const policy = withoutShares(spec.policy);
    return { ...spec, policy, politeness: { ...rest, by: "host" as const }, rules };
  });
}

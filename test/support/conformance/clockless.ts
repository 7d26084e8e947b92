/**
 * Random programs without a clock, for implementations on a real one: every time is either over at once or far beyond the test, and
 * functions and groups are left out where an implementation does not take them.
 */
import type { OptionSpec, RuleSpec } from "../option-sets.ts";
import { type Command, FAR_MS } from "../programs.ts";
import type { SyncOutcome } from "../frontier-surface.ts";
import type { Supports } from "./implementations.ts";

type Policy = OptionSpec["policy"];
type PoliteSpec = NonNullable<OptionSpec["politeness"]>;

/** Nothing, or as good as never. */
function farOf(ms: number): number {
  return ms === 0 ? 0 : FAR_MS;
}

/** The command as it may stand in a program without a clock; undefined: it has no place there. */
export function clocklessCommand(command: Command): Command | undefined {
  switch (command.do) {
    case "advance":
    case "nextDueAt":
    case "drain":
    case "hostAddress":
      return undefined;
    case "push":
    case "put":
    case "update":
      return command.dueInMs === undefined
        ? command
        : { ...command, dueInMs: farOf(command.dueInMs) };
    case "hostDelay":
    case "hostBlock":
      return { ...command, value: farOf(command.value) };
    case "extend":
      return { ...command, ms: FAR_MS };
    case "done":
    case "fail":
      return { ...command, outcome: outcomeOf(command.outcome) };
    case "retry": {
      const { delayMs = 0, outcome = {}, ...options } = command.options;
      return {
        ...command,
        options: { ...options, delayMs: farOf(delayMs), outcome: outcomeOf(outcome) },
      };
    }
    case "setRules":
      return { ...command, rules: command.rules.map(clocklessRule) };
    default:
      return command;
  }
}

function outcomeOf({ retryAfterMs, address: _, ...outcome }: SyncOutcome): SyncOutcome {
  return retryAfterMs === undefined ? outcome : { ...outcome, retryAfterMs: farOf(retryAfterMs) };
}

/** The options without what only a clock brings about. */
export function clocklessOptions(spec: OptionSpec): OptionSpec {
  const { capacity, maxLeases, maxDeliveries } = spec.limits;
  return {
    ...spec,
    policy: clocklessPolicy(spec.policy),
    ...(spec.politeness === undefined ? {} : { politeness: clocklessHosts(spec.politeness) }),
    ...(spec.rules === undefined ? {} : { rules: spec.rules.map(clocklessRule) }),
    limits: {
      leaseMs: FAR_MS,
      ...(capacity === undefined ? {} : { capacity }),
      ...(maxLeases === undefined ? {} : { maxLeases }),
      ...(maxDeliveries === undefined ? {} : { maxDeliveries }),
    },
  };
}

function clocklessRule({ politeness, epoch, ...rule }: RuleSpec): RuleSpec {
  return {
    ...rule,
    ...clocklessPolicy({ ...rule, ...(epoch === undefined ? {} : { epoch }) }),
    ...(politeness === undefined ? {} : { politeness: clocklessHosts(politeness) }),
  };
}

function clocklessPolicy({ epoch, backoff, ...policy }: Policy): Policy {
  const isTimed = typeof epoch === "object" && !("version" in epoch);
  return {
    ...policy,
    ...(epoch === undefined || isTimed ? {} : { epoch }),
    ...(backoff === undefined ? {} : { backoff: { baseMs: FAR_MS, jitter: 0 } }),
  };
}

function clocklessHosts({
  delayMs,
  adaptive: _,
  hostBackoff,
  groups: __,
  ...rest
}: PoliteSpec): PoliteSpec {
  return {
    ...rest,
    ...(delayMs === undefined ? {} : { delayMs: farOf(delayMs % 10) }),
    ...(hostBackoff === undefined
      ? {}
      : { hostBackoff: { ...hostBackoff, baseMs: FAR_MS, maxMs: FAR_MS } }),
  };
}

/** The options without what the implementation refuses. */
export function supportedOptions(spec: OptionSpec, supports: Supports): OptionSpec {
  const { accept, politeness, policy, rules, ...rest } = spec;
  const { breaker: _, ...limits } = spec.limits;
  const hasHook = accept !== undefined && supports.functions;
  return {
    ...rest,
    limits: supports.breaker ? spec.limits : limits,
    policy: supportedPolicy(policy, supports),
    ...(hasHook ? { accept } : {}),
    ...(politeness === undefined && supports.hostsApart
      ? {}
      : { politeness: supportedHosts(politeness ?? {}, supports) }),
    ...(rules === undefined ? {} : { rules: supportedRules(rules, supports) }),
  };
}

/** The rules without what the implementation refuses. */
export function supportedRules(rules: readonly RuleSpec[], supports: Supports): RuleSpec[] {
  return rules.map(({ politeness, epoch, ...rule }) => ({
    ...rule,
    ...supportedPolicy({ ...rule, ...(epoch === undefined ? {} : { epoch }) }, supports),
    ...(politeness === undefined ? {} : { politeness: supportedHosts(politeness, supports) }),
  }));
}

function supportedPolicy({ epoch, freshHosts, ...others }: Policy, supports: Supports): Policy {
  const hasFresh = freshHosts !== undefined && (freshHosts === "first" || supports.freshShares);
  const policy = hasFresh ? { ...others, freshHosts } : others;
  if (epoch === undefined) return policy;
  const isFunction = typeof epoch === "object" && "of" in epoch;
  const isAdaptive = typeof epoch === "object" && "adaptive" in epoch;
  const isLeftOut = (isFunction && !supports.functions) || (isAdaptive && !supports.adaptiveEpochs);
  return isLeftOut ? policy : { ...policy, epoch };
}

function supportedHosts(given: PoliteSpec, supports: Supports): PoliteSpec {
  const { by, groups, ...rest } = supports.hostsApart ? given : { perHost: 1, ...given };
  const own = by === "key" && !supports.functions ? "domain" : by;
  const wider = groups?.filter(
    (group) => supports.functions || group.by === "domain" || group.by === "address",
  );
  const hasGroups = wider !== undefined && wider.length > 0 && supports.groups;
  return {
    ...rest,
    ...(own === undefined ? {} : { by: own }),
    ...(hasGroups ? { groups: wider } : {}),
  };
}

/** Counters that are stored in a note, because no entry of a record holds them. */
import type { Core } from "../../frontier/core.ts";

/** Counts that no entry of a record holds. */
export function storedCounters(core: Core): Record<string, unknown> {
  const { counters, hosts, leaseSequence, rules } = core;
  const { passes } = core.shares;
  const { pushed, duplicate, full, lateResults, expired, seen } = counters;
  return {
    ...{ pushed, duplicate, full, lateResults, expired, leaseSequence, joined: hosts.joined },
    seen,
    current: core.shares.current,
    rejected: Object.fromEntries(counters.rejected),
    passes: Object.fromEntries(rules.map(({ id, index }) => [id, passes[index]])),
  };
}

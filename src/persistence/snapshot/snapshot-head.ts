/** The head of a snapshot: everything of a core that no table holds, as it is now. */
import type { Core } from "../../frontier/core.ts";
import { seenHot } from "../../structures/seen/seen-set.ts";
import { HASH_ALGORITHM, type Identity } from "../directory/frontier-directory.ts";
import type { SnapshotHead } from "./snapshot-format.ts";

interface HeadFacts {
  readonly serial: number;
  readonly identity: Identity;
  readonly savedAt: number;
  readonly volatileLive: number;
  readonly notes: ReadonlyMap<string, Uint8Array>;
  readonly standalone?: boolean;
}

export function snapshotHead(core: Core, facts: HeadFacts): SnapshotHead {
  const { counters, rules } = core;
  const { passes } = core.shares;
  const { rejected, depths, ...numbers } = counters;
  const { secret, profile } = facts.identity;
  return {
    ...{ t: "head", serial: facts.serial, algorithm: HASH_ALGORITHM },
    secret: new Uint8Array(Uint32Array.from(secret.subarray(0, 4)).buffer),
    ...{ profile, savedAt: facts.savedAt, volatileLive: facts.volatileLive },
    entries: seenHot(core.seen),
    ...{ sequence: core.sequence, leaseSequence: core.leaseSequence, joined: core.hosts.joined },
    // Gauges are counted anew from the records that a reader restores.
    counters: { ...numbers, pending: 0, waiting: 0, leased: 0, failed: 0 },
    depths: Array.from(depths, (count) => count ?? 0),
    rejected: Object.fromEntries(rejected),
    rules: rules.map(({ id, served, done, index }) => {
      return { id, served, done, pass: passes[index] as number };
    }),
    notes: Object.fromEntries(facts.notes),
    ...(facts.standalone === true ? { alone: true } : {}),
  };
}

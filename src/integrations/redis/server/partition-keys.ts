/**
 * Keys and state of a partition, as the scripts have them (lua/lib-state.lua, docs/formats/redis.md). All keys of one have the same
 * tag in braces, so that a cluster keeps them in one slot.
 */

/** Version of keys, records and scripts together: another one is refused. */
export const REDIS_FORMAT = 6;

const PARTS = "mshqcrdwleobnpgx";

/** The keys of a partition, in the scripts' order. */
export function partitionKeys(prefix: string, name: string, partition: number): string[] {
  return Array.from(PARTS, (part) => `${prefix}:{${name}.${partition}}:${part}`);
}

/** The channel on which sleepers are woken, and new rules announced. */
export function channelOf(prefix: string, name: string): string {
  return `${prefix}:{${name}}:wake`;
}

/** Places in the state, from 0. */
export const STATE = {
  ...{ turn: 2, joined: 3, pass: 29, namelessDone: 40, nextFailure: 41 },
  ...{ version: 4, rules: 5, pushed: 6, accepted: 7, deferred: 8, duplicate: 9, full: 10 },
  ...{ retried: 11, expired: 12, late: 13, pending: 14, waiting: 15, leased: 16, done: 17 },
  ...{ failed: 18, forgotten: 19, removed: 20, resting: 21, seen: 22, sent: 25, received: 26 },
  ...{ generation: 27, paused: 30, hosts: 33, maxDeliveries: 34, epochSeen: 35, kept: 36 },
} as const;

const COUNTERS = 43;

/** The state that a partition begins with. */
export function firstState(maxDeliveries: number): Buffer {
  const state = Buffer.alloc(COUNTERS * 8);
  state.writeDoubleBE(maxDeliveries, STATE.maxDeliveries * 8);
  return state;
}

export function readState(bytes: Buffer): number[] {
  return Array.from({ length: COUNTERS }, (_, at) => bytes.readDoubleBE(at * 8));
}

/**
 * Groups of the naive model: clocks above hosts. Nothing is kept but the clocks; who belongs to a group, and how many leases
 * it has out, is computed from all hosts whenever it is needed.
 *
 *   may go      every group that the rule asks for has fewer leases than the limit, and its clock has passed
 *   readyAt     hand-out and end of visit raise it to now + the rule's delay for this kind of group; a release takes its own back
 *   address     not known: that group blocks nothing. Changed: the host goes, with its leases, to the other group
 *   functions   one in a new set of rules takes over the place and the clocks of one that the set does not name
 */
import type { SyncGroup, SyncPolicy } from "./frontier-surface.ts";
import { hostOf, type Model, type ModelHost } from "./model-state.ts";

/** The effect of a hand-out on one group's clock. */
export interface GroupHold {
  by: SyncGroup["by"];
  key: string;
  readyBefore: number;
  readySet: number;
}

export function groupsMayGo(model: Model, host: ModelHost, policy: SyncPolicy): boolean {
  return groupsOf(policy).every(({ by, limit = Number.POSITIVE_INFINITY }) => {
    const key = groupKey(model, host, by);
    if (key === undefined) return true;
    if (model.laws.isGroupFull(leasedOf(model, by, key), limit)) return false;
    return model.laws.hasGroupDelayPassed(readyAtOf(model, key), model.now());
  });
}

export function reserveGroups(model: Model, host: ModelHost, policy: SyncPolicy): GroupHold[] {
  return groupsOf(policy).flatMap(({ by, delayMs = 0 }) => {
    const key = groupKey(model, host, by);
    if (key === undefined) return [];
    const readyBefore = readyAtOf(model, key);
    const readySet = model.laws.groupReadyAfterHandOut(readyBefore, model.now(), delayMs);
    model.groups.set(key, readySet);
    return [{ by, key, readyBefore, readySet }];
  });
}

export function endGroups(model: Model, host: ModelHost, policy: SyncPolicy, endMs: number): void {
  for (const { by, delayMs = 0 } of groupsOf(policy)) {
    const key = groupKey(model, host, by);
    if (key === undefined) continue;
    const readyAt = readyAtOf(model, key);
    model.groups.set(key, model.laws.groupReadyAfterVisit(readyAt, endMs, delayMs));
  }
}

/** Clocks that were not set since are as before the hand-out. */
export function cancelGroups(model: Model, host: ModelHost, holds: readonly GroupHold[]): void {
  for (const hold of holds) {
    const { by, key } = hold;
    if (groupKey(model, host, by) !== key) continue;
    if (!model.laws.isClockAsSet(readyAtOf(model, key), hold)) continue;
    model.groups.set(key, model.laws.groupReadyAfterRelease(hold));
  }
}

/** Running clocks outlive a clear. */
export function owedGroups(model: Model): Model["groups"] {
  const owed = [...model.groups].filter(([, readyAt]) =>
    model.laws.groupOutlivesClear(readyAt, model.now()),
  );
  return new Map(owed);
}

export function setAddress(model: Model, key: string, address: string): void {
  hostOf(model, key).address = model.laws.knownAddress(address);
}

function groupsOf(policy: SyncPolicy): SyncGroup[] {
  return policy.politeness?.groups ?? [];
}

function readyAtOf(model: Model, key: string): number {
  return model.groups.get(key) ?? 0;
}

function leasedOf(model: Model, by: SyncGroup["by"], key: string): number {
  const members = [...model.hosts.values()].filter((host) => groupKey(model, host, by) === key);
  return members.reduce((sum, { leased }) => sum + leased, 0);
}

/** Kind and name of a host's group; undefined: it has none. */
function groupKey(
  model: Model,
  { key, address }: ModelHost,
  by: SyncGroup["by"],
): string | undefined {
  if (by === "address") return address === undefined ? undefined : `address ${address}`;
  if (by === "domain") return `domain ${domainOf(key)}`;
  const place = model.places.get(by) as number;
  return `own ${place} ${(model.kinds[place] as typeof by)(key)}`;
}

/** Gives the functions of a set of rules their places. */
export function placeKinds(model: Model, policies: readonly SyncPolicy[]): void {
  const named = new Set(policies.flatMap(groupsOf).map(({ by }) => by));
  for (const by of named) {
    if (typeof by !== "function" || model.kinds.includes(by)) continue;
    const left = model.kinds.findIndex((each) => !named.has(each));
    const place = left < 0 ? model.kinds.length : left;
    model.kinds[place] = by;
    model.places.set(by, place);
  }
}

/** The hosts of our programs end in two-label registrable domains. */
function domainOf(host: string): string {
  return host.replace(/:\d+$/, "").split(".").slice(-2).join(".");
}

/**
 * Kinds of group, by number: 'domain', 'address', and the functions that rules name.
 *
 *   number   kind        label      named by the set
 *        0   domain      domain     yes
 *        1   f           own 0      no: the next new function takes its number, and its label
 *        2   g           own 1      yes
 *
 * A function that a set of rules brings anew goes on where one that the set does not name any more has stood: groups of a name keep
 * their clocks, as they do over a restart, and what hosts belong to is asked again when they are looked at next.
 *
 *   I1  There are as many kinds as one set of rules has named at most, however many functions sets have brought.
 *   I2  A number has the stamp of its latest change; a host that was asked before it is asked again (host-groups.ts).
 */
import { refusePromise } from "../../base/errors.ts";
import {
  groupOpen,
  memberAddress,
  memberKinds,
  memberStamp,
} from "../../structures/hosts/group-table.ts";
import { hostName } from "../../structures/hosts/host-table.ts";
import { registrableDomain } from "../../url/parsing/registrable-domain.ts";
import type { Core } from "../core.ts";
import type { GroupBy } from "../rules/rule-policy.ts";
import { assertRoom } from "../records/memory-reserve.ts";

/** Numbers the kinds of a set of rules in its order, so that files mean the same ones; true: some are new or changed. */
export function numberKinds(core: Core): boolean {
  const { active, groupKinds, groupStamps } = core;
  const named = new Set<GroupBy>();
  for (const { policy } of active) for (const { by } of policy.groups) named.add(by);
  let isNew = false;
  for (const by of named) {
    if (groupKinds.includes(by)) continue;
    isNew = true;
    const left = typeof by === "function" ? firstLeft(groupKinds, named) : -1;
    const kind = left < 0 ? groupKinds.length : left;
    groupKinds[kind] = by;
    groupStamps[kind] = ++core.groupStamp;
  }
  for (const { policy } of active) {
    for (const term of policy.groups) term.kind = groupKinds.indexOf(term.by);
  }
  return isNew;
}

/** The first function that the set does not name; −1: there is none. */
function firstLeft(kinds: readonly GroupBy[], named: ReadonlySet<GroupBy>): number {
  return kinds.findIndex((by) => typeof by === "function" && !named.has(by));
}

/** Whether a host has been asked about every kind as it is. @hot */
export function isAsked({ groupKinds, groupStamp, store }: Core, host: number): boolean {
  return memberStamp(store, host) === groupStamp && memberKinds(store, host) === groupKinds.length;
}

/** Whether a host, whose kinds were `had` when it was asked at `stamp`, has to be asked about a kind. */
export function isKindNew(core: Core, kind: number, had: number, stamp: number): boolean {
  return kind >= had || (core.groupStamps[kind] as number) > stamp;
}

/** The group of a host by a kind, made when missing; 0: it has none. */
export function askGroup(core: Core, host: number, kind: number): number {
  const name = nameIn(core, host, core.groupKinds[kind] as GroupBy);
  return name === undefined ? 0 : openGroup(core, kind, name);
}

export function openGroup(core: Core, kind: number, name: string): number {
  const group = groupOpen(core.groups, { label: labelOf(core, kind), kind }, name);
  assertRoom(group !== 0);
  return group;
}

/** What a kind of group is called in files. Functions are distinguished by their order. */
function labelOf({ groupKinds }: Core, kind: number): string {
  const by = groupKinds[kind] as GroupBy;
  if (typeof by !== "function") return by;
  const before = groupKinds.slice(0, kind).filter((other) => typeof other === "function");
  return `own ${before.length}`;
}

/** The name of a host's group of a kind; undefined: it has none. A function that throws, which is reported, or returns no text: the host alone. */
function nameIn(core: Core, host: number, by: GroupBy): string | undefined {
  if (by === "address") return memberAddress(core.store, host);
  const name = hostName(core.store, host);
  if (by === "domain") return registrableDomain(name);
  core.isAsking = true; // the user's function must not come back in
  try {
    const group: unknown = by(name);
    refusePromise("groups", group, "a string");
    return typeof group === "string" && group !== "" ? group : name;
  } catch (cause) {
    core.sink.fault("groups", cause, undefined);
    return name;
  } finally {
    core.isAsking = false;
  }
}

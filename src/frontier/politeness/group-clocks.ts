/**
 * Group clocks: set, passed, and those that outlive what set them: logged, brought back from files, carried over a clear.
 *
 * A group is known by the hash of its kind's label and its name, so that its clock can come back before any of its hosts does;
 * until one joins, or the clock runs out, it is a group that no host belongs to (host-groups.ts, I4).
 */
import {
  GROUP_CLOCKED_WORD,
  GROUP_HASH_HI_WORD,
  GROUP_HASH_LO_WORD,
  GROUP_PASSED_WORD,
  GROUP_READY_AT_WORD,
  groupEach,
  groupOfHash,
  memberGroup,
  memberKinds,
} from "../../structures/hosts/group-table.ts";
import { heapPush, heapUpdate } from "../../structures/ordering/heap.ts";
import { float, setFloat, setWord, word } from "../../structures/store.ts";
import type { Core } from "../core.ts";

/** Whether the clock of a group has passed; it is passed from then on until it is set anew. */
export function hasPassed(core: Core, group: number, nowMs: number): boolean {
  const isPassed = groupHold(core, group) <= nowMs;
  if (isPassed) setWord(core.store, group, GROUP_PASSED_WORD, 1);
  return isPassed;
}

/** The time before which a group lets nothing go; −Infinity once that has passed, as with hosts (host-clock.ts). */
export function groupHold({ store }: Core, group: number): number {
  const isPassed = word(store, group, GROUP_PASSED_WORD) !== 0;
  return isPassed ? Number.NEGATIVE_INFINITY : float(store, group, GROUP_READY_AT_WORD);
}

/** Sets the clock of a group; it has not passed then. */
export function setGroupClock({ store }: Core, group: number, readyAt: number): void {
  setFloat(store, group, GROUP_READY_AT_WORD, readyAt);
  setWord(store, group, GROUP_PASSED_WORD, 0);
}

/** Logs the clocks of a host's groups. @hot */
export function logGroups(core: Core, host: number): void {
  const { log, store } = core;
  if (log === undefined) return;
  const kinds = memberKinds(store, host);
  for (let kind = 0; kind < kinds; kind++) {
    const group = memberGroup(store, host, kind);
    if (group !== 0) log.group(group);
  }
}

/** Sets the clock of a group that may have no host yet; false when memory is exhausted. */
export function restoreGroupClock(core: Core, lo: number, hi: number, readyAt: number): boolean {
  const { groupClocks, groups, store } = core;
  const group = groupOfHash(groups, lo, hi);
  if (group === 0) return false;
  setGroupClock(core, group, readyAt);
  if (word(store, group, GROUP_CLOCKED_WORD) !== 0) {
    heapUpdate(groupClocks, group, readyAt, 0);
    return true;
  }
  setWord(store, group, GROUP_CLOCKED_WORD, 1);
  return heapPush(groupClocks, group, readyAt, 0);
}

/** Clocks that still run go over to the core that replaces one; both count their kinds alike. */
export function carryGroups(from: Core, to: Core, nowMs: number): void {
  const { store } = from;
  groupEach(from.groups, (group) => {
    const readyAt = float(store, group, GROUP_READY_AT_WORD);
    if (groupHold(from, group) <= nowMs) return;
    const lo = word(store, group, GROUP_HASH_LO_WORD);
    restoreGroupClock(to, lo, word(store, group, GROUP_HASH_HI_WORD), readyAt);
  });
}

/** All clocks, for a log that begins anew. */
export function logAllGroups(core: Core): void {
  groupEach(core.groups, (group) => core.log?.group(group));
}

/**
 * Groups by kind and name, their gates, and which of them a host belongs to (layout/records/group.ts).
 *
 *   I1  A group is in the index while a host belongs to it or its clock runs.
 *   I2  A host names each of its groups once, and each counts it.
 */
import {
  GATE_GROUP_WORD,
  GATE_NEXT_WORD,
  GATE_RULE_WORD,
  GATE_SIZE_BYTES,
  GROUP_GATES_WORD,
  GROUP_HASH_HI_WORD,
  GROUP_HASH_LO_WORD,
  GROUP_HOSTS_WORD,
  GROUP_KIND_WORD,
  GROUP_SIZE_BYTES,
  MEMBER_ADDRESS_BYTES_WORD,
  MEMBER_ADDRESS_WORD,
  MEMBER_GROUPS_WORD,
  MEMBER_KINDS_WORD,
  MEMBER_STAMP_WORD,
} from "../../layout/records/group.ts";
import { HOST_GROUPS_WORD } from "../../layout/records/host.ts";
import { arenaGive, arenaTake } from "../../memory/arena.ts";
import {
  createTable,
  type FingerprintTable,
  tableFind,
  tableInsert,
  tableRemove,
} from "../table/fingerprint-table.ts";
import { hashText, setWord, type Store, word, wordAt } from "../store.ts";
import { closeWalk, openWalk, walkNext, walkValue } from "../table/table-walk.ts";

export {
  GATE_FRONT_WORD,
  GATE_GROUP_WORD,
  GATE_NEXT_WORD,
  GATE_PARKED_WORD,
  GATE_RANKS_WORD,
  GATE_RULE_WORD,
  GROUP_CLOCKED_WORD,
  GROUP_GATES_WORD,
  GROUP_HASH_HI_WORD,
  GROUP_HASH_LO_WORD,
  GROUP_HOSTS_WORD,
  GROUP_KIND_WORD,
  GROUP_LEASED_WORD,
  GROUP_PASSED_WORD,
  GROUP_READY_AT_WORD,
} from "../../layout/records/group.ts";
export { HOST_GROUPS_WORD, QUEUE_GATE_WORD } from "../../layout/records/host.ts";

export interface GroupTable {
  readonly store: Store;
  /** Made with the first group: a frontier without any pays nothing. */
  index: FingerprintTable | undefined;
  count: number;
  /** Gates of all groups, and host queues parked at them. */
  gates: number;
  parked: number;
}

/** Longest address that is kept. */
const ADDRESS_BYTES_MAX = 256;

export function createGroupTable(store: Store): GroupTable {
  return { store, index: undefined, count: 0, gates: 0, parked: 0 };
}

/** The group of this kind (its label and its number) and name, made when missing; 0 when memory is exhausted. */
export function groupOpen(
  table: GroupTable,
  { label, kind }: { label: string; kind: number },
  name: string,
): number {
  const hash = new Uint32Array(2);
  hashText(table.store, `${label}\0${name}`, hash);
  const group = groupOfHash(table, hash[0] as number, hash[1] as number);
  // One that came back from a file was known by its hash alone.
  if (group !== 0) setWord(table.store, group, GROUP_KIND_WORD, kind);
  return group;
}

/** Makes the index, before the first group is needed; throws MEMORY_FULL. */
export function groupsOpen(table: GroupTable): FingerprintTable {
  table.index ??= createTable(table.store.kernel, { valued: true });
  return table.index;
}

/** The group of a hash, made when missing; 0 when memory is exhausted. */
export function groupOfHash(table: GroupTable, lo: number, hi: number): number {
  const { store } = table;
  const index = groupsOpen(table);
  const known = tableFind(index, lo, hi);
  if (known !== 0) return wordAt(store, known >>> 2);
  const group = arenaTake(store.arena, GROUP_SIZE_BYTES);
  const slot = group === 0 ? 0 : tableInsert(index, lo, hi);
  if (slot === 0) {
    if (group !== 0) arenaGive(store.arena, group, GROUP_SIZE_BYTES);
    return 0;
  }
  const { u32 } = store.region.views;
  u32.fill(0, group * 2, group * 2 + GROUP_SIZE_BYTES / 4);
  setWord(store, group, GROUP_HASH_LO_WORD, lo);
  setWord(store, group, GROUP_HASH_HI_WORD, hi);
  u32[slot >>> 2] = group;
  table.count++;
  return group;
}

/** Calls `each` with every group; it must make and free none. */
export function groupEach({ index, store }: GroupTable, each: (group: number) => void): void {
  if (index === undefined) return;
  const walk = openWalk(index);
  while (walkNext(walk)) {
    for (let at = 0; at < walk.count; at++) {
      each(store.region.views.u32[walkValue(walk, at)] as number);
    }
  }
  closeWalk(walk);
}

/** Frees a group that no host belongs to, with its gates. */
export function groupFree(table: GroupTable, group: number): void {
  const { store } = table;
  const lo = word(store, group, GROUP_HASH_LO_WORD);
  tableRemove(table.index as FingerprintTable, lo, word(store, group, GROUP_HASH_HI_WORD));
  for (let gate = word(store, group, GROUP_GATES_WORD); gate !== 0; ) {
    const next = word(store, gate, GATE_NEXT_WORD);
    arenaGive(store.arena, gate, GATE_SIZE_BYTES);
    table.gates--;
    gate = next;
  }
  arenaGive(store.arena, group, GROUP_SIZE_BYTES);
  table.count--;
}

/** The gate of a rule in a group, or 0. */
export function gateFind(store: Store, group: number, ruleQueue: number): number {
  let gate = word(store, group, GROUP_GATES_WORD);
  while (gate !== 0 && word(store, gate, GATE_RULE_WORD) !== ruleQueue) {
    gate = word(store, gate, GATE_NEXT_WORD);
  }
  return gate;
}

/** The same, made when missing; 0 when memory is exhausted. */
export function gateOpen(table: GroupTable, group: number, ruleQueue: number): number {
  const { store } = table;
  const known = gateFind(store, group, ruleQueue);
  if (known !== 0) return known;
  const gate = arenaTake(store.arena, GATE_SIZE_BYTES);
  if (gate === 0) return 0;
  store.region.views.u32.fill(0, gate * 2, gate * 2 + GATE_SIZE_BYTES / 4);
  setWord(store, gate, GATE_RULE_WORD, ruleQueue);
  setWord(store, gate, GATE_GROUP_WORD, group);
  setWord(store, gate, GATE_NEXT_WORD, word(store, group, GROUP_GATES_WORD));
  setWord(store, group, GROUP_GATES_WORD, gate);
  table.gates++;
  return gate;
}

/** How many kinds of group a host has been asked about. */
export function memberKinds(store: Store, host: number): number {
  const member = word(store, host, HOST_GROUPS_WORD);
  return member === 0 ? 0 : word(store, member, MEMBER_KINDS_WORD);
}

/** The stamp of the kinds when a host was asked last. */
export function memberStamp(store: Store, host: number): number {
  const member = word(store, host, HOST_GROUPS_WORD);
  return member === 0 ? 0 : word(store, member, MEMBER_STAMP_WORD);
}

/** A host was asked about kinds of this stamp; it must have been asked about some. */
export function setMemberStamp(store: Store, host: number, stamp: number): void {
  setWord(store, word(store, host, HOST_GROUPS_WORD), MEMBER_STAMP_WORD, stamp);
}

/** The group of a host by kind, or 0. */
export function memberGroup(store: Store, host: number, kind: number): number {
  return kind < memberKinds(store, host)
    ? word(store, word(store, host, HOST_GROUPS_WORD), MEMBER_GROUPS_WORD + kind)
    : 0;
}

/** Makes room for so many kinds, the new ones without group; false when memory is exhausted. */
export function memberGrow(store: Store, host: number, kinds: number): boolean {
  const before = word(store, host, HOST_GROUPS_WORD);
  const had = memberKinds(store, host);
  if (before !== 0 && had >= kinds) return true;
  const member = arenaTake(store.arena, memberBytes(kinds));
  if (member === 0) return false;
  const { u32 } = store.region.views;
  u32.fill(0, member * 2, member * 2 + MEMBER_GROUPS_WORD + kinds);
  if (before !== 0) {
    u32.copyWithin(member * 2, before * 2, before * 2 + MEMBER_GROUPS_WORD + had);
    arenaGive(store.arena, before, memberBytes(had));
  }
  setWord(store, member, MEMBER_KINDS_WORD, kinds);
  setWord(store, host, HOST_GROUPS_WORD, member);
  return true;
}

/** Puts a host into a group of a kind (0: into none) and counts it. The host must have been asked about that kind. */
export function memberSet(store: Store, host: number, kind: number, group: number): void {
  const before = memberGroup(store, host, kind);
  if (before !== 0) {
    setWord(store, before, GROUP_HOSTS_WORD, word(store, before, GROUP_HOSTS_WORD) - 1);
  }
  if (group !== 0)
    setWord(store, group, GROUP_HOSTS_WORD, word(store, group, GROUP_HOSTS_WORD) + 1);
  setWord(store, word(store, host, HOST_GROUPS_WORD), MEMBER_GROUPS_WORD + kind, group);
}

/** The address of a host; undefined: not known. */
export function memberAddress(store: Store, host: number): string | undefined {
  const member = word(store, host, HOST_GROUPS_WORD);
  const address = member === 0 ? 0 : word(store, member, MEMBER_ADDRESS_WORD);
  if (address === 0) return undefined;
  const end = address * 8 + word(store, member, MEMBER_ADDRESS_BYTES_WORD);
  return store.region.views.buffer.utf8Slice(address * 8, end);
}

/** Keeps the address of a host ('' or one too long: not known); false when memory is exhausted. */
export function setMemberAddress(store: Store, host: number, text: string): boolean {
  if (!memberGrow(store, host, memberKinds(store, host))) return false;
  const member = word(store, host, HOST_GROUPS_WORD);
  const bytes = Buffer.from(text, "utf8");
  const isKept = bytes.length > 0 && bytes.length <= ADDRESS_BYTES_MAX;
  const address = isKept ? arenaTake(store.arena, bytes.length) : 0;
  if (isKept && address === 0) return false; // the one before stays
  freeAddress(store, member);
  if (!isKept) return true;
  store.region.views.u8.set(bytes, address * 8);
  setWord(store, member, MEMBER_ADDRESS_WORD, address);
  setWord(store, member, MEMBER_ADDRESS_BYTES_WORD, bytes.length);
  return true;
}

/** Frees what a host holds of its groups; it must belong to none any more. */
export function memberFree(store: Store, host: number): void {
  const member = word(store, host, HOST_GROUPS_WORD);
  if (member === 0) return;
  freeAddress(store, member);
  arenaGive(store.arena, member, memberBytes(word(store, member, MEMBER_KINDS_WORD)));
  setWord(store, host, HOST_GROUPS_WORD, 0);
}

function freeAddress(store: Store, member: number): void {
  const address = word(store, member, MEMBER_ADDRESS_WORD);
  if (address !== 0) {
    arenaGive(store.arena, address, word(store, member, MEMBER_ADDRESS_BYTES_WORD));
  }
  setWord(store, member, MEMBER_ADDRESS_WORD, 0);
  setWord(store, member, MEMBER_ADDRESS_BYTES_WORD, 0);
}

function memberBytes(kinds: number): number {
  return (MEMBER_GROUPS_WORD + kinds) * 4;
}

/**
 * Epochs by name, and the identities that each of them holds (layout/seen/epoch.ts).
 *
 *   identity hash = keyed hash of the request ⊕ salt of its epoch
 *   salt          = keyed hash of FF 'epoch' FF name; 0 for the epoch `forever`, which has no entry here
 *
 * The seen-set alone answers whether an identity is known: an epoch costs nothing when it is asked. What is
 * kept here are 8 bytes for each member, so that one epoch can be forgotten and its memory freed without reading the others. No URL and
 * no own key holds the byte FF, so that no request's hash is a salt.
 *
 * Two identities of different epochs are equal when their hashes differ by exactly the salts' difference: one
 * in 2⁶⁴, as for any two URLs.
 *
 *   I1  An epoch stands in the index and in the list, or is gone with all its chunks.
 *   I2  members = sum of `used` over the chunks.
 *   I3  Every chunk but the first of the chain is full.
 *   I4  The epoch that is known of a name is the one of that name; 0: none, or not looked up.
 */
import { assert } from "../../base/assert.ts";
import { InvariantError } from "../../base/errors.ts";
import {
  CHUNK_CAPACITY_FIRST,
  CHUNK_CAPACITY_MAX,
  CHUNK_CAPACITY_WORD,
  CHUNK_HASH_BYTES,
  CHUNK_HASHES_WORD,
  CHUNK_HEAD_BYTES,
  CHUNK_NEXT_WORD,
  CHUNK_USED_WORD,
  EPOCH_CHUNK_WORD,
  EPOCH_MEMBERS_WORD,
  EPOCH_NAME_BYTES_WORD,
  EPOCH_NAME_WORD,
  EPOCH_NEXT_WORD,
  EPOCH_PREVIOUS_WORD,
  EPOCH_SALT_HI_WORD,
  EPOCH_SALT_LO_WORD,
  EPOCH_SIZE_BYTES,
} from "../../layout/seen/epoch.ts";
import { arenaGive, arenaTake } from "../../memory/arena.ts";
import {
  type FingerprintTable,
  tableClear,
  tableFind,
  tableInsert,
  tableRemove,
  tryCreateTable,
} from "../table/fingerprint-table.ts";
import { hashBytes, setWord, type Store, word, wordAt } from "../store.ts";

/** Its salt's words are signed, since such numbers stand in the object itself. */
interface EpochName {
  readonly lo: number;
  readonly hi: number;
  /** I4. */
  epoch: number;
}

export interface EpochTable {
  readonly store: Store;
  /** Made with the first epoch: a frontier without any pays nothing. */
  index: FingerprintTable | undefined;
  /** First of the list of epochs, the latest made. */
  first: number;
  count: number;
  /** Identities of all epochs. */
  members: number;
  /** The epoch at which a walk in slices stands, moved on where that one goes; 0: none. */
  hand: number;
  /** What is known of names, some ten thousand of them: most requests are of those. */
  readonly names: Map<string, EpochName>;
}

const NAMES_MAX = 32_768;

const SALT_HEAD = Uint8Array.of(0xff, 0x65, 0x70, 0x6f, 0x63, 0x68, 0xff);
/** Where the store's page has room for one hash besides its own. */
const SALT_OUT_OFFSET = 32;

export function createEpochTable(store: Store): EpochTable {
  return { store, index: undefined, first: 0, count: 0, members: 0, hand: 0, names: new Map() };
}

/** The salt of a name, in two signed words. */
export function epochSalt(table: EpochTable, name: string): Readonly<EpochName> {
  return nameOf(table, name);
}

function nameOf({ names, store }: EpochTable, name: string): EpochName {
  const known = names.get(name);
  if (known !== undefined) return known;
  const outOffset = store.secretOffset + SALT_OUT_OFFSET;
  hashBytes(store, Buffer.concat([SALT_HEAD, Buffer.from(name, "utf8")]), outOffset);
  const out = outOffset >> 2;
  const made = { lo: wordAt(store, out) | 0, hi: wordAt(store, out + 1) | 0, epoch: 0 };
  if (names.size >= NAMES_MAX) names.clear();
  names.set(name, made);
  return made;
}

/** The epoch of a name, or 0. */
export function epochFind(table: EpochTable, name: string): number {
  if (table.index === undefined) return 0;
  const known = nameOf(table, name);
  if (known.epoch !== 0) return known.epoch; // I4
  const slot = tableFind(table.index, known.lo >>> 0, known.hi >>> 0);
  if (slot !== 0) known.epoch = wordAt(table.store, slot >>> 2);
  return known.epoch;
}

/** The epoch of a name, made when missing; 0 when memory is exhausted. */
export function epochOpen(table: EpochTable, name: string): number {
  const { store } = table;
  const known = epochFind(table, name);
  if (known !== 0) return known;
  table.index ??= tryCreateTable(store.kernel, { valued: true });
  if (table.index === undefined) return 0;
  const salt = epochSalt(table, name);
  const [lo, hi] = [salt.lo >>> 0, salt.hi >>> 0];
  const epoch = makeEpoch(store, name, lo, hi);
  const slot = epoch === 0 ? 0 : tableInsert(table.index, lo, hi);
  if (slot === 0) {
    if (epoch !== 0) freeEpoch(store, epoch);
    return 0;
  }
  store.region.views.u32[slot >>> 2] = epoch;
  setWord(store, epoch, EPOCH_NEXT_WORD, table.first);
  if (table.first !== 0) setWord(store, table.first, EPOCH_PREVIOUS_WORD, epoch);
  table.first = epoch;
  table.count++;
  nameOf(table, name).epoch = epoch;
  return epoch;
}

/** Notes one identity of an epoch; false when memory is exhausted. @hot */
export function epochAdd(table: EpochTable, epoch: number, lo: number, hi: number): boolean {
  const { store } = table;
  const { u32 } = store.region.views;
  let chunk = word(store, epoch, EPOCH_CHUNK_WORD);
  const capacity = chunk === 0 ? 0 : (u32[chunk * 2 + CHUNK_CAPACITY_WORD] as number);
  if (chunk === 0 || u32[chunk * 2 + CHUNK_USED_WORD] === capacity) {
    chunk = addChunk(store, epoch, capacity === 0 ? CHUNK_CAPACITY_FIRST : capacity * 2);
    if (chunk === 0) return false;
  }
  const { u32: words } = store.region.views; // a new chunk may have moved them
  const used = words[chunk * 2 + CHUNK_USED_WORD] as number;
  const at = chunk * 2 + CHUNK_HASHES_WORD + used * 2;
  words[at] = lo;
  words[at + 1] = hi;
  words[chunk * 2 + CHUNK_USED_WORD] = used + 1;
  words[epoch * 2 + EPOCH_MEMBERS_WORD] = (words[epoch * 2 + EPOCH_MEMBERS_WORD] as number) + 1;
  table.members++;
  return true;
}

/** Takes an identity that was noted lately back, and with the last one its epoch: its record found no room. */
export function epochTakeBack(table: EpochTable, epoch: number, lo: number, hi: number): void {
  const { store } = table;
  const members = epochMembers(store, epoch) - 1;
  if (members === 0) {
    epochDrop(table, epoch);
    return;
  }
  let chunk = word(store, epoch, EPOCH_CHUNK_WORD);
  const used = word(store, chunk, CHUNK_USED_WORD) - 1;
  const last = CHUNK_HASHES_WORD + used * 2;
  const { at, within } = findLatest(store, chunk, lo, hi);
  setWord(store, within, at, word(store, chunk, last));
  setWord(store, within, at + 1, word(store, chunk, last + 1));
  setWord(store, chunk, CHUNK_USED_WORD, used);
  setWord(store, epoch, EPOCH_MEMBERS_WORD, members);
  table.members--;
  if (used > 0) return;
  chunk = giveChunk(store, chunk);
  setWord(store, epoch, EPOCH_CHUNK_WORD, chunk);
}

/** Where an identity stands, searched from the latest on. */
function findLatest(
  store: Store,
  newest: number,
  lo: number,
  hi: number,
): { within: number; at: number } {
  for (let chunk = newest; chunk !== 0; chunk = word(store, chunk, CHUNK_NEXT_WORD)) {
    let at = CHUNK_HASHES_WORD + word(store, chunk, CHUNK_USED_WORD) * 2 - 2;
    for (; at >= CHUNK_HASHES_WORD; at -= 2) {
      if (word(store, chunk, at) === lo && word(store, chunk, at + 1) === hi)
        return { within: chunk, at };
    }
  }
  throw new InvariantError("I2: an identity that joined is a member");
}

export function epochMembers(store: Store, epoch: number): number {
  return word(store, epoch, EPOCH_MEMBERS_WORD);
}

export function epochName(store: Store, epoch: number): string {
  const start = word(store, epoch, EPOCH_NAME_WORD) * 8;
  const { buffer } = store.region.views;
  return buffer.utf8Slice(start, start + word(store, epoch, EPOCH_NAME_BYTES_WORD));
}

/** Name of the open epoch that has this salt; `forever` has none. */
export function epochBySalt(table: EpochTable, lo: number, hi: number): string | undefined {
  if ((lo | hi) === 0) return "forever";
  const slot = table.index === undefined ? 0 : tableFind(table.index, lo >>> 0, hi >>> 0);
  if (slot === 0) return undefined;
  return epochName(table.store, wordAt(table.store, slot >>> 2));
}

/** The epoch behind `epoch` in the list, or the first one for 0; 0 at the end. */
export function epochNext(table: EpochTable, epoch: number): number {
  return epoch === 0 ? table.first : word(table.store, epoch, EPOCH_NEXT_WORD);
}

/** Calls `each` with every member of an epoch, latest chunk first; it must add none. */
export function epochEach(
  table: EpochTable,
  epoch: number,
  each: (lo: number, hi: number) => void,
): void {
  const { store } = table;
  let chunk = word(store, epoch, EPOCH_CHUNK_WORD);
  for (; chunk !== 0; chunk = word(store, chunk, CHUNK_NEXT_WORD)) {
    const used = word(store, chunk, CHUNK_USED_WORD);
    for (let index = 0; index < used; index++) {
      const at = CHUNK_HASHES_WORD + index * 2;
      each(word(store, chunk, at), word(store, chunk, at + 1));
    }
  }
}

/** A place among the members of an epoch, for `epochCopy`: it holds as long as the epoch is there. */
interface EpochPlace {
  chunk: number;
  index: number;
}

export function epochStart(store: Store, epoch: number): EpochPlace {
  return { chunk: word(store, epoch, EPOCH_CHUNK_WORD), index: 0 };
}

/** The next members, two words each, as many as there is room for; how many words. What joins meanwhile may be among them or not. */
export function epochCopy(store: Store, place: EpochPlace, into: Uint32Array): number {
  const { u32 } = store.region.views;
  let words = 0;
  while (place.chunk !== 0 && words < into.length) {
    const { chunk, index } = place;
    const used = word(store, chunk, CHUNK_USED_WORD);
    const count = Math.min(used - index, (into.length - words) >> 1);
    const at = chunk * 2 + CHUNK_HASHES_WORD + index * 2;
    into.set(u32.subarray(at, at + count * 2), words);
    words += count * 2;
    place.index = index + count;
    if (place.index < used) break;
    place.chunk = word(store, chunk, CHUNK_NEXT_WORD);
    place.index = 0;
  }
  return words;
}

/** Keeps the members of an epoch for which `isKept` returns true, each asked for once; false when memory is exhausted. */
export function epochKeep(
  table: EpochTable,
  epoch: number,
  isKept: (lo: number, hi: number) => boolean,
): boolean {
  const { store } = table;
  let chunk = word(store, epoch, EPOCH_CHUNK_WORD);
  table.members -= epochMembers(store, epoch);
  setWord(store, epoch, EPOCH_CHUNK_WORD, 0);
  setWord(store, epoch, EPOCH_MEMBERS_WORD, 0);
  let isRoom = true;
  while (chunk !== 0) {
    const used = word(store, chunk, CHUNK_USED_WORD);
    for (let index = 0; index < used && isRoom; index++) {
      const at = CHUNK_HASHES_WORD + index * 2;
      const lo = word(store, chunk, at);
      const hi = word(store, chunk, at + 1);
      if (isKept(lo, hi)) isRoom = epochAdd(table, epoch, lo, hi);
    }
    chunk = giveChunk(store, chunk);
  }
  return isRoom;
}

/** Removes an epoch with all its entries and frees its memory. */
export function epochDrop(table: EpochTable, epoch: number): void {
  const { store } = table;
  const next = word(store, epoch, EPOCH_NEXT_WORD);
  const previous = word(store, epoch, EPOCH_PREVIOUS_WORD);
  if (table.hand === epoch) table.hand = next;
  if (previous === 0) table.first = next;
  else setWord(store, previous, EPOCH_NEXT_WORD, next);
  if (next !== 0) setWord(store, next, EPOCH_PREVIOUS_WORD, previous);
  const known = table.names.get(epochName(store, epoch));
  if (known !== undefined) known.epoch = 0; // I4
  const lo = word(store, epoch, EPOCH_SALT_LO_WORD);
  tableRemove(table.index as FingerprintTable, lo, word(store, epoch, EPOCH_SALT_HI_WORD));
  table.count--;
  table.members -= epochMembers(store, epoch);
  freeEpoch(store, epoch);
}

/** Takes all epochs out. */
export function epochClear(table: EpochTable): void {
  const { store } = table;
  for (let epoch = table.first; epoch !== 0; ) {
    const next = word(store, epoch, EPOCH_NEXT_WORD);
    freeEpoch(store, epoch);
    epoch = next;
  }
  if (table.index !== undefined) tableClear(table.index);
  table.names.clear(); // I4
  table.first = 0;
  table.hand = 0;
  table.count = 0;
  table.members = 0;
}

/** Checks I1 to I3 over all epochs. */
export function verifyEpochs(table: EpochTable): void {
  const { store } = table;
  let count = 0;
  let members = 0;
  for (const [name, { epoch }] of table.names)
    assert(epoch === 0 || epochName(store, epoch) === name, "I4: an epoch is known by its name");
  for (let epoch = table.first; epoch !== 0; epoch = epochNext(table, epoch)) {
    assert(epochFind(table, epochName(store, epoch)) === epoch, "I1: an epoch is in the index");
    let sum = 0;
    let chunk = word(store, epoch, EPOCH_CHUNK_WORD);
    for (let isFirst = true; chunk !== 0; isFirst = false) {
      const used = word(store, chunk, CHUNK_USED_WORD);
      const capacity = word(store, chunk, CHUNK_CAPACITY_WORD);
      assert(used <= capacity && (isFirst || used === capacity), "I3: older chunks are full");
      sum += used;
      chunk = word(store, chunk, CHUNK_NEXT_WORD);
    }
    assert(sum === epochMembers(store, epoch), "I2: an epoch counts its members");
    members += sum;
    count++;
  }
  assert(count === table.count && members === table.members, "I1: every epoch is in the list");
}

function makeEpoch(store: Store, name: string, lo: number, hi: number): number {
  const bytes = Buffer.from(name, "utf8");
  const nameHandle = arenaTake(store.arena, Math.max(bytes.length, 1));
  if (nameHandle === 0) return 0;
  const epoch = arenaTake(store.arena, EPOCH_SIZE_BYTES);
  if (epoch === 0) {
    arenaGive(store.arena, nameHandle, Math.max(bytes.length, 1));
    return 0;
  }
  const { u8, u32 } = store.region.views;
  u8.set(bytes, nameHandle * 8);
  u32.fill(0, epoch * 2, epoch * 2 + EPOCH_SIZE_BYTES / 4);
  setWord(store, epoch, EPOCH_SALT_LO_WORD, lo);
  setWord(store, epoch, EPOCH_SALT_HI_WORD, hi);
  setWord(store, epoch, EPOCH_NAME_WORD, nameHandle);
  setWord(store, epoch, EPOCH_NAME_BYTES_WORD, bytes.length);
  return epoch;
}

function addChunk(store: Store, epoch: number, wanted: number): number {
  const capacity = Math.min(wanted, CHUNK_CAPACITY_MAX);
  const chunk = arenaTake(store.arena, CHUNK_HEAD_BYTES + capacity * CHUNK_HASH_BYTES);
  if (chunk === 0) return 0;
  setWord(store, chunk, CHUNK_NEXT_WORD, word(store, epoch, EPOCH_CHUNK_WORD));
  setWord(store, chunk, CHUNK_USED_WORD, 0);
  setWord(store, chunk, CHUNK_CAPACITY_WORD, capacity);
  setWord(store, epoch, EPOCH_CHUNK_WORD, chunk);
  return chunk;
}

/** Frees a chunk and returns the one made before it. */
function giveChunk(store: Store, chunk: number): number {
  const next = word(store, chunk, CHUNK_NEXT_WORD);
  const capacity = word(store, chunk, CHUNK_CAPACITY_WORD);
  arenaGive(store.arena, chunk, CHUNK_HEAD_BYTES + capacity * CHUNK_HASH_BYTES);
  return next;
}

function freeEpoch(store: Store, epoch: number): void {
  for (let chunk = word(store, epoch, EPOCH_CHUNK_WORD); chunk !== 0; ) {
    chunk = giveChunk(store, chunk);
  }
  const nameBytes = Math.max(word(store, epoch, EPOCH_NAME_BYTES_WORD), 1);
  arenaGive(store.arena, word(store, epoch, EPOCH_NAME_WORD), nameBytes);
  arenaGive(store.arena, epoch, EPOCH_SIZE_BYTES);
}

/**
 * Records as bytes of a spill block, and back (layout/records/spill-block.ts draws an entry). Owner: the frontier's thread.
 *
 *   I1  unpack(pack(record)) is the record but for its handle, its links and its place, which is nowhere.
 *   I2  Records of one block that share a parent share it again.
 */
import { arenaTake } from "../../memory/arena.ts";
import {
  BLOB_HEAD_BYTES,
  NAMED_BYTES,
  NAMED_NAME_BYTES_WORD,
  PARENT_BYTES,
  RECORD_DEPTH_WORD,
  RECORD_FLAG_BLOB,
  RECORD_FLAG_PARENT,
  RECORD_HASH_HI_WORD,
  RECORD_HASH_LO_WORD,
  RECORD_HEAD_BYTES,
  RECORD_NAMED,
  RECORD_STATE_WORD,
} from "../../layout/records/record.ts";
import { ITEM_PLACE_WORD, PLACE_NOWHERE } from "../../layout/ordering/item.ts";
import {
  SPILL_ENTRY_HEAD_WORDS,
  SPILL_ENTRY_WORD,
  SPILL_PARENT_WORDS,
  SPILL_RECORD_WORDS_WORD,
} from "../../layout/records/spill-block.ts";
import {
  blobFree,
  parentRelease,
  parentRetain,
  recordBlob,
  recordFlags,
  recordParent,
  recordSize,
} from "../records/record.ts";
import type { Store } from "../store.ts";

/** The parent that the latest record of a block named, held until `endUnpacking`. */
export interface Unpacking {
  parent: number;
  readonly print: Uint32Array;
}

export function createUnpacking(): Unpacking {
  return { parent: 0, print: new Uint32Array(SPILL_PARENT_WORDS) };
}

export function endUnpacking(store: Store, unpacking: Unpacking): void {
  if (unpacking.parent !== 0) parentRelease(store, unpacking.parent);
  unpacking.parent = 0;
}

/** Words that a record takes in a block. @hot */
export function packedWords(store: Store, record: number): number {
  let words = SPILL_ENTRY_HEAD_WORDS + wordsOf(recordSize(store, record));
  const flags = recordFlags(store, record);
  if ((flags & RECORD_FLAG_PARENT) !== 0) words += SPILL_PARENT_WORDS;
  if ((flags & RECORD_FLAG_BLOB) !== 0) words += blobWords(store, recordBlob(store, record));
  return words;
}

/** Writes a record at word `at` and returns the word after it. The caller has checked that there is room. @hot */
export function packRecord(store: Store, record: number, target: Uint32Array, at: number): number {
  const { u32 } = store.region.views;
  const size = wordsOf(recordSize(store, record));
  target[at + SPILL_RECORD_WORDS_WORD] = size;
  let next = at + SPILL_ENTRY_HEAD_WORDS;
  for (let word = 0; word < size; word++) target[next + word] = u32[record * 2 + word] as number;
  next += size;
  const parent = recordParent(store, record);
  if (parent !== 0) {
    for (let word = 0; word < SPILL_PARENT_WORDS; word++)
      target[next + word] = u32[parent * 2 + 2 + word] as number;
    next += SPILL_PARENT_WORDS;
  }
  const blob = recordBlob(store, record);
  if (blob !== 0) {
    const words = blobWords(store, blob);
    for (let word = 0; word < words; word++) target[next + word] = u32[blob * 2 + word] as number;
    next += words;
  }
  target[at + SPILL_ENTRY_WORD] = next - at;
  return next;
}

/** Makes the record of the entry at word `at`; 0 when memory is exhausted, with nothing taken. @hot */
export function unpackRecord(
  store: Store,
  source: Uint32Array,
  at: number,
  unpacking: Unpacking,
): number {
  const size = source[at + SPILL_RECORD_WORDS_WORD] as number;
  const start = at + SPILL_ENTRY_HEAD_WORDS;
  const flags = ((source[start + RECORD_STATE_WORD] as number) >>> 8) & 255;
  let parent = 0;
  let blob = 0;
  if ((flags & (RECORD_FLAG_PARENT | RECORD_FLAG_BLOB)) !== 0) {
    let next = start + size;
    if ((flags & RECORD_FLAG_PARENT) !== 0) {
      parent = unpackParent(store, source, next, unpacking);
      if (parent === 0) return 0;
      next += SPILL_PARENT_WORDS;
    }
    if ((flags & RECORD_FLAG_BLOB) !== 0) {
      blob = unpackBlob(store, source, next);
      if (blob === 0) return 0;
    }
  }
  const bytes = entryBytes(source, start, flags);
  const record = arenaTake(store.arena, bytes);
  if (record === 0) {
    if (blob !== 0) blobFree(store, blob);
    return 0;
  }
  const { u32 } = store.region.views;
  for (let word = 0; word < size; word++) u32[record * 2 + word] = source[start + word] as number;
  u32[record * 2 + ITEM_PLACE_WORD] = PLACE_NOWHERE;
  let optional = record * 2 + (RECORD_HEAD_BYTES >> 2);
  if (parent !== 0) {
    u32[optional++] = parent;
    parentRetain(store, parent);
  }
  if (blob !== 0) u32[optional] = blob;
  return record;
}

/** The words of an entry with its identity, read in place. @hot */
export function entryLo(source: Uint32Array, at: number): number {
  return source[at + SPILL_ENTRY_HEAD_WORDS + RECORD_HASH_LO_WORD] as number;
}

export function entryHi(source: Uint32Array, at: number): number {
  return source[at + SPILL_ENTRY_HEAD_WORDS + RECORD_HASH_HI_WORD] as number;
}

export function entryWords(source: Uint32Array, at: number): number {
  return source[at + SPILL_ENTRY_WORD] as number;
}

/** Flags of the packed record; and the same with more of them set. */
export function entryFlags(source: Uint32Array, at: number): number {
  return ((source[at + SPILL_ENTRY_HEAD_WORDS + RECORD_STATE_WORD] as number) >>> 8) & 255;
}

export function setEntryFlag(target: Uint32Array, at: number, flag: number): void {
  const word = at + SPILL_ENTRY_HEAD_WORDS + RECORD_STATE_WORD;
  target[word] = ((target[word] as number) | (flag << 8)) >>> 0;
}

export function entryDepth(source: Uint32Array, at: number): number {
  return (source[at + SPILL_ENTRY_HEAD_WORDS + RECORD_DEPTH_WORD] as number) & 0xffff;
}

export function setEntryDepth(target: Uint32Array, at: number, depth: number): void {
  const word = at + SPILL_ENTRY_HEAD_WORDS + RECORD_DEPTH_WORD;
  target[word] = (((target[word] as number) & 0xffff0000) | depth) >>> 0;
}

/** Size of the packed record as it was taken: text bytes stand behind the head's last word. */
function entryBytes(source: Uint32Array, start: number, flags: number): number {
  let bytes = RECORD_HEAD_BYTES + (source[start + (RECORD_HEAD_BYTES >> 2) - 1] as number);
  if ((flags & RECORD_FLAG_PARENT) !== 0) bytes += 4;
  if ((flags & RECORD_FLAG_BLOB) !== 0) bytes += 4;
  if (((source[start + RECORD_STATE_WORD] as number) & RECORD_NAMED) === 0) return bytes;
  const nameBytes = source[start + optionalWord(flags) + NAMED_NAME_BYTES_WORD] as number;
  return bytes + NAMED_BYTES + ((nameBytes + 3) & ~3);
}

/** The word behind parent and blob of a record. */
function optionalWord(flags: number): number {
  const words = ((flags & RECORD_FLAG_PARENT) >> 5) + ((flags & RECORD_FLAG_BLOB) >> 6);
  return (RECORD_HEAD_BYTES >> 2) + words;
}

/** The parent of these words, shared with the record before where it is the same (I2). */
function unpackParent(store: Store, source: Uint32Array, at: number, unpacking: Unpacking): number {
  const { print } = unpacking;
  let isSame = unpacking.parent !== 0;
  for (let word = 0; isSame && word < SPILL_PARENT_WORDS; word++)
    isSame = print[word] === source[at + word];
  if (isSame) return unpacking.parent;
  const parent = arenaTake(store.arena, PARENT_BYTES);
  if (parent === 0) return 0;
  endUnpacking(store, unpacking);
  const { u32 } = store.region.views;
  u32[parent * 2] = 1;
  u32[parent * 2 + 1] = 0;
  for (let word = 0; word < SPILL_PARENT_WORDS; word++) {
    print[word] = source[at + word] as number;
    u32[parent * 2 + 2 + word] = source[at + word] as number;
  }
  unpacking.parent = parent;
  return parent;
}

function unpackBlob(store: Store, source: Uint32Array, at: number): number {
  const length = source[at] as number;
  const blob = arenaTake(store.arena, BLOB_HEAD_BYTES + length);
  if (blob === 0) return 0;
  const words = wordsOf(BLOB_HEAD_BYTES + length);
  const { u32 } = store.region.views;
  for (let word = 0; word < words; word++) u32[blob * 2 + word] = source[at + word] as number;
  return blob;
}

function blobWords(store: Store, blob: number): number {
  return wordsOf(BLOB_HEAD_BYTES + (store.region.views.u32[blob * 2] as number));
}

export function wordsOf(bytes: number): number {
  return (bytes + 3) >>> 2;
}

/**
 * Room `src/structures/records`: records as bytes, one at a time or many in one call of the kernel. Decides where fields
 * stand; states are written by frontier/records/transitions alone.
 */

/**
 * Records: their fields, their making and their end (layout/records/record.ts). Owner: the frontier's thread.
 *
 *   I1  A record's text, parent and blob are freed with it and at no other time.
 *   I2  The state byte is written by `frontier/records/transitions.ts` only.
 */
import { arenaGive, arenaTake } from "../../memory/arena.ts";
import {
  BLOB_HEAD_BYTES,
  LONE_BITS,
  NAMED_BYTES,
  NAMED_NAME_BYTES_WORD,
  PARENT_BYTES,
  RECORD_DEPTH_WORD,
  RECORD_FLAG_BLOB,
  RECORD_FLAG_PARENT,
  RECORD_FLAG_VOLATILE,
  RECORD_FLAG_WHOLE,
  RECORD_HASH_HI_WORD,
  RECORD_HASH_LO_WORD,
  RECORD_HEAD_BYTES,
  RECORD_AGAIN,
  RECORD_LONE,
  RECORD_NAMED,
  RECORD_PRIORITY_WORD,
  RECORD_QUEUE_WORD,
  RECORD_STATE_MASK,
  RECORD_STATE_WORD,
  RECORD_TEXT_BYTES_WORD,
} from "../../layout/records/record.ts";
import { ITEM_KEY_WORD, ITEM_PLACE_WORD } from "../../layout/ordering/item.ts";
import type { Store } from "../store.ts";

export {
  RECORD_FAILED,
  RECORD_FLAG_BLOB,
  RECORD_FLAG_HTTPS,
  RECORD_FLAG_NO_IDENTITY,
  RECORD_FLAG_PARENT,
  RECORD_FLAG_QUEUED,
  RECORD_FLAG_START,
  RECORD_FLAG_VOLATILE,
  RECORD_FLAG_WHOLE,
  RECORD_LEASED,
  RECORD_PENDING,
  RECORD_RESTING,
  RECORD_WAITING,
} from "../../layout/records/record.ts";

const CLAMP_16 = 65_535;

/** What a new record is made of; one object is reused for all, so that making a record allocates nothing. */
export interface RecordDraft {
  flags: number;
  priority: number;
  queue: number;
  lo: number;
  hi: number;
  depth: number;
  /** Absolute offset and length of the URL text in the region. */
  textOffset: number;
  textLength: number;
  parent: number;
  blob: number;
}

export function createDraft(): RecordDraft {
  return {
    flags: 0,
    priority: 0,
    queue: 0,
    lo: 0,
    hi: 0,
    depth: 0,
    textOffset: 0,
    textLength: 0,
    parent: 0,
    blob: 0,
  };
}

/** Bytes a record takes, by its flags and its text. */
function recordBytes(flags: number, textLength: number): number {
  let bytes = RECORD_HEAD_BYTES + textLength;
  if ((flags & RECORD_FLAG_PARENT) !== 0) bytes += 4;
  if ((flags & RECORD_FLAG_BLOB) !== 0) bytes += 4;
  return bytes;
}

/**
 * Makes a record in no place and with no state; returns 0 when memory is exhausted. The text is NOT
 * copied: the caller copies it to `recordTextOffset`, in one kernel call for a whole batch. @hot
 */
export function recordCreate(store: Store, draft: RecordDraft): number {
  let flags = draft.flags;
  if (draft.parent !== 0) flags |= RECORD_FLAG_PARENT;
  if (draft.blob !== 0) flags |= RECORD_FLAG_BLOB;
  const record = arenaTake(store.arena, recordBytes(flags, draft.textLength));
  if (record === 0) return 0;
  const { u32, f64 } = store.region.views;
  const at = record * 2;
  u32[at] = 0;
  u32[at + 1] = 0;
  f64[record + (ITEM_KEY_WORD >> 1)] = 0;
  u32[at + ITEM_PLACE_WORD] = 0;
  u32[at + RECORD_STATE_WORD] = (flags << 8) | (1 << 16);
  f64[record + (RECORD_PRIORITY_WORD >> 1)] = draft.priority;
  u32[at + RECORD_QUEUE_WORD] = draft.queue;
  u32[at + RECORD_HASH_LO_WORD] = draft.lo;
  u32[at + RECORD_HASH_HI_WORD] = draft.hi;
  u32[at + RECORD_DEPTH_WORD] = Math.min(draft.depth, CLAMP_16);
  u32[at + RECORD_TEXT_BYTES_WORD] = draft.textLength;
  let next = at + (RECORD_HEAD_BYTES >> 2);
  if (draft.parent !== 0) u32[next++] = draft.parent;
  if (draft.blob !== 0) u32[next] = draft.blob;
  return record;
}

/**
 * Reads the first words of records, each read independent of the others: the next reader waits for memory once, and not once a record.
 * The result has no meaning; it only keeps the reads from being optimised away. @hot
 */
export function touchRecords(u32: Uint32Array, records: Uint32Array, count: number): number {
  let seen = 0;
  for (let index = 0; index < count; index++) {
    seen |= u32[(records[index] as number) * 2 + RECORD_STATE_WORD] as number;
  }
  return seen;
}

/** Memory for a record with its whole URL as text; 0 when it is exhausted. `recordRemake` fills it, `remakeGive` frees it. */
export function remakeTake(store: Store, record: number, url: string): number {
  return arenaTake(store.arena, recordBytes(recordFlags(store, record), url.length));
}

export function remakeGive(store: Store, record: number, url: string, made: number): void {
  arenaGive(store.arena, made, recordBytes(recordFlags(store, record), url.length));
}

/** The same record with its whole URL as text, under the handle of `remakeTake`; the old one is freed. */
export function recordRemake(store: Store, record: number, url: string, made: number): void {
  const flags = recordFlags(store, record);
  const before = recordSize(store, record);
  const head = recordBytes(flags, 0);
  const { buffer, u8 } = store.region.views;
  u8.copyWithin(made * 8, record * 8, record * 8 + head);
  buffer.latin1Write(url, made * 8 + head, url.length);
  setRecordFlags(store, made, flags | RECORD_FLAG_WHOLE);
  dropName(store, made);
  store.region.views.u32[made * 2 + RECORD_TEXT_BYTES_WORD] = url.length;
  arenaGive(store.arena, record, before);
}

/** The same record with a blob, which it had not, under a new handle; 0 when memory is exhausted. The old one is freed. */
export function recordGiveBlob(store: Store, record: number, blob: number): number {
  const flags = recordFlags(store, record);
  const length = recordTextLength(store, record);
  const before = recordSize(store, record);
  const textOffset = recordTextOffset(store, record);
  const head = recordBytes(flags, 0);
  const made = arenaTake(store.arena, recordBytes(flags | RECORD_FLAG_BLOB, length));
  if (made === 0) return 0;
  const { u8, u32 } = store.region.views;
  u8.copyWithin(made * 8, record * 8, record * 8 + head);
  u32[(made * 8 + head) >> 2] = blob;
  u8.copyWithin(made * 8 + head + 4, textOffset, textOffset + length);
  setRecordFlags(store, made, flags | RECORD_FLAG_BLOB);
  dropName(store, made);
  arenaGive(store.arena, record, before);
  return made;
}

/** Frees a record that was made and that nothing refers to; its parent and blob stay the caller's. */
export function recordUnmake(store: Store, record: number): void {
  arenaGive(store.arena, record, recordSize(store, record));
}

/** Frees a record with its blob and its share of the parent. @hot */
export function recordFree(store: Store, record: number): void {
  const flags = recordFlags(store, record);
  if ((flags & (RECORD_FLAG_PARENT | RECORD_FLAG_BLOB)) !== 0) {
    const blob = recordBlob(store, record);
    if (blob !== 0) blobFree(store, blob);
    const parent = recordParent(store, record);
    if (parent !== 0) parentRelease(store, parent);
  }
  arenaGive(store.arena, record, recordSize(store, record));
}

/** Bytes that a record takes, its parent and blob apart. */
export function recordSize(store: Store, record: number): number {
  const bytes = recordBytes(recordFlags(store, record), recordTextLength(store, record));
  return isNamed(store, record) ? bytes + ownHostBytes(store, record) : bytes;
}

/** Whether an item is a record that stands for its host, which is not made yet. @hot */
export function isLone(store: Store, item: number): boolean {
  const word = store.region.views.u32[item * 2 + RECORD_STATE_WORD] as number;
  return (word & LONE_BITS) === RECORD_LONE;
}

/** It stands for its host no longer; it still carries the name. */
export function endLone(store: Store, record: number): void {
  const at = record * 8 + RECORD_STATE_WORD * 4;
  store.region.views.u8[at] = (store.region.views.u8[at] as number) & ~RECORD_LONE;
}

/** Whether a record carries the name of its host. */
function isNamed(store: Store, record: number): boolean {
  return ((store.region.views.u32[record * 2 + RECORD_STATE_WORD] as number) & RECORD_NAMED) !== 0;
}

/** A record that was made anew carries no name. */
function dropName(store: Store, record: number): void {
  const at = record * 8 + RECORD_STATE_WORD * 4;
  store.region.views.u8[at] = (store.region.views.u8[at] as number) & ~RECORD_NAMED;
}

/** Index, among the region's words, of what a record has of its host. */
export function ownHostWord(store: Store, record: number): number {
  return (record * 8 + recordBytes(recordFlags(store, record), 0)) >> 2;
}

/** Bytes of what a record has of its host, the name included. */
function ownHostBytes(store: Store, record: number): number {
  const { u32 } = store.region.views;
  const at = ownHostWord(store, record);
  return NAMED_BYTES + (((u32[at + NAMED_NAME_BYTES_WORD] as number) + 3) & ~3);
}

export function recordState(store: Store, record: number): number {
  return (store.region.views.u32[record * 2 + RECORD_STATE_WORD] as number) & RECORD_STATE_MASK;
}

export function setRecordState(store: Store, record: number, state: number): void {
  const at = record * 8 + RECORD_STATE_WORD * 4;
  const { u8 } = store.region.views;
  u8[at] = ((u8[at] as number) & RECORD_NAMED) | state;
}

/** Whether it came again by itself and was not pushed since. */
export function isRecordAgain(store: Store, record: number): boolean {
  const word = store.region.views.u32[record * 2 + RECORD_STATE_WORD] as number;
  return (word & RECORD_AGAIN) !== 0;
}

export function setRecordAgain(store: Store, record: number): void {
  const at = record * 8 + RECORD_STATE_WORD * 4;
  store.region.views.u8[at] = (store.region.views.u8[at] as number) | RECORD_AGAIN;
}

export function recordFlags(store: Store, record: number): number {
  return ((store.region.views.u32[record * 2 + RECORD_STATE_WORD] as number) >>> 8) & 255;
}

export function setRecordFlags(store: Store, record: number, flags: number): void {
  store.region.views.u8[record * 8 + RECORD_STATE_WORD * 4 + 1] = flags;
}

export function recordAttempt(store: Store, record: number): number {
  return (store.region.views.u32[record * 2 + RECORD_STATE_WORD] as number) >>> 16;
}

export function setRecordAttempt(store: Store, record: number, attempt: number): void {
  const { u16 } = store.region.views;
  u16[record * 4 + RECORD_STATE_WORD * 2 + 1] = Math.min(attempt, CLAMP_16);
}

export function recordKey(store: Store, record: number): number {
  return store.region.views.f64[record + (ITEM_KEY_WORD >> 1)] as number;
}

export function setRecordKey(store: Store, record: number, key: number): void {
  store.region.views.f64[record + (ITEM_KEY_WORD >> 1)] = key;
}

export function recordPlace(store: Store, record: number): number {
  return store.region.views.u32[record * 2 + ITEM_PLACE_WORD] as number;
}

export function recordPriority(store: Store, record: number): number {
  return store.region.views.f64[record + (RECORD_PRIORITY_WORD >> 1)] as number;
}

export function setRecordPriority(store: Store, record: number, priority: number): void {
  store.region.views.f64[record + (RECORD_PRIORITY_WORD >> 1)] = priority;
}

export function recordQueue(store: Store, record: number): number {
  return store.region.views.u32[record * 2 + RECORD_QUEUE_WORD] as number;
}

export function setRecordQueue(store: Store, record: number, queue: number): void {
  store.region.views.u32[record * 2 + RECORD_QUEUE_WORD] = queue;
}

export function recordLo(store: Store, record: number): number {
  return store.region.views.u32[record * 2 + RECORD_HASH_LO_WORD] as number;
}

export function recordHi(store: Store, record: number): number {
  return store.region.views.u32[record * 2 + RECORD_HASH_HI_WORD] as number;
}

/** Sets a name for a record without identity, in the field where others have their hash. */
export function setRecordName(store: Store, record: number, lo: number, hi: number): void {
  const { u32 } = store.region.views;
  u32[record * 2 + RECORD_HASH_LO_WORD] = lo;
  u32[record * 2 + RECORD_HASH_HI_WORD] = hi;
}

export function recordDepth(store: Store, record: number): number {
  return store.region.views.u16[record * 4 + RECORD_DEPTH_WORD * 2] as number;
}

export function setRecordDepth(store: Store, record: number, depth: number): void {
  store.region.views.u16[record * 4 + RECORD_DEPTH_WORD * 2] = Math.min(depth, CLAMP_16);
}

export function recordDeliveries(store: Store, record: number): number {
  return store.region.views.u16[record * 4 + RECORD_DEPTH_WORD * 2 + 1] as number;
}

export function setRecordDeliveries(store: Store, record: number, deliveries: number): void {
  const { u16 } = store.region.views;
  u16[record * 4 + RECORD_DEPTH_WORD * 2 + 1] = Math.min(deliveries, CLAMP_16);
}

export function recordTextLength(store: Store, record: number): number {
  return store.region.views.u32[record * 2 + RECORD_TEXT_BYTES_WORD] as number;
}

/** Absolute offset of the text, behind the optional words. */
export function recordTextOffset(store: Store, record: number): number {
  const flags = recordFlags(store, record);
  const words = ((flags & RECORD_FLAG_PARENT) >> 5) + ((flags & RECORD_FLAG_BLOB) >> 6);
  const offset = record * 8 + RECORD_HEAD_BYTES + words * 4;
  return isNamed(store, record) ? offset + ownHostBytes(store, record) : offset;
}

/** Whether a record is its URL and nothing more: no parent, no blob, no data kept elsewhere. */
export function isPlainRecord(store: Store, record: number): boolean {
  const more = RECORD_FLAG_PARENT | RECORD_FLAG_BLOB | RECORD_FLAG_VOLATILE;
  return (recordFlags(store, record) & more) === 0;
}

export function recordParent(store: Store, record: number): number {
  if ((recordFlags(store, record) & RECORD_FLAG_PARENT) === 0) return 0;
  return store.region.views.u32[record * 2 + (RECORD_HEAD_BYTES >> 2)] as number;
}

export function recordBlob(store: Store, record: number): number {
  const flags = recordFlags(store, record);
  if ((flags & RECORD_FLAG_BLOB) === 0) return 0;
  const word = (RECORD_HEAD_BYTES >> 2) + ((flags & RECORD_FLAG_PARENT) >> 5);
  return store.region.views.u32[record * 2 + word] as number;
}

/** Up to so many bytes are copied one by one: a call takes longer. */
const SHORT_BYTES = 24;

/** Keeps bytes the engine encoded; returns 0 when memory is exhausted. */
export function blobCreate(store: Store, bytes: Uint8Array, maxAttempts: number): number {
  const blob = arenaTake(store.arena, BLOB_HEAD_BYTES + bytes.length);
  if (blob === 0) return 0;
  const { u32, u8 } = store.region.views;
  u32[blob * 2] = bytes.length;
  u32[blob * 2 + 1] = Math.min(maxAttempts, CLAMP_16);
  const start = blob * 8 + BLOB_HEAD_BYTES;
  if (bytes.length > SHORT_BYTES) u8.set(bytes, start);
  else for (let at = 0; at < bytes.length; at++) u8[start + at] = bytes[at] as number;
  return blob;
}

export function blobFree(store: Store, blob: number): void {
  const length = store.region.views.u32[blob * 2] as number;
  arenaGive(store.arena, blob, BLOB_HEAD_BYTES + length);
}

export function blobMaxAttempts(store: Store, blob: number): number {
  return store.region.views.u16[blob * 4 + 2] as number;
}

/** The 16 bits that its rule keeps of when it shall come again; 0: none yet. */
export function blobPeriod(store: Store, blob: number): number {
  return store.region.views.u16[blob * 4 + 3] as number;
}

export function setBlobPeriod(store: Store, blob: number, code: number): void {
  store.region.views.u16[blob * 4 + 3] = code;
}

/** A copy of the bytes: they outlive the record. */
export function blobBytes(store: Store, blob: number): Uint8Array {
  const start = blobStart(blob);
  return store.region.views.u8.slice(start, start + blobLength(store, blob));
}

/** Where the bytes stand in memory. */
export function blobStart(blob: number): number {
  return blob * 8 + BLOB_HEAD_BYTES;
}

export function blobLength({ region }: Store, blob: number): number {
  return region.views.u32[blob * 2] as number;
}

/** Keeps a parent's fingerprint with one reference, the maker's own. */
export function parentCreate(store: Store, fingerprint: string): number {
  const parent = parentReserve(store);
  if (parent === 0) return 0;
  store.region.views.buffer.write(fingerprint, parentPrintOffset(parent), 16, "hex");
  return parent;
}

/** A parent whose fingerprint is still to be written; 0 when memory is exhausted. */
export function parentReserve(store: Store): number {
  const parent = arenaTake(store.arena, PARENT_BYTES);
  if (parent === 0) return 0;
  const { u32 } = store.region.views;
  u32[parent * 2] = 1;
  u32[parent * 2 + 1] = 0;
  return parent;
}

/** Where the 16 bytes of its fingerprint stand. */
export function parentPrintOffset(parent: number): number {
  return parent * 8 + 8;
}

export function parentRetain(store: Store, parent: number): void {
  const { u32 } = store.region.views;
  u32[parent * 2] = (u32[parent * 2] as number) + 1;
}

export function parentRelease(store: Store, parent: number): void {
  const { u32 } = store.region.views;
  const left = (u32[parent * 2] as number) - 1;
  u32[parent * 2] = left;
  if (left === 0) arenaGive(store.arena, parent, PARENT_BYTES);
}

/** Whether somebody holds it beside its maker. */
export function isParentShared(store: Store, parent: number): boolean {
  return (store.region.views.u32[parent * 2] as number) > 1;
}

export function parentFingerprint(store: Store, parent: number): string {
  return store.region.views.buffer.toString("hex", parent * 8 + 8, parent * 8 + 24);
}

/**
 * Room `src/structures`: the memory that all structures of a frontier share, and the contracts of the tiers below
 * memory. Data, no decisions: nothing here depends on a rule, a verdict or the time.
 */

/**
 * Store: the memory that all structures of one frontier share. Owner: the frontier's thread.
 *
 * A handle is an absolute byte offset divided by 8 (0 = none), so that word w of a thing lies at u32[handle * 2 + w]
 * and an 8-byte field at word w (even) lies at f64[handle + w / 2].
 */
import { assert } from "../base/assert.ts";
import { memoryFull } from "../base/errors.ts";
import type { Kernel } from "../kernel/kernel.ts";
import { type Arena, createArena } from "../memory/arena.ts";
import { verifyArena } from "../memory/verify-arena.ts";
import { REGION_PAGE_BYTES } from "../layout/memory/region.ts";
import {
  type Region,
  regionBytes,
  regionGive,
  regionHold,
  regionLeft,
  regionLetGo,
  regionPromise,
  regionTake,
  verifyRegion,
} from "../memory/region.ts";

/** The page of the secret also holds one hash and the text it was made of. */
const HASH_OUT_OFFSET = 16;
const HASH_TEXT_OFFSET = 64;

export interface Store {
  readonly kernel: Kernel;
  readonly region: Region;
  readonly arena: Arena;
  /** 16 bytes: the SipHash key of this frontier, so that an attacker cannot aim collisions. */
  readonly secretOffset: number;
}

export function createStore(kernel: Kernel, secret: Uint32Array): Store {
  const { region } = kernel;
  const page = regionTake(region, 1);
  assert(page !== 0, "a new region has room for its secret");
  region.views.u32.set(secret.subarray(0, 4), page >> 2);
  return { kernel, region, arena: createArena(region), secretOffset: page };
}

/** The secret of its hashes. */
export function storeSecret({ region, secretOffset }: Store): Uint32Array {
  return region.views.u32.slice(secretOffset >> 2, (secretOffset >> 2) + 4);
}

/** Writes the keyed hash of bytes as two words at `outOffset` (low word first). For single identities. */
export function hashBytes(store: Store, bytes: Uint8Array, outOffset: number): void {
  const { region, kernel, secretOffset } = store;
  const isShort = HASH_TEXT_OFFSET + bytes.length <= REGION_PAGE_BYTES;
  const at = isShort
    ? secretOffset + HASH_TEXT_OFFSET
    : regionTake(region, storePages(bytes.length));
  if (at === 0) throw memoryFull();
  region.views.u8.set(bytes, at);
  kernel.exports.hashOne(at, bytes.length, secretOffset, outOffset);
  if (!isShort) regionGive(region, at, storePages(bytes.length));
}

/** Keyed hash of bytes, or a text's in UTF-8, which it returns; `out` receives low and high word. */
export function hashText(store: Store, text: string | Uint8Array, out: Uint32Array): Uint8Array {
  const bytes = typeof text === "string" ? Buffer.from(text, "utf8") : text;
  const outOffset = store.secretOffset + HASH_OUT_OFFSET;
  hashBytes(store, bytes, outOffset);
  out[0] = wordAt(store, outOffset >> 2);
  out[1] = wordAt(store, (outOffset >> 2) + 1);
  return bytes;
}

/** Pages of the region for a while; 0 when memory is exhausted. */
export function storeTake({ region }: Store, pages: number): number {
  return regionTake(region, pages);
}

export function storeGive({ region }: Store, offset: number, pages: number): void {
  regionGive(region, offset, pages);
}

/** Pages of the region that are left, one at a time. @hot */
export function storeLeft({ region }: Store): number {
  return regionLeft(region);
}

/** Promises so many pages to the step that begins; false: they are not there. @hot */
export function storePromise({ region }: Store, pages: number): boolean {
  return regionPromise(region, pages);
}

/** The same to a step that is made of several, until `storeLetGo`. */
export function storeHold({ region }: Store, pages: number): boolean {
  return regionHold(region, pages);
}

export function storeLetGo({ region }: Store): void {
  regionLetGo(region);
}

/** Pages that objects of so many bytes together take, rounding between their pages apart. @hot */
export function storePages(bytes: number): number {
  return Math.ceil(bytes / REGION_PAGE_BYTES);
}

/** How many objects of so many bytes go into pages. */
export function storeFit(pages: number, bytes: number): number {
  return Math.floor((pages * REGION_PAGE_BYTES) / bytes);
}

/** Bytes of the region handed out now. */
export function usedBytes(store: Store): number {
  return regionBytes(store.region);
}

/** Checks the memory's own invariants. */
export function verifyStore(store: Store): void {
  verifyRegion(store.region);
  verifyArena(store.arena);
}

/** The words and 8-byte fields of a thing. */
export function word(store: Store, handle: number, at: number): number {
  return store.region.views.u32[handle * 2 + at] as number;
}

export function setWord(store: Store, handle: number, at: number, value: number): void {
  store.region.views.u32[handle * 2 + at] = value;
}

export function float(store: Store, handle: number, at: number): number {
  return store.region.views.f64[handle + (at >> 1)] as number;
}

export function setFloat(store: Store, handle: number, at: number, value: number): void {
  store.region.views.f64[handle + (at >> 1)] = value;
}

/** The word at an index of the region: for arrays that are not handles. */
export function wordAt(store: Store, index: number): number {
  return store.region.views.u32[index] as number;
}

export function setWordAt(store: Store, index: number, value: number): void {
  store.region.views.u32[index] = value;
}

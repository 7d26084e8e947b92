/**
 * Arena: objects of any size in region pages, allocated and freed in constant time.
 *
 *   bytes            served from                                   lost to rounding
 *   1 … 512          a page of objects of 8, 16, 24 … 512 bytes    at most 7 bytes, page end < 1 %
 *   513 … 8,192      a page of objects in steps of about 12.5 %    at most 12.6 %
 *   8,193 … 65,536   a page of 7, 6, 5, 4, 3, 2 or 1 objects       at most a half
 *   above            a run of whole pages                          less than a page
 *   96, lasting      pages of their own
 *
 *   pages of one kind:  head ─▶ partly full ⇄ partly full ⇄ …     full pages are in no list
 *                       spare ─▶ one empty page, or none           further empty pages are freed
 *
 * An object that lasts keeps its page, whatever stood beside it. So those of which there are many have pages apart.
 *
 * A page that turns from full to partly full becomes the head, so that the fullest pages fill up and the others can become empty. Owner's
 * thread only. Objects are 8-aligned and NOT zeroed: a new object holds whatever bytes were there. Under VERIFY an object is filled
 * with 0xDB when it is taken and when it is freed.
 *
 *   I1  An object is handed out at most once until it is freed.
 *   I2  used + free list + never handed out = objects of the page.
 *   I3  The list of a kind holds exactly its pages with 0 < used < capacity.
 *   I4  An empty page is the spare of its kind or belongs to the region.
 */
import { assert, VERIFY } from "../base/assert.ts";
import {
  ARENA_FREE_WORD,
  ARENA_FRESH_WORD,
  ARENA_KIND_WORD,
  ARENA_LASTING_BYTES,
  ARENA_META_WORDS,
  ARENA_NEXT_WORD,
  ARENA_PAGE_HANDLES,
  ARENA_PAGE_SHIFT,
  ARENA_PREVIOUS_WORD,
  ARENA_SLAB_BYTES_MAX,
  ARENA_SMALL_BYTES_MAX,
  ARENA_SMALL_UNITS_MAX,
  ARENA_USED_WORD,
} from "../layout/memory/arena.ts";
import { REGION_PAGE_BYTES } from "../layout/memory/region.ts";
import { type Region, regionGive, regionTake, seemsExhausted } from "./region.ts";

export interface Arena {
  readonly region: Region;
  /** ARENA_META_WORDS for every page that the region may have; untouched parts cost only address space. */
  readonly meta: Uint32Array;
  /** Kind of an object of u units, for u above ARENA_SMALL_UNITS_MAX. */
  readonly kindOfUnits: Uint8Array;
  readonly lastingKind: number;
  /** By kind: size in units of 8 bytes, objects per page, objects handed out now. */
  readonly units: Uint32Array;
  readonly capacity: Uint32Array;
  readonly counts: Uint32Array;
  /** By kind: page number of the first partly full page, and of the spare page; 0 = none. */
  readonly heads: Uint32Array;
  readonly spares: Uint32Array;
  /** Pages that hold objects, and pages in runs. */
  slabPages: number;
  runPages: number;
}

const POISON = 0xdb;

export function createArena(region: Region): Arena {
  const units = kindUnits();
  const kinds = units.length;
  units.push(ARENA_LASTING_BYTES / 8);
  const kindOfUnits = new Uint8Array(ARENA_PAGE_HANDLES + 1);
  for (let kind = 1, unit = 1; kind < kinds; kind++) {
    for (; unit <= (units[kind] as number); unit++) kindOfUnits[unit] = kind;
  }
  return {
    region,
    meta: new Uint32Array((region.pageCountMax + 1) * ARENA_META_WORDS),
    kindOfUnits,
    units: Uint32Array.from(units),
    capacity: Uint32Array.from(units, (u) => (u === 0 ? 0 : Math.floor(ARENA_PAGE_HANDLES / u))),
    lastingKind: kinds,
    counts: new Uint32Array(units.length),
    heads: new Uint32Array(units.length),
    spares: new Uint32Array(units.length),
    slabPages: 0,
    runPages: 0,
  };
}

/** Takes an object, not zeroed; returns 0 if the region is exhausted. May replace the views. @hot */
export function arenaTake(arena: Arena, bytes: number): number {
  if (VERIFY) assert(bytes > 0, "arenaTake: bytes > 0");
  if (bytes > ARENA_SLAB_BYTES_MAX) return takeRun(arena, bytes);
  return takeOf(arena, kindOf(arena, bytes));
}

/** Takes an object of ARENA_LASTING_BYTES that will last, as `arenaTake` does. */
export function arenaTakeLasting(arena: Arena): number {
  return takeOf(arena, arena.lastingKind);
}

/** @hot */
function takeOf(arena: Arena, kind: number): number {
  if (VERIFY && seemsExhausted(arena.region, 0)) return 0;
  let page = arena.heads[kind] as number;
  if (page === 0) {
    page = openPage(arena, kind);
    if (page === 0) return 0;
  }
  const meta = arena.meta;
  const at = page * ARENA_META_WORDS;
  let handle = meta[at + ARENA_FREE_WORD] as number;
  if (handle !== 0) meta[at + ARENA_FREE_WORD] = arena.region.views.u32[handle * 2] as number;
  else {
    handle = meta[at + ARENA_FRESH_WORD] as number;
    meta[at + ARENA_FRESH_WORD] = handle + (arena.units[kind] as number);
  }
  const used = (meta[at + ARENA_USED_WORD] as number) + 1;
  meta[at + ARENA_USED_WORD] = used;
  if (used === arena.capacity[kind]) unlink(arena, kind, page);
  arena.counts[kind] = (arena.counts[kind] as number) + 1;
  if (VERIFY) poison(arena, handle, kind);
  return handle;
}

/**
 * Takes an object for each of `count` sizes. The sizes are words from index `sizes` on; the handles are written from index `handles` on. A
 * handle is 0 for size 0 and if the region is exhausted. May replace the views. @hot
 */
export function arenaTakeEach(arena: Arena, sizes: number, handles: number, count: number): void {
  const { region } = arena;
  for (let index = 0; index < count; index++) {
    const bytes = region.views.u32[sizes + index] as number;
    const handle = bytes === 0 ? 0 : arenaTake(arena, bytes);
    region.views.u32[handles + index] = handle;
  }
}

/** Frees an object; `bytes` must be the size with which it was taken. @hot */
export function arenaGive(arena: Arena, handle: number, bytes: number): void {
  if (bytes > ARENA_SLAB_BYTES_MAX) {
    giveRun(arena, handle, bytes);
    return;
  }
  giveOf(arena, handle, kindOf(arena, bytes));
}

/** Frees an object that `arenaTakeLasting` took. */
export function arenaGiveLasting(arena: Arena, handle: number): void {
  giveOf(arena, handle, arena.lastingKind);
}

/** @hot */
function giveOf(arena: Arena, handle: number, kind: number): void {
  const meta = arena.meta;
  const page = handle >>> ARENA_PAGE_SHIFT;
  const at = page * ARENA_META_WORDS;
  if (VERIFY) verifyGive(arena, handle, kind);
  if (VERIFY) poison(arena, handle, kind);
  const used = meta[at + ARENA_USED_WORD] as number;
  arena.region.views.u32[handle * 2] = meta[at + ARENA_FREE_WORD] as number;
  meta[at + ARENA_FREE_WORD] = handle;
  meta[at + ARENA_USED_WORD] = used - 1;
  arena.counts[kind] = (arena.counts[kind] as number) - 1;
  const wasFull = used === arena.capacity[kind];
  if (used === 1) {
    if (!wasFull) unlink(arena, kind, page);
    closePage(arena, kind, page);
  } else if (wasFull) link(arena, kind, page);
}

/** Returns the spare pages to the region. */
export function arenaTrim(arena: Arena): void {
  const { meta, region, spares } = arena;
  for (let kind = 1; kind < spares.length; kind++) {
    const page = spares[kind] as number;
    if (page === 0) continue;
    spares[kind] = 0;
    meta.fill(0, page * ARENA_META_WORDS, (page + 1) * ARENA_META_WORDS);
    arena.slabPages--;
    regionGive(region, page * REGION_PAGE_BYTES, 1);
  }
}

/** Bytes of the pages that objects stand in, holes included. @hot */
export function arenaPageBytes({ runPages, slabPages }: Arena): number {
  return (slabPages + runPages) * REGION_PAGE_BYTES;
}

/** Bytes of all objects handed out, including rounding. */
export function arenaUsedBytes(arena: Arena): number {
  let used = 0;
  for (let kind = 1; kind < arena.counts.length; kind++) {
    used += (arena.counts[kind] as number) * (arena.units[kind] as number) * 8;
  }
  return used + arena.runPages * REGION_PAGE_BYTES;
}

/** The kind of an object of so many bytes, at most ARENA_SLAB_BYTES_MAX. */
export function kindOf(arena: Arena, bytes: number): number {
  const units = (bytes + 7) >>> 3;
  return bytes <= ARENA_SMALL_BYTES_MAX ? units : (arena.kindOfUnits[units] as number);
}

/** Object sizes by kind, in units of 8 bytes: every unit first, then steps of at most an eighth, stretched to fill the page. */
function kindUnits(): number[] {
  const units: number[] = [];
  for (let unit = 0; unit <= ARENA_SMALL_UNITS_MAX; unit++) units.push(unit);
  for (let last = ARENA_SMALL_UNITS_MAX; last < ARENA_PAGE_HANDLES; ) {
    // As many per page as the wanted size allows, or one less if that would not enlarge the size.
    const wanted = last + (last >> 3);
    const fits = Math.floor(ARENA_PAGE_HANDLES / last);
    last = Math.floor(
      ARENA_PAGE_HANDLES / Math.min(Math.ceil(ARENA_PAGE_HANDLES / wanted), fits - 1),
    );
    units.push(last);
  }
  return units;
}

/** Makes the spare page, or a new one, the head of its kind; returns 0 if the region is exhausted. */
function openPage(arena: Arena, kind: number): number {
  let page = arena.spares[kind] as number;
  if (page !== 0) arena.spares[kind] = 0;
  else {
    page = takePages(arena, 1) / REGION_PAGE_BYTES;
    if (page === 0) return 0;
    arena.slabPages++;
    arena.meta[page * ARENA_META_WORDS + ARENA_KIND_WORD] = kind;
  }
  arena.meta[page * ARENA_META_WORDS + ARENA_FREE_WORD] = 0;
  arena.meta[page * ARENA_META_WORDS + ARENA_FRESH_WORD] = page * ARENA_PAGE_HANDLES;
  link(arena, kind, page);
  return page;
}

/** Keeps an empty page as the spare, or returns it to the region. */
function closePage(arena: Arena, kind: number, page: number): void {
  const at = page * ARENA_META_WORDS;
  if (arena.spares[kind] === 0) {
    // The spare avoids taking and returning the same page in turn. It starts afresh, so that its next objects lie side by side.
    arena.meta[at + ARENA_FREE_WORD] = 0;
    arena.meta[at + ARENA_FRESH_WORD] = page * ARENA_PAGE_HANDLES;
    arena.spares[kind] = page;
    return;
  }
  arena.meta.fill(0, at, at + ARENA_META_WORDS);
  arena.slabPages--;
  regionGive(arena.region, page * REGION_PAGE_BYTES, 1);
}

function link(arena: Arena, kind: number, page: number): void {
  const { heads, meta } = arena;
  const next = heads[kind] as number;
  meta[page * ARENA_META_WORDS + ARENA_NEXT_WORD] = next;
  meta[page * ARENA_META_WORDS + ARENA_PREVIOUS_WORD] = 0;
  if (next !== 0) meta[next * ARENA_META_WORDS + ARENA_PREVIOUS_WORD] = page;
  heads[kind] = page;
}

function unlink(arena: Arena, kind: number, page: number): void {
  const { heads, meta } = arena;
  const at = page * ARENA_META_WORDS;
  const next = meta[at + ARENA_NEXT_WORD] as number;
  const previous = meta[at + ARENA_PREVIOUS_WORD] as number;
  if (next !== 0) meta[next * ARENA_META_WORDS + ARENA_PREVIOUS_WORD] = previous;
  if (previous !== 0) meta[previous * ARENA_META_WORDS + ARENA_NEXT_WORD] = next;
  else heads[kind] = next;
}

function pagesOf(bytes: number): number {
  return Math.ceil(bytes / REGION_PAGE_BYTES);
}

function takeRun(arena: Arena, bytes: number): number {
  const pages = pagesOf(bytes);
  const offset = takePages(arena, pages);
  if (offset === 0) return 0;
  arena.runPages += pages;
  return offset / 8;
}

function giveRun(arena: Arena, handle: number, bytes: number): void {
  const pages = pagesOf(bytes);
  assert(arena.runPages >= pages, "arenaGive: a run that was taken");
  arena.runPages -= pages;
  regionGive(arena.region, handle * 8, pages);
}

/** Takes pages of the region. If it is exhausted, returns the spare pages to it and tries again. */
function takePages(arena: Arena, pages: number): number {
  const offset = regionTake(arena.region, pages);
  if (offset !== 0) return offset;
  arenaTrim(arena);
  return regionTake(arena.region, pages);
}

function poison(arena: Arena, handle: number, kind: number): void {
  arena.region.views.u8.fill(POISON, handle * 8, (handle + (arena.units[kind] as number)) * 8);
}

/** Asserts that the object belongs to its page and was handed out. */
function verifyGive(arena: Arena, handle: number, kind: number): void {
  const page = handle >>> ARENA_PAGE_SHIFT;
  const at = page * ARENA_META_WORDS;
  const units = arena.units[kind] as number;
  assert(arena.meta[at + ARENA_KIND_WORD] === kind, "arenaGive: size as it was taken");
  assert((handle - page * ARENA_PAGE_HANDLES) % units === 0, "arenaGive: start of an object");
  assert(handle < (arena.meta[at + ARENA_FRESH_WORD] as number), "arenaGive: was handed out");
  if (arena.region.views.u8[handle * 8 + 4] !== POISON) return;
  // The poison suggests a double free: only then is the walk along the free list worth its time.
  const { u32 } = arena.region.views;
  let free = arena.meta[at + ARENA_FREE_WORD] as number;
  for (; free !== 0; free = u32[free * 2] as number) assert(free !== handle, "I1: given twice");
}

/**
 * Room `src/memory`: allocation of the region's pages and of objects in them, and parking of threads. Decides nothing about the contents of
 * the pages. May touch layout and base.
 */

/**
 * Region: the pages of one WebAssembly memory, allocated in runs of 64 KiB.
 *
 *   0 ┌──────────────┬───────┬───────┬──────┬───────────┐ byteLength
 *     │ kernel static│ run   │ free  │ run  │ untouched │
 *     └──────────────┴───────┴───────┴──────┴───────────┘
 *                    65536                  ^ end
 *
 * Only the thread that owns the region may use it.
 *
 *   I1  Runs never overlap; free runs are sorted, disjoint and never adjacent.
 *   I2  A freed run reads as zero when it is allocated again, unless the caller asks for a raw one.
 *   I3  Views are replaced after every growth: a view that is kept across `take` may be stale.
 *   I4  Promised pages are available: that many can be taken, one at a time.
 */
import { assert, VERIFY } from "../base/assert.ts";
import {
  REGION_FIRST_PAGE_OFFSET,
  REGION_PAGE_BYTES,
  REGION_PAGE_COUNT_MAX,
} from "../layout/memory/region.ts";

/** 16 MiB: one growth is enough for a small frontier. */
const GROWTH_PAGES_MIN = 256;

/** The part of WebAssembly.Memory that the region needs; the kernel room creates it. */
export interface GrowableMemory {
  readonly buffer: ArrayBuffer;
  grow(pages: number): number;
}

export interface RegionViews {
  readonly u8: Uint8Array;
  readonly u16: Uint16Array;
  readonly i32: Int32Array;
  readonly u32: Uint32Array;
  readonly f64: Float64Array;
  /** The same bytes as a Buffer, for latin1Write, utf8Slice and similar methods. */
  readonly buffer: Buffer;
}

export interface Region {
  readonly memory: GrowableMemory;
  views: RegionViews;
  /** Start of the bytes that were never handed out. */
  end: number;
  /** Free runs: [offset, pages] pairs, sorted by offset. */
  readonly free: number[];
  readonly pageCountMax: number;
  /** Pages of the memory at its present size, at most pageCountMax. Includes the first page, which is never handed out. */
  memoryPages: number;
  /** Pages now handed out. */
  pagesUsed: number;
  /**
   * In the run that `regionTakeRaw` returned last, bytes before this offset may hold old values. If it lies before the run, all bytes are
   * zero.
   */
  dirtyEnd: number;
  /** Pages promised to the current step and not taken yet; counted only under VERIFY. */
  promised: number;
  /** True during a step that consists of several: its promise covers all of them. */
  isHeld: boolean;
  /** For tests: returns whether the region should appear exhausted. Not called for promised pages. */
  refuses: (() => boolean) | undefined;
}

export function createRegion(memory: GrowableMemory, pageCountMax = REGION_PAGE_COUNT_MAX): Region {
  return {
    memory,
    views: viewsOf(memory.buffer),
    end: REGION_FIRST_PAGE_OFFSET,
    free: [],
    pageCountMax: Math.min(pageCountMax, REGION_PAGE_COUNT_MAX),
    memoryPages: pagesOf(memory, pageCountMax),
    pagesUsed: 0,
    dirtyEnd: 0,
    promised: 0,
    isHeld: false,
    refuses: undefined,
  };
}

/** Takes a run of zeroed pages and returns its offset, or 0 when the region is exhausted. */
export function regionTake(region: Region, pages: number): number {
  const offset = regionTakeRaw(region, pages);
  if (offset < region.dirtyEnd) region.views.u8.fill(0, offset, region.dirtyEnd);
  return offset;
}

/**
 * Takes a run without zeroing it. Bytes before `region.dirtyEnd` hold old values, the rest is zero. For runs too large to be zeroed in one
 * call.
 */
export function regionTakeRaw(region: Region, pages: number): number {
  assert(pages > 0, "regionTake: pages > 0");
  region.dirtyEnd = 0;
  if (VERIFY && seemsExhausted(region, pages)) return 0;
  const reused = takeFree(region, pages);
  if (reused !== 0) {
    region.dirtyEnd = reused + pages * REGION_PAGE_BYTES;
    region.pagesUsed += pages;
    return reused;
  }
  // If the pages at the high end are free, the run starts there.
  const offset = idleOffset(region);
  const end = offset + pages * REGION_PAGE_BYTES;
  if (end > region.pageCountMax * REGION_PAGE_BYTES) return 0;
  if (end > region.views.u8.length && !grow(region, end)) return 0;
  if (offset < region.end) {
    region.free.length -= 2;
    region.dirtyEnd = region.end;
  }
  region.end = end;
  region.pagesUsed += pages;
  return offset;
}

/** Frees a run, which may be part of a longer run taken at once. */
export function regionGive(region: Region, offset: number, pages: number): void {
  const { free } = region;
  assert(pages > 0, "regionGive: pages > 0");
  assert(
    offset >= REGION_FIRST_PAGE_OFFSET && offset % REGION_PAGE_BYTES === 0,
    "regionGive: offset",
  );
  const end = offset + pages * REGION_PAGE_BYTES;
  assert(end <= region.end, "regionGive: end");
  let at = searchFree(free, offset);
  assert(at === free.length || end <= (free[at] as number), "I1: the run's end is not free yet");
  assert(at === 0 || runEnd(free, at - 2) <= offset, "I1: the run's start is not free yet");
  region.pagesUsed -= pages;
  free.splice(at, 0, offset, pages);
  if (joins(free, at)) join(free, at);
  if (at > 0) {
    at -= 2;
    if (joins(free, at)) join(free, at);
  }
}

/** How many pages can still be taken, one at a time. */
export function regionLeft(region: Region): number {
  return region.pageCountMax - 1 - region.pagesUsed;
}

/**
 * Promises pages to the step that begins (I4); they are taken one at a time. Returns false if there are too few. Each promise replaces the
 * last one; a promise of 0 pages ends it. @hot
 */
export function regionPromise(region: Region, pages: number): boolean {
  if (region.isHeld) return true;
  if (VERIFY) {
    region.promised = 0;
    if (pages > 0 && region.refuses?.()) return false;
  }
  if (region.memoryPages - 1 - region.pagesUsed < pages && !growFor(region, pages)) return false;
  if (VERIFY) region.promised = pages;
  return true;
}

/** Promises pages to a step that consists of several, until `regionLetGo`. The promises of the inner steps then succeed at once. */
export function regionHold(region: Region, pages: number): boolean {
  if (region.isHeld) return true;
  region.isHeld = regionPromise(region, pages);
  return region.isHeld;
}

export function regionLetGo(region: Region): void {
  region.isHeld = false;
  region.promised = 0;
}

/**
 * For tests: whether taking `pages` should fail; 0 stands for an object in an existing page. A run of several pages is never promised.
 */
export function seemsExhausted(region: Region, pages: number): boolean {
  if (region.promised > 0 && pages <= 1) {
    region.promised -= pages;
    return false;
  }
  return region.refuses?.() ?? false;
}

/** Bytes of all pages handed out. */
export function regionBytes(region: Region): number {
  return region.pagesUsed * REGION_PAGE_BYTES;
}

/** Checks I1 over the whole region. */
export function verifyRegion(region: Region): void {
  const { free } = region;
  let pages = 0;
  let end = 0;
  for (let at = 0; at < free.length; at += 2) {
    assert((free[at] as number) > end || at === 0, "I1: free runs sorted and not adjacent");
    assert((free[at + 1] as number) > 0, "I1: a free run has pages");
    end = runEnd(free, at);
    pages += free[at + 1] as number;
  }
  assert(end <= region.end, "I1: free runs inside");
  const known = (region.end - REGION_FIRST_PAGE_OFFSET) / REGION_PAGE_BYTES;
  assert(known === pages + region.pagesUsed, "I1: every page is free or handed out");
}

/** First fit: the lowest run that is long enough, so that pages at the high end become free. */
function takeFree(region: Region, pages: number): number {
  const { free } = region;
  for (let at = 0; at < free.length; at += 2) {
    const have = free[at + 1] as number;
    if (have < pages) continue;
    const offset = free[at] as number;
    if (have === pages) free.splice(at, 2);
    else {
      free[at] = offset + pages * REGION_PAGE_BYTES;
      free[at + 1] = have - pages;
    }
    return offset;
  }
  return 0;
}

/**
 * Doubles the size. Untouched pages cost only address space, but for each growth of a memory that is not shared, V8 accounts for a new
 * buffer of the whole size and collects garbage at once (5 to 20 ms on Node 20, for any step). A memory that starts at full size never
 * grows.
 */
function grow(region: Region, end: number): boolean {
  const have = region.views.u8.length / REGION_PAGE_BYTES;
  const need = Math.ceil(end / REGION_PAGE_BYTES) - have;
  const room = region.pageCountMax - have;
  let pages = Math.min(room, Math.max(need, have, GROWTH_PAGES_MIN));
  // If the address space is too small for so much, a smaller growth may still succeed.
  while (!tryGrow(region, pages)) {
    if (pages === need) return false;
    pages = Math.max(need, pages >> 1);
  }
  region.views = viewsOf(region.memory.buffer);
  region.memoryPages = pagesOf(region.memory, region.pageCountMax);
  return true;
}

/** Grows the memory until `pages` pages are free; a memory of full size never has to. */
function growFor(region: Region, pages: number): boolean {
  if (regionLeft(region) < pages) return false;
  return grow(region, (1 + region.pagesUsed + pages) * REGION_PAGE_BYTES);
}

function tryGrow(region: Region, pages: number): boolean {
  try {
    region.memory.grow(pages);
    return true;
  } catch {
    return false; // the same as a full region
  }
}

/** Where a run at the high end starts: at the last free run if that touches the end, else at the end. */
function idleOffset(region: Region): number {
  const { end, free } = region;
  const at = free.length - 2;
  return at >= 0 && runEnd(free, at) === end ? (free[at] as number) : end;
}

function runEnd(free: number[], at: number): number {
  return (free[at] as number) + (free[at + 1] as number) * REGION_PAGE_BYTES;
}

function pagesOf({ buffer }: GrowableMemory, pageCountMax: number): number {
  return Math.min(buffer.byteLength / REGION_PAGE_BYTES, pageCountMax);
}

function viewsOf(buffer: ArrayBuffer): RegionViews {
  return {
    u8: new Uint8Array(buffer),
    u16: new Uint16Array(buffer),
    i32: new Int32Array(buffer),
    u32: new Uint32Array(buffer),
    f64: new Float64Array(buffer),
    buffer: Buffer.from(buffer),
  };
}

/** Index of the first pair whose offset is not below `offset`. */
function searchFree(free: number[], offset: number): number {
  let low = 0;
  let high = free.length >> 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((free[middle * 2] as number) < offset) low = middle + 1;
    else high = middle;
  }
  return low * 2;
}

function joins(free: number[], at: number): boolean {
  if (at + 2 >= free.length) return false;
  return runEnd(free, at) === free[at + 2];
}

function join(free: number[], at: number): void {
  free[at + 1] = (free[at + 1] as number) + (free[at + 3] as number);
  free.splice(at + 2, 2);
}

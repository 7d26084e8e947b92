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
 * Only the thread that owns the region uses it.
 *
 *   I1  Runs never overlap; free runs are sorted, disjoint and never adjacent.
 *   I2  A run that was freed reads as zero when it is allocated again, unless the caller asks for a raw one.
 *   I3  Views are remade after every growth: a view that is kept across `take` may be stale.
 *   I4  Promised pages are available: that many can be taken, one at a time.
 */
import { assert, VERIFY } from "../base/assert.ts";
import {
  REGION_FIRST_PAGE_OFFSET,
  REGION_PAGE_BYTES,
  REGION_PAGE_COUNT_MAX,
} from "../layout/memory/region.ts";

/** 16 MiB: what a small frontier needs comes in one growth. */
const GROWTH_PAGES_MIN = 256;

/** What the region needs of a WebAssembly.Memory; the kernel room makes one. */
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
  /** The same bytes as a Buffer, for latin1Write, utf8Slice and their kin. */
  readonly buffer: Buffer;
}

export interface Region {
  readonly memory: GrowableMemory;
  views: RegionViews;
  /** First byte never handed out. */
  end: number;
  /** Free runs: [offset, pages] pairs, sorted by offset. */
  readonly free: number[];
  readonly pageCountMax: number;
  /** Pages of the memory as it is now grown, and not beyond pageCountMax; the first one, which is never handed out, included. */
  memoryPages: number;
  /** Pages now handed out. */
  pagesUsed: number;
  /** End of the bytes that may not be zero in the run that `regionTakeRaw` returned last; before its start: all are zero. */
  dirtyEnd: number;
  /** Pages promised to the step under way and not taken yet; counted where VERIFY is on. */
  promised: number;
  /** A step made of steps is under way: what it was promised covers all of them. */
  isHeld: boolean;
  /** For tests: whether the region shall appear exhausted now. It is not called for promised pages. */
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
 * The same run as it is: what lies before `region.dirtyEnd` holds what its last owner wrote, the rest zeros. For runs
 * so large that zeroing them is no work for one call.
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
  // The idle pages at the high end, if there are any, become the start of the run.
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

/** Gives a run back. It may be part of a longer run that was taken at once. */
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

/** Pages that may still be handed out, one at a time. */
export function regionLeft(region: Region): number {
  return region.pageCountMax - 1 - region.pagesUsed;
}

/**
 * Promises so many pages, one at a time, to the step that begins (I4); false: there are not so many. It takes the place of the promise
 * before; one of no pages ends that. @hot
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

/** Promises pages to a step that is made of several, until `regionLetGo`: each of them finds what it asks for. */
export function regionHold(region: Region, pages: number): boolean {
  if (region.isHeld) return true;
  region.isHeld = regionPromise(region, pages);
  return region.isHeld;
}

export function regionLetGo(region: Region): void {
  region.isHeld = false;
  region.promised = 0;
}

/** For tests: whether a take of so many pages, 0 for an object of a page that is there, is to find nothing. Runs are never promised. */
export function seemsExhausted(region: Region, pages: number): boolean {
  if (region.promised > 0 && pages <= 1) {
    region.promised -= pages;
    return false;
  }
  return region.refuses?.() ?? false;
}

/** Bytes handed out now. */
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

/** First fit: the lowest run that is long enough, so that the high end can fall idle. */
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
 * Grows to twice the size: untouched pages cost address space only, but each growth of a memory that
 * is not shared makes V8 account for a new buffer of the whole size and collect garbage at once (5 to
 * 20 ms on Node 20, whatever the step). A memory made with its full size to begin with never comes here.
 */
function grow(region: Region, end: number): boolean {
  const have = region.views.u8.length / REGION_PAGE_BYTES;
  const need = Math.ceil(end / REGION_PAGE_BYTES) - have;
  const room = region.pageCountMax - have;
  let pages = Math.min(room, Math.max(need, have, GROWTH_PAGES_MIN));
  // Where there is no address space for so much, there may still be some for less.
  while (!tryGrow(region, pages)) {
    if (pages === need) return false;
    pages = Math.max(need, pages >> 1);
  }
  region.views = viewsOf(region.memory.buffer);
  region.memoryPages = pagesOf(region.memory, region.pageCountMax);
  return true;
}

/** Grows the memory until so many pages are not handed out; a memory of full size never has to. */
function growFor(region: Region, pages: number): boolean {
  if (regionLeft(region) < pages) return false;
  return grow(region, (1 + region.pagesUsed + pages) * REGION_PAGE_BYTES);
}

function tryGrow(region: Region, pages: number): boolean {
  try {
    region.memory.grow(pages);
    return true;
  } catch {
    return false; // exhausted, as a full region is
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

/**
 * The pages of a heap (structures/ordering/heap.ts): where a position's key, tie and handle stand, and when a
 * page is taken or given back.
 *
 *   I1  Pages held = pages needed for the positions, and at most one more of each sort.
 */
import {
  HEAP_HANDLE_MASK,
  HEAP_HANDLE_SHIFT,
  HEAP_KEY_MASK,
  HEAP_KEY_SHIFT,
  HEAP_ROOT,
} from "../../layout/ordering/heap.ts";
import { type Region, regionGive, regionTake } from "../../memory/region.ts";

export interface Heap {
  readonly region: Region;
  /** By page of keys: index of its first 8-byte field. */
  keyPages: Uint32Array;
  keyPageCount: number;
  /** By page of handles: index of its first word. */
  handlePages: Uint32Array;
  handlePageCount: number;
  count: number;
}

/** Index of a position's key; its tie follows it. */
export function keyField(heap: Heap, position: number): number {
  const page = heap.keyPages[position >>> HEAP_KEY_SHIFT] as number;
  return page + (position & HEAP_KEY_MASK) * 2;
}

/** Index of a position's handle. */
export function handleWord(heap: Heap, position: number): number {
  const page = heap.handlePages[position >>> HEAP_HANDLE_SHIFT] as number;
  return page + (position & HEAP_HANDLE_MASK);
}

/** Makes sure that there are pages for a position; the heap stays as it was when there are none. */
export function reservePages(heap: Heap, position: number): boolean {
  if (position >>> HEAP_KEY_SHIFT >= heap.keyPageCount) {
    const offset = regionTake(heap.region, 1);
    if (offset === 0) return false;
    heap.keyPages = withRoom(heap.keyPages, heap.keyPageCount);
    heap.keyPages[heap.keyPageCount++] = offset / 8;
  }
  if (position >>> HEAP_HANDLE_SHIFT >= heap.handlePageCount) {
    const offset = regionTake(heap.region, 1);
    if (offset === 0) {
      if (heap.count === 0) giveKeyPage(heap);
      return false;
    }
    heap.handlePages = withRoom(heap.handlePages, heap.handlePageCount);
    heap.handlePages[heap.handlePageCount++] = offset / 4;
  }
  return true;
}

/** Frees pages beyond those needed and one more of each sort; an empty heap keeps one of each. */
export function trimPages(heap: Heap): void {
  const last = heap.count - 1 + HEAP_ROOT;
  const keyPages = heap.count === 0 ? 0 : (last >>> HEAP_KEY_SHIFT) + 1;
  const handlePages = heap.count === 0 ? 0 : (last >>> HEAP_HANDLE_SHIFT) + 1;
  givePages(heap, keyPages + 1, handlePages + 1);
}

/** Frees all pages but the first ones of each sort. */
function givePages(heap: Heap, keyPages: number, handlePages: number): void {
  while (heap.keyPageCount > keyPages) giveKeyPage(heap);
  while (heap.handlePageCount > handlePages) giveHandlePage(heap);
}

function giveKeyPage(heap: Heap): void {
  heap.keyPageCount--;
  regionGive(heap.region, (heap.keyPages[heap.keyPageCount] as number) * 8, 1);
}

function giveHandlePage(heap: Heap): void {
  heap.handlePageCount--;
  regionGive(heap.region, (heap.handlePages[heap.handlePageCount] as number) * 4, 1);
}

/** The directory, twice as long when it is full: at 10⁷ entries it has some 2,500 words. */
function withRoom(pages: Uint32Array, count: number): Uint32Array {
  if (count < pages.length) return pages;
  const longer = new Uint32Array(pages.length * 2);
  longer.set(pages);
  return longer;
}

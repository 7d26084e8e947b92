/**
 * Heap: an indexed 4-ary min-heap of (key, tie, handle) in region pages, for clocks and deadlines.
 *
 *   position         3 (root)       4  5  6  7       8 9 10 11   12 13 14 15   …
 *                                   children of 3    of 4        of 5
 *   keyPages[p >> 12]      ──▶ page of 4,096 pairs (key f64, tie f64): a group of four = 64 bytes
 *   handlePages[p >> 14]   ──▶ page of 16,384 handles
 *
 * Lowest key first, then lowest tie. Keys stand apart from handles: finding the least of four
 * children reads one cache line. Growing takes one page at a time and moves nothing; one empty page
 * of each sort is kept, further ones go back to the region.
 * Every move writes the item's place (PLACE_HEAP + index), so that any item can be removed. The
 * owner thread alone calls.
 *
 *   I1  (key, tie) of a position is not below its parent's.
 *   I2  The item at position p has place p + HEAP_PLACE_BIAS.
 *   I3  Pages held = pages needed for the positions, and at most one more of each sort.
 */
import { assert, VERIFY } from "../../base/assert.ts";
import {
  HEAP_HANDLE_MASK,
  HEAP_HANDLE_SHIFT,
  HEAP_KEY_MASK,
  HEAP_KEY_SHIFT,
  HEAP_PLACE_BIAS,
  HEAP_ROOT,
} from "../../layout/ordering/heap.ts";
import { ITEM_PLACE_WORD, PLACE_HEAP, PLACE_NOWHERE } from "../../layout/ordering/item.ts";
import type { Region } from "../../memory/region.ts";
import { type Heap, handleWord, keyField, reservePages, trimPages } from "./heap-pages.ts";

export type { Heap } from "./heap-pages.ts";

export function createHeap(region: Region): Heap {
  return {
    region,
    keyPages: new Uint32Array(16),
    keyPageCount: 0,
    handlePages: new Uint32Array(16),
    handlePageCount: 0,
    count: 0,
  };
}

export function heapCount(heap: Heap): number {
  return heap.count;
}

/** The lowest key; Infinity when the heap is empty. @hot */
export function heapPeekKey(heap: Heap): number {
  if (heap.count === 0) return Number.POSITIVE_INFINITY;
  return heap.region.views.f64[(heap.keyPages[0] as number) + HEAP_ROOT * 2] as number;
}

/** The item of the lowest key, or 0. @hot */
export function heapPeekHandle(heap: Heap): number {
  if (heap.count === 0) return 0;
  return heap.region.views.u32[(heap.handlePages[0] as number) + HEAP_ROOT] as number;
}

/** The item at an index below the count, in no useful order: for scans of everything. */
export function heapAt(heap: Heap, index: number): number {
  return heap.region.views.u32[handleWord(heap, index + HEAP_ROOT)] as number;
}

/** The key under which an item of this heap stands. */
export function heapKeyOf(heap: Heap, item: number): number {
  return heap.region.views.f64[keyField(heap, positionOf(heap, item))] as number;
}

/** The tie under which an item of this heap stands. */
export function heapTieOf(heap: Heap, item: number): number {
  return heap.region.views.f64[keyField(heap, positionOf(heap, item)) + 1] as number;
}

/**
 * Whether this heap holds an item, also when the item's memory may have been freed and used anew: the place it
 * seems to name is believed only if the heap has that very item there.
 */
export function heapHas(heap: Heap, item: number): boolean {
  const place = heap.region.views.u32[item * 2 + ITEM_PLACE_WORD] as number;
  if (place < PLACE_HEAP || place - PLACE_HEAP >= heap.count) return false;
  return heapAt(heap, place - PLACE_HEAP) === item;
}

/** Puts an item that stands nowhere in; false when the region is exhausted. May remake the views. O(log n). @hot */
export function heapPush(heap: Heap, item: number, key: number, tie: number): boolean {
  const position = heap.count + HEAP_ROOT;
  if (!reservePages(heap, position)) return false;
  const { f64, u32 } = heap.region.views;
  if (VERIFY) assert(u32[item * 2 + ITEM_PLACE_WORD] === PLACE_NOWHERE, "heapPush: stands nowhere");
  if (VERIFY) assert(!Number.isNaN(key) && !Number.isNaN(tie), "heapPush: key and tie are numbers");
  const at = keyField(heap, position);
  f64[at] = key;
  f64[at + 1] = tie;
  u32[handleWord(heap, position)] = item;
  heap.count++;
  siftUp(heap, position);
  return true;
}

/** Takes out the item of the lowest key, or returns 0. O(log n). @hot */
export function heapPop(heap: Heap): number {
  if (heap.count === 0) return 0;
  const item = heap.region.views.u32[(heap.handlePages[0] as number) + HEAP_ROOT] as number;
  removeAt(heap, HEAP_ROOT);
  return item;
}

/** Takes out any item of this heap. O(log n). @hot */
export function heapRemove(heap: Heap, item: number): void {
  removeAt(heap, positionOf(heap, item));
}

/** Moves an item of this heap to another key. O(log n). @hot */
export function heapUpdate(heap: Heap, item: number, key: number, tie: number): void {
  const position = positionOf(heap, item);
  const { f64 } = heap.region.views;
  if (VERIFY)
    assert(!Number.isNaN(key) && !Number.isNaN(tie), "heapUpdate: key and tie are numbers");
  const at = keyField(heap, position);
  const before = f64[at] as number;
  const isLower = key < before || (key === before && tie < (f64[at + 1] as number));
  f64[at] = key;
  f64[at + 1] = tie;
  if (isLower) siftUp(heap, position);
  else siftDown(heap, position);
}

/** Checks I1 to I3 and returns the number of items. */
export function verifyHeap(heap: Heap): number {
  const { f64, u32 } = heap.region.views;
  const end = heap.count + HEAP_ROOT;
  for (let position = HEAP_ROOT; position < end; position++) {
    const item = u32[handleWord(heap, position)] as number;
    assert(item !== 0, "I2: an item at every position");
    assert(u32[item * 2 + ITEM_PLACE_WORD] === position + HEAP_PLACE_BIAS, "I2: place");
    if (position === HEAP_ROOT) continue;
    const at = keyField(heap, position);
    const parent = keyField(heap, (position >>> 2) + 2);
    const isAbove = (f64[parent] as number) < (f64[at] as number);
    const isEqual = f64[parent] === f64[at];
    assert(isAbove || (isEqual && (f64[parent + 1] as number) <= (f64[at + 1] ?? 0)), "I1: order");
  }
  const keyPages = heap.count === 0 ? 0 : ((end - 1) >>> HEAP_KEY_SHIFT) + 1;
  const handlePages = heap.count === 0 ? 0 : ((end - 1) >>> HEAP_HANDLE_SHIFT) + 1;
  const keySpare = heap.keyPageCount - keyPages;
  const handleSpare = heap.handlePageCount - handlePages;
  assert(keySpare === 0 || keySpare === 1, "I3: pages of keys");
  assert(handleSpare === 0 || handleSpare === 1, "I3: pages of handles");
  return heap.count;
}

function positionOf(heap: Heap, item: number): number {
  const { u32 } = heap.region.views;
  const place = u32[item * 2 + ITEM_PLACE_WORD] as number;
  const position = place - HEAP_PLACE_BIAS;
  assert(place >= PLACE_HEAP && position < heap.count + HEAP_ROOT, "I2: the item stands in a heap");
  if (VERIFY) assert(u32[handleWord(heap, position)] === item, "I2: the item stands in this heap");
  return position;
}

/** Carries the entry at `start` up to where its parent is not above it. @hot */
function siftUp(heap: Heap, start: number): void {
  const { f64, u32 } = heap.region.views;
  const { handlePages, keyPages } = heap;
  let position = start;
  let at = (keyPages[position >>> HEAP_KEY_SHIFT] as number) + (position & HEAP_KEY_MASK) * 2;
  let word =
    (handlePages[position >>> HEAP_HANDLE_SHIFT] as number) + (position & HEAP_HANDLE_MASK);
  const key = f64[at] as number;
  const tie = f64[at + 1] as number;
  const item = u32[word] as number;
  while (position > HEAP_ROOT) {
    const parent = (position >>> 2) + 2;
    const from = (keyPages[parent >>> HEAP_KEY_SHIFT] as number) + (parent & HEAP_KEY_MASK) * 2;
    const parentKey = f64[from] as number;
    if (parentKey < key) break;
    const parentTie = f64[from + 1] as number;
    if (parentKey === key && parentTie <= tie) break;
    const source =
      (handlePages[parent >>> HEAP_HANDLE_SHIFT] as number) + (parent & HEAP_HANDLE_MASK);
    const moved = u32[source] as number;
    f64[at] = parentKey;
    f64[at + 1] = parentTie;
    u32[word] = moved;
    u32[moved * 2 + ITEM_PLACE_WORD] = position + HEAP_PLACE_BIAS;
    position = parent;
    at = from;
    word = source;
  }
  f64[at] = key;
  f64[at + 1] = tie;
  u32[word] = item;
  u32[item * 2 + ITEM_PLACE_WORD] = position + HEAP_PLACE_BIAS;
}

/** Carries the entry at `start` down to where no child is below it. @hot */
function siftDown(heap: Heap, start: number): void {
  const { f64, u32 } = heap.region.views;
  const { handlePages, keyPages } = heap;
  const end = heap.count + HEAP_ROOT;
  let position = start;
  let at = (keyPages[position >>> HEAP_KEY_SHIFT] as number) + (position & HEAP_KEY_MASK) * 2;
  let word =
    (handlePages[position >>> HEAP_HANDLE_SHIFT] as number) + (position & HEAP_HANDLE_MASK);
  const key = f64[at] as number;
  const tie = f64[at + 1] as number;
  const item = u32[word] as number;
  for (;;) {
    const first = (position - 2) * 4;
    if (first >= end) break;
    const group = (keyPages[first >>> HEAP_KEY_SHIFT] as number) + (first & HEAP_KEY_MASK) * 2;
    const last = Math.min(end - first, 4);
    let least = 0;
    let leastKey = f64[group] as number;
    for (let child = 1; child < last; child++) {
      const childKey = f64[group + child * 2] as number;
      if (childKey > leastKey) continue;
      if (childKey === leastKey) {
        const isLower =
          (f64[group + child * 2 + 1] as number) < (f64[group + least * 2 + 1] as number);
        if (!isLower) continue;
      }
      least = child;
      leastKey = childKey;
    }
    const leastTie = f64[group + least * 2 + 1] as number;
    if (key < leastKey || (key === leastKey && tie <= leastTie)) break;
    const child = first + least;
    const source =
      (handlePages[child >>> HEAP_HANDLE_SHIFT] as number) + (child & HEAP_HANDLE_MASK);
    const moved = u32[source] as number;
    f64[at] = leastKey;
    f64[at + 1] = leastTie;
    u32[word] = moved;
    u32[moved * 2 + ITEM_PLACE_WORD] = position + HEAP_PLACE_BIAS;
    position = child;
    at = group + least * 2;
    word = source;
  }
  f64[at] = key;
  f64[at + 1] = tie;
  u32[word] = item;
  u32[item * 2 + ITEM_PLACE_WORD] = position + HEAP_PLACE_BIAS;
}

/** Takes the entry at a position out; the last one fills its place. */
function removeAt(heap: Heap, position: number): void {
  const { f64, u32 } = heap.region.views;
  const last = heap.count - 1 + HEAP_ROOT;
  const word = handleWord(heap, position);
  u32[(u32[word] as number) * 2 + ITEM_PLACE_WORD] = PLACE_NOWHERE;
  heap.count--;
  if (position !== last) {
    const at = keyField(heap, position);
    const from = keyField(heap, last);
    const key = f64[at] as number;
    const tie = f64[at + 1] as number;
    const lastKey = f64[from] as number;
    const lastTie = f64[from + 1] as number;
    f64[at] = lastKey;
    f64[at + 1] = lastTie;
    u32[word] = u32[handleWord(heap, last)] as number;
    if (lastKey < key || (lastKey === key && lastTie < tie)) siftUp(heap, position);
    else siftDown(heap, position);
  }
  if ((last & HEAP_KEY_MASK) <= HEAP_ROOT) trimPages(heap);
}

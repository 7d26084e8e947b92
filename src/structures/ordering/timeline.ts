/**
 * Timeline: (key, tie, handle) by lowest key and tie, like a heap, and cheaper where keys mostly come in order, as
 * deadlines and clocks do.
 *
 *   in order      ──▶ line:  first ▸ entry · entry · gap · entry ◂ end     append, take first: O(1)
 *   out of order  ──▶ heap                                                O(log n)
 *
 * An entry that would stand before the last one of the line sends that one, once, to the heap: so one far key does not
 * close the line to all that come after it. An entry taken out of the middle leaves a gap; when gaps outnumber
 * entries, the first ones go to the heap. The owner thread alone calls.
 *
 *   I1  Keys and ties of the line do not fall from first to end, gaps included.
 *   I2  The item at position p of the line has place TIMELINE_PLACE_BIT + p; the first entry is no gap.
 *   I3  span ≤ 2 × count of the line + TIMELINE_SLACK, unless memory is exhausted.
 *   I4  Pages held are those of the span, and at most the one at its end.
 */
import { assert, VERIFY } from "../../base/assert.ts";
import {
  HEAP_HANDLE_MASK,
  HEAP_HANDLE_SHIFT,
  HEAP_KEY_MASK,
  HEAP_KEY_SHIFT,
} from "../../layout/ordering/heap.ts";
import { ITEM_PLACE_WORD, PLACE_NOWHERE } from "../../layout/ordering/item.ts";
import { TIMELINE_POSITION_MASK, TIMELINE_SLACK } from "../../layout/ordering/timeline.ts";
import { REGION_PAGE_BYTES } from "../../layout/memory/region.ts";
import type { Region } from "../../memory/region.ts";
import {
  createHeap,
  type Heap,
  heapAt,
  heapHas,
  heapKeyOf,
  heapPeekHandle,
  heapPeekKey,
  heapPop,
  heapPush,
  heapRemove,
  heapTieOf,
  heapUpdate,
  verifyHeap,
} from "./heap.ts";
import {
  createTimelinePages,
  dropAhead,
  dropBehind,
  handleAt,
  keyAt,
  type TimelinePages,
  reserveAt,
} from "./timeline-pages.ts";

/** Key, tie and handle. */
const HEAP_ENTRY_BYTES = 20;
/** The highest bit of a place word. */
const TIMELINE_PLACE_BIT = 0x8000_0000;
/** Entries of the heap that are looked at for each that is taken as one of the last. */
const LOOKS_PER_ITEM = 4;

export interface Timeline {
  readonly region: Region;
  readonly heap: Heap;
  /** The entry of the heap that `timelineLast` reads next. */
  hand: number;
  readonly pages: TimelinePages;
  /** Positions of the first entry and behind the last one. */
  first: number;
  end: number;
  /** Entries of the line, gaps not counted. */
  lineCount: number;
}

/** `start`: position of the first entry, for tests of the wrap. */
export function createTimeline(region: Region, start = 0): Timeline {
  const pages = createTimelinePages(region);
  const heap = createHeap(region);
  return { region, heap, hand: 0, pages, first: start, end: start, lineCount: 0 };
}

export function timelineCount(line: Timeline): number {
  return line.lineCount + line.heap.count;
}

/** The lowest key; Infinity when there is none. @hot */
export function timelinePeekKey(line: Timeline): number {
  if (line.lineCount === 0) return heapPeekKey(line.heap);
  const key = line.region.views.f64[keyAt(line.pages, line.first)] as number;
  return line.heap.count === 0 ? key : Math.min(key, heapPeekKey(line.heap));
}

/** The item of the lowest key and tie, or 0. @hot */
export function timelinePeekHandle(line: Timeline): number {
  if (line.lineCount === 0) return heapPeekHandle(line.heap);
  const item = line.region.views.u32[handleAt(line.pages, line.first)] as number;
  return line.heap.count === 0 || isLineFirst(line) ? item : heapPeekHandle(line.heap);
}

/** The key under which an item stands. */
export function timelineKeyOf(line: Timeline, item: number): number {
  const place = placeOf(line, item);
  if (place < TIMELINE_PLACE_BIT) return heapKeyOf(line.heap, item);
  return line.region.views.f64[keyAt(line.pages, place - TIMELINE_PLACE_BIT)] as number;
}

/** The tie under which an item stands. */
export function timelineTieOf(line: Timeline, item: number): number {
  const place = placeOf(line, item);
  if (place < TIMELINE_PLACE_BIT) return heapTieOf(line.heap, item);
  return line.region.views.f64[keyAt(line.pages, place - TIMELINE_PLACE_BIT) + 1] as number;
}

/** Whether an item stands here, also when its memory may have been freed and used anew. */
export function timelineHas(line: Timeline, item: number): boolean {
  const place = placeOf(line, item);
  if (place < TIMELINE_PLACE_BIT) return heapHas(line.heap, item);
  const position = place - TIMELINE_PLACE_BIT;
  const isInside = distance(line.first, position) < distance(line.first, line.end);
  return isInside && line.region.views.u32[handleAt(line.pages, position)] === item;
}

/** Puts an item that stands nowhere in; false when the region is exhausted. May remake the views. @hot */
export function timelinePush(line: Timeline, item: number, key: number, tie: number): boolean {
  if (VERIFY) assert(!Number.isNaN(key) && !Number.isNaN(tie), "timelinePush: numbers");
  if (!isInOrder(line, key, tie) && !openUp(line, key, tie)) {
    return heapPush(line.heap, item, key, tie);
  }
  const { end, pages } = line;
  if (!reserveAt(pages, line.first, end)) return heapPush(line.heap, item, key, tie);
  const { f64, u32 } = line.region.views;
  if (VERIFY) assert(u32[item * 2 + ITEM_PLACE_WORD] === PLACE_NOWHERE, "timelinePush: nowhere");
  const at = keyAt(pages, end);
  f64[at] = key;
  f64[at + 1] = tie;
  u32[handleAt(pages, end)] = item;
  u32[item * 2 + ITEM_PLACE_WORD] = TIMELINE_PLACE_BIT + end;
  line.end = (end + 1) & TIMELINE_POSITION_MASK;
  line.lineCount++;
  return true;
}

/**
 * Room for entries of one key whose ties rise from `tie` on: how many of `max` may be written at the line's end, at the places of
 * timelineKeys, timelineSlots and timelinePlace; 0: none, push them. May remake the views. @hot
 */
export function timelineReserve(line: Timeline, key: number, tie: number, max: number): number {
  if (!isInOrder(line, key, tie) && !openUp(line, key, tie)) return 0;
  const { end, pages } = line;
  if (!reserveAt(pages, line.first, end)) return 0;
  const keys = HEAP_KEY_MASK + 1 - (end & HEAP_KEY_MASK);
  const handles = HEAP_HANDLE_MASK + 1 - (end & HEAP_HANDLE_MASK);
  return Math.min(max, keys, handles);
}

/** Byte offset of the next entry's key; its tie follows it. @hot */
export function timelineKeys(line: Timeline): number {
  return keyAt(line.pages, line.end) * 8;
}

/** Byte offset of the next entry's handle. @hot */
export function timelineSlots(line: Timeline): number {
  return handleAt(line.pages, line.end) * 4;
}

/** The place word of the next entry's item. @hot */
export function timelinePlace(line: Timeline): number {
  return TIMELINE_PLACE_BIT + line.end;
}

/** So many entries were written, with the places of their items. @hot */
export function timelineExtend(line: Timeline, count: number): void {
  line.end = (line.end + count) & TIMELINE_POSITION_MASK;
  line.lineCount += count;
}

/** Whether an item stands here under this tie and a key beyond `key`, also when its memory may have been used anew. @hot */
export function timelineHolds(line: Timeline, item: number, tie: number, key: number): boolean {
  const place = placeOf(line, item);
  if (place < TIMELINE_PLACE_BIT) {
    return heapHas(line.heap, item) && isUnder(line.heap, item, tie, key);
  }
  const { pages, region } = line;
  const position = place - TIMELINE_PLACE_BIT;
  if (distance(line.first, position) >= distance(line.first, line.end)) return false;
  const { f64, u32 } = region.views;
  if (u32[handleAt(pages, position)] !== item) return false;
  const at = keyAt(pages, position);
  return f64[at + 1] === tie && key < (f64[at] as number);
}

function isUnder(heap: Heap, item: number, tie: number, key: number): boolean {
  return heapTieOf(heap, item) === tie && key < heapKeyOf(heap, item);
}

/** Takes out the item of the lowest key and tie, or returns 0. @hot */
export function timelinePop(line: Timeline): number {
  if (line.lineCount === 0 || (line.heap.count > 0 && !isLineFirst(line)))
    return heapPop(line.heap);
  const item = line.region.views.u32[handleAt(line.pages, line.first)] as number;
  removeAt(line, line.first, item);
  return item;
}

/** Takes out any item that stands here. @hot */
export function timelineRemove(line: Timeline, item: number): void {
  const place = placeOf(line, item);
  if (place < TIMELINE_PLACE_BIT) heapRemove(line.heap, item);
  else removeAt(line, place - TIMELINE_PLACE_BIT, item);
}

/** Moves an item that stands here to another key; the caller has seen to it that there is room. */
export function timelineUpdate(line: Timeline, item: number, key: number, tie: number): void {
  const place = placeOf(line, item);
  if (place < TIMELINE_PLACE_BIT) {
    heapUpdate(line.heap, item, key, tie);
    return;
  }
  removeAt(line, place - TIMELINE_PLACE_BIT, item);
  const isIn = timelinePush(line, item, key, tie);
  assert(isIn, "timelineUpdate: room was asked for");
}

/** Bytes of the pages of line and heap. */
export function timelineBytes({ heap, pages }: Timeline): number {
  const line = pages.keyPageCount + pages.handlePageCount;
  return line * REGION_PAGE_BYTES + heap.count * HEAP_ENTRY_BYTES;
}

/** Drops the gaps that the line ends with: entries taken away from its end leave none behind. */
export function timelineTrim(line: Timeline): void {
  dropGapsAtEnd(line);
}

/**
 * Items of high keys, at most `most` of them in an array, the highest first: the last ones of the line, then the highest of some entries
 * of the heap, others at each call.
 */
export function timelineLast(line: Timeline, most: number): number[] {
  const { u32 } = line.region.views;
  const items: number[] = [];
  for (let at = line.end; at !== line.first && items.length < most; ) {
    at = (at - 1) & TIMELINE_POSITION_MASK;
    const item = u32[handleAt(line.pages, at)] as number;
    if (item !== 0) items.push(item);
  }
  if (items.length < most) items.push(...lastOfHeap(line, most - items.length));
  return items;
}

/** The highest of LOOKS_PER_ITEM entries for each that is wanted; the later half of the heap's entries holds most of the high keys. */
function lastOfHeap(line: Timeline, most: number): number[] {
  const { heap } = line;
  const from = heap.count >>> 1;
  const looks = Math.min(heap.count - from, most * LOOKS_PER_ITEM);
  const items = new Array<number>(looks);
  const keys = new Float64Array(looks);
  for (let look = 0; look < looks; look++) {
    if (line.hand < from || line.hand >= heap.count) line.hand = from;
    const item = heapAt(heap, line.hand++);
    items[look] = item;
    keys[look] = heapKeyOf(heap, item);
  }
  const least = keys.slice().sort()[Math.max(looks - most, 0)] as number;
  return items
    .filter((_, look) => (keys[look] as number) >= least)
    .sort((a, b) => heapKeyOf(heap, b) - heapKeyOf(heap, a))
    .slice(0, most);
}

/** Every item, in no useful order: those of the heap, then those of the line. */
export function timelineItems(line: Timeline): number[] {
  const items: number[] = [];
  for (let index = 0; index < line.heap.count; index++) items.push(heapAt(line.heap, index));
  const { u32 } = line.region.views;
  for (let at = line.first; at !== line.end; at = (at + 1) & TIMELINE_POSITION_MASK) {
    const item = u32[handleAt(line.pages, at)] as number;
    if (item !== 0) items.push(item);
  }
  return items;
}

/** Checks I1 to I4 and returns the number of items. */
export function verifyTimeline(line: Timeline): number {
  const { f64, u32 } = line.region.views;
  let count = 0;
  let [key, tie] = [Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (let at = line.first; at !== line.end; at = (at + 1) & TIMELINE_POSITION_MASK) {
    const [nextKey, nextTie] = [f64[keyAt(line.pages, at)], f64[keyAt(line.pages, at) + 1]];
    assert(isBefore(key, tie, nextKey as number, nextTie as number), "I1: keys do not fall");
    [key, tie] = [nextKey as number, nextTie as number];
    const item = u32[handleAt(line.pages, at)] as number;
    assert(item !== 0 || at !== line.first, "I2: the first is no gap");
    if (item === 0) continue;
    count++;
    assert(u32[item * 2 + ITEM_PLACE_WORD] === TIMELINE_PLACE_BIT + at, "I2: place");
  }
  assert(count === line.lineCount, "entries of the line are counted");
  const span = distance(line.first, line.end);
  assert(span <= 2 * line.lineCount + TIMELINE_SLACK, "I3: gaps are bounded");
  const { keyPageCount, handlePageCount } = line.pages;
  assert(keyPageCount <= (span >>> HEAP_KEY_SHIFT) + 3, "I4: pages of keys");
  assert(handlePageCount <= (span >>> HEAP_HANDLE_SHIFT) + 3, "I4: pages of handles");
  return count + verifyHeap(line.heap);
}

function placeOf(line: Timeline, item: number): number {
  return line.region.views.u32[item * 2 + ITEM_PLACE_WORD] as number;
}

function distance(from: number, to: number): number {
  return (to - from) & TIMELINE_POSITION_MASK;
}

/** Whether the first entry of the line comes before the heap's; both have one. */
function isLineFirst(line: Timeline): boolean {
  const { f64 } = line.region.views;
  const at = keyAt(line.pages, line.first);
  const item = heapPeekHandle(line.heap);
  const key = heapPeekKey(line.heap);
  return isBefore(f64[at] as number, f64[at + 1] as number, key, heapTieOf(line.heap, item));
}

/** Not behind: equal ones count as in order. */
function isBefore(key: number, tie: number, nextKey: number, nextTie: number): boolean {
  return key < nextKey || (key === nextKey && tie <= nextTie);
}

/** Whether a new entry may stand at the line's end. */
function isInOrder(line: Timeline, key: number, tie: number): boolean {
  if (line.lineCount === 0) return true;
  const { f64 } = line.region.views;
  const at = keyAt(line.pages, (line.end - 1) & TIMELINE_POSITION_MASK);
  return isBefore(f64[at] as number, f64[at + 1] as number, key, tie);
}

/** Sends the last entry to the heap, so that a lower one may stand in the line; whether it may now. */
function openUp(line: Timeline, key: number, tie: number): boolean {
  dropGapsAtEnd(line);
  if (isInOrder(line, key, tie)) return true;
  const { f64, u32 } = line.region.views;
  const last = (line.end - 1) & TIMELINE_POSITION_MASK;
  const item = u32[handleAt(line.pages, last)] as number;
  const at = keyAt(line.pages, last);
  const [lastKey, lastTie] = [f64[at] as number, f64[at + 1] as number];
  moveToHeap(line, last, item, { key: lastKey, tie: lastTie });
  dropGapsAtEnd(line);
  return isInOrder(line, key, tie);
}

function dropGapsAtEnd(line: Timeline): void {
  const { u32 } = line.region.views;
  const from = line.end;
  while (line.end !== line.first) {
    const last = (line.end - 1) & TIMELINE_POSITION_MASK;
    if (u32[handleAt(line.pages, last)] !== 0) break;
    line.end = last;
  }
  if (from >>> HEAP_KEY_SHIFT !== line.end >>> HEAP_KEY_SHIFT) {
    dropAhead(line.pages, line.end, from);
  }
}

/** False, with the entry where it was, when the heap has no room. */
function moveToHeap(
  line: Timeline,
  position: number,
  item: number,
  { key, tie }: { key: number; tie: number },
): boolean {
  const { region } = line;
  region.views.u32[item * 2 + ITEM_PLACE_WORD] = PLACE_NOWHERE;
  if (!heapPush(line.heap, item, key, tie)) {
    region.views.u32[item * 2 + ITEM_PLACE_WORD] = TIMELINE_PLACE_BIT + position;
    return false;
  }
  region.views.u32[handleAt(line.pages, position)] = 0;
  line.lineCount--;
  if (position === line.first) advance(line);
  return true;
}

/** Leaves a gap, or moves the line's start behind the gaps that follow. @hot */
function removeAt(line: Timeline, position: number, item: number): void {
  const { u32 } = line.region.views;
  const at = handleAt(line.pages, position);
  assert(u32[at] === item, "I2: the item stands in this timeline");
  u32[at] = 0;
  u32[item * 2 + ITEM_PLACE_WORD] = PLACE_NOWHERE;
  line.lineCount--;
  if (position === line.first) advance(line);
  while (hasManyGaps(line)) if (!shedFirst(line)) return;
}

function hasManyGaps(line: Timeline): boolean {
  return distance(line.first, line.end) > 2 * line.lineCount + TIMELINE_SLACK;
}

/** Moves the first entry to the heap, so that the gaps after it can go. */
function shedFirst(line: Timeline): boolean {
  const { f64, u32 } = line.region.views;
  const item = u32[handleAt(line.pages, line.first)] as number;
  const at = keyAt(line.pages, line.first);
  return moveToHeap(line, line.first, item, { key: f64[at] as number, tie: f64[at + 1] as number });
}

/** Moves the start to the next entry and frees the pages before it. @hot */
function advance(line: Timeline): void {
  const { pages } = line;
  const { u32 } = line.region.views;
  const from = line.first;
  let first = from;
  while (first !== line.end && u32[handleAt(pages, first)] === 0) {
    first = (first + 1) & TIMELINE_POSITION_MASK;
  }
  line.first = first;
  if (from >>> HEAP_KEY_SHIFT !== first >>> HEAP_KEY_SHIFT) dropBehind(pages, from, first);
}

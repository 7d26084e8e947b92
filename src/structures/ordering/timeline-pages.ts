/**
 * The pages of a timeline's line (layout/ordering/timeline.ts): where a position's key, tie and handle stand. Two directories of
 * pages, each a ring: a page number modulo its length is its place.
 *
 *   I1  A directory is longer than the pages of the span, so that no two of them share a place.
 */
import {
  HEAP_HANDLE_MASK,
  HEAP_HANDLE_SHIFT,
  HEAP_KEY_MASK,
  HEAP_KEY_SHIFT,
} from "../../layout/ordering/heap.ts";
import { TIMELINE_POSITION_MASK } from "../../layout/ordering/timeline.ts";
import { type Region, regionGive, regionTake } from "../../memory/region.ts";

export interface TimelinePages {
  readonly region: Region;
  /** By page number modulo length: index of the page's first 8-byte field or word; 0 = none. */
  keys: Uint32Array;
  handles: Uint32Array;
  keyPageCount: number;
  handlePageCount: number;
}

/** Pages that a new directory can name. */
const DIRECTORY = 16;

export function createTimelinePages(region: Region): TimelinePages {
  return {
    region,
    keys: new Uint32Array(DIRECTORY),
    handles: new Uint32Array(DIRECTORY),
    keyPageCount: 0,
    handlePageCount: 0,
  };
}

/** Index of a position's key; its tie follows it. @hot */
export function keyAt({ keys }: TimelinePages, position: number): number {
  const page = keys[(position >>> HEAP_KEY_SHIFT) & (keys.length - 1)] as number;
  return page + (position & HEAP_KEY_MASK) * 2;
}

/** Index of a position's handle. @hot */
export function handleAt({ handles }: TimelinePages, position: number): number {
  const page = handles[(position >>> HEAP_HANDLE_SHIFT) & (handles.length - 1)] as number;
  return page + (position & HEAP_HANDLE_MASK);
}

/** Makes sure that there are pages for position `end` of a line that starts at `first`. @hot */
export function reserveAt(pages: TimelinePages, first: number, end: number): boolean {
  const key = end >>> HEAP_KEY_SHIFT;
  if (pages.keys[key & (pages.keys.length - 1)] === 0 || isNewPage(pages, first, end)) {
    return takePages(pages, first, end);
  }
  return true;
}

/** Frees the pages from that of `from` on, but not that of `first`, where the line now starts. */
export function dropBehind(pages: TimelinePages, from: number, first: number): void {
  giveKeys(pages, from >>> HEAP_KEY_SHIFT, first >>> HEAP_KEY_SHIFT);
  giveHandles(pages, from >>> HEAP_HANDLE_SHIFT, first >>> HEAP_HANDLE_SHIFT);
}

/** Frees the pages after that of `end`, where the line now ends, up to that of `from`. */
export function dropAhead(pages: TimelinePages, end: number, from: number): void {
  giveKeys(pages, (end >>> HEAP_KEY_SHIFT) + 1, (from >>> HEAP_KEY_SHIFT) + 1);
  giveHandles(pages, (end >>> HEAP_HANDLE_SHIFT) + 1, (from >>> HEAP_HANDLE_SHIFT) + 1);
}

/** Pages of keys by number from `start` up to `stop`; numbers wrap as positions do. */
function giveKeys(pages: TimelinePages, start: number, stop: number): void {
  const { keys, region } = pages;
  const mask = TIMELINE_POSITION_MASK >>> HEAP_KEY_SHIFT;
  for (let page = start & mask; page !== (stop & mask); page = (page + 1) & mask) {
    const at = page & (keys.length - 1);
    if (keys[at] === 0) continue;
    regionGive(region, (keys[at] as number) * 8, 1);
    keys[at] = 0;
    pages.keyPageCount--;
  }
}

function giveHandles(pages: TimelinePages, start: number, stop: number): void {
  const { handles, region } = pages;
  const mask = TIMELINE_POSITION_MASK >>> HEAP_HANDLE_SHIFT;
  for (let page = start & mask; page !== (stop & mask); page = (page + 1) & mask) {
    const at = page & (handles.length - 1);
    if (handles[at] === 0) continue;
    regionGive(region, (handles[at] as number) * 4, 1);
    handles[at] = 0;
    pages.handlePageCount--;
  }
}

/** Whether the place of the end's page still names the page of the line's start, one ring before. */
function isNewPage({ keys, handles }: TimelinePages, first: number, end: number): boolean {
  const key = ((end >>> HEAP_KEY_SHIFT) - (first >>> HEAP_KEY_SHIFT)) & (keys.length - 1);
  const span = (end - first) & TIMELINE_POSITION_MASK;
  if (key === 0 && span > HEAP_KEY_MASK) return true;
  return handles[(end >>> HEAP_HANDLE_SHIFT) & (handles.length - 1)] === 0;
}

function takePages(pages: TimelinePages, first: number, end: number): boolean {
  const span = (end - first) & TIMELINE_POSITION_MASK;
  const keyCount = (span >>> HEAP_KEY_SHIFT) + 2;
  if (keyCount >= pages.keys.length) {
    pages.keys = longer(pages.keys, first >>> HEAP_KEY_SHIFT);
    pages.handles = longer(pages.handles, first >>> HEAP_HANDLE_SHIFT);
  }
  const { region, keys, handles } = pages;
  const key = (end >>> HEAP_KEY_SHIFT) & (keys.length - 1);
  if (keys[key] === 0) {
    const offset = regionTake(region, 1);
    if (offset === 0) return false;
    keys[key] = offset / 8;
    pages.keyPageCount++;
  }
  const handle = (end >>> HEAP_HANDLE_SHIFT) & (handles.length - 1);
  if (handles[handle] !== 0) return true;
  const offset = regionTake(region, 1);
  if (offset === 0) return false; // the page of keys waits for the next try
  handles[handle] = offset / 4;
  pages.handlePageCount++;
  return true;
}

/** Twice the directory, every page at its new place; `first`: number of the line's first page. */
function longer(pages: Uint32Array, first: number): Uint32Array {
  const wider = new Uint32Array(pages.length * 2);
  for (let ahead = 0; ahead < pages.length; ahead++) {
    const page = first + ahead;
    wider[page & (wider.length - 1)] = pages[page & (pages.length - 1)] as number;
  }
  return wider;
}

/**
 * Ordered walk: the entries of a heap or a timeline from the lowest key up, with nothing changed: for forecasts. What is walked may not
 * change meanwhile.
 *
 *   heap       the least of `open`, whose children take its place       O(open) an entry
 *   timeline   the line's next entry, or the heap's, whichever comes first
 *
 * Gaps of a line are stepped over, GAPS_MAX of them in one walk; then the walk returns what key comes next, and no more whose it is.
 */
import { TIMELINE_POSITION_MASK } from "../../layout/ordering/timeline.ts";
import { type Heap, heapAt, heapCount, heapKeyOf, heapTieOf } from "./heap.ts";
import { handleAt, keyAt } from "./timeline-pages.ts";
import type { Timeline } from "./timeline.ts";

const GAPS_MAX = 1_024;

export interface OrderedWalk {
  readonly heap: Heap;
  /** Indexes of the heap whose parents have been taken. */
  readonly open: number[];
  readonly line: Timeline | undefined;
  position: number;
  gapsLeft: number;
}

export function walkHeap(heap: Heap): OrderedWalk {
  const open = heapCount(heap) > 0 ? [0] : [];
  return { heap, open, line: undefined, position: 0, gapsLeft: 0 };
}

export function walkTimeline(line: Timeline): OrderedWalk {
  return { ...walkHeap(line.heap), line, position: line.first, gapsLeft: GAPS_MAX };
}

/** The key of the next entry; Infinity at the end. */
export function walkKey(walk: OrderedWalk): number {
  return Math.min(heapKey(walk), lineKey(walk));
}

/** Takes the next entry: its item; 0: one is there, but whose is not known, and the walk is over. */
export function walkTake(walk: OrderedWalk): number {
  return isHeapNext(walk) ? takeOfHeap(walk) : takeOfLine(walk);
}

function isHeapNext(walk: OrderedWalk): boolean {
  const [ofHeap, ofLine] = [heapKey(walk), lineKey(walk)];
  if (ofHeap !== ofLine || walk.line === undefined) return ofHeap < ofLine;
  const { f64 } = walk.line.region.views;
  const tie = f64[keyAt(walk.line.pages, walk.position) + 1] as number;
  return heapTieOf(walk.heap, heapAt(walk.heap, walk.open[leastOf(walk)] as number)) < tie;
}

function heapKey(walk: OrderedWalk): number {
  const least = leastOf(walk);
  if (least < 0) return Number.POSITIVE_INFINITY;
  return heapKeyOf(walk.heap, heapAt(walk.heap, walk.open[least] as number));
}

/** Which of the open indexes holds the lowest key and tie; −1: there is none. */
function leastOf({ heap, open }: OrderedWalk): number {
  let least = -1;
  let [key, tie] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  for (let at = 0; at < open.length; at++) {
    const item = heapAt(heap, open[at] as number);
    const [itsKey, itsTie] = [heapKeyOf(heap, item), heapTieOf(heap, item)];
    if (itsKey > key || (itsKey === key && itsTie >= tie)) continue;
    [least, key, tie] = [at, itsKey, itsTie];
  }
  return least;
}

function takeOfHeap({ heap, open, ...walk }: OrderedWalk): number {
  const [index = 0] = open.splice(leastOf({ heap, open, ...walk }), 1);
  const first = index * 4 + 1;
  for (let child = first; child < Math.min(first + 4, heapCount(heap)); child++) open.push(child);
  return heapAt(heap, index);
}

function lineKey({ line, position }: OrderedWalk): number {
  if (line === undefined || position === line.end) return Number.POSITIVE_INFINITY;
  return line.region.views.f64[keyAt(line.pages, position)] as number;
}

function takeOfLine(walk: OrderedWalk): number {
  const { line, position } = walk;
  if (line === undefined || position === line.end) return 0;
  const { u32 } = line.region.views;
  const item = u32[handleAt(line.pages, position)] as number;
  if (item === 0) return 0; // gaps without end
  let next = (position + 1) & TIMELINE_POSITION_MASK;
  while (next !== line.end && u32[handleAt(line.pages, next)] === 0 && walk.gapsLeft > 0) {
    next = (next + 1) & TIMELINE_POSITION_MASK;
    walk.gapsLeft--;
  }
  walk.position = next;
  return item;
}

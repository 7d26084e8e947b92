/**
 * Room `src/structures/ordering`: order: lanes of records, ranks of lanes, heaps and timelines of clocks. Decides which
 * item is first, never whether it may go. Data only: no clock, no host, no rule.
 */

/**
 * Lane: items in the order of their keys, cheap where they come in order.
 *
 *            head ⇄ item ⇄ item ⇄ … ⇄ tail        list: append and prepend in O(1)
 *            side: treap of items that came back   insert in O(log n)
 *            between head and tail
 *
 * Keys of two orders may meet in a lane, one below zero and one above: hosts that were never leased, and others. The last item below zero is
 * remembered, so that each order grows in O(1).
 *
 * FIFO takes `laneFirst`, LIFO `laneLast`: the better of list and side. Keys are meant to be unique
 * in a lane; equal ones do no harm, they stand in a fixed order (list first, then by handle).
 * An item's place decides whether it stands in the list or in the side treap.
 *
 *   I1  The list's keys rise strictly from head to tail, links agree in both directions.
 *   I2  count = items of the list + items of the side.
 *   I3  Each item's place is where it stands.
 *   I4  `below` is the last item of the list whose key is below zero.
 */
import { assert, VERIFY } from "../../base/assert.ts";
import {
  ITEM_KEY_FIELD,
  ITEM_LEFT_WORD,
  ITEM_PLACE_WORD,
  ITEM_RIGHT_WORD,
  PLACE_LIST,
  PLACE_NOWHERE,
  PLACE_SIDE,
} from "../../layout/ordering/item.ts";
import {
  LANE_BELOW_WORD,
  LANE_BYTES,
  LANE_COUNT_WORD,
  LANE_HEAD_WORD,
  LANE_SIDE_WORD,
  LANE_TAIL_WORD,
} from "../../layout/ordering/lane.ts";
import { type Arena, arenaTake } from "../../memory/arena.ts";
import type { Region } from "../../memory/region.ts";
import {
  treapFirst,
  treapInsert,
  treapLast,
  treapNext,
  treapPrevious,
  treapRemove,
  verifyTreap,
} from "./treap.ts";

/** Where a walk along a lane stands. One object serves any number of walks, one after the other. */
export interface LaneCursor {
  isForward: boolean;
  /** Root of the lane's side while the walk lasts. */
  root: number;
  list: number;
  side: number;
}

/** Makes an empty lane that stands nowhere; 0 when memory is exhausted. */
export function laneCreate(arena: Arena, priority: number): number {
  const lane = arenaTake(arena, LANE_BYTES);
  if (lane !== 0) laneInit(arena.region, lane, priority);
  return lane;
}

/** Makes LANE_BYTES of memory an empty lane. */
export function laneInit(region: Region, lane: number, priority: number): void {
  const { f64, u32 } = region.views;
  u32.fill(0, lane * 2, lane * 2 + LANE_BYTES / 4);
  f64[lane + ITEM_KEY_FIELD] = priority;
}

export function laneCount(region: Region, lane: number): number {
  return region.views.u32[lane * 2 + LANE_COUNT_WORD] as number;
}

/** Whether all items of a lane that are in memory stand in its list: it has no side. @hot */
export function laneIsList(region: Region, lane: number): boolean {
  return (region.views.u32[lane * 2 + LANE_SIDE_WORD] as number) === 0;
}

export function lanePriority(region: Region, lane: number): number {
  return region.views.f64[lane + ITEM_KEY_FIELD] as number;
}

/** Puts an item in by its key: O(1) at either end of the list and of its items below zero, else O(log side). @hot */
export function laneInsert(region: Region, lane: number, item: number): void {
  const { f64, u32 } = region.views;
  const at = lane * 2;
  const word = item * 2;
  const key = f64[item + ITEM_KEY_FIELD] as number;
  if (VERIFY) assert(!Number.isNaN(key), "laneInsert: a key is a number");
  const tail = u32[at + LANE_TAIL_WORD] as number;
  u32[at + LANE_COUNT_WORD] = (u32[at + LANE_COUNT_WORD] as number) + 1;
  u32[word + ITEM_PLACE_WORD] = PLACE_LIST;
  if (tail === 0 || key > (f64[tail + ITEM_KEY_FIELD] as number)) {
    link(u32, lane, tail, item);
    if (key < 0) u32[at + LANE_BELOW_WORD] = item;
    return;
  }
  const head = u32[at + LANE_HEAD_WORD] as number;
  const below = u32[at + LANE_BELOW_WORD] as number;
  if (key < (f64[head + ITEM_KEY_FIELD] as number)) {
    link(u32, lane, 0, item);
    if (key < 0 && below === 0) u32[at + LANE_BELOW_WORD] = item;
    return;
  }
  if (key < 0 && key > (f64[below + ITEM_KEY_FIELD] as number)) {
    link(u32, lane, below, item);
    u32[at + LANE_BELOW_WORD] = item;
    return;
  }
  u32[word + ITEM_PLACE_WORD] = PLACE_SIDE;
  u32[at + LANE_SIDE_WORD] = treapInsert(region, u32[at + LANE_SIDE_WORD] as number, item);
}

/** Links an item into a list behind `previous`; 0: as its head. */
function link(u32: Uint32Array, lane: number, previous: number, item: number): void {
  const at = lane * 2;
  const hook = previous === 0 ? at + LANE_HEAD_WORD : previous * 2 + ITEM_LEFT_WORD;
  const next = u32[hook] as number;
  u32[hook] = item;
  if (next === 0) u32[at + LANE_TAIL_WORD] = item;
  else u32[next * 2 + ITEM_RIGHT_WORD] = item;
  u32[item * 2 + ITEM_LEFT_WORD] = next;
  u32[item * 2 + ITEM_RIGHT_WORD] = previous;
}

/** Takes out any item of this lane. O(1) from the list, else O(log side). @hot */
export function laneRemove(region: Region, lane: number, item: number): void {
  const { u32 } = region.views;
  const at = lane * 2;
  const word = item * 2;
  const place = u32[word + ITEM_PLACE_WORD] as number;
  if (place === PLACE_LIST) {
    const next = u32[word + ITEM_LEFT_WORD] as number;
    const previous = u32[word + ITEM_RIGHT_WORD] as number;
    if (VERIFY) verifyNeighbours(region, lane, item);
    if (u32[at + LANE_BELOW_WORD] === item) u32[at + LANE_BELOW_WORD] = previous;
    if (next !== 0) u32[next * 2 + ITEM_RIGHT_WORD] = previous;
    else u32[at + LANE_TAIL_WORD] = previous;
    if (previous !== 0) u32[previous * 2 + ITEM_LEFT_WORD] = next;
    else u32[at + LANE_HEAD_WORD] = next;
    u32[word + ITEM_LEFT_WORD] = 0;
    u32[word + ITEM_RIGHT_WORD] = 0;
  } else {
    assert(place === PLACE_SIDE, "laneRemove: the item stands in a lane");
    u32[at + LANE_SIDE_WORD] = treapRemove(region, u32[at + LANE_SIDE_WORD] as number, item);
  }
  u32[word + ITEM_PLACE_WORD] = PLACE_NOWHERE;
  u32[at + LANE_COUNT_WORD] = (u32[at + LANE_COUNT_WORD] as number) - 1;
}

/** Puts an item that stands nowhere in the place of one of the same key, which stands nowhere then. O(1) in the list, else O(log side). */
export function laneReplace(region: Region, lane: number, item: number, other: number): void {
  const { u32 } = region.views;
  if (u32[item * 2 + ITEM_PLACE_WORD] !== PLACE_LIST) {
    laneRemove(region, lane, item);
    laneInsert(region, lane, other);
    return;
  }
  if (VERIFY) verifyNeighbours(region, lane, item);
  if (u32[lane * 2 + LANE_BELOW_WORD] === item) u32[lane * 2 + LANE_BELOW_WORD] = other;
  const next = u32[item * 2 + ITEM_LEFT_WORD] as number;
  const previous = u32[item * 2 + ITEM_RIGHT_WORD] as number;
  if (next !== 0) u32[next * 2 + ITEM_RIGHT_WORD] = other;
  else u32[lane * 2 + LANE_TAIL_WORD] = other;
  if (previous !== 0) u32[previous * 2 + ITEM_LEFT_WORD] = other;
  else u32[lane * 2 + LANE_HEAD_WORD] = other;
  u32[other * 2 + ITEM_LEFT_WORD] = next;
  u32[other * 2 + ITEM_RIGHT_WORD] = previous;
  u32[other * 2 + ITEM_PLACE_WORD] = PLACE_LIST;
  u32[item * 2 + ITEM_LEFT_WORD] = 0;
  u32[item * 2 + ITEM_RIGHT_WORD] = 0;
  u32[item * 2 + ITEM_PLACE_WORD] = PLACE_NOWHERE;
}

/** The item of the lowest key, or 0. @hot */
export function laneFirst(region: Region, lane: number): number {
  const { f64, u32 } = region.views;
  const head = u32[lane * 2 + LANE_HEAD_WORD] as number;
  const root = u32[lane * 2 + LANE_SIDE_WORD] as number;
  if (root === 0) return head;
  const side = treapFirst(region, root);
  if (head === 0) return side;
  return (f64[side + ITEM_KEY_FIELD] as number) < (f64[head + ITEM_KEY_FIELD] as number)
    ? side
    : head;
}

/** The item of the highest key, or 0. @hot */
export function laneLast(region: Region, lane: number): number {
  const { f64, u32 } = region.views;
  const tail = u32[lane * 2 + LANE_TAIL_WORD] as number;
  const root = u32[lane * 2 + LANE_SIDE_WORD] as number;
  if (root === 0) return tail;
  const side = treapLast(region, root);
  if (tail === 0) return side;
  return (f64[side + ITEM_KEY_FIELD] as number) < (f64[tail + ITEM_KEY_FIELD] as number)
    ? tail
    : side;
}

export function createLaneCursor(): LaneCursor {
  return { isForward: true, root: 0, list: 0, side: 0 };
}

/** Starts a walk: from the lowest key up, or from the highest down. The lane must not change meanwhile. */
export function laneOpen(
  region: Region,
  lane: number,
  cursor: LaneCursor,
  isForward: boolean,
): void {
  const { u32 } = region.views;
  const root = u32[lane * 2 + LANE_SIDE_WORD] as number;
  cursor.isForward = isForward;
  cursor.root = root;
  cursor.list = u32[lane * 2 + (isForward ? LANE_HEAD_WORD : LANE_TAIL_WORD)] as number;
  cursor.side = isForward ? treapFirst(region, root) : treapLast(region, root);
}

/** The next item of the walk, or 0 at its end. O(1) in the list, else O(log side). */
export function laneStep(region: Region, cursor: LaneCursor): number {
  const { f64, u32 } = region.views;
  const { isForward, list, side } = cursor;
  if (list === 0 && side === 0) return 0;
  if (side === 0 || (list !== 0 && comesFirst(f64, cursor))) {
    cursor.list = u32[list * 2 + (isForward ? ITEM_LEFT_WORD : ITEM_RIGHT_WORD)] as number;
    return list;
  }
  cursor.side = isForward
    ? treapNext(region, cursor.root, side)
    : treapPrevious(region, cursor.root, side);
  return side;
}

/** Checks I1 to I3 and returns the number of items. */
export function verifyLane(region: Region, lane: number): number {
  const { f64, u32 } = region.views;
  const at = lane * 2;
  let count = 0;
  let previous = 0;
  let below = 0;
  for (let item = u32[at + LANE_HEAD_WORD] as number; item !== 0; count++) {
    assert(u32[item * 2 + ITEM_RIGHT_WORD] === previous, "I1: links agree");
    assert(u32[item * 2 + ITEM_PLACE_WORD] === PLACE_LIST, "I3: place of a list's item");
    if (previous !== 0) {
      const rises = (f64[previous + ITEM_KEY_FIELD] as number) < (f64[item + ITEM_KEY_FIELD] ?? 0);
      assert(rises, "I1: keys rise");
    }
    if ((f64[item + ITEM_KEY_FIELD] as number) < 0) below = item;
    previous = item;
    item = u32[item * 2 + ITEM_LEFT_WORD] as number;
  }
  assert(u32[at + LANE_BELOW_WORD] === below, "I4: the last item below zero");
  assert(u32[at + LANE_TAIL_WORD] === previous, "I1: tail is the last");
  const root = u32[at + LANE_SIDE_WORD] as number;
  const sides = verifyTreap(region, root);
  for (let item = treapFirst(region, root); item !== 0; item = treapNext(region, root, item)) {
    assert(u32[item * 2 + ITEM_PLACE_WORD] === PLACE_SIDE, "I3: place of a side's item");
  }
  assert(u32[at + LANE_COUNT_WORD] === count + sides, "I2: items are counted");
  return count + sides;
}

/** Whether the walk's item of the list comes before its item of the side; equal keys as first and last take them. */
function comesFirst(f64: Float64Array, cursor: LaneCursor): boolean {
  const list = f64[cursor.list + ITEM_KEY_FIELD] as number;
  const side = f64[cursor.side + ITEM_KEY_FIELD] as number;
  return cursor.isForward ? list <= side : list > side;
}

/** The neighbours of a list's item, or the lane's ends, point back at it. */
function verifyNeighbours(region: Region, lane: number, item: number): void {
  const { u32 } = region.views;
  const next = u32[item * 2 + ITEM_LEFT_WORD] as number;
  const previous = u32[item * 2 + ITEM_RIGHT_WORD] as number;
  const fromNext = next === 0 ? u32[lane * 2 + LANE_TAIL_WORD] : u32[next * 2 + ITEM_RIGHT_WORD];
  const fromPrevious =
    previous === 0 ? u32[lane * 2 + LANE_HEAD_WORD] : u32[previous * 2 + ITEM_LEFT_WORD];
  assert(fromNext === item && fromPrevious === item, "I1: the item stands in this lane");
}

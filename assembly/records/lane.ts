/** Lanes and their records in the kernel, as src/structures/ordering/lane.ts, ranks.ts and treap.ts have them. */
import {
  ITEM_KEY_WORD,
  ITEM_LEFT_WORD,
  ITEM_PLACE_WORD,
  ITEM_RIGHT_WORD,
  PLACE_LIST,
  PLACE_TREE,
  PLACE_SIDE,
} from "../../src/layout/ordering/item";
import {
  LANE_COUNT_WORD,
  LANE_TAIL_WORD,
  LANE_HEAD_WORD,
  LANE_SIDE_WORD,
  LANE_SPARE_WORD,
  LANE_BELOW_WORD,
} from "../../src/layout/ordering/lane";
import { at, bump, get, set } from "../batch-row";

/** The lane of a priority among those of a root, 0: none. */
export function laneOf(root: u32, priority: f64): u32 {
  let lane = root;
  while (lane !== 0) {
    const key = load<f64>(at(lane), ITEM_KEY_WORD << 2);
    if (key === priority) return lane;
    lane = get(at(lane), key < priority ? ITEM_RIGHT_WORD : ITEM_LEFT_WORD);
  }
  return 0;
}

/** The lane of the highest priority among those of a root, or 0. */
export function bestLane(root: u32): u32 {
  let lane = root;
  while (lane !== 0) {
    const higher = get(at(lane), ITEM_RIGHT_WORD);
    if (higher === 0) break;
    lane = higher;
  }
  return lane;
}

/** Puts a record behind the tail of a lane's list; false, with nothing changed: there is no tail, or the key belongs before it. */
export function laneAppend(lane: usize, handle: u32, key: f64): bool {
  const tail = get(lane, LANE_TAIL_WORD);
  if (tail === 0 || load<f64>(at(tail), ITEM_KEY_WORD << 2) >= key) return false;
  set(at(tail), ITEM_LEFT_WORD, handle);
  placeLast(at(handle), tail, key);
  set(lane, LANE_TAIL_WORD, handle);
  if (key < 0) set(lane, LANE_BELOW_WORD, handle);
  bump(lane, LANE_COUNT_WORD);
  return true;
}

/** The last place of a list, behind `previous`. */
export function placeLast(record: usize, previous: u32, key: f64): void {
  set(record, ITEM_LEFT_WORD, 0);
  set(record, ITEM_RIGHT_WORD, previous);
  store<f64>(record, key, ITEM_KEY_WORD << 2);
  set(record, ITEM_PLACE_WORD, PLACE_LIST);
}

/** A lane with one record, the only one of its owner (src/structures/ordering/ranks.ts). */
export function openLane(lane: usize, priority: f64, handle: u32, key: f64): void {
  set(lane, ITEM_LEFT_WORD, 0);
  set(lane, ITEM_RIGHT_WORD, 0);
  store<f64>(lane, priority, ITEM_KEY_WORD << 2);
  set(lane, ITEM_PLACE_WORD, PLACE_TREE);
  set(lane, LANE_HEAD_WORD, handle);
  set(lane, LANE_TAIL_WORD, handle);
  set(lane, LANE_SIDE_WORD, 0);
  set(lane, LANE_COUNT_WORD, 1);
  set(lane, LANE_SPARE_WORD, 0);
  set(lane, LANE_BELOW_WORD, key < 0 ? handle : 0);
  set(lane, LANE_BELOW_WORD + 1, 0);
}

/** Puts an item into a lane, by its key, as src/structures/ordering/lane.ts does. @hot */
export function laneInsert(lane: usize, handle: u32, key: f64): void {
  if (laneAppend(lane, handle, key)) return;
  const item = at(handle);
  const head = get(lane, LANE_HEAD_WORD);
  const below = get(lane, LANE_BELOW_WORD);
  store<f64>(item, key, ITEM_KEY_WORD << 2);
  set(item, ITEM_PLACE_WORD, PLACE_LIST);
  bump(lane, LANE_COUNT_WORD);
  if (head === 0 || key < load<f64>(at(head), ITEM_KEY_WORD << 2)) {
    link(lane, 0, handle);
    if (key < 0 && below === 0) set(lane, LANE_BELOW_WORD, handle);
  } else if (key < 0 && key > load<f64>(at(below), ITEM_KEY_WORD << 2)) {
    link(lane, below, handle);
    set(lane, LANE_BELOW_WORD, handle);
  } else {
    set(item, ITEM_PLACE_WORD, PLACE_SIDE);
    set(lane, LANE_SIDE_WORD, treapInsert(get(lane, LANE_SIDE_WORD), handle));
  }
}

/** Links an item into a list behind `previous`; 0: as its head. */
function link(lane: usize, previous: u32, handle: u32): void {
  const hook = previous === 0 ? lane + (LANE_HEAD_WORD << 2) : at(previous) + (ITEM_LEFT_WORD << 2);
  const next = load<u32>(hook);
  store<u32>(hook, handle);
  if (next === 0) set(lane, LANE_TAIL_WORD, handle);
  else set(at(next), ITEM_RIGHT_WORD, handle);
  set(at(handle), ITEM_LEFT_WORD, next);
  set(at(handle), ITEM_RIGHT_WORD, previous);
}

/** The items at one end of a list have left it, up to `end`, which is its last, or its first, now. */
export function laneCut(lane: usize, end: u32, isLast: bool): void {
  set(lane, isLast ? LANE_TAIL_WORD : LANE_HEAD_WORD, end);
  set(at(end), isLast ? ITEM_LEFT_WORD : ITEM_RIGHT_WORD, 0);
  const isBelow = load<f64>(at(end), ITEM_KEY_WORD << 2) < 0;
  if (isLast === isBelow) set(lane, LANE_BELOW_WORD, isLast ? end : 0);
}

/** The item that a lane's order puts first, or 0. */
export function laneFirst(lane: usize): u32 {
  const head = get(lane, LANE_HEAD_WORD);
  const side = treapFirst(get(lane, LANE_SIDE_WORD));
  if (side === 0 || head === 0) return head + side;
  const isSide = load<f64>(at(side), ITEM_KEY_WORD << 2) < load<f64>(at(head), ITEM_KEY_WORD << 2);
  return isSide ? side : head;
}

/** Takes out the item that a lane's order puts first, and which is not its only one; its links and its place are the caller's to write. */
export function laneTakeFirst(lane: usize, handle: u32): void {
  const item = at(handle);
  set(lane, LANE_COUNT_WORD, get(lane, LANE_COUNT_WORD) - 1);
  if (get(item, ITEM_PLACE_WORD) === PLACE_LIST) {
    const next = get(item, ITEM_LEFT_WORD);
    if (get(lane, LANE_BELOW_WORD) === handle) set(lane, LANE_BELOW_WORD, 0);
    set(lane, LANE_HEAD_WORD, next);
    if (next === 0) set(lane, LANE_TAIL_WORD, 0);
    else set(at(next), ITEM_RIGHT_WORD, 0);
    return;
  }
  // It has nothing on its left: what is on its right takes its place.
  let hook = lane + (LANE_SIDE_WORD << 2);
  while (load<u32>(hook) !== handle) hook = at(load<u32>(hook)) + (ITEM_LEFT_WORD << 2);
  store<u32>(hook, get(item, ITEM_RIGHT_WORD));
}

/** The first item of a treap, or 0. */
export function treapFirst(root: u32): u32 {
  let first = root;
  while (first !== 0) {
    const left = get(at(first), ITEM_LEFT_WORD);
    if (left === 0) break;
    first = left;
  }
  return first;
}

/** The item behind one of a treap, or 0. */
export function treapNext(root: u32, handle: u32): u32 {
  const key = load<f64>(at(handle), ITEM_KEY_WORD << 2);
  let found: u32 = 0;
  let other = root;
  while (other !== 0) {
    if (other === handle || isBefore(other, key, handle)) other = get(at(other), ITEM_RIGHT_WORD);
    else {
      found = other;
      other = get(at(other), ITEM_LEFT_WORD);
    }
  }
  return found;
}

/** Puts an item into a treap (src/structures/ordering/treap.ts); the new root. */
function treapInsert(root: u32, handle: u32): u32 {
  const item = at(handle);
  const key = load<f64>(item, ITEM_KEY_WORD << 2);
  const rank = rankOf(handle);
  let hook: usize = 0;
  let other = root;
  while (other !== 0 && rankOf(other) > rank) {
    hook = at(other) + ((isBefore(other, key, handle) ? ITEM_RIGHT_WORD : ITEM_LEFT_WORD) << 2);
    other = load<u32>(hook);
  }
  if (hook !== 0) store<u32>(hook, handle);
  let lower = item + (ITEM_LEFT_WORD << 2);
  let upper = item + (ITEM_RIGHT_WORD << 2);
  while (other !== 0) {
    if (isBefore(other, key, handle)) {
      store<u32>(lower, other);
      lower = at(other) + (ITEM_RIGHT_WORD << 2);
      other = load<u32>(lower);
    } else {
      store<u32>(upper, other);
      upper = at(other) + (ITEM_LEFT_WORD << 2);
      other = load<u32>(upper);
    }
  }
  store<u32>(lower, 0);
  store<u32>(upper, 0);
  return hook === 0 ? handle : root;
}

/** Whether an item of a treap comes before one of this key and handle. */
function isBefore(other: u32, key: f64, handle: u32): bool {
  const its = load<f64>(at(other), ITEM_KEY_WORD << 2);
  return its < key || (its === key && other < handle);
}

/** As src/structures/ordering/treap.ts has it: signed, of the same 32-bit products. */
function rankOf(handle: u32): i32 {
  const mixed = (handle ^ (handle >>> 15)) * 0x2c1b_3c6d;
  return <i32>((mixed ^ (mixed >>> 13)) * 0x297a_2d39);
}

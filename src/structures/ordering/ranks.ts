/**
 * Ranks: the lanes of one owner by priority. The owner keeps one word: the root of a treap of lanes.
 *
 *   owner word ──▶ lane −5 ─┬─ lane 0: item, item …      best = highest priority = last in order
 *                           └─ lane 7: item …
 *
 * With one lane, which is the common case, everything is one comparison with the root. A lane is
 * made with its first item and freed with its last one.
 *
 * A lane whose spare word is set goes on elsewhere (lane-spill.ts) and stays, with or without items here.
 *
 *   I1  Priorities differ; every lane has an item, here or elsewhere.
 *   I2  A lane's place is PLACE_TREE.
 */
import { assert } from "../../base/assert.ts";
import { ITEM_KEY_FIELD, ITEM_PLACE_WORD, PLACE_TREE } from "../../layout/ordering/item.ts";
import { LANE_BYTES, LANE_COUNT_WORD, LANE_SPARE_WORD } from "../../layout/ordering/lane.ts";
import { type Arena, arenaGive, arenaTake } from "../../memory/arena.ts";
import { laneInit, laneInsert, laneRemove, verifyLane } from "./lane.ts";
import {
  treapFind,
  treapFirst,
  treapInsert,
  treapLast,
  treapNext,
  treapPrevious,
  treapRemove,
  verifyTreap,
} from "./treap.ts";

/**
 * Puts an item (its ITEM_KEY set) into the lane of `priority`. False, with nothing changed, when
 * there is no memory for a new lane. May remake the views. O(log lanes). @hot
 */
export function ranksInsert(
  arena: Arena,
  ownerHandle: number,
  ownerWord: number,
  priority: number,
  item: number,
): boolean {
  const lane = ranksOpen(arena, ownerHandle, ownerWord, priority);
  if (lane === 0) return false;
  laneInsert(arena.region, lane, item);
  return true;
}

/** The lane of `priority`, made when missing: the caller puts something into it (I1). 0: there is no memory. May remake the views. @hot */
export function ranksOpen(
  arena: Arena,
  ownerHandle: number,
  ownerWord: number,
  priority: number,
): number {
  const region = arena.region;
  const root = region.views.u32[ownerHandle * 2 + ownerWord] as number;
  const found = treapFind(region, root, priority);
  if (found !== 0) return found;
  const lane = arenaTake(arena, LANE_BYTES);
  if (lane === 0) return 0;
  laneInit(region, lane, priority);
  const { u32 } = region.views;
  u32[lane * 2 + ITEM_PLACE_WORD] = PLACE_TREE;
  u32[ownerHandle * 2 + ownerWord] = treapInsert(region, root, lane);
  return lane;
}

/** Takes an item out of the lane of `priority`; the lane goes with its last item. O(log lanes). @hot */
export function ranksRemove(
  arena: Arena,
  ownerHandle: number,
  ownerWord: number,
  priority: number,
  item: number,
): void {
  const region = arena.region;
  const root = region.views.u32[ownerHandle * 2 + ownerWord] as number;
  const lane = treapFind(region, root, priority);
  assert(lane !== 0, "ranksRemove: there is a lane of this priority");
  laneRemove(region, lane, item);
  giveEmpty(arena, ownerHandle, ownerWord, lane);
}

/** Frees the lane of `priority` if nothing was put into it after `ranksOpen`. */
export function ranksClose(
  arena: Arena,
  ownerHandle: number,
  ownerWord: number,
  priority: number,
): void {
  const root = arena.region.views.u32[ownerHandle * 2 + ownerWord] as number;
  const lane = treapFind(arena.region, root, priority);
  giveEmpty(arena, ownerHandle, ownerWord, lane);
}

/** A lane with neither items nor blocks goes. @hot */
function giveEmpty(arena: Arena, ownerHandle: number, ownerWord: number, lane: number): void {
  const { u32 } = arena.region.views;
  if (u32[lane * 2 + LANE_COUNT_WORD] !== 0 || u32[lane * 2 + LANE_SPARE_WORD] !== 0) return;
  const root = u32[ownerHandle * 2 + ownerWord] as number;
  u32[ownerHandle * 2 + ownerWord] = treapRemove(arena.region, root, lane);
  arenaGive(arena, lane, LANE_BYTES);
}

/** The lane of the highest priority, or 0. @hot */
export function ranksBest(arena: Arena, root: number): number {
  return treapLast(arena.region, root);
}

/** The lane of the lowest priority, or 0. */
export function ranksWorst(arena: Arena, root: number): number {
  return treapFirst(arena.region, root);
}

/** The lane of the next lower priority, or 0: best, next, next … goes from best to worst. */
export function ranksNext(arena: Arena, root: number, lane: number): number {
  return treapPrevious(arena.region, root, lane);
}

/** The lane of this priority, or 0. */
export function ranksFind(arena: Arena, root: number, priority: number): number {
  return treapFind(arena.region, root, priority);
}

/** The lane of the next higher priority, or 0. */
export function ranksHigher(arena: Arena, root: number, lane: number): number {
  return treapNext(arena.region, root, lane);
}

/** Checks I1, I2 and every lane, and returns the number of items in memory. */
export function verifyRanks(arena: Arena, root: number): number {
  const region = arena.region;
  const { f64, u32 } = region.views;
  let items = 0;
  let lanes = 0;
  let last = Number.NEGATIVE_INFINITY;
  for (let lane = treapFirst(region, root); lane !== 0; lane = treapNext(region, root, lane)) {
    assert(u32[lane * 2 + ITEM_PLACE_WORD] === PLACE_TREE, "I2: a lane's place");
    const priority = f64[lane + ITEM_KEY_FIELD] as number;
    assert(priority > last, "I1: priorities rise");
    const count = verifyLane(region, lane);
    const goesOn = u32[lane * 2 + LANE_SPARE_WORD] !== 0;
    assert(count > 0 || goesOn, "I1: a lane has an item");
    items += count;
    lanes++;
    last = priority;
  }
  assert(lanes === verifyTreap(region, root), "I1: every lane is reached");
  return items;
}

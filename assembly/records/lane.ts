/** Lanes and their records in the kernel, as src/structures/ordering/lane.ts, ranks.ts and treap.ts have them. */
import {
  ITEM_KEY_WORD,
  ITEM_LEFT_WORD,
  ITEM_PLACE_WORD,
  ITEM_RIGHT_WORD,
  PLACE_LIST,
} from "../../src/layout/ordering/item";
import { LANE_COUNT_WORD, LANE_TAIL_WORD } from "../../src/layout/ordering/lane";
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

/**
 * Treap: items sorted by key in a balanced tree of their own link words; nothing is allocated.
 *
 *               key 7          left and right: ITEM_LEFT, ITEM_RIGHT
 *              ╱     ╲         order:  key, then handle (keys are meant to be unique)
 *          key 3     key 9     heap:   rank of a child is below its parent's
 *
 * An item's rank is a bijective hash of its handle: no random state, no stored word, no ties; the
 * expected depth is about 1.4 log2 n. The root is a word that the caller keeps (0 = empty): insert
 * and remove return the new one. All walks are iterative. ITEM_PLACE is the caller's to write.
 *
 *   I1  In order, (key, handle) rises strictly.
 *   I2  A child's rank is below its parent's.
 */
import { assert, VERIFY } from "../../base/assert.ts";
import { InvariantError } from "../../base/errors.ts";
import { ITEM_KEY_FIELD, ITEM_LEFT_WORD, ITEM_RIGHT_WORD } from "../../layout/ordering/item.ts";
import type { Region } from "../../memory/region.ts";

/** Puts `item` in by its key and returns the new root. O(log n). @hot */
export function treapInsert(region: Region, root: number, item: number): number {
  const { f64, u32 } = region.views;
  const key = f64[item + ITEM_KEY_FIELD] as number;
  if (VERIFY) assert(!Number.isNaN(key), "treapInsert: a key is a number");
  const rank = rankOf(item);
  let hook = -1;
  let at = root;
  while (at !== 0 && rankOf(at) > rank) {
    const atKey = f64[at + ITEM_KEY_FIELD] as number;
    const isBefore = atKey < key || (atKey === key && at < item);
    hook = at * 2 + (isBefore ? ITEM_RIGHT_WORD : ITEM_LEFT_WORD);
    at = u32[hook] as number;
  }
  if (VERIFY) assert(at !== item, "treapInsert: not in the treap yet");
  if (hook >= 0) u32[hook] = item;
  // The subtree at this place is split around the key: lower ones to the left, others to the right.
  let lower = item * 2 + ITEM_LEFT_WORD;
  let upper = item * 2 + ITEM_RIGHT_WORD;
  while (at !== 0) {
    const atKey = f64[at + ITEM_KEY_FIELD] as number;
    if (atKey < key || (atKey === key && at < item)) {
      u32[lower] = at;
      lower = at * 2 + ITEM_RIGHT_WORD;
      at = u32[lower] as number;
    } else {
      u32[upper] = at;
      upper = at * 2 + ITEM_LEFT_WORD;
      at = u32[upper] as number;
    }
  }
  u32[lower] = 0;
  u32[upper] = 0;
  return hook < 0 ? item : root;
}

/** Takes `item` out and returns the new root. The item must be there. O(log n). @hot */
export function treapRemove(region: Region, root: number, item: number): number {
  const { f64, u32 } = region.views;
  const key = f64[item + ITEM_KEY_FIELD] as number;
  let hook = -1;
  let at = root;
  while (at !== item) {
    if (at === 0) return missing();
    const atKey = f64[at + ITEM_KEY_FIELD] as number;
    const isBefore = atKey < key || (atKey === key && at < item);
    hook = at * 2 + (isBefore ? ITEM_RIGHT_WORD : ITEM_LEFT_WORD);
    at = u32[hook] as number;
  }
  let lower = u32[item * 2 + ITEM_LEFT_WORD] as number;
  let upper = u32[item * 2 + ITEM_RIGHT_WORD] as number;
  let top = root;
  // Its two subtrees are merged in its place, the higher rank on top each time.
  for (;;) {
    const takesLower = upper === 0 || (lower !== 0 && rankOf(lower) > rankOf(upper));
    const next = takesLower ? lower : upper;
    if (hook < 0) top = next;
    else u32[hook] = next;
    if (lower === 0 || upper === 0) break;
    hook = next * 2 + (takesLower ? ITEM_RIGHT_WORD : ITEM_LEFT_WORD);
    if (takesLower) lower = u32[hook] as number;
    else upper = u32[hook] as number;
  }
  u32[item * 2 + ITEM_LEFT_WORD] = 0;
  u32[item * 2 + ITEM_RIGHT_WORD] = 0;
  return top;
}

/** The item of this key, or 0. O(log n). @hot */
export function treapFind(region: Region, root: number, key: number): number {
  const { f64, u32 } = region.views;
  let at = root;
  while (at !== 0) {
    const atKey = f64[at + ITEM_KEY_FIELD] as number;
    if (atKey === key) return at;
    at = u32[at * 2 + (atKey < key ? ITEM_RIGHT_WORD : ITEM_LEFT_WORD)] as number;
  }
  return 0;
}

/** The item of the lowest key, or 0. O(log n). @hot */
export function treapFirst(region: Region, root: number): number {
  const { u32 } = region.views;
  let at = root;
  if (at === 0) return 0;
  for (;;) {
    const left = u32[at * 2 + ITEM_LEFT_WORD] as number;
    if (left === 0) return at;
    at = left;
  }
}

/** The item of the highest key, or 0. O(log n). @hot */
export function treapLast(region: Region, root: number): number {
  const { u32 } = region.views;
  let at = root;
  if (at === 0) return 0;
  for (;;) {
    const right = u32[at * 2 + ITEM_RIGHT_WORD] as number;
    if (right === 0) return at;
    at = right;
  }
}

/** The item after `item` in order, or 0. O(log n). */
export function treapNext(region: Region, root: number, item: number): number {
  const { f64, u32 } = region.views;
  const key = f64[item + ITEM_KEY_FIELD] as number;
  let found = 0;
  let at = root;
  while (at !== 0) {
    const atKey = f64[at + ITEM_KEY_FIELD] as number;
    if (atKey > key || (atKey === key && at > item)) {
      found = at;
      at = u32[at * 2 + ITEM_LEFT_WORD] as number;
    } else at = u32[at * 2 + ITEM_RIGHT_WORD] as number;
  }
  return found;
}

/** The item before `item` in order, or 0. O(log n). */
export function treapPrevious(region: Region, root: number, item: number): number {
  const { f64, u32 } = region.views;
  const key = f64[item + ITEM_KEY_FIELD] as number;
  let found = 0;
  let at = root;
  while (at !== 0) {
    const atKey = f64[at + ITEM_KEY_FIELD] as number;
    if (atKey < key || (atKey === key && at < item)) {
      found = at;
      at = u32[at * 2 + ITEM_RIGHT_WORD] as number;
    } else at = u32[at * 2 + ITEM_LEFT_WORD] as number;
  }
  return found;
}

/** Checks I1 and I2 and returns how many items there are. */
export function verifyTreap(region: Region, root: number): number {
  const { f64, u32 } = region.views;
  const path: number[] = [];
  let count = 0;
  let last = 0;
  let at = root;
  while (at !== 0 || path.length > 0) {
    while (at !== 0) {
      const parent = path.at(-1) ?? 0;
      const isLeft = parent !== 0 && u32[parent * 2 + ITEM_LEFT_WORD] === at;
      assert(!isLeft || rankOf(parent) > rankOf(at), "I2: left child's rank");
      path.push(at);
      at = u32[at * 2 + ITEM_LEFT_WORD] as number;
    }
    const item = path.pop() as number;
    if (last !== 0) {
      const lastKey = f64[last + ITEM_KEY_FIELD] as number;
      const key = f64[item + ITEM_KEY_FIELD] as number;
      assert(lastKey < key || (lastKey === key && last < item), "I1: keys rise");
    }
    last = item;
    count++;
    at = u32[item * 2 + ITEM_RIGHT_WORD] as number;
    assert(at === 0 || rankOf(item) > rankOf(at), "I2: right child's rank");
  }
  return count;
}

/** A bijection of 32-bit words: odd products and shifts, so that neighbouring handles scatter. */
function rankOf(handle: number): number {
  const mixed = Math.imul(handle ^ (handle >>> 15), 0x2c1b3c6d);
  return Math.imul(mixed ^ (mixed >>> 13), 0x297a2d39);
}

function missing(): never {
  throw new InvariantError("treapRemove: the item is in the treap");
}

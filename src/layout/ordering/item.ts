/**
 * Room `src/layout/ordering`: the words of lanes, heaps and timelines, and the link words that every item has. Decides
 * offsets only; imports nothing.
 */

/**
 * Item: the first words of everything that can be in a lane, a treap or a heap (records, host
 * queues, hosts, lanes). An item is in one place at most, so that one set of links serves all.
 *
 *   word  field  in a lane's list  in a treap         in a heap
 *      0  left   next item, 0      left child, 0      not used
 *      1  right  previous item, 0  right child, 0     not used
 *    2-3  key    order key (f64)   order key (f64)    not used (the heap keeps its own keys)
 *      4  place  PLACE_LIST        PLACE_SIDE, _TREE  PLACE_HEAP + index
 *      5  first word of the item's own type
 *
 * The code that makes an item writes PLACE_NOWHERE, because the arena does not zero. The code that
 * takes it out of its place writes PLACE_NOWHERE again.
 *
 * Words count from the item's start: u32[handle * 2 + word]. The key is f64[handle + ITEM_KEY_FIELD].
 */
export const ITEM_LEFT_WORD = 0;
export const ITEM_RIGHT_WORD = 1;
export const ITEM_KEY_WORD = 2;
export const ITEM_PLACE_WORD = 4;
/** Index of the key among 8-byte fields. */
export const ITEM_KEY_FIELD = 1;

/** Where the item is. */
export const PLACE_NOWHERE = 0;
/** In the linked list of a lane. */
export const PLACE_LIST = 1;
/** In the side treap of a lane. */
export const PLACE_SIDE = 2;
/** In a treap that is not a lane's side: a lane among the lanes of its owner. */
export const PLACE_TREE = 3;
/** In a heap: PLACE_HEAP + its index there; 4 and above. */
export const PLACE_HEAP = 4;

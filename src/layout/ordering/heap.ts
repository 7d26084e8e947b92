/**
 * Heap: a 4-ary min-heap over region pages. Positions start at 3, so that the four children of a
 * position are a group of four that starts at a multiple of four: one cache line of keys.
 *
 *   position p   parent (p >> 2) + 2     children 4 (p − 2) … 4 (p − 2) + 3     root 3
 *
 *   key page     4,096 × (key f64, tie f64)     position p: page p >> 12, pair p & 4095
 *   handle page  16,384 × handle u32            position p: page p >> 14, word p & 16383
 */
export const HEAP_ROOT = 3;
export const HEAP_KEY_SHIFT = 12;
export const HEAP_KEY_MASK = 4095;
export const HEAP_HANDLE_SHIFT = 14;
export const HEAP_HANDLE_MASK = 16383;
/** An item at position p has ITEM_PLACE = p + HEAP_PLACE_BIAS, that is PLACE_HEAP + (p − HEAP_ROOT). */
export const HEAP_PLACE_BIAS = 1;

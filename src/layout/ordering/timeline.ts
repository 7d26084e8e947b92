/**
 * Timeline: the entries of a heap (layout/ordering/heap.ts) that came in order, in pages of the same two kinds.
 *
 *   position p, 31 bits, rising and wrapping     key page p >> HEAP_KEY_SHIFT, handle page p >> HEAP_HANDLE_SHIFT,
 *                                                each modulo the length of its directory, a power of two
 *
 * An item at position p has ITEM_PLACE = TIMELINE_PLACE_BIT + p, the bit being the highest of the word.
 */
export const TIMELINE_POSITION_MASK = 0x7fff_ffff;
/** Entries removed from the middle that a line keeps beyond the number of its live ones. */
export const TIMELINE_SLACK = 4096;

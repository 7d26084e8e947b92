/**
 * Lane: items of one order class, sorted by their keys. A lane is an item itself: its key is its
 * priority, so that lanes can be in a treap (structures/ordering/ranks.ts).
 *
 *   word  field   meaning
 *    0-4  item    layout/ordering/item.ts; key = priority
 *      5  head    list: item with the lowest key, 0 = empty
 *      6  tail    list: item with the highest key, 0 = empty
 *      7  side    root of the treap of items that returned between head and tail
 *      8  count   items in list and side
 *      9  spare   the lane's continuation: its chain of spilled blocks (layout/records/spill-block.ts), 0 = none
 *     10  below   list: the last item whose key is below zero, 0 = none: where hosts that were never leased end
 *     11  reserved
 */
export const LANE_HEAD_WORD = 5;
export const LANE_TAIL_WORD = 6;
export const LANE_SIDE_WORD = 7;
export const LANE_COUNT_WORD = 8;
export const LANE_SPARE_WORD = 9;
export const LANE_BELOW_WORD = 10;
export const LANE_BYTES = 48;

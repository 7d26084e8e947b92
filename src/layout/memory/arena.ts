/**
 * Arena: the words about one region page that holds objects of one size. The table is outside the
 * region, not in its pages: pages stay whole (64-byte objects keep to their cache line), and the
 * words of 2 pages share a line instead of every page header falling into the same cache set.
 *
 *   word  field     written by  meaning
 *      0  kind      owner       size class of the page's objects; 0: not a page of this arena
 *      1  used      owner       objects handed out
 *      2  free      owner       handle of the first free object, 0 = none; its word 0 is the next one
 *      3  fresh     owner       handle of the first object never handed out since the page was empty
 *      4  next      owner       page number: next partly full page of this kind, 0 = none
 *      5  previous  owner       page number: the one before, 0 = none
 *    6-7  reserved, zero
 *
 * Page p covers handles p × ARENA_PAGE_HANDLES and up.
 */
export const ARENA_META_WORDS = 8;
export const ARENA_KIND_WORD = 0;
export const ARENA_USED_WORD = 1;
export const ARENA_FREE_WORD = 2;
export const ARENA_FRESH_WORD = 3;
export const ARENA_NEXT_WORD = 4;
export const ARENA_PREVIOUS_WORD = 5;

/** Handles (8-byte units) in a region page, and the shift that finds a handle's page. */
export const ARENA_PAGE_HANDLES = 8192;
export const ARENA_PAGE_SHIFT = 13;
/** Up to this size, sizes rise in steps of 8 bytes: kind = units; above it, a table has the kind. */
export const ARENA_SMALL_BYTES_MAX = 512;
export const ARENA_SMALL_UNITS_MAX = 64;
/** Up to this size, one or more objects share a page; above it, a run of pages is handed out. */
export const ARENA_SLAB_BYTES_MAX = 65536;
/** Objects that last, of one size and a kind of their own. */
export const ARENA_LASTING_BYTES = 96;

/**
 * Memo of hosts: a number for the bytes of a host, so that a row on a known host finds its rule without JavaScript.
 *
 *   hash of the host ──▶ set ─▶ ways   4 × (tag u16, index u16)     0: the way is empty
 *                                              index ──▶ entry      a line: number · length · up to MEMO_HOST_BYTES bytes
 *
 * Entries stand in the order in which their hosts came, from index 1 on, so that few hosts take few lines.
 *
 * Header, words: 0 next, the way that is overwritten next · 1 touched, a meaningless value · 2 used, how many entries there are ·
 * 3 reserved; then the ways of all sets, then the entries.
 *
 * Number of a host:
 *   0                          no rule takes it
 *   1 … MATCH_PLAN − 1         handle of the rule queue that takes every URL on it
 *   MATCH_PLAN + n             plan n of the owner's matcher, which depends on more than the host
 *   MATCH_UNKNOWN              (answers only) the host is not in the memo
 */
export const MEMO_NEXT_WORD = 0;
export const MEMO_TOUCHED_WORD = 1;
export const MEMO_USED_WORD = 2;
export const MEMO_HEADER_BYTES = 64;
/** A power of two: 65,535 hosts, four to a set; few sets overflow before three quarters of the ways are in use. */
export const MEMO_SETS = 16_384;
export const MEMO_WAYS = 4;
export const MEMO_SET_BYTES = 16;
/** The last index. */
export const MEMO_ENTRIES_MAX = 65_535;
export const MEMO_ENTRY_NUMBER_WORD = 0;
export const MEMO_ENTRY_LENGTH_WORD = 1;
export const MEMO_ENTRY_HEAD_BYTES = 8;
/** Longer hosts are never kept. */
export const MEMO_HOST_BYTES = 56;
export const MEMO_ENTRY_BYTES = 64;
/** Where the entry of index 0 would be. */
export const MEMO_ENTRIES_OFFSET = 262_208;
/** All bytes, with room for a vector that begins within the last host. */
export const MEMO_BYTES = 4_456_528;

export const MATCH_PLAN = 0x4000_0000;
export const MATCH_UNKNOWN = 0x7fff_ffff;

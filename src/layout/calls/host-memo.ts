/**
 * Memo of hosts: a number for the bytes of a host, so that a row on a known host finds its rule without JavaScript.
 *
 *   hash of the host ──▶ set ─▶ tags   4 × u32      0: the way is empty
 *                              ways   4 × entry    MEMO_ENTRY_BYTES: number · length · up to MEMO_HOST_BYTES bytes
 *
 * Header, words: 0 next, the way that is overwritten next · 1-3 reserved; then the tags of all sets, then their entries.
 *
 * Number of a host:
 *   0                          no rule takes it
 *   1 … MATCH_PLAN − 1         handle of the rule queue that takes every URL on it
 *   MATCH_PLAN + n             plan n of the owner's matcher, which depends on more than the host
 *   MATCH_UNKNOWN              (answers only) the host is not in the memo
 */
export const MEMO_NEXT_WORD = 0;
export const MEMO_HEADER_BYTES = 64;
/** A power of two: 65,536 hosts, four to a set; few sets overflow before three quarters of the ways are in use. */
export const MEMO_SETS = 16_384;
export const MEMO_WAYS = 4;
export const MEMO_SET_TAG_BYTES = 16;
export const MEMO_ENTRY_NUMBER_WORD = 0;
export const MEMO_ENTRY_LENGTH_WORD = 1;
export const MEMO_ENTRY_HEAD_BYTES = 8;
/** Longer hosts are never kept. */
export const MEMO_HOST_BYTES = 64;
export const MEMO_ENTRY_BYTES = 72;
/** Where the entries begin. */
export const MEMO_ENTRIES_OFFSET = 262_208;
/** All bytes, with room for a vector that begins at the last byte of a host. */
export const MEMO_BYTES = 4_980_816;

export const MATCH_PLAN = 0x4000_0000;
export const MATCH_UNKNOWN = 0x7fff_ffff;

/**
 * Room `src/layout/seen`: the words of the fingerprint table, the bloom and epochs. Decides offsets and the reserved
 * values of the seen-set; imports nothing.
 */

/**
 * Exact fingerprint table in a region: two pages at first, then pages of lines as it grows.
 * Only the owner thread reads and writes it, through the kernel.
 *
 *   offset in table   what
 *        0            header
 *     4096            scratch of a sweep: how full each new line is, a byte per line, those of an
 *                     upper half last; then the map of full lines, a bit per line in that order
 *    20480            scratch of a sweep: old slots of entries whose new home is full, u32 each
 *    36864            descriptors of the first segments, TABLE_SEGMENT_BYTES each
 *    65536            directory: u32 per value of a hash's top TABLE_DIRECTORY_BITS bits,
 *                     the byte offset of the segment's descriptor
 *
 * Header, words:
 *    0  magic         TABLE_MAGIC
 *    1  valued        1: a u32 beside each hash
 *    2  count         live entries
 *    3  removed       slots whose value is 0 (valued tables), reclaimed when their segment is
 *                     rebuilt
 *    4  soft          owner: 1 = an insert may ask for growth, 0 = only when it must
 *    5  need          owner: rows that may all fall into one segment
 *    6  headerValues  two words: the values of the hashes 0 and 1, which mark empty and removed
 *                     slots and so cannot be in one; 0 = absent
 *    8  segmentCount
 *    9  cursor        where the last tableEach ended, TABLE_EACH_END after the last entry
 *   10  touched       two words: a meaningless value from a first pass, so that no compiler drops its loads
 *   12  longestProbe  most lines that a probe passed after its home
 *   13  units         owner: how many pages the next tableGrow has for a segment
 *   14  otherUnits    owner: and for the upper half of a split; 0 where it does not split
 *   16–31             owner: pages for the next tableGrow, those of a split's upper half last
 *
 * Segment descriptor, words (one 64-byte line), then, for a valued table, the map of its full lines:
 * a bit for each, beginning at SEGMENT_FULL_OFFSET:
 *    0  unused
 *    1  used          slots in use, removed ones included
 *    2  growAt        used slots at which an insert begins to ask for growth
 *    3  slots         places in all
 *    4  depth         top bits of the hash that all entries share
 *    5  lines         units × TABLE_UNIT_LINES
 *    6  removed       slots whose value is 0
 *    7  prefix        those `depth` bits
 *    8–15             byte offset of each unit (one page)
 *
 * Line, 64 bytes: bare: 8 hashes; valued: 5 hashes, 5 values, the filter word. Slots fill from the
 * first.
 * Filter word: bit (hash & 31) of each entry with this home line that overflowed to another.
 * Home line of hash h: (next 32 bits of h after the depth × lines) >> 32. A full line overflows to
 * its neighbour, then to other pairs of its run of TABLE_RUN_LINES, then to the other runs of its
 * group of TABLE_GROUP_LINES, then to the next group (`lineAt`).
 */
export const TABLE_MAGIC = 0x7462_6c31;
export const TABLE_FILLS_OFFSET = 4096;
export const TABLE_FILLS_BYTES = 16384;
/** Offset of the map in that scratch: after the most lines of two halves. */
export const TABLE_FILLS_MAP_OFFSET = 14336;
export const TABLE_PUT_OFF_OFFSET = 20480;
/** Entries that a sweep may postpone; with even hashes a tenth is postponed. */
export const TABLE_PUT_OFF_MAX = 4096;
export const TABLE_HEADER_BYTES = 36864;
export const TABLE_MAGIC_WORD = 0;
export const TABLE_VALUED_WORD = 1;
export const TABLE_COUNT_WORD = 2;
export const TABLE_REMOVED_WORD = 3;
export const TABLE_SOFT_WORD = 4;
export const TABLE_NEED_WORD = 5;
export const TABLE_HEADER_VALUES_WORD = 6;
/** Hashes below this have their value in the header. */
export const TABLE_HEADER_HASHES = 2;
/** The hash of a removed slot of a bare table. */
export const TABLE_REMOVED_HASH = 1;
/** Result of inserting a new hash into a bare table, in place of a byte offset. */
export const TABLE_BARE_NEW = 2;
export const TABLE_LONGEST_PROBE_WORD = 12;
export const TABLE_SEGMENT_COUNT_WORD = 8;
export const TABLE_CURSOR_WORD = 9;
export const TABLE_TOUCHED_WORD = 10;
export const TABLE_UNITS_WORD = 13;
export const TABLE_OTHER_UNITS_WORD = 14;
export const TABLE_PAGES_WORD = 16;

export const TABLE_DIRECTORY_BITS = 14;
export const TABLE_DIRECTORY_COUNT = 16384;
export const TABLE_DIRECTORY_OFFSET = 65536;
/** Header and directory. */
export const TABLE_FIRST_PAGES = 2;

export const TABLE_SEGMENT_BYTES = 1024;
export const SEGMENT_USED_WORD = 1;
export const SEGMENT_GROW_AT_WORD = 2;
export const SEGMENT_SLOTS_WORD = 3;
export const SEGMENT_DEPTH_WORD = 4;
export const SEGMENT_LINES_WORD = 5;
export const SEGMENT_REMOVED_WORD = 6;
export const SEGMENT_PREFIX_WORD = 7;
export const SEGMENT_UNITS_WORD = 8;
export const SEGMENT_FULL_OFFSET = 64;
/** SEGMENT_UNITS_MAX × TABLE_UNIT_LINES bits. */
export const SEGMENT_FULL_BYTES = 896;
/** A segment that would have twice these becomes two segments with these, unless its hashes are so uneven that one half needs more. */
export const SEGMENT_UNITS_SPLIT = 3;
/** Most units of a segment of even hashes: with one more it is split. */
export const SEGMENT_UNITS_EVEN = 5;
export const SEGMENT_UNITS_MAX = 7;

export const TABLE_UNIT_BYTES = 65536;
export const TABLE_UNIT_LINES = 1024;
export const TABLE_LINE_BYTES = 64;
/** Lines that a probe passes first: 4 KiB, one page of most systems. */
export const TABLE_RUN_LINES = 64;
/** A power of two that divides TABLE_UNIT_LINES; 16 KiB. */
export const TABLE_GROUP_LINES = 256;
/** A probe over this many lines makes its segment ask for growth: its hashes are uneven. */
export const TABLE_FAR_LINES = 1024;
export const TABLE_LINE_SLOTS_BARE = 8;
export const TABLE_LINE_SLOTS_VALUED = 5;
/** Offset of a valued line's last hash: the line is full when it is not 0. */
export const TABLE_LAST_SLOT_VALUED = 32;
/** Offset of a valued line's values. */
export const TABLE_LINE_VALUES_BYTES = 40;
/** Offset of a valued line's filter word. */
export const TABLE_FILTER_OFFSET = 60;

/**
 * Possible words in a row's value, or an entry's:
 *
 *   0                    absent
 *   1 … 0x1FFFFFFF       of the owner: handles
 *   0x7FFFFFFC           TABLE_RESERVED_MIN: the removals of the seen-set and of its cold tier
 *   0x7FFFFFFD           TABLE_SKIP: a row that the call skips
 *   0x7FFFFFFE           TABLE_CLAIMED: inserted, and no value written yet
 *   0x7FFFFFFF           TABLE_NEW: a row that was inserted by this call; never in an entry
 *   0x80000000 …         of the owner: finished identities
 *
 * Values of the owner must stay out of TABLE_RESERVED_MIN … TABLE_NEW.
 */
export const TABLE_NEW = 0x7fff_ffff;
export const TABLE_CLAIMED = 0x7fff_fffe;
export const TABLE_SKIP = 0x7fff_fffd;
export const TABLE_RESERVED_MIN = 0x7fff_fffc;
/** Result of tableInsertOne instead of a slot: the segment must grow first. */
export const TABLE_GROW_FIRST = 3;
/** A directory index after the last one. */
export const TABLE_EACH_END = 16384;
/**
 * tableEach needs room for one whole segment: 7 units × 1,024 lines × 8 slots, and hashes 0 and 1.
 */
export const TABLE_EACH_MIN = 57346;
/**
 * Load at which a segment asks for growth, in 1024ths: each segment has its own between low and
 * high.
 */
export const TABLE_GROW_LOW_BARE = 795;
export const TABLE_GROW_HIGH_BARE = 865;
export const TABLE_GROW_LOW_VALUED = 925;
export const TABLE_GROW_HIGH_VALUED = 988;

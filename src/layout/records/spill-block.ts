/**
 * Spill: the words that stay in memory for records on disk, and the form of a record in a block's bytes.
 *
 * Block, words (arena memory, owner: the frontier's thread):
 *    0-4  item header   in its lane's chain; key: the bound that decides when it is needed
 *      5  lane          the lane its records belong to
 *      6  place         place of its bytes in the spill tier
 *      7  live          records that are still in it
 *      8  entries       records it was written with
 *      9  gone          handle of a bit per entry, set when that entry alone left the block; 0: none did
 *  10-11  other    f64  the key at its other end
 *     12  bytes         of the block in the tier
 *     13  lowered       1: the seen-set has lesser depths than the entries
 *     14  queue         the host queue that the lane belongs to; 0: a rule's own lane. Of hosts: the rule queue of them all, or 0
 *     15  nameless      1: a generation was forgotten: entries with an identity have lost it, and their keys are their names
 *     16  kind          SPILL_RECORDS, or what hosts it holds: SPILL_BY_TURN, SPILL_BY_CLOCK
 *     17  added         first record pushed to one of its hosts since, or 0
 *     18  held          how many of those are in memory
 *     19  pieces        first piece, or 0: those of them that are on the tier too
 *     20  closed        1: identities were forgotten since it was written, so none may be added that could be taken for one of them
 *  21-22  next, previous block with added records in memory; 0: none
 *     23  reserved
 *
 * Piece, words: records added to the hosts of a block, in bytes of their own.
 *      0  next
 *      1  place
 *      2  bytes
 *      3  records
 *
 * Added record: a record (layout/records/record.ts) whose host is on disk. Its queue is a rule queue, and where it would stand is written
 * whose it is:
 *      0  next           next added record of the block
 *      1  host lo
 *      4  host hi
 *
 * Chain: a lane (layout/ordering/lane.ts) whose items are blocks, named by the spare word of the lane it continues. Its own
 * spare word holds SPILL_FIFO or SPILL_LIFO: which of the two bounds its keys are.
 *
 * Entry of a block's bytes, words:
 *      0  words of the entry, this one included
 *      1  words of the record
 *      2… the record (layout/records/record.ts); its links, its place and its handles of parent and blob are meaningless
 *      then, with RECORD_FLAG_PARENT, the four words of the parent's fingerprint,
 *      then, with RECORD_FLAG_BLOB, the blob: its two words and its bytes
 *
 * Host entry of a block's bytes, words. A host is plain when it has nothing but turn and clock:
 *      0  words of the entry, this one and its records' included
 *      1  records
 *      2  rule queue
 *      3  name bytes, plus SPILL_HOST_PLAIN
 *      4  flags
 *      5  the host's words from HOST_TURN_WORD: turn, readyAt, and unless it is plain blockUntil, delayMs, adaptiveMs, bytes
 *      then  hash lo, hi; unless it is plain limit, failures, admitted; the name; then an entry for each record
 *
 * Value of the seen-set while a record is spilled: SPILL_VALUE + place × 64 + depth; a depth of 63 means 63 or more.
 * Handles are below these values, finished and reserved ones above.
 */
export const SPILL_LANE_WORD = 5;
export const SPILL_PLACE_WORD = 6;
export const SPILL_LIVE_WORD = 7;
export const SPILL_ENTRIES_WORD = 8;
export const SPILL_GONE_WORD = 9;
export const SPILL_OTHER_WORD = 10;
export const SPILL_BYTES_WORD = 12;
export const SPILL_LOWERED_WORD = 13;
export const SPILL_QUEUE_WORD = 14;
export const SPILL_NAMELESS_WORD = 15;
export const SPILL_KIND_WORD = 16;
export const SPILL_ADDED_WORD = 17;
export const SPILL_HELD_WORD = 18;
export const SPILL_PIECES_WORD = 19;
export const SPILL_CLOSED_WORD = 20;
export const SPILL_ADDED_NEXT_WORD = 21;
export const SPILL_ADDED_PREVIOUS_WORD = 22;
/** ARENA_LASTING_BYTES: a block outlives what stood beside it. */
export const SPILL_BLOCK_BYTES = 96;

export const SPILL_RECORDS = 0;
/** Hosts that may go, in the order of their turns. */
export const SPILL_BY_TURN = 1;
/** Hosts that wait, in the order of their clocks. */
export const SPILL_BY_CLOCK = 2;

export const PIECE_NEXT_WORD = 0;
export const PIECE_PLACE_WORD = 1;
export const PIECE_BYTES_WORD = 2;
export const PIECE_RECORDS_WORD = 3;
export const PIECE_BYTES = 16;

export const ADDED_NEXT_WORD = 0;
export const ADDED_HOST_LO_WORD = 1;
export const ADDED_HOST_HI_WORD = 4;

export const SPILL_HOST_WORDS_WORD = 0;
export const SPILL_HOST_RECORDS_WORD = 1;
export const SPILL_HOST_RULE_WORD = 2;
export const SPILL_HOST_NAME_WORD = 3;
export const SPILL_HOST_FLAGS_WORD = 4;
export const SPILL_HOST_HEAD_WORDS = 5;
export const SPILL_HOST_NAME_BYTES_MAX = 65535;
export const SPILL_HOST_PLAIN = 65536;

export const SPILL_FIFO = 1;
export const SPILL_LIFO = 2;

export const SPILL_ENTRY_WORD = 0;
export const SPILL_RECORD_WORDS_WORD = 1;
export const SPILL_ENTRY_HEAD_WORDS = 2;
export const SPILL_PARENT_WORDS = 4;

export const SPILL_VALUE = 0x40000000;
export const SPILL_DEPTH_STEP = 64;
export const SPILL_DEPTH_MAX = 63;
/** Places in use at once: with any depth, their values stay below the reserved values of the seen-set. */
export const SPILL_PLACES_MAX = 16777215;

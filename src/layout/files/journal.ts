/**
 * Room `src/layout/files`: the word numbers of files on disk; docs/formats explains them. Decides offsets only; imports
 * nothing. A change here changes a format.
 */

/**
 * The journal's files; docs/formats/journal.md is the specification. All words little-endian.
 *
 * Segment, header (words):                        Frame (words):
 *    0  JOURNAL_MAGIC                                0  bytes of the payload, 0: nothing was written after this
 *    1  JOURNAL_VERSION                              1  crc32 of word 2 and the payload, seeded by the place
 *    2  crc32 of words 3 … 15                        2  bytes of this segment known durable when it was written
 *    3  algorithm id of the keyed hash               3… payload: whole groups of entries
 *    4–7  secret
 *    8  serial of the segment
 *    9  crc32 of the key profile's name
 *   10… zero
 *
 * Entry, word 0: kind in bits 0–7, state in 8–10, nameless in 11, came again in 12, rule in 16–31, and what of
 * the rule exceeds 16 bits in 13–15. Then by kind:
 *
 *   record kinds   1–2 name (lo, hi): the identity's keyed hash, or its own for a nameless record
 *   LEASED         3 deliveries
 *   DONE, REMOVED  3 the identity's last word
 *   other moves    3 attempt u16 · deliveries u16, 4 depth u16 · period u16, 5–6 key f64, 7–8 priority f64, 9–10 due f64
 *   RESTED         the same; its last word is the one of its end
 *   ADMITTED       3–4 host, 5–6 key f64, 7 bytes of the text (bits 0–25), 8 flags u8 · JOURNAL_HAS u8 · depth u16,
 *                  then what JOURNAL_HAS names, in order: priority f64, due f64, admitted u32, tries u32, maxAttempts and
 *                  length of a blob and its bytes, then the text; bytes are padded with zeros to a word
 *   MOVED          as ADMITTED
 *   PARENT         1–4 the fingerprint for the entries that follow with JOURNAL_HAS_PARENT, in this frame
 *   HOST_MADE      1–2 hash, 3 bytes of the name, 4–5 turn f64, the name
 *   HOST_CLOCK     1–2 hash, 3–4 turn f64, 5–6 readyAt f64
 *   HOST_ALL       1–2 hash, 3–4 turn, 5–6 readyAt, 7–8 blockUntil, 9–10 delayMs, 11–12 adaptiveMs, 13–14 bytes (f64),
 *                  15 limit, 16 failures, 17 admitted, 18 flags
 *   HOST_ADDRESS   1–2 hash, 3 bytes of the address, 0: no longer known; the address
 *   GROUP_CLOCK    1–2 hash of kind and name, 3–4 readyAt f64
 *   HOST_FORGOTTEN 1–2 hash
 *   FORGOTTEN      nothing: a new generation
 *   UNSEEN         1–2 name of the identity that is new again, 3 its old state: 0 removed, 1 done, 2 failed
 *   DISOWNED       1–2 name before, 3–4 name after: the record goes on without identity
 *   NOTE           1 bytes of the name, 2 bytes of the value, the name, the value in msgpack
 *   EPOCH          1 bytes of the name, the name: the epoch of the members that follow, in this frame
 *   MEMBER         1–2 identity
 *   CLEARED        nothing: everything before it is gone, except the notes
 *   VOLATILE       1 kind of a transition of a volatile record, which is never written; UNSEEN: it is forgotten
 */
export const JOURNAL_MAGIC = 0x4c4a524f;
export const JOURNAL_VERSION = 2;
export const JOURNAL_VERSION_MIN = 1;
export const JOURNAL_HEADER_BYTES = 64;
export const JOURNAL_HEADER_WORDS = 16;
export const JOURNAL_HEAD_MAGIC_WORD = 0;
export const JOURNAL_HEAD_VERSION_WORD = 1;
export const JOURNAL_HEAD_CRC_WORD = 2;
export const JOURNAL_HEAD_ALGORITHM_WORD = 3;
export const JOURNAL_HEAD_SECRET_WORD = 4;
export const JOURNAL_HEAD_SERIAL_WORD = 8;
export const JOURNAL_HEAD_PROFILE_WORD = 9;

export const JOURNAL_FRAME_WORDS = 3;
export const JOURNAL_FRAME_BYTES = 12;

export const JOURNAL_PARENT = 32;
export const JOURNAL_HOST_MADE = 33;
export const JOURNAL_HOST_CLOCK = 34;
export const JOURNAL_HOST_ALL = 35;
export const JOURNAL_HOST_FORGOTTEN = 36;
export const JOURNAL_FORGOTTEN = 37;
export const JOURNAL_UNSEEN = 38;
export const JOURNAL_DISOWNED = 39;
export const JOURNAL_NOTE = 40;
export const JOURNAL_CLEARED = 41;
export const JOURNAL_VOLATILE = 42;
export const JOURNAL_EPOCH = 43;
export const JOURNAL_MEMBER = 44;
export const JOURNAL_HOST_ADDRESS = 45;
export const JOURNAL_GROUP_CLOCK = 46;

export const JOURNAL_STATE_SHIFT = 8;
export const JOURNAL_STATE_MASK = 7;
export const JOURNAL_NAMELESS = 2048;
export const JOURNAL_AGAIN = 4096;
export const JOURNAL_RULE_SHIFT = 16;
export const JOURNAL_RULE_HIGH_SHIFT = 3;
export const JOURNAL_RULE_HIGH = 0xe000;

export const JOURNAL_LEASED_WORDS = 4;
export const JOURNAL_END_WORDS = 4;
export const JOURNAL_MOVE_WORDS = 11;
export const JOURNAL_ADMITTED_WORDS = 9;
export const JOURNAL_PARENT_WORDS = 5;
export const JOURNAL_HOST_MADE_WORDS = 6;
export const JOURNAL_HOST_CLOCK_WORDS = 7;
export const JOURNAL_HOST_ALL_WORDS = 19;
export const JOURNAL_NAME_WORDS = 3;
export const JOURNAL_HOST_ADDRESS_WORDS = 4;
export const JOURNAL_GROUP_CLOCK_WORDS = 5;
export const JOURNAL_DISOWNED_WORDS = 5;
export const JOURNAL_NOTE_WORDS = 3;
export const JOURNAL_VOLATILE_WORDS = 2;
export const JOURNAL_UNSEEN_WORDS = 4;
export const JOURNAL_EPOCH_WORDS = 2;

export const JOURNAL_WAS_REMOVED = 0;
export const JOURNAL_WAS_DONE = 1;
export const JOURNAL_WAS_FAILED = 2;

export const JOURNAL_HAS_PRIORITY = 1;
export const JOURNAL_HAS_DUE = 2;
export const JOURNAL_HAS_BUDGET = 4;
export const JOURNAL_HAS_BLOB = 8;
export const JOURNAL_HAS_PARENT = 16;
export const JOURNAL_HAS_TRIES = 32;
/** Nothing follows: its identity was seen before, and is not counted again. */
export const JOURNAL_HAS_BEEN_SEEN = 64;

/**
 * Columns of a snapshot, filled by the kernel (assembly/records/snapshot-columns.ts). Owner: the frontier's thread.
 *
 * Job, words:
 *    0  hashes          u64 per entry of the walk, as its table has them
 *    1  values          u32 per entry: handle of a record, or last word of a finished identity; 0 and others are skipped
 *    2  most            rows that fill the columns
 *    3  records         rows of records so far
 *    4  recordHashes    u32 × 4 per record, as docs/formats/snapshot.md has them
 *    5  doubles         f64 × 3 per record
 *    6  words           u32 × 4 per record
 *    7  text            their texts, each padded to a word
 *    8  textBytes       bytes of text so far
 *    9  seen            rows of finished identities so far
 *   10  seenHashes      u64 per identity
 *   11  seenValues      u32 per identity
 *   12  own             row and handle of each record that the owner completes
 *   13  ownCount        how many of these there are
 *   14  touched         a meaningless value: keeps the touching loads alive
 *   15  handles         u32 per record that is added by its handle alone: the values of such a call
 */
export const SNAPSHOT_HASHES_WORD = 0;
export const SNAPSHOT_VALUES_WORD = 1;
export const SNAPSHOT_MOST_WORD = 2;
export const SNAPSHOT_RECORDS_WORD = 3;
export const SNAPSHOT_RECORD_HASHES_WORD = 4;
export const SNAPSHOT_DOUBLES_WORD = 5;
export const SNAPSHOT_WORDS_WORD = 6;
export const SNAPSHOT_TEXT_WORD = 7;
export const SNAPSHOT_TEXT_BYTES_WORD = 8;
export const SNAPSHOT_SEEN_WORD = 9;
export const SNAPSHOT_SEEN_HASHES_WORD = 10;
export const SNAPSHOT_SEEN_VALUES_WORD = 11;
export const SNAPSHOT_OWN_WORD = 12;
export const SNAPSHOT_OWN_COUNT_WORD = 13;
export const SNAPSHOT_TOUCHED_WORD = 14;
export const SNAPSHOT_HANDLES_WORD = 15;
export const SNAPSHOT_JOB_BYTES = 64;

/** Rows, and bytes of text, for which the columns have room. */
export const SNAPSHOT_ROWS_MAX = 1000;
export const SNAPSHOT_TEXT_BYTES = 131072;
/** Flags that belong to the record itself; flags about its place are not written. */
export const SNAPSHOT_KEPT_FLAGS = 15;

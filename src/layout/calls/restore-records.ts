/**
 * A batch of records that a recovery makes (assembly/records/restore-records.ts). Owner: the frontier's thread.
 *
 * Job, words:
 *    0  rows            RESTORE_ROW_BYTES for each row
 *    1  hashes          u64 per row: keyed hash of the identity
 *    2  hostHashes      u64 per row
 *    3  values          u32 per row: value of the seen-set
 *    4  slots           u32 per row: slot of that value
 *    5  hostValues      u32 per row: value of the host index
 *    6  queues          u32 per row: in: handle of the rule queue; out: of the host queue
 *    7  sizes           u32 per row: bytes of the record, 0: the owner makes it
 *    8  handles         u32 per row: the memory taken for it
 *    9  count           rows in use
 *   10  at              where the reader of entries is: absolute, in bytes
 *   11  end             where the entries end
 *   12  parent          handle of the parent of entries that follow, or 0
 *   13  touched         a meaningless value: keeps the touching loads alive
 *   14  sole            handle of the only rule there is, under which hosts have one queue; 0: there are several
 *
 * Row, words:
 *    0-1  hash of the identity        2-3  hash of the host
 *    4-5  key f64                     6-7  priority f64           8-9  due f64
 *     10  state u8 · flags in 5 bits · rule's upper 3 bits · rule's lower 16
 *     11  attempt u16 · deliveries u16
 *     12  depth
 *     13  bytes of the text
 *     14  where they begin, absolute
 *     15  handle of its parent, 0: none; RESTORE_OWNER: the owner makes it
 */
export const RESTORE_ROWS_WORD = 0;
export const RESTORE_HASHES_WORD = 1;
export const RESTORE_HOST_HASHES_WORD = 2;
export const RESTORE_VALUES_WORD = 3;
export const RESTORE_SLOTS_WORD = 4;
export const RESTORE_HOST_VALUES_WORD = 5;
export const RESTORE_QUEUES_WORD = 6;
export const RESTORE_SIZES_WORD = 7;
export const RESTORE_HANDLES_WORD = 8;
export const RESTORE_COUNT_WORD = 9;
export const RESTORE_AT_WORD = 10;
export const RESTORE_END_WORD = 11;
export const RESTORE_PARENT_WORD = 12;
export const RESTORE_TOUCHED_WORD = 13;
export const RESTORE_SOLE_WORD = 14;
export const RESTORE_JOB_BYTES = 64;

export const RESTORE_ROW_BYTES = 64;
export const RESTORE_ROW_WORDS = 16;
export const RESTORE_HOST_WORD = 2;
export const RESTORE_KEY_WORD = 4;
export const RESTORE_PRIORITY_WORD = 6;
export const RESTORE_DUE_WORD = 8;
export const RESTORE_HEAD_WORD = 10;
export const RESTORE_TRIES_WORD = 11;
export const RESTORE_DEPTH_WORD = 12;
export const RESTORE_LENGTH_WORD = 13;
export const RESTORE_TEXT_WORD = 14;
export const RESTORE_OWN_WORD = 15;

/** Most rows of a batch. */
export const RESTORE_ROWS_MAX = 1024;
/** The owner makes this row: it has a blob, no identity, or an entry with more fields than most. */
export const RESTORE_OWNER = 0x7fff_ffff;

/**
 * The cold tier's files, in blocks of 4 KiB; docs/formats/cold-run.md is the specification. All words little-endian.
 *
 * Run, header block (words):                     Run, data block (words):
 *    0  crc32 of bytes 4 … 4095                     0  crc32 of bytes 4 … 4095
 *    1  COLD_RUN_MAGIC                              1  serial of the run
 *    2  COLD_VERSION                                2  index of the block, from 1
 *    3  algorithm id of the keyed hash              3  entries, 1 … 340
 *    4  secret check, low   5  high                 4… hashes, ascending: lo, hi (680 words, unused ones zero)
 *    6  serial                                    684… values (340 words, unused ones zero)
 *    7  level
 *    8  entries, low        9  high
 *   10  data blocks        11… zero
 *
 * Filter of a run, header block (words): 0 to 6 and 8 to 10 as in the run's header, with COLD_FILTER_MAGIC;
 *    7  crc32 of what follows the block: the first hash of each data block (lo, hi), then the filter's bits
 *   11  blocks of the filter     12  members it takes     13  members it has
 *   14  crc of the run's last block     15… zero
 *
 * Manifest (words): 0 crc32 of the rest, 1 COLD_MANIFEST_MAGIC, 2 version, 3 algorithm, 4–5 secret check, 6 next serial,
 * 7 runs, then per run from the oldest to the newest: serial, level, entries low, entries high.
 */
export const COLD_BLOCK_BYTES = 4096;
export const COLD_BLOCK_WORDS = 1024;
export const COLD_VERSION = 2;
/** Version 1 is the same without passing values. */
export const COLD_VERSION_MIN = 1;
export const COLD_RUN_MAGIC = 0x4e555243;
export const COLD_FILTER_MAGIC = 0x4c494643;
export const COLD_MANIFEST_MAGIC = 0x4e414d43;

export const COLD_CRC_WORD = 0;
export const COLD_MAGIC_WORD = 1;
export const COLD_VERSION_WORD = 2;
export const COLD_ALGORITHM_WORD = 3;
export const COLD_SECRET_WORD = 4;
export const COLD_SERIAL_WORD = 6;
export const COLD_LEVEL_WORD = 7;
export const COLD_COUNT_WORD = 8;
export const COLD_BLOCKS_WORD = 10;
export const COLD_HEADER_WORDS = 11;

export const COLD_FILTER_REST_WORD = 7;
export const COLD_FILTER_BLOCKS_WORD = 11;
export const COLD_FILTER_CAPACITY_WORD = 12;
export const COLD_FILTER_INSERTED_WORD = 13;
export const COLD_FILTER_LAST_WORD = 14;
export const COLD_FILTER_HEADER_WORDS = 15;

export const COLD_BLOCK_SERIAL_WORD = 1;
export const COLD_BLOCK_INDEX_WORD = 2;
export const COLD_BLOCK_ENTRIES_WORD = 3;
export const COLD_BLOCK_HASHES_WORD = 4;
export const COLD_BLOCK_VALUES_WORD = 684;
export const COLD_BLOCK_ENTRIES_MAX = 340;

export const COLD_MANIFEST_SERIAL_WORD = 6;
export const COLD_MANIFEST_RUNS_WORD = 7;
export const COLD_MANIFEST_WORDS = 8;
export const COLD_MANIFEST_RUN_WORDS = 4;

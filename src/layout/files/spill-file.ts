/**
 * The spill's segment files; docs/formats/spill.md is the specification. All words little-endian.
 *
 * Segment:  0 SPILL_MAGIC   1 SPILL_VERSION   2 serial   3 zero   then blocks, one after the other
 * Block:    0 crc32 of the rest of the block   1 bytes of the entries   2 place   3 serial of the segment   4… entries
 */
export const SPILL_MAGIC = 0x4c495053;
export const SPILL_VERSION = 1;
export const SPILL_HEAD_WORDS = 4;
export const SPILL_HEAD_BYTES = 16;
export const SPILL_CRC_WORD = 0;
export const SPILL_LENGTH_WORD = 1;
export const SPILL_NUMBER_WORD = 2;
export const SPILL_SERIAL_WORD = 3;

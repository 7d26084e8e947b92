/**
 * Lane between two threads: a header and a ring of slots of 64 bytes in a SharedArrayBuffer. Fields of different
 * writers lie 128 bytes apart, so that no cache line, nor the pair of lines that is fetched together, has two writers.
 *
 *   word   field     written by  read by   meaning
 *      0   magic     creator     both      SPSC_MAGIC, checked on attach
 *      1   capacity  creator     both      slots, a power of two
 *     32   tail      producer    consumer  sequence of the next slot to publish
 *     64   head      consumer    producer  sequence of the next slot to drain
 *     96 …  slots     producer    consumer  capacity × SPSC_SLOT_BYTES
 *
 * Piece: a record, or a part of one, in neighbouring slots; it never wraps round the end of the ring.
 *
 *   byte 0   size   bytes of this piece
 *        4   rest   bytes of the record in the pieces after this one; 0: the record is whole
 *        8 …  bytes
 */
export const SPSC_MAGIC = 0x7370_6c31;
export const SPSC_MAGIC_WORD = 0;
export const SPSC_CAPACITY_WORD = 1;
export const SPSC_TAIL_WORD = 32;
export const SPSC_HEAD_WORD = 64;
export const SPSC_HEADER_BYTES = 384;
export const SPSC_SLOT_BYTES = 64;
export const SPSC_SLOT_SHIFT = 6;
export const SPSC_PIECE_BYTES = 8;
/** The longest record: the most that a consumer assembles in its own memory. */
export const SPSC_RECORD_BYTES_MAX = 0x3fff_ffff;

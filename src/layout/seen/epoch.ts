/**
 * Epoch: the identities under one name, in arena memory. Owner: the frontier's thread.
 *
 * Epoch, words:
 *    0  next           in the list of all epochs
 *    1  previous
 *    2  salt lo        keyed hash of the name; also its key in the index
 *    3  salt hi
 *    4  chunk          the one being filled; it links to the older ones
 *    5  members        identities in all chunks
 *    6  name           handle of its bytes
 *    7  name bytes
 *
 * Chunk of members, words:
 *    0  next           older chunk
 *    1  used
 *    2  capacity
 *    3  zero
 *    4… hash lo, hi    of each identity, as in the seen-set
 */
export const EPOCH_NEXT_WORD = 0;
export const EPOCH_PREVIOUS_WORD = 1;
export const EPOCH_SALT_LO_WORD = 2;
export const EPOCH_SALT_HI_WORD = 3;
export const EPOCH_CHUNK_WORD = 4;
export const EPOCH_MEMBERS_WORD = 5;
export const EPOCH_NAME_WORD = 6;
export const EPOCH_NAME_BYTES_WORD = 7;
export const EPOCH_SIZE_BYTES = 32;

export const CHUNK_NEXT_WORD = 0;
export const CHUNK_USED_WORD = 1;
export const CHUNK_CAPACITY_WORD = 2;
export const CHUNK_HASHES_WORD = 4;
export const CHUNK_HEAD_BYTES = 16;
export const CHUNK_HASH_BYTES = 8;
/** An epoch of one URL takes one small chunk; each further one is twice as large, up to 4 KiB. */
export const CHUNK_CAPACITY_FIRST = 2;
export const CHUNK_CAPACITY_MAX = 512;

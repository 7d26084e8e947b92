/**
 * Constants of the two hashes, read by the kernel and by its JavaScript twin.
 * The names of the algorithms are in docs/formats/fingerprint.md.
 */
/** The keyed hash of the tables: SipHash with one round per word and three at the end. */
export const HASH_WORD_ROUNDS = 1;
export const HASH_FINAL_ROUNDS = 3;
/** The public id: BLAKE2b, unkeyed, 16 bytes long. */
export const FINGERPRINT_BYTES = 16;
export const FINGERPRINT_BLOCK_BYTES = 128;
export const FINGERPRINT_ROUNDS = 12;

/**
 * Room `src/layout/records`: the words of records, hosts, groups and spilled blocks. Decides offsets and flag bits only;
 * imports nothing.
 */

/**
 * Record: everything about one identity while it lives, in arena memory. Owner: the frontier's thread.
 *
 *   word  field                      meaning
 *    0-1  left, right                links of its lane or treap (layout/ordering/item.ts)
 *    2-3  key         f64            its sequence: the place within its lane
 *      4  place                      where it is (layout/ordering/item.ts)
 *      5  state u8 (RECORD_AGAIN in its high bit) · flags u8 · attempt u16 (of the next or current hand-out, from 1)
 *    6-7  priority    f64            effective priority
 *      8  queue                      handle of its host queue (layout/records/host.ts)
 *   9-10  hash lo, hi                keyed hash of its identity
 *     11  depth u16 · deliveries u16 both clamped at 65,535
 *     12  text bytes                 length of the URL text at the end
 *   then  parent                     handle of the parent fingerprint, only with RECORD_FLAG_PARENT
 *         blob                       handle of a blob, only with RECORD_FLAG_BLOB
 *         own host                   NAMED_*, only with RECORD_NAMED
 *         text                       the part of the URL after the host, or the whole URL with RECORD_FLAG_WHOLE
 *
 * Own host: what a lone record has of its host, which is made when it is first needed (structures/hosts/lone-host.ts). Its name stands right
 * before the text, which begins at a word. Words: 0-1 sequence f64; 2-3 hash of the host's name; 4 bytes of the name; then up to three bytes of
 * nothing and the name. While the record is lone, its key is
 * the turn of the host and its queue is the rule queue.
 *
 * Blob: everything optional. word 0: bytes that follow; 1: u16 maxAttempts of the request, 0 for the rule's · u16 period code of
 * its recrawl, 0 for none; then msgpack written by the engine.
 *
 * Parent: word 0: references; 1: zero; 2-5: the 128-bit fingerprint of the page it was found on.
 */
export const RECORD_STATE_WORD = 5;
export const RECORD_PRIORITY_WORD = 6;
export const RECORD_QUEUE_WORD = 8;
export const RECORD_HASH_LO_WORD = 9;
export const RECORD_HASH_HI_WORD = 10;
export const RECORD_DEPTH_WORD = 11;
export const RECORD_TEXT_BYTES_WORD = 12;
export const RECORD_HEAD_BYTES = 52;

export const RECORD_PENDING = 1;
export const RECORD_WAITING = 2;
export const RECORD_LEASED = 3;
export const RECORD_FAILED = 4;
/** Done, and comes again by itself: kept for a rule that re-crawls (docs/decisions/0007). */
export const RECORD_RESTING = 5;

/** Bits of the state byte that are the state. */
export const RECORD_STATE_MASK = 15;
/** The only record of a host that was never visited: it stands in its rule's ranks in place of that host. */
export const RECORD_LONE = 32;
/** A lone record has the one of these bits, a host queue both (QUEUE_MARK), any other record none. */
export const LONE_BITS = 48;
/** It carries the name of its host, and does so until it is freed. */
export const RECORD_NAMED = 64;
/** Came again by itself and was not pushed since; cleared by the next change of state. */
export const RECORD_AGAIN = 128;

export const RECORD_FLAG_HTTPS = 1;
/** The text is the whole URL: user info, or a politeness unit that is not the URL's host. */
export const RECORD_FLAG_WHOLE = 2;
export const RECORD_FLAG_START = 4;
/** Never recorded in the seen-set. */
export const RECORD_FLAG_NO_IDENTITY = 8;
export const RECORD_FLAG_VOLATILE = 16;
export const RECORD_FLAG_PARENT = 32;
export const RECORD_FLAG_BLOB = 64;
/** In its host queue's ranks, not in its rule's. */
export const RECORD_FLAG_QUEUED = 128;

export const NAMED_SEQUENCE_WORD = 0;
export const NAMED_HASH_WORD = 2;
export const NAMED_NAME_BYTES_WORD = 4;
export const NAMED_BYTES = 20;

export const BLOB_HEAD_BYTES = 8;
export const PARENT_BYTES = 24;

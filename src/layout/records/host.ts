/**
 * Host: one politeness unit. Rule queue: the root of one rule. Host queue: what one rule has pending on one host.
 * All in arena memory, owner: the frontier's thread.
 *
 * Host, words. The words that every push, hand-out and end of a record reads or writes lie in the first 64 bytes, one cache
 * line, since the arena puts objects of 128 bytes at multiples of 128:
 *    0-4  item header        in the clock heap, or in the idle list
 *      5  flags              HOST_*
 *      6  leased             leases out
 *      7  live               records that name one of its queues
 *      8  pending            records pending in its queues
 *      9  queues             first host queue
 *     10  name               handle of its bytes
 *     11  name bytes
 *     12  limit              set by hand; 0: the rule's limit
 *     13  groups             handle of its membership words (layout/records/group.ts), or 0
 *  14-15  turn         f64   −2⁵² + join order before the first lease, or a sequence and a fraction where new hosts have a
 *                            share; then the sequence of its last lease
 *  16-17  readyAt      f64   delay clock
 *  18-19  blockUntil   f64   Retry-After, back-off, by hand
 *  20-21  delayMs      f64   set by hand; negative: the rule's delay
 *  22-23  adaptiveMs   f64   from latencies; negative: none
 *  24-25  bytes        f64   bytes fetched, for budgets
 *  26-27  hash lo, hi
 *     28  failures           in a row
 *     29  admitted           records admitted, for budgets
 *  30-31  reserved
 *
 * Host queue, words:
 *    0-4  item header        in its rule's ranks; key: turn with politeness, best record's key without
 *      5  QUEUE_MARK         distinguishes it from a record, whose word 5 holds a state below the mark
 *      6  rule queue         handle
 *      7  ranks              root of the lanes of its records
 *      8  host               handle
 *      9  next               next queue of the same host
 *  10-11  rank         f64   its priority in its rule's ranks
 *     12  pending            records in its own ranks
 *     13  rule next          next queue of the same rule
 *     14  rule previous
 *     15  gate               where it is parked (layout/records/group.ts), or 0
 *
 * Rule queue, words: everything that a hand-out, an end and the kernel's admission need of a rule, so that none of them reads an
 * object per rule:
 *      0  ranks              root: records, or host queues
 *      1  index              of the rule among the rules
 *      2  first              first host queue of the rule
 *      3  flags              RULE_*, from its policy
 *    4-5  priority      f64  from its policy
 *    6-7  per depth     f64  subtracted for each step of depth
 *      8  pending            records pending
 *      9  leased             records leased
 *  10-11  done          f64  records done
 *  12-13  served        f64  records handed out so far
 *     14  max depth          deeper requests are refused; 2³² − 1: none
 *     15  reserved
 */
export const HOST_FLAGS_WORD = 5;
export const HOST_LEASED_WORD = 6;
export const HOST_LIVE_WORD = 7;
export const HOST_PENDING_WORD = 8;
export const HOST_QUEUES_WORD = 9;
export const HOST_NAME_WORD = 10;
export const HOST_NAME_BYTES_WORD = 11;
export const HOST_LIMIT_WORD = 12;
export const HOST_GROUPS_WORD = 13;
export const HOST_TURN_WORD = 14;
export const HOST_READY_AT_WORD = 16;
export const HOST_BLOCK_UNTIL_WORD = 18;
export const HOST_DELAY_WORD = 20;
export const HOST_ADAPTIVE_WORD = 22;
export const HOST_BYTES_WORD = 24;
export const HOST_HASH_LO_WORD = 26;
export const HOST_HASH_HI_WORD = 27;
export const HOST_FAILURES_WORD = 28;
export const HOST_ADMITTED_WORD = 29;
export const HOST_SIZE_BYTES = 128;

/** In place of a host's handle in the index, up to HOST_SPILLED: the handle of the lone record that stands for it, plus this. */
export const HOST_LONE = 0x20000000;
/** In place of a host's handle in the index, from here on: the place of the block on disk that it lies in, plus this. */
export const HOST_SPILLED = 0x40000000;

/** Held by hand: no lease goes out. */
export const HOST_HELD = 1;
/** Steered by hand or by an outcome: its settings are kept, and rules without politeness respect its clock. */
export const HOST_STEERED = 2;
/** In the idle list: no record is on it. */
export const HOST_IDLE = 4;
/** In the clock heap. */
export const HOST_CLOCKED = 8;
/** Its settings must outlive its work: never evicted. */
export const HOST_KEPT = 16;
/** A bit for the room that stores hosts: the name of this one is stored. Structures keep it and never read it. */
export const HOST_MARKED = 32;
/** Its clock has passed. It stays passed until it is set again, even when the machine's clock goes back. */
export const HOST_PASSED = 64;
/** Its first turn was decided (frontier/politeness/fresh-hosts.ts). */
export const HOST_TURN_DECIDED = 128;

export const QUEUE_MARK_WORD = 5;
export const QUEUE_RULE_WORD = 6;
export const QUEUE_RANKS_WORD = 7;
export const QUEUE_HOST_WORD = 8;
export const QUEUE_NEXT_WORD = 9;
export const QUEUE_RANK_WORD = 10;
export const QUEUE_PENDING_WORD = 12;
export const QUEUE_RULE_NEXT_WORD = 13;
export const QUEUE_RULE_PREVIOUS_WORD = 14;
export const QUEUE_GATE_WORD = 15;
export const QUEUE_SIZE_BYTES = 64;
export const QUEUE_MARK = 255;

export const RULE_QUEUE_RANKS_WORD = 0;
export const RULE_QUEUE_INDEX_WORD = 1;
/** Indices that files have room for. */
export const RULE_QUEUES_MAX = 524_288;
export const RULE_QUEUE_FIRST_WORD = 2;
export const RULE_QUEUE_FLAGS_WORD = 3;
export const RULE_QUEUE_PRIORITY_WORD = 4;
export const RULE_QUEUE_PER_DEPTH_WORD = 6;
export const RULE_QUEUE_PENDING_WORD = 8;
export const RULE_QUEUE_LEASED_WORD = 9;
export const RULE_QUEUE_DONE_WORD = 10;
export const RULE_QUEUE_SERVED_WORD = 12;
export const RULE_QUEUE_MAX_DEPTH_WORD = 14;
export const RULE_QUEUE_SIZE_BYTES = 64;

/** No longer in the set. */
export const RULE_GONE = 1;
/** Hosts rotate and have clocks. */
export const RULE_POLITE = 2;
export const RULE_LIFO = 4;
/** Start requests go last. */
export const RULE_START_LAST = 8;
/** Done records come again by themselves. */
export const RULE_AGAIN = 16;
/** Failures in a row hold a host back. */
export const RULE_BACKOFF = 32;
/** Records carry the URL as it was pushed, so that the kernel may make them. */
export const RULE_PUSHED = 64;
/** New hosts of one domain have a share of the hand-outs. */
export const RULE_SHARED = 128;
/** The only record of a host that was never visited stands for it: politeness by host, without groups and without that share. */
export const RULE_LONE = 256;

/**
 * One job of handing out plain records, or of ending plain leases, many at once (assembly/records/lease-records.ts). The owner writes `in`
 * fields. All offsets are absolute.
 *
 * Words:
 *    0  rule       in   handle of the rule queue
 *    1  handles    in   where the records' handles stand, or shall stand
 *    2  keys       in   the timeline's next free pair of key and tie (layout/ordering/timeline.ts)
 *    3  slots      in   its next free handle
 *    4  place      in   the place word of the item that takes it
 *    5  table      in   fingerprint table of their identities
 *  6-7  deadline   in   f64, of every lease
 *  8-9  sequence   in   f64, of the hand-out before the first
 *   10  sizes      in   where the bytes of each ended record's memory go
 *   11  idle       in   where hosts go whose last record ended: their last reference is left to the owner
 *   12  orphans    in   where parents go that nobody names any more: their memory is left to the owner
 *   13  idles      out  how many hosts
 *   14  orphaned   out  how many parents
 *   15  touched    out  nothing of meaning: keeps the touching loads alive
 *   16  rules      in   handles of the rule queues whose turns come, in their order
 *   17  reserved
 *18-19  bound      in   f64, key from which on the lane's records stand behind those of its blocks (layout/records/spill-block.ts)
 */
export const LEASE_RULE_WORD = 0;
export const LEASE_HANDLES_WORD = 1;
export const LEASE_KEYS_WORD = 2;
export const LEASE_SLOTS_WORD = 3;
export const LEASE_PLACE_WORD = 4;
export const LEASE_TABLE_WORD = 5;
export const LEASE_DEADLINE_WORD = 6;
export const LEASE_SEQUENCE_WORD = 8;
export const LEASE_SIZES_WORD = 10;
export const LEASE_IDLE_WORD = 11;
export const LEASE_ORPHANS_WORD = 12;
export const LEASE_IDLES_WORD = 13;
export const LEASE_ORPHANED_WORD = 14;
export const LEASE_TOUCHED_WORD = 15;
export const LEASE_RULES_WORD = 16;
export const LEASE_BOUND_WORD = 18;
export const LEASE_BYTES = 80;
/** Records whose memory is touched before they are handed out: more would push one another out of the nearest cache. */
export const LEASE_TOUCHED_ROWS = 64;

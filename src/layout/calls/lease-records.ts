/**
 * One job that hands out plain records, or ends plain leases, many at once (assembly/records/lease-records.ts). The owner writes `in`
 * fields. All offsets are absolute.
 *
 * Words:
 *    0  rule       in   handle of the rule queue
 *    1  handles    in   array for the records' handles, filled or to be filled
 *    2  keys       in   the timeline's next free pair of key and tie (layout/ordering/timeline.ts)
 *    3  slots      in   the timeline's next free handle
 *    4  place      in   the place word of the item at that slot
 *    5  table      in   fingerprint table of their identities
 *  6-7  deadline   in   f64, of every lease
 *  8-9  sequence   in   f64, of the hand-out before the first
 *   10  sizes      in   array for the bytes of each ended record's memory
 *   11  idle       in   array for hosts whose last record ended: the owner drops their last reference; of a hand-out by turns, for
 *                       lanes whose last record went: they are in no ranks, and the owner frees their memory
 *   12  orphans    in   array for parents that no record names any more: the owner frees their memory
 *   13  idles      out  how many hosts, or lanes
 *   14  orphaned   out  how many parents
 *   15  touched    out  a meaningless value: keeps the touching loads alive
 *   16  rules      in   handles of the rule queues whose turns come, in their order
 *   17  reserved
 * 18-19  bound      in   f64, first key of the lane's records that come after those of its blocks (layout/records/spill-block.ts)
 *   20  index        in   the host index, a fingerprint table
 *   21  nameSizes    out  bytes of the name of each listed record's host
 *   22  names        in   an object for each name, and for each host and its queue
 *   23  hosts        in
 *   24  queues       in
 *   25  busyFirst    both first of the busy hosts
 * 26-27 readyAt      in   f64, delay clock of each host
 *   28  loneFlags    in   HOST_* of a host that is made of a lone record
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
export const LEASE_INDEX_WORD = 20;
export const LEASE_NAME_SIZES_WORD = 21;
export const LEASE_NAMES_WORD = 22;
export const LEASE_HOSTS_WORD = 23;
export const LEASE_QUEUES_WORD = 24;
export const LEASE_BUSY_FIRST_WORD = 25;
export const LEASE_READY_AT_WORD = 26;
export const LEASE_LONE_FLAGS_WORD = 28;
export const LEASE_BYTES = 120;
/** Records whose memory is touched before they are handed out: more would evict one another from the nearest cache. */
export const LEASE_TOUCHED_ROWS = 64;

/**
 * Group: a clock above hosts, in arena memory. Owner: the frontier's thread.
 *
 * Group, words:
 *    0-4  item header        in the heap of group clocks
 *      5  leased             leases of all its hosts
 *    6-7  readyAt      f64   delay clock
 *      8  gates              first gate
 *      9  hosts              how many belong to it
 *  10-11  hash lo, hi        of its kind and name: its key in the index
 *     12  clocked            1: in the heap
 *     13  kind               number of its kind
 *     14  passed             1: its clock has passed, and stays passed until it is set again
 *     15  reserved
 *
 * Gate: what one rule has waiting for one group. Words:
 *      0  ranks              root of the host queues parked here
 *      1  rule queue         handle
 *      2  group              handle
 *      3  next               next gate of the same group
 *      4  front              the host queue that represents all of them in the rule's ranks, or 0
 *      5  parked             how many are parked here
 *
 * Membership of a host, words:
 *      0  kinds              how many words follow the head
 *      1  address            handle of its bytes, or 0: unknown
 *      2  address bytes
 *      3  stamp              of the kinds for which its groups were last computed
 *     4…  group              one for each kind of group there is; 0: none
 */
export const GROUP_LEASED_WORD = 5;
export const GROUP_READY_AT_WORD = 6;
export const GROUP_GATES_WORD = 8;
export const GROUP_HOSTS_WORD = 9;
export const GROUP_HASH_LO_WORD = 10;
export const GROUP_HASH_HI_WORD = 11;
export const GROUP_CLOCKED_WORD = 12;
export const GROUP_KIND_WORD = 13;
export const GROUP_PASSED_WORD = 14;
export const GROUP_SIZE_BYTES = 64;

export const GATE_RANKS_WORD = 0;
export const GATE_RULE_WORD = 1;
export const GATE_GROUP_WORD = 2;
export const GATE_NEXT_WORD = 3;
export const GATE_FRONT_WORD = 4;
export const GATE_PARKED_WORD = 5;
export const GATE_SIZE_BYTES = 24;

export const MEMBER_KINDS_WORD = 0;
export const MEMBER_ADDRESS_WORD = 1;
export const MEMBER_ADDRESS_BYTES_WORD = 2;
export const MEMBER_STAMP_WORD = 3;
export const MEMBER_GROUPS_WORD = 4;

/**
 * One job that makes records: the new rows of a parsed and marked batch (layout/calls/url-batch.ts) become records in their
 * lanes. The owner writes `in` fields. All offsets are absolute, all arrays hold a word per row. Fields of arrays are written once
 * for all jobs (structures/records/kernel-scratch.ts).
 *
 * Words:
 *    0  batch            in   header of the batch; values and slots hold the table's answers
 *    1  hosts            in   the host index's value of each row's host (layout/seen/table.ts)
 *    2  hostSlots        in   the slot of that value in the index
 *    3  sizes            out  bytes of each row's record; 0: not a new row, or one that the owner makes
 *    4  handles          in   an object of that size; 0: none
 *    5  rules            in   handle of each row's rule queue; 0: `rule` holds for all rows
 *    6  lane             own  handle of the lane that the rule in hand takes records into, or MAKE_LANE_*
 *    7  parent           in   handle of the parent fingerprint, 0: none; with `extra` RECORD_FLAG_BLOB anything else
 *  8-9  priority         own  f64, of a record under the rule in hand
 * 10-11 sequence         both f64: place of the last record made
 *   12  depth            in   of every record
 *   13  touched          out  a meaningless value: keeps the touching loads alive
 *   14  rule             in   handle of the rule queue where one takes all; own: the rule in hand
 *   15  parents          in   handle of each row's own parent fingerprint, or blob, unless `parent` holds for all rows; 0: it does
 * 16-17 turn             both f64: of the next host made, before its first lease
 *   18  newRows          in   array for the rows of hosts that occur for the first time
 *   19  names            in   an object for the name of each new host
 *   20  newHosts         in   an object for each new host
 *   21  newQueues        in   an object for the queue of each new host under its row's rule
 *   22  idleFirst        both first and last of the idle hosts, how many there are, and first of the busy ones
 *   23  idleLast         both
 *   24  idleCount        both
 *   25  busyFirst        both
 *   26  nameSizes        in   array for the bytes of their names
 *   27  lanes            both an object for each lane that may be opened; for an opened one, its rule queue instead
 *   28  lanesTaken       in   how many of these objects there are
 *   29  lanesOpened      both how many were opened, the first ones
 *   30  codes            in   array of a byte per row: its verdict, 0 where it is to be accepted or the owner decides
 *   31  duplicate        in   the byte of a duplicate
 *   32  duplicates       out  how many duplicates there are
 *   33  notes            in   array for the numbers of rows, u16 each, that the owner must handle
 *   34  noted            out  how many rows these are
 *   35  index            in   the host index, a fingerprint table
 *   36  fresh            both how many hosts occur for the first time, or MAKE_FRESH_UNKNOWN; then how many of them are made
 *   37  lanesWanted      out  how many lanes may be opened at most
 *   38  met              out  how many hosts occur for the first time, those that stay lone included
 *   39  turns            in   array for the place of each such row's host among them
 *   40  lones            both how many lone records were made
 *   41  stand            own  handle of the lane that lone records under the rule in hand stand in, or 0
 *   42  known            out  how many of the listed hosts are lone ones that get a second record; each opens a lane
 *   43  unused           out  how many of the objects for hosts were not needed; those that were are zero in `newHosts`
 *   44  loneFlags        in   HOST_* of a host that is made of a lone record
 *   45  extra            in   RECORD_FLAG_PARENT; RECORD_FLAG_BLOB: a record has a blob where others have a parent
 */
export const MAKE_BATCH_WORD = 0;
export const MAKE_HOSTS_WORD = 1;
export const MAKE_HOST_SLOTS_WORD = 2;
export const MAKE_SIZES_WORD = 3;
export const MAKE_HANDLES_WORD = 4;
export const MAKE_RULES_WORD = 5;
export const MAKE_LANE_WORD = 6;
export const MAKE_PARENT_WORD = 7;
export const MAKE_PRIORITY_WORD = 8;
export const MAKE_SEQUENCE_WORD = 10;
export const MAKE_DEPTH_WORD = 12;
export const MAKE_TOUCHED_WORD = 13;
export const MAKE_RULE_WORD = 14;
export const MAKE_PARENTS_WORD = 15;
export const MAKE_TURN_WORD = 16;
export const MAKE_NEW_ROWS_WORD = 18;
export const MAKE_NAMES_WORD = 19;
export const MAKE_NEW_HOSTS_WORD = 20;
export const MAKE_NEW_QUEUES_WORD = 21;
export const MAKE_IDLE_FIRST_WORD = 22;
export const MAKE_IDLE_LAST_WORD = 23;
export const MAKE_IDLE_COUNT_WORD = 24;
export const MAKE_BUSY_FIRST_WORD = 25;
export const MAKE_NAME_SIZES_WORD = 26;
export const MAKE_LANES_WORD = 27;
export const MAKE_LANES_TAKEN_WORD = 28;
export const MAKE_LANES_OPENED_WORD = 29;
export const MAKE_CODES_WORD = 30;
export const MAKE_DUPLICATE_WORD = 31;
export const MAKE_DUPLICATES_WORD = 32;
export const MAKE_NOTES_WORD = 33;
export const MAKE_NOTED_WORD = 34;
export const MAKE_INDEX_WORD = 35;
export const MAKE_FRESH_WORD = 36;
export const MAKE_LANES_WANTED_WORD = 37;
export const MAKE_MET_WORD = 38;
export const MAKE_TURNS_WORD = 39;
export const MAKE_LONES_WORD = 40;
export const MAKE_STAND_WORD = 41;
export const MAKE_KNOWN_WORD = 42;
export const MAKE_UNUSED_WORD = 43;
export const MAKE_LONE_FLAGS_WORD = 44;
export const MAKE_EXTRA_WORD = 45;
export const MAKE_BYTES = 184;
/** In place of the index's value: the row's record is lone, and stands for a host that occurs for the first time. */
export const MAKE_LONE = 0x7fff_fffc;
/** The host index must grow before it can take the hosts of the batch: nothing is listed. */
export const MAKE_FRESH_UNKNOWN = 0x7fff_ffff;
/** Host queues take the records of this rule. */
export const MAKE_LANE_HOSTS = 0x7fff_fffd;
/** No record is under this rule: its first one opens a lane. */
export const MAKE_LANE_OPEN = 0x7fff_fffe;
/** The owner makes the records of this rule: it carries other URLs, or its lane does not exist yet beside others. */
export const MAKE_LANE_OWNER = 0x7fff_ffff;
/** The owner makes larger records. */
export const MAKE_RECORD_BYTES_MAX = 512;

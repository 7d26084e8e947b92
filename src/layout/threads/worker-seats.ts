/**
 * Room `src/layout/threads`: what owner and workers share: seats, rings, messages, and which side writes each word.
 * Decides offsets only; imports nothing.
 */

/**
 * Worker seats: the memory that the owner's thread shares with its workers, one SharedArrayBuffer. Fields of different writers lie
 * 128 bytes apart.
 *
 *   0      ┌ header ┬ seat 0 ┬ seat 1 ┬ … ┬ seat SHARED_SEATS − 1 ┬ seen filter ┐
 *
 * Header, words:
 *    0  magic        creator             SHARED_MAGIC
 *   32  park         owner + exchange    the owner's parking word
 *   64  phase        owner               PHASE_RUNNING, PHASE_FINISHED: nothing left for now, PHASE_CLOSED: for good, PHASE_GONE:
 *                                        and no result is read any more; also written by a thread that saw the owner die
 *   65  edge         owner               generation of the link facts: a worker without these facts decides nothing; odd: none decides
 *   96  ticket       atomic add          tickets drawn so far, by threads that take a seat
 *
 * Seat, words:
 *    0  state        compare-exchange    SEAT_FREE, a ticket (SEAT_TICKET_MIN and more): a thread is about to arrive,
 *                                        SEAT_TAKEN by a thread, SEAT_LEFT: that thread will not return
 *   32  command      owner               COMMAND_WORK, COMMAND_STOP: finish the visits and leave
 *   64  park         worker + exchange   the worker's parking word
 *   96  thread       worker              its thread's id
 *   97  called       worker              leases taken
 *   98  accepted     worker              leases whose handler was found
 *   99  completed    worker              handlers that returned
 *  100  handling     worker              handlers at work
 *  101  refused      worker              links dropped by the worker's filter
 *  102  full         worker              1: it waits for room in the inbound ring
 *  103  heartbeat        worker              waits begun at this word beside the first; the owner wakes one to check that the thread lives
 *  104  duplicate    worker              links dropped by the worker's filter because they were known
 *  105  taken        worker              one word per class: leases begun, modulo 2³²
 *  192 …             lanes outward, one per class, then the inbound ring (layout/threads/spsc-lane.ts)
 */
export const SHARED_MAGIC = 0x6372_6577;
export const SHARED_MAGIC_WORD = 0;
export const SHARED_PARK_WORD = 32;
export const SHARED_PHASE_WORD = 64;
export const SHARED_FACTS_WORD = 65;
export const SHARED_TICKET_WORD = 96;
export const SHARED_HEADER_BYTES = 512;

export const PHASE_RUNNING = 0;
export const PHASE_FINISHED = 1;
export const PHASE_CLOSED = 2;
export const PHASE_GONE = 3;
export const FACTS_OFF = 0;

/** Threads that may be attached at one time. */
export const SHARED_SEATS = 64;
/** Priority classes: a late better record overtakes leases that its worker has not begun. */
export const LANE_CLASSES = 4;
export const LANE_SLOTS = 512;
export const INBOUND_SLOTS = 8192;
/** Header of the seat. Each lane takes 384 bytes and its slots. */
export const SEAT_HEADER_BYTES = 768;
export const SEAT_LANE_BYTES = 33152;
export const SEAT_INBOUND_OFFSET = 133376;
/** 768 + 4 × 33,152 + 384 + 8,192 × 64. */
export const SEAT_BYTES = 658048;
export const SHARED_FILTER_OFFSET = 42115584;

export const SEAT_STATE_WORD = 0;
export const SEAT_COMMAND_WORD = 32;
export const SEAT_PARK_WORD = 64;
export const SEAT_THREAD_WORD = 96;
export const SEAT_CALLED_WORD = 97;
export const SEAT_ACCEPTED_WORD = 98;
export const SEAT_COMPLETED_WORD = 99;
export const SEAT_HANDLING_WORD = 100;
export const SEAT_REFUSED_WORD = 101;
export const SEAT_FULL_WORD = 102;
export const SEAT_BEATS_WORD = 103;
export const SEAT_DUPLICATE_WORD = 104;
export const SEAT_TAKEN_WORD = 105;

export const SEAT_FREE = 0;
export const SEAT_TAKEN = 1;
export const SEAT_LEFT = 2;
export const SEAT_TICKET_MIN = 4;
export const SEAT_TICKETS = 1073741824;
export const COMMAND_WORK = 0;
export const COMMAND_STOP = 1;

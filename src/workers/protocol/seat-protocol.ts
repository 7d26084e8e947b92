/**
 * Seat protocol: how threads take a seat and leave it, and how the owner detects a thread that ended without leaving.
 *
 *   thread                                          owner
 *     draw a ticket                                   sees the ticket; if it is still there after COMING_MS:
 *     claimSeat: FREE ─▶ ticket by exchange               reclaimSeat: ticket ─▶ LEFT by exchange
 *     firstBeat: the first wait, on its ticket
 *     arrive: ticket ─▶ TAKEN by exchange ─ fails ─▶  opens the seat when it has seen that
 *       the seat belongs to another: tries another seat
 *     nextBeat: on the heartbeat, HEARTBEAT_WAITS in all      checkBeat: wakes one of them ─▶ there was one: the thread lives
 *       woken ─▶ one wait more                                 none, and one must be there ─▶ they ended with the thread's engine
 *     leaveSeat: ─▶ LEFT, its last call                 copies out what was published; emptySeat, lanes emptied, freeSeat
 *
 *   word     written by                   meaning
 *   state    compare-exchange; then       SEAT_FREE ─▶ a ticket (a thread) ─▶ SEAT_TAKEN (the same thread) ─▶ SEAT_LEFT (it too)
 *            as each arrow names it       ─▶ SEAT_FREE (owner); a ticket ─▶ SEAT_LEFT (owner)
 *   heartbeat    its thread               waits begun so far, without the first, which is on the state; the others are on this word
 *
 *   I1  A wait begins before it is counted, the first before the seat is TAKEN, and the owner reads the count before it wakes one.
 *       If it has woken fewer than were counted, a wait is there, or the thread has ended. Only the owner wakes, so no living
 *       thread is taken for dead.
 *   I2  A seat is freed last, with no wait of its last thread left: the next thread counts only its own waits.
 *   I3  A thread that is too busy to wait again is checked less and less often, so that it keeps a wait for long.
 *   I4  No two threads get the same ticket, and a thread writes nothing but the state before TAKEN. A thread that was too slow to
 *       arrive has written nothing into a seat that belongs to another by then, and waits nowhere.
 *
 * A wait ends with the engine of its thread, in every case: its own end, process.exit(), terminate(), and want of memory.
 */
import {
  COMMAND_WORK,
  SHARED_TICKET_WORD,
  LANE_CLASSES,
  SEAT_COMMAND_WORD,
  SEAT_FREE,
  SEAT_LEFT,
  SEAT_PARK_WORD,
  SEAT_BEATS_WORD,
  SEAT_STATE_WORD,
  SEAT_TAKEN,
  SEAT_TAKEN_WORD,
  SEAT_THREAD_WORD,
  SEAT_TICKET_MIN,
  SEAT_TICKETS,
} from "../../layout/threads/worker-seats.ts";

/** Waits of a living thread at its heartbeat when it is not busy. */
export const HEARTBEAT_WAITS = 8;

export const HEARTBEAT_ALIVE = 1;
/** No wait is left that must be there: the thread lives and is busy, or has ended. */
export const HEARTBEAT_UNKNOWN = 0;
export const HEARTBEAT_GONE = -1;

/** Draws a ticket that no other thread has. Any thread. */
export function drawTicket(shared: Int32Array): number {
  return SEAT_TICKET_MIN + (Atomics.add(shared, SHARED_TICKET_WORD, 1) & (SEAT_TICKETS - 1)); // I4
}

/** Takes a seat under a ticket, if it is free. Any thread. */
export function claimSeat(seat: Int32Array, ticket: number): boolean {
  return Atomics.compareExchange(seat, SEAT_STATE_WORD, SEAT_FREE, ticket) === SEAT_FREE;
}

/** The thread with this ticket is here. Returns false when the seat was reclaimed meanwhile. Only that thread. */
export function arrive(seat: Int32Array, ticket: number): boolean {
  return Atomics.compareExchange(seat, SEAT_STATE_WORD, ticket, SEAT_TAKEN) === ticket;
}

/** Takes a seat from a thread that did not arrive. Returns false when it has arrived. Owner only. */
export function reclaimSeat(seat: Int32Array, ticket: number): boolean {
  return Atomics.compareExchange(seat, SEAT_STATE_WORD, ticket, SEAT_LEFT) === ticket;
}

/** Whether a state is the ticket of a thread that is about to arrive. */
export function isTicket(state: number): boolean {
  return state >= SEAT_TICKET_MIN;
}

/** Leaves a seat; the thread writes nothing there afterwards. Its thread only. */
export function leaveSeat(seat: Int32Array): void {
  Atomics.store(seat, SEAT_STATE_WORD, SEAT_LEFT); // pairs with seatState
}

export function seatState(seat: Int32Array): number {
  return Atomics.load(seat, SEAT_STATE_WORD); // pairs with claimSeat and leaveSeat
}

/** Begins the first wait, before the thread arrives; it settles when the owner checks the heartbeat. Its thread only. */
export function firstBeat(seat: Int32Array, ticket: number): Promise<unknown> {
  // I4: it does not wait when the seat belongs to another by now.
  const { value } = Atomics.waitAsync(seat, SEAT_STATE_WORD, ticket);
  return Promise.resolve(value);
}

/** Begins one more wait, for a thread that has arrived. Its thread only. */
export function nextBeat(seat: Int32Array): Promise<unknown> {
  const count = seat[SEAT_BEATS_WORD] as number;
  const { value } = Atomics.waitAsync(seat, SEAT_BEATS_WORD, count);
  Atomics.store(seat, SEAT_BEATS_WORD, (count + 1) | 0); // I1, after the wait; pairs with checkBeat
  return value as Promise<unknown>; // it waits: no other thread writes the word
}

/** Waits that must be there, given that `woken` were woken before; the seat is taken. Owner only. */
export function beatsLeft(seat: Int32Array, woken: number): number {
  return (Atomics.load(seat, SEAT_BEATS_WORD) + 1 - woken) | 0; // I1, pairs with nextBeat, arrive
}

/** Wakes one wait, if there is one. Returns HEARTBEAT_*. Owner only. */
export function checkBeat(seat: Int32Array, woken: number): number {
  const left = beatsLeft(seat, woken); // I1, before it wakes
  const at = woken === 0 ? SEAT_STATE_WORD : SEAT_BEATS_WORD;
  if (Atomics.notify(seat, at, 1) === 1) return HEARTBEAT_ALIVE;
  return left > 0 ? HEARTBEAT_GONE : HEARTBEAT_UNKNOWN;
}

/** Resets the words after the thread's last write. The lanes are emptied next, and then the seat is freed. Owner only. */
export function emptySeat(seat: Int32Array): void {
  Atomics.notify(seat, SEAT_STATE_WORD); // I2: of a thread that left or came too late
  Atomics.notify(seat, SEAT_BEATS_WORD);
  for (let each = 0; each < LANE_CLASSES; each++) seat[SEAT_TAKEN_WORD + each] = 0;
  seat.fill(0, SEAT_THREAD_WORD, SEAT_TAKEN_WORD);
  Atomics.store(seat, SEAT_COMMAND_WORD, COMMAND_WORK);
  Atomics.store(seat, SEAT_PARK_WORD, 0);
}

/** Frees the seat for the next thread. Owner only. */
export function freeSeat(seat: Int32Array): void {
  Atomics.store(seat, SEAT_STATE_WORD, SEAT_FREE); // I2, pairs with the exchange in claimSeat
}

/**
 * Seat protocol: how threads take a seat and leave it, and how the owner detects a thread that ended without leaving.
 *
 *   thread                                          owner
 *     draw a ticket                                   sees the ticket; COMING_MS later, still the same:
 *     claimSeat: FREE ─▶ ticket by exchange               reclaimSeat: ticket ─▶ LEFT by exchange
 *     firstBeat: the first wait, on its ticket
 *     arrive: ticket ─▶ TAKEN by exchange ─ not ─▶    opens the seat when it has seen that
 *       it is others' by now: another seat
 *     nextBeat: on the heartbeat, HEARTBEAT_WAITS in all      checkBeat: wakes one of them ─▶ it was there: the thread lives
 *       woken ─▶ one wait more                                 none, and one must be ─▶ the thread's engine took it along
 *     leaveSeat: ─▶ LEFT, the last that it does         copies out what was published; emptySeat, lanes emptied, freeSeat
 *
 *   word     written by                   meaning
 *   state    compare-exchange; then       SEAT_FREE ─▶ a ticket (who sits down) ─▶ SEAT_TAKEN (the same) ─▶ SEAT_LEFT (its thread)
 *            whoever the arrow names      ─▶ SEAT_FREE (owner); a ticket ─▶ SEAT_LEFT (owner)
 *   heartbeat    its thread                   waits begun so far but for the first, which stands at the state; the others at this word
 *
 *   I1  A wait begins before it is counted, the first before the seat is TAKEN, and the owner reads the count before it wakes:
 *       where it has woken fewer than were counted, one is there, or the thread is gone. Nobody but the owner wakes, so no living
 *       thread is taken for dead.
 *   I2  A seat is freed last, with no wait of its last thread left: what the next one counts is its own.
 *   I3  Who is too busy to wait again is asked less and less often, so that a wait is left for long.
 *   I4  No two sittings have the same ticket, and nothing but the state is written before TAKEN: who was too slow to arrive has
 *       written nothing into what is another's by then, and waits nowhere.
 *
 * A wait ends with the engine of its thread, however that ends: by itself, by process.exit(), terminate() or for want of memory.
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

/** Waits that a living thread has at its heartbeat when it is not busy. */
export const HEARTBEAT_WAITS = 8;

export const HEARTBEAT_ALIVE = 1;
/** No wait is left that must be there: it lives, and is busy, or is gone. */
export const HEARTBEAT_UNKNOWN = 0;
export const HEARTBEAT_GONE = -1;

/** A ticket that nobody else has. Any thread. */
export function drawTicket(shared: Int32Array): number {
  return SEAT_TICKET_MIN + (Atomics.add(shared, SHARED_TICKET_WORD, 1) & (SEAT_TICKETS - 1)); // I4
}

/** Takes a seat under a ticket if nobody has it. Any thread. */
export function claimSeat(seat: Int32Array, ticket: number): boolean {
  return Atomics.compareExchange(seat, SEAT_STATE_WORD, SEAT_FREE, ticket) === SEAT_FREE;
}

/** Whoever took the seat is here; false: it was given back meanwhile. Who has that ticket only. */
export function arrive(seat: Int32Array, ticket: number): boolean {
  return Atomics.compareExchange(seat, SEAT_STATE_WORD, ticket, SEAT_TAKEN) === ticket;
}

/** Takes a seat from somebody who did not arrive; false: it has. Owner only. */
export function reclaimSeat(seat: Int32Array, ticket: number): boolean {
  return Atomics.compareExchange(seat, SEAT_STATE_WORD, ticket, SEAT_LEFT) === ticket;
}

/** Whether a state is a ticket: of somebody who is about to sit down. */
export function isTicket(state: number): boolean {
  return state >= SEAT_TICKET_MIN;
}

/** Leaves a seat; nothing is written there afterwards. Its thread only. */
export function leaveSeat(seat: Int32Array): void {
  Atomics.store(seat, SEAT_STATE_WORD, SEAT_LEFT); // pairs with seatState
}

export function seatState(seat: Int32Array): number {
  return Atomics.load(seat, SEAT_STATE_WORD); // pairs with claimSeat and leaveSeat
}

/** The first wait, before the thread arrives; settled when the owner has asked. Its thread only. */
export function firstBeat(seat: Int32Array, ticket: number): Promise<unknown> {
  // I4: it does not wait where the seat is not its own any more.
  const { value } = Atomics.waitAsync(seat, SEAT_STATE_WORD, ticket);
  return Promise.resolve(value);
}

/** One wait more, of a thread that has arrived. Its thread only. */
export function nextBeat(seat: Int32Array): Promise<unknown> {
  const count = seat[SEAT_BEATS_WORD] as number;
  const { value } = Atomics.waitAsync(seat, SEAT_BEATS_WORD, count);
  Atomics.store(seat, SEAT_BEATS_WORD, (count + 1) | 0); // I1, after the wait; pairs with checkBeat
  return value as Promise<unknown>; // it waits: nobody else writes the word
}

/** Waits that must be there, of which `woken` were woken before; the seat is taken. Owner only. */
export function beatsLeft(seat: Int32Array, woken: number): number {
  return (Atomics.load(seat, SEAT_BEATS_WORD) + 1 - woken) | 0; // I1, pairs with nextBeat, arrive
}

/** Wakes one wait, where there is one; PULSE_*. Owner only. */
export function checkBeat(seat: Int32Array, woken: number): number {
  const left = beatsLeft(seat, woken); // I1, before it wakes
  const at = woken === 0 ? SEAT_STATE_WORD : SEAT_BEATS_WORD;
  if (Atomics.notify(seat, at, 1) === 1) return HEARTBEAT_ALIVE;
  return left > 0 ? HEARTBEAT_GONE : HEARTBEAT_UNKNOWN;
}

/** Makes the words as new, once their thread writes them no more. Its lanes are emptied after, and then it is freed. Owner only. */
export function emptySeat(seat: Int32Array): void {
  Atomics.notify(seat, SEAT_STATE_WORD); // I2: of one that has left, or came too late, and lives on
  Atomics.notify(seat, SEAT_BEATS_WORD);
  for (let each = 0; each < LANE_CLASSES; each++) seat[SEAT_TAKEN_WORD + each] = 0;
  seat.fill(0, SEAT_THREAD_WORD, SEAT_TAKEN_WORD);
  Atomics.store(seat, SEAT_COMMAND_WORD, COMMAND_WORK);
  Atomics.store(seat, SEAT_PARK_WORD, 0);
}

/** The next may sit down. Owner only. */
export function freeSeat(seat: Int32Array): void {
  Atomics.store(seat, SEAT_STATE_WORD, SEAT_FREE); // I2, pairs with the exchange in claimSeat
}

/**
 * Seating: how threads come to a seat and leave it, and how the owner knows that one who never said a word is gone.
 *
 *   thread                                     owner
 *     sitDown: FREE ─▶ TAKEN by exchange         opens the seat when it has seen that
 *     beat: PULSE_WAITS waits on the pulse       listen: wakes one of them ─▶ it was there: the thread lives
 *       woken ─▶ one wait more                                     none, and one must be ─▶ the thread's engine took it along
 *     standUp: ─▶ LEFT, the last that it does    copies out what was published; emptySeat, lanes emptied, freeSeat
 *
 *   word     written by                   meaning
 *   state    compare-exchange; then       SEAT_FREE ─▶ SEAT_TAKEN (who sits down) ─▶ SEAT_LEFT (its thread) ─▶ SEAT_FREE (owner)
 *            whoever the arrow names
 *   pulse    its thread                   waits begun so far; the waits stand at this word
 *
 *   I1  A wait begins before it is counted, and the owner reads the count before it wakes: where it has woken fewer than were
 *       counted, one is there, or the thread is gone. Nobody but the owner wakes, so no living thread is taken for dead.
 *   I2  A seat is freed last, with no wait of its last thread left: what the next one counts is its own.
 *   I3  Who is too busy to wait again is asked less and less often, so that a wait is left for long.
 *
 * A wait ends with the engine of its thread, however that ends: by itself, by process.exit(), terminate() or for want of memory.
 * A thread that dies within sitDown, before its first wait, keeps its seat: nobody can tell it from one that is slow.
 */
import {
  COMMAND_WORK,
  LANE_CLASSES,
  SEAT_COMMAND_WORD,
  SEAT_FREE,
  SEAT_LEFT,
  SEAT_PARK_WORD,
  SEAT_PULSE_WORD,
  SEAT_STATE_WORD,
  SEAT_TAKEN,
  SEAT_TAKEN_WORD,
  SEAT_THREAD_WORD,
} from "../../layout/crew.ts";

/** Waits that a living thread has at its pulse when it is not busy. */
export const PULSE_WAITS = 8;

export const PULSE_LIVES = 1;
/** No wait is left that must be there: it lives, and is busy, or is gone. */
export const PULSE_UNKNOWN = 0;
export const PULSE_GONE = -1;

/** Takes a seat if nobody has it. Any thread. */
export function sitDown(seat: Int32Array): boolean {
  return Atomics.compareExchange(seat, SEAT_STATE_WORD, SEAT_FREE, SEAT_TAKEN) === SEAT_FREE;
}

/** Leaves a seat; nothing is written there afterwards. Its thread only. */
export function standUp(seat: Int32Array): void {
  Atomics.store(seat, SEAT_STATE_WORD, SEAT_LEFT); // pairs with seatState
}

export function seatState(seat: Int32Array): number {
  return Atomics.load(seat, SEAT_STATE_WORD); // pairs with sitDown and standUp
}

/** One wait more at the pulse; settled when the owner has asked. Its thread only. */
export function beat(seat: Int32Array): Promise<unknown> {
  const count = seat[SEAT_PULSE_WORD] as number;
  const { value } = Atomics.waitAsync(seat, SEAT_PULSE_WORD, count);
  Atomics.store(seat, SEAT_PULSE_WORD, (count + 1) | 0); // I1, after the wait; pairs with listen
  return value as Promise<unknown>; // it waits: nobody else writes the word
}

/** Waits that must be there, of which `woken` were woken before. Owner only. */
export function pulseLeft(seat: Int32Array, woken: number): number {
  return (Atomics.load(seat, SEAT_PULSE_WORD) - woken) | 0; // pairs with beat
}

/** Wakes one wait, where there is one; PULSE_*. Owner only. */
export function listen(seat: Int32Array, woken: number): number {
  const left = pulseLeft(seat, woken); // I1, before it wakes
  if (Atomics.notify(seat, SEAT_PULSE_WORD, 1) === 1) return PULSE_LIVES;
  return left > 0 ? PULSE_GONE : PULSE_UNKNOWN;
}

/** Makes the words as new, once their thread writes them no more. Its lanes are emptied after, and then it is freed. Owner only. */
export function emptySeat(seat: Int32Array): void {
  Atomics.notify(seat, SEAT_PULSE_WORD); // I2: of one that has left and lives on
  for (let each = 0; each < LANE_CLASSES; each++) seat[SEAT_TAKEN_WORD + each] = 0;
  seat.fill(0, SEAT_THREAD_WORD, SEAT_TAKEN_WORD);
  Atomics.store(seat, SEAT_COMMAND_WORD, COMMAND_WORK);
  Atomics.store(seat, SEAT_PARK_WORD, 0);
}

/** The next may sit down. Owner only. */
export function freeSeat(seat: Int32Array): void {
  Atomics.store(seat, SEAT_STATE_WORD, SEAT_FREE); // I2, pairs with the exchange in sitDown
}

/**
 * Credit: the flow control between the two sides of a seat, beside the rings, a word each with one writer.
 *
 *   worker                                          owner
 *     a lease begins ─▶ taken + 1 ─▶ unpark ─────▶    has it begun any since? ─▶ more leases
 *     its ring is full ─▶ full = 1 ─▶ looks ◀────     frees the ring ─▶ full? ─▶ unpark
 *     once more for room, then parks
 *
 *   I1  Who waits for the other has stored its word before it looks a last time, and the other has done its deed before it
 *       looks at the word: at least one of them sees the other, and no wait is for ever.
 *   I2  A lease is counted before its handler sees it: when the worker dies, the owner knows which had begun.
 */
import {
  SEAT_FULL_WORD,
  SEAT_PARK_WORD,
  SEAT_TAKEN_WORD,
} from "../../layout/threads/worker-seats.ts";
import { unpark } from "../../memory/parking.ts";

/** One more lease of a class begins. Worker only. @hot */
export function countBegun(seat: Int32Array, priorityClass: number): void {
  const at = SEAT_TAKEN_WORD + priorityClass;
  Atomics.store(seat, at, ((seat[at] as number) + 1) | 0); // I2, pairs with begunOf
}

/** Leases of a class begun so far, counted round 2³². @hot */
export function begunOf(seat: Int32Array, priorityClass: number): number {
  return Atomics.load(seat, SEAT_TAKEN_WORD + priorityClass); // pairs with countBegun
}

/** Says whether this worker waits for room in its ring; it looks for room again afterwards. Worker only. */
export function setRingFull(seat: Int32Array, isFull: boolean): void {
  const full = isFull ? 1 : 0;
  // I1, pairs with wakeForRoom.
  if (seat[SEAT_FULL_WORD] !== full) Atomics.store(seat, SEAT_FULL_WORD, full);
}

/** Whether a worker holds messages for want of room. Owner only. */
export function isRingFull(seat: Int32Array): boolean {
  return Atomics.load(seat, SEAT_FULL_WORD) !== 0; // pairs with setRingFull
}

/** The ring was freed: wakes the worker if it waits for that. Owner only. */
export function wakeForRoom(seat: Int32Array): void {
  // I1, pairs with setRingFull.
  if (Atomics.load(seat, SEAT_FULL_WORD) !== 0) unpark(seat, SEAT_PARK_WORD);
}

/**
 * Credit: the flow control between the two sides of a seat, beside the rings; each word has one writer.
 *
 *   worker                                          owner
 *     a lease begins ─▶ taken + 1 ─▶ unpark ─────▶    has it begun any since? ─▶ more leases
 *     its ring is full ─▶ full = 1 ─▶ checks ◀───     frees the ring ─▶ full? ─▶ unpark
 *     for room once more, then parks
 *
 *   I1  Before a side waits for the other, it stores its word and then checks once more; the other acts first and reads the
 *       word afterwards. At least one of them sees the other, so no wait lasts for ever.
 *   I2  A lease is counted before its handler sees it: when the worker dies, the owner can read which had begun.
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

/** Leases of a class begun so far, modulo 2³². @hot */
export function begunOf(seat: Int32Array, priorityClass: number): number {
  return Atomics.load(seat, SEAT_TAKEN_WORD + priorityClass); // pairs with countBegun
}

/** Stores whether this worker waits for room in its ring; it must check for room again afterwards. Worker only. */
export function setRingFull(seat: Int32Array, isFull: boolean): void {
  const full = isFull ? 1 : 0;
  // I1, pairs with wakeForRoom.
  if (seat[SEAT_FULL_WORD] !== full) Atomics.store(seat, SEAT_FULL_WORD, full);
}

/** Whether a worker holds messages because its ring is full. Owner only. */
export function isRingFull(seat: Int32Array): boolean {
  return Atomics.load(seat, SEAT_FULL_WORD) !== 0; // pairs with setRingFull
}

/** After the ring was freed: wakes the worker if it waits for room. Owner only. */
export function wakeForRoom(seat: Int32Array): void {
  // I1, pairs with setRingFull.
  if (Atomics.load(seat, SEAT_FULL_WORD) !== 0) unpark(seat, SEAT_PARK_WORD);
}

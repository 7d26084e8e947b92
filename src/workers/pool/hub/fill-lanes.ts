/**
 * Fills the lanes: hands leases to the workers, the best of them to the worker with the fewest. A worker gets as many as its credit
 * allows (worker-seat.ts), and none while it starts, stops, or has messages kept back because a lane is full.
 */
import { isMemoryFull } from "../../../base/errors.ts";
import {
  COMMAND_WORK,
  SEAT_COMMAND_WORD,
  SEAT_THREAD_WORD,
} from "../../../layout/threads/worker-seats.ts";
import type { OwnerPort } from "./owner-port.ts";
import type { Seat } from "./worker-seat.ts";

/** Leases polled at one time. */
const POLL_MAX = 256;

/** A seat that may get more leases; `load`: how many it has. */
interface Room {
  readonly seat: Seat;
  room: number;
  load: number;
}

/** Conditions of one round of hand-outs. */
export interface Filling {
  /** Workers cannot make fingerprints themselves. */
  readonly needsPrint: boolean;
  /** Most leases that may go out now, in addition to the room. */
  readonly most: number;
}

/** Adds leases to seats, which the caller flushes. `isMore`: there may be more leases, and room for them. */
export function fillSeats(
  port: OwnerPort,
  seats: readonly Seat[],
  nowMs: number,
  { needsPrint, most }: Filling,
) {
  const open = roomySeats(seats, nowMs);
  const room = open.reduce((all, one) => all + one.room, 0);
  const asked = Math.min(room, POLL_MAX, most);
  const leases = asked === 0 ? [] : pollSome(port, asked);
  for (const lease of leases) {
    const best = leastLoaded(open);
    best.room--;
    best.load++;
    best.seat.add(lease, needsPrint ? "print" : port.isPlain(lease) ? "none" : "own");
  }
  return { count: leases.length, isMore: leases.length === asked && asked > 0 };
}

/** Polls leases; returns none when memory has no room for one: leases that end will free some. */
function pollSome(port: OwnerPort, most: number): ReturnType<OwnerPort["pollMany"]> {
  try {
    return port.pollMany(most);
  } catch (cause) {
    if (isMemoryFull(cause)) return [];
    throw cause;
  }
}

function leastLoaded(open: readonly Room[]): Room {
  let best = open[0] as Room;
  for (const one of open) if (one.room > 0 && (best.room <= 0 || one.load < best.load)) best = one;
  return best;
}

function roomySeats(seats: readonly Seat[], nowMs: number): Room[] {
  const open: Room[] = [];
  for (const seat of seats) {
    const room = seat.room(nowMs); // for all seats, since `room` also records what was begun
    if (seat.isBlocked) continue;
    if (Atomics.load(seat.words, SEAT_COMMAND_WORD) !== COMMAND_WORK) continue;
    // A thread that is still starting cannot begin a lease.
    if (seat.words[SEAT_THREAD_WORD] === 0) continue;
    if (room > 0) open.push({ seat, room, load: seat.entries.size });
  }
  return open;
}

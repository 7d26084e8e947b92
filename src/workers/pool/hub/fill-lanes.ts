/**
 * Fills the lanes: leases out of the frontier and to the workers, the best of them to the worker that has fewest. A worker gets what its credit
 * has room for (worker-seat.ts), and nothing while it starts, stops, or has something kept back for want of room in a lane.
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

/** A seat that may have more leases; `load`: how many it has. */
interface Room {
  readonly seat: Seat;
  room: number;
  load: number;
}

interface Filled {
  readonly count: number;
  /** There may be more leases, and room for them. */
  readonly isMore: boolean;
}

/** What a round of hand-outs goes by. */
export interface Filling {
  /** Workers can not make fingerprints themselves. */
  readonly needsPrint: boolean;
  /** Leases that may go out now, whatever the room. */
  readonly most: number;
}

/** Adds leases to seats, which the caller flushes. */
export function fillSeats(
  port: OwnerPort,
  seats: readonly Seat[],
  nowMs: number,
  { needsPrint, most }: Filling,
): Filled {
  const open = roomySeats(seats, nowMs);
  const room = open.reduce((all, one) => all + one.room, 0);
  const asked = Math.min(room, POLL_MAX, most);
  const leases = asked === 0 ? [] : pollSome(port, asked);
  for (const lease of leases) {
    const best = leastLoaded(open);
    best.room--;
    best.load++;
    best.seat.add(lease, { isPlain: !needsPrint && port.isPlain(lease), needsPrint });
  }
  return { count: leases.length, isMore: leases.length === asked && asked > 0 };
}

/** None where memory has no room for one: those that are out make room as they end. */
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
    const room = seat.room(nowMs); // for all, so that what was begun is taken note of
    if (seat.isBlocked) continue;
    if (Atomics.load(seat.words, SEAT_COMMAND_WORD) !== COMMAND_WORK) continue;
    // A thread that is still starting has nothing to begin with.
    if (seat.words[SEAT_THREAD_WORD] === 0) continue;
    if (room > 0) open.push({ seat, room, load: seat.entries.size });
  }
  return open;
}

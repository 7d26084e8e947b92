/**
 * HubRounds: the owner's work for all seats together: results in, leases out.
 *
 *   drain    dead workers ─▶ seats in turn, SEAT_WORK each, ROUND_WORK in all ─▶ applied together ─▶ room of their rings freed
 *               └ the disk is full: nothing is drained for AGAIN_MS
 *   fill     the best leases, each to the worker with the fewest ─▶ published ─▶ workers woken
 *   finish   everything published, once no more leases are handed out
 *
 *   I1  The work between two checks of the clock is bounded, whatever the number of seats. A seat that was not served in a
 *       round is the first of the next one.
 *   I2  A ring's room is freed after its results were applied or copied out (drain-results.ts).
 *   I3  A message that cannot be applied for want of disk is held (drain-results.ts), and its ring fills up.
 */
import { after, type Clock } from "../../../base/clock.ts";
import { FrontierError } from "../../../base/errors.ts";
import { SHARED_SEATS } from "../../../layout/threads/worker-seats.ts";
import { laneFree } from "../../../structures/threads/spsc-lane.ts";
import { isRingFull, wakeForRoom } from "../../protocol/lane-credit.ts";
import { ResultDrain } from "./drain-results.ts";
import { type Filling, fillSeats } from "./fill-lanes.ts";
import { DeadWorkers } from "./dead-workers.ts";
import type { OwnedLease, OwnerPort } from "./owner-port.ts";
import type { Seat } from "./worker-seat.ts";
import type { SeatTable } from "./seat-table.ts";

/** Work (drain-results.ts) drained from one seat before the next seat's turn, and in a round. */
const SEAT_WORK = 512;
export const ROUND_WORK = 1_024;
/** A message that could not be applied for want of disk is tried again after this time. */
const AGAIN_MS = 100;

interface RoundParts {
  readonly port: OwnerPort;
  readonly seats: SeatTable;
  /** The machine's clock. */
  readonly clock: Clock;
  /** Asks for a turn soon. */
  readonly wake: () => void;
  /** Called before any worker sees a lease that goes out. */
  readonly onSome: () => void;
  /** Called when a seat's shared memory holds what cannot be; its batched results were applied. */
  readonly onFault: (seat: Seat) => void;
}

export class HubRounds {
  readonly #parts: RoundParts;
  readonly #results: ResultDrain;
  /** Ended threads, until all of their results are applied. */
  readonly deadWorkers: DeadWorkers;
  /** The seat that is drained first in the next round. */
  #first = 0;
  #blockedUntil = 0;

  constructor(parts: RoundParts) {
    this.#parts = parts;
    this.#results = new ResultDrain(parts.port);
    this.deadWorkers = new DeadWorkers(this.#results);
  }

  /** Whether results wait for the disk. */
  get isBlocked(): boolean {
    return this.#blockedUntil !== 0;
  }

  /** Leases that were handed out and have not begun, as of now. */
  *unbegun(): Generator<OwnedLease, void, undefined> {
    for (const seat of this.#parts.seats.all) yield* seat.unbegun();
    yield* this.deadWorkers.unbegun();
  }

  /** Applies a round of results over all seats. Returns true when there are more. */
  drain(): boolean {
    const { clock, seats } = this.#parts;
    if (this.#blockedUntil > clock.monotonic()) return false;
    this.#blockedUntil = 0;
    let isMore = false;
    let isBlocked = false;
    let left = this.deadWorkers.settle(ROUND_WORK);
    if (left === undefined) return this.#block();
    for (let count = 0; count < SHARED_SEATS && left > 0; count++) {
      const seat = seats.at(this.#first);
      this.#first = (this.#first + 1) % SHARED_SEATS;
      if (seat === undefined) continue;
      const taken = this.#results.take(seat, Math.min(left, SEAT_WORK));
      left -= taken.work;
      isMore ||= taken.isMore;
      isBlocked ||= taken.isBlocked;
    }
    if (!this.#results.flush()) isBlocked = true;
    if (left <= 0) isMore = true; // I1: other seats may have some
    for (const seat of seats.all) {
      if (seat.fault === undefined) freeRing(seat);
      else this.#parts.onFault(seat);
    }
    return isBlocked ? this.#block() : isMore;
  }

  /** Hands out the best records. Returns true when there may be more, with room for them. */
  fill(filling: Filling): boolean {
    const { clock, onSome, port, seats } = this.#parts;
    const { all } = seats;
    const filled = fillSeats(port, all, clock.monotonic(), filling);
    if (filled.count > 0) onSome();
    for (const seat of all) seat.flush();
    return filled.isMore;
  }

  /** Applies everything published, as far as possible. Returns true when a worker holds more and was woken to send it. */
  finish(): boolean {
    const all = Number.POSITIVE_INFINITY;
    let isMore = false;
    try {
      if (this.deadWorkers.settle(all) === undefined) return false;
      for (const seat of this.#parts.seats.all) {
        if (this.#results.take(seat, all).isBlocked || !this.#results.flush()) return false;
        freeRing(seat);
        isMore ||= isRingFull(seat.words);
      }
    } catch (cause) {
      // A hook closed the frontier during a call: nothing can be applied any more.
      if (!(cause instanceof FrontierError)) throw cause;
      return false;
    }
    return isMore;
  }

  /** The disk is full: messages that could not be applied are held, and tried again (I3). */
  #block(): false {
    const { clock, wake } = this.#parts;
    this.#blockedUntil = clock.monotonic() + AGAIN_MS;
    after(AGAIN_MS, wake);
    return false;
  }
}

/** Frees a ring's room, and wakes a worker that waits for it. */
function freeRing(seat: Seat): void {
  if (laneFree(seat.inbound)) wakeForRoom(seat.words);
}

/**
 * ResultDrain: applies results from the inbound rings to the frontier. Results that report done and nothing but links are applied many
 * at a time, from all seats together. Any other is applied by itself, after those before it.
 *
 *   ring of a seat ─▶ take ─▶ batch: lease and message of each ─▶ flush ─▶ one call of the frontier
 *                       └────── anything else ─▶ flush, then apply
 *   the disk is full ─▶ held: the seat's own copy, applied before anything else of that seat
 *
 *   I1  Results of a seat are applied in the order of its ring.
 *   I2  The bytes of a batch belong to the ring: the batch is flushed before any room of the ring is freed.
 *   I3  A message that could not be applied is held, and its entry stays in the seat's: nothing is lost for want of disk.
 *       While a seat holds any, its ring is not read, and fills up.
 *   I5  A message is checked before anything of it is applied (check-message.ts). One that cannot be is the end of its worker: what was
 *       published before it counts, its ring is not read any more, and the hub removes the worker.
 *   I4  A result is counted as work before it is applied, so that a turn is bounded by its work and not by the clock
 *       alone. One result is never split: it is one entry of the journal.
 */
import { RESULT_REFUSALS } from "../../../layout/threads/worker-messages.ts";
import {
  LANE_EMPTY,
  LANE_PIECES,
  laneDrop,
  laneNext,
  lanePeek,
} from "../../../structures/threads/spsc-lane.ts";
import {
  addDropped,
  foundCount,
  isBareDone,
  readResult,
  resultId,
} from "../../protocol/result-message.ts";
import { RingFault } from "../../../structures/threads/ring-fault.ts";
import { applyResult, isFull } from "./apply-result.ts";
import { checkMessage } from "./check-message.ts";
import type { OwnedLease, OwnerPort } from "./owner-port.ts";
import type { Seat } from "./worker-seat.ts";

/** Results in one batch: enough to share the crossings, few enough for the caches and for a slice. */
const BATCH_MAX = 128;

/** Work of one result besides its links, each of which is 1: about half a microsecond. */
export const RESULT_WORK = 4;
/** log₂ of the bytes of a message that count as much work as a link. */
const WORK_BYTES_SHIFT = 9;

/** The outcome of a turn at a seat. */
interface Taken {
  readonly isMore: boolean;
  /** The disk is full. */
  readonly isBlocked: boolean;
  readonly work: number;
}

export class ResultDrain {
  readonly #port: OwnerPort;
  readonly #leases: OwnedLease[] = [];
  readonly #messages: Buffer[] = [];
  readonly #starts: number[] = [];
  readonly #sizes: number[] = [];
  readonly #seats: Seat[] = [];
  readonly #dropped = new Uint32Array(RESULT_REFUSALS + 1);
  #canHarvest = false;

  constructor(port: OwnerPort) {
    this.#port = port;
  }

  /**
   * Takes results out of a seat's ring until they are `most` work, of which the last may exceed it. `flush` must follow. What cannot be
   * ends the reading of that ring: it is the seat's fault from then on (I5).
   */
  take(seat: Seat, most: number): Taken {
    if (seat.fault !== undefined) return NOTHING_TAKEN;
    try {
      return this.#take(seat, most);
    } catch (cause) {
      return noteFault(seat, cause);
    }
  }

  #take(seat: Seat, most: number): Taken {
    this.#canHarvest = this.#port.canApplyResults();
    const { inbound } = seat;
    let work = 0;
    if (seat.held.length > 0) {
      work = this.#takeHeld(seat, most);
      if (work < 0) return { isMore: false, isBlocked: true, work: most };
      if (seat.held.length > 0) return { isMore: true, isBlocked: false, work };
    }
    while (work < most) {
      const next = lanePeek(inbound);
      if (next === LANE_EMPTY) return { isMore: false, isBlocked: false, work };
      // Reading a record in pieces frees the ring's room, and the batch's bytes with it (I2).
      if (next === LANE_PIECES && !this.flush()) return { isMore: false, isBlocked: true, work };
      if (!laneNext(inbound)) return { isMore: false, isBlocked: false, work };
      checkMessage(seat, inbound.source, inbound.start, inbound.size); // I5
      work += workOf(inbound.source, inbound.start, inbound.size);
      const isApplied = this.#add(seat, inbound.source, inbound.start, inbound.size);
      laneDrop(inbound); // a message that was not applied is held
      if (!isApplied) return { isMore: false, isBlocked: true, work };
    }
    return { isMore: true, isBlocked: false, work };
  }

  /** Takes the results copied out of a dead thread's ring, which may belong to another thread by now. */
  takeLast(seat: Seat, most: number): Taken {
    this.#canHarvest = this.#port.canApplyResults();
    try {
      const work = seat.held.length === 0 ? 0 : this.#takeHeld(seat, most);
      return { isMore: seat.held.length > 0, isBlocked: work < 0, work };
    } catch (cause) {
      return noteFault(seat, cause);
    }
  }

  /** Applies the batch. Returns false when the disk is full; the seats then hold the results. */
  flush(): boolean {
    const count = this.#leases.length;
    if (count === 0) return true;
    const resultBatch = { leases: this.#leases, messages: this.#messages, starts: this.#starts };
    try {
      this.#settle(this.#port.applyResults(resultBatch));
      return true;
    } catch (cause) {
      if (isFull(cause)) {
        for (let at = 0; at < count; at++) this.#hold(at);
        return false;
      }
      return this.#applyEach(count);
    } finally {
      for (const list of [this.#leases, this.#messages, this.#starts, this.#sizes, this.#seats]) {
        list.length = 0;
      }
    }
  }

  /** Copies everything left in a ring, whose seat is about to be cleared, up to what cannot be (I5). */
  copyUnread(seat: Seat): void {
    const { inbound } = seat;
    try {
      while (seat.fault === undefined && laneNext(inbound)) {
        checkMessage(seat, inbound.source, inbound.start, inbound.size);
        seat.held.push(copyOf(inbound.source, inbound.start, inbound.size));
        laneDrop(inbound);
      }
    } catch (cause) {
      noteFault(seat, cause);
    }
  }

  /** Applies a seat's held results, up to `most` work. Returns the work done, or less than 0 when the disk is still full. */
  #takeHeld(seat: Seat, most: number): number {
    const held = seat.held.splice(0);
    let isOpen = true;
    let work = 0;
    let at = 0;
    for (; isOpen && at < held.length && work < most; at++) {
      const message = held[at] as Buffer;
      work += workOf(message, 0, message.length);
      isOpen = this.#add(seat, message, 0, message.length); // false: it is held again
    }
    isOpen = isOpen && this.flush();
    for (; at < held.length; at++) seat.held.push(held[at] as Buffer);
    return isOpen ? work : -1;
  }

  /** Returns false when this message is held, and perhaps some before it. */
  #add(seat: Seat, bytes: Buffer, start: number, size: number): boolean {
    if (
      !this.#canHarvest ||
      !isBareDone(bytes, start) ||
      foundCount(bytes, start) > this.#port.maxFound
    ) {
      if (this.flush() && applyResult(this.#port, seat, readResult(bytes, start))) return true;
      seat.held.push(copyOf(bytes, start, size));
      return false;
    }
    const entry = seat.entries.get(resultId(bytes, start));
    if (entry === undefined) return true; // the lease has expired, and the worker was notified
    this.#leases.push(entry.lease);
    this.#messages.push(bytes);
    this.#starts.push(start);
    this.#sizes.push(size);
    this.#seats.push(seat);
    return this.#leases.length < BATCH_MAX || this.flush();
  }

  #settle(late: readonly boolean[]): void {
    this.#dropped.fill(0);
    for (let at = 0; at < late.length; at++) {
      const bytes = this.#messages[at] as Buffer;
      const start = this.#starts[at] as number;
      (this.#seats[at] as Seat).entries.delete(resultId(bytes, start));
      if (late[at] !== true) addDropped(bytes, start, this.#dropped);
    }
    this.#port.countDropped(this.#dropped);
  }

  /** Applies the batch one by one, after a failure of the whole: a fault is then reported for its own result. */
  #applyEach(count: number): boolean {
    let isOpen = true;
    for (let at = 0; at < count; at++) {
      const message = readResult(this.#messages[at] as Buffer, this.#starts[at] as number);
      isOpen = isOpen && applyResult(this.#port, this.#seats[at] as Seat, message);
      if (!isOpen) this.#hold(at);
    }
    return isOpen;
  }

  #hold(at: number): void {
    const bytes = this.#messages[at] as Buffer;
    const copy = copyOf(bytes, this.#starts[at] as number, this.#sizes[at] as number);
    (this.#seats[at] as Seat).held.push(copy);
  }
}

const NOTHING_TAKEN: Taken = Object.freeze({ isMore: false, isBlocked: false, work: 0 });

/** The ring of a seat holds what cannot be: it is not read any more (I5). */
function noteFault(seat: Seat, cause: unknown): Taken {
  if (!(cause instanceof RingFault)) throw cause;
  seat.fault = cause;
  return NOTHING_TAKEN;
}

/** Work of a result, in links (I4). */
function workOf(bytes: Buffer, start: number, size: number): number {
  return RESULT_WORK + foundCount(bytes, start) + (size >>> WORK_BYTES_SHIFT);
}

function copyOf(bytes: Buffer, start: number, size: number): Buffer {
  return Buffer.from(bytes.subarray(start, start + size));
}

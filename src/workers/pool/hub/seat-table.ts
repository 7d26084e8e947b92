/**
 * SeatTable: which threads sit at the shared memory, as the owner's thread sees it.
 *
 *            exchange, by a thread that takes a seat, or by the owner for a thread of the pool
 *   FREE ──▶ a ticket ────────────────────────────────────────────────────────────▶ TAKEN ───┐ its thread died (seat-protocol.ts,
 *     ▲         └── not arrived after COMING_MS ──────────────────────────┐           │      │ or its exit was reported to the pool)
 *     │                                                its thread's last call │           │      │
 *     └──────── owner, after the thread's last write: lanes, words emptied ◀┴────────── LEFT ◀─┘
 *
 *   I1  A seat is open here from the moment when the owner first sees it taken until it is cleared. Messages that its thread
 *       sends earlier wait in its lanes.
 *   I2  The state is cleared last: the next thread finds empty lanes and words.
 *   I3  A seat that is not open is emptied when its state or its lanes are none that anybody writes: shared memory was written over.
 */
import { FrontierError } from "../../../base/errors.ts";
import {
  SHARED_SEATS,
  SEAT_FREE,
  SEAT_LEFT,
  SEAT_TAKEN,
} from "../../../layout/threads/worker-seats.ts";
import { areLanesWhole, sharedWords, resetLanes, seatWords } from "../../protocol/shared-memory.ts";
import {
  arrive,
  drawTicket,
  emptySeat,
  freeSeat,
  reclaimSeat,
  isTicket,
  seatState,
  claimSeat,
} from "../../protocol/seat-protocol.ts";
import { Seat } from "./worker-seat.ts";

/** A thread that has held a ticket for longer than this has died on the way, which takes some microseconds. */
const COMING_MS = 5_000;

/** A thread with a ticket, and since when the owner has seen it. */
interface Coming {
  readonly ticket: number;
  readonly sinceMs: number;
}

export class SeatTable {
  readonly #memory: SharedArrayBuffer;
  readonly #onOpen: (seat: Seat) => void;
  readonly #list: Array<Seat | undefined> = new Array(SHARED_SEATS).fill(undefined);
  readonly #coming = new Map<number, Coming>();
  /** Open seats by number; replaced by a new list at every change. */
  #all: readonly Seat[] = [];

  constructor(memory: SharedArrayBuffer, onOpen: (seat: Seat) => void) {
    this.#memory = memory;
    this.#onOpen = onOpen;
  }

  /** The open seats. */
  get all(): readonly Seat[] {
    return this.#all;
  }

  /** The open seat of a number. */
  at(index: number): Seat | undefined {
    return this.#list[index];
  }

  /** Takes a seat for a thread that the pool starts. */
  reserve(): Seat {
    for (let index = 0; index < SHARED_SEATS; index++) {
      const words = seatWords(this.#memory, index);
      const ticket = drawTicket(sharedWords(this.#memory));
      if (!claimSeat(words, ticket) || !arrive(words, ticket)) continue;
      if (!areLanesWhole(this.#memory, index)) resetLanes(this.#memory, index); // I3
      return this.#open(index, true);
    }
    const message = `threads: too many (expected: at most ${SHARED_SEATS} at one time)`;
    throw new FrontierError("STATE_INVALID", message);
  }

  /** Opens the seats that threads have taken by themselves. Returns those that their threads have left. */
  openArrivals(nowMs: number): Seat[] {
    const left: Seat[] = [];
    for (let index = 0; index < SHARED_SEATS; index++) {
      const state = this.#await(index, nowMs);
      if (this.#empty(index, state)) continue;
      // A thread that came and left in between may have sent something: its seat is opened too.
      const seat = this.#list[index] ?? (isAbsent(state) ? undefined : this.#open(index, false));
      // The pool clears the seats of its own threads, once they have ended.
      if (seat?.isOwn === false && state === SEAT_LEFT) left.push(seat);
    }
    return left;
  }

  /** Whether a thread is about to take a seat. */
  get isAwaiting(): boolean {
    return this.#coming.size > 0;
  }

  /** Whether threads have taken or left a seat since the last call of `openArrivals`. */
  hasNews(): boolean {
    for (let index = 0; index < SHARED_SEATS; index++) {
      const state = this.#stateOf(index);
      const seat = this.#list[index];
      if (seat === undefined ? !isAbsent(state) : !seat.isOwn && state === SEAT_LEFT) return true;
      if (isTicket(state) && this.#coming.get(index)?.ticket !== state) return true;
    }
    return false;
  }

  /** Makes a seat ready for the next thread. Its own thread has ended, and its published messages were copied out. */
  clear({ index, words }: Seat): void {
    this.#put(index, undefined);
    this.#wipe(index, words);
  }

  /** Empties a seat that is not open, where what stands there cannot be (I3). Returns true when it did. */
  #empty(index: number, state: number): boolean {
    if (this.#list[index] !== undefined || isAbsent(state)) return false;
    const isPossible = state === SEAT_TAKEN || state === SEAT_LEFT;
    if (isPossible && areLanesWhole(this.#memory, index)) return false;
    this.#wipe(index, seatWords(this.#memory, index));
    return true;
  }

  #wipe(index: number, words: Int32Array): void {
    emptySeat(words);
    resetLanes(this.#memory, index);
    freeSeat(words); // I2
  }

  /** The state of a seat. A seat whose ticket is too old is reclaimed. */
  #await(index: number, nowMs: number): number {
    const state = this.#stateOf(index);
    if (!isTicket(state)) {
      if (this.#coming.size > 0) this.#coming.delete(index);
      return state;
    }
    const coming = this.#coming.get(index);
    if (coming?.ticket !== state) this.#coming.set(index, { ticket: state, sinceMs: nowMs });
    else if (nowMs - coming.sinceMs > COMING_MS) reclaimSeat(seatWords(this.#memory, index), state);
    return this.#stateOf(index);
  }

  #stateOf(index: number): number {
    return seatState(this.#list[index]?.words ?? seatWords(this.#memory, index));
  }

  #open(index: number, isOwn: boolean): Seat {
    const seat = new Seat(this.#memory, index, isOwn);
    this.#put(index, seat);
    this.#onOpen(seat);
    return seat;
  }

  #put(index: number, seat: Seat | undefined): void {
    this.#list[index] = seat;
    this.#all = this.#list.filter((one) => one !== undefined);
  }
}

/** Whether no thread is at the seat, or none has arrived yet. */
function isAbsent(state: number): boolean {
  return state === SEAT_FREE || isTicket(state);
}

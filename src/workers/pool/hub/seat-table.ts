/**
 * SeatTable: who sits at the shared memory, as the owner's thread sees it.
 *
 *            exchange, by a thread that sits down or by the owner for one of the pool
 *   FREE ──▶ a ticket ────────────────────────────────────────────────────────────▶ TAKEN ───┐ its thread died (seat-protocol.ts,
 *     ▲         └── not arrived after COMING_MS ──────────────────────────┐           │      │ or the pool heard its exit)
 *     │                                             its thread, the last that it does │      │
 *     └──────── owner, once nobody writes there: lanes and words emptied ◀┴────────── LEFT ◀─┘
 *
 *   I1  A seat is open here from when the owner has first seen it taken until it is cleared; what its thread sends meanwhile
 *       lies in its lanes.
 *   I2  Its state is the last that is cleared: who takes it finds lanes and words as new.
 */
import { FrontierError } from "../../../base/errors.ts";
import { SHARED_SEATS, SEAT_FREE, SEAT_LEFT } from "../../../layout/threads/worker-seats.ts";
import { sharedWords, resetLanes, seatWords } from "../../protocol/shared-memory.ts";
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

/** Who has a ticket for longer than this and is not here died on the way; the way is some microseconds. */
const COMING_MS = 5_000;

/** Who is about to sit down, and since when the owner knows. */
interface Coming {
  readonly ticket: number;
  readonly sinceMs: number;
}

export class SeatTable {
  readonly #memory: SharedArrayBuffer;
  readonly #onOpen: (seat: Seat) => void;
  readonly #list: Array<Seat | undefined> = new Array(SHARED_SEATS).fill(undefined);
  readonly #coming = new Map<number, Coming>();
  /** Those that are open, by number; another list whenever they change. */
  #all: readonly Seat[] = [];

  constructor(memory: SharedArrayBuffer, onOpen: (seat: Seat) => void) {
    this.#memory = memory;
    this.#onOpen = onOpen;
  }

  /** Those that are open. */
  get all(): readonly Seat[] {
    return this.#all;
  }

  /** The open seat of a number. */
  at(index: number): Seat | undefined {
    return this.#list[index];
  }

  /** A seat for a thread that the pool starts. */
  reserve(): Seat {
    for (let index = 0; index < SHARED_SEATS; index++) {
      const words = seatWords(this.#memory, index);
      const ticket = drawTicket(sharedWords(this.#memory));
      if (claimSeat(words, ticket) && arrive(words, ticket)) return this.#open(index, true);
    }
    const message = `threads: too many (expected: at most ${SHARED_SEATS} at one time)`;
    throw new FrontierError("STATE_INVALID", message);
  }

  /** Opens the seats that threads have taken by themselves; those that their threads have left, these too. */
  openArrivals(nowMs: number): Seat[] {
    const left: Seat[] = [];
    for (let index = 0; index < SHARED_SEATS; index++) {
      const state = this.#await(index, nowMs);
      // Who came and left in between has said what it had to say.
      const seat = this.#list[index] ?? (isAbsent(state) ? undefined : this.#open(index, false));
      // The pool clears the seats of its own threads, once they are gone.
      if (seat?.isOwn === false && state === SEAT_LEFT) left.push(seat);
    }
    return left;
  }

  /** Whether somebody is about to sit down. */
  get isAwaiting(): boolean {
    return this.#coming.size > 0;
  }

  /** Whether threads have sat down, or left, of which nothing is known here. */
  hasNews(): boolean {
    for (let index = 0; index < SHARED_SEATS; index++) {
      const state = this.#stateOf(index);
      const seat = this.#list[index];
      if (seat === undefined ? !isAbsent(state) : !seat.isOwn && state === SEAT_LEFT) return true;
      if (isTicket(state) && this.#coming.get(index)?.ticket !== state) return true;
    }
    return false;
  }

  /** Makes a seat ready for the next. Its thread is gone, and what it had published was copied out. */
  clear({ index, words }: Seat): void {
    this.#put(index, undefined);
    emptySeat(words);
    resetLanes(this.#memory, index);
    freeSeat(words); // I2
  }

  /** The state of a seat; one whose ticket is too old is taken from who has that. */
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

/** Whether nobody is there: yet, or at all. */
function isAbsent(state: number): boolean {
  return state === SEAT_FREE || isTicket(state);
}

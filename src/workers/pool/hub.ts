/**
 * Hub: the owner's side of all workers of one frontier, on the owner's thread.
 *
 *   turn: seats that came or left ─▶ drain inbound rings ─▶ fill lanes by credit ─▶ more? ─ yes ─▶ a turn of the event loop
 *            ▲                        rounds of ROUND_WORK, for SLICE_MS              └ no ──▶ wait on the parking word
 *            └── a worker unparked · the frontier has something again · a clock ────────────────┘
 *
 *   I1  Every lease that is handed out is in the entries of one seat until its result was applied, it ran out, or its
 *       worker is gone; then it is settled at the desk, once.
 *   I2  What a worker had published is copied out before its seat is cleared, and counts before its leases are given back.
 *   I3  A message that can not be applied for want of disk is held (drain.ts), and its ring fills up behind it.
 *   I4  Nothing is left: the frontier is finished, no entry, every ring empty; in this order, since results come first.
 *   I5  Between two looks at the clock lies a counted amount of work, whatever the number of seats; who was not served in
 *       a round is the first of the next.
 *   I6  Who pushes looks at the phase after it has published; closing looks at the rings after it has said so: what was
 *       answered "queued" is seen by the one, or the pusher sees the other.
 */
import { createSystemClock } from "../../base/clock.ts";
import { FrontierError } from "../../base/errors.ts";
import {
  COMMAND_STOP,
  COMMAND_WORK,
  CREW_EDGE_WORD,
  CREW_FILTER_OFFSET,
  CREW_PARK_WORD,
  CREW_PHASE_WORD,
  CREW_SEATS,
  EDGE_OFF,
  LANE_CLASSES,
  PHASE_CLOSED,
  PHASE_FINISHED,
  PHASE_RUNNING,
  SEAT_COMMAND_WORD,
  SEAT_FREE,
  SEAT_LEFT,
  SEAT_PARK_WORD,
  SEAT_STATE_WORD,
  SEAT_TAKEN,
  SEAT_TAKEN_WORD,
  SEAT_THREAD_WORD,
} from "../../layout/crew.ts";
import { unpark } from "../../memory/parking.ts";
import { attachSeenFilter, filterClear, type SeenFilter } from "../../structures/seen-filter.ts";
import { laneFree, laneIsEmpty } from "../../structures/spsc-lane.ts";
import { type NormalPolicy, policyId } from "../../url/policy.ts";
import {
  type CrewHandle,
  createCrewMemory,
  crewWords,
  resetLanes,
  seatWords,
} from "../protocol/crew.ts";
import { isFull, tellRoom } from "../protocol/credit.ts";
import { type EdgeFacts, packEdge } from "../protocol/edge-message.ts";
import { createWaiting, endWaiting, type Waiting, waitFor } from "../protocol/waiting.ts";
import { Drain } from "./drain.ts";
import { Graves, LEFT } from "./graves.ts";
import type { OwnerPort } from "./port.ts";
import { Seat } from "./seat.ts";

/** A turn ends after the round in which this is over; with a round's own time draining and filling hold the loop for ≤ 2 ms. */
const SLICE_MS = 1;
/** Work (drain.ts) drained from one seat before the next has its turn, and in a round. */
const SEAT_WORK = 512;
export const ROUND_WORK = 1_024;
/** Leases that one sweep takes from workers. */
const SWEEP_CANCELS = 512;
/** Leases polled at one time. */
const POLL_MAX = 256;
/** How often leases out are looked at for having run out. */
const SWEEP_MS = 250;
/** A cancelled lease whose worker has not looked up after this: its thread hangs. */
const STUCK_MS = 2_000;
/** How long closing waits for workers that hold messages for want of room. */
const CLOSE_MS = 5_000;
/** A message that could not be applied for want of disk is tried again after this. */
const AGAIN_MS = 100;
/** Identities that the edge remembers: 16 MiB. */
const FILTER_ENTRIES = 1 << 20;

/** A seat that may have more leases; `load`: how many it has. */
interface Room {
  readonly seat: Seat;
  room: number;
  load: number;
}

export class Hub {
  readonly port: OwnerPort;
  readonly memory = createCrewMemory(FILTER_ENTRIES);
  readonly filter: SeenFilter;
  readonly seats: Array<Seat | undefined> = new Array(CREW_SEATS).fill(undefined);
  /** Told when a thread of the pool must be ended from outside. */
  onStuck: ((seat: number) => void) | undefined;
  readonly #words = crewWords(this.memory);
  readonly #waiting: Waiting;
  readonly #clock = createSystemClock();
  readonly #offChange: () => void;
  readonly #finishing: Array<() => void> = [];
  #edge: EdgeFacts | undefined;
  /** The same as seats are told it. */
  #packed: Uint8Array | undefined;
  #generation = EDGE_OFF;
  #policy: NormalPolicy | undefined;
  #policyId: string | undefined;
  #policySerial = 0;
  readonly #results: Drain;
  /** Of threads that are gone, until all they said is applied. */
  readonly #graves: Graves;
  /** The seat that is drained first in the next round. */
  #first = 0;
  #isDue = false;
  #isClosed = false;
  /** Closed, and nothing is applied any more. */
  #isEnded = false;
  #closing: Promise<void> | undefined;
  #blockedUntil = 0;
  #cancelSweep: (() => void) | undefined;

  constructor(port: OwnerPort) {
    this.port = port;
    this.#results = new Drain(port);
    this.#graves = new Graves(this.#results);
    this.filter = attachSeenFilter({ buffer: this.memory, offset: CREW_FILTER_OFFSET });
    this.#waiting = createWaiting(this.#words, CREW_PARK_WORD, () => this.#turn());
    this.#offChange = port.onChange(() => this.wake());
  }

  /** Begins to listen to those who sit down. */
  start(): void {
    this.#judgePolicy();
    this.#judgeEdge();
    this.wake();
  }

  /** Identities may be new again: workers decide nothing until they have heard of it. */
  refresh(): void {
    if (!this.#isClosed) this.#judgeEdge();
  }

  /** What another thread needs to sit down. */
  get handle(): CrewHandle {
    const { name, kernel, maxUrlBytes } = this.port;
    if (!this.#isClosed) this.#judgeEdge();
    const packed = this.#packed;
    const edge = packed === undefined ? undefined : { generation: this.#generation, packed };
    return { name, memory: this.memory, kernel, policy: this.port.keyPolicy(), maxUrlBytes, edge };
  }

  /** A seat for a thread that the pool starts. */
  reserve(): Seat {
    for (let index = 0; index < CREW_SEATS; index++) {
      const words = seatWords(this.memory, index);
      const before = Atomics.compareExchange(words, SEAT_STATE_WORD, SEAT_FREE, SEAT_TAKEN);
      if (before === SEAT_FREE) return this.#open(index, true);
    }
    const expected = `at most ${CREW_SEATS} threads at one time`;
    throw new FrontierError("STATE_INVALID", `threads: no free seat (expected: ${expected})`);
  }

  /** Asks a worker to end what it has begun and leave. */
  stop(seat: Seat): void {
    Atomics.store(seat.words, SEAT_COMMAND_WORD, COMMAND_STOP);
    unpark(seat.words, SEAT_PARK_WORD);
  }

  /** Takes all its leases from a worker, whose handlers go on in vain. */
  cancelAll(seat: Seat): void {
    for (const entry of [...seat.entries.values()]) {
      seat.cancel(entry, this.#clock.monotonic());
      seat.entries.delete(entry.id);
      entry.lease.release();
    }
    seat.flush();
  }

  /**
   * The worker of a seat is gone: what it had said counts, what it had begun has lost an attempt. Resolves when that is so,
   * or can not be for want of disk now.
   */
  bury(seat: Seat, reason: string): Promise<void> {
    if (this.seats[seat.index] !== seat) return Promise.resolve();
    const settled = this.#isEnded ? Promise.resolve() : this.#graves.dig(seat, reason);
    this.seats[seat.index] = undefined;
    for (let each = 0; each < LANE_CLASSES; each++) seat.words[SEAT_TAKEN_WORD + each] = 0;
    seat.words.fill(0, SEAT_THREAD_WORD, SEAT_TAKEN_WORD);
    resetLanes(this.memory, seat.index);
    Atomics.store(seat.words, SEAT_COMMAND_WORD, COMMAND_WORK);
    Atomics.store(seat.words, SEAT_PARK_WORD, 0);
    Atomics.store(seat.words, SEAT_STATE_WORD, SEAT_FREE); // pairs with the exchange in takeSeat
    this.wake();
    return settled;
  }

  /** Resolves when nothing is left: finished, or closed, and every ring empty (I4). */
  finished(): Promise<void> {
    if (this.#isClosed) return Promise.resolve();
    return new Promise((resolve) => {
      this.#finishing.push(resolve);
      this.wake();
    });
  }

  /** A turn soon: something changed. */
  wake(): void {
    if (this.#isDue) return;
    this.#isDue = true;
    setImmediate(() => {
      this.#isDue = false;
      this.#turn();
    });
  }

  /**
   * The frontier is closing: workers are told, what they had published counts, leases out are the frontier's to take back.
   * A promise where a worker still holds what its ring had no room for.
   */
  close(): Promise<void> | undefined {
    if (this.#isClosed) return this.#closing;
    this.#isClosed = true;
    this.#offChange();
    this.#cancelSweep?.();
    Atomics.store(this.#words, CREW_EDGE_WORD, EDGE_OFF);
    this.#setPhase(PHASE_CLOSED); // I6, before the last look at the rings
    endWaiting(this.#waiting);
    if (this.#drainLast()) this.#closing = this.#awaitLast();
    else this.#end();
    return this.#closing;
  }

  async #awaitLast(): Promise<void> {
    const untilMs = this.#clock.monotonic() + CLOSE_MS;
    do await new Promise(setImmediate);
    while (this.#drainLast() && this.#clock.monotonic() < untilMs);
    this.#end();
  }

  #end(): void {
    this.#isEnded = true;
    for (const resolve of this.#finishing.splice(0)) resolve();
    this.#graves.close();
  }

  /** Applies all that was published; true: a worker holds more, and has been told of the room. */
  #drainLast(): boolean {
    const all = Number.POSITIVE_INFINITY;
    let isMore = false;
    try {
      this.#greet(); // who came, pushed and left in between has said what it had to say
      if (this.#graves.settle(all) === undefined) return false;
      for (const seat of this.seats) {
        if (seat === undefined) continue;
        if (this.#results.take(seat, all).isBlocked || !this.#results.flush()) return false;
        this.#freeRing(seat);
        isMore ||= isFull(seat.words);
      }
    } catch (cause) {
      // Closed by a hook in the midst of a call: nothing can be applied any more.
      if (!(cause instanceof FrontierError)) throw cause;
      return false;
    }
    return isMore;
  }

  #turn(): void {
    if (this.#isClosed) return;
    const untilMs = this.#clock.monotonic() + SLICE_MS;
    this.#judgeEdge();
    this.#greet();
    // Results first, since they make room; but no worker waits for leases until all of them are in.
    let isMore = true;
    while (isMore) {
      const hasResults = this.#drain();
      const hasRoom = this.#fill();
      isMore = hasResults || hasRoom;
      if (this.#clock.monotonic() >= untilMs) break;
    }
    this.#judgePhase();
    this.#armSweep();
    if (isMore) this.wake();
    else this.#rest();
  }

  #rest(): void {
    waitFor(this.#waiting, () => this.#hasWork());
  }

  #hasWork(): boolean {
    for (let index = 0; index < CREW_SEATS; index++) {
      const seat = this.seats[index];
      if (seat === undefined) {
        const state = Atomics.load(seatWords(this.memory, index), SEAT_STATE_WORD);
        if (state !== SEAT_FREE) return true;
      } else {
        if (!laneIsEmpty(seat.inbound) && this.#blockedUntil === 0) return true;
        const state = Atomics.load(seat.words, SEAT_STATE_WORD);
        if (!seat.isOwn && state === SEAT_LEFT) return true;
        if (seat.hasTaken() || seat.canSend()) return true;
      }
    }
    return false;
  }

  /** Seats that threads have taken or left by themselves. */
  #greet(): void {
    for (let index = 0; index < CREW_SEATS; index++) {
      const words = this.seats[index]?.words ?? seatWords(this.memory, index);
      const state = Atomics.load(words, SEAT_STATE_WORD);
      // Who came and left in between has said what it had to say.
      if (state !== SEAT_FREE) this.seats[index] ??= this.#open(index, false);
      const seat = this.seats[index];
      // The pool clears the seats of its own threads, once they are gone.
      if (seat?.isOwn === false && state === SEAT_LEFT) void this.bury(seat, LEFT);
    }
  }

  #open(index: number, isOwn: boolean): Seat {
    const seat = new Seat(this.memory, index, isOwn);
    this.seats[index] = seat;
    if (this.#packed !== undefined) seat.tellEdge(this.#generation, this.#packed);
    this.wake();
    return seat;
  }

  /** Applies a round of results over all seats; true: there are more. */
  #drain(): boolean {
    if (this.#blockedUntil > this.#clock.monotonic()) return false;
    this.#blockedUntil = 0;
    let isMore = false;
    let isBlocked = false;
    let left = this.#graves.settle(ROUND_WORK);
    if (left === undefined) return this.#block();
    for (let count = 0; count < CREW_SEATS && left > 0; count++) {
      const seat = this.seats[this.#first];
      this.#first = (this.#first + 1) % CREW_SEATS;
      if (seat === undefined) continue;
      const taken = this.#results.take(seat, Math.min(left, SEAT_WORK));
      left -= taken.work;
      isMore ||= taken.isMore;
      isBlocked ||= taken.isBlocked;
    }
    if (!this.#results.flush()) isBlocked = true;
    if (left <= 0) isMore = true; // I5: others may have some
    for (const seat of this.seats) if (seat !== undefined) this.#freeRing(seat);
    return isBlocked ? this.#block() : isMore;
  }

  /** Gives the ring's room back; a worker that waits for some is told. */
  #freeRing(seat: Seat): void {
    if (laneFree(seat.inbound)) tellRoom(seat.words);
  }

  /** The disk is full: what could not be applied is held, and tried again (I3). */
  #block(): false {
    this.#blockedUntil = this.#clock.monotonic() + AGAIN_MS;
    this.#clock.schedule(this.#clock.now() + AGAIN_MS, () => this.wake());
    return false;
  }

  /** Hands out the best records, each to the least loaded worker; true: there may be more, and room for them. */
  #fill(): boolean {
    const open = this.#roomySeats();
    const room = open.reduce((all, one) => all + one.room, 0);
    const asked = Math.min(room, POLL_MAX);
    const leases = asked === 0 ? [] : this.port.pollMany(asked);
    if (leases.length > 0) this.#setPhase(PHASE_RUNNING);
    // Workers make fingerprints themselves where one policy holds for all, and always has.
    const needsPrint = this.#policySerial !== 1 || this.#policyId === "";
    for (const lease of leases) {
      const isPlain = !needsPrint && this.port.isPlain(lease);
      let best = open[0] as Room;
      for (const one of open)
        if (one.room > 0 && (best.room <= 0 || one.load < best.load)) best = one;
      best.room--;
      best.load++;
      best.seat.add(lease, { isPlain, needsPrint });
    }
    for (const seat of this.seats) seat?.flush();
    return leases.length === asked && asked > 0;
  }

  #roomySeats(): Room[] {
    const nowMs = this.#clock.monotonic();
    const open: Room[] = [];
    for (const seat of this.seats) {
      if (seat === undefined) continue;
      const room = seat.room(nowMs); // for all, so that what was begun is taken note of
      if (seat.isBlocked) continue;
      if (Atomics.load(seat.words, SEAT_COMMAND_WORD) !== COMMAND_WORK) continue;
      // A thread that is still starting has nothing to begin with.
      if (seat.words[SEAT_THREAD_WORD] === 0) continue;
      if (room > 0) open.push({ seat, room, load: seat.entries.size });
    }
    return open;
  }

  /** Tells workers whether there is anything left, and those who wait for the end. */
  #judgePhase(): void {
    const isOver = this.port.isFinished() || this.port.isClosed();
    const isQuiet =
      this.#graves.isEmpty && this.seats.every((seat) => seat === undefined || seat.isQuiet);
    if (!isOver || !isQuiet) {
      if (!isOver) this.#setPhase(PHASE_RUNNING);
      return;
    }
    this.#setPhase(PHASE_FINISHED);
    for (const resolve of this.#finishing.splice(0)) resolve();
  }

  #setPhase(phase: number): void {
    if (this.#words[CREW_PHASE_WORD] === phase) return;
    Atomics.store(this.#words, CREW_PHASE_WORD, phase);
    for (const seat of this.seats) if (seat !== undefined) unpark(seat.words, SEAT_PARK_WORD);
  }

  /** The edge follows the frontier: new rules or a new secret are a new generation, listeners that want all turn it off. */
  #judgeEdge(): void {
    const facts = this.port.edge();
    if (facts === this.#edge) {
      this.#judgePolicy();
      return;
    }
    this.#generation = (this.#generation + 1) | 1;
    Atomics.store(this.#words, CREW_EDGE_WORD, this.#generation); // odd: nobody decides
    this.#judgePolicy();
    if (this.#edge !== undefined) filterClear(this.filter);
    this.#edge = facts;
    this.#packed = facts === undefined ? undefined : packEdge(facts);
    if (this.#packed === undefined) return;
    this.#generation++;
    Atomics.store(this.#words, CREW_EDGE_WORD, this.#generation); // pairs with the load in Edge
    for (const seat of this.seats) seat?.tellEdge(this.#generation, this.#packed);
  }

  /** Another key policy, by what it makes of URLs, is another serial. */
  #judgePolicy(): void {
    const policy = this.port.keyPolicy();
    if (policy !== undefined && policy === this.#policy) return;
    this.#policy = policy;
    const id = policy === undefined ? "" : policyId(policy);
    if (id === this.#policyId) return;
    this.#policyId = id;
    this.#policySerial++;
  }

  /** While leases are out, looks now and then whether some have run out. */
  #armSweep(inMs = SWEEP_MS): void {
    const isOut = this.seats.some((seat) => seat?.isOut ?? false);
    if (!isOut || this.#cancelSweep !== undefined) return;
    this.#cancelSweep = this.#clock.schedule(this.#clock.now() + inMs, () => {
      this.#cancelSweep = undefined;
      this.#sweep();
    });
  }

  #sweep(): void {
    if (this.#isClosed) return;
    const nowMs = this.port.clock.now();
    const monotonicMs = this.#clock.monotonic();
    let left = SWEEP_CANCELS;
    for (const seat of this.seats) {
      if (seat === undefined) continue;
      for (const entry of seat.entries.values()) {
        if (entry.isCancelled || entry.lease.deadlineMs > nowMs) continue;
        if (left-- <= 0) break; // those after it in the next sweep
        seat.cancel(entry, monotonicMs);
        seat.entries.delete(entry.id);
      }
      seat.flush();
      if (seat.isOwn && seat.isStuck(monotonicMs, STUCK_MS)) this.onStuck?.(seat.index);
    }
    if (left < 0) this.#armSweep(0);
    this.#turn();
  }
}

/**
 * Room `src/workers/pool/hub`: the owner's side of all workers: who sits at which seat, leases out, results in, dead
 * threads cleaned up. Decides which worker gets a lease; results are judged by the engine's lease service.
 */

/**
 * WorkerHub: the owner's side of all workers of one frontier, on the owner's thread.
 *
 *   turn: seats that came or left ─▶ drain inbound rings ─▶ fill lanes by credit ─▶ more? ─ yes ─▶ a turn of the event loop
 *            ▲                        └───── rounds (hub-rounds.ts), for SLICE_MS ──┘    └ no ──▶ wait on the parking word
 *            └── a worker unparked · the frontier has something again · a clock ────────────────┘
 *
 *   I1  Every lease that is handed out is in the entries of one seat until its result was applied, it ran out, or its
 *       worker is gone; then it is settled at the lease service, once.
 *   I2  What a worker had published is copied out before its seat is cleared, and counts before its leases are given back.
 *   I3  Nothing is left: the frontier is finished, no entry, every ring empty; in this order, since results come first.
 *   I4  Who pushes looks at the phase after it has published; closing looks at the rings after it has said so: what was
 *       answered "queued" is seen by the one, or the pusher sees the other.
 */
import { createSystemClock } from "../../../base/clock.ts";
import {
  COMMAND_STOP,
  COMMAND_WORK,
  SHARED_PARK_WORD,
  SHARED_PHASE_WORD,
  PHASE_CLOSED,
  PHASE_FINISHED,
  PHASE_GONE,
  PHASE_RUNNING,
  SEAT_COMMAND_WORD,
  SEAT_PARK_WORD,
  SEAT_THREAD_WORD,
} from "../../../layout/threads/worker-seats.ts";
import { unpark } from "../../../memory/parking.ts";
import type { SeenFilter } from "../../../structures/threads/seen-filter.ts";
import { laneIsEmpty } from "../../../structures/threads/spsc-lane.ts";
import { type CrewHandle, createSharedMemory, sharedWords } from "../../protocol/shared-memory.ts";
import { createWaiting, endWaiting, type Waiting, waitFor } from "../../protocol/async-wait.ts";
import { LinkFactsOwner } from "./link-facts-owner.ts";
import { LEFT } from "./dead-workers.ts";
import type { OwnedLease, OwnerPort } from "./owner-port.ts";
import { Ramp } from "./ramp.ts";
import { HubRounds } from "./hub-rounds.ts";
import type { Seat } from "./worker-seat.ts";
import { SeatTable } from "./seat-table.ts";
import { LivenessSweep } from "./liveness-sweep.ts";

/** A turn ends after the round in which this is over; with a round's own time draining and filling hold the loop for ≤ 2 ms. */
const SLICE_MS = 1;
/** How long closing waits for workers that hold messages for want of room. */
const CLOSE_MS = 5_000;
/** Identities that the edge remembers: 16 MiB. */
const FILTER_ENTRIES = 1 << 20;

export class WorkerHub {
  readonly port: OwnerPort;
  readonly memory = createSharedMemory(FILTER_ENTRIES);
  /** Told when a thread of the pool must be ended from outside. */
  onStuck: ((seat: number) => void) | undefined;
  readonly #words = sharedWords(this.memory);
  readonly #waiting: Waiting;
  readonly #clock = createSystemClock();
  readonly #offChange: () => void;
  readonly #finishing: Array<() => void> = [];
  readonly #seats: SeatTable;
  readonly #edge: LinkFactsOwner;
  readonly #sweep: LivenessSweep;
  readonly #rounds: HubRounds;
  #isDue = false;
  #isClosed = false;
  /** Closed, and nothing is applied any more. */
  #isEnded = false;
  #closing: Promise<void> | undefined;
  /** While a pool starts slowly. */
  #ramp: Ramp | undefined;

  constructor(port: OwnerPort) {
    this.port = port;
    this.#edge = new LinkFactsOwner(port, this.memory);
    this.#seats = new SeatTable(this.memory, (seat) => {
      this.#edge.send(seat);
      this.wake();
    });
    const wake = (): void => this.wake();
    const onSome = (): void => this.#setPhase(PHASE_RUNNING);
    this.#rounds = new HubRounds({ port, seats: this.#seats, clock: this.#clock, wake, onSome });
    this.#sweep = new LivenessSweep({
      port,
      seats: this.#seats,
      clock: this.#clock,
      onStuck: ({ index }) => this.onStuck?.(index),
      onGone: (seat) => this.#seatLost(seat),
      onSwept: () => this.#turn(),
    });
    this.#waiting = createWaiting(this.#words, SHARED_PARK_WORD, () => this.#turn());
    this.#offChange = port.onChange(wake);
  }

  /** Begins to listen to those who sit down. */
  start(): void {
    this.#edge.refresh(this.#seats.all);
    this.wake();
  }

  /** Of what is known to workers; told by whoever admits. */
  get filter(): SeenFilter {
    return this.#edge.filter;
  }

  /** Identities may be new again: workers decide nothing until they have heard of it. */
  refresh(): void {
    if (!this.#isClosed) this.#edge.refresh(this.#seats.all);
  }

  /** What another thread needs to sit down. */
  get handle(): CrewHandle {
    const { name, kernel, maxUrlBytes } = this.port;
    if (!this.#isClosed) this.#edge.refresh(this.#seats.all);
    const edge = this.#edge.inForce;
    return { name, memory: this.memory, kernel, policy: this.port.keyPolicy(), maxUrlBytes, edge };
  }

  /** A slow start: leases out grow evenly to `most` over this time; undefined: as many as there is room for. */
  startSlowly(overMs: number | undefined, most: number): void {
    this.#ramp?.stop();
    const { clock } = this.port;
    const wake = (): void => this.wake();
    this.#ramp = overMs === undefined ? undefined : new Ramp({ clock, overMs, most, wake });
  }

  /** How far a slow start under way shall go. */
  raiseSlowStart(most: number): void {
    this.#ramp?.setMost(most);
  }

  /** A seat for a thread that the pool starts. */
  reserve(): Seat {
    return this.#seats.reserve();
  }

  /** Asks a worker to end what it has begun and leave. */
  stop(seat: Seat): void {
    Atomics.store(seat.words, SEAT_COMMAND_WORD, COMMAND_STOP);
    unpark(seat.words, SEAT_PARK_WORD);
  }

  /** Takes that back: a worker that has not heard of it stays. */
  cancelStop(seat: Seat): void {
    Atomics.store(seat.words, SEAT_COMMAND_WORD, COMMAND_WORK);
    this.wake();
  }

  /** Takes all its leases from a worker, whose handlers go on in vain. */
  cancelAll(seat: Seat): void {
    for (const entry of seat.entries.inOrder()) {
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
  workerDied(seat: Seat, reason: string): Promise<void> {
    if (this.#seats.at(seat.index) !== seat) return Promise.resolve();
    const settled = this.#isEnded ? Promise.resolve() : this.#rounds.deadWorkers.add(seat, reason);
    this.#seats.clear(seat);
    this.wake();
    return settled;
  }

  /** Leases that no worker has begun: at their deadlines they go back, and no attempt is gone. */
  unbegun(): Iterable<OwnedLease> {
    return this.#rounds.unbegun();
  }

  /** Resolves when nothing is left: finished, or closed, and every ring empty (I3). */
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
    this.startSlowly(undefined, 0);
    this.#sweep.end();
    this.#edge.end();
    this.#setPhase(PHASE_CLOSED); // I4, before the last look at the rings
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
    this.#setPhase(PHASE_GONE);
    for (const resolve of this.#finishing.splice(0)) resolve();
    this.#rounds.deadWorkers.close();
  }

  /** Applies all that was published; true: a worker holds more. */
  #drainLast(): boolean {
    this.#openArrivals(); // who came, pushed and left in between has said what it had to say
    return this.#rounds.finish();
  }

  #turn(): void {
    if (this.#isClosed) return;
    const untilMs = this.#clock.monotonic() + SLICE_MS;
    this.#edge.refresh(this.#seats.all);
    this.#openArrivals();
    // Results first, since they make room; but no worker waits for leases until all of them are in.
    let isMore = true;
    while (isMore) {
      const hasResults = this.#rounds.drain();
      const hasRoom = this.#fill();
      isMore = hasResults || hasRoom;
      if (this.#clock.monotonic() >= untilMs) break;
    }
    this.#updatePhase();
    this.#sweep.arm();
    if (isMore) this.wake();
    else this.#rest();
  }

  #rest(): void {
    waitFor(this.#waiting, () => this.#hasWork());
  }

  #hasWork(): boolean {
    if (this.#seats.hasNews()) return true;
    for (const seat of this.#seats.all) {
      if (!laneIsEmpty(seat.inbound) && !this.#rounds.isBlocked) return true;
      if (seat.hasTaken() || seat.canSend()) return true;
    }
    return false;
  }

  /** A thread of one's own has died. */
  #seatLost(seat: Seat): void {
    const thread = (seat.words[SEAT_THREAD_WORD] as number) - 1;
    const cause = new Error(`thread ${thread}: gone (expected: its port to be closed)`);
    this.port.fault({ kind: "handler", stage: "worker", cause });
    void this.workerDied(seat, "died");
  }

  /** Threads that have come or gone by themselves. */
  #openArrivals(): void {
    for (const seat of this.#seats.openArrivals(this.#clock.monotonic()))
      void this.workerDied(seat, LEFT);
  }

  /** Hands out the best records; true: there may be more, and room for them. */
  #fill(): boolean {
    return this.#rounds.fill({
      needsPrint: this.#edge.needsPrint,
      most: this.#ramp?.left(this.#seats.all) ?? Number.POSITIVE_INFINITY,
    });
  }

  /** Tells workers whether there is anything left, and those who wait for the end. */
  #updatePhase(): void {
    const isOver = this.port.isFinished() || this.port.isClosed();
    const isQuiet =
      this.#rounds.deadWorkers.isEmpty && this.#seats.all.every((seat) => seat.isQuiet);
    if (!isOver || !isQuiet) {
      if (!isOver) this.#setPhase(PHASE_RUNNING);
      return;
    }
    this.#setPhase(PHASE_FINISHED);
    for (const resolve of this.#finishing.splice(0)) resolve();
  }

  #setPhase(phase: number): void {
    if (this.#words[SHARED_PHASE_WORD] === phase) return;
    Atomics.store(this.#words, SHARED_PHASE_WORD, phase);
    for (const { words } of this.#seats.all) unpark(words, SEAT_PARK_WORD);
  }
}

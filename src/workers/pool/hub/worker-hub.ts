/**
 * Room `src/workers/pool/hub`: the owner's side of all workers: which thread has which seat, leases out, results in, dead
 * threads cleaned up. Decides which worker gets a lease; the engine's lease service decides about results.
 */

/**
 * WorkerHub: the owner's side of all workers of one frontier, on the owner's thread.
 *
 *   turn: seats that came or left ─▶ drain inbound rings ─▶ fill lanes by credit ─▶ more? ─ yes ─▶ a turn of the event loop
 *            ▲                        └───── rounds (hub-rounds.ts), for SLICE_MS ──┘    └ no ──▶ wait on the parking word
 *            └── a worker unparked · the frontier has something again · a clock ────────────────┘
 *
 *   I1  Every lease that is handed out is in the entries of one seat until its result was applied, it expired, or its
 *       worker has ended; then it is settled at the lease service, once.
 *   I2  A worker's published messages are copied out before its seat is cleared, and are applied before its leases return.
 *   I3  Nothing is left when the frontier is finished, there is no entry, and every ring is empty; checked in this order, since
 *       results come first.
 *   I4  A push reads the phase after it has published; closing reads the rings after it has published the phase. So either
 *       closing sees the push, or the push sees the phase: no message that was answered "queued" is lost.
 */
import { createSystemClock } from "../../../base/clock.ts";
import {
  COMMAND_STOP,
  COMMAND_WORK,
  SHARED_MAGIC,
  SHARED_MAGIC_WORD,
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

/** A turn ends after the round in which this time is over; with a round's own time, draining and filling hold the loop for ≤ 2 ms. */
const SLICE_MS = 1;
/** How long closing waits for workers that hold messages because their ring is full. */
const CLOSE_MS = 5_000;
/** Identities that the workers' filter remembers: 16 MiB. */
const FILTER_ENTRIES = 1 << 20;

export class WorkerHub {
  readonly port: OwnerPort;
  readonly memory = createSharedMemory(FILTER_ENTRIES);
  /** Called when a thread of the pool must be ended from outside. */
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
  /** Seats whose workers are being removed for a fault. */
  readonly #removed = new WeakSet<Seat>();
  #isDue = false;
  #isClosed = false;
  /** Closed, and no result is applied any more. */
  #isEnded = false;
  #closing: Promise<void> | undefined;
  /** Set while a pool starts slowly. */
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
    const onFault = (seat: Seat): void => this.#removeFaulty(seat);
    const parts = { port, seats: this.#seats, clock: this.#clock, wake, onSome, onFault };
    this.#rounds = new HubRounds(parts);
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

  /** Begins to accept threads that take a seat. */
  start(): void {
    this.#edge.refresh(this.#seats.all);
    this.wake();
  }

  /** The filter of known identities; admission adds to it. */
  get filter(): SeenFilter {
    return this.#edge.filter;
  }

  /** Identities may be new again: workers decide nothing until they have read the new facts. */
  refresh(): void {
    if (!this.#isClosed) this.#edge.refresh(this.#seats.all);
  }

  /** The handle with which another thread takes a seat. */
  get handle(): CrewHandle {
    const { name, kernel, maxUrlBytes } = this.port;
    if (!this.#isClosed) this.#edge.refresh(this.#seats.all);
    const edge = this.#edge.inForce;
    return { name, memory: this.memory, kernel, policy: this.port.keyPolicy(), maxUrlBytes, edge };
  }

  /** Begins a slow start: leases out grow evenly to `most` over this time; undefined: as many as there is room for. */
  startSlowly(overMs: number | undefined, most: number): void {
    this.#ramp?.stop();
    const { clock } = this.port;
    const wake = (): void => this.wake();
    this.#ramp = overMs === undefined ? undefined : new Ramp({ clock, overMs, most, wake });
  }

  /** Changes the limit in which a slow start in progress ends. */
  raiseSlowStart(most: number): void {
    this.#ramp?.setMost(most);
  }

  /** Takes a seat for a thread that the pool starts. */
  reserve(): Seat {
    return this.#seats.reserve();
  }

  /** Asks a worker to finish its visits and leave. */
  stop(seat: Seat): void {
    Atomics.store(seat.words, SEAT_COMMAND_WORD, COMMAND_STOP);
    unpark(seat.words, SEAT_PARK_WORD);
  }

  /** Withdraws that: a worker that has not read it stays. */
  cancelStop(seat: Seat): void {
    Atomics.store(seat.words, SEAT_COMMAND_WORD, COMMAND_WORK);
    this.wake();
  }

  /** Takes all leases from a worker. The results of its running handlers are ignored. */
  cancelAll(seat: Seat): void {
    for (const entry of seat.entries.inOrder()) {
      seat.cancel(entry, this.#clock.monotonic());
      seat.entries.delete(entry.id);
      entry.lease.release();
    }
    seat.flush();
  }

  /**
   * Cleans up after a worker that has ended: its published results count, and its leases that had begun lose an attempt. Resolves when
   * that is done, or cannot be for want of disk.
   */
  workerDied(seat: Seat, reason: string): Promise<void> {
    if (this.#seats.at(seat.index) !== seat) return Promise.resolve();
    const settled = this.#isEnded ? Promise.resolve() : this.#rounds.deadWorkers.add(seat, reason);
    this.#seats.clear(seat);
    this.wake();
    return settled;
  }

  /** Leases that no worker has begun: at their deadlines they return, and no attempt is counted. */
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

  /** Asks for a turn soon, because something changed. */
  wake(): void {
    if (this.#isDue) return;
    this.#isDue = true;
    setImmediate(() => {
      this.#isDue = false;
      this.#turn();
    });
  }

  /**
   * The frontier is closing: workers are notified and published results count; the frontier takes back the leases that are out. Returns a
   * promise when a worker still holds messages because its ring is full.
   */
  close(): Promise<void> | undefined {
    if (this.#isClosed) return this.#closing;
    this.#isClosed = true;
    this.#offChange();
    this.startSlowly(undefined, 0);
    this.#sweep.end();
    this.#edge.end();
    this.#setPhase(PHASE_CLOSED); // I4, before the rings are read for the last time
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

  /** Applies everything published. Returns true when a worker holds more. */
  #drainLast(): boolean {
    this.#openArrivals(); // a thread that came, pushed and left in between may have sent something
    return this.#rounds.finish();
  }

  #turn(): void {
    if (this.#isClosed) return;
    const untilMs = this.#clock.monotonic() + SLICE_MS;
    this.#edge.refresh(this.#seats.all);
    this.#openArrivals();
    // Results first, since they free room; but no worker waits for leases until all results are applied.
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
      if (seat.fault !== undefined) continue;
      if (!laneIsEmpty(seat.inbound) && !this.#rounds.isBlocked) return true;
      if (seat.hasTaken() || seat.canSend()) return true;
    }
    return false;
  }

  /**
   * A worker has written what cannot be. A thread of the pool is ended, and replaced, by the pool. One of the user's loses its leases and
   * is asked to leave; its seat stays empty until it has.
   */
  #removeFaulty(seat: Seat): void {
    if (this.#removed.has(seat)) return;
    this.#removed.add(seat);
    Atomics.store(this.#words, SHARED_MAGIC_WORD, SHARED_MAGIC); // who comes next checks it
    this.port.fault({ kind: "handler", stage: "worker", cause: seat.fault });
    if (seat.isOwn) this.onStuck?.(seat.index);
    else {
      this.stop(seat);
      void this.#rounds.deadWorkers.add(seat, "faulty");
    }
  }

  /** A thread of the user has died. */
  #seatLost(seat: Seat): void {
    const thread = (seat.words[SEAT_THREAD_WORD] as number) - 1;
    const cause = new Error(`thread ${thread}: gone (expected: its port to be closed)`);
    this.port.fault({ kind: "handler", stage: "worker", cause });
    void this.workerDied(seat, "died");
  }

  /** Follows the threads that have come or left by themselves. */
  #openArrivals(): void {
    for (const seat of this.#seats.openArrivals(this.#clock.monotonic()))
      void this.workerDied(seat, LEFT);
  }

  /** Hands out the best records. Returns true when there may be more, with room for them. */
  #fill(): boolean {
    return this.#rounds.fill({
      needsPrint: this.#edge.needsPrint,
      most: this.#ramp?.left(this.#seats.all) ?? Number.POSITIVE_INFINITY,
    });
  }

  /** Reports to the workers, and to callers of `finished`, whether anything is left. */
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

/**
 * LivenessSweep: checks from time to time which leases have expired, takes them back, and detects the threads that do not look up
 * any more or are gone. What is judged is the frontier's clock; how often, the machine's, by what has passed and not by what it is
 * set to.
 *
 *   leases are out                        every SWEEP_MS
 *   else, threads of one's own sit here   every IDLE_MS; the process does not live on for it
 *   or are about to
 *   else                                  not at all
 */
import { after, type Clock } from "../../../base/clock.ts";
import type { OwnerPort } from "./owner-port.ts";
import type { Seat } from "./worker-seat.ts";
import type { SeatTable } from "./seat-table.ts";

const SWEEP_MS = 250;
const IDLE_MS = 1_000;
/** Leases that one sweep takes from workers. */
const SWEEP_CANCELS = 512;
/** A cancelled lease whose worker has not looked up after this: its thread hangs. */
const STUCK_MS = 2_000;
/** And has not in so many sweeps: where the process or the owner itself had stood still, the worker is given time anew. */
const STUCK_SWEEPS = 6;

interface LivenessSweepParts {
  readonly port: OwnerPort;
  readonly seats: SeatTable;
  /** The machine's. */
  readonly clock: Clock;
  /** A thread of the pool hangs. */
  readonly onStuck: (seat: Seat) => void;
  /** A thread of one's own is gone. */
  readonly onGone: (seat: Seat) => void;
  /** After each sweep. */
  readonly onSwept: () => void;
}

export class LivenessSweep {
  readonly #parts: LivenessSweepParts;
  #cancel: (() => void) | undefined;
  /** The one to come is an idle one. */
  #isIdle = false;

  constructor(parts: LivenessSweepParts) {
    this.#parts = parts;
  }

  /** Sees to it that there is a sweep to come, as often as there is reason to. */
  arm(inMs = SWEEP_MS): void {
    const { all, isAwaiting } = this.#parts.seats;
    const isIdle = !all.some(({ isOut }) => isOut);
    if (this.#cancel !== undefined && (isIdle || !this.#isIdle)) return;
    if (isIdle && !isAwaiting && all.every(({ isOwn }) => isOwn)) return;
    this.#cancel?.();
    this.#isIdle = isIdle;
    this.#cancel = after(
      isIdle ? IDLE_MS : inMs,
      () => {
        this.#cancel = undefined;
        this.#run();
      },
      !isIdle,
    );
  }

  end(): void {
    this.#cancel?.();
  }

  #run(): void {
    const { clock, port, seats, onStuck, onGone, onSwept } = this.#parts;
    const nowMs = port.clock.now();
    const monotonicMs = clock.monotonic();
    let left = SWEEP_CANCELS;
    for (const seat of seats.all) {
      for (const entry of seat.entries.values()) {
        if (entry.isCancelled || entry.lease.deadlineMs > nowMs) continue;
        if (left-- <= 0) break; // those after it in the next sweep
        seat.cancel(entry, monotonicMs);
        seat.entries.delete(entry.id);
      }
      seat.flush();
      const isStuck = seat.isStuck(monotonicMs, { graceMs: STUCK_MS, looks: STUCK_SWEEPS });
      if (seat.isOwn && isStuck) onStuck(seat);
      if (!seat.isOwn && seat.isGone(monotonicMs)) onGone(seat);
    }
    if (left < 0) this.arm(0);
    onSwept();
  }
}

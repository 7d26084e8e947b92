/**
 * LivenessSweep: checks periodically which leases have expired, takes them back, and detects threads that hang or have ended. The
 * frontier's clock decides about leases; the interval is measured by the machine's monotonic clock.
 *
 *   leases are out                        every SWEEP_MS
 *   else, threads of the user sit here    every IDLE_MS; this timer does not keep the process alive
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
/** A thread hangs when its worker has not read its lanes for this long after a cancelled lease. */
const STUCK_MS = 2_000;
/** And not in this many sweeps: where the process or the owner itself stood still, the worker gets new time. */
const STUCK_SWEEPS = 6;

interface LivenessSweepParts {
  readonly port: OwnerPort;
  readonly seats: SeatTable;
  /** The machine's clock. */
  readonly clock: Clock;
  /** Called when a thread of the pool hangs. */
  readonly onStuck: (seat: Seat) => void;
  /** Called when a thread of the user has ended. */
  readonly onGone: (seat: Seat) => void;
  /** Called after each sweep. */
  readonly onSwept: () => void;
}

export class LivenessSweep {
  readonly #parts: LivenessSweepParts;
  #cancel: (() => void) | undefined;
  /** True when the next sweep is an idle one. */
  #isIdle = false;

  constructor(parts: LivenessSweepParts) {
    this.#parts = parts;
  }

  /** Schedules the next sweep, at the interval that the seats require. */
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
        if (left-- <= 0) break; // the others in the next sweep
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

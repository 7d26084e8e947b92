/**
 * Sweep: while leases are out, looks now and then which have run out, takes those from their workers, and finds the workers that
 * do not look up any more. What is judged is the frontier's clock; how often, the machine's.
 */
import type { Clock } from "../../base/clock.ts";
import type { OwnerPort } from "./port.ts";
import type { Seat } from "./seat.ts";
import type { Seats } from "./seats.ts";

/** How often leases out are looked at for having run out. */
const SWEEP_MS = 250;
/** Leases that one sweep takes from workers. */
const SWEEP_CANCELS = 512;
/** A cancelled lease whose worker has not looked up after this: its thread hangs. */
const STUCK_MS = 2_000;

export interface Sweeping {
  readonly port: OwnerPort;
  readonly seats: Seats;
  /** The machine's. */
  readonly clock: Clock;
  /** A thread of the pool hangs. */
  readonly onStuck: (seat: Seat) => void;
  /** After each sweep. */
  readonly onSwept: () => void;
}

export class Sweep {
  readonly #parts: Sweeping;
  #cancel: (() => void) | undefined;

  constructor(parts: Sweeping) {
    this.#parts = parts;
  }

  /** Sees to it that there is a sweep to come while leases are out. */
  arm(inMs = SWEEP_MS): void {
    const { clock, seats } = this.#parts;
    if (this.#cancel !== undefined || !seats.all.some(({ isOut }) => isOut)) return;
    this.#cancel = clock.schedule(clock.now() + inMs, () => {
      this.#cancel = undefined;
      this.#run();
    });
  }

  end(): void {
    this.#cancel?.();
  }

  #run(): void {
    const { clock, port, seats, onStuck, onSwept } = this.#parts;
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
      if (seat.isOwn && seat.isStuck(monotonicMs, STUCK_MS)) onStuck(seat);
    }
    if (left < 0) this.arm(0);
    onSwept();
  }
}

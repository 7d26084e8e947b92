/**
 * Ramp: how many leases may be out while a pool starts slowly. Evenly from one to all of them over `overMs`, by the
 * frontier's clock; what is out and not yet begun counts too, so that never more visits are under way.
 *
 *   most ┤            ┌────      I1  What is allowed never falls while `most` stays.
 *        │       ┌────┘          I2  At least one is allowed: a slow start is no standstill.
 *      1 ┼───────┘               I3  One timer at most, and none once it is over.
 *        └───────┴────┴────▶ overMs
 */
import type { Clock } from "../../../base/clock.ts";
import type { Seat } from "./worker-seat.ts";

interface RampOptions {
  readonly clock: Clock;
  readonly overMs: number;
  /** How many it shall be in the end. */
  readonly most: number;
  /** Called when more are allowed than were when somebody asked. */
  readonly wake: () => void;
}

export class Ramp {
  #most: number;
  readonly #options: RampOptions;
  readonly #startedAt: number;
  #cancel: (() => void) | undefined;

  constructor(options: RampOptions) {
    this.#options = options;
    this.#most = options.most;
    this.#startedAt = options.clock.monotonic();
  }

  /** How many more leases may go to these seats now. */
  left(seats: readonly Seat[]): number {
    const { clock, overMs, wake } = this.#options;
    const share = (clock.monotonic() - this.#startedAt) / overMs;
    if (share >= 1) return Number.POSITIVE_INFINITY;
    const step = Math.floor(share * this.#most);
    const nextMs = (Math.max(2, step + 1) / this.#most - share) * overMs;
    this.#cancel ??= clock.schedule(clock.now() + Math.max(1, Math.min(overMs, nextMs)), () => {
      this.#cancel = undefined;
      wake();
    });
    const out = seats.reduce((all, { entries }) => all + entries.size, 0);
    return Math.max(0, Math.max(1, step) - out);
  }

  /** Goes on to another number. */
  setMost(most: number): void {
    this.#most = most;
    this.stop();
    this.#options.wake();
  }

  stop(): void {
    this.#cancel?.();
    this.#cancel = undefined;
  }
}

/**
 * Ramp: how many leases may be out while a pool starts slowly. Grows evenly from one to all of them over `overMs`, by the
 * frontier's clock. Leases that are out and not begun count too, so that visits in progress never exceed the limit.
 *
 *   most ┤            ┌────      I1  The limit never falls while `most` stays.
 *        │       ┌────┘          I2  The limit is at least one: a slow start is no standstill.
 *      1 ┼───────┘               I3  There is one timer at most, and none once the ramp is over.
 *        └───────┴────┴────▶ overMs
 */
import type { Clock } from "../../../base/clock.ts";
import type { Seat } from "./worker-seat.ts";

interface RampOptions {
  readonly clock: Clock;
  readonly overMs: number;
  /** The limit in the end. */
  readonly most: number;
  /** Called when the limit has risen since the last call of `left`. */
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

  /** Changes the limit in the end. */
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

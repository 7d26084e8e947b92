/**
 * A slow start: the number of visits at one time grows evenly from one to all of them over a time, by the crawl's clock. On worker
 * threads their pool does the same.
 *
 *   all ┤            ┌────      I1  The number allowed never falls, and is at least one.
 *       │       ┌────┘          I2  One timer at most, and none once it is over or stopped.
 *     1 ┼───────┘
 *       └───────┴────┴────▶ overMs
 */
import type { Clock } from "../../base/clock.ts";

interface SlowStartOptions {
  readonly clock: Clock;
  /** undefined: all at once. */
  readonly overMs: number | undefined;
  readonly most: number;
  /** Called each time when one more is allowed. */
  readonly onStep: () => void;
}

export function startSlowly({ clock, overMs = 0, most, onStep }: SlowStartOptions) {
  const startMs = clock.monotonic();
  let cancel = (): void => {};
  const allowed = (): number => {
    const share = overMs <= 0 ? 1 : (clock.monotonic() - startMs) / overMs;
    return share >= 1 ? most : Math.max(1, Math.floor(share * most));
  };
  const step = (): void => {
    const now = allowed();
    if (now >= most) return;
    const nextMs = startMs + ((now + 1) / most) * overMs - clock.monotonic();
    cancel = clock.schedule(clock.now() + Math.max(1, nextMs), () => {
      step();
      onStep();
    });
  };
  step();
  return {
    /** How many visits may run now. */
    allowed,
    stop: (): void => cancel(),
  };
}

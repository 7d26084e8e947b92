/** An open frontier on a virtual clock for unit tests, checked to the last structure by `check`. */
import { type Clock, createVirtualClock } from "../../src/base/clock.ts";
import { MemoryFrontier } from "../../src/engine/frontier.ts";
import { normalizeOptions, type Settings } from "../../src/engine/options.ts";
import type { FrontierOptions } from "../../src/engine/types.ts";
import { verifyFrontier } from "../../src/engine/verify.ts";

export interface Bench {
  readonly frontier: MemoryFrontier;
  readonly clock: SpyClock;
  /** Checks every invariant of the frontier, if it is still open. */
  check(): void;
}

/** A virtual clock that counts the waits now armed. */
export interface SpyClock extends Clock {
  advance(ms: number): void;
  readonly armed: number;
}

export function createSpyClock(startMs = 1_000_000): SpyClock {
  const clock = createVirtualClock(startMs);
  let armed = 0;
  return {
    ...clock,
    get armed() {
      return armed;
    },
    schedule(atMs, fn) {
      armed++;
      let isOver = false;
      const end = (): void => {
        if (!isOver) armed--;
        isOver = true;
      };
      const cancel = clock.schedule(atMs, () => {
        end();
        fn();
      });
      return () => {
        end();
        cancel();
      };
    },
  };
}

/** Opens a frontier; `inner` are settings that no user has. */
export function openBench(options: FrontierOptions = {}, inner: Partial<Settings> = {}): Bench {
  const clock = createSpyClock();
  const settings = { ...normalizeOptions({ clock, seed: 1, ...options }), ...inner };
  const frontier = new MemoryFrontier(settings);
  return {
    frontier,
    clock,
    check: () => {
      if (frontier.status !== "stopped") verifyFrontier(frontier);
    },
  };
}

/** Lets everything that is resolved run. */
export async function settled(): Promise<void> {
  for (let turn = 0; turn < 4; turn++) await new Promise((resolve) => setImmediate(resolve));
}

/** What a call throws, or undefined. */
export function thrownBy(call: () => unknown): unknown {
  try {
    call();
  } catch (error) {
    return error;
  }
  return undefined;
}

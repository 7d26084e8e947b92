/** An open frontier on a virtual clock for unit tests; `check` verifies all of its structures. */
import { type Clock, createVirtualClock } from "../../src/base/clock.ts";
import { LocalFrontier } from "../../src/engine/api/local-frontier.ts";
import { normalizeOptions, type Settings } from "../../src/engine/options/normalize-options.ts";
import type { FrontierOptions } from "../../src/engine/types/frontier-types.ts";
import { verifyFrontier } from "../../src/engine/api/verify-frontier.ts";

export interface Bench {
  readonly frontier: LocalFrontier;
  readonly clock: SpyClock;
  /** Checks every invariant of the frontier, if it is still open. */
  check(): void;
}

/** A virtual clock that counts the armed waits. */
export interface SpyClock extends Clock {
  advance(ms: number): void;
  readonly armed: number;
  /** Fires only the first wait that is due, where `advance` fires all, and those that follow; returns false when none is due. */
  turn(): boolean;
}

export function createSpyClock(startMs = 1_000_000): SpyClock {
  const clock = createVirtualClock(startMs);
  const waits = new Set<{ atMs: number; fire(): void; disarm(): void }>();
  return {
    ...clock,
    get armed() {
      return waits.size;
    },
    schedule(atMs, fn) {
      const fire = (): void => {
        waits.delete(wait);
        fn();
      };
      const wait = { atMs, fire, disarm: clock.schedule(atMs, fire) };
      waits.add(wait);
      return () => {
        wait.disarm();
        waits.delete(wait);
      };
    },
    turn() {
      const due = [...waits].filter(({ atMs }) => atMs <= clock.now());
      const next = due.sort((a, b) => a.atMs - b.atMs)[0]; // stable: then the order of arming
      next?.disarm();
      next?.fire();
      return next !== undefined;
    },
  };
}

/** Opens a frontier; `inner` are settings that users do not have. */
export function openBench(options: FrontierOptions = {}, inner: Partial<Settings> = {}): Bench {
  const clock = createSpyClock();
  const settings = { ...normalizeOptions({ clock, seed: 1, ...options }), ...inner };
  const frontier = new LocalFrontier(settings);
  return {
    frontier,
    clock,
    check: () => {
      if (frontier.status !== "stopped") verifyFrontier(frontier);
    },
  };
}

/** Lets every resolved promise run its callbacks. */
export async function settled(): Promise<void> {
  for (let turn = 0; turn < 4; turn++) await new Promise((resolve) => setImmediate(resolve));
}

/** The error that a call throws, or undefined. */
export function thrownBy(call: () => unknown): unknown {
  try {
    call();
  } catch (error) {
    return error;
  }
  return undefined;
}

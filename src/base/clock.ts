/**
 * Clock: the only source of time. Whatever asks for the time takes one of these, so that whole
 * crawls of days run in milliseconds in tests.
 */
import { misuse } from "./errors.ts";

/** The source of time. Pass one of your own to test a crawl of days in milliseconds (`createVirtualClock`). */
export interface Clock {
  /** Milliseconds since 1970; may jump. */
  now(): number;
  /** Milliseconds from an arbitrary start; never goes back. */
  monotonic(): number;
  /** Runs `fn` once `now()` has reached `atMs`; returns its cancellation. */
  schedule(atMs: number, fn: () => void): () => void;
  /**
   * Runs `fn` once so many milliseconds have passed, even if `now()` is set back or forward meanwhile. A clock
   * without it schedules from `now()` on.
   */
  after?(ms: number, fn: () => void): () => void;
}

/** Runs `fn` so many milliseconds from now: what is promised within a time is not held up by a clock that is set back. */
export function scheduleAfter(clock: Clock, ms: number, fn: () => void): () => void {
  return clock.after?.(ms, fn) ?? clock.schedule(clock.now() + ms, fn);
}

/** Longest setTimeout that Node keeps (2³¹ − 1 ms); longer waits are taken in steps. */
const TIMEOUT_MS_MAX = 2_147_483_647;

/**
 * Returns the machine's clock, the default. A scheduled wait keeps the process alive.
 *
 * @example
 * const clock = createSystemClock();
 * await openFrontier({ clock: { ...clock, now: () => clock.now() + 86_400_000 } }); // a day ahead
 */
export function createSystemClock(): Clock {
  return {
    now: () => Date.now(),
    monotonic: () => performance.now(),
    after: (ms, fn) => after(ms, fn),
    schedule(atMs, fn) {
      let handle: NodeJS.Timeout;
      const arm = (): void => {
        const waitMs = Math.min(Math.max(atMs - Date.now(), 0), TIMEOUT_MS_MAX);
        handle = setTimeout(() => (Date.now() >= atMs ? fn() : arm()), Math.ceil(waitMs));
      };
      arm();
      return () => clearTimeout(handle);
    },
  };
}

/**
 * Runs `fn` once so many milliseconds have passed, whatever the machine's clock is set to meanwhile; returns its cancellation.
 * Where it does not keep the process alive, it may never run.
 */
export function after(ms: number, fn: () => void, keepsAlive = true): () => void {
  let leftMs = ms;
  let handle: NodeJS.Timeout;
  const arm = (): void => {
    const stepMs = Math.min(leftMs, TIMEOUT_MS_MAX);
    leftMs -= stepMs;
    handle = setTimeout(() => (leftMs > 0 ? arm() : fn()), Math.ceil(stepMs));
    if (!keepsAlive) handle.unref();
  };
  arm();
  return () => clearTimeout(handle);
}

/**
 * Returns a clock that moves only by `advance`; what was scheduled runs in order of time, then of scheduling. Throws
 * `ARGUMENT_INVALID` for a start that is no finite number.
 *
 * @example
 * const clock = createVirtualClock();
 * const frontier = await openFrontier({ clock, defaults: { politeness: { delayMs: 1_000 } } });
 * clock.advance(1_000); // the host may be visited again
 */
export function createVirtualClock(startMs = 0): Clock & { advance(ms: number): void } {
  if (!Number.isFinite(startMs))
    throw misuse("ARGUMENT_INVALID", "startMs", startMs, "a finite number");
  let nowMs = startMs;
  let serial = 0;
  const waits: Array<{ atMs: number; serial: number; fn: () => void }> = [];
  const before = (
    a: { atMs: number; serial: number },
    b: { atMs: number; serial: number },
  ): number => a.atMs - b.atMs || a.serial - b.serial;
  return {
    now: () => nowMs,
    monotonic: () => nowMs - startMs,
    schedule(atMs, fn) {
      const wait = { atMs, serial: serial++, fn };
      waits.push(wait);
      waits.sort(before);
      return () => {
        const at = waits.indexOf(wait);
        if (at >= 0) waits.splice(at, 1);
      };
    },
    advance(ms) {
      if (!(ms >= 0)) throw misuse("ARGUMENT_INVALID", "ms", ms, "a number of at least 0");
      const endMs = nowMs + ms;
      for (let next = waits[0]; next !== undefined && next.atMs <= endMs; next = waits[0]) {
        waits.shift();
        nowMs = Math.max(nowMs, next.atMs);
        next.fn();
      }
      nowMs = endMs;
    },
  };
}

/** Keeps the process alive until it is called off; costs nothing meanwhile. */
export function stayAlive(): () => void {
  const handle = setInterval(() => undefined, TIMEOUT_MS_MAX);
  return () => clearInterval(handle);
}

/** A time as people read it, in UTC; also for what no Date can hold. */
export function timeText(atMs: number): string {
  const date = new Date(atMs);
  return Number.isNaN(date.getTime()) ? `${atMs} ms` : date.toISOString();
}

/** A date as HTTP or RFC 3339 write it, in milliseconds since 1970; NaN for anything else. */
export function dateMs(text: string): number {
  return Date.parse(text);
}

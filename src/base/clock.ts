/**
 * Clock: the only source of time. Code that needs the time takes a clock as an argument, so that tests run crawls of days in milliseconds.
 */
import { misuse } from "./errors.ts";

/** The source of time. Pass your own to test a crawl of days in milliseconds (`createVirtualClock`). */
export interface Clock {
  /** Milliseconds since 1970; may jump. */
  now(): number;
  /** Milliseconds from an arbitrary start; never goes back. */
  monotonic(): number;
  /** Runs `fn` once `now()` has reached `atMs`; returns its cancellation. */
  schedule(atMs: number, fn: () => void): () => void;
  /**
   * Runs `fn` once `ms` milliseconds have passed, even if `now()` is set back or forward meanwhile. Without this method a wait is scheduled
   * at `now() + ms`.
   */
  after?(ms: number, fn: () => void): () => void;
}

/** Runs `fn` in `ms` milliseconds. Setting the clock back does not prolong the wait, if the clock has `after`. */
export function scheduleAfter(clock: Clock, ms: number, fn: () => void): () => void {
  return clock.after?.(ms, fn) ?? clock.schedule(clock.now() + ms, fn);
}

/** A time in milliseconds since 1970 as a date. */
export function dateOf(ms: number): Date {
  return new Date(ms);
}

/** Longest wait of Node's setTimeout (2³¹ − 1 ms); longer waits are split. */
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
 * Runs `fn` once `ms` milliseconds have passed, even if the machine's clock is set meanwhile. Returns its cancellation. Without
 * `keepsAlive` the process may end before `fn` runs.
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
 * Returns a clock that moves only by `advance`. Scheduled functions run in the order of their times, equal times in the order of
 * scheduling. Throws `ARGUMENT_INVALID` if `startMs` is not a finite number.
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

/** Keeps the process alive until the returned function is called. */
export function stayAlive(): () => void {
  const handle = setInterval(() => undefined, TIMEOUT_MS_MAX);
  return () => clearInterval(handle);
}

/** The time in UTC as ISO 8601, or in milliseconds if no Date can hold it. */
export function timeText(atMs: number): string {
  const date = new Date(atMs);
  return Number.isNaN(date.getTime()) ? `${atMs} ms` : date.toISOString();
}

/** The time of a date in HTTP's or RFC 3339's form, in milliseconds since 1970; NaN for any other text. */
export function dateMs(text: string): number {
  return Date.parse(text);
}

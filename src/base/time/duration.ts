/**
 * Duration: reads a length of time, as people and servers write it, as milliseconds.
 *
 *   86400000      milliseconds, a finite number of at least 0
 *   '15m' '1d'    a number and a unit: ms s m h d w (a day has 24 hours, a week 7 days)
 *   '1d 12h'      several of them, added up
 */

import { dateMs } from "../clock.ts";

/** What a message about a duration expects. */
export const DURATION_EXPECTED = "milliseconds, or a string such as '15m', '1d' or '1d 12h'";

const UNITS: Readonly<Record<string, number>> = Object.freeze({
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
});

/** Longer texts are refused, so that hostile ones never reach the patterns. */
const TEXT_LENGTH_MAX = 64;
const WHOLE = /^(\s*\d+(\.\d+)?\s*(ms|s|m|h|d|w))+\s*$/;
const PART = /(\d+(?:\.\d+)?)\s*(ms|s|m|h|d|w)/g;

/** The milliseconds of a duration; undefined if it is not one. */
export function durationMs(value: unknown): number | undefined {
  if (typeof value === "number") return Number.isFinite(value) && value >= 0 ? value : undefined;
  if (typeof value !== "string" || value.length > TEXT_LENGTH_MAX) return undefined;
  if (!WHOLE.test(value)) return undefined;
  let sum = 0;
  for (const [, amount, unit] of value.matchAll(PART)) {
    sum += Number(amount) * (UNITS[unit as string] as number);
  }
  return Number.isFinite(sum) ? sum : undefined;
}

/** Statuses after which a request is worth another attempt: timeouts, too early, too many requests, faults of the server. */
export const RETRY_STATUSES: readonly number[] = [408, 425, 429, 500, 502, 503, 504];

/**
 * The wait that `Retry-After` asks for (RFC 9110, 10.2.3), given in seconds or as a date. A date is compared with the server's own `Date`,
 * or with our clock if the response has none.
 */
export function retryAfterMs(
  headers: Readonly<Record<string, string | string[] | undefined>>,
  nowMs: number,
): number | undefined {
  const { "retry-after": value, date } = headers;
  if (typeof value !== "string") return undefined;
  if (/^\s*\d+\s*$/.test(value)) return Number(value) * 1000;
  const theirs = dateMs(typeof date === "string" ? date : "");
  const gap = dateMs(value) - (Number.isNaN(theirs) ? nowMs : theirs);
  return Number.isFinite(gap) && gap >= 0 ? gap : undefined;
}

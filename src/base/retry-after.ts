/** Retry-After: how long a server asks to be left alone, and which answers are worth another attempt. */
import { dateMs } from "./clock.ts";

/** What passes: a timeout, too early, too many requests, and faults of the server. */
export const RETRY_STATUSES: readonly number[] = [408, 425, 429, 500, 502, 503, 504];

/** Seconds, or a date: taken against the server's own clock, or ours where it gives none. */
export function retryAfter(value: unknown, date: unknown, nowMs: number): number | undefined {
  if (typeof value !== "string") return undefined;
  if (/^\s*\d+\s*$/.test(value)) return Number(value) * 1000;
  const theirs = dateMs(typeof date === "string" ? date : "");
  const gap = dateMs(value) - (Number.isNaN(theirs) ? nowMs : theirs);
  return Number.isFinite(gap) && gap >= 0 ? gap : undefined;
}

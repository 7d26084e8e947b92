/** How long a server asks to be left alone (RFC 9110, 10.2.3). */
import { dateMs } from "../../base/clock.ts";
import type { Download } from "../module-registry.ts";

/** Of `Retry-After` in seconds, or as a date, which is told against the server's own clock, or ours where it tells none. */
export function retryAfterMs(headers: Download["headers"], nowMs: number): number | undefined {
  const { "retry-after": value, date } = headers;
  if (typeof value !== "string") return undefined;
  if (/^\s*\d+\s*$/.test(value)) return Number(value) * 1000;
  const theirs = dateMs(typeof date === "string" ? date : "");
  const gap = dateMs(value) - (Number.isNaN(theirs) ? nowMs : theirs);
  return Number.isFinite(gap) && gap >= 0 ? gap : undefined;
}

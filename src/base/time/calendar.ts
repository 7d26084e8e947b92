/**
 * Calendar: the name of the hour, day, week or month of a time in a given zone.
 *
 *   unit    name                       period
 *   hour    2026-11-01T05              in UTC
 *           2026-11-01T01-04:00        in other zones: the offset distinguishes the two hours that share
 *                                      a local time when a clock is set back
 *   day     2026-11-01                 local midnight to local midnight: 23, 24 or 25 hours
 *   week    2026-W44                   ISO 8601: from Monday; week 1 holds the year's first Thursday
 *   month   2026-11
 *
 * The platform's zone tables provide the offset of local time from UTC; everything else is arithmetic. A calendar remembers the period of
 * its last result, so a repeated time of the same period costs two compares.
 *
 *   I1  Times of one period have one name, times of different periods have different names.
 *   I2  Any number is a valid time: beyond the range of Date it counts as the nearest time in it.
 */

export type CalendarUnit = "hour" | "day" | "week" | "month";

export const CALENDAR_UNITS: readonly CalendarUnit[] = ["hour", "day", "week", "month"];

export interface Calendar {
  readonly unit: CalendarUnit;
  readonly zone: string;
  /** undefined: UTC, which needs no table. */
  readonly format: Intl.DateTimeFormat | undefined;
  /** The time span around the last time asked for, in which `name` is certain. */
  fromMs: number;
  untilMs: number;
  name: string;
}

/** Latest and earliest time a Date can hold, less a day for the local time of any zone. */
const TIME_MS_MAX = 8.64e15 - 86_400_000;
const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;

/** A calendar; undefined: there is no such IANA zone. */
export function createCalendar(unit: CalendarUnit, zone = "UTC"): Calendar | undefined {
  const format = zone === "UTC" ? undefined : formatOf(zone);
  if (format === null) return undefined;
  return { unit, zone, format, fromMs: 0, untilMs: 0, name: "" };
}

/** The name of the period that holds a time. */
export function calendarName(calendar: Calendar, timeMs: number): string {
  if (timeMs >= calendar.fromMs && timeMs < calendar.untilMs) return calendar.name;
  const atMs = clampTime(timeMs);
  const offsetMs = offsetAt(calendar, atMs);
  calendar.name = nameOf(calendar.unit, atMs + offsetMs, calendar.format && offsetMs);
  setStretch(calendar, atMs, offsetMs);
  return calendar.name;
}

/**
 * The local hour around `atMs`, cut where the zone changes its offset: neither the hour nor a larger period changes within it. A running
 * clock computes it once an hour.
 */
function setStretch(calendar: Calendar, atMs: number, offsetMs: number): void {
  const localMs = atMs + offsetMs;
  const fromMs = Math.floor(localMs / HOUR_MS) * HOUR_MS - offsetMs;
  calendar.fromMs = offsetAt(calendar, clampTime(fromMs)) === offsetMs ? fromMs : atMs;
  const untilMs = fromMs + HOUR_MS;
  const isSame = offsetAt(calendar, clampTime(untilMs - 1)) === offsetMs;
  calendar.untilMs = isSame ? untilMs : atMs + 1;
}

function nameOf(unit: CalendarUnit, localMs: number, offsetMs: number | undefined): string {
  const date = new Date(localMs);
  const year = yearText(date.getUTCFullYear());
  if (unit === "week") return weekName(localMs);
  const month = `${year}-${two(date.getUTCMonth() + 1)}`;
  if (unit === "month") return month;
  const day = `${month}-${two(date.getUTCDate())}`;
  if (unit === "day") return day;
  const hour = `${day}T${two(date.getUTCHours())}`;
  return offsetMs === undefined ? hour : hour + offsetText(offsetMs);
}

/** ISO 8601: a week belongs to the year that holds its Thursday. */
function weekName(localMs: number): string {
  const days = Math.floor(localMs / DAY_MS);
  const weekday = (((days + 3) % 7) + 7) % 7; // Monday is 0; 1970-01-01 was a Thursday
  const thursday = days - weekday + 3;
  const year = new Date(thursday * DAY_MS).getUTCFullYear();
  const first = new Date(0);
  first.setUTCFullYear(year, 0, 1);
  const week = Math.floor((thursday - first.getTime() / DAY_MS) / 7) + 1;
  return `${yearText(year)}-W${two(week)}`;
}

/** Local time minus UTC, in milliseconds. */
function offsetAt(calendar: Calendar, atMs: number): number {
  const { format } = calendar;
  if (format === undefined) return 0;
  const fields: Record<string, string> = {};
  for (const { type, value } of format.formatToParts(atMs)) fields[type] = value;
  const given = Number(fields.year);
  const year = fields.era?.startsWith("B") ? 1 - given : given;
  const local = new Date(0);
  local.setUTCFullYear(year, Number(fields.month) - 1, Number(fields.day));
  local.setUTCHours(Number(fields.hour), Number(fields.minute), Number(fields.second));
  return local.getTime() - Math.floor(atMs / 1000) * 1000;
}

/** null: no such zone. Offsets (`+02:00`) are refused, because they have no daylight saving rules. */
function formatOf(zone: string): Intl.DateTimeFormat | null {
  if (!/^[A-Za-z]/.test(zone)) return null;
  try {
    return new Intl.DateTimeFormat("en-u-ca-gregory-nu-latn", {
      timeZone: zone,
      hourCycle: "h23",
      era: "short",
      year: "numeric",
      month: "numeric",
      day: "numeric",
      hour: "numeric",
      minute: "numeric",
      second: "numeric",
    });
  } catch {
    return null;
  }
}

function clampTime(timeMs: number): number {
  if (!(timeMs > -TIME_MS_MAX)) return -TIME_MS_MAX; // NaN too
  return Math.min(Math.floor(timeMs), TIME_MS_MAX);
}

function offsetText(offsetMs: number): string {
  const minutes = Math.floor(Math.abs(offsetMs) / 60_000);
  const seconds = Math.floor((Math.abs(offsetMs) % 60_000) / 1000); // before standard time
  const sign = offsetMs < 0 ? "-" : "+";
  const text = `${sign}${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`;
  return seconds === 0 ? text : `${text}:${two(seconds)}`;
}

/** The year as ISO 8601 writes it: four digits, or a sign and six. */
function yearText(year: number): string {
  if (year >= 0 && year <= 9999) return String(year).padStart(4, "0");
  return `${year < 0 ? "-" : "+"}${String(Math.abs(year)).padStart(6, "0")}`;
}

function two(number: number): string {
  return String(number).padStart(2, "0");
}

/** The time as a Date for a user's data; NaN makes an invalid one. */
export function dateOf(timeMs: number): Date {
  return new Date(timeMs);
}

/**
 * Epoch policies: how long one sighting blocks the next, checked and brought into the form the core reads.
 *
 *   policy                       epoch of a request                        when it may come again
 *   'forever'                    forever                                   never
 *   { calendar, zone? }          the period of its notBefore, else of now  in the next period
 *   { version }                  the version                               when the version changes
 *   { of }                       of(notBefore, else now)                   when `of` returns another name
 *   { every: T }                 forever                                   T after its last visit, by itself
 *   { adaptive: { min, max } }   forever                                   its own period after its last visit, by itself
 *
 * A request's own `epoch` stands before all of them; it then never comes again by itself.
 */
import {
  CALENDAR_UNITS,
  type Calendar,
  type CalendarUnit,
  calendarName,
  createCalendar,
} from "../../base/time/calendar.ts";
import { DURATION_EXPECTED, durationMs } from "../../base/time/duration.ts";
import { type HookFault, misuse, refusePromise } from "../../base/errors.ts";
import { between, made } from "../../base/fields.ts";
import { isObject } from "../../base/type-guards.ts";

/**
 * How long one sighting blocks the next.
 *
 * - `"forever"`: for good.
 * - `{ calendar, zone }`: until the next hour, day, week or month. A request's `notBefore` decides, else now.
 * - `{ every }`, `{ adaptive }`: a page comes again by itself, after a period or by its observed rate of change. Not in mode `bloom`.
 * - `{ version }`: until the version changes.
 * - `{ of }`: a function names the epoch of a time.
 *
 * @example
 * await openFrontier({
 *   defaults: { epoch: { calendar: "day", zone: "Europe/Berlin" } }, // every URL once a day
 *   rules: [
 *     // As often as the page was seen to change, within these bounds.
 *     { id: "news", match: { domains: ["news.example"] }, epoch: { adaptive: { min: "15m", max: "7d" } } },
 *   ],
 * });
 */
export type EpochPolicy =
  | "forever"
  | {
      /** Unit of the period. */
      calendar: "hour" | "day" | "week" | "month";
      /**
       * IANA time zone.
       * @defaultValue "UTC"
       */
      zone?: string | undefined;
      /**
       * `"forever"`: only requests with `notBefore` are divided by period.
       * @defaultValue all are
       */
      undated?: "forever" | undefined;
    }
  | {
      /** Period after the last visit: milliseconds, or text such as `"1d"`. */
      every: string | number;
    }
  | {
      /** Name of the version. */
      version: string | number;
    }
  | {
      /** Returns the epoch's name for a time. */
      of: (timeMs: number) => string;
    }
  | {
      /** Bounds of the period. */
      adaptive: {
        /** Shortest period: milliseconds, or text such as `"1h"`. */
        min: string | number;
        /** Longest period. */
        max: string | number;
      };
    };

export type EpochRule =
  | { readonly kind: "forever" }
  | { readonly kind: "calendar"; readonly calendar: Calendar; readonly isUndatedForever: boolean }
  | { readonly kind: "version"; readonly name: string }
  | { readonly kind: "of"; readonly of: (timeMs: number) => unknown }
  | { readonly kind: "again"; readonly minMs: number; readonly maxMs: number };

/** The epoch without end: its identities have no salt and are noted nowhere. */
export const FOREVER = "forever";

/** The time of a request that has none of its own: before all, so that it is due at once. 0 is a time like any other. */
export const UNDATED_MS = Number.NEGATIVE_INFINITY;

/** Longest name of an epoch, in UTF-16 units. */
const EPOCH_NAME_LENGTH_MAX = 1_000;

const EPOCH_NAME_EXPECTED = "a string of 1 to 1,000 characters";

const KINDS = ["calendar", "every", "version", "of", "adaptive"] as const;

/** Longest period between two visits: a hundred years. */
const PERIOD_MS_MAX = 3_155_760_000_000;

/** Whether a text can name an epoch. */
export function isEpochName(value: unknown): value is string {
  if (typeof value !== "string" || value === "") return false;
  return value.length <= EPOCH_NAME_LENGTH_MAX && value.isWellFormed();
}

/** Checks an epoch policy; throws OPTION_INVALID naming the field. */
export function normalizeEpoch(policy: EpochPolicy | undefined, path: string): EpochRule {
  if (policy === undefined || policy === FOREVER) return { kind: "forever" };
  const fields = readFields(policy, path);
  if (fields.calendar !== undefined) return calendarOf(fields, path);
  if (fields.every !== undefined) {
    const periodMs = PERIOD(fields.every, `${path}.every`, "OPTION_INVALID");
    return { kind: "again", minMs: periodMs, maxMs: periodMs };
  }
  if (fields.version !== undefined) return { kind: "version", name: versionOf(fields, path) };
  if (fields.of !== undefined) {
    if (typeof fields.of !== "function") throw wrong(`${path}.of`, fields.of, "a function");
    return { kind: "of", of: fields.of as (timeMs: number) => unknown };
  }
  return adaptiveOf(fields.adaptive, `${path}.adaptive`);
}

/** Mode bloom holds no finish times: policies that need them are refused by name. */
export function checkEpochMode(epoch: EpochRule, mode: string, path: string): void {
  if (mode !== "bloom" || !isRecrawled(epoch)) return;
  throw wrong(path, "every or adaptive", "another epoch with seen.mode 'bloom'");
}

/** Whether records under a rule come again by themselves. */
export function isRecrawled(epoch: EpochRule): boolean {
  return epoch.kind === "again";
}

/**
 * The epoch that a rule puts a request into; a fault: the user's function threw or returned no name. `dueMs` is the request's own time,
 * or UNDATED_MS.
 */
export function epochNameOf(epoch: EpochRule, dueMs: number, nowMs: number): string | HookFault {
  switch (epoch.kind) {
    case "calendar":
      if (dueMs === UNDATED_MS && epoch.isUndatedForever) return FOREVER;
      return calendarName(epoch.calendar, dueMs === UNDATED_MS ? nowMs : dueMs);
    case "version":
      return epoch.name;
    case "of":
      return ownName(epoch.of, dueMs === UNDATED_MS ? nowMs : dueMs);
    default:
      return FOREVER;
  }
}

function ownName(of: (timeMs: number) => unknown, timeMs: number): string | HookFault {
  try {
    const name = of(timeMs);
    if (isEpochName(name)) return name;
    refusePromise("of", name, EPOCH_NAME_EXPECTED);
    return { cause: misuse("ARGUMENT_INVALID", "of(timeMs)", name, EPOCH_NAME_EXPECTED) };
  } catch (cause) {
    return { cause };
  }
}

function readFields(policy: unknown, path: string): Record<string, unknown> {
  const expected = `'forever' or an object with one of ${KINDS.join(", ")}`;
  if (!isObject(policy)) {
    throw wrong(path, policy, expected);
  }
  const fields = policy as Record<string, unknown>;
  const given = KINDS.filter((kind) => fields[kind] !== undefined);
  if (given.length !== 1) throw wrong(path, policy, expected);
  const more = given[0] === "calendar" ? ["zone", "undated"] : [];
  for (const field of Object.keys(fields)) {
    if (field === given[0] || more.includes(field)) continue;
    throw wrong(`${path}.${field}`, "given", `nothing beside ${given[0]}`);
  }
  return fields;
}

function calendarOf(fields: Record<string, unknown>, path: string): EpochRule {
  const { calendar: unit, zone = "UTC", undated } = fields;
  if (!CALENDAR_UNITS.includes(unit as CalendarUnit)) {
    throw wrong(`${path}.calendar`, unit, "'hour', 'day', 'week' or 'month'");
  }
  const calendar =
    typeof zone === "string" ? createCalendar(unit as CalendarUnit, zone) : undefined;
  if (calendar === undefined) throw wrong(`${path}.zone`, zone, "an IANA zone such as 'UTC'");
  if (undated !== undefined && undated !== FOREVER) {
    throw wrong(`${path}.undated`, undated, "'forever' or nothing");
  }
  return { kind: "calendar", calendar, isUndatedForever: undated === FOREVER };
}

function versionOf({ version }: Record<string, unknown>, path: string): string {
  const name = typeof version === "number" && Number.isFinite(version) ? `${version}` : version;
  if (isEpochName(name)) return name;
  throw wrong(`${path}.version`, version, `a number or ${EPOCH_NAME_EXPECTED}`);
}

const PERIOD = made(`${DURATION_EXPECTED}, from 1 ms to a hundred years`, (value) => {
  const ms = durationMs(value);
  return ms !== undefined && ms >= 1 && ms <= PERIOD_MS_MAX ? ms : undefined;
});

const readAdaptive = between({ min: PERIOD, max: PERIOD }, ["min", "max"]);

function adaptiveOf(adaptive: unknown, path: string): EpochRule {
  const { min, max } = readAdaptive(adaptive, path, "OPTION_INVALID");
  return { kind: "again", minMs: min, maxMs: max };
}

function wrong(path: string, value: unknown, expected: string): Error {
  return misuse("OPTION_INVALID", path, value, expected);
}

import { describe, expect, it } from "vitest";
import {
  type CalendarUnit,
  calendarName,
  createCalendar,
} from "../../../../src/base/time/calendar.ts";
import { createRandom } from "../../../../src/base/random.ts";
import { testSeed } from "../../../support/seed.ts";

const HOUR = 3_600_000;

function name(unit: CalendarUnit, zone: string, time: string | number): string {
  const calendar = createCalendar(unit, zone);
  if (calendar === undefined) throw new Error(`no zone ${zone}`);
  return calendarName(calendar, typeof time === "string" ? Date.parse(time) : time);
}

describe("a calendar", () => {
  it.each<[CalendarUnit, string, string, string]>([
    ["hour", "UTC", "2026-11-21T21:59:59.999Z", "2026-11-21T21"],
    ["day", "UTC", "2026-11-21T23:59:59.999Z", "2026-11-21"],
    ["day", "Asia/Tokyo", "2026-11-21T15:00:00Z", "2026-11-22"],
    ["day", "Asia/Kolkata", "2026-11-21T18:29:59.999Z", "2026-11-21"],
    ["day", "Asia/Kolkata", "2026-11-21T18:30:00Z", "2026-11-22"],
    ["week", "UTC", "2026-11-22T23:59:59Z", "2026-W47"], // a Sunday
    ["week", "UTC", "2026-11-23T00:00:00Z", "2026-W48"], // a Monday
    ["week", "UTC", "2027-01-01T00:00:00Z", "2026-W53"],
    ["week", "UTC", "2024-12-30T00:00:00Z", "2025-W01"],
    ["month", "America/New_York", "2026-12-01T04:59:59Z", "2026-11"],
    ["month", "America/New_York", "2026-12-01T05:00:00Z", "2026-12"],
    ["hour", "America/New_York", "2026-11-01T05:30:00Z", "2026-11-01T01-04:00"],
    ["hour", "America/New_York", "2026-11-01T06:30:00Z", "2026-11-01T01-05:00"],
    ["day", "America/New_York", "2026-11-02T04:59:59Z", "2026-11-01"], // 25 hours
    ["day", "Pacific/Apia", "2011-12-30T10:00:00Z", "2011-12-31"], // had no 30th
    ["day", "UTC", "0000-02-29T00:00:00Z", "0000-02-29"],
    ["day", "Europe/Berlin", "-000043-03-14T12:00:00Z", "-000043-03-14"],
  ])("names the %s in %s of %s %s", (unit, zone, time, expected) => {
    expect(name(unit, zone, time)).toBe(expected);
  });

  it.each(["Mars/Olympus", "+02:00", "", "UTC ", "x".repeat(1000)])("knows no zone %j", (zone) => {
    expect(createCalendar("day", zone)).toBe(undefined);
  });

  it.each([
    ["Europe/Berlin", "2026-03-29", 23],
    ["Europe/Berlin", "2026-10-25", 25],
    ["America/Sao_Paulo", "2018-11-04", 23], // midnight itself is skipped
    ["Australia/Lord_Howe", "2026-04-05", 24.5], // half an hour
  ])("gives the day of %s on %s its %d hours", (zone, day, hours) => {
    const calendar = createCalendar("day", zone);
    if (calendar === undefined) throw new Error(zone);
    const noonMs = Date.parse(`${day}T12:00:00Z`);
    let count = 0;
    for (let at = noonMs - 30 * HOUR; at < noonMs + 30 * HOUR; at += HOUR / 4) {
      if (calendarName(calendar, at) === day) count++;
    }
    expect(count / 4).toBe(hours);
  });

  it("remembers its last answer and says the same as one that remembers nothing", () => {
    const random = createRandom(testSeed("calendar"));
    const zones = ["UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Tokyo"];
    const edges = ["2026-03-29", "2026-10-25", "2026-11-01", "2026-03-08", "2026-04-05"];
    for (const unit of ["hour", "day", "week", "month"] as const) {
      for (const zone of zones) {
        const calendar = createCalendar(unit, zone);
        if (calendar === undefined) throw new Error(zone);
        let at = Date.parse(`${edges[random.below(edges.length)]}T00:00:00Z`);
        for (let step = 0; step < 200; step++) {
          at += (random.unit() - 0.4) * 2 * HOUR; // back as well
          expect(calendarName(calendar, at)).toBe(name(unit, zone, at));
        }
      }
    }
  });

  it.each([Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 8.64e15, -8.64e15])(
    "names some period of the time %d",
    (time) => {
      for (const unit of ["hour", "day", "week", "month"] as const) {
        for (const zone of ["UTC", "Asia/Tokyo"])
          expect(name(unit, zone, time)).toMatch(/^[-+]?\d/);
      }
    },
  );
});

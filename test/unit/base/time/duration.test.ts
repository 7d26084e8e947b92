import { describe, expect, it } from "vitest";
import { durationMs } from "../../../../src/base/time/duration.ts";

describe("a duration", () => {
  it.each<[unknown, number]>([
    [0, 0],
    [1_500, 1_500],
    ["250ms", 250],
    ["90s", 90_000],
    ["15m", 900_000],
    ["1.5h", 5_400_000],
    ["1d", 86_400_000],
    ["2w", 1_209_600_000],
    ["1d12h", 129_600_000],
    [" 1d 12h ", 129_600_000],
  ])("written %j is %d ms", (text, ms) => {
    expect(durationMs(text)).toBe(ms);
  });

  it.each([
    -1,
    Number.NaN,
    Number.POSITIVE_INFINITY,
    "",
    "1",
    "d",
    "-1d",
    "1y",
    "1 d x",
    "1d,2h",
    "1e3s",
    `${"9".repeat(60)}d${"9".repeat(60)}d`,
    "1m".repeat(100),
    null,
    {},
    [1],
    true,
  ])("is not %j", (value) => {
    expect(durationMs(value)).toBe(undefined);
  });
});

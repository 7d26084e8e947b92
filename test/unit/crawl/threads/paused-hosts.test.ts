import { describe, expect, it } from "vitest";
import { createPausedHosts, hostNumber } from "../../../../src/crawl/threads/paused-hosts.ts";

const A = hostNumber("a.example");
const B = hostNumber("b.example");
const SECOND_MS = 1_000;
/** Near where 32 bits of milliseconds end. */
const WRAP_MS = 400 * 2 ** 32;

describe("the table of paused hosts", () => {
  it.each([1_800_000_000_000, WRAP_MS, WRAP_MS - 500, WRAP_MS + 2 ** 31 - 500, 0.5])(
    "holds a pause that another thread made, to its end (%f)",
    (nowMs) => {
      const mine = createPausedHosts();
      const theirs = createPausedHosts(mine.memory);
      expect(theirs.isPaused(A, nowMs)).toBe(false);
      mine.pause(A, SECOND_MS, nowMs);
      for (const table of [mine, theirs]) {
        expect([0, 1, 999].map((ms) => table.isPaused(A, nowMs + ms))).toEqual([true, true, true]);
        expect(table.isPaused(A, nowMs + SECOND_MS)).toBe(false);
        expect(table.isPaused(B, nowMs)).toBe(false);
      }
    },
  );

  it("never shortens a pause (I1), and forgets one for another host of the same word (I2)", () => {
    const table = createPausedHosts();
    table.pause(A, SECOND_MS, 0);
    table.pause(A, 10, 0);
    expect(table.isPaused(A, 999)).toBe(true);
    table.pause(A, SECOND_MS, 500);
    expect(table.isPaused(A, 1_499)).toBe(true);
    const other = (A ^ 0x8000_0000) >>> 0;
    table.pause(other, SECOND_MS, 500);
    expect([A, other].map((host) => table.isPaused(host, 600))).toEqual([false, true]);
  });

  it("holds no pause for longer than a minute, and none that a clock which went back makes long (I3)", () => {
    const table = createPausedHosts();
    const nowMs = 1_800_000_000_000;
    table.pause(A, 3_600_000, nowMs);
    expect(table.isPaused(A, nowMs + 59_999)).toBe(true);
    expect(table.isPaused(A, nowMs + 60_000)).toBe(false);
    expect(table.isPaused(A, nowMs - 1)).toBe(false);
    table.pause(A, SECOND_MS, nowMs - 3_600_000);
    expect(table.isPaused(A, nowMs - 3_600_000)).toBe(true);
  });

  it("takes a pause of nothing for none", () => {
    const table = createPausedHosts();
    table.pause(A, 0, 10);
    expect(table.isPaused(A, 10)).toBe(false);
  });
});

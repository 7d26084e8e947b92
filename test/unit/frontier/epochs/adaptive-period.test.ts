import { describe, expect, it } from "vitest";
import { createRandom } from "../../../../src/base/random.ts";
import {
  nextPeriod,
  periodCode,
  periodOf,
} from "../../../../src/frontier/epochs/adaptive-period.ts";
import type { Lease } from "../../../../src/engine/types/frontier-types.ts";
import { openBench } from "../../../support/bench-frontier.ts";
import { testSeed } from "../../../support/seed.ts";

const HOUR = 3_600_000;
const BOUNDS = { minMs: HOUR / 4, maxMs: 4_000 * HOUR };

describe("the estimate of a page's change rate", () => {
  it.each([1, 6, 24, 200, 1_000])(
    "settles near one visit per change for pages that change every %d hours on average",
    (hours) => {
      const random = createRandom(testSeed(`change rate ${hours}`));
      const meanMs = hours * HOUR;
      let logSum = 0;
      let visits = 0;
      for (let page = 0; page < 20; page++) {
        let periodMs = nextPeriod(0, undefined, BOUNDS);
        for (let visit = 0; visit < 300; visit++) {
          const changed = random.unit() < 1 - Math.exp(-periodMs / meanMs);
          periodMs = periodOf(periodCode(nextPeriod(periodMs, changed, BOUNDS)));
          if (visit < 50) continue; // on its way from the first guess
          logSum += Math.log(periodMs / meanMs);
          visits++;
        }
      }
      // A convex mean of a noisy logarithm: the geometric mean lies a little off the target.
      expect(Math.exp(logSum / visits)).toBeGreaterThan(0.7);
      expect(Math.exp(logSum / visits)).toBeLessThan(1.4);
    },
  );

  it("follows a page whose habits change", () => {
    const random = createRandom(testSeed("change of habits"));
    let periodMs = nextPeriod(0, undefined, BOUNDS);
    const visit = (meanMs: number): void => {
      const changed = random.unit() < 1 - Math.exp(-periodMs / meanMs);
      periodMs = nextPeriod(periodMs, changed, BOUNDS);
    };
    for (let count = 0; count < 100; count++) visit(HOUR);
    expect(periodMs).toBeLessThan(20 * HOUR);
    for (let count = 0; count < 100; count++) visit(1_000 * HOUR);
    expect(periodMs).toBeGreaterThan(50 * HOUR);
  });

  it("stays within its bounds and without an outcome where it is", () => {
    let periodMs = 0;
    for (let count = 0; count < 100; count++) periodMs = nextPeriod(periodMs, true, BOUNDS);
    expect(periodMs).toBe(BOUNDS.minMs);
    for (let count = 0; count < 100; count++) periodMs = nextPeriod(periodMs, false, BOUNDS);
    expect(periodMs).toBe(BOUNDS.maxMs);
    expect(nextPeriod(5 * HOUR, undefined, BOUNDS)).toBe(5 * HOUR);
    expect(nextPeriod(1, undefined, BOUNDS)).toBe(BOUNDS.minMs);
  });

  it("loses less than a thousandth by being kept in 16 bits", () => {
    expect(periodOf(0)).toBe(0);
    for (let periodMs = 1; periodMs < 3e12; periodMs *= 1.37) {
      expect(Math.abs(periodOf(periodCode(periodMs)) / periodMs - 1)).toBeLessThan(0.001);
    }
  });

  it("makes a URL come sooner while it changes and later while it does not", () => {
    const { frontier, clock, check } = openBench({
      defaults: { epoch: { adaptive: { min: "1h", max: "100h" } } },
    });
    const url = "http://a.com/1";
    frontier.push(url);
    const gaps = [undefined, true, true, false, false, false].map((changed) => {
      const lease = frontier.poll() as Lease;
      lease.done(changed === undefined ? {} : { outcome: { changed } });
      const gapMs = (frontier.nextDueAt() as number) - clock.now();
      clock.advance(Math.ceil(gapMs));
      check();
      return gapMs / HOUR;
    });
    expect(gaps[0]).toBeCloseTo(10, 1);
    expect(gaps[1]).toBeLessThan(gaps[0] as number);
    expect(gaps[2]).toBeLessThan(gaps[1] as number);
    expect(gaps[3]).toBeGreaterThan(gaps[2] as number);
    expect(gaps[5]).toBeGreaterThan(gaps[4] as number);
  });
});

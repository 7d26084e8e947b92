import { describe, expect, test } from "vitest";
import {
  createRegion,
  regionBytes,
  regionGive,
  regionTake,
  regionTakeRaw,
  verifyRegion,
} from "../../../src/memory/region.ts";
import { createFakeMemory } from "../../support/fake-memory.ts";

const PAGE = 65536;

describe("region", () => {
  test("hands out runs one after the other and never page 0", () => {
    const region = createRegion(createFakeMemory());
    expect([regionTake(region, 1), regionTake(region, 3), regionTake(region, 1)]).toEqual([
      PAGE,
      2 * PAGE,
      5 * PAGE,
    ]);
    expect(regionBytes(region)).toBe(5 * PAGE);
    verifyRegion(region);
  });

  test("joins a run that comes back with both its neighbours (I1)", () => {
    const region = createRegion(createFakeMemory());
    const [a, b, c] = [regionTake(region, 1), regionTake(region, 1), regionTake(region, 1)];
    regionTake(region, 1);
    regionGive(region, a as number, 1);
    regionGive(region, c as number, 1);
    regionGive(region, b as number, 1);
    expect(region.free).toEqual([PAGE, 3]);
    expect(regionTake(region, 3)).toBe(a);
    expect(region.free).toEqual([]);
  });

  test("gives back a part of a run", () => {
    const region = createRegion(createFakeMemory());
    const run = regionTake(region, 4);
    regionGive(region, run + PAGE, 2);
    verifyRegion(region);
    expect(regionTake(region, 2)).toBe(run + PAGE);
  });

  test("extends idle pages at the high end instead of refusing a longer run", () => {
    const region = createRegion(createFakeMemory(), 5);
    const run = regionTake(region, 3);
    region.views.u8.fill(9, run, run + 3 * PAGE);
    regionGive(region, run, 3);
    expect(regionTake(region, 4)).toBe(run);
    expect(region.views.u8.subarray(run, run + 4 * PAGE).every((byte) => byte === 0)).toBe(true);
    expect(region.free).toEqual([]);
    verifyRegion(region);
    expect(regionTake(region, 1)).toBe(0);
  });

  test("gives a run as it is to who zeroes it, and says how far it was used (I2)", () => {
    const region = createRegion(createFakeMemory());
    const fresh = regionTakeRaw(region, 2);
    expect(region.dirtyEnd).toBeLessThanOrEqual(fresh);
    region.views.u8.fill(9, fresh, fresh + 2 * PAGE);
    regionGive(region, fresh, 2);
    expect(regionTakeRaw(region, 1)).toBe(fresh);
    expect(region.dirtyEnd).toBe(fresh + PAGE);
    regionGive(region, fresh, 1);
    // Idle pages and fresh ones in one run: the fresh ones are zeros.
    expect(regionTakeRaw(region, 3)).toBe(fresh);
    expect(region.dirtyEnd).toBe(fresh + 2 * PAGE);
    expect(region.views.u8[fresh]).toBe(9);
    expect(region.views.u8.subarray(fresh + 2 * PAGE, fresh + 3 * PAGE).every((b) => b === 0)).toBe(
      true,
    );
    verifyRegion(region);
  });

  test("stays within its most pages even where the memory is larger", () => {
    const memory = createFakeMemory();
    memory.grow(7);
    const region = createRegion(memory, 3);
    expect([regionTake(region, 3), regionTake(region, 2), regionTake(region, 1)]).toEqual([
      0,
      PAGE,
      0,
    ]);
  });

  test("takes less, down to what it needs, where there is no room for the usual growth", () => {
    const memory = createFakeMemory(4);
    const region = createRegion(memory);
    expect(regionTake(region, 3)).toBe(PAGE);
    expect(memory.buffer.byteLength).toBe(4 * PAGE);
    expect(regionTake(region, 1)).toBe(0);
    verifyRegion(region);
  });

  test("grows seldom: each growth is a pause", () => {
    const memory = createFakeMemory(1000);
    const region = createRegion(memory, 1000);
    for (let page = 0; page < 999; page++) regionTake(region, 1);
    expect(regionBytes(region)).toBe(999 * PAGE);
    expect(memory.growths).toBe(3);
  });

  test("remakes every view on growth (I3)", () => {
    const region = createRegion(createFakeMemory());
    const before = region.views;
    const run = regionTake(region, 40);
    expect(region.views === before).toBe(false);
    expect(before.u8.length).toBe(0);
    region.views.f64[run / 8] = 1.5;
    expect(region.views.buffer.readDoubleLE(run)).toBe(1.5);
    expect(region.views.u32[run / 4 + 1]).toBe(region.views.i32[run / 4 + 1]);
    expect(region.views.u16.length).toBe(region.views.u8.length / 2);
  });

  test("refuses a run that is free already, crooked or beyond its end", () => {
    const region = createRegion(createFakeMemory());
    const run = regionTake(region, 4);
    regionGive(region, run + PAGE, 2);
    expect(() => regionGive(region, run + PAGE, 1)).toThrow("I1");
    expect(() => regionGive(region, run, 2)).toThrow("I1");
    expect(() => regionGive(region, run + 2 * PAGE, 2)).toThrow("I1");
    expect(() => regionGive(region, run + 8, 1)).toThrow("offset");
    expect(() => regionGive(region, 0, 1)).toThrow("offset");
    expect(() => regionGive(region, run, 9)).toThrow("end");
    expect(() => regionGive(region, run, 0)).toThrow("pages");
    verifyRegion(region);
  });
});

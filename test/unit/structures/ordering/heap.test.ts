import { describe, expect, test } from "vitest";
import { createArena, arenaTake } from "../../../../src/memory/arena.ts";
import { createRegion, regionBytes } from "../../../../src/memory/region.ts";
import {
  createHeap,
  type Heap,
  heapCount,
  heapPeekHandle,
  heapPeekKey,
  heapPop,
  heapPush,
  heapRemove,
  heapUpdate,
  verifyHeap,
} from "../../../../src/structures/ordering/heap.ts";
import { createFakeMemory } from "../../../support/fake-memory.ts";
import { seeded, testSeed } from "../../../support/seed.ts";

const PAGE = 65536;

/** A heap in a region of few pages, which its items share. */
function heapOf(pages: number, count: number) {
  const region = createRegion(createFakeMemory(), pages);
  const arena = createArena(region);
  const items = Array.from({ length: count }, () => arenaTake(arena, 24));
  for (const item of items) region.views.u32[item * 2 + 4] = 0;
  return { region, heap: createHeap(region), items };
}

const bytesOf = (heap: Heap): number => (heap.keyPageCount + heap.handlePageCount) * PAGE;

describe("heap", () => {
  test("comes through the borders of its pages up and down, and shrinks back", () => {
    seeded(testSeed("heap pages"), (random) => {
      const { region, heap, items } = heapOf(64, 66_000);
      const before = regionBytes(region);
      for (const item of items) heapPush(heap, item, random.below(5000), random.word());
      expect(heapCount(heap)).toBe(66_000);
      expect(bytesOf(heap)).toBe((17 + 5) * PAGE);
      verifyHeap(heap);
      let key = -1;
      for (let count = 65_999; count >= 0; count--) {
        expect(heapPeekKey(heap)).toBeGreaterThanOrEqual(key);
        key = heapPeekKey(heap);
        heapPop(heap);
        if (count % 6007 === 0 || count % 4096 > 4091) verifyHeap(heap);
      }
      expect(bytesOf(heap)).toBe(2 * PAGE);
      expect(regionBytes(region)).toBe(before + 2 * PAGE);
    });
  });

  test("breaks ties by the second key, negative ones and zeros included", () => {
    const { heap, items } = heapOf(8, 6);
    const [a, b, c, d, e, f] = items as [number, number, number, number, number, number];
    heapPush(heap, a, 5, 2);
    heapPush(heap, b, 5, -1);
    heapPush(heap, c, Number.POSITIVE_INFINITY, 0);
    heapPush(heap, d, -0, 7);
    heapPush(heap, e, 0, 6);
    heapPush(heap, f, Number.NEGATIVE_INFINITY, 0);
    const order = [1, 2, 3, 4, 5, 6].map(() => heapPop(heap));
    expect(order).toEqual([f, e, d, b, a, c]);
  });

  test("refuses a push when there are no pages, unchanged, and goes on after a pop", () => {
    const { region, heap, items } = heapOf(5, 5000); // two pages of items, two for the heap
    let pushed = 0;
    while (heapPush(heap, items[pushed] as number, -pushed, 0)) pushed++;
    expect(pushed).toBe(4093); // one page of keys, positions 3 … 4095
    expect(verifyHeap(heap)).toBe(pushed);
    expect(region.views.u32[(items[pushed] as number) * 2 + 4]).toBe(0);
    const last = heapPop(heap);
    expect(last).toBe(items[pushed - 1]);
    expect(heapPush(heap, last, 1, 0)).toBe(true);
    expect(heapPush(heap, items[pushed] as number, 1, 0)).toBe(false);
    verifyHeap(heap);
  });

  test("holds no page after a first push that was refused", () => {
    const { heap, items } = heapOf(3, 1); // one page left: keys get it, handles do not
    expect(heapPush(heap, items[0] as number, 1, 1)).toBe(false);
    expect(bytesOf(heap)).toBe(0);
    expect(heapPeekHandle(heap)).toBe(0);
  });

  test("refuses items that stand elsewhere", () => {
    const { region, heap, items } = heapOf(8, 3);
    const [a, b, c] = items as [number, number, number];
    heapPush(heap, a, 1, 0);
    expect(() => heapPush(heap, a, 2, 0)).toThrow("stands nowhere");
    expect(() => heapRemove(heap, b)).toThrow("I2");
    region.views.u32[b * 2 + 4] = 2; // in the side of a lane
    expect(() => heapUpdate(heap, b, 2, 0)).toThrow("I2");
    region.views.u32[c * 2 + 4] = 4; // as if it stood at the root of another heap
    expect(() => heapRemove(heap, c)).toThrow("I2");
    expect(() => heapUpdate(heap, a, Number.NaN, 0)).toThrow("numbers");
  });
});

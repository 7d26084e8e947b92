/** Treap, lane and ranks where single steps matter; the model test has the random programs. */
import { describe, expect, test } from "vitest";
import { LANE_BYTES } from "../../../../src/layout/ordering/lane.ts";
import { arenaTake, arenaUsedBytes, createArena } from "../../../../src/memory/arena.ts";
import { createRegion } from "../../../../src/memory/region.ts";
import {
  createLaneCursor,
  laneCount,
  laneFirst,
  laneInit,
  laneInsert,
  laneLast,
  laneOpen,
  laneRemove,
  laneStep,
  verifyLane,
} from "../../../../src/structures/ordering/lane.ts";
import {
  ranksBest,
  ranksInsert,
  ranksNext,
  ranksRemove,
  verifyRanks,
} from "../../../../src/structures/ordering/ranks.ts";
import {
  treapFirst,
  treapInsert,
  treapRemove,
  verifyTreap,
} from "../../../../src/structures/ordering/treap.ts";
import { createFakeMemory } from "../../../support/fake-memory.ts";

function world(pages = 1024) {
  const region = createRegion(createFakeMemory(), pages);
  const arena = createArena(region);
  const item = (key: number): number => {
    const handle = arenaTake(arena, 24);
    region.views.f64[handle + 1] = key;
    return handle;
  };
  return { region, arena, item };
}

function laneOf(keys: number[]) {
  const { region, arena, item } = world();
  const lane = arenaTake(arena, LANE_BYTES);
  laneInit(region, lane, 0);
  const items = keys.map(item);
  for (const each of items) laneInsert(region, lane, each);
  return { region, lane, items };
}

describe("treap", () => {
  test("stays shallow whatever the order of keys", () => {
    for (const step of [1, -1]) {
      const { region, item } = world();
      let root = 0;
      for (let i = 0; i < 20_000; i++) root = treapInsert(region, root, item(i * step));
      let depth = 0;
      for (let at = root; at !== 0; at = region.views.u32[at * 2] as number) depth++;
      for (let at = root; at !== 0; at = region.views.u32[at * 2 + 1] as number) depth++;
      expect(depth).toBeLessThan(80); // both spines, about 2 ln n each
      expect(verifyTreap(region, root)).toBe(20_000);
      for (let i = 0; i < 20_000; i++) root = treapRemove(region, root, treapFirst(region, root));
      expect(root).toBe(0);
    }
  });

  test("refuses to remove what is not there", () => {
    const { region, item } = world();
    const root = treapInsert(region, 0, item(1));
    expect(() => treapRemove(region, root, item(2))).toThrow("in the treap");
    expect(() => treapRemove(region, 0, root)).toThrow("in the treap");
  });
});

describe("lane", () => {
  const place = (made: ReturnType<typeof laneOf>, at: number): number =>
    made.region.views.u32[(made.items[at] as number) * 2 + 4] as number;

  test("appends above the tail, prepends below the head, and sides with what is between", () => {
    const made = laneOf([10, 20, 5, 15]);
    expect([0, 1, 2, 3].map((at) => place(made, at))).toEqual([1, 1, 1, 2]);
    expect(laneFirst(made.region, made.lane)).toBe(made.items[2]);
    expect(laneLast(made.region, made.lane)).toBe(made.items[1]);
    expect(verifyLane(made.region, made.lane)).toBe(4);
  });

  test("serves from the side when the list has run empty, and appends again after that", () => {
    const { region, lane, items } = laneOf([10, 30, 20]);
    laneRemove(region, lane, items[0] as number);
    laneRemove(region, lane, items[1] as number);
    expect(laneFirst(region, lane)).toBe(items[2]);
    expect(laneLast(region, lane)).toBe(items[2]);
    laneInsert(region, lane, items[1] as number);
    expect([laneFirst(region, lane), laneLast(region, lane)]).toEqual([items[2], items[1]]);
    expect(verifyLane(region, lane)).toBe(2);
  });

  test("equal keys do no harm: walks, first and last agree", () => {
    const { region, lane, items } = laneOf([7, 7, 7, 9, 9]);
    const cursor = createLaneCursor();
    for (const isForward of [true, false]) {
      laneOpen(region, lane, cursor, isForward);
      const walk: number[] = [];
      for (let at = laneStep(region, cursor); at !== 0; at = laneStep(region, cursor))
        walk.push(at);
      expect(walk[0]).toBe(isForward ? laneFirst(region, lane) : laneLast(region, lane));
      expect(new Set(walk).size).toBe(5);
    }
    for (const item of items) laneRemove(region, lane, item);
    expect(laneCount(region, lane)).toBe(0);
    expect(verifyLane(region, lane)).toBe(0);
  });

  test("refuses to remove an item of another lane or of none", () => {
    const one = laneOf([1, 2, 3]);
    expect(() => laneRemove(one.region, one.lane, one.lane)).toThrow("stands in a lane");
    laneRemove(one.region, one.lane, one.items[1] as number);
    expect(() => laneRemove(one.region, one.lane, one.items[1] as number)).toThrow("stands");
  });
});

describe("ranks", () => {
  const WORD = 5;

  test("goes from the best of 20,000 priorities to the worst, safe integers included", () => {
    const { region, arena, item } = world();
    const owner = arenaTake(arena, 64);
    region.views.u32[owner * 2 + WORD] = 0;
    const used = arenaUsedBytes(arena);
    const extremes = [Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER];
    const priorities = [
      ...extremes,
      ...Array.from({ length: 20_000 }, (_, i) => (i * 7919) % 20_011),
    ];
    const items = priorities.map((priority, key) => {
      const each = item(key);
      expect(ranksInsert(arena, owner, WORD, priority, each)).toBe(true);
      return each;
    });
    const root = region.views.u32[owner * 2 + WORD] as number;
    expect(verifyRanks(arena, root)).toBe(20_002);
    const walk: number[] = [];
    for (let lane = ranksBest(arena, root); lane !== 0; lane = ranksNext(arena, root, lane)) {
      walk.push(region.views.f64[lane + 1] as number);
    }
    expect(walk).toEqual([...new Set(priorities)].sort((a, b) => b - a));
    items.forEach((each, at) => {
      ranksRemove(arena, owner, WORD, priorities[at] as number, each);
    });
    expect(region.views.u32[owner * 2 + WORD]).toBe(0);
    expect(arenaUsedBytes(arena)).toBe(used + items.length * 24);
  });

  test("minus zero and zero are one priority", () => {
    const { region, arena, item } = world();
    const owner = arenaTake(arena, 64);
    region.views.u32[owner * 2 + WORD] = 0;
    ranksInsert(arena, owner, WORD, -0, item(1));
    ranksInsert(arena, owner, WORD, 0, item(2));
    const root = region.views.u32[owner * 2 + WORD] as number;
    expect(laneCount(region, ranksBest(arena, root))).toBe(2);
    expect(verifyRanks(arena, root)).toBe(2);
  });

  test("a lane that can not be had leaves everything as it was, an old lane still takes items", () => {
    const { region, arena, item } = world(4);
    const owner = arenaTake(arena, 64);
    region.views.u32[owner * 2 + WORD] = 0;
    expect(ranksInsert(arena, owner, WORD, 1, item(1))).toBe(true);
    while (arenaTake(arena, LANE_BYTES) !== 0);
    const another = item(2);
    expect(ranksInsert(arena, owner, WORD, 2, another)).toBe(false);
    expect(verifyRanks(arena, region.views.u32[owner * 2 + WORD] as number)).toBe(1);
    expect(ranksInsert(arena, owner, WORD, 1, another)).toBe(true);
    expect(() => ranksRemove(arena, owner, WORD, 2, another)).toThrow("lane of this priority");
  });
});

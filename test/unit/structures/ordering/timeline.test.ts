import { describe, expect, test } from "vitest";
import type { Random } from "../../../../src/base/random.ts";
import { arenaTake, createArena } from "../../../../src/memory/arena.ts";
import { createRegion, regionBytes } from "../../../../src/memory/region.ts";
import {
  createTimeline,
  type Timeline,
  timelineCount,
  timelineHas,
  timelineItems,
  timelineKeyOf,
  timelinePeekHandle,
  timelinePeekKey,
  timelinePop,
  timelinePush,
  timelineRemove,
  timelineTieOf,
  timelineUpdate,
  verifyTimeline,
} from "../../../../src/structures/ordering/timeline.ts";
import { createFakeMemory } from "../../../support/fake-memory.ts";
import { commandsOf, seeded, testSeed } from "../../../support/seed.ts";

const WRAP = 2 ** 31;

interface Entry {
  readonly item: number;
  key: number;
  tie: number;
}

function timelineOf(count: number, { pages = 1024, start = 0 } = {}) {
  const region = createRegion(createFakeMemory(), pages);
  const arena = createArena(region);
  const items = Array.from({ length: count }, () => arenaTake(arena, 24));
  for (const item of items) region.views.u32[item * 2 + 4] = 0;
  return { region, items, line: createTimeline(region, start) };
}

/** Lowest key, then lowest tie. */
function firstOf(model: Map<number, Entry>): Entry | undefined {
  let first: Entry | undefined;
  for (const entry of model.values()) {
    const { key, tie } = first ?? { key: Number.POSITIVE_INFINITY, tie: Number.POSITIVE_INFINITY };
    if (entry.key < key || (entry.key === key && entry.tie < tie)) first = entry;
  }
  return first;
}

/** A random program beside a map; `disorder` of 100 keys come before their time. */
function runProgram(random: Random, line: Timeline, items: number[], disorder: number): void {
  const model = new Map<number, Entry>();
  const free = [...items];
  let clock = 0;
  let tie = 0;
  const keyOf = (): number => clock + (random.below(100) < disorder ? random.below(90) - 45 : 30);
  for (let step = 0; step < 1_500; step++) {
    const kind = random.below(10);
    if (random.below(3) === 0) clock++;
    const any = [...model.keys()][random.below(model.size)];
    if (kind < 5 && free.length > 0) {
      const entry = { item: free.pop() as number, key: keyOf(), tie: ++tie };
      expect(timelinePush(line, entry.item, entry.key, entry.tie)).toBe(true);
      model.set(entry.item, entry);
    } else if (kind < 7 && any !== undefined) {
      timelineRemove(line, any);
      expect(timelineHas(line, any)).toBe(false);
      model.delete(any);
      free.push(any);
    } else if (kind === 7 && any !== undefined) {
      const entry = { item: any, key: keyOf(), tie: ++tie };
      timelineUpdate(line, any, entry.key, entry.tie);
      expect([timelineKeyOf(line, any), timelineTieOf(line, any)]).toEqual([entry.key, entry.tie]);
      model.set(any, entry);
    } else if (kind >= 8) {
      const first = firstOf(model);
      expect(timelinePop(line)).toBe(first?.item ?? 0);
      if (first === undefined) continue;
      model.delete(first.item);
      free.push(first.item);
    }
    const first = firstOf(model);
    expect(timelinePeekKey(line)).toBe(first?.key ?? Number.POSITIVE_INFINITY);
    expect(timelinePeekHandle(line)).toBe(first?.item ?? 0);
    expect(timelineCount(line)).toBe(model.size);
    if (step % 50 === 0) expect(verifyTimeline(line)).toBe(model.size);
  }
  expect(timelineItems(line).sort((a, b) => a - b)).toEqual(
    [...model.keys()].sort((a, b) => a - b),
  );
  for (const item of [...model.keys()]) timelineRemove(line, item);
  verifyTimeline(line);
}

describe("timeline", () => {
  test.each([0, 3, 50, 100])(
    "answers like a map where %i of 100 keys are out of order",
    (share) => {
      const seed = testSeed(`timeline ${share}`);
      for (let program = 0; program < commandsOf(6); program++) {
        seeded(seed + program, (random) => {
          const start = program % 2 === 0 ? 0 : WRAP - 200; // positions wrap in the middle
          const { line, items } = timelineOf(120, { start });
          runProgram(random, line, items, share);
        });
      }
    },
  );

  test("keeps as few pages as a line that moves on needs, and one far key does not close it", () => {
    const { line, items, region } = timelineOf(3_000);
    const before = regionBytes(region);
    const far = items.pop() as number;
    timelinePush(line, far, 1e15, 0);
    for (let turn = 0; turn < 60_000; turn++) {
      const item = items[turn % items.length] as number;
      if (turn >= items.length) timelineRemove(line, item);
      timelinePush(line, item, turn, turn);
    }
    verifyTimeline(line);
    expect(line.heap.count).toBe(1); // the far one alone
    expect(regionBytes(region) - before).toBeLessThan(10 * 65_536);
    expect(timelinePeekKey(line)).toBe(60_000 - items.length);
  });

  test("sheds an entry that nobody takes out, so that gaps stay bounded (I3)", () => {
    const { line, items } = timelineOf(101);
    const stuck = items.pop() as number;
    timelinePush(line, stuck, 0, 0);
    for (let turn = 1; turn < 40_000; turn++) {
      const item = items[turn % 100] as number;
      if (turn > 100) timelineRemove(line, item);
      timelinePush(line, item, turn, turn);
    }
    expect(verifyTimeline(line)).toBe(101);
    expect(timelinePop(line)).toBe(stuck);
  });

  test("holds a hundred thousand over the borders of its pages, through the wrap, and gives all back in order", () => {
    const { line, items, region } = timelineOf(100_000, { start: WRAP - 50_000 });
    for (const [at, item] of items.entries()) timelinePush(line, item, at >> 3, at);
    expect(verifyTimeline(line)).toBe(100_000);
    const held = regionBytes(region);
    for (const [at, item] of items.entries()) {
      if (at % 3 === 0) timelineRemove(line, item);
    }
    for (const [at, item] of items.entries()) {
      if (at % 3 !== 0) expect(timelinePop(line)).toBe(item);
    }
    expect(timelineCount(line)).toBe(0);
    verifyTimeline(line);
    expect(held - regionBytes(region)).toBeGreaterThan(20 * 65_536);
  });

  test("gives the pages behind its end back when gaps at its end go (I4)", () => {
    const { line, items } = timelineOf(40_002);
    for (let at = 0; at <= 40_000; at++) timelinePush(line, items[at] as number, at, 0);
    for (let at = 20_000; at < 40_000; at++) timelineRemove(line, items[at] as number);
    timelinePush(line, items[40_001] as number, 20_001, 0); // sends 40,000 to the heap
    expect(line.heap.count).toBe(1);
    expect(verifyTimeline(line)).toBe(20_002);
  });

  test("says so when memory is exhausted, and holds what it held", () => {
    const { line, items, region } = timelineOf(60_000, { pages: 30 });
    let held = 0;
    while (timelinePush(line, items[held] as number, held % 7 === 0 ? 0 : held, held)) held++;
    expect(region.pagesUsed).toBeGreaterThan(27);
    expect(verifyTimeline(line)).toBe(held);
    let last = -1;
    for (let at = 0; at < held; at++) {
      const key = timelinePeekKey(line);
      expect(key).toBeGreaterThanOrEqual(last);
      last = key;
      timelinePop(line);
    }
    expect(timelineCount(line)).toBe(0);
  });
});

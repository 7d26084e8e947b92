/**
 * Random programs against the structures, each beside a model of plain arrays and Maps, with the
 * structure's own verify after every command. A program throws at the first difference.
 */
import assert from "node:assert/strict";
import type { Random } from "../../src/base/random.ts";
import type { Arena } from "../../src/memory/arena.ts";
import type { Region } from "../../src/memory/region.ts";
import { LANE_BYTES } from "../../src/layout/ordering/lane.ts";
import { arenaBytes, arenaRoundedBytes } from "./arena-sizes.ts";
import { createFakeMemory } from "./fake-memory.ts";
import type { StructuresApi } from "./structures-api.ts";

const PAGE = 65536;
const ITEM_BYTES = 24;
const OWNER_WORD = 5;

interface Entry {
  readonly item: number;
  key: number;
  tie: number;
}

export function runRegionProgram(api: StructuresApi, random: Random, commands: number): void {
  const pages = 2 + random.below(14);
  const region = api.createRegion(createFakeMemory(4 + random.below(14)), pages);
  const taken: Array<{ offset: number; pages: number; stamp: number }> = [];
  for (let command = 0; command < commands; command++) {
    if (random.below(5) < 3) {
      const want = 1 + random.below(3);
      const offset = api.regionTake(region, want);
      if (offset === 0) continue;
      const { u8 } = region.views;
      assert.equal(offset % PAGE, 0);
      assert.ok(offset + want * PAGE <= Math.min(u8.length, pages * PAGE), "inside the region");
      for (let page = 0; page < want; page++) {
        const at = offset + page * PAGE;
        assert.ok(u8[at] === 0 && u8[at + 77] === 0 && u8[at + PAGE - 1] === 0, "zeroed");
        u8[at] = u8[at + 77] = u8[at + PAGE - 1] = command % 251;
        taken.push({ offset: at, pages: 1, stamp: command % 251 });
      }
    } else if (taken.length > 0) {
      const [run] = taken.splice(random.below(taken.length), 1) as [(typeof taken)[0]];
      const { u8 } = region.views;
      assert.equal(u8[run.offset + 77], run.stamp, "nobody else wrote here");
      assert.equal(u8[run.offset + PAGE - 1], run.stamp, "nobody else wrote here");
      api.regionGive(region, run.offset, 1);
    }
    api.verifyRegion(region);
    assert.equal(api.regionBytes(region), taken.length * PAGE);
  }
}

export function runArenaProgram(api: StructuresApi, random: Random, commands: number): void {
  const pages = 3 + random.below(40);
  const region = api.createRegion(createFakeMemory(64), pages);
  const arena = api.createArena(region);
  const sizes = Array.from({ length: 3 }, () => 1 + random.below(64));
  sizes.push(1 + random.below(512), 513 + random.below(8000), 8193 + random.below(57_000));
  if (random.below(3) === 0) sizes.push(65_537 + random.below(300_000));
  const taken: Array<{ handle: number; bytes: number; stamp: number }> = [];
  for (let command = 0; command < commands; command++) {
    // The program grows for a while, then it shrinks.
    const grows = (command >> 7) % 2 === 0;
    if (random.below(8) < (grows ? 6 : 2)) {
      const bytes = sizes[random.below(sizes.length)] as number;
      const handle = api.arenaTake(arena, bytes);
      if (handle === 0) verifyExhausted(api, arena, bytes);
      else {
        const stamp = 1 + random.below(200);
        region.views.u8.fill(stamp, handle * 8, handle * 8 + bytes);
        taken.push({ handle, bytes, stamp });
      }
    } else if (taken.length > 0) {
      const [object] = taken.splice(random.below(taken.length), 1) as [(typeof taken)[0]];
      verifyStamp(region, object);
      api.arenaGive(arena, object.handle, object.bytes);
    }
    api.verifyArena(arena);
    if (command % 8 === 0) api.verifyRegion(region);
    const rounded = taken.reduce((sum, o) => sum + arenaRoundedBytes(arena, o.bytes), 0);
    assert.equal(api.arenaUsedBytes(arena), rounded);
    assert.equal(arenaBytes(arena), api.regionBytes(region));
  }
  for (const object of taken) {
    verifyStamp(region, object);
    api.arenaGive(arena, object.handle, object.bytes);
  }
  assert.ok(arenaBytes(arena) <= sizes.length * PAGE, "one spare page a kind at most");
  api.arenaTrim(arena);
  api.verifyArena(arena);
  assert.equal(arenaBytes(arena) + api.regionBytes(region), 0);
}

/** No run of free pages was long enough. */
function verifyExhausted(api: StructuresApi, arena: Arena, bytes: number): void {
  const { free, end, pageCountMax } = arena.region;
  const need = Math.ceil(bytes / PAGE);
  for (let at = 0; at < free.length; at += 2) assert.ok((free[at + 1] as number) < need);
  const last = free.length - 2;
  const touches = last >= 0 && (free[last] as number) + (free[last + 1] as number) * PAGE === end;
  const idle = touches ? (free[last + 1] as number) : 0;
  const left = pageCountMax - end / PAGE + idle;
  assert.ok(left < need, `${left} pages were left for ${need}`);
  api.verifyRegion(arena.region);
}

function verifyStamp(
  region: Region,
  object: { handle: number; bytes: number; stamp: number },
): void {
  const { u8 } = region.views;
  const start = object.handle * 8;
  for (let at = start; at < start + object.bytes; at++) {
    if (u8[at] !== object.stamp) assert.fail("nobody else wrote into the object");
  }
}

export function runTreapProgram(api: StructuresApi, random: Random, commands: number): void {
  const region = api.createRegion(createFakeMemory(32));
  const arena = api.createArena(region);
  const keys = 1 + random.below(500);
  const model: Entry[] = [];
  let root = 0;
  for (let command = 0; command < commands; command++) {
    if (random.below(64 + model.length) < 64) {
      const key = random.below(keys) - (keys >> 1);
      const item = api.arenaTake(arena, ITEM_BYTES);
      region.views.f64[item + 1] = key;
      root = api.treapInsert(region, root, item);
      insertSorted(model, { item, key, tie: item });
    } else {
      const [entry] = model.splice(random.below(model.length), 1) as [Entry];
      root = api.treapRemove(region, root, entry.item);
      api.arenaGive(arena, entry.item, ITEM_BYTES);
    }
    assert.equal(api.verifyTreap(region, root), model.length);
    assert.equal(api.treapFirst(region, root), model[0]?.item ?? 0);
    assert.equal(api.treapLast(region, root), model.at(-1)?.item ?? 0);
    const sought = random.below(keys) - (keys >> 1);
    const found = api.treapFind(region, root, sought);
    assert.equal(
      found !== 0,
      model.some((entry) => entry.key === sought),
    );
    if (found !== 0) assert.equal(region.views.f64[found + 1], sought);
    const at = random.below(model.length);
    const entry = model[at];
    if (entry === undefined) continue;
    assert.equal(api.treapNext(region, root, entry.item), model[at + 1]?.item ?? 0);
    assert.equal(api.treapPrevious(region, root, entry.item), model[at - 1]?.item ?? 0);
  }
}

export function runLaneProgram(api: StructuresApi, random: Random, commands: number): void {
  const region = api.createRegion(createFakeMemory(32));
  const arena = api.createArena(region);
  const lane = api.arenaTake(arena, LANE_BYTES);
  api.laneInit(region, lane, -7);
  const cursor = api.createLaneCursor();
  const model: Entry[] = [];
  const away: Entry[] = [];
  let serial = 0;
  const insert = (entry: Entry): void => {
    region.views.f64[entry.item + 1] = entry.key;
    api.laneInsert(region, lane, entry.item);
    insertSorted(model, entry);
  };
  for (let command = 0; command < commands; command++) {
    const choice = random.below(10);
    if (choice < 4) {
      serial++;
      // Two orders that rise, on both sides of zero, and one that falls.
      const key = [serial, serial, serial, serial - 1e9, serial - 1e9, -serial][
        random.below(6)
      ] as number;
      insert({ item: api.arenaTake(arena, ITEM_BYTES), key, tie: 0 });
    } else if (choice === 4 && model.length > 0 && random.below(2) === 0) {
      // Another item stands in the place of one.
      const entry = model[random.below(model.length)] as Entry;
      const item = api.arenaTake(arena, ITEM_BYTES);
      region.views.f64[item + 1] = entry.key;
      api.laneReplace(region, lane, entry.item, item);
      assert.equal(region.views.u32[entry.item * 2 + 4], 0, "stands nowhere");
      api.arenaGive(arena, entry.item, ITEM_BYTES);
      model[model.indexOf(entry)] = { ...entry, item };
    } else if (choice < 6 && away.length > 0) {
      // A removed entry returns to its old place.
      insert(away.splice(random.below(away.length), 1)[0] as Entry);
    } else if (model.length > 0) {
      const sides = [0, model.length - 1, random.below(model.length)];
      const at = sides[random.below(3)] as number;
      const [entry] = model.splice(at, 1) as [Entry];
      api.laneRemove(region, lane, entry.item);
      assert.equal(region.views.u32[entry.item * 2 + 4], 0, "stands nowhere");
      if (random.below(2) === 0) away.push(entry);
      else api.arenaGive(arena, entry.item, ITEM_BYTES);
    }
    assert.equal(api.verifyLane(region, lane), model.length);
    assert.equal(api.laneCount(region, lane), model.length);
    assert.equal(api.laneFirst(region, lane), model[0]?.item ?? 0);
    assert.equal(api.laneLast(region, lane), model.at(-1)?.item ?? 0);
    if (command % 16 !== 0) continue;
    const isForward = random.below(2) === 0;
    const order = isForward ? model : model.toReversed();
    api.laneOpen(region, lane, cursor, isForward);
    for (const entry of order) assert.equal(api.laneStep(region, cursor), entry.item);
    assert.equal(api.laneStep(region, cursor), 0);
  }
  assert.equal(api.lanePriority(region, lane), -7);
}

export function runRanksProgram(api: StructuresApi, random: Random, commands: number): void {
  // Few pages: items and lanes compete for them, so that a lane is refused now and then.
  const region = api.createRegion(createFakeMemory(8), 3 + random.below(3));
  const arena = api.createArena(region);
  const owner = api.arenaTake(arena, 64);
  region.views.u32[owner * 2 + OWNER_WORD] = 0;
  const priorities = [1, 3, 5000][random.below(3)] as number;
  const model = new Map<number, Entry[]>();
  const ballast: number[] = [];
  let serial = 0;
  let count = 0;
  const root = (): number => region.views.u32[owner * 2 + OWNER_WORD] as number;
  for (let command = 0; command < commands; command++) {
    const grows = (command >> 8) % 2 === 0;
    const priority = (random.below(priorities) - (priorities >> 1)) * 2 ** 40;
    if (random.below(8) < (grows ? 6 : 2)) {
      // Room for items and none for lanes: the larger ones take every page.
      if (random.below(16) === 0) takeBallast(api, arena, ballast);
      const item = api.arenaTake(arena, ITEM_BYTES);
      if (item === 0) continue;
      const key = ++serial;
      region.views.f64[item + 1] = key;
      const before = root();
      if (!api.ranksInsert(arena, owner, OWNER_WORD, priority, item)) {
        assert.equal(model.has(priority), false, "an old lane has room");
        assert.equal(root(), before);
        api.arenaGive(arena, item, ITEM_BYTES);
      } else {
        model.set(priority, [...(model.get(priority) ?? []), { item, key, tie: 0 }]);
        count++;
      }
    } else {
      for (const handle of ballast.splice(0)) api.arenaGive(arena, handle, PAGE);
      const lanes = [...model];
      const chosen = lanes[random.below(lanes.length)];
      if (chosen === undefined) continue;
      const [of, entries] = chosen;
      const [entry] = entries.splice(random.below(entries.length), 1) as [Entry];
      api.ranksRemove(arena, owner, OWNER_WORD, of, entry.item);
      api.arenaGive(arena, entry.item, ITEM_BYTES);
      if (entries.length === 0) model.delete(of);
      count--;
    }
    assert.equal(api.verifyRanks(arena, root()), count);
    verifyRanksOrder(api, arena, root(), model);
    const used = ballast.length * PAGE + count * ITEM_BYTES + model.size * LANE_BYTES + 64;
    assert.equal(api.arenaUsedBytes(arena), used, "nothing is kept for a lane that is gone");
  }
}

function takeBallast(api: StructuresApi, arena: Arena, ballast: number[]): void {
  for (let handle = api.arenaTake(arena, PAGE); handle !== 0; handle = api.arenaTake(arena, PAGE)) {
    ballast.push(handle);
  }
}

function verifyRanksOrder(
  api: StructuresApi,
  arena: Arena,
  root: number,
  model: Map<number, Entry[]>,
): void {
  const order = [...model.keys()].sort((a, b) => b - a);
  let lane = api.ranksBest(arena, root);
  for (const priority of order) {
    assert.equal(api.lanePriority(arena.region, lane), priority);
    assert.equal(api.ranksFind(arena, root, priority), lane);
    assert.equal(api.laneFirst(arena.region, lane), model.get(priority)?.[0]?.item);
    if (priority === order.at(-1)) assert.equal(api.ranksWorst(arena, root), lane);
    lane = api.ranksNext(arena, root, lane);
  }
  assert.equal(lane, 0);
}

export function runHeapProgram(api: StructuresApi, random: Random, commands: number): void {
  const region = api.createRegion(createFakeMemory(64), 4 + random.below(48));
  const arena = api.createArena(region);
  const heap = api.createHeap(region);
  const model: Entry[] = [];
  const keys = [1, 50, 2 ** 31][random.below(3)] as number;
  let serial = 0;
  assert.equal(api.heapPop(heap), 0);
  for (let command = 0; command < commands; command++) {
    const choice = random.below(8);
    const grows = (command >> 9) % 2 === 0;
    const chosen = model[random.below(model.length)];
    if (choice < (grows ? 4 : 1) || chosen === undefined) {
      const entry = {
        item: api.arenaTake(arena, ITEM_BYTES),
        key: random.below(keys),
        tie: ++serial,
      };
      if (entry.item === 0) continue;
      region.views.u32[entry.item * 2 + 4] = 0;
      if (api.heapPush(heap, entry.item, entry.key, entry.tie)) insertSorted(model, entry);
      else api.arenaGive(arena, entry.item, ITEM_BYTES);
    } else if (choice < 5) {
      assert.equal(api.heapPeekKey(heap), model[0]?.key);
      assert.equal(api.heapPeekHandle(heap), model[0]?.item);
      assert.equal(api.heapPop(heap), model[0]?.item);
      const [entry] = model.splice(0, 1) as [Entry];
      assert.equal(region.views.u32[entry.item * 2 + 4], 0, "stands nowhere");
      api.arenaGive(arena, entry.item, ITEM_BYTES);
    } else if (choice < 6) {
      api.heapRemove(heap, chosen.item);
      model.splice(model.indexOf(chosen), 1);
      api.arenaGive(arena, chosen.item, ITEM_BYTES);
    } else {
      model.splice(model.indexOf(chosen), 1);
      chosen.key = random.below(keys);
      chosen.tie = random.below(2) === 0 ? ++serial : -++serial;
      api.heapUpdate(heap, chosen.item, chosen.key, chosen.tie);
      assert.equal(api.heapKeyOf(heap, chosen.item), chosen.key);
      insertSorted(model, chosen);
    }
    assert.equal(api.verifyHeap(heap), model.length);
    assert.equal(api.heapCount(heap), model.length);
  }
  api.verifyRegion(region);
  verifyHeapScan(api, heap, model);
  const held = api.regionBytes(region) - arenaBytes(arena);
  assert.equal((heap.keyPageCount + heap.handlePageCount) * PAGE, held);
  for (const entry of model) {
    if (heap.count > 0) assert.equal(api.heapPop(heap), entry.item);
    assert.equal(region.views.u32[entry.item * 2 + 4], 0, "stands nowhere");
  }
  assert.equal(api.verifyHeap(heap), 0);
  assert.equal(api.heapPeekKey(heap), Number.POSITIVE_INFINITY);
  assert.equal(api.heapPeekHandle(heap), 0);
}

function verifyHeapScan(
  api: StructuresApi,
  heap: ReturnType<StructuresApi["createHeap"]>,
  model: Entry[],
): void {
  const seen = new Set<number>();
  for (let index = 0; index < model.length; index++) seen.add(api.heapAt(heap, index));
  assert.deepEqual(seen, new Set(model.map((entry) => entry.item)));
}

/** Sorted by key, then tie, then item. */
function insertSorted(model: Entry[], entry: Entry): void {
  let low = 0;
  let high = model.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    const other = model[middle] as Entry;
    const order = other.key - entry.key || other.tie - entry.tie || other.item - entry.item;
    if (order < 0) low = middle + 1;
    else high = middle;
  }
  model.splice(low, 0, entry);
}

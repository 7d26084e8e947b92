/** Random programs over the off-heap structures, and broken copies that the programs must catch. */
import { afterAll, describe, expect, test } from "vitest";
import type { Random } from "../../src/base/random.ts";
import * as arena from "../../src/memory/arena.ts";
import * as arenaVerify from "../../src/memory/verify-arena.ts";
import * as region from "../../src/memory/region.ts";
import * as heap from "../../src/structures/ordering/heap.ts";
import * as lane from "../../src/structures/ordering/lane.ts";
import * as ranks from "../../src/structures/ordering/ranks.ts";
import * as treap from "../../src/structures/ordering/treap.ts";
import { commandsOf, seeded, testSeed } from "../support/seed.ts";
import {
  type Edit,
  loadBroken,
  removeCopies,
  type StructuresApi,
} from "../support/structures-api.ts";
import * as programs from "../support/structures-programs.ts";

const api: StructuresApi = {
  ...arena,
  ...arenaVerify,
  ...region,
  ...heap,
  ...lane,
  ...ranks,
  ...treap,
};

type Program = (api: StructuresApi, random: Random, commands: number) => void;

const CASES: Array<[string, Program, number]> = [
  [
    "region: runs are zeroed, apart, joined and refused only at the limit",
    programs.runRegionProgram,
    400,
  ],
  [
    "arena: objects of all sizes keep their bytes and nothing is lost",
    programs.runArenaProgram,
    1500,
  ],
  ["treap: sorted as the model through inserts and removals", programs.runTreapProgram, 1500],
  [
    "lane: order of keys, both ends, both ways, with items that come back",
    programs.runLaneProgram,
    1500,
  ],
  [
    "ranks: best to worst, lanes made and freed, memory refused whole",
    programs.runRanksProgram,
    1200,
  ],
  ["heap: pops, removals and updates as the model's", programs.runHeapProgram, 2500],
];

describe("structures against their models", () => {
  for (const [name, program, commands] of CASES) {
    test(name, () => {
      const seed = testSeed(name);
      let rounds = 0; // a program throws at the first difference
      for (; rounds < 5; rounds++)
        seeded(seed + rounds, (random) => program(api, random, commandsOf(commands)));
      expect(rounds).toBe(5);
    });
  }
});

const BROKEN: Array<[string, Program, Edit]> = [
  [
    "region: a run that comes back is not zeroed",
    programs.runRegionProgram,
    {
      file: "memory/region",
      find: "if (offset < region.dirtyEnd) region.views.u8.fill(0, offset, region.dirtyEnd);",
      put: "",
    },
  ],
  [
    "region: views are not remade on growth",
    programs.runRegionProgram,
    { file: "memory/region", find: "  region.views = viewsOf(region.memory.buffer);\n", put: "" },
  ],
  [
    "region: a run is not joined with the one before it",
    programs.runRegionProgram,
    {
      file: "memory/region",
      find: "  if (at > 0) {\n    at -= 2;",
      put: "  if (at < 0) {\n    at -= 2;",
    },
  ],
  [
    "arena: an empty page is neither kept nor given back",
    programs.runArenaProgram,
    { file: "memory/arena", find: "    arena.spares[kind] = page;\n", put: "" },
  ],
  [
    "arena: a free object is forgotten",
    programs.runArenaProgram,
    { file: "memory/arena", find: "  meta[at + ARENA_FREE_WORD] = handle;\n", put: "" },
  ],
  [
    "lane: the neighbour's link back is not mended",
    programs.runLaneProgram,
    {
      file: "structures/ordering/lane",
      find: "if (next !== 0) u32[next * 2 + ITEM_RIGHT_WORD] = previous;",
      put: "if (next !== 0) u32[next * 2 + ITEM_RIGHT_WORD] = next;",
    },
  ],
  [
    "arena: a page that falls empty stays in its list",
    programs.runArenaProgram,
    { file: "memory/arena", find: "if (!wasFull) unlink(arena, kind, page);", put: "" },
  ],
  [
    "arena: a page that was full is not listed again",
    programs.runArenaProgram,
    { file: "memory/arena", find: "} else if (wasFull) link(arena, kind, page);", put: "}" },
  ],
  [
    "arena: one object too many in a page",
    programs.runArenaProgram,
    {
      file: "memory/arena",
      find: "(u === 0 ? 0 : Math.floor(ARENA_PAGE_HANDLES / u))",
      put: "(u === 0 ? 0 : Math.ceil(ARENA_PAGE_HANDLES / u))",
    },
  ],
  [
    "treap: the next of equal keys is passed over",
    programs.runTreapProgram,
    {
      file: "structures/ordering/treap",
      find: "if (atKey > key || (atKey === key && at > item)) {",
      put: "if (atKey > key) {",
    },
  ],
  [
    "treap: a merge forgets the rank",
    programs.runTreapProgram,
    {
      file: "structures/ordering/treap",
      find: "rankOf(lower) > rankOf(upper)",
      put: "rankOf(lower) !== 0",
    },
  ],
  [
    "lane: an older item is appended",
    programs.runLaneProgram,
    {
      file: "structures/ordering/lane",
      find: "tail === 0 || key > (f64[tail + ITEM_KEY_FIELD] as number)",
      put: "tail === 0 || key >= (f64[tail + ITEM_KEY_FIELD] as number) - 2",
    },
  ],
  [
    "lane: the last item below zero is removed, and stays it",
    programs.runLaneProgram,
    {
      file: "structures/ordering/lane",
      find: "if (u32[at + LANE_BELOW_WORD] === item) u32[at + LANE_BELOW_WORD] = previous;",
      put: "",
    },
  ],
  [
    "lane: what comes behind the last item below zero is put before it",
    programs.runLaneProgram,
    {
      file: "structures/ordering/lane",
      find: "if (key < 0 && key > (f64[below + ITEM_KEY_FIELD] as number)) {",
      put: "if (key < 0) {",
    },
  ],
  [
    "lane: the last item below zero is replaced, and stays it",
    programs.runLaneProgram,
    {
      file: "structures/ordering/lane",
      find: "if (u32[lane * 2 + LANE_BELOW_WORD] === item) u32[lane * 2 + LANE_BELOW_WORD] = other;",
      put: "",
    },
  ],
  [
    "lane: the side's place is not written",
    programs.runLaneProgram,
    {
      file: "structures/ordering/lane",
      find: "u32[word + ITEM_PLACE_WORD] = PLACE_SIDE;",
      put: "",
    },
  ],
  [
    "lane: the head alone answers for the first",
    programs.runLaneProgram,
    {
      file: "structures/ordering/lane",
      find: "if (root === 0) return head;",
      put: "if (head !== 0) return head;",
    },
  ],
  [
    "ranks: an empty lane is not freed",
    programs.runRanksProgram,
    { file: "structures/ordering/ranks", find: "  arenaGive(arena, lane, LANE_BYTES);\n", put: "" },
  ],
  [
    "ranks: a new lane pushes the others out",
    programs.runRanksProgram,
    {
      file: "structures/ordering/ranks",
      find: "u32[ownerHandle * 2 + ownerWord] = treapInsert(region, root, lane);",
      put: "u32[ownerHandle * 2 + ownerWord] = lane;",
    },
  ],
  [
    "heap: the place of what moves is wiped on the way up",
    programs.runHeapProgram,
    {
      file: "structures/ordering/heap",
      find: "    position = parent;\n",
      put: "    u32[moved * 2 + ITEM_PLACE_WORD] = 0;\n    position = parent;\n",
    },
  ],
  [
    "heap: the fourth child is never looked at",
    programs.runHeapProgram,
    {
      file: "structures/ordering/heap",
      find: "Math.min(end - first, 4)",
      put: "Math.min(end - first, 3)",
    },
  ],
  [
    "heap: the entry that fills a gap never goes up",
    programs.runHeapProgram,
    {
      file: "structures/ordering/heap",
      find: "if (lastKey < key || (lastKey === key && lastTie < tie)) siftUp(heap, position);",
      put: "if (lastKey < -1) siftUp(heap, position);",
    },
  ],
  [
    "heap: ties are not looked at on the way up",
    programs.runHeapProgram,
    {
      file: "structures/ordering/heap",
      find: "if (parentKey === key && parentTie <= tie) break;",
      put: "if (parentKey === key) break;",
    },
  ],
];

describe("a broken copy is caught", () => {
  afterAll(removeCopies);

  test("and a copy without a fault is not", async () => {
    const copy = await loadBroken({
      file: "memory/arena",
      find: "const POISON = 0xdb;",
      put: "const POISON = 0xda;",
    });
    expect(() => {
      for (const [, program, commands] of CASES)
        seeded(1, (random) => program(copy, random, commands));
    }).not.toThrow();
  });
  for (const [name, program, edit] of BROKEN) {
    test(name, async () => {
      const broken = await loadBroken(edit);
      const commands = CASES.find((row) => row[1] === program)?.[2] ?? 1000;
      expect(() => {
        for (let seed = 1; seed <= 24; seed++)
          seeded(seed, (random) => program(broken, random, commands));
      }).toThrow("SEED=");
    });
  }
});

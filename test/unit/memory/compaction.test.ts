import { describe, expect, it } from "vitest";
import { type Arena, arenaGive, arenaTake, createArena } from "../../../src/memory/arena.ts";
import { compact, openCompaction } from "../../../src/memory/compaction.ts";
import { createRegion, verifyRegion } from "../../../src/memory/region.ts";
import { verifyArena } from "../../../src/memory/verify-arena.ts";
import { arenaBytes } from "../../support/arena-sizes.ts";
import { createFakeMemory } from "../../support/fake-memory.ts";
import { testRandom } from "../../support/seed.ts";

const PAGE = 65_536;
const SIZES = [24, 128, 128, 128, 1_000];

interface Kept {
  handle: number;
  readonly bytes: number;
  readonly mark: number;
}

describe("compaction", () => {
  /** Objects, of which most have left again. */
  function thinned(arena: Arena, random: () => number, left: number): Kept[] {
    const all: Kept[] = [];
    for (let mark = 1; mark <= 20_000; mark++) {
      const bytes = SIZES[Math.floor(random() * SIZES.length)] as number;
      const handle = arenaTake(arena, bytes);
      for (const at of [0, bytes - 4]) arena.region.views.u32[(handle * 8 + at) / 4] = mark;
      all.push({ handle, bytes, mark });
    }
    return all.filter(({ handle, bytes }) => {
      if (random() < left) return true;
      arenaGive(arena, handle, bytes);
      return false;
    });
  }

  function expectWhole({ region }: Arena, kept: readonly Kept[]): void {
    const wrong = kept.filter(({ handle, bytes, mark }) =>
      [0, bytes - 4].some((at) => region.views.u32[(handle * 8 + at) / 4] !== mark),
    );
    expect(wrong).toEqual([]);
  }

  it("brings objects into as few pages as hold them, with what is in them", () => {
    const random = testRandom("compaction");
    const arena = createArena(createRegion(createFakeMemory(), 1024));
    const kept = thinned(arena, random.unit, 0.1);
    const before = arenaBytes(arena);
    const compaction = openCompaction(arena);
    for (const each of kept) each.handle = compact(compaction, each.handle, each.bytes);
    expectWhole(arena, kept);
    expect(new Set(kept.map(({ handle }) => handle)).size).toBe(kept.length);
    let pages = 0;
    for (const bytes of new Set(SIZES)) {
      const count = kept.filter((each) => each.bytes === bytes).length;
      const perPage = Math.floor(PAGE / Math.ceil(bytes / 8) / 8);
      const used = new Set(
        kept.filter((each) => each.bytes === bytes).map(({ handle }) => handle >>> 13),
      );
      if (bytes < 512) expect(used.size).toBe(Math.ceil(count / perPage));
      pages += used.size;
    }
    expect(arenaBytes(arena)).toBeLessThanOrEqual((pages + 3) * PAGE); // a spare page of each kind
    expect(arenaBytes(arena)).toBeLessThan(before / 3);
    verifyArena(arena);
    verifyRegion(arena.region);
  });

  it("moves what stands on the emptiest pages alone", () => {
    const arena = createArena(createRegion(createFakeMemory(), 1024));
    const random = testRandom("moves of a compaction");
    const perPage = PAGE / 128;
    const handles = Array.from({ length: 40 * perPage }, () => arenaTake(arena, 128));
    const first = (handles[0] as number) >>> 13;
    // Each page keeps more of its objects than the one before.
    const kept = handles.filter((handle) => {
      if (random.unit() < ((handle >>> 13) - first + 1) / 50) return true;
      arenaGive(arena, handle, 128);
      return false;
    });
    const counts = new Map<number, number>();
    for (const handle of kept) counts.set(handle >>> 13, (counts.get(handle >>> 13) ?? 0) + 1);
    const emptiest = [...counts.values()]
      .sort((a, b) => b - a)
      .slice(Math.ceil(kept.length / perPage));
    const compaction = openCompaction(arena);
    const moved = kept.filter((handle) => compact(compaction, handle, 128) !== handle).length;
    expect(moved).toBe(emptiest.reduce((sum, count) => sum + count, 0));
    expect(moved).toBeLessThan(kept.length / 3);
  });

  it("leaves what is not shown to it where it is, and takes no page", () => {
    const random = testRandom("compaction of some");
    const arena = createArena(createRegion(createFakeMemory(), 1024));
    const kept = thinned(arena, random.unit, 0.3);
    const before = arenaBytes(arena);
    const compaction = openCompaction(arena);
    kept.forEach((each, at) => {
      if (at % 3 > 0) each.handle = compact(compaction, each.handle, each.bytes);
      expect(arenaBytes(arena)).toBeLessThanOrEqual(before);
    });
    expectWhole(arena, kept);
    verifyArena(arena);
    for (const { handle, bytes } of kept) arenaGive(arena, handle, bytes);
    verifyArena(arena);
  });

  it("changes nothing where memory refuses", () => {
    const arena = createArena(createRegion(createFakeMemory(), 1024));
    const kept = thinned(arena, testRandom("compaction refused").unit, 0.1);
    arena.region.refuses = () => true;
    const compaction = openCompaction(arena);
    for (const { handle, bytes } of kept) expect(compact(compaction, handle, bytes)).toBe(handle);
    arena.region.refuses = undefined;
    expectWhole(arena, kept);
    verifyArena(arena);
  });
});

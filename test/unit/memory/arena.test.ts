import { describe, expect, test } from "vitest";
import { ARENA_LASTING_BYTES } from "../../../src/layout/memory/arena.ts";
import {
  arenaGive,
  arenaGiveLasting,
  arenaTake,
  arenaTakeLasting,
  arenaTrim,
  arenaUsedBytes,
  createArena,
} from "../../../src/memory/arena.ts";
import { verifyArena } from "../../../src/memory/verify-arena.ts";
import { createRegion, regionBytes, regionTake } from "../../../src/memory/region.ts";
import { arenaBytes, arenaRoundedBytes } from "../../support/arena-sizes.ts";
import { createFakeMemory } from "../../support/fake-memory.ts";

const PAGE = 65536;
const arenaOf = (pages = 1024) => createArena(createRegion(createFakeMemory(), pages));

describe("arena", () => {
  test("rounds up by at most 7 bytes to 512, by about an eighth to 8 KiB, by half to a page", () => {
    const arena = arenaOf();
    const wrong: number[] = [];
    for (let bytes = 1; bytes <= PAGE; bytes++) {
      const lost = arenaRoundedBytes(arena, bytes) - bytes;
      const most = bytes <= 512 ? 7 : bytes <= 8192 ? bytes / 7.9 : bytes;
      if (!(lost >= 0 && lost <= most)) wrong.push(bytes);
    }
    expect(wrong).toEqual([]);
  });

  test("serves a blob of 1 MiB as a run of pages and gives the run back", () => {
    const arena = arenaOf();
    const blob = arenaTake(arena, 1 << 20);
    expect(blob % 8192).toBe(0);
    expect(arenaBytes(arena)).toBe(1 << 20);
    expect(arenaUsedBytes(arena)).toBe(1 << 20);
    arena.region.views.u8.fill(1, blob * 8, blob * 8 + (1 << 20));
    arenaGive(arena, blob, 1 << 20);
    expect(regionBytes(arena.region)).toBe(0);
    verifyArena(arena);
  });

  test("serves objects of a whole page, one to a page", () => {
    const arena = arenaOf();
    const objects = [1, 2, 3].map(() => arenaTake(arena, PAGE));
    expect(new Set(objects.map((handle) => handle >>> 13)).size).toBe(3);
    for (const handle of objects) arenaGive(arena, handle, PAGE);
    verifyArena(arena);
    expect(arenaBytes(arena)).toBe(PAGE); // the spare page
  });

  test("hands out the last object that was given back first, while it is warm", () => {
    const arena = arenaOf();
    const [, second] = [arenaTake(arena, 48), arenaTake(arena, 48), arenaTake(arena, 48)];
    arenaGive(arena, second as number, 48);
    expect(arenaTake(arena, 48)).toBe(second);
  });

  test("gives empty pages back and keeps one of each kind, which trimming gives back too (I4)", () => {
    const arena = arenaOf();
    const objects = Array.from({ length: 5000 }, () => arenaTake(arena, 64));
    expect(arenaBytes(arena)).toBe(5 * PAGE);
    for (const handle of objects) arenaGive(arena, handle, 64);
    expect(arenaBytes(arena)).toBe(PAGE);
    verifyArena(arena);
    arenaTrim(arena);
    expect(arenaBytes(arena)).toBe(0);
    verifyArena(arena);
  });

  test("what lasts keeps no page of what stood beside it", () => {
    const arena = arenaOf();
    const lasting: number[] = [];
    const others: number[] = [];
    for (let count = 0; count < 5_000; count++) {
      lasting.push(arenaTakeLasting(arena));
      for (let each = 0; each < 4; each++) others.push(arenaTake(arena, ARENA_LASTING_BYTES));
    }
    for (const handle of others) arenaGive(arena, handle, ARENA_LASTING_BYTES);
    const perPage = Math.floor(PAGE / ARENA_LASTING_BYTES);
    const pages = Math.ceil(lasting.length / perPage);
    expect(arenaBytes(arena)).toBe((pages + 1) * PAGE); // and the spare page
    expect(new Set(lasting).size).toBe(lasting.length);
    verifyArena(arena);
    for (const handle of lasting) arenaGiveLasting(arena, handle);
    arenaTrim(arena);
    expect(arenaBytes(arena)).toBe(0);
    verifyArena(arena);
  });

  test("an object at a page's border does not make pages come and go", () => {
    const arena = arenaOf();
    for (let i = 0; i < 1024; i++) arenaTake(arena, 64);
    const pages: number[] = [];
    for (let i = 0; i < 10; i++) {
      const handle = arenaTake(arena, 64);
      pages.push(handle >>> 13);
      arenaGive(arena, handle, 64);
    }
    expect(new Set(pages).size).toBe(1);
  });

  test("answers 0 when the region is exhausted and takes spares of other kinds before that", () => {
    const arena = arenaOf(3); // pages 1 and 2
    arenaGive(arena, arenaTake(arena, 24), 24); // leaves a spare page behind
    const large = [arenaTake(arena, PAGE), arenaTake(arena, PAGE)];
    expect(large.every((handle) => handle !== 0)).toBe(true);
    expect(arenaTake(arena, 8)).toBe(0);
    expect(arenaTake(arena, 1 << 20)).toBe(0);
    verifyArena(arena);
    arenaGive(arena, large[0] as number, PAGE);
    expect(arenaTake(arena, 8)).not.toBe(0);
    verifyArena(arena);
  });

  test("shares its region with others", () => {
    const arena = arenaOf();
    const mine = arenaTake(arena, 8);
    const theirs = regionTake(arena.region, 2);
    const more = arenaTake(arena, PAGE);
    expect(more * 8).toBe(theirs + 2 * PAGE);
    arenaGive(arena, mine, 8);
    verifyArena(arena);
  });

  test("catches what is given twice, in the wrong size or where nothing starts", () => {
    const arena = arenaOf();
    const [first, second] = [arenaTake(arena, 64), arenaTake(arena, 64)] as [number, number];
    arenaGive(arena, first, 64);
    expect(() => arenaGive(arena, first, 64)).toThrow("I1");
    expect(() => arenaGive(arena, second, 72)).toThrow("size");
    expect(() => arenaGive(arena, second + 1, 64)).toThrow("start");
    expect(() => arenaGive(arena, second + 8, 64)).toThrow("handed out");
    verifyArena(arena);
  });

  test("verify sees a free list that was overwritten", () => {
    const arena = arenaOf();
    const objects = Array.from({ length: 9 }, () => arenaTake(arena, 32));
    for (const handle of objects.slice(0, 4)) arenaGive(arena, handle, 32);
    arena.region.views.u32[(objects[2] as number) * 2] = 0; // written after it was given back
    expect(() => verifyArena(arena)).toThrow("I2");
  });

  test("makes no JavaScript object per object and returns to its baseline", () => {
    const arena = arenaOf(4096);
    const baseline = arenaBytes(arena);
    let last = 0;
    for (let i = 0; i < 100_000; i++) {
      const handle = arenaTake(arena, 40);
      arena.region.views.u32[handle * 2 + 2] = last;
      last = handle;
    }
    expect(Object.keys(arena)).toHaveLength(11);
    while (last !== 0) {
      const next = arena.region.views.u32[last * 2 + 2] as number;
      arenaGive(arena, last, 40);
      last = next;
    }
    arenaTrim(arena);
    expect(arenaBytes(arena)).toBe(baseline);
  });
});

/** Sizes that an arena holds and rounds to, computed from its tables. */
import { ARENA_SLAB_BYTES_MAX, ARENA_SMALL_BYTES_MAX } from "../../src/layout/memory/arena.ts";
import { REGION_PAGE_BYTES } from "../../src/layout/memory/region.ts";
import type { Arena } from "../../src/memory/arena.ts";

/** Bytes of the region pages in use. */
export function arenaBytes(arena: Arena): number {
  return (arena.slabPages + arena.runPages) * REGION_PAGE_BYTES;
}

/** Bytes that `arenaTake(bytes)` reserves. */
export function arenaRoundedBytes(arena: Arena, bytes: number): number {
  if (bytes > ARENA_SLAB_BYTES_MAX) return Math.ceil(bytes / REGION_PAGE_BYTES) * REGION_PAGE_BYTES;
  const units = Math.ceil(bytes / 8);
  const kind = bytes <= ARENA_SMALL_BYTES_MAX ? units : (arena.kindOfUnits[units] as number);
  return (arena.units[kind] as number) * 8;
}

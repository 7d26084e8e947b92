/**
 * Compaction: objects of the arena move from the emptiest pages of their kind to the fullest, so that pages become free.
 *
 *   pages of a kind, fullest first   [■ ■ ■ ·] [■ · ■ ·] │ [· ■ · ·] [· · · ■]   ─▶   [■ ■ ■ ■] [■ ■ ■ ■]   two free
 *                                                        └ to be emptied
 *
 * The caller changes the handle wherever it is kept, and does nothing else with the arena meanwhile.
 *
 *   I1  No page is taken, and none that is to be emptied is filled: the others have room for all objects.
 */
import {
  ARENA_META_WORDS,
  ARENA_NEXT_WORD,
  ARENA_PAGE_SHIFT,
  ARENA_PREVIOUS_WORD,
  ARENA_USED_WORD,
} from "../layout/memory/arena.ts";
import { type Arena, arenaGive, arenaTake, kindOf } from "./arena.ts";

export interface Compaction {
  readonly arena: Arena;
  /** By kind, once an object of it was looked at: the pages to be emptied. */
  readonly sparse: (ReadonlySet<number> | undefined)[];
}

export function openCompaction(arena: Arena): Compaction {
  return { arena, sparse: [] };
}

/** Moves an object of so many bytes, at most ARENA_SLAB_BYTES_MAX, if its page is to be emptied; its handle from now on. */
export function compact({ arena, sparse }: Compaction, handle: number, bytes: number): number {
  const kind = kindOf(arena, bytes);
  sparse[kind] ??= sparsePages(arena, kind);
  if (!(sparse[kind] as ReadonlySet<number>).has(handle >>> ARENA_PAGE_SHIFT)) return handle;
  const moved = arenaTake(arena, bytes);
  if (moved === 0) return handle; // refused: it stays
  arena.region.views.u8.copyWithin(moved * 8, handle * 8, handle * 8 + bytes);
  arenaGive(arena, handle, bytes);
  return moved;
}

/** Puts the partly full pages of a kind in order, fullest first; those for whose objects the ones before have room. */
function sparsePages(arena: Arena, kind: number): ReadonlySet<number> {
  const { capacity, heads, meta } = arena;
  const usedOf = (page: number): number =>
    meta[page * ARENA_META_WORDS + ARENA_USED_WORD] as number;
  const pages: number[] = [];
  let used = 0;
  for (let page = heads[kind] as number; page !== 0; ) {
    pages.push(page);
    used += usedOf(page);
    page = meta[page * ARENA_META_WORDS + ARENA_NEXT_WORD] as number;
  }
  pages.sort((a, b) => usedOf(b) - usedOf(a));
  pages.forEach((page, at) => {
    meta[page * ARENA_META_WORDS + ARENA_PREVIOUS_WORD] = pages[at - 1] ?? 0;
    meta[page * ARENA_META_WORDS + ARENA_NEXT_WORD] = pages[at + 1] ?? 0;
  });
  heads[kind] = pages[0] ?? 0;
  return new Set(pages.slice(Math.ceil(used / (capacity[kind] as number))));
}

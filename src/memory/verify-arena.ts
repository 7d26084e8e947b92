/** Checks every invariant of an arena (memory/arena.ts) over all of its pages. Slow. */
import { assert } from "../base/assert.ts";
import {
  ARENA_FREE_WORD,
  ARENA_FRESH_WORD,
  ARENA_KIND_WORD,
  ARENA_META_WORDS,
  ARENA_NEXT_WORD,
  ARENA_PAGE_HANDLES,
  ARENA_PREVIOUS_WORD,
  ARENA_USED_WORD,
} from "../layout/memory/arena.ts";
import { REGION_PAGE_BYTES } from "../layout/memory/region.ts";
import type { Arena } from "./arena.ts";

/** Checks I1 to I4 over every page. */
export function verifyArena(arena: Arena): void {
  const { counts, heads, meta, region, spares } = arena;
  const found = new Uint32Array(counts.length);
  let pages = 0;
  let unlisted = 0;
  for (let page = 1; page * REGION_PAGE_BYTES < region.end; page++) {
    const kind = meta[page * ARENA_META_WORDS + ARENA_KIND_WORD] as number;
    if (kind === 0) continue;
    pages++;
    verifyPage(arena, page);
    const used = meta[page * ARENA_META_WORDS + ARENA_USED_WORD] as number;
    found[kind] = (found[kind] as number) + used;
    assert(used > 0 || spares[kind] === page, "I4: an empty page is the spare");
    if (used > 0 && used < (arena.capacity[kind] as number)) unlisted++;
  }
  assert(pages === arena.slabPages, "pages are counted");
  for (let kind = 1; kind < counts.length; kind++) {
    assert(found[kind] === counts[kind], "I2: objects are counted");
    let previous = 0;
    for (let page = heads[kind] as number; page !== 0; ) {
      const at = page * ARENA_META_WORDS;
      assert(meta[at + ARENA_KIND_WORD] === kind, "I3: a list is of one kind");
      assert(meta[at + ARENA_PREVIOUS_WORD] === previous, "I3: links agree");
      const used = meta[at + ARENA_USED_WORD] as number;
      assert(
        used > 0 && used < (arena.capacity[kind] as number),
        "I3: listed pages are partly full",
      );
      unlisted--;
      previous = page;
      page = meta[at + ARENA_NEXT_WORD] as number;
    }
  }
  assert(unlisted === 0, "I3: every partly full page is listed");
}

function verifyPage(arena: Arena, page: number): void {
  const { meta, region } = arena;
  const at = page * ARENA_META_WORDS;
  const kind = meta[at + ARENA_KIND_WORD] as number;
  const units = arena.units[kind] as number;
  const first = page * ARENA_PAGE_HANDLES;
  const fresh = meta[at + ARENA_FRESH_WORD] as number;
  const carved = (fresh - first) / units;
  assert(Number.isInteger(carved) && carved <= (arena.capacity[kind] as number), "I2: fresh");
  const seen = new Uint8Array(carved);
  let count = 0;
  let free = meta[at + ARENA_FREE_WORD] as number;
  for (; free !== 0; free = region.views.u32[free * 2] as number) {
    const index = (free - first) / units;
    assert(
      Number.isInteger(index) && index >= 0 && index < carved,
      "I1: a free object of the page",
    );
    assert(seen[index] === 0, "I1: an object is free once");
    seen[index] = 1;
    count++;
  }
  assert(count + (meta[at + ARENA_USED_WORD] as number) === carved, "I2: used + free = carved");
}

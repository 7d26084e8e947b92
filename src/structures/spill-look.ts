/**
 * What the seen-set says of all records of a block, asked at once, so that the cache misses of many look-ups overlap: whoever then
 * looks one of them up by itself finds it in a near cache. Owner: the frontier's thread.
 *
 *   page:  hashes u64 × rows │ values u32 × rows
 *
 *   I1  A value holds until the table changes; LOOK_NONE: the row has no identity.
 */
import { memoryFull } from "../base/errors.ts";
import { TABLE_SKIP } from "../layout/table.ts";
import { regionTake } from "../memory/region.ts";
import { tableFindBatch } from "./fingerprint-table.ts";
import { RECORD_FLAG_NO_IDENTITY, recordHi, recordLo } from "./record.ts";
import type { SeenSet } from "./seen-set.ts";
import { isGone } from "./spill-chain.ts";
import { isNameless } from "./spill-identity.ts";
import { entryFlags, entryHi, entryLo, entryWords } from "./spill-pack.ts";
import type { Store } from "./store.ts";

/** Of a row without identity: no handle, and not 0. */
const LOOK_NONE = TABLE_SKIP;

export interface Look {
  readonly store: Store;
  /** Words of the page. */
  readonly hashes: number;
  readonly values: number;
}

/** Room for so many rows. */
export function createLook(store: Store, rows: number): Look {
  const page = regionTake(store.region, 1);
  if (page === 0) throw memoryFull();
  return { store, hashes: page >> 2, values: (page >> 2) + rows * 2 };
}

/** Asks for records in memory. @hot */
export function lookRecords(look: Look, seen: SeenSet, handles: Uint32Array, count: number): void {
  const { store } = look;
  for (let row = 0; row < count; row++) {
    const record = handles[row] as number;
    if (isNameless(store, record)) skip(look, row);
    else note(look, row, recordLo(store, record), recordHi(store, record));
  }
  ask(look, seen, count);
}

/** Asks for the entries of a block that are there: a row for each, in their order. @hot */
export function lookEntries(
  look: Look,
  seen: SeenSet,
  { block, entries, words }: { block: number; entries: number; words: Uint32Array },
): void {
  let row = 0;
  for (let index = 0, at = 0; index < entries; index++) {
    if (!isGone(look.store, block, index)) {
      if ((entryFlags(words, at) & RECORD_FLAG_NO_IDENTITY) !== 0) skip(look, row);
      else note(look, row, entryLo(words, at), entryHi(words, at));
      row += 1;
    }
    at += entryWords(words, at);
  }
  ask(look, seen, row);
}

/** What the hot table says of a row: 0 where it knows nothing. @hot */
export function lookedUp({ store, values }: Look, row: number): number {
  return store.region.views.u32[values + row] as number;
}

function note({ store, hashes, values }: Look, row: number, lo: number, hi: number): void {
  const { u32 } = store.region.views;
  u32[hashes + row * 2] = lo;
  u32[hashes + row * 2 + 1] = hi;
  u32[values + row] = 0;
}

function skip({ store, values }: Look, row: number): void {
  store.region.views.u32[values + row] = LOOK_NONE;
}

function ask({ hashes, values }: Look, seen: SeenSet, rows: number): void {
  tableFindBatch(seen.table, hashes * 4, rows, values * 4);
}

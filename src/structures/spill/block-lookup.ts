/**
 * Looks up all records of a block in the seen-set at once, so that the cache misses of the look-ups overlap. A later look-up of one of
 * them finds it in a near cache. Owner: the frontier's thread.
 *
 *   page:  hashes u64 × rows │ values u32 × rows
 *
 *   I1  A value holds until the table changes; LOOKUP_NONE: the row has no identity.
 */
import { memoryFull } from "../../base/errors.ts";
import { TABLE_SKIP } from "../../layout/seen/table.ts";
import { regionTake } from "../../memory/region.ts";
import { tableFindBatch } from "../table/fingerprint-table.ts";
import { RECORD_FLAG_NO_IDENTITY, recordHi, recordLo } from "../records/record.ts";
import type { SeenSet } from "../seen/seen-set.ts";
import { isGone } from "./block-chain.ts";
import { isNameless } from "./spilled-identity.ts";
import { entryFlags, entryHi, entryLo, entryWords } from "./record-codec.ts";
import type { Store } from "../store.ts";

/** Of a row without identity: no handle, and not 0. */
const LOOKUP_NONE = TABLE_SKIP;

export interface BlockLookup {
  readonly store: Store;
  /** Words of the page. */
  readonly hashes: number;
  readonly values: number;
}

/** Room for so many rows. */
export function createBlockLookup(store: Store, rows: number): BlockLookup {
  const page = regionTake(store.region, 1);
  if (page === 0) throw memoryFull();
  return { store, hashes: page >> 2, values: (page >> 2) + rows * 2 };
}

/** Asks for records in memory. @hot */
export function lookUpRecords(
  look: BlockLookup,
  seen: SeenSet,
  handles: Uint32Array,
  count: number,
): void {
  const { store } = look;
  for (let row = 0; row < count; row++) {
    const record = handles[row] as number;
    if (isNameless(store, record)) skipRow(look, row);
    else setRow(look, row, recordLo(store, record), recordHi(store, record));
  }
  findRows(look, seen, count);
}

/** Asks for the entries of a block that are there: a row for each, in their order. @hot */
export function lookUpEntries(
  look: BlockLookup,
  seen: SeenSet,
  { block, entries, words }: { block: number; entries: number; words: Uint32Array },
): void {
  let row = 0;
  for (let index = 0, at = 0; index < entries; index++) {
    if (!isGone(look.store, block, index)) {
      if ((entryFlags(words, at) & RECORD_FLAG_NO_IDENTITY) !== 0) skipRow(look, row);
      else setRow(look, row, entryLo(words, at), entryHi(words, at));
      row += 1;
    }
    at += entryWords(words, at);
  }
  findRows(look, seen, row);
}

/** What the hot table holds of a row; 0: nothing. @hot */
export function lookedUpValue({ store, values }: BlockLookup, row: number): number {
  return store.region.views.u32[values + row] as number;
}

function setRow({ store, hashes, values }: BlockLookup, row: number, lo: number, hi: number): void {
  const { u32 } = store.region.views;
  u32[hashes + row * 2] = lo;
  u32[hashes + row * 2 + 1] = hi;
  u32[values + row] = 0;
}

function skipRow({ store, values }: BlockLookup, row: number): void {
  store.region.views.u32[values + row] = LOOKUP_NONE;
}

function findRows({ hashes, values }: BlockLookup, seen: SeenSet, rows: number): void {
  tableFindBatch(seen.table, hashes * 4, rows, values * 4);
}

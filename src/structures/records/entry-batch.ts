/**
 * Journal entries of the records that a batch has admitted, written by the kernel (assembly/journal/admitted-entries.ts) as far as they are
 * plain ones.
 *
 *   nameAdmitted, record by record ─▶ writeAdmitted(from) ─▶ entries in the scratch's text, until the next use of it
 *                                          ▲ the next one   │ the record it stopped at is the caller's
 *                                          └────────────────┘
 */
import {
  ENTRIES_END_WORD,
  ENTRIES_FROM_WORD,
  ENTRIES_LIMIT_WORD,
  ENTRIES_PARENT_WORD,
  ENTRIES_PRINT_WORD,
  ENTRIES_RECORDS_WORD,
} from "../../layout/calls/admitted-entries.ts";
import type { Scratch } from "./kernel-scratch.ts";

/** Names the record whose entry is number `index`, below SCRATCH_ROWS; the table keeps its handle in a slot. @hot */
export function nameAdmitted({ admitted, store }: Scratch, index: number, slot: number): void {
  const { u32 } = store.region.views;
  u32[(admitted >> 2) + index] = u32[slot >> 2] as number;
}

/** The record of entry number `index`. */
export function admittedRecord({ admitted, store }: Scratch, index: number): number {
  return store.region.views.u32[(admitted >> 2) + index] as number;
}

/** The parent that a group of entries named last: its handle, or 0, and its fingerprint. */
export interface NamedParent {
  parent: number;
  readonly print: Uint32Array;
}

/**
 * Writes the entries of named records from index `from` on; returns the index of the first that is the caller's to write, or the
 * count. `admittedWords` are the entries. @hot
 */
export function writeAdmitted(
  scratch: Scratch,
  from: number,
  count: number,
  named: NamedParent,
): number {
  const { entries, store, text, textBytes } = scratch;
  const { u32 } = store.region.views;
  const job = entries >> 2;
  u32[job + ENTRIES_RECORDS_WORD] = scratch.admitted;
  u32[job + ENTRIES_FROM_WORD] = text;
  u32[job + ENTRIES_LIMIT_WORD] = text + textBytes;
  u32[job + ENTRIES_PARENT_WORD] = named.parent;
  for (let at = 0; at < 4; at++) u32[job + ENTRIES_PRINT_WORD + at] = named.print[at] as number;
  const next = store.kernel.exports.writeAdmitted(entries, from, count);
  named.parent = u32[job + ENTRIES_PARENT_WORD] as number;
  for (let at = 0; at < 4; at++) named.print[at] = u32[job + ENTRIES_PRINT_WORD + at] as number;
  return next;
}

/** The entries that the last call has written; they hold until the next use of the scratch's text. */
export function admittedWords({ entries, store, text }: Scratch): Uint32Array {
  const { u32 } = store.region.views;
  return u32.subarray(text >> 2, (u32[(entries >> 2) + ENTRIES_END_WORD] as number) >> 2);
}

/**
 * Sightings: rows of a marked batch whose identity is known. Nearly all of them are duplicates and nothing more; what may be
 * more is left to the owner (src/frontier/admission/sighting.ts).
 *
 *   TABLE_NEW                          to be accepted: 0
 *   TABLE_CLAIMED                      duplicate: an earlier row of this batch, and so of this depth
 *   a visit that is over               duplicate
 *   a record, spilled or in memory     duplicate; noted where its depth is greater than the job's
 *   TABLE_SKIP                         noted: the owner knows why it is refused
 *
 *   I1  Nothing but codes, notes and the job is written.
 */
import { BATCH_COUNT_WORD, BATCH_VALUES_OFFSET_WORD } from "../../src/layout/calls/url-batch";
import {
  MAKE_BATCH_WORD,
  MAKE_CODES_WORD,
  MAKE_DEPTH_WORD,
  MAKE_DUPLICATES_WORD,
  MAKE_DUPLICATE_WORD,
  MAKE_NOTES_WORD,
} from "../../src/layout/calls/make-records";
import { RECORD_DEPTH_WORD } from "../../src/layout/records/record";
import { SPILL_DEPTH_MAX, SPILL_VALUE } from "../../src/layout/records/spill-block";
import { TABLE_CLAIMED, TABLE_NEW, TABLE_SKIP } from "../../src/layout/seen/table";
import { get, set } from "../batch-row";

const FINISHED_BIT: u32 = 1 << 31;
const CLAMP_16: u32 = 65_535;

/** Gives every row its code; returns how many rows are noted. The misses of their records overlap. @hot */
export function sightRows(job: usize): u32 {
  const batch = <usize>get(job, MAKE_BATCH_WORD);
  const count = get(batch, BATCH_COUNT_WORD);
  const values = <usize>get(batch, BATCH_VALUES_OFFSET_WORD);
  const codes = <usize>get(job, MAKE_CODES_WORD);
  const notes = <usize>get(job, MAKE_NOTES_WORD);
  const duplicate = get(job, MAKE_DUPLICATE_WORD);
  const depth = get(job, MAKE_DEPTH_WORD);
  let duplicates: u32 = 0;
  let noted: u32 = 0;
  for (let i: u32 = 0; i < count; i++) {
    const value = get(values, i);
    const isKnown = value !== TABLE_NEW && value !== TABLE_SKIP;
    store<u8>(codes + <usize>i, isKnown ? duplicate : 0);
    if (isKnown) duplicates++;
    if (!isKnown ? value === TABLE_SKIP : isDeeper(value, depth)) {
      store<u16>(notes + ((<usize>noted) << 1), i);
      noted++;
    }
  }
  set(job, MAKE_DUPLICATES_WORD, duplicates);
  return noted;
}

/** Whether what is known of an identity may be a record of a greater depth. */
function isDeeper(value: u32, depth: u32): bool {
  if ((value & FINISHED_BIT) !== 0 || value === TABLE_CLAIMED || value === 0) return false;
  if (value < <u32>SPILL_VALUE) {
    return depth < (get((<usize>value) << 3, RECORD_DEPTH_WORD) & CLAMP_16);
  }
  const held = value & <u32>SPILL_DEPTH_MAX;
  return held === <u32>SPILL_DEPTH_MAX || depth < held;
}

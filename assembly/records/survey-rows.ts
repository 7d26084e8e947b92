/**
 * Survey of a marked batch: what the owner must decide, and allocate, before its records are made.
 *
 *   value of a row                     verdict                                      besides
 *   TABLE_NEW                          0: to be accepted                            bytes of its record, its host asked in the index
 *   TABLE_CLAIMED                      duplicate: an earlier row of this batch, and so of this depth
 *   a visit that is over               duplicate
 *   a record, spilled or in memory     duplicate                                    noted where its depth is greater than the job's
 *   TABLE_SKIP                                                                      noted: the owner finds why it is refused
 *
 * Nearly all rows whose identity is known are duplicates and nothing more; what may be more is left to the owner
 * (src/frontier/admission/sighting.ts).
 *
 *   I1  Nothing but the job's arrays and fields, and claims of new hosts in the index, is written.
 */
import {
  BATCH_COUNT_WORD,
  BATCH_FLAG_USERINFO,
  BATCH_HOST_HASHES_OFFSET_WORD,
  BATCH_ROWS_OFFSET_WORD,
  BATCH_ROW_BYTES,
  BATCH_VALUES_OFFSET_WORD,
  ROW_FLAGS_WORD,
  ROW_PATH_START_WORD,
  ROW_VISIT_LENGTH_WORD,
} from "../../src/layout/calls/url-batch";
import {
  MAKE_BATCH_WORD,
  MAKE_CODES_WORD,
  MAKE_DEPTH_WORD,
  MAKE_DUPLICATES_WORD,
  MAKE_DUPLICATE_WORD,
  MAKE_FRESH_UNKNOWN,
  MAKE_FRESH_WORD,
  MAKE_HOSTS_WORD,
  MAKE_HOST_SLOTS_WORD,
  MAKE_INDEX_WORD,
  MAKE_LANES_WANTED_WORD,
  MAKE_NOTED_WORD,
  MAKE_NOTES_WORD,
  MAKE_PARENT_WORD,
  MAKE_RECORD_BYTES_MAX,
  MAKE_RULES_WORD,
  MAKE_RULE_WORD,
  MAKE_SIZES_WORD,
} from "../../src/layout/calls/make-records";
import { RECORD_DEPTH_WORD, RECORD_HEAD_BYTES } from "../../src/layout/records/record";
import { SPILL_DEPTH_MAX, SPILL_VALUE } from "../../src/layout/records/spill-block";
import {
  TABLE_CLAIMED,
  TABLE_NEED_WORD,
  TABLE_NEW,
  TABLE_SKIP,
  TABLE_SOFT_WORD,
} from "../../src/layout/seen/table";
import { at, get, set } from "../batch-row";
import { tableInsertBatch } from "../seen/table-batch";
import { listHosts } from "./make-hosts";
import { opensLane } from "./make-records";

const FINISHED_BIT: u32 = 1 << 31;
const CLAMP_16: u32 = 65_535;

/** Surveys all rows, asks the index for the hosts of the new ones, and counts the lanes that may be opened. @hot */
export function surveyRows(job: usize): void {
  const batch = <usize>get(job, MAKE_BATCH_WORD);
  const count = get(batch, BATCH_COUNT_WORD);
  const values = <usize>get(batch, BATCH_VALUES_OFFSET_WORD);
  sightRows(job, values, count);
  sizeRows(job, batch, values, count);
  set(job, MAKE_LANES_WANTED_WORD, countLanes(job, values, count));
  const index = <usize>get(job, MAKE_INDEX_WORD);
  set(index, TABLE_NEED_WORD, count);
  set(index, TABLE_SOFT_WORD, 1);
  const fresh = tableInsertBatch(
    index,
    <usize>get(batch, BATCH_HOST_HASHES_OFFSET_WORD),
    count,
    <usize>get(job, MAKE_HOSTS_WORD),
    <usize>get(job, MAKE_HOST_SLOTS_WORD),
  );
  set(job, MAKE_FRESH_WORD, fresh < 0 ? MAKE_FRESH_UNKNOWN : 0);
  if (fresh >= 0) listHosts(job);
}

/** Sets the code of every row, and lists those that the owner decides. The misses of their records overlap. */
function sightRows(job: usize, values: usize, count: u32): void {
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
  set(job, MAKE_NOTED_WORD, noted);
}

/** Bytes of every new row's record; its host is asked for (0), that of any other row is not (TABLE_SKIP). */
function sizeRows(job: usize, batch: usize, values: usize, count: u32): void {
  const hosts = <usize>get(job, MAKE_HOSTS_WORD);
  const sizes = <usize>get(job, MAKE_SIZES_WORD);
  const head = RECORD_HEAD_BYTES + (get(job, MAKE_PARENT_WORD) === 0 ? 0 : 4);
  let row = <usize>get(batch, BATCH_ROWS_OFFSET_WORD);
  for (let i: u32 = 0; i < count; i++, row += BATCH_ROW_BYTES) {
    const isNew = get(values, i) === TABLE_NEW;
    const isWhole = (get(row, ROW_FLAGS_WORD) & BATCH_FLAG_USERINFO) !== 0;
    const bytes = head + get(row, ROW_VISIT_LENGTH_WORD) - get(row, ROW_PATH_START_WORD);
    set(sizes, i, isNew && !isWhole && bytes <= MAKE_RECORD_BYTES_MAX ? bytes : 0);
    set(hosts, i, isNew ? 0 : TABLE_SKIP);
  }
}

/** One lane at most for each new row whose rule has none. */
function countLanes(job: usize, values: usize, count: u32): u32 {
  const rules = <usize>get(job, MAKE_RULES_WORD);
  if (rules === 0) return opensLane(at(get(job, MAKE_RULE_WORD))) ? 1 : 0;
  let lanes: u32 = 0;
  for (let i: u32 = 0; i < count; i++) {
    if (get(values, i) === TABLE_NEW && opensLane(at(get(rules, i)))) lanes++;
  }
  return lanes;
}

/** Whether what is known of an identity may be a record of a greater depth. */
function isDeeper(value: u32, depth: u32): bool {
  if ((value & FINISHED_BIT) !== 0 || value === TABLE_CLAIMED || value === 0) return false;
  if (value < <u32>SPILL_VALUE) return depth < (get(at(value), RECORD_DEPTH_WORD) & CLAMP_16);
  const held = value & <u32>SPILL_DEPTH_MAX;
  return held === <u32>SPILL_DEPTH_MAX || depth < held;
}

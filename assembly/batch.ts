/**
 * Room `assembly`: the AssemblyScript kernel; index.ts is its ABI. Decides nothing: bytes in, bytes out. May touch
 * src/layout.
 */

/**
 * The calls that do a whole batch (layout/calls/url-batch.ts), so that a URL crosses from JavaScript once, and a plain batch under one
 * rule crosses twice: admitBatch, then makeBatch.
 *
 *   several rules    parseBatch ─▶ (rules are matched) ─▶ settleBatch
 *   one rule         admitBatch = parseBatch + settleBatch
 *
 * settleBatch keys and hashes the rows that are BATCH_OK and, with a table, inserts their hashes; with a job, surveyRows follows
 * (records/survey-rows.ts). It stops before anything that needs JavaScript:
 *
 *   result                what is done
 *   0 …                   everything; so many hashes are new
 *   BATCH_IN_STEPS (−1)   parsed and keyed but for the rows flagged so; nothing is hashed
 *   −2 …                  hashed; the table must grow first, nothing is inserted
 */
import {
  BATCH_COUNT_WORD,
  BATCH_HASHES_OFFSET_WORD,
  BATCH_OK,
  BATCH_ROW_BYTES,
  BATCH_ROWS_OFFSET_WORD,
  BATCH_SLOTS_OFFSET_WORD,
  BATCH_VALUES_OFFSET_WORD,
  ROW_STATUS_WORD,
} from "../src/layout/calls/url-batch";
import { TABLE_NEED_WORD, TABLE_SKIP, TABLE_SOFT_WORD } from "../src/layout/seen/table";
import { hashBatch } from "./seen/fingerprint";
import { keyBatch } from "./url/dedup-key";
import { surveyRows } from "./records/survey-rows";
import { parseBatch } from "./url/parse-url";
import { tableInsertBatch } from "./seen/table-batch";

const BATCH_IN_STEPS: i32 = -1;

/** Raw bytes to table and survey in one crossing; `table` 0: parsed, keyed and hashed alone. */
export function admitBatch(batch: i32, table: i32, job: i32): i32 {
  const isLeft = parseBatch(batch) > 0;
  const settled = settleBatch(batch, isLeft ? 0 : table, job);
  return isLeft ? BATCH_IN_STEPS : settled;
}

/** Keys, hashes and (with a table) inserts the rows that are BATCH_OK; once all are inserted the job is surveyed, unless it is 0. */
export function settleBatch(batch: i32, table: i32, job: i32): i32 {
  if (keyBatch(batch) > 0) return BATCH_IN_STEPS;
  hashBatch(batch);
  if (table === 0) return 0;
  const header = <usize>(<u32>batch);
  const count = load<u32>(header, BATCH_COUNT_WORD << 2);
  const values = <usize>load<u32>(header, BATCH_VALUES_OFFSET_WORD << 2);
  let row = <usize>load<u32>(header, BATCH_ROWS_OFFSET_WORD << 2);
  for (let i: u32 = 0; i < count; i++) {
    const isOk = load<u32>(row, ROW_STATUS_WORD << 2) === BATCH_OK;
    store<u32>(values + (i << 2), isOk ? 0 : TABLE_SKIP);
    row += BATCH_ROW_BYTES;
  }
  const into = <usize>(<u32>table);
  store<u32>(into, count, TABLE_NEED_WORD << 2);
  store<u32>(into, 1, TABLE_SOFT_WORD << 2);
  const fresh = tableInsertBatch(
    into,
    <usize>load<u32>(header, BATCH_HASHES_OFFSET_WORD << 2),
    count,
    values,
    <usize>load<u32>(header, BATCH_SLOTS_OFFSET_WORD << 2),
  );
  if (fresh >= 0 && job !== 0) surveyRows(<usize>(<u32>job));
  return fresh;
}

/**
 * The second half of a batch whose rows were matched to rules between two kernel calls: keys under each row's own policy, then hashes. If
 * no row needs JavaScript, the hashes are inserted into the table too.
 *
 *   batchParse ─▶ rules ─▶ batchSettle     one policy for all rows: one kernel call; several policies: one call per key and one for
 *                                          all hashes
 */
import {
  BATCH_NEEDS_KEY,
  BATCH_OK,
  BATCH_POLICY_OFFSET_WORD,
} from "../../layout/calls/url-batch.ts";
import { type BatchTarget, NOT_INSERTED } from "./url-batch.ts";
import type { ParsedBatch, UrlBatch } from "./batch-memory.ts";
import { keyLeft } from "./parser-fallback.ts";
import { placePolicy } from "./write-rows.ts";
import { isScriptKey, type NormalPolicy } from "../keys/key-policy.ts";
import { rowStatus } from "./row-fields.ts";

const IN_STEPS = -1;

/**
 * Keys and hashes the parsed rows that are BATCH_OK, each under `policyOf(row)`. If `sole` is the policy of them all, also inserts them
 * into the target's table, and surveys them. Returns how many are new, or NOT_INSERTED.
 */
export function batchSettle(
  batch: ParsedBatch,
  sole: NormalPolicy | undefined,
  policyOf: (row: number) => NormalPolicy,
  { table, job }: BatchTarget,
): number {
  const { kernel, header } = batch.area;
  if (sole === undefined || isScriptKey(sole)) {
    keyEach(batch, policyOf);
    kernel.exports.hashBatch(header);
    return NOT_INSERTED;
  }
  place(batch, sole);
  const result = kernel.exports.settleBatch(header, table, job);
  if (result === IN_STEPS) {
    for (let row = 0; row < batch.count; row++) keyLeft(batch, row, BATCH_NEEDS_KEY, sole);
    kernel.exports.hashBatch(header);
  }
  return result >= 0 && table !== 0 ? result : NOT_INSERTED;
}

function keyEach(batch: UrlBatch, policyOf: (row: number) => NormalPolicy): void {
  const { kernel, header } = batch.area;
  const rows = { kernel, offset: header };
  let placed: NormalPolicy | undefined;
  for (let row = 0; row < batch.count; row++) {
    if (rowStatus(rows, row) !== BATCH_OK) continue;
    const policy = policyOf(row);
    if (isScriptKey(policy)) {
      keyLeft(batch, row, BATCH_OK, policy);
      continue;
    }
    if (policy !== placed) place(batch, policy);
    placed = policy;
    const status = kernel.exports.keyOne(header, row);
    if (status === BATCH_NEEDS_KEY) keyLeft(batch, row, BATCH_NEEDS_KEY, policy);
  }
}

function place(batch: UrlBatch, policy: NormalPolicy): void {
  const { kernel, header } = batch.area;
  const offset = placePolicy(kernel, batch.policyPlace, policy);
  kernel.region.views.u32[(header >>> 2) + BATCH_POLICY_OFFSET_WORD] = offset;
}

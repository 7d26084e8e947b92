/**
 * Outrider's way from JavaScript strings to "new or seen", as the engine walks it, and the plain way.
 *
 *   batch   strings ─copy─▶ parse ─▶ key ─▶ keyed hash ─▶ table        256 rows a call, one crossing
 *   one     string  ─copy─▶ parse ─▶ key ─▶ keyed hash ─▶ table        one row, its own exports
 *   plain   string  ─▶ new URL ─▶ hash dropped, parameters sorted ─▶ Set<string>
 */
import { loadKernelModule } from "../../../src/engine/kernel-file.ts";
import { createKernel, type Kernel } from "../../../src/kernel/kernel.ts";
import {
  BATCH_OK,
  BATCH_ROW_WORDS,
  ROW_KEY_LENGTH_WORD,
  ROW_KEY_OFFSET_WORD,
  ROW_STATUS_WORD,
} from "../../../src/layout/calls/url-batch.ts";
import { REGION_PAGE_COUNT_MAX } from "../../../src/layout/memory/region.ts";
import { TABLE_SKIP } from "../../../src/layout/seen/table.ts";
import { regionTake } from "../../../src/memory/region.ts";
import {
  createTable,
  type FingerprintTable,
  tableInsert,
  tableInsertBatch,
} from "../../../src/structures/table/fingerprint-table.ts";
import {
  batchAdmit,
  batchLoad,
  batchOne,
  createUrlBatch,
  NOT_INSERTED,
} from "../../../src/url/batch/url-batch.ts";
import type { UrlBatch } from "../../../src/url/batch/batch-memory.ts";
import { normalizePolicy } from "../../../src/url/keys/key-policy.ts";

export interface Pipeline {
  readonly kernel: Kernel;
  readonly batch: UrlBatch;
  readonly table: FingerprintTable;
  /** Room for one 128-bit fingerprint. */
  readonly print: number;
}

/** A fixed secret: results must repeat. */
const SECRET = Uint32Array.of(0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344);

const POLICY = normalizePolicy();

/** A memory of full size from the start, as a frontier's is: its growth would be charged to the calls it falls into. */
export function openPipeline(): Pipeline {
  const kernel = createKernel(loadKernelModule(), { initialPages: REGION_PAGE_COUNT_MAX });
  const batch = createUrlBatch(kernel);
  kernel.region.views.u32.set(SECRET, batch.area.secret >>> 2);
  const table = createTable(kernel, { valued: true });
  return { kernel, batch, table, print: regionTake(kernel.region, 1) };
}

/** Admits urls[start] and on as far as one batch goes; returns the rows taken. */
export function admitBatch(line: Pipeline, urls: readonly string[], start: number): number {
  const { batch, table } = line;
  const count = batchLoad(batch, urls, start);
  if (batchAdmit(batch, POLICY, { table: table.offset, job: 0 }) !== NOT_INSERTED) return count;
  skipFaults(batch);
  const { hashes, values, slots } = batch.area;
  const fresh = tableInsertBatch(table, hashes, count, values, slots);
  if (fresh < 0) throw new Error("table: the region is exhausted");
  return count;
}

/** The 128-bit fingerprints of the rows of the last batch. Returns a sum, so that none can be left out. */
export function printRows({ batch, kernel, print }: Pipeline): number {
  const { rows } = batch.area;
  const { exports } = kernel;
  let sum = 0;
  for (let row = 0; row < batch.count; row++) {
    const { u32 } = kernel.region.views;
    const at = (rows >>> 2) + row * BATCH_ROW_WORDS;
    if (u32[at + ROW_STATUS_WORD] !== BATCH_OK) continue;
    exports.fingerprint128(
      u32[at + ROW_KEY_OFFSET_WORD] as number,
      u32[at + ROW_KEY_LENGTH_WORD] as number,
      print,
    );
    sum = (sum + (u32[print >>> 2] as number)) | 0;
  }
  return sum;
}

/** Admits one URL without the ways of a batch. */
export function admitOne(line: Pipeline, url: string): void {
  const { batch, kernel, table } = line;
  if (batchOne(batch, [url]) !== BATCH_OK) return;
  const { rows, secret, hashes } = batch.area;
  const at = rows >>> 2;
  const { u32 } = kernel.region.views;
  const offset = u32[at + ROW_KEY_OFFSET_WORD] as number;
  kernel.exports.hashOne(offset, u32[at + ROW_KEY_LENGTH_WORD] as number, secret, hashes);
  const lo = u32[hashes >>> 2] as number;
  const hi = u32[(hashes >>> 2) + 1] as number;
  if (tableInsert(table, lo, hi) === 0) throw new Error("table: the region is exhausted");
}

function skipFaults(batch: UrlBatch): void {
  const { area, count } = batch;
  const { u32 } = area.kernel.region.views;
  let status = (area.rows >>> 2) + ROW_STATUS_WORD;
  const values = area.values >>> 2;
  for (let row = 0; row < count; row++, status += BATCH_ROW_WORDS) {
    u32[values + row] = u32[status] === BATCH_OK ? 0 : TABLE_SKIP;
  }
}

/** The plain canonical form. */
export function plainCanonical(text: string): string {
  const url = new URL(text);
  url.hash = "";
  url.searchParams.sort();
  return url.href;
}

/** One crossing and many steps must give the same: statuses, keys, hashes and what the table says. */
import { describe, expect, it } from "vitest";
import { createRandom } from "../../src/base/random.ts";
import { loadKernelModule } from "../../src/engine/kernel-file.ts";
import { createKernel } from "../../src/kernel/kernel.ts";
import { BATCH_OK, BATCH_ROW_WORDS, ROW_STATUS_WORD } from "../../src/layout/calls/url-batch.ts";
import { TABLE_SKIP } from "../../src/layout/seen/table.ts";
import {
  createTable,
  type FingerprintTable,
  tableInsertBatch,
  tableStats,
} from "../../src/structures/table/fingerprint-table.ts";
import {
  batchAdmit,
  batchKey,
  batchLoad,
  batchParse,
  createUrlBatch,
  NOT_INSERTED,
} from "../../src/url/batch/url-batch.ts";
import type { UrlBatch } from "../../src/url/batch/batch-memory.ts";
import { batchSettle } from "../../src/url/batch/key-and-hash.ts";
import { type NormalPolicy, normalizePolicy } from "../../src/url/keys/key-policy.ts";
import { fuzzUrl } from "../support/fuzz.ts";
import { testSeed } from "../support/seed.ts";
import { sized } from "../support/size.ts";
import { urlCorpus } from "../support/corpus.ts";

const ROUNDS = sized(60, 12);

interface Side {
  batch: UrlBatch;
  table: FingerprintTable;
}

function createSide(): Side {
  const kernel = createKernel(loadKernelModule());
  const batch = createUrlBatch(kernel);
  kernel.region.views.u32.set([1, 2, 3, 4], batch.area.secret >>> 2);
  return { batch, table: createTable(kernel, { valued: true }) };
}

/** Everything a frontier reads of a settled batch. */
function outcome({ batch, table }: Side): unknown {
  const { u32 } = batch.area.kernel.region.views;
  const rows = Array.from({ length: batch.count }, (_, row) => {
    const status = u32[(batch.area.rows >>> 2) + row * BATCH_ROW_WORDS + ROW_STATUS_WORD];
    if (status !== BATCH_OK) return [status];
    const hash = (batch.area.hashes >>> 2) + row * 2;
    const value = u32[(batch.area.values >>> 2) + row];
    return [status, u32[hash], u32[hash + 1], value];
  });
  return { rows, count: tableStats(table).count };
}

/** The second half of what batchAdmit does in the kernel. */
function insert({ batch, table }: Side): number {
  const { area } = batch;
  const { u32 } = area.kernel.region.views;
  for (let row = 0; row < batch.count; row++) {
    const isOk = u32[(area.rows >>> 2) + row * BATCH_ROW_WORDS + ROW_STATUS_WORD] === BATCH_OK;
    u32[(area.values >>> 2) + row] = isOk ? 0 : TABLE_SKIP;
  }
  return tableInsertBatch(table, area.hashes, batch.count, area.values, area.slots);
}

function inSteps(side: Side, policy: NormalPolicy): number {
  const parsed = batchParse(side.batch);
  batchKey(parsed, policy);
  side.batch.area.kernel.exports.hashBatch(side.batch.area.header);
  return insert(side);
}

function atOnce(side: Side, policy: NormalPolicy): { fresh: number; wasFused: boolean } {
  const fresh = batchAdmit(side.batch, policy, { table: side.table.offset, job: 0 });
  if (fresh !== NOT_INSERTED) return { fresh, wasFused: true };
  return { fresh: insert(side), wasFused: false };
}

/** Parsed by one call, settled by another, as where rules are matched between the two. */
function inTwo(side: Side, policy: NormalPolicy): { fresh: number; wasSettled: boolean } {
  const parsed = batchParse(side.batch);
  const fresh = batchSettle(parsed, policy, () => policy, { table: side.table.offset, job: 0 });
  if (fresh !== NOT_INSERTED) return { fresh, wasSettled: true };
  return { fresh: insert(side), wasSettled: false };
}

/** The same where each row has a policy of its own. */
function rowByRow(side: Side, policy: NormalPolicy): number {
  const parsed = batchParse(side.batch);
  const fresh = batchSettle(parsed, undefined, () => policy, {
    table: side.table.offset,
    job: 0,
  });
  expect(fresh).toBe(NOT_INSERTED);
  return insert(side);
}

describe("a batch in one crossing", () => {
  it("gives what its steps give, for plain and hostile URLs under every sort of policy", () => {
    const random = createRandom(testSeed("batch-admit"));
    const policies = [
      normalizePolicy(),
      normalizePolicy({ sortQuery: false, fragment: "keep" }),
      normalizePolicy({ dropParams: ["utm_*", "sid"], userInfo: "drop" }),
      normalizePolicy({ profile: "url" }),
      normalizePolicy({ profile: "url", visit: "canonical", keepParams: ["id", "a"] }),
      normalizePolicy({ profile: "w3lib" }),
    ];
    const plain = urlCorpus(20_000, random.word());
    let fused = 0;
    let settled = 0;
    for (const policy of policies) {
      const [one, two, each, steps] = [createSide(), createSide(), createSide(), createSide()];
      for (let round = 0; round < ROUNDS; round++) {
        const isHostile = round % 2 === 1;
        const urls = Array.from({ length: 1 + random.below(300) }, () =>
          isHostile ? fuzzUrl(random) : (plain[random.below(plain.length)] as string),
        );
        for (let start = 0; start < urls.length; ) {
          const loaded = batchLoad(one.batch, urls, start);
          expect(batchLoad(steps.batch, urls, start)).toBe(loaded);
          const { fresh, wasFused } = atOnce(one, policy);
          expect(fresh).toBe(inSteps(steps, policy));
          expect(outcome(one)).toEqual(outcome(steps));
          batchLoad(two.batch, urls, start);
          const apart = inTwo(two, policy);
          expect(apart.fresh).toBe(fresh);
          expect(outcome(two)).toEqual(outcome(steps));
          batchLoad(each.batch, urls, start);
          expect(rowByRow(each, policy)).toBe(fresh);
          expect(outcome(each)).toEqual(outcome(steps));
          if (wasFused) fused++;
          if (apart.wasSettled) settled++;
          start += loaded;
        }
      }
    }
    // Both ways through batchAdmit must have been taken, or this test compares nothing.
    expect(fused).toBeGreaterThan(ROUNDS);
    expect(settled).toBeGreaterThan(ROUNDS);
  });
});
